// SPDX-License-Identifier: Apache-2.0
// Windows of three columns, one pixel from each other, for tiles that slide over the pixels of an image: neighbours
// share two of three columns, and a pixel is read once for all windows that have it. That serves where there is one
// vector of output channels, for which each number would be read for one multiplication.
#pragma once

#include "backends/cpu/im2col/Im2col.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

inline constexpr size_t SlidingColumns = 3; ///< of windows

/// Calls tile(window, count) for neighbouring windows of a row of the output, `mostRows` at most, that are all those of
/// [first, last) together. places[i] is then where the first pixel of their row i lies, with the others behind it: in
/// `input`, or in `strip` where some are outside of the image. `strip`: of m_Height * (mostRows + SlidingColumns - 1)
/// pixels.
template <typename T, typename F>
void ForEachSlide(const Windows& windows, const T* input, size_t first, size_t last, size_t mostRows, T* strip,
                  const T** places, F&& tile)
{
    const auto width = static_cast<size_t>(windows.m_OutputWidth);
    const auto height = static_cast<size_t>(windows.m_OutputHeight);
    const auto imageElements = static_cast<size_t>(windows.m_InputHeight * windows.m_InputWidth * windows.m_Channels);
    for (size_t row = first; row < last;)
    {
        const size_t end = std::min(last, row - row % width + width);
        const T* const image = input + row / width / height * imageElements;
        const int64_t top = static_cast<int64_t>(row / width % height) * windows.m_StrideY - windows.m_PadTop;
        const int64_t left = static_cast<int64_t>(row % width) - windows.m_PadLeft;
        ForEachTile(end - row, mostRows,
                    [&](size_t begin, size_t count)
                    {
                        windows.FindSpans(image, top, left + static_cast<int64_t>(begin), count + SlidingColumns - 1,
                                          strip, places);
                        tile(row + begin, count);
                    });
        row = end;
    }
}

} // namespace tenon::cpu
