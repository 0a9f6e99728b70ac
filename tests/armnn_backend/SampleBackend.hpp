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

/// How many threads are in a function.
class ConcurrencyCounter
{
public:
    /// Stays there a while where `isSlow`.
    void Enter(bool isSlow);
    void Leave() { --m_Inside; }
    int GetMax() const { return m_Max; } ///< that were there at a time

private:
    std::atomic<int> m_Inside{0};
    std::atomic<int> m_Max{0};
};

/// What the backends were told to do, and what they did. ResetJournal() before each test.
struct Journal
{
    std::vector<std::string> m_Calls; ///< hooks of contexts, and types of workloads as they are made
    int m_Acquired = 0;               ///< memory managers that hold memory
    int m_Constants = 0;              ///< tensor handles of SampleAcc that took memory of their own
    std::atomic<int> m_Executed{0};
    ConcurrencyCounter m_Executing; ///< in the workloads of Addition and Activation
    ConcurrencyCounter m_Making;    ///< in IWorkloadFactory::CreateWorkload
    bool m_IsSlow = false;          ///< what is counted takes a while
    bool m_IsUnavailable = false;   ///< CreateBackendContext throws BackendUnavailableException
    bool m_UnmapThrows = false;     ///< of tensor handles
    bool m_ReleaseThrows = false;   ///< of memory managers, when they released
    bool m_TakesAllocator = false;
    std::atomic<int> m_Contexts{0}; ///< contexts that live
    int m_ContextsMade = 0;
    bool m_HasAllocatorInContext = false; ///< whether the last context was made after an allocator was taken
    /// What OptimizeSubgraphView of SampleAcc does: "" nothing, "compile" the whole subgraph, "fail" activations,
    /// "wrong" names a layer of another network.
    std::string m_Optimize;
    std::shared_ptr<armnn::ICustomAllocator> m_Allocator;
};
Journal& GetJournal();
void ResetJournal();

} // namespace sample
