// SPDX-License-Identifier: Apache-2.0
// Tiles of Rows x Vectors accumulators by dot products of four bytes or two int16:
//
//   for each group g:   acc[r][v] += dot(broadcast(A[r][4g .. 4g+3]), panel[g][v])
//
// Accumulators stay in registers for the whole depth. Every loop over registers is unrolled before the compiler
// allocates registers: the accumulators would live in memory otherwise. Part of MicrokernelsInt8.cpp,
// ImplicitGemmKernelsInt8.cpp and ImplicitGemmDequantizedInt8.cpp, which are compiled for each target (Foreach.hpp);
// included once a target.
#if defined(TENON_CPU_DOT_TILE_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_DOT_TILE_INT8_INL
#undef TENON_CPU_DOT_TILE_INT8_INL
#else
#define TENON_CPU_DOT_TILE_INT8_INL
#endif

#include "backends/cpu/gemm/kernels/DotProducts-inl.hpp"

#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3
/// vpdpbusd for int8 data, which are biased by 128 on load. Weights without a zero point then need no row correction.
struct VnniDataBiased : VnniDataUnsigned
{
    static HWY_INLINE Vector Broadcast(int32_t group)
    {
        return hn::Xor(hn::Set(Ints(), group), hn::Set(Ints(), static_cast<int32_t>(0x80808080)));
    }
};
#endif

template <typename Dot>
HWY_INLINE Vector Broadcast(int32_t group)
{
    if constexpr (requires { Dot::Broadcast(group); })
    {
        return Dot::Broadcast(group);
    }
    else
    {
        return hn::Set(Ints(), group);
    }
}

/// Keeps a loaded vector in its register: the compiler would load it again for each use.
HWY_INLINE void KeepInRegister([[maybe_unused]] Vector& x)
{
#if HWY_TARGET == HWY_AVX3
    asm("" : "+v"(x.raw));
#endif
}

#if HWY_TARGET == HWY_AVX3
/// Adds one group to a tile whose last vector uses its lower half only: its accumulators are half a vector for each
/// row. `getRow`: address of a row's group.
template <typename Dot, size_t Rows, size_t Vectors, typename F>
HWY_INLINE void AddHalfVectorGroup(const F& getRow, const std::byte*& weights, Vector (&sums)[Rows][Vectors],
                                   __m256i (&narrow)[Rows])
{
    constexpr size_t Last = Vectors - 1;
    const size_t lanes = hn::Lanes(Ints());
    Vector w[Vectors];
    HWY_UNROLL(4)
    for (size_t v = 0; v < Last; ++v)
    {
        w[v] = LoadWeights<Dot>(weights + v * lanes * 4);
    }
    const __m256i last = _mm256_load_si256(reinterpret_cast<const __m256i*>(weights + Last * lanes * 4));
    weights += Vectors * lanes * 4;
    HWY_UNROLL(16)
    for (size_t r = 0; r < Rows; ++r)
    {
        int32_t group;
        std::memcpy(&group, getRow(r), sizeof(group));
        const Vector x = Broadcast<Dot>(group);
        HWY_UNROLL(4)
        for (size_t v = 0; v < Last; ++v)
        {
            AddSame<Dot>(sums[r][v], x, w[v]);
        }
        Dot::AddNarrow(narrow[r], _mm512_castsi512_si256(x.raw), last);
    }
}
#endif

/// The tiles of one dot product: Rows x Vectors accumulators.
template <typename Dot>
struct DotTile
{
    /// Adds the group of the rows that is `at` bytes from their start, and advances `weights` to the next group of the
    /// panel.
    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void AddGroup(const uint8_t* const (&rows)[Rows], size_t at, const std::byte*& weights,
                                    Vector (&acc)[Rows][Vectors])
    {
        const size_t lanes = hn::Lanes(Ints());
        Vector w[Vectors];
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            w[v] = LoadWeights<Dot>(weights + v * lanes * GetGroupBytes<Dot>());
        }
        weights += Vectors * lanes * GetGroupBytes<Dot>();
        HWY_UNROLL(8)
        for (size_t r = 0; r < Rows; ++r)
        {
            int32_t group;
            std::memcpy(&group, rows[r] + at, sizeof(group));
            const Vector x = Broadcast<Dot>(group);
            HWY_UNROLL(4)
            for (size_t v = 0; v < Vectors; ++v)
            {
                AddSame<Dot>(acc[r][v], x, w[v]);
            }
        }
    }

    /// The same for tiles of few rows: the rows, not the weights, are held in registers.
    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void AddGroupByVectors(const uint8_t* const (&rows)[Rows], size_t at, const std::byte*& weights,
                                             Vector (&acc)[Rows][Vectors])
    {
        const size_t lanes = hn::Lanes(Ints());
        Vector x[Rows];
        HWY_UNROLL(8)
        for (size_t r = 0; r < Rows; ++r)
        {
            int32_t group;
            std::memcpy(&group, rows[r] + at, sizeof(group));
            x[r] = Broadcast<Dot>(group);
        }
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            Vector w = LoadWeights<Dot>(weights + v * lanes * GetGroupBytes<Dot>());
            KeepInRegister(w);
            HWY_UNROLL(8)
            for (size_t r = 0; r < Rows; ++r)
            {
                AddSame<Dot>(acc[r][v], x[r], w);
            }
        }
        weights += Vectors * lanes * GetGroupBytes<Dot>();
    }

    template <size_t Rows, size_t Vectors>
    static void Run(const void* data, size_t dataStride, const void* panel, size_t groups, const int32_t* bias,
                    int32_t* sums)
    {
        Vector acc[Rows][Vectors];
        const uint8_t* rows[Rows];
        BeginTile(data, dataStride, bias, rows, acc);
        const auto* weights = static_cast<const std::byte*>(panel);
        for (size_t g = 0; g < groups; ++g)
        {
            AddGroup(rows, 4 * g, weights, acc);
        }
        EndTile(acc, sums);
    }
};

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
