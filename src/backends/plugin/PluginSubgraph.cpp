// SPDX-License-Identifier: Apache-2.0
// Shows a subgraph to a plugin and takes its answer.
#include "backends/plugin/CStructs.hpp"
#include "backends/plugin/PluginBackend.hpp"

#include <tenon/Exceptions.hpp>

#include <utility>

namespace tenon::plugin
{

namespace
{

/// A tenon_subgraph.
class CSubgraph
{
public:
    explicit CSubgraph(const SubgraphView& view)
    {
        for (const SubgraphLayer& layer : view.m_Layers)
        {
            m_Layers.push_back(
                {m_Views.emplace_back(layer.m_View).Get(), layer.m_Inputs.data(), layer.m_Outputs.data()});
        }
        for (const TensorInfo* info : view.m_Tensors)
        {
            m_Tensors.push_back(m_Infos.emplace_back(*info).Get());
        }
        m_Subgraph.struct_size = sizeof(m_Subgraph);
        m_Subgraph.num_layers = m_Layers.size();
        m_Subgraph.layers = m_Layers.data();
        m_Subgraph.num_inputs = view.m_Inputs.size();
        m_Subgraph.inputs = view.m_Inputs.data();
        m_Subgraph.num_outputs = view.m_Outputs.size();
        m_Subgraph.outputs = view.m_Outputs.data();
        m_Subgraph.num_tensors = m_Tensors.size();
        m_Subgraph.tensors = m_Tensors.data();
    }
    const tenon_subgraph* Get() const { return &m_Subgraph; }

private:
    std::deque<CLayer> m_Views;
    std::deque<CInfo> m_Infos;
    std::vector<tenon_subgraph_layer> m_Layers;
    std::vector<const tenon_tensor_info*> m_Tensors;
    tenon_subgraph m_Subgraph{};
};

/// Collects the plugin's answer about its subgraph.
class Answer
{
public:
    Answer(std::shared_ptr<const Plugin> plugin, const SubgraphView& subgraph)
        : m_Plugin(std::move(plugin)), m_Subgraph(subgraph)
    {
        m_Answer.struct_size = sizeof(m_Answer);
        m_Answer.self = this;
        m_Answer.compile = &Compile;
        m_Answer.fail = &Fail;
        m_Answer.remove = &Remove;
    }
    const tenon_subgraph_answer* Get() const { return &m_Answer; }
    OptimizationViews TakeViews() { return std::move(m_Views); }

private:
    static tenon_status Compile(void* self, size_t numLayers, const size_t* layers, size_t numInputs,
                                const uint32_t* inputs, size_t numOutputs, const uint32_t* outputs,
                                tenon_plugin_blob* blob, const char* name, tenon_text* error)
    {
        return Guarded(error,
                       [&]
                       {
                           auto& answer = *static_cast<Answer*>(self);
                           CompiledBlobPtr owned = answer.Own(blob); // first: from here on it is the host's
                           answer.AddCompiled({layers, layers + numLayers}, {inputs, inputs + numInputs},
                                              {outputs, outputs + numOutputs}, std::move(owned), name);
                       });
    }

    static tenon_status Fail(void* self, size_t numLayers, const size_t* layers, const char* reason, tenon_text* error)
    {
        return Guarded(error,
                       [&]
                       {
                           OptimizationViews& views = static_cast<Answer*>(self)->m_Views;
                           views.m_FailedSubgraphs.emplace_back(layers, layers + numLayers);
                           if (reason != nullptr)
                           {
                               views.m_FailureReason = reason;
                           }
                       });
    }

    static tenon_status Remove(void* self, size_t numLayers, const size_t* layers, tenon_text* error)
    {
        return Guarded(
            error,
            [&] { static_cast<Answer*>(self)->m_Views.m_DeletedSubgraphs.emplace_back(layers, layers + numLayers); });
    }

    const TensorInfo& InfoOf(uint32_t tensor) const
    {
        if (tensor >= m_Subgraph.m_Tensors.size())
        {
            throw InvalidArgumentException("there is no tensor " + std::to_string(tensor) + " in this subgraph of " +
                                           std::to_string(m_Subgraph.m_Tensors.size()));
        }
        return *m_Subgraph.m_Tensors[tensor];
    }

    CompiledBlobPtr Own(tenon_plugin_blob* blob) const
    {
        if (blob == nullptr || m_Plugin->Table().blob_destroy == nullptr)
        {
            throw InvalidArgumentException("a blob and the table's blob_destroy must be there");
        }
        return CompiledBlobPtr(blob,
                               [plugin = m_Plugin](const void* p) {
                                   plugin->Table().blob_destroy(static_cast<tenon_plugin_blob*>(const_cast<void*>(p)));
                               });
    }

    void AddCompiled(SubgraphLayers layers, std::vector<SubgraphTensor> inputs, std::vector<SubgraphTensor> outputs,
                     CompiledBlobPtr owned, const char* name)
    {
        Substitution substitution;
        substitution.m_Layers = std::move(layers);
        substitution.m_Replacement = INetwork::Create();
        INetwork& network = *substitution.m_Replacement;
        std::vector<IConnectableLayer*> sources;
        for (size_t i = 0; i < inputs.size(); ++i)
        {
            sources.push_back(network.AddInputLayer(static_cast<LayerBindingId>(i)));
            sources.back()->GetOutputSlot(0).SetTensorInfo(InfoOf(inputs[i]));
        }
        std::vector<IConnectableLayer*> sinks;
        for (size_t i = 0; i < outputs.size(); ++i)
        {
            InfoOf(outputs[i]);
            sinks.push_back(network.AddOutputLayer(static_cast<LayerBindingId>(i)));
        }
        IConnectableLayer* compiled = network.AddPrecompiledLayer(
            PreCompiledDescriptor(static_cast<uint32_t>(inputs.size()), static_cast<uint32_t>(outputs.size())),
            std::move(owned), Optional<BackendId>(BackendId(m_Plugin->Id())), name);
        for (size_t i = 0; i < inputs.size(); ++i)
        {
            sources[i]->GetOutputSlot(0).Connect(compiled->GetInputSlot(static_cast<unsigned int>(i)));
        }
        for (size_t i = 0; i < outputs.size(); ++i)
        {
            compiled->GetOutputSlot(static_cast<unsigned int>(i)).SetTensorInfo(InfoOf(outputs[i]));
            compiled->GetOutputSlot(static_cast<unsigned int>(i)).Connect(sinks[i]->GetInputSlot(0));
        }
        substitution.m_Inputs = std::move(inputs);
        substitution.m_Outputs = std::move(outputs);
        m_Views.m_Substitutions.push_back(std::move(substitution));
    }

    std::shared_ptr<const Plugin> m_Plugin;
    const SubgraphView& m_Subgraph;
    tenon_subgraph_answer m_Answer{};
    OptimizationViews m_Views;
};

} // namespace

OptimizationViews OptimizeWithPlugin(const std::shared_ptr<const Plugin>& plugin, const SubgraphView& subgraph,
                                     const ModelOptions& options)
{
    const Model model(plugin, options);
    const CSubgraph c(subgraph);
    Answer answer(plugin, subgraph);
    plugin->Call("optimize_subgraph", plugin->Table().optimize_subgraph, model.Get(), c.Get(), answer.Get());
    return answer.TakeViews();
}

} // namespace tenon::plugin
