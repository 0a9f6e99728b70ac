// SPDX-License-Identifier: Apache-2.0
// DebugTensors: shows the values of a run to its DebugRun, including values on devices and values with gaps between
// their pixels. Runs without a DebugRun pay one comparison a step.
#pragma once

#include "runtime/RunArgs.hpp"
#include "runtime/RunTensors.hpp"

namespace tenon
{

class DebugTensors
{
public:
    /// Tensors and queues must outlive it. `queues` may be null if the program uses no devices.
    DebugTensors(const RunTensors& tensors, DeviceQueues* queues) : m_Tensors(tensors), m_Queues(queues) {}

    /// `inputs` are by index of Program::Inputs().
    void ShowInputs(Span<void* const> inputs, const RunArgs& args) const
    {
        if (args.m_Debug != nullptr)
        {
            ShowInputs(inputs, *args.m_Debug);
        }
    }
    /// Shows the outputs of a step that has run.
    void ShowOutputs(const Step& step, const RunArgs& args) const
    {
        if (args.m_Debug != nullptr)
        {
            ShowOutputs(step, *args.m_Debug);
        }
    }

private:
    void ShowInputs(Span<void* const> inputs, DebugRun& debug) const;
    void ShowOutputs(const Step& step, DebugRun& debug) const;

    const RunTensors& m_Tensors;
    DeviceQueues* m_Queues;
};

} // namespace tenon
