// SPDX-License-Identifier: Apache-2.0
// PluginBackend: the IBackend that shows a plugin's table to the rest of Tenon.
#pragma once

#include "backends/plugin/Plugin.hpp"

#include <tenon/backend/IBackend.hpp>

#include <memory>

namespace tenon::plugin
{

std::shared_ptr<const IBackend> MakePluginBackend(std::shared_ptr<const Plugin> plugin);

/// The plugin with the options of one network. The workloads of the network keep it alive.
class Model
{
public:
    Model(std::shared_ptr<const Plugin> plugin, const ModelOptions& options);
    ~Model();
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;

    const Plugin& GetPlugin() const { return *m_Plugin; }
    tenon_plugin_model* Get() const { return m_Model; }

private:
    std::shared_ptr<const Plugin> m_Plugin;
    tenon_plugin_model* m_Model = nullptr;
};

/// PluginWorkload.cpp
std::unique_ptr<IWorkload> MakePluginWorkload(std::shared_ptr<const Model> model, const LayerView& layer);
/// PluginFusion.cpp. Checks that the offers of a plugin suit a layer of these tensors, and gives its aliases. Throws
/// RuntimeException unless it does; `who` begins the text: "plugin VendorNpu (file): shaped_fusion of layer 'sum'".
TensorAliases CheckFusion(const tenon_fusion& fusion, LayerType type, Span<const TensorInfo* const> inputs,
                          Span<const TensorInfo* const> outputs, bool hasDevice, const std::string& who);
/// PluginSubgraph.cpp. Precondition: the table has optimize_subgraph.
OptimizationViews OptimizeWithPlugin(const std::shared_ptr<const Plugin>& plugin, const SubgraphView& subgraph,
                                     const ModelOptions& options);

} // namespace tenon::plugin
