// SPDX-License-Identifier: Apache-2.0
// The choice between tiles, row strips, column strips and row strips of all channels (the table is in ../README.md),
// and the strip driver: 3x3 windows along whole rows (32 channels at a time, or all), or along a few columns.
#pragma once

#include "backends/cpu/depthwise/float/DepthwiseLayerF32.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>

namespace tenon::cpu
{

/// The variants of a layer.
enum class DepthwiseVariantF32
{
    Tiles,
    RowStrips,       ///< row strips of 32 channels
    ColumnStrips,    ///< column strips
    AllChannelStrips ///< row strips of all channels
};

/// Aliasing of the image's pixels in the first-level cache: addresses of one channel repeat with a period.
template <typename T>
class CacheAliasing
{
public:
    static constexpr size_t Line = 64;

    explicit CacheAliasing(const ref::ConvolutionGeometry& g)
        : m_Period(std::gcd(g.m_OutputChannels * sizeof(T), DepthwiseColumnStrips::Page))
    {
    }

    /// The period in bytes: pixel addresses of one channel differ by multiples of it, modulo 4 KiB.
    size_t GetPeriod() const { return m_Period; }

    /// Whether `lines` cache lines, of the same channels of as many pixels, fit the first-level cache of processors
    /// with AVX2.
    bool HasRoom(size_t lines) const
    {
        constexpr size_t Ways = 8;
        return lines <= DepthwiseColumnStrips::Page / std::max(m_Period, Line) * Ways;
    }

private:
    size_t m_Period;
};

/// Options of all-channel row strips.
struct PairStripOptions
{
    /// Image rows under two output rows of stride 1: their cache lines have to stay in the first-level cache.
    static constexpr size_t ImageRows = 4;

    bool m_IsPairwise = false;   ///< pairs of vectors of channels
    bool m_DelaysStores = false; ///< see DepthwiseStripF32, as the next
    bool m_IsReversed = false;
};

/// All-channel strips lose if four image rows exceed the second-level cache (448 KiB), since every two output rows
/// would reread them from behind it. Tiles are as fast at a period of 512 bytes (stride 1: only in long rows; stride 2:
/// always, and at 256 bytes); at longer periods tiles alias, too.
template <typename T>
bool IsAllChannelStripFast(const ref::ConvolutionGeometry& g)
{
    constexpr size_t MaxBytes = 448 * 1024;
    const CacheAliasing<T> aliasing(g);
    const size_t pixels = PairStripOptions::ImageRows * g.m_X.m_Input;
    const size_t period = aliasing.GetPeriod();
    const bool isTileFast = g.m_X.m_Stride == 2 ? period == 256 || period == 512 // rows of any length
                                                : period == 512 && !aliasing.HasRoom(pixels);
    return !isTileFast && pixels * g.m_OutputChannels * sizeof(T) <= MaxBytes;
}

/// Chooses pairs of vectors if the cache lines that a strip of single vectors reads alias in the first-level cache and
/// exceed its associativity. A load also waits for an earlier store whose address has the same low bits (4 KiB
/// aliasing): stores are delayed by one pair if output and image alias, and the order of the pairs keeps stores far
/// behind loads.
template <typename T>
PairStripOptions ChoosePairStripOptions(const ref::ConvolutionGeometry& g, const T* image, const T* out)
{
    const CacheAliasing<T> aliasing(g);
    constexpr size_t Line = CacheAliasing<T>::Line;
    constexpr size_t ShortestDelayed = 512; // with a longer period a store has ended before its address comes again
    const size_t period = aliasing.GetPeriod();
    const size_t distance = (reinterpret_cast<uintptr_t>(out) - reinterpret_cast<uintptr_t>(image)) % period;
    const bool isSamePlace = distance < Line || period - distance < Line;
    const size_t outLines = isSamePlace ? DepthwiseTileSetF32<T>::MaxRows * g.m_X.m_Output : 0;
    PairStripOptions options;
    options.m_DelaysStores = isSamePlace && period >= ShortestDelayed;
    options.m_IsPairwise =
        options.m_DelaysStores || !aliasing.HasRoom(PairStripOptions::ImageRows * g.m_X.m_Input + outLines);
    options.m_IsReversed = distance != 0 && distance <= period / 2;
    return options;
}

/// Chooses the variant of a layer; Tiles where no strip microkernel takes its windows. With AVX2 strips have all
/// channels and cannot quantize, see IsAllChannelStripFast. With AVX-512: pixels that are multiples of 1,024 bytes
/// apart alias in the first-level cache, so that the lines that a row strip reads for two output rows are evicted
/// before the next two; column strips reread less. bfloat16, half as many bytes, is as fast by tiles, and so are images
/// of few rows and row blocks of few rows, unless a pixel is a multiple of 2,048 bytes. Quantized copies are laid out
/// in blocks of channels, which do not alias.
template <typename T>
DepthwiseVariantF32 ChooseDepthwiseVariantF32(const DepthwiseLayerF32<T>& layer, bool quantizes)
{
    const auto fits = [](const ref::WindowAxis& axis)
    {
        return axis.m_Output >= 2 && axis.Origin(0) >= -1 && axis.Origin(0) <= 0 &&
               axis.Origin(axis.m_Output - 1) + 2 <= static_cast<int64_t>(axis.m_Input);
    };
    const DepthwiseMicrokernelsF32<T>& microkernels = GetDepthwiseMicrokernelsF32<T>();
    const bool isSize3 = layer.m_Tiles == &microkernels.m_Size3[0] || layer.m_Tiles == &microkernels.m_Size3[1];
    const ref::ConvolutionGeometry& g = layer.m_Geometry;
    if (microkernels.m_RowStrips[0][1] == nullptr || !isSize3 || !fits(g.m_Y) || !fits(g.m_X))
    {
        return DepthwiseVariantF32::Tiles;
    }
    if constexpr (std::is_same_v<T, float>)
    {
        if (microkernels.m_PairStrips[0][1] != nullptr)
        {
            const bool isFast = !quantizes && IsAllChannelStripFast<T>(g);
            return isFast ? DepthwiseVariantF32::AllChannelStrips : DepthwiseVariantF32::Tiles;
        }
    }
    constexpr size_t FewRows = 6;
    constexpr size_t Shortest = DepthwiseColumnStrips::ShortestPeriod;
    const size_t bytes = g.m_OutputChannels * sizeof(T);
    if (bytes % Shortest != 0 || quantizes)
    {
        return DepthwiseVariantF32::RowStrips;
    }
    const bool isFast = g.m_Y.m_Output >= FewRows || bytes % (2 * Shortest) == 0;
    return isFast && microkernels.m_ColumnStrips[0][1] != nullptr ? DepthwiseVariantF32::ColumnStrips
                                                                  : DepthwiseVariantF32::Tiles;
}

/// The strip driver: 3x3 windows along whole rows, or along a few columns.
template <typename T>
class DepthwiseStripDriverF32
{
public:
    /// Output rows that are computed for a block of channels before the next block.
    static constexpr size_t MaxRows = 16;

    explicit DepthwiseStripDriverF32(const DepthwiseLayerF32<T>& layer) : m_Layer(layer), m_Geometry(layer.m_Geometry)
    {
    }

    /// Row strips: up to `maxRows` rows of a block of channels at a time, so that the image rows that two strips share
    /// stay in the first-level cache. `quantized`: room for quantized data.
    void Run(T* output, const T* image, const IndexRange& rows, size_t maxRows, const DepthwiseDequantization& scaling,
             T* quantized) const
    {
        const size_t channels = m_Geometry.m_OutputChannels;
        const auto run = [&](size_t y, size_t count, const T* of, T* out, const DepthwiseDequantization& ofImage)
        {
            Source source = {of, 0, Block, channels};
            if constexpr (std::is_same_v<T, float>)
            {
                if (ofImage.m_Steps != nullptr)
                {
                    source = Quantize(of, y, count, *ofImage.m_Steps, quantized);
                }
            }
            const Range along = {m_Geometry.m_X, {0, m_Geometry.m_X.m_Output}, source.m_PixelStep};
            Strip strip = MakeStrip(along, ofImage);
            strip.m_OutPixelStep = channels;
            strip.m_OutRowStep = GetOutRowStep();
            for (size_t channel = 0; channel < channels; channel += Block)
            {
                strip.m_FirstChannel = channel;
                strip.m_LastChannel = std::min(channel + Block, channels);
                for (size_t i = 0; i < count; i += Tiles::MaxRows)
                {
                    strip.m_Out = out + i * strip.m_OutRowStep;
                    RunStrip(source, y + i, std::min(Tiles::MaxRows, count - i), strip);
                }
                source.m_Pixels += source.m_BlockStep;
            }
        };
        ForEachRowBlock(output, image, rows, maxRows, scaling, run);
    }

    /// All-channel row strips: two rows at a time, without scaling.
    void RunAllChannels(T* output, const T* image, const IndexRange& rows) const
    {
        // Each image and pair of rows lies whole periods behind the first: one choice fits all.
        const PairStripOptions options = ChoosePairStripOptions(m_Geometry, image, output);
        const auto run = [&](size_t y, size_t count, const T* of, T* out, const DepthwiseDequantization& scaling)
        {
            const size_t channels = m_Geometry.m_OutputChannels;
            const size_t width = m_Geometry.m_X.m_Output;
            const Microkernels& microkernels = GetDepthwiseMicrokernelsF32<T>();
            const auto function = (options.m_IsPairwise ? microkernels.m_PairStrips
                                                        : microkernels.m_RowStrips)[m_Geometry.m_Y.m_Stride - 1][count];
            ForEachTile(
                width, options.m_DelaysStores ? DepthwisePairStrips::MaxDelayed : width,
                [&](size_t x, size_t columns)
                {
                    const Range along = {m_Geometry.m_X, {x, x + columns}, channels};
                    Strip strip = MakeStrip(along, scaling);
                    strip.m_LastChannel = channels;
                    strip.m_OutRowStep = GetOutRowStep();
                    strip.m_DelaysStores = options.m_DelaysStores;
                    strip.m_IsReversed = options.m_IsReversed;
                    SetLines(of, {m_Geometry.m_Y, {y, y + count}, m_Geometry.m_X.m_Input * channels}, along, strip);
                    strip.m_Out = out + x * channels;
                    function(strip);
                });
        };
        ForEachRowBlock(output, image, rows, Tiles::MaxRows, {}, run);
    }

    /// Column strips: a few columns at a time, of all channels.
    void RunColumnStrips(T* output, const T* image, const IndexRange& rows) const
    {
        const auto run = [&](size_t y, size_t count, const T* of, T* out, const DepthwiseDequantization& scaling)
        {
            const size_t channels = m_Geometry.m_OutputChannels;
            const Range along = {m_Geometry.m_Y, {y, y + count}, m_Geometry.m_X.m_Input * channels};
            Strip strip = MakeStrip(along, scaling);
            strip.m_OutPixelStep = GetOutRowStep();
            strip.m_OutRowStep = channels;
            strip.m_Period = FindPeriod(of, out);
            constexpr size_t MaxChannels = ColumnStrips::MaxBytes / sizeof(T);
            for (size_t channel = 0; channel < channels; channel = strip.m_LastChannel)
            {
                strip.m_FirstChannel = channel;
                strip.m_LastChannel = std::min(channel + MaxChannels, channels);
                ForEachTile(m_Geometry.m_X.m_Output, ColumnStrips::MaxColumns,
                            [&](size_t x, size_t columns)
                            {
                                SetLines(of + channel, {m_Geometry.m_X, {x, x + columns}, channels}, along, strip);
                                strip.m_Out = out + x * channels;
                                GetDepthwiseMicrokernelsF32<T>().m_ColumnStrips[m_Geometry.m_X.m_Stride - 1][columns](
                                    strip);
                            });
            }
        };
        ForEachRowBlock(output, image, rows, ColumnStrips::MaxRows, {}, run);
    }

private:
    using Microkernels = DepthwiseMicrokernelsF32<T>;
    using ColumnStrips = DepthwiseColumnStrips;
    using Strip = DepthwiseStripF32<T>;
    using Tiles = DepthwiseTileSetF32<T>;
    static constexpr size_t Block = Microkernels::StripChannels;

    /// Data of a block of channels: the image, or the quantized copy of some of its rows.
    struct Source
    {
        const T* m_Pixels = nullptr; ///< at the first channel of the block
        size_t m_FirstRow = 0;
        size_t m_BlockStep = 0; ///< elements to the data of the next block
        size_t m_PixelStep = 0;
    };

    /// Windows along an axis.
    struct Range
    {
        const ref::WindowAxis& m_Axis;
        IndexRange m_Windows;
        size_t m_Step = 0;  ///< elements from an image pixel to the next along the axis
        size_t m_First = 0; ///< first image pixel of the data along the axis

        int64_t GetFirst() const { return m_Axis.Origin(m_Windows.m_Begin); }
        int64_t GetLast() const { return m_Axis.Origin(m_Windows.m_End - 1) + 2; }
        bool IsCut() const { return GetLast() >= static_cast<int64_t>(m_Axis.m_Input); }
        size_t GetOffset(int64_t pixel) const { return (static_cast<size_t>(pixel) - m_First) * m_Step; }
    };

    size_t GetOutRowStep() const { return m_Geometry.m_X.m_Output * m_Geometry.m_OutputChannels; }

    /// Calls run(y, rows, image, output, scaling) for row blocks of up to `maxRows` rows of one image.
    template <typename F>
    void ForEachRowBlock(T* output, const T* images, const IndexRange& rows, size_t maxRows,
                         const DepthwiseDequantization& scaling, const F& run) const
    {
        const size_t channels = m_Geometry.m_OutputChannels;
        const size_t imageStep = m_Geometry.m_Y.m_Input * m_Geometry.m_X.m_Input * channels;
        const size_t height = m_Geometry.m_Y.m_Output;
        for (size_t row = rows.m_Begin; row < rows.m_End;)
        {
            const size_t y = row % height;
            const size_t image = row / height;
            const size_t count = std::min({maxRows, rows.m_End - row, height - y});
            run(y, count, images + image * imageStep, output + row * GetOutRowStep(),
                scaling.ForImage(image, channels));
            row += count;
        }
    }

    /// Quantizes the image rows that these output rows read.
    Source Quantize(const T* image, size_t y, size_t rows, const DepthwiseQuantization& steps, T* quantized) const
    {
        const ref::WindowAxis& down = m_Geometry.m_Y;
        const auto first = static_cast<size_t>(std::max<int64_t>(down.Origin(y), 0));
        const size_t last = std::min(static_cast<size_t>(down.Origin(y + rows - 1) + 3), down.m_Input);
        const size_t channels = m_Geometry.m_OutputChannels;
        const size_t width = m_Geometry.m_X.m_Input;
        const size_t pixels = (last - first) * width;
        const size_t blockStep = pixels * Block;
        GetDepthwiseMicrokernelsF32<T>().m_QuantizePixels(image + first * width * channels, pixels, channels, steps,
                                                          quantized, blockStep);
        return {quantized, first, blockStep, Block};
    }

    /// Computes one or two output rows of an image, from row y on.
    void RunStrip(const Source& source, size_t y, size_t rows, Strip& strip) const
    {
        const size_t rowStep = m_Geometry.m_X.m_Input * source.m_PixelStep;
        SetLines(source.m_Pixels, {m_Geometry.m_Y, {y, y + rows}, rowStep, source.m_FirstRow},
                 {m_Geometry.m_X, {0, m_Geometry.m_X.m_Output}, source.m_PixelStep}, strip);
        const Microkernels& microkernels = GetDepthwiseMicrokernelsF32<T>();
        (strip.m_Scales != nullptr ? microkernels.m_ScalingStrips
                                   : microkernels.m_RowStrips)[m_Geometry.m_Y.m_Stride - 1][rows](strip);
    }

    /// See DepthwiseStripF32::m_Period.
    size_t FindPeriod(const T* image, const T* out) const
    {
        constexpr size_t VectorBytes = Block / 2 * sizeof(T);
        const size_t period = CacheAliasing<T>(m_Geometry).GetPeriod();
        const size_t distance = reinterpret_cast<uintptr_t>(image) - reinterpret_cast<uintptr_t>(out);
        return distance % period < VectorBytes ? period : 0;
    }

    /// Sets the arguments that all strips of a direction have in common.
    Strip MakeStrip(const Range& along, const DepthwiseDequantization& scaling) const
    {
        auto strip = m_Layer.template MakeWork<Strip>(scaling);
        strip.m_PixelStep = along.m_Step;
        strip.m_HasLeft = along.GetFirst() >= 0;
        strip.m_IsLastWindowCut = along.IsCut();
        strip.m_WholeWindows = along.m_Windows.m_End - along.m_Windows.m_Begin - (strip.m_IsLastWindowCut ? 1 : 0);
        return strip;
    }

    void SetLines(const T* image, const Range& lines, const Range& along, Strip& strip) const
    {
        const int64_t first = lines.GetFirst();
        const bool hasTop = first >= 0;
        const bool hasBottom = !lines.IsCut();
        const T* const begin = image + along.GetOffset(std::max<int64_t>(along.GetFirst(), 0));
        const T* const zeros = m_Layer.m_Packed->template GetZeros<T>();
        strip.m_RowStep = lines.m_Step;
        strip.m_Top = hasTop ? begin + lines.GetOffset(first) : zeros;
        strip.m_TopStep = hasTop ? along.m_Step : 0;
        strip.m_Middle = begin + lines.GetOffset(first + 1);
        strip.m_Bottom = hasBottom ? begin + lines.GetOffset(lines.GetLast()) : zeros;
        strip.m_BottomStep = hasBottom ? along.m_Step : 0;
    }

    const DepthwiseLayerF32<T>& m_Layer;
    const ref::ConvolutionGeometry& m_Geometry;
};

} // namespace tenon::cpu
