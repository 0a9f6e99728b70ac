// SPDX-License-Identifier: Apache-2.0
#include "delegate/FakePartitions.hpp"

#include "delegate/FakeMemory.hpp"

#include <algorithm>
#include <set>

namespace tenon::test
{

namespace
{

constexpr int32_t AlwaysReady = -2;
constexpr int32_t NotReady = -1;

/// A partition is the nodes of one epoch. A node joins the current epoch as soon as its inputs are ready, if it is of
/// the epoch's kind; the first one decides on the kind.
class Partitioner
{
public:
    explicit Partitioner(const PartitionRequest& request)
        : m_Request(request), m_Taken(request.m_Taken.begin(), request.m_Taken.end()),
          m_TensorEpochs(request.m_NumTensors, AlwaysReady), m_NodeEpochs(request.m_Plan.size(), NotReady)
    {
        for (const TfLiteNode* node : request.m_Nodes)
        {
            for (int32_t tensor : TensorsOf(node->outputs))
            {
                EpochOf(tensor) = NotReady;
            }
        }
    }

    std::vector<FakePartition> Run()
    {
        while (AddPartition())
        {
        }
        for (int32_t tensor : m_Request.m_GraphOutputs)
        {
            MarkAsOutput(tensor);
        }
        for (FakePartition& partition : m_Partitions)
        {
            MakeUnique(partition.m_Inputs);
            MakeUnique(partition.m_Outputs);
        }
        return std::move(m_Partitions);
    }

private:
    /// Those that are there: a hostile graph has numbers of others.
    std::vector<int32_t> TensorsOf(const TfLiteIntArray* array) const
    {
        std::vector<int32_t> tensors = ToVector(array);
        const auto isAbsent = [this](int32_t tensor)
        { return tensor < 0 || static_cast<size_t>(tensor) >= m_Request.m_NumTensors; };
        tensors.erase(std::remove_if(tensors.begin(), tensors.end(), isAbsent), tensors.end());
        return tensors;
    }
    int32_t& EpochOf(int32_t tensor) { return m_TensorEpochs[static_cast<size_t>(tensor)]; }

    void MarkAsOutput(int32_t tensor)
    {
        if (EpochOf(tensor) >= 0)
        {
            m_Partitions[static_cast<size_t>(EpochOf(tensor))].m_Outputs.push_back(tensor);
        }
    }

    static void MakeUnique(std::vector<int32_t>& tensors)
    {
        std::sort(tensors.begin(), tensors.end());
        tensors.erase(std::unique(tensors.begin(), tensors.end()), tensors.end());
    }

    bool AddPartition()
    {
        m_Partitions.emplace_back();
        bool isChanged = true;
        while (isChanged && !IsFull())
        {
            isChanged = false;
            for (size_t i = 0; i < m_Request.m_Plan.size() && !IsFull(); ++i)
            {
                isChanged = AddNode(i) || isChanged;
            }
        }
        if (m_Partitions.back().m_Nodes.empty())
        {
            m_Partitions.pop_back();
            return false;
        }
        return true;
    }

    bool IsFull() const
    {
        const FakePartition& partition = m_Partitions.back();
        return m_Request.m_PreservesAllTensors && partition.m_IsTaken && !partition.m_Nodes.empty();
    }

    bool AddNode(size_t i)
    {
        const TfLiteNode& node = *m_Request.m_Nodes[i];
        const std::vector<int32_t> inputs = TensorsOf(node.inputs);
        const auto isMissing = [this](int32_t tensor) { return EpochOf(tensor) == NotReady; };
        if (m_NodeEpochs[i] != NotReady || std::any_of(inputs.begin(), inputs.end(), isMissing))
        {
            return false;
        }
        FakePartition& partition = m_Partitions.back();
        const bool isTaken = m_Taken.count(m_Request.m_Plan[i]) != 0;
        if (partition.m_Nodes.empty())
        {
            partition.m_IsTaken = isTaken;
        }
        if (partition.m_IsTaken != isTaken)
        {
            return false;
        }
        const auto epoch = static_cast<int32_t>(m_Partitions.size() - 1);
        m_NodeEpochs[i] = epoch;
        partition.m_Nodes.push_back(m_Request.m_Plan[i]);
        for (int32_t tensor : TensorsOf(node.outputs))
        {
            EpochOf(tensor) = epoch;
        }
        for (int32_t tensor : inputs)
        {
            if (EpochOf(tensor) != epoch)
            {
                partition.m_Inputs.push_back(tensor);
                MarkAsOutput(tensor);
            }
        }
        return true;
    }

    const PartitionRequest& m_Request;
    std::set<int32_t> m_Taken;
    std::vector<int32_t> m_TensorEpochs;
    std::vector<int32_t> m_NodeEpochs; ///< by place in the plan
    std::vector<FakePartition> m_Partitions;
};

} // namespace

std::vector<FakePartition> MakePartitions(const PartitionRequest& request)
{
    return Partitioner(request).Run();
}

} // namespace tenon::test
