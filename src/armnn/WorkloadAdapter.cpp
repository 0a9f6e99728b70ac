// SPDX-License-Identifier: Apache-2.0
// AdaptWorkloadFactory: runs workloads that are written for Arm NN. Their tensors are fixed when they are made: there
// is one for each set of shapes, with tensors of the backend's own, into which inputs are copied and out of which
// outputs are. Tensors of constants are shared by all of them.
#include "armnn/BackendAdapter.hpp"
#include "armnn/CallWithoutThrowing.hpp"
#include "armnn/CopyTensor.hpp"
#include "armnn/MappedHandle.hpp"
#include "armnn/ShownLayer.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/TensorHandle.hpp>
#include <tenon/backend/IWorkload.hpp>
#include <tenon/backend/IWorkloadFactory.hpp>

#include <armnn/Deprecated.hpp>
#include <armnn/backends/TensorHandleFactoryRegistry.hpp>
#include <armnn/backends/WorkloadFactory.hpp>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenon
{

namespace
{

/// The backend, its options and the locks that the workloads of one loaded network share.
struct WorkloadSource
{
    WorkloadSource(std::shared_ptr<AdaptedBackend> adapted, std::shared_ptr<const ILayerSupport> support,
                   ModelOptions options)
        : m_Adapted(std::move(adapted)), m_Support(std::move(support)), m_Options(std::move(options))
    {
    }

    std::shared_ptr<AdaptedBackend> m_Adapted;
    std::shared_ptr<const ILayerSupport> m_Support;
    ModelOptions m_Options;
    /// Held while a workload of the network is made, executes or is destroyed: Arm NN runs all workloads of a network
    /// in one thread at a time.
    std::mutex m_Execution;
};

/// Makes tensor handles and workloads; owns the memory that they plan. One for each workload, as memory that is
/// acquired takes no further tensors.
class HandleMaker
{
public:
    explicit HandleMaker(const WorkloadSource& source) : m_Backend(source.m_Adapted->m_Backend.get())
    {
        if (m_Backend->SupportsTensorAllocatorAPI())
        {
            UseRegistry(source.m_Options);
            return;
        }
        std::shared_ptr<IMemoryManager> manager = m_Backend->CreateMemoryManager();
        m_Factory = m_Backend->CreateWorkloadFactory(manager, source.m_Options);
        if (manager != nullptr)
        {
            m_Registry.RegisterMemoryManager(std::move(manager));
        }
        CheckFactory();
    }

    ~HandleMaker()
    {
        if (m_IsAcquired)
        {
            CallWithoutThrowing("Release of a memory manager of backend " + m_Backend->GetId().Get(),
                                [this] { m_Registry.ReleaseMemory(); });
        }
    }
    HandleMaker(const HandleMaker&) = delete;
    HandleMaker& operator=(const HandleMaker&) = delete;

    std::unique_ptr<ITensorHandle> MakeHandle(const TensorInfo& info) const
    {
        constexpr bool isMemoryManaged = true;
        ARMNN_NO_DEPRECATE_WARN_BEGIN
        std::unique_ptr<ITensorHandle> handle = m_Handles != nullptr
                                                    ? m_Handles->CreateTensorHandle(info, isMemoryManaged)
                                                    : m_Factory->CreateTensorHandle(info, isMemoryManaged);
        ARMNN_NO_DEPRECATE_WARN_END
        if (handle == nullptr)
        {
            Fail("makes no tensor handle of " + info.ToString());
        }
        return handle;
    }

    bool CanMap() const { return m_Handles == nullptr || m_Handles->SupportsMapUnmap(); }

    std::unique_ptr<tenon::IWorkload> MakeWorkload(LayerType type, const QueueDescriptor& queue,
                                                   const WorkloadInfo& info) const
    {
        std::unique_ptr<tenon::IWorkload> workload = m_Factory->CreateWorkload(type, queue, info);
        if (workload == nullptr)
        {
            Fail(std::string("makes no workload of a layer ") + GetLayerTypeAsCString(type) +
                 ", though its ILayerSupport says yes");
        }
        m_Factory->AfterWorkloadsCreated();
        return workload;
    }

    void Acquire()
    {
        m_Registry.AquireMemory();
        m_IsAcquired = true;
    }

    [[noreturn]] void Fail(const std::string& what) const
    {
        throw BackendCapabilityException("backend " + m_Backend->GetId().Get() + " " + what);
    }

private:
    void UseRegistry(const ModelOptions& options)
    {
        const auto flags = static_cast<MemorySourceFlags>(MemorySource::Undefined);
        const ITensorHandleFactory::FactoryId id = m_Backend->GetHandleFactoryPreferences().front();
        m_Factory = m_Backend->CreateWorkloadFactory(m_Registry, options, flags, flags);
        CheckFactory();
        m_Handles = m_Registry.GetFactory(id);
        if (m_Handles == nullptr)
        {
            m_Backend->RegisterTensorHandleFactories(m_Registry);
            m_Handles = m_Registry.GetFactory(id);
        }
        if (m_Handles == nullptr)
        {
            Fail("prefers the tensor handle factory '" + id + "', but does not register it");
        }
    }

    void CheckFactory() const
    {
        if (m_Factory == nullptr)
        {
            throw InvalidArgumentException("backend " + m_Backend->GetId().Get() +
                                           " gives no workload factory for the options of this network; it takes "
                                           "none, or not these");
        }
    }

    IBackendInternal* m_Backend;
    TensorHandleFactoryRegistry m_Registry; ///< also of the memory manager where the backend has no such factories
    std::unique_ptr<tenon::IWorkloadFactory> m_Factory;
    const tenon::ITensorHandleFactory* m_Handles = nullptr; ///< null: the workload factory makes handles
    bool m_IsAcquired = false;
};

/// A tensor of a workload.
struct BoundTensor
{
    std::unique_ptr<ITensorHandle> m_Handle;
    TensorInfo m_Info;
    size_t m_Slot = 0; ///< of the layer

    void Write(const void* source, bool canMap) const
    {
        if (m_Info.GetNumBytes() == 0)
        {
            return;
        }
        if (!canMap)
        {
            m_Handle->CopyInFrom(source);
            return;
        }
        MappedHandle mapped(*m_Handle, m_Info);
        CopyTensor({static_cast<const std::byte*>(source), GetUnpaddedTensorStrides(m_Info)}, mapped.Get(),
                   m_Info.GetShape(), GetDataTypeSize(m_Info.GetDataType()));
        mapped.Unmap();
    }

    void Read(void* target, bool canMap) const
    {
        if (m_Info.GetNumBytes() == 0)
        {
            return;
        }
        if (!canMap)
        {
            m_Handle->CopyOutTo(target);
            return;
        }
        MappedHandle mapped(*m_Handle, m_Info);
        CopyTensor(mapped.GetConst(), {static_cast<std::byte*>(target), GetUnpaddedTensorStrides(m_Info)},
                   m_Info.GetShape(), GetDataTypeSize(m_Info.GetDataType()));
        mapped.Unmap();
    }
};

/// The tensors of a layer's constants, which its workloads of all shapes share, and whose values outlive it. Called
/// under the locks of the backend and the network.
class ConstantTensors
{
public:
    /// `source` outlives it.
    explicit ConstantTensors(const WorkloadSource& source) : m_Source(source) {}

    /// A tensor with the values of an input. A tensor of `info` that was made of the same values is given again.
    ITensorHandle* Get(const TensorInfo& info, const void* values)
    {
        for (const Tensor& tensor : m_Tensors)
        {
            if (tensor.m_Values == values && tensor.m_Bound.m_Info == info)
            {
                return tensor.m_Bound.m_Handle.get();
            }
        }
        if (!m_Maker)
        {
            m_Maker.emplace(m_Source);
        }
        Tensor tensor;
        tensor.m_Values = values;
        tensor.m_Bound.m_Info = info;
        tensor.m_Bound.m_Handle = m_Maker->MakeHandle(info);
        tensor.m_Bound.m_Handle->Allocate(); // without Manage, it has memory of its own
        tensor.m_Bound.Write(values, m_Maker->CanMap());
        m_Tensors.push_back(std::move(tensor));
        return m_Tensors.back().m_Bound.m_Handle.get();
    }

private:
    struct Tensor
    {
        const void* m_Values = nullptr;
        BoundTensor m_Bound;
    };

    const WorkloadSource& m_Source;
    std::optional<HandleMaker> m_Maker; ///< where there is a tensor; goes after the tensors
    std::vector<Tensor> m_Tensors;
};

/// A workload with its tensors.
class BoundWorkload
{
public:
    BoundWorkload(const WorkloadSource& source, const ShownLayer& layer, const ReshapeArgs& args, const void* blob,
                  std::shared_ptr<ConstantTensors> constants)
        : m_ConstantTensors(std::move(constants)), m_Maker(source), m_CanMap(m_Maker.CanMap())
    {
        std::vector<bool> isConstant(layer.m_Inputs.size(), false);
        m_Constants.resize(layer.m_Inputs.size());
        for (size_t i = 0; i < layer.m_Inputs.size(); ++i)
        {
            const void* const values = i < args.m_ConstantData.size() ? args.m_ConstantData[i] : nullptr;
            isConstant[i] = values != nullptr;
            if (isConstant[i])
            {
                m_Constants[i] = std::make_unique<ConstPassthroughTensorHandle>(*layer.m_Inputs[i], values);
            }
        }
        const std::unique_ptr<QueueDescriptor> queue = MakeQueueDescriptor(layer, m_Constants, blob);
        for (const size_t slot : layer.m_Tensors)
        {
            if (isConstant[slot])
            {
                queue->m_Inputs.push_back(m_ConstantTensors->Get(*layer.m_Inputs[slot], args.m_ConstantData[slot]));
            }
            else
            {
                m_Inputs.push_back(Bind(*layer.m_Inputs[slot], slot, queue->m_Inputs));
            }
        }
        for (size_t i = 0; i < layer.m_Outputs.size(); ++i)
        {
            m_Outputs.push_back(Bind(*layer.m_Outputs[i], i, queue->m_Outputs));
        }
        m_Workload = m_Maker.MakeWorkload(layer.m_Type, *queue, MakeWorkloadInfo(layer, isConstant));
        ForEachTensor([](ITensorHandle& handle) { handle.Manage(); });
        ForEachTensor([](ITensorHandle& handle) { handle.Allocate(); });
        m_Maker.Acquire();
        m_Workload->PostAllocationConfigure();
    }

    void Execute(const ExecuteArgs& args) const
    {
        for (const BoundTensor& input : m_Inputs)
        {
            input.Write(args.m_Inputs[input.m_Slot], m_CanMap);
        }
        m_Workload->Execute();
        for (const BoundTensor& output : m_Outputs)
        {
            output.Read(args.m_Outputs[output.m_Slot], m_CanMap);
        }
    }

private:
    BoundTensor Bind(const TensorInfo& info, size_t slot, std::vector<ITensorHandle*>& handles) const
    {
        BoundTensor tensor;
        tensor.m_Handle = m_Maker.MakeHandle(info);
        tensor.m_Info = info;
        tensor.m_Slot = slot;
        handles.push_back(tensor.m_Handle.get());
        return tensor;
    }

    template <typename F>
    void ForEachTensor(F f)
    {
        for (const auto* tensors : {&m_Inputs, &m_Outputs})
        {
            for (const BoundTensor& tensor : *tensors)
            {
                f(*tensor.m_Handle);
            }
        }
    }

    std::shared_ptr<ConstantTensors> m_ConstantTensors;
    HandleMaker m_Maker; ///< goes after the tensors and the workload
    bool m_CanMap;
    ConstantHandles m_Constants;
    std::vector<BoundTensor> m_Inputs; ///< inputs that are no constants
    std::vector<BoundTensor> m_Outputs;
    std::unique_ptr<tenon::IWorkload> m_Workload;
};

class ShapedAdapter final : public IShapedWorkload
{
public:
    ShapedAdapter(std::shared_ptr<WorkloadSource> source, std::unique_ptr<BoundWorkload> workload)
        : m_Source(std::move(source)), m_Workload(std::move(workload))
    {
    }
    ~ShapedAdapter() override
    {
        const std::scoped_lock lock(m_Source->m_Execution, m_Source->m_Adapted->m_Mutex);
        m_Workload.reset();
    }

    void Execute(const ExecuteArgs& args) const override
    {
        const std::lock_guard lock(m_Source->m_Execution);
        m_Workload->Execute(args);
    }

private:
    std::shared_ptr<WorkloadSource> m_Source;
    std::unique_ptr<BoundWorkload> m_Workload;
};

/// Copies input 0 to output 0.
class ShapedRenaming final : public IShapedWorkload
{
public:
    explicit ShapedRenaming(size_t bytes) : m_Bytes(bytes) {}
    bool IsCopy() const override { return true; }
    void Execute(const ExecuteArgs& args) const override
    {
        if (m_Bytes != 0 && args.m_Inputs[0] != args.m_Outputs[0])
        {
            std::memcpy(args.m_Outputs[0], args.m_Inputs[0], m_Bytes);
        }
    }

private:
    size_t m_Bytes;
};

class WorkloadAdapter final : public backend::IWorkload
{
public:
    WorkloadAdapter(std::shared_ptr<WorkloadSource> source, const LayerView& layer)
        : m_Source(std::move(source)), m_Type(layer.m_Type), m_Guid(layer.m_Guid), m_Blob(layer.m_Blob),
          m_Descriptor(KeepDescriptor(layer)),
          m_Name(m_Source->m_Adapted->m_Backend->GetId().Get() + GetLayerTypeAsCString(layer.m_Type))
    {
    }
    ~WorkloadAdapter() override
    {
        const std::scoped_lock lock(m_Source->m_Execution, m_Source->m_Adapted->m_Mutex);
        m_Constants.reset();
    }

    const char* GetName() const override { return m_Name.c_str(); }

    std::unique_ptr<IShapedWorkload> Reshape(const ReshapeArgs& args) const override
    {
        if (OnlyRenamesDimensions(m_Type))
        {
            return std::make_unique<ShapedRenaming>(args.GetOutput(0).GetNumBytes());
        }
        LayerView view;
        view.m_Type = m_Type;
        view.m_Name = args.m_Name;
        view.m_Guid = m_Guid;
        view.m_Descriptor = m_Descriptor != nullptr ? m_Descriptor.get() : args.m_Descriptor;
        view.m_Inputs = args.m_Inputs;
        view.m_Outputs = args.m_Outputs;
        view.m_ConstantData = args.m_ConstantData;
        view.m_Blob = m_Blob;
        const std::scoped_lock lock(m_Source->m_Execution, m_Source->m_Adapted->m_Mutex);
        ShownLayer shown;
        SupportResult result = ShowLayer(view, shown);
        if (result)
        {
            result = AskBackend(*m_Source->m_Support, shown);
        }
        if (!result)
        {
            throw LayerValidationException("backend " + m_Source->m_Adapted->m_Backend->GetId().Get() +
                                           " does not run the layer with these shapes: " + result.m_Reason);
        }
        if (m_Constants == nullptr)
        {
            m_Constants = std::make_shared<ConstantTensors>(*m_Source);
        }
        auto workload = std::make_unique<BoundWorkload>(*m_Source, shown, args, m_Blob, m_Constants);
        return std::make_unique<ShapedAdapter>(m_Source, std::move(workload));
    }

private:
    std::shared_ptr<WorkloadSource> m_Source;
    LayerType m_Type;
    LayerGuid m_Guid;
    const void* m_Blob;
    std::shared_ptr<const BaseDescriptor> m_Descriptor; ///< null: that of the run
    std::string m_Name;
    mutable std::shared_ptr<ConstantTensors> m_Constants; ///< under the locks of the backend and the network
};

class WorkloadFactoryAdapter final : public backend::IWorkloadFactory
{
public:
    explicit WorkloadFactoryAdapter(std::shared_ptr<WorkloadSource> source)
        : m_Id(source->m_Adapted->m_Backend->GetId()), m_Source(std::move(source))
    {
    }

    const BackendId& GetBackendId() const override { return m_Id; }
    std::unique_ptr<backend::IWorkload> CreateWorkload(const LayerView& layer) const override
    {
        return std::make_unique<WorkloadAdapter>(m_Source, layer);
    }

private:
    BackendId m_Id;
    std::shared_ptr<WorkloadSource> m_Source;
};

} // namespace

std::unique_ptr<backend::IWorkloadFactory> AdaptWorkloadFactory(std::shared_ptr<AdaptedBackend> adapted,
                                                                std::shared_ptr<const ILayerSupport> support,
                                                                const ModelOptions& options)
{
    return std::make_unique<WorkloadFactoryAdapter>(
        std::make_shared<WorkloadSource>(std::move(adapted), std::move(support), options));
}

} // namespace tenon
