// SPDX-License-Identifier: Apache-2.0
// For backends written for Arm NN: makes the workloads of a backend.
#pragma once

#include <tenon/Export.hpp>

#include <armnn/BackendId.hpp>
#include <armnn/BackendOptions.hpp>
#include <armnn/Deprecated.hpp>
#include <armnn/INetwork.hpp>
#include <armnn/Optional.hpp>
#include <armnn/TensorFwd.hpp>
#include <armnn/backends/ITensorHandle.hpp>
#include <armnn/backends/OwnNames.hpp>
#include <armnn/backends/Workload.hpp>
#include <memory>
#include <string>

namespace tenon
{

class TENON_API IWorkloadFactory
{
public:
    virtual ~IWorkloadFactory();

    /// The runtime calls it once, when a workload was made.
    virtual void AfterWorkloadsCreated() {}
    virtual const BackendId& GetBackendId() const = 0;

    /// Whether the backend, a built-in one or one of BackendRegistryInstance(), runs a layer of a network that is being
    /// built; the infos of its slots are set. `dataType`, if given, takes the place of Float32, Float16 and BFloat16.
    /// Without `backendId` the layer's own backend is asked. Throws InvalidArgumentException for a backend that is not
    /// there.
    static bool IsLayerSupported(const BackendId& backendId, const IConnectableLayer& layer,
                                 Optional<DataType> dataType, std::string& outReasonIfUnsupported);
    static bool IsLayerSupported(const IConnectableLayer& layer, Optional<DataType> dataType,
                                 std::string& outReasonIfUnsupported);
    static bool IsLayerSupported(const IConnectableLayer& layer, Optional<DataType> dataType,
                                 std::string& outReasonIfUnsupported, const ModelOptions& modelOptions);
    static bool IsLayerSupported(const BackendId& backendId, const IConnectableLayer& layer,
                                 Optional<DataType> dataType, std::string& outReasonIfUnsupported,
                                 const ModelOptions& modelOptions);

    virtual bool SupportsSubTensors() const = 0;

    ARMNN_DEPRECATED_MSG("Use ITensorHandleFactory::CreateSubTensorHandle instead")
    virtual std::unique_ptr<ITensorHandle> CreateSubTensorHandle(ITensorHandle& parent,
                                                                 const TensorShape& subTensorShape,
                                                                 const unsigned int* subTensorOrigin) const = 0;
    ARMNN_DEPRECATED_MSG("Use ITensorHandleFactory::CreateTensorHandle instead")
    virtual std::unique_ptr<ITensorHandle> CreateTensorHandle(const TensorInfo& tensorInfo,
                                                              const bool IsMemoryManaged = true) const = 0;
    ARMNN_DEPRECATED_MSG("Use ITensorHandleFactory::CreateTensorHandle instead")
    virtual std::unique_ptr<ITensorHandle> CreateTensorHandle(const TensorInfo& tensorInfo, DataLayout dataLayout,
                                                              const bool IsMemoryManaged = true) const = 0;

    /// `descriptor` is the <Type>QueueDescriptor of `type`. Null for a layer that the factory does not know.
    virtual std::unique_ptr<IWorkload> CreateWorkload(LayerType type, const QueueDescriptor& descriptor,
                                                      const WorkloadInfo& info) const = 0;
};

} // namespace tenon
