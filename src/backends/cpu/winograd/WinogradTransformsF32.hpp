// SPDX-License-Identifier: Apache-2.0
// WinogradTransformsF32: the transforms of F(4x4, 3x3), one set for each kind of processor: 16 outputs of a 3x3
// convolution of stride 1 take 36 products per channel instead of 144. Used by WinogradF32.
#pragma once

#include <cstddef>

namespace tenon::cpu
{

/// Sizes of a tile, and the interpolation points of the transforms: 0, +-Near, +-Far and infinity. This pair has the
/// least rounding error of all pairs of short numbers: 0.4 times that of the customary 1 and 2. Their squares are exact
/// in float32.
struct WinogradTileF32
{
    static constexpr size_t Window = 3;
    static constexpr size_t Outputs = 4;                   ///< high and wide
    static constexpr size_t Inputs = Outputs + Window - 1; ///< high and wide
    static constexpr size_t Points = Inputs * Inputs;

    static constexpr float Near = 0.625f;
    static constexpr float Far = 1.5f;
    static constexpr float NearSquare = Near * Near;
    static constexpr float FarSquare = Far * Far;
};

/// Input transform of a tile: all channels of each point.
struct WinogradInputTileF32
{
    const float* const* m_Pixels = nullptr; ///< pointers to the first channels, row by row
    const float* const* m_Next = nullptr;   ///< those of the next tile, prefetched meanwhile
    size_t m_Channels = 0;
    float* m_Out = nullptr; ///< with room for whole vectors
    size_t m_PointStride = 0;
};

/// Output transform of a tile: sums over the channels to pixels of the output.
struct WinogradOutputTileF32
{
    const float* m_Sums = nullptr; ///< whole vectors
    size_t m_PointStride = 0;
    const float* m_Bias = nullptr; ///< null: zeros
    size_t m_Channels = 0;
    bool m_HasClamp = false;
    float m_Low = 0.0f;
    float m_High = 0.0f;
    float* m_Out = nullptr;
    size_t m_Rows = 0;    ///< of the tile, inside the output
    size_t m_Columns = 0; ///< likewise
    size_t m_RowStride = 0;
    size_t m_PixelStride = 0;
};

struct WinogradTransformsF32
{
    void (*m_TransformInput)(const WinogradInputTileF32& tile) = nullptr;
    void (*m_TransformOutput)(const WinogradOutputTileF32& tile) = nullptr;
};

/// The best set for this processor. Precondition: the processor has vectors, see CpuFeatures.
const WinogradTransformsF32& GetWinogradTransformsF32();

/// Weights [outputs][3][3][channels] to [point][outputs][channels]; computed in double precision and rounded once.
void TransformWinogradWeightsF32(const float* weights, size_t outputs, size_t channels, float* transformed);

} // namespace tenon::cpu
