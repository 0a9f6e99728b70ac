// SPDX-License-Identifier: Apache-2.0
// See WindowImage8.hpp.
#include "backends/cpu/gemm/bytes/WindowImage8.hpp"

#include "backends/cpu/gemm/bytes/PermutedWeights8.hpp"

#include <algorithm>
#include <array>

namespace tenon::cpu
{

namespace
{

constexpr auto WindowChannels = static_cast<int64_t>(PermuteLoops8::StepDepth);
constexpr size_t ChannelBytes = PermutedWindowBytes / PermuteLoops8::StepDepth;
/// More would not stay in the caches until the last window has read it.
constexpr double MostBytes = 1 << 20;

/// What windows along an axis see of it, padding included.
size_t GetExtent(int64_t output, int64_t stride, int64_t kernel, int64_t dilation)
{
    return static_cast<size_t>((output - 1) * stride + (kernel - 1) * dilation + 1);
}

} // namespace

WindowImage8::WindowImage8(const Windows& windows, size_t blockRows) : m_Windows(windows)
{
    const int64_t points = windows.m_Height * windows.m_Width;
    const int64_t newPixels = windows.m_StrideY * windows.m_StrideX; // of each window
    if (windows.m_GroupChannels % WindowChannels != 0 || windows.m_Channels % WindowChannels != 0 ||
        points < 2 * newPixels || GetPixels() == 0)
    {
        return;
    }
    m_Width = GetExtent(windows.m_OutputWidth, windows.m_StrideX, windows.m_Width, windows.m_DilationX);
    const auto width = static_cast<size_t>(windows.m_OutputWidth);
    const size_t mostRows = (blockRows + width - 2) / width + 1; // that a block touches
    const size_t rows = GetRows(std::min(mostRows, static_cast<size_t>(windows.m_OutputHeight)));
    if (static_cast<double>(rows) * static_cast<double>(GetRowBytes()) <= MostBytes)
    {
        m_Rows = rows;
    }
}

size_t WindowImage8::GetRows(size_t outputRows) const
{
    return GetExtent(static_cast<int64_t>(outputRows), m_Windows.m_StrideY, m_Windows.m_Height, m_Windows.m_DilationY);
}

size_t WindowImage8::GetRowBytes() const
{
    return m_Width * static_cast<size_t>(m_Windows.m_Channels) * ChannelBytes;
}

size_t WindowImage8::GetBytes() const
{
    return IsUsed() ? m_Rows * GetRowBytes() : 0;
}

size_t WindowImage8::GetBlockEnd(size_t first, size_t last) const
{
    return std::min(last, (first / GetPixels() + 1) * GetPixels());
}

void WindowImage8::Make(const Engine8& engine, const uint8_t* input, size_t first, size_t last, uint8_t padding,
                        uint8_t* rows) const
{
    using Window = std::array<uint8_t, PermutedWindowBytes>;
    const auto channels = static_cast<size_t>(m_Windows.m_Channels);
    const auto inputWidth = static_cast<size_t>(m_Windows.m_InputWidth);
    std::array<uint8_t, PermuteLoops8::StepDepth> bytes;
    bytes.fill(padding);
    Window paddingWindow;
    engine.m_MakeWindows(bytes.data(), bytes.size(), paddingWindow.data());
    const auto pad = [&](size_t pixels, uint8_t* to)
    {
        const size_t windows = pixels * channels / PermuteLoops8::StepDepth;
        std::fill_n(reinterpret_cast<Window*>(to), windows, paddingWindow);
    };

    const auto outputWidth = static_cast<size_t>(m_Windows.m_OutputWidth);
    const size_t image = first / GetPixels();
    const size_t firstRow = first % GetPixels() / outputWidth;
    const size_t lastRow = (last - 1) % GetPixels() / outputWidth;
    const auto left = static_cast<size_t>(std::max<int64_t>(m_Windows.m_PadLeft, 0));
    const auto skipped = static_cast<size_t>(std::max<int64_t>(-m_Windows.m_PadLeft, 0));
    const size_t begin = std::min(left, m_Width);
    const size_t inside = std::min(m_Width - begin, inputWidth - std::min(skipped, inputWidth));
    int64_t row = static_cast<int64_t>(firstRow) * m_Windows.m_StrideY - m_Windows.m_PadTop;
    for (size_t i = GetRows(lastRow - firstRow + 1); i != 0; --i, ++row, rows += GetRowBytes())
    {
        if (row < 0 || row >= m_Windows.m_InputHeight)
        {
            pad(m_Width, rows);
            continue;
        }
        const size_t inputRow = image * static_cast<size_t>(m_Windows.m_InputHeight) + static_cast<size_t>(row);
        pad(begin, rows);
        engine.m_MakeWindows(input + (inputRow * inputWidth + skipped) * channels, inside * channels,
                             rows + begin * channels * ChannelBytes);
        pad(m_Width - begin - inside, rows + (begin + inside) * channels * ChannelBytes);
    }
}

void WindowImage8::Copy(const uint8_t* rows, size_t channel, size_t first, size_t last, size_t pitch, uint8_t* to) const
{
    Windows windows = m_Windows;
    windows.m_InputHeight = static_cast<int64_t>(m_Rows);
    windows.m_InputWidth = static_cast<int64_t>(m_Width);
    windows.m_Channels *= ChannelBytes;
    windows.m_GroupChannels *= ChannelBytes;
    windows.m_PadTop = windows.m_PadLeft = 0;
    const size_t column = first % static_cast<size_t>(m_Windows.m_OutputWidth); // in the first row
    windows.CopyBytes(rows + channel * ChannelBytes, column, column + (last - first), 0, pitch, to);
}

} // namespace tenon::cpu
