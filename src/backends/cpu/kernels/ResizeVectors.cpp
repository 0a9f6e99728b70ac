// SPDX-License-Identifier: Apache-2.0
// Bilinear resizing of rows. Products and sums come in the order of the reference kernel, because it shows in the last
// bit, and in a byte that is just between two values.
#include "backends/cpu/kernels/ResizeVectors.hpp"

#include "backends/cpu/simd/Isa.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/ResizeVectors.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/simd/Bf16-inl.hpp"
#include "backends/cpu/simd/Bytes-inl.hpp"
#include "backends/cpu/simd/Spans-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

/// How elements become lanes of W and back.
template <typename T>
struct ResizeLanes;

template <>
struct ResizeLanes<float>
{
    using Weight = float;
    template <class D>
    static HWY_INLINE hn::Vec<D> Load(D d, const float* from)
    {
        return hn::LoadU(d, from);
    }
    template <class D>
    static HWY_INLINE void Store(hn::Vec<D> sum, D d, float* to)
    {
        hn::StoreU(sum, d, to);
    }
};

/// BFloat16, as numbers that no other type of elements has.
enum class Brain : uint16_t
{
};

template <>
struct ResizeLanes<Brain>
{
    using Weight = float;
    template <class D>
    static HWY_INLINE hn::Vec<D> Load(D d, const Brain* from)
    {
        const auto halves = hn::LoadU(hn::Rebind<uint16_t, D>(), reinterpret_cast<const uint16_t*>(from));
        return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(hn::RebindToUnsigned<D>(), halves)));
    }
    template <class D>
    static HWY_INLINE void Store(hn::Vec<D> sum, D d, Brain* to)
    {
        hn::StoreU(RoundToBf16(d, sum), hn::Rebind<uint16_t, D>(), reinterpret_cast<uint16_t*>(to));
    }
};

template <>
struct ResizeLanes<uint8_t>
{
    using Weight = float;
    template <class D>
    static HWY_INLINE hn::Vec<D> Load(D d, const uint8_t* from)
    {
        return hn::ConvertTo(d, hn::PromoteTo(hn::Rebind<int32_t, D>(), hn::LoadU(hn::Rebind<uint8_t, D>(), from)));
    }
    template <class D>
    static HWY_INLINE void Store(hn::Vec<D> sum, D d, uint8_t* to)
    {
        // Sums lie between 0 and 255 as the elements do, so nothing has to be saturated.
        const hn::Rebind<uint8_t, D> dBytes;
        const auto above = hn::Add(sum, hn::Set(d, 0.5f));
        if constexpr (hn::MaxLanes(D()) == HWY_LANES(float))
        {
            hn::StoreU(hn::U8FromU32(hn::BitCast(hn::Rebind<uint32_t, D>(), Truncated(above))), dBytes, to);
        }
        else
        {
            hn::StoreU(hn::DemoteTo(dBytes, hn::ConvertTo(hn::Rebind<int32_t, D>(), above)), dBytes, to);
        }
    }
};

/// Rows of an image by their weights: what each element of them gives to all output columns that it is a part of.
template <typename T, typename W>
void WeighRows(const BlendedRow<W>& row)
{
    const auto* lower = static_cast<const T*>(row.m_Lower);
    const auto* upper = static_cast<const T*>(row.m_Upper);
    Cover<W>(row.m_InputElements,
             [&](auto d, size_t i) HWY_ATTR
             {
                 using Lanes = ResizeLanes<T>;
                 hn::StoreU(hn::Mul(Lanes::Load(d, lower + i), hn::Set(d, row.m_Y.m_LowerWeight)), d,
                            row.m_WeighedLower + i);
                 hn::StoreU(hn::Mul(Lanes::Load(d, upper + i), hn::Set(d, row.m_Y.m_UpperWeight)), d,
                            row.m_WeighedUpper + i);
             });
}

template <typename T>
void BlendRow(const BlendedRow<typename ResizeLanes<T>::Weight>& row)
{
    using W = typename ResizeLanes<T>::Weight;
    WeighRows<T>(row);
    T* out = static_cast<T*>(row.m_Out);
    for (size_t i = 0; i < row.m_Count;)
    {
        // Enlarged, several columns of the output lie between the same two.
        const ref::Blend<W>* const columns = row.m_Columns + i;
        size_t count = 1;
        while (i + count < row.m_Count && columns[count].m_Lower == columns[0].m_Lower &&
               columns[count].m_Upper == columns[0].m_Upper)
        {
            ++count;
        }
        const size_t left = columns[0].m_Lower * row.m_Channels;
        const size_t right = columns[0].m_Upper * row.m_Channels;
        Cover<W>(row.m_Channels,
                 [&](auto d, size_t c) HWY_ATTR
                 {
                     const auto lowerLeft = hn::LoadU(d, row.m_WeighedLower + left + c);
                     const auto upperLeft = hn::LoadU(d, row.m_WeighedUpper + left + c);
                     const auto lowerRight = hn::LoadU(d, row.m_WeighedLower + right + c);
                     const auto upperRight = hn::LoadU(d, row.m_WeighedUpper + right + c);
                     T* to = out + c;
                     for (size_t k = 0; k < count; ++k, to += row.m_Channels)
                     {
                         const auto lowerX = hn::Set(d, columns[k].m_LowerWeight);
                         const auto upperX = hn::Set(d, columns[k].m_UpperWeight);
                         // In the order of the reference kernel, which rounds after each step.
                         auto sum = hn::Mul(lowerLeft, lowerX);
                         sum = hn::Add(sum, hn::Mul(upperLeft, lowerX));
                         sum = hn::Add(sum, hn::Mul(lowerRight, upperX));
                         sum = hn::Add(sum, hn::Mul(upperRight, upperX));
                         ResizeLanes<T>::Store(sum, d, to);
                     }
                 });
        out += count * row.m_Channels;
        i += count;
    }
}

/// Sums of int16 elements have 35 bits. What both rows give to an element has 25, so it is split: its upper bits, times
/// 2^10, and its lower 10 bits are weighed by columns each for themselves.
void BlendRowOfShorts(const BlendedRow<int32_t>& row)
{
    const auto* lower = static_cast<const int16_t*>(row.m_Lower);
    const auto* upper = static_cast<const int16_t*>(row.m_Upper);
    int32_t* highs = row.m_WeighedLower;
    int32_t* lows = row.m_WeighedUpper;
    Cover<int32_t>(row.m_InputElements,
                   [&](auto d, size_t i) HWY_ATTR
                   {
                       const hn::Rebind<int16_t, decltype(d)> dShorts;
                       const auto sum = hn::Add(
                           hn::Mul(hn::PromoteTo(d, hn::LoadU(dShorts, lower + i)), hn::Set(d, row.m_Y.m_LowerWeight)),
                           hn::Mul(hn::PromoteTo(d, hn::LoadU(dShorts, upper + i)), hn::Set(d, row.m_Y.m_UpperWeight)));
                       hn::StoreU(hn::ShiftRight<10>(sum), d, highs + i);
                       hn::StoreU(hn::And(sum, hn::Set(d, (1 << 10) - 1)), d, lows + i);
                   });
    auto* out = static_cast<int16_t*>(row.m_Out);
    for (size_t i = 0; i < row.m_Count; ++i, out += row.m_Channels)
    {
        const ref::Blend<int32_t> x = row.m_Columns[i];
        const size_t left = x.m_Lower * row.m_Channels;
        const size_t right = x.m_Upper * row.m_Channels;
        const auto weigh = [&](auto d, const int32_t* parts, size_t c) HWY_ATTR
        {
            return hn::Add(hn::Mul(hn::LoadU(d, parts + left + c), hn::Set(d, x.m_LowerWeight)),
                           hn::Mul(hn::LoadU(d, parts + right + c), hn::Set(d, x.m_UpperWeight)));
        };
        Cover<int32_t>(row.m_Channels,
                       [&](auto d, size_t c) HWY_ATTR
                       {
                           const hn::Rebind<int16_t, decltype(d)> dShorts;
                           const auto high = weigh(d, highs, c);
                           const auto low = weigh(d, lows, c);
                           // Half away from zero as in BlendRowsOfBytes.
                           const auto step = hn::ShiftRight<31>(hn::Add(high, hn::ShiftRight<10>(low)));
                           const auto half = hn::Add(hn::Set(d, int32_t{1} << 19), step);
                           const auto sum = hn::Add(high, hn::ShiftRight<10>(hn::Add(low, half)));
                           hn::StoreU(hn::DemoteTo(dShorts, hn::ShiftRight<10>(sum)), dShorts, out + c);
                       });
    }
}

/// Weights of int8 elements have 10 fraction bits and add up to 2^10.
constexpr int WeightBits = 10;

void BlendColumnsOfBytes(const int8_t* in, const ref::Blend<int32_t>* columns, size_t count, size_t channels,
                         int32_t* out)
{
    for (size_t i = 0; i < count; ++i, out += channels)
    {
        const int8_t* lower = in + columns[i].m_Lower * channels;
        const int8_t* upper = in + columns[i].m_Upper * channels;
        Cover<int32_t>(channels,
                       [&](auto d, size_t c) HWY_ATTR
                       {
                           const hn::Rebind<int8_t, decltype(d)> dBytes;
                           const auto a = hn::PromoteTo(d, hn::LoadU(dBytes, lower + c));
                           const auto b = hn::PromoteTo(d, hn::LoadU(dBytes, upper + c));
                           const auto step = hn::Mul(hn::Sub(b, a), hn::Set(d, columns[i].m_UpperWeight));
                           hn::StoreU(hn::Add(hn::ShiftLeft<WeightBits>(a), step), d, out + c);
                       });
    }
}

void BlendRowsOfBytes(const int32_t* lower, const int32_t* upper, int32_t upperWeight, size_t count, int8_t* out)
{
    const auto rounded = [=](auto d, size_t i) HWY_ATTR
    {
        const auto a = hn::LoadU(d, lower + i);
        const auto step = hn::Mul(hn::Sub(hn::LoadU(d, upper + i), a), hn::Set(d, upperWeight));
        const auto sum = hn::Add(hn::ShiftLeft<WeightBits>(a), step);
        // Half away from zero: half is added, one less to negative sums, and shifted.
        const auto half = hn::Set(d, int32_t{1} << (2 * WeightBits - 1));
        return hn::ShiftRight<2 * WeightBits>(hn::Add(hn::Add(sum, half), hn::ShiftRight<31>(sum)));
    };
    constexpr size_t Lanes = HWY_LANES(int8_t);
    if (count < Lanes)
    {
        Cover<int32_t>(count,
                       [&](auto d, size_t i) HWY_ATTR
                       {
                           const hn::Rebind<int8_t, decltype(d)> dBytes;
                           hn::StoreU(hn::DemoteTo(dBytes, rounded(d, i)), dBytes, out + i);
                       });
        return;
    }
    CoverBy<int8_t, Lanes>(count,
                           [&](auto, size_t i) HWY_ATTR
                           {
                               const IntTag d;
                               const auto part = [&](size_t quarter) HWY_ATTR
                               { return hn::Add(rounded(d, i + quarter * Lanes / 4), hn::Set(d, 128)); };
                               const Bytes bytes = JoinInOrder(part(0), part(1), part(2), part(3));
                               hn::StoreU(hn::Xor(bytes, hn::Set(ByteTag(), uint8_t{0x80})), ByteTag(),
                                          reinterpret_cast<uint8_t*>(out) + i);
                           });
}

ResizeFunctions MakeResizeFunctions()
{
    ResizeFunctions functions;
    functions.m_Float = BlendRow<float>;
    functions.m_BFloat16 = BlendRow<Brain>;
    functions.m_Unsigned = BlendRow<uint8_t>;
    functions.m_BlendColumns = BlendColumnsOfBytes;
    functions.m_BlendRows = BlendRowsOfBytes;
    functions.m_Short = BlendRowOfShorts;
    return functions;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const ResizeFunctions& GetResizeFunctions()
{
    static const ResizeFunctions functions = TENON_CHOOSE(MakeResizeFunctions)();
    return functions;
}

} // namespace tenon::cpu
#endif
