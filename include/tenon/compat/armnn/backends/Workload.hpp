// SPDX-License-Identifier: Apache-2.0
// For backends written for Arm NN: bases of workloads.
#pragma once

#include <tenon/Export.hpp>

#include <algorithm>
#include <armnn/Exceptions.hpp>
#include <armnn/Logging.hpp>
#include <armnn/backends/IWorkload.hpp>
#include <armnn/backends/WorkloadData.hpp>
#include <armnn/backends/WorkloadInfo.hpp>
#include <initializer_list>
#include <mutex>
#include <string>
#include <vector>

namespace tenon
{

namespace detail
{
/// Unique within the process.
TENON_API LayerGuid MakeWorkloadGuid();
/// Throw InvalidArgumentException unless each of the infos has one of the types.
TENON_API void CheckWorkloadTypes(const std::vector<TensorInfo>& infos, const char* which,
                                  std::initializer_list<DataType> types);
/// Throws InvalidArgumentException unless all infos have the type of the first one.
TENON_API void CheckWorkloadTypesAreEqual(const WorkloadInfo& workloadInfo);
} // namespace detail

/// A workload class without objects: it stands for types that have no workload.
class NullWorkload : public IWorkload
{
    NullWorkload() = delete;
};

/// Keeps the queue descriptor as m_Data, and validates it.
template <typename QueueDescriptor>
class BaseWorkload : public IWorkload
{
public:
    BaseWorkload(const QueueDescriptor& descriptor, const WorkloadInfo& info)
        : m_Data(descriptor), m_Guid(detail::MakeWorkloadGuid()), m_Name(info.m_Name)
    {
        m_Data.Validate(info);
    }

    const std::string& GetName() const override { return m_Name; }
    void PostAllocationConfigure() override {}
    const QueueDescriptor& GetData() const { return m_Data; }
    arm::pipe::ProfilingGuid GetGuid() const final { return m_Guid; }

    /// Executes with the tensors of the WorkingMemDescriptor, one call at a time.
    void ExecuteAsync(ExecutionData& executionData) override
    {
        const std::lock_guard<std::mutex> lock(m_AsyncMutex);
        const auto* const tensors = static_cast<const WorkingMemDescriptor*>(executionData.m_Data);
        m_Data.m_Inputs = tensors->m_Inputs;
        m_Data.m_Outputs = tensors->m_Outputs;
        Execute();
    }

    bool SupportsTensorHandleReplacement() const override { return false; }
    /// Throw UnimplementedException by default.
    void ReplaceInputTensorHandle(ITensorHandle* /*tensorHandle*/, unsigned int /*slot*/) override
    {
        throw UnimplementedException("workload " + m_Name + " does not replace tensor handles");
    }
    void ReplaceOutputTensorHandle(ITensorHandle* /*tensorHandle*/, unsigned int /*slot*/) override
    {
        throw UnimplementedException("workload " + m_Name + " does not replace tensor handles");
    }

protected:
    QueueDescriptor m_Data;
    const arm::pipe::ProfilingGuid m_Guid;
    const std::string m_Name;

private:
    std::mutex m_AsyncMutex;
};

/// All tensors have one type, which is one of DataTypes; else the constructor throws InvalidArgumentException.
template <typename QueueDescriptor, DataType... DataTypes>
class TypedWorkload : public BaseWorkload<QueueDescriptor>
{
public:
    TypedWorkload(const QueueDescriptor& descriptor, const WorkloadInfo& info)
        : BaseWorkload<QueueDescriptor>(descriptor, info)
    {
        detail::CheckWorkloadTypesAreEqual(info);
        detail::CheckWorkloadTypes(info.m_InputTensorInfos, "input", {DataTypes...});
        detail::CheckWorkloadTypes(info.m_OutputTensorInfos, "output", {DataTypes...});
    }
};

/// All inputs have one type, and all outputs another one.
template <typename QueueDescriptor, DataType InputDataType, DataType OutputDataType>
class MultiTypedWorkload : public BaseWorkload<QueueDescriptor>
{
public:
    MultiTypedWorkload(const QueueDescriptor& descriptor, const WorkloadInfo& info)
        : BaseWorkload<QueueDescriptor>(descriptor, info)
    {
        detail::CheckWorkloadTypes(info.m_InputTensorInfos, "input", {InputDataType});
        detail::CheckWorkloadTypes(info.m_OutputTensorInfos, "output", {OutputDataType});
    }
};

/// The first input and all outputs have one type.
template <typename QueueDescriptor, DataType Type>
class FirstInputTypedWorkload : public BaseWorkload<QueueDescriptor>
{
public:
    FirstInputTypedWorkload(const QueueDescriptor& descriptor, const WorkloadInfo& info)
        : BaseWorkload<QueueDescriptor>(descriptor, info)
    {
        if (!info.m_InputTensorInfos.empty())
        {
            detail::CheckWorkloadTypes({info.m_InputTensorInfos.front()}, "input", {Type});
        }
        detail::CheckWorkloadTypes(info.m_OutputTensorInfos, "output", {Type});
    }
};

template <typename QueueDescriptor>
using FloatWorkload = TypedWorkload<QueueDescriptor, DataType::Float16, DataType::Float32>;
template <typename QueueDescriptor>
using Float32Workload = TypedWorkload<QueueDescriptor, DataType::Float32>;
template <typename QueueDescriptor>
using Uint8Workload = TypedWorkload<QueueDescriptor, DataType::QAsymmU8>;
template <typename QueueDescriptor>
using Int32Workload = TypedWorkload<QueueDescriptor, DataType::Signed32>;
template <typename QueueDescriptor>
using BooleanWorkload = TypedWorkload<QueueDescriptor, DataType::Boolean>;
template <typename QueueDescriptor>
using BaseFloat32ComparisonWorkload = MultiTypedWorkload<QueueDescriptor, DataType::Float32, DataType::Boolean>;
template <typename QueueDescriptor>
using BaseUint8ComparisonWorkload = MultiTypedWorkload<QueueDescriptor, DataType::QAsymmU8, DataType::Boolean>;
template <typename QueueDescriptor>
using BFloat16ToFloat32Workload = MultiTypedWorkload<QueueDescriptor, DataType::BFloat16, DataType::Float32>;
template <typename QueueDescriptor>
using Float32ToBFloat16Workload = MultiTypedWorkload<QueueDescriptor, DataType::Float32, DataType::BFloat16>;
template <typename QueueDescriptor>
using Float16ToFloat32Workload = MultiTypedWorkload<QueueDescriptor, DataType::Float16, DataType::Float32>;
template <typename QueueDescriptor>
using Float32ToFloat16Workload = MultiTypedWorkload<QueueDescriptor, DataType::Float32, DataType::Float16>;
template <typename QueueDescriptor>
using Uint8ToFloat32Workload = MultiTypedWorkload<QueueDescriptor, DataType::QAsymmU8, DataType::Float32>;

} // namespace tenon
