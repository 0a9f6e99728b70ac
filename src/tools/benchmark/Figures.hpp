// SPDX-License-Identifier: Apache-2.0
// Figures of a network besides the times of its inferences.
#pragma once

#include <cstdint>

namespace tenon::tools
{

struct Figures
{
    double m_RuntimeMs = 0.0; ///< of making the runtime
    double m_ParseMs = 0.0;
    double m_OptimizeMs = 0.0;
    double m_LoadMs = 0.0; ///< of loading the optimized network
    double m_FirstMs = 0.0;
    /// Peaks of the process's resident memory: before anything is made, once the network is loaded, and at the end. 0
    /// where they are not known, as for the second of two networks in one process.
    uint64_t m_StartBytes = 0;
    uint64_t m_InitBytes = 0;
    uint64_t m_OverallBytes = 0;
    uint64_t m_ArenaBytes = 0; ///< of one inference

    double InitMs() const { return m_RuntimeMs + m_ParseMs + m_OptimizeMs + m_LoadMs; }
};

} // namespace tenon::tools
