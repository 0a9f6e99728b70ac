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

constexpr auto BlockChannels = static_cast<int64_t>(PermuteLoopsInt8::StepDepth);
constexpr size_t ChannelBytes = ComplementBlockBytes / PermuteLoopsInt8::StepDepth;
/// A larger image would not stay in the caches until the last receptive field has read it.
constexpr size_t MaxBytes = 1 << 20;

} // namespace

ComplementImageInt8::ComplementImageInt8(const Im2col& windows, size_t blockRows) : m_Im2col(windows)
{
    if (windows.m_GroupChannels % BlockChannels == 0 && windows.m_Channels % BlockChannels == 0 &&
        HasSharedPixels(windows))
    {
        m_Image = PaddedImage(windows, blockRows, ChannelBytes, MaxBytes, MaxBytes);
    }
}

void ComplementImageInt8::Make(const MicrokernelsInt8& microkernels, const uint8_t* input, size_t first, size_t last,
                               uint8_t padding, uint8_t* rows) const
{
    using Block = std::array<uint8_t, ComplementBlockBytes>;
    const auto channels = static_cast<size_t>(m_Im2col.m_Channels);
    std::array<uint8_t, PermuteLoopsInt8::StepDepth> bytes;
    bytes.fill(padding);
    Block paddingBlock;
    microkernels.m_MakeComplementBlocks(bytes.data(), bytes.size(), paddingBlock.data());
    const auto pad = [&](size_t pixels, uint8_t* to)
    {
        const size_t windows = pixels * channels / PermuteLoopsInt8::StepDepth;
        std::fill_n(reinterpret_cast<Block*>(to), windows, paddingBlock);
    };
    const auto fill = [&](size_t from, size_t pixels, uint8_t* to)
    { microkernels.m_MakeComplementBlocks(input + from * channels, pixels * channels, to); };
    m_Image.Make(first, last, rows, pad, fill);
}

void ComplementImageInt8::Copy(const uint8_t* rows, size_t channel, size_t first, size_t last, size_t pitch,
                               uint8_t* to) const
{
    Im2col windows = m_Im2col;
    windows.m_InputHeight = static_cast<int64_t>(m_Image.GetRows());
    windows.m_InputWidth = static_cast<int64_t>(m_Image.GetWidth());
    windows.m_Channels *= ChannelBytes;
    windows.m_GroupChannels *= ChannelBytes;
    windows.m_PadTop = windows.m_PadLeft = 0;
    const auto width = static_cast<size_t>(m_Im2col.m_OutputWidth);
    const size_t column = first % width - m_Image.GetFirstColumn(first); // in the first row
    windows.CopyBytes(rows + channel * ChannelBytes, column, column + (last - first), 0, pitch, to);
}

} // namespace tenon::cpu
