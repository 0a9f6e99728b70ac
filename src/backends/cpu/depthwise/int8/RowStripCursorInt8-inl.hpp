// SPDX-License-Identifier: Apache-2.0
// Where the columns lie that strips of output rows read of an image (DepthwiseStrips8), for sources that are compiled
// for each target (Foreach.hpp): DepthwiseMicrokernelsInt8.cpp. Included once a target.
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

/// Goes over the columns of an image, with those before it and behind it.
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

    /// The pixel of a row of a strip in this column.
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

    /// From what is before the image to the image, and from that to what is behind it.
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
    size_t m_Left; ///< columns until what follows is something else
};

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
