// SPDX-License-Identifier: Apache-2.0
// Sums of rows whose elements must be added up in order, so that each addition waits for the one before: a vector has a
// row in each lane. Blocks of them are transposed on their way in and out.
#include "backends/cpu/kernels/CumSumVectors.hpp"

#include <cstdint>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/CumSumVectors.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: per target.
#include "backends/cpu/simd/TransposeBlocks-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

/// T: unsigned for integers, whose sums wrap.
template <typename T, bool Exclusive, bool Reverse>
struct RowSums
{
    static constexpr size_t BlockLanes = 16 / sizeof(T);
    // Side by side: lines of twice as many, a power of two apart, have no place in the first-level cache.
    static constexpr size_t Rows = 4;
    static constexpr size_t Vectors = Rows / BlockLanes;

    const T* m_In;
    T* m_Out;
    size_t m_Length;

    /// Behind the first element: what is added to a zero may change its sign, so that none is put in front.
    HWY_INLINE T Start(size_t at) const
    {
        const T first = m_In[at];
        m_Out[at] = Exclusive ? T(0) : first;
        return Exclusive ? T(0) + first : first;
    }

    HWY_INLINE void Continue(size_t at, T& sum) const
    {
        const T before = sum;
        sum += m_In[at];
        m_Out[at] = Exclusive ? before : sum;
    }

    /// Where `count` elements start of which the first one to be added is the i-th.
    HWY_INLINE size_t At(size_t i, size_t count = 1) const { return Reverse ? m_Length - count - i : i; }

    /// A block of each of `Rows` rows, whose sums up to it are `sums`.
    template <bool IsFirst, class D>
    HWY_INLINE void AddBlocks(D d, size_t i, hn::Vec<D> (&sums)[Vectors]) const
    {
        HWY_UNROLL(2)
        for (size_t vector = 0; vector < Vectors; ++vector)
        {
            const size_t at = vector * BlockLanes * m_Length + At(i, BlockLanes);
            hn::Vec<D> block[BlockLanes];
            HWY_UNROLL(4)
            for (size_t row = 0; row < BlockLanes; ++row)
            {
                block[row] = hn::LoadU(d, m_In + at + row * m_Length);
            }
            TransposeBlocks(d, block);
            HWY_UNROLL(4)
            for (size_t k = 0; k < BlockLanes; ++k)
            {
                hn::Vec<D>& column = block[Reverse ? BlockLanes - 1 - k : k];
                const hn::Vec<D> before = sums[vector];
                sums[vector] = IsFirst && !Exclusive && k == 0 ? column : hn::Add(before, column);
                column = Exclusive ? before : sums[vector];
            }
            TransposeBlocks(d, block);
            HWY_UNROLL(4)
            for (size_t row = 0; row < BlockLanes; ++row)
            {
                hn::StoreU(block[row], d, m_Out + at + row * m_Length);
            }
        }
    }

    template <class D>
    HWY_INLINE void AddRows(D d) const
    {
        hn::Vec<D> sums[Vectors];
        T rest[Rows];
        HWY_UNROLL(2)
        for (hn::Vec<D>& sum : sums)
        {
            sum = hn::Zero(d);
        }
        AddBlocks<true>(d, 0, sums);
        size_t i = BlockLanes;
        for (; i + BlockLanes <= m_Length; i += BlockLanes)
        {
            AddBlocks<false>(d, i, sums);
        }
        HWY_UNROLL(2)
        for (size_t vector = 0; vector < Vectors; ++vector)
        {
            hn::StoreU(sums[vector], d, rest + vector * BlockLanes);
        }
        for (; i < m_Length; ++i)
        {
            for (size_t row = 0; row < Rows; ++row)
            {
                Continue(row * m_Length + At(i), rest[row]);
            }
        }
    }

    template <size_t Few>
    HWY_INLINE void AddFewRows() const
    {
        T sums[Few];
        for (size_t row = 0; row < Few; ++row)
        {
            sums[row] = Start(row * m_Length + At(0));
        }
        for (size_t i = 1; i < m_Length; ++i)
        {
            for (size_t row = 0; row < Few; ++row)
            {
                Continue(row * m_Length + At(i), sums[row]);
            }
        }
    }

    HWY_INLINE void Skip(size_t& rows, size_t count)
    {
        rows -= count;
        m_In += count * m_Length;
        m_Out += count * m_Length;
    }

    void Run(size_t rows)
    {
        // Vectors of floats of 32-bit Arm have no subnormal numbers, and there are none of doubles.
        constexpr bool HasVectors = !(HWY_ARCH_ARM_V7 && std::is_floating_point_v<T>);
        if constexpr (HasVectors)
        {
            if (m_Length >= BlockLanes)
            {
                for (; rows >= Rows; Skip(rows, Rows))
                {
                    AddRows(hn::CappedTag<T, BlockLanes>());
                }
            }
        }
        constexpr size_t Few = HasVectors ? 2 : 8;
        for (; rows >= Few; Skip(rows, Few))
        {
            AddFewRows<Few>();
        }
        for (; rows != 0; Skip(rows, 1))
        {
            AddFewRows<1>();
        }
    }
};

template <typename T>
void CumSum(const void* in, void* out, size_t rows, size_t length, bool exclusive, bool reverse)
{
    const auto* from = static_cast<const T*>(in);
    auto* to = static_cast<T*>(out);
    if (exclusive)
    {
        reverse ? RowSums<T, true, true>{from, to, length}.Run(rows)
                : RowSums<T, true, false>{from, to, length}.Run(rows);
        return;
    }
    reverse ? RowSums<T, false, true>{from, to, length}.Run(rows)
            : RowSums<T, false, false>{from, to, length}.Run(rows);
}

CumSumFunction ChooseCumSum(DataType type)
{
    switch (type)
    {
    case DataType::Float32: return CumSum<float>;
    case DataType::Float64: return CumSum<double>;
    case DataType::Signed32: return CumSum<uint32_t>;
    default: return CumSum<uint64_t>;
    }
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

CumSumFunction FindCumSum(DataType type)
{
    return TENON_CHOOSE(ChooseCumSum)(type);
}

} // namespace tenon::cpu
#endif
