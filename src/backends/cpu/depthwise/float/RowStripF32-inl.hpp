// SPDX-License-Identifier: Apache-2.0
// Row strips of 3x3 float windows with AVX-512 or AVX2: a vector of channels slides over the width of the image, its
// nine weights in registers, and each pixel is loaded once for all windows of one or two output rows. The same class
// slides down columns (ColumnStripAvx512F32-inl.hpp).
#if defined(TENON_CPU_DEPTHWISE_STRIPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_DEPTHWISE_STRIPS_INL
#undef TENON_CPU_DEPTHWISE_STRIPS_INL
#else
#define TENON_CPU_DEPTHWISE_STRIPS_INL
#endif

#include "backends/cpu/depthwise/float/TileEpilogueF32-inl.hpp"
#include "backends/cpu/simd/QuantizeF32-inl.hpp"

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2

enum class Sliding
{
    Across,
    AcrossScaling, ///< hybrid: whole-number sums are scaled
    Down           ///< column strips: rows and columns are exchanged
};

/// Slides over `Rows` output rows, whose windows are `Stride` image rows apart. `out`: the vector of the first output
/// pixel.
template <size_t Rows, size_t Stride, Sliding Way, typename T, typename Memory>
class DepthwiseSlide
{
public:
    HWY_INLINE DepthwiseSlide(const DepthwiseStrip<T>& strip, size_t channel, const float* weights, T* out,
                              const Memory& memory)
        : m_Strip(strip), m_Memory(memory), m_Top(strip.m_Top + (channel - strip.m_FirstChannel)),
          m_Middle(strip.m_Middle + (channel - strip.m_FirstChannel)),
          m_Bottom(strip.m_Bottom + (channel - strip.m_FirstChannel)), m_Out(out)
    {
        const FloatTag d;
        HWY_UNROLL(9)
        for (size_t i = 0; i < Size * Size; ++i)
        {
            const size_t tap = Way == Sliding::Down ? i % Size * Size + i / Size : i;
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
        Floats first[Rows]; // sums of the windows whose last column is next
        Start(first);
        if (m_Strip.m_HasLeft)
        {
            ForEachPixel([&](size_t y, Floats value) HWY_ATTR { Add<0>(y, value, first); });
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
    static constexpr bool Scales = Way == Sliding::AcrossScaling;
    static constexpr size_t Height = (Rows - 1) * Stride + Size;

    HWY_INLINE void RunByOnes(Floats (&first)[Rows])
    {
        Floats second[Rows];
        Start(second);
        ForEachPixel(
            [&](size_t y, Floats value) HWY_ATTR
            {
                Add<1>(y, value, first);
                Add<0>(y, value, second);
            });
        for (size_t i = 0; i < m_Strip.m_WholeWindows; ++i)
        {
            Floats third[Rows];
            Start(third);
            ForEachPixel(
                [&](size_t y, Floats value) HWY_ATTR
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
        if (m_Strip.m_HasCut)
        {
            Store(first);
        }
    }

    HWY_INLINE void RunByTwos(Floats (&first)[Rows])
    {
        for (size_t i = 0; i < m_Strip.m_WholeWindows; ++i)
        {
            ForEachPixel([&](size_t y, Floats value) HWY_ATTR { Add<1>(y, value, first); });
            Floats second[Rows];
            Start(second);
            ForEachPixel(
                [&](size_t y, Floats value) HWY_ATTR
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
        if (m_Strip.m_HasCut)
        {
            ForEachPixel([&](size_t y, Floats value) HWY_ATTR { Add<1>(y, value, first); });
            Store(first);
        }
    }

    HWY_INLINE void Start(Floats (&sums)[Rows]) const
    {
        HWY_UNROLL(4)
        for (size_t r = 0; r < Rows; ++r)
        {
            sums[r] = Scales ? hn::Zero(FloatTag()) : m_Bias;
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
    HWY_INLINE Floats LoadOnce(const T* from) const
    {
        Floats x = m_Memory.Load(from);
        asm("" : "+v"(x.raw));
        return x;
    }

    /// Adds a pixel to the windows in which it lies in column `Column`.
    template <size_t Column>
    HWY_INLINE void Add(size_t y, Floats value, Floats (&sums)[Rows]) const
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

    HWY_INLINE void Store(const Floats (&sums)[Rows])
    {
        HWY_UNROLL(4)
        for (size_t r = 0; r < Rows; ++r)
        {
            Floats sum = sums[r];
            if constexpr (Scales)
            {
                sum = hn::Add(hn::Mul(sum, m_Scale), m_Bias);
            }
            sum = m_Strip.m_HasClamp ? Clamped(sum, m_Low, m_High) : sum;
            m_Memory.Store(sum, m_Out + r * m_Strip.m_OutRowStep, m_Strip.m_RoundsFast);
        }
        m_Out += Way == Sliding::Across ? m_Strip.m_PixelStep : m_Strip.m_OutPixelStep;
    }

    const DepthwiseStrip<T> m_Strip; // a copy: stores could change what it refers to
    Memory m_Memory;
    const T* m_Top;
    const T* m_Middle;
    const T* m_Bottom;
    T* m_Out;
    Floats m_Weights[Size * Size];
    Floats m_Bias;
    Floats m_Scale;
    Floats m_Low;
    Floats m_High;
};

template <size_t Rows, size_t Stride, Sliding Way, typename T>
void Strip(const DepthwiseStrip<T>& strip)
{
    const size_t lanes = hn::Lanes(FloatTag());
    const float* weights = strip.m_Weights + strip.m_FirstChannel * 9;
    size_t channel = strip.m_FirstChannel;
    for (; channel + lanes <= strip.m_LastChannel; channel += lanes, weights += 9 * lanes)
    {
        DepthwiseSlide<Rows, Stride, Way, T, Whole>(strip, channel, weights, strip.m_Out + channel, Whole()).Run();
    }
    if (channel < strip.m_LastChannel)
    {
        const Rest rest{strip.m_LastChannel - channel};
        DepthwiseSlide<Rows, Stride, Way, T, Rest>(strip, channel, weights, strip.m_Out + channel, rest).Run();
    }
}

#endif

#if HWY_TARGET == HWY_AVX3

/// See DepthwiseEngine::m_QuantizePixels.
inline void QuantizePixels(const float* from, size_t pixels, size_t channels, const DepthwiseSteps& steps, float* to,
                           size_t blockStep)
{
    const FloatTag d;
    constexpr size_t Lanes = HWY_LANES(float);
    constexpr size_t Block = DepthwiseEngine<float>::StripChannels;
    static_assert(Block == 2 * Lanes);
    const Floats inverse = hn::Set(d, steps.m_Inverse);
    const Floats least = hn::Set(d, steps.m_Least);
    const Floats most = hn::Set(d, steps.m_Most);
    const size_t whole = channels / Block * Block;
    const size_t rest = channels - whole;
    const auto low = hn::FirstN(d, rest);
    const auto high = hn::FirstN(d, rest < Lanes ? 0 : rest - Lanes);
    for (size_t i = 0; i < pixels; ++i, from += channels, to += Block)
    {
        float* block = to;
        for (size_t c = 0; c < whole; c += Block, block += blockStep)
        {
            hn::Store(QuantizedToFloats(hn::LoadU(d, from + c), inverse, least, most), d, block);
            hn::Store(QuantizedToFloats(hn::LoadU(d, from + c + Lanes), inverse, least, most), d, block + Lanes);
        }
        if (rest != 0)
        {
            const Floats first = hn::MaskedLoad(low, d, from + whole);
            const Floats second = hn::MaskedLoad(high, d, from + whole + Lanes);
            hn::Store(QuantizedToFloats(first, inverse, least, most), d, block);
            hn::Store(QuantizedToFloats(second, inverse, least, most), d, block + Lanes);
        }
    }
}

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
