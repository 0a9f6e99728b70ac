// SPDX-License-Identifier: Apache-2.0
// The transforms of Winograd's convolution F(2x2, 3x3) in integers: 4 outputs of a 3x3 convolution of stride 1 take 16
// products per channel in place of 36. Weights are transformed by twice the usual matrix, so that nothing is rounded:
// what comes out is four times the sums. The inner loops of Winograd8, one set for each kind of processor.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

struct WinogradTile8
{
    static constexpr size_t Window = 3;
    static constexpr size_t Outputs = 2;                   ///< high and wide
    static constexpr size_t Inputs = Outputs + Window - 1; ///< high and wide
    static constexpr size_t Points = Inputs * Inputs;
    /// What the outputs come to be multiplied by.
    static constexpr int64_t Scale = 4;
};

/// What a tile of the image becomes: for each point the channels' values, of magnitudes up to 4 * 255.
struct WinogradInput8
{
    const uint8_t* const* m_Pixels = nullptr; ///< row by row, where the first channels are
    size_t m_Channels = 0;
    bool m_IsSigned = false;
    int16_t* m_Out = nullptr; ///< has room for whole vectors
    size_t m_PointStride = 0;
};

/// What the sums over the channels become: sums of products of data and weights, for the pixels of the tile.
struct WinogradOutput8
{
    const int32_t* m_Sums = nullptr; ///< whole vectors
    size_t m_PointStride = 0;
    const int32_t* m_Bias = nullptr; ///< whole vectors
    size_t m_Width = 0;              ///< whole vectors
    int32_t* m_Out = nullptr;        ///< of the first pixel; the second follows
    size_t m_RowStride = 0;
};

struct WinogradEngine8
{
    static constexpr size_t MostLanes = 32; ///< of int16

    void (*m_TransformInput)(const WinogradInput8& tile) = nullptr;
    void (*m_TransformOutput)(const WinogradOutput8& tile) = nullptr;
    /// `weights`: [3][3][channels], become [point][channels], points `pointStride` apart. Channels are whole vectors.
    void (*m_TransformWeights)(const int16_t* weights, size_t channels, int16_t* points, size_t pointStride) = nullptr;
};

/// The best that the processor has. Precondition: it has vectors, see CpuFeatures.
const WinogradEngine8& GetWinogradEngine8();

} // namespace tenon::cpu
