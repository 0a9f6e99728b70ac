// SPDX-License-Identifier: Apache-2.0
// The layers of CpuAcc that join and split tensors along an axis: Concat and Stack, Splitter. Joined chunks are written
// a cache-sized piece of the output at a time, all inputs to one piece.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/Parts.hpp"
#include "backends/cpu/moves/StridedMove.hpp"
#include "backends/reference/CpuRefBackend.hpp"
#include "backends/reference/kernels/DataMovement.hpp"

#include <tenon/Descriptors.hpp>

#include <algorithm>
#include <string>
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
};

/// The inputs' bytes of each chunk, and how many chunks there are.
class Join
{
public:
    Join(const std::vector<size_t>& bytes, size_t chunks) : m_Chunks(chunks)
    {
        for (size_t i = 0; i < bytes.size(); ++i)
        {
            if (bytes[i] != 0)
            {
                m_Inputs.push_back({i, m_ChunkBytes, bytes[i], ChooseCopyPlane(bytes[i])});
                m_ChunkBytes += bytes[i];
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
        for (size_t i = 0; i < m_Long.size(); ++i)
        {
            m_Long[i].Run(*run.m_Parallel, run.GetInput<std::byte>(m_Inputs[i].m_Index), to + m_Inputs[i].m_Begin);
        }
        if (!m_Long.empty())
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
                              const auto* source = run.GetInput<std::byte>(input.m_Index) + chunk * input.m_Bytes;
                              std::byte* const target = to + chunk * m_ChunkBytes + input.m_Begin;
                              plane.m_RunBytes = input.m_Bytes;
                              plane.m_FromRun = Signed(input.m_Bytes);
                              if (source != target) // else it is in its place already, see SharedParts
                              {
                                  input.m_Copy(plane, source, target);
                              }
                          }
                      }
                  });
    }

private:
    static int64_t Signed(size_t bytes) { return static_cast<int64_t>(bytes); }

    std::vector<JoinInput> m_Inputs;
    size_t m_Chunks;
    size_t m_ChunkBytes = 0;
    size_t m_Piece = 1;              ///< chunks that are written together
    std::vector<StridedMove> m_Long; ///< where chunks are long, one for each input
};

/// `axis`: the first dimension of a chunk, of the inputs and of the output.
Prepared PrepareJoin(const ReshapeArgs& args, LayerType type, unsigned int axis)
{
    Prepared reference = ref::FindKernel(type)->Prepare(args, nullptr); // checks shapes
    const TensorInfo& output = args.GetOutput(0);
    bool isPlain = !reference.m_IsCopy && output.GetNumElements() != 0;
    std::vector<size_t> bytes;
    for (const TensorInfo* input : args.m_Inputs)
    {
        isPlain = isPlain && input->IsTypeSpaceMatch(output); // else values are requantized
        bytes.push_back(ref::CountElements(input->GetShape(), axis, input->GetNumDimensions()) *
                        ref::GetMovedBytes(output.GetDataType()));
    }
    if (!isPlain)
    {
        return reference;
    }
    Prepared prepared = Join(bytes, ref::CountElements(output.GetShape(), 0, axis));
    prepared.m_Parts = std::move(reference.m_Parts);
    return prepared;
}

Prepared PrepareConcat(const ReshapeArgs& args, const backends::PackedWeights*)
{
    return PrepareJoin(args, LayerType::Concat, args.GetDescriptor<ConcatDescriptor>().GetConcatAxis());
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
