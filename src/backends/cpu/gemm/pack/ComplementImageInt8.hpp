// SPDX-License-Identifier: Apache-2.0
// WindowImage8: rows of an image as data of permuted weights (PermutedWeightsInt8.hpp), with their padding.
#pragma once

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/im2col/Im2col.hpp"
#include "backends/cpu/im2col/PaddedImage.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// What convolutions with several points see of an image, made once for all windows that share it: [rows][padded
/// width][channels / 8] windows of eight channels. Windows of the convolution are copied out of it as they are.
class WindowImage8
{
public:
    WindowImage8() = default;
    /// For blocks of so many output pixels.
    WindowImage8(const Windows& windows, size_t blockRows);

    /// Whether windows of eight channels are whole ones, and enough of the convolution's share them. The rest is for
    /// such alone.
    bool IsUsed() const { return m_Image.IsUsed(); }
    /// Bytes of the rows for a block.
    size_t GetBytes() const { return m_Image.GetBytes(); }
    /// See PaddedImage.
    size_t GetBlockEnd(size_t first, size_t last) const { return m_Image.GetBlockEnd(first, last); }
    /// Makes the rows for the output pixels [first, last), counted through all images. `input`: int8 of these.
    void Make(const Engine8& engine, const uint8_t* input, size_t first, size_t last, uint8_t padding,
              uint8_t* rows) const;
    /// Copies the windows of the pixels that the rows were made for, of the channels from `channel` on that a group
    /// has, one row each, `pitch` bytes after each other, and up to Windows::ShortRowBytes past the end.
    void Copy(const uint8_t* rows, size_t channel, size_t first, size_t last, size_t pitch, uint8_t* to) const;

private:
    Windows m_Windows;
    PaddedImage m_Image;
};

} // namespace tenon::cpu
