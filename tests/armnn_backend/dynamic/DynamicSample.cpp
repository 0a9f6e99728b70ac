// SPDX-License-Identifier: Apache-2.0
// A backend in a shared object, written as Arm NN's dynamic backends are: it runs sums and softmax of Float32.
// SAMPLE_FAULT chooses an object that cannot be used, for the tests of the loader; 0 is the one that can.
#include <algorithm>
#include <armnn/Exceptions.hpp>
#include <armnn/backends/IBackendContext.hpp>
#include <armnn/backends/IBackendInternal.hpp>
#include <armnn/backends/MemCopyWorkload.hpp>
#include <armnn/backends/OptimizationViews.hpp>
#include <armnn/backends/TensorHandle.hpp>
#include <armnn/backends/Workload.hpp>
#include <armnn/backends/WorkloadFactory.hpp>
#include <armnn/utility/IgnoreUnused.hpp>
#include <armnn/utility/PolymorphicDowncast.hpp>
#include <backendsCommon/LayerSupportBase.hpp>
#include <backendsCommon/TensorHandleFactoryRegistry.hpp>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#define NEWER_MAJOR 1
#define NEWER_MINOR 2
#define NO_FACTORY 3
#define FACTORY_GIVES_NULL 4
#define FACTORY_THROWS 5
#define ID_OF_CPUREF 6
#define NO_ID 7
#define OTHER_ID 8
#define OF_ARMNN 9
#define SECOND_OF_AN_ID 10

namespace
{

const char* SampleId()
{
#if SAMPLE_FAULT == ID_OF_CPUREF
    return "CpuRef";
#elif SAMPLE_FAULT == NO_ID
    return nullptr;
#elif SAMPLE_FAULT == 0 || SAMPLE_FAULT == SECOND_OF_AN_ID
    return "DynamicSample";
#else
    return "FaultySample";
#endif
}

class SampleSupport : public armnn::LayerSupportBase
{
public:
    bool IsLayerSupported(const armnn::LayerType& type, const std::vector<armnn::TensorInfo>& infos,
                          const armnn::BaseDescriptor& descriptor,
                          const armnn::Optional<armnn::LstmInputParamsInfo>& lstm,
                          const armnn::Optional<armnn::QuantizedLstmInputParamsInfo>& quantizedLstm,
                          armnn::Optional<std::string&> reasonIfUnsupported) const override
    {
        switch (type)
        {
        case armnn::LayerType::Input:
        case armnn::LayerType::Output: return true;
        case armnn::LayerType::Addition: return infos[2].GetDataType() == armnn::DataType::Float32;
        case armnn::LayerType::Softmax:
            // Of rows.
            return infos[1].GetDataType() == armnn::DataType::Float32 &&
                   armnn::PolymorphicDowncast<const armnn::SoftmaxDescriptor*>(&descriptor)->m_Axis == -1;
        default:
            return LayerSupportBase::IsLayerSupported(type, infos, descriptor, lstm, quantizedLstm,
                                                      reasonIfUnsupported);
        }
    }
};

const float* In(const armnn::QueueDescriptor& data, size_t i)
{
    return static_cast<const float*>(data.m_Inputs[i]->Map());
}

float* Out(const armnn::QueueDescriptor& data)
{
    return static_cast<float*>(data.m_Outputs[0]->Map());
}

class SampleAddition : public armnn::BaseWorkload<armnn::AdditionQueueDescriptor>
{
public:
    SampleAddition(const armnn::AdditionQueueDescriptor& descriptor, const armnn::WorkloadInfo& info)
        : BaseWorkload(descriptor, info), m_Count(info.m_OutputTensorInfos[0].GetNumElements())
    {
    }
    void Execute() const override
    {
        for (unsigned int i = 0; i < m_Count; ++i)
        {
            Out(m_Data)[i] = In(m_Data, 0)[i] + In(m_Data, 1)[i];
        }
    }

private:
    unsigned int m_Count;
};

class SampleSoftmax : public armnn::BaseWorkload<armnn::SoftmaxQueueDescriptor>
{
public:
    SampleSoftmax(const armnn::SoftmaxQueueDescriptor& descriptor, const armnn::WorkloadInfo& info)
        : BaseWorkload(descriptor, info), m_Shape(info.m_OutputTensorInfos[0].GetShape())
    {
    }
    void Execute() const override
    {
        const unsigned int size = m_Shape[m_Shape.GetNumDimensions() - 1];
        for (unsigned int row = 0; row < m_Shape.GetNumElements(); row += size)
        {
            float sum = 0.0f;
            for (unsigned int i = row; i < row + size; ++i)
            {
                Out(m_Data)[i] = std::exp(In(m_Data, 0)[i] * m_Data.m_Parameters.m_Beta);
                sum += Out(m_Data)[i];
            }
            std::for_each(Out(m_Data) + row, Out(m_Data) + row + size, [sum](float& value) { value /= sum; });
        }
    }

private:
    armnn::TensorShape m_Shape;
};

class SampleFactory : public armnn::IWorkloadFactory
{
public:
    const armnn::BackendId& GetBackendId() const override { return m_Id; }
    bool SupportsSubTensors() const override { return false; }
    std::unique_ptr<armnn::ITensorHandle> CreateSubTensorHandle(armnn::ITensorHandle&, armnn::TensorShape const&,
                                                                unsigned int const*) const override
    {
        return nullptr;
    }
    std::unique_ptr<armnn::ITensorHandle> CreateTensorHandle(const armnn::TensorInfo& tensorInfo,
                                                             const bool IsMemoryManaged) const override
    {
        armnn::IgnoreUnused(IsMemoryManaged);
        return std::make_unique<armnn::ScopedTensorHandle>(tensorInfo);
    }
    std::unique_ptr<armnn::ITensorHandle> CreateTensorHandle(const armnn::TensorInfo& tensorInfo,
                                                             armnn::DataLayout dataLayout,
                                                             const bool IsMemoryManaged) const override
    {
        armnn::IgnoreUnused(dataLayout);
        return CreateTensorHandle(tensorInfo, IsMemoryManaged);
    }
    std::unique_ptr<armnn::IWorkload> CreateWorkload(armnn::LayerType type, const armnn::QueueDescriptor& descriptor,
                                                     const armnn::WorkloadInfo& info) const override
    {
        if (type == armnn::LayerType::Addition)
        {
            return std::make_unique<SampleAddition>(
                *armnn::PolymorphicDowncast<const armnn::AdditionQueueDescriptor*>(&descriptor), info);
        }
        if (type == armnn::LayerType::Softmax)
        {
            return std::make_unique<SampleSoftmax>(
                *armnn::PolymorphicDowncast<const armnn::SoftmaxQueueDescriptor*>(&descriptor), info);
        }
        return nullptr;
    }

private:
    armnn::BackendId m_Id{SampleId()};
};

class SampleBackend : public armnn::IBackendInternal
{
public:
    explicit SampleBackend(const char* id) : m_Id(id) {}
    const armnn::BackendId& GetId() const override { return m_Id; }
    IWorkloadFactoryPtr CreateWorkloadFactory(const IMemoryManagerSharedPtr&) const override
    {
        return std::make_unique<SampleFactory>();
    }
    IBackendContextPtr CreateBackendContext(const armnn::IRuntime::CreationOptions& options) const override
    {
        for (const armnn::BackendOptions& group : options.m_BackendOptions)
        {
            if (group.GetBackendId() == m_Id && group.GetOption(0).GetName() == "Unplugged")
            {
                throw armnn::BackendUnavailableException("the sample device is unplugged");
            }
        }
        return nullptr;
    }
    ILayerSupportSharedPtr GetLayerSupport() const override
    {
        static ILayerSupportSharedPtr support{new SampleSupport};
        return support;
    }

private:
    armnn::BackendId m_Id;
};

} // namespace

extern "C"
{
    const char* GetBackendId()
    {
        return SampleId();
    }

    void GetVersion(uint32_t* outMajor, uint32_t* outMinor)
    {
        const armnn::BackendVersion api = armnn::IBackendInternal::GetApiVersion();
        *outMajor = api.m_Major + (SAMPLE_FAULT == NEWER_MAJOR ? 1 : 0);
        *outMinor = api.m_Minor + (SAMPLE_FAULT == NEWER_MINOR ? 1 : 0);
    }

#if SAMPLE_FAULT != NO_FACTORY
    void* BackendFactory()
    {
#if SAMPLE_FAULT == FACTORY_GIVES_NULL
        return nullptr;
#elif SAMPLE_FAULT == FACTORY_THROWS
        // Of a type that goes when the object is closed.
        struct NoDevice : std::runtime_error
        {
            using std::runtime_error::runtime_error;
        };
        throw NoDevice("there is no sample device");
#elif SAMPLE_FAULT == OTHER_ID
        return new SampleBackend("OtherSample");
#else
        return new SampleBackend(SampleId());
#endif
    }
#endif

#if SAMPLE_FAULT == OF_ARMNN
    // A symbol of a real Arm NN, which objects that are linked with it have.
    extern const char ArmnnTypeInfo[] __asm__("_ZTIN5armnn16IBackendInternalE");
    const char ArmnnTypeInfo[] = "";
#endif
}
