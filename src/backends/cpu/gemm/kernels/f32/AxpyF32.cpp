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
void AddSteps(const SumsF32& sums, size_t k)
{
    const FloatTag d;
    const size_t lanes = hn::Lanes(d);
    Floats x[Rows][Steps];
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
    const bool begins = k == 0 && !sums.m_Continues;
    const auto add = [&](const auto& load, const auto& store, size_t column) HWY_ATTR
    {
        Floats total[Rows];
        HWY_UNROLL(4)
        for (size_t r = 0; r < Rows; ++r)
        {
            total[r] = begins ? hn::Zero(d) : load(sums.m_Out + r * sums.m_OutStride + column);
        }
        HWY_UNROLL(8)
        for (size_t s = 0; s < Steps; ++s)
        {
            const Floats w = load(weights + s * sums.m_WeightStride + column);
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
            [d](Floats v, float* to) HWY_ATTR { hn::StoreU(v, d, to); }, column);
    }
    if (const size_t rest = sums.m_Columns - column; rest != 0)
    {
        add([rest](const float* from) HWY_ATTR { return LoadSome(from, rest); },
            [rest](Floats v, float* to) HWY_ATTR { StoreSome(v, to, rest); }, column);
    }
}

/// Vectors of sums that stay in registers for the whole depth.
constexpr size_t HeldSums = ManyRegisters ? 24 : 8;

/// All sums of `Vectors` whole vectors of columns, in registers. Steps of the depth alternate between
/// `AccumulatorChains` independent sets of accumulators, which hides the latency of the multiply-adds.
template <size_t Rows, size_t Vectors>
void AddHeld(const SumsF32& sums)
{
    constexpr size_t Chains = Rows * Vectors >= 8 ? 1 : Rows * Vectors >= 4 ? 2 : 4;
    const FloatTag d;
    const size_t lanes = hn::Lanes(d);
    Floats totals[Chains][Rows][Vectors];
    HWY_UNROLL(4)
    for (size_t c = 0; c < Chains; ++c)
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
    const auto add = [&](size_t k, Floats(&total)[Rows][Vectors]) HWY_ATTR
    {
        const float* const weights = sums.m_Weights + k * sums.m_WeightStride;
        HWY_UNROLL(8)
        for (size_t v = 0; v < Vectors; ++v)
        {
            const Floats w = hn::LoadU(d, weights + v * lanes);
            HWY_UNROLL(4)
            for (size_t r = 0; r < Rows; ++r)
            {
                const Floats x = hn::Set(d, sums.m_Data[r * sums.m_RowStep + k * sums.m_DepthStep]);
                total[r][v] = hn::MulAdd(x, w, total[r][v]);
            }
        }
    };
    size_t k = 0;
    for (; k + Chains <= sums.m_Depth; k += Chains)
    {
        HWY_UNROLL(4)
        for (size_t c = 0; c < Chains; ++c)
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
            Floats total = totals[0][r][v];
            HWY_UNROLL(4)
            for (size_t c = 1; c < Chains; ++c)
            {
                total = hn::Add(total, totals[c][r][v]);
            }
            hn::StoreU(total, d, sums.m_Out + r * sums.m_OutStride + v * lanes);
        }
    }
}

/// Computes all sums with AddInRegisters if the columns are few whole vectors; returns whether it did.
template <size_t Rows, size_t Vectors = 1>
bool TryHeld(const SumsF32& sums)
{
    if constexpr (Vectors <= 8 && Rows * Vectors <= HeldSums)
    {
        if (sums.m_Columns == Vectors * hn::Lanes(FloatTag()) && !sums.m_Continues)
        {
            AddHeld<Rows, Vectors>(sums);
            return true;
        }
        return TryHeld<Rows, Vectors + 1>(sums);
    }
    return false;
}

template <size_t Rows>
void AddRows(const SumsF32& sums)
{
    if (TryHeld<Rows>(sums))
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

void AddSlice(const SumsF32& sums)
{
    static_assert(SumsF32::MostRows == 4);
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
void AddAll(const SumsF32& sums)
{
    constexpr size_t MostColumns = 1024;
    if (sums.m_Depth <= MaxSumDepth)
    {
        AddSlice(sums);
        return;
    }
    HWY_ALIGN float more[SumsF32::MostRows * MostColumns];
    for (size_t column = 0; column < sums.m_Columns; column += MostColumns)
    {
        SumsF32 slice = sums;
        slice.m_Columns = std::min(MostColumns, sums.m_Columns - column);
        float* const out = sums.m_Out + column;
        for (size_t k = 0; k < sums.m_Depth; k += MaxSumDepth)
        {
            slice.m_Data = sums.m_Data + k * sums.m_DepthStep;
            slice.m_Weights = sums.m_Weights + k * sums.m_WeightStride + column;
            slice.m_Depth = std::min(MaxSumDepth, sums.m_Depth - k);
            slice.m_Out = k == 0 ? out : more;
            slice.m_OutStride = k == 0 ? sums.m_OutStride : MostColumns;
            AddSlice(slice);
            for (size_t r = 0; k != 0 && r < sums.m_Rows; ++r)
            {
                float* const row = out + r * sums.m_OutStride;
                std::transform(row, row + slice.m_Columns, more + r * MostColumns, row, std::plus<>());
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

void RunSumsF32(const SumsF32& sums)
{
    TENON_CHOOSE(AddAll)(sums);
}

bool TakesManyRows(size_t rows, size_t columns, size_t depth)
{
    constexpr size_t LeastBytes = 16 * 1024 * 1024;
    constexpr size_t MostOfMany = 8; // 1.2 times the time with a packed matrix
    return rows <= MostOfMany && depth <= MaxSumDepth && columns * sizeof(float) * depth >= LeastBytes;
}

void RunSumsOfManyRows(const SumsF32& sums)
{
    constexpr size_t SliceBytes = 256 * 1024;
    constexpr size_t Steps = 8; // of the depth, taken together by the loops
    const size_t most = SliceBytes / (sums.m_Columns * sizeof(float)) / Steps * Steps;
    const size_t depth = std::max(most, Steps);
    for (size_t k = 0; k < sums.m_Depth; k += depth)
    {
        for (size_t row = 0; row < sums.m_Rows; row += SumsF32::MostRows)
        {
            SumsF32 some = sums;
            some.m_Data += row * sums.m_RowStep + k * sums.m_DepthStep;
            some.m_Weights += k * sums.m_WeightStride;
            some.m_Rows = std::min(SumsF32::MostRows, sums.m_Rows - row);
            some.m_Depth = std::min(depth, sums.m_Depth - k);
            some.m_Out += row * sums.m_OutStride;
            some.m_Continues = k != 0;
            RunSumsF32(some);
        }
    }
}

} // namespace tenon::cpu
#endif
