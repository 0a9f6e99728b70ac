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
            RunParts(strips, thread, threads);
        }
    };
    try
    {
        args.m_Parallel->Run(threads, 1, std::ref(run));
    }
    catch (...)
    {
        RethrowWithContext(fmt::format("running {} and the {} layers after it in strips", first->Describe(),
                                       strips.m_Steps.size() - 1));
    }
}

void ExecutionContext::RunParts(const Strips& strips, size_t thread, size_t threads) const
{
    const size_t first = strips.m_Parts * thread / threads;
    const size_t end = strips.m_Parts * (thread + 1) / threads;
    OneThread parallel; // a part of a layer is for one
    for (size_t part = first; part < end; ++part)
    {
        for (size_t i = 0; i < strips.m_Steps.size(); ++i)
        {
            const StripStep& strip = strips.m_Steps[i];
            const Step& step = m_Program.Steps()[strips.m_First + i];
            if (strip.m_Workload == nullptr)
            {
                continue;
            }
            std::array<const void*, StripStep::MostInputs> inputs{};
            for (size_t k = 0; k < step.m_Inputs.size(); ++k)
            {
                inputs[k] =
                    static_cast<const std::byte*>(m_Pointers[step.m_Inputs[k]]) + strip.m_Inputs[k].Find(first, part);
            }
            void* const output =
                static_cast<std::byte*>(m_Pointers[step.m_FirstOutput]) + strip.m_Output.Find(first, part);
            ExecuteArgs execute;
            execute.m_Inputs = {inputs.data(), step.m_Inputs.size()};
            execute.m_Outputs = {&output, 1};
            execute.m_Scratch =
                m_Arena.Data() + m_Plan->Steps()[strips.m_First + i].m_ScratchOffset + thread * strip.m_ScratchBytes;
            execute.m_Parallel = &parallel;
            strip.m_Workload->Execute(execute);
        }
    }
}

} // namespace tenon
