// SPDX-License-Identifier: Apache-2.0
// The layers of CpuAcc that join and split tensors along an axis: Concat and Stack, Splitter. Joined chunks are written
// a cache-sized piece of the output at a time, all inputs to one piece. Bytes of another quantization than the output's
// go through a table.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/Parts.hpp"
#include "backends/cpu/elementwise/Broadcast.hpp"
#include "backends/cpu/elementwise/ByteTable.hpp"
#include "backends/cpu/moves/StridedMove.hpp"
#include "backends/reference/CpuRefBackend.hpp"
#include "backends/reference/kernels/DataMovement.hpp"

#include <tenon/Descriptors.hpp>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow JoinTypes[] = {backends::SameType(backends::WholeByteType)};

/// An input of a join: a chunk of it goes to m_Begin bytes into each chunk of the output.
struct JoinInput
{
    size_t m_Index = 0;
    size_t m_Begin = 0;
    size_t m_Bytes = 0;
    CopyPlaneFunction m_Copy = nullptr;
    std::shared_ptr<const ByteMap> m_Map; ///< of the values; null: they stay
};

/// The inputs' bytes of each chunk, and how many chunks there are.
class Join
{
public:
    /// `inputs`: the index, bytes and map of each.
    Join(const std::vector<JoinInput>& inputs, size_t chunks) : m_Chunks(chunks)
    {
        for (JoinInput input : inputs)
        {
            if (input.m_Bytes != 0)
            {
                input.m_Begin = m_ChunkBytes;
                input.m_Copy = ChooseCopyPlane(input.m_Bytes);
                m_ChunkBytes += input.m_Bytes;
                (input.m_Map != nullptr ? m_Mapped : m_Inputs).push_back(std::move(input));
            }
        }
        constexpr size_t LongChunk = 16 * 1024;
        if (m_ChunkBytes >= LongChunk)
        {
            for (const JoinInput& input : m_Inputs)
            {
                m_Long.push_back(
                    StridedMove({{chunks, Signed(input.m_Bytes), Signed(m_ChunkBytes)}, {input.m_Bytes, 1, 1}}, 1));
            }
        }
        m_Piece = std::max<size_t>(1, LongChunk / std::max<size_t>(1, m_ChunkBytes));
    }

    void operator()(const ExecuteArgs& run) const
    {
        std::byte* const to = run.GetOutput<std::byte>(0);
        for (const JoinInput& input : m_Mapped)
        {
            RunMapped(*run.m_Parallel, input, run.GetInput<uint8_t>(input.m_Index), run.GetOutput<uint8_t>(0));
        }
        // What lies in its place already, is left alone, see SharedParts.
        const auto isInPlace = [&](const JoinInput& input)
        { return run.GetInput<std::byte>(input.m_Index) == to + input.m_Begin; };
        for (size_t i = 0; i < m_Long.size(); ++i)
        {
            if (!isInPlace(m_Inputs[i]))
            {
                m_Long[i].Run(*run.m_Parallel, run.GetInput<std::byte>(m_Inputs[i].m_Index), to + m_Inputs[i].m_Begin);
            }
        }
        if (!m_Long.empty() || std::all_of(m_Inputs.begin(), m_Inputs.end(), isInPlace))
        {
            return;
        }
        RunRanges(*run.m_Parallel, m_Chunks, GetGrain(2 * m_ChunkBytes),
                  [&](size_t begin, size_t end)
                  {
                      for (size_t chunk = begin; chunk < end; chunk += m_Piece)
                      {
                          Plane plane;
                          plane.m_Runs = std::min(m_Piece, end - chunk);
                          plane.m_ToRun = Signed(m_ChunkBytes);
                          for (const JoinInput& input : m_Inputs)
                          {
                              if (isInPlace(input))
                              {
                                  continue;
                              }
                              const auto* source = run.GetInput<std::byte>(input.m_Index) + chunk * input.m_Bytes;
                              std::byte* const target = to + chunk * m_ChunkBytes + input.m_Begin;
                              plane.m_RunBytes = input.m_Bytes;
                              plane.m_FromRun = Signed(input.m_Bytes);
                              input.m_Copy(plane, source, target);
                          }
                      }
                  });
    }

private:
    void RunMapped(IParallelFor& parallel, const JoinInput& input, const uint8_t* from, uint8_t* to) const
    {
        RunElements(parallel, m_Chunks * input.m_Bytes,
                    [&](size_t begin, size_t end)
                    {
                        while (begin < end)
                        {
                            const size_t inChunk = begin % input.m_Bytes;
                            const size_t count = std::min(end - begin, input.m_Bytes - inChunk);
                            uint8_t* const chunk = to + begin / input.m_Bytes * m_ChunkBytes + input.m_Begin;
                            input.m_Map->Run(from + begin, chunk + inChunk, count);
                            begin += count;
                        }
                    });
    }

    static int64_t Signed(size_t bytes) { return static_cast<int64_t>(bytes); }

    std::vector<JoinInput> m_Inputs; ///< that are copied
    std::vector<JoinInput> m_Mapped;
    size_t m_Chunks;
    size_t m_ChunkBytes = 0;
    size_t m_Piece = 1;              ///< chunks that are written together
    std::vector<StridedMove> m_Long; ///< where chunks are long, one for each input
};

/// What a Concat makes of the bytes of an input whose quantization is not the output's.
std::shared_ptr<const ByteMap> MakeMap(const TensorInfo& input, const TensorInfo& output)
{
    ConcatDescriptor descriptor(1, 1);
    descriptor.SetConcatAxis(0);
    const TensorInfo* const inputs[] = {&input};
    const TensorInfo* const outputs[] = {&output};
    ReshapeArgs args;
    args.m_Descriptor = &descriptor;
    args.m_Inputs = {inputs, 1};
    args.m_Outputs = {outputs, 1};
    return std::make_shared<const ByteMap>(args, LayerType::Concat);
}

/// `axis`: the first dimension of a chunk, of the inputs and of the output.
Prepared PrepareJoin(const ReshapeArgs& args, LayerType type, unsigned int axis)
{
    Prepared reference = ref::FindKernel(type)->Prepare(args, nullptr); // checks shapes
    const TensorInfo& output = args.GetOutput(0);
    bool isFast = !reference.m_IsCopy && output.GetNumElements() != 0;
    std::vector<JoinInput> inputs;
    for (size_t i = 0; isFast && i < args.m_Inputs.size(); ++i)
    {
        const TensorInfo& input = args.GetInput(i);
        JoinInput& join = inputs.emplace_back();
        join.m_Index = i;
        join.m_Bytes = ref::CountElements(input.GetShape(), axis, input.GetNumDimensions()) *
                       ref::GetMovedBytes(output.GetDataType());
        if (!input.IsTypeSpaceMatch(output))
        {
            isFast = backends::QuantizedByteTypes.Has(output.GetDataType());
            join.m_Map = isFast ? MakeMap(input, output) : nullptr;
        }
    }
    if (!isFast)
    {
        return reference;
    }
    Prepared prepared = Join(inputs, ref::CountElements(output.GetShape(), 0, axis));
    prepared.m_Parts = std::move(reference.m_Parts);
    return prepared;
}

/// Where pixels of the inputs lie in those of the output.
std::vector<size_t> FindPixels(const ReshapeArgs& args)
{
    const TensorInfo& output = args.GetOutput(0);
    std::vector<size_t> places;
    size_t place = 0;
    for (const TensorInfo* const input : args.m_Inputs)
    {
        places.push_back(input->IsTypeSpaceMatch(output) ? place : SharedParts::None);
        place += input->GetShape()[input->GetNumDimensions() - 1] * ref::GetMovedBytes(output.GetDataType());
    }
    return places;
}

Prepared PrepareConcat(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const unsigned int axis = args.GetDescriptor<ConcatDescriptor>().GetConcatAxis();
    Prepared prepared = PrepareJoin(args, LayerType::Concat, axis);
    const TensorInfo& output = args.GetOutput(0);
    if (prepared.m_KernelName == nullptr && prepared.m_Parts.Empty() && axis + 1 == output.GetNumDimensions())
    {
        prepared.m_Parts.m_OfPixels = FindPixels(args);
    }
    return prepared;
}

Prepared PrepareStack(const ReshapeArgs& args, const backends::PackedWeights*)
{
    return PrepareJoin(args, LayerType::Stack, args.GetDescriptor<StackDescriptor>().m_Axis);
}

Prepared PrepareSplitter(const ReshapeArgs& args, const backends::PackedWeights*)
{
    Prepared reference = ref::FindKernel(LayerType::Splitter)->Prepare(args, nullptr); // checks shapes
    const auto& descriptor = args.GetDescriptor<SplitterDescriptor>();
    const TensorInfo& input = args.GetInput(0);
    const auto elementBytes = static_cast<int64_t>(ref::GetMovedBytes(input.GetDataType()));
    const ref::Extents from = ref::GetStrides(input.GetShape());
    std::vector<std::pair<StridedMove, int64_t>> views; // and where they begin
    for (uint32_t view = 0; view < descriptor.GetNumViews(); ++view)
    {
        const TensorShape& output = args.GetOutput(view).GetShape();
        const bool isEmpty = output.GetNumElements64() == 0; // then strides may be out of any range
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
    Prepared prepared = [views = std::move(views)](const ExecuteArgs& run)
    {
        for (size_t i = 0; i < views.size(); ++i)
        {
            views[i].first.Run(*run.m_Parallel, run.GetInput<std::byte>(0) + views[i].second,
                               run.GetOutput<std::byte>(i));
        }
    };
    prepared.m_Parts = std::move(reference.m_Parts);
    return prepared;
}

template <LayerType Type>
SupportResult Check(const LayerView& layer)
{
    return ref::FindKernel(Type)->m_Check(layer);
}

} // namespace

extern const backends::Kernel CpuConcatKernel = {"CpuConcat", JoinTypes, PrepareConcat, Check<LayerType::Concat>};
extern const backends::Kernel CpuStackKernel = {"CpuStack", JoinTypes, PrepareStack, Check<LayerType::Stack>};
extern const backends::Kernel CpuSplitterKernel = {"CpuSplitter", JoinTypes, PrepareSplitter,
                                                   Check<LayerType::Splitter>};

} // namespace tenon::cpu
