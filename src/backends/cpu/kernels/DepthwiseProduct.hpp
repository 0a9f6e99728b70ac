// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of NHWC floats or bfloat16 and constant weights: tiles of a few pixels, which are found
// through a table of pointers, so that padding and dilation cost nothing in the inner loops. A channel multiplier
// repeats the channels of the image first. Used by DepthwiseConvolution2d of those types, and of floats with weights of
// bytes, and by Convolution2d in small groups.
#pragma once

#include "backends/common/FusedActivation.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/Parts.hpp"
#include "backends/cpu/gemm/windows/ColumnAsRow.hpp"
#include "backends/cpu/kernels/DepthwiseTiles.hpp"
#include "backends/cpu/kernels/PackedDepthwise.hpp"
#include "backends/reference/kernels/ConvolutionGeometry.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace tenon::cpu
{

/// What becomes of sums of whole numbers that float data were quantized to, image by image.
struct DepthwiseScaling
{
    const float* m_Scales = nullptr; ///< [images][channels]: what sums are multiplied by; null: nothing
    const float* m_Bias = nullptr;   ///< [channels]: what is added then, in place of that of the packed weights
    /// [images]: how strips quantize data; null: they are whole numbers already.
    const DepthwiseSteps* m_Steps = nullptr;

    DepthwiseScaling ForImage(size_t image, size_t channels) const
    {
        return {m_Scales != nullptr ? m_Scales + image * channels : nullptr, m_Bias,
                m_Steps != nullptr ? m_Steps + image : nullptr};
    }
};

template <typename T>
const DepthwiseTiles<T>& ChooseTiles(const ref::ConvolutionGeometry& g)
{
    const DepthwiseEngine<T>& engine = GetDepthwiseEngine<T>();
    const bool isSquare = g.m_Y.m_Kernel == g.m_X.m_Kernel && g.m_Y.m_Stride == g.m_X.m_Stride;
    if (!isSquare || g.m_Y.m_Stride > 2 || g.m_Y.m_Dilation != 1 || g.m_X.m_Dilation != 1 ||
        (g.m_Y.m_Kernel != 3 && g.m_Y.m_Kernel != 5))
    {
        return engine.m_Any;
    }
    return (g.m_Y.m_Kernel == 3 ? engine.m_Size3 : engine.m_Size5)[g.m_Y.m_Stride - 1];
}

/// A depthwise convolution of known shapes.
template <typename T>
class Depthwise
{
public:
    /// `quantizes`: data are floats that strips quantize first.
    Depthwise(const ReshapeArgs& args, const ref::ConvolutionGeometry& g, const PackedDepthwise& packed,
              bool quantizes = false)
        : Depthwise(args, g, packed, ChooseTiles<T>(g), quantizes)
    {
    }
    Depthwise(const ReshapeArgs& args, const ref::ConvolutionGeometry& g, const PackedDepthwise& packed,
              const DepthwiseTiles<T>& tiles, bool quantizes = false)
        : m_Geometry(g), m_Packed(&packed), m_Tiles(&tiles), m_Clamp(args.m_FusedActivation), m_RunsStrips(FindStrips())
    {
        const double multiplications =
            static_cast<double>(g.NumPixels() * g.m_OutputChannels) * static_cast<double>(GetTaps());
        constexpr double SlowerThanProducts = 4; // each multiplication reads more
        m_Parts = std::min(GetMostParts(), GetWorthwhileParts(multiplications * SlowerThanProducts));
        if (GetRows() < m_Parts && !m_RunsStrips)
        {
            m_Segments = std::min(DivideUp(m_Parts, GetRows()), DivideUp(g.m_X.m_Output, m_Tiles->m_Columns));
        }
        m_Parts = std::min(m_Parts, GetRows() * m_Segments);
        m_TableLength = GetTableLength(m_Tiles->m_Rows, m_Tiles->m_Columns);
        backends::Scratch scratch;
        scratch.Add<const T*>(backends::CheckedCount(m_TableLength, m_Parts));
        const size_t repeated = g.m_GroupOutputs == 1 ? 0 : backends::CheckedCount(g.NumImageElements(), g.m_Batches);
        m_RepeatedOffset = scratch.Add<T>(backends::CheckedCount(repeated, g.m_GroupOutputs));
        if (quantizes && m_RunsStrips)
        {
            const size_t rowElements = g.m_X.m_Input * DivideUp(g.m_OutputChannels, StripChannels) * StripChannels;
            constexpr size_t MostElements = 512 * 1024 / sizeof(T); // of a second-level cache
            while (m_StripRows > Tiles::MostRows && CountSeen(m_StripRows) * rowElements > MostElements)
            {
                m_StripRows -= Tiles::MostRows;
            }
            m_CopiedElements = CountSeen(m_StripRows) * rowElements;
            m_CopiesOffset = scratch.Add<T>(backends::CheckedCount(m_CopiedElements, m_Parts));
        }
        m_ScratchBytes = scratch.GetBytes();
    }

    size_t GetScratchBytes() const { return m_ScratchBytes; }

    /// Whether rows of the output are made by strips.
    bool RunsStrips() const { return m_RunsStrips; }

    void operator()(const ExecuteArgs& args) const { Run(args, args.GetInput<T>(0), {}); }

    /// The same for an image that lies elsewhere, and for sums that are scaled.
    void Run(const ExecuteArgs& args, const T* image, const DepthwiseScaling& scaling) const
    {
        const size_t parts = std::min<size_t>(m_Parts, args.m_Parallel->GetNumThreads());
        if (m_Geometry.m_GroupOutputs != 1)
        {
            auto* repeated = backends::Scratch::At<T>(args.m_Scratch, m_RepeatedOffset);
            const size_t count = m_Geometry.NumImageElements() * m_Geometry.m_Batches;
            RunParts(*args.m_Parallel, parts,
                     [&](size_t index)
                     {
                         const Part part = GetPart(count, parts, index);
                         T* to = repeated + part.m_Begin * m_Geometry.m_GroupOutputs;
                         for (size_t i = part.m_Begin; i < part.m_End; ++i)
                         {
                             to = std::fill_n(to, m_Geometry.m_GroupOutputs, image[i]);
                         }
                     });
            image = repeated;
        }
        RunParts(*args.m_Parallel, parts,
                 [&](size_t index)
                 {
                     const size_t unit = m_Segments == 1 ? m_Tiles->m_Rows : 1;
                     const Part segments = GetPart(GetRows() * m_Segments, parts, index, unit);
                     if (m_RunsStrips)
                     {
                         // They are whole rows.
                         RunStrips(args, image, segments, scaling,
                                   backends::Scratch::At<T>(args.m_Scratch, m_CopiesOffset) + index * m_CopiedElements);
                         return;
                     }
                     RunSegments(args, image, segments,
                                 backends::Scratch::At<const T*>(args.m_Scratch, 0) + index * m_TableLength, scaling);
                 });
    }

private:
    using Tiles = DepthwiseTiles<T>;
    static constexpr size_t StripChannels = DepthwiseEngine<T>::StripChannels;

    size_t GetTaps() const { return m_Geometry.m_Y.m_Kernel * m_Geometry.m_X.m_Kernel; }
    size_t GetRows() const { return m_Geometry.m_Batches * m_Geometry.m_Y.m_Output; }
    /// Pointers to the pixels that a tile of so many pixels sees, one for each, or one for each tap.
    size_t GetTableLength(size_t rows, size_t columns) const
    {
        return m_Tiles->m_Size != 0 ? static_cast<size_t>(GetHeight(static_cast<int64_t>(rows)) *
                                                          GetWidth(static_cast<int64_t>(columns)))
                                    : backends::CheckedCount(GetTaps(), columns);
    }
    /// Rows of the image that so many rows of the output see; and columns likewise. For tiles of one size, whose
    /// strides are small.
    int64_t GetHeight(int64_t rows) const
    {
        return (rows - 1) * m_Geometry.m_Y.m_Stride + static_cast<int64_t>(m_Geometry.m_Y.m_Kernel);
    }
    int64_t GetWidth(int64_t columns) const
    {
        return (columns - 1) * m_Geometry.m_X.m_Stride + static_cast<int64_t>(m_Geometry.m_X.m_Kernel);
    }

    /// Whether windows are those that strips are for. Where pixels are multiples of 1,024 bytes apart they share few
    /// places of the first-level cache, and what a strip reads for two rows does not stay there for the next ones.
    bool FindStrips() const
    {
        constexpr size_t SharedPlaces = 1024;
        const ref::ConvolutionGeometry& g = m_Geometry;
        const auto fits = [](const ref::WindowAxis& axis)
        {
            return axis.m_Output >= 2 && axis.Origin(0) >= -1 && axis.Origin(0) <= 0 &&
                   axis.Origin(axis.m_Output - 1) + 2 <= static_cast<int64_t>(axis.m_Input);
        };
        const DepthwiseEngine<T>& engine = GetDepthwiseEngine<T>();
        const bool areSize3 = m_Tiles == &engine.m_Size3[0] || m_Tiles == &engine.m_Size3[1];
        return engine.m_Strips[0][1] != nullptr && areSize3 && g.m_OutputChannels * sizeof(T) % SharedPlaces != 0 &&
               fits(g.m_Y) && fits(g.m_X);
    }

    /// Rows of the image that windows of so many rows see.
    size_t CountSeen(size_t rows) const { return static_cast<size_t>(GetHeight(static_cast<int64_t>(rows))); }

    /// What strips of a block of channels read: the image, or the copy of some of its rows.
    struct StripSource
    {
        const T* m_Pixels = nullptr; ///< from its first channel on
        size_t m_FirstRow = 0;
        size_t m_BlockStep = 0; ///< elements to the next block's
        size_t m_PixelStep = 0;
    };

    /// Some vectors of channels of a few rows at a time: the rows of the image that two strips see stay in the
    /// first-level cache.
    void RunStrips(const ExecuteArgs& args, const T* image, const Part& rows, const DepthwiseScaling& scaling,
                   T* copies) const
    {
        const size_t channels = m_Geometry.m_OutputChannels;
        const size_t height = m_Geometry.m_Y.m_Output;
        for (size_t row = rows.m_Begin; row < rows.m_End;)
        {
            const size_t y = row % height;
            const size_t count = std::min({m_StripRows, rows.m_End - row, height - y});
            const T* const of = image + row / height * m_Geometry.m_Y.m_Input * m_Geometry.m_X.m_Input * channels;
            T* const out = args.GetOutput<T>(0) + row * m_Geometry.m_X.m_Output * channels;
            const DepthwiseScaling ofImage = scaling.ForImage(row / height, channels);
            StripSource source = {of, 0, StripChannels, channels};
            if constexpr (std::is_same_v<T, float>)
            {
                if (ofImage.m_Steps != nullptr)
                {
                    source = Quantize(of, y, count, *ofImage.m_Steps, copies);
                }
            }
            for (size_t channel = 0; channel < channels; channel += StripChannels)
            {
                const Part block = {channel, std::min(channel + StripChannels, channels)};
                for (size_t i = 0; i < count; i += Tiles::MostRows)
                {
                    RunStrip(source, y + i, std::min(Tiles::MostRows, count - i), block, ofImage,
                             out + i * m_Geometry.m_X.m_Output * channels);
                }
                source.m_Pixels += source.m_BlockStep;
            }
            row += count;
        }
    }

    /// The rows of the image that windows of these rows see.
    StripSource Quantize(const T* image, size_t y, size_t rows, const DepthwiseSteps& steps, T* copies) const
    {
        const ref::WindowAxis& down = m_Geometry.m_Y;
        const auto first = static_cast<size_t>(std::max<int64_t>(down.Origin(y), 0));
        const size_t last = std::min(static_cast<size_t>(down.Origin(y + rows - 1) + 3), down.m_Input);
        const size_t channels = m_Geometry.m_OutputChannels;
        const size_t width = m_Geometry.m_X.m_Input;
        const size_t pixels = (last - first) * width;
        const size_t blockStep = pixels * StripChannels;
        GetDepthwiseEngine<T>().m_QuantizePixels(image + first * width * channels, pixels, channels, steps, copies,
                                                 blockStep);
        return {copies, first, blockStep, StripChannels};
    }

    /// One row of the output of an image from row y on, or two.
    void RunStrip(const StripSource& source, size_t y, size_t rows, const Part& channels,
                  const DepthwiseScaling& scaling, T* out) const
    {
        const ref::WindowAxis& down = m_Geometry.m_Y;
        const ref::WindowAxis& across = m_Geometry.m_X;
        const size_t pixelStep = source.m_PixelStep;
        const int64_t first = down.Origin(y);
        const int64_t last = down.Origin(y + rows - 1) + 2;
        const bool hasTop = first >= 0;
        const bool hasBottom = last < static_cast<int64_t>(down.m_Input);
        DepthwiseStrip<T> strip;
        strip.m_RowStep = across.m_Input * pixelStep;
        strip.m_PixelStep = pixelStep;
        const auto rowAt = [&](int64_t row)
        { return source.m_Pixels + (static_cast<size_t>(row) - source.m_FirstRow) * strip.m_RowStep; };
        strip.m_Top = hasTop ? rowAt(first) : m_Packed->template GetZeros<T>();
        strip.m_TopStep = hasTop ? pixelStep : 0;
        strip.m_Middle = rowAt(first + 1);
        strip.m_Bottom = hasBottom ? rowAt(last) : m_Packed->template GetZeros<T>();
        strip.m_BottomStep = hasBottom ? pixelStep : 0;
        strip.m_HasLeft = across.Origin(0) == 0;
        strip.m_HasCut = across.Origin(across.m_Output - 1) + 2 == static_cast<int64_t>(across.m_Input);
        strip.m_WholeWindows = across.m_Output - (strip.m_HasCut ? 1 : 0);
        strip.m_FirstChannel = channels.m_Begin;
        strip.m_LastChannel = channels.m_End;
        strip.m_Weights = m_Packed->GetWeights();
        strip.m_Bias = scaling.m_Scales != nullptr ? scaling.m_Bias : m_Packed->GetBias();
        strip.m_Scales = scaling.m_Scales;
        strip.m_HasClamp = m_Clamp.IsActive();
        strip.m_Low = m_Clamp.GetLow();
        strip.m_High = m_Clamp.GetHigh();
        const DepthwiseEngine<T>& engine = GetDepthwiseEngine<T>();
        strip.m_RoundsFast = engine.m_RoundsFast;
        strip.m_Out = out;
        strip.m_OutPixelStep = m_Geometry.m_OutputChannels;
        strip.m_OutRowStep = across.m_Output * strip.m_OutPixelStep;
        (scaling.m_Scales != nullptr ? engine.m_ScalingStrips : engine.m_Strips)[down.m_Stride - 1][rows](strip);
    }

    void RunSegments(const ExecuteArgs& args, const T* image, const Part& segments, const T** table,
                     const DepthwiseScaling& scaling) const
    {
        const size_t channels = m_Geometry.m_OutputChannels;
        DepthwiseTile<T> tile;
        tile.m_Data = table;
        tile.m_Taps = GetTaps();
        tile.m_Weights = m_Packed->GetWeights();
        tile.m_Bias = scaling.m_Scales != nullptr ? scaling.m_Bias : m_Packed->GetBias();
        tile.m_Channels = channels;
        tile.m_HasClamp = m_Clamp.IsActive();
        tile.m_Low = m_Clamp.GetLow();
        tile.m_High = m_Clamp.GetHigh();
        tile.m_RoundsFast = GetDepthwiseEngine<T>().m_RoundsFast;
        tile.m_OutStride = channels;
        const size_t width = m_Geometry.m_X.m_Output;
        tile.m_OutRowStride = width * channels;
        const size_t height = m_Geometry.m_Y.m_Output;
        for (size_t segment = segments.m_Begin; segment < segments.m_End;)
        {
            const size_t row = segment / m_Segments;
            const size_t y = row % height;
            const size_t rows = m_Segments == 1 ? std::min({m_Tiles->m_Rows, segments.m_End - segment, height - y}) : 1;
            const Part columns = GetPart(width, m_Segments, segment % m_Segments);
            const size_t pixel = row * width + columns.m_Begin;
            tile.m_Out = args.GetOutput<T>(0) + pixel * channels;
            tile.m_Scales = scaling.ForImage(row / height, channels).m_Scales;
            const size_t pixels = m_Geometry.m_Y.m_Input * m_Geometry.m_X.m_Input;
            RunRow(image + row / height * pixels * channels, y, rows, columns, tile, table);
            segment += rows;
        }
    }

    /// Columns of up to two rows of the output, from row y.
    void RunRow(const T* image, size_t y, size_t rows, const Part& range, DepthwiseTile<T>& tile, const T** table) const
    {
        T* const out = tile.m_Out;
        bool wasInside = false;
        size_t before = 0;
        size_t columnsBefore = 0;
        const auto runTile = [&](size_t begin, size_t columns)
        {
            const size_t x = range.m_Begin + begin;
            const bool isInside = IsInside(y, rows, x, columns);
            if (isInside && wasInside && columns == columnsBefore)
            {
                MoveTable(table, rows, columns, x - before);
            }
            else if (m_Tiles->m_Size != 0)
            {
                FindPixels(image, y, rows, x, columns, table);
            }
            else
            {
                FindTaps(image, y, x, columns, table);
            }
            wasInside = isInside;
            before = x;
            columnsBefore = columns;
            tile.m_Out = out + begin * tile.m_OutStride;
            m_Tiles->m_Run[rows][columns](tile);
        };
        ForEachTile(range.m_End - range.m_Begin, m_Tiles->m_Columns, runTile);
    }

    bool IsInside(size_t y, size_t rows, size_t x, size_t columns) const
    {
        const ref::WindowAxis& down = m_Geometry.m_Y;
        const ref::WindowAxis& across = m_Geometry.m_X;
        const auto isInside = [](const ref::WindowAxis& axis, size_t first, size_t last)
        {
            const int64_t end = axis.Origin(last) + static_cast<int64_t>(axis.m_Kernel - 1) * axis.m_Dilation;
            return axis.Origin(first) >= 0 && end < static_cast<int64_t>(axis.m_Input);
        };
        return isInside(down, y, y + rows - 1) && isInside(across, x, x + columns - 1);
    }

    /// To the tile so many columns to the right, both being inside of the image.
    void MoveTable(const T** table, size_t rows, size_t columns, size_t distance) const
    {
        const size_t count = GetTableLength(rows, columns);
        const size_t step = distance * static_cast<size_t>(m_Geometry.m_X.m_Stride) * m_Geometry.m_OutputChannels;
        for (size_t i = 0; i < count; ++i)
        {
            table[i] += step;
        }
    }

    const T* FindPixel(const T* image, int64_t y, int64_t x) const
    {
        const auto height = static_cast<int64_t>(m_Geometry.m_Y.m_Input);
        const auto width = static_cast<int64_t>(m_Geometry.m_X.m_Input);
        const bool isInside = y >= 0 && y < height && x >= 0 && x < width;
        return isInside ? image + (y * width + x) * static_cast<int64_t>(m_Geometry.m_OutputChannels)
                        : m_Packed->template GetZeros<T>();
    }

    void FindPixels(const T* image, size_t y, size_t rows, size_t x, size_t columns, const T** table) const
    {
        const int64_t height = GetHeight(static_cast<int64_t>(rows));
        const int64_t width = GetWidth(static_cast<int64_t>(columns));
        for (int64_t i = 0; i < height; ++i)
        {
            for (int64_t j = 0; j < width; ++j)
            {
                *table++ = FindPixel(image, m_Geometry.m_Y.Origin(y) + i, m_Geometry.m_X.Origin(x) + j);
            }
        }
    }

    void FindTaps(const T* image, size_t y, size_t x, size_t columns, const T** table) const
    {
        const ref::WindowAxis& across = m_Geometry.m_X;
        for (size_t i = 0; i < m_Geometry.m_Y.m_Kernel; ++i)
        {
            const int64_t row = m_Geometry.m_Y.Origin(y) + static_cast<int64_t>(i) * m_Geometry.m_Y.m_Dilation;
            for (size_t j = 0; j < across.m_Kernel; ++j)
            {
                for (size_t c = 0; c < columns; ++c)
                {
                    const int64_t column = across.Origin(x + c) + static_cast<int64_t>(j) * across.m_Dilation;
                    *table++ = FindPixel(image, row, column);
                }
            }
        }
    }

    ref::ConvolutionGeometry m_Geometry;
    const PackedDepthwise* m_Packed;
    const Tiles* m_Tiles;
    backends::FloatClamp m_Clamp;
    bool m_RunsStrips; ///< in place of tiles
    size_t m_Parts = 1;
    size_t m_Segments = 1;    ///< of each row, where there are fewer rows than parts
    size_t m_TableLength = 0; ///< of each part
    size_t m_RepeatedOffset = 0;
    size_t m_StripRows = 16;     ///< of the output that strips are run for, one block of channels after the other
    size_t m_CopiedElements = 0; ///< that a part has quantized for them
    size_t m_CopiesOffset = 0;
    size_t m_ScratchBytes = 0;
};

} // namespace tenon::cpu
