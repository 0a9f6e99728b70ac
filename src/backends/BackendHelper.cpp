// SPDX-License-Identifier: Apache-2.0
// See BackendHelper.hpp.
#include "common/CreationOptions.hpp"

#include <tenon/BackendHelper.hpp>
#include <tenon/backend/BackendRegistry.hpp>

#include <memory>
#include <vector>

namespace tenon
{

namespace
{

/// A backend that a runtime has by default; null where there is none of that id.
std::shared_ptr<const backend::IBackend> FindByDefault(const BackendId& id)
{
    // Never destroyed: destructors of static variables may ask.
    static const BackendRegistry& builtin = *[]
    {
        auto registry = std::make_unique<BackendRegistry>();
        RegisterBuiltinBackends(*registry);
        return registry.release();
    }();
    auto found = builtin.Find(id);
    return found != nullptr ? found : LookUpBackend(id);
}

/// None of a backend that is not there.
BackendCapabilities GetCapabilities(const BackendId& backend)
{
    const auto found = FindByDefault(backend);
    return found != nullptr ? found->GetCapabilities() : BackendCapabilities(backend);
}

LayerSupportHandle MakeHandle(const std::shared_ptr<const backend::IBackend>& backend)
{
    return LayerSupportHandle(backend != nullptr ? backend->GetLayerSupport({}) : nullptr);
}

std::vector<const TensorInfo*> FindAddresses(const std::vector<TensorInfo>& infos)
{
    std::vector<const TensorInfo*> addresses;
    for (const TensorInfo& info : infos)
    {
        addresses.push_back(&info);
    }
    return addresses;
}

} // namespace

Optional<BackendOptions::BackendOption> GetCapability(const std::string& name, const BackendCapabilities& capabilities)
{
    for (size_t i = 0; i < capabilities.GetOptionCount(); ++i)
    {
        if (capabilities.GetOption(i).GetName() == name)
        {
            return capabilities.GetOption(i);
        }
    }
    return EmptyOptional();
}

Optional<BackendOptions::BackendOption> GetCapability(const std::string& name, const BackendId& backend)
{
    return GetCapability(name, GetCapabilities(backend));
}

bool HasCapability(const std::string& name, const BackendCapabilities& capabilities)
{
    return GetCapability(name, capabilities).has_value();
}

bool HasCapability(const std::string& name, const BackendId& backend)
{
    return HasCapability(name, GetCapabilities(backend));
}

bool HasMatchingCapability(const BackendOptions::BackendOption& capability, const BackendCapabilities& capabilities)
{
    const auto found = GetCapability(capability.GetName(), capabilities);
    return found.has_value() && found.value().GetValue() == capability.GetValue();
}

bool HasMatchingCapability(const BackendOptions::BackendOption& capability, const BackendId& backend)
{
    return HasMatchingCapability(capability, GetCapabilities(backend));
}

bool HasCapability(const BackendOptions::BackendOption& capability, const BackendCapabilities& capabilities)
{
    return HasMatchingCapability(capability, capabilities);
}

bool HasCapability(const BackendOptions::BackendOption& capability, const BackendId& backend)
{
    return HasMatchingCapability(capability, backend);
}

unsigned int GetNumberOfCacheFiles(const BackendId& backend)
{
    const auto files = GetCapability("NumberOfCacheFiles", backend);
    return files.has_value() ? files.value().GetValue().AsUnsignedInt() : 0;
}

LayerSupportHandle::LayerSupportHandle(std::shared_ptr<const ILayerSupport> support) : LayerQueries(std::move(support))
{
}

LayerSupportHandle::~LayerSupportHandle() = default;

bool LayerSupportHandle::IsLayerSupported(LayerType type, const std::vector<TensorInfo>& inputs,
                                          const std::vector<TensorInfo>& outputs, const BaseDescriptor& descriptor,
                                          Optional<std::string&> reasonIfUnsupported) const
{
    return Ask(type, FindAddresses(inputs), FindAddresses(outputs), descriptor, reasonIfUnsupported);
}

LayerSupportHandle GetILayerSupportByBackendId(const BackendId& backend)
{
    return MakeHandle(FindByDefault(backend));
}

LayerSupportHandle GetILayerSupportByBackendId(const BackendId& backend, const BackendRegistry& registry)
{
    return MakeHandle(registry.Find(backend));
}

} // namespace tenon
