// SPDX-License-Identifier: Apache-2.0
// 3x3 convolutions of bytes by Winograd's F(2x2, 3x3) in exact integers, for processors that multiply pairs of int16:
// strips of tiles of the image are transformed into memory that stays in the second-level cache, each of the 16 points
// is a product of matrices there, and what comes out is transformed back into sums and made bytes of.
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

/// A convolution whose shapes are known.
class Winograd8
{
public:
    /// `windows`: 3x3, of stride and dilation 1 and one group. `isAsymmetric`: how float data are quantized.
    Winograd8(const WinogradWeights8& weights, const Windows& windows, const ReshapeArgs& args, bool isAsymmetric);

    size_t GetScratchBytes() const { return m_ScratchBytes; }
    void Run(const ExecuteArgs& args) const;

private:
    using Grid = WinogradGrid<WinogradTile8::Outputs, WinogradTile8::Inputs>;

    struct Memory
    {
        ByteData8 m_Input;
        void* m_Output = nullptr;
        const uint8_t* m_Padding = nullptr; ///< a pixel outside of each image
    };
    /// Sums of the pixels of a tile's row, or of those of several that lie beside each other.
    struct Pixels
    {
        const int32_t* m_Sums = nullptr;
        size_t m_SumStride = 0;
        size_t m_Count = 0;
        size_t m_Image = 0;
        size_t m_First = 0; ///< counted through all images
    };

    void RunStrip(const Memory& memory, size_t first, size_t last, std::byte* scratch) const;
    void TransformStrip(const Memory& memory, size_t first, size_t last, int16_t* points) const;
    void RunPoints(const Panel8& panel, size_t tiles, const int16_t* points, int32_t* sums) const;
    void StoreStrip(const Memory& memory, const Panel8& panel, size_t first, size_t last, std::byte* scratch) const;
    /// Tiles that lie beside each other.
    void StoreRun(const Memory& memory, const Panel8& panel, const Grid::Place& place, size_t tiles,
                  const int32_t* sums, std::byte* scratch) const;
    void WriteBytes(const Memory& memory, const Panel8& panel, const Pixels& pixels) const;
    void WriteFloats(const Memory& memory, const Panel8& panel, const Pixels& pixels, std::byte* scratch) const;

    const WinogradWeights8* m_Weights;
    Grid m_Grid;
    bool m_IsSigned = true; ///< data and output, if these are bytes
    int32_t m_Min = 0;      ///< of the output
    int32_t m_Max = 0;
    HybridQuantizer8 m_Quantizer; ///< of float data
    backends::FloatClamp m_Clamp; ///< likewise
    size_t m_StripTiles = 0;      ///< that are transformed together, at most
    size_t m_PointDepth = 0;      ///< int16 of a tile's point: channels, in whole vectors
    size_t m_PanelWidth = 0;      ///< sums of the widest panel
    size_t m_PointStride = 0;     ///< int16 from one point of the strip to the next
    size_t m_SumStride = 0;       ///< likewise, of the sums
    size_t m_Parts = 1;
    size_t m_SumsOffset = 0;   ///< in a part's scratch memory
    size_t m_PixelsOffset = 0; ///< likewise
    size_t m_ScalesOffset = 0;
    size_t m_ZeroPointsOffset = 0;
    size_t m_PartBytes = 0;
    size_t m_PaddingOffset = 0; ///< behind quantized data
    size_t m_PartsOffset = 0;
    size_t m_ScratchBytes = 0;
};

} // namespace tenon::cpu
