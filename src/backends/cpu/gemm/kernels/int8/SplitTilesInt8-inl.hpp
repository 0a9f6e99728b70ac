// SPDX-License-Identifier: Apache-2.0
// Tiles by pmaddubsw with saturation-safe split weights (SplitWeightsInt8.hpp). Part of MicrokernelsInt8.cpp, which is
// compiled for each target (Foreach.hpp); included once a target.
#if defined(TENON_CPU_SPLIT_TILES_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_SPLIT_TILES_INT8_INL
#undef TENON_CPU_SPLIT_TILES_INT8_INL
#else
#define TENON_CPU_SPLIT_TILES_INT8_INL
#endif

#include "backends/cpu/gemm/kernels/DotProducts-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/gemm/pack/SplitWeightsInt8.hpp"
#include "backends/cpu/simd/F32-inl.hpp"

#include <cstddef>
#include <cstdint>

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

#endif // HWY_ARCH_X86

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
