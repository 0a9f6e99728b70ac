// SPDX-License-Identifier: Apache-2.0
// The part of LoadedNetwork that runs it: the caller's tensors are checked and bound, then a context of the pool runs
// the plan for their shapes.
#include "runtime/CheckBound.hpp"
#include "runtime/LoadedNetwork.hpp"

#include <fmt/format.h>

#include <optional>

namespace tenon
{

namespace
{

/// Gives workloads the runtime's threads. Records their shares of each loop while profiling is on.
class PoolParallelFor final : public IParallelFor
{
public:
    PoolParallelFor(ThreadPool& pool, unsigned int threads, Profiler& profiler)
        : m_Pool(pool), m_Threads(threads), m_Profiler(profiler)
    {
    }

    void Run(size_t count, size_t grain, const std::function<void(size_t, size_t)>& body) override
    {
        if (m_Profiler.IsProfilingEnabled() && GetNumThreads() > 1 && !ThreadPool::IsInsideLoop())
        {
            RunRecorded(count, grain, body);
            return;
        }
        m_Pool.ParallelFor(
            count, m_Threads, [&](size_t begin, size_t end, unsigned) { body(begin, end); }, grain);
    }
    unsigned int GetNumThreads() const override { return m_Pool.Participants(m_Threads); }

private:
    void RunRecorded(size_t count, size_t grain, const std::function<void(size_t, size_t)>& body)
    {
        using Clock = Profiler::Clock;
        const Clock::time_point start = Clock::now();
        std::vector<ProfileShare> shares(GetNumThreads()); // by worker
        m_Pool.ParallelFor(
            count, m_Threads,
            [&](size_t begin, size_t end, unsigned worker)
            {
                const Clock::time_point chunkStart = Clock::now();
                body(begin, end);
                ProfileShare& share = shares[worker];
                share.m_Stop = Clock::now();
                if (share.m_NumChunks++ == 0)
                {
                    share.m_Start = chunkStart;
                    share.m_Thread = Profiler::GetThread();
                }
                share.m_Work += share.m_Stop - chunkStart;
            },
            grain);
        m_Profiler.RecordLoop(start, shares);
    }

    ThreadPool& m_Pool;
    unsigned int m_Threads;
    Profiler& m_Profiler;
};

/// The shape of each output of a step; none if they depend on values or on an input of unknown sizes, or if the run
/// will fail there.
std::vector<TensorShape> TryInferShapes(const Program& program, const Step& step, const PageVector<TensorInfo>& infos)
{
    if (step.m_Layer->HasDataDependentShapes() || !step.m_Bodies.empty() || !step.m_Overrides.empty())
    {
        return {};
    }
    std::vector<const TensorInfo*> inputs;
    std::vector<const void*> constants;
    for (const ValueId value : step.m_Inputs)
    {
        inputs.push_back(value == NoValue ? nullptr : &infos[value]);
        constants.push_back(value == NoValue ? nullptr : program.Values()[value].m_Constant);
        if (value != NoValue && !infos[value].GetShape().AreAllDimensionsSpecified())
        {
            return {};
        }
    }
    if (!CanInferShapes(*step.m_Layer, inputs, constants))
    {
        return {};
    }
    std::vector<TensorShape> shapes(step.m_NumOutputs);
    try
    {
        InferShapes(*step.m_Layer, inputs, constants, shapes);
    }
    catch (const Exception&)
    {
        return {};
    }
    return shapes;
}

/// The infos of all values for a run by the plan. A plan ends before the first step whose sizes depend on values; the
/// steps after it still have the sizes of loading there.
PageVector<TensorInfo> TellInfos(const Program& program, const Plan& plan)
{
    PageVector<TensorInfo> infos = plan.Infos();
    for (size_t s = plan.Steps().size(); s < program.Steps().size(); ++s)
    {
        const Step& step = program.Steps()[s];
        const std::vector<TensorShape> shapes = TryInferShapes(program, step, infos);
        for (uint32_t k = 0; k < step.m_NumOutputs; ++k)
        {
            infos[step.m_FirstOutput + k].SetShape(shapes.empty() ? TensorShape(Dimensionality::NotSpecified)
                                                                  : shapes[k]);
        }
    }
    return infos;
}

} // namespace

/// The objects that one call owns: a context of the pool or a new one, which it gives back, and its session.
class LoadedNetwork::ContextLease
{
public:
    ContextLease(LoadedNetwork& network, SessionId session) : m_Network(network)
    {
        {
            const std::lock_guard lock(m_Network.m_Mutex);
            m_Session = m_Network.FindSession(session);
            m_Debug = m_Network.m_DebugCallback;
            if (!m_Network.m_FreeContexts.empty())
            {
                m_Context = std::move(m_Network.m_FreeContexts.back());
                m_Network.m_FreeContexts.pop_back();
                return;
            }
        }
        m_Context = std::make_unique<ExecutionContext>(*m_Network.m_Program);
        const std::lock_guard lock(m_Network.m_Mutex);
        m_Network.m_FreeContexts.reserve(m_Network.m_NumContexts + 1); // reserved so that giving it back cannot fail
        ++m_Network.m_NumContexts;
    }
    ~ContextLease()
    {
        const std::lock_guard lock(m_Network.m_Mutex);
        m_Network.m_FreeContexts.push_back(std::move(m_Context));
    }
    ContextLease(const ContextLease&) = delete;
    ContextLease& operator=(const ContextLease&) = delete;

    ExecutionContext& Context() const { return *m_Context; }
    tenon::Session& Session() const { return *m_Session; }
    const DebugCallbackFunction* DebugCallback() const { return m_Debug.get(); }

private:
    LoadedNetwork& m_Network;
    std::shared_ptr<tenon::Session> m_Session;
    std::shared_ptr<const DebugCallbackFunction> m_Debug;
    std::unique_ptr<ExecutionContext> m_Context;
};

void LoadedNetwork::BindInputs(const InputTensors& inputs, const std::vector<InputImports::Entry>& imported,
                               CallBuffers& buffers) const
{
    const auto& bindings = m_Program->Inputs();
    buffers.m_Inputs.assign(bindings.size(), nullptr);
    buffers.m_IsGiven.assign(bindings.size(), 0);
    buffers.m_Shapes.resize(bindings.size());
    for (const auto& [id, tensor] : inputs)
    {
        const size_t i = m_Program->FindInput(id);
        if (buffers.m_IsGiven[i] != 0)
        {
            throw InvalidArgumentException(fmt::format("input {} is given twice", id));
        }
        CheckBound(bindings[i], "input", bindings[i].m_Layer->Output(0).GetTensorInfo(), tensor.GetInfo(),
                   tensor.GetMemoryArea());
        buffers.m_IsGiven[i] = 1;
        buffers.m_Inputs[i] = tensor.GetMemoryArea();
        buffers.m_Shapes[i] = tensor.GetShape();
    }
    for (size_t i = 0; i < bindings.size(); ++i)
    {
        if (buffers.m_IsGiven[i] == 0)
        {
            throw InvalidArgumentException(
                fmt::format("input {} '{}' is missing", bindings[i].m_Id, bindings[i].m_Layer->GetNameStr()));
        }
    }
    buffers.m_ImportedInputs.assign(imported.empty() ? 0 : bindings.size(), nullptr);
    for (const auto& entry : imported)
    {
        buffers.m_ImportedInputs[m_Program->FindInput(entry->m_Id)] = &entry->m_Memory;
    }
}

void LoadedNetwork::BindOutputs(const OutputTensors& outputs, const std::vector<OutputImports::Entry>& imported,
                                CallBuffers& buffers) const
{
    const auto& bindings = m_Program->Outputs();
    buffers.m_Outputs.assign(bindings.size(), nullptr);
    for (const auto& [id, tensor] : outputs)
    {
        const size_t i = m_Program->FindOutput(id);
        if (buffers.m_Outputs[i] != nullptr)
        {
            throw InvalidArgumentException(fmt::format("output {} is given twice", id));
        }
        CheckBound(bindings[i], "output", m_Program->Values()[bindings[i].m_Value].m_Slot->GetTensorInfo(),
                   tensor.GetInfo(), tensor.GetMemoryArea());
        buffers.m_Outputs[i] = &tensor;
    }
    for (size_t i = 0; i < bindings.size(); ++i)
    {
        if (buffers.m_Outputs[i] == nullptr)
        {
            throw InvalidArgumentException(
                fmt::format("output {} '{}' is missing", bindings[i].m_Id, bindings[i].m_Layer->GetNameStr()));
        }
    }
    buffers.m_ImportedOutputs.assign(imported.empty() ? 0 : bindings.size(), nullptr);
    for (const auto& entry : imported)
    {
        buffers.m_ImportedOutputs[m_Program->FindOutput(entry->m_Id)] = &entry->m_Memory;
    }
}

std::vector<std::pair<LayerBindingId, TensorInfo>>
LoadedNetwork::PlanRun(const std::vector<std::pair<LayerBindingId, TensorInfo>>& inputInfos)
{
    const uint8_t anywhere = 0; // infos are checked as tensors, which need an address
    InputTensors inputs;
    inputs.reserve(inputInfos.size());
    for (const auto& [id, info] : inputInfos)
    {
        TensorInfo constant = info;
        constant.SetConstant();
        inputs.emplace_back(id, ConstTensor(constant, &anywhere));
    }
    CallBuffers buffers;
    BindInputs(inputs, {}, buffers);
    const unsigned int threads = m_Pool.Participants(m_NumberOfThreads);
    const auto plan = m_Plans.Get(*m_Program, buffers.m_Shapes, threads, m_Limits, *m_Profiler);
    const PageVector<TensorInfo> infos = TellInfos(*m_Program, *plan);
    std::vector<std::pair<LayerBindingId, TensorInfo>> outputs;
    for (const Binding& output : m_Program->Outputs())
    {
        outputs.emplace_back(output.m_Id, infos[output.m_Value]);
    }
    return outputs;
}

void LoadedNetwork::RunWith(const ContextLease& lease, const InputTensors& inputs,
                            const std::vector<InputImports::Entry>& imported, RunArgs::GetOutput getOutput,
                            const std::atomic<bool>* isCancelled)
{
    RunArgs args(getOutput);
    args.m_IsCancelled = isCancelled;
    args.ThrowIfCancelled();
    const auto event = m_Profiler->Scope(ProfilingCategory::Inference);
    ExecutionContext& context = lease.Context();
    CallBuffers& buffers = context.Buffers();
    BindInputs(inputs, imported, buffers);
    PoolParallelFor parallel(m_Pool, m_NumberOfThreads, *m_Profiler);
    const auto plan = m_Plans.Get(*m_Program, buffers.m_Shapes, parallel.GetNumThreads(), m_Limits, *m_Profiler);
    args.m_Inputs = buffers.m_Inputs;
    args.m_ImportedInputs = buffers.m_ImportedInputs;
    args.m_ImportedOutputs = buffers.m_ImportedOutputs;
    args.m_Parallel = &parallel;
    args.m_Profiler = m_Profiler.get();
    std::optional<DebugRun> debug;
    if (m_DebugTarget.IsShown() || m_DebugTarget.IsWritten())
    {
        args.m_Debug = &debug.emplace(m_DebugTarget, lease.DebugCallback());
    }
    args.m_Limits = &m_Limits;
    uint64_t iterations = 0;
    args.m_Iterations = &iterations;
    std::unique_lock<std::mutex> stateLock;
    if (!m_Program->States().empty())
    {
        // Runs of one session are serialized: each begins with the states that the previous run left.
        stateLock = std::unique_lock(lease.Session().Mutex());
        args.ThrowIfCancelled(); // the run may have been cancelled while it waited
        args.m_Session = &lease.Session();
    }
    m_Hooks.AroundRun([&] { context.Run(plan, args); });
}

void LoadedNetwork::Run(const InputTensors& inputs, const OutputTensors& outputs, const RunOptions& options)
{
    // Imported memory and its lists are kept alive for the run.
    std::vector<InputImports::Entry> inputImports;
    std::vector<OutputImports::Entry> outputImports;
    InputTensors allInputs;
    OutputTensors allOutputs;
    const bool hasImports = !options.m_ImportedInputs.empty() || !options.m_ImportedOutputs.empty();
    if (hasImports)
    {
        const std::lock_guard lock(m_Mutex);
        inputImports = m_ImportedInputs.Get(options.m_ImportedInputs, "input");
        outputImports = m_ImportedOutputs.Get(options.m_ImportedOutputs, "output");
        allInputs = InputImports::Merge(inputs, inputImports);
        allOutputs = OutputImports::Merge(outputs, outputImports);
    }
    const ContextLease lease(*this, options.m_Session);
    BindOutputs(hasImports ? allOutputs : outputs, outputImports, lease.Context().Buffers());
    const auto getOutput = [&](size_t i, const TensorInfo& info) -> void*
    {
        const Tensor& given = *lease.Context().Buffers().m_Outputs[i];
        if (given.GetNumBytes() != info.GetNumBytes())
        {
            const Binding& binding = m_Program->Outputs()[i];
            throw InvalidArgumentException(fmt::format("output {} '{}' has {} bytes ({}), but the tensor given has {}",
                                                       binding.m_Id, binding.m_Layer->GetNameStr(), info.GetNumBytes(),
                                                       info.ToString(), given.GetNumBytes()));
        }
        return given.GetMemoryArea();
    };
    RunWith(lease, hasImports ? allInputs : inputs, inputImports, getOutput, options.m_IsCancelled);
}

void LoadedNetwork::Run(const InputTensors& inputs, const OutputAllocator& allocator, const RunOptions& options)
{
    if (!options.m_ImportedOutputs.empty())
    {
        throw InvalidArgumentException("a run whose outputs come from an allocator takes no imported ones");
    }
    std::vector<InputImports::Entry> inputImports;
    InputTensors allInputs;
    if (!options.m_ImportedInputs.empty())
    {
        const std::lock_guard lock(m_Mutex);
        inputImports = m_ImportedInputs.Get(options.m_ImportedInputs, "input");
        allInputs = InputImports::Merge(inputs, inputImports);
    }
    const ContextLease lease(*this, options.m_Session);
    const auto getOutput = [&](size_t i, const TensorInfo& info) -> void*
    {
        const Binding& binding = m_Program->Outputs()[i];
        void* memory = allocator(binding.m_Id, info);
        if (memory == nullptr && info.GetNumBytes() != 0)
        {
            throw InvalidArgumentException(fmt::format("the output allocator gave no memory for output {} '{}'",
                                                       binding.m_Id, binding.m_Layer->GetNameStr()));
        }
        return memory;
    };
    lease.Context().Buffers().m_ImportedOutputs.clear();
    RunWith(lease, inputImports.empty() ? inputs : allInputs, inputImports, getOutput, options.m_IsCancelled);
}

} // namespace tenon
