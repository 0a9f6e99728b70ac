// SPDX-License-Identifier: Apache-2.0
// Strips of 3x3 float windows with AVX-512 or AVX2: a vector of channels slides over the image, its nine weights in
// registers, and each pixel is loaded once for all windows. One class (SlidingStripF32) slides both ways:
//   row strips: over the width of the image, one or two output rows
//   column strips (AVX-512): down, up to four output columns and 32 rows. Where image and output alias (addresses equal
//   modulo the period), each vector is stored while the next one is computed, from a delay buffer whose lines avoid
//   both (DelayBufferLines).
#if defined(TENON_CPU_STRIP_F32_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_STRIP_F32_INL
#undef TENON_CPU_STRIP_F32_INL
#else
#define TENON_CPU_STRIP_F32_INL
#endif

#include "backends/cpu/depthwise/float/TileEpilogueF32-inl.hpp"
#include "backends/cpu/simd/QuantizeF32-inl.hpp"

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2

enum class SlideDirection
{
    Across,
    AcrossScaling, ///< hybrid: whole-number sums are scaled
    Down           ///< column strips: rows and columns are exchanged
};

/// Slides over `Rows` output rows, whose windows are `Stride` image rows apart. `out`: the vector of the first output
/// pixel.
template <size_t Rows, size_t Stride, SlideDirection Direction, typename T, typename Memory>
class SlidingStripF32
{
public:
    HWY_INLINE SlidingStripF32(const DepthwiseStripF32<T>& strip, size_t channel, const float* weights, T* out,
                               const Memory& memory)
        : m_Strip(strip), m_Memory(memory), m_Top(strip.m_Top + (channel - strip.m_FirstChannel)),
          m_Middle(strip.m_Middle + (channel - strip.m_FirstChannel)),
          m_Bottom(strip.m_Bottom + (channel - strip.m_FirstChannel)), m_Out(out)
    {
        const TagF32 d;
        HWY_UNROLL(9)
        for (size_t i = 0; i < Size * Size; ++i)
        {
            const size_t tap = Direction == SlideDirection::Down ? i % Size * Size + i / Size : i;
            m_Weights[i] = hn::Load(d, weights + tap * hn::Lanes(d));
        }
        m_Bias = strip.m_Bias != nullptr ? memory.Load(strip.m_Bias + channel) : hn::Zero(d);
        if constexpr (Scales)
        {
            m_Scale = memory.Load(strip.m_Scales + channel);
        }
        m_Low = hn::Set(d, strip.m_Low);
        m_High = hn::Set(d, strip.m_High);
    }

    HWY_INLINE void Run()
    {
        VecF32 first[Rows]; // sums of the windows whose last column is next
        Start(first);
        if (m_Strip.m_HasLeft)
        {
            ForEachPixel([&](size_t y, VecF32 value) HWY_ATTR { Add<0>(y, value, first); });
        }
        if constexpr (Stride == 1)
        {
            RunByOnes(first);
        }
        else
        {
            RunByTwos(first);
        }
    }

private:
    static constexpr size_t Size = 3;
    static constexpr bool Scales = Direction == SlideDirection::AcrossScaling;
    static constexpr size_t Height = (Rows - 1) * Stride + Size;

    HWY_INLINE void RunByOnes(VecF32 (&first)[Rows])
    {
        VecF32 second[Rows];
        Start(second);
        ForEachPixel(
            [&](size_t y, VecF32 value) HWY_ATTR
            {
                Add<1>(y, value, first);
                Add<0>(y, value, second);
            });
        for (size_t i = 0; i < m_Strip.m_WholeWindows; ++i)
        {
            VecF32 third[Rows];
            Start(third);
            ForEachPixel(
                [&](size_t y, VecF32 value) HWY_ATTR
                {
                    Add<2>(y, value, first);
                    Add<1>(y, value, second);
                    Add<0>(y, value, third);
                });
            Store(first);
            HWY_UNROLL(4)
            for (size_t r = 0; r < Rows; ++r)
            {
                first[r] = second[r];
                second[r] = third[r];
            }
        }
        if (m_Strip.m_IsLastWindowCut)
        {
            Store(first);
        }
    }

    HWY_INLINE void RunByTwos(VecF32 (&first)[Rows])
    {
        for (size_t i = 0; i < m_Strip.m_WholeWindows; ++i)
        {
            ForEachPixel([&](size_t y, VecF32 value) HWY_ATTR { Add<1>(y, value, first); });
            VecF32 second[Rows];
            Start(second);
            ForEachPixel(
                [&](size_t y, VecF32 value) HWY_ATTR
                {
                    Add<2>(y, value, first);
                    Add<0>(y, value, second);
                });
            Store(first);
            HWY_UNROLL(4)
            for (size_t r = 0; r < Rows; ++r)
            {
                first[r] = second[r];
            }
        }
        if (m_Strip.m_IsLastWindowCut)
        {
            ForEachPixel([&](size_t y, VecF32 value) HWY_ATTR { Add<1>(y, value, first); });
            Store(first);
        }
    }

    HWY_INLINE void Start(VecF32 (&sums)[Rows]) const
    {
        HWY_UNROLL(4)
        for (size_t r = 0; r < Rows; ++r)
        {
            sums[r] = Scales ? hn::Zero(TagF32()) : m_Bias;
        }
    }

    /// Calls add(row, pixel) for the pixels of the next column, from the top.
    template <typename F>
    HWY_INLINE void ForEachPixel(const F& add)
    {
        add(size_t{0}, LoadOnce(m_Top));
        HWY_UNROLL(7)
        for (size_t y = 1; y + 1 < Height; ++y)
        {
            add(y, LoadOnce(m_Middle + (y - 1) * m_Strip.m_RowStep));
        }
        add(Height - 1, LoadOnce(m_Bottom));
        m_Top += m_Strip.m_TopStep;
        m_Middle += m_Strip.m_PixelStep;
        m_Bottom += m_Strip.m_BottomStep;
    }

    /// Keeps the value in a register: compilers would load it again for each use.
    HWY_INLINE VecF32 LoadOnce(const T* from) const
    {
        VecF32 x = m_Memory.Load(from);
        asm("" : "+v"(x.raw));
        return x;
    }

    /// Adds a pixel to the windows in which it lies in column `Column`.
    template <size_t Column>
    HWY_INLINE void Add(size_t y, VecF32 value, VecF32 (&sums)[Rows]) const
    {
        HWY_UNROLL(4)
        for (size_t r = 0; r < Rows; ++r)
        {
            const size_t row = y - r * Stride;
            if (row < Size) // negative rows wrap around to large ones
            {
                sums[r] = hn::MulAdd(value, m_Weights[row * Size + Column], sums[r]);
            }
        }
    }

    HWY_INLINE void Store(const VecF32 (&sums)[Rows])
    {
        HWY_UNROLL(4)
        for (size_t r = 0; r < Rows; ++r)
        {
            VecF32 sum = sums[r];
            if constexpr (Scales)
            {
                sum = hn::Add(hn::Mul(sum, m_Scale), m_Bias);
            }
            sum = m_Strip.m_HasClamp ? Clamped(sum, m_Low, m_High) : sum;
            m_Memory.Store(sum, m_Out + r * m_Strip.m_OutRowStep, m_Strip.m_RoundsFast);
        }
        m_Out += Direction == SlideDirection::Across ? m_Strip.m_PixelStep : m_Strip.m_OutPixelStep;
    }

    const DepthwiseStripF32<T> m_Strip; // a copy: stores could change what it refers to
    Memory m_Memory;
    const T* m_Top;
    const T* m_Middle;
    const T* m_Bottom;
    T* m_Out;
    VecF32 m_Weights[Size * Size];
    VecF32 m_Bias;
    VecF32 m_Scale;
    VecF32 m_Low;
    VecF32 m_High;
};

template <size_t Rows, size_t Stride, SlideDirection Direction, typename T>
void RowStrip(const DepthwiseStripF32<T>& strip)
{
    const size_t lanes = hn::Lanes(TagF32());
    const float* weights = strip.m_Weights + strip.m_FirstChannel * 9;
    size_t channel = strip.m_FirstChannel;
    for (; channel + lanes <= strip.m_LastChannel; channel += lanes, weights += 9 * lanes)
    {
        SlidingStripF32<Rows, Stride, Direction, T, FullVector>(strip, channel, weights, strip.m_Out + channel,
                                                                FullVector())
            .Run();
    }
    if (channel < strip.m_LastChannel)
    {
        const TailVector rest{strip.m_LastChannel - channel};
        SlidingStripF32<Rows, Stride, Direction, T, TailVector>(strip, channel, weights, strip.m_Out + channel, rest)
            .Run();
    }
}

#endif

#if HWY_TARGET == HWY_AVX3

/// See DepthwiseMicrokernelsF32::m_QuantizePixels.
inline void QuantizePixels(const float* from, size_t pixels, size_t channels, const DepthwiseQuantization& steps,
                           float* to, size_t blockStep)
{
    const TagF32 d;
    constexpr size_t Lanes = HWY_LANES(float);
    constexpr size_t Block = DepthwiseMicrokernelsF32<float>::StripChannels;
    static_assert(Block == 2 * Lanes);
    const VecF32 inverse = hn::Set(d, steps.m_Inverse);
    const VecF32 minimum = hn::Set(d, steps.m_Min);
    const VecF32 maximum = hn::Set(d, steps.m_Max);
    const size_t whole = channels / Block * Block;
    const size_t rest = channels - whole;
    const auto low = hn::FirstN(d, rest);
    const auto high = hn::FirstN(d, rest < Lanes ? 0 : rest - Lanes);
    for (size_t i = 0; i < pixels; ++i, from += channels, to += Block)
    {
        float* block = to;
        for (size_t c = 0; c < whole; c += Block, block += blockStep)
        {
            hn::Store(QuantizedAsF32(hn::LoadU(d, from + c), inverse, minimum, maximum), d, block);
            hn::Store(QuantizedAsF32(hn::LoadU(d, from + c + Lanes), inverse, minimum, maximum), d, block + Lanes);
        }
        if (rest != 0)
        {
            const VecF32 first = hn::MaskedLoad(low, d, from + whole);
            const VecF32 second = hn::MaskedLoad(high, d, from + whole + Lanes);
            hn::Store(QuantizedAsF32(first, inverse, minimum, maximum), d, block);
            hn::Store(QuantizedAsF32(second, inverse, minimum, maximum), d, block + Lanes);
        }
    }
}

#endif

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
