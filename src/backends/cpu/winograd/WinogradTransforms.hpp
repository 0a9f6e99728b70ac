// SPDX-License-Identifier: Apache-2.0
// The transforms of Winograd's minimal filtering for 3x3 convolutions of stride 1, one set for each kind of processor.
//   WinogradTransformsF32   F(4x4, 3x3): 16 outputs take 36 products per channel instead of 144. Used by WinogradF32
//   WinogradTransformsInt8  F(2x2, 3x3) in integers: 4 outputs take 16 products per channel instead of 36. Weights are
//                           transformed by 2 G from both sides, which needs no rounding; the results are four times the
//                           sums. Used by WinogradInt8
#pragma once

#include <cstddef>
#include <cstdint>

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

/// Sizes of a tile of integers.
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
