// SPDX-License-Identifier: Apache-2.0
// The times of layers from the events of a profiler.
#pragma once

#include <tenon/IProfiler.hpp>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace tenon::tools
{

struct TracedLayer
{
    /// Milliseconds by inference, without events of other layers within.
    std::vector<double> m_Ms;
    /// The mean over inferences of the milliseconds of work, by thread.
    std::vector<double> m_ThreadMs;
    std::string m_Kernel; ///< the name of its events, which is that of a fused run for its first layer
};

struct Trace
{
    std::vector<double> m_InferenceMs;
    bool m_IsFirst = false; ///< the first inference alone was recorded; otherwise it is left out
    uint64_t m_NumDropped = 0;
    std::unordered_map<uint64_t, TracedLayer> m_Layers; ///< by guid
};

/// Reads the trace that the profiler writes, event by event.
Trace ReadTrace(const IProfiler& profiler);

} // namespace tenon::tools
