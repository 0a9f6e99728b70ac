// SPDX-License-Identifier: Apache-2.0
// PackedWeightsBf16: constant bfloat16 weights and their bias, packed when a workload is made. Read by GemmBf16.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/common/PackedStore.hpp"
#include "backends/cpu/gemm/pack/PanelsBf16.hpp"
#include "common/AlignedMemory.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

class PackedWeightsBf16 final : public backends::PackedWeights
{
public:
    /// Packs the weights, of one group, and input 2 of the layer, a bias of Float32 or BFloat16, if it has one.
    /// `getWeights` is called only where packing is needed.
    PackedWeightsBf16(FunctionRef<const uint16_t*()> getWeights, const WeightSizes& sizes, WeightOrder order,
                      const LayerView& layer, backends::PackedStore& store);
    PackedWeightsBf16(const uint16_t* weights, const WeightSizes& sizes, WeightOrder order, const LayerView& layer,
                      backends::PackedStore& store)
        : PackedWeightsBf16([weights] { return weights; }, sizes, order, layer, store)
    {
    }

    /// Bytes of the packed weights of these sizes.
    static uint64_t GetPackedBytes(const WeightSizes& sizes);

    const PanelsBf16& GetPanels() const { return m_Panels; }
    const WeightSizes& GetSizes() const { return m_Panels.GetSizes(); }
    /// All panels, one after the other.
    const uint16_t* GetData() const { return m_Data.As<uint16_t>(); }
    /// Zeros for taps in the padding: at least as many as a tap has elements.
    const uint16_t* GetZeros() const { return reinterpret_cast<const uint16_t*>(m_Zeros.Data()); }
    /// The bias, padded with zeros to whole vectors.
    const float* GetBias() const { return reinterpret_cast<const float*>(m_Bias.Data()); }

private:
    void PackBias(const LayerView& layer);

    PanelsBf16 m_Panels;
    backends::PackedBlock m_Data;
    AlignedMemory m_Bias;
    AlignedMemory m_Zeros;
};

} // namespace tenon::cpu
