// SPDX-License-Identifier: Apache-2.0
// Program: a graph as the runtime runs it: numbered values, and steps in order of execution. Immutable once made;
// shared by the plans and execution contexts of one loaded network.
#pragma once

#include "common/PageArena.hpp"
#include "common/Pages.hpp"
#include "graph/Graph.hpp"
#include "runtime/MemorySpaces.hpp"
#include "runtime/WorkloadFactories.hpp"

#include <tenon/backend/BackendRegistry.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace tenon
{

struct NestedProgram;

/// Index of a value, that is, of an output slot of some layer.
using ValueId = uint32_t;
constexpr ValueId NoValue = UINT32_MAX;

constexpr uint32_t NoState = UINT32_MAX;

/// A layer that a backend runs, or the runtime itself.
struct Step
{
    Step();
    Step(Step&&) noexcept;
    ~Step();

    const Layer* m_Layer = nullptr;
    LayerType m_Type = LayerType::Input;                  ///< the layer's
    std::unique_ptr<IWorkload> m_Workload;                ///< null: the runtime runs it
    std::vector<std::unique_ptr<NestedProgram>> m_Bodies; ///< of control flow, in the order of Layer::Bodies()
    uint32_t m_State = NoState;                           ///< of ReadState: index into Program::States()
    MemoryId m_Memory = HostMemory;                       ///< of its outputs and scratch
    Span<const ValueId> m_Inputs;                         ///< NoValue where not connected
    /// By input: the info that the layer takes the value for in place of the value's own, or null. Empty where no input
    /// has one (IInputSlot::SetTensorInfo).
    Span<const TensorInfo* const> m_Overrides;
    ValueId m_FirstOutput = 0; ///< outputs are consecutive values
    uint32_t m_NumOutputs = 0;

    /// Whether it brings its input into another memory.
    bool IsCopy() const { return m_Type == LayerType::MemCopy || m_Type == LayerType::MemImport; }
};

struct Value
{
    const OutputSlot* m_Slot = nullptr;
    const void* m_Constant = nullptr; ///< memory of a constant
    uint32_t m_LastUse = 0;           ///< last step that reads it; the number of steps for a network output
    bool m_IsRead = false;            ///< by a step
    bool m_IsReadAgain = false;       ///< by an input more, of whichever step
    bool m_IsShapeRelevant = false;   ///< shape inference of a step needs it, or a value computed from it
    MemoryId m_Memory = HostMemory;

    /// Also of constants without bytes.
    bool IsConstant() const { return m_Slot->GetOwningLayer().GetType() == LayerType::Constant; }
};

/// An Input or Output layer of the network and the value that it stands for.
struct Binding
{
    LayerBindingId m_Id = 0;
    ValueId m_Value = NoValue;
    const Layer* m_Layer = nullptr;
};

/// A state of the network: what it held before the run and what it is to hold afterwards.
struct State
{
    std::string m_Name;
    ValueId m_Read = NoValue;    ///< the output of its ReadState layer
    ValueId m_Written = NoValue; ///< the input of its WriteState layer
};

class Program
{
public:
    /// Makes the workloads, each by the factory of its layer's backend. The graph's layers must be in order of
    /// execution. Throws BackendUnavailableException for a backend that the registry lacks, and what factories throw.
    /// `memories` must outlive the program.
    Program(std::unique_ptr<Graph> graph, const MemorySpaces& memories, WorkloadFactories& factories);
    /// The same for a graph that is nested in another program's, and outlives the program; Finish() is left to that
    /// one.
    Program(const Graph& graph, const MemorySpaces& memories, WorkloadFactories& factories);

    const PageVector<Step>& Steps() const { return m_Steps; }
    const PageVector<Value>& Values() const { return m_Values; }
    const std::vector<Binding>& Inputs() const { return m_Inputs; }
    const std::vector<Binding>& Outputs() const { return m_Outputs; }
    const std::vector<State>& States() const { return m_States; }
    const MemorySpaces& Memories() const { return m_Memories; }
    /// Whether a step of this program works in a device's memory; networks nested in it are not looked at.
    bool UsesDevices() const { return m_UsesDevices; }
    /// Of tensors in host memory, bytes: what devices that import some of them ask for, at least ArenaAlignment.
    size_t HostAlignment() const { return m_HostAlignment; }

    /// Throw InvalidArgumentException that names the ids there are. Return the index into Inputs() or Outputs().
    size_t FindInput(LayerBindingId id) const { return Find(m_Inputs, m_InputIndex, id, "input"); }
    size_t FindOutput(LayerBindingId id) const { return Find(m_Outputs, m_OutputIndex, id, "output"); }

private:
    using BindingIndex = std::unordered_map<LayerBindingId, size_t>;

    static size_t Find(const std::vector<Binding>& bindings, const BindingIndex& index, LayerBindingId id,
                       const char* kind);
    void NumberValues(const Layer& layer);
    void MakeSteps(WorkloadFactories& factories);
    ValueId ValueOf(const InputSlot& input) const;
    State& FindState(const Layer& layer);
    void AddInputs(Step& step);
    void SetMemory(Step& step, MemoryId memory);
    void CheckMemory(const Step& step) const;
    void CheckBoundMemory() const;
    void MarkShapeRelevantValues();

    PageArena m_Memory; ///< of the steps' lists
    std::unique_ptr<Graph> m_OwnedGraph;
    const Graph& m_Graph;
    const MemorySpaces& m_Memories;
    bool m_UsesDevices = false;
    size_t m_HostAlignment;
    PageVector<Step> m_Steps;
    PageVector<Value> m_Values;
    PageVector<ValueId> m_FirstValue; ///< by layer index: the layer's first output
    std::vector<Binding> m_Inputs;
    std::vector<Binding> m_Outputs;
    BindingIndex m_InputIndex;
    BindingIndex m_OutputIndex;
    std::vector<State> m_States;
    std::map<std::string, size_t> m_StateIndex;
};

} // namespace tenon
