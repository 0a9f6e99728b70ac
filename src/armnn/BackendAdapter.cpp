// SPDX-License-Identifier: Apache-2.0
// BackendAdapter: see BackendAdapter.hpp.
#include "armnn/BackendAdapter.hpp"

#include "armnn/ShownLayer.hpp"
#include "armnn/SubgraphAdapter.hpp"
#include "armnn/WorkloadAdapter.hpp"

#include <tenon/BackendHelper.hpp>
#include <tenon/Exceptions.hpp>
#include <tenon/Logging.hpp>

#include <exception>
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

class WorkloadFactoryAdapter final : public backend::IWorkloadFactory
{
public:
    WorkloadFactoryAdapter(std::shared_ptr<const IBackendInternal> adapted, const ModelOptions& options)
        : m_Id(adapted->GetId()),
          m_Source(std::make_shared<WorkloadSource>(adapted, GetAdaptedSupport(*adapted, options), options))
    {
    }

    const BackendId& GetBackendId() const override { return m_Id; }
    std::unique_ptr<backend::IWorkload> CreateWorkload(const LayerView& layer) const override
    {
        return AdaptWorkload(m_Source, layer);
    }

private:
    BackendId m_Id;
    std::shared_ptr<WorkloadSource> m_Source;
};

class ContextAdapter final : public backend::IBackendContext
{
public:
    ContextAdapter(BackendId id, std::unique_ptr<tenon::IBackendContext> adapted)
        : m_Id(std::move(id)), m_Adapted(std::move(adapted))
    {
    }

    void BeforeLoadNetwork(NetworkId network) override
    {
        const std::lock_guard lock(m_Mutex);
        Warn(m_Adapted->BeforeLoadNetwork(network), "BeforeLoadNetwork");
    }
    void AfterLoadNetwork(NetworkId network) noexcept override
    {
        Call(&tenon::IBackendContext::AfterLoadNetwork, network, "AfterLoadNetwork");
    }
    void AfterEnqueueWorkload(NetworkId network) override
    {
        const std::lock_guard lock(m_Mutex);
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

    /// Of hooks that must not throw.
    void Call(bool (tenon::IBackendContext::*hook)(NetworkId), NetworkId network, const char* name) const noexcept
    {
        try
        {
            const std::lock_guard lock(m_Mutex);
            Warn((*m_Adapted.*hook)(network), name);
        }
        catch (const std::exception& e)
        {
            LogMessage(LogSeverity::Error, std::string(name) + " of backend " + m_Id.Get() + " throws: " + e.what());
        }
        catch (...)
        {
            LogMessage(LogSeverity::Error, std::string(name) + " of backend " + m_Id.Get() + " throws");
        }
    }

    BackendId m_Id;
    std::unique_ptr<tenon::IBackendContext> m_Adapted;
    mutable std::mutex m_Mutex; ///< Arm NN runs a network in one thread at a time, and calls hooks so
};

} // namespace

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

BackendAdapter::BackendAdapter(std::unique_ptr<IBackendInternal> adapted, std::unique_ptr<IBackendContext> context)
    : m_Adapted(std::move(adapted)), m_Id(m_Adapted->GetId()), m_Context(std::move(context))
{
}

BackendAdapter::~BackendAdapter() = default;

std::shared_ptr<const backend::ILayerSupport> BackendAdapter::GetLayerSupport(const ModelOptions& options) const
{
    return std::make_shared<LayerSupportAdapter>(GetAdaptedSupport(*m_Adapted, options));
}

std::unique_ptr<backend::IWorkloadFactory> BackendAdapter::CreateWorkloadFactory(const ModelOptions& options) const
{
    return std::make_unique<WorkloadFactoryAdapter>(m_Adapted, options);
}

backend::OptimizationViews BackendAdapter::OptimizeSubgraphView(const backend::SubgraphView& subgraph,
                                                                const ModelOptions& options) const
{
    return OptimizeAdapted(*m_Adapted, subgraph, options);
}

std::unique_ptr<backend::IBackendContext>
BackendAdapter::CreateBackendContext(const IRuntime::CreationOptions& options) const
{
    const std::lock_guard lock(m_Mutex);
    std::unique_ptr<IBackendContext> context =
        m_Context != nullptr ? std::move(m_Context) : m_Adapted->CreateBackendContext(options);
    return context != nullptr ? std::make_unique<ContextAdapter>(m_Id, std::move(context)) : nullptr;
}

BackendCapabilities BackendAdapter::GetCapabilities() const
{
    BackendCapabilities capabilities(m_Id);
    const BackendCapabilities adapted = m_Adapted->GetCapabilities();
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
