// SPDX-License-Identifier: Apache-2.0
// See ChunksF16.hpp.
#include "backends/cpu/half/ChunksF16.hpp"

#include "backends/common/Scratch.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "common/OneThread.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;
using ref::CountElements;

constexpr size_t MaxInputs = 6; // largest number of inputs of a layer that is cut
/// Elements of a chunk of the output: as floats, with one input of that size, a first-level cache of 32 KiB.
constexpr size_t ChunkElements = 4096;

/// The output's dimensions [m_Begin, m_End) are read as one, which is cut into chunks of m_Rows indices.
struct Chunking
{
    unsigned int m_Begin = 0;
    unsigned int m_End = 0;
    size_t m_Indices = 1;
    size_t m_Rows = 1;
    size_t m_RowElements = 1; ///< elements of the output for each index
};

/// An input or the output.
struct Tensor
{
    TensorShape m_Shape;            ///< padded by leading ones to the rank of the output
    unsigned int m_LeadingOnes = 0; ///< number of leading ones
    size_t m_RowElements = 0;       ///< elements for each index of the cut dimensions; 0: broadcast along them
    size_t m_ChunkElements = 0;
    size_t m_Floats = 0;                                      ///< offset in the scratch memory of a task
    std::array<size_t, MaxNumOfTensorDimensions> m_Strides{}; ///< elements, by dimension before the cut ones
};

/// An input of this shape; none if it cannot be broadcast to the first `last` dimensions of the output.
std::optional<Tensor> FitShape(const TensorShape& shape, const TensorShape& output, unsigned int last)
{
    const unsigned int rank = output.GetNumDimensions();
    if (shape.GetNumDimensions() > rank)
    {
        return std::nullopt;
    }
    std::vector<unsigned int> sizes(rank, 1);
    const unsigned int missing = rank - shape.GetNumDimensions();
    for (unsigned int i = missing; i < rank; ++i)
    {
        sizes[i] = shape[i - missing];
        if (i < last && sizes[i] != 1 && sizes[i] != output[i])
        {
            return std::nullopt;
        }
    }
    Tensor tensor;
    tensor.m_Shape = TensorShape(rank, sizes.data());
    tensor.m_LeadingOnes = missing;
    return tensor;
}

/// Cuts along the first dimension whose indices are small enough, together with the preceding dimensions along which
/// each input is broadcast, or not, as it is along the first one.
Chunking ChooseChunking(const TensorShape& output, unsigned int last, const std::vector<Tensor>& inputs)
{
    Chunking cut;
    cut.m_End = last;
    while (cut.m_End > 1 && CountElements(output, cut.m_End - 1, output.GetNumDimensions()) <= ChunkElements)
    {
        --cut.m_End;
    }
    cut.m_Begin = cut.m_End - 1;
    const auto along = [&](const Tensor& input, unsigned int dimension)
    { return input.m_Shape[dimension] == output[dimension]; };
    while (cut.m_Begin > 0 && std::all_of(inputs.begin(), inputs.end(),
                                          [&](const Tensor& input)
                                          { return along(input, cut.m_Begin - 1) == along(input, cut.m_End - 1); }))
    {
        --cut.m_Begin;
    }
    cut.m_Indices = CountElements(output, cut.m_Begin, cut.m_End);
    cut.m_RowElements = CountElements(output, cut.m_End, output.GetNumDimensions());
    cut.m_Rows = std::clamp<size_t>(ChunkElements / std::max<size_t>(cut.m_RowElements, 1), 1, cut.m_Indices);
    return cut;
}

/// Sets the sizes and strides of a tensor's chunks, and reserves their scratch memory.
void LayOut(Tensor& tensor, const TensorShape& output, const Chunking& cut, Scratch& task)
{
    const TensorShape& shape = tensor.m_Shape;
    const size_t rest = CountElements(shape, cut.m_End, shape.GetNumDimensions());
    const size_t indices = CountElements(shape, cut.m_Begin, cut.m_End);
    tensor.m_RowElements = indices == cut.m_Indices ? rest : 0;
    tensor.m_ChunkElements = tensor.m_RowElements != 0 ? rest * cut.m_Rows : rest;
    tensor.m_Floats = task.Add<float>(tensor.m_ChunkElements);
    size_t step = indices * rest;
    for (unsigned int i = cut.m_Begin; i-- > 0;)
    {
        tensor.m_Strides[i] = shape[i] == 1 && output[i] != 1 ? 0 : step;
        step *= shape[i];
    }
}

/// The shape of a chunk of `rows` indices, with the rank of the tensor.
TensorShape MakeChunkShape(const Tensor& tensor, const Chunking& cut, size_t rows)
{
    std::vector<unsigned int> sizes;
    for (unsigned int i = tensor.m_LeadingOnes; i < tensor.m_Shape.GetNumDimensions(); ++i)
    {
        const bool isCut = i + 1 == cut.m_End && tensor.m_RowElements != 0;
        sizes.push_back(i >= cut.m_End ? tensor.m_Shape[i] : isCut ? static_cast<unsigned int>(rows) : 1);
    }
    return TensorShape(static_cast<unsigned int>(sizes.size()), sizes.data());
}

class ChunksF16
{
public:
    using Prepare = backends::Prepared (*)(const ReshapeArgs&, const backends::PackedWeights*);

    ChunksF16(const ReshapeArgs& args, unsigned int last, std::vector<Tensor> inputs, Prepare prepare,
              const ref::F16Loops& loops)
        : m_Type(args.GetOutput(0).GetDataType()), m_Loops(&loops), m_OutputShape(args.GetOutput(0).GetShape()),
          m_Chunking(ChooseChunking(m_OutputShape, last, inputs)), m_Inputs(std::move(inputs))
    {
        Scratch task;
        m_Output.m_Shape = m_OutputShape;
        LayOut(m_Output, m_OutputShape, m_Chunking, task);
        for (Tensor& input : m_Inputs)
        {
            LayOut(input, m_OutputShape, m_Chunking, task);
        }
        size_t inner = 0;
        const size_t left = m_Chunking.m_Indices % m_Chunking.m_Rows;
        for (const size_t rows : {m_Chunking.m_Rows, left})
        {
            backends::Prepared prepared = rows == 0 ? backends::Prepared() : PrepareRows(args, rows, prepare);
            inner = std::max(inner, prepared.m_ScratchBytes);
            m_Name = rows == 0 ? m_Name : prepared.m_KernelName;
            m_Declined = m_Declined != nullptr ? m_Declined : prepared.m_Declined;
            m_Run[rows == left ? 1 : 0] = std::move(prepared.m_Run);
        }
        m_InnerOffset = task.Add<std::byte>(inner);
        m_TaskBytes = task.GetBytes();
        const size_t chunkBytes = m_Output.m_ChunkElements * sizeof(float) * (1 + m_Inputs.size());
        m_Tasks = std::min(GetMaxTasks(args.m_MaxThreads), DivideUp(CountChunks(), GetGrain(chunkBytes)));
        m_Scratch.AddPerTask(task, m_Tasks);
    }

    size_t GetScratchBytes() const { return m_Scratch.GetBytes(); }
    const char* GetKernelName() const { return m_Name; }
    const char* GetDeclined() const { return m_Declined; }

    void operator()(const ExecuteArgs& args) const
    {
        const size_t tasks = std::min<size_t>(m_Tasks, args.m_Parallel->GetNumThreads());
        RunTasks(*args.m_Parallel, tasks,
                 [&](size_t index)
                 {
                     RunTask(args, GetTaskRange(CountChunks(), tasks, index),
                             static_cast<std::byte*>(args.m_Scratch) + index * m_TaskBytes);
                 });
    }

private:
    size_t CountChunksOfRun() const { return DivideUp(m_Chunking.m_Indices, m_Chunking.m_Rows); }
    size_t CountChunks() const { return CountElements(m_OutputShape, 0, m_Chunking.m_Begin) * CountChunksOfRun(); }

    backends::Prepared PrepareRows(const ReshapeArgs& args, size_t rows, Prepare prepare) const
    {
        std::vector<TensorInfo> infos;
        infos.reserve(m_Inputs.size() + 1);
        std::vector<const TensorInfo*> inputs;
        for (const Tensor& input : m_Inputs)
        {
            inputs.push_back(&infos.emplace_back(MakeChunkShape(input, m_Chunking, rows), DataType::Float32));
        }
        const TensorInfo* const output =
            &infos.emplace_back(MakeChunkShape(m_Output, m_Chunking, rows), DataType::Float32);
        const std::vector<const void*> constants(m_Inputs.size(), nullptr); // constants are not converted yet
        ReshapeArgs chunk = args;
        chunk.m_Inputs = inputs;
        chunk.m_Outputs = {&output, 1};
        chunk.m_ConstantData = constants;
        chunk.m_MaxThreads = 1;
        return prepare(chunk, nullptr);
    }

    size_t FindOffset(const Tensor& tensor, size_t chunk) const
    {
        size_t offset = chunk % CountChunksOfRun() * m_Chunking.m_Rows * tensor.m_RowElements;
        size_t rest = chunk / CountChunksOfRun();
        for (unsigned int i = m_Chunking.m_Begin; i-- > 0;)
        {
            offset += rest % m_OutputShape[i] * tensor.m_Strides[i];
            rest /= m_OutputShape[i];
        }
        return offset;
    }

    void RunTask(const ExecuteArgs& args, const IndexRange& chunks, std::byte* scratch) const
    {
        OneThread thread;
        std::array<const void*, MaxInputs> inputs{};
        std::array<size_t, MaxInputs> converted{};
        converted.fill(SIZE_MAX);
        for (size_t i = 0; i < m_Inputs.size(); ++i)
        {
            inputs[i] = Scratch::At<float>(scratch, m_Inputs[i].m_Floats);
        }
        void* const output = Scratch::At<float>(scratch, m_Output.m_Floats);
        ExecuteArgs run = args;
        run.m_Inputs = {inputs.data(), m_Inputs.size()};
        run.m_Outputs = {&output, 1};
        run.m_Scratch = scratch + m_InnerOffset;
        run.m_Parallel = &thread;
        for (size_t chunk = chunks.m_Begin; chunk < chunks.m_End; ++chunk)
        {
            const size_t first = chunk % CountChunksOfRun() * m_Chunking.m_Rows;
            const size_t rows = std::min(m_Chunking.m_Rows, m_Chunking.m_Indices - first);
            for (size_t i = 0; i < m_Inputs.size(); ++i)
            {
                const Tensor& input = m_Inputs[i];
                const size_t offset = FindOffset(input, chunk);
                if (offset != converted[i])
                {
                    const size_t count = input.m_RowElements != 0 ? rows * input.m_RowElements : input.m_ChunkElements;
                    m_Loops->m_Widen(thread, args.GetInput<uint16_t>(i) + offset, m_Type, count,
                                     Scratch::At<float>(scratch, input.m_Floats));
                    converted[i] = offset;
                }
            }
            m_Run[rows == m_Chunking.m_Rows ? 0 : 1](run);
            m_Loops->m_Narrow(thread, static_cast<const float*>(output), m_Type, rows * m_Chunking.m_RowElements,
                              args.GetOutput<uint16_t>(0) + FindOffset(m_Output, chunk));
        }
    }

    DataType m_Type;
    const ref::F16Loops* m_Loops;
    TensorShape m_OutputShape;
    Chunking m_Chunking;
    std::vector<Tensor> m_Inputs;
    Tensor m_Output;
    std::array<backends::Executor, 2> m_Run; ///< for whole chunks, and for the last chunk of a run
    const char* m_Name = nullptr;            ///< see Prepared::m_KernelName
    const char* m_Declined = nullptr;        ///< see Prepared::m_Declined
    size_t m_InnerOffset = 0;
    size_t m_TaskBytes = 0;
    size_t m_Tasks = 1;
    Scratch m_Scratch;
};

} // namespace

backends::Prepared PrepareChunksF16(const ReshapeArgs& args, unsigned int whole,
                                    backends::Prepared (*prepare)(const ReshapeArgs&, const backends::PackedWeights*),
                                    const ref::F16Loops& loops)
{
    const TensorInfo& output = args.GetOutput(0);
    const unsigned int rank = output.GetNumDimensions();
    bool isCut = args.m_Outputs.size() == 1 && args.m_Inputs.size() <= MaxInputs && rank > whole &&
                 output.GetNumElements() > ChunkElements;
    std::vector<Tensor> inputs;
    for (size_t i = 0; isCut && i < args.m_Inputs.size(); ++i)
    {
        isCut = args.HasInput(i) && args.GetInput(i).GetDataType() == output.GetDataType();
        auto input = isCut ? FitShape(args.GetInput(i).GetShape(), output.GetShape(), rank - whole) : std::nullopt;
        isCut = input.has_value();
        if (isCut)
        {
            inputs.push_back(std::move(*input));
        }
    }
    if (!isCut)
    {
        return ref::PrepareF16AsF32(args, prepare, nullptr, loops);
    }
    ChunksF16 chunks(args, rank - whole, std::move(inputs), prepare, loops);
    const size_t bytes = chunks.GetScratchBytes();
    const char* const name = chunks.GetKernelName();
    const char* const declined = chunks.GetDeclined();
    backends::Prepared prepared(std::move(chunks), bytes);
    prepared.m_KernelName = name;
    prepared.m_Declined = declined;
    return prepared;
}

} // namespace tenon::cpu
