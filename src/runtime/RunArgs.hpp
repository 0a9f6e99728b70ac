// SPDX-License-Identifier: Apache-2.0
// RunArgs: the arguments of one run of a program, in addition to its plan.
#pragma once

#include "common/FunctionRef.hpp"
#include "runtime/ImportedTensors.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/Limits.hpp>
#include <tenon/Tensor.hpp>
#include <tenon/backend/IWorkload.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tenon
{

class DebugRun;
class Profiler;
class Session;

struct RunArgs
{
    /// Memory of the caller for output i, whose info is known by then.
    using GetOutput = FunctionRef<void*(size_t index, const TensorInfo& info)>;

    explicit RunArgs(GetOutput getOutput) : m_GetOutput(getOutput) {}

    Span<const void* const> m_Inputs; ///< by index of Program::Inputs()
    GetOutput m_GetOutput;            ///< called once per output, before or during the run
    IParallelFor* m_Parallel = nullptr;
    Profiler* m_Profiler = nullptr;
    DebugRun* m_Debug = nullptr; ///< null: none
    const Limits* m_Limits = nullptr;
    uint64_t* m_Iterations = nullptr;                 ///< iterations of all loops of the run so far
    Session* m_Session = nullptr;                     ///< null where the program has no states
    const std::atomic<bool>* m_IsCancelled = nullptr; ///< null: the run cannot be cancelled
    /// Memory that was imported before the run, by index of Program::Inputs() and Outputs(). An element is null if its
    /// memory was not imported; a list is empty if none was.
    Span<const ImportedMemory* const> m_ImportedInputs;
    Span<const ImportedMemory* const> m_ImportedOutputs;

    void ThrowIfCancelled() const
    {
        if (m_IsCancelled != nullptr && m_IsCancelled->load(std::memory_order_relaxed))
        {
            throw CancelledException("the run was cancelled");
        }
    }
};

} // namespace tenon
