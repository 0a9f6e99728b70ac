// SPDX-License-Identifier: Apache-2.0
// The transforms of Winograd's convolution F(4x4, 3x3): 16 outputs of a 3x3 convolution of stride 1 take 36 products
// per channel in place of 144. The inner loops of WinogradF32, one set for each kind of processor.
#pragma once

#include <cstddef>

namespace tenon::cpu
{

/// The sizes of a tile, and the points at which the polynomials behind the transforms are taken: 0, +-Near, +-Far and
/// infinity. These two give the least rounding error of all pairs of short numbers: 0.4 times that of the customary 1
/// and 2. Their squares are exact in float32.
struct WinogradTile
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

/// What a tile of the image becomes: for each point the channels' values.
struct WinogradInput
{
    const float* const* m_Pixels = nullptr; ///< row by row, where the first channels are
    const float* const* m_Next = nullptr;   ///< those of the tile that follows, to be fetched meanwhile
    size_t m_Channels = 0;
    float* m_Out = nullptr; ///< has room for whole vectors
    size_t m_PointStride = 0;
};

/// What the sums over the channels become: pixels of the output.
struct WinogradOutput
{
    const float* m_Sums = nullptr; ///< whole vectors
    size_t m_PointStride = 0;
    const float* m_Bias = nullptr; ///< null: zeros
    size_t m_Channels = 0;
    bool m_HasClamp = false;
    float m_Low = 0.0f;
    float m_High = 0.0f;
    float* m_Out = nullptr;
    size_t m_Rows = 0;    ///< of the tile that the output has
    size_t m_Columns = 0; ///< likewise
    size_t m_RowStride = 0;
    size_t m_PixelStride = 0;
};

struct WinogradEngine
{
    void (*m_TransformInput)(const WinogradInput& tile) = nullptr;
    void (*m_TransformOutput)(const WinogradOutput& tile) = nullptr;
};

/// The best that the processor has. Precondition: it has vectors, see CpuFeatures.
const WinogradEngine& GetWinogradEngine();

/// [outputs][3][3][channels] becomes [point][outputs][channels]. In double precision, rounded once.
void TransformWinogradWeights(const float* weights, size_t outputs, size_t channels, float* transformed);

} // namespace tenon::cpu
