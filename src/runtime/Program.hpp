// SPDX-License-Identifier: Apache-2.0
// Program: the form in which the runtime runs a graph: numbered values, and steps in order of execution. It is
// immutable, and shared by the plans and execution contexts of one loaded network.
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
    std::vector<std::unique_ptr<NestedProgram>> m_Bodies; ///< control flow only: nested networks in the order of
                                                          ///< Layer::Bodies()
    uint32_t m_State = NoState;                           ///< ReadState only: index into Program::States()
    MemoryId m_Memory = HostMemory;                       ///< memory of its outputs and scratch
    Span<const ValueId> m_Inputs;                         ///< NoValue if not connected
    /// Infos by input that the layer uses in place of the value's own, or null (IInputSlot::SetTensorInfo). The list is
    /// empty if no input has one.
    Span<const TensorInfo* const> m_Overrides;
    ValueId m_FirstOutput = 0; ///< outputs are consecutive values
    uint32_t m_NumOutputs = 0;

    /// Whether it copies its input to another memory.
    bool IsCopy() const { return m_Type == LayerType::MemCopy || m_Type == LayerType::MemImport; }
};

struct Value
{
    const OutputSlot* m_Slot = nullptr;
    const void* m_Constant = nullptr; ///< memory of a constant
    uint32_t m_LastUse = 0;           ///< last step that reads it; the number of steps for a network output
    bool m_IsRead = false;            ///< a step reads it
    bool m_IsReadAgain = false;       ///< a second input, of the same or another step, reads it
    bool m_IsShapeRelevant = false;   ///< shape inference of a step needs it or a value computed from it
    MemoryId m_Memory = HostMemory;

    /// True for constants without bytes, too.
    bool IsConstant() const { return m_Slot->GetOwningLayer().GetType() == LayerType::Constant; }
};

/// An Input or Output layer of the network and the value that it stands for.
struct Binding
{
    LayerBindingId m_Id = 0;
    ValueId m_Value = NoValue;
    const Layer* m_Layer = nullptr;
};

/// A state of the network: its value before the run, and the value to keep afterwards.
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
    /// execution. Throws BackendUnavailableException for a backend that the registry lacks, and the exceptions of
    /// factories. `memories` must outlive the program.
    Program(std::unique_ptr<Graph> graph, const MemorySpaces& memories, WorkloadFactories& factories);
    /// The same for a graph that is nested in another program's, and outlives the program; the outer program calls
    /// Finish().
    Program(const Graph& graph, const MemorySpaces& memories, WorkloadFactories& factories);

    const PageVector<Step>& Steps() const { return m_Steps; }
    const PageVector<Value>& Values() const { return m_Values; }
    const std::vector<Binding>& Inputs() const { return m_Inputs; }
    const std::vector<Binding>& Outputs() const { return m_Outputs; }
    const std::vector<State>& States() const { return m_States; }
    const MemorySpaces& Memories() const { return m_Memories; }
    /// Whether a step of this program works in a device's memory; networks nested in it do not count.
    bool UsesDevices() const { return m_UsesDevices; }
    /// The alignment of tensors in host memory, in bytes: the largest one that devices require for imports, at least
    /// ArenaAlignment.
    size_t HostAlignment() const { return m_HostAlignment; }

    /// The index into Inputs() or Outputs(). Throw InvalidArgumentException that lists the known ids.
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

    PageArena m_Memory; ///< memory of the steps' lists
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
