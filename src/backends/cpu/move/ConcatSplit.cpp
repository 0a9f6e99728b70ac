// SPDX-License-Identifier: Apache-2.0
// The layers of CpuAcc that join and split tensors along an axis: Concat, Stack and Splitter. 8-bit inputs whose
// quantization differs from the output's are mapped by a table.
//
// ChunkedMove joins or splits tensors along an axis.
//
//   chunk of the joined tensor:  |segment of tensor 0|segment of tensor 1|...|
// There is one chunk for each index of the outer dimensions. Chunks of 16 KiB and more are moved by one StridedMove for
// each segment. Shorter ones are moved in blocks of chunks that fit the first-level cache; segments of at most 32 bytes
// by whole vectors (MoveRuns).
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/elementwise/BroadcastRuns.hpp"
#include "backends/cpu/elementwise/LookupTableInt8.hpp"
#include "backends/cpu/move/CopyPlane.hpp"
#include "backends/cpu/move/StridedMove.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/DataMovement.hpp"

#include <tenon/descriptors/Slicing.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tenon::cpu
{

namespace
{

class ChunkedMove
{
public:
    enum class Direction
    {
        Join, ///< inputs to output 0
        Split ///< input 0 to the outputs
    };

    /// A segment: m_Bytes bytes of each chunk of the joined tensor, from the offset m_Begin on, are the next m_Bytes of
    /// an input or output.
    struct Segment
    {
        size_t m_Index = 0; ///< index of the input or output
        size_t m_Begin = 0;
        size_t m_Bytes = 0;
    };

    /// Segments in ascending order of m_Begin, none of them empty.
    ChunkedMove(Direction direction, const std::vector<Segment>& segments, size_t chunkBytes, size_t chunks);

    /// Leaves segments alone that are in place already, see TensorAliases.
    void Run(const ExecuteArgs& run) const;

private:
    /// One tensor: where its segments are read and written, with the strides from one chunk to the next.
    struct Move
    {
        size_t m_Input = 0;
        size_t m_FromBegin = 0;
        int64_t m_FromStep = 0;
        size_t m_Output = 0;
        size_t m_ToBegin = 0;
        int64_t m_ToStep = 0;
        size_t m_Bytes = 0;
        CopyPlaneFunction m_Copy = nullptr;
    };

    static const std::byte* GetSource(const ExecuteArgs& run, const Move& move);
    static std::byte* GetTarget(const ExecuteArgs& run, const Move& move);
    static bool IsInPlace(const ExecuteArgs& run, const Move& move);

    void CopyBlocks(const ExecuteArgs& run, size_t begin, size_t end) const;
    /// Moves the first of the chunks [begin, end) by whole vectors, as many as leave room for the overrun within this
    /// thread's chunks. Returns the first chunk that is left.
    size_t MoveShort(const ExecuteArgs& run, size_t begin, size_t end) const;

    bool m_IsJoin = false;
    std::vector<Move> m_Moves;
    size_t m_Chunks = 0;
    size_t m_ChunkBytes = 0;
    size_t m_BlockChunks = 1;              ///< chunks of a block
    MoveRunsFunction m_MoveRuns = nullptr; ///< not null if all runs are short
    size_t m_ScalarChunks = 0;             ///< last chunks, which are not moved by whole vectors because of the overrun
    std::vector<StridedMove> m_Long;       ///< for long chunks: one for each segment
};

ChunkedMove::ChunkedMove(Direction direction, const std::vector<Segment>& segments, size_t chunkBytes, size_t chunks)
    : m_IsJoin(direction == Direction::Join), m_Chunks(chunks), m_ChunkBytes(chunkBytes)
{
    size_t minBytes = SIZE_MAX;
    size_t maxBytes = 0;
    size_t sum = 0;
    for (const Segment& segment : segments)
    {
        Move& move = m_Moves.emplace_back();
        (m_IsJoin ? move.m_Input : move.m_Output) = segment.m_Index;
        (m_IsJoin ? move.m_ToBegin : move.m_FromBegin) = segment.m_Begin;
        move.m_FromStep = static_cast<int64_t>(m_IsJoin ? segment.m_Bytes : chunkBytes);
        move.m_ToStep = static_cast<int64_t>(m_IsJoin ? chunkBytes : segment.m_Bytes);
        move.m_Bytes = segment.m_Bytes;
        move.m_Copy = ChooseCopyPlane(segment.m_Bytes);
        minBytes = std::min(minBytes, segment.m_Bytes);
        maxBytes = std::max(maxBytes, segment.m_Bytes);
        sum += segment.m_Bytes;
    }
    constexpr size_t LongChunk = 16 * 1024;
    if (chunkBytes >= LongChunk)
    {
        for (const Move& move : m_Moves)
        {
            m_Long.push_back(StridedMove({{chunks, move.m_FromStep, move.m_ToStep}, {move.m_Bytes, 1, 1}}, 1));
        }
    }
    else if (!m_Moves.empty())
    {
        m_BlockChunks = LongChunk / chunkBytes;
        // Gaps belong to inputs that are requantized by a table (ConcatSplit.cpp), possibly in place: vectors must not
        // overwrite them.
        const bool hasGaps = m_IsJoin && sum != chunkBytes;
        m_MoveRuns = hasGaps ? nullptr : ChooseMoveRuns(m_Moves.size(), maxBytes);
        m_ScalarChunks = (MaxOverrun + minBytes - 1) / minBytes;
    }
}

void ChunkedMove::Run(const ExecuteArgs& run) const
{
    if (!m_Long.empty())
    {
        for (size_t i = 0; i < m_Long.size(); ++i)
        {
            m_Long[i].Run(*run.m_Parallel, GetSource(run, m_Moves[i]), GetTarget(run, m_Moves[i]));
        }
        return;
    }
    const auto isInPlace = [&](const Move& move) { return IsInPlace(run, move); };
    if (std::all_of(m_Moves.begin(), m_Moves.end(), isInPlace))
    {
        return;
    }
    // The end of a vector must not overwrite a segment that is in place already.
    const bool isShort = m_MoveRuns != nullptr && std::none_of(m_Moves.begin(), m_Moves.end(), isInPlace);
    RunRanges(*run.m_Parallel, m_Chunks, GetGrain(2 * m_ChunkBytes),
              [&](size_t begin, size_t end) { CopyBlocks(run, isShort ? MoveShort(run, begin, end) : begin, end); });
}

const std::byte* ChunkedMove::GetSource(const ExecuteArgs& run, const Move& move)
{
    return run.GetInput<std::byte>(move.m_Input) + move.m_FromBegin;
}

std::byte* ChunkedMove::GetTarget(const ExecuteArgs& run, const Move& move)
{
    return run.GetOutput<std::byte>(move.m_Output) + move.m_ToBegin;
}

bool ChunkedMove::IsInPlace(const ExecuteArgs& run, const Move& move)
{
    return GetSource(run, move) == GetTarget(run, move);
}

void ChunkedMove::CopyBlocks(const ExecuteArgs& run, size_t begin, size_t end) const
{
    for (size_t chunk = begin; chunk < end; chunk += m_BlockChunks)
    {
        Plane plane;
        plane.m_Runs = std::min(m_BlockChunks, end - chunk);
        const auto steps = static_cast<int64_t>(chunk);
        for (const Move& move : m_Moves)
        {
            if (!IsInPlace(run, move))
            {
                plane.m_RunBytes = move.m_Bytes;
                plane.m_FromRun = move.m_FromStep;
                plane.m_ToRun = move.m_ToStep;
                move.m_Copy(plane, GetSource(run, move) + steps * move.m_FromStep,
                            GetTarget(run, move) + steps * move.m_ToStep);
            }
        }
    }
}

size_t ChunkedMove::MoveShort(const ExecuteArgs& run, size_t begin, size_t end) const
{
    if (end - begin <= m_ScalarChunks)
    {
        return begin;
    }
    ChunkRuns runs;
    runs.m_IsJoin = m_IsJoin;
    runs.m_ChunkBytes = m_ChunkBytes;
    const auto steps = static_cast<int64_t>(begin);
    for (size_t i = 0; i < m_Moves.size(); ++i)
    {
        const Move& move = m_Moves[i];
        runs.m_Segments[i] = {GetSource(run, move) + steps * move.m_FromStep,
                              GetTarget(run, move) + steps * move.m_ToStep, move.m_Bytes};
    }
    m_MoveRuns(runs, end - begin - m_ScalarChunks);
    return end - m_ScalarChunks;
}

using backends::Prepared;

constexpr backends::TypeRow JoinTypes[] = {backends::SameType(backends::WholeByteType)};

/// An input of a Concat whose quantization differs from the output's.
struct MappedInput
{
    ChunkedMove::Segment m_Segment;
    std::shared_ptr<const UnaryInt8> m_Map;
};

void RunMapped(const ExecuteArgs& run, const MappedInput& input, size_t chunks, size_t chunkBytes)
{
    const ChunkedMove::Segment& segment = input.m_Segment;
    const auto* const from = run.GetInput<uint8_t>(segment.m_Index);
    uint8_t* const to = run.GetOutput<uint8_t>(0) + segment.m_Begin;
    RunElements(*run.m_Parallel, chunks * segment.m_Bytes,
                [&](size_t begin, size_t end)
                {
                    while (begin < end)
                    {
                        const size_t inChunk = begin % segment.m_Bytes;
                        const size_t count = std::min(end - begin, segment.m_Bytes - inChunk);
                        uint8_t* const chunk = to + begin / segment.m_Bytes * chunkBytes;
                        input.m_Map->Run(from + begin, chunk + inChunk, count);
                        begin += count;
                    }
                });
}

/// The function that Concat applies to the bytes of an input whose quantization differs from the output's.
std::shared_ptr<const UnaryInt8> MakeRequantization(const TensorInfo& input, const TensorInfo& output)
{
    ConcatDescriptor descriptor(1, 1);
    descriptor.SetConcatAxis(0);
    const TensorInfo* const inputs[] = {&input};
    const TensorInfo* const outputs[] = {&output};
    ReshapeArgs args;
    args.m_Descriptor = &descriptor;
    args.m_Inputs = {inputs, 1};
    args.m_Outputs = {outputs, 1};
    return std::make_shared<const UnaryInt8>(args, ref::RefConcatKernel);
}

/// `axis`: the first dimension of a chunk, in the inputs and in the output.
Prepared RefineJoin(const ReshapeArgs& args, unsigned int axis, Prepared& reference)
{
    const TensorInfo& output = args.GetOutput(0);
    if (reference.m_IsCopy || output.GetNumElements() == 0)
    {
        return Prepared::Declined("it is a mere copy, or empty");
    }
    std::vector<ChunkedMove::Segment> segments;
    std::vector<MappedInput> mapped;
    size_t chunkBytes = 0;
    for (size_t i = 0; i < args.m_Inputs.size(); ++i)
    {
        const TensorInfo& input = args.GetInput(i);
        const ChunkedMove::Segment segment = {i, chunkBytes,
                                              ref::CountElements(input.GetShape(), axis, input.GetNumDimensions()) *
                                                  ref::GetMovedBytes(output.GetDataType())};
        chunkBytes += segment.m_Bytes;
        const bool isMapped = !input.IsTypeSpaceMatch(output);
        if (isMapped && !backends::QuantizedInt8Types.Has(output.GetDataType()))
        {
            return Prepared::Declined("an input is to be requantized, and not of bytes");
        }
        if (segment.m_Bytes != 0 && isMapped)
        {
            mapped.push_back({segment, MakeRequantization(input, output)});
        }
        else if (segment.m_Bytes != 0)
        {
            segments.push_back(segment);
        }
    }
    const size_t chunks = ref::CountElements(output.GetShape(), 0, axis);
    Prepared prepared = [move = ChunkedMove(ChunkedMove::Direction::Join, segments, chunkBytes, chunks),
                         mapped = std::move(mapped), chunks, chunkBytes](const ExecuteArgs& run)
    {
        move.Run(run);
        for (const MappedInput& input : mapped)
        {
            RunMapped(run, input, chunks, chunkBytes);
        }
    };
    prepared.m_Aliases = std::move(reference.m_Aliases);
    return prepared;
}

/// For each input, the byte offset of its elements within a pixel of the output; None if its quantization differs.
std::vector<size_t> FindPixels(const ReshapeArgs& args)
{
    const TensorInfo& output = args.GetOutput(0);
    std::vector<size_t> places;
    size_t place = 0;
    for (const TensorInfo* const input : args.m_Inputs)
    {
        places.push_back(input->IsTypeSpaceMatch(output) ? place : TensorAliases::None);
        place += input->GetShape()[input->GetNumDimensions() - 1] * ref::GetMovedBytes(output.GetDataType());
    }
    return places;
}

Prepared RefineConcat(const ReshapeArgs& args, const backends::PackedWeights*, Prepared& reference)
{
    const unsigned int axis = args.GetDescriptor<ConcatDescriptor>().GetConcatAxis();
    Prepared prepared = RefineJoin(args, axis, reference);
    const TensorInfo& output = args.GetOutput(0);
    if (!prepared.IsDeclined() && prepared.m_Aliases.Empty() && axis + 1 == output.GetNumDimensions())
    {
        prepared.m_Aliases.m_InputsInPixels = FindPixels(args);
    }
    return prepared;
}

Prepared RefineStack(const ReshapeArgs& args, const backends::PackedWeights*, Prepared& reference)
{
    return RefineJoin(args, args.GetDescriptor<StackDescriptor>().m_Axis, reference);
}

/// The axis along which the views are neighbours with all of the other dimensions; none if the views are other boxes.
std::optional<unsigned int> FindAxis(const ReshapeArgs& args)
{
    const auto& descriptor = args.GetDescriptor<SplitterDescriptor>();
    const TensorShape& input = args.GetInput(0).GetShape();
    std::optional<unsigned int> axis;
    for (uint32_t view = 0; view < descriptor.GetNumViews(); ++view)
    {
        for (unsigned int i = 0; i < input.GetNumDimensions(); ++i)
        {
            if (args.GetOutput(view).GetShape()[i] != input[i])
            {
                if (axis.value_or(i) != i)
                {
                    return std::nullopt;
                }
                axis = i;
            }
        }
    }
    return axis;
}

/// Views that are neighbours along an axis.
Prepared SplitChunks(const ReshapeArgs& args, unsigned int axis)
{
    const auto& descriptor = args.GetDescriptor<SplitterDescriptor>();
    const TensorShape& input = args.GetInput(0).GetShape();
    const size_t elementBytes = ref::GetMovedBytes(args.GetInput(0).GetDataType());
    const size_t innerBytes = ref::CountElements(input, axis + 1, input.GetNumDimensions()) * elementBytes;
    std::vector<ChunkedMove::Segment> segments;
    for (uint32_t view = 0; view < descriptor.GetNumViews(); ++view)
    {
        const size_t bytes = args.GetOutput(view).GetShape()[axis] * innerBytes;
        if (bytes != 0)
        {
            segments.push_back({view, descriptor.GetViewOrigin(view)[axis] * innerBytes, bytes});
        }
    }
    return [move = ChunkedMove(ChunkedMove::Direction::Split, segments, input[axis] * innerBytes,
                               ref::CountElements(input, 0, axis))](const ExecuteArgs& run) { move.Run(run); };
}

/// Views that are any boxes.
Prepared SplitBoxes(const ReshapeArgs& args)
{
    const auto& descriptor = args.GetDescriptor<SplitterDescriptor>();
    const TensorInfo& input = args.GetInput(0);
    const auto elementBytes = static_cast<int64_t>(ref::GetMovedBytes(input.GetDataType()));
    const ref::Extents from = ref::GetStrides(input.GetShape());
    std::vector<std::pair<StridedMove, int64_t>> views; // with the offsets of their first elements
    for (uint32_t view = 0; view < descriptor.GetNumViews(); ++view)
    {
        const TensorShape& output = args.GetOutput(view).GetShape();
        const bool isEmpty = output.GetNumElements64() == 0; // strides may be out of any range then
        const ref::Extents to = ref::GetStrides(output);
        std::vector<StridedMove::Dimension> dimensions;
        int64_t first = 0;
        for (unsigned int i = 0; i < output.GetNumDimensions(); ++i)
        {
            dimensions.push_back({output[i], isEmpty ? 0 : from[i] * elementBytes, isEmpty ? 0 : to[i] * elementBytes});
            first += isEmpty ? 0 : descriptor.GetViewOrigin(view)[i] * from[i] * elementBytes;
        }
        views.emplace_back(StridedMove(std::move(dimensions), static_cast<size_t>(elementBytes)), first);
    }
    return [views = std::move(views)](const ExecuteArgs& run)
    {
        for (size_t i = 0; i < views.size(); ++i)
        {
            views[i].first.Run(*run.m_Parallel, run.GetInput<std::byte>(0) + views[i].second,
                               run.GetOutput<std::byte>(i));
        }
    };
}

Prepared RefineSplitter(const ReshapeArgs& args, const backends::PackedWeights*, Prepared& reference)
{
    const std::optional<unsigned int> axis = FindAxis(args);
    const bool isEmpty = args.GetInput(0).GetShape().GetNumElements64() == 0;
    Prepared prepared = axis && !isEmpty ? SplitChunks(args, *axis) : SplitBoxes(args);
    prepared.m_Aliases = std::move(reference.m_Aliases);
    return prepared;
}

} // namespace

extern const backends::Kernel CpuConcatKernel = {
    .m_Name = "CpuConcat", .m_Types = JoinTypes, .m_Reference = &ref::RefConcatKernel, .m_Refine = RefineConcat};
extern const backends::Kernel CpuStackKernel = {
    .m_Name = "CpuStack", .m_Types = JoinTypes, .m_Reference = &ref::RefStackKernel, .m_Refine = RefineStack};
extern const backends::Kernel CpuSplitterKernel = {
    .m_Name = "CpuSplitter", .m_Types = JoinTypes, .m_Reference = &ref::RefSplitterKernel, .m_Refine = RefineSplitter};

} // namespace tenon::cpu
