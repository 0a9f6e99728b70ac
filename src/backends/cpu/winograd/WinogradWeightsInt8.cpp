// SPDX-License-Identifier: Apache-2.0
// With stored data a, their zero point za, and weights w less their own zero point: sum((a - za) * w) = sum(a * w) - za
// * sum(w). The last term is constant for each output channel and is added to its bias.
#include "backends/cpu/winograd/WinogradWeightsInt8.hpp"

#include "backends/cpu/gemm/pack/ColumnSumsInt8.hpp"
#include "backends/cpu/move/TransposeVectors.hpp"
#include "backends/cpu/winograd/WinogradTransformsInt8.hpp"
#include "backends/reference/kernels/Requantizer.hpp"

#include <cstring>
#include <limits>

namespace tenon::cpu
{

namespace
{

constexpr size_t Points = WinogradTile8::Points;
constexpr size_t WindowPixels = WinogradTile8::Window * WinogradTile8::Window;
constexpr size_t PairBytes = 2 * sizeof(int16_t);
constexpr int64_t MostData = 255;
constexpr int64_t MostScaledSum =
    WinogradTile8::Scale * MostData * MostData * WindowPixels * WinogradWeights8::MostChannels;
static_assert(MostScaledSum <= std::numeric_limits<int32_t>::max());

} // namespace

WinogradWeights8::WinogradWeights8(const LayerView& layer, backends::PackedStore& store)
    : m_Engine(&GetEngine8()), m_IsHybrid(layer.GetInput(0).GetDataType() == DataType::Float32),
      m_Outputs(layer.GetInput(1).GetShape()[0]), m_Channels(layer.GetInput(1).GetShape()[3]),
      m_Groups(DivideUp(m_Channels, size_t{2})),
      m_AreSigned(m_IsHybrid || layer.GetInput(1).GetDataType() != DataType::QAsymmU8),
      m_ZeroPoint(m_IsHybrid ? 0 : ref::GetWeightsZeroPoint(layer.GetInput(1))),
      m_DataZeroPoint(m_IsHybrid ? 0 : layer.GetInput(0).GetQuantizationOffset()),
      m_Arrays(MakePanels(), m_IsHybrid ? Rounding8::None : Rounding8::FixedPoint,
               m_IsHybrid ? 0 : layer.GetOutput(0).GetQuantizationOffset())
{
    SetUpColumns(layer, store);
    if (!IsExact())
    {
        return;
    }
    const auto* const weights = static_cast<const uint8_t*>(layer.m_ConstantData[1]);
    const auto pack = [&](std::byte* to)
    {
        for (const Panel8& panel : m_Panels)
        {
            PackPanel(panel, weights + panel.m_Column * WindowPixels * m_Channels, to + panel.m_Offset);
        }
    };
    m_Data = store.GetBlock(m_PanelBytes, pack);
}

uint64_t WinogradWeights8::GetPackedBytes(size_t outputs, size_t channels)
{
    const size_t lanes = GetEngine8().m_Lanes;
    const uint64_t padded = uint64_t{DivideUp(outputs, lanes)} * lanes;
    return padded * (Points * DivideUp(channels, size_t{2}) * PairBytes + 4 * sizeof(int32_t));
}

size_t WinogradWeights8::MakePanels()
{
    m_Panels = CutColumns8(m_Outputs, m_Engine->m_Lanes, GetTiles());
    for (Panel8& panel : m_Panels)
    {
        panel.m_Offset = m_PanelBytes;
        m_PanelBytes += Points * GetPointBytes(panel);
    }
    return m_Panels.back().m_Column + m_Panels.back().m_Vectors * m_Engine->m_Lanes;
}

size_t WinogradWeights8::GetPointBytes(const Panel8& panel) const
{
    return panel.m_Vectors * m_Engine->m_Lanes * m_Groups * PairBytes;
}

void WinogradWeights8::SetUpColumns(const LayerView& layer, backends::PackedStore& store)
{
    const size_t depth = WindowPixels * m_Channels;
    const auto* const weights = static_cast<const uint8_t*>(layer.m_ConstantData[1]);
    const WeightBytes8 bytes = {m_Outputs, depth, false, m_AreSigned, m_ZeroPoint};
    const ColumnSums8 sums([&](size_t first, size_t) { return weights + first * depth; }, bytes, *m_Engine, store);
    if (m_IsHybrid)
    {
        const Panel8& last = m_Panels.back();
        m_IsExact = m_Floats.SetColumns(layer, sums, bytes, last.m_Place + last.m_Vectors * m_Engine->m_Lanes);
        return;
    }
    m_IsExact =
        m_Arrays.SetColumns(layer, sums, bytes, [this](int64_t sum) { return -int64_t{m_DataZeroPoint} * sum; });
}

void WinogradWeights8::PackPanel(const Panel8& panel, const uint8_t* weights, std::byte* to) const
{
    constexpr size_t Unit = WinogradEngine8::MostLanes;
    const size_t pitch = DivideUp(m_Channels, Unit) * Unit;
    const size_t pointShorts = panel.m_Columns * pitch;
    std::vector<int16_t> wide(WindowPixels * pitch);   // [pixel][pitch]
    std::vector<int16_t> points(Points * pointShorts); // [point][column][pitch]
    for (size_t c = 0; c < panel.m_Columns; ++c)
    {
        for (size_t pixel = 0; pixel < WindowPixels; ++pixel, weights += m_Channels)
        {
            m_Engine->m_Widen(weights, m_Channels, m_AreSigned, m_ZeroPoint, wide.data() + pixel * pitch);
        }
        GetWinogradEngine8().m_TransformWeights(wide.data(), pitch, points.data() + c * pitch, pointShorts);
    }
    const size_t width = panel.m_Vectors * m_Engine->m_Lanes;
    if (panel.m_Columns != width)
    {
        std::memset(to, 0, Points * GetPointBytes(panel)); // padding columns
    }
    for (size_t point = 0; point < Points; ++point)
    {
        TransposeWords(reinterpret_cast<const std::byte*>(points.data() + point * pointShorts), pitch * sizeof(int16_t),
                       m_Groups, panel.m_Columns, to + point * GetPointBytes(panel), width * PairBytes);
    }
}

} // namespace tenon::cpu
