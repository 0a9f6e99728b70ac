// SPDX-License-Identifier: Apache-2.0
// BackendAdapter: see BackendAdapter.hpp.
#include "armnn/BackendAdapter.hpp"

#include "armnn/CallWithoutThrowing.hpp"
#include "armnn/ShownLayer.hpp"

#include <tenon/BackendHelper.hpp>
#include <tenon/Exceptions.hpp>
#include <tenon/Logging.hpp>

#include <mutex>
#include <utility>

namespace tenon
{

namespace
{

class LayerSupportAdapter final : public backend::ILayerSupport
{
public:
    explicit LayerSupportAdapter(std::shared_ptr<const tenon::ILayerSupport> adapted) : m_Adapted(std::move(adapted)) {}

    SupportResult IsLayerSupported(const LayerView& layer) const override
    {
        if (OnlyRenamesDimensions(layer.m_Type))
        {
            return SupportResult::Yes();
        }
        ShownLayer shown;
        SupportResult result = ShowLayer(layer, shown);
        return result ? AskBackend(*m_Adapted, shown) : result;
    }

private:
    std::shared_ptr<const tenon::ILayerSupport> m_Adapted;
};

class ContextAdapter final : public backend::IBackendContext
{
public:
    ContextAdapter(std::shared_ptr<AdaptedBackend> backend, std::unique_ptr<tenon::IBackendContext> adapted)
        : m_Backend(std::move(backend)), m_Id(m_Backend->m_Backend->GetId()), m_Adapted(std::move(adapted))
    {
    }
    ~ContextAdapter() override
    {
        const std::lock_guard lock(m_Backend->m_Mutex);
        m_Adapted.reset();
    }

    void BeforeLoadNetwork(NetworkId network) override
    {
        const std::lock_guard lock(m_Backend->m_Mutex);
        Warn(m_Adapted->BeforeLoadNetwork(network), "BeforeLoadNetwork");
    }
    void AfterLoadNetwork(NetworkId network) noexcept override
    {
        Call(&tenon::IBackendContext::AfterLoadNetwork, network, "AfterLoadNetwork");
    }
    void AfterEnqueueWorkload(NetworkId network) override
    {
        const std::lock_guard lock(m_Backend->m_Mutex);
        Warn(m_Adapted->AfterEnqueueWorkload(network), "AfterEnqueueWorkload");
    }
    void BeforeUnloadNetwork(NetworkId network) noexcept override
    {
        Call(&tenon::IBackendContext::BeforeUnloadNetwork, network, "BeforeUnloadNetwork");
    }
    void AfterUnloadNetwork(NetworkId network) noexcept override
    {
        Call(&tenon::IBackendContext::AfterUnloadNetwork, network, "AfterUnloadNetwork");
    }

private:
    void Warn(bool isGood, const char* hook) const
    {
        if (!isGood)
        {
            LogMessage(LogSeverity::Warning, std::string(hook) + " of backend " + m_Id.Get() + " returns false");
        }
    }

    /// Calls a hook that must not throw.
    void Call(bool (tenon::IBackendContext::*hook)(NetworkId), NetworkId network, const char* name) const noexcept
    {
        CallWithoutThrowing(std::string(name) + " of backend " + m_Id.Get(),
                            [&]
                            {
                                const std::lock_guard lock(m_Backend->m_Mutex);
                                Warn((*m_Adapted.*hook)(network), name);
                            });
    }

    std::shared_ptr<AdaptedBackend> m_Backend;
    BackendId m_Id;
    std::unique_ptr<tenon::IBackendContext> m_Adapted;
};

/// The backend's answers for these options. Throws InvalidArgumentException where it has none for them.
std::shared_ptr<const ILayerSupport> GetAdaptedSupport(const IBackendInternal& adapted, const ModelOptions& options)
{
    std::shared_ptr<const ILayerSupport> support = adapted.GetLayerSupport(options);
    if (support == nullptr)
    {
        throw InvalidArgumentException("backend " + adapted.GetId().Get() +
                                       " gives no ILayerSupport for the options of this network; it takes none, or "
                                       "not these");
    }
    return support;
}

} // namespace

BackendAdapter::BackendAdapter(std::unique_ptr<IBackendInternal> adapted, std::unique_ptr<IBackendContext> context,
                               std::shared_ptr<void> registration)
    : m_Registration(std::move(registration)), m_Adapted(std::make_shared<AdaptedBackend>(std::move(adapted))),
      m_Id(m_Adapted->m_Backend->GetId()), m_Context(std::move(context))
{
}

BackendAdapter::~BackendAdapter() = default;

std::shared_ptr<const backend::ILayerSupport> BackendAdapter::GetLayerSupport(const ModelOptions& options) const
{
    const std::lock_guard lock(m_Adapted->m_Mutex);
    return std::make_shared<LayerSupportAdapter>(GetAdaptedSupport(*m_Adapted->m_Backend, options));
}

std::unique_ptr<backend::IWorkloadFactory> BackendAdapter::CreateWorkloadFactory(const ModelOptions& options) const
{
    const std::lock_guard lock(m_Adapted->m_Mutex);
    return AdaptWorkloadFactory(m_Adapted, GetAdaptedSupport(*m_Adapted->m_Backend, options), options);
}

std::unique_ptr<backend::IBackendContext>
BackendAdapter::CreateBackendContext(const IRuntime::CreationOptions& options) const
{
    const std::lock_guard lock(m_Adapted->m_Mutex);
    std::unique_ptr<IBackendContext> context =
        m_Context != nullptr ? std::move(m_Context) : m_Adapted->m_Backend->CreateBackendContext(options);
    return context != nullptr ? std::make_unique<ContextAdapter>(m_Adapted, std::move(context)) : nullptr;
}

BackendCapabilities BackendAdapter::GetCapabilities() const
{
    BackendCapabilities capabilities(m_Id);
    const BackendCapabilities adapted = [&]
    {
        const std::lock_guard lock(m_Adapted->m_Mutex);
        return m_Adapted->m_Backend->GetCapabilities();
    }();
    for (size_t i = 0; i < adapted.GetOptionCount(); ++i)
    {
        capabilities.AddOption(BackendOptions::BackendOption(adapted.GetOption(i)));
    }
    // Arm NN gives all operands of broadcasting layers one rank before a backend sees them.
    if (!HasCapability("EqualRankBroadcast", capabilities))
    {
        capabilities.AddOption({"EqualRankBroadcast", true});
    }
    return capabilities;
}

} // namespace tenon
