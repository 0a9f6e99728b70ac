// SPDX-License-Identifier: Apache-2.0
// Constant weights of a product of 16-bit data, packed for the processor at hand when a workload is made, together with
// what turns sums into numbers of the output. Read by Product16.
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

/// A matrix of weights for each group of a convolution's channels; other products have one.
struct Sizes16
{
    size_t m_Groups = 1;
    size_t m_Columns = 0; ///< of all groups
    size_t m_Depth = 0;   ///< of each of them
};

/// A few vectors of output channels of a group.
struct Panel16
{
    size_t m_Column = 0;  ///< the first one
    size_t m_Columns = 0; ///< that exist; the rest of the last vector is zeros
    size_t m_Vectors = 0;
    size_t m_Place = 0; ///< of the first column, in vectors' lanes
    size_t m_Group = 0;
    size_t m_FirstSlice = 0;
    size_t m_LastSlice = 0; ///< one past it
};

class PackedWeights16 final : public backends::PackedWeights
{
public:
    /// Weights are [columns, depth] row by row, or [depth, columns] if `isTransposed`. `rows`: how many the product
    /// will have, as far as that is known, else many: weights stay bytes for a few.
    PackedWeights16(const Weights16& weights, const Sizes16& sizes, size_t rows, backends::PackedStore& store,
                    bool isTransposed = false);

    /// Bytes of what is packed of weights of these sizes.
    static uint64_t GetPackedBytes(const Sizes16& sizes);

    /// Whether Engine16 gives the numbers of the reference kernel. Nothing is packed otherwise.
    bool IsExact() const { return m_IsExact && m_Arrays.IsExact(); }
    bool RefersToConstants() const override { return !IsExact(); }

    const Engine16& GetEngine() const { return *m_Engine; }
    const Sizes16& GetSizes() const { return m_Sizes; }
    /// Pairs of numbers in the depth of data and weights as they are read.
    size_t GetGroups() const { return m_Groups; }
    const std::vector<Panel16>& GetPanels() const { return m_Panels; }
    bool AreBytes() const { return m_AreBytes; }
    /// Rows of the highest tile for a panel.
    size_t GetTileRows(const Panel16& panel) const
    {
        return m_AreBytes ? Engine16::MostByteRows : m_Engine->m_Rows[panel.m_Vectors];
    }
    /// The panel's weights from this pair of the depth on.
    const std::byte* GetData(const Panel16& panel, size_t group) const
    {
        const size_t pair = panel.m_Place * m_Groups + group * panel.m_Vectors * m_Engine->m_Lanes;
        return m_Data.Data() + pair * GetPairBytes();
    }
    /// The slices of the depth whose sums fit 32 bits: where each ends, counted in pairs.
    std::span<const size_t> GetSlices(const Panel16& panel) const
    {
        return std::span(m_Slices).subspan(panel.m_FirstSlice, panel.m_LastSlice - panel.m_FirstSlice);
    }
    /// The arrays of a panel; the output's range is the caller's.
    Columns16 GetRequantization(const Panel16& panel) const { return m_Arrays.From(panel.m_Place); }
    /// As many as a group's depth: data outside of an image.
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
