// SPDX-License-Identifier: Apache-2.0
// PanelsBf16: how bfloat16 weights are cut into vectors of columns for the tiles of the processor at hand, and how one
// is packed. Used by PackedWeightsBf16, whose weights are constant, and by BatchMatMul, which packs a matrix each time
// it runs.
#pragma once

#include "backends/cpu/gemm/kernels/bf16/MicrokernelsBf16.hpp"
#include "backends/cpu/gemm/pack/PanelsF32.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Weights of one group. A panel, which is some vectors of columns, is packed as [pairs][vectors][lanes][2]; a pair is
/// two neighbours of the depth.
class PanelsBf16
{
public:
    explicit PanelsBf16(const WeightSizes& sizes);

    const EngineBf16& GetEngine() const { return *m_Engine; }
    const WeightSizes& GetSizes() const { return m_Sizes; }
    /// Pairs of the depth, with what fills up the last step.
    size_t GetPairs() const { return m_Pairs; }
    size_t GetStepPairs() const { return m_StepPairs; }
    /// Vectors of columns.
    size_t GetVectors() const { return (m_Sizes.m_Columns + m_Engine->m_Lanes - 1) / m_Engine->m_Lanes; }
    size_t GetVectorElements() const { return m_Pairs * m_Engine->m_Lanes * 2; }
    size_t GetPanels() const { return DivideUp(GetVectors(), m_Engine->m_Vectors); }
    /// The vectors of a panel: a lone one at the end would make a slow panel, so they are as equal as they can be.
    Part GetPanel(size_t panel) const { return GetPart(GetVectors(), GetPanels(), panel); }
    /// Of the vectors of some panels.
    Part GetVectors(const Part& panels) const
    {
        return panels.m_Begin == panels.m_End
                   ? Part{}
                   : Part{GetPanel(panels.m_Begin).m_Begin, GetPanel(panels.m_End - 1).m_End};
    }
    /// Elements of some panels, packed.
    size_t GetElements(const Part& panels) const
    {
        const Part vectors = GetVectors(panels);
        return (vectors.m_End - vectors.m_Begin) * GetVectorElements();
    }
    /// Columns that exist, of so many vectors from one on.
    size_t CountColumns(size_t vector, size_t vectors) const
    {
        return std::min(vectors * m_Engine->m_Lanes, m_Sizes.m_Columns - vector * m_Engine->m_Lanes);
    }

    /// Writes a panel of the weights, with zeros for what does not exist, to `to`: GetVectorElements() of each vector.
    /// `stride`: elements from one column, or one step of the depth, to the next.
    void Pack(size_t panel, const uint16_t* weights, WeightOrder order, size_t stride, uint16_t* to) const;

private:
    void PackVector(size_t vector, const uint16_t* weights, WeightOrder order, size_t stride, uint16_t* to,
                    size_t pairStride) const;
    void PackPairs(const uint16_t* from, size_t stride, size_t columns, uint16_t* to, size_t pairStride) const;

    const EngineBf16* m_Engine;
    WeightSizes m_Sizes;
    size_t m_StepPairs = 1;
    size_t m_Pairs = 0;
};

} // namespace tenon::cpu
