// SPDX-License-Identifier: Apache-2.0
// See SampleBackend.hpp. Written against Arm NN's headers alone.
#include "SampleBackend.hpp"

#include <algorithm>
#include <armnn/BackendRegistry.hpp>
#include <armnn/Exceptions.hpp>
#include <armnn/TypesUtils.hpp>
#include <armnn/backends/IBackendInternal.hpp>
#include <armnn/backends/ILayerSupport.hpp>
#include <armnn/backends/IMemoryManager.hpp>
#include <armnn/backends/ITensorHandleFactory.hpp>
#include <armnn/backends/MemCopyWorkload.hpp>
#include <armnn/backends/OptimizationViews.hpp>
#include <armnn/backends/TensorHandle.hpp>
#include <armnn/backends/TensorHandleFactoryRegistry.hpp>
#include <armnn/backends/Workload.hpp>
#include <armnn/backends/WorkloadFactory.hpp>
#include <chrono>
#include <thread>

namespace sample
{

const armnn::BackendId& AccId()
{
    static const armnn::BackendId id("SampleAcc");
    return id;
}

const armnn::BackendId& LegacyId()
{
    static const armnn::BackendId id("SampleLegacy");
    return id;
}

namespace
{

std::unique_ptr<Journal>& GetOwner()
{
    static std::unique_ptr<Journal> journal(new Journal);
    return journal;
}

} // namespace

Journal& GetJournal()
{
    return *GetOwner();
}

void ResetJournal()
{
    GetOwner().reset(new Journal);
}

void ConcurrencyCounter::Enter(bool isSlow)
{
    const int inside = ++m_Inside;
    int max = m_Max;
    while (inside > max && !m_Max.compare_exchange_weak(max, inside))
    {
    }
    if (isSlow)
    {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

namespace
{

/// One of the crowd, as long as it lives.
class Member
{
public:
    explicit Member(ConcurrencyCounter& crowd) : m_Counter(crowd) { m_Counter.Enter(GetJournal().m_IsSlow); }
    ~Member() { m_Counter.Leave(); }
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

private:
    ConcurrencyCounter& m_Counter;
};

/// Memory of all tensors in one block.
class MemoryManager : public armnn::IMemoryManager
{
public:
    size_t Add(size_t bytes)
    {
        const size_t offset = m_Bytes;
        m_Bytes += bytes;
        return offset;
    }
    void Acquire() override
    {
        m_Memory.assign(m_Bytes, 0xcd);
        ++GetJournal().m_Acquired;
    }
    void Release() override
    {
        m_Memory.clear();
        --GetJournal().m_Acquired;
        if (GetJournal().m_ReleaseThrows)
        {
            throw armnn::RuntimeException("the sample memory is stuck");
        }
    }
    unsigned char* At(size_t offset) { return m_Memory.empty() ? nullptr : m_Memory.data() + offset; }

private:
    size_t m_Bytes = 0;
    std::vector<unsigned char> m_Memory;
};

/// Rows have a gap of two elements behind them.
class TensorHandle : public armnn::ITensorHandle
{
public:
    TensorHandle(const armnn::TensorInfo& info, std::shared_ptr<MemoryManager> manager)
        : m_Info(info), m_Manager(std::move(manager))
    {
    }

    void Manage() override
    {
        m_Offset = m_Manager->Add(GetBytes());
        m_IsManaged = true;
    }
    void Allocate() override
    {
        if (!m_IsManaged)
        {
            m_Own.assign(GetBytes(), 0);
            ++GetJournal().m_Constants;
        }
    }
    armnn::ITensorHandle* GetParent() const override { return nullptr; }
    const void* Map(bool) const override { return m_IsManaged ? m_Manager->At(m_Offset) : m_Own.data(); }
    using armnn::ITensorHandle::Map;
    void Unmap() const override
    {
        if (GetJournal().m_UnmapThrows)
        {
            throw armnn::RuntimeException("the sample tensor is not written back");
        }
    }
    using armnn::ITensorHandle::Unmap;
    armnn::TensorShape GetShape() const override { return m_Info.GetShape(); }
    armnn::TensorShape GetStrides() const override
    {
        const unsigned int rank = m_Info.GetNumDimensions();
        std::vector<unsigned int> strides(rank, armnn::GetDataTypeSize(m_Info.GetDataType()));
        for (unsigned int i = rank; i-- > 1;)
        {
            const unsigned int gap = i == rank - 1 ? 2 : 0;
            strides[i - 1] = strides[i] * (m_Info.GetShape()[i] + gap);
        }
        return armnn::TensorShape(rank, strides.data());
    }

    /// The element at the place that it would have without gaps.
    float& At(unsigned int index) const
    {
        const unsigned int row = m_Info.GetShape()[m_Info.GetNumDimensions() - 1];
        auto* const memory = static_cast<float*>(const_cast<void*>(Map(true)));
        return memory[m_Info.GetNumDimensions() > 1 ? index / row * (row + 2) + index % row : index];
    }
    const armnn::TensorInfo& GetTensorInfo() const { return m_Info; }

private:
    void CopyOutTo(void*) const override { throw armnn::UnimplementedException("CopyOutTo"); }
    void CopyInFrom(const void*) override { throw armnn::UnimplementedException("CopyInFrom"); }
    size_t GetBytes() const
    {
        const unsigned int row = m_Info.GetShape()[m_Info.GetNumDimensions() - 1];
        return m_Info.GetNumElements() / row * (row + 2) * sizeof(float);
    }

    armnn::TensorInfo m_Info;
    std::shared_ptr<MemoryManager> m_Manager;
    size_t m_Offset = 0;
    bool m_IsManaged = false;
    std::vector<unsigned char> m_Own;
};

class HandleFactory : public armnn::ITensorHandleFactory
{
public:
    static const FactoryId& GetIdStatic()
    {
        static const FactoryId id("SampleHandles");
        return id;
    }
    explicit HandleFactory(std::shared_ptr<MemoryManager> manager) : m_Manager(std::move(manager)) {}
    std::unique_ptr<armnn::ITensorHandle> CreateSubTensorHandle(armnn::ITensorHandle&, armnn::TensorShape const&,
                                                                unsigned int const*) const override
    {
        return nullptr;
    }
    std::unique_ptr<armnn::ITensorHandle> CreateTensorHandle(const armnn::TensorInfo& info) const override
    {
        return std::unique_ptr<armnn::ITensorHandle>(new TensorHandle(info, m_Manager));
    }
    std::unique_ptr<armnn::ITensorHandle> CreateTensorHandle(const armnn::TensorInfo& info,
                                                             armnn::DataLayout) const override
    {
        return CreateTensorHandle(info);
    }
    const FactoryId& GetId() const override { return GetIdStatic(); }
    bool SupportsSubTensors() const override { return false; }

private:
    std::shared_ptr<MemoryManager> m_Manager;
};

const TensorHandle& In(const armnn::QueueDescriptor& data, size_t i)
{
    return dynamic_cast<const TensorHandle&>(*data.m_Inputs[i]);
}

const TensorHandle& Out(const armnn::QueueDescriptor& data, size_t i = 0)
{
    return dynamic_cast<const TensorHandle&>(*data.m_Outputs[i]);
}

class AdditionWorkload : public armnn::Float32Workload<armnn::AdditionQueueDescriptor>
{
public:
    using armnn::Float32Workload<armnn::AdditionQueueDescriptor>::TypedWorkload;
    void Execute() const override
    {
        const Member member(GetJournal().m_Executing);
        ++GetJournal().m_Executed;
        const unsigned int count = Out(m_Data).GetTensorInfo().GetNumElements();
        const unsigned int b = In(m_Data, 1).GetTensorInfo().GetNumElements(); // the second one may be broadcast
        for (unsigned int i = 0; i < count; ++i)
        {
            Out(m_Data).At(i) = In(m_Data, 0).At(i) + In(m_Data, 1).At(i % b);
        }
    }
};

class ActivationWorkload : public armnn::BaseWorkload<armnn::ActivationQueueDescriptor>
{
public:
    using BaseWorkload<armnn::ActivationQueueDescriptor>::BaseWorkload;
    void Execute() const override
    {
        if (m_Data.m_Parameters.m_Function == armnn::ActivationFunction::Abs)
        {
            throw armnn::RuntimeException("the sample device is on fire");
        }
        const Member member(GetJournal().m_Executing);
        ++GetJournal().m_Executed;
        for (unsigned int i = 0; i < Out(m_Data).GetTensorInfo().GetNumElements(); ++i)
        {
            Out(m_Data).At(i) = std::max(0.0f, In(m_Data, 0).At(i));
        }
    }
};

class FullyConnectedWorkload : public armnn::BaseWorkload<armnn::FullyConnectedQueueDescriptor>
{
public:
    using BaseWorkload<armnn::FullyConnectedQueueDescriptor>::BaseWorkload;
    void PostAllocationConfigure() override
    {
        // Constants are there by now.
        m_FirstWeight = In(m_Data, 1).At(0);
    }
    void Execute() const override
    {
        ++GetJournal().m_Executed;
        const TensorHandle& weights = In(m_Data, 1);
        if (weights.At(0) != m_FirstWeight)
        {
            throw armnn::RuntimeException("weights came too late");
        }
        const armnn::TensorShape& shape = weights.GetTensorInfo().GetShape(); // [O, I]
        const unsigned int batches = Out(m_Data).GetTensorInfo().GetShape()[0];
        for (unsigned int n = 0; n < batches; ++n)
        {
            for (unsigned int o = 0; o < shape[0]; ++o)
            {
                float sum = m_Data.m_Parameters.m_BiasEnabled ? In(m_Data, 2).At(o) : 0.0f;
                for (unsigned int i = 0; i < shape[1]; ++i)
                {
                    sum += In(m_Data, 0).At(n * shape[1] + i) * weights.At(o * shape[1] + i);
                }
                Out(m_Data).At(n * shape[0] + o) = sum;
            }
        }
    }

private:
    float m_FirstWeight = 0.0f;
};

/// Of images of one channel and a filter of one output.
class ConvolutionWorkload : public armnn::BaseWorkload<armnn::Convolution2dQueueDescriptor>
{
public:
    using BaseWorkload<armnn::Convolution2dQueueDescriptor>::BaseWorkload;
    void Execute() const override
    {
        const armnn::Convolution2dDescriptor& p = m_Data.m_Parameters;
        const armnn::TensorShape in = In(m_Data, 0).GetShape();
        const armnn::TensorShape out = Out(m_Data).GetShape();
        const armnn::TensorShape filter = In(m_Data, 1).GetShape();
        for (unsigned int y = 0; y < out[1]; ++y)
        {
            for (unsigned int x = 0; x < out[2]; ++x)
            {
                float sum = 0.0f;
                for (unsigned int f = 0; f < filter[1] * filter[2]; ++f)
                {
                    const unsigned int iy = y * p.m_StrideY + f / filter[2] - p.m_PadTop; // wraps where it is outside
                    const unsigned int ix = x * p.m_StrideX + f % filter[2] - p.m_PadLeft;
                    sum += iy < in[1] && ix < in[2] ? In(m_Data, 0).At(iy * in[2] + ix) * In(m_Data, 1).At(f) : 0.0f;
                }
                Out(m_Data).At(y * out[2] + x) = sum;
            }
        }
    }
};

class BatchNormalizationWorkload : public armnn::BaseWorkload<armnn::BatchNormalizationQueueDescriptor>
{
public:
    using BaseWorkload<armnn::BatchNormalizationQueueDescriptor>::BaseWorkload;
    void Execute() const override
    {
        const unsigned int channels = m_Data.m_Mean->GetShape()[0];
        const float* const mean = m_Data.m_Mean->GetConstTensor<float>();
        const float* const variance = m_Data.m_Variance->GetConstTensor<float>();
        const float* const beta = m_Data.m_Beta->GetConstTensor<float>();
        const float* const gamma = m_Data.m_Gamma->GetConstTensor<float>();
        for (unsigned int i = 0; i < Out(m_Data).GetTensorInfo().GetNumElements(); ++i)
        {
            const unsigned int c = i % channels;
            // The test has variances that are squares, and no epsilon to speak of.
            float root = 1.0f;
            while (root * root < variance[c])
            {
                root += 1.0f;
            }
            Out(m_Data).At(i) = (In(m_Data, 0).At(i) - mean[c]) / root * gamma[c] + beta[c];
        }
    }
};

class ConcatWorkload : public armnn::BaseWorkload<armnn::ConcatQueueDescriptor>
{
public:
    using BaseWorkload<armnn::ConcatQueueDescriptor>::BaseWorkload;
    void Execute() const override
    {
        const unsigned int width = Out(m_Data).GetShape()[1];
        for (size_t v = 0; v < m_Data.m_ViewOrigins.size(); ++v)
        {
            const armnn::TensorShape box = In(m_Data, v).GetShape();
            const std::vector<unsigned int>& origin = m_Data.m_ViewOrigins[v].m_Origin;
            if (m_Data.m_Parameters.GetViewOrigin(static_cast<uint32_t>(v))[1] != origin[1])
            {
                throw armnn::RuntimeException("origins differ");
            }
            for (unsigned int i = 0; i < box.GetNumElements(); ++i)
            {
                Out(m_Data).At((origin[0] + i / box[1]) * width + origin[1] + i % box[1]) = In(m_Data, v).At(i);
            }
        }
    }
};

/// A sum, the larger one of it and 0, and the number that was compiled in.
class PreCompiledWorkload : public armnn::BaseWorkload<armnn::PreCompiledQueueDescriptor>
{
public:
    using BaseWorkload<armnn::PreCompiledQueueDescriptor>::BaseWorkload;
    void Execute() const override
    {
        ++GetJournal().m_Executed;
        const float compiled = *static_cast<const float*>(m_Data.m_PreCompiledObject);
        for (unsigned int i = 0; i < Out(m_Data).GetTensorInfo().GetNumElements(); ++i)
        {
            Out(m_Data).At(i) = std::max(0.0f, In(m_Data, 0).At(i) + In(m_Data, 1).At(i)) + compiled;
        }
    }
};

class LegacyFloorWorkload : public armnn::BaseWorkload<armnn::FloorQueueDescriptor>
{
public:
    using BaseWorkload<armnn::FloorQueueDescriptor>::BaseWorkload;
    void Execute() const override
    {
        const auto& in = dynamic_cast<const armnn::TensorHandle&>(*m_Data.m_Inputs[0]);
        const auto& out = dynamic_cast<const armnn::TensorHandle&>(*m_Data.m_Outputs[0]);
        for (unsigned int i = 0; i < out.GetTensorInfo().GetNumElements(); ++i)
        {
            const float value = in.GetTensor<float>()[i];
            const auto whole = static_cast<float>(static_cast<int>(value));
            out.GetTensor<float>()[i] = whole > value ? whole - 1.0f : whole;
        }
    }
};

class Factory : public armnn::IWorkloadFactory
{
public:
    explicit Factory(const armnn::BackendId& id) : m_Id(id) {}
    const armnn::BackendId& GetBackendId() const override { return m_Id; }
    bool SupportsSubTensors() const override { return false; }
    std::unique_ptr<armnn::ITensorHandle> CreateSubTensorHandle(armnn::ITensorHandle&, armnn::TensorShape const&,
                                                                unsigned int const*) const override
    {
        return nullptr;
    }
    std::unique_ptr<armnn::ITensorHandle> CreateTensorHandle(const armnn::TensorInfo& info, const bool) const override
    {
        return std::unique_ptr<armnn::ITensorHandle>(new armnn::ScopedTensorHandle(info));
    }
    std::unique_ptr<armnn::ITensorHandle> CreateTensorHandle(const armnn::TensorInfo& info, armnn::DataLayout,
                                                             const bool isMemoryManaged) const override
    {
        return CreateTensorHandle(info, isMemoryManaged);
    }
    std::unique_ptr<armnn::IWorkload> CreateWorkload(armnn::LayerType type, const armnn::QueueDescriptor& descriptor,
                                                     const armnn::WorkloadInfo& info) const override
    {
        const Member member(GetJournal().m_Making);
        GetJournal().m_Calls.push_back(std::string("make ") + armnn::GetLayerTypeAsCString(type));
        switch (type)
        {
        case armnn::LayerType::Addition:
            return Make<AdditionWorkload, armnn::AdditionQueueDescriptor>(descriptor, info);
        case armnn::LayerType::Activation:
            return Make<ActivationWorkload, armnn::ActivationQueueDescriptor>(descriptor, info);
        case armnn::LayerType::FullyConnected:
            return Make<FullyConnectedWorkload, armnn::FullyConnectedQueueDescriptor>(descriptor, info);
        case armnn::LayerType::Convolution2d:
            return Make<ConvolutionWorkload, armnn::Convolution2dQueueDescriptor>(descriptor, info);
        case armnn::LayerType::BatchNormalization:
            return Make<BatchNormalizationWorkload, armnn::BatchNormalizationQueueDescriptor>(descriptor, info);
        case armnn::LayerType::Concat: return Make<ConcatWorkload, armnn::ConcatQueueDescriptor>(descriptor, info);
        case armnn::LayerType::PreCompiled:
            return Make<PreCompiledWorkload, armnn::PreCompiledQueueDescriptor>(descriptor, info);
        case armnn::LayerType::Floor: return Make<LegacyFloorWorkload, armnn::FloorQueueDescriptor>(descriptor, info);
        default: return nullptr; // of Quantize, say, though the support says yes
        }
    }

private:
    template <typename Workload, typename Queue>
    static std::unique_ptr<armnn::IWorkload> Make(const armnn::QueueDescriptor& descriptor,
                                                  const armnn::WorkloadInfo& info)
    {
        return std::unique_ptr<armnn::IWorkload>(new Workload(dynamic_cast<const Queue&>(descriptor), info));
    }

    armnn::BackendId m_Id;
};

class LayerSupport : public armnn::ILayerSupport
{
public:
    bool IsLayerSupported(const armnn::LayerType& type, const std::vector<armnn::TensorInfo>& infos,
                          const armnn::BaseDescriptor& descriptor, const armnn::Optional<armnn::LstmInputParamsInfo>&,
                          const armnn::Optional<armnn::QuantizedLstmInputParamsInfo>&,
                          armnn::Optional<std::string&> reasonIfUnsupported) const override
    {
        const auto no = [&](const char* reason)
        {
            if (reasonIfUnsupported)
            {
                reasonIfUnsupported.value() = reason;
            }
            return false;
        };
        switch (type)
        {
        case armnn::LayerType::Addition: return infos.size() == 3 && infos[2].GetDataType() == armnn::DataType::Float32;
        case armnn::LayerType::Activation:
        {
            const auto function = dynamic_cast<const armnn::ActivationDescriptor&>(descriptor).m_Function;
            return function == armnn::ActivationFunction::ReLu || function == armnn::ActivationFunction::Abs ||
                   no("the sample device knows ReLu alone");
        }
        case armnn::LayerType::FullyConnected:
        {
            const auto& parameters = dynamic_cast<const armnn::FullyConnectedDescriptor&>(descriptor);
            // input, output, weights, bias
            return infos.size() == 4 && parameters.m_TransposeWeightMatrix && infos[2].GetShape()[0] == 2 &&
                   parameters.m_BiasEnabled == infos[3].GetShape().AreAllDimensionsSpecified();
        }
        case armnn::LayerType::Convolution2d: return infos[0].GetShape()[3] == 1 && infos[2].GetShape()[0] == 1;
        case armnn::LayerType::BatchNormalization: return infos.size() == 6;
        case armnn::LayerType::Concat: return true;
        case armnn::LayerType::Quantize: return true;
        case armnn::LayerType::Dequantize: throw armnn::RuntimeException("the sample device is asleep");
        default: return no("the sample device has no such layer");
        }
    }
};

class LegacyLayerSupport : public armnn::ILayerSupport
{
public:
    bool IsLayerSupported(const armnn::LayerType& type, const std::vector<armnn::TensorInfo>&,
                          const armnn::BaseDescriptor&, const armnn::Optional<armnn::LstmInputParamsInfo>&,
                          const armnn::Optional<armnn::QuantizedLstmInputParamsInfo>&,
                          armnn::Optional<std::string&>) const override
    {
        return type == armnn::LayerType::Floor;
    }
};

class Context : public armnn::IBackendContext
{
public:
    explicit Context(const armnn::IRuntime::CreationOptions& options) : armnn::IBackendContext(options)
    {
        ++GetJournal().m_Contexts;
        ++GetJournal().m_ContextsMade;
        GetJournal().m_HasAllocatorInContext = GetJournal().m_Allocator != nullptr;
    }
    ~Context() override { --GetJournal().m_Contexts; }
    bool BeforeLoadNetwork(armnn::NetworkId) override { return Note("before load"); }
    bool AfterLoadNetwork(armnn::NetworkId) override { return Note("after load"); }
    bool BeforeUnloadNetwork(armnn::NetworkId) override { return Note("before unload"); }
    bool AfterUnloadNetwork(armnn::NetworkId) override { return Note("after unload"); }
    bool AfterEnqueueWorkload(armnn::NetworkId) override { return Note("after run"); }

private:
    static bool Note(const char* hook)
    {
        GetJournal().m_Calls.emplace_back(hook);
        return true;
    }
};

class AccBackend : public armnn::IBackendInternal
{
public:
    const armnn::BackendId& GetId() const override { return AccId(); }
    IWorkloadFactoryPtr CreateWorkloadFactory(const IMemoryManagerSharedPtr&) const override
    {
        throw armnn::UnimplementedException("SampleAcc has tensor handle factories");
    }
    IWorkloadFactoryPtr CreateWorkloadFactory(class armnn::TensorHandleFactoryRegistry& registry) const override
    {
        const auto manager = std::make_shared<MemoryManager>();
        registry.RegisterMemoryManager(manager);
        registry.RegisterFactory(std::unique_ptr<armnn::ITensorHandleFactory>(new HandleFactory(manager)));
        return IWorkloadFactoryPtr(new Factory(AccId()));
    }
    std::vector<armnn::ITensorHandleFactory::FactoryId> GetHandleFactoryPreferences() const override
    {
        return {HandleFactory::GetIdStatic()};
    }
    IBackendContextPtr CreateBackendContext(const armnn::IRuntime::CreationOptions& options) const override
    {
        if (GetJournal().m_IsUnavailable)
        {
            throw armnn::BackendUnavailableException("no sample device is plugged in");
        }
        return IBackendContextPtr(new Context(options));
    }
    ILayerSupportSharedPtr GetLayerSupport() const override
    {
        static const ILayerSupportSharedPtr support(new LayerSupport);
        return support;
    }
    armnn::OptimizationViews OptimizeSubgraphView(const armnn::SubgraphView& subgraph) const override
    {
        armnn::OptimizationViews views;
        const std::string& what = GetJournal().m_Optimize;
        if (what == "compile")
        {
            const armnn::PreCompiledDescriptor descriptor(subgraph.GetNumInputSlots(), subgraph.GetNumOutputSlots());
            armnn::CompiledBlobPtr blob(new float(100.0f), [](const void* p) { delete static_cast<const float*>(p); });
            armnn::IConnectableLayer* const layer = views.GetINetwork()->AddPrecompiledLayer(
                descriptor, std::move(blob), armnn::Optional<armnn::BackendId>(AccId()), "compiled");
            views.AddSubstitution({armnn::SubgraphView(subgraph), armnn::SubgraphView(layer)});
        }
        else if (what == "fail")
        {
            subgraph.ForEachIConnectableLayer(
                [&](armnn::IConnectableLayer* layer)
                {
                    if (layer->GetType() == armnn::LayerType::Activation)
                    {
                        views.AddFailedSubgraph(armnn::SubgraphView(layer));
                    }
                });
        }
        else if (what == "wrong")
        {
            views.AddFailedSubgraph(armnn::SubgraphView(views.GetINetworkRef().AddFloorLayer("foreign")));
        }
        else
        {
            views.AddUntouchedSubgraph(armnn::SubgraphView(subgraph));
        }
        return views;
    }
    armnn::BackendCapabilities GetCapabilities() const override
    {
        return armnn::BackendCapabilities("SampleAcc", {{"ConstantTensorsAsInputs", true}});
    }
    bool UseCustomMemoryAllocator(std::shared_ptr<armnn::ICustomAllocator> allocator,
                                  armnn::Optional<std::string&> errMsg) override
    {
        if (!GetJournal().m_TakesAllocator)
        {
            return armnn::IBackendInternal::UseCustomMemoryAllocator(allocator, errMsg);
        }
        GetJournal().m_Allocator = allocator;
        return true;
    }
};

class LegacyBackend : public armnn::IBackendInternal
{
public:
    const armnn::BackendId& GetId() const override { return LegacyId(); }
    IMemoryManagerUniquePtr CreateMemoryManager() const override { return IMemoryManagerUniquePtr(new MemoryManager); }
    IWorkloadFactoryPtr CreateWorkloadFactory(const IMemoryManagerSharedPtr& manager) const override
    {
        if (manager == nullptr)
        {
            throw armnn::InvalidArgumentException("SampleLegacy needs its memory manager");
        }
        return IWorkloadFactoryPtr(new Factory(LegacyId()));
    }
    ILayerSupportSharedPtr GetLayerSupport() const override { return ILayerSupportSharedPtr(new LegacyLayerSupport); }
};

const armnn::BackendRegistry::StaticRegistryInitializer RegisterAcc{
    armnn::BackendRegistryInstance(), AccId(), [] { return armnn::IBackendInternalUniquePtr(new AccBackend); }};
const armnn::BackendRegistry::StaticRegistryInitializer RegisterLegacy{
    armnn::BackendRegistryInstance(), LegacyId(), [] { return armnn::IBackendInternalUniquePtr(new LegacyBackend); }};

} // namespace

} // namespace sample
