// SPDX-License-Identifier: Apache-2.0
// For backends written for Arm NN: a workload that copies its inputs to its outputs.
#pragma once

#include <tenon/Export.hpp>

#include <armnn/backends/TensorHandle.hpp>
#include <armnn/backends/Workload.hpp>
#include <utility>
#include <vector>

namespace tenon
{

/// Copies each input to the output of the same place, dimension by dimension where their strides differ.
class TENON_API CopyMemGenericWorkload : public BaseWorkload<MemCopyQueueDescriptor>
{
public:
    CopyMemGenericWorkload(const MemCopyQueueDescriptor& descriptor, const WorkloadInfo& info);
    ~CopyMemGenericWorkload() override;
    void Execute() const override;
    void ExecuteAsync(ExecutionData& executionData) override;

private:
    std::vector<TensorInfo> m_Infos;
};

} // namespace tenon
