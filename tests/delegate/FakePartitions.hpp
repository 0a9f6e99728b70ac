// SPDX-License-Identifier: Apache-2.0
// FakePartitions: the partition of FakeGraph's plan when a delegate takes nodes, by the rules of TensorFlow Lite:
// graphs are partitioned by epochs. Used by FakeGraph.
#pragma once

#include "delegate/TfLiteInterface.hpp"

#include <cstdint>
#include <vector>

namespace tenon::test
{

/// Nodes that run one after the other; all or none of them are the delegate's.
struct FakePartition
{
    bool m_IsTaken = false;
    std::vector<int32_t> m_Nodes;   ///< in the order in which they run
    std::vector<int32_t> m_Inputs;  ///< tensors, constants among them, in ascending order
    std::vector<int32_t> m_Outputs; ///< tensors that others use and outputs of the graph, in ascending order
};

struct PartitionRequest
{
    const std::vector<int32_t>& m_Plan;
    const std::vector<const TfLiteNode*>& m_Nodes; ///< nodes of the plan
    const std::vector<int32_t>& m_Taken;
    const std::vector<int32_t>& m_GraphOutputs;
    size_t m_NumTensors;
    bool m_PreservesAllTensors; ///< each taken node becomes a partition
};

std::vector<FakePartition> MakePartitions(const PartitionRequest& request);

} // namespace tenon::test
