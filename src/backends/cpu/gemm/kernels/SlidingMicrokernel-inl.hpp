// SPDX-License-Identifier: Apache-2.0
// Sliding microkernel: 3-column kernels of stride 1 by one vector of output channels (direct convolution).
//     sums[r] += x[r] * w[0] + x[r + 1] * w[1] + x[r + 2] * w[2]      x: Rows + 2 neighbouring pixels, each loaded once
// Each pixel serves three output pixels, so loads do not limit the speed. Included by MicrokernelsF32.cpp and
// MicrokernelsBf16.cpp, once for each target.
#if defined(TENON_SLIDING_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_SLIDING_INL
#undef TENON_SLIDING_INL
#else
#define TENON_SLIDING_INL
#endif

#include "backends/cpu/im2col/SlidingWindows.hpp"
#include "backends/cpu/simd/F32-inl.hpp"

#include <cstddef>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

/// Neighbouring pixels of a row. Every fourth pixel has a pointer, which saves registers.
template <typename T, size_t Pixels>
class PixelRow
{
public:
    HWY_INLINE PixelRow(const T* first, ptrdiff_t step) : m_Step(step), m_ThreeSteps(3 * step)
    {
        HWY_UNROLL(8)
        for (size_t i = 0; i < Fours; ++i)
        {
            m_Fours[i] = first + static_cast<ptrdiff_t>(4 * i) * step;
            asm("" : "+r"(m_Fours[i])); // keeps the compiler from making a pointer for each pixel
        }
    }
    HWY_INLINE const T* At(size_t pixel) const
    {
        const T* const four = m_Fours[pixel / 4];
        const size_t rest = pixel % 4;
        return rest == 3 ? four + m_ThreeSteps : four + static_cast<ptrdiff_t>(rest) * m_Step;
    }
    HWY_INLINE void Advance(size_t elements)
    {
        HWY_UNROLL(8)
        for (size_t i = 0; i < Fours; ++i)
        {
            m_Fours[i] += elements;
        }
    }

private:
    static constexpr size_t Fours = (Pixels + 3) / 4;
    const T* m_Fours[Fours];
    ptrdiff_t m_Step;
    ptrdiff_t m_ThreeSteps;
};

/// Operands of a sliding tile. A word is the element that a lane multiplies at once: a float, or two bfloat16.
template <typename T>
struct SlidingTile
{
    const T* const* m_Places = nullptr; ///< the first pixel of each row of taps
    size_t m_Rows = 0;                  ///< rows of taps
    size_t m_PixelStep = 0;             ///< elements between neighbouring pixels
    size_t m_Words = 0;                 ///< words of a pixel
    const float* m_Panel = nullptr;     ///< [rows][3][words][lanes]
};

/// One word of `Rows` + 2 pixels by the weights of three columns. Op: Set broadcasts an element, Load loads weights,
/// Add multiplies and adds.
template <typename Op, size_t Rows, typename T>
HWY_INLINE void SlideStep(const PixelRow<T, Rows + SlidingColumns - 1>& pixels, size_t element, const float* weights,
                          size_t column, VecF32 (&sums)[Rows][1])
{
    constexpr size_t Pixels = Rows + SlidingColumns - 1;
    typename Op::Vector x[Pixels];
    HWY_UNROLL(16)
    for (size_t i = 0; i < Pixels; ++i)
    {
        x[i] = Op::Set(pixels.At(i) + element);
    }
    HWY_UNROLL(3)
    for (size_t j = 0; j < SlidingColumns; ++j)
    {
        const auto w = Op::Load(weights + j * column);
        HWY_UNROLL(16)
        for (size_t r = 0; r < Rows; ++r)
        {
            Op::Add(sums[r][0], x[r + j], w);
        }
    }
}

/// sums += the products of all rows of taps.
template <typename Op, size_t Rows, typename T>
HWY_INLINE void Slide(const SlidingTile<T>& tile, VecF32 (&sums)[Rows][1])
{
    constexpr size_t Unroll = 4;
    const size_t lanes = hn::Lanes(TagF32());
    const size_t column = tile.m_Words * lanes;
    const float* panel = tile.m_Panel;
    for (size_t row = 0; row < tile.m_Rows; ++row, panel += SlidingColumns * column)
    {
        PixelRow<T, Rows + SlidingColumns - 1> pixels(tile.m_Places[row], static_cast<ptrdiff_t>(tile.m_PixelStep));
        const float* weights = panel;
        size_t left = tile.m_Words;
        for (; left >= Unroll; left -= Unroll, weights += Unroll * lanes)
        {
            HWY_UNROLL(4)
            for (size_t u = 0; u < Unroll; ++u)
            {
                SlideStep<Op>(pixels, u * Op::Elements, weights + u * lanes, column, sums);
            }
            pixels.Advance(Unroll * Op::Elements);
        }
        for (; left != 0; --left, weights += lanes)
        {
            SlideStep<Op>(pixels, 0, weights, column, sums);
            pixels.Advance(Op::Elements);
        }
    }
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
