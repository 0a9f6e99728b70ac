// SPDX-License-Identifier: Apache-2.0
// Constant float32 weights of a product, packed for the processor at hand when a workload is made. Read by ProductF32.
#pragma once

#include "backends/common/ReferringWeights.hpp"
#include "backends/cpu/gemm/TilesF32.hpp"
#include "common/AlignedMemory.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
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
    size_t m_Columns = 0;  ///< of all groups
    size_t m_Depth = 0;    ///< of a column
    size_t m_RowDepth = 0; ///< of a row of windows; 0: the data are a matrix
};

class PackedWeightsF32 final : public backends::ReferringWeights
{
public:
    /// Packs the weights into panels.
    PackedWeightsF32(const float* weights, const WeightSizes& sizes, WeightOrder order);
    /// Leaves the weights as columns, for products of matrices: refers to them, which must
    /// outlive this, or turns them around. There are no panels.
    static std::unique_ptr<PackedWeightsF32> MakePlain(const float* weights, const WeightSizes& sizes,
                                                       WeightOrder order);

    /// Bytes of the panels of such weights.
    static uint64_t GetPackedBytes(const WeightSizes& sizes);

    bool RefersToConstants() const override { return m_Plain != nullptr && m_Data.Bytes() == 0; }

    const EngineF32& GetEngine() const { return *m_Engine; }
    const WeightSizes& GetSizes() const { return m_Sizes; }
    const std::vector<PanelF32>& GetPanels() const { return m_Panels; }
    const float* GetData(const PanelF32& panel) const
    {
        return reinterpret_cast<const float*>(m_Data.Data()) + panel.m_Offset;
    }
    /// The weights as columns, where they are not in panels; else null.
    const float* GetPlain() const { return m_Plain; }
    /// As many zeros as a row of windows has elements: what lies outside of an image.
    const float* GetZeros() const { return reinterpret_cast<const float*>(m_Zeros.Data()); }

private:
    explicit PackedWeightsF32(const WeightSizes& sizes) : m_Engine(&GetEngineF32()), m_Sizes(sizes) {}
    void MakePanels();
    void Pack(const PanelF32& panel, const float* weights, WeightOrder order) const;

    const EngineF32* m_Engine;
    WeightSizes m_Sizes;
    const float* m_Plain = nullptr;
    std::vector<PanelF32> m_Panels;
    AlignedMemory m_Data;
    AlignedMemory m_Zeros;
};

/// Weights for a matrix of `rows` rows, or the most that there are where these are not known: as columns where there
/// are few rows, so that all of the weights are read once anyway, or so few columns that vectors of them would be
/// padding for the most part; else in panels.
std::unique_ptr<PackedWeightsF32> PackMatrix(const float* weights, const WeightSizes& sizes, WeightOrder order,
                                             size_t rows);
/// Whether such weights are left as columns for any number of rows.
bool AreFewColumns(const WeightSizes& sizes);

} // namespace tenon::cpu
