// SPDX-License-Identifier: Apache-2.0
// Column strips of 3x3 float windows with AVX-512: up to four output columns and 32 rows, sliding down. Where image and
// output alias (addresses equal modulo the period), each vector is stored while the next one is computed, from a delay
// buffer whose lines avoid both (DelayBufferLines).
#if defined(TENON_CPU_COLUMN_STRIP_AVX512_F32_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_COLUMN_STRIP_AVX512_F32_INL
#undef TENON_CPU_COLUMN_STRIP_AVX512_F32_INL
#else
#define TENON_CPU_COLUMN_STRIP_AVX512_F32_INL
#endif

#include "backends/cpu/depthwise/float/RowStripF32-inl.hpp"

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3

/// Layout of the delay buffer, which holds a vector of the output until the next one is computed: a cache line for each
/// pixel, one below the other. Some lines of each period stay free, because loads wait for stores to them as well:
/// those of the image's vectors, and below them those of the output's, which belong to the vector before. Tensors that
/// do not start at a line boundary take one more line each. Example: a period of 1,024 bytes has 16 lines; with the
/// image's vector in line 8, or in 8 and 9, the output's is in 7, or in 6 and 7, and these four lines stay free. The
/// first pixel is kept in line 5, the next ones in lines 4 to 0, then in 15 to 10, and from the thirteenth on in the
/// same lines of the 1,024 bytes below.
struct DelayBufferLines
{
    static constexpr size_t Bytes = 64;
    static constexpr size_t Free = 4;
    static constexpr size_t First = 3; ///< lines from the image's vector down to the first kept pixel

    /// Lines of memory for `lines` kept ones and any period, rounded up to whole pages.
    static constexpr size_t CountMax(size_t lines)
    {
        constexpr size_t Shortest = DepthwiseColumnStrips::ShortestPeriod / Bytes;
        constexpr size_t Page = DepthwiseColumnStrips::Page / Bytes;
        return (lines / (Shortest - Free) * Shortest / Page + 2) * Page;
    }
};

/// Loads vectors of channels; stores each one while the next one is computed.
struct Delayed : FullVector
{
    /// `from`: the kept vector before, if there is one. `run`: lines between two sets of free ones.
    HWY_INLINE Delayed(const float* from, float* to, size_t run, bool hasBefore)
        : m_From(from), m_To(to), m_Run(run), m_Left(run), m_HasBefore(hasBefore)
    {
    }

    HWY_INLINE void Store(VecF32 values, float* to, bool)
    {
        if (m_HasBefore)
        {
            StoreBefore(to);
        }
        hn::Store(values, TagF32(), m_To);
        Next();
    }

    HWY_INLINE void StoreBefore(float* to) const { hn::StoreU(hn::Load(TagF32(), m_From), TagF32(), to); }

    HWY_INLINE void Next()
    {
        const bool isLast = --m_Left == 0;
        const size_t lines = isLast ? 1 + DelayBufferLines::Free : 1;
        m_Left = isLast ? m_Run : m_Left;
        m_From -= lines * hn::Lanes(TagF32());
        m_To -= lines * hn::Lanes(TagF32());
    }

    const float* m_From; ///< kept vector of the next pixel
    float* m_To;
    size_t m_Run;
    size_t m_Left; ///< lines left of the run
    bool m_HasBefore;
};

template <size_t Columns, size_t Stride>
HWY_INLINE void DelayedColumnStrip(const DepthwiseStripF32<float>& strip)
{
    constexpr size_t Lanes = HWY_LANES(float);
    static_assert(Lanes * sizeof(float) == DelayBufferLines::Bytes);
    constexpr size_t Below = DelayBufferLines::CountMax(DepthwiseColumnStrips::MaxRows * Columns);
    constexpr size_t Above = (DepthwiseColumnStrips::Page + DepthwiseColumnStrips::MaxBytes) / DelayBufferLines::Bytes;
    alignas(DepthwiseColumnStrips::Page) float kept[(Below + Above) * Lanes];
    const size_t place = reinterpret_cast<uintptr_t>(strip.m_Middle) % strip.m_Period;
    const size_t run = strip.m_Period / DelayBufferLines::Bytes - DelayBufferLines::Free;
    const float* from = kept;
    float* out = strip.m_Out;
    for (size_t channel = strip.m_FirstChannel; channel < strip.m_LastChannel; channel += Lanes)
    {
        // A vector begins no lower than the one before, and overwrites its lines after they have been stored.
        const size_t line = (place + (channel - strip.m_FirstChannel) * sizeof(float)) / DelayBufferLines::Bytes;
        float* const to = kept + (Below + line - DelayBufferLines::First) * Lanes;
        SlidingStripF32<Columns, Stride, SlideDirection::Down, float, Delayed>(
            strip, channel, strip.m_Weights + channel * 9, out, Delayed(from, to, run, channel != strip.m_FirstChannel))
            .Run();
        from = to;
        out = strip.m_Out + channel;
    }
    Delayed last(from, kept + Below * Lanes, run, true);
    const size_t windows = strip.m_WholeWindows + (strip.m_IsLastWindowCut ? 1 : 0);
    for (size_t i = 0; i < windows; ++i, out += strip.m_OutPixelStep)
    {
        for (size_t c = 0; c < Columns; ++c, last.Next())
        {
            last.StoreBefore(out + c * strip.m_OutRowStep);
        }
    }
}

template <size_t Columns, size_t Stride>
void ColumnStrip(const DepthwiseStripF32<float>& strip)
{
    constexpr size_t Lanes = HWY_LANES(float);
    if (strip.m_Period != 0)
    {
        DelayedColumnStrip<Columns, Stride>(strip);
        return;
    }
    for (size_t channel = strip.m_FirstChannel; channel < strip.m_LastChannel; channel += Lanes)
    {
        SlidingStripF32<Columns, Stride, SlideDirection::Down, float, FullVector>(
            strip, channel, strip.m_Weights + channel * 9, strip.m_Out + channel, FullVector())
            .Run();
    }
}

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
