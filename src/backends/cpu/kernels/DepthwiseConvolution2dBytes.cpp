// SPDX-License-Identifier: Apache-2.0
// DepthwiseConvolution2d of CpuAcc for 8-bit data: the bytes of the reference kernel. Rows of the image that a window
// covers are interleaved, a block of channels and a run of columns at a time, and a dot product takes a column of the
// window. Where four rows hold the windows of several output rows, all of them are computed from one interleaving. What
// the next output rows read, too, is not interleaved again: groups of rows lie in a ring.
// Columns are interleaved as they lie in the image, once for all windows; where strides or dilations would make most of
// them columns that no window sees, tap by tap instead.
#include "backends/common/FusedActivation.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/Parts.hpp"
#include "backends/cpu/gemm/PackedSize.hpp"
#include "backends/cpu/kernels/BytesCheck.hpp"
#include "backends/cpu/kernels/PackedDepthwise8.hpp"
#include "backends/reference/CpuRefBackend.hpp"
#include "backends/reference/kernels/ConvolutionGeometry.hpp"

#include <tenon/Descriptors.hpp>

#include <algorithm>
#include <cstring>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;

/// Output pixels of a run: the interleaved columns and the sums of one stay in the first-level cache.
constexpr size_t RunPixels = 32;
/// Strips of output rows after each other of which a run of pixels is computed: what other channels read of the same
/// cache lines is still in a cache then.
constexpr size_t BandStrips = 8;
/// Interleaved bytes of a run, unless one pixel has more.
constexpr size_t MostRunBytes = size_t{4} << 20;

SupportResult Check(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<DepthwiseConvolution2dDescriptor>();
    SupportResult result = CheckBytes(layer, 4, 3);
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
    return CheckPackedBytes(PackedDepthwise8::GetPackedBytes(layer), weights.GetNumElements64());
}

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    return std::make_unique<PackedDepthwise8>(layer, store);
}

/// A layer of known shapes.
class Depthwise
{
public:
    Depthwise(const PackedDepthwise8& weights, const ref::ConvolutionGeometry& g, const ReshapeArgs& args)
        : m_Weights(&weights), m_Geometry(g)
    {
        const backends::QuantizedRange range = backends::GetFusedRange(args.GetOutput(0), args.m_FusedActivation);
        m_Min = range.m_Min;
        m_Max = range.m_Max;
        m_Strips = (g.m_Y.m_Output + weights.GetPhases() - 1) / weights.GetPhases();
        const size_t stripRows = weights.GetPhases() * static_cast<size_t>(g.m_Y.m_Stride);
        const bool overlaps = g.m_Y.m_Dilation == 1 && stripRows % weights.GetGroupRows() == 0;
        m_NewGroups =
            overlaps ? std::min(stripRows / weights.GetGroupRows(), weights.GetGroups()) : weights.GetGroups();
        const double multiplications = static_cast<double>(g.NumPixels()) * static_cast<double>(g.m_OutputChannels) *
                                       static_cast<double>(g.m_Y.m_Kernel * g.m_X.m_Kernel);
        // Data are laid out for them, and bytes made of few: parts are made for so many float multiplications.
        const double slowerThanProducts = weights.GetEngine().m_Layout == Layout8::WidePairs ? 8 : 2;
        m_Parts = std::min(
            {GetMostParts(), GetWorthwhileParts(multiplications * slowerThanProducts), g.m_Batches * m_Strips});
        for (const DepthwiseBlock8& block : weights.GetBlocks())
        {
            m_BlockBytes = std::max(m_BlockBytes, block.m_Pieces * DepthwiseEngine8::PieceBytes);
        }
        PlanRuns();
        Scratch part;
        part.Add<std::byte>(weights.GetGroups(), m_RunColumns, m_BlockBytes);
        m_SumsOffset = part.Add<std::byte>(m_RunPixels * m_BlockBytes);
        m_PaddingOffset = part.Add<uint8_t>(MostBlockChannels);
        m_TapsOffset = part.Add<size_t>(weights.GetTaps());
        const size_t repeatedRows = g.m_GroupOutputs != 1 ? InterleaveColumns8::MostRows : 0;
        m_RepeatedOffset = part.Add<uint8_t>(repeatedRows, m_RunColumns, MostBlockChannels);
        m_PartBytes = part.GetBytes();
        Scratch scratch;
        scratch.AddParts(part, m_Parts);
        m_ScratchBytes = scratch.GetBytes();
    }

    size_t GetScratchBytes() const { return m_ScratchBytes; }

    void operator()(const ExecuteArgs& args) const
    {
        const size_t parts = std::min<size_t>(m_Parts, args.m_Parallel->GetNumThreads());
        RunParts(*args.m_Parallel, parts,
                 [&](size_t index)
                 {
                     std::byte* scratch = static_cast<std::byte*>(args.m_Scratch) + index * m_PartBytes;
                     std::memset(Scratch::At<uint8_t>(scratch, m_PaddingOffset), m_Weights->GetPadding(),
                                 MostBlockChannels);
                     const Part part = GetPart(m_Geometry.m_Batches * m_Strips, parts, index);
                     for (size_t strip = part.m_Begin; strip < part.m_End;)
                     {
                         const size_t image = strip / m_Strips;
                         const size_t end = std::min({part.m_End, (image + 1) * m_Strips, strip + BandStrips});
                         RunBand(args, image, {strip - image * m_Strips, end - image * m_Strips}, scratch);
                         strip = end;
                     }
                 });
    }

private:
    static constexpr size_t MostBlockChannels = DepthwiseEngine8::MostPieces * DepthwiseEngine8::PieceChannels;

    void PlanRuns()
    {
        const ref::WindowAxis& x = m_Geometry.m_X;
        for (m_RunPixels = std::min(RunPixels, x.m_Output);; m_RunPixels /= 2)
        {
            const size_t byTap = backends::CheckedCount(x.m_Kernel, m_RunPixels);
            // From the first column to the last one. Far apart they are more than fit into an integer.
            const double reach = static_cast<double>(m_RunPixels - 1) * static_cast<double>(x.m_Stride) +
                                 static_cast<double>(x.m_Kernel - 1) * static_cast<double>(x.m_Dilation) + 1.0;
            m_IsByTap = reach > static_cast<double>(byTap);
            m_RunColumns = m_IsByTap ? byTap : static_cast<size_t>(reach);
            const double bytes = static_cast<double>(m_RunColumns) * static_cast<double>(m_Weights->GetGroups()) *
                                 static_cast<double>(m_BlockBytes);
            if (m_RunPixels == 1 || bytes <= static_cast<double>(MostRunBytes))
            {
                return;
            }
        }
    }

    /// Columns of the image that are interleaved one after the other, a step apart.
    struct Line
    {
        int64_t m_First = 0;
        int64_t m_Step = 1;
        size_t m_Count = 0;
    };
    size_t CountLines() const { return m_IsByTap ? m_Geometry.m_X.m_Kernel : 1; }
    Line GetLine(const Part& pixels, size_t line) const
    {
        const ref::WindowAxis& x = m_Geometry.m_X;
        const size_t count = pixels.m_End - pixels.m_Begin;
        const int64_t first = x.Origin(pixels.m_Begin) + static_cast<int64_t>(line) * x.m_Dilation;
        if (m_IsByTap)
        {
            return {first, x.m_Stride, count};
        }
        return {first, 1,
                (count - 1) * static_cast<size_t>(x.m_Stride) + (x.m_Kernel - 1) * static_cast<size_t>(x.m_Dilation) +
                    1};
    }

    /// Strips of output rows of an image.
    void RunBand(const ExecuteArgs& args, size_t image, const Part& strips, std::byte* scratch) const
    {
        const size_t height = m_Geometry.m_Y.m_Output;
        const size_t width = m_Geometry.m_X.m_Output;
        const size_t rowElements = width * m_Geometry.m_OutputChannels;
        const size_t runs = (width + m_RunPixels - 1) / m_RunPixels;
        const uint8_t* from = args.GetInput<uint8_t>(0) + image * m_Geometry.NumImageElements();
        uint8_t* to = args.GetOutput<uint8_t>(0) + image * height * rowElements;
        for (size_t run = 0; run < runs; ++run)
        {
            const Part pixels = GetPart(width, runs, run);
            for (const DepthwiseBlock8& block : m_Weights->GetBlocks())
            {
                for (size_t strip = strips.m_Begin; strip < strips.m_End; ++strip)
                {
                    const size_t y = strip * m_Weights->GetPhases();
                    const size_t known = strip == strips.m_Begin ? 0 : m_Weights->GetGroups() - m_NewGroups;
                    const size_t ring = (strip - strips.m_Begin) * m_NewGroups;
                    Interleave(from, block, y, pixels, known, ring, scratch);
                    for (size_t phase = 0; phase < m_Weights->GetPhases() && y + phase < height; ++phase)
                    {
                        Sum(block, phase, pixels, ring, scratch);
                        Requantize(block, pixels, scratch, to + (y + phase) * rowElements);
                    }
                }
            }
        }
    }

    /// Where a group of rows lies, bytes from the first one; `ring`: where the first one of a window does.
    size_t FindGroup(size_t group, size_t ring, const Part& pixels, size_t blockBytes) const
    {
        return (ring + group) % m_Weights->GetGroups() * CountLines() * GetLine(pixels, 0).m_Count * blockBytes;
    }

    /// The groups of rows from `known` on.
    void Interleave(const uint8_t* image, const DepthwiseBlock8& block, size_t y, const Part& pixels, size_t known,
                    size_t ring, std::byte* scratch) const
    {
        const DepthwiseEngine8& engine = m_Weights->GetEngine();
        const ref::WindowAxis& axisY = m_Geometry.m_Y;
        const auto imageWidth = static_cast<int64_t>(m_Geometry.m_X.m_Input);
        const uint8_t* padding = Scratch::At<uint8_t>(scratch, m_PaddingOffset);
        const size_t channels = m_Geometry.m_InputChannels;

        InterleaveColumns8 columns;
        columns.m_Channels = block.m_Channels;
        columns.m_IsSigned = m_Weights->IsDataSigned();
        columns.m_ZeroPoint = m_Weights->GetDataZeroPoint();
        const size_t blockBytes = block.m_Pieces * DepthwiseEngine8::PieceBytes;
        const size_t lines = CountLines();
        std::byte* out = scratch;
        for (size_t i = known * lines; i < m_Weights->GetGroups() * lines; ++i)
        {
            const size_t group = i / lines;
            out = i % lines == 0 ? scratch + FindGroup(group, ring, pixels, blockBytes) : out;
            const Line line = GetLine(pixels, i % lines);
            // Columns of the line before the image, and of the line up to its end.
            const auto columnsBelow = [&](int64_t position)
            {
                const int64_t before = position - line.m_First;
                return before <= 0 ? 0 : std::min(line.m_Count, static_cast<size_t>((before - 1) / line.m_Step) + 1);
            };
            const size_t begin = columnsBelow(0);
            const size_t end = columnsBelow(imageWidth);
            const auto fill = [&](size_t count, bool isInside)
            {
                for (size_t row = 0; row < m_Weights->GetGroupRows() && count != 0; ++row)
                {
                    const int64_t tap = static_cast<int64_t>(group * m_Weights->GetGroupRows() + row);
                    const int64_t imageRow = axisY.Origin(y) + tap * axisY.m_Dilation;
                    const bool isRow = isInside && imageRow >= 0 && imageRow < static_cast<int64_t>(axisY.m_Input);
                    columns.m_Rows[row] = padding;
                    columns.m_Steps[row] = 0;
                    if (isRow)
                    {
                        const int64_t column = line.m_First + static_cast<int64_t>(begin) * line.m_Step;
                        const uint8_t* from = image + static_cast<size_t>(imageRow * imageWidth + column) * channels;
                        const size_t step = static_cast<size_t>(line.m_Step) * channels;
                        const bool repeats = m_Geometry.m_GroupOutputs != 1;
                        columns.m_Rows[row] =
                            repeats ? Repeat(from, step, count, block, row, scratch) : from + block.m_Channel;
                        columns.m_Steps[row] = repeats ? MostBlockChannels : step;
                    }
                }
                columns.m_Columns = count;
                engine.m_Interleave(columns, block.m_Pieces, out);
                out += count * blockBytes;
            };
            fill(begin, false);
            fill(end - begin, true);
            fill(line.m_Count - end, false);
        }
    }

    /// Pixels, `step` bytes apart, with each channel as often as it has outputs.
    const uint8_t* Repeat(const uint8_t* pixels, size_t step, size_t count, const DepthwiseBlock8& block, size_t row,
                          std::byte* scratch) const
    {
        uint8_t* const repeated =
            Scratch::At<uint8_t>(scratch, m_RepeatedOffset) + row * m_RunColumns * MostBlockChannels;
        for (size_t column = 0; column < count; ++column, pixels += step)
        {
            uint8_t* to = repeated + column * MostBlockChannels;
            size_t channel = block.m_Channel / m_Geometry.m_GroupOutputs;
            size_t next = m_Geometry.m_GroupOutputs - block.m_Channel % m_Geometry.m_GroupOutputs;
            for (size_t i = 0; i < block.m_Channels;)
            {
                const size_t some = std::min(next, block.m_Channels - i);
                std::memset(to + i, pixels[channel++], some);
                i += some;
                next = m_Geometry.m_GroupOutputs;
            }
        }
        return repeated;
    }

    void Sum(const DepthwiseBlock8& block, size_t phase, const Part& pixels, size_t ring, std::byte* scratch) const
    {
        const size_t blockBytes = block.m_Pieces * DepthwiseEngine8::PieceBytes;
        const size_t numPixels = pixels.m_End - pixels.m_Begin;
        const size_t tapStep = m_IsByTap ? numPixels : static_cast<size_t>(m_Geometry.m_X.m_Dilation);
        auto* offsets = Scratch::At<size_t>(scratch, m_TapsOffset);
        for (size_t tap = 0; tap < m_Weights->GetTaps(); ++tap)
        {
            const DepthwiseTap8 at = m_Weights->GetTap(tap);
            offsets[tap] = FindGroup(at.m_Group, ring, pixels, blockBytes) + at.m_Column * tapStep * blockBytes;
        }
        DepthwiseRun8 run;
        run.m_Columns = scratch;
        run.m_PixelStep = (m_IsByTap ? 1 : static_cast<size_t>(m_Geometry.m_X.m_Stride)) * blockBytes;
        run.m_Pixels = numPixels;
        run.m_Offsets = offsets;
        run.m_Taps = m_Weights->GetTaps();
        run.m_Weights = m_Weights->GetData(block, phase);
        run.m_Bias = m_Weights->GetBias(block);
        run.m_Sums = Scratch::At<int32_t>(scratch, m_SumsOffset);
        m_Weights->GetEngine().m_Sum[block.m_Pieces](run);
    }

    void Requantize(const DepthwiseBlock8& block, const Part& pixels, std::byte* scratch, uint8_t* row) const
    {
        RequantizeColumns columns = m_Weights->GetRequantization(block);
        columns.m_Min = m_Min;
        columns.m_Max = m_Max;
        RequantizeRows rows;
        rows.m_Sums = Scratch::At<int32_t>(scratch, m_SumsOffset);
        rows.m_SumStride = block.m_Pieces * DepthwiseEngine8::PieceChannels;
        rows.m_Rows = pixels.m_End - pixels.m_Begin;
        rows.m_Columns = block.m_Channels;
        rows.m_Out = row + pixels.m_Begin * m_Geometry.m_OutputChannels + block.m_Channel;
        rows.m_OutStride = m_Geometry.m_OutputChannels;
        rows.m_IsSigned = m_Weights->IsDataSigned();
        rows.m_IsInterleaved = block.m_IsInterleaved;
        GetEngine8().m_Requantize(rows, columns);
    }

    const PackedDepthwise8* m_Weights;
    ref::ConvolutionGeometry m_Geometry;
    int32_t m_Min = 0;
    int32_t m_Max = 0;
    size_t m_Strips = 0;     ///< of output rows that share an interleaving, in an image
    size_t m_NewGroups = 0;  ///< of rows that a strip reads and the one above it does not
    size_t m_BlockBytes = 0; ///< of an interleaved column, at most
    size_t m_RunPixels = 0;
    size_t m_RunColumns = 0; ///< interleaved, of a group of rows
    bool m_IsByTap = false;  ///< else they are all columns from the first to the last one
    size_t m_Parts = 1;
    size_t m_PartBytes = 0;
    size_t m_ScratchBytes = 0;
    size_t m_SumsOffset = 0; ///< in a part's scratch memory, which begins with the interleaved columns
    size_t m_PaddingOffset = 0;
    size_t m_TapsOffset = 0;
    size_t m_RepeatedOffset = 0;
};

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const PackedDepthwise8&>(*packed);
    const ref::ConvolutionGeometry g = ref::MakeDepthwiseGeometry(args);
    if (!weights.IsExact())
    {
        return ref::FindKernel(LayerType::DepthwiseConvolution2d)->Prepare(args, nullptr);
    }
    if (g.IsEmpty())
    {
        return [](const ExecuteArgs&) {};
    }
    Depthwise depthwise(weights, g, args);
    const size_t scratchBytes = depthwise.GetScratchBytes();
    return {std::move(depthwise), scratchBytes};
}

} // namespace

extern const backends::Kernel CpuDepthwiseConvolution2dBytesKernel = {
    "CpuDepthwiseConvolution2dBytes", BytesTypes, Prepare, Check, Pack, backends::FuseClamp};

} // namespace tenon::cpu
