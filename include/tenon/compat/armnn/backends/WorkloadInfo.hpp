// SPDX-License-Identifier: Apache-2.0
// For backends written for Arm NN: the tensors of a workload.
#pragma once

#include <armnn/Namespace.hpp>
#include <armnn/Optional.hpp>
#include <armnn/Tensor.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace tenon
{

/// The infos of QueueDescriptor::m_Inputs and m_Outputs, with known shapes. A workload is made with them.
struct WorkloadInfo
{
    std::vector<TensorInfo> m_InputTensorInfos;
    std::vector<TensorInfo> m_OutputTensorInfos;
    std::string m_Name;
    Optional<TensorInfo> m_WeightsTensorInfo = EmptyOptional(); ///< empty for a layer without weights
    Optional<TensorInfo> m_BiasTensorInfo = EmptyOptional();
    Optional<std::string> m_ConvolutionMethod = EmptyOptional(); ///< the name for profiles, which Tenon does not set
};

/// Memory that a workload needs in addition to its tensors.
struct MemoryInfo
{
    unsigned int m_OutputSlotIndex;
    size_t m_Size{0};
    size_t m_Alignment{64};
};

struct MemoryRequirements
{
    Optional<std::vector<MemoryInfo>> m_IntraLayerTensors;
};

} // namespace tenon
