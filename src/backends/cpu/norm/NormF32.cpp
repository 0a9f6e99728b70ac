// SPDX-License-Identifier: Apache-2.0
// The SIMD loops of NormF32.hpp.
#include "backends/cpu/norm/NormF32.hpp"

#include "backends/cpu/reduce/RowBlocks.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/norm/NormF32.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/simd/BlockedSumF32-inl.hpp"
#include "backends/cpu/simd/Cover-inl.hpp"
#include "backends/cpu/simd/Divide-inl.hpp"
#include "backends/cpu/simd/F32-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

/// The sum over a row of the differences to `centre`, or of their squares.
template <bool Squares>
float SumRow(const float* in, size_t depth, float centre)
{
    const TagF32 d;
    const size_t lanes = hn::Lanes(d);
    const VecF32 middle = hn::Set(d, centre);
    const auto step = [middle](VecF32 sum, VecF32 x)
    {
        const VecF32 difference = hn::Sub(x, middle);
        return hn::Add(sum, Squares ? hn::Mul(difference, difference) : difference);
    };
    // A long row is summed in blocks, and the blocks in double precision.
    const size_t part = 2 * lanes * SumBlock;
    if (depth > part)
    {
        double total = 0.0;
        for (size_t first = 0; first < depth; first += part)
        {
            total += static_cast<double>(SumRow<Squares>(in + first, std::min(part, depth - first), centre));
        }
        return static_cast<float>(total);
    }
    VecF32 sum0 = hn::Zero(d);
    VecF32 sum1 = hn::Zero(d);
    size_t i = 0;
    for (; i + 2 * lanes <= depth; i += 2 * lanes)
    {
        sum0 = step(sum0, hn::LoadU(d, in + i));
        sum1 = step(sum1, hn::LoadU(d, in + i + lanes));
    }
    if (i + lanes <= depth)
    {
        sum0 = step(sum0, hn::LoadU(d, in + i));
        i += lanes;
    }
    if (i < depth) // lanes beyond the row hold `centre`, which adds nothing
    {
        sum1 = step(sum1, hn::IfThenElse(hn::FirstN(d, depth - i), LoadSome(in + i, depth - i), middle));
    }
    return hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
}

/// out = (x - mean) * factor * scale + bias for a row. The last partial vector is filled with zeros.
void ScaleRow(const float* in, size_t depth, float mean, float factor, const NormParameter& scale,
              const NormParameter& bias, float* out)
{
    const TagF32 d;
    const size_t lanes = hn::Lanes(d);
    const VecF32 middle = hn::Set(d, mean);
    const VecF32 factors = hn::Set(d, factor);
    const VecF32 oneScale = hn::Set(d, scale.m_Values != nullptr ? scale.m_Values[0] : 1.0f);
    const VecF32 oneBias = hn::Set(d, bias.m_Values != nullptr ? bias.m_Values[0] : 0.0f);
    // Parameters are read before the output is written, as the output may overwrite them.
    const auto vector = [&](size_t i, auto load) HWY_ATTR
    {
        const VecF32 s = scale.m_Step != 0 ? load(scale.m_Values + i) : oneScale;
        const VecF32 b = bias.m_Step != 0 ? load(bias.m_Values + i) : oneBias;
        return hn::Add(hn::Mul(hn::Mul(hn::Sub(load(in + i), middle), factors), s), b);
    };
    size_t i = 0;
    for (; i + lanes <= depth; i += lanes)
    {
        hn::StoreU(vector(i, [d](const float* from) HWY_ATTR { return hn::LoadU(d, from); }), d, out + i);
    }
    if (i < depth)
    {
        const size_t rest = depth - i;
        StoreSome(vector(i, [rest](const float* from) HWY_ATTR { return LoadSome(from, rest); }), out + i, rest);
    }
}

void LayerRows(const float* in, size_t rows, size_t depth, bool subtractsMean, float epsilon,
               const NormParameter& scale, const NormParameter& bias, float* out)
{
    const auto count = static_cast<float>(depth);
    const size_t block = CountRowsOfBlock(depth);
    for (size_t first = 0; first < rows; first += block)
    {
        const size_t some = std::min(block, rows - first);
        float means[MaxRowsOfBlock];
        float factors[MaxRowsOfBlock];
        for (size_t i = 0; i < some; ++i)
        {
            means[i] = subtractsMean ? SumRow<false>(in + (first + i) * depth, depth, 0.0f) / count : 0.0f;
        }
        for (size_t i = 0; i < some; ++i)
        {
            const float squares = SumRow<true>(in + (first + i) * depth, depth, means[i]);
            factors[i] = 1.0f / std::sqrt(squares / count + epsilon);
        }
        for (size_t i = 0; i < some; ++i)
        {
            const size_t row = (first + i) * depth;
            ScaleRow(in + row, depth, means[i], factors[i], scale, bias, out + row);
        }
    }
}

void L2Rows(const float* in, size_t rows, size_t depth, float epsilon, float* out)
{
    const size_t block = CountRowsOfBlock(depth);
    for (size_t first = 0; first < rows; first += block)
    {
        const size_t some = std::min(block, rows - first);
        float norms[MaxRowsOfBlock];
        for (size_t i = 0; i < some; ++i)
        {
            norms[i] = std::max(std::sqrt(SumRow<true>(in + (first + i) * depth, depth, 0.0f)), epsilon);
        }
        for (size_t i = 0; i < some; ++i)
        {
            const size_t row = (first + i) * depth;
            const auto divide = [=, norm = norms[i]](auto d, size_t k)
            { hn::StoreU(Quotient(hn::LoadU(d, in + row + k), hn::Set(d, norm)), d, out + row + k); };
            Cover<float>(depth, divide);
        }
    }
}

void Columns(const float* in, size_t pixels, size_t stride, size_t channels, float epsilon, float gamma, float beta,
             float* out)
{
    const auto column = [=](auto d, size_t c)
    {
        const auto count = hn::Set(d, static_cast<float>(pixels));
        const auto load = [=](size_t pixel) HWY_ATTR { return hn::LoadU(d, in + pixel * stride + c); };
        const auto mean = Quotient(SumSteps(d, pixels, load), count);
        const auto square = [=](size_t pixel) HWY_ATTR
        {
            const auto difference = hn::Sub(load(pixel), mean);
            return hn::Mul(difference, difference);
        };
        const auto squares = SumSteps(d, pixels, square);
        const auto deviation = RootOf(hn::Add(Quotient(squares, count), hn::Set(d, epsilon)));
        const auto scale = Quotient(hn::Set(d, gamma), deviation);
        for (size_t pixel = 0; pixel < pixels; ++pixel)
        {
            const auto difference = hn::Sub(hn::LoadU(d, in + pixel * stride + c), mean);
            hn::StoreU(hn::Add(hn::Mul(difference, scale), hn::Set(d, beta)), d, out + pixel * stride + c);
        }
    };
    Cover<float>(channels, column);
}

void Affine(const float* in, size_t pixels, size_t channels, const float* mean, const float* factor, const float* beta,
            float* out)
{
    for (size_t pixel = 0; pixel < pixels; ++pixel, in += channels, out += channels)
    {
        Cover<float>(channels,
                     [=](auto d, size_t c)
                     {
                         const auto x = hn::Sub(hn::LoadU(d, in + c), hn::LoadU(d, mean + c));
                         hn::StoreU(hn::Add(hn::Mul(x, hn::LoadU(d, factor + c)), hn::LoadU(d, beta + c)), d, out + c);
                     });
    }
}

NormFunctions MakeNormFunctions()
{
    NormFunctions functions;
    functions.m_LayerRows = LayerRows;
    functions.m_L2Rows = L2Rows;
    functions.m_Columns = Columns;
    functions.m_Affine = Affine;
    return functions;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const NormFunctions& GetNormFunctions()
{
    static constinit PerIsa<NormFunctions> functions;
    return functions.Get([] { return TENON_CHOOSE(MakeNormFunctions)(); });
}

} // namespace tenon::cpu
#endif
