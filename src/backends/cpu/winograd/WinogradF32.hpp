// SPDX-License-Identifier: Apache-2.0
// WinogradF32: 3x3 convolutions of float32 by Winograd's F(4x4, 3x3), Y = At [(G g Gt) . (Bt d B)] A (Lavin and Gray
// 2015). A strip of tiles is transformed into points that stay in the second-level cache; each of the 36 points is a
// matrix product by MicrokernelsF32; the sums are transformed back. Rounding differs from GemmF32, hence
// FastMathEnabled alone.
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

/// Sizes of the transformed weights: each point is a group of columns.
WeightSizes GetWinogradSizesF32(size_t outputs, size_t channels);

/// Transforms and packs weights [outputs][3][3][channels].
std::unique_ptr<PackedWeightsF32> PackWinogradF32(const FloatWeights& weights, size_t outputs, size_t channels,
                                                  backends::PackedStore& store);

/// A convolution of known shapes. Results do not depend on the number of threads.
class WinogradF32
{
public:
    /// `weights`: of PackWinogradF32; `windows`: 3x3, of stride and dilation 1 and one group. `maxThreads`: see
    /// ReshapeArgs.
    WinogradF32(const PackedWeightsF32& weights, const Im2col& windows, size_t images,
                const backends::FloatClamp& clamp, unsigned int maxThreads);

    size_t GetScratchBytes() const { return m_ScratchBytes; }
    /// A null bias is zeros.
    void Run(const float* input, const float* bias, float* out, void* scratch, IParallelFor& parallel) const;

private:
    using Grid = WinogradGrid<WinogradTileF32::Outputs, WinogradTileF32::Inputs>;

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
    size_t m_StripTiles = 0;  ///< most tiles that are transformed together
    size_t m_PointDepth = 0;  ///< floats of a tile's point: channels, padded to whole vectors
    size_t m_PanelWidth = 0;  ///< floats of the widest panel
    size_t m_PointStride = 0; ///< floats between points of the strip
    size_t m_SumStride = 0;   ///< likewise, of the sums
    size_t m_Tasks = 1;
    size_t m_PointsOffset = 0; ///< in the scratch memory of a task
    size_t m_SumsOffset = 0;   ///< likewise
    size_t m_TaskBytes = 0;
    size_t m_ScratchBytes = 0; ///< of all tasks
};

} // namespace tenon::cpu
