// SPDX-License-Identifier: Apache-2.0
// Constant weights of a product of bytes, packed for the processor at hand when a workload is made, together with what
// turns sums into bytes of the output. Read by Product8. Weights for few rows, or of few columns, may stay where the
// model has them.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/common/PackedStore.hpp"
#include "backends/cpu/gemm/epilogue/DequantizeArraysInt8.hpp"
#include "backends/cpu/gemm/epilogue/RequantizeArraysInt8.hpp"
#include "backends/cpu/gemm/pack/KernelChoiceInt8.hpp"
#include "backends/cpu/gemm/pack/PanelInt8.hpp"
#include "backends/cpu/gemm/pack/WeightSegmentsInt8.hpp"
#include "backends/cpu/gemm/pack/ZeroPointCorrectionInt8.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::cpu
{

class ColumnSums8;

class PackedWeights8 final : public backends::PackedWeights
{
public:
    static constexpr size_t GroupBytes = 4; ///< of data

    /// Packs input 1 of the layer, [columns, depth] row by row, or [depth, columns] if it is transposed. Types: int8 or
    /// uint8 data, weights and output, an int32 bias that is constant or missing. Or, with Rounding8::None: float data,
    /// output and bias, and signed weights of 8 or 4 bits; or int8 or uint8 data whose sums stay as they are.
    PackedWeights8(const LayerView& layer, const ProductShape8& shape, backends::PackedStore& store);

    /// Bytes of what is packed of weights of these sizes.
    static uint64_t GetPackedBytes(size_t columns, size_t depth, size_t matrices = 1);

    /// Whether the sums and scales are such that Engine8 gives the bytes of the reference kernel. Nothing is packed
    /// otherwise.
    bool IsExact() const { return m_IsExact && m_Arrays.IsExact(); }
    bool RefersToConstants() const override { return !IsExact() || m_Tiles->AreStored(); }

    const Engine8& GetEngine() const { return *m_Engine; }
    /// For the form that the weights are packed in.
    const TileSet8& GetTiles() const { return *m_Tiles; }
    size_t GetColumns() const { return m_NumColumns; }
    size_t GetDepth() const { return m_Depth; }
    /// See ProductShape8.
    size_t GetPaddedRunBytes() const { return m_PaddedRunBytes; }
    /// Groups of four bytes in the depth of the data as they are read.
    size_t GetGroups() const { return m_Groups; }
    const std::vector<Panel8>& GetPanels() const { return m_Panels; }
    size_t GetNumMatrices() const { return m_Choice.GetBytes().m_Matrices; }
    const void* GetData(const Panel8& panel) const { return m_Data.Data() + panel.m_Offset; }
    /// With TileSet8::AreStored, in place of panels' data.
    const ColumnPieces8& GetStored() const { return m_Stored; }
    /// What the sum of a row's data is to be multiplied by and added to its sums; 0: nothing is to be added.
    int32_t GetRowFactor() const { return m_Form.m_RowFactor; }
    /// What the product reads of data is so much more than what is stored.
    int32_t GetDataShift() const { return m_Form.m_DataShift; }
    bool IsDataSigned() const { return m_IsDataSigned; }
    int32_t GetDataZeroPoint() const { return m_DataZeroPoint; }
    /// What the sums of a panel begin with, if they become bytes.
    const int32_t* GetBias(const Panel8& panel) const { return m_Arrays.GetBias(panel.m_Place); }
    /// The arrays of a panel; the output's range is the caller's.
    RequantizeColumns GetRequantization(const Panel8& panel) const { return m_Arrays.From(panel.m_Place); }
    /// With Rounding8::None; the clamp is the caller's.
    FloatColumns GetFloatColumns(const Panel8& panel) const { return m_Floats.From(panel.m_Place); }
    /// With Rounding8::None: int32 for each place, what sums that stay as they are begin with, of data with this zero
    /// point. `bias`: one for each column; null: none.
    AlignedMemory MakeSumStart(int32_t dataZeroPoint, const int32_t* bias) const;

private:
    /// How many places m_Arrays has.
    size_t MakePanels(bool isHybrid);
    size_t CountPlaces() const { return m_Panels.back().m_Place + m_Panels.back().m_Vectors * m_Engine->m_Lanes; }
    void CheckPanels(const LayerView& layer) const;
    /// `weights`: the panel's columns, or all weights where these are transposed.
    void PackPanel(const Panel8& panel, const uint8_t* weights, std::byte* packed) const;
    /// A panel whose columns lie one behind the other from `weights` on.
    void PackColumns(const Panel8& panel, const uint8_t* weights, std::byte* packed) const;
    /// The same with pairs of groups of a column beside each other; `width`: columns that the panel has room for.
    void PackPairs(const uint8_t* weights, size_t columns, size_t width, std::byte* packed) const;
    /// The same where a group's weights take two bytes.
    void PackHalves(const uint8_t* weights, size_t columns, size_t width, std::byte* packed) const;

    const Engine8* m_Engine;
    FormChoice8 m_Choice;
    const TileSet8* m_Tiles;
    size_t m_NumColumns;
    size_t m_Depth;
    size_t m_PaddedRunBytes;
    size_t m_Groups;
    bool m_IsDataSigned;
    int32_t m_DataZeroPoint;
    Form8 m_Form;
    bool m_IsExact = true;
    std::vector<Panel8> m_Panels;
    size_t m_PanelBytes = 0; ///< of all panels
    backends::PackedBlock m_Data;
    ColumnPieces8 m_Stored;
    RequantizeArrays m_Arrays;
    FloatArrays8 m_Floats; ///< with Rounding8::None, in place of the others
};

} // namespace tenon::cpu
