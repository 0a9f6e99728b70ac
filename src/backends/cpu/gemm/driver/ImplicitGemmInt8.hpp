// SPDX-License-Identifier: Apache-2.0
// ImageProduct8: convolutions of bytes whose tiles read windows of the image where they lie.
#pragma once

#include "backends/common/Scratch.hpp"
#include "backends/cpu/gemm/driver/PatchRunsInt8.hpp"
#include "backends/cpu/gemm/pack/PackedWeightsInt8.hpp"
#include "backends/cpu/im2col/Im2col.hpp"
#include "backends/cpu/im2col/PaddedImage.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::cpu
{

/// What Product8 multiplies in place of windows that are laid out one after the other: a block of output pixels has the
/// rows of the image that it sees in scratch memory, padded, as bytes of the sign that tiles multiply. A window is some
/// runs of bytes in it, whose distances are the same for all windows.
class ImageProduct8
{
public:
    ImageProduct8() = default;
    /// `rows`: output pixels of all images. `isHybrid`: data were floats, and become floats.
    ImageProduct8(const PackedWeights8& weights, const Windows& windows, size_t rows, bool isHybrid = false);

    /// Whether it is worth while for so many output pixels, of an image and of all, unless weights are padded for it.
    static bool HaveManyPixels(size_t pixels, size_t rows);

    /// Whether there are such tiles, the weights are packed for these windows, which share enough of their pixels, and
    /// runs are whole groups. The rest is for such alone.
    bool IsUsed() const { return m_Image.IsUsed(); }
    size_t GetScratchBytes() const { return m_ScratchBytes; }
    /// Of a block, at most.
    size_t GetBlockPixels() const { return m_Image.GetBlockPixels(); }
    /// One past the last pixel of a block from `first` on, of those up to `last`.
    size_t GetBlockEnd(size_t first, size_t last) const { return m_Image.GetBlockEnd(first, last); }
    /// Makes the rows for the output pixels [first, last), which are written at `place`. `input`: bytes of the first
    /// image, with the sign that tiles multiply if they were floats. `padding`: the byte outside of it, of that sign.
    void Make(const uint8_t* input, uint8_t padding, size_t first, size_t last, const OutputPlace& place,
              std::byte* scratch) const;
    /// A panel's columns of `rows` pixels, those that rows were made for, to `output`, which begins with the panel's
    /// first column. `columns`: with the output's range.
    void Write(const Panel8& panel, const RequantizeColumns& columns, bool isSigned, size_t rows, uint8_t* output,
               std::byte* scratch) const;
    /// The same for floats. `data`: how those of the image became bytes. `columns`: with the clamp.
    void WriteFloats(const Panel8& panel, const FloatColumns& columns, const FloatScale& data, size_t rows,
                     float* output, std::byte* scratch) const;

private:
    void FindGroups(const ImageRuns8& runs);
    /// What tiles read for a panel.
    ImageRows8 MakeRows(const Panel8& panel, size_t rows, std::byte* scratch) const;

    const PackedWeights8* m_Weights = nullptr;
    Windows m_Windows;
    bool m_IsHybrid = false;
    PaddedImage m_Image;
    std::vector<uint32_t> m_GroupPlaces; ///< see ImageRows8
    size_t m_BeginsOffset = 0;           ///< in the scratch memory, behind the image
    size_t m_PlacesOffset = 0;
    size_t m_ScratchBytes = 0;
};

} // namespace tenon::cpu
