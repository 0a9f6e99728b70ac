// SPDX-License-Identifier: Apache-2.0
// Row strips of 3x3 float windows with AVX2, two vectors of channels at a time.
//
// Two vectors are a cache line: where a strip's lines exceed the ways of the first-level cache, single vectors would
// read and write each line twice. Sums take twelve of the sixteen registers, so the weights stay in memory; each is
// loaded once for two output rows.
#if defined(TENON_CPU_ROW_STRIP_PAIR_AVX2_F32_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_ROW_STRIP_PAIR_AVX2_F32_INL
#undef TENON_CPU_ROW_STRIP_PAIR_AVX2_F32_INL
#else
#define TENON_CPU_ROW_STRIP_PAIR_AVX2_F32_INL
#endif

#include "backends/cpu/depthwise/float/StripF32-inl.hpp"

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX2

/// Bias and clamp of a pair of vectors.
struct PairConstants
{
    static constexpr size_t Lanes = HWY_LANES(float);

    HWY_ALIGN float m_Bias[2][Lanes];
    HWY_ALIGN float m_Low[Lanes];
    HWY_ALIGN float m_High[Lanes];
};

/// Slides over `Rows` output rows, whose windows are `Stride` image rows apart. `DelaysStores`: sums go to the delay
/// buffer `kept`, from which those of the pair before go to the output.
template <size_t Rows, size_t Stride, bool DelaysStores>
class SlidingPairStripF32
{
public:
    /// `out`: the vectors of the first output pixel; with delayed stores, those of the pair before, null if there is
    /// none.
    HWY_INLINE SlidingPairStripF32(const DepthwiseStripF32<float>& strip, size_t channel,
                                   const PairConstants& constants, float* out, float* kept)
        : m_Strip(strip), m_Constants(constants), m_Weights(strip.m_Weights + channel * Size * Size),
          m_Top(strip.m_Top + (channel - strip.m_FirstChannel)),
          m_Middle(strip.m_Middle + (channel - strip.m_FirstChannel)),
          m_Bottom(strip.m_Bottom + (channel - strip.m_FirstChannel)), m_Out(out), m_Kept(kept)
    {
    }

    HWY_INLINE void Run()
    {
        Start(0);
        if (m_Strip.m_HasLeft)
        {
            AddColumn<0>();
        }
        if constexpr (Stride == 1)
        {
            Start(1);
            AddColumn<1>();
        }
        for (size_t i = 0; i < m_Strip.m_WholeWindows; ++i)
        {
            if constexpr (Stride == 2)
            {
                AddColumn<1>();
            }
            Start(Windows - 1);
            AddColumn<2>();
            Store();
            Shift();
        }
        if (m_Strip.m_IsLastWindowCut)
        {
            if constexpr (Stride == 2)
            {
                AddColumn<1>();
            }
            Store();
        }
    }

private:
    static constexpr size_t Size = 3;
    static constexpr size_t Height = (Rows - 1) * Stride + Size;
    static constexpr size_t Windows = Stride == 1 ? 3 : 2; ///< windows of a row that share a column
    static constexpr size_t Lanes = PairConstants::Lanes;

    /// Hides a pointer from the compiler, which would load the constants before the loop, without registers for them,
    /// and spill them.
    HWY_INLINE static const float* Hide(const float* from)
    {
        asm("" : "+r"(from));
        return from;
    }

    HWY_INLINE static VecF32 LoadOnce(const float* from)
    {
        VecF32 x = hn::LoadU(TagF32(), from);
        asm("" : "+x"(x.raw));
        return x;
    }

    HWY_INLINE void Start(size_t window)
    {
        HWY_UNROLL(2)
        for (size_t v = 0; v < 2; ++v)
        {
            HWY_UNROLL(2)
            for (size_t r = 0; r < Rows; ++r)
            {
                m_Sums[v][r][window] = hn::Load(TagF32(), Hide(m_Constants.m_Bias[v]));
            }
        }
    }

    HWY_INLINE VecF32 LoadPixel(size_t y, size_t v) const
    {
        const float* const from = y == 0 ? m_Top : y + 1 == Height ? m_Bottom : m_Middle + (y - 1) * m_Strip.m_RowStep;
        return LoadOnce(from + v * Lanes);
    }

    /// Adds the next column, which is column `Last` of the windows with the most columns so far.
    template <size_t Last>
    HWY_INLINE void AddColumn()
    {
        HWY_UNROLL(2)
        for (size_t v = 0; v < 2; ++v)
        {
            const float* const weights = Hide(m_Weights + v * Size * Size * Lanes);
            VecF32 pixels[Height];
            HWY_UNROLL(3)
            for (size_t i = 0; i < Size; ++i)
            {
                // Pixels are loaded just before use, as few registers are left.
                if (Rows == 1 || i < Stride)
                {
                    pixels[i] = LoadPixel(i, v);
                }
                if (Rows == 2)
                {
                    pixels[i + (Rows - 1) * Stride] = LoadPixel(i + (Rows - 1) * Stride, v);
                }
                HWY_UNROLL(3)
                for (size_t window = 0; window <= Last / Stride; ++window)
                {
                    const VecF32 weight = LoadOnce(weights + (i * Size + Last - window * Stride) * Lanes);
                    HWY_UNROLL(2)
                    for (size_t r = 0; r < Rows; ++r)
                    {
                        m_Sums[v][r][window] = hn::MulAdd(pixels[i + r * Stride], weight, m_Sums[v][r][window]);
                    }
                }
            }
        }
        m_Top += m_Strip.m_TopStep;
        m_Middle += m_Strip.m_PixelStep;
        m_Bottom += m_Strip.m_BottomStep;
    }

    HWY_INLINE void Store()
    {
        const TagF32 d;
        HWY_UNROLL(2)
        for (size_t r = 0; r < Rows; ++r)
        {
            HWY_UNROLL(2)
            for (size_t v = 0; v < 2; ++v)
            {
                VecF32 sum = m_Sums[v][r][0];
                if (m_Strip.m_HasClamp)
                {
                    sum = Clamped(sum, hn::Load(d, Hide(m_Constants.m_Low)), hn::Load(d, Hide(m_Constants.m_High)));
                }
                if constexpr (DelaysStores)
                {
                    if (m_Out != nullptr)
                    {
                        hn::StoreU(hn::Load(d, m_Kept), d, m_Out + r * m_Strip.m_OutRowStep + v * Lanes);
                    }
                    hn::Store(sum, d, m_Kept);
                    m_Kept += Lanes;
                }
                else
                {
                    hn::StoreU(sum, d, m_Out + r * m_Strip.m_OutRowStep + v * Lanes);
                }
            }
        }
        if (!DelaysStores || m_Out != nullptr)
        {
            m_Out += m_Strip.m_PixelStep;
        }
    }

    HWY_INLINE void Shift()
    {
        HWY_UNROLL(2)
        for (size_t v = 0; v < 2; ++v)
        {
            HWY_UNROLL(2)
            for (size_t r = 0; r < Rows; ++r)
            {
                HWY_UNROLL(2)
                for (size_t window = 0; window + 1 < Windows; ++window)
                {
                    m_Sums[v][r][window] = m_Sums[v][r][window + 1];
                }
            }
        }
    }

    const DepthwiseStripF32<float> m_Strip; // a copy: stores could change what it refers to
    const PairConstants& m_Constants;
    const float* m_Weights;
    const float* m_Top;
    const float* m_Middle;
    const float* m_Bottom;
    float* m_Out;
    float* m_Kept;
    /// Sums of the windows over the next column; those with the most columns so far come first.
    VecF32 m_Sums[2][Rows][Windows];
};

template <size_t Rows, size_t Stride, bool DelaysStores>
HWY_INLINE void RunPairs(const DepthwiseStripF32<float>& strip, size_t pairs)
{
    const TagF32 d;
    constexpr size_t Lanes = PairConstants::Lanes;
    PairConstants constants;
    hn::Store(hn::Set(d, strip.m_Low), d, constants.m_Low);
    hn::Store(hn::Set(d, strip.m_High), d, constants.m_High);
    alignas(64) float kept[DelaysStores ? DepthwisePairStrips::MaxDelayed * Rows * 2 * Lanes : 1];
    float* before = nullptr;
    for (size_t i = 0; i < pairs; ++i)
    {
        const size_t channel = strip.m_FirstChannel + (strip.m_IsReversed ? pairs - 1 - i : i) * 2 * Lanes;
        for (size_t v = 0; v < 2; ++v)
        {
            const VecF32 bias =
                strip.m_Bias != nullptr ? hn::LoadU(d, strip.m_Bias + channel + v * Lanes) : hn::Zero(d);
            hn::Store(bias, d, constants.m_Bias[v]);
        }
        float* const out = strip.m_Out + channel;
        SlidingPairStripF32<Rows, Stride, DelaysStores>(strip, channel, constants, DelaysStores ? before : out, kept)
            .Run();
        before = out;
    }
    if constexpr (DelaysStores)
    {
        const float* from = kept;
        const size_t windows = strip.m_WholeWindows + (strip.m_IsLastWindowCut ? 1 : 0);
        for (size_t i = 0; i < windows; ++i, before += strip.m_PixelStep)
        {
            for (size_t r = 0; r < Rows; ++r, from += 2 * Lanes)
            {
                hn::StoreU(hn::Load(d, from), d, before + r * strip.m_OutRowStep);
                hn::StoreU(hn::Load(d, from + Lanes), d, before + r * strip.m_OutRowStep + Lanes);
            }
        }
    }
}

template <size_t Rows, size_t Stride>
void PairStrip(const DepthwiseStripF32<float>& strip)
{
    constexpr size_t Pair = 2 * PairConstants::Lanes;
    const size_t pairs = (strip.m_LastChannel - strip.m_FirstChannel) / Pair;
    if (pairs != 0)
    {
        strip.m_DelaysStores ? RunPairs<Rows, Stride, true>(strip, pairs) : RunPairs<Rows, Stride, false>(strip, pairs);
    }
    DepthwiseStripF32<float> rest = strip;
    rest.m_FirstChannel += pairs * Pair;
    rest.m_Top += pairs * Pair;
    rest.m_Middle += pairs * Pair;
    rest.m_Bottom += pairs * Pair;
    RowStrip<Rows, Stride, SlideDirection::Across>(rest);
}

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
