// SPDX-License-Identifier: Apache-2.0
// The questions of the optimizer and the deserializer to backends, whether they run a layer.
#pragma once

#include <tenon/BackendOptions.hpp>
#include <tenon/backend/BackendRegistry.hpp>
#include <tenon/backend/ILayerSupport.hpp>

#include <map>
#include <memory>
#include <string>

namespace tenon
{

/// IsLayerSupported and, where the layer carries a fused activation, IsActivationFusable too: a backend that does not
/// know of fused activations would run the layer without.
inline SupportResult AskSupport(const ILayerSupport& support, const LayerView& layer)
{
    SupportResult result = support.IsLayerSupported(layer);
    return result.IsSupported() && layer.m_FusedActivation != nullptr
               ? support.IsActivationFusable(layer, *layer.m_FusedActivation)
               : result;
}

/// Each backend's ILayerSupport for one network, made when it is first wanted: a backend may read options then, and a
/// plugin set up a model.
class SupportCache
{
public:
    /// The arguments must outlive it.
    SupportCache(const BackendRegistry& registry, const ModelOptions& options)
        : m_Registry(registry), m_Options(options)
    {
    }

    const BackendRegistry& GetRegistry() const { return m_Registry; }
    /// Throws BackendUnavailableException where the registry lacks the backend.
    const std::shared_ptr<const ILayerSupport>& Get(const BackendId& id)
    {
        std::shared_ptr<const ILayerSupport>& support = m_Supports[id.Get()];
        if (support == nullptr)
        {
            support = m_Registry.Get(id).GetLayerSupport(m_Options);
        }
        return support;
    }

private:
    const BackendRegistry& m_Registry;
    const ModelOptions& m_Options;
    std::map<std::string, std::shared_ptr<const ILayerSupport>> m_Supports;
};

} // namespace tenon
