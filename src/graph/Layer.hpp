// SPDX-License-Identifier: Apache-2.0
// Layer and its slots: the nodes of a Graph. One class stands for all layer types; they differ in the schema row
// (OpSchema), the descriptor, and for a few types a payload. Made and owned by Graph.
#pragma once

#include "graph/OpSchema.hpp"

#include <tenon/IConnectableLayer.hpp>
#include <tenon/SupportCode.hpp>
#include <tenon/descriptors/Elementwise.hpp>

#include <memory>
#include <string>
#include <vector>

namespace tenon
{

class Graph;
class Layer;
class OutputSlot;

class InputSlot final : public IInputSlot
{
public:
    const OutputSlot* GetConnectedOutputSlot() const { return m_Connection; }
    OutputSlot* GetConnectedOutputSlot() { return m_Connection; }
    Layer& GetOwningLayer() const;
    /// The layer that feeds this input, or null.
    Layer* GetProducer() const;

    const IOutputSlot* GetConnection() const override;
    IOutputSlot* GetConnection() override;
    const IConnectableLayer& GetOwningIConnectableLayer() const override;
    IConnectableLayer& GetOwningIConnectableLayer() override;
    unsigned int GetSlotIndex() const override { return m_Index; }
    void SetTensorInfo(const TensorInfo& tensorInfo) override;
    const TensorInfo& GetTensorInfo() const override;
    bool IsTensorInfoSet() const override;
    bool IsTensorInfoOverridden() const override { return m_Override != nullptr; }
    /// Gives the override, if there is one, to another input.
    void MoveOverride(InputSlot& other) { other.m_Override = std::move(m_Override); }

private:
    friend class Graph;
    friend class Layer;
    friend class OutputSlot;

    explicit InputSlot(unsigned int index) : m_Index(index) {}

    OutputSlot* m_Connection = nullptr;
    std::unique_ptr<TensorInfo> m_Override;
    unsigned int m_Index;     ///< which also says where the layer is
    unsigned int m_Place = 0; ///< index within the connections of m_Connection, so that disconnecting is O(1)
};

class OutputSlot final : public IOutputSlot
{
public:
    Span<InputSlot* const> GetConnections() const
    {
        return {m_Capacity == 0 ? &m_OneConnection : m_Connections, m_NumConnections};
    }
    Layer& GetOwningLayer() const
    {
        const char* const layer = reinterpret_cast<const char*>(this) - m_BytesFromLayer;
        return *const_cast<Layer*>(reinterpret_cast<const Layer*>(layer)); // which made it, and is not constant
    }
    /// Lets all connected inputs take from `other` instead.
    void MoveAllConnections(OutputSlot& other);

    unsigned int GetNumConnections() const override { return m_NumConnections; }
    const IInputSlot* GetConnection(unsigned int index) const override;
    IInputSlot* GetConnection(unsigned int index) override;
    void SetTensorInfo(const TensorInfo& tensorInfo) override;
    const TensorInfo& GetTensorInfo() const override { return m_Info; }
    TensorInfo& EditTensorInfo() { return m_Info; }
    bool IsTensorInfoSet() const override { return m_InfoSet; }
    int Connect(IInputSlot& destination) override;
    void Disconnect(IInputSlot& slot) override;
    unsigned int CalculateIndexOnOwner() const override;
    LayerGuid GetOwningLayerGuid() const override;
    const IConnectableLayer& GetOwningIConnectableLayer() const override;
    IConnectableLayer& GetOwningIConnectableLayer() override;

private:
    friend class Graph;
    friend class Layer;

    explicit OutputSlot(uint32_t bytesFromLayer) : m_BytesFromLayer(bytesFromLayer) {}

    InputSlot** Connections() { return m_Capacity == 0 ? &m_OneConnection : m_Connections; }
    /// Makes room for `count` connections in all.
    void Reserve(unsigned int count);
    /// Connects without a check of the connections that are there already.
    void Append(InputSlot& input);

    union
    {
        InputSlot* m_OneConnection = nullptr; ///< nearly all outputs have one reader
        InputSlot** m_Connections;            ///< in the graph's memory
    };
    unsigned int m_NumConnections = 0;
    unsigned int m_Capacity = 0; ///< 0: there is room for one, in place
    uint32_t m_BytesFromLayer;
    bool m_InfoSet = false;
    TensorInfo m_Info{TensorShape(Dimensionality::NotSpecified), DataType::Float32};
};

/// A Constant layer's tensor and whoever keeps its memory alive.
struct ConstantPayload
{
    ConstTensor m_Tensor;
    std::shared_ptr<const void> m_Owner;
    /// For IConnectableLayer::GetConstantTensorsByRef, which makes it.
    mutable std::shared_ptr<ConstTensorHandle> m_Handle = nullptr;
};

/// The slots of a layer lie right behind it, the inputs first, so that neither has to keep the other's address; its
/// descriptor follows. A network may have very many layers, and the optimizer does little but walk over them: each byte
/// counts.
class Layer final : public IConnectableLayer
{
    // Members that walks over the graph seldom read come first; members that they often read stand next to the slots.
    struct Rare;
    LayerGuid m_Guid;
    const std::string* m_Name;             ///< kept by the graph
    const std::string* m_AssignmentReason; ///< kept by the graph
    const BackendId* m_Backend;            ///< kept by the graph
    LayerBindingId m_BindingId = 0;

public:
    /// See LayerAssignment::m_Code.
    SupportCode m_AssignmentCode = SupportCode::Supported;
    /// Where the last inputs were wired by the Add method that made this layer: inputs from this index on are its own
    /// constants (see GetConstantTensorsByRef).
    uint32_t m_FirstOwnConstant = UINT32_MAX;
    /// Number of the subgraph, or LayerAssignment::NoSubgraph; set by partitioning.
    uint32_t m_Subgraph = UINT32_MAX;
    /// Position in the graph; maintained by Graph.
    uint32_t m_Index = 0;

private:
    LayerType m_Type;
    Graph* m_Graph; // every change asks for it

public:
    Layer(const Layer&) = delete;
    Layer& operator=(const Layer&) = delete;

    const std::string& GetNameStr() const { return *m_Name; }
    const OpSchema& GetSchema() const { return *m_Schema; }
    /// Whether output shapes are known only when the layer has run.
    bool HasDataDependentShapes() const { return m_Schema->m_HasDataDependentShapes(GetParameters()); }
    Graph& GetGraph() const { return *m_Graph; }
    /// "layer 12 'conv1' (Convolution2d)"
    std::string Describe() const;

    InputSlot& Input(unsigned int i) const { return FirstInput()[i]; }
    OutputSlot& Output(unsigned int i) const { return FirstOutput()[i]; }
    Span<InputSlot> Inputs() const { return {FirstInput(), m_NumInputs}; }
    Span<OutputSlot> Outputs() const { return {FirstOutput(), m_NumOutputs}; }

    /// Replaces the parameters; the number of slots stays.
    void SetDescriptor(const std::unique_ptr<BaseDescriptor>& descriptor);
    template <typename D>
    const D& Descriptor() const
    {
        return static_cast<const D&>(GetParameters());
    }

    /// The activation that the layer applies to its output 0, or null. It is no part of the descriptor: only a backend
    /// that was asked (ILayerSupport::IsActivationFusable) runs it.
    const ActivationDescriptor* GetFusedActivation() const { return GetRare().m_FusedActivation.get(); }
    void SetFusedActivation(const ActivationDescriptor& activation)
    {
        EditRare().m_FusedActivation = std::make_unique<const ActivationDescriptor>(activation);
    }
    /// "BoundedReLu(6, 0)", for people; empty where there is none.
    std::string GetFusedActivationText() const;

    /// The payload of a Constant layer; null for others.
    const ConstantPayload* GetConstant() const { return GetRare().m_Constant.get(); }
    const std::shared_ptr<const ConstantPayload>& ShareConstant() const { return GetRare().m_Constant; }
    void SetConstant(std::shared_ptr<const ConstantPayload> constant) { EditRare().m_Constant = std::move(constant); }
    /// The binding id of an Input or Output layer.
    LayerBindingId GetBindingId() const { return m_BindingId; }
    void SetBindingId(LayerBindingId id) { m_BindingId = id; }
    /// The networks that an If or While layer runs: then and else, or condition and body.
    const std::vector<std::unique_ptr<Graph>>& Bodies() const { return GetRare().m_Bodies; }
    void AddBody(std::unique_ptr<Graph> body);
    /// The blob of a PreCompiled layer.
    const std::shared_ptr<const void>& GetBlob() const { return GetRare().m_Blob; }
    void SetBlob(std::shared_ptr<const void> blob) { EditRare().m_Blob = std::move(blob); }

    /// All input slots.
    unsigned int NumInputs() const { return m_NumInputs; }
    /// Whether visitors see the layer as a constant of the layers that read it, and not as a layer of its own.
    bool IsConstantOfReaders() const;
    /// Whether input i must be connected.
    bool NeedsInput(unsigned int i) const { return m_Schema->m_NeedsInput(GetParameters(), i); }
    /// The values of input i if a Constant layer feeds it, else null.
    const void* GetConstantInput(unsigned int i) const;
    /// Bytes of the constants that feed the layer; one that feeds it twice counts twice.
    uint64_t CountConstantInputBytes() const;
    /// The inputs' infos; null where not connected. Fills `infos`.
    void CollectInputInfos(std::vector<const TensorInfo*>& infos) const;

    const Optional<BackendId>& GetBackendHint() const { return GetRare().m_Hint; }

    /// The reason for its backend: see LayerAssignment::m_Reason. Kept by the graph, once for all layers.
    const std::string& GetAssignmentReason() const { return *m_AssignmentReason; }
    void SetAssignmentReason(const std::string& reason);

    const char* GetName() const override { return m_Name->c_str(); }
    /// The number of slots without the last ones, where constants that an Add... method took feed these.
    unsigned int GetNumInputSlots() const override;
    unsigned int GetNumOutputSlots() const override { return m_NumOutputs; }
    const IInputSlot& GetInputSlot(unsigned int index) const override;
    IInputSlot& GetInputSlot(unsigned int index) override;
    const IOutputSlot& GetOutputSlot(unsigned int index) const override;
    IOutputSlot& GetOutputSlot(unsigned int index) override;
    std::vector<TensorShape> InferOutputShapes(const std::vector<TensorShape>& inputShapes) const override;
    LayerGuid GetGuid() const override { return m_Guid; }
    LayerType GetType() const override { return m_Type; }
    const BaseDescriptor& GetParameters() const override;
    void BackendSelectionHint(Optional<BackendId> backend) override { EditRare().m_Hint = std::move(backend); }
    void SetBackendId(const BackendId& id) override;
    const BackendId& GetBackendId() const override { return *m_Backend; }
    void ExecuteStrategy(IStrategy& strategy) const override;
    ImmutableConstantTensors GetConstantTensorsByRef() const override;

private:
    friend class Graph;
    friend struct LayerEnd;

    /// Places the layer, which a graph is making, in front of memory for its slots; `name` is kept by the graph.
    static Layer& Make(Graph& graph, LayerType type, const BaseDescriptor* descriptor, const std::string& name,
                       LayerGuid guid);
    Layer(Graph& graph, LayerType type, const std::string& name, LayerGuid guid, uint32_t numInputs,
          uint32_t numOutputs);
    ~Layer();

    /// The members that few layers have.
    struct Rare
    {
        std::shared_ptr<const ConstantPayload> m_Constant;
        std::unique_ptr<const ActivationDescriptor> m_FusedActivation;
        std::shared_ptr<const void> m_Blob;
        std::vector<std::unique_ptr<Graph>> m_Bodies;
        Optional<BackendId> m_Hint;
    };

    /// Calls f with the payload of this Constant layer, or of each constant that its Add method wired to it.
    template <typename F>
    void ForEachConstant(F f) const;
    InputSlot& CheckedInput(unsigned int index) const;
    OutputSlot& CheckedOutput(unsigned int index) const;
    const Rare& GetRare() const { return m_Rare != nullptr ? *m_Rare : NoRare; }
    Rare& EditRare();
    /// Gives the layer another type, with as many slots.
    void ChangeType(LayerType type, const BaseDescriptor* descriptor);
    /// Makes a copy of a descriptor, which may be null, where there was one of so many bytes, or in new memory.
    void PlaceDescriptor(const BaseDescriptor* descriptor, size_t bytesThere);
    /// Takes the layer out of its graph's connections.
    void Detach();

    static const Rare NoRare;

    InputSlot* FirstInput() const
    {
        return const_cast<InputSlot*>(reinterpret_cast<const InputSlot*>(this + 1)); // no part of what is constant
    }
    OutputSlot* FirstOutput() const { return reinterpret_cast<OutputSlot*>(FirstInput() + m_NumInputs); }

    std::unique_ptr<Rare> m_Rare;
    BaseDescriptor* m_Descriptor = nullptr; ///< in the graph's memory; null: NullDescriptor
    const OpSchema* m_Schema;
    uint32_t m_NumInputs;
    uint32_t m_NumOutputs;
};

inline Layer& InputSlot::GetOwningLayer() const
{
    const auto* const layer = reinterpret_cast<const Layer*>(this - m_Index) - 1;
    return *const_cast<Layer*>(layer); // which made it, and is not constant
}

/// Calls the layer's shape-inference function and returns the resolved descriptor, or null where nothing had to be
/// resolved. Shapes go to `outputs`. Precondition: all connected inputs have known shapes, listed values are there.
/// Exceptions get the layer's description as context.
std::unique_ptr<BaseDescriptor> InferShapes(const Layer& layer, Span<const TensorInfo* const> inputs,
                                            Span<const void* const> values, Span<TensorShape> outputs);

/// Whether `declared` says nothing that `actual`, fully known, contradicts.
bool Agrees(const TensorShape& declared, const TensorShape& actual);

/// Whether InferShapes may be called: every connected input's shape is known, and the values that shape inference of
/// this layer needs are there wherever such an input is connected.
bool CanInferShapes(const Layer& layer, Span<const TensorInfo* const> inputs, Span<const void* const> values);

/// Whether the runtime binds the layer's memory itself, so that no backend makes a workload for it.
bool IsBoundByRuntime(LayerType type);
/// Whether the runtime itself runs the layer: control flow, states, and copies between memories. Such layers show
/// RuntimeId as their backend; a copy that leads to a device's memory shows a backend that works in it.
bool IsRunByRuntime(LayerType type);
constexpr const char* RuntimeId = "Runtime";

} // namespace tenon
