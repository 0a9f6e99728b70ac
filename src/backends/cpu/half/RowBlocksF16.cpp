// SPDX-License-Identifier: Apache-2.0
// See RowBlocksF16.hpp.
#include "backends/cpu/half/RowBlocksF16.hpp"

#include "backends/cpu/half/ConversionsF16.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "common/OneThread.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;

constexpr size_t BytesF16 = 2;
/// Bytes of a block as floats, input and output: a quarter of a second-level cache of 1 MiB.
constexpr size_t BlockBytes = 256 * 1024;
/// Layers of up to this many bytes as floats are not cut.
constexpr size_t MaxUncutBytes = 2 * BlockBytes;
/// Layers with at least this many multiplications for each element of input and output spend little time in
/// conversions. Larger blocks read the weights less often: blocks are 4 times and uncut layers 8 times as large.
constexpr double ManyMultiplications = 512;
constexpr size_t LargerBlocks = 4;
constexpr size_t LargerUncut = 8;
/// Minimum output rows of a block whose windows overlap: input rows that two blocks share are converted for both.
constexpr size_t MinOverlappingRows = 4;
/// Elements of a fused residual add that are rounded at a time.
constexpr size_t ChunkElements = 1024;

/// Output rows of a block; 0: the layer is not cut.
size_t ChooseRows(const LayerRows& shape)
{
    const double rowFloats =
        static_cast<double>(shape.m_RowElements) +
        static_cast<double>(shape.m_Windows.m_Stride) * static_cast<double>(shape.m_InputRowElements);
    const double elements = static_cast<double>(shape.m_Images) *
                            (static_cast<double>(shape.m_Rows) * static_cast<double>(shape.m_RowElements) +
                             static_cast<double>(shape.m_InputRows) * static_cast<double>(shape.m_InputRowElements));
    const bool hasManyMultiplications = shape.m_Multiplications >= ManyMultiplications * elements;
    const size_t wholeBytes = hasManyMultiplications ? LargerUncut * MaxUncutBytes : MaxUncutBytes;
    if (shape.m_Rows == 0 || elements * sizeof(float) <= static_cast<double>(wholeBytes))
    {
        return 0;
    }
    const size_t blockBytes = hasManyMultiplications ? LargerBlocks * BlockBytes : BlockBytes;
    const bool isOverlapping =
        (uint64_t{shape.m_Windows.m_Kernel} - 1) * shape.m_Windows.m_Dilation >= shape.m_Windows.m_Stride;
    const size_t minRows = std::min(isOverlapping ? MinOverlappingRows : 1, shape.m_Rows);
    size_t rows = std::clamp(static_cast<size_t>(static_cast<double>(blockBytes / sizeof(float)) / rowFloats), minRows,
                             shape.m_Rows);
    // At least as many blocks as threads.
    const size_t tasks = std::min(GetFixedTasks(), GetWorthwhileTasks(shape.m_Multiplications));
    rows = std::min(rows, std::max(minRows, DivideUp(shape.m_Images * shape.m_Rows, tasks)));
    return DivideUp(shape.m_Rows, DivideUp(shape.m_Rows, rows)); // as equal as possible
}

} // namespace

RowBlocksF16::RowBlocksF16(const ReshapeArgs& args, const LayerRows& shape, const float* bias,
                           FunctionRef<backends::Prepared(const RowBlock*)> prepare)
    : m_Type(args.GetOutput(0).GetDataType()), m_Bias(bias)
{
    const bool hasBiasF16 =
        bias == nullptr && args.HasInput(2) && backends::F16Types.Has(args.GetInput(2).GetDataType());
    m_BiasCount = hasBiasF16 ? args.GetInput(2).GetNumElements() : 0;
    const size_t rows = ChooseRows(shape);
    std::vector<RowBlock> variants;
    size_t inner = 0;
    const auto add = [&](const RowBlock* block)
    {
        backends::Prepared prepared = prepare(block);
        inner = std::max(inner, prepared.m_ScratchBytes);
        m_Declined = prepared.IsDeclined() ? prepared.m_Declined : m_Declined;
        m_Runs.push_back(std::move(prepared.m_Run));
    };
    if (rows != 0 && FindBlocks(shape, rows, variants) && m_Blocks.size() > 1)
    {
        for (const RowBlock& block : variants)
        {
            add(&block);
        }
    }
    else
    {
        m_Blocks = {{0, 0, args.GetInput(0).GetNumElements(), 0, args.GetOutput(0).GetNumElements()}};
        add(nullptr);
    }
    size_t inputs = 0;
    size_t outputs = 0;
    for (const BlockSpan& span : m_Blocks)
    {
        inputs = std::max(inputs, span.m_InputCount);
        outputs = std::max(outputs, span.m_OutputCount);
    }
    Scratch task;
    m_InputOffset = task.Add<float>(inputs);
    m_OutputOffset = task.Add<float>(outputs);
    m_InnerOffset = task.Add<std::byte>(inner);
    m_TaskBytes = task.GetBytes();
    m_Tasks = std::min({GetMaxTasks(args.m_MaxThreads), m_Blocks.size(), GetWorthwhileTasks(shape.m_Multiplications)});
    m_BiasOffset = m_Scratch.Add<float>(m_BiasCount);
    m_TasksOffset = m_Scratch.AddPerTask(task, m_Tasks);
}

bool RowBlocksF16::FindBlocks(const LayerRows& shape, size_t rows, std::vector<RowBlock>& variants)
{
    // In 64 bits: strides, dilations and padding may be any 32-bit numbers.
    const VerticalWindow& windows = shape.m_Windows;
    const uint64_t height = (uint64_t{windows.m_Kernel} - 1) * windows.m_Dilation + 1;
    for (size_t image = 0; image < shape.m_Images; ++image)
    {
        for (size_t row = 0; row < shape.m_Rows; row += rows)
        {
            RowBlock block;
            block.m_Rows = std::min(rows, shape.m_Rows - row);
            // Rows are counted from the first row of the padding.
            const uint64_t begin = uint64_t{row} * windows.m_Stride;
            const uint64_t end = (uint64_t{row} + block.m_Rows - 1) * windows.m_Stride + height;
            const uint64_t last = uint64_t{windows.m_PadTop} + shape.m_InputRows;
            const uint64_t first = std::max<uint64_t>(begin, windows.m_PadTop);
            if (first >= std::min(end, last))
            {
                return false; // the block reads nothing but padding
            }
            block.m_PadTop = static_cast<size_t>(first - begin);
            block.m_PadBottom = static_cast<size_t>(end - std::min(end, last));
            block.m_InputRows = static_cast<size_t>(std::min(end, last) - first);
            const auto found = std::find(variants.begin(), variants.end(), block);
            const auto variant = static_cast<size_t>(found - variants.begin());
            if (found == variants.end())
            {
                variants.push_back(block);
            }
            const size_t inputRow = image * shape.m_InputRows + static_cast<size_t>(first - windows.m_PadTop);
            m_Blocks.push_back(
                {variant, inputRow * shape.m_InputRowElements, block.m_InputRows * shape.m_InputRowElements,
                 (image * shape.m_Rows + row) * shape.m_RowElements, block.m_Rows * shape.m_RowElements});
        }
    }
    return true;
}

void RowBlocksF16::Run(const ExecuteArgs& args, const void* added, const backends::FloatClamp& clamp) const
{
    const float* const bias = FindBias(args);
    const Sum sum = {added, &clamp};
    std::byte* const scratch = static_cast<std::byte*>(args.m_Scratch) + m_TasksOffset;
    if (m_Blocks.size() == 1)
    {
        RunBlock(args, m_Blocks[0], bias, sum, *args.m_Parallel, scratch);
        return;
    }
    const size_t tasks = std::min<size_t>(m_Tasks, args.m_Parallel->GetNumThreads());
    RunTasks(*args.m_Parallel, tasks,
             [&](size_t index)
             {
                 OneThread thread;
                 const IndexRange blocks = GetTaskRange(m_Blocks.size(), tasks, index);
                 for (size_t i = blocks.m_Begin; i < blocks.m_End; ++i)
                 {
                     RunBlock(args, m_Blocks[i], bias, sum, thread, scratch + index * m_TaskBytes);
                 }
             });
}

const float* RowBlocksF16::FindBias(const ExecuteArgs& args) const
{
    if (m_Bias != nullptr || args.m_Inputs.size() <= 2 || m_BiasCount == 0)
    {
        return m_Bias != nullptr || args.m_Inputs.size() <= 2 ? m_Bias : args.GetInput<float>(2);
    }
    auto* const bias = Scratch::At<float>(args.m_Scratch, m_BiasOffset);
    OneThread thread;
    VectorConversionsF16.m_Widen(thread, args.m_Inputs[2], m_Type, m_BiasCount, bias);
    return bias;
}

void RowBlocksF16::RunBlock(const ExecuteArgs& args, const BlockSpan& block, const float* bias, const Sum& sum,
                            IParallelFor& parallel, std::byte* scratch) const
{
    auto* const input = Scratch::At<float>(scratch, m_InputOffset);
    auto* const output = Scratch::At<float>(scratch, m_OutputOffset);
    VectorConversionsF16.m_Widen(parallel, args.GetInput<std::byte>(0) + block.m_Input * BytesF16, m_Type,
                                 block.m_InputCount, input);
    const std::array<const void*, 3> inputs = {input, nullptr, bias}; // null: weights are packed
    void* const outputs = output;
    ExecuteArgs run = args;
    run.m_Inputs = {inputs.data(), inputs.size()};
    run.m_Outputs = {&outputs, 1};
    run.m_Scratch = scratch + m_InnerOffset;
    run.m_Parallel = &parallel;
    m_Runs[block.m_Variant](run);
    std::byte* const halves = args.GetOutput<std::byte>(0) + block.m_Output * BytesF16;
    if (sum.m_Added == nullptr)
    {
        VectorConversionsF16.m_Narrow(parallel, output, m_Type, block.m_OutputCount, halves);
        return;
    }
    const std::byte* const added = static_cast<const std::byte*>(sum.m_Added) + block.m_Output * BytesF16;
    RunRanges(
        parallel, block.m_OutputCount, GetGrain(sizeof(float) + 2 * BytesF16),
        [&](size_t begin, size_t end)
        { NarrowSum(output + begin, end - begin, added + begin * BytesF16, *sum.m_Clamp, halves + begin * BytesF16); });
}

void RowBlocksF16::NarrowSum(float* floats, size_t count, const std::byte* added, const backends::FloatClamp& clamp,
                             std::byte* halves) const
{
    std::array<float, ChunkElements> others;     // NOLINT: written before it is read
    std::array<uint16_t, ChunkElements> rounded; // NOLINT: likewise
    OneThread thread;
    for (size_t begin = 0; begin < count; begin += ChunkElements)
    {
        const size_t size = std::min(ChunkElements, count - begin);
        float* const sums = floats + begin;
        VectorConversionsF16.m_Narrow(thread, sums, m_Type, size, rounded.data());
        VectorConversionsF16.m_Widen(thread, rounded.data(), m_Type, size, sums);
        VectorConversionsF16.m_Widen(thread, added + begin * BytesF16, m_Type, size, others.data());
        for (size_t i = 0; i < size; ++i)
        {
            sums[i] += others[i];
        }
        clamp.Run(sums, size);
        VectorConversionsF16.m_Narrow(thread, sums, m_Type, size, halves + begin * BytesF16);
    }
}

backends::Prepared PrepareRowBlocks(std::shared_ptr<const RowBlocksF16> blocks, const ReshapeArgs& args)
{
    const size_t bytes = blocks->GetScratchBytes();
    backends::Prepared prepared([blocks](const ExecuteArgs& run) { blocks->Run(run, nullptr, {}); }, bytes);
    if (args.m_FusedActivation == nullptr)
    {
        const auto addTensor = [blocks, bytes, added = args.m_Inputs.size()](const ActivationDescriptor* activation)
        {
            return backends::Prepared([blocks, added, clamp = backends::FloatClamp(activation)](const ExecuteArgs& run)
                                      { blocks->Run(run, run.m_Inputs[added], clamp); },
                                      bytes);
        };
        prepared.m_AddTensor =
            std::make_shared<const std::function<backends::Prepared(const ActivationDescriptor*)>>(addTensor);
    }
    return prepared;
}

} // namespace tenon::cpu
