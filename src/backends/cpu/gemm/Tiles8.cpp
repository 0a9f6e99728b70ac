// SPDX-License-Identifier: Apache-2.0
// The inner loops of products of bytes. Sums stay in registers for the whole depth; each group of four bytes of the
// data is broadcast against the panel's vectors.
//
// GCC 12 copies and spills the sums around the intrinsics of dot products, so these are written as assembly; every loop
// over registers is unrolled before registers are given out, or else they live in memory.
#include "backends/cpu/gemm/Tiles8.hpp"

#include "backends/cpu/simd/Isa.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/Tiles8.cpp"
#include "backends/cpu/simd/Foreach.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

using Ints = hn::ScalableTag<int32_t>;
using Vector = hn::Vec<Ints>;

/// The tile of one kind of dot product: Rows x Vectors sums.
template <typename Dot, size_t Rows, size_t Vectors>
void Tile(const void* data, size_t dataStride, const void* panel, size_t groups, int32_t* sums)
{
    const Ints d;
    const size_t lanes = hn::Lanes(d);
    Vector acc[Rows][Vectors];
    const uint8_t* rows[Rows];
    HWY_UNROLL(8)
    for (size_t r = 0; r < Rows; ++r)
    {
        rows[r] = static_cast<const uint8_t*>(data) + r * dataStride;
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            acc[r][v] = hn::Zero(d);
        }
    }
    const auto* weights = static_cast<const int32_t*>(panel);
    for (size_t g = 0; g < groups; ++g)
    {
        Vector w[Vectors];
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            w[v] = hn::Load(d, weights + v * lanes);
        }
        weights += Vectors * lanes;
        HWY_UNROLL(8)
        for (size_t r = 0; r < Rows; ++r)
        {
            int32_t group;
            std::memcpy(&group, rows[r] + 4 * g, sizeof(group));
            const Vector x = hn::Set(d, group);
            HWY_UNROLL(4)
            for (size_t v = 0; v < Vectors; ++v)
            {
                Dot::Add(acc[r][v], x, w[v]);
            }
        }
    }
    HWY_UNROLL(8)
    for (size_t r = 0; r < Rows; ++r)
    {
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            hn::Store(acc[r][v], d, sums + (r * Vectors + v) * lanes);
        }
    }
}

#if HWY_TARGET == HWY_AVX3
/// acc += the dot products of four unsigned bytes with four signed ones.
struct VnniDataUnsigned
{
    static HWY_INLINE void Add(Vector& acc, const Vector& data, const Vector& weights)
    {
        asm("vpdpbusd %2, %1, %0" : "+v"(acc.raw) : "v"(data.raw), "v"(weights.raw));
    }
};
struct VnniDataSigned
{
    static HWY_INLINE void Add(Vector& acc, const Vector& data, const Vector& weights)
    {
        asm("vpdpbusd %2, %1, %0" : "+v"(acc.raw) : "v"(weights.raw), "v"(data.raw));
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
#endif

/// acc += the dot products of two int16 with two int16.
struct WidePairs
{
    static HWY_INLINE void Add(Vector& acc, const Vector& data, const Vector& weights)
    {
        const hn::Repartition<int16_t, Ints> d16;
        const auto x = hn::BitCast(d16, data);
        const auto w = hn::BitCast(d16, weights);
#if HWY_ARCH_X86
        Vector none = hn::Zero(Ints());
        acc = hn::ReorderWidenMulAccumulate(Ints(), x, w, acc, none);
#else
        // The low and the high int16 of each lane.
        const auto low = [](auto v) { return hn::ShiftRight<16>(hn::ShiftLeft<16>(hn::BitCast(Ints(), v))); };
        const auto high = [](auto v) { return hn::ShiftRight<16>(hn::BitCast(Ints(), v)); };
        acc = hn::MulAdd(low(x), low(w), hn::MulAdd(high(x), high(w), acc));
#endif
    }
};

/// Tiles of 1 to `Rows` rows for panels of `Vectors`.
template <typename Dot, size_t Vectors, size_t Rows>
void FillTiles(TileFunction8 (&tiles)[Engine8::MostVectors + 1][Engine8::MostRows + 1])
{
    tiles[Vectors][Rows] = Tile<Dot, Rows, Vectors>;
    if constexpr (Rows > 1)
    {
        FillTiles<Dot, Vectors, Rows - 1>(tiles);
    }
}

/// Bytes of 16-bit values that are in range.
template <typename T>
void StoreBytes(Vector values, T* out, size_t count)
{
    const Ints d;
    const hn::Rebind<T, Ints> dBytes;
    const auto bytes = hn::DemoteTo(dBytes, values);
    if (count >= hn::Lanes(d))
    {
        hn::StoreU(bytes, dBytes, out);
    }
    else
    {
        T buffer[HWY_MAX_BYTES / sizeof(int32_t)];
        hn::StoreU(bytes, dBytes, buffer);
        std::memcpy(out, buffer, count * sizeof(T));
    }
}

/// Per lane: SaturatingRoundingDoublingHighMul, then RoundingDivideByPOT.
HWY_INLINE Vector Rescale(Vector x, Vector multiplier, Vector right)
{
    const Ints d;
    const hn::RepartitionToWide<Ints> dWide;
    const auto half = hn::Set(dWide, int64_t{1} << 30);
    const auto odd = [](auto v)
    { return hn::BitCast(Ints(), hn::ShiftRight<32>(hn::BitCast(hn::Repartition<uint64_t, Ints>(), v))); };
    // (x * m + 2^30) >> 31: from even lanes it comes to lie in the lower halves, from odd ones in the upper halves.
    const auto evens =
        hn::ShiftRight<31>(hn::BitCast(hn::Repartition<uint64_t, Ints>(), hn::Add(hn::MulEven(x, multiplier), half)));
    const auto odds = hn::ShiftLeft<1>(hn::Add(hn::MulEven(odd(x), odd(multiplier)), half));
    const Vector high = hn::OddEven(hn::BitCast(d, odds), hn::BitCast(d, evens));
    // Half away from zero: half of the divisor is added, one less for negative numbers. A shift by 0 adds nothing.
    const Vector one = hn::Set(d, 1);
    const Vector rounding = hn::ShiftRight<1>(hn::Shl(one, right));
    const Vector step = hn::And(hn::ShiftRight<31>(high), hn::VecFromMask(d, hn::Gt(right, hn::Zero(d))));
    return hn::Shr(hn::Add(hn::Add(high, rounding), step), right);
}

/// Half a vector of sums by doubles, rounded half away from zero. Results are clamped to what surely is outside of
/// bytes.
template <typename Half>
HWY_INLINE auto RescaleHalf(Half x, const double* scale)
{
    const hn::RepartitionToWide<Ints> dWide;
    const hn::Rebind<double, decltype(dWide)> d;
    const auto product = hn::Mul(hn::PromoteTo(d, x), hn::LoadU(d, scale));
    // One below one half: what is below a half must not be rounded up by the addition.
    const auto rounded = hn::Trunc(hn::Add(product, hn::CopySign(hn::Set(d, 0.49999999999999994), product)));
    const auto bound = hn::Set(d, 65536.0);
    return hn::DemoteTo(hn::Rebind<int32_t, decltype(d)>(), hn::Max(hn::Neg(bound), hn::Min(bound, rounded)));
}

HWY_INLINE Vector Rescale(Vector x, const double* scale)
{
    const Ints d;
    const hn::Half<Ints> half;
    return hn::Combine(d, RescaleHalf(hn::UpperHalf(half, x), scale + hn::Lanes(half)),
                       RescaleHalf(hn::LowerHalf(half, x), scale));
}

template <typename T>
void RequantizeTo(const RequantizeRows& rows, const RequantizeColumns& columns)
{
    const Ints d;
    const size_t lanes = hn::Lanes(d);
    const Vector zeroPoint = hn::Set(d, columns.m_ZeroPoint);
    const Vector least = hn::Set(d, columns.m_Min);
    const Vector most = hn::Set(d, columns.m_Max);
    for (size_t c = 0; c < rows.m_Columns; c += lanes)
    {
        const Vector bias = hn::Load(d, columns.m_Bias + c);
        const bool isDouble = columns.m_Scale != nullptr;
        const Vector multiplier = isDouble ? hn::Zero(d) : hn::Load(d, columns.m_Multiplier + c);
        const Vector right = isDouble ? hn::Zero(d) : hn::Load(d, columns.m_Right + c);
        T* out = static_cast<T*>(rows.m_Out) + c;
        for (size_t r = 0; r < rows.m_Rows; ++r, out += rows.m_OutStride)
        {
            Vector x = hn::Add(hn::Load(d, rows.m_Sums + r * rows.m_SumStride + c), bias);
            if (rows.m_RowTerms != nullptr)
            {
                x = hn::Add(x, hn::Set(d, rows.m_RowTerms[r]));
            }
            x = hn::Add(isDouble ? Rescale(x, columns.m_Scale + c) : Rescale(x, multiplier, right), zeroPoint);
            StoreBytes(hn::Min(hn::Max(x, least), most), out, rows.m_Columns - c);
        }
    }
}

void Requantize(const RequantizeRows& rows, const RequantizeColumns& columns)
{
    rows.m_IsSigned ? RequantizeTo<int8_t>(rows, columns) : RequantizeTo<uint8_t>(rows, columns);
}

/// The sum of `depth` bytes, each with `flip` applied, which makes int8 of 128 more.
uint64_t SumBytes(const uint8_t* bytes, size_t depth, uint8_t flip)
{
    const hn::ScalableTag<uint8_t> d;
    const hn::Repartition<uint64_t, decltype(d)> dWide;
    const size_t lanes = hn::Lanes(d);
    const auto flips = hn::Set(d, flip);
    auto sums = hn::Zero(dWide);
    size_t i = 0;
    for (; i + lanes <= depth; i += lanes)
    {
        sums = hn::Add(sums, hn::SumsOf8(hn::Xor(hn::LoadU(d, bytes + i), flips)));
    }
    uint64_t sum = hn::GetLane(hn::SumOfLanes(dWide, sums));
    for (; i < depth; ++i)
    {
        sum += static_cast<uint8_t>(bytes[i] ^ flip);
    }
    return sum;
}

void SumRows(const void* data, size_t dataStride, size_t rows, size_t depth, bool isSigned, int32_t factor,
             int32_t* sums)
{
    const uint8_t flip = isSigned ? 0x80 : 0;
    for (size_t r = 0; r < rows; ++r)
    {
        const auto sum =
            static_cast<int64_t>(SumBytes(static_cast<const uint8_t*>(data) + r * dataStride, depth, flip)) -
            static_cast<int64_t>(depth) * flip;
        sums[r] = static_cast<int32_t>(sum * factor);
    }
}

template <typename T>
void WidenFrom(const T* bytes, size_t count, int32_t zeroPoint, int16_t* wide)
{
    const hn::ScalableTag<int16_t> d;
    const hn::Rebind<T, decltype(d)> dBytes;
    const size_t lanes = hn::Lanes(d);
    const auto zero = hn::Set(d, static_cast<int16_t>(zeroPoint));
    size_t i = 0;
    for (; i + lanes <= count; i += lanes)
    {
        hn::StoreU(hn::Sub(hn::PromoteTo(d, hn::LoadU(dBytes, bytes + i)), zero), d, wide + i);
    }
    for (; i < count; ++i)
    {
        wide[i] = static_cast<int16_t>(bytes[i] - zeroPoint);
    }
}

void Widen(const void* bytes, size_t count, bool isSigned, int32_t zeroPoint, int16_t* wide)
{
    isSigned ? WidenFrom(static_cast<const int8_t*>(bytes), count, zeroPoint, wide)
             : WidenFrom(static_cast<const uint8_t*>(bytes), count, zeroPoint, wide);
}

Engine8 MakeEngine()
{
    Engine8 engine;
    engine.m_Lanes = hn::Lanes(Ints());
    engine.m_Requantize = Requantize;
    engine.m_SumRows = SumRows;
    engine.m_Widen = Widen;
#if HWY_TARGET == HWY_AVX3
    if (GetCpuFeatures().m_Avx512Vnni)
    {
        engine.m_Vectors = 4;
        FillTiles<VnniDataSigned, 1, 8>(engine.m_SignedTiles);
        FillTiles<VnniDataSigned, 2, 8>(engine.m_SignedTiles);
        FillTiles<VnniDataSigned, 3, 8>(engine.m_SignedTiles);
        FillTiles<VnniDataSigned, 4, 6>(engine.m_SignedTiles);
        FillTiles<VnniDataUnsigned, 1, 8>(engine.m_UnsignedTiles);
        FillTiles<VnniDataUnsigned, 2, 8>(engine.m_UnsignedTiles);
        FillTiles<VnniDataUnsigned, 3, 8>(engine.m_UnsignedTiles);
        FillTiles<VnniDataUnsigned, 4, 6>(engine.m_UnsignedTiles);
    }
#elif HWY_TARGET == HWY_AVX2
    if (GetCpuFeatures().m_AvxVnni)
    {
        engine.m_Vectors = 2;
        FillTiles<VnniDataSigned, 1, 8>(engine.m_SignedTiles);
        FillTiles<VnniDataSigned, 2, 6>(engine.m_SignedTiles);
        FillTiles<VnniDataUnsigned, 1, 8>(engine.m_UnsignedTiles);
        FillTiles<VnniDataUnsigned, 2, 6>(engine.m_UnsignedTiles);
    }
#endif
    if (engine.m_Vectors == 0)
    {
        // Sixteen registers hold 12 sums, 2 vectors of weights, the data and a product.
        constexpr size_t Rows = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON ? 8 : 6;
        engine.m_Layout = Layout8::WidePairs;
        engine.m_SignedData = engine.m_UnsignedData = Signs8::BothSigned;
        engine.m_Vectors = 2;
        FillTiles<WidePairs, 1, 8>(engine.m_SignedTiles);
        FillTiles<WidePairs, 2, Rows>(engine.m_SignedTiles);
        std::memcpy(engine.m_UnsignedTiles, engine.m_SignedTiles, sizeof(engine.m_SignedTiles));
    }
    for (size_t vectors = 1; vectors <= engine.m_Vectors; ++vectors)
    {
        while (engine.m_Rows[vectors] < Engine8::MostRows &&
               engine.m_SignedTiles[vectors][engine.m_Rows[vectors] + 1] != nullptr)
        {
            ++engine.m_Rows[vectors];
        }
    }
    return engine;
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

HWY_EXPORT(MakeEngine);

const Engine8& GetEngine8()
{
    static const Engine8 engine = []
    {
        GetCpuFeatures(); // caps what is dispatched to
        return HWY_DYNAMIC_DISPATCH(MakeEngine)();
    }();
    return engine;
}

} // namespace tenon::cpu
#endif
