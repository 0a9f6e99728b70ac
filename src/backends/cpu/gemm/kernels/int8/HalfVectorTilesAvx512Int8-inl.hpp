// SPDX-License-Identifier: Apache-2.0
// AVX-512 tiles whose last vector of columns uses its lower half only: HalfVectorTile multiplies that half by 256-bit
// instructions, for processors that execute 512-bit instructions as two. RequantizedHalfVectorTile requantizes it.
//
// Part of MicrokernelsInt8.cpp, ImplicitGemmKernelsInt8.cpp and ImplicitGemmDequantizedInt8.cpp, which are compiled for
// each target (Foreach.hpp); included once a target.
#if defined(TENON_CPU_HALF_VECTOR_TILES_AVX512_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_HALF_VECTOR_TILES_AVX512_INT8_INL
#undef TENON_CPU_HALF_VECTOR_TILES_AVX512_INT8_INL
#else
#define TENON_CPU_HALF_VECTOR_TILES_AVX512_INT8_INL
#endif

#include "backends/cpu/gemm/kernels/int8/RequantizedTilesAvx512Int8-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3

/// Smallest number of groups for which half-vector tiles are faster. They are made for software pipelining only.
constexpr size_t MinGroupsOfHalfVector = 4;

/// A tile that multiplies the lower half of its last vector only.
template <typename Dot, typename Base>
struct HalfVectorTile : Base
{
    template <size_t Rows>
    using Products = typename Base::template Products<Rows>;

    template <size_t Rows, size_t Vectors>
    struct Sums
    {
        Vector m_Whole[Rows][Vectors]; // the last vector is the initial value of m_HalfVector
        __m256i m_HalfVector[Rows];
    };

    /// Initializes the half vectors from the whole ones.
    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void BeginHalfVector(Sums<Rows, Vectors>& sums)
    {
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            sums.m_HalfVector[r] = _mm512_castsi512_si256(sums.m_Whole[r][Vectors - 1].raw);
        }
    }

    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void BeginSums(const int32_t* bias, Sums<Rows, Vectors>& sums)
    {
        Base::BeginSums(bias, sums.m_Whole);
        BeginHalfVector(sums);
    }

    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void AddGroups(size_t end, Products<Rows>& at, Sums<Rows, Vectors>& sums)
    {
        for (; at.m_Group < end; ++at.m_Group)
        {
            AddOne(at.m_Rows, 4 * at.m_Group, at.m_Weights, sums);
        }
    }

    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void AddOne(const uint8_t* const (&rows)[Rows], size_t from, const std::byte*& weights,
                                  Sums<Rows, Vectors>& sums)
    {
        AddHalfVectorGroup<Dot>([&](size_t r) HWY_ATTR { return rows[r] + from; }, weights, sums.m_Whole,
                                sums.m_HalfVector);
    }

    /// Keeps all vectors but the last one.
    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void KeepWhole(const Sums<Rows, Vectors>& sums, Vector (&kept)[Rows][Vectors])
    {
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            HWY_UNROLL(4)
            for (size_t v = 0; v + 1 < Vectors; ++v)
            {
                kept[r][v] = sums.m_Whole[r][v];
            }
        }
    }
};

/// In the epilogue, which runs between the products of the next tile, two rows share a vector for the last columns.
template <typename Dot, typename Scale, bool HasTerms>
struct RequantizedHalfVectorTile : HalfVectorTile<Dot, RequantizedTile<Dot, Scale, HasTerms>>
{
    using Tile = RequantizedTile<Dot, Scale, HasTerms>;
    using Narrow = HalfVectorTile<Dot, Tile>;

    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void Begin(const RequantizedRowsInt8& of, const PreparedRequantizationInt8& columns, size_t row,
                                 typename Tile::template Products<Rows>& at,
                                 typename Narrow::template Sums<Rows, Vectors>& sums)
    {
        Tile::Begin(of, columns, row, at, sums.m_Whole);
        Narrow::BeginHalfVector(sums);
    }

    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void Keep(const typename Narrow::template Sums<Rows, Vectors>& sums,
                                Vector (&kept)[Rows][Vectors])
    {
        static_assert(Rows % 2 == 0);
        Narrow::KeepWhole(sums, kept);
        HWY_UNROLL(8)
        for (size_t r = 0; r < Rows; r += 2)
        {
            kept[r][Vectors - 1].raw =
                _mm512_inserti64x4(_mm512_castsi256_si512(sums.m_HalfVector[r]), sums.m_HalfVector[r + 1], 1);
        }
    }

    template <size_t V, typename Of, size_t Rows, size_t Vectors>
    static HWY_INLINE void EpilogueOfVector(const Of& of, const PreparedRequantizationInt8& columns, size_t row,
                                            Vector (&sums)[Rows][Vectors])
    {
        if constexpr (V + 1 < Vectors)
        {
            Tile::template EpilogueOfVector<V>(of, columns, row, sums);
        }
        else
        {
            Tile::template EpilogueOfHalves<V>(of, columns, row, sums);
        }
    }
};

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
