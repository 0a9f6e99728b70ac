// SPDX-License-Identifier: Apache-2.0
// Two backends as they are written for Arm NN, which register themselves: SampleAcc has tensor handles and a memory
// manager of its own, SampleLegacy has the workload factory make them.
#pragma once

#include <armnn/BackendId.hpp>
#include <armnn/backends/ICustomAllocator.hpp>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace sample
{

const armnn::BackendId& AccId();
const armnn::BackendId& LegacyId();

/// What the backends were told to do, and what they did. ResetJournal() before each test.
struct Journal
{
    std::vector<std::string> m_Calls; ///< hooks of contexts, and types of workloads as they are made
    int m_Acquired = 0;               ///< memory managers that hold memory
    std::atomic<int> m_Executed{0};
    bool m_IsUnavailable = false; ///< CreateBackendContext throws BackendUnavailableException
    bool m_TakesAllocator = false;
    /// What OptimizeSubgraphView of SampleAcc does: "" nothing, "compile" the whole subgraph, "fail" activations,
    /// "wrong" names a layer of another network.
    std::string m_Optimize;
    std::shared_ptr<armnn::ICustomAllocator> m_Allocator;
};
Journal& GetJournal();
void ResetJournal();

} // namespace sample
