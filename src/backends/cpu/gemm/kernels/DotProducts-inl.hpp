// SPDX-License-Identifier: Apache-2.0
// Dot products in vectors of int32 lanes: acc[lane] += sum_i data[lane][i] * weights[lane][i], i over four bytes
// (vpdpbusd, sdot) or two int16 (vpdpwssd, pmaddwd). Included once for each target by the microkernels of int8 and
// int16 and by the depthwise convolutions. DotTile: the tiles of Rows x Vectors accumulators that int8 makes of them,
//
//   for each group g:   acc[r][v] += dot(broadcast(A[r][4g .. 4g+3]), panel[g][v])
//
// Accumulators stay in registers for the whole depth. Every loop over registers is unrolled before the compiler
// allocates registers: the accumulators would live in memory otherwise.
//
// GCC 12 copies and spills the accumulators around the intrinsics of dot products, hence inline assembly.
#if defined(TENON_CPU_DOTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_DOTS_INL
#undef TENON_CPU_DOTS_INL
#else
#define TENON_CPU_DOTS_INL
#endif

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

using Ints = hn::ScalableTag<int32_t>;
using Vector = hn::Vec<Ints>;

#if HWY_TARGET == HWY_AVX3
/// acc += dot products of four uint8 with four int8.
struct VnniDataUnsigned
{
    static HWY_INLINE void Add(Vector& acc, const Vector& data, const Vector& weights)
    {
        asm("vpdpbusd %2, %1, %0" : "+v"(acc.raw) : "v"(data.raw), "v"(weights.raw));
    }
    static HWY_INLINE void AddNarrow(__m256i& acc, __m256i data, __m256i weights)
    {
        asm("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(data), "v"(weights));
    }
};
struct VnniDataSigned
{
    static HWY_INLINE void Add(Vector& acc, const Vector& data, const Vector& weights)
    {
        asm("vpdpbusd %2, %1, %0" : "+v"(acc.raw) : "v"(weights.raw), "v"(data.raw));
    }
    static HWY_INLINE void AddNarrow(__m256i& acc, __m256i data, __m256i weights)
    {
        asm("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(weights), "v"(data));
    }
};
/// acc += dot products of two int16 with two int16.
struct VnniPairs
{
    static HWY_INLINE void Add(Vector& acc, const Vector& data, const Vector& weights)
    {
        asm("vpdpwssd %2, %1, %0" : "+v"(acc.raw) : "v"(data.raw), "v"(weights.raw));
    }
};
#elif HWY_TARGET == HWY_AVX2
struct VnniDataUnsigned
{
    static HWY_INLINE void Add(Vector& acc, const Vector& data, const Vector& weights)
    {
        asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(acc.raw) : "x"(data.raw), "x"(weights.raw));
    }
};
struct VnniDataSigned
{
    static HWY_INLINE void Add(Vector& acc, const Vector& data, const Vector& weights)
    {
        asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(acc.raw) : "x"(weights.raw), "x"(data.raw));
    }
};
struct VnniPairs
{
    static HWY_INLINE void Add(Vector& acc, const Vector& data, const Vector& weights)
    {
        asm("%{vex%} vpdpwssd %2, %1, %0" : "+x"(acc.raw) : "x"(data.raw), "x"(weights.raw));
    }
};
#elif HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64
/// acc += dot products of four int8 with four int8. The .arch directive enables sdot in the assembler and keeps the
/// other extensions that this source is compiled for.
struct SignedDots
{
    static HWY_INLINE void Add(Vector& acc, const Vector& data, const Vector& weights)
    {
        asm(".arch armv8.2-a+crypto+dotprod\n\tsdot %0.4s, %1.16b, %2.16b"
            : "+w"(acc.raw)
            : "w"(data.raw), "w"(weights.raw));
    }
};
#endif

/// acc += dot products of two int16 with two int16.
struct Int16x2
{
#if HWY_ARCH_X86
    static HWY_INLINE void Add(Vector& acc, const Vector& data, const Vector& weights)
    {
        const hn::Repartition<int16_t, Ints> d16;
        Vector none = hn::Zero(Ints());
        acc = hn::ReorderWidenMulAccumulate(Ints(), hn::BitCast(d16, data), hn::BitCast(d16, weights), acc, none);
    }
#else
    static HWY_INLINE void Add(Vector& acc, const Vector& data, const Vector& weights)
    {
        const int16x8_t x = vreinterpretq_s16_s32(data.raw);
        const int16x8_t w = vreinterpretq_s16_s32(weights.raw);
        const int32x4_t low = vmull_s16(vget_low_s16(x), vget_low_s16(w));
        const int32x4_t high = vmull_s16(vget_high_s16(x), vget_high_s16(w));
#if HWY_ARCH_ARM_A64
        const int32x4_t sums = vpaddq_s32(low, high);
#else
        const int32x4_t sums = vcombine_s32(vpadd_s32(vget_low_s32(low), vget_high_s32(low)),
                                            vpadd_s32(vget_low_s32(high), vget_high_s32(high)));
#endif
        acc.raw = vaddq_s32(acc.raw, sums);
    }

    /// The same for data with one pair in all lanes: the even and odd weights are multiplied by the two numbers of the
    /// pair.
    static HWY_INLINE void AddSame(Vector& acc, const Vector& data, const Vector& weights)
    {
        const int16x4_t x = vget_low_s16(vreinterpretq_s16_s32(data.raw));
        const int16x8_t w = vreinterpretq_s16_s32(weights.raw);
        const int16x4x2_t halves = vuzp_s16(vget_low_s16(w), vget_high_s16(w));
        acc.raw = vmlal_lane_s16(vmlal_lane_s16(acc.raw, halves.val[0], x, 0), halves.val[1], x, 1);
    }
#endif
};

/// Int16x2 with weights that are stored as int8.
struct Int8x2 : Int16x2
{
    static constexpr size_t GroupBytes = 2;

    static HWY_INLINE Vector LoadWeights(const std::byte* from)
    {
        const hn::Repartition<int16_t, Ints> d16;
        const hn::Rebind<int8_t, decltype(d16)> dBytes;
        return hn::BitCast(Ints(), hn::PromoteTo(d16, hn::Load(dBytes, reinterpret_cast<const int8_t*>(from))));
    }
};

/// Bytes of a column's weights in a group of the depth; LoadWeights loads a vector of them.
template <typename Dot>
HWY_INLINE constexpr size_t GetGroupBytes()
{
    if constexpr (requires { Dot::GroupBytes; })
    {
        return Dot::GroupBytes;
    }
    else
    {
        return 4;
    }
}

template <typename Dot>
HWY_INLINE Vector LoadWeights(const std::byte* from)
{
    if constexpr (requires { Dot::LoadWeights(from); })
    {
        return Dot::LoadWeights(from);
    }
    else
    {
        return hn::Load(Ints(), reinterpret_cast<const int32_t*>(from));
    }
}

/// Dot::Add for data with the same value in all lanes.
template <typename Dot>
HWY_INLINE void AddSame(Vector& acc, const Vector& data, const Vector& weights)
{
    if constexpr (requires { Dot::AddSame(acc, data, weights); })
    {
        Dot::AddSame(acc, data, weights);
    }
    else
    {
        Dot::Add(acc, data, weights);
    }
}

#if HWY_ARCH_X86
/// pmaddubsw: products of uint8 by int8, added in pairs to int16.
HWY_INLINE Vector MultiplyBytes(const Vector& unsignedBytes, const Vector& signedBytes)
{
    Vector pairs;
#if HWY_TARGET == HWY_AVX3
    pairs.raw = _mm512_maddubs_epi16(unsignedBytes.raw, signedBytes.raw);
#elif HWY_TARGET == HWY_AVX2
    pairs.raw = _mm256_maddubs_epi16(unsignedBytes.raw, signedBytes.raw);
#else
    pairs.raw = _mm_maddubs_epi16(unsignedBytes.raw, signedBytes.raw);
#endif
    return pairs;
}

/// sums += sums of neighbouring int16.
HWY_INLINE void AddPairs(Vector& sums, const Vector& shorts)
{
    Int16x2::Add(sums, shorts, hn::Set(Ints(), 0x00010001));
}
#endif

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
/// acc += dot products of four int8 with four int8 weights, none of which is -128: a * w = |a| * (sign(a) * w), by
/// pmaddubsw(|a|, psignb(w, a)). The sum of two products fits int16, as |w| <= 127. Takes more instructions per row
/// than pairs of int16, but fewer loads.
struct SignedBytes
{
    static HWY_INLINE void Add(Vector& acc, const Vector& data, const Vector& weights)
    {
        const hn::Repartition<int8_t, Ints> d8;
        const Vector magnitudes = hn::BitCast(Ints(), hn::Abs(hn::BitCast(d8, data)));
        Vector moved;
#if HWY_TARGET == HWY_AVX2
        moved.raw = _mm256_sign_epi8(weights.raw, data.raw);
#else
        moved.raw = _mm_sign_epi8(weights.raw, data.raw);
#endif
        AddPairs(acc, MultiplyBytes(magnitudes, moved));
    }
};
#endif

/// Broadcasts four bytes of the data to all lanes. Assembly, as GCC would load two groups at once and separate them in
/// registers.
HWY_INLINE Vector ReadGroup(const uint8_t* from)
{
#if HWY_TARGET == HWY_AVX2
    Vector group;
    asm("vpbroadcastd %1, %0" : "=x"(group.raw) : "m"(*reinterpret_cast<const uint8_t(*)[4]>(from)));
    return group;
#else
    int32_t group;
    std::memcpy(&group, from, sizeof(group));
    return hn::Set(Ints(), group);
#endif
}

/// Start of a tile: pointers to the rows of data, and accumulators initialized with the bias.
template <size_t Rows, size_t Vectors>
HWY_INLINE void BeginTile(const void* data, size_t dataStride, const int32_t* bias, const uint8_t* (&rows)[Rows],
                          Vector (&sums)[Rows][Vectors])
{
    HWY_UNROLL(16)
    for (size_t r = 0; r < Rows; ++r)
    {
        rows[r] = static_cast<const uint8_t*>(data) + r * dataStride;
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            sums[r][v] = hn::Load(Ints(), bias + v * hn::Lanes(Ints()));
        }
    }
}

template <size_t Rows, size_t Vectors>
HWY_INLINE void EndTile(const Vector (&sums)[Rows][Vectors], int32_t* out)
{
    HWY_UNROLL(16)
    for (size_t r = 0; r < Rows; ++r)
    {
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            hn::Store(sums[r][v], Ints(), out + (r * Vectors + v) * hn::Lanes(Ints()));
        }
    }
}

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

/// Fills the microkernels Kind::Run<rows, Vectors> for tiles of 1 to `Rows` rows.
template <typename Kind, size_t Vectors, size_t Rows>
void FillTiles(MicrokernelSetInt8& tiles)
{
    tiles.Add(Vectors, Rows, Kind::template Run<Rows, Vectors>);
    if constexpr (Rows > 1)
    {
        FillTiles<Kind, Vectors, Rows - 1>(tiles);
    }
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
