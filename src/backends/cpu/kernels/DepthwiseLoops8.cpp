// SPDX-License-Identifier: Apache-2.0
// The inner loops of 8-bit depthwise convolutions, for each kind of processor.
#include "backends/cpu/kernels/DepthwiseLoops8.hpp"

#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/DepthwiseLoops8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
//
#include "backends/cpu/gemm/Dots-inl.hpp"
#include "backends/cpu/kernels/DepthwiseBytesAvx512-inl.hpp"
#include "backends/cpu/kernels/DepthwiseInterleave-inl.hpp"
#include "backends/cpu/kernels/DepthwiseSlides-inl.hpp"
#include "backends/cpu/kernels/DepthwiseStripAvx2-inl.hpp"
#include "backends/cpu/kernels/DepthwiseStripAvx512-inl.hpp"
#include "backends/cpu/simd/Floats-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

constexpr size_t PieceChannels = DepthwiseEngine8::PieceChannels;
constexpr size_t PieceBytes = DepthwiseEngine8::PieceBytes;

using Bytes16 = hn::Full128<uint8_t>;

/// Sixteen channels of a row; as many as there are.
HWY_INLINE hn::Vec<Bytes16> LoadPiece(const uint8_t* from, size_t channels)
{
    if (channels >= PieceChannels)
    {
        return hn::LoadU(Bytes16(), from);
    }
    constexpr size_t Half = PieceChannels / 2;
    uint64_t halves[2] = {0, 0};
    if (channels >= Half)
    {
        // The upper half by way of the eight bytes that end with the last one: nothing is read past that.
        std::memcpy(&halves[0], from, Half);
        std::memcpy(&halves[1], from + channels - Half, Half);
        halves[1] = channels == Half ? 0 : halves[1] >> (8 * (PieceChannels - channels));
    }
    else
    {
        std::memcpy(&halves[0], from, channels);
    }
    const hn::Full128<uint64_t> d;
    return hn::BitCast(Bytes16(), hn::InterleaveLower(d, hn::Set(d, halves[0]), hn::Set(d, halves[1])));
}

/// Four rows as [channel][row], within 128-bit lanes.
template <typename Bytes, typename V>
HWY_INLINE void StoreInterleaved(Bytes d, V a, V b, V c, V e, std::byte* to)
{
    const hn::Repartition<uint16_t, Bytes> d16;
    const size_t lanes = hn::Lanes(d16);
    const auto lowAb = hn::BitCast(d16, hn::InterleaveLower(d, a, b));
    const auto highAb = hn::BitCast(d16, hn::InterleaveUpper(d, a, b));
    const auto lowCe = hn::BitCast(d16, hn::InterleaveLower(d, c, e));
    const auto highCe = hn::BitCast(d16, hn::InterleaveUpper(d, c, e));
    auto* out = reinterpret_cast<uint16_t*>(to);
    hn::Store(hn::InterleaveLower(d16, lowAb, lowCe), d16, out);
    hn::Store(hn::InterleaveUpper(d16, lowAb, lowCe), d16, out + lanes);
    hn::Store(hn::InterleaveLower(d16, highAb, highCe), d16, out + 2 * lanes);
    hn::Store(hn::InterleaveUpper(d16, highAb, highCe), d16, out + 3 * lanes);
}

// The other targets have no dot products of bytes.
#define TENON_HAS_DOTS                                                                                                 \
    (HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || (HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64))

#if TENON_HAS_DOTS
/// Four rows of a piece, which keeps the order of its channels.
HWY_INLINE void InterleaveFour(const uint8_t* const (&from)[4], size_t channels, uint8_t flip, std::byte* to)
{
    const Bytes16 d;
    const auto load = [&](size_t row) HWY_ATTR { return hn::Xor(LoadPiece(from[row], channels), hn::Set(d, flip)); };
    StoreInterleaved(d, load(0), load(1), load(2), load(3), to);
}

#if HWY_TARGET == HWY_AVX3
/// The same for a whole block of 64 channels.
HWY_INLINE void InterleaveBlock(const uint8_t* const (&from)[4], uint8_t flip, std::byte* to)
{
    const hn::ScalableTag<uint8_t> d;
    const auto load = [&](size_t row) HWY_ATTR { return hn::Xor(hn::LoadU(d, from[row]), hn::Set(d, flip)); };
    StoreInterleaved(d, load(0), load(1), load(2), load(3), to);
}
#endif

void InterleaveBytes(const InterleaveColumns8& columns, size_t pieces, std::byte* out)
{
    constexpr bool TakesSigned = HWY_TARGET == HWY_NEON;
    const uint8_t flip = columns.m_IsSigned != TakesSigned ? 0x80 : 0;
#if HWY_TARGET == HWY_AVX3
    if ((pieces == 1 && InterleavePieces<1>(columns, flip, out)) ||
        (pieces == 2 && InterleavePieces<2>(columns, flip, out)) ||
        (pieces == 3 && InterleavePieces<3>(columns, flip, out)))
    {
        return;
    }
#endif
    const uint8_t* from[4];
    std::copy_n(columns.m_Rows, 4, from);
    for (size_t column = 0; column < columns.m_Columns; ++column)
    {
#if HWY_TARGET == HWY_AVX3
        if (pieces == DepthwiseEngine8::MostPieces)
        {
            InterleaveBlock(from, flip, out);
            out += DepthwiseEngine8::MostPieces * PieceBytes;
        }
        else
#endif
        {
            for (size_t piece = 0; piece < pieces; ++piece, out += PieceBytes)
            {
                const size_t first = piece * PieceChannels;
                const uint8_t* const at[4] = {from[0] + first, from[1] + first, from[2] + first, from[3] + first};
                InterleaveFour(at, columns.m_Channels - first, flip, out);
            }
        }
        for (size_t row = 0; row < 4; ++row)
        {
            from[row] += columns.m_Steps[row];
        }
    }
}
#endif

/// Two rows of a piece as [channel][row] of int16.
template <typename T>
HWY_INLINE void InterleaveTwo(const uint8_t* a, const uint8_t* b, size_t channels, std::byte* to)
{
    const Bytes16 d;
    const auto x = LoadPiece(a, channels);
    const auto y = LoadPiece(b, channels);
    auto* const out = reinterpret_cast<int16_t*>(to);
    const auto store = [out](const hn::Vec<Bytes16>& bytes, size_t half) HWY_ATTR
    {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
        const hn::Full256<int16_t> dWide;
        hn::Store(hn::PromoteTo(dWide, hn::BitCast(hn::Full128<T>(), bytes)), dWide, out + half * 16);
#else
        const hn::Full128<int16_t> dWide;
        const hn::Half<hn::Full128<T>> dHalf;
        const auto all = hn::BitCast(hn::Full128<T>(), bytes);
        hn::Store(hn::PromoteTo(dWide, hn::LowerHalf(dHalf, all)), dWide, out + half * 16);
        hn::Store(hn::PromoteTo(dWide, hn::UpperHalf(dHalf, all)), dWide, out + half * 16 + 8);
#endif
    };
    store(hn::InterleaveLower(d, x, y), 0);
    store(hn::InterleaveUpper(d, x, y), 1);
}

void InterleaveWide(const InterleaveColumns8& columns, size_t pieces, std::byte* out)
{
    const uint8_t* a = columns.m_Rows[0];
    const uint8_t* b = columns.m_Rows[1];
    for (size_t column = 0; column < columns.m_Columns; ++column, a += columns.m_Steps[0], b += columns.m_Steps[1])
    {
        for (size_t piece = 0; piece < pieces; ++piece, out += PieceBytes)
        {
            const size_t first = piece * PieceChannels;
            const size_t channels = columns.m_Channels - first;
            columns.m_IsSigned ? InterleaveTwo<int8_t>(a + first, b + first, channels, out)
                               : InterleaveTwo<uint8_t>(a + first, b + first, channels, out);
        }
    }
}

/// `Pixels` output pixels at once, so that a vector of weights is loaded once for all of them.
template <typename Dot, size_t Vectors, size_t Pixels>
HWY_INLINE void SumPixels(const DepthwiseRun8& run, size_t pixel)
{
    const Ints d;
    const size_t lanes = hn::Lanes(d);
    Vector acc[Pixels][Vectors];
    HWY_UNROLL(4)
    for (size_t p = 0; p < Pixels; ++p)
    {
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            acc[p][v] = hn::Load(d, run.m_Bias + v * lanes);
        }
    }
    const auto* weights = static_cast<const int32_t*>(run.m_Weights);
    const std::byte* columns = run.m_Columns + pixel * run.m_PixelStep;
    for (size_t tap = 0; tap < run.m_Taps; ++tap, weights += Vectors * lanes)
    {
        const auto* data = reinterpret_cast<const int32_t*>(columns + run.m_Offsets[tap]);
        const size_t step = run.m_PixelStep / sizeof(int32_t);
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            const Vector w = hn::Load(d, weights + v * lanes);
            HWY_UNROLL(4)
            for (size_t p = 0; p < Pixels; ++p)
            {
                Dot::Add(acc[p][v], hn::Load(d, data + p * step + v * lanes), w);
            }
        }
    }
    int32_t* sums = run.m_Sums + pixel * Vectors * lanes;
    HWY_UNROLL(4)
    for (size_t p = 0; p < Pixels; ++p)
    {
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            hn::Store(acc[p][v], d, sums + (p * Vectors + v) * lanes);
        }
    }
}

template <typename Dot, size_t Vectors>
void Sum(const DepthwiseRun8& run)
{
    if (SumBySliding<Dot, Vectors>(run))
    {
        return;
    }
    // Sixteen registers hold 8 sums of two pixels, else 16 of four.
    constexpr size_t Pixels = ManyRegisters ? 4 : 2;
    size_t pixel = 0;
    for (; pixel + Pixels <= run.m_Pixels; pixel += Pixels)
    {
        SumPixels<Dot, Vectors, Pixels>(run, pixel);
    }
    for (; pixel < run.m_Pixels; ++pixel)
    {
        SumPixels<Dot, Vectors, 1>(run, pixel);
    }
}

template <typename Dot, size_t Pieces = 1>
void FillSums(DepthwiseEngine8& engine)
{
    constexpr size_t VectorsOfAPiece = HWY_TARGET == HWY_AVX3 ? 1 : HWY_TARGET == HWY_AVX2 ? 2 : 4;
    constexpr size_t Vectors = Pieces * VectorsOfAPiece;
    if constexpr (Vectors <= 4)
    {
        engine.m_Sum[Pieces] = Sum<Dot, Vectors>;
#if HWY_TARGET == HWY_AVX3
        if constexpr (std::is_same_v<Dot, VnniDataUnsigned>)
        {
            engine.m_Write[Pieces] = WriteBytes<Dot, Vectors>;
        }
#endif
        engine.m_MostPieces = Pieces;
        FillSums<Dot, Pieces + 1>(engine);
    }
}

DepthwiseEngine8 MakeDepthwiseEngine()
{
    DepthwiseEngine8 engine;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
    const CpuFeatures& features = GetCpuFeatures();
    if (HWY_TARGET == HWY_AVX3 ? features.m_Avx512Vnni : features.m_AvxVnni)
    {
        engine.m_Layout = Layout8::Dots;
        engine.m_Interleave = InterleaveBytes;
        engine.m_InterleavesFullBlocks = HWY_TARGET == HWY_AVX3;
        engine.m_BlockLanes = 4;
        FillSums<VnniDataUnsigned>(engine);
#if HWY_TARGET == HWY_AVX3
        engine.m_WriteStrips = WriteStrips;
        engine.m_StripChannels = DepthwiseEngine8::MostPieces * PieceChannels;
        engine.m_MostStripParts = DepthwiseStrips8::MostParts;
        engine.m_StripGroups = 1;
        engine.m_PrepareStrips = GetEngine8().m_PrepareColumns;
#endif
        return engine;
    }
#elif TENON_HAS_DOTS
    if (GetCpuFeatures().m_DotProd)
    {
        engine.m_Layout = Layout8::Dots;
        engine.m_TakesSigned = true;
        engine.m_Interleave = InterleaveBytes;
        FillSums<SignedDots>(engine);
        return engine;
    }
#endif
    engine.m_Layout = Layout8::WidePairs;
    engine.m_Interleave = InterleaveWide;
    FillSums<WidePairs>(engine);
#if HWY_TARGET == HWY_AVX2
    engine.m_WriteStrips = WritePairStrips;
    engine.m_BlockLanes = 2;
    engine.m_StripChannels = PieceChannels;
    engine.m_MostStripParts = 1;
    engine.m_StripGroups = PairGroups;
    engine.m_PrepareStrips = PreparePairStrips;
#endif
    return engine;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const DepthwiseEngine8& GetDepthwiseEngine8()
{
    static const DepthwiseEngine8 engine = TENON_CHOOSE(MakeDepthwiseEngine)();
    return engine;
}

} // namespace tenon::cpu
#endif
