// SPDX-License-Identifier: Apache-2.0
// The three steps of a plugin's workload.
#include "backends/plugin/CStructs.hpp"
#include "backends/plugin/PluginBackend.hpp"
#include "backends/plugin/PluginDevice.hpp"

#include <array>
#include <exception>
#include <utility>

namespace tenon::plugin
{

namespace
{

/// Runs what the host does for a plugin during execute. What is thrown there does not cross the table: it is kept and
/// thrown once the plugin has returned.
class HostCalls
{
public:
    explicit HostCalls(const ExecuteArgs& args) : m_Args(args)
    {
        m_Parallel.struct_size = sizeof(m_Parallel);
        m_Parallel.self = this;
        m_Parallel.num_threads = args.m_Parallel->GetNumThreads();
        m_Parallel.run = &RunLoop;
        m_LateOutputs.struct_size = sizeof(m_LateOutputs);
        m_LateOutputs.self = this;
        m_LateOutputs.allocate = &Allocate;
        m_LateOutputs.allocate_on_device = &AllocateOnDevice;
    }

    const tenon_parallel* Parallel() const { return &m_Parallel; }
    const tenon_late_outputs* LateOutputs() const { return m_Args.m_LateOutputs == nullptr ? nullptr : &m_LateOutputs; }
    void RethrowKept() const
    {
        if (m_Kept != nullptr)
        {
            std::rethrow_exception(m_Kept);
        }
    }

private:
    static void RunLoop(void* self, size_t count, size_t grain, tenon_loop_body body, void* bodyData)
    {
        auto& calls = *static_cast<HostCalls*>(self);
        try
        {
            calls.m_Args.m_Parallel->Run(count, grain,
                                         [body, bodyData](size_t begin, size_t end) { body(bodyData, begin, end); });
        }
        catch (...)
        {
            calls.m_Kept = std::current_exception();
        }
    }

    static tenon_status Allocate(void* self, size_t output, uint32_t rank, const int64_t* dims, void** memory,
                                 tenon_text* error)
    {
        return static_cast<HostCalls*>(self)->Keeping(error, [&](ILateOutputs& late)
                                                      { *memory = late.Allocate(output, ToShape(rank, dims)); });
    }

    static tenon_status AllocateOnDevice(void* self, size_t output, uint32_t rank, const int64_t* dims,
                                         tenon_device_tensor* memory, tenon_text* error);

    template <typename F>
    tenon_status Keeping(tenon_text* error, F f)
    {
        try
        {
            f(*m_Args.m_LateOutputs);
            return TENON_OK;
        }
        catch (...)
        {
            m_Kept = std::current_exception();
            return StatusOfException(error);
        }
    }

    const ExecuteArgs& m_Args;
    tenon_parallel m_Parallel{};
    tenon_late_outputs m_LateOutputs{};
    std::exception_ptr m_Kept;
};

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
            (m_Many.empty() ? m_Few.data() : m_Many.data())[i] = ToC(tensors[i]);
        }
    }
    const tenon_device_tensor* Get() const { return m_Many.empty() ? m_Few.data() : m_Many.data(); }

    static tenon_device_tensor ToC(const DeviceTensor& tensor) { return {MemoryOf(tensor.m_Memory), tensor.m_Offset}; }

private:
    std::array<tenon_device_tensor, 8> m_Few{};
    std::vector<tenon_device_tensor> m_Many;
};

tenon_status HostCalls::AllocateOnDevice(void* self, size_t output, uint32_t rank, const int64_t* dims,
                                         tenon_device_tensor* memory, tenon_text* error)
{
    return static_cast<HostCalls*>(self)->Keeping(
        error,
        [&](ILateOutputs& late) { *memory = DeviceTensors::ToC(late.AllocateOnDevice(output, ToShape(rank, dims))); });
}

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

class ShapedPluginWorkload final : public IShapedWorkload
{
public:
    ShapedPluginWorkload(std::shared_ptr<const Workload> workload, const ReshapeArgs& args)
        : m_Workload(std::move(workload))
    {
        const CLayer c(m_Workload->Type(), m_Workload->Guid(), m_Workload->Blob(), args);
        const Plugin& plugin = m_Workload->GetPlugin();
        plugin.Call("workload_reshape", plugin.Table().workload_reshape, m_Workload->Get(), c.Get(), &m_Shaped,
                    &m_ScratchBytes);
        plugin.NotNull(m_Shaped, "workload_reshape");
    }
    ~ShapedPluginWorkload() override { m_Workload->GetPlugin().Table().shaped_destroy(m_Shaped); }

    size_t GetScratchBytes() const override { return m_ScratchBytes; }

    void Execute(const ExecuteArgs& args) const override
    {
        const Plugin& plugin = m_Workload->GetPlugin();
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
            c.device_scratch = DeviceTensors::ToC(args.m_DeviceScratch);
            status = plugin.Table().shaped_execute(m_Shaped, &c, text.Get());
        }
        else
        {
            status = plugin.Table().shaped_execute(m_Shaped, &c, text.Get());
        }
        calls.RethrowKept();
        ThrowUnlessOk(status, text, plugin.Who(), "shaped_execute");
    }

private:
    std::shared_ptr<const Workload> m_Workload;
    tenon_plugin_shaped* m_Shaped = nullptr;
    size_t m_ScratchBytes = 0;
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
        return std::make_unique<ShapedPluginWorkload>(m_Workload, args);
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
