// SPDX-License-Identifier: Apache-2.0
// PanelsF32: how float32 weights are cut into panels for the tiles of the processor at hand, and how one is packed.
// Used by PackedWeightsF32, whose weights are constant, and by BatchMatMul, which packs a matrix each time it runs.
#pragma once

#include "backends/cpu/gemm/kernels/f32/MicrokernelsF32.hpp"
#include "backends/cpu/gemm/pack/FloatWeights.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::cpu
{

/// A few vectors of output channels of one group.
struct PanelF32
{
    size_t m_Group = 0;
    size_t m_Column = 0;  ///< the first one, counted through all groups
    size_t m_Columns = 0; ///< that exist; the rest of the last vector is zeros
    size_t m_Vectors = 0;
    size_t m_Offset = 0; ///< floats from the start of the weights
};

/// How weights lie in memory.
enum class WeightOrder : uint8_t
{
    Columns, ///< [columns, depth]
    Depth    ///< [depth, columns]
};

/// The sizes of weights. Each group of columns has data of its own; matrices have one group.
struct WeightSizes
{
    size_t m_Groups = 1;
    size_t m_Columns = 0;  ///< of all groups
    size_t m_Depth = 0;    ///< of a column
    size_t m_RowDepth = 0; ///< of a row of windows; 0: the data are a matrix
    /// Of panels that are read where the matrix [depth, columns] is, in whole vectors: floats from one of its rows to
    /// the next; 0: panels are packed.
    size_t m_InPlaceStride = 0;
};

class PanelsF32
{
public:
    explicit PanelsF32(const WeightSizes& sizes);
    /// For weights that stay as they are.
    static PanelsF32 MakeNone(const WeightSizes& sizes);

    const EngineF32& GetEngine() const { return *m_Engine; }
    const WeightSizes& GetSizes() const { return m_Sizes; }
    const std::vector<PanelF32>& Get() const { return m_Panels; }
    /// Floats of all panels.
    size_t GetFloats() const { return m_Floats; }

    /// Writes a panel to `to`, which is aligned to vectors. `stride`: floats from one column, or one step of the depth,
    /// to the next.
    void Pack(const PanelF32& panel, const float* weights, WeightOrder order, size_t stride, float* to) const;
    /// The same of weights that may be halves, which lie one behind the other.
    void Pack(const PanelF32& panel, const FloatWeights& weights, WeightOrder order, float* to) const;
    /// Floats of a panel.
    size_t GetFloats(const PanelF32& panel) const { return panel.m_Vectors * m_Engine->m_Lanes * m_Sizes.m_Depth; }
    bool AreInPlace() const { return m_Sizes.m_InPlaceStride != 0; }
    /// Floats from one step of the depth to the next.
    size_t GetStride(const PanelF32& panel) const { return AreInPlace() ? m_Sizes.m_InPlaceStride : GetWidth(panel); }

private:
    size_t GetWidth(const PanelF32& panel) const { return panel.m_Vectors * m_Engine->m_Lanes; }
    void PackHalves(const PanelF32& panel, const FloatWeights& weights, WeightOrder order, float* to) const;
    /// The columns that fill up the last vector.
    void FillUp(const PanelF32& panel, float* to) const;

    const EngineF32* m_Engine;
    WeightSizes m_Sizes;
    std::vector<PanelF32> m_Panels;
    size_t m_Floats = 0;
};

} // namespace tenon::cpu
