// SPDX-License-Identifier: Apache-2.0
// Destructors and defaults of the backend interfaces: out of line, so that their virtual tables and type information
// live in libtenon alone and work across a shared-library boundary.
#include <tenon/Exceptions.hpp>
#include <tenon/backend/IBackend.hpp>
#include <tenon/backend/ICustomAllocator.hpp>
#include <tenon/backend/ICustomOperator.hpp>
#include <tenon/backend/ILayerSupport.hpp>
#include <tenon/backend/IMemoryOptimizerStrategy.hpp>
#include <tenon/backend/IWorkload.hpp>
#include <tenon/backend/IWorkloadFactory.hpp>

#include <utility>

namespace tenon
{

IBackend::~IBackend() = default;
IBackendContext::~IBackendContext() = default;
ICustomAllocator::~ICustomAllocator() = default;

void* ICustomAllocator::GetMemoryRegionAtOffset(void*, size_t, size_t)
{
    throw UnimplementedException("the custom allocator does not say where parts of its blocks are; override "
                                 "GetMemoryRegionAtOffset, or use a backend that does not ask");
}

ICustomOperator::~ICustomOperator() = default;
ILayerSupport::~ILayerSupport() = default;

SupportResult ILayerSupport::AreHalfWeightsSupported(const LayerView&) const
{
    return SupportResult::No(SupportCode::UnsupportedType, "it does not read Float16 weights beside Float32 data");
}

SupportResult ILayerSupport::IsActivationFusable(const LayerView&, const ActivationDescriptor&) const
{
    return SupportResult::No(SupportCode::UnsupportedParameters, "applies no activations in other layers");
}

IWorkloadFactory::~IWorkloadFactory() = default;
IWorkload::~IWorkload() = default;
IShapedWorkload::~IShapedWorkload() = default;

const FusionHooks& IShapedWorkload::GetFusion() const
{
    static const FusionHooks none;
    return none;
}

FusionHooks WrapFusion(const FusionHooks& inner,
                       const std::function<std::unique_ptr<IShapedWorkload>(std::unique_ptr<IShapedWorkload>)>& wrap)
{
    FusionHooks hooks = inner;
    if (inner.m_AddTensor != nullptr)
    {
        hooks.m_AddTensor = [&inner, wrap](const ActivationDescriptor* activation)
        {
            auto made = inner.m_AddTensor(activation);
            return made != nullptr ? wrap(std::move(made)) : nullptr;
        };
    }
    if (inner.m_MakeAttention != nullptr)
    {
        hooks.m_MakeAttention = [&inner, wrap](const AttentionRest& rest)
        {
            auto made = inner.m_MakeAttention(rest);
            return made != nullptr ? wrap(std::move(made)) : nullptr;
        };
    }
    return hooks;
}

IParallelFor::~IParallelFor() = default;
ILateOutputs::~ILateOutputs() = default;
IDeviceMemory::~IDeviceMemory() = default;
IDeviceQueue::~IDeviceQueue() = default;
IMemoryOptimizerStrategy::~IMemoryOptimizerStrategy() = default;
ITensorHandleFactory::~ITensorHandleFactory() = default;

DeviceTensor ILateOutputs::AllocateOnDevice(size_t, const TensorShape&)
{
    throw UnimplementedException("memory of a device is asked for in a run on the host");
}

std::unique_ptr<IDeviceMemory> ITensorHandleFactory::Import(void*, size_t, MemorySource) const
{
    return nullptr;
}

OptimizationViews IBackend::OptimizeSubgraphView(const SubgraphView&, const ModelOptions&) const
{
    return {};
}

std::unique_ptr<IBackendContext> IBackend::CreateBackendContext(const IRuntime::CreationOptions&) const
{
    return nullptr;
}

std::vector<uint8_t> IBackend::SaveCompiledBlob(const void*) const
{
    throw UnimplementedException("backend " + GetId().Get() + " cannot write its compiled blobs to a file");
}

std::shared_ptr<const void> IBackend::LoadCompiledBlob(Span<const uint8_t>) const
{
    throw UnimplementedException("backend " + GetId().Get() + " cannot read compiled blobs from a file");
}

} // namespace tenon
