// SPDX-License-Identifier: Apache-2.0
// A value that lies among the channels of what a Concat joins: written there at once, it need not be copied.
#pragma once

#include <tenon/backend/IWorkload.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tenon
{

struct PlannedPitch
{
    uint32_t m_Value = 0;
    uint32_t m_Join = 0;                         ///< the step that joins it
    size_t m_Place = 0;                          ///< of its first byte in the output of that
    size_t m_Pitch = 0;                          ///< elements from one of its pixels to the next
    uint32_t m_Writer = 0;                       ///< the step that makes it
    std::unique_ptr<IShapedWorkload> m_Workload; ///< of that step, to be its own
};

} // namespace tenon
