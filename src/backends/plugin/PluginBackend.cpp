// SPDX-License-Identifier: Apache-2.0
// PluginBackend: see PluginBackend.hpp.
#include "backends/plugin/PluginBackend.hpp"

#include "backends/plugin/CStructs.hpp"
#include "backends/plugin/PluginDevice.hpp"

#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <utility>

namespace tenon::plugin
{

Model::Model(std::shared_ptr<const Plugin> plugin, const ModelOptions& options) : m_Plugin(std::move(plugin))
{
    const CAttributes attributes(OptionAttributes(options, m_Plugin->Id()));
    m_Plugin->Call("model_create", m_Plugin->Table().model_create, m_Plugin->Backend(), attributes.Size(),
                   attributes.Get(), &m_Model);
    m_Plugin->NotNull(m_Model, "model_create");
}

Model::~Model()
{
    m_Plugin->Table().model_destroy(m_Model);
}

namespace
{

SupportResult ToResult(tenon_support_code code, ErrorText& reason)
{
    if (code == TENON_SUPPORTED)
    {
        return SupportResult::Yes();
    }
    const bool known = code > TENON_SUPPORTED && code <= TENON_UNAVAILABLE;
    const std::string text = reason.ToString();
    return SupportResult::No(known ? static_cast<SupportCode>(code) : SupportCode::UnsupportedParameters,
                             text.empty() ? "refused without a reason" : text);
}

/// Whether a tensor has blocks, which an older plugin would take for slices of a dimension.
bool HasUnknownBlocks(const tenon_plugin_table& table, const LayerView& layer)
{
    constexpr uint32_t FirstWithBlocks = 2;
    const auto hasBlocks = [](Span<const TensorInfo* const> infos)
    {
        return std::any_of(infos.begin(), infos.end(),
                           [](const TensorInfo* info) { return info != nullptr && info->HasBlockwiseQuantization(); });
    };
    return table.minor < FirstWithBlocks && (hasBlocks(layer.m_Inputs) || hasBlocks(layer.m_Outputs));
}

class PluginSupport final : public ILayerSupport
{
public:
    explicit PluginSupport(std::shared_ptr<const Model> model) : m_Model(std::move(model)) {}

    SupportResult IsLayerSupported(const LayerView& layer) const override
    {
        if (layer.m_Type == LayerType::PreCompiled && layer.m_Blob == nullptr)
        {
            return SupportResult::No(SupportCode::UnsupportedParameters, "the layer has no blob");
        }
        if (HasUnknownBlocks(m_Model->GetPlugin().Table(), layer))
        {
            return SupportResult::No(SupportCode::UnsupportedParameters,
                                     "a tensor has a scale per block, which the plugin is too old for");
        }
        const CLayer c(layer);
        ErrorText reason;
        const tenon_support_code code =
            m_Model->GetPlugin().Table().is_supported(m_Model->Get(), c.Get(), reason.Get());
        return ToResult(code, reason);
    }

    SupportResult IsActivationFusable(const LayerView& layer, const ActivationDescriptor& activation) const override
    {
        const tenon_plugin_table& table = m_Model->GetPlugin().Table();
        if (table.is_activation_fusable == nullptr)
        {
            return ILayerSupport::IsActivationFusable(layer, activation);
        }
        const CLayer c(layer);
        const CAttributes attributes(tenon::ToAttributes(LayerType::Activation, activation));
        ErrorText reason;
        const tenon_support_code code =
            table.is_activation_fusable(m_Model->Get(), c.Get(), attributes.Size(), attributes.Get(), reason.Get());
        return ToResult(code, reason);
    }

private:
    std::shared_ptr<const Model> m_Model;
};

class PluginFactory final : public IWorkloadFactory
{
public:
    explicit PluginFactory(std::shared_ptr<const Model> model)
        : m_Id(model->GetPlugin().Id()), m_Model(std::move(model))
    {
    }
    const BackendId& GetBackendId() const override { return m_Id; }
    std::unique_ptr<IWorkload> CreateWorkload(const LayerView& layer) const override
    {
        return MakePluginWorkload(m_Model, layer);
    }

private:
    BackendId m_Id;
    std::shared_ptr<const Model> m_Model;
};

class PluginContext final : public IBackendContext
{
public:
    explicit PluginContext(std::shared_ptr<const Plugin> plugin) : m_Plugin(std::move(plugin)) {}

    void BeforeLoadNetwork(NetworkId id) override { Run("hooks.before_load", m_Plugin->Hooks().before_load, id); }
    void BeforeEnqueueWorkload(NetworkId id) override
    {
        Run("hooks.before_enqueue", m_Plugin->Hooks().before_enqueue, id);
    }
    void AfterEnqueueWorkload(NetworkId id) override
    {
        Run("hooks.after_enqueue", m_Plugin->Hooks().after_enqueue, id);
    }
    void AfterLoadNetwork(NetworkId id) noexcept override { Run(m_Plugin->Hooks().after_load, id); }
    void BeforeUnloadNetwork(NetworkId id) noexcept override { Run(m_Plugin->Hooks().before_unload, id); }
    void AfterUnloadNetwork(NetworkId id) noexcept override { Run(m_Plugin->Hooks().after_unload, id); }

private:
    using Hook = tenon_status (*)(tenon_plugin_backend*, int32_t, tenon_text*);
    using QuietHook = void (*)(tenon_plugin_backend*, int32_t);

    void Run(const char* name, Hook hook, NetworkId id) const
    {
        if (hook != nullptr)
        {
            m_Plugin->Call(name, hook, m_Plugin->Backend(), int32_t{id});
        }
    }
    void Run(QuietHook hook, NetworkId id) const noexcept
    {
        if (hook != nullptr)
        {
            hook(m_Plugin->Backend(), id);
        }
    }

    std::shared_ptr<const Plugin> m_Plugin;
};

class PluginBackend final : public IBackend
{
public:
    explicit PluginBackend(std::shared_ptr<const Plugin> plugin)
        : m_Id(plugin->Id()), m_Plugin(std::move(plugin)),
          m_Device(m_Plugin->HasDevice() ? MakePluginDevice(m_Plugin) : nullptr)
    {
    }

    const BackendId& GetId() const override { return m_Id; }
    const ITensorHandleFactory* GetTensorHandleFactory() const override { return m_Device.get(); }

    std::shared_ptr<const ILayerSupport> GetLayerSupport(const ModelOptions& options) const override
    {
        return std::make_shared<PluginSupport>(std::make_shared<const Model>(m_Plugin, options));
    }
    std::unique_ptr<IWorkloadFactory> CreateWorkloadFactory(const ModelOptions& options) const override
    {
        return std::make_unique<PluginFactory>(std::make_shared<const Model>(m_Plugin, options));
    }
    bool OptimizesSubgraphs() const override { return m_Plugin->Table().optimize_subgraph != nullptr; }
    OptimizationViews OptimizeSubgraphView(const SubgraphView& subgraph, const ModelOptions& options) const override
    {
        return OptimizeWithPlugin(m_Plugin, subgraph, options);
    }
    std::unique_ptr<IBackendContext> CreateBackendContext(const IRuntime::CreationOptions&) const override
    {
        return m_Plugin->HasHooks() ? std::make_unique<PluginContext>(m_Plugin) : nullptr;
    }

    std::vector<uint8_t> SaveCompiledBlob(const void* blob) const override
    {
        if (m_Plugin->Table().blob_save == nullptr)
        {
            return IBackend::SaveCompiledBlob(blob);
        }
        std::vector<uint8_t> bytes;
        tenon_sink sink{};
        sink.struct_size = sizeof(sink);
        sink.self = &bytes;
        sink.write = [](void* self, const void* data, size_t count, tenon_text* error)
        {
            const auto* first = static_cast<const uint8_t*>(data);
            auto& target = *static_cast<std::vector<uint8_t>*>(self);
            return Guarded(error, [&] { target.insert(target.end(), first, first + count); });
        };
        m_Plugin->Call("blob_save", m_Plugin->Table().blob_save, m_Plugin->Backend(),
                       static_cast<const tenon_plugin_blob*>(blob), &sink);
        return bytes;
    }

    std::shared_ptr<const void> LoadCompiledBlob(Span<const uint8_t> bytes) const override
    {
        if (m_Plugin->Table().blob_load == nullptr)
        {
            return IBackend::LoadCompiledBlob(bytes);
        }
        tenon_plugin_blob* blob = nullptr;
        m_Plugin->Call("blob_load", m_Plugin->Table().blob_load, m_Plugin->Backend(),
                       static_cast<const void*>(bytes.data()), bytes.size(), &blob);
        m_Plugin->NotNull(blob, "blob_load");
        return std::shared_ptr<const void>(blob, [plugin = m_Plugin, blob](const void*)
                                           { plugin->Table().blob_destroy(blob); });
    }

    BackendCapabilities GetCapabilities() const override
    {
        BackendCapabilities capabilities(m_Id);
        if (m_Plugin->Table().backend_capabilities != nullptr)
        {
            size_t count = 0;
            const tenon_attribute* attributes = nullptr;
            m_Plugin->Table().backend_capabilities(m_Plugin->Backend(), &count, &attributes);
            for (BackendOptions::BackendOption& option : ToOptions(attributes, count))
            {
                capabilities.AddOption(std::move(option));
            }
        }
        return capabilities;
    }

private:
    BackendId m_Id;
    std::shared_ptr<const Plugin> m_Plugin;
    std::unique_ptr<ITensorHandleFactory> m_Device;
};

} // namespace

std::shared_ptr<const IBackend> MakePluginBackend(std::shared_ptr<const Plugin> plugin)
{
    return std::make_shared<PluginBackend>(std::move(plugin));
}

} // namespace tenon::plugin
