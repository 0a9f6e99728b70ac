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

constexpr size_t Points = WinogradTileInt8::Points;
constexpr size_t WindowPixels = WinogradTileInt8::Window * WinogradTileInt8::Window;
constexpr size_t PairBytes = 2 * sizeof(int16_t);
constexpr int64_t MaxData = 255;
constexpr int64_t MaxScaledSum =
    WinogradTileInt8::Scale * MaxData * MaxData * WindowPixels * WinogradWeightsInt8::MaxChannels;
static_assert(MaxScaledSum <= std::numeric_limits<int32_t>::max());

} // namespace

WinogradWeightsInt8::WinogradWeightsInt8(const LayerView& layer, backends::PackedStore& store)
    : m_Microkernels(&GetMicrokernelsInt8()), m_IsHybrid(layer.GetInput(0).GetDataType() == DataType::Float32),
      m_Outputs(layer.GetInput(1).GetShape()[0]), m_Channels(layer.GetInput(1).GetShape()[3]),
      m_Groups(DivideUp(m_Channels, size_t{2})),
      m_IsSigned(m_IsHybrid || layer.GetInput(1).GetDataType() != DataType::QAsymmU8),
      m_ZeroPoint(m_IsHybrid ? 0 : ref::GetWeightsZeroPoint(layer.GetInput(1))),
      m_DataZeroPoint(m_IsHybrid ? 0 : layer.GetInput(0).GetQuantizationOffset()),
      m_Arrays(MakePanels(), m_IsHybrid ? RoundingInt8::None : RoundingInt8::FixedPoint,
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
        for (const PanelInt8& panel : m_Panels)
        {
            PackPanel(panel, weights + panel.m_Column * WindowPixels * m_Channels, to + panel.m_Offset);
        }
    };
    m_Data = store.GetBlock(m_PanelBytes, pack);
}

uint64_t WinogradWeightsInt8::GetPackedBytes(size_t outputs, size_t channels)
{
    const size_t lanes = GetMicrokernelsInt8().m_Lanes;
    const uint64_t padded = uint64_t{DivideUp(outputs, lanes)} * lanes;
    return padded * (Points * DivideUp(channels, size_t{2}) * PairBytes + 4 * sizeof(int32_t));
}

size_t WinogradWeightsInt8::MakePanels()
{
    m_Panels = CutPanelsInt8(m_Outputs, m_Microkernels->m_Lanes, GetTiles());
    for (PanelInt8& panel : m_Panels)
    {
        panel.m_Offset = m_PanelBytes;
        m_PanelBytes += Points * GetPointBytes(panel);
    }
    return m_Panels.back().m_Column + m_Panels.back().m_Vectors * m_Microkernels->m_Lanes;
}

size_t WinogradWeightsInt8::GetPointBytes(const PanelInt8& panel) const
{
    return panel.m_Vectors * m_Microkernels->m_Lanes * m_Groups * PairBytes;
}

void WinogradWeightsInt8::SetUpColumns(const LayerView& layer, backends::PackedStore& store)
{
    const size_t depth = WindowPixels * m_Channels;
    const auto* const weights = static_cast<const uint8_t*>(layer.m_ConstantData[1]);
    const WeightFormatInt8 bytes = {m_Outputs, depth, false, m_IsSigned, m_ZeroPoint};
    const ColumnSumsInt8 sums([&](size_t first, size_t) { return weights + first * depth; }, bytes, *m_Microkernels,
                              store);
    if (m_IsHybrid)
    {
        const PanelInt8& last = m_Panels.back();
        m_IsExact =
            m_Floats.SetColumns(layer, sums, bytes, last.m_PaddedColumn + last.m_Vectors * m_Microkernels->m_Lanes);
        return;
    }
    m_IsExact =
        m_Arrays.SetColumns(layer, sums, bytes, [this](int64_t sum) { return -int64_t{m_DataZeroPoint} * sum; });
}

void WinogradWeightsInt8::PackPanel(const PanelInt8& panel, const uint8_t* weights, std::byte* to) const
{
    constexpr size_t Unit = WinogradTransformsInt8::MaxLanes;
    const size_t pitch = DivideUp(m_Channels, Unit) * Unit;
    const size_t pointShorts = panel.m_Columns * pitch;
    std::vector<int16_t> wide(WindowPixels * pitch);   // [pixel][pitch]
    std::vector<int16_t> points(Points * pointShorts); // [point][column][pitch]
    for (size_t c = 0; c < panel.m_Columns; ++c)
    {
        for (size_t pixel = 0; pixel < WindowPixels; ++pixel, weights += m_Channels)
        {
            m_Microkernels->m_Widen(weights, m_Channels, m_IsSigned, m_ZeroPoint, wide.data() + pixel * pitch);
        }
        GetWinogradTransformsInt8().m_TransformWeights(wide.data(), pitch, points.data() + c * pitch, pointShorts);
    }
    const size_t width = panel.m_Vectors * m_Microkernels->m_Lanes;
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
