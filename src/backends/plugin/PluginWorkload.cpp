// SPDX-License-Identifier: Apache-2.0
// The three steps of a plugin's workload.
#include "backends/plugin/CStructs.hpp"
#include "backends/plugin/HostCalls.hpp"
#include "backends/plugin/PluginBackend.hpp"
#include "backends/plugin/PluginDevice.hpp"

#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace tenon::plugin
{

namespace
{

/// The C form of device tensors; allocates only for layers of very many slots.
class DeviceTensors
{
public:
    explicit DeviceTensors(Span<const DeviceTensor> tensors)
    {
        if (tensors.size() > m_Few.size())
        {
            m_Many.resize(tensors.size());
        }
        for (size_t i = 0; i < tensors.size(); ++i)
        {
            (m_Many.empty() ? m_Few.data() : m_Many.data())[i] = ToDeviceTensor(tensors[i]);
        }
    }
    const tenon_device_tensor* Get() const { return m_Many.empty() ? m_Few.data() : m_Many.data(); }

private:
    std::array<tenon_device_tensor, 8> m_Few{};
    std::vector<tenon_device_tensor> m_Many;
};

class Workload
{
public:
    Workload(std::shared_ptr<const Model> model, const LayerView& layer)
        : m_Model(std::move(model)), m_Type(layer.m_Type), m_Guid(layer.m_Guid), m_Blob(layer.m_Blob)
    {
        const CLayer c(layer);
        const Plugin& plugin = m_Model->GetPlugin();
        plugin.Call("workload_create", plugin.Table().workload_create, m_Model->Get(), c.Get(), &m_Workload);
        plugin.NotNull(m_Workload, "workload_create");
        const char* name = plugin.Table().workload_name(m_Workload);
        m_Name = name == nullptr ? plugin.Id() : name;
    }
    ~Workload() { GetPlugin().Table().workload_destroy(m_Workload); }
    Workload(const Workload&) = delete;
    Workload& operator=(const Workload&) = delete;

    const Plugin& GetPlugin() const { return m_Model->GetPlugin(); }
    tenon_plugin_workload* Get() const { return m_Workload; }
    const std::string& Name() const { return m_Name; }
    LayerType Type() const { return m_Type; }
    LayerGuid Guid() const { return m_Guid; }
    const void* Blob() const { return m_Blob; }

private:
    std::shared_ptr<const Model> m_Model;
    LayerType m_Type;
    LayerGuid m_Guid;
    const void* m_Blob; ///< lives as long as the network
    std::string m_Name;
    tenon_plugin_workload* m_Workload = nullptr;
};

/// A tenon_plugin_shaped. Workloads that its hooks made share it, and so does its element loop.
class Shaped
{
public:
    /// `maker` is the one whose hook makes this one, or null.
    explicit Shaped(std::shared_ptr<const Workload> workload, std::shared_ptr<const Shaped> maker = nullptr)
        : m_Workload(std::move(workload)), m_Maker(std::move(maker))
    {
    }
    ~Shaped()
    {
        if (m_Shaped != nullptr)
        {
            GetPlugin().Table().shaped_destroy(m_Shaped);
        }
    }
    Shaped(const Shaped&) = delete;
    Shaped& operator=(const Shaped&) = delete;

    const std::shared_ptr<const Workload>& GetWorkload() const { return m_Workload; }
    const Plugin& GetPlugin() const { return m_Workload->GetPlugin(); }
    tenon_plugin_shaped* Get() const { return m_Shaped; }
    /// Calls the function that makes the object, call(made, scratchBytes), and takes the object over. Returns false
    /// where null was made.
    template <typename F>
    bool Make(F call)
    {
        tenon_plugin_shaped* made = nullptr;
        size_t scratchBytes = 0;
        call(&made, &scratchBytes);
        m_Shaped = made;
        m_ScratchBytes = scratchBytes;
        return made != nullptr;
    }
    size_t ScratchBytes() const { return m_ScratchBytes; }

private:
    std::shared_ptr<const Workload> m_Workload;
    std::shared_ptr<const Shaped> m_Maker;
    tenon_plugin_shaped* m_Shaped = nullptr;
    size_t m_ScratchBytes = 0;
};

class ShapedPluginWorkload final : public IShapedWorkload
{
public:
    /// `layer` names the layer in messages; the tensors are those of the workload.
    ShapedPluginWorkload(std::shared_ptr<const Shaped> shaped, std::string layer, Span<const TensorInfo* const> inputs,
                         Span<const TensorInfo* const> outputs)
        : m_Shaped(std::move(shaped))
    {
        const Plugin& plugin = m_Shaped->GetPlugin();
        if (plugin.Table().shaped_fusion == nullptr)
        {
            return;
        }
        const tenon_fusion* const given = plugin.Table().shaped_fusion(m_Shaped->Get());
        if (given != nullptr)
        {
            m_C = Known(*given);
            m_Aliases = CheckFusion(m_C, m_Shaped->GetWorkload()->Type(), inputs, outputs, plugin.HasDevice(),
                                    plugin.Who() + ": shaped_fusion of " + layer);
            MakeHooks(std::move(layer), inputs, outputs);
        }
    }

    size_t GetScratchBytes() const override { return m_Shaped->ScratchBytes(); }
    bool IsCopy() const override { return m_C.is_copy != 0; }
    const FusionHooks& GetFusion() const override { return m_Fusion; }

    void Execute(const ExecuteArgs& args) const override
    {
        const Plugin& plugin = m_Shaped->GetPlugin();
        HostCalls calls(args);
        tenon_execute_args c{};
        c.struct_size = sizeof(c);
        c.num_inputs = args.m_Inputs.size();
        c.inputs = args.m_Inputs.data();
        c.num_outputs = args.m_Outputs.size();
        c.outputs = args.m_Outputs.data();
        c.scratch = args.m_Scratch;
        c.parallel = calls.Parallel();
        c.late_outputs = calls.LateOutputs();
        ErrorText text;
        tenon_status status = TENON_OK;
        if (plugin.HasDevice())
        {
            const DeviceTensors inputs(args.m_DeviceInputs);
            const DeviceTensors outputs(args.m_DeviceOutputs);
            c.queue = QueueOf(args.m_Queue);
            c.device_inputs = inputs.Get();
            c.device_outputs = outputs.Get();
            c.device_scratch = ToDeviceTensor(args.m_DeviceScratch);
            status = plugin.Table().shaped_execute(m_Shaped->Get(), &c, text.Get());
        }
        else
        {
            status = plugin.Table().shaped_execute(m_Shaped->Get(), &c, text.Get());
        }
        calls.RethrowKept();
        ThrowUnlessOk(status, text, plugin.Who(), "shaped_execute");
    }

private:
    void MakeHooks(std::string layer, Span<const TensorInfo* const> inputs, Span<const TensorInfo* const> outputs)
    {
        m_Fusion.m_KernelName = m_C.kernel_name;
        m_Fusion.m_Declined = m_C.declined;
        m_Fusion.m_Aliases = m_Aliases.Empty() ? nullptr : &m_Aliases;
        m_Fusion.m_MaxTileThreads = m_C.max_tile_threads;
        m_Fusion.m_WritesPitched = m_C.writes_pitched != 0;
        if (m_C.element_loop != nullptr)
        {
            m_Fusion.m_ElementLoop =
                [shaped = m_Shaped, loop = m_C.element_loop](const void* const* in, void* out, size_t count)
            { loop(shaped->Get(), in, out, count); };
        }
        if (m_C.add_tensor != nullptr)
        {
            m_Fusion.m_AddTensor = [this](const ActivationDescriptor* activation) { return AddTensor(activation); };
        }
        if (m_C.make_attention != nullptr)
        {
            m_Fusion.m_MakeAttention = [this](const AttentionRest& rest) { return MakeAttention(rest); };
        }
        if (m_C.add_tensor != nullptr || m_C.make_attention != nullptr)
        {
            m_Layer = std::move(layer);
            for (const TensorInfo* input : inputs)
            {
                m_Inputs.push_back(input != nullptr ? std::make_optional(*input) : std::nullopt);
            }
            m_Output = *outputs[0];
        }
    }

    /// The layer's own inputs. The inputs of a workload that a hook makes begin with them.
    std::vector<const TensorInfo*> ListInputs() const
    {
        std::vector<const TensorInfo*> inputs;
        for (const std::optional<TensorInfo>& input : m_Inputs)
        {
            inputs.push_back(input.has_value() ? &*input : nullptr);
        }
        return inputs;
    }

    std::unique_ptr<IShapedWorkload> AddTensor(const ActivationDescriptor* activation) const
    {
        const CAttributes attributes(activation != nullptr ? ToAttributes(LayerType::Activation, *activation)
                                                           : std::vector<Attribute>());
        std::vector<const TensorInfo*> inputs = ListInputs();
        inputs.push_back(&m_Output);
        const TensorInfo* const outputs[] = {&m_Output};
        return Make("add_tensor", "with a sum", inputs, {outputs, 1},
                    [&](tenon_plugin_shaped** made, size_t* scratchBytes, tenon_text* error) {
                        return m_C.add_tensor(m_Shaped->Get(), attributes.Size(), attributes.Get(), made, scratchBytes,
                                              error);
                    });
    }

    std::unique_ptr<IShapedWorkload> MakeAttention(const AttentionRest& rest) const
    {
        const CLayer product(LayerType::BatchMatMul, LayerGuid(), nullptr, rest.m_Product);
        std::optional<CInfo> added;
        std::vector<const TensorInfo*> inputs = ListInputs();
        tenon_attention c{};
        c.struct_size = sizeof(c);
        if (rest.m_Added != nullptr)
        {
            c.added = added.emplace(*rest.m_Added).Get();
            inputs.push_back(rest.m_Added);
        }
        c.beta = rest.m_Beta;
        c.is_shared = rest.m_IsShared ? 1 : 0;
        c.product = product.Get();
        inputs.push_back(&rest.m_Product.GetInput(1)); // the values
        return Make("make_attention", "with an attention", inputs, rest.m_Product.m_Outputs,
                    [&](tenon_plugin_shaped** made, size_t* scratchBytes, tenon_text* error)
                    { return m_C.make_attention(m_Shaped->Get(), &c, made, scratchBytes, error); });
    }

    /// A workload that the hook makes, or null where it gives none. `addition` follows the layer's name in its
    /// messages.
    template <typename F>
    std::unique_ptr<IShapedWorkload> Make(const char* hook, const char* addition, Span<const TensorInfo* const> inputs,
                                          Span<const TensorInfo* const> outputs, F call) const
    {
        const Plugin& plugin = m_Shaped->GetPlugin();
        auto shaped = std::make_shared<Shaped>(m_Shaped->GetWorkload(), m_Shaped);
        const bool isMade =
            shaped->Make([&](tenon_plugin_shaped** made, size_t* scratchBytes)
                         { plugin.Call((std::string(hook) + " of " + m_Layer).c_str(), call, made, scratchBytes); });
        return isMade ? std::make_unique<ShapedPluginWorkload>(std::move(shaped), m_Layer + " " + addition, inputs,
                                                               outputs)
                      : nullptr;
    }

    std::shared_ptr<const Shaped> m_Shaped;
    tenon_fusion m_C{};
    TensorAliases m_Aliases;
    FusionHooks m_Fusion;
    std::string m_Layer;                             ///< this and the infos: only where a hook makes workloads
    std::vector<std::optional<TensorInfo>> m_Inputs; ///< none where not connected
    TensorInfo m_Output;
};

class PluginWorkload final : public IWorkload
{
public:
    PluginWorkload(std::shared_ptr<const Model> model, const LayerView& layer)
        : m_Workload(std::make_shared<const Workload>(std::move(model), layer))
    {
    }
    std::unique_ptr<IShapedWorkload> Reshape(const ReshapeArgs& args) const override
    {
        const Plugin& plugin = m_Workload->GetPlugin();
        const bool isPitched = args.m_OutputPitch != 0;
        if (isPitched && plugin.Table().shaped_fusion == nullptr) // it does not know tenon_layer::output_pitch
        {
            return nullptr;
        }
        const CLayer c(m_Workload->Type(), m_Workload->Guid(), m_Workload->Blob(), args);
        auto shaped = std::make_shared<Shaped>(m_Workload);
        const bool isMade = shaped->Make(
            [&](tenon_plugin_shaped** made, size_t* scratchBytes) {
                plugin.Call("workload_reshape", plugin.Table().workload_reshape, m_Workload->Get(), c.Get(), made,
                            scratchBytes);
            });
        if (isPitched && !isMade)
        {
            return nullptr;
        }
        plugin.NotNull(shaped->Get(), "workload_reshape");
        auto workload = std::make_unique<ShapedPluginWorkload>(
            std::move(shaped), "layer '" + *args.m_Name + "' (" + GetLayerTypeAsCString(m_Workload->Type()) + ")",
            args.m_Inputs, args.m_Outputs);
        const bool isAsAsked = !isPitched || workload->GetFusion().m_WritesPitched;
        return isAsAsked ? std::move(workload) : nullptr;
    }
    const char* GetName() const override { return m_Workload->Name().c_str(); }

private:
    std::shared_ptr<const Workload> m_Workload;
};

} // namespace

std::unique_ptr<IWorkload> MakePluginWorkload(std::shared_ptr<const Model> model, const LayerView& layer)
{
    return std::make_unique<PluginWorkload>(std::move(model), layer);
}

} // namespace tenon::plugin
