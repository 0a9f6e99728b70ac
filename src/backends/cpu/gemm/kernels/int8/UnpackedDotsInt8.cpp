// SPDX-License-Identifier: Apache-2.0
// Dot products along the depth with weights in the model's own layout (Unpacked), [columns][depth]:
//
//   sums[r][c] = bias[c] + sum_k data[r][k] * weights[c][k]
//
// For few rows (most of the time is reading the weights once) or few columns. 256-bit vectors along the depth, up to
// 4 rows x 4 columns of partial sums, horizontal sums at the end. The instruction takes an unsigned and a signed
// operand, or two signed ones: data, and weights too, may be biased by 128 (XOR 0x80) on load.
#include "backends/cpu/gemm/kernels/int8/RegisterMicrokernelsInt8.hpp"
#include "backends/reference/TensorQuantization.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/kernels/int8/UnpackedDotsInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/gemm/kernels/DotProducts-inl.hpp"
#include "backends/cpu/simd/LaneSums-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2

/// 256 bits, although longer vectors exist: more loads of these cross cache lines, and more lanes are to be summed.
using UnpackedTag = hn::FixedTag<int32_t, 8>;
using TagUnpackedBytes = hn::Repartition<uint8_t, UnpackedTag>;
using UnpackedVector = hn::Vec<UnpackedTag>;

/// A dot-product instruction, and whether data and weights are biased by 128 on load for it.
template <typename Product, bool BiasesData, bool BiasesWeights>
struct UnpackedProduct
{
    using Dot = Product;
    static constexpr bool IsDataBiased = BiasesData;
    static constexpr bool IsWeightBiased = BiasesWeights;
};

template <bool IsBiased>
HWY_INLINE hn::Vec<TagUnpackedBytes> ReadUnpacked(const uint8_t* from)
{
    const TagUnpackedBytes d;
    const auto bytes = hn::LoadU(d, from);
    return IsBiased ? hn::Xor(bytes, hn::Set(d, uint8_t{0x80})) : bytes;
}

template <typename Dot>
HWY_INLINE void AddDots(UnpackedVector& sums, UnpackedVector data, UnpackedVector weights)
{
#if HWY_TARGET == HWY_AVX3
    Dot::AddNarrow(sums.raw, data.raw, weights.raw);
#else
    Dot::Add(sums, data, weights);
#endif
}

/// sums += dot products of one vector of each row with one of each column.
template <typename Product, size_t Rows, size_t Columns>
HWY_INLINE void AddUnpacked(UnpackedVector (&sums)[Rows][Columns], const UnpackedVector (&data)[Rows],
                            const uint8_t* weights, size_t depth)
{
    HWY_UNROLL(4)
    for (size_t c = 0; c < Columns; ++c)
    {
        const UnpackedVector w = hn::BitCast(UnpackedTag(), ReadUnpacked<Product::IsWeightBiased>(weights + c * depth));
        HWY_UNROLL(4)
        for (size_t r = 0; r < Rows; ++r)
        {
            AddDots<typename Product::Dot>(sums[r][c], data[r], w);
        }
    }
}

/// Sums of rows [row, row + Rows) by columns [column, column + Columns), eight partial sums each.
template <typename Product, size_t Rows, size_t Columns>
HWY_INLINE void MultiplyUnpacked(const UnpackedDotsInt8& dots, size_t row, size_t column,
                                 UnpackedVector (&sums)[Rows][Columns])
{
    const UnpackedTag d;
    const TagUnpackedBytes dBytes;
    const hn::Repartition<int8_t, UnpackedTag> dSigned;
    const size_t lanes = hn::Lanes(dBytes);
    const size_t depth = dots.m_Depth;
    const size_t stride = dots.m_DataStride;
    const uint8_t* const data = dots.m_Data + row * stride;
    const uint8_t* const weights = dots.m_Weights + column * depth;
    HWY_UNROLL(4)
    for (size_t r = 0; r < Rows; ++r)
    {
        HWY_UNROLL(4)
        for (size_t c = 0; c < Columns; ++c)
        {
            sums[r][c] = hn::Zero(d);
        }
    }
    UnpackedVector x[Rows];
    size_t k = 0;
    for (; k + lanes <= depth; k += lanes)
    {
        HWY_UNROLL(4)
        for (size_t r = 0; r < Rows; ++r)
        {
            x[r] = hn::BitCast(d, ReadUnpacked<Product::IsDataBiased>(data + r * stride + k));
        }
        AddUnpacked<Product>(sums, x, weights + k, depth);
    }
    if (k < depth)
    {
        // The last whole vector, less the bytes that have been added already.
        const size_t last = depth - lanes;
        const auto isNew = hn::Gt(hn::Iota(dSigned, 0), hn::Set(dSigned, static_cast<int8_t>(k - last - 1)));
        HWY_UNROLL(4)
        for (size_t r = 0; r < Rows; ++r)
        {
            const auto bytes = hn::BitCast(dSigned, ReadUnpacked<Product::IsDataBiased>(data + r * stride + last));
            x[r] = hn::BitCast(d, hn::IfThenElseZero(isNew, bytes));
        }
        AddUnpacked<Product>(sums, x, weights + last, depth);
    }
}

/// The same for four columns; the lanes of both halves are summed side by side.
template <typename Product, size_t Rows>
HWY_INLINE void MultiplyFour(const UnpackedDotsInt8& dots, size_t row, size_t column, UnpackedVector (&sums)[Rows])
{
    UnpackedVector parts[Rows][4];
    MultiplyUnpacked<Product>(dots, row, column, parts);
    HWY_UNROLL(4)
    for (size_t r = 0; r < Rows; ++r)
    {
        sums[r] = SumLanesOfBlocks(UnpackedTag(), parts[r][0], parts[r][1], parts[r][2], parts[r][3]);
    }
}

/// Sums of rows by the last columns, fewer than four.
template <typename Product, size_t Rows, size_t Columns>
void SumUnpackedColumns(const UnpackedDotsInt8& dots, size_t row, size_t column)
{
    const UnpackedTag d;
    const hn::FixedTag<int32_t, 4> four;
    UnpackedVector parts[Rows][Columns];
    MultiplyUnpacked<Product>(dots, row, column, parts);
    for (size_t r = 0; r < Rows; ++r)
    {
        int32_t* const out = dots.m_Sums + (row + r) * dots.m_SumStride + column;
        if constexpr (Columns == 1)
        {
            *out = ref::WrappingAdd(SumWrapping(d, parts[r][0]), dots.m_Bias[column]);
        }
        else
        {
            const UnpackedVector third = Columns > 2 ? parts[r][Columns - 1] : hn::Zero(d);
            alignas(16) int32_t sums[4];
            hn::Store(SumBlocks(d, SumLanesOfBlocks(d, parts[r][0], parts[r][1], third, hn::Zero(d))), four, sums);
            for (size_t c = 0; c < Columns; ++c)
            {
                // Wraps, as vectors do.
                out[c] = static_cast<int32_t>(static_cast<uint32_t>(sums[c]) +
                                              static_cast<uint32_t>(dots.m_Bias[column + c]));
            }
        }
    }
}

template <typename Product, size_t Rows>
void SumUnpackedRows(const UnpackedDotsInt8& dots, size_t row)
{
    const UnpackedTag d;
    const hn::FixedTag<int32_t, 4> four;
    size_t column = 0;
    const auto out = [&](size_t r) { return dots.m_Sums + (row + r) * dots.m_SumStride + column; };
    for (; column + 8 <= dots.m_Columns; column += 8)
    {
        UnpackedVector first[Rows];
        UnpackedVector second[Rows];
        MultiplyFour<Product>(dots, row, column, first);
        MultiplyFour<Product>(dots, row, column + 4, second);
        for (size_t r = 0; r < Rows; ++r)
        {
            const UnpackedVector sum =
                hn::Add(hn::ConcatLowerLower(d, second[r], first[r]), hn::ConcatUpperUpper(d, second[r], first[r]));
            hn::StoreU(hn::Add(sum, hn::LoadU(d, dots.m_Bias + column)), d, out(r));
        }
    }
    for (; column + 4 <= dots.m_Columns; column += 4)
    {
        UnpackedVector sums[Rows];
        MultiplyFour<Product>(dots, row, column, sums);
        for (size_t r = 0; r < Rows; ++r)
        {
            hn::StoreU(hn::Add(SumBlocks(d, sums[r]), hn::LoadU(four, dots.m_Bias + column)), four, out(r));
        }
    }
    switch (dots.m_Columns - column)
    {
    case 3: SumUnpackedColumns<Product, Rows, 3>(dots, row, column); break;
    case 2: SumUnpackedColumns<Product, Rows, 2>(dots, row, column); break;
    case 1: SumUnpackedColumns<Product, Rows, 1>(dots, row, column); break;
    default: break;
    }
}

template <typename Product>
void SumUnpacked(const UnpackedDotsInt8& dots)
{
    constexpr size_t MaxRows = HWY_TARGET == HWY_AVX3 ? 4 : 2; // rows whose partial sums fit the registers
    for (size_t row = 0; row < dots.m_Rows; row += MaxRows)
    {
        switch (std::min(MaxRows, dots.m_Rows - row))
        {
        case 1: SumUnpackedRows<Product, 1>(dots, row); break;
        case 2: SumUnpackedRows<Product, 2>(dots, row); break;
        case 3: SumUnpackedRows<Product, std::min<size_t>(3, MaxRows)>(dots, row); break;
        default: SumUnpackedRows<Product, MaxRows>(dots, row); break;
        }
    }
}

template <typename Product>
void SetUnpacked(MicrokernelSetInt8& tiles)
{
    tiles.m_UnpackedDots = SumUnpacked<Product>;
}

namespace
{

/// For processors with dot products: the rows ...UnpackedS8 and ...UnpackedU8.
void SetUnpackedDots(MicrokernelSetInt8& ofSigned, MicrokernelSetInt8& ofUnsigned)
{
    SetUnpacked<UnpackedProduct<VnniDataUnsigned, true, false>>(ofSigned);
    SetUnpacked<UnpackedProduct<VnniDataSigned, true, false>>(ofUnsigned);
}

#if HWY_TARGET == HWY_AVX2

/// For processors without dot products, for weights without -128 (biased: without 0), see SignedBytes: the rows
/// UnpackedSignTransferS8 and UnpackedSignTransferU8.
void SetUnpackedSigns(MicrokernelSetInt8& ofSigned, MicrokernelSetInt8& ofUnsigned)
{
    SetUnpacked<UnpackedProduct<SignedBytes, false, false>>(ofSigned);
    SetUnpacked<UnpackedProduct<SignedBytes, true, true>>(ofUnsigned);
}

#endif

} // namespace

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#define TENON_INT8_LAYOUT_Unpacked TENON_INT8_FILL
#include "backends/cpu/gemm/kernels/int8/FillRowsInt8-inl.hpp"

#if HWY_ONCE
namespace tenon::cpu
{

void UseUnpackedDots(MicrokernelsInt8& microkernels)
{
    TENON_CHOOSE(FillRows)(microkernels);
}

} // namespace tenon::cpu
#endif
