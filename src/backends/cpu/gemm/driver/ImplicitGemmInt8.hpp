// SPDX-License-Identifier: Apache-2.0
// ImplicitGemmInt8: int8 and hybrid convolutions without im2col. PatchRunsInt8: their receptive fields as contiguous
// runs of bytes, for which Convolution2dInt8.cpp pads the weights.
#pragma once

#include "backends/common/Scratch.hpp"
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/gemm/pack/PackedWeightsInt8.hpp"
#include "backends/cpu/im2col/Im2col.hpp"
#include "backends/cpu/im2col/PaddedImage.hpp"

#include <tenon/backend/ILayerSupport.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::cpu
{

/// A receptive field as contiguous runs of bytes: one run per kernel row, or one per tap where rows have gaps
/// (dilation, groups). Runs in the weights are padded by zeros to whole groups of four bytes.
struct PatchRunsInt8
{
    static constexpr size_t GroupBytes = 4;

    size_t m_Count = 0;
    size_t m_Bytes = 0; ///< of a run

    PatchRunsInt8() = default;
    /// `hasWholeRows`: see Im2col::HasContiguousRows.
    PatchRunsInt8(size_t height, size_t width, size_t groupChannels, bool hasWholeRows)
        : m_Count(hasWholeRows ? height : height * width), m_Bytes(hasWholeRows ? width * groupChannels : groupChannels)
    {
    }
    explicit PatchRunsInt8(const Im2col& windows)
        : PatchRunsInt8(static_cast<size_t>(windows.m_Height), static_cast<size_t>(windows.m_Width),
                        static_cast<size_t>(windows.m_GroupChannels), windows.HasContiguousRows())
    {
    }

    size_t GetGroups() const { return (m_Bytes + GroupBytes - 1) / GroupBytes; } ///< of a run
    size_t GetPaddedDepth() const { return m_Count * GetGroups() * GroupBytes; }
    /// Whether consecutive runs in the weights are whole groups.
    bool IsWhole() const { return m_Count == 1 || m_Bytes % GroupBytes == 0; }
    /// Whether padding is faster than im2col run by run: each group that it adds costs a dot product per vector of
    /// columns.
    bool IsPaddable(size_t vectors) const
    {
        constexpr size_t CopyProducts = 3;
        const size_t added = m_Count * GetGroups() - (m_Count * m_Bytes + GroupBytes - 1) / GroupBytes;
        return added * vectors <= CopyProducts * m_Count;
    }

    /// [outputs][runs] weights, each run padded.
    std::vector<uint8_t> Pad(const uint8_t* weights, size_t outputs) const;
};

/// Implicit GEMM (indirect convolution). A block of output pixels has the image rows that it reads in scratch memory,
/// padded and biased. A receptive field is a few contiguous runs there, at the same distances for every output pixel:
///   address(row r, group g) = image + m_RowOffsets[r] + m_GroupOffsets[g]          g: four bytes of the depth
///   output: m_OutputOffsets[r]
/// Runs that are not whole groups of four have zero weights at their ends (PatchRunsInt8::Pad). For AVX-512 VNNI on
/// processors with spare vector ports (AMD).
class ImplicitGemmInt8
{
public:
    ImplicitGemmInt8() = default;
    /// `rows`: output pixels of all images. `isHybrid`: data are quantized floats, outputs are floats.
    ImplicitGemmInt8(const PackedWeightsInt8& weights, const Im2col& windows, size_t rows, bool isHybrid = false);

    /// Whether implicit GEMM is faster for this number of output pixels, per image and in all. Weights that are padded
    /// for it use it anyway.
    static bool HasManyPixels(size_t pixels, size_t rows);

    /// Whether there are such microkernels, the weights are packed for these receptive fields, which share enough of
    /// their pixels, and runs are whole groups. Precondition of all other methods.
    bool IsUsed() const { return m_Image.IsUsed(); }
    size_t GetScratchBytes() const { return m_ScratchBytes; }
    /// Maximum over all blocks.
    size_t GetBlockPixels() const { return m_Image.GetBlockPixels(); }
    /// One past the last pixel of the block that begins at `first` and ends at `last` or before.
    size_t GetBlockEnd(size_t first, size_t last) const { return m_Image.GetBlockEnd(first, last); }
    /// Makes the image rows for the output pixels [first, last); `place`: layout of the output. `input`: bytes of the
    /// first image, biased already if they were quantized from floats. `padding`: the padding byte, biased as `input`
    /// is.
    void Make(const uint8_t* input, uint8_t padding, size_t first, size_t last, const OutputLayout& place,
              std::byte* scratch) const;
    /// Multiplies `rows` pixels, whose image rows Make has made, by a panel. `output`: the panel's first column.
    /// `columns`: with the output's range.
    void Write(const PanelInt8& panel, const RequantizeColumns& columns, bool isSigned, size_t rows, uint8_t* output,
               std::byte* scratch) const;
    /// The same with a dequantizing epilogue. `data`: scale and zero point of the image. `columns`: with the clamp.
    void WriteDequantized(const PanelInt8& panel, const DequantizeColumns& columns, const ScaleAndZeroPoint& data,
                          size_t rows, float* output, std::byte* scratch) const;

private:
    void FindGroups(const PatchRunsInt8& runs);
    /// The operands of the microkernels for a panel.
    ImplicitGemmRowsInt8 MakeRows(const PanelInt8& panel, size_t rows, std::byte* scratch) const;

    const PackedWeightsInt8* m_Weights = nullptr;
    Im2col m_Im2col;
    bool m_IsHybrid = false;
    PaddedImage m_Image;
    std::vector<uint32_t> m_GroupOffsets; ///< see ImplicitGemmRowsInt8
    size_t m_RowOffsetsOffset = 0;        ///< in the scratch memory, behind the image
    size_t m_OutputOffsetsOffset = 0;
    size_t m_ScratchBytes = 0;
};

/// Whether the weights of a layer have the signs and zero point that implicit GEMM takes: Convolution2d of int8 with
/// constant scales, or of floats with 8- or 4-bit weights. Shapes decide as well, see ImplicitGemmInt8.
bool FitsImplicitGemm(const LayerView& layer, const MicrokernelsInt8& microkernels);

} // namespace tenon::cpu
