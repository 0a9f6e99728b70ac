// SPDX-License-Identifier: Apache-2.0
// The cursor of row strips of int8 over the columns of an image: left padding, image, right padding. Padding is a pixel
// of zero points with a step of 0.
#if defined(TENON_CPU_DEPTHWISE_STRIP_CURSOR_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_DEPTHWISE_STRIP_CURSOR_INL
#undef TENON_CPU_DEPTHWISE_STRIP_CURSOR_INL
#else
#define TENON_CPU_DEPTHWISE_STRIP_CURSOR_INL
#endif

#include "backends/cpu/depthwise/int8/DepthwiseMicrokernelsInt8.hpp"

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

/// Goes over the columns of an image, from the left padding to the right one.
template <size_t Parts, size_t Rows>
class StripCursor
{
public:
    explicit HWY_INLINE StripCursor(const DepthwiseStrips8& strips) : m_Strips(&strips), m_Left(strips.m_Before)
    {
        if (m_Left != 0)
        {
            ReadPadding();
        }
        else
        {
            Turn();
        }
    }

    /// Pointer to the pixel of a strip's row in this column.
    HWY_INLINE const uint8_t* Get(size_t part, size_t row) const { return m_Rows[part][row]; }

    HWY_INLINE void Advance()
    {
        HWY_UNROLL(4)
        for (size_t part = 0; part < Parts; ++part)
        {
            HWY_UNROLL(4)
            for (size_t row = 0; row < Rows; ++row)
            {
                m_Rows[part][row] += m_Steps[part][row];
            }
        }
        if (--m_Left == 0)
        {
            Turn();
        }
    }

private:
    HWY_INLINE void ReadPadding()
    {
        HWY_UNROLL(4)
        for (size_t part = 0; part < Parts; ++part)
        {
            HWY_UNROLL(4)
            for (size_t row = 0; row < Rows; ++row)
            {
                m_Rows[part][row] = m_Strips->m_Padding;
                m_Steps[part][row] = 0;
            }
        }
        m_IsInside = false;
    }

    /// Crosses a border: from the left padding to the image, or from the image to the right padding.
    HWY_INLINE void Turn()
    {
        if (m_IsInside || m_Strips->m_Inside == 0)
        {
            ReadPadding();
            m_Left = std::numeric_limits<size_t>::max();
            return;
        }
        HWY_UNROLL(4)
        for (size_t part = 0; part < Parts; ++part)
        {
            HWY_UNROLL(4)
            for (size_t row = 0; row < Rows; ++row)
            {
                m_Rows[part][row] = m_Strips->m_Rows[part][row];
                m_Steps[part][row] = m_Strips->m_Steps[part][row];
            }
        }
        m_Left = m_Strips->m_Inside;
        m_IsInside = true;
    }

    const DepthwiseStrips8* m_Strips;
    const uint8_t* m_Rows[Parts][Rows];
    size_t m_Steps[Parts][Rows];
    bool m_IsInside = false;
    size_t m_Left; ///< columns before the next border
};

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
