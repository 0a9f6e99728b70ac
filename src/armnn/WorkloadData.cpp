// SPDX-License-Identifier: Apache-2.0
// Checks of queue descriptors and of the bases of workloads.
#include "armnn/CopyTensor.hpp"
#include "armnn/MappedHandle.hpp"

#include <tenon/Exceptions.hpp>

#include <armnn/backends/MemCopyWorkload.hpp>
#include <armnn/backends/Workload.hpp>
#include <atomic>
#include <limits>

namespace tenon
{

DataType GetBiasDataType(DataType inputDataType)
{
    switch (inputDataType)
    {
    case DataType::Float16:
    case DataType::Float32:
    case DataType::BFloat16: return inputDataType == DataType::BFloat16 ? DataType::Float32 : inputDataType;
    case DataType::QAsymmS8:
    case DataType::QAsymmU8:
    case DataType::QSymmS8:
    case DataType::QSymmS16: return DataType::Signed32;
    default: break;
    }
    throw InvalidArgumentException(std::string("no type of biases belongs to inputs of type ") +
                                   GetDataTypeName(inputDataType) +
                                   "; layers with biases take Float32, Float16, BFloat16, QAsymmS8, QAsymmU8, QSymmS8 "
                                   "and QSymmS16");
}

QueueDescriptor::~QueueDescriptor() = default;

void QueueDescriptor::ValidateTensorNumDimensions(const TensorInfo& tensor, const std::string& descName,
                                                  unsigned int numDimensions, const std::string& tensorName) const
{
    if (tensor.GetNumDimensions() != numDimensions)
    {
        throw InvalidArgumentException(descName + ": tensor " + tensorName + " has shape " +
                                       tensor.GetShape().ToString() + ", but it must have " +
                                       std::to_string(numDimensions) + " dimensions");
    }
}

void QueueDescriptor::ValidateTensorNumDimNumElem(const TensorInfo& tensorInfo, unsigned int numDimension,
                                                  unsigned int numElements, const std::string& tensorName) const
{
    ValidateTensorNumDimensions(tensorInfo, "a queue descriptor", numDimension, tensorName);
    if (tensorInfo.GetNumElements() != numElements)
    {
        throw InvalidArgumentException("tensor " + tensorName + " has shape " + tensorInfo.GetShape().ToString() +
                                       ", but it must have " + std::to_string(numElements) + " elements");
    }
}

void QueueDescriptor::ValidateInputsOutputs(const std::string& descName, unsigned int numExpectedIn,
                                            unsigned int numExpectedOut) const
{
    if (m_Inputs.size() != numExpectedIn || m_Outputs.size() != numExpectedOut)
    {
        throw InvalidArgumentException(descName + ": there are " + std::to_string(m_Inputs.size()) + " inputs and " +
                                       std::to_string(m_Outputs.size()) + " outputs, but there must be " +
                                       std::to_string(numExpectedIn) + " and " + std::to_string(numExpectedOut));
    }
}

void QueueDescriptor::ValidateCounts(const char* name, const WorkloadInfo& workloadInfo, size_t minInputs,
                                     size_t maxInputs, size_t numOutputs) const
{
    const size_t numInputs = m_Inputs.size();
    const auto fail = [&](const std::string& what) { throw InvalidArgumentException(name + (": " + what)); };
    if (numInputs < minInputs || numInputs > maxInputs || m_Outputs.size() != numOutputs)
    {
        fail("there are " + std::to_string(numInputs) + " inputs and " + std::to_string(m_Outputs.size()) +
             " outputs, which a layer of this type cannot have");
    }
    if (workloadInfo.m_InputTensorInfos.size() != numInputs || workloadInfo.m_OutputTensorInfos.size() != numOutputs)
    {
        fail("there are " + std::to_string(numInputs) + " inputs and " + std::to_string(numOutputs) +
             " outputs, but infos of " + std::to_string(workloadInfo.m_InputTensorInfos.size()) + " and " +
             std::to_string(workloadInfo.m_OutputTensorInfos.size()));
    }
    for (const auto* tensors : {&m_Inputs, &m_Outputs})
    {
        for (const ITensorHandle* tensor : *tensors)
        {
            if (tensor == nullptr)
            {
                fail("a tensor handle is null");
            }
        }
    }
}

#define TENON_VALIDATE(name, minInputs, maxInputs, numOutputs)                                                         \
    void name##QueueDescriptor::Validate(const WorkloadInfo& workloadInfo) const                                       \
    {                                                                                                                  \
        ValidateCounts(#name "QueueDescriptor", workloadInfo, minInputs, maxInputs, numOutputs);                       \
    }

#define TENON_VALIDATE_1(name) TENON_VALIDATE(name, 1, 1, 1)
#define TENON_VALIDATE_2(name) TENON_VALIDATE(name, 2, 2, 1)

TENON_VALIDATE_1(Abs)
TENON_VALIDATE_1(Activation)
TENON_VALIDATE_1(ArgMinMax)
TENON_VALIDATE_1(BatchNormalization)
TENON_VALIDATE_1(BatchToSpaceNd)
TENON_VALIDATE_1(Cast)
TENON_VALIDATE_1(ChannelShuffle)
TENON_VALIDATE_1(ConvertFp16ToFp32)
TENON_VALIDATE_1(ConvertFp32ToFp16)
TENON_VALIDATE_1(Debug)
TENON_VALIDATE_1(DepthToSpace)
TENON_VALIDATE_1(Dequantize)
TENON_VALIDATE_1(ElementwiseUnary)
TENON_VALIDATE_1(FakeQuantization)
TENON_VALIDATE_1(Fill)
TENON_VALIDATE_1(Floor)
TENON_VALIDATE_1(InstanceNormalization)
TENON_VALIDATE_1(L2Normalization)
TENON_VALIDATE_1(LogSoftmax)
TENON_VALIDATE_1(Mean)
TENON_VALIDATE_1(Normalization)
TENON_VALIDATE_1(Pad)
TENON_VALIDATE_1(Permute)
TENON_VALIDATE_1(Pooling2d)
TENON_VALIDATE_1(Pooling3d)
TENON_VALIDATE_1(Quantize)
TENON_VALIDATE_1(Rank)
TENON_VALIDATE_1(Reduce)
TENON_VALIDATE_1(Reshape)
TENON_VALIDATE_1(Resize)
TENON_VALIDATE_1(Rsqrt)
TENON_VALIDATE_1(Shape)
TENON_VALIDATE_1(Slice)
TENON_VALIDATE_1(Softmax)
TENON_VALIDATE_1(SpaceToBatchNd)
TENON_VALIDATE_1(SpaceToDepth)
TENON_VALIDATE_1(StridedSlice)
TENON_VALIDATE_1(Tile)
TENON_VALIDATE_1(Transpose)
TENON_VALIDATE_1(TransposeConvolution2d)
TENON_VALIDATE_2(Addition)
TENON_VALIDATE_2(BatchMatMul)
TENON_VALIDATE_2(Comparison)
TENON_VALIDATE_2(Division)
TENON_VALIDATE_2(ElementwiseBinary)
TENON_VALIDATE_2(Equal)
TENON_VALIDATE_2(Gather)
TENON_VALIDATE_2(GatherNd)
TENON_VALIDATE_2(Greater)
TENON_VALIDATE_2(LogicalBinary)
TENON_VALIDATE_2(Maximum)
TENON_VALIDATE_2(Merge)
TENON_VALIDATE_2(Minimum)
TENON_VALIDATE_2(Multiplication)
TENON_VALIDATE_2(Prelu)
TENON_VALIDATE_2(ReverseV2)
TENON_VALIDATE_2(Subtraction)
TENON_VALIDATE(Constant, 0, 0, 1)
TENON_VALIDATE(Convolution2d, 2, 3, 1)
TENON_VALIDATE(Convolution3d, 2, 3, 1)
TENON_VALIDATE(DepthwiseConvolution2d, 2, 3, 1)
TENON_VALIDATE(DetectionPostProcess, 2, 2, 4)
TENON_VALIDATE(FullyConnected, 2, 3, 1)
TENON_VALIDATE(Lstm, 3, 3, 4)
TENON_VALIDATE(Map, 1, 1, 0)
TENON_VALIDATE(QLstm, 3, 3, 3)
TENON_VALIDATE(QuantizedLstm, 3, 3, 2)
TENON_VALIDATE(Switch, 2, 2, 2)
TENON_VALIDATE(UnidirectionalSequenceLstm, 3, 3, 3)
TENON_VALIDATE(Unmap, 1, 1, 0)

// Layers of these types say how many tensors there are.
constexpr size_t Any = std::numeric_limits<size_t>::max();
TENON_VALIDATE(Concat, 1, Any, 1)
TENON_VALIDATE(Stack, 1, Any, 1)
TENON_VALIDATE(Splitter, 1, 1, m_Outputs.size())
TENON_VALIDATE(PreCompiled, m_Parameters.m_NumInputSlots, m_Parameters.m_NumInputSlots, m_Parameters.m_NumOutputSlots)
TENON_VALIDATE(MemCopy, 1, Any, m_Inputs.size())
TENON_VALIDATE(MemImport, 1, Any, m_Inputs.size())
TENON_VALIDATE(MemSync, 0, Any, m_Outputs.size())

#undef TENON_VALIDATE_2
#undef TENON_VALIDATE_1
#undef TENON_VALIDATE

namespace detail
{

LayerGuid MakeWorkloadGuid()
{
    // Apart from the guids of layers, which count from 1.
    static std::atomic<uint64_t> next{uint64_t{1} << 63U};
    return LayerGuid(next++);
}

void CheckWorkloadTypes(const std::vector<TensorInfo>& infos, const char* which, std::initializer_list<DataType> types)
{
    for (size_t i = 0; i < infos.size(); ++i)
    {
        bool isFound = false;
        for (const DataType type : types)
        {
            isFound = isFound || type == infos[i].GetDataType();
        }
        if (!isFound)
        {
            throw InvalidArgumentException(std::string("the workload is not made for ") +
                                           GetDataTypeName(infos[i].GetDataType()) + ", which " + which + " " +
                                           std::to_string(i) + " is");
        }
    }
}

void CheckWorkloadTypesAreEqual(const WorkloadInfo& workloadInfo)
{
    const TensorInfo* first = nullptr;
    for (const auto* infos : {&workloadInfo.m_InputTensorInfos, &workloadInfo.m_OutputTensorInfos})
    {
        for (const TensorInfo& tensor : *infos)
        {
            first = first == nullptr ? &tensor : first;
            if (tensor.GetDataType() != first->GetDataType())
            {
                throw InvalidArgumentException(
                    std::string("the workload is made for tensors of one type, but they are ") +
                    GetDataTypeName(first->GetDataType()) + " and " + GetDataTypeName(tensor.GetDataType()));
            }
        }
    }
}

} // namespace detail

namespace
{

void CopyHandle(ITensorHandle& source, ITensorHandle& target, const TensorInfo& info)
{
    MappedHandle from(source, info);
    MappedHandle to(target, info);
    CopyTensor(from.GetConst(), to.Get(), info.GetShape(), GetDataTypeSize(info.GetDataType()));
    to.Unmap();
    from.Unmap();
}

} // namespace

CopyMemGenericWorkload::CopyMemGenericWorkload(const MemCopyQueueDescriptor& descriptor, const WorkloadInfo& info)
    : BaseWorkload<MemCopyQueueDescriptor>(descriptor, info), m_Infos(info.m_InputTensorInfos)
{
}

CopyMemGenericWorkload::~CopyMemGenericWorkload() = default;

void CopyMemGenericWorkload::Execute() const
{
    for (size_t i = 0; i < m_Data.m_Inputs.size(); ++i)
    {
        CopyHandle(*m_Data.m_Inputs[i], *m_Data.m_Outputs[i], m_Infos[i]);
    }
}

void CopyMemGenericWorkload::ExecuteAsync(ExecutionData& executionData)
{
    const auto* const tensors = static_cast<const WorkingMemDescriptor*>(executionData.m_Data);
    for (size_t i = 0; i < m_Infos.size(); ++i)
    {
        CopyHandle(*tensors->m_Inputs.at(i), *tensors->m_Outputs.at(i), m_Infos[i]);
    }
}

} // namespace tenon
