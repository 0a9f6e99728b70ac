// SPDX-License-Identifier: Apache-2.0
// The driver of depthwise convolutions with float32 sums (data float32, or bfloat16 in uint16_t): chooses tiles or
// strips, the number of tasks, and repeats the channels of the image for a channel multiplier. Used by
// DepthwiseConvolution2d (Float, Hybrid) and Convolution2dGroupsF32.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/depthwise/float/DepthwiseLayerF32.hpp"
#include "backends/cpu/depthwise/float/DepthwiseStripDriverF32.hpp"
#include "backends/cpu/im2col/ColumnAsRow.hpp"
#include "backends/cpu/move/CopyRepeated.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace tenon::cpu
{

/// The tile driver: output rows by tiles of a few pixels, whose image pixels are found through an indirection buffer
/// [row][column], or [tap][pixel] for windows without tiles of their own. Padding and dilation cost nothing in the
/// microkernels.
template <typename T>
class DepthwiseTileDriverF32
{
public:
    explicit DepthwiseTileDriverF32(const DepthwiseLayerF32<T>& layer) : m_Layer(layer) {}

    /// Length of the indirection buffer of a tile of rows x columns pixels: a pointer for each image pixel under it, or
    /// for each tap of each pixel.
    size_t GetTableLength(size_t rows, size_t columns) const
    {
        return m_Layer.m_Tiles->m_Size != 0 ? static_cast<size_t>(m_Layer.GetHeight(static_cast<int64_t>(rows)) *
                                                                  m_Layer.GetWidth(static_cast<int64_t>(columns)))
                                            : backends::CheckedCount(m_Layer.GetTaps(), columns);
    }

    /// Computes the segments of a task, where each output row has `rowSegments` segments. `table`: an indirection
    /// buffer for the largest tile.
    void Run(T* output, const T* image, size_t rowSegments, const IndexRange& segments,
             const DepthwiseDequantization& scaling, const T** table) const
    {
        const size_t channels = m_Layer.m_Geometry.m_OutputChannels;
        auto tile = m_Layer.template MakeWork<DepthwiseTileF32<T>>(scaling);
        tile.m_Data = table;
        tile.m_Taps = m_Layer.GetTaps();
        tile.m_Channels = channels;
        tile.m_Multiplier = m_Layer.m_Geometry.m_GroupOutputs;
        tile.m_OutStride = channels;
        const size_t width = m_Layer.m_Geometry.m_X.m_Output;
        tile.m_OutRowStride = width * channels;
        const size_t height = m_Layer.m_Geometry.m_Y.m_Output;
        for (size_t segment = segments.m_Begin; segment < segments.m_End;)
        {
            const size_t row = segment / rowSegments;
            const size_t y = row % height;
            const size_t rows =
                rowSegments == 1 ? std::min({m_Layer.m_Tiles->m_Rows, segments.m_End - segment, height - y}) : 1;
            const IndexRange columns = GetTaskRange(width, rowSegments, segment % rowSegments);
            const size_t pixel = row * width + columns.m_Begin;
            tile.m_Out = output + pixel * channels;
            tile.m_Scales = scaling.ForImage(row / height, channels).m_Scales;
            const size_t pixels = m_Layer.m_Geometry.m_Y.m_Input * m_Layer.m_Geometry.m_X.m_Input;
            RunRow(image + row / height * pixels * m_Layer.GetPixelChannels(), y, rows, columns, tile, table);
            segment += rows;
        }
    }

private:
    /// Computes a range of columns of one or two output rows, from row y on.
    void RunRow(const T* image, size_t y, size_t rows, const IndexRange& range, DepthwiseTileF32<T>& tile,
                const T** table) const
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
            else if (m_Layer.m_Tiles->m_Size != 0)
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
            m_Layer.m_Tiles->m_Run[rows][columns](tile);
        };
        ForEachTile(range.m_End - range.m_Begin, m_Layer.m_Tiles->m_Columns, runTile);
    }

    bool IsInside(size_t y, size_t rows, size_t x, size_t columns) const
    {
        const ref::WindowAxis& down = m_Layer.m_Geometry.m_Y;
        const ref::WindowAxis& across = m_Layer.m_Geometry.m_X;
        const auto isInside = [](const ref::WindowAxis& axis, size_t first, size_t last)
        {
            const int64_t end = axis.Origin(last) + static_cast<int64_t>(axis.m_Kernel - 1) * axis.m_Dilation;
            return axis.Origin(first) >= 0 && end < static_cast<int64_t>(axis.m_Input);
        };
        return isInside(down, y, y + rows - 1) && isInside(across, x, x + columns - 1);
    }

    /// Moves all pointers to the tile `distance` columns to the right; both tiles are inside of the image.
    void MoveTable(const T** table, size_t rows, size_t columns, size_t distance) const
    {
        const size_t count = GetTableLength(rows, columns);
        const size_t step =
            distance * static_cast<size_t>(m_Layer.m_Geometry.m_X.m_Stride) * m_Layer.GetPixelChannels();
        for (size_t i = 0; i < count; ++i)
        {
            table[i] += step;
        }
    }

    const T* FindPixel(const T* image, int64_t y, int64_t x) const
    {
        const auto height = static_cast<int64_t>(m_Layer.m_Geometry.m_Y.m_Input);
        const auto width = static_cast<int64_t>(m_Layer.m_Geometry.m_X.m_Input);
        const bool isInside = y >= 0 && y < height && x >= 0 && x < width;
        return isInside ? image + (y * width + x) * static_cast<int64_t>(m_Layer.GetPixelChannels())
                        : m_Layer.m_Packed->template GetZeros<T>();
    }

    void FindPixels(const T* image, size_t y, size_t rows, size_t x, size_t columns, const T** table) const
    {
        const int64_t height = m_Layer.GetHeight(static_cast<int64_t>(rows));
        const int64_t width = m_Layer.GetWidth(static_cast<int64_t>(columns));
        for (int64_t i = 0; i < height; ++i)
        {
            for (int64_t j = 0; j < width; ++j)
            {
                *table++ = FindPixel(image, m_Layer.m_Geometry.m_Y.Origin(y) + i, m_Layer.m_Geometry.m_X.Origin(x) + j);
            }
        }
    }

    void FindTaps(const T* image, size_t y, size_t x, size_t columns, const T** table) const
    {
        const ref::WindowAxis& across = m_Layer.m_Geometry.m_X;
        for (size_t i = 0; i < m_Layer.m_Geometry.m_Y.m_Kernel; ++i)
        {
            const int64_t row =
                m_Layer.m_Geometry.m_Y.Origin(y) + static_cast<int64_t>(i) * m_Layer.m_Geometry.m_Y.m_Dilation;
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

    const DepthwiseLayerF32<T>& m_Layer;
};

template <typename T>
const DepthwiseTileSetF32<T>& ChooseDepthwiseTiles(const ref::ConvolutionGeometry& g)
{
    const DepthwiseMicrokernelsF32<T>& microkernels = GetDepthwiseMicrokernelsF32<T>();
    // With smaller multipliers the image is repeated less often, and the tiles of some windows read each pixel once for
    // several windows.
    constexpr size_t ManyOutputs = 32;
    if (g.m_GroupOutputs >= ManyOutputs && g.m_GroupOutputs % microkernels.m_Lanes == 0)
    {
        return microkernels.m_BroadcastTiles;
    }
    const bool isSquare = g.m_Y.m_Kernel == g.m_X.m_Kernel && g.m_Y.m_Stride == g.m_X.m_Stride;
    if (!isSquare || g.m_Y.m_Stride > 2 || g.m_Y.m_Dilation != 1 || g.m_X.m_Dilation != 1)
    {
        return microkernels.m_AnyWindow;
    }
    const auto stride = static_cast<size_t>(g.m_Y.m_Stride - 1);
    switch (g.m_Y.m_Kernel)
    {
    case 2: return stride == 0 ? microkernels.m_Size2 : microkernels.m_AnyWindow;
    case 3: return microkernels.m_Size3[stride];
    case 5: return microkernels.m_Size5[stride];
    default: return microkernels.m_AnyWindow;
    }
}

/// A depthwise convolution of known shapes.
template <typename T>
class DepthwiseDriverF32
{
public:
    /// `quantizes`: data are floats, which strips quantize before they read them.
    DepthwiseDriverF32(const ReshapeArgs& args, const ref::ConvolutionGeometry& g, const PackedDepthwiseF32& packed,
                       bool quantizes = false)
        : DepthwiseDriverF32(args, g, packed, ChooseDepthwiseTiles<T>(g), quantizes)
    {
    }
    DepthwiseDriverF32(const ReshapeArgs& args, const ref::ConvolutionGeometry& g, const PackedDepthwiseF32& packed,
                       const DepthwiseTileSetF32<T>& tiles, bool quantizes = false)
        : m_Layer{g, &packed, &tiles, backends::FloatClamp(args.m_FusedActivation)},
          m_Variant(ChooseDepthwiseVariantF32(m_Layer, quantizes)),
          m_CopyRepeated(ChooseCopyRepeated(sizeof(T), g.m_GroupOutputs))
    {
        const double multiplications =
            static_cast<double>(g.NumPixels() * g.m_OutputChannels) * static_cast<double>(m_Layer.GetTaps());
        constexpr double RelativeCost = 4; // each multiply-add reads more memory
        m_Tasks = std::min(GetMaxTasks(args.m_MaxThreads), GetWorthwhileTasks(multiplications * RelativeCost));
        if (GetRows() < m_Tasks && m_Variant == DepthwiseVariantF32::Tiles)
        {
            m_Segments = std::min(DivideUp(m_Tasks, GetRows()), DivideUp(g.m_X.m_Output, m_Layer.m_Tiles->m_Columns));
        }
        m_Tasks = std::min(m_Tasks, GetRows() * m_Segments);
        m_TableLength = TileDriver(m_Layer).GetTableLength(m_Layer.m_Tiles->m_Rows, m_Layer.m_Tiles->m_Columns);
        backends::Scratch scratch;
        scratch.Add<const T*>(backends::CheckedCount(m_TableLength, m_Tasks));
        const size_t repeated =
            m_Layer.RepeatsChannels() ? backends::CheckedCount(g.NumImageElements(), g.m_Batches) : 0;
        m_RepeatedOffset = scratch.Add<T>(backends::CheckedCount(repeated, g.m_GroupOutputs));
        if (quantizes && QuantizesInStrips())
        {
            const size_t rowElements = g.m_X.m_Input * DivideUp(g.m_OutputChannels, StripChannels) * StripChannels;
            constexpr size_t MaxElements = 512 * 1024 / sizeof(T); // 512 KiB of a second-level cache
            while (m_StripRows > Tiles::MaxRows && CountImageRows(m_StripRows) * rowElements > MaxElements)
            {
                m_StripRows -= Tiles::MaxRows;
            }
            m_QuantizedElements = CountImageRows(m_StripRows) * rowElements;
            m_QuantizedOffset = scratch.Add<T>(backends::CheckedCount(m_QuantizedElements, m_Tasks));
        }
        m_ScratchBytes = scratch.GetBytes();
    }

    size_t GetScratchBytes() const { return m_ScratchBytes; }

    /// Whether the variant is row strips of 32 channels, which can quantize data and scale sums themselves.
    bool QuantizesInStrips() const { return m_Variant == DepthwiseVariantF32::RowStrips; }

    void operator()(const ExecuteArgs& args) const { Run(args, args.GetInput<T>(0), {}); }

    /// The same for another image, and for sums that are scaled.
    void Run(const ExecuteArgs& args, const T* image, const DepthwiseDequantization& scaling) const
    {
        if (m_Layer.RepeatsChannels())
        {
            const size_t tasks = std::min<size_t>(m_Tasks, args.m_Parallel->GetNumThreads());
            auto* repeated = backends::Scratch::At<T>(args.m_Scratch, m_RepeatedOffset);
            const size_t count = m_Layer.m_Geometry.NumImageElements() * m_Layer.m_Geometry.m_Batches;
            RunTasks(*args.m_Parallel, tasks,
                     [&](size_t index)
                     {
                         const IndexRange task = GetTaskRange(count, tasks, index);
                         T* to = repeated + task.m_Begin * m_Layer.m_Geometry.m_GroupOutputs;
                         if (m_CopyRepeated != nullptr)
                         {
                             const T* const from = image + task.m_Begin;
                             m_CopyRepeated({task.m_End - task.m_Begin, sizeof(T), m_Layer.m_Geometry.m_GroupOutputs},
                                            reinterpret_cast<const std::byte*>(from), reinterpret_cast<std::byte*>(to));
                             return;
                         }
                         for (size_t i = task.m_Begin; i < task.m_End; ++i)
                         {
                             to = std::fill_n(to, m_Layer.m_Geometry.m_GroupOutputs, image[i]);
                         }
                     });
            image = repeated;
        }
        const size_t unit = m_Segments == 1 ? m_Layer.m_Tiles->m_Rows : 1;
        RunChunkRanges(*args.m_Parallel, m_Tasks, GetRows() * m_Segments, unit,
                       [&](size_t task, const IndexRange& segments)
                       {
                           auto* const output = args.GetOutput<T>(0);
                           const StripDriver strips(m_Layer);
                           switch (m_Variant) // a segment of strips is a whole row
                           {
                           case DepthwiseVariantF32::RowStrips:
                               strips.Run(output, image, segments, m_StripRows, scaling,
                                          backends::Scratch::At<T>(args.m_Scratch, m_QuantizedOffset) +
                                              task * m_QuantizedElements);
                               break;
                           case DepthwiseVariantF32::ColumnStrips:
                               strips.RunColumnStrips(output, image, segments);
                               break;
                           case DepthwiseVariantF32::AllChannelStrips:
                               strips.RunAllChannels(output, image, segments);
                               break;
                           case DepthwiseVariantF32::Tiles:
                               TileDriver(m_Layer).Run(output, image, m_Segments, segments, scaling,
                                                       backends::Scratch::At<const T*>(args.m_Scratch, 0) +
                                                           task * m_TableLength);
                               break;
                           }
                       });
    }

private:
    using Tiles = DepthwiseTileSetF32<T>;
    using StripDriver = DepthwiseStripDriverF32<T>;
    using TileDriver = DepthwiseTileDriverF32<T>;
    static constexpr size_t StripChannels = DepthwiseMicrokernelsF32<T>::StripChannels;

    size_t GetRows() const { return m_Layer.m_Geometry.m_Batches * m_Layer.m_Geometry.m_Y.m_Output; }
    /// Image rows that `rows` output rows read.
    size_t CountImageRows(size_t rows) const
    {
        return static_cast<size_t>(m_Layer.GetHeight(static_cast<int64_t>(rows)));
    }

    DepthwiseLayerF32<T> m_Layer;
    DepthwiseVariantF32 m_Variant;
    CopyRepeatedFunction m_CopyRepeated; ///< repeats channels; null: it has no loop for this multiplier
    size_t m_Tasks = 1;
    size_t m_Segments = 1;    ///< segments of each row, more than 1 where there are fewer rows than tasks
    size_t m_TableLength = 0; ///< of each task
    size_t m_RepeatedOffset = 0;
    size_t m_StripRows = StripDriver::MaxRows;
    size_t m_QuantizedElements = 0; ///< that a task has quantized for them
    size_t m_QuantizedOffset = 0;
    size_t m_ScratchBytes = 0;
};

} // namespace tenon::cpu
