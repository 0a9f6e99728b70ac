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
struct Sizes16
{
    size_t m_Groups = 1;
    size_t m_Columns = 0; ///< of all groups
    size_t m_Depth = 0;   ///< of each group
};

/// A panel: a few vectors of output channels of a group.
struct Panel16
{
    size_t m_Column = 0;  ///< the first one
    size_t m_Columns = 0; ///< without the zeros that pad the last vector
    size_t m_Vectors = 0;
    size_t m_Place = 0; ///< of the first column, in lanes of all panels' vectors
    size_t m_Group = 0;
    size_t m_FirstSlice = 0;
    size_t m_LastSlice = 0; ///< one past it
};

class PackedWeights16 final : public backends::PackedWeights
{
public:
    /// Weights are [columns, depth] in row-major order, or [depth, columns] if `isTransposed`. `rows`: rows of the
    /// GEMM, large if unknown; with few rows weights are packed as int8.
    PackedWeights16(const Weights16& weights, const Sizes16& sizes, size_t rows, backends::PackedStore& store,
                    bool isTransposed = false);

    /// Bytes of the packed weights of these sizes.
    static uint64_t GetPackedBytes(const Sizes16& sizes);

    /// Whether MicrokernelsInt16 gives the exact results of the reference kernel. Otherwise nothing is packed.
    bool IsExact() const { return m_IsExact && m_Arrays.IsExact(); }
    bool RefersToConstants() const override { return !IsExact(); }

    const Engine16& GetEngine() const { return *m_Engine; }
    const Sizes16& GetSizes() const { return m_Sizes; }
    /// Pairs of the depth, as data and weights are read.
    size_t GetGroups() const { return m_Groups; }
    const std::vector<Panel16>& GetPanels() const { return m_Panels; }
    bool AreBytes() const { return m_AreBytes; }
    /// Rows of the highest microkernel for a panel.
    size_t GetTileRows(const Panel16& panel) const
    {
        return m_AreBytes ? Engine16::MostByteRows : m_Engine->m_Rows[panel.m_Vectors];
    }
    /// The panel's weights from pair `group` of the depth on.
    const std::byte* GetData(const Panel16& panel, size_t group) const
    {
        const size_t pair = panel.m_Place * m_Groups + group * panel.m_Vectors * m_Engine->m_Lanes;
        return m_Data.Data() + pair * GetPairBytes();
    }
    /// The slices of the depth whose sums fit 32 bits: the end of each slice, in pairs.
    std::span<const size_t> GetSlices(const Panel16& panel) const
    {
        return std::span(m_Slices).subspan(panel.m_FirstSlice, panel.m_LastSlice - panel.m_FirstSlice);
    }
    /// The requantization constants of a panel; the caller sets the range of the output.
    Columns16 GetRequantization(const Panel16& panel) const { return m_Arrays.From(panel.m_Place); }
    /// Zeros for taps in the padding: as many as the depth of a group.
    const int16_t* GetZeros() const { return m_Zeros.data(); }

private:
    size_t MakePanels();
    void SetUpColumns(const Weights16& weights, backends::PackedStore& store, bool isTransposed);
    void PackPanel(const Panel16& panel, const Weights16& weights, bool isTransposed, std::byte* data) const;
    void FindSlices(Panel16& panel);
    size_t GetPairBytes() const { return 2 * (m_AreBytes ? sizeof(int8_t) : sizeof(int16_t)); }

    const Engine16* m_Engine;
    Sizes16 m_Sizes;
    size_t m_Groups;
    bool m_AreBytes;
    bool m_IsExact = true;
    bool m_FitsOneSlice = true;
    std::vector<Panel16> m_Panels;
    std::vector<size_t> m_Slices; ///< of all panels
    size_t m_Places;              ///< lanes of all panels' vectors
    backends::PackedBlock m_Data;
    RequantizeArrays16 m_Arrays;
    std::vector<int16_t> m_Zeros;
};

} // namespace tenon::cpu
