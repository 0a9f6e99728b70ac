// SPDX-License-Identifier: Apache-2.0
// Packing of bfloat16 weights: pairs of the depth beside each other, a vector of columns after the other.
#include "backends/cpu/gemm/PackedWeightsBf16.hpp"

#include <algorithm>
#include <bit>

namespace tenon::cpu
{

namespace
{

/// How the depth is cut.
struct Steps
{
    size_t m_StepPairs = 1;
    size_t m_Pairs = 0; ///< of all steps
};

Steps ChooseSteps(size_t depth)
{
    // Steps that divide the depth let the data be read where they are. Shorter steps than the longest cost time, so
    // that data are laid out anew, with zeros at the end of each row, rather than that there be two steps more.
    const size_t most = GetEngineBf16().m_MostStepPairs;
    const size_t pairs = (depth + 1) / 2;
    const size_t steps = std::max<size_t>((pairs + most - 1) / most, 1);
    for (size_t count = steps; count <= steps + 1 && depth % 2 == 0 && pairs != 0; ++count)
    {
        if (pairs % count == 0)
        {
            return {pairs / count, pairs};
        }
    }
    return {most, pairs == 0 ? 0 : steps * most};
}

} // namespace

PackedWeightsBf16::PackedWeightsBf16(FunctionRef<const uint16_t*()> getWeights, const WeightSizes& sizes,
                                     WeightOrder order, const LayerView& layer, backends::PackedStore& store)
    : m_Engine(&GetEngineBf16()), m_Sizes(sizes), m_StepPairs(ChooseSteps(sizes.m_Depth).m_StepPairs),
      m_Pairs(ChooseSteps(sizes.m_Depth).m_Pairs),
      m_Vectors((sizes.m_Columns + m_Engine->m_Lanes - 1) / m_Engine->m_Lanes),
      m_Zeros(sizes.m_RowDepth * sizeof(uint16_t))
{
    std::fill_n(reinterpret_cast<uint16_t*>(m_Zeros.Data()), sizes.m_RowDepth, uint16_t{0});
    m_Data = store.GetBlock(m_Vectors * GetVectorElements() * sizeof(uint16_t),
                            [&](std::byte* to) { PackWeights(getWeights(), order, reinterpret_cast<uint16_t*>(to)); });
    PackBias(layer);
}

uint64_t PackedWeightsBf16::GetPackedBytes(const WeightSizes& sizes)
{
    const uint64_t lanes = GetEngineBf16().m_Lanes;
    const uint64_t columns = (sizes.m_Columns + lanes - 1) / lanes * lanes;
    return columns * (ChooseSteps(sizes.m_Depth).m_Pairs * 2 * sizeof(uint16_t) + sizeof(float)) +
           sizes.m_RowDepth * sizeof(uint16_t);
}

void PackedWeightsBf16::PackWeights(const uint16_t* weights, WeightOrder order, uint16_t* packed) const
{
    const size_t lanes = m_Engine->m_Lanes;
    const size_t depth = m_Sizes.m_Depth;
    std::fill_n(packed, m_Vectors * GetVectorElements(), uint16_t{0});
    const size_t columnStep = order == WeightOrder::Columns ? depth : 1;
    const size_t depthStep = order == WeightOrder::Columns ? 1 : m_Sizes.m_Columns;
    constexpr size_t Block = 32; // a cache line of weights
    for (size_t vector = 0; vector < m_Vectors; ++vector, packed += GetVectorElements())
    {
        const size_t first = vector * lanes;
        const size_t columns = std::min(lanes, m_Sizes.m_Columns - first);
        for (size_t k0 = 0; k0 < depth; k0 += Block)
        {
            const size_t kEnd = std::min(depth, k0 + Block);
            for (size_t c = 0; c < columns; ++c)
            {
                const uint16_t* from = weights + (first + c) * columnStep;
                for (size_t k = k0; k < kEnd; ++k)
                {
                    packed[(k / 2 * lanes + c) * 2 + k % 2] = from[k * depthStep];
                }
            }
        }
    }
}

void PackedWeightsBf16::PackBias(const LayerView& layer)
{
    const size_t padded = m_Vectors * m_Engine->m_Lanes;
    m_Bias = AlignedMemory(padded * sizeof(float));
    auto* bias = reinterpret_cast<float*>(m_Bias.Data());
    std::fill_n(bias, padded, 0.0f);
    if (!layer.HasInput(2))
    {
        return;
    }
    if (layer.GetInput(2).GetDataType() == DataType::Float32)
    {
        std::copy_n(static_cast<const float*>(layer.m_ConstantData[2]), m_Sizes.m_Columns, bias);
        return;
    }
    const auto* halves = static_cast<const uint16_t*>(layer.m_ConstantData[2]);
    std::transform(halves, halves + m_Sizes.m_Columns, bias,
                   [](uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); });
}

} // namespace tenon::cpu
