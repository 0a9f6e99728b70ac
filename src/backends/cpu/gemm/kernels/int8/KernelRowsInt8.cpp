// SPDX-License-Identifier: Apache-2.0
// The rows of int8_kernels.def without their functions.
#include "backends/cpu/gemm/kernels/int8/KernelRowsInt8.hpp"

#include <algorithm>
#include <array>

namespace tenon::cpu
{

namespace
{

/// Types of operands in the table.
enum class Operand
{
    S8,
    U8,
    S16,
    U4
};

/// Where data are biased by 128.
enum class DataBias
{
    No,
    OnLoad,
    WhenPacked,
    WhenQuantized
};

/// How many weights of a group of eight may be -128.
enum class MinWeights : uint8_t
{
    None = 0,
    Two = 2,
    Any = KernelTraitsInt8::MinWeightsGroup
};

constexpr OperandSignsInt8 GetSigns(Operand data, Operand weights)
{
    const bool isWeightSigned = weights == Operand::S8 || weights == Operand::S16;
    return data == Operand::U8 ? (isWeightSigned ? OperandSignsInt8::DataUnsigned : OperandSignsInt8::BothUnsigned)
           : isWeightSigned    ? OperandSignsInt8::BothSigned
                               : OperandSignsInt8::DataSigned;
}

constexpr KernelRowInt8 Describe(KernelRowInt8 row, Operand data, Operand weights, MinWeights minWeights, DataBias bias)
{
    row.m_Signs = GetSigns(data, weights);
    row.m_MaxMinWeights = static_cast<uint8_t>(minWeights);
    row.m_IsDataBiased = bias != DataBias::No;
    row.m_IsPackedDataBiased = bias == DataBias::WhenPacked;
    row.m_IsQuantizedDataBiased = bias == DataBias::WhenQuantized;
    for (size_t vectors = 1; vectors <= KernelTraitsInt8::MaxVectors; ++vectors)
    {
        row.m_Vectors = row.m_Rows[vectors] != 0 ? vectors : row.m_Vectors;
    }
    // For smaller depths horizontal sums take longer than the dot products; and one vector has to fit.
    row.m_MinDepth = row.m_Layout == WeightLayoutInt8::Unpacked ? 64 : 0;
    return row;
}

constexpr size_t NumRows = 0
#define TENON_INT8_KERNEL(...) +1
#include "backends/cpu/gemm/kernels/int8/int8_kernels.def"
#undef TENON_INT8_KERNEL
    ;

/// `M`: see int8_kernels.def.
template <size_t M>
constexpr std::array<KernelRowInt8, NumRows> MakeRows()
{
    using Epilogues = KernelEpiloguesInt8;
    constexpr auto Sums = Epilogues::Sums, Rq = Epilogues::Rq, RqRow = Epilogues::RqRow, Ig = Epilogues::Ig,
                   Dq = Epilogues::Dq, IgDq = Epilogues::IgDq, Blocks = Epilogues::Blocks;
    return {
#define TENON_INT8_KERNEL(targets, id, needs, role, data, weights, minWeights, bias, layout, h1, h2, h3, h4, rowUnit,  \
                          groupUnit, columnGroups, epilogues, ...)                                                     \
    Describe({{.m_Layout = WeightLayoutInt8::layout,                                                                   \
               .m_Rows = {0, h1, h2, h3, h4},                                                                          \
               .m_RowUnit = rowUnit,                                                                                   \
               .m_GroupUnit = groupUnit,                                                                               \
               .m_ColumnGroups = columnGroups},                                                                        \
              KernelIdInt8::id,                                                                                        \
              #id,                                                                                                     \
              KernelRoleInt8::role,                                                                                    \
              KernelTargetsInt8::targets,                                                                              \
              epilogues,                                                                                               \
              [](const CpuFeatures& f, bool dots) -> bool                                                              \
              {                                                                                                        \
                  static_cast<void>(f);                                                                                \
                  static_cast<void>(dots);                                                                             \
                  return needs;                                                                                        \
              }},                                                                                                      \
             Operand::data, Operand::weights, MinWeights::minWeights, DataBias::bias),
#include "backends/cpu/gemm/kernels/int8/int8_kernels.def"
#undef TENON_INT8_KERNEL
    };
}

constexpr std::array<KernelRowInt8, NumRows> RowsOfManyRegisters = MakeRows<8>();
constexpr std::array<KernelRowInt8, NumRows> RowsOfSixteenRegisters = MakeRows<6>();

bool HasDots(unsigned int target, const CpuFeatures& f)
{
    switch (target)
    {
    case KernelTargetsInt8::Avx3: return f.m_AmxInt8 || f.m_Avx512Vnni;
    case KernelTargetsInt8::Avx2: return f.m_AvxVnni;
    case KernelTargetsInt8::Neon64: return f.m_I8mm || f.m_DotProd;
    default: return false;
    }
}

size_t GetLanes(unsigned int target)
{
    return target == KernelTargetsInt8::Avx3 ? 16 : target == KernelTargetsInt8::Avx2 ? 8 : 4;
}

} // namespace

std::span<const KernelRowInt8> GetAllKernelRowsInt8(unsigned int target)
{
    const bool hasManyRegisters = target == KernelTargetsInt8::Avx3 || target == KernelTargetsInt8::Neon64;
    return hasManyRegisters ? RowsOfManyRegisters : RowsOfSixteenRegisters;
}

KernelRowsInt8 FindKernelRowsInt8(unsigned int target, const CpuFeatures& features)
{
    KernelRowsInt8 rows;
    rows.m_Lanes = GetLanes(target);
    const bool hasDots = HasDots(target, features);
    for (const KernelRowInt8& row : GetAllKernelRowsInt8(target))
    {
        if ((row.m_Targets & target) != 0 && row.m_IsThere(features, hasDots))
        {
            rows.m_Rows[static_cast<size_t>(row.m_Role)] = &row;
        }
    }
    return rows;
}

} // namespace tenon::cpu
