// SPDX-License-Identifier: Apache-2.0
// KernelChoiceInt8: which row of int8_kernels.def, and with it which layout, constant int8 weights get, and why. A pure
// function of facts and rows: no layer, no store, no processor. Users: PackedWeightsInt8, which knows the facts of a
// layer and shows the reason in profiles; Convolution2dInt8.
//
//   rule                                                                                 role of the row
//   0  weights with a scale per block                                                    Int4Blocks, Int4BlocksOneRow,
//                                                                                        Int8Blocks
//   1  at most 4 rows or few columns; the model keeps its weights, of at most 512 KiB    Unpacked
//   2  the same, or at most 4 rows; no weight is -128 (uint8: 0)                         SignTransfer, Unpacked
//   3  few weights overflow int16 pairs; not at most 4 rows of int8 weights without a    Split
//      zero point; not a scale for each channel where rule 5 may hold
//   4  as rule 5, but few columns, whose data share no complement blocks, and no weight  SignTransfer
//      is -128
//   5  int8 weights without a zero point, rows or depth that pay for packing, a depth    Permuted
//      of 33 to 2^31 - 1 (PermutedWeightsInt8); -128 at most twice in eight weights
//   6  4-bit weights, few rows                                                           Int4, Int4OneRow
//   7  weights without a zero point, where no instruction takes bytes                    Int8x2
//   8  float data                                                                        Hybrid
//   9  at most 4 rows; a depth of at most 40 and more than two vectors of columns        ShallowInt8, ShallowUInt8
//   10 all others                                                                        Int8, UInt8
//
// The first rule whose row is there and whose condition holds decides. Rules 1 to 5 are for 8-bit weights that are not
// transposed, rules 1 and 2 for data and weights of the same sign, rules 4 and 5 for int8 data.
#pragma once

#include "backends/cpu/gemm/kernels/int8/KernelRowsInt8.hpp"
#include "common/FunctionRef.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::cpu
{

/// Facts of a GEMM and its constant weights that decide which microkernels run it.
struct GemmFactsInt8
{
    /// Up to this number of columns, weights stay unpacked and dot products run along the depth: a packed panel would
    /// leave most lanes of a vector empty. The price is one horizontal sum per column. For dot-product instructions
    /// (VNNI), which take weights of -128 and fill a vector's accumulators faster than other instructions.
    static constexpr size_t FewColumnsOfDots = 4;

    size_t m_Rows = 0; ///< upper bound
    size_t m_Columns = 0;
    size_t m_Depth = 0;
    size_t m_Matrices = 1;       ///< groups of a convolution
    bool m_IsDataFloat = false;  ///< quantized at run time
    bool m_IsDataSigned = false; ///< also of floats
    bool m_IsWeightSigned = false;
    int32_t m_WeightZeroPoint = 0;
    bool m_IsInt4 = false;          ///< 4-bit weights
    bool m_HasBlocks = false;       ///< weights have a scale per block
    bool m_IsTransposed = false;    ///< weights are [depth, columns]
    bool m_IsHybrid = false;        ///< sums are not requantized
    bool m_HasScales = false;       ///< weights have a scale for each channel
    bool m_MayStayUnpacked = false; ///< the model's constant outlives the packed weights
    /// Several rows of the GEMM read the same pixels, whose complement blocks are made once (ComplementImageInt8).
    bool m_SharesComplementBlocks = false;
};

/// Questions whose answers take reading all weights. Each is asked at most once, if facts and rows leave the choice
/// open, and always in the same order: the answers are blocks of the file of packed weights.
struct WeightQuestionsInt8
{
    /// Maximum number of weights equal to -128 (uint8: 0) in any aligned group of eight weights of a column.
    FunctionRef<size_t()> m_CountMinWeights;
    /// Whether the weights split into so few extra terms that split weights are faster, for this row.
    FunctionRef<bool(const KernelRowInt8& row)> m_IsSplitWorthwhile;
};

struct KernelChoiceInt8
{
    /// A row that was not taken although facts other than this reason speak for it.
    struct Declined
    {
        const KernelRowInt8* m_Row = nullptr;
        const char* m_Reason = nullptr; ///< a literal
    };

    const KernelRowInt8* m_Row = nullptr;
    const char* m_Reason = nullptr; ///< a literal
    std::vector<Declined> m_Declined;

    /// "SplitS8: few weights overflow int16 pairs (not SignTransferS8: a weight is -128)"; with a path of the data
    /// "SplitS8, im2col: ...".
    std::string Describe(const char* path = nullptr) const;
};

/// Precondition: there are rows for Int8 and UInt8.
KernelChoiceInt8 ChooseGemmInt8(const GemmFactsInt8& facts, const KernelRowsInt8& rows,
                                const WeightQuestionsInt8& questions);

/// Extra terms, in percent of the groups, up to which split weights are faster than int16 pairs: they are 1.35 times as
/// fast with six rows; int8 data take one more instruction.
inline size_t GetWorthwhileSplitPercent(const KernelTraitsInt8& row)
{
    return row.m_IsDataBiased ? 10 : 25;
}

} // namespace tenon::cpu
