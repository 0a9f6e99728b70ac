// SPDX-License-Identifier: Apache-2.0
// The SIMD loops of ColumnSoftmaxF32.hpp.
#include "backends/cpu/attention/ColumnSoftmaxF32.hpp"

#include "backends/cpu/simd/Isa.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/attention/ColumnSoftmaxF32.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/simd/F32-inl.hpp"
#include "backends/cpu/simd/Math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

enum class MaskKind
{
    None,
    PerRow,
    All
};

/// The softmax of one vector of columns, from column `first` on.
template <MaskKind Kind>
void SoftmaxOfVector(const ColumnSoftmax& softmax, size_t first)
{
    const TagF32 d;
    const size_t width = softmax.m_Width;
    const size_t rows = softmax.m_Rows;
    float* const block = softmax.m_Block + first;
    const auto load = [&](size_t row) HWY_ATTR
    {
        const VecF32 x = hn::Load(d, block + row * width);
        if constexpr (Kind == MaskKind::PerRow)
        {
            return hn::Add(x, hn::Set(d, softmax.m_RowMask[row]));
        }
        if constexpr (Kind == MaskKind::All)
        {
            return hn::Add(x, hn::Load(d, softmax.m_ElementMask + first + row * width));
        }
        return x;
    };
    // Four accumulators hide the latency of each step, and their sums round less.
    constexpr size_t Chains = 4;
    VecF32 maxima[Chains];
    for (VecF32& chain : maxima)
    {
        chain = load(0);
    }
    size_t row = 0;
    for (; row + Chains <= rows; row += Chains)
    {
        HWY_UNROLL(4)
        for (size_t i = 0; i < Chains; ++i)
        {
            maxima[i] = hn::Max(maxima[i], load(row + i));
        }
    }
    for (; row < rows; ++row)
    {
        maxima[0] = hn::Max(maxima[0], load(row));
    }
    VecF32 max = hn::Max(hn::Max(maxima[0], maxima[1]), hn::Max(maxima[2], maxima[3]));
    if (softmax.m_MayMaskColumns)
    {
        // -inf - -inf is NaN. With a finite maximum all exponentials of a masked column are 0.
        max = hn::Max(max, hn::Set(d, hwy::LowestValue<float>()));
    }

    const VecF32 beta = hn::Set(d, softmax.m_Beta);
    const int log2Divisor = softmax.m_Log2Divisor;
    const auto power = [&](size_t at) HWY_ATTR
    {
        const VecF32 y = ExpUpTo88(d, hn::Mul(hn::Sub(load(at), max), beta), log2Divisor);
        hn::Store(y, d, block + at * width);
        return y;
    };
    VecF32 sums[Chains];
    for (VecF32& chain : sums)
    {
        chain = hn::Zero(d);
    }
    for (row = 0; row + Chains <= rows; row += Chains)
    {
        HWY_UNROLL(4)
        for (size_t i = 0; i < Chains; ++i)
        {
            sums[i] = hn::Add(sums[i], power(row + i));
        }
    }
    for (; row < rows; ++row)
    {
        sums[0] = hn::Add(sums[0], power(row));
    }
    const VecF32 sum = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
    VecF32 factors = hn::Div(hn::Set(d, 1.0f), sum);
    if (softmax.m_MayMaskColumns)
    {
        factors = hn::IfThenZeroElse(hn::Eq(sum, hn::Zero(d)), factors);
    }
    hn::Store(factors, d, softmax.m_Factors + first);
}

void Softmax(const ColumnSoftmax& softmax)
{
    const auto function = softmax.m_ElementMask != nullptr ? SoftmaxOfVector<MaskKind::All>
                          : softmax.m_RowMask != nullptr   ? SoftmaxOfVector<MaskKind::PerRow>
                                                           : SoftmaxOfVector<MaskKind::None>;
    for (size_t first = 0; first < softmax.m_Width; first += hn::Lanes(TagF32()))
    {
        function(softmax, first);
    }
}

void Scale(float* block, size_t rows, size_t width, const float* factors)
{
    const TagF32 d;
    for (size_t row = 0; row < rows; ++row, block += width)
    {
        for (size_t i = 0; i < width; i += hn::Lanes(d))
        {
            hn::Store(hn::Mul(hn::Load(d, block + i), hn::Load(d, factors + i)), d, block + i);
        }
    }
}

AttentionFunctions MakeAttentionFunctions()
{
    return {Softmax, Scale};
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const AttentionFunctions& GetAttentionFunctions()
{
    static constinit PerIsa<AttentionFunctions> functions;
    return functions.Get([] { return TENON_CHOOSE(MakeAttentionFunctions)(); });
}

} // namespace tenon::cpu
#endif
