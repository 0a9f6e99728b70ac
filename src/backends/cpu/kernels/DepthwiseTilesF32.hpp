// SPDX-License-Identifier: Apache-2.0
// Tiles of depthwise convolutions of float32: a few output pixels, all channels of them. The inner loops of
// DepthwiseF32, one set for each kind of processor.
#pragma once

#include <cstddef>

namespace tenon::cpu
{

/// Output pixels next to each other, in one row or in two. Each pixel of the image that they see is read once for all
/// of them.
struct DepthwiseTileF32
{
    /// Where the pixels of the image are, row by row; for tiles of any window: [tap][column].
    const float* const* m_Data = nullptr;
    size_t m_Taps = 0;                ///< of the window, for tiles of any window
    const float* m_Weights = nullptr; ///< [vectors][taps][lanes]
    const float* m_Bias = nullptr;    ///< [channels]; null: zeros
    size_t m_Channels = 0;
    bool m_HasClamp = false;
    float m_Low = 0.0f;
    float m_High = 0.0f;
    float* m_Out = nullptr; ///< the first pixel
    size_t m_OutStride = 0; ///< floats between pixels of a row
    size_t m_OutRowStride = 0;
};

using DepthwiseTileFunctionF32 = void (*)(const DepthwiseTileF32& tile);

/// The tiles of a window.
struct DepthwiseTilesF32
{
    static constexpr size_t MostRows = 2;
    static constexpr size_t Columns = 4;

    size_t m_Size = 0; ///< of the window, which is square; 0: any window, whose tiles have [tap][column] for data
    size_t m_Rows = 1; ///< of the highest tile
    DepthwiseTileFunctionF32 m_Wide[MostRows + 1] = {};   ///< by rows; of `Columns` columns
    DepthwiseTileFunctionF32 m_Narrow[MostRows + 1] = {}; ///< of one column
};

/// The inner loops of a kind of processor.
struct DepthwiseEngineF32
{
    size_t m_Lanes = 0;           ///< floats of a vector
    DepthwiseTilesF32 m_Size3[2]; ///< windows of 3x3, with strides of 1 and 2
    DepthwiseTilesF32 m_Size5[2]; ///< windows of 5x5
    DepthwiseTilesF32 m_Any;
    /// to[i * times + j] = from[i] for j < times: what a channel multiplier makes of an image.
    void (*m_Repeat)(const float* from, size_t count, size_t times, float* to) = nullptr;
};

/// The best that the processor has. Precondition: it has vectors, see CpuFeatures.
const DepthwiseEngineF32& GetDepthwiseEngineF32();

} // namespace tenon::cpu
