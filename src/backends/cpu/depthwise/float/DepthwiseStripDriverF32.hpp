// SPDX-License-Identifier: Apache-2.0
// The strip driver: 3x3 windows along whole rows (32 channels at a time, or all), or along a few columns.
#pragma once

#include "backends/cpu/depthwise/float/DepthwiseVariantF32.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tenon::cpu
{

template <typename T>
class DepthwiseStripDriverF32
{
public:
    /// Output rows that are computed for a block of channels before the next block.
    static constexpr size_t MaxRows = 16;

    explicit DepthwiseStripDriverF32(const DepthwiseLayerF32<T>& layer) : m_Layer(layer), m_Geometry(layer.m_Geometry)
    {
    }

    /// Row strips: up to `most` rows of a block of channels at a time, so that the image rows that two strips share
    /// stay in the first-level cache. `quantized`: room for quantized data.
    void Run(T* output, const T* image, const IndexRange& rows, size_t most, const DepthwiseDequantization& scaling,
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
        ForEachRowBlock(output, image, rows, most, scaling, run);
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
            const Engine& engine = GetDepthwiseMicrokernelsF32<T>();
            const auto function =
                (options.m_IsPairwise ? engine.m_PairStrips : engine.m_RowStrips)[m_Geometry.m_Y.m_Stride - 1][count];
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
    using Engine = DepthwiseMicrokernelsF32<T>;
    using ColumnStrips = DepthwiseColumnStrips;
    using Strip = DepthwiseStripF32<T>;
    using Tiles = DepthwiseTileSetF32<T>;
    static constexpr size_t Block = Engine::StripChannels;

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

    /// Calls run(y, rows, image, output, scaling) for row blocks of up to `most` rows of one image.
    template <typename F>
    void ForEachRowBlock(T* output, const T* images, const IndexRange& rows, size_t most,
                         const DepthwiseDequantization& scaling, const F& run) const
    {
        const size_t channels = m_Geometry.m_OutputChannels;
        const size_t imageStep = m_Geometry.m_Y.m_Input * m_Geometry.m_X.m_Input * channels;
        const size_t height = m_Geometry.m_Y.m_Output;
        for (size_t row = rows.m_Begin; row < rows.m_End;)
        {
            const size_t y = row % height;
            const size_t image = row / height;
            const size_t count = std::min({most, rows.m_End - row, height - y});
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
        const Engine& engine = GetDepthwiseMicrokernelsF32<T>();
        (strip.m_Scales != nullptr ? engine.m_ScalingStrips
                                   : engine.m_RowStrips)[m_Geometry.m_Y.m_Stride - 1][rows](strip);
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
