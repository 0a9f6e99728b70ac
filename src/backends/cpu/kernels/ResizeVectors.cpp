// SPDX-License-Identifier: Apache-2.0
// Bilinear resizing of rows. Products and sums come in the order of the reference kernel, because it shows in the last
// bit, and in a byte that is just between two values.
#include "backends/cpu/kernels/ResizeVectors.hpp"

#include "backends/cpu/simd/Isa.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/ResizeVectors.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/kernels/ResizeLanes-inl.hpp"
#include "backends/cpu/simd/Spans-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

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

/// What four elements give to a column with so much of the left and of the right ones. In the order of the reference
/// kernel, which rounds after each step.
template <class V>
struct Corners
{
    V m_LowerLeft;
    V m_UpperLeft;
    V m_LowerRight;
    V m_UpperRight;

    template <class D, typename W>
    HWY_INLINE Corners(D d, const BlendedRow<W>& row, size_t left, size_t right)
        : m_LowerLeft(hn::LoadU(d, row.m_WeighedLower + left)), m_UpperLeft(hn::LoadU(d, row.m_WeighedUpper + left)),
          m_LowerRight(hn::LoadU(d, row.m_WeighedLower + right)), m_UpperRight(hn::LoadU(d, row.m_WeighedUpper + right))
    {
    }

    HWY_INLINE V Blend(V leftWeight, V rightWeight) const
    {
        V sum = hn::Mul(m_LowerLeft, leftWeight);
        sum = hn::Add(sum, hn::Mul(m_UpperLeft, leftWeight));
        sum = hn::Add(sum, hn::Mul(m_LowerRight, rightWeight));
        return hn::Add(sum, hn::Mul(m_UpperRight, rightWeight));
    }
};

/// The columns [first, end), between the same two of the input.
template <typename T, typename W>
HWY_INLINE void BlendAlike(const BlendedRow<W>& row, size_t first, size_t end, T* out)
{
    const ref::Blend<W>* const columns = row.m_Columns;
    const size_t left = columns[first].m_Lower * row.m_Channels;
    const size_t right = columns[first].m_Upper * row.m_Channels;
    Cover<W>(row.m_Channels,
             [&](auto d, size_t c) HWY_ATTR
             {
                 const Corners<hn::Vec<decltype(d)>> corners(d, row, left + c, right + c);
                 T* to = out + c;
                 for (size_t k = first; k < end; ++k, to += row.m_Channels)
                 {
                     ResizeLanes<T>::Store(
                         corners.Blend(hn::Set(d, columns[k].m_LowerWeight), hn::Set(d, columns[k].m_UpperWeight)), d,
                         to);
                 }
             });
}

/// Pixels of at most `Lanes` channels, a vector each, whose last lane may be past the pixel: the next one is written
/// over it. It takes longer to find out which columns are between the same two than to load these anew.
template <size_t Lanes, typename T, typename W>
void BlendPixels(const BlendedRow<W>& row)
{
    const hn::CappedTag<W, Lanes> d;
    const size_t channels = row.m_Channels;
    const size_t whole = row.m_Count - (channels == Lanes ? 0 : 1);
    T* out = static_cast<T*>(row.m_Out);
    for (size_t i = 0; i < whole; ++i, out += channels)
    {
        const ref::Blend<W> column = row.m_Columns[i];
        const Corners<hn::Vec<decltype(d)>> corners(d, row, column.m_Lower * channels, column.m_Upper * channels);
        ResizeLanes<T>::Store(corners.Blend(hn::Set(d, column.m_LowerWeight), hn::Set(d, column.m_UpperWeight)), d,
                              out);
    }
    if (whole != row.m_Count)
    {
        BlendAlike(row, whole, row.m_Count, out);
    }
}

template <typename T>
void BlendRow(const BlendedRow<typename ResizeLanes<T>::Weight>& row)
{
    WeighRows<T>(row);
    switch (row.m_Channels)
    {
    case 1: BlendPixels<1, T>(row); return;
    case 2: BlendPixels<2, T>(row); return;
    case 3:
    case 4: BlendPixels<4, T>(row); return;
    default: break;
    }
    T* out = static_cast<T*>(row.m_Out);
    for (size_t i = 0; i < row.m_Count;)
    {
        // Enlarged, several columns of the output lie between the same two.
        const auto* const column = row.m_Columns + i;
        size_t count = 1;
        while (i + count < row.m_Count && column[count].m_Lower == column->m_Lower &&
               column[count].m_Upper == column->m_Upper)
        {
            ++count;
        }
        BlendAlike(row, i, i + count, out);
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
