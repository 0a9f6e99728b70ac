// SPDX-License-Identifier: Apache-2.0
// SessionStates: reads the states of a session during a run and writes them at its end.
#pragma once

#include "runtime/RunArgs.hpp"
#include "runtime/RunTensors.hpp"
#include "runtime/Session.hpp"

namespace tenon
{

class SessionStates
{
public:
    explicit SessionStates(RunTensors& tensors) : m_Tensors(tensors) {}

    /// Sets, before the first step, the pointers of the values that lie in states, for the plan in use.
    void Bind(const RunArgs& args);
    /// Sets the pointer of the output of a ReadState step that is shaped during the run, and initializes the state. The
    /// info of that value is known.
    void BindDynamic(const Step& step, const RunArgs& args);
    /// Runs a ReadState step: a state that was not set yet gets its initial value.
    void Initialize(const Step& step, const RunArgs& args) const;
    /// Writes the states after the last step. Throws RuntimeException if a value to keep does not have its state's
    /// shape; then no state changes.
    void Write(const RunArgs& args);

private:
    RunTensors& m_Tensors;
};

} // namespace tenon
