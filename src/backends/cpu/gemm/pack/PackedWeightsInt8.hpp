// SPDX-License-Identifier: Apache-2.0
// PackedWeightsInt8: constant int8 weights, packed for this processor when a workload is created, with the parameters
// that turn accumulators into outputs. Read by GemmInt8. Weights for few rows or of few columns may stay unpacked in
// the model.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/common/PackedStore.hpp"
#include "backends/cpu/gemm/epilogue/DequantizeArraysInt8.hpp"
#include "backends/cpu/gemm/epilogue/RequantizeArraysInt8.hpp"
#include "backends/cpu/gemm/pack/KernelChoiceInt8.hpp"
#include "backends/cpu/gemm/pack/PanelInt8.hpp"
#include "backends/cpu/gemm/pack/PermutedWeightsInt8.hpp"
#include "backends/cpu/gemm/pack/SplitWeightsInt8.hpp"
#include "backends/cpu/gemm/pack/WeightSourceInt8.hpp"
#include "backends/cpu/gemm/pack/ZeroPointCorrectionInt8.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tenon::cpu
{

/// Sizes and conditions of a GEMM whose weights are to be packed.
struct GemmShapeInt8
{
    size_t m_Columns = 0;
    size_t m_Depth = 0;
    size_t m_Rows = 0; ///< upper bound
    RoundingInt8 m_Rounding = RoundingInt8::FixedPoint;
    bool m_IsTransposed = false; ///< weights are [depth, columns]
    size_t m_Matrices = 1;       ///< see WeightFormatInt8
    /// Weights may stay unpacked, for few rows or columns: the model's constant outlives the packed weights.
    bool m_MayStayUnpacked = false;
    /// Length of the runs that the weights were padded for, see PatchRunsInt8; 0: not padded.
    size_t m_PaddedRunBytes = 0;
    /// Constants with equal numbers of columns that together are the weights; empty: input 1.
    std::span<const void* const> m_Segments = {};
    /// With RoundingInt8::None: weights keep their type and zero point, and are not taken for int8 without a zero
    /// point.
    bool m_HasZeroPoint = false;

    /// For float data, which are quantized at run time.
    bool IsHybrid() const { return m_Rounding == RoundingInt8::None; }
    /// With float data, TFLite takes uint8 weights for int8 bit patterns without a zero point.
    bool ReadsWeightsAsInt8() const { return IsHybrid() && !m_HasZeroPoint; }
};

/// How the weights of a layer are packed: the row that ChooseGemmInt8 gives for the layer's facts, with the counts of
/// its layout.
class WeightPackingInt8
{
public:
    /// For input 1 of the layer. Counts over the weights are blocks of the store.
    WeightPackingInt8(const LayerView& layer, const GemmShapeInt8& shape, const MicrokernelsInt8& microkernels,
                      backends::PackedStore& store);

    const WeightFormatInt8& GetBytes() const { return m_Bytes; }
    bool IsDataSigned() const { return m_IsDataSigned; }
    const MicrokernelSetInt8& GetTiles() const { return *m_Tiles; }
    const KernelChoiceInt8& GetChoice() const { return m_Choice; }
    /// Counts of terms, if the choice is split weights.
    const SplitCountsInt8& GetSplits() const { return m_Splits; }
    /// Packing of permuted weights, if they are the choice.
    const PermutedWeightsInt8& GetPermuted() const { return m_Permuted; }

private:
    const MicrokernelSetInt8& Choose(const LayerView& layer, const GemmShapeInt8& shape,
                                     const MicrokernelsInt8& microkernels, backends::PackedStore& store);

    WeightFormatInt8 m_Bytes;
    bool m_IsDataSigned;
    SplitCountsInt8 m_Splits;
    PermutedWeightsInt8 m_Permuted;
    KernelChoiceInt8 m_Choice;
    const MicrokernelSetInt8* m_Tiles;
};

class PackedWeightsInt8 final : public backends::PackedWeights
{
public:
    static constexpr size_t GroupBytes = 4; ///< of data

    /// Packs input 1 of the layer, [columns, depth], or [depth, columns] if it is transposed. Types: int8 or uint8
    /// data, weights and output, an int32 bias that is constant or missing. With RoundingInt8::None: float data, output
    /// and bias, and signed weights of 8 or 4 bits; or int8 or uint8 data whose sums are the output.
    PackedWeightsInt8(const LayerView& layer, const GemmShapeInt8& shape, backends::PackedStore& store);

    /// Upper bound of the packed bytes of weights of these sizes.
    static uint64_t GetPackedBytes(size_t columns, size_t depth, size_t matrices = 1);

    /// Whether sums and scales are in the range where MicrokernelsInt8 gives the results of the reference kernel.
    /// Nothing is packed otherwise.
    bool IsExact() const { return m_IsExact && m_Arrays.IsExact(); }
    bool RefersToConstants() const override { return !IsExact() || m_Tiles->IsUnpacked(); }

    const MicrokernelsInt8& GetMicrokernels() const { return *m_Microkernels; }
    /// The microkernels that the weights are packed for.
    const MicrokernelSetInt8& GetTiles() const { return *m_Tiles; }
    /// Their row in int8_kernels.def, and why it was chosen.
    const KernelChoiceInt8& GetChoice() const { return m_Packing.GetChoice(); }
    size_t GetColumns() const { return m_NumColumns; }
    size_t GetDepth() const { return m_Depth; }
    /// See GemmShapeInt8.
    size_t GetPaddedRunBytes() const { return m_PaddedRunBytes; }
    /// Groups of four bytes in the depth, as the microkernels read the data.
    size_t GetGroups() const { return m_Groups; }
    const std::vector<PanelInt8>& GetPanels() const { return m_Panels; }
    size_t GetNumMatrices() const { return m_Packing.GetBytes().m_Matrices; }
    const void* GetData(const PanelInt8& panel) const { return m_Data.Data() + panel.m_Offset; }
    /// The weights where KernelTraitsInt8::IsUnpacked; panels have no data then.
    const WeightSourceInt8& GetUnpacked() const { return m_UnpackedWeights; }
    /// Row correction = this factor * sum of the row's data; 0: rows need no correction.
    int32_t GetRowSumFactor() const { return m_ZeroPointCorrection.m_RowSumFactor; }
    /// 128 or -128 where the microkernels read biased data, else 0.
    int32_t GetDataBias() const { return m_ZeroPointCorrection.m_DataBias; }
    bool IsDataSigned() const { return m_IsDataSigned; }
    int32_t GetDataZeroPoint() const { return m_DataZeroPoint; }
    /// Initial accumulators of a panel whose outputs are requantized.
    const int32_t* GetBias(const PanelInt8& panel) const { return m_Arrays.GetBias(panel.m_PaddedColumn); }
    /// The requantization of a panel; the caller sets the output's range.
    RequantizeColumns GetRequantization(const PanelInt8& panel) const { return m_Arrays.From(panel.m_PaddedColumn); }
    /// With RoundingInt8::None; the caller sets the clamp.
    DequantizeColumns GetDequantization(const PanelInt8& panel) const { return m_Floats.From(panel.m_PaddedColumn); }
    /// With RoundingInt8::None: initial accumulators, int32 per padded column, for sums as the output and data with
    /// this zero point. `bias`: one number for each column; null: none.
    AlignedMemory MakeSumStart(int32_t dataZeroPoint, const int32_t* bias) const;

private:
    /// Returns the length of the arrays in m_Arrays.
    size_t MakePanels(bool isHybrid);
    size_t CountPaddedColumns() const
    {
        return m_Panels.back().m_PaddedColumn + m_Panels.back().m_Vectors * m_Microkernels->m_Lanes;
    }
    void CheckPanels(const LayerView& layer) const;
    /// `weights`: the panel's columns, or all weights where these are transposed.
    void PackPanel(const PanelInt8& panel, const uint8_t* weights, std::byte* packed) const;
    /// Packs a panel whose columns are contiguous one after the other from `weights` on.
    void PackColumns(const PanelInt8& panel, const uint8_t* weights, std::byte* packed) const;
    /// The same with adjacent pairs of groups of a column; `width`: columns of the panel, padding included.
    void PackGroupPairs(const uint8_t* weights, size_t columns, size_t width, std::byte* packed) const;
    /// The same for layouts in which a group's weights take two bytes.
    void PackHalfGroups(const uint8_t* weights, size_t columns, size_t width, std::byte* packed) const;

    const MicrokernelsInt8* m_Microkernels;
    WeightPackingInt8 m_Packing;
    const MicrokernelSetInt8* m_Tiles;
    size_t m_NumColumns;
    size_t m_Depth;
    size_t m_PaddedRunBytes;
    size_t m_Groups;
    bool m_IsDataSigned;
    int32_t m_DataZeroPoint;
    ZeroPointCorrectionInt8 m_ZeroPointCorrection;
    bool m_IsExact = true;
    std::vector<PanelInt8> m_Panels;
    size_t m_PanelBytes = 0; ///< of all panels
    backends::PackedBlock m_Data;
    WeightSourceInt8 m_UnpackedWeights;
    RequantizeArraysInt8 m_Arrays;
    DequantizeArraysInt8 m_Floats; ///< replaces m_Arrays with RoundingInt8::None
};

} // namespace tenon::cpu
