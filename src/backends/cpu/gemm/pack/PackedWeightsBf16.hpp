// SPDX-License-Identifier: Apache-2.0
// PanelsBf16: cuts the columns of bfloat16 weights into panels of vectors for the microkernels of the processor, and
// packs them. Used by PackedWeightsBf16 and by BatchMatMul (a matrix that is packed in each run).
// PackedWeightsBf16: constant weights and their bias, packed when a workload is made. Read by GemmBf16.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/common/PackedStore.hpp"
#include "backends/cpu/gemm/kernels/bf16/MicrokernelsBf16.hpp"
#include "backends/cpu/gemm/pack/PanelsF32.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "common/AlignedMemory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// The panels of one group. A panel is a few vectors of columns, packed as [pairs][vectors][lanes][2]; a pair is two
/// neighbours of the depth.
class PanelsBf16
{
public:
    explicit PanelsBf16(const WeightSizes& sizes);

    const MicrokernelsBf16& GetMicrokernels() const { return *m_Microkernels; }
    const WeightSizes& GetSizes() const { return m_Sizes; }
    /// Pairs of the depth, padded to whole steps.
    size_t GetPairs() const { return m_Pairs; }
    size_t GetStepPairs() const { return m_StepPairs; }
    /// Vectors of columns.
    size_t GetVectors() const { return (m_Sizes.m_Columns + m_Microkernels->m_Lanes - 1) / m_Microkernels->m_Lanes; }
    size_t GetVectorElements() const { return m_Pairs * m_Microkernels->m_Lanes * 2; }
    size_t GetPanels() const { return DivideUp(GetVectors(), m_Microkernels->m_Vectors); }
    /// The vectors of a panel. Widths are as equal as possible, as a last panel of one vector would be slow.
    IndexRange GetPanel(size_t panel) const { return GetTaskRange(GetVectors(), GetPanels(), panel); }
    /// The vectors of a range of panels.
    IndexRange GetVectors(const IndexRange& panels) const
    {
        return panels.m_Begin == panels.m_End
                   ? IndexRange{}
                   : IndexRange{GetPanel(panels.m_Begin).m_Begin, GetPanel(panels.m_End - 1).m_End};
    }
    /// Packed elements of a range of panels.
    size_t GetElements(const IndexRange& panels) const
    {
        const IndexRange vectors = GetVectors(panels);
        return (vectors.m_End - vectors.m_Begin) * GetVectorElements();
    }
    /// Columns among `vectors` vectors from `vector` on, without padding.
    size_t CountColumns(size_t vector, size_t vectors) const
    {
        return std::min(vectors * m_Microkernels->m_Lanes, m_Sizes.m_Columns - vector * m_Microkernels->m_Lanes);
    }

    /// Packs a panel to `to`, GetVectorElements() for each vector, with zeros as padding. `stride`: elements between
    /// columns, or between steps of the depth.
    void Pack(size_t panel, const uint16_t* weights, WeightOrder order, size_t stride, uint16_t* to) const;

private:
    void PackVector(size_t vector, const uint16_t* weights, WeightOrder order, size_t stride, uint16_t* to,
                    size_t pairStride) const;
    void PackPairs(const uint16_t* from, size_t stride, size_t columns, uint16_t* to, size_t pairStride) const;

    const MicrokernelsBf16* m_Microkernels;
    WeightSizes m_Sizes;
    size_t m_StepPairs = 1;
    size_t m_Pairs = 0;
};

/// All panels, one after the other, and the bias in float32.
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
    /// Zeros that taps in the padding read: at least the channels of one tap.
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
