// SPDX-License-Identifier: Apache-2.0
// The cursor of row strips of int8 over the columns of an image: left padding, image, right padding. Padding is a pixel
// of zero points with a step of 0.
#if defined(TENON_CPU_ROW_STRIP_CURSOR_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_ROW_STRIP_CURSOR_INT8_INL
#undef TENON_CPU_ROW_STRIP_CURSOR_INT8_INL
#else
#define TENON_CPU_ROW_STRIP_CURSOR_INT8_INL
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
template <size_t StripCount, size_t Rows>
class RowStripCursorInt8
{
public:
    explicit HWY_INLINE RowStripCursorInt8(const RowStripsInt8& strips) : m_Strips(&strips), m_Left(strips.m_Before)
    {
        if (m_Left != 0)
        {
            ReadPadding();
        }
        else
        {
            CrossBorder();
        }
    }

    /// Pointer to the pixel of a row strip's row in this column.
    HWY_INLINE const uint8_t* Get(size_t slot, size_t row) const { return m_Rows[slot][row]; }

    HWY_INLINE void Advance()
    {
        HWY_UNROLL(4)
        for (size_t slot = 0; slot < StripCount; ++slot)
        {
            HWY_UNROLL(4)
            for (size_t row = 0; row < Rows; ++row)
            {
                m_Rows[slot][row] += m_Steps[slot][row];
            }
        }
        if (--m_Left == 0)
        {
            CrossBorder();
        }
    }

private:
    HWY_INLINE void ReadPadding()
    {
        HWY_UNROLL(4)
        for (size_t slot = 0; slot < StripCount; ++slot)
        {
            HWY_UNROLL(4)
            for (size_t row = 0; row < Rows; ++row)
            {
                m_Rows[slot][row] = m_Strips->m_Padding;
                m_Steps[slot][row] = 0;
            }
        }
        m_IsInside = false;
    }

    /// Crosses a border: from the left padding to the image, or from the image to the right padding.
    HWY_INLINE void CrossBorder()
    {
        if (m_IsInside || m_Strips->m_Inside == 0)
        {
            ReadPadding();
            m_Left = std::numeric_limits<size_t>::max();
            return;
        }
        HWY_UNROLL(4)
        for (size_t slot = 0; slot < StripCount; ++slot)
        {
            HWY_UNROLL(4)
            for (size_t row = 0; row < Rows; ++row)
            {
                m_Rows[slot][row] = m_Strips->m_Rows[slot][row];
                m_Steps[slot][row] = m_Strips->m_Steps[slot][row];
            }
        }
        m_Left = m_Strips->m_Inside;
        m_IsInside = true;
    }

    const RowStripsInt8* m_Strips;
    const uint8_t* m_Rows[StripCount][Rows];
    size_t m_Steps[StripCount][Rows];
    bool m_IsInside = false;
    size_t m_Left; ///< columns before the next border
};

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
