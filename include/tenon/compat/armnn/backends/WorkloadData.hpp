// SPDX-License-Identifier: Apache-2.0
// For backends written for Arm NN: queue descriptors, from which workloads are made; one for each type of layer.
#pragma once

#include <tenon/Export.hpp>

#include <armnn/Deprecated.hpp>
#include <armnn/Descriptors.hpp>
#include <armnn/Exceptions.hpp>
#include <armnn/Tensor.hpp>
#include <armnn/Types.hpp>
#include <armnn/backends/TensorHandle.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon
{

struct WorkloadInfo;

/// The type of the biases of a layer whose inputs have this type. Throws InvalidArgumentException for a type of inputs
/// that no layer with biases has.
TENON_API DataType GetBiasDataType(DataType inputDataType);

/// The tensors of a workload. Derived types also have the parameters of the layer. The handles are made by the backend,
/// and belong to the runtime. Optional inputs that are not connected are left out.
struct TENON_API QueueDescriptor
{
    virtual ~QueueDescriptor();

    /// These functions throw InvalidArgumentException, naming `descName` and `tensorName`, where tensors are not as the
    /// arguments say.
    void ValidateTensorNumDimensions(const TensorInfo& tensor, const std::string& descName, unsigned int numDimensions,
                                     const std::string& tensorName) const;
    void ValidateTensorNumDimNumElem(const TensorInfo& tensorInfo, unsigned int numDimension, unsigned int numElements,
                                     const std::string& tensorName) const;
    void ValidateInputsOutputs(const std::string& descName, unsigned int numExpectedIn,
                               unsigned int numExpectedOut) const;

    template <typename T>
    const T* GetAdditionalInformation() const
    {
        return static_cast<T*>(m_AdditionalInfoObject);
    }

    std::vector<ITensorHandle*> m_Inputs;
    std::vector<ITensorHandle*> m_Outputs;
    void* m_AdditionalInfoObject = nullptr; ///< a backend's own; null when Tenon makes the descriptor
    bool m_AllowExpandedDims = false;       ///< a backend's own, too

protected:
    QueueDescriptor() = default;
    QueueDescriptor(const QueueDescriptor&) = default;
    QueueDescriptor& operator=(const QueueDescriptor&) = default;

    /// See Validate of the derived types.
    void ValidateCounts(const char* name, const WorkloadInfo& workloadInfo, size_t minInputs, size_t maxInputs,
                        size_t numOutputs) const;
};

/// The base of queue descriptors of layers that have parameters.
template <typename LayerDescriptor>
struct QueueDescriptorWithParameters : public QueueDescriptor
{
    LayerDescriptor m_Parameters;

protected:
    QueueDescriptorWithParameters() = default;
    QueueDescriptorWithParameters(const QueueDescriptorWithParameters&) = default;
    QueueDescriptorWithParameters& operator=(const QueueDescriptorWithParameters&) = default;
};

// Validate of each type throws InvalidArgumentException unless there are as many inputs and outputs as the layer has,
// none of them null, and as many infos. Shapes, types and parameters are checked by Optimize(), for all backends.
#define TENON_QUEUE_DESCRIPTOR(name)                                                                                   \
    struct TENON_API name##QueueDescriptor : public QueueDescriptor                                                    \
    {                                                                                                                  \
        void Validate(const WorkloadInfo& workloadInfo) const;                                                         \
    };
#define TENON_QUEUE_DESCRIPTOR_OF(name)                                                                                \
    struct TENON_API name##QueueDescriptor : public QueueDescriptorWithParameters<name##Descriptor>                    \
    {                                                                                                                  \
        void Validate(const WorkloadInfo& workloadInfo) const;                                                         \
    };

TENON_QUEUE_DESCRIPTOR(Abs)
TENON_QUEUE_DESCRIPTOR(Addition)
TENON_QUEUE_DESCRIPTOR(Cast)
TENON_QUEUE_DESCRIPTOR(ConvertFp16ToFp32)
TENON_QUEUE_DESCRIPTOR(ConvertFp32ToFp16)
TENON_QUEUE_DESCRIPTOR(Dequantize)
TENON_QUEUE_DESCRIPTOR(Division)
TENON_QUEUE_DESCRIPTOR(Equal)
TENON_QUEUE_DESCRIPTOR(Floor)
TENON_QUEUE_DESCRIPTOR(GatherNd)
TENON_QUEUE_DESCRIPTOR(Greater)
TENON_QUEUE_DESCRIPTOR(Map)
TENON_QUEUE_DESCRIPTOR(Maximum)
TENON_QUEUE_DESCRIPTOR(MemCopy)
TENON_QUEUE_DESCRIPTOR(MemImport)
TENON_QUEUE_DESCRIPTOR(MemSync)
TENON_QUEUE_DESCRIPTOR(Merge)
TENON_QUEUE_DESCRIPTOR(Minimum)
TENON_QUEUE_DESCRIPTOR(Multiplication)
TENON_QUEUE_DESCRIPTOR(Prelu)
TENON_QUEUE_DESCRIPTOR(Quantize)
TENON_QUEUE_DESCRIPTOR(Rank)
TENON_QUEUE_DESCRIPTOR(ReverseV2)
TENON_QUEUE_DESCRIPTOR(Rsqrt)
TENON_QUEUE_DESCRIPTOR(Shape)
TENON_QUEUE_DESCRIPTOR(Subtraction)
TENON_QUEUE_DESCRIPTOR(Switch)
TENON_QUEUE_DESCRIPTOR(Unmap)

TENON_QUEUE_DESCRIPTOR_OF(Activation)
TENON_QUEUE_DESCRIPTOR_OF(ArgMinMax)
TENON_QUEUE_DESCRIPTOR_OF(BatchMatMul)
TENON_QUEUE_DESCRIPTOR_OF(BatchToSpaceNd)
TENON_QUEUE_DESCRIPTOR_OF(ChannelShuffle)
TENON_QUEUE_DESCRIPTOR_OF(Comparison)
TENON_QUEUE_DESCRIPTOR_OF(Convolution2d)
TENON_QUEUE_DESCRIPTOR_OF(Convolution3d)
TENON_QUEUE_DESCRIPTOR_OF(DepthToSpace)
TENON_QUEUE_DESCRIPTOR_OF(DepthwiseConvolution2d)
TENON_QUEUE_DESCRIPTOR_OF(ElementwiseBinary)
TENON_QUEUE_DESCRIPTOR_OF(ElementwiseUnary)
TENON_QUEUE_DESCRIPTOR_OF(Fill)
TENON_QUEUE_DESCRIPTOR_OF(FullyConnected)
TENON_QUEUE_DESCRIPTOR_OF(Gather)
TENON_QUEUE_DESCRIPTOR_OF(InstanceNormalization)
TENON_QUEUE_DESCRIPTOR_OF(L2Normalization)
TENON_QUEUE_DESCRIPTOR_OF(LogSoftmax)
TENON_QUEUE_DESCRIPTOR_OF(LogicalBinary)
TENON_QUEUE_DESCRIPTOR_OF(Mean)
TENON_QUEUE_DESCRIPTOR_OF(Normalization)
TENON_QUEUE_DESCRIPTOR_OF(Pad)
TENON_QUEUE_DESCRIPTOR_OF(Permute)
TENON_QUEUE_DESCRIPTOR_OF(Pooling2d)
TENON_QUEUE_DESCRIPTOR_OF(Pooling3d)
TENON_QUEUE_DESCRIPTOR_OF(Reduce)
TENON_QUEUE_DESCRIPTOR_OF(Reshape)
TENON_QUEUE_DESCRIPTOR_OF(Resize)
TENON_QUEUE_DESCRIPTOR_OF(Slice)
TENON_QUEUE_DESCRIPTOR_OF(Softmax)
TENON_QUEUE_DESCRIPTOR_OF(SpaceToBatchNd)
TENON_QUEUE_DESCRIPTOR_OF(SpaceToDepth)
TENON_QUEUE_DESCRIPTOR_OF(Stack)
TENON_QUEUE_DESCRIPTOR_OF(StridedSlice)
TENON_QUEUE_DESCRIPTOR_OF(Tile)
TENON_QUEUE_DESCRIPTOR_OF(Transpose)

#undef TENON_QUEUE_DESCRIPTOR
#undef TENON_QUEUE_DESCRIPTOR_OF

using InputQueueDescriptor = MemCopyQueueDescriptor;
using OutputQueueDescriptor = MemCopyQueueDescriptor;

/// A box of a tensor: where it begins. Its size is that of the output that it becomes, or of the input that it comes
/// from.
struct TensorBoxOrigin
{
    TensorBoxOrigin() = default;
    TensorBoxOrigin(const std::vector<unsigned int>& origin) : m_Origin(origin) {} // NOLINT: implicit, as Arm NN's
    std::vector<unsigned int> m_Origin;                                            ///< one a dimension
};

struct TENON_API SplitterQueueDescriptor : public QueueDescriptorWithParameters<ViewsDescriptor>
{
    using ViewOrigin = TensorBoxOrigin;
    std::vector<ViewOrigin> m_ViewOrigins; ///< where each output begins in the input

    void Validate(const WorkloadInfo& workloadInfo) const;
};

struct TENON_API ConcatQueueDescriptor : public QueueDescriptorWithParameters<OriginsDescriptor>
{
    using ViewOrigin = TensorBoxOrigin;
    std::vector<ViewOrigin> m_ViewOrigins; ///< where each input begins in the output

    void Validate(const WorkloadInfo& workloadInfo) const;
};
using MergerQueueDescriptor = ConcatQueueDescriptor;

struct TENON_API DetectionPostProcessQueueDescriptor
    : public QueueDescriptorWithParameters<DetectionPostProcessDescriptor>
{
    const ConstTensorHandle* m_Anchors = nullptr; ///< [boxes, 4]

    void Validate(const WorkloadInfo& workloadInfo) const;
};

/// The constants are [channels].
struct TENON_API BatchNormalizationQueueDescriptor : public QueueDescriptorWithParameters<BatchNormalizationDescriptor>
{
    const ConstTensorHandle* m_Mean = nullptr;
    const ConstTensorHandle* m_Variance = nullptr;
    const ConstTensorHandle* m_Beta = nullptr;
    const ConstTensorHandle* m_Gamma = nullptr;

    void Validate(const WorkloadInfo& workloadInfo) const;
};

struct TENON_API FakeQuantizationQueueDescriptor : public QueueDescriptorWithParameters<FakeQuantizationDescriptor>
{
    const ConstTensorHandle* m_Min = nullptr; ///< null: the parameters have it
    const ConstTensorHandle* m_Max = nullptr;

    void Validate(const WorkloadInfo& workloadInfo) const;
};

struct TENON_API ConstantQueueDescriptor : public QueueDescriptor
{
    const ConstTensorHandle* m_LayerOutput = nullptr;

    void Validate(const WorkloadInfo& workloadInfo) const;
};

struct TENON_API DebugQueueDescriptor : public QueueDescriptor
{
    LayerGuid m_Guid{0};
    std::string m_LayerName;
    unsigned int m_SlotIndex = 0;
    bool m_LayerOutputToFile = false;

    void Validate(const WorkloadInfo& workloadInfo) const;
};

struct TENON_API PreCompiledQueueDescriptor : public QueueDescriptorWithParameters<PreCompiledDescriptor>
{
    void* m_PreCompiledObject = nullptr;

    void Validate(const WorkloadInfo& workloadInfo) const;
};

struct TENON_API TransposeConvolution2dQueueDescriptor
    : public QueueDescriptorWithParameters<TransposeConvolution2dDescriptor>
{
    const ConstTensorHandle* m_Weight = nullptr;
    const ConstTensorHandle* m_Bias = nullptr; ///< null: there is none

    void Validate(const WorkloadInfo& workloadInfo) const;
};

// The weights of a cell, as in LstmInputParams; null where the layer has none.
#define TENON_CELL_WEIGHTS                                                                                             \
    const ConstTensorHandle* m_InputToInputWeights = nullptr;                                                          \
    const ConstTensorHandle* m_InputToForgetWeights = nullptr;                                                         \
    const ConstTensorHandle* m_InputToCellWeights = nullptr;                                                           \
    const ConstTensorHandle* m_InputToOutputWeights = nullptr;                                                         \
    const ConstTensorHandle* m_RecurrentToInputWeights = nullptr;                                                      \
    const ConstTensorHandle* m_RecurrentToForgetWeights = nullptr;                                                     \
    const ConstTensorHandle* m_RecurrentToCellWeights = nullptr;                                                       \
    const ConstTensorHandle* m_RecurrentToOutputWeights = nullptr;
#define TENON_GATE_BIASES                                                                                              \
    const ConstTensorHandle* m_InputGateBias = nullptr;                                                                \
    const ConstTensorHandle* m_ForgetGateBias = nullptr;                                                               \
    const ConstTensorHandle* m_CellBias = nullptr;                                                                     \
    const ConstTensorHandle* m_OutputGateBias = nullptr;
#define TENON_LSTM_QUEUE_DESCRIPTOR(name, descriptor)                                                                  \
    struct TENON_API name##QueueDescriptor : public QueueDescriptorWithParameters<descriptor>                          \
    {                                                                                                                  \
        TENON_CELL_WEIGHTS                                                                                             \
        const ConstTensorHandle* m_CellToInputWeights = nullptr;                                                       \
        const ConstTensorHandle* m_CellToForgetWeights = nullptr;                                                      \
        const ConstTensorHandle* m_CellToOutputWeights = nullptr;                                                      \
        TENON_GATE_BIASES                                                                                              \
        const ConstTensorHandle* m_ProjectionWeights = nullptr;                                                        \
        const ConstTensorHandle* m_ProjectionBias = nullptr;                                                           \
        const ConstTensorHandle* m_InputLayerNormWeights = nullptr;                                                    \
        const ConstTensorHandle* m_ForgetLayerNormWeights = nullptr;                                                   \
        const ConstTensorHandle* m_CellLayerNormWeights = nullptr;                                                     \
        const ConstTensorHandle* m_OutputLayerNormWeights = nullptr;                                                   \
                                                                                                                       \
        void Validate(const WorkloadInfo& workloadInfo) const;                                                         \
    };

TENON_LSTM_QUEUE_DESCRIPTOR(Lstm, LstmDescriptor)
TENON_LSTM_QUEUE_DESCRIPTOR(QLstm, QLstmDescriptor)
TENON_LSTM_QUEUE_DESCRIPTOR(UnidirectionalSequenceLstm, LstmDescriptor)

struct TENON_API QuantizedLstmQueueDescriptor : public QueueDescriptor
{
    TENON_CELL_WEIGHTS
    TENON_GATE_BIASES

    void Validate(const WorkloadInfo& workloadInfo) const;
};

#undef TENON_LSTM_QUEUE_DESCRIPTOR
#undef TENON_GATE_BIASES
#undef TENON_CELL_WEIGHTS

} // namespace tenon
