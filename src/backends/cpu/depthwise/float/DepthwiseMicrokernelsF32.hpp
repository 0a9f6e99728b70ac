// SPDX-License-Identifier: Apache-2.0
// Tiles of depthwise convolutions of floats, and of those in small groups: a few output pixels, all channels of them.
// The inner loops of DepthwiseConvolution2d and some Convolution2d, one set for each kind of processor and type:
// float32, and bfloat16 in uint16_t, whose sums are float32 too.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// How floats become whole numbers: see Engine8::m_QuantizeToFloats.
struct DepthwiseSteps
{
    float m_Inverse = 0.0f; ///< steps of 1
    float m_Least = 0.0f;   ///< of the numbers
    float m_Most = 0.0f;
};

/// Output pixels next to each other, in one row or in two. Each pixel of the image that they see is read once for all
/// of them.
template <typename T>
struct DepthwiseTile
{
    /// Where the pixels of the image are, row by row; for tiles of any window: [tap][column].
    const T* const* m_Data = nullptr;
    size_t m_Taps = 0;                ///< of the window, for tiles of any window
    const float* m_Weights = nullptr; ///< [vectors][taps][lanes]
    const float* m_Bias = nullptr;    ///< [channels]; null: zeros
    /// [channels], of sums of whole numbers: what they are multiplied by before the bias is added. Null: nothing.
    const float* m_Scales = nullptr;
    size_t m_Channels = 0;   ///< of the output
    size_t m_Multiplier = 1; ///< of them for each channel of the image, for tiles that spread these
    bool m_HasClamp = false;
    float m_Low = 0.0f;
    float m_High = 0.0f;
    bool m_RoundsFast = false; ///< DepthwiseEngine's
    T* m_Out = nullptr;        ///< the first pixel
    size_t m_OutStride = 0;    ///< elements between pixels of a row
    size_t m_OutRowStride = 0;
};

template <typename T>
using DepthwiseTileFunction = void (*)(const DepthwiseTile<T>& tile);

/// The tiles of a window.
template <typename T>
struct DepthwiseTiles
{
    static constexpr size_t MostRows = 2;
    static constexpr size_t MostColumns = 8;

    /// Whether images have one channel where the output has some vectors of them; else they have as many.
    bool m_SpreadsChannels = false;
    size_t m_Size = 0;    ///< of the window, which is square; 0: any window, whose tiles have [tap][column] for data
    size_t m_Rows = 1;    ///< of the highest tile
    size_t m_Columns = 0; ///< of the widest one
    DepthwiseTileFunction<T> m_Run[MostRows + 1][MostColumns + 1] = {}; ///< by rows and columns
};

/// Of strips of columns.
struct DepthwiseDownStrips
{
    static constexpr size_t MostColumns = 4;  ///< of the output
    static constexpr size_t MostRows = 32;    ///< of it
    static constexpr size_t MostBytes = 4096; ///< of channels
    /// Pixels are multiples of so many bytes apart.
    static constexpr size_t ShortestPeriod = 1024;
    /// Of addresses that differ by multiples of it alone, a processor may take loads and stores for those of one.
    static constexpr size_t Page = 4096;
};

/// Of strips of pairs of vectors.
struct DepthwisePairStrips
{
    static constexpr size_t MostDelayed = 64; ///< pixels of a row
};

/// One row of the output of windows of 3x3, or two, over the whole width. At most one column and one row on each side
/// of the image are padding. Or a few columns of the output, over some of its rows: then rows are called columns here,
/// and columns rows.
template <typename T>
struct DepthwiseStrip
{
    /// The pixels of the first column that is in the image, from the first channel on, of the rows of the image that
    /// the windows see: the first, the ones between, the last. What is outside of the image is a pixel of zeros, with a
    /// step of 0.
    const T* m_Top = nullptr;
    const T* m_Middle = nullptr;
    const T* m_Bottom = nullptr;
    size_t m_TopStep = 0; ///< elements from a pixel to the next one in the row
    size_t m_BottomStep = 0;
    /// Of the rows between; and of the output, unless sums are scaled or the strip is one of columns.
    size_t m_PixelStep = 0;
    size_t m_RowStep = 0;             ///< elements from a row between to the next one
    bool m_HasLeft = false;           ///< whether the first column of the first windows is in the image
    bool m_HasCut = false;            ///< whether the last column of the last windows is not
    size_t m_WholeWindows = 0;        ///< of each row, without one that is cut
    size_t m_FirstChannel = 0;        ///< a multiple of the lanes
    size_t m_LastChannel = 0;         ///< the one behind it
    const float* m_Weights = nullptr; ///< as those of a tile, of all channels, as the rest
    const float* m_Bias = nullptr;
    const float* m_Scales = nullptr; ///< as a tile's; of those that scale alone
    bool m_HasClamp = false;
    float m_Low = 0.0f;
    float m_High = 0.0f;
    bool m_RoundsFast = false;
    T* m_Out = nullptr;        ///< the first pixel
    size_t m_OutPixelStep = 0; ///< of scaled sums, and of strips of columns
    size_t m_OutRowStep = 0;
    /// Of strips of columns: 0, or bytes. Then the vectors of channels that are loaded from the image and the same ones
    /// of the output lie at one place of a period, and each is stored while the next one is worked on, so that no load
    /// seems to be from where a store is not done yet.
    size_t m_Period = 0;
    /// Of strips of pairs of vectors: as those of columns with a period; they have few pixels.
    bool m_Delays = false;
    bool m_GoesBack = false; ///< the same: from the last pair to the first
};

template <typename T>
using DepthwiseStripFunction = void (*)(const DepthwiseStrip<T>& strip);

/// The inner loops of a kind of processor.
template <typename T>
struct DepthwiseEngine
{
    size_t m_Lanes = 0; ///< floats of a vector
    /// Whether there is an instruction that rounds to bfloat16. It makes zeros of numbers too small to be normal.
    bool m_RoundsFast = false;
    DepthwiseTiles<T> m_Size2;    ///< windows of 2x2 with a stride of 1: with one of 2 they share no pixels
    DepthwiseTiles<T> m_Size3[2]; ///< windows of 3x3, with strides of 1 and 2
    DepthwiseTiles<T> m_Size5[2]; ///< windows of 5x5
    DepthwiseStripFunction<T> m_Strips[2][DepthwiseTiles<T>::MostRows + 1] =
        {}; ///< of 3x3, by stride - 1 and rows; or null
    /// The same, two vectors of channels at a time; where there are some, strips have all channels, and do not scale.
    DepthwiseStripFunction<T> m_PairStrips[2][DepthwiseTiles<T>::MostRows + 1] = {};
    /// As m_Strips, but they scale sums; of floats alone, as the next.
    DepthwiseStripFunction<T> m_ScalingStrips[2][DepthwiseTiles<T>::MostRows + 1] = {};
    /// Of few columns of the output and whole vectors of channels, by stride - 1 and columns; or null. Of floats
    /// alone.
    DepthwiseStripFunction<T> m_DownStrips[2][DepthwiseDownStrips::MostColumns + 1] = {};
    /// Lays out pixels as whole numbers: blocks of channels, so far apart, each of them [pixels][StripChannels].
    void (*m_QuantizePixels)(const float* from, size_t pixels, size_t channels, const DepthwiseSteps& steps, float* to,
                             size_t blockStep) = nullptr;
    static constexpr size_t StripChannels = 32; ///< two vectors, which strips are for
    DepthwiseTiles<T> m_Any;
    DepthwiseTiles<T> m_Spreading; ///< of any window, for multipliers of channels that are multiples of the lanes
    /// Of any window, for convolutions in groups of two or four channels that give as many: the weights are
    /// [vectors][taps][channels of the group][lanes].
    DepthwiseTiles<T> m_Pairs;
    DepthwiseTiles<T> m_Quads;
    /// The same for groups of eight, with weights [vectors][taps][outputs of the group][lanes], whose lanes are those
    /// of the data; without columns where there are none.
    DepthwiseTiles<T> m_Octets;
};

/// The best that the processor has. Precondition: it has vectors, see CpuFeatures.
template <typename T>
const DepthwiseEngine<T>& GetDepthwiseEngine();
template <>
const DepthwiseEngine<float>& GetDepthwiseEngine();
template <>
const DepthwiseEngine<uint16_t>& GetDepthwiseEngine();

} // namespace tenon::cpu
