// SPDX-License-Identifier: Apache-2.0
// Constant float32 weights of a product, packed for the processor at hand when a workload is made. Read by ProductF32.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/cpu/gemm/TilesF32.hpp"
#include "common/AlignedMemory.hpp"

#include <cstddef>
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
    size_t m_Offset = 0; ///< floats from the start of the packed weights
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
    size_t m_Columns = 0; ///< of all groups
    size_t m_Depth = 0;   ///< of a column
};

class PackedWeightsF32 final : public backends::PackedWeights
{
public:
    /// Packs the weights.
    PackedWeightsF32(const float* weights, const WeightSizes& sizes, WeightOrder order);
    /// Refers to weights [columns, depth], which must outlive this: for products of so few rows that packing does not
    /// pay. There are no panels.
    PackedWeightsF32(const float* weights, const WeightSizes& sizes);

    const EngineF32& GetEngine() const { return *m_Engine; }
    const WeightSizes& GetSizes() const { return m_Sizes; }
    const std::vector<PanelF32>& GetPanels() const { return m_Panels; }
    const float* GetData(const PanelF32& panel) const
    {
        return reinterpret_cast<const float*>(m_Data.Data()) + panel.m_Offset;
    }
    /// The weights as they are, where they are not packed; else null.
    const float* GetPlain() const { return m_Plain; }
    /// As many zeros as a column is deep: what lies outside of an image.
    const float* GetZeros() const { return reinterpret_cast<const float*>(m_Zeros.Data()); }

private:
    void MakePanels();
    void Pack(const PanelF32& panel, const float* weights, WeightOrder order) const;

    const EngineF32* m_Engine;
    WeightSizes m_Sizes;
    const float* m_Plain = nullptr;
    std::vector<PanelF32> m_Panels;
    AlignedMemory m_Data;
    AlignedMemory m_Zeros;
};

/// With so few rows of data the weights are read once anyway: they may stay as they are.
constexpr size_t FewRows = 4;

} // namespace tenon::cpu
