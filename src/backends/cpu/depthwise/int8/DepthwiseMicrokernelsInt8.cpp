// SPDX-License-Identifier: Apache-2.0
// The int8 depthwise microkernels by instruction set, and the one for windows of any shape (SumPixels):
//   sum[p][c] = bias[c] + sum over taps t of dot(column[p * pixelStep + offset[t]][c], weights[t][c])
#include "backends/cpu/depthwise/int8/DepthwiseMicrokernelsInt8.hpp"

#include "backends/cpu/simd/Isa.hpp"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/depthwise/int8/DepthwiseMicrokernelsInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
//
#include "backends/cpu/depthwise/int8/BufferedRowsAvx512Int8-inl.hpp"
#include "backends/cpu/depthwise/int8/BufferedRowsInt8-inl.hpp"
#include "backends/cpu/gemm/kernels/DotProducts-inl.hpp"
#include "backends/cpu/simd/F32-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

/// Computes `Pixels` output pixels at once, so that a vector of weights is loaded once for all of them.
template <typename Dot, size_t Vectors, size_t Pixels>
HWY_INLINE void SumPixels(const BufferedRunInt8& run, size_t pixel)
{
    const Ints d;
    const size_t lanes = hn::Lanes(d);
    Vector acc[Pixels][Vectors];
    HWY_UNROLL(4)
    for (size_t p = 0; p < Pixels; ++p)
    {
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            acc[p][v] = hn::Load(d, run.m_Bias + v * lanes);
        }
    }
    const auto* weights = static_cast<const int32_t*>(run.m_Weights);
    const std::byte* columns = run.m_Columns + pixel * run.m_PixelStep;
    for (size_t tap = 0; tap < run.m_Taps; ++tap, weights += Vectors * lanes)
    {
        const auto* data = reinterpret_cast<const int32_t*>(columns + run.m_Offsets[tap]);
        const size_t step = run.m_PixelStep / sizeof(int32_t);
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            const Vector w = hn::Load(d, weights + v * lanes);
            HWY_UNROLL(4)
            for (size_t p = 0; p < Pixels; ++p)
            {
                Dot::Add(acc[p][v], hn::Load(d, data + p * step + v * lanes), w);
            }
        }
    }
    int32_t* sums = run.m_Sums + pixel * Vectors * lanes;
    HWY_UNROLL(4)
    for (size_t p = 0; p < Pixels; ++p)
    {
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            hn::Store(acc[p][v], d, sums + (p * Vectors + v) * lanes);
        }
    }
}

template <typename Dot, size_t Vectors>
void SumToInt32(const BufferedRunInt8& run)
{
    if (SumBySliding<Dot, Vectors>(run))
    {
        return;
    }
    // Vectors of sums in registers: 8 (two pixels) where there are sixteen registers, else 16 (four pixels).
    constexpr size_t Pixels = ManyRegisters ? 4 : 2;
    size_t pixel = 0;
    for (; pixel + Pixels <= run.m_Pixels; pixel += Pixels)
    {
        SumPixels<Dot, Vectors, Pixels>(run, pixel);
    }
    for (; pixel < run.m_Pixels; ++pixel)
    {
        SumPixels<Dot, Vectors, 1>(run, pixel);
    }
}

#if HWY_TARGET == HWY_AVX3
template <typename Dot, typename Scale, size_t Vectors>
bool SumToInt8By(const BufferedRunInt8& run, const BufferedOutputInt8& bytes)
{
    return SlideTermsToInt8<Dot, Scale, 1, Vectors>(run, bytes) ||
           SlideTermsToInt8<Dot, Scale, 2, Vectors>(run, bytes) ||
           WriteBufferedWindowsOf<Dot, Scale, 5, Vectors>(run, bytes) ||
           WriteBufferedWindowsOf<Dot, Scale, 7, Vectors>(run, bytes);
}

/// Whether SumToInt8By has a loop for the run; its conditions are the same.
bool IsSummedToInt8(const BufferedRunInt8& run)
{
    const auto isTaken = [](auto, size_t) {};
    return WriteByStride<1, 1, SlidingWindowColumns>(run, isTaken) ||
           WriteByStride<1, 2, SlidingWindowColumns>(run, isTaken) ||
           (run.m_Pixels >= BufferedWindowPixels &&
            (WriteByStride<WindowRowGroups, 1, 5>(run, isTaken) || WriteByStride<WindowRowGroups, 1, 7>(run, isTaken)));
}

/// See DepthwiseMicrokernelsInt8::m_SumToInt8.
template <typename Dot, size_t Vectors>
bool SumToInt8(const BufferedRunInt8& run, const BufferedOutputInt8& bytes)
{
    constexpr bool (*Functions[NumScalesInt8])(const BufferedRunInt8&, const BufferedOutputInt8&) = {
        SumToInt8By<Dot, OffsetScale, Vectors>, SumToInt8By<Dot, PlainScale, Vectors>,
        SumToInt8By<Dot, FloatScale, Vectors>};
    return Functions[static_cast<size_t>(bytes.m_Scale)](run, bytes);
}
#endif

template <typename Dot, size_t Chunks = 1>
void FillBufferedMicrokernels(DepthwiseMicrokernelsInt8& kernels)
{
    constexpr size_t VectorsPerChunk = HWY_TARGET == HWY_AVX3 ? 1 : HWY_TARGET == HWY_AVX2 ? 2 : 4;
    constexpr size_t Vectors = Chunks * VectorsPerChunk;
    if constexpr (Vectors <= 4)
    {
        kernels.m_SumToInt32[Chunks] = SumToInt32<Dot, Vectors>;
#if HWY_TARGET == HWY_AVX3
        if constexpr (std::is_same_v<Dot, VnniDataUnsigned>)
        {
            kernels.m_SumToInt8[Chunks] = SumToInt8<Dot, Vectors>;
            kernels.m_IsSummedToInt8 = IsSummedToInt8;
        }
#endif
        kernels.m_MaxChunks = Chunks;
        FillBufferedMicrokernels<Dot, Chunks + 1>(kernels);
    }
}

DepthwiseMicrokernelsInt8 MakeDepthwiseMicrokernelsInt8()
{
    DepthwiseMicrokernelsInt8 kernels;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
    const CpuFeatures& features = GetCpuFeatures();
    if (HWY_TARGET == HWY_AVX3 ? features.m_Avx512Vnni : features.m_AvxVnni)
    {
        kernels.m_Layout = WeightLayoutInt8::Int8x4;
        kernels.m_Interleave = InterleaveRowsInt8;
        kernels.m_InterleavesFullBlocks = HWY_TARGET == HWY_AVX3;
        FillBufferedMicrokernels<VnniDataUnsigned>(kernels);
#if HWY_TARGET == HWY_AVX3
        kernels.m_Lanes128 = 4;
#endif
        return kernels;
    }
#elif TENON_HAS_DOTS
    if (GetCpuFeatures().m_DotProd)
    {
        kernels.m_Layout = WeightLayoutInt8::Int8x4;
        kernels.m_TakesSigned = true;
        kernels.m_Interleave = InterleaveRowsInt8;
        FillBufferedMicrokernels<SignedDots>(kernels);
        return kernels;
    }
#endif
    kernels.m_Layout = WeightLayoutInt8::Int16x2;
    kernels.m_Interleave = InterleaveRowsInt16;
    FillBufferedMicrokernels<Int16x2>(kernels);
#if HWY_TARGET == HWY_AVX2
    kernels.m_Lanes128 = 2;
#endif
    return kernels;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const DepthwiseMicrokernelsInt8& GetDepthwiseMicrokernelsInt8()
{
    static constinit PerIsa<DepthwiseMicrokernelsInt8> kernels;
    return kernels.Get(
        []
        {
            DepthwiseMicrokernelsInt8 made = TENON_CHOOSE(MakeDepthwiseMicrokernelsInt8)();
            UseRowStrips(made);
            return made;
        });
}

} // namespace tenon::cpu
#endif
