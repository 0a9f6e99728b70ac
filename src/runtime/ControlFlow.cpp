// SPDX-License-Identifier: Apache-2.0
// ControlFlow: see ControlFlow.hpp.
#include "runtime/ControlFlow.hpp"

#include "common/CopyBlock.hpp"
#include "common/ErrorContext.hpp"
#include "common/Profiler.hpp"
#include "runtime/ExecutionContext.hpp"
#include "runtime/PlanCache.hpp"
#include "runtime/StepShapes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon
{

ControlFlow::ControlFlow(const RunTensors& tensors, DynamicMemory& memory, DeviceQueues* queues)
    : m_Tensors(tensors), m_Memory(memory), m_Queues(queues)
{
}

ControlFlow::~ControlFlow() = default;

void ControlFlow::Run(const Step& step, Span<const TensorInfo* const> inputs, const RunArgs& args)
{
    const auto event =
        args.m_Profiler->Scope(ProfilingCategory::Inference, step.m_Layer->GetSchema().m_Name, step.m_Layer);
    try
    {
        if (step.m_Layer->GetType() == LayerType::If)
        {
            RunIf(step, inputs, args);
        }
        else
        {
            RunWhile(step, inputs, args);
        }
    }
    catch (...)
    {
        RethrowWithContext(fmt::format("in a nested network of {}", step.m_Layer->Describe()));
    }
}

void ControlFlow::RunIf(const Step& step, Span<const TensorInfo* const> inputs, const RunArgs& args)
{
    const bool condition = *static_cast<const uint8_t*>(m_Tensors.GetPointer(step.m_Inputs[0])) != 0;
    RunBody(
        *step.m_Bodies[condition ? 0 : 1], ListValues(step, inputs, 1),
        [&](size_t id, const TensorInfo& info) {
            return m_Memory.Allocate(step.m_FirstOutput + static_cast<ValueId>(id), step, info.GetShape(),
                                     *args.m_Limits);
        },
        args);
}

void ControlFlow::RunWhile(const Step& step, Span<const TensorInfo* const> inputs, const RunArgs& args)
{
    const size_t count = step.m_Inputs.size();
    std::vector<BodyValue> values = ListValues(step, inputs, 0);
    // Two sets of loop values: an iteration reads one and writes the other.
    LoopValues sets[2];
    for (LoopValues& set : sets)
    {
        set.m_Infos.resize(count);
        for (size_t i = 0; i < count; ++i)
        {
            set.m_Memory.emplace_back(0, m_Tensors.GetHostAllocator());
        }
    }
    uint64_t iterations = 0;
    AlignedMemory condition(0, m_Tensors.GetHostAllocator());
    while (RunCondition(step, values, condition, args))
    {
        args.ThrowIfCancelled();
        if (*args.m_Iterations == args.m_Limits->m_MaxLoopIterations)
        {
            throw LimitExceededException(
                fmt::format("the run's loops have not ended after {} iterations together; raise "
                            "Limits::m_MaxLoopIterations",
                            *args.m_Iterations));
        }
        ++*args.m_Iterations;
        LoopValues& next = sets[iterations++ % 2];
        RunIteration(step, values, next, args);
        for (size_t i = 0; i < count; ++i)
        {
            values[i] = {&next.m_Infos[i], next.m_Memory[i].Data()};
        }
    }
    for (size_t i = 0; i < count; ++i)
    {
        const size_t bytes = values[i].m_Info->GetNumBytes();
        void* const output = m_Memory.Allocate(step.m_FirstOutput + static_cast<ValueId>(i), step,
                                               values[i].m_Info->GetShape(), *args.m_Limits);
        if (bytes != 0)
        {
            CopyBlock(output, values[i].m_Memory, bytes);
        }
    }
}

bool ControlFlow::RunCondition(const Step& step, Span<const BodyValue> values, AlignedMemory& memory,
                               const RunArgs& args)
{
    RunBody(
        *step.m_Bodies[0], values,
        [&](size_t, const TensorInfo& info) -> void*
        {
            if (info.GetNumElements() == 0)
            {
                throw RuntimeException(fmt::format("the condition gives shape {}, which has no element to decide",
                                                   info.GetShape().ToString()));
            }
            memory.Reserve(CheckTensorBytes(step, info, *args.m_Limits));
            return memory.Data();
        },
        args);
    // The first of several elements counts, as in TFLite.
    return *memory.Data() != std::byte{0};
}

void ControlFlow::RunIteration(const Step& step, Span<const BodyValue> values, LoopValues& next, const RunArgs& args)
{
    uint64_t bytesLeft = m_Memory.GetBytesLeft(*args.m_Limits);
    RunBody(
        *step.m_Bodies[1], values,
        [&](size_t id, const TensorInfo& info)
        {
            const size_t bytes = CheckTensorBytes(step, info, *args.m_Limits);
            if (bytes > bytesLeft)
            {
                throw LimitExceededException(fmt::format("the loop's variables need more than {} bytes; raise "
                                                         "Limits::m_MaxTotalBytes",
                                                         args.m_Limits->m_MaxTotalBytes));
            }
            bytesLeft -= bytes;
            next.m_Infos[id] = info;
            next.m_Memory[id].Reserve(std::max<size_t>(bytes, 1));
            return next.m_Memory[id].Data();
        },
        args);
}

std::vector<ControlFlow::BodyValue> ControlFlow::ListValues(const Step& step, Span<const TensorInfo* const> inputs,
                                                            size_t first) const
{
    std::vector<BodyValue> values;
    for (size_t i = first; i < step.m_Inputs.size(); ++i)
    {
        values.push_back({inputs[i], m_Tensors.GetPointer(step.m_Inputs[i])});
    }
    return values;
}

void ControlFlow::RunBody(const NestedProgram& body, Span<const BodyValue> values, RunArgs::GetOutput getOutput,
                          const RunArgs& args)
{
    const Program& program = *body.m_Program;
    std::unique_ptr<ExecutionContext>& context = m_Contexts[&body];
    if (context == nullptr)
    {
        context = std::make_unique<ExecutionContext>(program, m_Queues);
    }
    Limits limits = *args.m_Limits;
    limits.m_MaxTotalBytes = m_Memory.GetBytesLeft(limits);
    const auto getBodyOutput = [&](size_t index, const TensorInfo& info)
    { return getOutput(static_cast<size_t>(program.Outputs()[index].m_Id), info); };
    RunArgs inner(getBodyOutput);
    std::vector<const void*>& memory = context->Buffers().m_Inputs;
    std::vector<TensorShape>& shapes = context->Buffers().m_Shapes;
    memory.clear();
    shapes.clear();
    for (const Binding& input : program.Inputs())
    {
        const BodyValue& value = values[static_cast<size_t>(input.m_Id)];
        shapes.push_back(value.m_Info->GetShape());
        memory.push_back(value.m_Memory);
    }
    inner.m_Inputs = memory;
    inner.m_Parallel = args.m_Parallel;
    inner.m_Profiler = args.m_Profiler;
    inner.m_Debug = args.m_Debug;
    inner.m_Limits = &limits;
    inner.m_Iterations = args.m_Iterations;
    inner.m_IsCancelled = args.m_IsCancelled;
    context->Run(body.m_Plans.Get(program, shapes, args.m_Parallel->GetNumThreads(), limits, *args.m_Profiler), inner);
}

} // namespace tenon
