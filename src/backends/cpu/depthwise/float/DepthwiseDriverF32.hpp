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
const DepthwiseTiles<T>& ChooseTiles(const ref::ConvolutionGeometry& g)
{
    const DepthwiseEngine<T>& engine = GetDepthwiseEngine<T>();
    // With smaller multipliers the image is repeated less often, and the tiles of some windows read each pixel once for
    // several windows.
    constexpr size_t ManyOutputs = 32;
    if (g.m_GroupOutputs >= ManyOutputs && g.m_GroupOutputs % engine.m_Lanes == 0)
    {
        return engine.m_Spreading;
    }
    const bool isSquare = g.m_Y.m_Kernel == g.m_X.m_Kernel && g.m_Y.m_Stride == g.m_X.m_Stride;
    if (!isSquare || g.m_Y.m_Stride > 2 || g.m_Y.m_Dilation != 1 || g.m_X.m_Dilation != 1)
    {
        return engine.m_Any;
    }
    const auto stride = static_cast<size_t>(g.m_Y.m_Stride - 1);
    switch (g.m_Y.m_Kernel)
    {
    case 2: return stride == 0 ? engine.m_Size2 : engine.m_Any;
    case 3: return engine.m_Size3[stride];
    case 5: return engine.m_Size5[stride];
    default: return engine.m_Any;
    }
}

/// A depthwise convolution of known shapes.
template <typename T>
class Depthwise
{
public:
    /// `quantizes`: data are floats, which strips quantize before they read them.
    Depthwise(const ReshapeArgs& args, const ref::ConvolutionGeometry& g, const PackedDepthwise& packed,
              bool quantizes = false)
        : Depthwise(args, g, packed, ChooseTiles<T>(g), quantizes)
    {
    }
    Depthwise(const ReshapeArgs& args, const ref::ConvolutionGeometry& g, const PackedDepthwise& packed,
              const DepthwiseTiles<T>& tiles, bool quantizes = false)
        : m_Layer{g, &packed, &tiles, backends::FloatClamp(args.m_FusedActivation)},
          m_Way(ChooseDepthwiseWay(m_Layer, quantizes)), m_CopyRepeated(ChooseCopyRepeated(sizeof(T), g.m_GroupOutputs))
    {
        const double multiplications =
            static_cast<double>(g.NumPixels() * g.m_OutputChannels) * static_cast<double>(m_Layer.GetTaps());
        constexpr double SlowerThanProducts = 4; // each multiply-add reads more memory
        m_Parts = std::min(GetMaxParts(args.m_MaxThreads), GetWorthwhileParts(multiplications * SlowerThanProducts));
        if (GetRows() < m_Parts && m_Way == DepthwiseWay::Tiles)
        {
            m_Segments = std::min(DivideUp(m_Parts, GetRows()), DivideUp(g.m_X.m_Output, m_Layer.m_Tiles->m_Columns));
        }
        m_Parts = std::min(m_Parts, GetRows() * m_Segments);
        m_TableLength = TileRows(m_Layer).GetTableLength(m_Layer.m_Tiles->m_Rows, m_Layer.m_Tiles->m_Columns);
        backends::Scratch scratch;
        scratch.Add<const T*>(backends::CheckedCount(m_TableLength, m_Parts));
        const size_t repeated =
            m_Layer.RepeatsChannels() ? backends::CheckedCount(g.NumImageElements(), g.m_Batches) : 0;
        m_RepeatedOffset = scratch.Add<T>(backends::CheckedCount(repeated, g.m_GroupOutputs));
        if (quantizes && QuantizesInStrips())
        {
            const size_t rowElements = g.m_X.m_Input * DivideUp(g.m_OutputChannels, StripChannels) * StripChannels;
            constexpr size_t MostElements = 512 * 1024 / sizeof(T); // 512 KiB of a second-level cache
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

    /// Whether the variant is row strips of 32 channels, which can quantize data and scale sums themselves.
    bool QuantizesInStrips() const { return m_Way == DepthwiseWay::Strips; }

    void operator()(const ExecuteArgs& args) const { Run(args, args.GetInput<T>(0), {}); }

    /// The same for another image, and for sums that are scaled.
    void Run(const ExecuteArgs& args, const T* image, const DepthwiseScaling& scaling) const
    {
        const size_t parts = std::min<size_t>(m_Parts, args.m_Parallel->GetNumThreads());
        if (m_Layer.RepeatsChannels())
        {
            auto* repeated = backends::Scratch::At<T>(args.m_Scratch, m_RepeatedOffset);
            const size_t count = m_Layer.m_Geometry.NumImageElements() * m_Layer.m_Geometry.m_Batches;
            RunParts(*args.m_Parallel, parts,
                     [&](size_t index)
                     {
                         const Part part = GetPart(count, parts, index);
                         T* to = repeated + part.m_Begin * m_Layer.m_Geometry.m_GroupOutputs;
                         if (m_CopyRepeated != nullptr)
                         {
                             const T* const from = image + part.m_Begin;
                             m_CopyRepeated({part.m_End - part.m_Begin, sizeof(T), m_Layer.m_Geometry.m_GroupOutputs},
                                            reinterpret_cast<const std::byte*>(from), reinterpret_cast<std::byte*>(to));
                             return;
                         }
                         for (size_t i = part.m_Begin; i < part.m_End; ++i)
                         {
                             to = std::fill_n(to, m_Layer.m_Geometry.m_GroupOutputs, image[i]);
                         }
                     });
            image = repeated;
        }
        RunParts(
            *args.m_Parallel, parts,
            [&](size_t index)
            {
                const size_t unit = m_Segments == 1 ? m_Layer.m_Tiles->m_Rows : 1;
                const Part segments = GetPart(GetRows() * m_Segments, parts, index, unit);
                auto* const output = args.GetOutput<T>(0);
                const StripRows strips(m_Layer);
                switch (m_Way) // a segment of strips is a whole row
                {
                case DepthwiseWay::Strips:
                    strips.Run(output, image, segments, m_StripRows, scaling,
                               backends::Scratch::At<T>(args.m_Scratch, m_CopiesOffset) + index * m_CopiedElements);
                    break;
                case DepthwiseWay::DownStrips: strips.RunDown(output, image, segments); break;
                case DepthwiseWay::WholeStrips: strips.RunWhole(output, image, segments); break;
                case DepthwiseWay::Tiles:
                    TileRows(m_Layer).Run(output, image, m_Segments, segments, scaling,
                                          backends::Scratch::At<const T*>(args.m_Scratch, 0) + index * m_TableLength);
                    break;
                }
            });
    }

private:
    using Tiles = DepthwiseTiles<T>;
    using StripRows = DepthwiseStripRows<T>;
    using TileRows = DepthwiseTileRows<T>;
    static constexpr size_t StripChannels = DepthwiseEngine<T>::StripChannels;

    size_t GetRows() const { return m_Layer.m_Geometry.m_Batches * m_Layer.m_Geometry.m_Y.m_Output; }
    /// Image rows that `rows` output rows read.
    size_t CountSeen(size_t rows) const { return static_cast<size_t>(m_Layer.GetHeight(static_cast<int64_t>(rows))); }

    DepthwiseLayer<T> m_Layer;
    DepthwiseWay m_Way;
    CopyRepeatedFunction m_CopyRepeated; ///< repeats channels; null: it has no loop for this multiplier
    size_t m_Parts = 1;
    size_t m_Segments = 1;    ///< segments of each row, more than 1 where there are fewer rows than tasks
    size_t m_TableLength = 0; ///< of each task
    size_t m_RepeatedOffset = 0;
    size_t m_StripRows = StripRows::MostRows;
    size_t m_CopiedElements = 0; ///< that a task has quantized for them
    size_t m_CopiesOffset = 0;
    size_t m_ScratchBytes = 0;
};

} // namespace tenon::cpu
