// SPDX-License-Identifier: Apache-2.0
// Network: the implementation of INetwork, a Graph and the methods that add to it.
#pragma once

#include "graph/Graph.hpp"

#include <tenon/INetwork.hpp>

#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace tenon
{

class Network final : public INetwork
{
public:
    explicit Network(const NetworkOptions& options) : m_Options(options) {}

    const Graph& GetGraph() const { return m_Graph; }
    /// For the deserializer, which fills it.
    Graph& EditGraph() { return m_Graph; }
    const NetworkOptions& GetOptions() const { return m_Options; }

    Status PrintGraph() override;
    Status SerializeToDot(std::ostream& stream) const override;
    void SerializeToJson(std::ostream& stream) const override;
    void ExecuteStrategy(IStrategy& strategy) const override;

    // The methods that take a layer's descriptor and name, or its name alone.
#define TENON_ADD_Described(type, descriptor)                                                                          \
    IConnectableLayer* Add##type##Layer(const descriptor& d, const char* name) override                                \
    {                                                                                                                  \
        return Add(LayerType::type, d, name);                                                                          \
    }
#define TENON_ADD_Plain(type, descriptor)                                                                              \
    IConnectableLayer* Add##type##Layer(const char* name) override                                                     \
    {                                                                                                                  \
        return Add(LayerType::type, name);                                                                             \
    }
#define TENON_ADD_ByHand(type, descriptor)
#define TENON_ADD_NoMethod(type, descriptor)
#define TENON_OP(type, descriptor, method, ...) TENON_ADD_##method(type, descriptor)
#include <tenon/ops.def>
#undef TENON_ADD_Described
#undef TENON_ADD_Plain
#undef TENON_ADD_ByHand
#undef TENON_ADD_NoMethod

    IConnectableLayer* AddLayer(LayerType type, const BaseDescriptor& descriptor, const char* name) override;

    // These methods have an overload without a descriptor.
    using INetwork::AddGatherNdLayer;
    using INetwork::AddQuantizeLayer;
    using INetwork::AddTopKLayer;

    // The others, and overloads that take constants.
    IConnectableLayer* AddInputLayer(LayerBindingId id, const char* name) override;
    IConnectableLayer* AddInputLayer(LayerBindingId id, const InputDescriptor& descriptor, const char* name) override;
    IConnectableLayer* AddOutputLayer(LayerBindingId id, const char* name) override;
    IConnectableLayer* AddConstantLayer(const ConstTensor& input, const char* name) override;
    IConnectableLayer* AddConstantLayer(const ConstTensor& input, std::shared_ptr<const void> owner,
                                        const char* name) override;
    IConnectableLayer* AddIfLayer(const INetwork& thenNetwork, const INetwork& elseNetwork, const char* name) override;
    IConnectableLayer* AddWhileLayer(const INetwork& condition, const INetwork& body, const char* name) override;
    IConnectableLayer* AddBatchNormalizationLayer(const BatchNormalizationDescriptor& desc, const ConstTensor& mean,
                                                  const ConstTensor& variance, const ConstTensor& beta,
                                                  const ConstTensor& gamma, const char* name) override;
    IConnectableLayer* AddDetectionPostProcessLayer(const DetectionPostProcessDescriptor& descriptor,
                                                    const ConstTensor& anchors, const char* name) override;
    IConnectableLayer* AddTransposeConvolution2dLayer(const TransposeConvolution2dDescriptor& descriptor,
                                                      const ConstTensor& weights, const Optional<ConstTensor>& biases,
                                                      const char* name) override;
    IConnectableLayer* AddLstmLayer(const LstmDescriptor& descriptor, const LstmInputParams& params,
                                    const char* name) override;
    IConnectableLayer* AddQLstmLayer(const QLstmDescriptor& descriptor, const LstmInputParams& params,
                                     const char* name) override;
    IConnectableLayer* AddQuantizedLstmLayer(const QuantizedLstmInputParams& params, const char* name) override;
    IConnectableLayer* AddUnidirectionalSequenceLstmLayer(const UnidirectionalSequenceLstmDescriptor& descriptor,
                                                          const LstmInputParams& params, const char* name) override;
    IConnectableLayer* AddPrecompiledLayer(const PreCompiledDescriptor& preCompiledDescriptor,
                                           CompiledBlobPtr compiledBlobPtr, const Optional<BackendId>& backend,
                                           const char* name) override;

private:
    template <typename D>
    IConnectableLayer* Add(LayerType type, const D& descriptor, const char* name)
    {
        return &m_Graph.AddLayer(type, std::make_unique<D>(descriptor), name != nullptr ? name : "");
    }
    IConnectableLayer* Add(LayerType type, const char* name)
    {
        return &m_Graph.AddLayer(type, nullptr, name != nullptr ? name : "");
    }
    IConnectableLayer* AddBound(LayerType type, LayerBindingId id, const char* name,
                                const std::unique_ptr<BaseDescriptor>& descriptor = nullptr);
    IConnectableLayer* AddNested(LayerType type, std::unique_ptr<BaseDescriptor> descriptor, const Graph& first,
                                 const Graph& second, const char* name);
    /// Wires a Constant layer to each input from `first` on for which there is a tensor.
    IConnectableLayer* WireConstants(IConnectableLayer* layer, unsigned int first,
                                     const std::vector<const ConstTensor*>& tensors);

    NetworkOptions m_Options;
    Graph m_Graph;
    /// The binding ids of the Input and Output layers that were added here: reading a file fills the graph alone.
    std::set<std::pair<LayerType, LayerBindingId>> m_BindingIds;
};

} // namespace tenon
