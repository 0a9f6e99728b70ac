// SPDX-License-Identifier: Apache-2.0
// Constant bfloat16 weights of a product and their bias, packed when a workload is made. Read by ProductBf16.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/cpu/gemm/PackedWeightsF32.hpp"
#include "backends/cpu/gemm/TilesBf16.hpp"
#include "common/AlignedMemory.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

class PackedWeightsBf16 final : public backends::PackedWeights
{
public:
    /// Packs the weights, of one group, and input 2 of the layer, a bias of Float32 or BFloat16, if it has one.
    PackedWeightsBf16(const uint16_t* weights, const WeightSizes& sizes, WeightOrder order, const LayerView& layer);

    /// Bytes of what is packed of such weights.
    static uint64_t GetPackedBytes(const WeightSizes& sizes);

    const EngineBf16& GetEngine() const { return *m_Engine; }
    const WeightSizes& GetSizes() const { return m_Sizes; }
    /// Pairs of the depth, with what fills up the last step.
    size_t GetPairs() const { return m_Pairs; }
    size_t GetStepPairs() const { return m_StepPairs; }
    size_t GetVectors() const { return m_Vectors; }
    /// [pairs][lanes][2] of a vector of columns; the next one is right after it.
    const uint16_t* GetVector(size_t vector) const
    {
        return reinterpret_cast<const uint16_t*>(m_Data.Data()) + vector * GetVectorElements();
    }
    size_t GetVectorElements() const { return m_Pairs * m_Engine->m_Lanes * 2; }
    /// Of a vector of columns, with zeros for those that do not exist.
    const float* GetBias(size_t vector) const
    {
        return reinterpret_cast<const float*>(m_Bias.Data()) + vector * m_Engine->m_Lanes;
    }

private:
    void PackWeights(const uint16_t* weights, WeightOrder order);
    void PackBias(const LayerView& layer);

    const EngineBf16* m_Engine;
    WeightSizes m_Sizes;
    size_t m_StepPairs;
    size_t m_Pairs;
    size_t m_Vectors;
    AlignedMemory m_Data;
    AlignedMemory m_Bias;
};

} // namespace tenon::cpu
