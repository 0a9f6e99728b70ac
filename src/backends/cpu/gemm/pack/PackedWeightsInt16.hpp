// SPDX-License-Identifier: Apache-2.0
// PackedWeightsInt16: constant weights of a GEMM of int16 data and the constants of its requantization, packed for this
// processor when a workload is made. Read by GemmInt16.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/common/PackedStore.hpp"
#include "backends/cpu/gemm/epilogue/RequantizeArraysInt16.hpp"
#include "backends/cpu/gemm/pack/WeightReaderInt16.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tenon::cpu
{

/// Sizes of weights: one matrix for each group of a convolution; other layers have one group.
struct WeightSizesInt16
{
    size_t m_Groups = 1;
    size_t m_Columns = 0; ///< of all groups
    size_t m_Depth = 0;   ///< of each group
};

/// A panel: a few vectors of output channels of a group.
struct PanelInt16
{
    size_t m_Column = 0;  ///< the first one
    size_t m_Columns = 0; ///< without the zeros that pad the last vector
    size_t m_Vectors = 0;
    size_t m_PaddedColumn = 0; ///< of the first column, in lanes of all panels' vectors
    size_t m_Group = 0;
    size_t m_FirstSlice = 0;
    size_t m_LastSlice = 0; ///< one past it
};

class PackedWeightsInt16 final : public backends::PackedWeights
{
public:
    /// Weights are [columns, depth] in row-major order, or [depth, columns] if `isTransposed`. `rows`: rows of the
    /// GEMM, large if unknown; with few rows weights are packed as int8.
    PackedWeightsInt16(const WeightReaderInt16& weights, const WeightSizesInt16& sizes, size_t rows,
                       backends::PackedStore& store, bool isTransposed = false);

    /// Bytes of the packed weights of these sizes.
    static uint64_t GetPackedBytes(const WeightSizesInt16& sizes);

    /// Whether MicrokernelsInt16 gives the exact results of the reference kernel. Otherwise nothing is packed.
    bool IsExact() const { return m_IsExact && m_Arrays.IsExact(); }
    bool RefersToConstants() const override { return !IsExact(); }

    const MicrokernelsInt16& GetMicrokernels() const { return *m_Microkernels; }
    const WeightSizesInt16& GetSizes() const { return m_Sizes; }
    /// Pairs of the depth, as data and weights are read.
    size_t GetGroups() const { return m_Groups; }
    const std::vector<PanelInt16>& GetPanels() const { return m_Panels; }
    bool IsInt8() const { return m_IsInt8; }
    /// Rows of the highest microkernel for a panel.
    size_t GetTileRows(const PanelInt16& panel) const
    {
        return m_IsInt8 ? MicrokernelsInt16::MaxInt8Rows : m_Microkernels->m_Rows[panel.m_Vectors];
    }
    /// The panel's weights from pair `group` of the depth on.
    const std::byte* GetData(const PanelInt16& panel, size_t group) const
    {
        const size_t pair = panel.m_PaddedColumn * m_Groups + group * panel.m_Vectors * m_Microkernels->m_Lanes;
        return m_Data.Data() + pair * GetPairBytes();
    }
    /// The slices of the depth whose sums fit 32 bits: the end of each slice, in pairs.
    std::span<const size_t> GetSlices(const PanelInt16& panel) const
    {
        return std::span(m_Slices).subspan(panel.m_FirstSlice, panel.m_LastSlice - panel.m_FirstSlice);
    }
    /// The requantization constants of a panel; the caller sets the range of the output.
    RequantizeColumnsInt16 GetRequantization(const PanelInt16& panel) const
    {
        return m_Arrays.From(panel.m_PaddedColumn);
    }
    /// Zeros for taps in the padding: as many as the depth of a group.
    const int16_t* GetZeros() const { return m_Zeros.data(); }

private:
    size_t MakePanels();
    void SetUpColumns(const WeightReaderInt16& weights, backends::PackedStore& store, bool isTransposed);
    void PackPanel(const PanelInt16& panel, const WeightReaderInt16& weights, bool isTransposed, std::byte* data) const;
    void FindSlices(PanelInt16& panel);
    size_t GetPairBytes() const { return 2 * (m_IsInt8 ? sizeof(int8_t) : sizeof(int16_t)); }

    const MicrokernelsInt16* m_Microkernels;
    WeightSizesInt16 m_Sizes;
    size_t m_Groups;
    bool m_IsInt8;
    bool m_IsExact = true;
    bool m_FitsOneSlice = true;
    std::vector<PanelInt16> m_Panels;
    std::vector<size_t> m_Slices; ///< of all panels
    size_t m_NumPaddedColumns;    ///< lanes of all panels' vectors
    backends::PackedBlock m_Data;
    RequantizeArraysInt16 m_Arrays;
    std::vector<int16_t> m_Zeros;
};

} // namespace tenon::cpu
