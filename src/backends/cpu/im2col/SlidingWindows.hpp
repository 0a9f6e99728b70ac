// SPDX-License-Identifier: Apache-2.0
// ForEachSlide: runs of neighbouring output pixels of 3-column kernels of stride 1, for the sliding microkernels.
// Neighbouring windows share two of three columns. It pays with one vector of output channels, where each loaded number
// would otherwise serve a single multiply-add. Used by GemmF32 and GemmBf16.
#pragma once

#include "backends/cpu/im2col/Im2col.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

inline constexpr size_t SlidingColumns = 3; ///< of a window

/// Calls tile(window, count) for neighbouring windows of a row of the output, at most `maxRows` at a time, which
/// together are [first, last). places[i] then points to the first pixel of their row i, followed by the others: in
/// `input`, or in `strip` where some pixels are padding. `strip` has room for m_Height * (maxRows + SlidingColumns - 1)
/// pixels.
template <typename T, typename F>
void ForEachSlide(const Im2col& windows, const T* input, size_t first, size_t last, size_t maxRows, T* strip,
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
        ForEachTile(end - row, maxRows,
                    [&](size_t begin, size_t count)
                    {
                        windows.FindPixelRows(image, top, left + static_cast<int64_t>(begin),
                                              count + SlidingColumns - 1, strip, places);
                        tile(row + begin, count);
                    });
        row = end;
    }
}

} // namespace tenon::cpu
