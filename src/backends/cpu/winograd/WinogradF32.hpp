// SPDX-License-Identifier: Apache-2.0
// 3x3 convolutions of float32 by Winograd's F(4x4, 3x3): strips of tiles of the image are transformed into memory that
// stays in the second-level cache, each of the 36 points is a product of matrices there, and what comes out is
// transformed back. Sums are rounded otherwise than those of ProductF32: for FastMathEnabled alone.
#pragma once

#include "backends/common/FusedActivation.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/gemm/pack/PackedWeightsF32.hpp"
#include "backends/cpu/winograd/WinogradGrid.hpp"
#include "backends/cpu/winograd/WinogradTransformsF32.hpp"

#include <cstddef>
#include <memory>

namespace tenon::cpu
{

/// The sizes of the transformed weights: each point is a group.
WeightSizes GetWinogradSizes(size_t outputs, size_t channels);

/// Packs weights [outputs][3][3][channels].
std::unique_ptr<PackedWeightsF32> PackWinograd(const FloatWeights& weights, size_t outputs, size_t channels,
                                               backends::PackedStore& store);

/// A convolution whose shapes are known. Results do not depend on the number of threads.
class WinogradF32
{
public:
    /// `weights`: of PackWinograd; `windows`: 3x3, of stride and dilation 1 and one group. `maxThreads`: see
    /// ReshapeArgs.
    WinogradF32(const PackedWeightsF32& weights, const Windows& windows, size_t images,
                const backends::FloatClamp& clamp, unsigned int maxThreads);

    size_t GetScratchBytes() const { return m_ScratchBytes; }
    /// A null bias is zeros.
    void Run(const float* input, const float* bias, float* out, void* scratch, IParallelFor& parallel) const;

private:
    using Grid = WinogradGrid<WinogradTile::Outputs, WinogradTile::Inputs>;

    struct Operands
    {
        const float* m_Input = nullptr;
        const float* m_Bias = nullptr;
        float* m_Out = nullptr;
    };

    void RunStrip(const Operands& operands, size_t first, size_t last, std::byte* scratch) const;
    void TransformStrip(const float* input, size_t first, size_t last, float* points) const;
    void RunPoints(size_t firstPanel, size_t tiles, const float* points, float* sums) const;
    void StoreStrip(const Operands& operands, const PanelF32& panel, size_t first, size_t last,
                    const float* sums) const;

    const PackedWeightsF32* m_Weights;
    Grid m_Grid;
    backends::FloatClamp m_Clamp;
    size_t m_Channels = 0;    ///< of the output
    size_t m_StripTiles = 0;  ///< that are transformed together, at most
    size_t m_PointDepth = 0;  ///< floats of a tile's point: channels, in whole vectors
    size_t m_PanelWidth = 0;  ///< floats of the widest panel
    size_t m_PointStride = 0; ///< floats from one point of the strip to the next
    size_t m_SumStride = 0;   ///< likewise, of the sums
    size_t m_Parts = 1;
    size_t m_PointsOffset = 0; ///< in a part's scratch memory
    size_t m_SumsOffset = 0;   ///< likewise
    size_t m_PartBytes = 0;
    size_t m_ScratchBytes = 0; ///< of all parts
};

} // namespace tenon::cpu
