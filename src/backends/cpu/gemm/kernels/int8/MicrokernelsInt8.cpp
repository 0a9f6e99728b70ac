// SPDX-License-Identifier: Apache-2.0
// The table of int8 microkernels and row loops that each target has.
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"

#include "backends/cpu/gemm/kernels/int8/RegisterMicrokernelsInt8.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
//
#include "backends/cpu/gemm/epilogue/EpilogueInt8-inl.hpp"
#include "backends/cpu/gemm/kernels/DotProducts-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/FusedEpilogueRowsAvx512Int8-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/PmaddubswTilesInt8-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/TilesInt4-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/UnpackedDotsInt8-inl.hpp"
#include "backends/cpu/gemm/pack/RowLoopsInt8-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

namespace
{

#if HWY_TARGET == HWY_AVX3
template <typename Dot>
void FillTilesOf512(MicrokernelSetInt8& tiles)
{
    FillTiles<DotTile<Dot>, 1, 8>(tiles);
    FillTiles<DotTile<Dot>, 2, 8>(tiles);
    FillTiles<DotTile<Dot>, 3, 8>(tiles);
    FillTiles<DotTile<Dot>, 4, 6>(tiles);
}
#endif

template <typename Dot>
void FillPairs(WeightLayoutInt8 layout, MicrokernelSetInt8& tiles)
{
    // Sixteen registers hold 12 accumulators, 2 vectors of weights, the data and a product.
    constexpr size_t Rows = ManyRegisters ? 8 : 6;
    tiles.m_Layout = layout;
    tiles.m_Signs = OperandSignsInt8::BothSigned;
    FillTiles<DotTile<Dot>, 1, 8>(tiles);
    FillTiles<DotTile<Dot>, 2, Rows>(tiles);
}

MicrokernelsInt8 MakeMicrokernels()
{
    MicrokernelsInt8 microkernels;
    microkernels.m_Lanes = hn::Lanes(Ints());
    microkernels.m_Requantize = Requantize;
    microkernels.m_SumRows = SumRows;
    microkernels.m_Widen = Widen;
    microkernels.m_SignXor = SignXor;
    microkernels.m_Dequantize = Dequantize;
    UseQuantizeLoops(microkernels);
#if HWY_TARGET == HWY_AVX3
    microkernels.m_Unsigned.m_Signs = OperandSignsInt8::DataUnsigned;
    microkernels.m_PrepareRequantization = PrepareRequantization;
    if (GetCpuFeatures().m_Avx512Vnni)
    {
        FillTilesInt4<VnniDataSigned>(microkernels.m_Int4);
        SetUnpackedDots(microkernels);
    }
    if (GetCpuFeatures().m_AmxInt8)
    {
        UseAmx(microkernels);
    }
    else if (GetCpuFeatures().m_Avx512Vnni)
    {
        microkernels.m_Signed.m_IsDataBiased = GetCpuFeatures().m_HasSparePorts;
        if (microkernels.m_Signed.m_IsDataBiased)
        {
            microkernels.m_Signed.m_Signs = OperandSignsInt8::DataUnsigned;
            FillTilesOf512<VnniDataBiased>(microkernels.m_Signed);
            FillRequantizedRows<VnniDataBiased, false>(microkernels.m_Signed);
            UseImplicitGemmKernels(microkernels.m_Signed);
        }
        else
        {
            FillTilesOf512<VnniDataSigned>(microkernels.m_Signed);
            FillRequantizedRows<VnniDataSigned, true>(microkernels.m_Signed);
        }
        microkernels.m_Hybrid.m_Signs = OperandSignsInt8::DataUnsigned;
        microkernels.m_Hybrid.m_IsDataBiased = microkernels.m_Hybrid.m_IsQuantizedDataBiased = true;
        FillTilesOf512<VnniDataUnsigned>(microkernels.m_Hybrid);
        FillDequantizedRows<VnniDataUnsigned>(microkernels.m_Hybrid);
        if (microkernels.m_Signed.m_IsDataBiased)
        {
            UseImplicitGemmDequantizeKernels(microkernels.m_Hybrid);
        }
        FillTilesOf512<VnniDataUnsigned>(microkernels.m_Unsigned);
        FillRequantizedRows<VnniDataUnsigned, false>(microkernels.m_Unsigned);
        FillRequantizedRows<VnniDataUnsigned, true>(microkernels.m_Unsigned);
    }
#elif HWY_TARGET == HWY_AVX2
    microkernels.m_Unsigned.m_Signs = OperandSignsInt8::DataUnsigned;
    if (GetCpuFeatures().m_AvxVnni)
    {
        FillTiles<DotTile<VnniDataSigned>, 1, 8>(microkernels.m_Signed);
        FillTiles<DotTile<VnniDataSigned>, 2, 6>(microkernels.m_Signed);
        FillTiles<DotTile<VnniDataUnsigned>, 1, 8>(microkernels.m_Unsigned);
        FillTiles<DotTile<VnniDataUnsigned>, 2, 6>(microkernels.m_Unsigned);
        FillTilesInt4<VnniDataSigned>(microkernels.m_Int4);
        SetUnpackedDots(microkernels);
    }
#elif HWY_TARGET == HWY_NEON
    if (GetCpuFeatures().m_I8mm)
    {
        UseI8mm(microkernels);
    }
    else if (GetCpuFeatures().m_DotProd)
    {
        UseDotProd(microkernels);
    }
#if HWY_ARCH_ARM_A64
    if (GetCpuFeatures().m_DotProd)
    {
        FillTilesInt4<SignedDots>(microkernels.m_Int4);
    }
#endif
#endif
    if (microkernels.m_Signed.m_Vectors == 0)
    {
        FillPairs<Int16x2>(WeightLayoutInt8::Int16x2, microkernels.m_Signed);
        FillPairs<Int8x2>(WeightLayoutInt8::Int8x2, microkernels.m_Int8x2);
        microkernels.m_Int8x2.m_GroupUnit = 2;
        microkernels.m_Unsigned = microkernels.m_Signed;
        FillTilesInt4<PairsInt4>(microkernels.m_Int4);
        FillOneRowInt4<PairsInt4>(microkernels.m_OneRowInt4);
#if HWY_ARCH_X86
        FillSplitTiles<true>(microkernels.m_SplitSigned);
        FillSplitTiles<false>(microkernels.m_SplitUnsigned);
        FillPermutedTiles(microkernels.m_Permuted);
        microkernels.m_MakeComplementBlocks = MakeComplementBlocks;
#endif
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
        microkernels.m_SignTransfer.m_Signs = OperandSignsInt8::BothSigned;
        FillTiles<DotTile<SignedBytes>, 1, 4>(microkernels.m_SignTransfer);
        FillTiles<DotTile<SignedBytes>, 2, 4>(microkernels.m_SignTransfer);
        FillTiles<DotTile<SignedBytes>, 3, 3>(microkernels.m_SignTransfer);
        FillTiles<DotTile<SignedBytes>, 4, 2>(microkernels.m_SignTransfer);
        microkernels.m_SignTransferUnsigned = microkernels.m_SignTransfer;
        microkernels.m_SignTransferUnsigned.m_IsDataBiased = true;
        microkernels.m_SignTransferUnsigned.m_IsPackedDataBiased = true;
#endif
#if HWY_TARGET == HWY_AVX2
        SetUnpackedSigns(microkernels);
#endif
    }
    // Dot products of 8-bit weights are as fast as those of 4-bit weights, whose only gain is fewer bytes from memory.
    constexpr size_t FewRows = 4;
    microkernels.m_MaxRowsInt4 =
        microkernels.m_Signed.m_Layout == WeightLayoutInt8::Int8x4 ? FewRows : std::numeric_limits<size_t>::max();
    return microkernels;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const MicrokernelsInt8& GetMicrokernelsInt8()
{
    static constinit PerIsa<MicrokernelsInt8> microkernels;
    return microkernels.Get([] { return TENON_CHOOSE(MakeMicrokernels)(); });
}

} // namespace tenon::cpu
#endif
