// SPDX-License-Identifier: Apache-2.0
// WinogradTransformsInt8: the transforms of F(2x2, 3x3) in integers, one set for each kind of processor: 4 outputs of a
// 3x3 convolution of stride 1 take 16 products per channel instead of 36. Weights are transformed by 2 G from both
// sides, which needs no rounding; the results are four times the sums. Used by WinogradInt8.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

struct WinogradTileInt8
{
    static constexpr size_t Window = 3;
    static constexpr size_t Outputs = 2;                   ///< high and wide
    static constexpr size_t Inputs = Outputs + Window - 1; ///< high and wide
    static constexpr size_t Points = Inputs * Inputs;
    /// Factor of the outputs, by 2 G from both sides.
    static constexpr int64_t Scale = 4;
};

/// Input transform of a tile: all channels of each point, of magnitudes up to 4 * 255.
struct WinogradInputTileInt8
{
    const uint8_t* const* m_Pixels = nullptr; ///< pointers to the first channels, row by row
    size_t m_Channels = 0;
    bool m_IsSigned = false;
    int16_t* m_Out = nullptr; ///< with room for whole vectors
    size_t m_PointStride = 0;
};

/// Output transform of a tile: sums over the channels to sums of products of data and weights, for the tile's pixels.
struct WinogradOutputTileInt8
{
    const int32_t* m_Sums = nullptr; ///< whole vectors
    size_t m_PointStride = 0;
    const int32_t* m_Bias = nullptr; ///< whole vectors
    size_t m_Width = 0;              ///< whole vectors
    int32_t* m_Out = nullptr;        ///< of the first pixel; the second follows
    size_t m_RowStride = 0;
};

struct WinogradTransformsInt8
{
    static constexpr size_t MaxLanes = 32; ///< of int16

    void (*m_TransformInput)(const WinogradInputTileInt8& tile) = nullptr;
    void (*m_TransformOutput)(const WinogradOutputTileInt8& tile) = nullptr;
    /// `weights`: [3][3][channels] to [point][channels], points `pointStride` apart. Channels are whole vectors.
    void (*m_TransformWeights)(const int16_t* weights, size_t channels, int16_t* points, size_t pointStride) = nullptr;
};

/// The best set for this processor. Precondition: the processor has vectors, see CpuFeatures.
const WinogradTransformsInt8& GetWinogradTransformsInt8();

} // namespace tenon::cpu
