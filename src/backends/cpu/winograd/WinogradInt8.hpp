// SPDX-License-Identifier: Apache-2.0
// WinogradInt8: 3x3 convolutions of int8 and uint8 by Winograd's F(2x2, 3x3) in exact integers, for processors without
// int8 dot products. A strip of tiles is transformed into int16 points that stay in the second-level cache; each of the
// 16 points is a matrix product of pairs of int16; the sums are transformed back and requantized, or dequantized for
// float data (hybrid).
#pragma once

#include "backends/common/FusedActivation.hpp"
#include "backends/cpu/gemm/pack/HybridDataInt8.hpp"
#include "backends/cpu/winograd/WinogradGrid.hpp"
#include "backends/cpu/winograd/WinogradTransformsInt8.hpp"
#include "backends/cpu/winograd/WinogradWeightsInt8.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// A convolution of known shapes.
class WinogradInt8
{
public:
    /// `windows`: 3x3, of stride and dilation 1 and one group. `isAsymmetric`: quantization of float data.
    WinogradInt8(const WinogradWeightsInt8& weights, const Im2col& windows, const ReshapeArgs& args, bool isAsymmetric);

    size_t GetScratchBytes() const { return m_ScratchBytes; }
    void Run(const ExecuteArgs& args) const;

private:
    using Grid = WinogradGrid<WinogradTileInt8::Outputs, WinogradTileInt8::Inputs>;

    struct Memory
    {
        GemmDataInt8 m_Input;
        void* m_Output = nullptr;
        const uint8_t* m_Padding = nullptr; ///< a pixel of padding, for each image
    };
    /// Sums of the pixels in a row of a tile, or of several neighbouring tiles.
    struct Pixels
    {
        const int32_t* m_Sums = nullptr;
        size_t m_SumStride = 0;
        size_t m_Count = 0;
        size_t m_Image = 0;
        size_t m_First = 0; ///< counted over all images
    };

    void RunStrip(const Memory& memory, size_t first, size_t last, std::byte* scratch) const;
    void TransformStrip(const Memory& memory, size_t first, size_t last, int16_t* points) const;
    void RunPoints(const PanelInt8& panel, size_t tiles, const int16_t* points, int32_t* sums) const;
    void StoreStrip(const Memory& memory, const PanelInt8& panel, size_t first, size_t last, std::byte* scratch) const;
    /// Requantizes or dequantizes a run of neighbouring tiles.
    void StoreRun(const Memory& memory, const PanelInt8& panel, const Grid::Place& place, size_t tiles,
                  const int32_t* sums, std::byte* scratch) const;
    void WriteInt8(const Memory& memory, const PanelInt8& panel, const Pixels& pixels) const;
    void WriteF32(const Memory& memory, const PanelInt8& panel, const Pixels& pixels, std::byte* scratch) const;

    const WinogradWeightsInt8* m_Weights;
    Grid m_Grid;
    bool m_IsSigned = true; ///< data and output, if these are 8-bit
    int32_t m_Min = 0;      ///< of the output
    int32_t m_Max = 0;
    HybridQuantizerInt8 m_Quantizer; ///< of float data
    backends::FloatClamp m_Clamp;    ///< likewise
    size_t m_StripTiles = 0;         ///< most tiles that are transformed together
    size_t m_PointDepth = 0;         ///< int16 of a tile's point: channels, padded to whole vectors
    size_t m_PanelWidth = 0;         ///< sums of the widest panel
    size_t m_PointStride = 0;        ///< int16 between points of the strip
    size_t m_SumStride = 0;          ///< likewise, of the sums
    size_t m_Tasks = 1;
    size_t m_SumsOffset = 0;   ///< in the scratch memory of a task
    size_t m_PixelsOffset = 0; ///< likewise
    size_t m_ScalesOffset = 0;
    size_t m_ZeroPointsOffset = 0;
    size_t m_TaskBytes = 0;
    size_t m_PaddingOffset = 0; ///< after the quantized data
    size_t m_TasksOffset = 0;
    size_t m_ScratchBytes = 0;
};

} // namespace tenon::cpu
