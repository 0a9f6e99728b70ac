// SPDX-License-Identifier: Apache-2.0
// MatrixPanelsInt8: packs a B matrix that is not constant, at run time, into the panels that the int8 microkernels
// read.
#pragma once

#include "backends/cpu/gemm/pack/PanelInt8.hpp"
#include "backends/cpu/gemm/pack/ZeroPointCorrectionInt8.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::cpu
{

/// [depth, columns] in memory. One of the strides, in elements, is 1.
struct MatrixInt8
{
    const uint8_t* m_Data = nullptr;
    size_t m_DepthStride = 1;
    size_t m_ColumnStride = 1;
};

class MatrixPanelsInt8
{
public:
    /// `isDataSigned`: sign of the data operand; the other parameters describe the matrix.
    MatrixPanelsInt8(bool isDataSigned, size_t columns, size_t depth, bool isSigned, int32_t zeroPoint);

    const MicrokernelSetInt8& GetTiles() const { return *m_Tiles; }
    const std::vector<PanelInt8>& Get() const { return m_Panels; }
    size_t GetWidth(const PanelInt8& panel) const { return panel.m_Vectors * GetMicrokernelsInt8().m_Lanes; }
    size_t GetMaxWidth() const { return GetWidth(m_Panels.front()); }
    size_t GetBytes(const PanelInt8& panel) const { return GetWidth(panel) * m_Groups * 4; }
    /// Sum over several panels.
    size_t GetBytes(const IndexRange& panels) const;
    /// Bytes of working memory for packing, for matrices with this stride of columns.
    size_t GetSliceBytes(size_t columnStride) const
    {
        return PacksSlices(columnStride) ? GetBytes(m_Panels.front()) : 0;
    }
    /// Groups of the depth, as the microkernels read the data.
    size_t GetGroups() const { return m_Groups; }

    /// Row correction = this factor * sum of the row's data; 0: rows need no correction.
    int32_t GetRowSumFactor() const { return m_ZeroPointCorrection.m_RowSumFactor; }
    /// Packs a panel into `packed`, GetBytes() of it. `bias`, whole vectors, gets the initial accumulators for data
    /// with this zero point. `slice`: GetSliceBytes() of working memory.
    void Pack(const PanelInt8& panel, const MatrixInt8& matrix, int32_t dataZeroPoint, std::byte* packed, int32_t* bias,
              std::byte* slice) const;

private:
    /// Whether columns are copied to a slice first: each column is contiguous, but the words of a packed column are
    /// not.
    bool PacksSlices(size_t columnStride) const { return columnStride != 1 && m_Tiles->m_ColumnGroups == 1; }
    void PackColumns(const PanelInt8& panel, const MatrixInt8& matrix, std::byte* packed, int32_t* sums,
                     std::byte* slice) const;
    template <bool IsSigned>
    void PackAs(const PanelInt8& panel, const MatrixInt8& matrix, std::byte* packed, int32_t* sums) const;
    /// Index of the word that holds a group of a column.
    size_t FindWord(size_t group, size_t column, size_t width) const;

    const MicrokernelSetInt8* m_Tiles;
    size_t m_Depth;
    size_t m_Groups;
    bool m_IsSigned;
    int32_t m_ZeroPoint;
    ZeroPointCorrectionInt8 m_ZeroPointCorrection;
    std::vector<PanelInt8> m_Panels;
};

} // namespace tenon::cpu
