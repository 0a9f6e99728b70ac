// SPDX-License-Identifier: Apache-2.0
// Packed weights and the driver of int16 depthwise convolutions, and of int16 Convolution2d in small groups. An
// indirection buffer [tap][pixel] is filled for 32 output pixels at a time, so that padding, strides and dilation cost
// nothing in the microkernels; sums of int32 are requantized to int16 per chunk of channels. A channel multiplier
// repeats the channels of the image first. Used by DepthwiseConvolution2dInt16.cpp and Convolution2dGroupsInt16.cpp.
#pragma once

#include "backends/common/FusedActivation.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/common/PackedStore.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/depthwise/int16/SmallGroupsInt16.hpp"
#include "backends/cpu/gemm/epilogue/RequantizeArraysInt16.hpp"
#include "backends/cpu/gemm/pack/WeightReaderInt16.hpp"
#include "backends/cpu/im2col/Im2col.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/reference/kernels/ConvolutionGeometry.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tenon::cpu
{

/// Constant weights of an int16 depthwise convolution, or of one in small groups, and their requantization:
///   depthwise: [chunk][pair of taps][2 * lanes] pairs of int16      groups: see SmallGroupsInt16.hpp
/// A chunk is two vectors of channels; the last one may overlap the one before.
class PackedDepthwiseInt16 final : public backends::PackedWeights
{
public:
    /// Weights are [taps, channels]; those of small groups, for which there are grouped microkernels, are [channels,
    /// taps, channels of a group].
    PackedDepthwiseInt16(const WeightReaderInt16& weights, size_t taps, size_t channels, size_t groupChannels,
                         backends::PackedStore& store);

    static uint64_t GetPackedBytes(uint64_t taps, uint64_t channels, uint64_t groupChannels);

    /// Whether the microkernels give the numbers of the reference kernel. Otherwise nothing is packed.
    bool IsExact() const { return m_IsExact && m_Arrays.IsExact(); }
    bool RefersToConstants() const override { return !IsExact(); }

    const MicrokernelsInt16& GetMicrokernels() const { return *m_Microkernels; }
    const DepthwiseMicrokernelsInt16& GetTiles() const
    {
        return m_GroupChannels == 1 ? m_Microkernels->m_Depthwise : m_Microkernels->m_Groups[m_GroupChannels];
    }
    size_t GetChannels() const { return m_Channels; }
    size_t GetGroupChannels() const { return m_GroupChannels; }
    /// Steps of the microkernels: pairs of taps, or taps of small groups.
    size_t GetSteps() const { return m_Steps; }
    size_t GetTableTaps() const { return m_Steps * (m_GroupChannels == 1 ? 2 : 1); }
    size_t GetChunks() const { return m_Chunks.GetChunks(); }
    /// First channel of a chunk, and number of its channels.
    size_t GetFirst(size_t chunk) const { return m_Chunks.GetFirst(chunk); }
    size_t GetCount() const { return m_Chunks.GetCount(); }
    /// Weights in the layout of DepthwiseTileInt16.
    const int32_t* GetWeights(size_t chunk) const;
    /// Requantization to int16; the caller sets the output's range.
    RequantizeColumnsInt16 GetRequantization(size_t chunk) const
    {
        return m_Arrays.From(chunk * 2 * m_Microkernels->m_Lanes);
    }
    /// A pixel in the padding: zeros.
    const int16_t* GetZeros() const { return m_Zeros.data(); }

private:
    void SetUpChannels(const WeightReaderInt16& weights, size_t taps, backends::PackedStore& store);
    int64_t SumMagnitudes(const WeightReaderInt16& weights, size_t taps, size_t channel) const;
    void PackTaps(const WeightReaderInt16& weights, size_t taps, int16_t* packed) const;
    /// Pairs of int16 in a step of a chunk.
    size_t GetStepPairs() const { return std::max<size_t>(m_GroupChannels, 2) * m_Microkernels->m_Lanes; }

    const MicrokernelsInt16* m_Microkernels;
    size_t m_Channels;
    size_t m_GroupChannels;
    size_t m_Steps;
    ChannelChunks m_Chunks;
    bool m_IsExact = true;
    backends::PackedBlock m_Data;
    RequantizeArraysInt16 m_Arrays;
    std::vector<int16_t> m_Zeros;
};

/// A layer of known shapes.
class DepthwiseDriverInt16
{
public:
    /// `g`: geometry of a DepthwiseConvolution2d, or of a Convolution2d in small groups with m_GroupOutputs set to 1.
    DepthwiseDriverInt16(const ReshapeArgs& args, const ref::ConvolutionGeometry& g, const PackedDepthwiseInt16& packed)
        : m_Packed(&packed), m_Im2col(MakeDepthwiseIm2col(g)), m_Pixels(g.NumPixels()),
          m_Taps(g.m_Y.m_Kernel * g.m_X.m_Kernel), m_Repeats(g.m_GroupOutputs),
          m_ImageElements(g.NumImageElements() * g.m_Batches)
    {
        m_Im2col.m_Channels = static_cast<int64_t>(g.m_OutputChannels); // channels of the repeated image
        const backends::QuantizedRange range = backends::GetFusedRange(args.GetOutput(0), args.m_FusedActivation);
        m_Min = static_cast<int16_t>(range.m_Min);
        m_Max = static_cast<int16_t>(range.m_Max);
        const double multiplications = static_cast<double>(m_Pixels) * static_cast<double>(m_Taps) *
                                       static_cast<double>(packed.GetChannels() * packed.GetGroupChannels());
        m_Tasks = std::min({GetMaxTasks(args.m_MaxThreads), GetWorthwhileTasks(multiplications), m_Pixels});
        Scratch task;
        task.Add<const int16_t*>(packed.GetTableTaps(), BlockPixels);
        m_TaskBytes = task.GetBytes();
        Scratch scratch;
        scratch.AddPerTask(task, m_Tasks);
        m_RepeatedOffset =
            scratch.Add<int16_t>(m_Repeats == 1 ? size_t{0} : backends::CheckedCount(m_ImageElements, m_Repeats));
        m_ScratchBytes = scratch.GetBytes();
    }

    size_t GetScratchBytes() const { return m_ScratchBytes; }

    void operator()(const ExecuteArgs& args) const
    {
        const size_t tasks = std::min<size_t>(m_Tasks, args.m_Parallel->GetNumThreads());
        const auto* image = args.GetInput<int16_t>(0);
        if (m_Repeats != 1)
        {
            auto* repeated = Scratch::At<int16_t>(args.m_Scratch, m_RepeatedOffset);
            RunTasks(*args.m_Parallel, tasks,
                     [&](size_t index) { Repeat(image, GetTaskRange(m_ImageElements, tasks, index), repeated); });
            image = repeated;
        }
        RunTasks(*args.m_Parallel, tasks,
                 [&](size_t index)
                 {
                     const IndexRange pixels = GetTaskRange(m_Pixels, tasks, index);
                     for (size_t first = pixels.m_Begin; first < pixels.m_End; first += BlockPixels)
                     {
                         RunBlock(args, image, first, std::min(first + BlockPixels, pixels.m_End),
                                  Scratch::At<const int16_t*>(args.m_Scratch, index * m_TaskBytes));
                     }
                 });
    }

private:
    /// Pixels of an indirection buffer.
    static constexpr size_t BlockPixels = 32;
    using Scratch = backends::Scratch;

    void Repeat(const int16_t* image, const IndexRange& task, int16_t* repeated) const
    {
        // Four copies are stored at a time; the next element's copies overwrite the surplus ones.
        constexpr size_t Wide = 4;
        constexpr uint64_t Ones = 0x0001000100010001;
        const size_t stored = (m_Repeats + Wide - 1) / Wide * Wide;
        int16_t* to = repeated + task.m_Begin * m_Repeats;
        const int16_t* const end = repeated + task.m_End * m_Repeats;
        for (size_t i = task.m_Begin; i < task.m_End; ++i, to += m_Repeats)
        {
            if (static_cast<size_t>(end - to) < stored)
            {
                std::fill_n(to, m_Repeats, image[i]);
                continue;
            }
            for (size_t copy = 0; copy < m_Repeats; copy += Wide)
            {
                const uint64_t copies = static_cast<uint16_t>(image[i]) * Ones;
                std::memcpy(to + copy, &copies, sizeof(copies));
            }
        }
    }

    void RunBlock(const ExecuteArgs& args, const int16_t* image, size_t first, size_t last, const int16_t** table) const
    {
        const size_t pixels = last - first;
        m_Im2col.Find(image, first, last, m_Packed->GetZeros(), table);
        // The tap that pairs with the last one of an odd number has zero weights.
        std::fill_n(table + m_Taps * pixels, (m_Packed->GetTableTaps() - m_Taps) * pixels, m_Packed->GetZeros());
        int16_t* out = args.GetOutput<int16_t>(0) + first * m_Packed->GetChannels();
        for (size_t chunk = 0; chunk < m_Packed->GetChunks(); ++chunk)
        {
            RunChunk(table, pixels, chunk, out);
        }
    }

    void RunChunk(const int16_t* const* table, size_t pixels, size_t chunk, int16_t* out) const
    {
        const MicrokernelsInt16& microkernels = m_Packed->GetMicrokernels();
        const DepthwiseMicrokernelsInt16& tiles = m_Packed->GetTiles();
        alignas(64) int32_t sums[BlockPixels * 2 * MicrokernelsInt16::MaxLanes];
        DepthwiseTileInt16 tile;
        tile.m_TapStep = pixels;
        tile.m_Steps = m_Packed->GetSteps();
        tile.m_Offset = m_Packed->GetFirst(chunk);
        tile.m_Channels = m_Packed->GetCount();
        tile.m_Weights = m_Packed->GetWeights(chunk);
        RequantizeRowsInt16 rows;
        rows.m_Sums = sums;
        rows.m_SumStride = 2 * microkernels.m_Lanes;
        rows.m_Rows = pixels;
        rows.m_Columns = tile.m_Channels;
        rows.m_Out = out + tile.m_Offset;
        rows.m_OutStride = m_Packed->GetChannels();
        for (size_t pixel = 0; pixel < pixels;)
        {
            const size_t count = std::min(pixels - pixel, tiles.m_Pixels);
            tile.m_Indirection = table + pixel;
            tile.m_Sums = sums + pixel * rows.m_SumStride;
            tiles.m_Run[count](tile);
            pixel += count;
        }
        RequantizeColumnsInt16 columns = m_Packed->GetRequantization(chunk);
        columns.m_Min = m_Min;
        columns.m_Max = m_Max;
        microkernels.m_Requantize(rows, columns);
    }

    const PackedDepthwiseInt16* m_Packed;
    Im2col m_Im2col;
    size_t m_Pixels;
    size_t m_Taps;
    size_t m_Repeats; ///< channel multiplier
    size_t m_ImageElements;
    int16_t m_Min = 0;
    int16_t m_Max = 0;
    size_t m_Tasks = 1;
    size_t m_TaskBytes = 0;
    size_t m_RepeatedOffset = 0;
    size_t m_ScratchBytes = 0;
};

} // namespace tenon::cpu
