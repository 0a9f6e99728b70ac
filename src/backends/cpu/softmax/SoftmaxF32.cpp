// SPDX-License-Identifier: Apache-2.0
// The SIMD loops of SoftmaxF32.hpp. The elements after the last whole vector of a row are computed in a vector that
// ends where the row does and overlaps the one before.
#include "backends/cpu/softmax/SoftmaxF32.hpp"

#include "backends/cpu/reduce/RowBlocks.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/softmax/SoftmaxF32.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/simd/BlockedSumF32-inl.hpp"
#include "backends/cpu/simd/Cover-inl.hpp"
#include "backends/cpu/simd/F32-inl.hpp"
#include "backends/cpu/simd/Math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

/// The maximum of a row of one vector or more. A row with NaN may have any result: the exponential of NaN is NaN, and
/// so is the sum.
float FindMax(const float* in, size_t depth)
{
    const TagF32 d;
    const size_t lanes = hn::Lanes(d);
    VecF32 maxima = hn::LoadU(d, in + depth - lanes);
    VecF32 others = maxima; // two accumulators hide the latency of comparisons
    size_t i = 0;
    for (; i + 2 * lanes <= depth; i += 2 * lanes)
    {
        maxima = hn::Max(maxima, hn::LoadU(d, in + i));
        others = hn::Max(others, hn::LoadU(d, in + i + lanes));
    }
    maxima = i + lanes <= depth ? hn::Max(maxima, hn::LoadU(d, in + i)) : maxima;
    return hn::GetLane(hn::MaxOfLanes(d, hn::Max(maxima, others)));
}

/// Returns the sum of exp((in - max) * beta), and writes these numbers if Store is true.
template <bool Store>
float SumExps(const float* in, size_t depth, float max, float beta, float* out)
{
    const TagF32 d;
    const size_t lanes = hn::Lanes(d);
    // A long row is summed in blocks, and the blocks in double precision. The last block is longer.
    const size_t part = 2 * lanes * SumBlock;
    if (depth >= 2 * part)
    {
        double total = 0.0;
        for (size_t first = 0; first < depth;)
        {
            const size_t some = depth - first >= 2 * part ? part : depth - first;
            total += static_cast<double>(SumExps<Store>(in + first, some, max, beta, Store ? out + first : nullptr));
            first += some;
        }
        return static_cast<float>(total);
    }
    const VecF32 maxima = hn::Set(d, max);
    const VecF32 factor = hn::Set(d, beta);
    const VecF32 end = hn::LoadU(d, in + depth - lanes); // read before `out` overwrites it
    const auto expValue = [&](VecF32 x, float* to) HWY_ATTR
    {
        const VecF32 y = ExpUpTo88(d, hn::Mul(hn::Sub(x, maxima), factor));
        if constexpr (Store)
        {
            hn::StoreU(y, d, to);
        }
        return y;
    };
    VecF32 sum = hn::Zero(d);
    VecF32 others = sum;
    size_t i = 0;
    for (; i + 2 * lanes <= depth; i += 2 * lanes)
    {
        const VecF32 x = hn::LoadU(d, in + i);
        const VecF32 next = hn::LoadU(d, in + i + lanes);
        sum = hn::Add(sum, expValue(x, out + i));
        others = hn::Add(others, expValue(next, out + i + lanes));
    }
    if (i + lanes <= depth)
    {
        sum = hn::Add(sum, expValue(hn::LoadU(d, in + i), out + i));
        i += lanes;
    }
    if (i != depth)
    {
        // The last vector overlaps the one before it: lanes that are in both are not added again.
        const VecF32 y = expValue(end, out + depth - lanes);
        others = hn::Add(others, hn::IfThenZeroElse(hn::FirstN(d, i + lanes - depth), y));
    }
    return hn::GetLane(hn::SumOfLanes(d, hn::Add(sum, others)));
}

void ScaleRow(float* row, size_t depth, float factor)
{
    const TagF32 d;
    const size_t lanes = hn::Lanes(d);
    const VecF32 factors = hn::Set(d, factor);
    const VecF32 end = hn::Mul(hn::LoadU(d, row + depth - lanes), factors);
    for (size_t i = 0; i + lanes <= depth; i += lanes)
    {
        hn::StoreU(hn::Mul(hn::LoadU(d, row + i), factors), d, row + i);
    }
    hn::StoreU(end, d, row + depth - lanes);
}

void SoftmaxRows(const float* in, size_t rows, size_t depth, float beta, float* out)
{
    const size_t block = CountRowsOfBlock(depth);
    for (size_t first = 0; first < rows; first += block, in += block * depth, out += block * depth)
    {
        const size_t some = std::min(block, rows - first);
        float factors[MaxRowsOfBlock];
        for (size_t i = 0; i < some; ++i)
        {
            factors[i] = FindMax(in + i * depth, depth);
        }
        for (size_t i = 0; i < some; ++i)
        {
            factors[i] = 1.0f / SumExps<true>(in + i * depth, depth, factors[i], beta, out + i * depth);
        }
        for (size_t i = 0; i < some; ++i)
        {
            ScaleRow(out + i * depth, depth, factors[i]);
        }
    }
}

void LogSoftmaxRow(const float* in, size_t depth, float beta, float* out)
{
    const float max = FindMax(in, depth);
    const float logSum = std::log(SumExps<false>(in, depth, max, beta, nullptr));
    Cover<float>(depth,
                 [=](auto d, size_t i)
                 {
                     const auto scaled = hn::Mul(hn::Sub(hn::LoadU(d, in + i), hn::Set(d, max)), hn::Set(d, beta));
                     hn::StoreU(hn::Sub(scaled, hn::Set(d, logSum)), d, out + i);
                 });
}

/// Computes up to a vector of rows, transposed: element i of all rows is one vector.
template <bool IsLog>
void TransposedRows(const float* in, size_t rows, size_t depth, float beta, float* out)
{
    const TagF32 d;
    const size_t lanes = hn::Lanes(d);
    HWY_ALIGN float elements[SoftmaxFunctions::MaxTransposedDepth * HWY_LANES(float)];
    const VecF32 factor = hn::Set(d, beta);
    for (size_t first = 0; first < rows; first += lanes, in += lanes * depth, out += lanes * depth)
    {
        const size_t count = std::min(lanes, rows - first);
        for (size_t row = 0; row < lanes; ++row)
        {
            const float* from = in + std::min(row, count - 1) * depth;
            for (size_t i = 0; i < depth; ++i)
            {
                elements[i * lanes + row] = from[i];
            }
        }
        VecF32 maxima = hn::Load(d, elements);
        for (size_t i = 1; i < depth; ++i)
        {
            maxima = hn::Max(maxima, hn::Load(d, elements + i * lanes));
        }
        VecF32 sum = hn::Zero(d);
        for (size_t i = 0; i < depth; ++i)
        {
            const VecF32 x = hn::Mul(hn::Sub(hn::Load(d, elements + i * lanes), maxima), factor);
            const VecF32 expValue = ExpUpTo88(d, x);
            sum = hn::Add(sum, expValue);
            hn::Store(IsLog ? x : expValue, d, elements + i * lanes);
        }
        const VecF32 last = IsLog ? LogOf(d, sum) : hn::Div(hn::Set(d, 1.0f), sum);
        for (size_t i = 0; i < depth; ++i)
        {
            const VecF32 x = hn::Load(d, elements + i * lanes);
            hn::Store(IsLog ? hn::Sub(x, last) : hn::Mul(x, last), d, elements + i * lanes);
        }
        for (size_t row = 0; row < count; ++row)
        {
            for (size_t i = 0; i < depth; ++i)
            {
                out[row * depth + i] = elements[i * lanes + row];
            }
        }
    }
}

template <bool IsLog>
void Rows(const float* in, size_t rows, size_t depth, float beta, float* out)
{
    if (depth <= SoftmaxFunctions::MaxTransposedDepth)
    {
        TransposedRows<IsLog>(in, rows, depth, beta, out);
        return;
    }
    if constexpr (!IsLog)
    {
        SoftmaxRows(in, rows, depth, beta, out);
        return;
    }
    for (size_t row = 0; row < rows; ++row, in += depth, out += depth)
    {
        LogSoftmaxRow(in, depth, beta, out);
    }
}

/// Computes a vector of neighbouring columns, `count` of them if these are fewer than the lanes.
template <bool IsLog, bool IsWhole>
HWY_INLINE void Column(const float* in, size_t count, size_t depth, size_t step, float beta, float* out)
{
    const TagF32 d;
    const auto load = [&](const float* from) HWY_ATTR { return IsWhole ? hn::LoadU(d, from) : LoadSome(from, count); };
    const auto store = [&](VecF32 values, float* to) HWY_ATTR
    {
        if constexpr (IsWhole)
        {
            hn::StoreU(values, d, to);
        }
        else
        {
            StoreSome(values, to, count);
        }
    };
    const VecF32 factor = hn::Set(d, beta);
    VecF32 maxima = load(in);
    for (size_t i = 1; i < depth; ++i)
    {
        maxima = hn::Max(maxima, load(in + i * step));
    }
    const VecF32 sum = SumSteps(d, depth,
                                [&](size_t i) HWY_ATTR
                                {
                                    const VecF32 x = hn::Mul(hn::Sub(load(in + i * step), maxima), factor);
                                    const VecF32 expValue = ExpUpTo88(d, x);
                                    store(IsLog ? x : expValue, out + i * step);
                                    return expValue;
                                });
    const VecF32 last = IsLog ? LogOf(d, sum) : hn::Div(hn::Set(d, 1.0f), sum);
    for (size_t i = 0; i < depth; ++i)
    {
        const VecF32 x = load(out + i * step);
        store(IsLog ? hn::Sub(x, last) : hn::Mul(x, last), out + i * step);
    }
}

template <bool IsLog>
void Columns(const float* in, size_t columns, size_t depth, size_t step, float beta, float* out)
{
    const size_t lanes = hn::Lanes(TagF32());
    size_t column = 0;
    for (; column + lanes <= columns; column += lanes)
    {
        Column<IsLog, true>(in + column, lanes, depth, step, beta, out + column);
    }
    if (column != columns)
    {
        Column<IsLog, false>(in + column, columns - column, depth, step, beta, out + column);
    }
}

SoftmaxFunctions MakeSoftmaxFunctions()
{
    SoftmaxFunctions functions;
    functions.m_Softmax = Rows<false>;
    functions.m_LogSoftmax = Rows<true>;
    functions.m_SoftmaxColumns = Columns<false>;
    functions.m_LogSoftmaxColumns = Columns<true>;
    return functions;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const SoftmaxFunctions& GetSoftmaxFunctions()
{
    static constinit PerIsa<SoftmaxFunctions> functions;
    return functions.Get([] { return TENON_CHOOSE(MakeSoftmaxFunctions)(); });
}

} // namespace tenon::cpu
#endif
