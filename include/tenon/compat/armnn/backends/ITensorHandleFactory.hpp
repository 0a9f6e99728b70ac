// SPDX-License-Identifier: Apache-2.0
// For backends written for Arm NN: makes the tensors that the workloads of a backend read and write.
#pragma once

#include <tenon/Export.hpp>

#include <armnn/MemorySources.hpp>
#include <armnn/Tensor.hpp>
#include <armnn/Types.hpp>
#include <armnn/backends/ITensorHandle.hpp>
#include <armnn/backends/OwnNames.hpp>
#include <armnn/utility/IgnoreUnused.hpp>
#include <memory>
#include <string>
#include <vector>

namespace tenon
{

class IConnectableLayer;

/// The kinds of capabilities that ITensorHandleFactory::GetCapabilities is asked for.
enum class CapabilityClass
{
    PaddingRequired = 1,
    FallbackImportDisabled = 2,
    CapabilityClassMax = 254
};

struct Capability
{
    Capability(CapabilityClass capabilityClass, bool value) : m_CapabilityClass(capabilityClass), m_Value(value) {}

    CapabilityClass m_CapabilityClass;
    bool m_Value;
};

/// Tenon asks for one handle for each tensor of a workload, and copies into and out of them by Map, with the strides
/// that they tell. It asks for no parts of tensors (CreateSubTensorHandle).
class TENON_API ITensorHandleFactory
{
public:
    using FactoryId = std::string;
    static const FactoryId LegacyFactoryId;   ///< the workload factory makes handles
    static const FactoryId DeferredFactoryId; ///< chosen when the network is loaded

    virtual ~ITensorHandleFactory();

    virtual std::unique_ptr<ITensorHandle> CreateSubTensorHandle(ITensorHandle& parent,
                                                                 const TensorShape& subTensorShape,
                                                                 const unsigned int* subTensorOrigin) const = 0;
    virtual std::unique_ptr<ITensorHandle> CreateTensorHandle(const TensorInfo& tensorInfo) const = 0;
    virtual std::unique_ptr<ITensorHandle> CreateTensorHandle(const TensorInfo& tensorInfo,
                                                              DataLayout dataLayout) const = 0;
    /// Where `IsMemoryManaged` is false, Allocate gives the handle memory of its own. By default it does not count.
    virtual std::unique_ptr<ITensorHandle> CreateTensorHandle(const TensorInfo& tensorInfo,
                                                              const bool IsMemoryManaged) const;
    virtual std::unique_ptr<ITensorHandle> CreateTensorHandle(const TensorInfo& tensorInfo, DataLayout dataLayout,
                                                              const bool IsMemoryManaged) const;

    virtual const FactoryId& GetId() const = 0;
    virtual bool SupportsInPlaceComputation() const { return false; }
    virtual bool SupportsSubTensors() const = 0;
    /// Handles of a factory that does not are written by CopyInFrom and read by CopyOutTo.
    virtual bool SupportsMapUnmap() const { return true; }
    /// MemorySource bits.
    virtual MemorySourceFlags GetExportFlags() const { return 0; }
    virtual MemorySourceFlags GetImportFlags() const { return 0; }
    virtual std::vector<Capability> GetCapabilities(const IConnectableLayer* layer,
                                                    const IConnectableLayer* connectedLayer,
                                                    CapabilityClass capabilityClass);
};

/// How a tensor gets from one backend to another in Arm NN. Between backends Tenon copies through host memory.
enum class EdgeStrategy
{
    Undefined,
    DirectCompatibility,
    ExportToTarget,
    CopyToTarget
};

} // namespace tenon
