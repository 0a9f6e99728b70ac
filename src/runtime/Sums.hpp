// SPDX-License-Identifier: Apache-2.0
// A layer and the sum of its output and another tensor, which run as one: residuals are added while sums of products
// are still in registers. The layer waits for the sum's turn. What is between the two has memory then, since a debug
// callback wants to see it: where one looks on, they run one after the other.
#pragma once

#include <tenon/backend/IWorkload.hpp>

#include <cstdint>
#include <limits>
#include <memory>

namespace tenon
{

struct PlannedSum
{
    static constexpr uint32_t None = std::numeric_limits<uint32_t>::max();
    /// That a layer may wait: all the while what it reads keeps its memory.
    static constexpr uint32_t MostSteps = 4;

    uint32_t m_Layer = 0; ///< the steps of both
    uint32_t m_Sum = 0;
    uint32_t m_Other = 0;                        ///< which input of the sum is the other tensor
    std::unique_ptr<IShapedWorkload> m_Workload; ///< of both: inputs of the layer, then the other tensor
    const char* m_KernelName = nullptr;
};

} // namespace tenon
