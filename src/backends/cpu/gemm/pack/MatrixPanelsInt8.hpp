// SPDX-License-Identifier: Apache-2.0
// A matrix of bytes that changes from run to run, packed for the tiles of Product8 as it runs.
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
struct Matrix8
{
    const uint8_t* m_Data = nullptr;
    size_t m_DepthStride = 1;
    size_t m_ColumnStride = 1;
};

class MatrixPanels8
{
public:
    /// For tiles whose data have the sign of x.
    MatrixPanels8(bool isDataSigned, size_t columns, size_t depth, bool isSigned, int32_t zeroPoint);

    const TileSet8& GetTiles() const { return *m_Tiles; }
    const std::vector<Panel8>& Get() const { return m_Panels; }
    size_t GetWidth(const Panel8& panel) const { return panel.m_Vectors * GetEngine8().m_Lanes; }
    size_t GetMostWidth() const { return GetWidth(m_Panels.front()); }
    size_t GetBytes(const Panel8& panel) const { return GetWidth(panel) * m_Groups * 4; }
    /// Of several.
    size_t GetBytes(const Part& panels) const;
    /// What packing needs to work in, for matrices with this stride of columns.
    size_t GetSliceBytes(size_t columnStride) const
    {
        return PacksSlices(columnStride) ? GetBytes(m_Panels.front()) : 0;
    }
    /// Groups of the depth of the data as they are read.
    size_t GetGroups() const { return m_Groups; }

    /// What the sum of a row's data is to be multiplied by and added to its sums; 0: nothing is to be added.
    int32_t GetRowFactor() const { return m_Form.m_RowFactor; }
    /// Packs a panel into `packed`, GetBytes() of it. Into `bias`, whole vectors, goes what its sums begin with, for
    /// data with this zero point. `slice`: GetSliceBytes() to work in.
    void Pack(const Panel8& panel, const Matrix8& matrix, int32_t dataZeroPoint, std::byte* packed, int32_t* bias,
              std::byte* slice) const;

private:
    /// Whether columns are copied to a slice first: they lie one behind the other, and words of a column do not.
    bool PacksSlices(size_t columnStride) const { return columnStride != 1 && m_Tiles->m_ColumnGroups == 1; }
    void PackColumns(const Panel8& panel, const Matrix8& matrix, std::byte* packed, int32_t* sums,
                     std::byte* slice) const;
    template <bool IsSigned>
    void PackAs(const Panel8& panel, const Matrix8& matrix, std::byte* packed, int32_t* sums) const;
    /// The place of a group of a column, in words.
    size_t FindWord(size_t group, size_t column, size_t width) const;

    const TileSet8* m_Tiles;
    size_t m_Depth;
    size_t m_Groups;
    bool m_IsSigned;
    int32_t m_ZeroPoint;
    Form8 m_Form;
    std::vector<Panel8> m_Panels;
};

} // namespace tenon::cpu
