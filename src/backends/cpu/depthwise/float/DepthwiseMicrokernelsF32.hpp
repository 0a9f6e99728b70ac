// SPDX-License-Identifier: Apache-2.0
// The table of float depthwise microkernels of one instruction set and data type (float32, or bfloat16 in uint16_t;
// sums are float32), and their arguments: tiles of 1 or 2 rows by up to 8 pixels, and strips of 3x3 windows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Quantization of float data to whole numbers in float32: clamp(round(x * m_Inverse), m_Min, m_Max). See
/// MicrokernelsInt8::m_QuantizeToFloats.
struct DepthwiseQuantization
{
    float m_Inverse = 0.0f; ///< 1 / scale
    float m_Min = 0.0f;     ///< smallest and largest whole number
    float m_Max = 0.0f;
};

/// Arguments of a tile microkernel: neighbouring output pixels in one row or in two. Each pixel of the image under
/// their windows is read once for all of them.
template <typename T>
struct DepthwiseTileF32
{
    /// Indirection buffer: pointers to image pixels, row by row; for tiles of any window [tap][column].
    const T* const* m_Data = nullptr;
    size_t m_Taps = 0;                ///< taps of the window, for tiles of any window
    const float* m_Weights = nullptr; ///< [vectors][taps][lanes]
    const float* m_Bias = nullptr;    ///< [channels]; null: zeros
    /// [channels]: scales of hybrid sums, before the bias is added. Null: sums are not scaled.
    const float* m_Scales = nullptr;
    size_t m_Channels = 0;   ///< output channels
    size_t m_Multiplier = 1; ///< channel multiplier, for m_BroadcastTiles
    bool m_HasClamp = false;
    float m_Low = 0.0f;
    float m_High = 0.0f;
    bool m_RoundsFast = false; ///< see DepthwiseMicrokernelsF32
    T* m_Out = nullptr;        ///< the first pixel
    size_t m_OutStride = 0;    ///< elements between pixels of a row
    size_t m_OutRowStride = 0;
};

template <typename T>
using DepthwiseTileMicrokernelF32 = void (*)(const DepthwiseTileF32<T>& tile);

/// The tile microkernels of one window size.
template <typename T>
struct DepthwiseTileSetF32
{
    static constexpr size_t MaxRows = 2;
    static constexpr size_t MaxColumns = 8;

    /// Whether a channel of the image is broadcast to several vectors of output channels; else image and output have
    /// the same number of channels.
    bool m_BroadcastsChannels = false;
    size_t m_Size = 0;    ///< size of the square window; 0: any window, with data in the order [tap][column]
    size_t m_Rows = 1;    ///< rows of the highest tile
    size_t m_Columns = 0; ///< columns of the widest tile
    DepthwiseTileMicrokernelF32<T> m_Run[MaxRows + 1][MaxColumns + 1] = {}; ///< by rows and columns
};

/// Limits of column strips.
struct DepthwiseColumnStrips
{
    static constexpr size_t MaxColumns = 4;  ///< output columns
    static constexpr size_t MaxRows = 32;    ///< output rows
    static constexpr size_t MaxBytes = 4096; ///< bytes of channels
    /// The distance of pixels in bytes is a multiple of this.
    static constexpr size_t ShortestPeriod = 1024;
    /// Loads wait for earlier stores whose address is equal modulo this (4 KiB aliasing).
    static constexpr size_t Page = 4096;
};

/// Limits of row strips by pairs of vectors.
struct DepthwisePairStrips
{
    static constexpr size_t MaxDelayed = 64; ///< pixels of a row whose stores are delayed
};

/// Arguments of a strip microkernel: one or two output rows of 3x3 windows over the whole width, with at most one
/// padding row and column on each side. For a column strip, exchange rows and columns in all names.
template <typename T>
struct DepthwiseStripF32
{
    /// Pixels of the first image column, at m_FirstChannel: of the first, the middle and the last image row under the
    /// windows. A row in the padding points to a pixel of zeros and has a step of 0.
    const T* m_Top = nullptr;
    const T* m_Middle = nullptr;
    const T* m_Bottom = nullptr;
    size_t m_TopStep = 0; ///< elements from a pixel to the next in the row
    size_t m_BottomStep = 0;
    /// The same in the middle rows; and in the output, unless sums are scaled or the strip is a column strip.
    size_t m_PixelStep = 0;
    size_t m_RowStep = 0;             ///< elements from a middle row to the next
    bool m_HasLeft = false;           ///< whether the first column of the first windows is in the image
    bool m_IsLastWindowCut = false;   ///< whether the last column of the last windows is not
    size_t m_WholeWindows = 0;        ///< windows of each row, without a cut one
    size_t m_FirstChannel = 0;        ///< a multiple of the lanes
    size_t m_LastChannel = 0;         ///< one past the last channel
    const float* m_Weights = nullptr; ///< as in a tile, of all channels; so are bias and scales
    const float* m_Bias = nullptr;
    const float* m_Scales = nullptr; ///< as in a tile; for scaling strips only
    bool m_HasClamp = false;
    float m_Low = 0.0f;
    float m_High = 0.0f;
    bool m_RoundsFast = false;
    T* m_Out = nullptr;        ///< the first pixel
    size_t m_OutPixelStep = 0; ///< for scaling strips and column strips
    size_t m_OutRowStep = 0;
    /// Column strips: 0, or the aliasing period in bytes. Then image and output alias, and each vector is stored while
    /// the next one is computed, so that no load waits for a pending store.
    size_t m_Period = 0;
    /// Pair strips: stores are delayed as in column strips with a period; at most MaxDelayed pixels.
    bool m_DelaysStores = false;
    bool m_IsReversed = false; ///< pair strips: from the last pair of vectors to the first
};

template <typename T>
using DepthwiseStripMicrokernelF32 = void (*)(const DepthwiseStripF32<T>& strip);

/// The float depthwise microkernels of one instruction set.
template <typename T>
struct DepthwiseMicrokernelsF32
{
    size_t m_Lanes = 0; ///< floats in a vector
    /// Whether an instruction rounds to bfloat16. It flushes subnormal numbers to zero.
    bool m_RoundsFast = false;
    DepthwiseTileSetF32<T> m_Size2;    ///< windows of 2x2 with a stride of 1: with one of 2 they share no pixels
    DepthwiseTileSetF32<T> m_Size3[2]; ///< windows of 3x3, with strides of 1 and 2
    DepthwiseTileSetF32<T> m_Size5[2]; ///< windows of 5x5
    DepthwiseStripMicrokernelF32<T> m_RowStrips[2][DepthwiseTileSetF32<T>::MaxRows + 1] =
        {}; ///< of 3x3, by stride - 1 and rows; or null
    /// The same, two vectors of channels at a time. Where they exist, strips have all channels and do not scale.
    DepthwiseStripMicrokernelF32<T> m_PairStrips[2][DepthwiseTileSetF32<T>::MaxRows + 1] = {};
    /// As m_RowStrips, but they scale sums. For float data only, as the next.
    DepthwiseStripMicrokernelF32<T> m_ScalingStrips[2][DepthwiseTileSetF32<T>::MaxRows + 1] = {};
    /// Column strips of full vectors of channels, by stride - 1 and columns; or null. For float data only.
    DepthwiseStripMicrokernelF32<T> m_ColumnStrips[2][DepthwiseColumnStrips::MaxColumns + 1] = {};
    /// Quantizes pixels to whole numbers in blocks of channels, `blockStep` elements apart, each of them
    /// [pixels][StripChannels].
    void (*m_QuantizePixels)(const float* from, size_t pixels, size_t channels, const DepthwiseQuantization& steps,
                             float* to, size_t blockStep) = nullptr;
    static constexpr size_t StripChannels = 32; ///< two vectors of AVX-512, a row strip's block of channels
    DepthwiseTileSetF32<T> m_AnyWindow;
    DepthwiseTileSetF32<T> m_BroadcastTiles; ///< any window; the channel multiplier is a multiple of the lanes
    /// Any window of convolutions in groups of two or four channels with as many outputs. Weights are
    /// [vectors][taps][channels of the group][lanes].
    DepthwiseTileSetF32<T> m_Groups2;
    DepthwiseTileSetF32<T> m_Groups4;
    /// The same for groups of eight. Weights are [vectors][taps][outputs of the group][lanes], lane = input channel; no
    /// columns where the instruction set has no such tiles.
    DepthwiseTileSetF32<T> m_Groups8;
};

/// The microkernels of the best instruction set of the processor. Precondition: it has vectors, see CpuFeatures.
template <typename T>
const DepthwiseMicrokernelsF32<T>& GetDepthwiseMicrokernelsF32();
template <>
const DepthwiseMicrokernelsF32<float>& GetDepthwiseMicrokernelsF32();
template <>
const DepthwiseMicrokernelsF32<uint16_t>& GetDepthwiseMicrokernelsF32();

} // namespace tenon::cpu
