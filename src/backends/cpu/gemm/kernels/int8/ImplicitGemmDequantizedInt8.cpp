// SPDX-License-Identifier: Apache-2.0
// Implicit GEMM microkernels with a dequantizing epilogue (hybrid convolutions), by AVX-512 VNNI. See
// ImplicitGemmRowsInt8.
#include "backends/cpu/gemm/kernels/int8/ImplicitGemmKernelsInt8.hpp"
#include "backends/cpu/simd/Isa.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/kernels/int8/ImplicitGemmDequantizedInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/gemm/epilogue/DequantizeInRegistersAvx512Int8-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/ImplicitGemmTileAvx512Int8-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

#if HWY_TARGET == HWY_AVX3

using Dot = VnniDataUnsigned;

/// Parameters of a panel's epilogue.
struct FloatsOfPanel
{
    const ImageFloats8& m_Floats;
    alignas(64) int32_t m_Bias[TileSet8::MostVectors * Engine8::MostLanes]; ///< initial accumulators
};

/// Base of the tiles that ImplicitGemmTile makes.
struct FloatTileOfImage : TurnTile<Dot>
{
    template <size_t V, size_t Rows, size_t Vectors>
    static HWY_INLINE void EndVector(const ImageRows8&, const FloatsOfPanel& panel, size_t row,
                                     const Vector (&sums)[Rows][Vectors])
    {
        WriteFloats<RowValues8::None, true, V>(panel.m_Floats.m_Rows, panel.m_Floats.m_Columns, row, sums);
    }

    /// Nothing is left to store: each vector is written by its epilogue.
    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void Store(const ImageRows8&, const FloatsOfPanel&, size_t, const Vector (&)[Rows][Vectors])
    {
    }

    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void Finish(const ImageRows8& of, const FloatsOfPanel& panel, size_t row,
                                  const Vector (&sums)[Rows][Vectors])
    {
        EndAll(of, panel, row, sums, std::make_index_sequence<Vectors>());
    }

private:
    template <size_t Rows, size_t Vectors, size_t... V>
    static HWY_INLINE void EndAll(const ImageRows8& of, const FloatsOfPanel& panel, size_t row,
                                  const Vector (&sums)[Rows][Vectors], std::index_sequence<V...>)
    {
        (EndVector<V>(of, panel, row, sums), ...);
    }
};

/// The same where the last vector uses its lower half only.
struct NarrowFloatTileOfImage : NarrowTile<Dot, FloatTileOfImage>
{
    using Narrow = NarrowTile<Dot, FloatTileOfImage>;

    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void Keep(const Narrow::Sums<Rows, Vectors>& sums, Vector (&kept)[Rows][Vectors])
    {
        Narrow::KeepWhole(sums, kept);
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            kept[r][Vectors - 1].raw = _mm512_castsi256_si512(sums.m_Narrow[r]);
        }
    }
};

/// See TileSet8::m_WriteImageFloats.
template <size_t Vectors, size_t Rows>
void WriteImageFloats(const ImageRows8& rows, const ImageFloats8& floats)
{
    alignas(64) static constexpr int32_t NoBias[TileSet8::MostVectors * Engine8::MostLanes] = {};
    FloatsOfPanel panel = {floats, {}};
    BeginAtZeroPoint<Vectors>(NoBias, floats.m_Rows.m_ZeroPoints[0], floats.m_Columns.m_WeightSums, panel.m_Bias);
    const bool hasHalves = HasHalves(floats.m_Rows.m_Columns);
    WriteWindows<FloatTileOfImage, NarrowFloatTileOfImage, Vectors, Rows>(rows, panel, hasHalves);
}

void FillImageFloats(TileSet8& tiles)
{
    tiles.m_WriteImageFloats[1] = WriteImageFloats<1, 8>;
    tiles.m_WriteImageFloats[2] = WriteImageFloats<2, 8>;
    tiles.m_WriteImageFloats[3] = WriteImageFloats<3, 8>;
    tiles.m_WriteImageFloats[4] = WriteImageFloats<4, 6>;
}

#else

void FillImageFloats(TileSet8&) {}

#endif

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

void UseImageFloats(TileSet8& tiles)
{
    TENON_CHOOSE(FillImageFloats)(tiles);
}

} // namespace tenon::cpu
#endif
