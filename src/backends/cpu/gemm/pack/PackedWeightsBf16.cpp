// SPDX-License-Identifier: Apache-2.0
// Packing of bfloat16 weights: [pairs][vectors][lanes][2], panel by panel.
#include "backends/cpu/gemm/pack/PackedWeightsBf16.hpp"

#include "backends/cpu/move/TransposeVectors.hpp"
#include "backends/cpu/simd/Isa.hpp"
#include "common/HalfFloat.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/pack/PackedWeightsBf16.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included after Foreach.hpp.
#include "backends/cpu/simd/Bf16-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

/// Interleaves rows of at most one vector of columns to rows of pairs: (row 2p, row 2p + 1).
void InterleaveRows(const uint16_t* from, size_t stride, size_t rows, size_t columns, uint16_t* to, size_t pairStride)
{
    const TagUint32 d;
    auto* pairs = reinterpret_cast<uint32_t*>(to);
    const auto load = [&](size_t row) { return LoadSomeUint16(from + row * stride, columns); };
    for (size_t row = 0; row < rows; row += 2, pairs += pairStride / 2)
    {
        const VecUint32 upper = row + 1 < rows ? hn::ShiftLeft<16>(load(row + 1)) : hn::Zero(d);
        hn::Store(hn::Or(load(row), upper), d, pairs);
    }
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

PanelsBf16::PanelsBf16(const WeightSizes& sizes) : m_Microkernels(&GetMicrokernelsBf16()), m_Sizes(sizes)
{
    // Where the steps divide the depth (of windows: a row of taps), data are read in place. Steps shorter than the
    // longest cost time: data are therefore copied, with zeros at the end of each row, where reading in place would
    // take two more steps.
    const size_t maxPairs = m_Microkernels->m_MaxStepPairs;
    const size_t pairs = (sizes.m_Depth + 1) / 2;
    m_StepPairs = maxPairs;
    m_Pairs = DivideUp(pairs, maxPairs) * maxPairs;
    const size_t runs[] = {sizes.m_RowDepth, sizes.m_Depth};
    for (const size_t run : runs)
    {
        const size_t runPairs = run / 2;
        const size_t steps = DivideUp(runPairs, maxPairs);
        for (size_t count = steps; count <= steps + 1 && run % 2 == 0 && run != 0; ++count)
        {
            if (runPairs % count == 0)
            {
                m_StepPairs = runPairs / count;
                m_Pairs = pairs;
                return;
            }
        }
    }
}

/// Packs whole pairs of columns whose stride is not a whole number of pairs.
void PanelsBf16::PackPairs(const uint16_t* from, size_t stride, size_t columns, uint16_t* to, size_t pairStride) const
{
    constexpr size_t Block = 16; // a cache line of a column
    const size_t pairs = m_Sizes.m_Depth / 2;
    for (size_t first = 0; first < pairs; first += Block)
    {
        for (size_t c = 0; c < columns; ++c)
        {
            for (size_t pair = first; pair < std::min(pairs, first + Block); ++pair)
            {
                std::memcpy(to + pair * pairStride + 2 * c, from + c * stride + pair * 2, sizeof(uint32_t));
            }
        }
    }
}

void PanelsBf16::Pack(size_t panel, const uint16_t* weights, WeightOrder order, size_t stride, uint16_t* to) const
{
    const IndexRange vectors = GetPanel(panel);
    const size_t lanes = m_Microkernels->m_Lanes;
    const size_t pairStride = (vectors.m_End - vectors.m_Begin) * lanes * 2;
    for (size_t vector = vectors.m_Begin; vector < vectors.m_End; ++vector)
    {
        PackVector(vector, weights, order, stride, to + (vector - vectors.m_Begin) * lanes * 2, pairStride);
    }
    const size_t packedPairs = (m_Sizes.m_Depth + 1) / 2;
    std::fill(to + packedPairs * pairStride, to + m_Pairs * pairStride, uint16_t{0});
}

void PanelsBf16::PackVector(size_t vector, const uint16_t* weights, WeightOrder order, size_t stride, uint16_t* to,
                            size_t pairStride) const
{
    const size_t lanes = m_Microkernels->m_Lanes;
    const size_t columns = CountColumns(vector, 1);
    const size_t depth = m_Sizes.m_Depth;
    const size_t pairs = depth / 2; // complete pairs
    if (order == WeightOrder::Depth)
    {
        TENON_CHOOSE(InterleaveRows)(weights + vector * lanes, stride, depth, columns, to, pairStride);
        return;
    }
    const uint16_t* const from = weights + vector * lanes * stride;
    if (columns < lanes)
    {
        for (size_t pair = 0; pair < pairs; ++pair)
        {
            std::fill_n(to + pair * pairStride, lanes * 2, uint16_t{0});
        }
    }
    if (stride % 2 == 0)
    {
        TransposeWords(reinterpret_cast<const std::byte*>(from), stride * sizeof(uint16_t), pairs, columns,
                       reinterpret_cast<std::byte*>(to), pairStride * sizeof(uint16_t));
    }
    else
    {
        PackPairs(from, stride, columns, to, pairStride);
    }
    if (depth % 2 != 0)
    {
        uint16_t* const last = to + pairs * pairStride;
        std::fill_n(last, lanes * 2, uint16_t{0});
        for (size_t c = 0; c < columns; ++c)
        {
            last[2 * c] = from[c * stride + depth - 1];
        }
    }
}

PackedWeightsBf16::PackedWeightsBf16(FunctionRef<const uint16_t*()> getWeights, const WeightSizes& sizes,
                                     WeightOrder order, const LayerView& layer, backends::PackedStore& store)
    : m_Panels(sizes), m_Zeros(sizes.m_RowDepth * sizeof(uint16_t))
{
    std::fill_n(reinterpret_cast<uint16_t*>(m_Zeros.Data()), sizes.m_RowDepth, uint16_t{0});
    const size_t stride = order == WeightOrder::Columns ? sizes.m_Depth : sizes.m_Columns;
    const auto pack = [&](std::byte* to)
    {
        const uint16_t* const weights = getWeights();
        auto* packed = reinterpret_cast<uint16_t*>(to);
        for (size_t panel = 0; panel < m_Panels.GetPanels(); ++panel)
        {
            m_Panels.Pack(panel, weights, order, stride, packed);
            packed += m_Panels.GetElements({panel, panel + 1});
        }
    };
    m_Data = store.GetBlock(m_Panels.GetVectors() * m_Panels.GetVectorElements() * sizeof(uint16_t), pack);
    PackBias(layer);
}

uint64_t PackedWeightsBf16::GetPackedBytes(const WeightSizes& sizes)
{
    const PanelsBf16 panels(sizes);
    const uint64_t bias = uint64_t{panels.GetVectors()} * panels.GetMicrokernels().m_Lanes * sizeof(float);
    return (uint64_t{panels.GetVectors()} * panels.GetVectorElements() + sizes.m_RowDepth) * sizeof(uint16_t) + bias;
}

void PackedWeightsBf16::PackBias(const LayerView& layer)
{
    const size_t padded = m_Panels.GetVectors() * m_Panels.GetMicrokernels().m_Lanes;
    m_Bias = AlignedMemory(padded * sizeof(float));
    auto* bias = reinterpret_cast<float*>(m_Bias.Data());
    std::fill_n(bias, padded, 0.0f);
    if (!layer.HasInput(2))
    {
        return;
    }
    if (layer.GetInput(2).GetDataType() == DataType::Float32)
    {
        std::copy_n(static_cast<const float*>(layer.m_ConstantData[2]), GetSizes().m_Columns, bias);
        return;
    }
    const auto* halves = static_cast<const uint16_t*>(layer.m_ConstantData[2]);
    std::transform(halves, halves + GetSizes().m_Columns, bias, BFloat16ToFloat);
}

} // namespace tenon::cpu
#endif
