// SPDX-License-Identifier: Apache-2.0
// See ComplementImageInt8.hpp.
#include "backends/cpu/gemm/pack/ComplementImageInt8.hpp"

#include "backends/cpu/gemm/pack/PermutedWeightsInt8.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace tenon::cpu
{

namespace
{

constexpr auto WindowChannels = static_cast<int64_t>(PermuteLoops8::StepDepth);
constexpr size_t ChannelBytes = PermutedWindowBytes / PermuteLoops8::StepDepth;
/// A larger image would not stay in the caches until the last receptive field has read it.
constexpr size_t MostBytes = 1 << 20;

} // namespace

WindowImage8::WindowImage8(const Windows& windows, size_t blockRows) : m_Windows(windows)
{
    if (windows.m_GroupChannels % WindowChannels == 0 && windows.m_Channels % WindowChannels == 0 &&
        ShareImage(windows))
    {
        m_Image = PaddedImage(windows, blockRows, ChannelBytes, MostBytes, MostBytes);
    }
}

void WindowImage8::Make(const Engine8& engine, const uint8_t* input, size_t first, size_t last, uint8_t padding,
                        uint8_t* rows) const
{
    using Window = std::array<uint8_t, PermutedWindowBytes>;
    const auto channels = static_cast<size_t>(m_Windows.m_Channels);
    std::array<uint8_t, PermuteLoops8::StepDepth> bytes;
    bytes.fill(padding);
    Window paddingWindow;
    engine.m_MakeWindows(bytes.data(), bytes.size(), paddingWindow.data());
    const auto pad = [&](size_t pixels, uint8_t* to)
    {
        const size_t windows = pixels * channels / PermuteLoops8::StepDepth;
        std::fill_n(reinterpret_cast<Window*>(to), windows, paddingWindow);
    };
    const auto fill = [&](size_t from, size_t pixels, uint8_t* to)
    { engine.m_MakeWindows(input + from * channels, pixels * channels, to); };
    m_Image.Make(first, last, rows, pad, fill);
}

void WindowImage8::Copy(const uint8_t* rows, size_t channel, size_t first, size_t last, size_t pitch, uint8_t* to) const
{
    Windows windows = m_Windows;
    windows.m_InputHeight = static_cast<int64_t>(m_Image.GetRows());
    windows.m_InputWidth = static_cast<int64_t>(m_Image.GetWidth());
    windows.m_Channels *= ChannelBytes;
    windows.m_GroupChannels *= ChannelBytes;
    windows.m_PadTop = windows.m_PadLeft = 0;
    const auto width = static_cast<size_t>(m_Windows.m_OutputWidth);
    const size_t column = first % width - m_Image.GetFirstColumn(first); // in the first row
    windows.CopyBytes(rows + channel * ChannelBytes, column, column + (last - first), 0, pitch, to);
}

} // namespace tenon::cpu
