// SPDX-License-Identifier: Apache-2.0
// Constant bfloat16 weights of a product and their bias, packed when a workload is made. Read by ProductBf16.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/common/PackedStore.hpp"
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
    /// `getWeights` is called where there is something to be packed.
    PackedWeightsBf16(FunctionRef<const uint16_t*()> getWeights, const WeightSizes& sizes, WeightOrder order,
                      const LayerView& layer, backends::PackedStore& store);
    PackedWeightsBf16(const uint16_t* weights, const WeightSizes& sizes, WeightOrder order, const LayerView& layer,
                      backends::PackedStore& store)
        : PackedWeightsBf16([weights] { return weights; }, sizes, order, layer, store)
    {
    }

    /// Bytes of what is packed of such weights.
    static uint64_t GetPackedBytes(const WeightSizes& sizes);

    const EngineBf16& GetEngine() const { return *m_Engine; }
    const WeightSizes& GetSizes() const { return m_Sizes; }
    /// Pairs of the depth, with what fills up the last step.
    size_t GetPairs() const { return m_Pairs; }
    size_t GetStepPairs() const { return m_StepPairs; }
    size_t GetVectors() const { return m_Vectors; }
    /// [pairs][lanes][2] of a vector of columns; the next one is right after it.
    const uint16_t* GetVector(size_t vector) const { return m_Data.As<uint16_t>() + vector * GetVectorElements(); }
    size_t GetVectorElements() const { return m_Pairs * m_Engine->m_Lanes * 2; }
    /// As many zeros as a point of a window has elements, at least: what lies outside of an image.
    const uint16_t* GetZeros() const { return reinterpret_cast<const uint16_t*>(m_Zeros.Data()); }
    /// Of a vector of columns, with zeros for those that do not exist.
    const float* GetBias(size_t vector) const
    {
        return reinterpret_cast<const float*>(m_Bias.Data()) + vector * m_Engine->m_Lanes;
    }

private:
    void PackWeights(const uint16_t* weights, WeightOrder order, uint16_t* packed) const;
    void PackBias(const LayerView& layer);

    const EngineBf16* m_Engine;
    WeightSizes m_Sizes;
    size_t m_StepPairs;
    size_t m_Pairs;
    size_t m_Vectors;
    backends::PackedBlock m_Data;
    AlignedMemory m_Bias;
    AlignedMemory m_Zeros;
};

} // namespace tenon::cpu
