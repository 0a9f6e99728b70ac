// SPDX-License-Identifier: Apache-2.0
// Network: see Network.hpp.
#include "graph/Network.hpp"

#include "graph/Nested.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <typeinfo>
#include <utility>
#include <vector>

namespace tenon
{

INetwork* INetwork::CreateRaw(const NetworkOptions& networkOptions)
{
    return new Network(networkOptions);
}

INetworkPtr INetwork::Create(const NetworkOptions& networkOptions)
{
    return INetworkPtr(CreateRaw(networkOptions), &INetwork::Destroy);
}

void INetwork::Destroy(INetwork* network)
{
    delete network;
}

IConnectableLayer* INetwork::AddAdditionLayer(const char* name)
{
    return AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add), name);
}

IConnectableLayer* INetwork::AddDivisionLayer(const char* name)
{
    return AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Div), name);
}

IConnectableLayer* INetwork::AddMaximumLayer(const char* name)
{
    return AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Maximum), name);
}

IConnectableLayer* INetwork::AddMinimumLayer(const char* name)
{
    return AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Minimum), name);
}

IConnectableLayer* INetwork::AddMultiplicationLayer(const char* name)
{
    return AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Mul), name);
}

IConnectableLayer* INetwork::AddSubtractionLayer(const char* name)
{
    return AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Sub), name);
}

Status Network::PrintGraph()
{
    tenon::PrintGraph(m_Graph, std::cout);
    return Status::Success;
}

Status Network::SerializeToDot(std::ostream& stream) const
{
    WriteDot(m_Graph, "Network", stream);
    return Status::Success;
}

void Network::SerializeToJson(std::ostream& stream) const
{
    WriteJson(m_Graph, stream);
}

void Network::ExecuteStrategy(IStrategy& strategy) const
{
    for (const Layer* layer : m_Graph.TopologicalOrder())
    {
        if (!layer->IsConstantOfReaders())
        {
            layer->ExecuteStrategy(strategy);
        }
    }
    strategy.FinishStrategy();
}

IConnectableLayer* Network::AddBound(LayerType type, LayerBindingId id, const char* name,
                                     const std::unique_ptr<BaseDescriptor>& descriptor)
{
    if (!m_BindingIds.emplace(type, id).second)
    {
        throw InvalidArgumentException(fmt::format("Add{}Layer '{}': there is an {} layer of binding id {} already; "
                                                   "each needs an id of its own",
                                                   GetLayerTypeAsCString(type), name != nullptr ? name : "",
                                                   GetLayerTypeAsCString(type), id));
    }
    Layer& layer = m_Graph.AddLayer(type, descriptor, name != nullptr ? name : "");
    layer.SetBindingId(id);
    return &layer;
}

IConnectableLayer* Network::AddInputLayer(LayerBindingId id, const char* name)
{
    return AddBound(LayerType::Input, id, name);
}

IConnectableLayer* Network::AddInputLayer(LayerBindingId id, const InputDescriptor& descriptor, const char* name)
{
    // A descriptor that promises nothing is left out, so that a layer has one only where it says something.
    return AddBound(LayerType::Input, id, name,
                    descriptor.IsNull() ? nullptr : std::make_unique<InputDescriptor>(descriptor));
}

IConnectableLayer* Network::AddOutputLayer(LayerBindingId id, const char* name)
{
    return AddBound(LayerType::Output, id, name);
}

namespace
{

/// Null where the type has no row.
const std::type_info* DescriptorOf(LayerType type)
{
    static const std::pair<LayerType, const std::type_info*> rows[] = {
#define TENON_OP(name, descriptor, ...) {LayerType::name, &typeid(descriptor)},
#include <tenon/ops.def>
    };
    const auto* const row =
        std::find_if(std::begin(rows), std::end(rows), [&](const auto& r) { return r.first == type; });
    return row == std::end(rows) ? nullptr : row->second;
}

bool HasMethodOfItsOwn(LayerType type)
{
    return type == LayerType::Input || type == LayerType::Output || type == LayerType::Constant ||
           type == LayerType::If || type == LayerType::While || type == LayerType::PreCompiled;
}

} // namespace

IConnectableLayer* Network::AddLayer(LayerType type, const BaseDescriptor& descriptor, const char* name)
{
    const std::type_info* const expected = DescriptorOf(type);
    if (expected == nullptr || GetSchema(type).Has(OpFlags::Internal) || HasMethodOfItsOwn(type))
    {
        throw InvalidArgumentException(
            fmt::format("AddLayer adds no layer of type {}: {}", GetLayerTypeAsCString(type),
                        HasMethodOfItsOwn(type) ? "it has a method of its own" : "only the optimizer makes one"));
    }
    // Layers that had no parameters once are added without any still.
    if (descriptor.IsNull() && type == LayerType::GatherNd)
    {
        return Add(type, GatherNdDescriptor(), name);
    }
    if (descriptor.IsNull() && type == LayerType::TopK)
    {
        return Add(type, TopKDescriptor(), name);
    }
    if (typeid(descriptor) != *expected)
    {
        throw InvalidArgumentException(
            fmt::format("AddLayer was given a descriptor of another type than {}'s", GetLayerTypeAsCString(type)));
    }
    return &m_Graph.AddLayer(type, descriptor, name != nullptr ? name : "");
}

IConnectableLayer* Network::AddConstantLayer(const ConstTensor& input, const char* name)
{
    return &m_Graph.AddConstant(input, nullptr, name != nullptr ? name : "");
}

IConnectableLayer* Network::AddConstantLayer(const ConstTensor& input, std::shared_ptr<const void> owner,
                                             const char* name)
{
    return &m_Graph.AddConstant(input, std::move(owner), name != nullptr ? name : "");
}

IConnectableLayer* Network::WireConstants(IConnectableLayer* layer, unsigned int first,
                                          const std::vector<const ConstTensor*>& tensors)
{
    static_cast<Layer*>(layer)->m_FirstOwnConstant = first;
    unsigned int index = first;
    for (const ConstTensor* tensor : tensors)
    {
        if (tensor != nullptr)
        {
            Layer& constant = m_Graph.AddConstant(*tensor, nullptr, fmt::format("{}:{}", layer->GetName(), index));
            constant.Output(0).Connect(layer->GetInputSlot(index));
        }
        ++index;
    }
    return layer;
}

IConnectableLayer* Network::AddBatchNormalizationLayer(const BatchNormalizationDescriptor& desc,
                                                       const ConstTensor& mean, const ConstTensor& variance,
                                                       const ConstTensor& beta, const ConstTensor& gamma,
                                                       const char* name)
{
    return WireConstants(Add(LayerType::BatchNormalization, desc, name), 1, {&mean, &variance, &beta, &gamma});
}

IConnectableLayer* Network::AddDetectionPostProcessLayer(const DetectionPostProcessDescriptor& descriptor,
                                                         const ConstTensor& anchors, const char* name)
{
    return WireConstants(Add(LayerType::DetectionPostProcess, descriptor, name), 2, {&anchors});
}

IConnectableLayer* Network::AddTransposeConvolution2dLayer(const TransposeConvolution2dDescriptor& descriptor,
                                                           const ConstTensor& weights,
                                                           const Optional<ConstTensor>& biases, const char* name)
{
    if (descriptor.m_BiasEnabled != biases.has_value())
    {
        throw InvalidArgumentException(
            fmt::format("AddTransposeConvolution2dLayer '{}': m_BiasEnabled is {}, but {} bias is given",
                        name != nullptr ? name : "", descriptor.m_BiasEnabled, biases.has_value() ? "a" : "no"));
    }
    IConnectableLayer* layer = Add(LayerType::TransposeConvolution2d, descriptor, name);
    return biases.has_value() ? WireConstants(layer, 1, {&weights, &biases.value()})
                              : WireConstants(layer, 1, {&weights});
}

IConnectableLayer* Network::AddLstmLayer(const LstmDescriptor& descriptor, const LstmInputParams& params,
                                         const char* name)
{
    return WireConstants(Add(LayerType::Lstm, descriptor, name), 3, params.GetInputs());
}

IConnectableLayer* Network::AddQLstmLayer(const QLstmDescriptor& descriptor, const LstmInputParams& params,
                                          const char* name)
{
    return WireConstants(Add(LayerType::QLstm, descriptor, name), 3, params.GetInputs());
}

IConnectableLayer* Network::AddUnidirectionalSequenceLstmLayer(const UnidirectionalSequenceLstmDescriptor& descriptor,
                                                               const LstmInputParams& params, const char* name)
{
    return WireConstants(Add(LayerType::UnidirectionalSequenceLstm, descriptor, name), 3, params.GetInputs());
}

IConnectableLayer* Network::AddQuantizedLstmLayer(const QuantizedLstmInputParams& params, const char* name)
{
    return WireConstants(Add(LayerType::QuantizedLstm, name), 3, params.GetInputs());
}

IConnectableLayer* Network::AddPrecompiledLayer(const PreCompiledDescriptor& preCompiledDescriptor,
                                                CompiledBlobPtr compiledBlobPtr, const Optional<BackendId>& backend,
                                                const char* name)
{
    auto* layer = static_cast<Layer*>(Add(LayerType::PreCompiled, preCompiledDescriptor, name));
    layer->SetBlob(std::shared_ptr<const void>(std::move(compiledBlobPtr)));
    layer->BackendSelectionHint(backend);
    if (backend.has_value())
    {
        layer->SetBackendId(backend.value());
    }
    return layer;
}

IConnectableLayer* Network::AddNested(LayerType type, std::unique_ptr<BaseDescriptor> descriptor, const Graph& first,
                                      const Graph& second, const char* name)
{
    // Either may be this network itself, which has no such layer yet.
    auto firstCopy = first.Clone();
    auto secondCopy = second.Clone();
    Layer& layer = m_Graph.AddLayer(type, std::move(descriptor), name != nullptr ? name : "");
    layer.AddBody(std::move(firstCopy));
    layer.AddBody(std::move(secondCopy));
    return &layer;
}

IConnectableLayer* Network::AddIfLayer(const INetwork& thenNetwork, const INetwork& elseNetwork, const char* name)
{
    // Network is the only implementation of INetwork.
    const Graph& thenGraph = static_cast<const Network&>(thenNetwork).GetGraph();
    const Graph& elseGraph = static_cast<const Network&>(elseNetwork).GetGraph();
    return AddNested(LayerType::If, std::make_unique<IfDescriptor>(MakeIfDescriptor(thenGraph, elseGraph)), thenGraph,
                     elseGraph, name);
}

IConnectableLayer* Network::AddWhileLayer(const INetwork& condition, const INetwork& body, const char* name)
{
    const Graph& conditionGraph = static_cast<const Network&>(condition).GetGraph();
    const Graph& bodyGraph = static_cast<const Network&>(body).GetGraph();
    return AddNested(LayerType::While,
                     std::make_unique<WhileDescriptor>(MakeWhileDescriptor(conditionGraph, bodyGraph)), conditionGraph,
                     bodyGraph, name);
}

} // namespace tenon
