// SPDX-License-Identifier: Apache-2.0
// Implicit GEMM microkernels with a requantizing epilogue, by AVX-512 VNNI. See ImplicitGemmRowsInt8.
#include "backends/cpu/gemm/kernels/int8/ImplicitGemmKernelsInt8.hpp"

#include "backends/cpu/simd/Isa.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/kernels/int8/ImplicitGemmKernelsInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/gemm/kernels/int8/HalfVectorTilesAvx512Int8-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/ImplicitGemmTileAvx512Int8-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/RequantizedTilesAvx512Int8-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

#if HWY_TARGET == HWY_AVX3

template <typename Scale, size_t Vectors, size_t Rows>
void WriteImageRows(const ImageRows8& rows, const ByteColumns8& columns)
{
    using Dot = VnniDataUnsigned;
    using Narrow = ByteNarrowTile<Dot, Scale, false>;
    WriteWindows<ByteTile<Dot, Scale, false>, Narrow, Vectors, Rows>(rows, columns, columns.m_HasHalves);
}

template <typename Scale>
void FillImageRows(ImageRowsFunction8 (&functions)[TileSet8::MostVectors + 1])
{
    functions[1] = WriteImageRows<Scale, 1, 8>;
    functions[2] = WriteImageRows<Scale, 2, 8>;
    functions[3] = WriteImageRows<Scale, 3, 8>;
    functions[4] = WriteImageRows<Scale, 4, 6>;
}

void FillImageTiles(TileSet8& tiles)
{
    FillImageRows<OffsetScale>(tiles.m_WriteImage[0]);
    FillImageRows<PlainScale>(tiles.m_WriteImage[1]);
}

#else

void FillImageTiles(TileSet8&) {}

#endif

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

void UseImageTiles(TileSet8& tiles)
{
    TENON_CHOOSE(FillImageTiles)(tiles);
}

} // namespace tenon::cpu
#endif
