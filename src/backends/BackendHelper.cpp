// SPDX-License-Identifier: Apache-2.0
// See BackendHelper.hpp.
#include <tenon/BackendHelper.hpp>
#include <tenon/backend/BackendRegistry.hpp>

#include <vector>

namespace tenon
{

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

bool HasCapability(const std::string& name, const BackendCapabilities& capabilities)
{
    return GetCapability(name, capabilities).has_value();
}

bool HasMatchingCapability(const BackendOptions::BackendOption& capability, const BackendCapabilities& capabilities)
{
    const auto found = GetCapability(capability.GetName(), capabilities);
    return found.has_value() && found.value().GetValue() == capability.GetValue();
}

LayerSupportHandle::LayerSupportHandle(std::shared_ptr<const ILayerSupport> support) : m_Support(std::move(support)) {}

LayerSupportHandle::~LayerSupportHandle() = default;

bool LayerSupportHandle::IsLayerSupported(LayerType type, const std::vector<TensorInfo>& inputs,
                                          const std::vector<TensorInfo>& outputs, const BaseDescriptor& descriptor,
                                          Optional<std::string&> reasonIfUnsupported) const
{
    if (m_Support == nullptr)
    {
        if (reasonIfUnsupported.has_value())
        {
            reasonIfUnsupported.value() = "the backend is not there";
        }
        return false;
    }
    std::vector<const TensorInfo*> inputInfos;
    for (const TensorInfo& info : inputs)
    {
        inputInfos.push_back(&info);
    }
    std::vector<const TensorInfo*> outputInfos;
    for (const TensorInfo& info : outputs)
    {
        outputInfos.push_back(&info);
    }
    const std::string name;
    LayerView view;
    view.m_Type = type;
    view.m_Name = &name;
    view.m_Descriptor = &descriptor;
    view.m_Inputs = inputInfos;
    view.m_Outputs = outputInfos;
    view.m_HasValues = false;
    SupportResult result = m_Support->IsLayerSupported(view);
    if (!result.IsSupported() && reasonIfUnsupported.has_value())
    {
        reasonIfUnsupported.value() = std::move(result.m_Reason);
    }
    return result.IsSupported();
}

LayerSupportHandle GetILayerSupportByBackendId(const BackendId& backend)
{
    BackendRegistry registry;
    RegisterBuiltinBackends(registry);
    return GetILayerSupportByBackendId(backend, registry);
}

LayerSupportHandle GetILayerSupportByBackendId(const BackendId& backend, const BackendRegistry& registry)
{
    const auto found = registry.Find(backend);
    return LayerSupportHandle(found != nullptr ? found->GetLayerSupport({}) : nullptr);
}

} // namespace tenon
