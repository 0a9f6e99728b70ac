// SPDX-License-Identifier: Apache-2.0
// The plugin's side of the table for an IBackend: see <tenon/backend/PluginAdapter.hpp>.
#include "backends/plugin/CStructs.hpp"
#include "backends/plugin/Plugin.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/backend/PluginAdapter.hpp>

#include <climits>

#include <exception>
#include <mutex>
#include <optional>
#include <utility>

// The opaque objects of the table, as this side has them.
struct tenon_plugin_backend
{
    std::shared_ptr<const tenon::IBackend> m_Backend;
    std::unique_ptr<tenon::plugin::CAttributes> m_Capabilities;
};

struct tenon_plugin_model
{
    std::shared_ptr<const tenon::ILayerSupport> m_Support;
    std::unique_ptr<tenon::IWorkloadFactory> m_Factory;
};

struct tenon_plugin_workload
{
    std::unique_ptr<tenon::IWorkload> m_Workload;
};

struct tenon_plugin_shaped
{
    std::unique_ptr<tenon::IShapedWorkload> m_Workload;
    tenon_fusion m_Fusion{};
};

namespace tenon
{

namespace
{

using plugin::Guarded;
using plugin::WriteText;

std::unique_ptr<ActivationDescriptor> ActivationOf(const tenon_attribute* attributes, size_t count)
{
    auto descriptor = FromAttributes(LayerType::Activation, plugin::ToAttributes(attributes, count));
    return std::unique_ptr<ActivationDescriptor>(static_cast<ActivationDescriptor*>(descriptor.release()));
}

/// A LayerView or ReshapeArgs of a tenon_layer, with all that it points to.
class LayerOfC
{
public:
    explicit LayerOfC(const tenon_layer& foreign)
        : m_C(plugin::Known(foreign)), m_Type(plugin::LayerTypeOf(m_C.type)), m_Name(m_C.name),
          m_Descriptor(FromAttributes(m_Type, plugin::ToAttributes(m_C.attributes, m_C.num_attributes)))
    {
        if (m_C.num_activation_attributes != 0)
        {
            m_Activation = ActivationOf(m_C.activation, m_C.num_activation_attributes);
        }
        // A question without values says which inputs are constant.
        for (size_t i = 0; i < m_C.num_inputs; ++i)
        {
            const bool isGiven = m_C.input_is_constant[i] == 0 || m_C.constant_data[i] != nullptr ||
                                 m_C.inputs[i] == nullptr || plugin::Known(*m_C.inputs[i]).num_bytes == 0;
            m_HasValues = m_HasValues && isGiven;
        }
        for (size_t i = 0; i < m_C.num_inputs; ++i)
        {
            m_Inputs.push_back(Add(m_C.inputs[i]));
        }
        for (size_t i = 0; i < m_C.num_outputs; ++i)
        {
            m_Outputs.push_back(Add(m_C.outputs[i]));
        }
    }
    LayerOfC(const LayerOfC&) = delete;
    LayerOfC& operator=(const LayerOfC&) = delete;

    LayerView View() const
    {
        LayerView view;
        view.m_Type = m_Type;
        view.m_Name = &m_Name;
        view.m_Guid = LayerGuid(m_C.guid);
        view.m_Descriptor = m_Descriptor.get();
        view.m_Inputs = m_Inputs;
        view.m_Outputs = m_Outputs;
        view.m_HasValues = m_HasValues;
        if (m_HasValues)
        {
            view.m_ConstantData = Span<const void* const>(m_C.constant_data, m_C.num_inputs);
        }
        view.m_Blob = m_C.blob;
        view.m_FusedActivation = m_Activation.get();
        return view;
    }

    ReshapeArgs Args() const
    {
        ReshapeArgs args;
        args.m_Descriptor = m_Descriptor.get();
        args.m_Inputs = m_Inputs;
        args.m_Outputs = m_Outputs;
        args.m_ConstantData = Span<const void* const>(m_C.constant_data, m_C.num_inputs);
        args.m_Name = &m_Name;
        args.m_FusedActivation = m_Activation.get();
        args.m_MaxThreads = m_C.max_threads == 0 ? UINT_MAX : m_C.max_threads;
        args.m_OutputPitch = m_C.output_pitch;
        return args;
    }

private:
    const TensorInfo* Add(const tenon_tensor_info* info)
    {
        return info == nullptr ? nullptr : &m_Infos.emplace_back(plugin::ToInfo(plugin::Known(*info)));
    }

    tenon_layer m_C;
    bool m_HasValues = true;
    LayerType m_Type;
    std::string m_Name;
    std::unique_ptr<BaseDescriptor> m_Descriptor;
    std::unique_ptr<ActivationDescriptor> m_Activation; ///< fused into the layer; null: none
    std::deque<TensorInfo> m_Infos;
    std::vector<const TensorInfo*> m_Inputs;
    std::vector<const TensorInfo*> m_Outputs;
};

/// The host's threads. A piece's exception is kept and thrown when the loop is over.
class HostParallel final : public IParallelFor
{
public:
    explicit HostParallel(const tenon_parallel& host) : m_Host(plugin::Known(host)) {}

    void Run(size_t count, size_t grain, const std::function<void(size_t begin, size_t end)>& body) override
    {
        Loop loop{body, {}, nullptr};
        m_Host.run(m_Host.self, count, grain, &RunTask, &loop);
        if (loop.m_Kept != nullptr)
        {
            std::rethrow_exception(loop.m_Kept);
        }
    }
    unsigned int GetNumThreads() const override { return m_Host.num_threads; }

private:
    struct Loop
    {
        const std::function<void(size_t, size_t)>& m_Body;
        std::mutex m_Mutex;
        std::exception_ptr m_Kept;
    };

    static void RunTask(void* data, size_t begin, size_t end)
    {
        auto& loop = *static_cast<Loop*>(data);
        try
        {
            loop.m_Body(begin, end);
        }
        catch (...)
        {
            const std::lock_guard lock(loop.m_Mutex);
            loop.m_Kept = loop.m_Kept == nullptr ? std::current_exception() : loop.m_Kept;
        }
    }

    tenon_parallel m_Host;
};

class HostLateOutputs final : public ILateOutputs
{
public:
    explicit HostLateOutputs(const tenon_late_outputs& host) : m_Host(plugin::Known(host)) {}

    void* Allocate(size_t output, const TensorShape& shape) override
    {
        const TensorInfo info(shape, DataType::Float32);
        const plugin::CInfo c(info);
        plugin::ErrorText text;
        void* memory = nullptr;
        plugin::ThrowUnlessOk(m_Host.allocate(m_Host.self, output, c.Get()->rank, c.Get()->dims, &memory, text.Get()),
                              text, "host", "allocate");
        return memory;
    }

private:
    tenon_late_outputs m_Host;
};

tenon_support_code IsSupported(tenon_plugin_model* model, const tenon_layer* layer, tenon_text* reason)
{
    try
    {
        const LayerOfC converted(*layer);
        const SupportResult result = model->m_Support->IsLayerSupported(converted.View());
        WriteText(reason, result.m_Reason);
        return static_cast<tenon_support_code>(result.m_Code);
    }
    catch (...) // a layer type or parameter that this side, which may be older, does not know
    {
        plugin::StatusOfException(reason);
        return TENON_UNKNOWN_LAYER;
    }
}

tenon_support_code IsActivationFusable(tenon_plugin_model* model, const tenon_layer* layer, size_t numAttributes,
                                       const tenon_attribute* attributes, tenon_text* reason)
{
    try
    {
        const LayerOfC converted(*layer);
        const auto activation = ActivationOf(attributes, numAttributes);
        const SupportResult result = model->m_Support->IsActivationFusable(converted.View(), *activation);
        WriteText(reason, result.m_Reason);
        return static_cast<tenon_support_code>(result.m_Code);
    }
    catch (...)
    {
        plugin::StatusOfException(reason);
        return TENON_UNKNOWN_LAYER;
    }
}

tenon_status Execute(tenon_plugin_shaped* shaped, const tenon_execute_args* foreign, tenon_text* error)
{
    return Guarded(error,
                   [&]
                   {
                       const tenon_execute_args c = plugin::Known(*foreign);
                       HostParallel parallel(*c.parallel);
                       std::optional<HostLateOutputs> late;
                       ExecuteArgs args;
                       args.m_Inputs = Span<const void* const>(c.inputs, c.num_inputs);
                       args.m_Outputs = Span<void* const>(c.outputs, c.num_outputs);
                       args.m_Scratch = c.scratch;
                       args.m_Parallel = &parallel;
                       if (c.late_outputs != nullptr)
                       {
                           args.m_LateOutputs = &late.emplace(*c.late_outputs);
                       }
                       shaped->m_Workload->Execute(args);
                   });
}

tenon_status CreateModel(tenon_plugin_backend* backend, size_t numOptions, const tenon_attribute* options,
                         tenon_plugin_model** model, tenon_text* error)
{
    return Guarded(error,
                   [&]
                   {
                       const ModelOptions modelOptions = {
                           BackendOptions(backend->m_Backend->GetId(), plugin::ToOptions(options, numOptions))};
                       auto made = std::make_unique<tenon_plugin_model>();
                       made->m_Support = backend->m_Backend->GetLayerSupport(modelOptions);
                       made->m_Factory = backend->m_Backend->CreateWorkloadFactory(modelOptions);
                       *model = made.release();
                   });
}

tenon_status CreateWorkload(tenon_plugin_model* model, const tenon_layer* layer, tenon_plugin_workload** workload,
                            tenon_text* error)
{
    return Guarded(error,
                   [&]
                   {
                       const LayerOfC converted(*layer);
                       auto made = std::make_unique<tenon_plugin_workload>();
                       made->m_Workload = model->m_Factory->CreateWorkload(converted.View());
                       *workload = made.release();
                   });
}

/// Hands a workload to the host, with the hooks that follow; null stays null.
void Give(std::unique_ptr<IShapedWorkload> workload, tenon_plugin_shaped** shaped, size_t* scratchBytes);

void RunElementLoop(tenon_plugin_shaped* shaped, const void* const* inputs, void* output, size_t count) noexcept
{
    shaped->m_Workload->GetFusion().m_ElementLoop(inputs, output, count);
}

tenon_status AddTensor(tenon_plugin_shaped* shaped, size_t numAttributes, const tenon_attribute* attributes,
                       tenon_plugin_shaped** sum, size_t* scratchBytes, tenon_text* error)
{
    return Guarded(error,
                   [&]
                   {
                       const auto activation = numAttributes != 0 ? ActivationOf(attributes, numAttributes) : nullptr;
                       Give(shaped->m_Workload->GetFusion().m_AddTensor(activation.get()), sum, scratchBytes);
                   });
}

tenon_status MakeAttention(tenon_plugin_shaped* shaped, const tenon_attention* foreign, tenon_plugin_shaped** attention,
                           size_t* scratchBytes, tenon_text* error)
{
    return Guarded(error,
                   [&]
                   {
                       const tenon_attention c = plugin::Known(*foreign);
                       const LayerOfC product(*c.product);
                       const ReshapeArgs args = product.Args();
                       const auto added = c.added != nullptr
                                              ? std::make_optional(plugin::ToInfo(plugin::Known(*c.added)))
                                              : std::nullopt;
                       const AttentionRest rest{added.has_value() ? &*added : nullptr, c.beta, c.is_shared != 0, args};
                       Give(shaped->m_Workload->GetFusion().m_MakeAttention(rest), attention, scratchBytes);
                   });
}

tenon_fusion MakeFusion(const IShapedWorkload& workload)
{
    const FusionHooks& hooks = workload.GetFusion();
    tenon_fusion c{};
    c.struct_size = sizeof(c);
    c.kernel_name = hooks.m_KernelName;
    c.declined = hooks.m_Declined;
    c.is_copy = workload.IsCopy() ? 1 : 0;
    c.writes_pitched = hooks.m_WritesPitched ? 1 : 0;
    c.max_tile_threads = hooks.m_MaxTileThreads;
    if (hooks.m_Aliases != nullptr)
    {
        c.num_inputs_in_output = hooks.m_Aliases->m_InputsInOutput.size();
        c.inputs_in_output = hooks.m_Aliases->m_InputsInOutput.data();
        c.num_outputs_in_input = hooks.m_Aliases->m_OutputsInInput.size();
        c.outputs_in_input = hooks.m_Aliases->m_OutputsInInput.data();
        c.num_inputs_in_pixels = hooks.m_Aliases->m_InputsInPixels.size();
        c.inputs_in_pixels = hooks.m_Aliases->m_InputsInPixels.data();
    }
    c.element_loop = hooks.m_ElementLoop != nullptr ? &RunElementLoop : nullptr;
    c.add_tensor = hooks.m_AddTensor != nullptr ? &AddTensor : nullptr;
    c.make_attention = hooks.m_MakeAttention != nullptr ? &MakeAttention : nullptr;
    return c;
}

void Give(std::unique_ptr<IShapedWorkload> workload, tenon_plugin_shaped** shaped, size_t* scratchBytes)
{
    if (workload == nullptr)
    {
        *shaped = nullptr;
        return;
    }
    auto made = std::make_unique<tenon_plugin_shaped>();
    made->m_Fusion = MakeFusion(*workload);
    made->m_Workload = std::move(workload);
    *scratchBytes = made->m_Workload->GetScratchBytes();
    *shaped = made.release();
}

tenon_status Reshape(tenon_plugin_workload* workload, const tenon_layer* layer, tenon_plugin_shaped** shaped,
                     size_t* scratchBytes, tenon_text* error)
{
    return Guarded(error,
                   [&]
                   {
                       const LayerOfC converted(*layer);
                       Give(workload->m_Workload->Reshape(converted.Args()), shaped, scratchBytes);
                   });
}

const tenon_fusion* GetFusion(tenon_plugin_shaped* shaped)
{
    return &shaped->m_Fusion;
}

void GetCapabilities(tenon_plugin_backend* backend, size_t* count, const tenon_attribute** capabilities)
{
    *count = backend->m_Capabilities->Size();
    *capabilities = backend->m_Capabilities->Get();
}

} // namespace

namespace detail
{

tenon_plugin_table MakePluginTable(const char* id, const char* version)
{
    tenon_plugin_table table{};
    table.struct_size = sizeof(table);
    table.major = TENON_PLUGIN_MAJOR;
    table.minor = TENON_PLUGIN_MINOR;
    table.id = id;
    table.vendor_version = version;
    table.backend_destroy = [](tenon_plugin_backend* backend) { delete backend; };
    table.backend_capabilities = &GetCapabilities;
    table.model_create = &CreateModel;
    table.model_destroy = [](tenon_plugin_model* model) { delete model; };
    table.is_supported = &IsSupported;
    table.is_activation_fusable = &IsActivationFusable;
    table.workload_create = &CreateWorkload;
    table.workload_destroy = [](tenon_plugin_workload* workload) { delete workload; };
    table.workload_name = [](tenon_plugin_workload* workload) { return workload->m_Workload->GetName(); };
    table.workload_reshape = &Reshape;
    table.shaped_destroy = [](tenon_plugin_shaped* shaped) { delete shaped; };
    table.shaped_execute = &Execute;
    table.shaped_fusion = &GetFusion;
    return table;
}

tenon_status CreatePluginBackend(PluginBackendMaker maker, const char* id, size_t numOptions,
                                 const tenon_attribute* options, tenon_plugin_backend** backend, tenon_text* message)
{
    return Guarded(message,
                   [&]
                   {
                       auto made = std::make_unique<tenon_plugin_backend>();
                       made->m_Backend = maker({BackendOptions(id, plugin::ToOptions(options, numOptions))});
                       if (made->m_Backend == nullptr)
                       {
                           throw NullPointerException("the plugin's maker gave no backend");
                       }
                       if (made->m_Backend->GetTensorHandleFactory() != nullptr)
                       {
                           throw UnimplementedException("GetPluginTable is for backends without a device; write the "
                                                        "table of this one by hand");
                       }
                       const BackendCapabilities capabilities = made->m_Backend->GetCapabilities();
                       made->m_Capabilities = std::make_unique<plugin::CAttributes>(
                           plugin::OptionAttributes({capabilities}, capabilities.GetBackendId()));
                       *backend = made.release();
                   });
}

} // namespace detail

} // namespace tenon
