// SPDX-License-Identifier: Apache-2.0
// BackendAdapter::OptimizeSubgraphView: shows a backend written for Arm NN a subgraph as layers of a network, and reads
// its answer.
#include "armnn/BackendAdapter.hpp"
#include "armnn/ShownLayer.hpp"

#include <tenon/Descriptors.hpp>
#include <tenon/Exceptions.hpp>
#include <tenon/INetwork.hpp>
#include <tenon/Logging.hpp>
#include <tenon/LstmParams.hpp>

#include <limits>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tenon
{

struct OptimizationViewsAccess
{
    static INetworkPtr Release(OptimizationViews& views) { return std::move(views.m_Network); }
};

namespace
{

IConnectableLayer* AddLayer(INetwork& network, LayerType type, const BaseDescriptor& d, const char* layerName)
{
#define TENON_ADD_Described(name, descriptor)                                                                          \
    return network.Add##name##Layer(static_cast<const descriptor&>(d), layerName);
#define TENON_ADD_Plain(name, descriptor) return network.Add##name##Layer(layerName);
#define TENON_ADD_ByHand(name, descriptor) return nullptr;
#define TENON_ADD_NoMethod(name, descriptor) return nullptr;
#define TENON_OP(name, descriptor, method, ...)                                                                        \
    case LayerType::name: TENON_ADD_##method(name, descriptor)
    switch (type)
    {
#include <tenon/ops.def>
    default: return nullptr;
    }
#undef TENON_ADD_Described
#undef TENON_ADD_Plain
#undef TENON_ADD_ByHand
#undef TENON_ADD_NoMethod
}

/// The constants of a layer that INetwork takes when the layer is added.
struct OwnConstants
{
    explicit OwnConstants(const LayerView& layer) : m_Tensors(layer.GetNumInputs())
    {
        for (size_t i = 0; i < layer.GetNumInputs(); ++i)
        {
            if (layer.GetConstantData(i) != nullptr)
            {
                TensorInfo info = layer.GetInput(i);
                info.SetConstant();
                m_Tensors[i] = std::make_unique<ConstTensor>(info, layer.GetConstantData(i));
            }
        }
    }
    const ConstTensor* Get(size_t i) const { return i < m_Tensors.size() ? m_Tensors[i].get() : nullptr; }

    std::vector<std::unique_ptr<ConstTensor>> m_Tensors; ///< by slot
};

LstmInputParams MakeCellParams(const OwnConstants& constants)
{
    LstmInputParams params;
    detail::ForEachLstmWeight(params, [&](const ConstTensor*& member, size_t slot) { member = constants.Get(slot); });
    return params;
}

QuantizedLstmInputParams MakeQuantizedCellParams(const OwnConstants& constants)
{
    QuantizedLstmInputParams params;
    detail::ForEachQuantizedLstmWeight(params,
                                       [&](const ConstTensor*& member, size_t slot) { member = constants.Get(slot); });
    return params;
}

/// A layer that takes constants when it is added. `numWired` inputs are left to connect.
IConnectableLayer* AddLayerWithConstants(INetwork& network, const LayerView& layer, const BaseDescriptor& d,
                                         const char* name, size_t& numWired)
{
    const OwnConstants c(layer);
    switch (layer.m_Type)
    {
    case LayerType::BatchNormalization:
        numWired = 1;
        if (c.Get(1) == nullptr || c.Get(2) == nullptr || c.Get(3) == nullptr || c.Get(4) == nullptr)
        {
            return nullptr;
        }
        return network.AddBatchNormalizationLayer(static_cast<const BatchNormalizationDescriptor&>(d), *c.Get(1),
                                                  *c.Get(2), *c.Get(3), *c.Get(4), name);
    case LayerType::Lstm:
        numWired = 3;
        return network.AddLstmLayer(static_cast<const LstmDescriptor&>(d), MakeCellParams(c), name);
    case LayerType::QLstm:
        numWired = 3;
        return network.AddQLstmLayer(static_cast<const QLstmDescriptor&>(d), MakeCellParams(c), name);
    case LayerType::UnidirectionalSequenceLstm:
        numWired = 3;
        return network.AddUnidirectionalSequenceLstmLayer(static_cast<const LstmDescriptor&>(d), MakeCellParams(c),
                                                          name);
    case LayerType::QuantizedLstm: numWired = 3; return network.AddQuantizedLstmLayer(MakeQuantizedCellParams(c), name);
    default: return nullptr;
    }
}

/// The network as which a backend sees a subgraph.
class SubgraphNetwork
{
public:
    explicit SubgraphNetwork(const backend::SubgraphView& subgraph) : m_Subgraph(subgraph) {}

    /// False, with a warning in the log, where a layer cannot be built.
    bool Build(const BackendId& id)
    {
        for (size_t i = 0; i < m_Subgraph.m_Inputs.size(); ++i)
        {
            const SubgraphTensor tensor = m_Subgraph.m_Inputs[i];
            IConnectableLayer* const input = m_Network->AddInputLayer(static_cast<LayerBindingId>(i));
            SetSource(tensor, input->GetOutputSlot(0));
            m_External.insert(&input->GetOutputSlot(0));
        }
        for (size_t i = 0; i < m_Subgraph.m_Layers.size(); ++i)
        {
            if (!AddCopy(m_Subgraph.m_Layers[i], i, id))
            {
                const LayerView& layer = m_Subgraph.m_Layers[i].m_View;
                LogMessage(LogSeverity::Warning,
                           "backend " + id.Get() + " does not optimize a subgraph of " +
                               std::to_string(m_Subgraph.m_Layers.size()) + " layers: its layer '" + layer.GetName() +
                               "' (" + GetLayerTypeAsCString(layer.m_Type) +
                               ") cannot be added to an INetwork, by which the backend would see it");
                return false;
            }
        }
        for (size_t i = 0; i < m_Subgraph.m_Outputs.size(); ++i)
        {
            IOutputSlot& source = *m_Sources.at(m_Subgraph.m_Outputs[i]);
            source.Connect(m_Network->AddOutputLayer(static_cast<LayerBindingId>(i))->GetInputSlot(0));
            m_Outputs.push_back(&source);
        }
        return true;
    }

    SubgraphView MakeView() const
    {
        auto layers = m_Layers;
        auto inputs = m_Inputs;
        auto outputs = m_Outputs;
        return SubgraphView(std::move(layers), std::move(inputs), std::move(outputs));
    }

    /// Where the layers are in the subgraph; its constants are no layers there.
    SubgraphLayers GetPlaces(const SubgraphView& view) const
    {
        SubgraphLayers places;
        for (const IConnectableLayer* layer : view.GetIConnectableLayers())
        {
            const auto found = m_Places.find(layer);
            if (found == m_Places.end())
            {
                throw BackendCapabilityException("a backend's OptimizeSubgraphView names a layer that is not of the "
                                                 "subgraph");
            }
            if (found->second != ConstantPlace)
            {
                places.push_back(found->second);
            }
        }
        return places;
    }

    SubgraphTensor GetTensor(const IOutputSlot* source) const
    {
        const auto found = m_Tensors.find(source);
        if (found == m_Tensors.end())
        {
            throw BackendCapabilityException("a backend's OptimizeSubgraphView substitutes a subgraph with slots that "
                                             "are not of it");
        }
        return found->second;
    }

private:
    /// Constants have this in place of a place in the subgraph.
    static constexpr size_t ConstantPlace = std::numeric_limits<size_t>::max();

    void SetSource(SubgraphTensor tensor, IOutputSlot& slot)
    {
        slot.SetTensorInfo(*m_Subgraph.m_Tensors[tensor]);
        m_Sources[tensor] = &slot;
        m_Tensors[&slot] = tensor;
    }

    bool AddCopy(const SubgraphLayer& layer, size_t place, const BackendId& id)
    {
        const LayerView& view = layer.m_View;
        ShownLayer shown;
        const BaseDescriptor& descriptor = ShowLayer(view, shown) ? *shown.m_Descriptor : *view.m_Descriptor;
        size_t numWired = view.GetNumInputs();
        IConnectableLayer* copy = AddLayer(*m_Network, view.m_Type, descriptor, view.GetName().c_str());
        if (copy == nullptr)
        {
            copy = AddLayerWithConstants(*m_Network, view, descriptor, view.GetName().c_str(), numWired);
        }
        if (copy == nullptr)
        {
            return false;
        }
        for (unsigned int i = 0; i < numWired; ++i)
        {
            if (layer.m_Inputs[i] == NoSubgraphTensor)
            {
                continue;
            }
            IOutputSlot& source = GetSource(layer, i);
            source.Connect(copy->GetInputSlot(i));
            if (m_External.count(&source) != 0)
            {
                m_Inputs.push_back(&copy->GetInputSlot(i));
            }
        }
        copy->SetBackendId(id);
        m_Layers.push_back(copy);
        m_Places[copy] = place;
        for (unsigned int i = 0; i < layer.m_Outputs.size(); ++i)
        {
            SetSource(layer.m_Outputs[i], copy->GetOutputSlot(i));
        }
        return true;
    }

    IOutputSlot& GetSource(const SubgraphLayer& layer, size_t slot)
    {
        const SubgraphTensor tensor = layer.m_Inputs[slot];
        const auto found = m_Sources.find(tensor);
        if (found != m_Sources.end())
        {
            return *found->second;
        }
        TensorInfo info = *m_Subgraph.m_Tensors[tensor];
        info.SetConstant();
        IConnectableLayer* const constant =
            m_Network->AddConstantLayer(ConstTensor(info, layer.m_View.GetConstantData(slot)));
        SetSource(tensor, constant->GetOutputSlot(0));
        m_Layers.push_back(constant);
        m_Places[constant] = ConstantPlace;
        return constant->GetOutputSlot(0);
    }

    const backend::SubgraphView& m_Subgraph;
    INetworkPtr m_Network = INetwork::Create();
    SubgraphView::IConnectableLayers m_Layers; ///< constants among them
    SubgraphView::IInputSlots m_Inputs;        ///< fed from outside
    SubgraphView::IOutputSlots m_Outputs;      ///< read outside
    std::unordered_set<const IOutputSlot*> m_External;
    std::unordered_map<const IConnectableLayer*, size_t> m_Places; ///< of m_Layers
    std::unordered_map<SubgraphTensor, IOutputSlot*> m_Sources;
    std::unordered_map<const IOutputSlot*, SubgraphTensor> m_Tensors;
};

/// All substitutions as one, as their layers are in one network.
Substitution MakeSubstitution(const SubgraphNetwork& built, const backend::SubgraphView& subgraph,
                              OptimizationViews& views)
{
    Substitution substitution;
    INetwork& network = views.GetINetworkRef();
    std::unordered_map<SubgraphTensor, IConnectableLayer*> inputs;
    for (OptimizationViews::SubstitutionPair& pair : views.GetSubstitutions())
    {
        SubgraphView& before = pair.m_SubstitutableSubgraph;
        SubgraphView& after = pair.m_ReplacementSubgraph;
        if (before.GetNumInputSlots() != after.GetNumInputSlots() ||
            before.GetNumOutputSlots() != after.GetNumOutputSlots())
        {
            throw BackendCapabilityException("a backend's OptimizeSubgraphView substitutes a subgraph by one with "
                                             "another number of slots");
        }
        const SubgraphLayers places = built.GetPlaces(before);
        substitution.m_Layers.insert(substitution.m_Layers.end(), places.begin(), places.end());
        for (unsigned int i = 0; i < before.GetNumInputSlots(); ++i)
        {
            const SubgraphTensor tensor = built.GetTensor(before.GetIInputSlot(i)->GetConnection());
            IConnectableLayer*& input = inputs[tensor];
            if (input == nullptr)
            {
                input = network.AddInputLayer(static_cast<LayerBindingId>(substitution.m_Inputs.size()));
                input->GetOutputSlot(0).SetTensorInfo(*subgraph.m_Tensors[tensor]);
                substitution.m_Inputs.push_back(tensor);
            }
            input->GetOutputSlot(0).Connect(*after.GetIInputSlot(i));
        }
        for (unsigned int i = 0; i < before.GetNumOutputSlots(); ++i)
        {
            const SubgraphTensor tensor = built.GetTensor(before.GetIOutputSlot(i));
            const auto index = static_cast<LayerBindingId>(substitution.m_Outputs.size());
            substitution.m_Outputs.push_back(tensor);
            IOutputSlot& source = *after.GetIOutputSlot(i);
            if (!source.IsTensorInfoSet())
            {
                source.SetTensorInfo(*subgraph.m_Tensors[tensor]);
            }
            source.Connect(network.AddOutputLayer(index)->GetInputSlot(0));
        }
    }
    substitution.m_Replacement = OptimizationViewsAccess::Release(views);
    return substitution;
}

} // namespace

backend::OptimizationViews BackendAdapter::OptimizeSubgraphView(const backend::SubgraphView& subgraph,
                                                                const ModelOptions& options) const
{
    const std::lock_guard lock(m_Adapted->m_Mutex);
    backend::OptimizationViews answer;
    SubgraphNetwork network(subgraph);
    if (!network.Build(m_Id))
    {
        return answer;
    }
    OptimizationViews views = m_Adapted->m_Backend->OptimizeSubgraphView(network.MakeView(), options);
    const auto read = [&](const OptimizationViews::Subgraphs& subgraphs, std::vector<SubgraphLayers>& places)
    {
        for (const SubgraphView& view : subgraphs)
        {
            SubgraphLayers layers = network.GetPlaces(view);
            if (!layers.empty())
            {
                places.push_back(std::move(layers));
            }
        }
    };
    read(views.GetFailedSubgraphs(), answer.m_FailedSubgraphs);
    read(views.GetDeletedSubgraphs(), answer.m_DeletedSubgraphs);
    read(views.GetUntouchedSubgraphs(), answer.m_UntouchedSubgraphs);
    if (!answer.m_FailedSubgraphs.empty())
    {
        answer.m_FailureReason = "its OptimizeSubgraphView gives the layers back";
    }
    if (!views.GetSubstitutions().empty())
    {
        answer.m_Substitutions.push_back(MakeSubstitution(network, subgraph, views));
    }
    return answer;
}

} // namespace tenon
