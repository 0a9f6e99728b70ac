// SPDX-License-Identifier: Apache-2.0
// ComplementImageInt8: rows of an image as data of permuted weights (PermutedWeightsInt8.hpp), with their padding.
#pragma once

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/im2col/Im2col.hpp"
#include "backends/cpu/im2col/PaddedImage.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Image rows of a convolution with several taps, as complement blocks that are made once for all receptive fields that
/// share them:
///   [rows][padded width][channels / 8] blocks of 16 bytes: eight channels biased by 128, and their complements
/// im2col copies the blocks as they are.
class ComplementImageInt8
{
public:
    ComplementImageInt8() = default;
    /// `blockRows`: output pixels of a block of the GEMM.
    ComplementImageInt8(const Im2col& windows, size_t blockRows);

    /// Whether channels are whole blocks of eight, and enough receptive fields share them. Precondition of all other
    /// methods.
    bool IsUsed() const { return m_Image.IsUsed(); }
    /// Bytes of the image rows for a block.
    size_t GetBytes() const { return m_Image.GetBytes(); }
    /// See PaddedImage.
    size_t GetBlockEnd(size_t first, size_t last) const { return m_Image.GetBlockEnd(first, last); }
    /// Makes the image rows for the output pixels [first, last), counted through all images. `input`: their int8 data.
    void Make(const MicrokernelsInt8& microkernels, const uint8_t* input, size_t first, size_t last, uint8_t padding,
              uint8_t* rows) const;
    /// im2col of the pixels that Make has made the rows for: the channels from `channel` on that a group reads, one row
    /// per pixel at distances of `pitch` bytes, and up to Im2col::ShortRowBytes past the end.
    void Copy(const uint8_t* rows, size_t channel, size_t first, size_t last, size_t pitch, uint8_t* to) const;

private:
    Im2col m_Im2col;
    PaddedImage m_Image;
};

} // namespace tenon::cpu
