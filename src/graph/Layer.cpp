// SPDX-License-Identifier: Apache-2.0
// Layer: see Layer.hpp. Its slots are in Slots.cpp, the constants that feed it in LayerConstants.cpp, and the inference
// of its shapes is in LayerShapes.cpp.
#include "graph/Layer.hpp"

#include "common/Names.hpp"
#include "graph/Graph.hpp"
#include "text/Utf8.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

namespace tenon
{

namespace
{
constexpr unsigned int MaxSlots = 1U << 20; ///< inputs or outputs of a layer

/// The backend of layers that are not assigned yet.
const BackendId& UnknownBackend()
{
    static const BackendId unknown;
    return unknown;
}

const std::string& NoReason()
{
    static const std::string none;
    return none;
}

const BaseDescriptor& NoParameters()
{
    static const NullDescriptor none;
    return none;
}

/// A layer's name in a message.
std::string Quoted(const std::string& name)
{
    constexpr size_t MaxBytes = 200;
    if (name.size() <= MaxBytes)
    {
        return fmt::format("'{}'", name);
    }
    return fmt::format("'{}...'", text::CutAtCharacter(name, MaxBytes));
}

} // namespace

Layer& Layer::Make(Graph& graph, LayerType type, const BaseDescriptor* descriptor, const std::string& name,
                   LayerGuid guid)
{
    // Nothing lies between a layer and its slots.
    static_assert(sizeof(Layer) % alignof(InputSlot) == 0 && sizeof(InputSlot) % alignof(OutputSlot) == 0);
    const BaseDescriptor& parameters = descriptor != nullptr ? *descriptor : NoParameters();
    const OpSchema& schema = tenon::GetSchema(type);
    const uint32_t numInputs = schema.m_NumInputs(parameters);
    const uint32_t numOutputs = schema.m_NumOutputs(parameters);
    // Descriptors give some counts, as of StandIn, Custom and Concat, and those may hold anything.
    if (numInputs > MaxSlots || numOutputs > MaxSlots)
    {
        throw InvalidArgumentException(fmt::format("layer {} ({}) has {} inputs and {} outputs; the limit is {} of "
                                                   "each",
                                                   Quoted(name), schema.m_Name, numInputs, numOutputs, MaxSlots));
    }
    const size_t bytes = sizeof(Layer) + numInputs * sizeof(InputSlot) + numOutputs * sizeof(OutputSlot);
    void* const memory = graph.Memory().Allocate(bytes, alignof(Layer));
    LayerPtr layer(new (memory) Layer(graph, type, name, guid, numInputs, numOutputs));
    layer->PlaceDescriptor(descriptor, 0);
    return *layer.release();
}

Layer::Layer(Graph& graph, LayerType type, const std::string& name, LayerGuid guid, uint32_t numInputs,
             uint32_t numOutputs)
    : m_Guid(guid), m_Name(&name), m_AssignmentReason(&NoReason()), m_Backend(&UnknownBackend()), m_Type(type),
      m_Graph(&graph), m_Schema(&tenon::GetSchema(type)), m_NumInputs(numInputs), m_NumOutputs(numOutputs)
{
    for (uint32_t i = 0; i < numInputs; ++i)
    {
        new (FirstInput() + i) InputSlot(i);
    }
    for (uint32_t i = 0; i < numOutputs; ++i)
    {
        OutputSlot* const output = FirstOutput() + i;
        const ptrdiff_t bytes = reinterpret_cast<char*>(output) - reinterpret_cast<char*>(this);
        new (output) OutputSlot(static_cast<uint32_t>(bytes));
        graph.NoteReaders(1, 0);
    }
}

Layer::~Layer()
{
    PlaceDescriptor(nullptr, 0);
    std::destroy_n(FirstInput(), m_NumInputs);
    std::destroy_n(FirstOutput(), m_NumOutputs);
}

void Layer::Detach()
{
    for (InputSlot& input : Inputs())
    {
        if (input.m_Connection != nullptr)
        {
            input.m_Connection->Disconnect(input);
        }
    }
    for (OutputSlot& output : Outputs())
    {
        for (InputSlot* input : output.GetConnections())
        {
            input->m_Connection = nullptr;
        }
        m_Graph->NoteReaders(output.m_NumConnections, 1);
        output.m_NumConnections = 0;
    }
}

void Layer::SetDescriptor(const std::unique_ptr<BaseDescriptor>& descriptor)
{
    PlaceDescriptor(descriptor.get(), m_Schema->m_DescriptorBytes);
    m_Graph->NoteEdit();
}

void Layer::ChangeType(LayerType type, const BaseDescriptor* descriptor)
{
    const size_t bytesThere = m_Schema->m_DescriptorBytes;
    m_Type = type;
    m_Schema = &tenon::GetSchema(type);
    PlaceDescriptor(descriptor, bytesThere);
    m_Graph->NoteEdit();
}

void Layer::PlaceDescriptor(const BaseDescriptor* descriptor, size_t bytesThere)
{
    void* place = m_Descriptor;
    if (m_Descriptor != nullptr)
    {
        std::exchange(m_Descriptor, nullptr)->~BaseDescriptor();
    }
    if (descriptor == nullptr)
    {
        return;
    }
    const size_t alignment = m_Schema->m_DescriptorAlignment;
    if (place == nullptr || m_Schema->m_DescriptorBytes > bytesThere ||
        reinterpret_cast<uintptr_t>(place) % alignment != 0)
    {
        place = m_Graph->Memory().Allocate(m_Schema->m_DescriptorBytes, alignment);
    }
    m_Descriptor = m_Schema->m_CopyTo(*descriptor, place);
}

void Layer::SetBackendId(const BackendId& id)
{
    m_Backend = &m_Graph->Keep(id);
}

void Layer::SetAssignmentReason(const std::string& reason)
{
    m_AssignmentReason = &m_Graph->Keep(reason);
}

constinit const Layer::Rare Layer::NoRare;

Layer::Rare& Layer::EditRare()
{
    if (m_Rare == nullptr)
    {
        m_Rare = std::make_unique<Rare>();
    }
    return *m_Rare;
}

void Layer::AddBody(std::unique_ptr<Graph> body)
{
    EditRare().m_Bodies.push_back(std::move(body));
}

std::string Layer::Describe() const
{
    return fmt::format("layer {} {} ({})", m_Index, Quoted(*m_Name), m_Schema->m_Name);
}

std::string Layer::GetFusedActivationText() const
{
    const ActivationDescriptor* const fused = GetFusedActivation();
    if (fused == nullptr)
    {
        return {};
    }
    const std::string name = FieldToString(fused->m_Function);
    switch (fused->m_Function)
    {
    case ActivationFunction::TanH:
    case ActivationFunction::Linear:
    case ActivationFunction::BoundedReLu: return fmt::format("{}({}, {})", name, fused->m_A, fused->m_B);
    case ActivationFunction::Swish:
    case ActivationFunction::LeakyReLu: return fmt::format("{}({})", name, fused->m_A);
    case ActivationFunction::Gelu: return fused->m_A != 0.0f ? name + "(tanh)" : name;
    default: return name;
    }
}

InputSlot& Layer::CheckedInput(unsigned int index) const
{
    if (index >= m_NumInputs)
    {
        throw InvalidArgumentException(
            fmt::format("{} has {} inputs; there is no input {}", Describe(), m_NumInputs, index));
    }
    return Input(index);
}

OutputSlot& Layer::CheckedOutput(unsigned int index) const
{
    if (index >= m_NumOutputs)
    {
        throw InvalidArgumentException(
            fmt::format("{} has {} outputs; there is no output {}", Describe(), m_NumOutputs, index));
    }
    return Output(index);
}

const IInputSlot& Layer::GetInputSlot(unsigned int index) const
{
    return CheckedInput(index);
}

IInputSlot& Layer::GetInputSlot(unsigned int index)
{
    return CheckedInput(index);
}

const IOutputSlot& Layer::GetOutputSlot(unsigned int index) const
{
    return CheckedOutput(index);
}

IOutputSlot& Layer::GetOutputSlot(unsigned int index)
{
    return CheckedOutput(index);
}

const BaseDescriptor& Layer::GetParameters() const
{
    return m_Descriptor != nullptr ? *m_Descriptor : NoParameters();
}

void Layer::CollectInputInfos(std::vector<const TensorInfo*>& infos) const
{
    infos.clear();
    for (const InputSlot& input : Inputs())
    {
        infos.push_back(input.GetConnectedOutputSlot() != nullptr ? &input.GetTensorInfo() : nullptr);
    }
}

namespace
{

/// Runners alone, by layer type: schemas are large, and these are asked for several times a layer.
constexpr Runner Runners[] = {
#define TENON_OP(name, descriptor, method, runner, ...) Runner::runner,
#include <tenon/ops.def>
};

bool HasRunner(LayerType type, Runner runner)
{
    const auto index = static_cast<size_t>(type);
    return index < std::size(Runners) && Runners[index] == runner;
}

} // namespace

bool IsBoundByRuntime(LayerType type)
{
    return HasRunner(type, Runner::Bound);
}

bool IsRunByRuntime(LayerType type)
{
    return HasRunner(type, Runner::Runtime);
}

} // namespace tenon
