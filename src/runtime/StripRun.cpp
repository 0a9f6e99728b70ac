// SPDX-License-Identifier: Apache-2.0
// How an ExecutionContext runs layers in strips.
#include "common/ErrorContext.hpp"
#include "common/OneThread.hpp"
#include "common/Profiler.hpp"
#include "runtime/ExecutionContext.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace tenon
{

void ExecutionContext::RunStrips(const Strips& strips, const RunArgs& args) const
{
    const Layer* const first = m_Program.Steps()[strips.m_First].m_Layer;
    const auto event = args.m_Profiler->Scope(ProfilingCategory::Inference, strips.m_Label.c_str(), first);
    const size_t threads = std::min<size_t>(strips.m_MostThreads, args.m_Parallel->GetNumThreads());
    const auto run = [&](size_t begin, size_t end)
    {
        for (size_t thread = begin; thread < end; ++thread)
        {
            OneThread parallel; // a part of a layer is for one
            RunParts(strips, thread, threads, parallel);
        }
    };
    try
    {
        if (strips.AreEnough(args.m_Parallel->GetNumThreads()))
        {
            args.m_Parallel->Run(threads, 1, std::ref(run));
        }
        else
        {
            RunParts(strips, 0, 1, *args.m_Parallel);
        }
    }
    catch (...)
    {
        RethrowWithContext(fmt::format("running {} and the {} layers after it in strips", first->Describe(),
                                       strips.m_Steps.size() - 1));
    }
}

/// A part, and who runs it.
struct ExecutionContext::StripPart
{
    size_t m_First = 0; ///< the thread's first part
    size_t m_Part = 0;
    size_t m_Thread = 0;
    IParallelFor* m_Parallel = nullptr;
    bool m_IsShared = false; ///< by several threads
};

void ExecutionContext::RunParts(const Strips& strips, size_t thread, size_t threads, IParallelFor& parallel) const
{
    const size_t first = strips.m_Parts * thread / threads;
    const size_t end = strips.m_Parts * (thread + 1) / threads;
    for (size_t part = first; part < end; ++part)
    {
        RunPart(strips, {first, part, thread, &parallel, parallel.GetNumThreads() > 1});
    }
}

void ExecutionContext::RunPart(const Strips& strips, const StripPart& part) const
{
    if (const StripWhole& whole = strips.m_Whole; whole.m_Workload != nullptr)
    {
        std::array<const void*, StripWhole::MostInputs> inputs{};
        for (size_t k = 0; k < whole.m_NumInputs; ++k)
        {
            inputs[k] = FindStripInput(strips, whole.m_Inputs[k].m_Step, whole.m_Inputs[k].m_Input, part);
        }
        const IShapedWorkload& workload =
            part.m_IsShared && whole.m_Shared != nullptr ? *whole.m_Shared : *whole.m_Workload;
        RunStripStep(strips, strips.m_Steps.size() - 1, workload, {inputs.data(), whole.m_NumInputs}, part);
        return;
    }
    for (size_t i = 0; i < strips.m_Steps.size(); ++i)
    {
        if (strips.m_Steps[i].m_Workload == nullptr)
        {
            continue;
        }
        const size_t numInputs = m_Program.Steps()[strips.m_First + i].m_Inputs.size();
        std::array<const void*, StripStep::MostInputs> inputs{};
        for (size_t k = 0; k < numInputs; ++k)
        {
            inputs[k] = FindStripInput(strips, i, k, part);
        }
        RunStripStep(strips, i, *strips.m_Steps[i].m_Workload, {inputs.data(), numInputs}, part);
    }
}

const void* ExecutionContext::FindStripInput(const Strips& strips, size_t step, size_t input,
                                             const StripPart& part) const
{
    const ValueId value = m_Program.Steps()[strips.m_First + step].m_Inputs[input];
    const StripTensor& tensor = strips.m_Steps[step].m_Inputs[input];
    return static_cast<const std::byte*>(m_Pointers[value]) + tensor.Find(part.m_First, part.m_Part);
}

/// Runs a workload that writes the output of a step and has that step's scratch memory.
void ExecutionContext::RunStripStep(const Strips& strips, size_t step, const IShapedWorkload& workload,
                                    Span<const void* const> inputs, const StripPart& part) const
{
    const StripStep& strip = strips.m_Steps[step];
    const size_t index = strips.m_First + step;
    void* const output = static_cast<std::byte*>(m_Pointers[m_Program.Steps()[index].m_FirstOutput]) +
                         strip.m_Output.Find(part.m_First, part.m_Part);
    ExecuteArgs execute;
    execute.m_Inputs = inputs;
    execute.m_Outputs = {&output, 1};
    execute.m_Scratch = m_Arena.Data() + m_Plan->Steps()[index].m_ScratchOffset + part.m_Thread * strip.m_ScratchBytes;
    execute.m_Parallel = part.m_Parallel;
    workload.Execute(execute);
}

} // namespace tenon
