// SPDX-License-Identifier: Apache-2.0
// IConnectableLayer: a layer of a network, with its input and output slots.
#pragma once

#include <tenon/BackendId.hpp>
#include <tenon/Export.hpp>
#include <tenon/Optional.hpp>
#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>
#include <tenon/descriptors/Base.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace tenon
{

class ConstTensorHandle;
class IConnectableLayer;
class IOutputSlot;
class IStrategy;

/// Where a layer takes a tensor from. Owned by its layer.
class TENON_API IInputSlot
{
public:
    /// Null when not connected.
    virtual const IOutputSlot* GetConnection() const = 0;
    virtual IOutputSlot* GetConnection() = 0;
    virtual const IConnectableLayer& GetOwningIConnectableLayer() const = 0;
    virtual IConnectableLayer& GetOwningIConnectableLayer() = 0;
    virtual unsigned int GetSlotIndex() const = 0;

    /// Overrides the info of the connected output for this input alone: the bytes are the same, and `tensorInfo` gives
    /// their type, quantization and shape. Types must be of one size, and shapes that are fully known of as many
    /// elements; else Optimize() throws LayerValidationException. With new input shapes at a run the tensor's own
    /// shape counts unless the override has another one than the output was loaded with.
    virtual void SetTensorInfo(const TensorInfo& tensorInfo) = 0;
    /// The override, or else the connected output's info. Throws GraphValidationException when there is neither.
    virtual const TensorInfo& GetTensorInfo() const = 0;
    virtual bool IsTensorInfoSet() const = 0;
    virtual bool IsTensorInfoOverridden() const = 0;

protected:
    ~IInputSlot();
};

/// Where a layer gives a tensor to. Owned by its layer.
class TENON_API IOutputSlot
{
public:
    virtual unsigned int GetNumConnections() const = 0;
    /// Null past the last connection.
    virtual const IInputSlot* GetConnection(unsigned int index) const = 0;
    virtual IInputSlot* GetConnection(unsigned int index) = 0;

    /// Sets the info of this output's tensor. Its shape may be left unknown: Optimize() infers it. A declared size
    /// counts where inference does not know the size before the run, for example for a Fill whose sizes are an input of
    /// the network: IRuntime::GetOutputTensorInfo() returns the declared size for an output of the network. A run may
    /// give another size: it throws for a tensor of the caller that does not have the bytes of the true shape. An
    /// OutputAllocator gets the true shape.
    virtual void SetTensorInfo(const TensorInfo& tensorInfo) = 0;
    /// The info of this output's tensor. Where none was set it is TensorInfo(), Float32 of unknown rank: ask
    /// IsTensorInfoSet() first.
    virtual const TensorInfo& GetTensorInfo() const = 0;
    virtual bool IsTensorInfoSet() const = 0;

    /// Connects to an input that is not connected yet and is of the same network, else throws
    /// InvalidArgumentException. Returns the index of the connection.
    virtual int Connect(IInputSlot& destination) = 0;
    /// Ends the connection to `slot`. An input that is not connected to this output stays as it is. Other connections
    /// may get another index.
    virtual void Disconnect(IInputSlot& slot) = 0;

    virtual unsigned int CalculateIndexOnOwner() const = 0;
    virtual LayerGuid GetOwningLayerGuid() const = 0;
    virtual const IConnectableLayer& GetOwningIConnectableLayer() const = 0;
    virtual IConnectableLayer& GetOwningIConnectableLayer() = 0;

protected:
    ~IOutputSlot();
};

/// A layer of a network. Owned by the network.
class TENON_API IConnectableLayer
{
public:
    virtual const char* GetName() const = 0;
    /// The number of input slots without those for constants that an Add... method took, for example
    /// AddBatchNormalizationLayer: their slots come after these, and Constant layers that visitors do not see feed
    /// them.
    virtual unsigned int GetNumInputSlots() const = 0;
    virtual unsigned int GetNumOutputSlots() const = 0;
    /// Each throws InvalidArgumentException past the last slot.
    virtual const IInputSlot& GetInputSlot(unsigned int index) const = 0;
    virtual IInputSlot& GetInputSlot(unsigned int index) = 0;
    virtual const IOutputSlot& GetOutputSlot(unsigned int index) const = 0;
    virtual IOutputSlot& GetOutputSlot(unsigned int index) = 0;

    /// The shapes that this layer gives for inputs of these shapes. A shape that depends on values which are not
    /// constant, or on a constant of other bytes than its input's shape has, is of unknown rank. Throws
    /// LayerValidationException when the inputs do not fit.
    virtual std::vector<TensorShape> InferOutputShapes(const std::vector<TensorShape>& inputShapes) const = 0;

    virtual LayerGuid GetGuid() const = 0;
    virtual LayerType GetType() const = 0;
    /// The layer's descriptor; a NullDescriptor if it has none.
    virtual const BaseDescriptor& GetParameters() const = 0;

    /// Asks for a backend, which is tried before the preferred ones.
    virtual void BackendSelectionHint(Optional<BackendId> backend) = 0;
    virtual void SetBackendId(const BackendId& id) = 0;
    /// Undefined until assigned.
    virtual const BackendId& GetBackendId() const = 0;

    virtual void ExecuteStrategy(IStrategy& strategy) const = 0;

    /// Handles of <tenon/TensorHandle.hpp>; they live as long as the layer.
    using ImmutableConstantTensors = std::vector<std::reference_wrapper<const std::shared_ptr<ConstTensorHandle>>>;
    using ConstantTensors = ImmutableConstantTensors; ///< Arm NN's may be replaced
    /// A Constant layer's tensor, or the constants wired to this layer's inputs by the method that added it. Throws
    /// std::bad_alloc.
    virtual ImmutableConstantTensors GetConstantTensorsByRef() const = 0;

protected:
    ~IConnectableLayer();
};

} // namespace tenon
