// SPDX-License-Identifier: Apache-2.0
// For backends written for Arm NN: makes the workload that is for the type of a layer's data.
#pragma once

#include <armnn/Exceptions.hpp>
#include <armnn/TypesUtils.hpp>
#include <armnn/backends/Workload.hpp>
#include <armnn/backends/WorkloadInfo.hpp>
#include <armnn/utility/IgnoreUnused.hpp>
#include <memory>
#include <string>
#include <utility>

namespace tenon
{

/// Func makes a workload from a queue descriptor, an info and the further arguments of its constructor.
template <typename WorkloadType>
struct MakeWorkloadForType
{
    template <typename QueueDescriptorType, typename... Args>
    static std::unique_ptr<WorkloadType> Func(const QueueDescriptorType& descriptor, const WorkloadInfo& info,
                                              Args&&... args)
    {
        return std::make_unique<WorkloadType>(descriptor, info, std::forward<Args>(args)...);
    }
};

/// NullWorkload says that there is no workload for a type.
template <>
struct MakeWorkloadForType<NullWorkload>
{
    template <typename QueueDescriptorType, typename... Args>
    static std::unique_ptr<NullWorkload> Func(const QueueDescriptorType&, const WorkloadInfo&, Args&&... args)
    {
        IgnoreUnused(args...);
        return nullptr;
    }
};

/// A workload of the class that is given for the type of input 0, or of output 0 where there is no input: QAsymmU8 is
/// Uint8, QAsymmS8 and QSymmS8 are Int8, Signed32 is Int32. Null for other types. Throws InvalidArgumentException where
/// there are no tensors.
template <typename Float16Workload, typename Float32Workload, typename Uint8Workload, typename Int32Workload,
          typename BooleanWorkload, typename Int8Workload, typename QueueDescriptorType, typename... Args>
std::unique_ptr<IWorkload> MakeWorkloadHelper(const QueueDescriptorType& descriptor, const WorkloadInfo& info,
                                              Args&&... args)
{
    const auto& infos = info.m_InputTensorInfos.empty() ? info.m_OutputTensorInfos : info.m_InputTensorInfos;
    if (infos.empty())
    {
        throw InvalidArgumentException(
            "MakeWorkloadHelper: the WorkloadInfo has neither inputs nor outputs, whose type "
            "chooses the workload");
    }
    switch (infos[0].GetDataType())
    {
    case DataType::Float16:
        return MakeWorkloadForType<Float16Workload>::Func(descriptor, info, std::forward<Args>(args)...);
    case DataType::Float32:
        return MakeWorkloadForType<Float32Workload>::Func(descriptor, info, std::forward<Args>(args)...);
    case DataType::QAsymmU8:
        return MakeWorkloadForType<Uint8Workload>::Func(descriptor, info, std::forward<Args>(args)...);
    case DataType::QAsymmS8:
    case DataType::QSymmS8:
        return MakeWorkloadForType<Int8Workload>::Func(descriptor, info, std::forward<Args>(args)...);
    case DataType::Signed32:
        return MakeWorkloadForType<Int32Workload>::Func(descriptor, info, std::forward<Args>(args)...);
    case DataType::Boolean:
        return MakeWorkloadForType<BooleanWorkload>::Func(descriptor, info, std::forward<Args>(args)...);
    default: return nullptr;
    }
}

/// The same for backends that have a workload for floating point and one for QAsymmU8.
template <typename FloatWorkload, typename Uint8Workload, typename QueueDescriptorType, typename... Args>
std::unique_ptr<IWorkload> MakeWorkloadHelper(const QueueDescriptorType& descriptor, const WorkloadInfo& info,
                                              Args&&... args)
{
    return MakeWorkloadHelper<FloatWorkload, FloatWorkload, Uint8Workload, NullWorkload, NullWorkload, NullWorkload>(
        descriptor, info, std::forward<Args>(args)...);
}

} // namespace tenon
