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
struct DequantizedPanel
{
    const ImplicitGemmDequantizeInt8& m_Floats;
    alignas(64) int32_t m_Bias[MicrokernelSetInt8::MaxVectors * MicrokernelsInt8::MaxLanes]; ///< initial accumulators
};

/// Base of the tiles that ImplicitGemmTile makes.
struct ImplicitGemmDequantizeTile : PipelinedTile<Dot>
{
    template <size_t V, size_t Rows, size_t Vectors>
    static HWY_INLINE void EpilogueOfVector(const ImplicitGemmRowsInt8&, const DequantizedPanel& panel, size_t row,
                                            const Vector (&sums)[Rows][Vectors])
    {
        DequantizeVector<RowScalingInt8::None, true, V>(panel.m_Floats.m_Rows, panel.m_Floats.m_Columns, row, sums);
    }

    /// Nothing is left to store: each vector is written by its epilogue.
    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void Store(const ImplicitGemmRowsInt8&, const DequantizedPanel&, size_t,
                                 const Vector (&)[Rows][Vectors])
    {
    }

    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void Epilogue(const ImplicitGemmRowsInt8& of, const DequantizedPanel& panel, size_t row,
                                    const Vector (&sums)[Rows][Vectors])
    {
        EpilogueOfAll(of, panel, row, sums, std::make_index_sequence<Vectors>());
    }

private:
    template <size_t Rows, size_t Vectors, size_t... V>
    static HWY_INLINE void EpilogueOfAll(const ImplicitGemmRowsInt8& of, const DequantizedPanel& panel, size_t row,
                                         const Vector (&sums)[Rows][Vectors], std::index_sequence<V...>)
    {
        (EpilogueOfVector<V>(of, panel, row, sums), ...);
    }
};

/// The same where the last vector uses its lower half only.
struct ImplicitGemmDequantizeHalfVectorTile : HalfVectorTile<Dot, ImplicitGemmDequantizeTile>
{
    using Narrow = HalfVectorTile<Dot, ImplicitGemmDequantizeTile>;

    template <size_t Rows, size_t Vectors>
    static HWY_INLINE void Keep(const Narrow::Sums<Rows, Vectors>& sums, Vector (&kept)[Rows][Vectors])
    {
        Narrow::KeepWhole(sums, kept);
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            kept[r][Vectors - 1].raw = _mm512_castsi256_si512(sums.m_HalfVector[r]);
        }
    }
};

/// See MicrokernelSetInt8::m_ImplicitGemmDequantizeKernels.
template <size_t Vectors, size_t Rows>
void WriteImplicitGemmDequantized(const ImplicitGemmRowsInt8& rows, const ImplicitGemmDequantizeInt8& floats)
{
    alignas(64) static constexpr int32_t NoBias[MicrokernelSetInt8::MaxVectors * MicrokernelsInt8::MaxLanes] = {};
    DequantizedPanel panel = {floats, {}};
    BeginAtZeroPoint<Vectors>(NoBias, floats.m_Rows.m_ZeroPoints[0], floats.m_Columns.m_ColumnSums, panel.m_Bias);
    const bool isLastVectorHalf = IsLastVectorHalf(floats.m_Rows.m_Columns);
    WriteImplicitGemm<ImplicitGemmDequantizeTile, ImplicitGemmDequantizeHalfVectorTile, Vectors, Rows>(
        rows, panel, isLastVectorHalf);
}

void FillImplicitGemmDequantizeKernels(MicrokernelSetInt8& tiles)
{
    tiles.m_ImplicitGemmDequantizeKernels[1] = WriteImplicitGemmDequantized<1, 8>;
    tiles.m_ImplicitGemmDequantizeKernels[2] = WriteImplicitGemmDequantized<2, 8>;
    tiles.m_ImplicitGemmDequantizeKernels[3] = WriteImplicitGemmDequantized<3, 8>;
    tiles.m_ImplicitGemmDequantizeKernels[4] = WriteImplicitGemmDequantized<4, 6>;
}

#else

void FillImplicitGemmDequantizeKernels(MicrokernelSetInt8&) {}

#endif

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

void UseImplicitGemmDequantizeKernels(MicrokernelSetInt8& tiles)
{
    TENON_CHOOSE(FillImplicitGemmDequantizeKernels)(tiles);
}

} // namespace tenon::cpu
#endif
