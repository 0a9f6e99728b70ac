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

enum class Terms
{
    None,
    OfRows,
    All
};

/// The softmax of one vector of columns, from column `first` on.
template <Terms Kind>
void SoftmaxOfVector(const ColumnSoftmax& softmax, size_t first)
{
    const FloatTag d;
    const size_t width = softmax.m_Width;
    const size_t rows = softmax.m_Rows;
    float* const block = softmax.m_Block + first;
    const auto load = [&](size_t row) HWY_ATTR
    {
        const Floats x = hn::Load(d, block + row * width);
        if constexpr (Kind == Terms::OfRows)
        {
            return hn::Add(x, hn::Set(d, softmax.m_RowTerms[row]));
        }
        if constexpr (Kind == Terms::All)
        {
            return hn::Add(x, hn::Load(d, softmax.m_Terms + first + row * width));
        }
        return x;
    };
    // Four accumulators hide the latency of each step, and their sums round less.
    constexpr size_t Chains = 4;
    Floats most[Chains];
    for (Floats& chain : most)
    {
        chain = load(0);
    }
    size_t row = 0;
    for (; row + Chains <= rows; row += Chains)
    {
        HWY_UNROLL(4)
        for (size_t i = 0; i < Chains; ++i)
        {
            most[i] = hn::Max(most[i], load(row + i));
        }
    }
    for (; row < rows; ++row)
    {
        most[0] = hn::Max(most[0], load(row));
    }
    Floats max = hn::Max(hn::Max(most[0], most[1]), hn::Max(most[2], most[3]));
    if (softmax.m_MayHide)
    {
        // -inf - -inf is NaN. With a finite maximum all exponentials of a masked column are 0.
        max = hn::Max(max, hn::Set(d, hwy::LowestValue<float>()));
    }

    const Floats beta = hn::Set(d, softmax.m_Beta);
    const int halvings = softmax.m_Halvings;
    const auto power = [&](size_t at) HWY_ATTR
    {
        const Floats y = ExpUpTo88(d, hn::Mul(hn::Sub(load(at), max), beta), halvings);
        hn::Store(y, d, block + at * width);
        return y;
    };
    Floats sums[Chains];
    for (Floats& chain : sums)
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
    const Floats sum = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
    Floats factors = hn::Div(hn::Set(d, 1.0f), sum);
    if (softmax.m_MayHide)
    {
        factors = hn::IfThenZeroElse(hn::Eq(sum, hn::Zero(d)), factors);
    }
    hn::Store(factors, d, softmax.m_Factors + first);
}

void Softmax(const ColumnSoftmax& softmax)
{
    const auto function = softmax.m_Terms != nullptr      ? SoftmaxOfVector<Terms::All>
                          : softmax.m_RowTerms != nullptr ? SoftmaxOfVector<Terms::OfRows>
                                                          : SoftmaxOfVector<Terms::None>;
    for (size_t first = 0; first < softmax.m_Width; first += hn::Lanes(FloatTag()))
    {
        function(softmax, first);
    }
}

void Scale(float* block, size_t rows, size_t width, const float* factors)
{
    const FloatTag d;
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
