// SPDX-License-Identifier: Apache-2.0
// AxpyF32: adds a few rows of the matrix at a time. Each row is then a stream for the hardware prefetcher, and the sums
// stay in the first-level cache.
#include "backends/cpu/gemm/kernels/f32/AxpyF32.hpp"

#include "backends/cpu/gemm/kernels/f32/MaxSumDepth.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>
#include <functional>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/kernels/f32/AxpyF32.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included after Foreach.hpp.
#include "backends/cpu/simd/F32-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

/// Adds `Steps` steps of the depth, from k on, to all sums; the first steps initialize them.
template <size_t Rows, size_t Steps>
void AddSteps(const AxpyF32& sums, size_t k)
{
    const TagF32 d;
    const size_t lanes = hn::Lanes(d);
    VecF32 x[Rows][Steps];
    HWY_UNROLL(4)
    for (size_t r = 0; r < Rows; ++r)
    {
        HWY_UNROLL(8)
        for (size_t s = 0; s < Steps; ++s)
        {
            x[r][s] = hn::Set(d, sums.m_Data[r * sums.m_RowStep + (k + s) * sums.m_DepthStep]);
        }
    }
    const float* weights = sums.m_Weights + k * sums.m_WeightStride;
    const bool begins = k == 0 && !sums.m_Accumulates;
    const auto add = [&](const auto& load, const auto& store, size_t column) HWY_ATTR
    {
        VecF32 total[Rows];
        HWY_UNROLL(4)
        for (size_t r = 0; r < Rows; ++r)
        {
            total[r] = begins ? hn::Zero(d) : load(sums.m_Out + r * sums.m_OutStride + column);
        }
        HWY_UNROLL(8)
        for (size_t s = 0; s < Steps; ++s)
        {
            const VecF32 w = load(weights + s * sums.m_WeightStride + column);
            HWY_UNROLL(4)
            for (size_t r = 0; r < Rows; ++r)
            {
                total[r] = hn::MulAdd(x[r][s], w, total[r]);
            }
        }
        HWY_UNROLL(4)
        for (size_t r = 0; r < Rows; ++r)
        {
            store(total[r], sums.m_Out + r * sums.m_OutStride + column);
        }
    };
    size_t column = 0;
    for (; column + lanes <= sums.m_Columns; column += lanes)
    {
        add([d](const float* from) HWY_ATTR { return hn::LoadU(d, from); },
            [d](VecF32 v, float* to) HWY_ATTR { hn::StoreU(v, d, to); }, column);
    }
    if (const size_t rest = sums.m_Columns - column; rest != 0)
    {
        add([rest](const float* from) HWY_ATTR { return LoadSome(from, rest); },
            [rest](VecF32 v, float* to) HWY_ATTR { StoreSome(v, to, rest); }, column);
    }
}

/// Vectors of sums that stay in registers for the whole depth.
constexpr size_t RegisterSums = ManyRegisters ? 24 : 8;

/// All sums of `Vectors` whole vectors of columns, in registers. Steps of the depth alternate between
/// `AccumulatorChains` independent sets of accumulators, which hides the latency of the multiply-adds.
template <size_t Rows, size_t Vectors>
void AddInRegisters(const AxpyF32& sums)
{
    constexpr size_t AccumulatorChains = Rows * Vectors >= 8 ? 1 : Rows * Vectors >= 4 ? 2 : 4;
    const TagF32 d;
    const size_t lanes = hn::Lanes(d);
    VecF32 totals[AccumulatorChains][Rows][Vectors];
    HWY_UNROLL(4)
    for (size_t c = 0; c < AccumulatorChains; ++c)
    {
        HWY_UNROLL(4)
        for (size_t r = 0; r < Rows; ++r)
        {
            HWY_UNROLL(8)
            for (size_t v = 0; v < Vectors; ++v)
            {
                totals[c][r][v] = hn::Zero(d);
            }
        }
    }
    const auto add = [&](size_t k, VecF32(&total)[Rows][Vectors]) HWY_ATTR
    {
        const float* const weights = sums.m_Weights + k * sums.m_WeightStride;
        HWY_UNROLL(8)
        for (size_t v = 0; v < Vectors; ++v)
        {
            const VecF32 w = hn::LoadU(d, weights + v * lanes);
            HWY_UNROLL(4)
            for (size_t r = 0; r < Rows; ++r)
            {
                const VecF32 x = hn::Set(d, sums.m_Data[r * sums.m_RowStep + k * sums.m_DepthStep]);
                total[r][v] = hn::MulAdd(x, w, total[r][v]);
            }
        }
    };
    size_t k = 0;
    for (; k + AccumulatorChains <= sums.m_Depth; k += AccumulatorChains)
    {
        HWY_UNROLL(4)
        for (size_t c = 0; c < AccumulatorChains; ++c)
        {
            add(k + c, totals[c]);
        }
    }
    for (; k < sums.m_Depth; ++k)
    {
        add(k, totals[0]);
    }
    HWY_UNROLL(4)
    for (size_t r = 0; r < Rows; ++r)
    {
        HWY_UNROLL(8)
        for (size_t v = 0; v < Vectors; ++v)
        {
            VecF32 total = totals[0][r][v];
            HWY_UNROLL(4)
            for (size_t c = 1; c < AccumulatorChains; ++c)
            {
                total = hn::Add(total, totals[c][r][v]);
            }
            hn::StoreU(total, d, sums.m_Out + r * sums.m_OutStride + v * lanes);
        }
    }
}

/// Computes all sums with AddInRegisters if the columns are few whole vectors; returns whether it did.
template <size_t Rows, size_t Vectors = 1>
bool TryInRegisters(const AxpyF32& sums)
{
    if constexpr (Vectors <= 8 && Rows * Vectors <= RegisterSums)
    {
        if (sums.m_Columns == Vectors * hn::Lanes(TagF32()) && !sums.m_Accumulates)
        {
            AddInRegisters<Rows, Vectors>(sums);
            return true;
        }
        return TryInRegisters<Rows, Vectors + 1>(sums);
    }
    return false;
}

template <size_t Rows>
void AddRows(const AxpyF32& sums)
{
    if (TryInRegisters<Rows>(sums))
    {
        return;
    }
    constexpr size_t Steps = Rows <= 2 ? 8 : 4; // with their factors in registers
    size_t k = 0;
    for (; k + Steps <= sums.m_Depth; k += Steps)
    {
        AddSteps<Rows, Steps>(sums, k);
    }
    for (; k < sums.m_Depth; ++k)
    {
        AddSteps<Rows, 1>(sums, k);
    }
}

void AddSlice(const AxpyF32& sums)
{
    static_assert(AxpyF32::MaxRows == 4);
    switch (sums.m_Rows)
    {
    case 1: AddRows<1>(sums); break;
    case 2: AddRows<2>(sums); break;
    case 3: AddRows<3>(sums); break;
    case 4: AddRows<4>(sums); break;
    default: break;
    }
}

/// Blocked summation: the rounding error grows with the length of a sum, so deep products are summed in slices of
/// MaxSumDepth whose partial sums are added, for at most MaxColumns columns at a time.
void AddAll(const AxpyF32& sums)
{
    constexpr size_t MaxColumns = 1024;
    if (sums.m_Depth <= MaxSumDepth)
    {
        AddSlice(sums);
        return;
    }
    HWY_ALIGN float more[AxpyF32::MaxRows * MaxColumns];
    for (size_t column = 0; column < sums.m_Columns; column += MaxColumns)
    {
        AxpyF32 slice = sums;
        slice.m_Columns = std::min(MaxColumns, sums.m_Columns - column);
        float* const out = sums.m_Out + column;
        for (size_t k = 0; k < sums.m_Depth; k += MaxSumDepth)
        {
            slice.m_Data = sums.m_Data + k * sums.m_DepthStep;
            slice.m_Weights = sums.m_Weights + k * sums.m_WeightStride + column;
            slice.m_Depth = std::min(MaxSumDepth, sums.m_Depth - k);
            slice.m_Out = k == 0 ? out : more;
            slice.m_OutStride = k == 0 ? sums.m_OutStride : MaxColumns;
            AddSlice(slice);
            for (size_t r = 0; k != 0 && r < sums.m_Rows; ++r)
            {
                float* const row = out + r * sums.m_OutStride;
                std::transform(row, row + slice.m_Columns, more + r * MaxColumns, row, std::plus<>());
            }
        }
    }
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

void RunAxpyF32(const AxpyF32& sums)
{
    TENON_CHOOSE(AddAll)(sums);
}

bool IsBlockedAxpyFaster(size_t rows, size_t columns, size_t depth)
{
    constexpr size_t MinBytes = 16 * 1024 * 1024;
    constexpr size_t MaxManyRows = 8; // 1.2 times the time with a packed matrix
    return rows <= MaxManyRows && depth <= MaxSumDepth && columns * sizeof(float) * depth >= MinBytes;
}

void RunBlockedAxpyF32(const AxpyF32& sums)
{
    constexpr size_t SliceBytes = 256 * 1024;
    constexpr size_t Steps = 8; // of the depth, taken together by the loops
    const size_t maxDepth = SliceBytes / (sums.m_Columns * sizeof(float)) / Steps * Steps;
    const size_t depth = std::max(maxDepth, Steps);
    for (size_t k = 0; k < sums.m_Depth; k += depth)
    {
        for (size_t row = 0; row < sums.m_Rows; row += AxpyF32::MaxRows)
        {
            AxpyF32 some = sums;
            some.m_Data += row * sums.m_RowStep + k * sums.m_DepthStep;
            some.m_Weights += k * sums.m_WeightStride;
            some.m_Rows = std::min(AxpyF32::MaxRows, sums.m_Rows - row);
            some.m_Depth = std::min(depth, sums.m_Depth - k);
            some.m_Out += row * sums.m_OutStride;
            some.m_Accumulates = k != 0;
            RunAxpyF32(some);
        }
    }
}

} // namespace tenon::cpu
#endif
