// SPDX-License-Identifier: Apache-2.0
// The driver of depthwise convolutions with float32 sums (data float32, or bfloat16 in uint16_t): chooses tiles or
// strips, the number of tasks, and repeats the channels of the image for a channel multiplier. Used by
// DepthwiseConvolution2d (Float, Hybrid) and Convolution2dGroupsF32.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/depthwise/float/DepthwiseStripDriverF32.hpp"
#include "backends/cpu/depthwise/float/DepthwiseTileDriverF32.hpp"
#include "backends/cpu/im2col/ColumnAsRow.hpp"
#include "backends/cpu/move/CopyRepeated.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tenon::cpu
{

template <typename T>
const DepthwiseTileSetF32<T>& ChooseDepthwiseTiles(const ref::ConvolutionGeometry& g)
{
    const DepthwiseMicrokernelsF32<T>& engine = GetDepthwiseMicrokernelsF32<T>();
    // With smaller multipliers the image is repeated less often, and the tiles of some windows read each pixel once for
    // several windows.
    constexpr size_t ManyOutputs = 32;
    if (g.m_GroupOutputs >= ManyOutputs && g.m_GroupOutputs % engine.m_Lanes == 0)
    {
        return engine.m_BroadcastTiles;
    }
    const bool isSquare = g.m_Y.m_Kernel == g.m_X.m_Kernel && g.m_Y.m_Stride == g.m_X.m_Stride;
    if (!isSquare || g.m_Y.m_Stride > 2 || g.m_Y.m_Dilation != 1 || g.m_X.m_Dilation != 1)
    {
        return engine.m_AnyWindow;
    }
    const auto stride = static_cast<size_t>(g.m_Y.m_Stride - 1);
    switch (g.m_Y.m_Kernel)
    {
    case 2: return stride == 0 ? engine.m_Size2 : engine.m_AnyWindow;
    case 3: return engine.m_Size3[stride];
    case 5: return engine.m_Size5[stride];
    default: return engine.m_AnyWindow;
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
        const size_t tasks = std::min<size_t>(m_Tasks, args.m_Parallel->GetNumThreads());
        if (m_Layer.RepeatsChannels())
        {
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
        RunTasks(*args.m_Parallel, tasks,
                 [&](size_t index)
                 {
                     const size_t unit = m_Segments == 1 ? m_Layer.m_Tiles->m_Rows : 1;
                     const IndexRange segments = GetTaskRange(GetRows() * m_Segments, tasks, index, unit);
                     auto* const output = args.GetOutput<T>(0);
                     const StripDriver strips(m_Layer);
                     switch (m_Variant) // a segment of strips is a whole row
                     {
                     case DepthwiseVariantF32::RowStrips:
                         strips.Run(output, image, segments, m_StripRows, scaling,
                                    backends::Scratch::At<T>(args.m_Scratch, m_QuantizedOffset) +
                                        index * m_QuantizedElements);
                         break;
                     case DepthwiseVariantF32::ColumnStrips: strips.RunColumnStrips(output, image, segments); break;
                     case DepthwiseVariantF32::AllChannelStrips: strips.RunAllChannels(output, image, segments); break;
                     case DepthwiseVariantF32::Tiles:
                         TileDriver(m_Layer).Run(output, image, m_Segments, segments, scaling,
                                                 backends::Scratch::At<const T*>(args.m_Scratch, 0) +
                                                     index * m_TableLength);
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
