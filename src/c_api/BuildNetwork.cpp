// SPDX-License-Identifier: Apache-2.0
// tenon_network: built by hand.
#include "c_api/Handles.hpp"
#include "common/Attributes.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/External.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace tenon::c_api
{

namespace
{

INetwork& Editable(tenon_network* network)
{
    tenon_network& edited = Deref(network, "the network");
    if (!edited.m_IsBuilt)
    {
        throw InvalidArgumentException(
            fmt::format("a network that was {} takes no further layers", edited.m_IsOptimized ? "optimized" : "read"));
    }
    return *edited.m_Network;
}

const INetwork& Nested(const tenon_network* network, const char* what)
{
    const tenon_network& nested = Deref(network, what);
    if (nested.m_Network == nullptr)
    {
        throw InvalidArgumentException(fmt::format("{} is optimized; a layer takes one that is not", what));
    }
    return *nested.m_Network;
}

IOutputSlot& Find(const tenon_network& network, tenon_value value)
{
    if (value >= network.m_Values.size())
    {
        throw InvalidArgumentException(fmt::format("there is no value {} in the network; the number of values is {}",
                                                   value, network.m_Values.size()));
    }
    return *network.m_Values[value];
}

/// The name of the next input or output: the one that is given, or the first of "<kind>_<index>" that is free.
std::string PortName(const Ports& ports, const std::unordered_set<std::string>& taken, const char* given,
                     const char* kind)
{
    size_t index = ports.size();
    std::string name = given != nullptr ? given : fmt::format("{}_{}", kind, index);
    while (given == nullptr && taken.count(name) != 0)
    {
        name = fmt::format("{}_{}", kind, ++index);
    }
    if (taken.count(name) != 0)
    {
        throw InvalidArgumentException(fmt::format("the network has an {} '{}' already", kind, name));
    }
    return name;
}

/// So that a value can be added without an exception.
void MakeRoom(std::vector<IOutputSlot*>& values, size_t count)
{
    if (values.capacity() - values.size() < count)
    {
        values.reserve(std::max(2 * values.capacity(), values.size() + count));
    }
}

/// The tensors around a layer, as the caller gives them. All is checked before the layer is added.
struct Wiring
{
    Wiring(const tenon_network& network, size_t numInputs, const tenon_value* inputs, size_t numOutputs,
           const tenon_tensor_info* const* infos, tenon_value* outputs)
        : m_Outputs(outputs), m_NumOutputs(numOutputs)
    {
        for (const tenon_value value : ListOf(inputs, numInputs, "the list of inputs"))
        {
            m_Inputs.push_back(value == TENON_NO_VALUE ? nullptr : &Find(network, value));
        }
        ListOf(outputs, numOutputs, "the list of outputs");
        for (size_t i = 0; i < numOutputs && infos != nullptr; ++i)
        {
            m_Infos.push_back(infos[i] == nullptr ? Optional<TensorInfo>() : ToInfo(infos[i], "the info of an output"));
        }
    }

    /// Throws InvalidArgumentException unless the layer has these numbers of slots; fewer inputs may be given where
    /// those behind them are optional. What Connect() adds has room then.
    void CheckCounts(tenon_network& network, const char* type, size_t numInputs, size_t numOutputs) const
    {
        if (m_Inputs.size() > numInputs)
        {
            throw InvalidArgumentException(
                fmt::format("a layer of type {} has {} inputs, not {}", type, numInputs, m_Inputs.size()));
        }
        if (m_NumOutputs != numOutputs)
        {
            throw InvalidArgumentException(
                fmt::format("a layer of type {} has {} outputs, not {}", type, numOutputs, m_NumOutputs));
        }
        MakeRoom(network.m_Values, m_NumOutputs);
    }

    void Connect(tenon_network& network, IConnectableLayer& layer) const
    {
        for (size_t i = 0; i < m_Inputs.size(); ++i)
        {
            if (m_Inputs[i] != nullptr)
            {
                m_Inputs[i]->Connect(layer.GetInputSlot(static_cast<unsigned int>(i)));
            }
        }
        for (size_t i = 0; i < m_NumOutputs; ++i)
        {
            IOutputSlot& slot = layer.GetOutputSlot(static_cast<unsigned int>(i));
            if (i < m_Infos.size() && m_Infos[i].has_value())
            {
                slot.SetTensorInfo(m_Infos[i].value());
            }
            m_Outputs[i] = static_cast<tenon_value>(network.m_Values.size());
            network.m_Values.push_back(&slot);
        }
    }

    std::vector<IOutputSlot*> m_Inputs;
    std::vector<Optional<TensorInfo>> m_Infos; ///< none, or one for each output
    tenon_value* m_Outputs;
    size_t m_NumOutputs;
};

/// Numbers of slots of a layer that is not there yet.
std::pair<size_t, size_t> CountSlots(LayerType type, const BaseDescriptor& descriptor)
{
    const INetworkPtr trial = INetwork::Create();
    const IConnectableLayer* const layer = trial->AddLayer(type, descriptor);
    return {layer->GetNumInputSlots(), layer->GetNumOutputSlots()};
}

std::vector<Attribute> ToAttributes(const tenon_attribute* attributes, size_t count)
{
    for (const tenon_attribute& attribute : ListOf(attributes, count, "the list of attributes"))
    {
        Deref(attribute.name, "the name of an attribute");
        if (attribute.count != 0 && attribute.values == nullptr)
        {
            ThrowNull(fmt::format("the list of values of attribute '{}'", attribute.name).c_str());
        }
        if (attribute.kind == TENON_SHAPE && attribute.count > tenon::MaxNumOfTensorDimensions)
        {
            throw InvalidArgumentException(fmt::format("attribute '{}' has {} sizes; at most {} are possible",
                                                       attribute.name, attribute.count,
                                                       tenon::MaxNumOfTensorDimensions));
        }
        if (attribute.kind == TENON_BOOL && attribute.count != 1)
        {
            throw InvalidArgumentException(
                fmt::format("attribute '{}' has {} truth values; it must be one", attribute.name, attribute.count));
        }
    }
    return plugin::ToAttributes(attributes, count);
}

} // namespace

} // namespace tenon::c_api

using namespace tenon::c_api;

tenon_status tenon_network_create(tenon_network** network, tenon_error** error)
{
    return GuardMaking(network, error,
                       []
                       {
                           auto made = std::make_unique<tenon_network>();
                           made->m_Network = tenon::INetwork::Create();
                           made->m_IsBuilt = true;
                           return made.release();
                       });
}

tenon_status tenon_network_add_input(tenon_network* network, const char* name, const tenon_tensor_info* info,
                                     tenon_value* value, tenon_error** error)
{
    return Guard(error,
                 [&]
                 {
                     tenon::INetwork& edited = Editable(network);
                     const std::string text = PortName(network->m_Inputs, network->m_InputNames, name, "input");
                     const tenon::TensorInfo tensor = ToInfo(info, "the info of an input");
                     Deref(value, "the pointer to the value");
                     // All that may fail comes before the layer.
                     const auto id = static_cast<tenon::LayerBindingId>(network->m_Inputs.size());
                     MakeRoom(network->m_Values, 1);
                     network->m_Inputs.emplace_back(text, id, tensor);
                     try
                     {
                         network->m_InputNames.insert(text);
                         tenon::IOutputSlot& slot = edited.AddInputLayer(id, text.c_str())->GetOutputSlot(0);
                         slot.SetTensorInfo(tensor);
                         *value = static_cast<tenon_value>(network->m_Values.size());
                         network->m_Values.push_back(&slot);
                     }
                     catch (...)
                     {
                         network->m_InputNames.erase(text);
                         network->m_Inputs.pop_back();
                         throw;
                     }
                 });
}

tenon_status tenon_network_add_output(tenon_network* network, const char* name, tenon_value value, tenon_error** error)
{
    return Guard(error,
                 [&]
                 {
                     tenon::INetwork& edited = Editable(network);
                     const std::string text = PortName(network->m_Outputs, network->m_OutputNames, name, "output");
                     tenon::IOutputSlot& slot = Find(*network, value);
                     const auto id = static_cast<tenon::LayerBindingId>(network->m_Outputs.size());
                     network->m_Outputs.emplace_back(text, id, slot.GetTensorInfo());
                     try
                     {
                         network->m_OutputNames.insert(text);
                         slot.Connect(edited.AddOutputLayer(id, text.c_str())->GetInputSlot(0));
                     }
                     catch (...)
                     {
                         network->m_OutputNames.erase(text);
                         network->m_Outputs.pop_back();
                         throw;
                     }
                 });
}

tenon_status tenon_network_add_constant(tenon_network* network, const char* name, const tenon_tensor_info* info,
                                        const void* data, size_t num_bytes, uint8_t in_place, tenon_value* value,
                                        tenon_error** error)
{
    return Guard(error,
                 [&]
                 {
                     tenon::INetwork& edited = Editable(network);
                     tenon::TensorInfo tensor = ToInfo(info, "the info of a constant");
                     tensor.SetConstant();
                     Deref(value, "the pointer to the value");
                     const auto* const bytes =
                         ListOf(static_cast<const uint8_t*>(data), num_bytes, "the memory of a constant").data();
                     if (num_bytes != tensor.GetNumBytes())
                     {
                         throw tenon::InvalidArgumentException(fmt::format("a constant {} needs {} bytes, not {}",
                                                                           tensor.ToString(), tensor.GetNumBytes(),
                                                                           num_bytes));
                     }
                     std::shared_ptr<const std::vector<uint8_t>> copy;
                     if (in_place == 0)
                     {
                         copy = std::make_shared<const std::vector<uint8_t>>(bytes, bytes + num_bytes);
                     }
                     const tenon::ConstTensor constant(tensor, copy == nullptr ? bytes : copy->data());
                     MakeRoom(network->m_Values, 1);
                     tenon::IConnectableLayer* const layer = edited.AddConstantLayer(constant, copy, name);
                     *value = static_cast<tenon_value>(network->m_Values.size());
                     network->m_Values.push_back(&layer->GetOutputSlot(0));
                 });
}

tenon_status tenon_network_add_layer(tenon_network* network, const char* type, const char* name, size_t num_attributes,
                                     const tenon_attribute* attributes, size_t num_inputs, const tenon_value* inputs,
                                     size_t num_outputs, const tenon_tensor_info* const* output_infos,
                                     tenon_value* outputs, tenon_error** error)
{
    return Guard(error,
                 [&]
                 {
                     tenon::INetwork& edited = Editable(network);
                     const tenon::LayerType layerType = tenon::plugin::LayerTypeOf(&Deref(type, "the type of a layer"));
                     if (layerType == tenon::LayerType::Custom)
                     {
                         throw tenon::InvalidArgumentException("a layer of type Custom is added by "
                                                               "tenon_network_add_custom");
                     }
                     const auto descriptor = tenon::FromAttributes(layerType, ToAttributes(attributes, num_attributes));
                     const Wiring wiring(*network, num_inputs, inputs, num_outputs, output_infos, outputs);
                     const auto [numInputs, numOutputs] = CountSlots(layerType, *descriptor);
                     wiring.CheckCounts(*network, type, numInputs, numOutputs);
                     wiring.Connect(*network, *edited.AddLayer(layerType, *descriptor, name));
                 });
}

tenon_status tenon_network_add_if(tenon_network* network, const char* name, const tenon_network* then_network,
                                  const tenon_network* else_network, size_t num_inputs, const tenon_value* inputs,
                                  size_t num_outputs, tenon_value* outputs, tenon_error** error)
{
    return Guard(error,
                 [&]
                 {
                     tenon::INetwork& edited = Editable(network);
                     const Wiring wiring(*network, num_inputs, inputs, num_outputs, nullptr, outputs);
                     const tenon::INetwork& taken = Nested(then_network, "then_network");
                     const tenon::INetwork& otherwise = Nested(else_network, "else_network");
                     wiring.CheckCounts(*network, "If",
                                        1 + std::max(then_network->m_Inputs.size(), else_network->m_Inputs.size()),
                                        then_network->m_Outputs.size());
                     wiring.Connect(*network, *edited.AddIfLayer(taken, otherwise, name));
                 });
}

tenon_status tenon_network_add_while(tenon_network* network, const char* name, const tenon_network* condition,
                                     const tenon_network* body, size_t num_variables, const tenon_value* inputs,
                                     tenon_value* outputs, tenon_error** error)
{
    return Guard(error,
                 [&]
                 {
                     tenon::INetwork& edited = Editable(network);
                     const Wiring wiring(*network, num_variables, inputs, num_variables, nullptr, outputs);
                     const tenon::INetwork& asked = Nested(condition, "the condition");
                     const tenon::INetwork& repeated = Nested(body, "the body");
                     wiring.CheckCounts(*network, "While", body->m_Outputs.size(), body->m_Outputs.size());
                     wiring.Connect(*network, *edited.AddWhileLayer(asked, repeated, name));
                 });
}

tenon_status tenon_network_add_custom(tenon_network* network, const char* name, const tenon_operator* custom,
                                      const void* parameters, size_t num_parameter_bytes, size_t num_inputs,
                                      const tenon_value* inputs, size_t num_outputs,
                                      const tenon_tensor_info* const* output_infos, tenon_value* outputs,
                                      tenon_error** error)
{
    return Guard(error,
                 [&]
                 {
                     tenon::INetwork& edited = Editable(network);
                     const Wiring wiring(*network, num_inputs, inputs, num_outputs, output_infos, outputs);
                     const auto bytes =
                         ListOf(static_cast<const uint8_t*>(parameters), num_parameter_bytes, "the parameters");
                     wiring.CheckCounts(*network, "Custom", std::numeric_limits<uint32_t>::max(),
                                        std::min<size_t>(num_outputs, std::numeric_limits<uint32_t>::max()));
                     tenon::CustomDescriptor descriptor;
                     descriptor.m_Operator = MakeCustomOperator(custom);
                     descriptor.m_Name = descriptor.m_Operator->GetName();
                     descriptor.m_Options.assign(bytes.begin(), bytes.end());
                     descriptor.m_NumInputs = static_cast<uint32_t>(num_inputs);
                     descriptor.m_NumOutputs = static_cast<uint32_t>(num_outputs);
                     wiring.Connect(*network, *edited.AddCustomLayer(descriptor, name));
                     OwnOperator(*descriptor.m_Operator);
                 });
}
