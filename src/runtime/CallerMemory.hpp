// SPDX-License-Identifier: Apache-2.0
// CallerMemory: the inputs and outputs of a run. Memory of the caller is used in place where it is aligned and apart
// from the inputs, else by way of a copy (staging):
//
//   input    caller's memory -> [staging, if not aligned] -> value
//   output   value -> [staging, if not aligned or overlapping an input] -> caller's memory
//
// A value that cannot lie in the memory of its output, such as a constant, is copied there at the end of the run.
#pragma once

#include "common/AlignedMemory.hpp"
#include "runtime/RunArgs.hpp"
#include "runtime/RunTensors.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tenon
{

class CallerMemory
{
public:
    explicit CallerMemory(RunTensors& tensors) : m_Tensors(tensors) {}

    /// Sets the pointers of the values that lie in inputs, for the plan in use.
    void BindInputs(const RunArgs& args);
    /// Asks for the outputs whose info the plan knows, and sets the pointers of the values that lie in them.
    /// BindInputs() must be called before.
    void BindOutputs(const RunArgs& args);
    /// The caller's memory, or the copy of it, by index of Program::Inputs().
    Span<void* const> GetInputs() const { return m_Inputs; }

    /// Asks for the other outputs after the last step, and copies values there that lie elsewhere. Inputs are unchanged
    /// afterwards.
    void CopyOutputs(const RunArgs& args);
    /// Writes the outputs that may overlap inputs. This is the last part of a run.
    void WriteStagedOutputs();

private:
    void AskForOutput(size_t index, const RunArgs& args);
    bool OverlapsInput(const void* memory, size_t bytes) const;

    RunTensors& m_Tensors;
    std::vector<AlignedMemory> m_InputStaging;  ///< by input: a copy where the caller's memory is not aligned
    std::vector<AlignedMemory> m_OutputStaging; ///< by output: where no workload may write the caller's memory
    std::vector<void*> m_Inputs;                ///< by input: the caller's memory or the copy
    std::vector<void*> m_CallerOutputs;         ///< by output
    std::vector<void*> m_Outputs;               ///< by output: the caller's memory or the staging
    /// The caller's inputs, sorted by address: the beginning of each, and the greatest end of it and those before it.
    std::vector<std::pair<uintptr_t, uintptr_t>> m_InputRanges;
};

} // namespace tenon
