// SPDX-License-Identifier: Apache-2.0
// The table of int8 microkernels and row loops that each target has.
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"

#include "backends/cpu/gemm/kernels/int8/AmxMicrokernelsInt8.hpp"
#include "backends/cpu/gemm/kernels/int8/ArmMicrokernelsInt8.hpp"
#include "backends/cpu/gemm/kernels/int8/ImplicitGemmKernelsInt8.hpp"
#include "backends/cpu/gemm/pack/QuantizeLoopsInt8.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
//
#include "backends/cpu/gemm/epilogue/RequantizeInt8-inl.hpp"
#include "backends/cpu/gemm/epilogue/RowLoopsInt8-inl.hpp"
#include "backends/cpu/gemm/kernels/DotProducts-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/DequantizedRowsAvx512Int8-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/DotTileInt8-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/PermutedTilesInt8-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/RequantizedRowsAvx512Int8-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/SplitTilesInt8-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/TilesInt4-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/UnpackedDotsInt8-inl.hpp"
#include "backends/cpu/gemm/pack/RowSumsInt8-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

namespace
{

#if HWY_TARGET == HWY_AVX3
template <typename Dot>
void FillTilesOf512(TileSet8& tiles)
{
    FillTiles<DotTile<Dot>, 1, 8>(tiles);
    FillTiles<DotTile<Dot>, 2, 8>(tiles);
    FillTiles<DotTile<Dot>, 3, 8>(tiles);
    FillTiles<DotTile<Dot>, 4, 6>(tiles);
}
#endif

template <typename Dot>
void FillPairs(Layout8 layout, TileSet8& tiles)
{
    // Sixteen registers hold 12 accumulators, 2 vectors of weights, the data and a product.
    constexpr size_t Rows = ManyRegisters ? 8 : 6;
    tiles.m_Layout = layout;
    tiles.m_Signs = Signs8::BothSigned;
    FillTiles<DotTile<Dot>, 1, 8>(tiles);
    FillTiles<DotTile<Dot>, 2, Rows>(tiles);
}

Engine8 MakeEngine()
{
    Engine8 engine;
    engine.m_Lanes = hn::Lanes(Ints());
    engine.m_Requantize = Requantize;
    engine.m_SumRows = SumRows;
    engine.m_Widen = Widen;
    engine.m_Flip = Flip;
    engine.m_ToFloats = ToFloats;
    UseQuantizeLoops(engine);
#if HWY_TARGET == HWY_AVX3
    engine.m_Unsigned.m_Signs = Signs8::DataUnsigned;
    engine.m_PrepareColumns = PrepareColumns;
    if (GetCpuFeatures().m_Avx512Vnni)
    {
        FillNibbleTiles<VnniDataSigned>(engine.m_Nibbles);
        SetStoredDots(engine);
    }
    if (GetCpuFeatures().m_AmxInt8)
    {
        UseAmx(engine);
    }
    else if (GetCpuFeatures().m_Avx512Vnni)
    {
        engine.m_Signed.m_FlipsData = GetCpuFeatures().m_HasSparePorts;
        if (engine.m_Signed.m_FlipsData)
        {
            engine.m_Signed.m_Signs = Signs8::DataUnsigned;
            FillTilesOf512<VnniDataFlipped>(engine.m_Signed);
            FillByteRows<VnniDataFlipped, false>(engine.m_Signed);
            UseImageTiles(engine.m_Signed);
        }
        else
        {
            FillTilesOf512<VnniDataSigned>(engine.m_Signed);
            FillByteRows<VnniDataSigned, true>(engine.m_Signed);
        }
        engine.m_OfFloats.m_Signs = Signs8::DataUnsigned;
        engine.m_OfFloats.m_FlipsData = engine.m_OfFloats.m_FlipsFloats = true;
        FillTilesOf512<VnniDataUnsigned>(engine.m_OfFloats);
        FillFloatRows<VnniDataUnsigned>(engine.m_OfFloats);
        if (engine.m_Signed.m_FlipsData)
        {
            UseImageFloats(engine.m_OfFloats);
        }
        FillTilesOf512<VnniDataUnsigned>(engine.m_Unsigned);
        FillByteRows<VnniDataUnsigned, false>(engine.m_Unsigned);
        FillByteRows<VnniDataUnsigned, true>(engine.m_Unsigned);
    }
#elif HWY_TARGET == HWY_AVX2
    engine.m_Unsigned.m_Signs = Signs8::DataUnsigned;
    if (GetCpuFeatures().m_AvxVnni)
    {
        FillTiles<DotTile<VnniDataSigned>, 1, 8>(engine.m_Signed);
        FillTiles<DotTile<VnniDataSigned>, 2, 6>(engine.m_Signed);
        FillTiles<DotTile<VnniDataUnsigned>, 1, 8>(engine.m_Unsigned);
        FillTiles<DotTile<VnniDataUnsigned>, 2, 6>(engine.m_Unsigned);
        FillNibbleTiles<VnniDataSigned>(engine.m_Nibbles);
        SetStoredDots(engine);
    }
#elif HWY_TARGET == HWY_NEON
    if (GetCpuFeatures().m_I8mm)
    {
        UseI8mm(engine);
    }
    else if (GetCpuFeatures().m_DotProd)
    {
        UseDotProd(engine);
    }
#if HWY_ARCH_ARM_A64
    if (GetCpuFeatures().m_DotProd)
    {
        FillNibbleTiles<SignedDots>(engine.m_Nibbles);
    }
#endif
#endif
    if (engine.m_Signed.m_Vectors == 0)
    {
        FillPairs<WidePairs>(Layout8::WidePairs, engine.m_Signed);
        FillPairs<NarrowPairs>(Layout8::NarrowPairs, engine.m_Narrow);
        engine.m_Narrow.m_GroupUnit = 2;
        engine.m_Unsigned = engine.m_Signed;
        FillNibbleTiles<NibblePairs>(engine.m_Nibbles);
        FillNibblesOfOneRow<NibblePairs>(engine.m_OneRowNibbles);
#if HWY_ARCH_X86
        FillSplitTiles<true>(engine.m_SplitSigned);
        FillSplitTiles<false>(engine.m_SplitUnsigned);
        FillPermutedTiles(engine.m_Permuted);
        engine.m_MakeWindows = MakeWindows;
#endif
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
        engine.m_FewRows.m_Signs = Signs8::BothSigned;
        FillTiles<DotTile<SignedBytes>, 1, 4>(engine.m_FewRows);
        FillTiles<DotTile<SignedBytes>, 2, 4>(engine.m_FewRows);
        FillTiles<DotTile<SignedBytes>, 3, 3>(engine.m_FewRows);
        FillTiles<DotTile<SignedBytes>, 4, 2>(engine.m_FewRows);
        engine.m_FewRowsUnsigned = engine.m_FewRows;
        engine.m_FewRowsUnsigned.m_FlipsData = true;
        engine.m_FewRowsUnsigned.m_FlipsRows = true;
#endif
#if HWY_TARGET == HWY_AVX2
        SetStoredSigns(engine);
#endif
    }
    // Dot products of 8-bit weights are as fast as those of 4-bit weights, whose only gain is fewer bytes from memory.
    constexpr size_t FewRows = 4;
    engine.m_NibbleRows = engine.m_Signed.m_Layout == Layout8::Dots ? FewRows : std::numeric_limits<size_t>::max();
    return engine;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const Engine8& GetEngine8()
{
    static constinit PerIsa<Engine8> engine;
    return engine.Get([] { return TENON_CHOOSE(MakeEngine)(); });
}

} // namespace tenon::cpu
#endif
