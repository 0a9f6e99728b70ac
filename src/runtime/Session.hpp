// SPDX-License-Identifier: Apache-2.0
// Session: the values of a network's states from run to run. One run at a time uses a session; a loaded network has one
// from the start, and more if the application creates them.
#pragma once

#include "common/AlignedMemory.hpp"

#include <tenon/Tensor.hpp>

#include <cstddef>
#include <mutex>
#include <vector>

namespace tenon
{

/// The memory of one state.
class StateMemory
{
public:
    /// Makes room for a tensor of this info. Earlier contents stay only if they have the same shape.
    void Fit(const TensorInfo& info);
    /// Whether there are contents: a run's value, or the initial value.
    bool IsSet() const { return m_IsSet; }
    /// Copies the initial value in; zeros (for QAsymmS8 the zero point) if `value` is null.
    void Initialize(const TensorInfo& info, const void* value);
    void Reset() { m_IsSet = false; }

    /// Keeps the next value of the state; it takes effect with Commit. `value` may lie in any state's memory.
    void Prepare(const TensorInfo& info, const void* value);
    void Commit();

    std::byte* Data() const { return m_Memory.Data(); }

private:
    AlignedMemory m_Memory;
    AlignedMemory m_Next; ///< Commit moves it to m_Memory
    TensorShape m_Shape;
    TensorShape m_NextShape;
    bool m_IsSet = false;
    bool m_IsUnchanged = false; ///< Commit keeps m_Memory
};

class Session
{
public:
    explicit Session(size_t numStates) : m_States(numStates) {}

    /// Held during a run, and while states are reset.
    std::mutex& Mutex() { return m_Mutex; }
    std::vector<StateMemory>& States() { return m_States; }

private:
    std::mutex m_Mutex;
    std::vector<StateMemory> m_States;
};

} // namespace tenon
