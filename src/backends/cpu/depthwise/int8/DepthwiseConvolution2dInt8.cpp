// SPDX-License-Identifier: Apache-2.0
// DepthwiseConvolution2d of CpuAcc for int8 and uint8 data; the bytes of CpuRef:
//   out[y][x][c] = clamp(requantize(bias[c] + sum over i, j of (in[..][..][c] - za) * (w[i][j][c] - zw)))
// The driver cuts the output into row strips and runs of pixels. Each block of channels (PackedDepthwiseInt8) takes
// one of two paths: RowStripDriverInt8 computes int8 from the image itself (windows of three columns), or rows are
// interleaved into RowRingBufferInt8 and a microkernel reads them there. See ../README.md for which and when.
#include "backends/common/FusedActivation.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/depthwise/int8/PackedDepthwiseInt8.hpp"
#include "backends/cpu/depthwise/int8/RowRingBufferInt8.hpp"
#include "backends/cpu/depthwise/int8/RowStripDriverInt8.hpp"
#include "backends/cpu/im2col/ColumnAsRow.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"
#include "backends/cpu/weights/WeightsCheckInt8.hpp"
#include "backends/reference/kernels/ConvolutionGeometry.hpp"

#include <tenon/descriptors/Convolution.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;

/// Row strips for which one run of pixels is computed before the next block of channels: the cache lines that blocks
/// share are still cached.
constexpr size_t RowBlockStrips = 8;
/// Fewest pixels of a segment of a row: neighbouring segments both interleave the columns that their windows share.
constexpr size_t MinSegmentPixels = 32;

SupportResult Check(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<DepthwiseConvolution2dDescriptor>();
    SupportResult result = CheckWeightsInt8(layer, 4, 3);
    if (result)
    {
        result = ref::CheckConvolution(descriptor);
    }
    if (!result)
    {
        return result;
    }
    const TensorShape& data = layer.GetInput(0).GetShape();
    const TensorShape& weights = layer.GetInput(1).GetShape();
    if (data.GetDimensionality() == Dimensionality::Specified && data.GetNumDimensions() == 4 &&
        data.GetDimensionSpecificity(3) && (data[3] == 0 || weights[3] % data[3] != 0))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "its weights are not whole channels of the data");
    }
    return CheckPackedSize(PackedDepthwiseInt8::GetPackedBytes(layer), weights.GetNumElements64());
}

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    return std::make_unique<PackedDepthwiseInt8>(layer, store);
}

/// A layer of known shapes.
class DepthwiseDriverInt8
{
public:
    DepthwiseDriverInt8(const PackedDepthwiseInt8& weights, const ref::ConvolutionGeometry& g, const ReshapeArgs& args)
        : DepthwiseDriverInt8(weights, g, backends::GetFusedRange(args.GetOutput(0), args.m_FusedActivation),
                              args.m_MaxThreads)
    {
    }

    DepthwiseDriverInt8(const PackedDepthwiseInt8& weights, const ref::ConvolutionGeometry& g,
                        const backends::QuantizedRange& range, unsigned int maxThreads)
        : m_Weights(&weights), m_Geometry(g), m_RingBuffer(weights, g),
          m_StripDriver(weights, g, range.m_Min, range.m_Max), m_Min(range.m_Min), m_Max(range.m_Max)
    {
        m_Strips = DivideUp(g.m_Y.m_Output, weights.GetRowsPerStrip());
        const double multiplications = static_cast<double>(g.NumPixels()) * static_cast<double>(g.m_OutputChannels) *
                                       static_cast<double>(g.m_Y.m_Kernel * g.m_X.m_Kernel);
        // Cost of an int8 multiply-add relative to a float multiply-add, interleaving and requantization included;
        // it decides the number of tasks.
        const double relativeCost = weights.GetMicrokernels().m_Layout == WeightLayoutInt8::Int16x2 ? 8 : 2;
        m_Tasks = std::min(GetMaxTasks(maxThreads), GetWorthwhileTasks(multiplications * relativeCost));
        const size_t strips = g.m_Batches * m_Strips;
        FindPartStarts();
        if (strips < m_Tasks)
        {
            m_Parts = std::min(DivideUp(m_Tasks, DivideUp(strips, GetStripsTogether())), m_PartStarts.size());
            m_Segments =
                std::clamp<size_t>(DivideUp(m_Tasks, strips * m_Parts), 1, DivideUp(g.m_X.m_Output, MinSegmentPixels));
        }
        m_Tasks = std::min(m_Tasks, strips * m_Parts * m_Segments);
        Scratch task;
        m_RingBuffer.Reserve(task);
        m_SumsOffset = task.Add<std::byte>(m_RingBuffer.GetRunPixels() * m_RingBuffer.GetMaxColumnBytes() +
                                           RequantizeRows::PastSums * sizeof(int32_t));
        m_TaskBytes = task.GetBytes();
        Scratch scratch;
        scratch.AddPerTask(task, m_Tasks);
        m_ScratchBytes = scratch.GetBytes();
    }

    size_t GetScratchBytes() const { return m_ScratchBytes; }

    /// The loops that run and how many channels each of them has, see backends::Prepared::m_Variant. The longest runs
    /// of pixels count: shorter ones may have too few for a loop.
    std::string DescribeVariant() const
    {
        size_t channels[3] = {}; // by loop
        size_t end = 0;
        for (const ChannelBlockInt8& block : m_Weights->GetBlocks())
        {
            // Strip blocks may repeat channels of the block before.
            channels[block.IsStrip() ? 0 : IsSummedToInt8(block) ? 1 : 2] += block.m_Channel + block.m_Channels - end;
            end = block.m_Channel + block.m_Channels;
        }
        constexpr const char* Loops[] = {"row strips", "ring buffer to int8", "ring buffer to int32"};
        std::string text;
        for (size_t i = 0; i < std::size(Loops); ++i)
        {
            if (channels[i] != 0)
            {
                text += (text.empty() ? "" : "; ") + std::string(Loops[i]) + ": " + std::to_string(channels[i]) +
                        (channels[i] == 1 ? " channel" : " channels");
            }
        }
        return text;
    }

    void operator()(const ExecuteArgs& args) const
    {
        const size_t pieces = m_Segments * m_Parts; // of an image; each has all strips
        RunChunkRanges(*args.m_Parallel, m_Tasks, m_Geometry.m_Batches * m_Strips * pieces, 1,
                       [&](size_t task, const IndexRange& range)
                       {
                           std::byte* scratch = static_cast<std::byte*>(args.m_Scratch) + task * m_TaskBytes;
                           m_RingBuffer.Prepare(scratch);
                           for (size_t unit = range.m_Begin; unit < range.m_End;)
                           {
                               const size_t strip = unit % m_Strips;
                               const size_t piece = unit / m_Strips % pieces;
                               const size_t count = std::min({range.m_End - unit, m_Strips - strip, RowBlockStrips});
                               RunRowBlock(args, unit / m_Strips / pieces, {strip, strip + count},
                                           GetTaskRange(m_Geometry.m_X.m_Output, m_Segments, piece % m_Segments),
                                           GetPart(piece / m_Segments), scratch);
                               unit += count;
                           }
                       });
    }

private:
    /// Finds the blocks where a part may begin: no two parts write the same byte.
    void FindPartStarts()
    {
        const std::vector<ChannelBlockInt8>& blocks = m_Weights->GetBlocks();
        size_t end = 0;
        for (size_t b = 0; b < blocks.size(); ++b)
        {
            if (blocks[b].m_Channel >= end)
            {
                m_PartStarts.push_back(b);
            }
            end = std::max(end, blocks[b].m_Channel + blocks[b].m_Channels);
        }
    }

    /// The blocks of a part.
    IndexRange GetPart(size_t part) const
    {
        const IndexRange range = GetTaskRange(m_PartStarts.size(), m_Parts, part);
        return {m_PartStarts[range.m_Begin],
                range.m_End < m_PartStarts.size() ? m_PartStarts[range.m_End] : m_Weights->GetBlocks().size()};
    }

    /// The number of strips that blocks compute at once.
    size_t GetStripsTogether() const
    {
        size_t strips = 1;
        for (const ChannelBlockInt8& block : m_Weights->GetBlocks())
        {
            strips = std::max<size_t>(strips, block.m_StripCount);
        }
        return strips;
    }

    /// Computes a range of pixels in a range of row strips of one image, for a range of blocks of channels.
    void RunRowBlock(const ExecuteArgs& args, size_t image, const IndexRange& strips, const IndexRange& all,
                     const IndexRange& blocks, std::byte* scratch) const
    {
        const size_t height = m_Geometry.m_Y.m_Output;
        const size_t rowElements = m_Geometry.m_X.m_Output * m_Geometry.m_OutputChannels;
        const size_t runs = DivideUp(all.m_End - all.m_Begin, m_RingBuffer.GetRunPixels());
        const size_t groups = m_Weights->GetRowGroups();
        const uint8_t* from = args.GetInput<uint8_t>(0) + image * m_Geometry.NumImageElements();
        uint8_t* to = args.GetOutput<uint8_t>(0) + image * height * rowElements;
        if (m_Weights->HasStripBlocks())
        {
            m_StripDriver.Write(from, strips, all, blocks,
                                m_RingBuffer.MakeRun(m_Weights->GetBlocks().front(), all).m_ColumnRange,
                                m_RingBuffer.GetPadding(scratch), to);
        }
        for (size_t i = 0; i < runs; ++i)
        {
            const IndexRange run = GetTaskRange(all.m_End - all.m_Begin, runs, i);
            const IndexRange pixels = {all.m_Begin + run.m_Begin, all.m_Begin + run.m_End};
            for (size_t b = blocks.m_Begin; b < blocks.m_End; ++b)
            {
                const ChannelBlockInt8& block = m_Weights->GetBlocks()[b];
                if (block.IsStrip())
                {
                    continue;
                }
                const RowRingBufferInt8::Run laidOut = m_RingBuffer.MakeRun(block, pixels);
                PreparedRequantizationInt8 columns;
                const bool writes = PrepareColumns(block, columns);
                size_t ring = 0;
                for (size_t strip = strips.m_Begin; strip < strips.m_End; ++strip)
                {
                    const size_t y = strip * m_Weights->GetRowsPerStrip();
                    const size_t known = strip == strips.m_Begin ? 0 : groups - m_RingBuffer.GetNewRowGroups();
                    m_RingBuffer.LayOut(from, laidOut, y, known, ring, scratch);
                    const size_t* const taps = m_RingBuffer.FindTapOffsets(laidOut, ring, scratch);
                    for (size_t outputRow = 0; outputRow < m_Weights->GetRowsPerStrip() && y + outputRow < height;
                         ++outputRow)
                    {
                        uint8_t* const row = to + (y + outputRow) * rowElements;
                        const BufferedRunInt8 sums = GetSums(laidOut, outputRow, taps, scratch);
                        if (!writes || !Write(sums, block, pixels, columns, row))
                        {
                            m_Weights->GetMicrokernels().m_SumToInt32[block.m_Chunks](sums);
                            Requantize(block, pixels, scratch, row);
                        }
                    }
                    ring += m_RingBuffer.GetNewRowGroups();
                    ring -= ring < groups ? 0 : groups;
                }
            }
        }
    }

    BufferedRunInt8 GetSums(const RowRingBufferInt8::Run& run, size_t outputRow, const size_t* taps,
                            std::byte* scratch) const
    {
        BufferedRunInt8 sums;
        sums.m_Columns = m_RingBuffer.GetColumns(scratch);
        sums.m_PixelStep = run.m_PixelBytes;
        sums.m_Pixels = run.m_Pixels.m_End - run.m_Pixels.m_Begin;
        sums.m_Offsets = taps;
        sums.m_Taps = m_Weights->GetTaps();
        sums.m_Weights = m_Weights->GetData(*run.m_Block, outputRow);
        sums.m_Bias = m_Weights->GetBias(*run.m_Block);
        sums.m_Sums = Scratch::At<int32_t>(scratch, m_SumsOffset);
        return sums;
    }

    RequantizeColumns GetRequantization(const ChannelBlockInt8& block) const
    {
        RequantizeColumns columns = m_Weights->GetRequantization(block);
        columns.m_Min = m_Min;
        columns.m_Max = m_Max;
        return columns;
    }

    /// Whether the block's scales and the instruction set allow requantization in registers.
    bool IsRequantizedInRegisters(const ChannelBlockInt8& block, const RequantizeColumns& columns) const
    {
        return m_Weights->GetMicrokernels().m_SumToInt8[block.m_Chunks] != nullptr && columns.FitsRegisters();
    }

    /// Whether the microkernel to int8 takes the longest runs of a buffered block.
    bool IsSummedToInt8(const ChannelBlockInt8& block) const
    {
        if (!IsRequantizedInRegisters(block, GetRequantization(block)))
        {
            return false;
        }
        const size_t pixels = GetTaskRange(m_Geometry.m_X.m_Output, m_Segments, 0).m_End;
        const size_t runs = DivideUp(pixels, m_RingBuffer.GetRunPixels());
        const RowRingBufferInt8::Run run = m_RingBuffer.MakeRun(block, GetTaskRange(pixels, runs, 0));
        std::vector<size_t> taps(m_Weights->GetTaps());
        m_RingBuffer.WriteTapOffsets(run, 0, taps.data());
        BufferedRunInt8 sums;
        sums.m_PixelStep = run.m_PixelBytes;
        sums.m_Pixels = run.m_Pixels.m_End;
        sums.m_Offsets = taps.data();
        sums.m_Taps = taps.size();
        return m_Weights->GetMicrokernels().m_IsSummedToInt8(sums);
    }

    /// Prepares requantization in registers; false if the block's scales do not allow it.
    bool PrepareColumns(const ChannelBlockInt8& block, PreparedRequantizationInt8& prepared) const
    {
        const RequantizeColumns columns = GetRequantization(block);
        if (!IsRequantizedInRegisters(block, columns))
        {
            return false;
        }
        GetMicrokernelsInt8().m_PrepareRequantization(columns, m_Weights->GetBias(block), block.m_Channels,
                                                      m_Weights->IsDataSigned(), prepared);
        return true;
    }

    bool Write(const BufferedRunInt8& sums, const ChannelBlockInt8& block, const IndexRange& pixels,
               const PreparedRequantizationInt8& columns, uint8_t* row) const
    {
        BufferedOutputInt8 bytes;
        bytes.m_Requantization = &columns;
        bytes.m_Scale = GetRequantization(block).GetScale();
        bytes.m_Out = row + pixels.m_Begin * m_Geometry.m_OutputChannels + block.m_Channel;
        bytes.m_OutStride = m_Geometry.m_OutputChannels;
        return m_Weights->GetMicrokernels().m_SumToInt8[block.m_Chunks](sums, bytes);
    }

    void Requantize(const ChannelBlockInt8& block, const IndexRange& pixels, std::byte* scratch, uint8_t* row) const
    {
        RequantizeRows rows;
        rows.m_Sums = Scratch::At<int32_t>(scratch, m_SumsOffset);
        rows.m_SumStride = block.m_Chunks * DepthwiseMicrokernelsInt8::ChunkChannels;
        rows.m_Rows = pixels.m_End - pixels.m_Begin;
        rows.m_Columns = block.m_Channels;
        rows.m_Out = row + pixels.m_Begin * m_Geometry.m_OutputChannels + block.m_Channel;
        rows.m_OutStride = m_Geometry.m_OutputChannels;
        rows.m_IsSigned = m_Weights->IsDataSigned();
        rows.m_IsInterleaved = block.m_IsInterleaved;
        GetMicrokernelsInt8().m_Requantize(rows, GetRequantization(block));
    }

    const PackedDepthwiseInt8* m_Weights;
    ref::ConvolutionGeometry m_Geometry;
    RowRingBufferInt8 m_RingBuffer;
    RowStripDriverInt8 m_StripDriver;
    int32_t m_Min;
    int32_t m_Max;
    size_t m_Strips = 0;              ///< row strips of an image: their output rows share interleaved image rows
    std::vector<size_t> m_PartStarts; ///< blocks that no earlier block shares channels with
    size_t m_Parts = 1;               ///< parts of the channels, more than 1 where there are few row strips
    size_t m_Segments = 1;            ///< segments of a row, more than 1 where row strips and parts are few
    size_t m_Tasks = 1;
    size_t m_TaskBytes = 0;
    size_t m_ScratchBytes = 0;
    size_t m_SumsOffset = 0; ///< in a task's scratch memory
};

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const PackedDepthwiseInt8&>(*packed);
    ref::ConvolutionGeometry g = ref::MakeDepthwiseGeometry(args);
    if (!weights.IsExact())
    {
        return backends::Prepared::Declined("its weights are not exact in sums of 32 bits");
    }
    if ((weights.IsTransposed() && !IsOfOneColumn(g.m_X)) || (weights.HasStripBlocks() && g.m_GroupOutputs != 1))
    {
        return backends::Prepared::Declined(
            "the data have another width or other channels than the weights were packed for");
    }
    if (weights.IsTransposed())
    {
        g = LayColumnAsRow(g);
    }
    const size_t fold = weights.GetFold();
    g.m_X.m_Kernel = DivideUp(g.m_X.m_Kernel, fold);
    g.m_X.m_Dilation *= static_cast<int64_t>(fold);
    if (g.IsEmpty())
    {
        return [](const ExecuteArgs&) {};
    }
    DepthwiseDriverInt8 depthwise(weights, g, args);
    const size_t scratchBytes = depthwise.GetScratchBytes();
    std::string variant = depthwise.DescribeVariant();
    backends::Prepared prepared(std::move(depthwise), scratchBytes);
    prepared.m_Variant = std::move(variant);
    return prepared;
}

} // namespace

extern const backends::Kernel CpuDepthwiseConvolution2dInt8Kernel = {.m_Name = "CpuDepthwiseConvolution2dInt8",
                                                                     .m_Types = Int8Types,
                                                                     .m_Prepare = Prepare,
                                                                     .m_Check = Check,
                                                                     .m_Pack = Pack,
                                                                     .m_Fuse = backends::FuseClamp,
                                                                     .m_RoundsHalfToEven = true};

} // namespace tenon::cpu
