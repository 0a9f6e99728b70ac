// SPDX-License-Identifier: Apache-2.0
// Dot products of float32: a few rows of data by a few columns of weights at a time.
#include "backends/cpu/gemm/kernels/f32/DotProductsF32.hpp"

#include "backends/cpu/im2col/SkippedTaps.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/kernels/f32/DotProductsF32.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included after Foreach.hpp.
#include "backends/cpu/simd/F16-inl.hpp"
#include "backends/cpu/simd/F32-inl.hpp"
#include "backends/cpu/simd/LaneSums-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

/// Readers of weights of a type: a vector, or its first few elements followed by zeros.
struct F32Reader
{
    using Type = float;
    static HWY_INLINE VecF32 Load(const float* from) { return hn::LoadU(TagF32(), from); }
    static HWY_INLINE VecF32 LoadFirst(const float* from, size_t count) { return LoadSome(from, count); }
};

struct Bf16Reader
{
    using Type = uint16_t;
    static HWY_INLINE VecF32 Load(const uint16_t* from) { return LoadBf16(from); }
    static HWY_INLINE VecF32 LoadFirst(const uint16_t* from, size_t count) { return LoadSomeBf16(from, count); }
};

struct F16Reader
{
    using Type = uint16_t;
    static HWY_INLINE VecF32 Load(const uint16_t* from) { return WidenF16(hn::LoadU(TagUint16(), from)); }
    static HWY_INLINE VecF32 LoadFirst(const uint16_t* from, size_t count)
    {
        HWY_ALIGN uint16_t buffer[hn::MaxLanes(TagF32())] = {};
        std::memcpy(buffer, from, count * sizeof(uint16_t));
        return WidenF16(hn::Load(TagUint16(), buffer));
    }
};

/// sums += rows at `data` by columns that are `columnStride` apart, over `depth` elements.
template <typename Reader, size_t Rows, size_t Columns>
HWY_INLINE void AddDotProducts(const float* const (&data)[Rows], const typename Reader::Type* weights,
                               size_t columnStride, size_t depth, VecF32 (&sums)[Rows][Columns])
{
    const TagF32 d;
    const size_t lanes = hn::Lanes(d);
    const auto step = [&](const auto& load, const auto& loadWeights, size_t k) HWY_ATTR
    {
        VecF32 x[Rows];
        HWY_UNROLL(4)
        for (size_t r = 0; r < Rows; ++r)
        {
            x[r] = load(data[r] + k);
        }
        HWY_UNROLL(8)
        for (size_t c = 0; c < Columns; ++c)
        {
            const VecF32 w = loadWeights(weights + c * columnStride + k);
            HWY_UNROLL(4)
            for (size_t r = 0; r < Rows; ++r)
            {
                sums[r][c] = hn::MulAdd(x[r], w, sums[r][c]);
            }
        }
    };
    size_t k = 0;
    if constexpr (Rows == 1)
    {
        // Four vectors without a branch between them, so that the loads of the next columns are issued early.
        for (; k + 4 * lanes <= depth; k += 4 * lanes)
        {
            HWY_UNROLL(4)
            for (size_t v = 0; v < 4; ++v)
            {
                step([d](const float* from) HWY_ATTR { return hn::LoadU(d, from); },
                     [](const auto* from) HWY_ATTR { return Reader::Load(from); }, k + v * lanes);
            }
        }
    }
    for (; k + lanes <= depth; k += lanes)
    {
        step([d](const float* from) HWY_ATTR { return hn::LoadU(d, from); },
             [](const auto* from) HWY_ATTR { return Reader::Load(from); }, k);
    }
    if (k < depth)
    {
        const size_t rest = depth - k;
        step([rest](const float* from) HWY_ATTR { return LoadSome(from, rest); },
             [rest](const auto* from) HWY_ATTR { return Reader::LoadFirst(from, rest); }, k);
    }
}

/// The same for a further slice of the depth. Not inlined, as few products are that deep.
template <typename Reader, size_t Rows, size_t Columns>
HWY_NOINLINE void AddSlice(const float* const (&data)[Rows], const typename Reader::Type* weights, size_t columnStride,
                           size_t depth, VecF32 (&sums)[Rows][Columns])
{
    VecF32 part[Rows][Columns];
    HWY_UNROLL(4)
    for (size_t r = 0; r < Rows; ++r)
    {
        HWY_UNROLL(8)
        for (size_t c = 0; c < Columns; ++c)
        {
            part[r][c] = hn::Zero(TagF32());
        }
    }
    AddDotProducts<Reader>(data, weights, columnStride, depth, part);
    HWY_UNROLL(4)
    for (size_t r = 0; r < Rows; ++r)
    {
        HWY_UNROLL(8)
        for (size_t c = 0; c < Columns; ++c)
        {
            sums[r][c] = hn::Add(sums[r][c], part[r][c]);
        }
    }
}

/// Writes the horizontal sums of some rows and a column, to `out` of the first row. Lanes are added in a fixed order,
/// independent of the tile: the partition of rows over threads changes no bit.
template <size_t Rows, size_t Columns>
HWY_INLINE void WriteColumn(const DotProductsF32& dots, size_t column, const VecF32 (&sums)[Rows][Columns], size_t c,
                            float* out)
{
    static_assert(Rows <= 4);
    const TagF32 d;
    const hn::FixedTag<float, 4> four;
    const auto row = [&](size_t r) HWY_ATTR { return r < Rows ? sums[r % Rows][c] : hn::Zero(d); };
    auto sum = SumFour(d, row(0), row(1), row(2), row(3));
    if (dots.m_Bias != nullptr)
    {
        sum = hn::Add(sum, hn::Set(four, dots.m_Bias[column]));
    }
    if (Rows == 4 && dots.m_OutStride == 1)
    {
        hn::StoreU(sum, four, out);
        return;
    }
    HWY_ALIGN float values[4];
    hn::Store(sum, four, values);
    HWY_UNROLL(4)
    for (size_t r = 0; r < Rows; ++r)
    {
        out[r * dots.m_OutStride] = values[r];
    }
}

/// The dot products of some rows and some columns.
template <typename Reader, size_t Rows, size_t Columns>
HWY_INLINE void ComputeDotProducts(const DotProductsF32& dots, size_t row, size_t column, VecF32 (&sums)[Rows][Columns])
{
    const size_t depth = dots.m_Depth;
    const auto* weights = static_cast<const typename Reader::Type*>(dots.m_Weights) + column * depth;
    const float* data[Rows];
    if (dots.m_Indirection == nullptr)
    {
        HWY_UNROLL(4)
        for (size_t r = 0; r < Rows; ++r)
        {
            data[r] = dots.m_Data + (row + r) * depth;
        }
        // Blocked summation: the rounding error grows with the length of a sum, so slices of the depth have sums of
        // their own.
        constexpr size_t MaxDepth = 1024 * hn::MaxLanes(TagF32());
        AddDotProducts<Reader>(data, weights, depth, std::min(depth, MaxDepth), sums);
        for (size_t k = MaxDepth; k < depth; k += MaxDepth)
        {
            HWY_UNROLL(4)
            for (size_t r = 0; r < Rows; ++r)
            {
                data[r] += MaxDepth;
            }
            AddSlice<Reader>(data, weights + k, depth, std::min(depth - k, MaxDepth), sums);
        }
        return;
    }
    const size_t tapDepth = depth / dots.m_Taps;
    const float* const* table = dots.m_Indirection + row;
    for (size_t tap = 0; tap < dots.m_Taps; ++tap, table += dots.m_TapStep, weights += tapDepth)
    {
        if (dots.m_Zeros != nullptr && IsTapPadding<Rows>(table, dots.m_Zeros))
        {
            continue;
        }
        HWY_UNROLL(4)
        for (size_t r = 0; r < Rows; ++r)
        {
            data[r] = table[r];
        }
        AddDotProducts<Reader>(data, weights, depth, tapDepth, sums);
    }
}

/// The products of rows [row, row + Rows) by `Columns` columns at a time, from `column` on. Returns the first column
/// that is left. `dots` is passed by value so that stores to the output cannot alias it: with a small depth, reloading
/// its members takes as long as a column.
template <typename Reader, size_t Rows, size_t Columns>
HWY_NOINLINE size_t Dots(const DotProductsF32 dots, size_t row, size_t column)
{
    const TagF32 d;
    float* const out = dots.m_Out + row * dots.m_OutStride;
    for (; column + Columns <= dots.m_Columns; column += Columns)
    {
        VecF32 sums[Rows][Columns];
        HWY_UNROLL(4)
        for (size_t r = 0; r < Rows; ++r)
        {
            HWY_UNROLL(8)
            for (size_t c = 0; c < Columns; ++c)
            {
                sums[r][c] = hn::Zero(d);
            }
        }
        ComputeDotProducts<Reader>(dots, row, column, sums);
        if constexpr (Columns % 4 == 0)
        {
            const hn::FixedTag<float, 4> four;
            HWY_UNROLL(4)
            for (size_t r = 0; r < Rows; ++r)
            {
                HWY_UNROLL(2)
                for (size_t c = 0; c < Columns; c += 4)
                {
                    auto sum = SumFour(d, sums[r][c], sums[r][c + 1], sums[r][c + 2], sums[r][c + 3]);
                    if (dots.m_Bias != nullptr)
                    {
                        sum = hn::Add(sum, hn::LoadU(four, dots.m_Bias + column + c));
                    }
                    hn::StoreU(sum, four, out + r * dots.m_OutStride + column + c);
                }
            }
        }
        else
        {
            HWY_UNROLL(8)
            for (size_t c = 0; c < Columns; ++c)
            {
                WriteColumn(dots, column + c, sums, c, out + column + c);
            }
        }
    }
    return column;
}

template <typename Reader, size_t Rows>
void RunRows(const DotProductsF32& dots, size_t row)
{
    // Enough independent sums to hide the latency of the additions; with a small depth the next columns overlap.
    constexpr size_t Columns = Rows == 1 ? 8 : Rows == 4 && !ManyRegisters ? 2 : 4;
    constexpr size_t SmallDepth = 8 * hn::MaxLanes(TagF32());
    size_t column = 0;
    if constexpr (Rows == 1)
    {
        if (dots.m_Depth <= SmallDepth)
        {
            column = Dots<Reader, Rows, Columns / 2>(dots, row, column);
        }
    }
    column = Dots<Reader, Rows, Columns>(dots, row, column);
    Dots<Reader, Rows, 1>(dots, row, column);
}

template <typename Reader>
void RunType(const DotProductsF32& dots)
{
    size_t row = 0;
    for (; row + 4 <= dots.m_Rows; row += 4)
    {
        RunRows<Reader, 4>(dots, row);
    }
    switch (dots.m_Rows - row)
    {
    case 3: RunRows<Reader, 3>(dots, row); break;
    case 2: RunRows<Reader, 2>(dots, row); break;
    case 1: RunRows<Reader, 1>(dots, row); break;
    default: break;
    }
}

void RunAll(const DotProductsF32& dots)
{
    switch (dots.m_WeightType)
    {
    case DataType::Float16: RunType<F16Reader>(dots); break;
    case DataType::BFloat16: RunType<Bf16Reader>(dots); break;
    default: RunType<F32Reader>(dots); break;
    }
}

/// Other processors take several instructions for a vector of Float16, which is slower than reading floats.
bool HasWideningLoads()
{
    return HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || (HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64);
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

void RunDotProductsF32(const DotProductsF32& dots)
{
    TENON_CHOOSE(RunAll)(dots);
}

bool CanWidenOnLoad()
{
    static constinit PerIsa<bool> widens;
    return widens.Get([] { return TENON_CHOOSE(HasWideningLoads)(); });
}

} // namespace tenon::cpu
#endif
