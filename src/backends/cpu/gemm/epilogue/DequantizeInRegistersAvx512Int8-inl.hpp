// SPDX-License-Identifier: Apache-2.0
// Dequantization of accumulators in registers, with AVX-512, and their initial values:
//   out = clamp(float(sum - zero point * column sum) * (row scale * column scale) + bias)
//
// Part of FusedEpilogueRowsAvx512Int8.cpp and ImplicitGemmKernelsInt8.cpp, which are compiled for each target
// (Foreach.hpp); included once a target.
#if defined(TENON_CPU_DEQUANTIZE_IN_REGISTERS_AVX512_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_DEQUANTIZE_IN_REGISTERS_AVX512_INT8_INL
#undef TENON_CPU_DEQUANTIZE_IN_REGISTERS_AVX512_INT8_INL
#else
#define TENON_CPU_DEQUANTIZE_IN_REGISTERS_AVX512_INT8_INL
#endif

#include "backends/cpu/gemm/kernels/DotProducts-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/simd/F32-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3

/// Initial accumulators of a panel where the data of all rows have this zero point; they replace `bias`.
template <size_t Vectors>
HWY_INLINE void BeginAtZeroPoint(const int32_t* bias, int32_t zeroPoint, const int32_t* weightSums, int32_t* begin)
{
    const Ints d;
    for (size_t i = 0; i < Vectors * hn::Lanes(d); i += hn::Lanes(d))
    {
        const Vector correction = hn::Mul(hn::Set(d, -zeroPoint), hn::Load(d, weightSums + i));
        hn::Store(hn::Add(hn::Load(d, bias + i), correction), d, begin + i);
    }
}

/// Parameters that rows of data have of their own.
enum class RowScalingInt8
{
    None, ///< none: all have one scale and zero point, and the initial accumulators include the zero point's correction
    Scale ///< a scale and a zero point
};

/// Dequantizes and writes one vector of columns. `HasOutputOffsets`: see DequantizeRows.
template <RowScalingInt8 Values, bool HasOutputOffsets, size_t V, size_t Rows, size_t Vectors>
HWY_INLINE void DequantizeVector(const DequantizeRows& of, const DequantizeColumns& panel, size_t row,
                                 const Vector (&sums)[Rows][Vectors])
{
    // Copies: a store to the output might change the originals for all the compiler knows, which would then be loaded
    // for each row.
    const DequantizeRows rows = of;
    const DequantizeColumns columns = panel;
    const Ints d;
    const TagF32 dFloat;
    const size_t lanes = hn::Lanes(d);
    const VecF32 columnScale = hn::Load(dFloat, columns.m_Scales + V * lanes);
    const VecF32 bias = hn::Load(dFloat, columns.m_Bias + V * lanes);
    const VecF32 sameScale = hn::Mul(hn::Set(dFloat, rows.m_Scales[0]), columnScale);
    HWY_UNROLL(16)
    for (size_t r = 0; r < Rows; ++r)
    {
        Vector sum = sums[r][V];
        VecF32 scale = sameScale;
        if constexpr (Values != RowScalingInt8::None)
        {
            const Vector weightSum = hn::Load(d, columns.m_ColumnSums + V * lanes);
            sum = hn::Sub(sum, hn::Mul(hn::Set(d, rows.m_ZeroPoints[row + r]), weightSum));
            scale = hn::Mul(hn::Set(dFloat, rows.m_Scales[row + r]), columnScale);
        }
        VecF32 real = hn::Add(hn::Mul(hn::ConvertTo(dFloat, sum), scale), bias);
        if (columns.m_HasClamp)
        {
            real = Clamped(real, hn::Set(dFloat, columns.m_Low), hn::Set(dFloat, columns.m_High));
        }
        float* const to =
            rows.m_Out + (HasOutputOffsets ? rows.m_OutputOffsets[row + r] : (row + r) * rows.m_OutStride) + V * lanes;
        V + 1 < Vectors ? hn::StoreU(real, dFloat, to) : StoreSome(real, to, rows.m_Columns - V * lanes);
    }
}

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
