// SPDX-License-Identifier: Apache-2.0
// FloatWeights: widening. PanelsF32: partition of columns into panels, and packing.
#include "backends/cpu/gemm/pack/PanelsF32.hpp"

#include "backends/cpu/elementwise/ConversionLoops.hpp"
#include "backends/cpu/move/CopyPlane.hpp"
#include "backends/cpu/move/TransposeVectors.hpp"

#include <algorithm>
#include <cstdint>

namespace tenon::cpu
{

namespace
{

/// Copies `rows` rows of `floats` floats.
void CopyRows(const float* from, size_t fromStride, size_t rows, size_t floats, float* to, size_t toStride)
{
    Plane plane;
    plane.m_Runs = rows;
    plane.m_FromRun = static_cast<int64_t>(fromStride * sizeof(float));
    plane.m_ToRun = static_cast<int64_t>(toStride * sizeof(float));
    plane.m_RunBytes = floats * sizeof(float);
    ChooseCopyPlane(plane.m_RunBytes)(plane, reinterpret_cast<const std::byte*>(from),
                                      reinterpret_cast<std::byte*>(to));
}

/// Vectors of the widest panel. Shallow products write much and compute little: their wide panels write the cache lines
/// of a row together. Rows of the output that begin within cache lines and are long then have fewer lines that are
/// written in part.
size_t GetMaxVectors(const MicrokernelsF32& microkernels, const WeightSizes& sizes)
{
    constexpr size_t ShallowDepth = 32;
    if (sizes.m_InPlaceStride != 0)
    {
        return microkernels.m_MaxVectors;
    }
    const bool hasSharedLines = sizes.m_Columns % microkernels.m_Lanes != 0;
    const size_t fewVectors = sizes.m_Depth <= 4                                ? 1
                              : sizes.m_Depth <= 6                              ? 2
                              : hasSharedLines && sizes.m_Depth <= ShallowDepth ? 11
                                                                                : SIZE_MAX / microkernels.m_Lanes;
    return sizes.m_Columns > fewVectors * microkernels.m_Lanes ? microkernels.m_MaxVectors : microkernels.m_Vectors;
}

} // namespace

FloatWeights::FloatWeights(const LayerView& layer, size_t input) : m_Type(layer.GetInput(input).GetDataType())
{
    const void* const data = layer.m_ConstantData[input];
    if (m_Type == DataType::Float32)
    {
        m_Floats = static_cast<const float*>(data);
    }
    else
    {
        m_Words = static_cast<const uint16_t*>(data);
    }
}

void FloatWeights::Copy(size_t first, size_t count, float* to) const
{
    if (m_Words == nullptr)
    {
        std::copy_n(m_Floats + first, count, to);
        return;
    }
    FindCast(m_Type, DataType::Float32)(m_Words + first, to, count, {});
}

const float* FloatWeights::Get(size_t first, size_t count, std::vector<float>& memory) const
{
    if (m_Words == nullptr)
    {
        return m_Floats + first;
    }
    memory.resize(count);
    Copy(first, count, memory.data());
    return memory.data();
}

PanelsF32::PanelsF32(const WeightSizes& sizes) : m_Microkernels(&GetMicrokernelsF32()), m_Sizes(sizes)
{
    const size_t lanes = m_Microkernels->m_Lanes;
    const size_t columns = sizes.m_Columns / std::max<size_t>(sizes.m_Groups, 1);
    const size_t vectors = (columns + lanes - 1) / lanes;
    const size_t maxVectors = GetMaxVectors(*m_Microkernels, sizes);
    const size_t panels = (vectors + maxVectors - 1) / maxVectors;
    m_Panels.reserve(sizes.m_Groups * panels);
    for (size_t group = 0; group < sizes.m_Groups; ++group)
    {
        size_t column = 0;
        for (size_t i = 0; i < panels; ++i)
        {
            // Widths are as equal as possible: a last panel of one vector would be slow.
            const size_t width = vectors / panels + (i < vectors % panels ? 1 : 0);
            m_Panels.push_back({group, group * columns + column, std::min(width * lanes, columns - column), width,
                                IsInPlace() ? column : m_Floats});
            m_Floats += width * lanes * sizes.m_Depth;
            column += width * lanes;
        }
    }
}

PanelsF32 PanelsF32::MakeEmpty(const WeightSizes& sizes)
{
    PanelsF32 none(WeightSizes{0, sizes.m_Columns, sizes.m_Depth, sizes.m_RowDepth});
    none.m_Sizes = sizes;
    return none;
}

void PanelsF32::Pack(const PanelF32& panel, const float* weights, WeightOrder order, size_t stride, float* to) const
{
    const size_t width = GetWidth(panel);
    const size_t depth = m_Sizes.m_Depth;
    if (order == WeightOrder::Depth)
    {
        CopyRows(weights + panel.m_Column, stride, depth, panel.m_Columns, to, width);
    }
    else
    {
        TransposeFloats(weights + panel.m_Column * stride, stride, depth, panel.m_Columns, to, width);
    }
    PadLastVector(panel, to);
}

void PanelsF32::Pack(const PanelF32& panel, const FloatWeights& weights, WeightOrder order, float* to) const
{
    if (weights.Is16Bit())
    {
        Pack16Bit(panel, weights, order, to);
        return;
    }
    Pack(panel, weights.GetFloats(), order, order == WeightOrder::Columns ? m_Sizes.m_Depth : m_Sizes.m_Columns, to);
}

void PanelsF32::Pack16Bit(const PanelF32& panel, const FloatWeights& weights, WeightOrder order, float* to) const
{
    const size_t width = GetWidth(panel);
    const size_t depth = m_Sizes.m_Depth;
    if (order == WeightOrder::Depth)
    {
        for (size_t k = 0; k < depth; ++k)
        {
            weights.Copy(k * m_Sizes.m_Columns + panel.m_Column, panel.m_Columns, to + k * width);
        }
    }
    else
    {
        constexpr size_t SliceDepth = 128; // of all columns: about the first-level cache
        std::vector<float> slice(std::min(SliceDepth, depth) * panel.m_Columns);
        for (size_t begin = 0; begin < depth; begin += SliceDepth)
        {
            const size_t count = std::min(SliceDepth, depth - begin);
            for (size_t c = 0; c < panel.m_Columns; ++c)
            {
                weights.Copy((panel.m_Column + c) * depth + begin, count, slice.data() + c * count);
            }
            TransposeFloats(slice.data(), count, count, panel.m_Columns, to + begin * width, width);
        }
    }
    PadLastVector(panel, to);
}

void PanelsF32::PadLastVector(const PanelF32& panel, float* to) const
{
    const size_t width = GetWidth(panel);
    if (panel.m_Columns == width)
    {
        return;
    }
    for (size_t k = 0; k < m_Sizes.m_Depth; ++k)
    {
        std::fill(to + k * width + panel.m_Columns, to + (k + 1) * width, 0.0f);
    }
}

} // namespace tenon::cpu
