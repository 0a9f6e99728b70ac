// SPDX-License-Identifier: Apache-2.0
// NetworkBuilder: the network under construction, and the mapping of one subgraph's tensors to outputs of layers. The
// rows in operators/ add their layers to the network and pass them to Wire, which connects them.
#pragma once

#include "parsers/common/NetworkSize.hpp"
#include "parsers/common/OperatorView.hpp"
#include "parsers/tflite/Variables.hpp"

#include <tenon/INetwork.hpp>
#include <tenon/Limits.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tenon::tflite
{

using parsers::NetworkSize;
using parsers::OperatorView;
using parsers::TensorView;

/// The activation that an operator applies to its result.
enum class FusedActivation : uint8_t
{
    None,
    Relu,
    ReluN1To1,
    Relu6,
    Tanh,
    SignBit
};

class NetworkBuilder;

/// The number of bytes of names and lists that count as one operator of a subgraph that is called repeatedly.
constexpr uint64_t BytesPerVisit = 64;

/// One subgraph of the model, opened for reading.
class ISubgraph
{
public:
    virtual ~ISubgraph() = default;
    virtual size_t Index() const = 0;
    virtual size_t NumTensors() const = 0;
    /// The inputs; null for an operand that the subgraph does not read.
    virtual std::vector<const TensorView*> Inputs() = 0;
    virtual std::vector<const TensorView*> Outputs() = 0;
    /// The cost of a visit: the number of its operators and tensors, plus one for each BytesPerVisit bytes of names and
    /// lists that were read so far, since layers get copies of them.
    virtual uint64_t Cost() const = 0;
    /// Calls `visit` with each operator in topological order. Its exceptions get the operator's position as context.
    virtual void ForEachOperator(const std::function<void(const OperatorView& op)>& visit) = 0;
    /// Adds the layers of all operators.
    virtual void AddOperators(NetworkBuilder& builder) = 0;
};

/// Opens subgraphs of the model by index.
class ISubgraphs
{
public:
    virtual ~ISubgraphs() = default;
    /// The subgraph lives as long as this object. Throws ParseException if there is none.
    virtual ISubgraph& Open(int64_t index) = 0;
};

/// The state that all networks made from one model share.
struct Construction
{
    explicit Construction(const Limits& limits) : m_Size(limits, "subgraphs") {}

    std::shared_ptr<const void> m_Owner; ///< keeps the constants' memory alive; null if the caller does
    bool m_StandInForUnsupported = false;
    ISubgraphs* m_Subgraphs = nullptr; ///< null if there is one subgraph only
    std::vector<std::shared_ptr<const ICustomOperator>> m_CustomOperators;

    Variables m_Variables;
    NetworkSize m_Size; ///< visits of subgraphs are counted by ISubgraph::Cost
};

/// A network and the slots of its variables.
struct NetworkState
{
    struct Slot
    {
        IOutputSlot* m_Current = nullptr;
        bool m_IsWritten = false;
    };

    INetworkPtr m_Network = INetwork::Create();
    bool m_IsNested = false;
    bool m_IsInitializing = false; ///< within CALL_ONCE: assigned values are initial values
    std::map<VariableId, Slot> m_Slots;
    std::map<VariableId, IOutputSlot*> m_Initials;
};

class NetworkBuilder
{
public:
    /// `subgraph` is the index of the subgraph whose `numTensors` tensors it maps.
    NetworkBuilder(Construction& construction, NetworkState& state, size_t subgraph, size_t numTensors);

    /// The network for new layers, each of which must then be wired.
    INetwork& Network() { return *m_State.m_Network; }

    void AddInput(const TensorView& tensor, LayerBindingId id, const std::string& name);
    /// Adds an output and returns the slot that feeds it. Throws ParseException if no layer computes the tensor.
    const IOutputSlot& AddOutput(const TensorView& tensor, LayerBindingId id, const std::string& name);

    /// Whether the tensor is available to a layer: it is constant, an input or computed already.
    bool IsAvailable(const TensorView& tensor) const;

    /// The operand of a slot that stays unconnected.
    static constexpr size_t NoOperand = SIZE_MAX;

    /// Connects input slot k of the layer to input operands[k] of the operator, and makes output slot k the operator's
    /// output k, after a layer for the fused activation if there is one.
    void Wire(const OperatorView& op, IConnectableLayer* layer, const std::vector<size_t>& operands,
              FusedActivation activation = FusedActivation::None);
    /// Wires a layer whose quantized inputs count as stored values: an input whose quantization differs from output 0
    /// is relabelled.
    void WireStored(const OperatorView& op, IConnectableLayer* layer, const std::vector<size_t>& operands,
                    FusedActivation activation = FusedActivation::None);
    /// Wires a layer that computes with stored integers independent of their quantization: its inputs and output have
    /// plain integer types.
    void WireIntegers(const OperatorView& op, IConnectableLayer* layer, const std::vector<size_t>& operands);
    /// Wires a layer to inputs and an output whose scales are multiplied by a factor.
    void WireScaled(const OperatorView& op, IConnectableLayer* layer, const std::vector<size_t>& operands, float factor,
                    FusedActivation activation);
    /// Wires a layer with one output of this type, independent of the operator's declared tensor.
    void WireAs(const OperatorView& op, IConnectableLayer* layer, const std::vector<size_t>& operands, DataType type);
    /// Wires one output of an operator that becomes several layers.
    void WireOutput(const OperatorView& op, IConnectableLayer* layer, const std::vector<size_t>& operands,
                    unsigned int output);
    /// Counts a layer. It must be called once for a layer that is wired slot by slot, with the methods below. Throws
    /// ParseException if there are too many.
    void CountLayer();
    /// Connects one operand, if the operator has it.
    void WireInput(const OperatorView& op, size_t operand, IConnectableLayer* layer, unsigned int inputSlot);
    /// Makes an output slot the operator's output, after a layer for the fused activation if there is one.
    void WireSlot(const OperatorView& op, IConnectableLayer* layer, unsigned int outputSlot, unsigned int output,
                  FusedActivation activation = FusedActivation::None);

    /// Makes input 0 of the operator its output 0, without a layer.
    void Alias(const OperatorView& op);
    /// Adds a layer for an operator that no row knows, with all its operands: Custom or StandIn.
    void AddUnsupported(const OperatorView& op);

    // StateWiring.cpp
    /// Adds the layers that keep the values assigned to variables. It must be called once, for the main network.
    void WriteStates();
    /// The operand and dimension whose size is the batch, dimension 0 of a state.
    struct BatchOf
    {
        size_t m_Operand;
        uint32_t m_Dimension;
    };
    /// Connects a layer's state input and output to a variable operand. `shape` is the state's shape if its tensor
    /// declares none.
    void WireState(const OperatorView& op, size_t operand, IConnectableLayer* layer, unsigned int inputSlot,
                   unsigned int outputSlot, std::optional<BatchOf> batch = std::nullopt,
                   const TensorShape& shape = TensorShape());
    /// Connects `input` to a state that the operator keeps by itself, zeros at first, and keeps `output` for the next
    /// run. `what` names the state, and `info` has its shape. Throws UnimplementedException within branches, loops and
    /// initializers.
    void WireOwnState(const OperatorView& op, const char* what, const TensorInfo& info, IInputSlot& input,
                      IOutputSlot& output);
    /// Makes output 0 of the operator a handle of this resource variable.
    void BindHandle(const OperatorView& op, const std::string& container, const std::string& name);
    void ReadVariable(const OperatorView& op);
    void AssignVariable(const OperatorView& op);

    // NestedSubgraphs.cpp
    void AddIf(const OperatorView& op, int64_t thenSubgraph, int64_t elseSubgraph);
    void AddWhile(const OperatorView& op, int64_t condition, int64_t body);

    // InlinedSubgraphs.cpp
    /// Adds the layers of the subgraph in place of the operator.
    void Inline(const OperatorView& op, int64_t subgraph);
    /// The names of the subgraph's operators, in order, for operators that use a subgraph as the name of a function.
    std::vector<std::string> NamesOfOperators(int64_t subgraph);
    /// Inlines the subgraph; its assignments become the initial values of variables.
    void InlineOnce(int64_t subgraph);

private:
    class Nested;
    using Handles = std::map<size_t, VariableId>; ///< by tensor index

    /// The two subgraphs of a branch or loop, and the variables that they touch.
    struct Callees
    {
        std::array<ISubgraph*, 2> m_Subgraphs;
        std::set<VariableId> m_Variables;
    };

    IOutputSlot& Source(const TensorView& tensor);
    void SetSource(const TensorView& tensor, IOutputSlot& slot, const std::string& name);
    /// Gives a value to an input of the subgraph. If the list of inputs names a tensor several times, the last value
    /// counts, as in TFLite.
    void Feed(const TensorView& tensor, IOutputSlot& slot);
    void ConnectInputs(const OperatorView& op, IConnectableLayer& layer, const std::vector<size_t>& operands);
    void WireOutputs(const OperatorView& op, IConnectableLayer* layer, FusedActivation activation);
    /// Makes the slot output i of the operator, after a layer for the activation if there is one.
    void SetOutput(const OperatorView& op, unsigned int i, IOutputSlot& slot, FusedActivation activation);
    /// Stored values of a slot under another type or quantization. `what`: for the layer's name.
    IOutputSlot& Relabel(const OperatorView& op, IOutputSlot& source, const TensorInfo& info, const std::string& what);
    IConnectableLayer& AddConstant(const TensorView& tensor);
    IConnectableLayer& AddFusedActivation(const OperatorView& op, FusedActivation activation);

    IOutputSlot& VariableSlot(VariableId id, IOutputSlot* batch = nullptr, uint32_t batchDimension = 0);
    VariableId HandleOf(const TensorView& tensor) const;
    IOutputSlot& InitialValue(VariableId id) const;

    // TouchedVariables.cpp
    /// The handles among an operator's operands, by the input of the called subgraph that they become.
    static Handles PassHandles(const OperatorView& op, size_t firstOperand, const Handles& handles, ISubgraph& called);
    /// Adds to `touched` the variables that a subgraph, or a subgraph that it calls, reads or assigns.
    void CollectVariables(ISubgraph& subgraph, Handles handles, std::set<VariableId>& touched);

    // NestedSubgraphs.cpp
    Callees OpenBoth(const OperatorView& op, int64_t first, int64_t second, size_t firstOperand);
    void ConnectNested(const OperatorView& op, IConnectableLayer* layer, size_t firstOperand, unsigned int firstSlot,
                       const std::set<VariableId>& variables, const std::set<VariableId>& written);

    Construction& m_Construction;
    NetworkState& m_State;
    size_t m_Subgraph;
    std::vector<IOutputSlot*> m_Sources; ///< by tensor index
    Handles m_Handles;
};

} // namespace tenon::tflite
