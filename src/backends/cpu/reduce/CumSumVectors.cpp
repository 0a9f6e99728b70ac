// SPDX-License-Identifier: Apache-2.0
// The SIMD loops of CumSumVectors.hpp: a vector has a row in each lane, and blocks of rows are transposed when loaded
// and stored.
#include "backends/cpu/reduce/CumSumVectors.hpp"

#include "backends/reference/kernels/CumSum.hpp"

#include <cstdint>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/reduce/CumSumVectors.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: per target.
#include "backends/cpu/simd/TransposeBlocks-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

/// The running sums of four rows or fewer: a block of 16 bytes, or for Float32 in double precision one or two vectors
/// of doubles.
template <typename T, typename Sum>
struct BlockSums
{
    using D = hn::CappedTag<T, 16 / sizeof(T)>;
    using V = hn::Vec<D>;

    HWY_INLINE BlockSums() {} // GCC for Arm inlines no vector's constructor into an implicit one
    HWY_INLINE void Clear() { m_Sums = hn::Zero(D()); }
    /// Adds the elements to the sums; Begin replaces the sums by the elements.
    HWY_INLINE void Add(V elements) { m_Sums = hn::Add(m_Sums, elements); }
    HWY_INLINE void Begin(V elements) { m_Sums = elements; }
    HWY_INLINE V Get() const { return m_Sums; }
    HWY_INLINE void Store(T* to) const { hn::StoreU(m_Sums, D(), to); }

    V m_Sums;
};

#if HWY_HAVE_FLOAT64
using FourFloats = hn::CappedTag<float, 4>;

/// Four floats as doubles: all of them in one vector, or half `part` of them.
template <class D>
HWY_INLINE hn::Vec<D> WidenPart(D d, hn::Vec<FourFloats> elements, size_t part)
{
    if constexpr (hn::MaxLanes(D()) == 4)
    {
        return hn::PromoteTo(d, elements);
    }
    else
    {
        const hn::Half<FourFloats> half;
        return hn::PromoteTo(d, part == 0 ? hn::LowerHalf(half, elements) : hn::UpperHalf(half, elements));
    }
}

template <class D, size_t Parts>
HWY_INLINE hn::Vec<FourFloats> NarrowParts(D, const hn::Vec<D> (&parts)[Parts])
{
    if constexpr (Parts == 1)
    {
        return hn::DemoteTo(FourFloats(), parts[0]);
    }
    else
    {
        const hn::Half<FourFloats> half;
        return hn::Combine(FourFloats(), hn::DemoteTo(half, parts[1]), hn::DemoteTo(half, parts[0]));
    }
}

template <>
struct BlockSums<float, double>
{
    using V = hn::Vec<FourFloats>;
    using DSums = hn::CappedTag<double, 4>; // two vectors if vectors have 16 bytes
    static constexpr size_t Parts = 4 / hn::MaxLanes(DSums());

    HWY_INLINE BlockSums() {}
    HWY_INLINE void Clear()
    {
        HWY_UNROLL(2)
        for (size_t part = 0; part < Parts; ++part)
        {
            m_Sums[part] = hn::Zero(DSums());
        }
    }
    HWY_INLINE void Add(V elements)
    {
        HWY_UNROLL(2)
        for (size_t part = 0; part < Parts; ++part)
        {
            m_Sums[part] = hn::Add(m_Sums[part], WidenPart(DSums(), elements, part));
        }
    }
    HWY_INLINE void Begin(V elements)
    {
        HWY_UNROLL(2)
        for (size_t part = 0; part < Parts; ++part)
        {
            m_Sums[part] = WidenPart(DSums(), elements, part);
        }
    }
    HWY_INLINE V Get() const { return NarrowParts(DSums(), m_Sums); }
    HWY_INLINE void Store(double* to) const
    {
        HWY_UNROLL(2)
        for (size_t part = 0; part < Parts; ++part)
        {
            hn::StoreU(m_Sums[part], DSums(), to + part * hn::MaxLanes(DSums()));
        }
    }

    hn::Vec<DSums> m_Sums[Parts];
};
#endif

/// T is unsigned for integers, whose sums wrap. Sum is the type of the sums: T or wider.
template <typename T, typename Sum, bool Exclusive, bool Reverse>
struct RowSums
{
    static constexpr size_t BlockLanes = 16 / sizeof(T);
    // Rows side by side. Twice as many rows a power of two apart would not fit into the sets of the first-level cache.
    static constexpr size_t Rows = 4;
    static constexpr size_t Vectors = Rows / BlockLanes;

    const T* m_In;
    T* m_Out;
    size_t m_Length;

    /// The first element starts the sum: adding it to a zero might change the sign of a zero.
    HWY_INLINE Sum Start(size_t at) const
    {
        const T first = m_In[at];
        m_Out[at] = Exclusive ? T(0) : first;
        return Exclusive ? Sum(0) + Sum(first) : Sum(first);
    }

    HWY_INLINE void Continue(size_t at, Sum& sum) const
    {
        const Sum before = sum;
        sum += Sum(m_In[at]);
        m_Out[at] = static_cast<T>(Exclusive ? before : sum);
    }

    /// The index in memory of `count` contiguous elements, of which element i in the order of addition is the first to
    /// be added.
    HWY_INLINE size_t At(size_t i, size_t count = 1) const { return Reverse ? m_Length - count - i : i; }

    /// Processes one block of each of `Rows` rows; `sums` are the sums of all elements before it.
    template <bool IsFirst, class D>
    HWY_INLINE void AddBlocks(D d, size_t i, BlockSums<T, Sum> (&sums)[Vectors]) const
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
                const hn::Vec<D> before = Exclusive ? sums[vector].Get() : column;
                IsFirst && !Exclusive && k == 0 ? sums[vector].Begin(column) : sums[vector].Add(column);
                column = Exclusive ? before : sums[vector].Get();
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
        BlockSums<T, Sum> sums[Vectors];
        Sum rest[Rows];
        HWY_UNROLL(2)
        for (BlockSums<T, Sum>& sum : sums)
        {
            sum.Clear();
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
            sums[vector].Store(rest + vector * BlockLanes);
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
        Sum sums[Few];
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
        // Float vectors of 32-bit Arm flush subnormal numbers, and there are no vectors of doubles.
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

template <typename T, typename Sum = T>
void CumSum(const void* in, void* out, size_t rows, size_t length, bool exclusive, bool reverse)
{
    const auto* from = static_cast<const T*>(in);
    auto* to = static_cast<T*>(out);
    if (exclusive)
    {
        reverse ? RowSums<T, Sum, true, true>{from, to, length}.Run(rows)
                : RowSums<T, Sum, true, false>{from, to, length}.Run(rows);
        return;
    }
    reverse ? RowSums<T, Sum, false, true>{from, to, length}.Run(rows)
            : RowSums<T, Sum, false, false>{from, to, length}.Run(rows);
}

CumSumFunction ChooseCumSum(DataType type, size_t length)
{
    switch (type)
    {
    case DataType::Float32: return ref::IsCumSumInDouble(type, length) ? CumSum<float, double> : CumSum<float>;
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

CumSumFunction FindCumSum(DataType type, size_t length)
{
    return TENON_CHOOSE(ChooseCumSum)(type, length);
}

} // namespace tenon::cpu
#endif
