// SPDX-License-Identifier: Apache-2.0
// LayerReader: see LayerReader.hpp.
#include "serializer/LayerReader.hpp"

#include "serializer/Attributes.hpp"
#include "serializer/Format.hpp"
#include "serializer/TensorInfos.hpp"

#include <tenon/backend/BackendRegistry.hpp>
#include <tenon/backend/ICustomOperator.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>
#include <unordered_map>

namespace tenon::serializer
{

namespace
{

/// Null for a name that no row of ops.def has.
const LayerType* FindLayerType(std::string_view name)
{
    static const std::unordered_map<std::string_view, LayerType> types = {
#define TENON_OP(name, ...) {#name, LayerType::name},
#include <tenon/ops.def>
    };
    const auto found = types.find(name);
    return found != types.end() ? &found->second : nullptr;
}

/// The first bytes of a text, for a message.
std::string Shortened(const flatbuffers::String* text)
{
    constexpr size_t max = 100; // bytes
    return text == nullptr ? std::string() : std::string(text->string_view().substr(0, max));
}

template <typename Vector>
uint32_t SizeOf(const Vector* vector)
{
    return vector != nullptr ? vector->size() : 0;
}

} // namespace

std::string LayerReader::Describe(const schema::Layer& source, uint32_t index)
{
    return fmt::format("layer {} '{}' ({})", index, Shortened(source.name()), Shortened(source.type()));
}

namespace
{

SupportCode ReadSupportCode(FileReader& file, const flatbuffers::String* name)
{
    if (name == nullptr)
    {
        return SupportCode::Supported;
    }
    for (auto code = SupportCode::Supported; code <= SupportCode::OptimizationFailed;
         code = static_cast<SupportCode>(static_cast<int>(code) + 1))
    {
        if (file.Text(name) == GetSupportCodeAsCString(code))
        {
            return code;
        }
    }
    throw ParseException(fmt::format("the support code '{}' is not known {}", Shortened(name), file.VersionText()));
}

} // namespace

LayerType LayerReader::ReadType(const schema::Layer& source)
{
    const LayerType* type = FindLayerType(source.type()->string_view());
    if (type == nullptr)
    {
        throw ParseException(fmt::format("this layer type is not known {}", m_File.VersionText()));
    }
    if (GetSchema(*type).Has(OpFlags::Internal) && !m_File.Root().optimized())
    {
        throw ParseException("only the optimizer makes layers of this type, but the network is not optimized");
    }
    return *type;
}

void LayerReader::SetOperator(const schema::Layer& source, LayerType type, BaseDescriptor* descriptor)
{
    if (source.custom_operator() == nullptr)
    {
        return;
    }
    if (type != LayerType::Custom)
    {
        throw ParseException("only a Custom layer has an operator of an application");
    }
    const std::string name = m_File.Text(source.custom_operator());
    const auto found = std::find_if(m_Operators.begin(), m_Operators.end(),
                                    [&](const auto& op) { return op != nullptr && name == op->GetName(); });
    if (found == m_Operators.end())
    {
        throw UnimplementedException(fmt::format("it runs '{}', an operator of the application that wrote the file; "
                                                 "put one of this name into DeserializerOptions::m_CustomOperators",
                                                 Shortened(source.custom_operator())));
    }
    static_cast<CustomDescriptor*>(descriptor)->m_Operator = *found;
}

/// The file must list as many inputs and outputs as the parameters ask for: these numbers can be anything, the lists
/// are within the file.
void LayerReader::CheckSlots(const schema::Layer& source, LayerType type, const BaseDescriptor* descriptor)
{
    static const NullDescriptor none;
    const BaseDescriptor& parameters = descriptor != nullptr ? *descriptor : none;
    const uint32_t inputs = GetSchema(type).m_NumInputs(parameters);
    const uint32_t outputs = GetSchema(type).m_NumOutputs(parameters);
    if (SizeOf(source.inputs()) != inputs || SizeOf(source.outputs()) != outputs)
    {
        throw ParseException(fmt::format("{} inputs and {} outputs are listed, but its parameters ask for {} and {}",
                                         SizeOf(source.inputs()), SizeOf(source.outputs()), inputs, outputs));
    }
    m_File.Charge(inputs, sizeof(InputSlot));
    m_File.Charge(outputs, sizeof(OutputSlot));
}

Layer& LayerReader::Add(const schema::Layer& source, Graph& graph)
{
    const LayerType type = ReadType(source);
    std::unique_ptr<BaseDescriptor> descriptor = ReadDescriptor(m_File, type, source.attributes());
    SetOperator(source, type, descriptor.get());
    CheckSlots(source, type, descriptor.get());
    constexpr uint64_t lastGuid = uint64_t{1} << 62; // so that numbers for new layers never run out
    if (source.guid() > lastGuid)
    {
        throw ParseException(fmt::format("guid {} is out of range", source.guid()));
    }
    KeepGuidsAbove(LayerGuid(source.guid()));
    Layer& layer = graph.AddLayer(type, std::move(descriptor), m_File.Text(source.name()), LayerGuid(source.guid()));
    layer.SetBindingId(source.binding_id());
    layer.m_FirstOwnConstant = source.first_own_constant();
    if (source.backend_hint() != nullptr)
    {
        layer.BackendSelectionHint(BackendId(m_File.Text(source.backend_hint())));
    }
    for (uint32_t i = 0; i < layer.GetNumOutputSlots(); ++i)
    {
        if (source.outputs()->Get(i)->info() != nullptr)
        {
            WithModelContext(
                [&] { return fmt::format("output {}", i); },
                [&] { layer.Output(i).SetTensorInfo(ReadTensorInfo(m_File, *source.outputs()->Get(i)->info())); });
        }
        else if (m_File.Root().optimized())
        {
            throw ParseException(fmt::format("output {} has no tensor info, but the network is optimized", i));
        }
    }
    ReadConstant(source, layer);
    ReadAssignment(source, layer);
    return layer;
}

void LayerReader::ReadConstant(const schema::Layer& source, Layer& layer)
{
    if ((source.constant() != nullptr) != (layer.GetType() == LayerType::Constant))
    {
        throw ParseException(layer.GetType() == LayerType::Constant ? "a Constant layer without values"
                                                                    : "only a Constant layer has values");
    }
    if (source.constant() == nullptr)
    {
        return;
    }
    TensorInfo info = ReadTensorInfo(m_File, *source.constant()->info());
    info.SetConstant();
    const Span<const uint8_t> bytes = m_File.Buffer(source.constant()->buffer());
    // What reads it goes by the output, what is written again by the tensor.
    for (const TensorInfo& said : {info, layer.Output(0).GetTensorInfo()})
    {
        if (!layer.Output(0).IsTensorInfoSet() || said.GetNumBytes() != bytes.size())
        {
            throw ParseException(fmt::format("{} bytes are no values of {}", bytes.size(), said.ToString()));
        }
    }
    layer.SetConstant(std::make_shared<ConstantPayload>(ConstantPayload{{info, bytes.data()}, m_File.Owner()}));
}

void LayerReader::ReadAssignment(const schema::Layer& source, Layer& layer)
{
    const schema::Assignment* assignment = source.assignment();
    if ((assignment != nullptr) != m_File.Root().optimized())
    {
        throw ParseException(m_File.Root().optimized() ? "it has no backend, but the network is optimized"
                                                       : "it has a backend, but the network is not optimized");
    }
    if (assignment != nullptr)
    {
        layer.SetBackendId(BackendId(m_File.Text(assignment->backend())));
        layer.SetAssignmentReason(m_File.Text(assignment->reason()));
        layer.m_Subgraph = assignment->subgraph();
        layer.m_AssignmentCode = ReadSupportCode(m_File, assignment->code());
        if (assignment->fused_activation() != nullptr)
        {
            const auto fused = ReadDescriptor(m_File, LayerType::Activation, assignment->fused_activation());
            layer.SetFusedActivation(static_cast<const ActivationDescriptor&>(*fused));
        }
        ReadBlob(assignment->blob(), layer);
    }
}

void LayerReader::ReadBlob(uint32_t buffer, Layer& layer)
{
    if ((buffer != NoBuffer) != (layer.GetType() == LayerType::PreCompiled))
    {
        throw ParseException(buffer != NoBuffer ? "only a PreCompiled layer has a blob"
                                                : "a PreCompiled layer without its blob");
    }
    if (buffer == NoBuffer)
    {
        return;
    }
    if (!m_Blobs.insert(buffer).second)
    {
        throw ParseException("its blob is that of another layer, too");
    }
    auto blob = m_Backends->Get(layer.GetBackendId()).LoadCompiledBlob(m_File.Buffer(buffer));
    if (blob == nullptr)
    {
        throw ParseException(fmt::format("backend {} made nothing of its blob", layer.GetBackendId().Get()));
    }
    layer.SetBlob(std::move(blob));
}

void LayerReader::Connect(const schema::Layer& source, Layer& layer)
{
    const auto layers = layer.GetGraph().Layers();
    for (uint32_t i = 0; i < layer.NumInputs(); ++i)
    {
        const schema::Connection& connection = *source.inputs()->Get(i);
        if (connection.layer() == NotConnected)
        {
            continue;
        }
        if (connection.layer() >= layers.size() ||
            connection.output() >= layers[connection.layer()]->GetNumOutputSlots())
        {
            throw ParseException(fmt::format("input {} takes from output {} of layer {}, which does not exist", i,
                                             connection.output(), connection.layer()));
        }
        if (m_File.Root().optimized() && connection.layer() >= layer.m_Index)
        {
            throw ParseException(fmt::format("input {} takes from layer {}, but an optimized network has its layers in "
                                             "order of execution",
                                             i, connection.layer()));
        }
        layers[connection.layer()]->Output(connection.output()).Connect(layer.Input(i));
    }
    for (uint32_t i = 0; i < SizeOf(source.overrides()); ++i)
    {
        const schema::Override& override = *source.overrides()->Get(i);
        if (override.input() >= layer.NumInputs() || layer.Input(override.input()).IsTensorInfoOverridden())
        {
            throw ParseException(fmt::format(
                "the info of input {} is overridden, which does not exist or is so already", override.input()));
        }
        WithModelContext([&] { return fmt::format("input {}", override.input()); }, [&]
                         { layer.Input(override.input()).SetTensorInfo(ReadTensorInfo(m_File, *override.info())); });
    }
}

} // namespace tenon::serializer
