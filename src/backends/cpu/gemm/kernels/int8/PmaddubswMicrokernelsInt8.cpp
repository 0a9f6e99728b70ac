// SPDX-License-Identifier: Apache-2.0
// Tiles by pmaddubsw, for processors without dot products of bytes, in the layouts Split and Permuted. pmaddubsw adds
// products of uint8 by int8 in pairs, in int16:
//
//   C[r][c] += int32(A[r][k] * B[k][c] + A[r][k + 1] * B[k + 1][c])      the pair has to fit int16
//
// Two ways keep it from saturating: split weights, the sum of two terms (SplitWeightsInt8.hpp), and sign-free permuted
// weights, in an order of each column's own (PermutedWeightsInt8.hpp).
#include "backends/cpu/gemm/kernels/int8/RegisterMicrokernelsInt8.hpp"
#include "backends/cpu/gemm/pack/PermutedWeightsInt8.hpp"
#include "backends/cpu/gemm/pack/SplitWeightsInt8.hpp"

#include <cstddef>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/kernels/int8/PmaddubswMicrokernelsInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/gemm/kernels/DotProducts-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_ARCH_X86

template <bool IsBiased>
HWY_INLINE Vector ReadSplitGroup(const uint8_t* from)
{
    const Vector group = ReadGroup(from);
    return IsBiased ? hn::Xor(group, hn::Set(Ints(), static_cast<int32_t>(0x80808080))) : group;
}

/// sums += one group of the data * one term. Weights are read again for each row: sixteen registers have no room for
/// them.
template <bool IsBiased, size_t Rows, size_t Vectors>
HWY_INLINE void AddTerm(const uint8_t* const (&rows)[Rows], size_t at, const int32_t* weights,
                        Vector (&sums)[Rows][Vectors])
{
    const Ints d;
    HWY_UNROLL(8)
    for (size_t r = 0; r < Rows; ++r)
    {
        const Vector x = ReadSplitGroup<IsBiased>(rows[r] + at);
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            AddPairs(sums[r][v], MultiplyBytes(x, hn::Load(d, weights + v * hn::Lanes(d))));
        }
    }
}

/// The same for two terms whose products fit int16 together.
template <bool IsBiased, size_t Rows, size_t Vectors>
HWY_INLINE void AddTermPair(const uint8_t* const (&rows)[Rows], size_t first, size_t second, const int32_t* weights,
                            Vector (&sums)[Rows][Vectors])
{
    const Ints d;
    const hn::Repartition<int16_t, Ints> d16;
    HWY_UNROLL(8)
    for (size_t r = 0; r < Rows; ++r)
    {
        const Vector x = ReadSplitGroup<IsBiased>(rows[r] + first);
        const Vector y = ReadSplitGroup<IsBiased>(rows[r] + second);
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            const Vector ofX = MultiplyBytes(x, hn::Load(d, weights + v * hn::Lanes(d)));
            const Vector ofY = MultiplyBytes(y, hn::Load(d, weights + (Vectors + v) * hn::Lanes(d)));
            AddPairs(sums[r][v], hn::BitCast(d, hn::Add(hn::BitCast(d16, ofX), hn::BitCast(d16, ofY))));
        }
    }
}

/// Tiles that read the group of each term from the panel.
template <bool IsBiased>
struct SplitTile
{
    template <size_t Rows, size_t Vectors>
    static void Run(const void* data, size_t dataStride, const void* panel, size_t, const int32_t* bias, int32_t* sums)
    {
        const size_t lanes = hn::Lanes(Ints());
        Vector acc[Rows][Vectors];
        const uint8_t* rows[Rows];
        BeginTile(data, dataStride, bias, rows, acc);
        const auto& header = *static_cast<const SplitHeader*>(panel);
        const auto* group = reinterpret_cast<const uint32_t*>(&header + 1);
        const uint32_t* const firstSingle = group + 2 * size_t{header.m_NumTermPairs};
        const uint32_t* const end = group + header.m_NumTerms;
        const auto* weights =
            static_cast<const int32_t*>(panel) + GetSplitHeaderBytes(header.m_NumTerms) / sizeof(int32_t);
        for (; group != firstSingle; group += 2, weights += 2 * Vectors * lanes)
        {
            AddTermPair<IsBiased>(rows, 4 * size_t{group[0]}, 4 * size_t{group[1]}, weights, acc);
        }
        for (; group != end; ++group, weights += Vectors * lanes)
        {
            AddTerm<IsBiased>(rows, 4 * size_t{*group}, weights, acc);
        }
        EndTile(acc, sums);
    }
};

/// The weights of a step, and the byte shuffle (pshufb) of the data for them.
struct PermutedStep
{
    Vector m_Indices[2];
    Vector m_Weights[2];
};

HWY_INLINE PermutedStep ReadStep(const std::byte* from)
{
    const Ints d;
    const hn::Repartition<uint16_t, Ints> dUint16;
    const auto* const words = reinterpret_cast<const int32_t*>(from);
    const Vector index = hn::Set(d, 0x0F0F0F0F);
    const Vector indices = hn::Load(d, words);
    PermutedStep step;
    step.m_Indices[0] = hn::And(indices, index);
    step.m_Indices[1] = hn::And(hn::BitCast(d, hn::ShiftRight<4>(hn::BitCast(dUint16, indices))), index);
    step.m_Weights[0] = hn::Load(d, words + hn::Lanes(d));
    step.m_Weights[1] = hn::Load(d, words + 2 * hn::Lanes(d));
    return step;
}

/// sums += the products of a step with complement blocks of the rows. `IsPaired`: the products of both words share
/// int16 sums.
template <bool IsPaired, size_t Rows>
HWY_INLINE void AddStep(const uint8_t* const (&rows)[Rows], size_t offset, const std::byte* from, Vector (&sums)[Rows])
{
    const hn::Repartition<uint8_t, Ints> dBytes;
    const hn::Repartition<int16_t, Ints> d16;
    const PermutedStep step = ReadStep(from);
    HWY_UNROLL(8)
    for (size_t r = 0; r < Rows; ++r)
    {
        const Vector window = hn::BitCast(Ints(), hn::LoadDup128(dBytes, rows[r] + offset));
        const Vector x = hn::TableLookupBytes(window, step.m_Indices[0]);
        const Vector y = hn::TableLookupBytes(window, step.m_Indices[1]);
        const Vector first = MultiplyBytes(x, step.m_Weights[0]);
        const Vector second = MultiplyBytes(y, step.m_Weights[1]);
        if constexpr (IsPaired)
        {
            AddPairs(sums[r], hn::BitCast(Ints(), hn::Add(hn::BitCast(d16, first), hn::BitCast(d16, second))));
        }
        else
        {
            AddPairs(sums[r], first);
            AddPairs(sums[r], second);
        }
    }
}

/// Steps up to `end`; advances both pointers to it.
template <bool IsPaired, size_t Rows>
HWY_INLINE void AddSteps(const uint8_t* const (&rows)[Rows], const uint32_t* end, const uint32_t*& offset,
                         const std::byte*& step, Vector (&sums)[Rows])
{
    for (; offset != end; ++offset, step += hn::Lanes(Ints()) * PermuteLoopsInt8::StepBytes)
    {
        AddStep<IsPaired>(rows, *offset, step, sums);
    }
}

/// Tiles that read the offsets of the complement blocks from the panel. One vector at a time, as each has its own
/// order.
struct PermutedTile
{
    template <size_t Rows, size_t Vectors>
    static void Run(const void* data, size_t dataStride, const void* panel, size_t groups, const int32_t* bias,
                    int32_t* sums)
    {
        const size_t lanes = hn::Lanes(Ints());
        const size_t numSteps = groups / (ComplementBlockBytes / sizeof(int32_t));
        const auto* packed = static_cast<const std::byte*>(panel);
        for (size_t v = 0; v < Vectors; ++v, packed += GetPermutedBytes(lanes, numSteps))
        {
            RunVector<Rows>(data, dataStride, packed, numSteps, bias + v * lanes, sums + v * lanes, Vectors * lanes);
        }
    }

    template <size_t Rows>
    static HWY_INLINE void RunVector(const void* data, size_t dataStride, const std::byte* packed, size_t numSteps,
                                     const int32_t* bias, int32_t* sums, size_t sumStride)
    {
        const Ints d;
        const auto& header = *reinterpret_cast<const PermutedHeader*>(packed);
        const auto* offset = reinterpret_cast<const uint32_t*>(&header + 1);
        const uint32_t* const single = offset + header.m_NumPairedSteps;
        const uint32_t* const end = offset + numSteps;
        const auto* const correction = reinterpret_cast<const int32_t*>(packed + GetPermutedHeaderBytes(numSteps));
        const auto* step = reinterpret_cast<const std::byte*>(correction + hn::Lanes(d));
        const Vector start = hn::Add(hn::Load(d, bias), hn::Load(d, correction));
        Vector acc[Rows];
        const uint8_t* rows[Rows];
        HWY_UNROLL(8)
        for (size_t r = 0; r < Rows; ++r)
        {
            rows[r] = static_cast<const uint8_t*>(data) + r * dataStride;
            acc[r] = start;
        }
        AddSteps<true>(rows, single, offset, step, acc);
        AddSteps<false>(rows, end, offset, step, acc);
        HWY_UNROLL(8)
        for (size_t r = 0; r < Rows; ++r)
        {
            hn::Store(acc[r], d, sums + r * sumStride);
        }
    }
};

namespace
{

/// blocks[n / 8][16]: eight of n int8 biased by 128, and their complements 255 - x; n is a multiple of eight.
void MakeComplementBlocks(const uint8_t* bytes, size_t count, uint8_t* blocks)
{
    const hn::FixedTag<uint8_t, ComplementBlockBytes> d;
    const hn::Half<decltype(d)> dHalf;
    const auto xors = hn::Combine(d, hn::Set(dHalf, uint8_t{0x7F}), hn::Set(dHalf, uint8_t{0x80}));
    for (size_t i = 0; i < count; i += PermuteLoopsInt8::StepDepth)
    {
        const auto eight = hn::LoadU(dHalf, bytes + i);
        hn::StoreU(hn::Xor(hn::Combine(d, eight, eight), xors), d, blocks + 2 * i);
    }
}

/// The row PermutedS8.
void FillPermutedTiles(MicrokernelSetInt8& tiles)
{
    FillTiles<PermutedTile, 1, 8>(tiles);
    FillTiles<PermutedTile, 2, 8>(tiles);
}

} // namespace

#endif // HWY_ARCH_X86

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#define TENON_INT8_LAYOUT_Split TENON_INT8_FILL
#define TENON_INT8_LAYOUT_Permuted TENON_INT8_FILL
#include "backends/cpu/gemm/kernels/int8/FillRowsInt8-inl.hpp"

#if HWY_ONCE
namespace tenon::cpu
{

void UsePmaddubswMicrokernels(MicrokernelsInt8& microkernels)
{
    TENON_CHOOSE(FillRows)(microkernels);
}

} // namespace tenon::cpu
#endif
