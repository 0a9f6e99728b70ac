// SPDX-License-Identifier: Apache-2.0
// RunCopies: strided copies of many short contiguous runs, the rows of windows. Used by Im2col.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Neighbouring windows, each of several rows of several runs. The copied runs of a window are contiguous.
struct RunCopies
{
    const uint8_t* m_From = nullptr;
    int64_t m_Windows = 0;
    int64_t m_WindowStep = 0; ///< bytes between windows in the image
    int64_t m_Rows = 0;
    int64_t m_RowStep = 0;
    int64_t m_Runs = 0;
    int64_t m_RunStep = 0;
    int64_t m_RunBytes = 0;
    uint8_t* m_To = nullptr;
    size_t m_Pitch = 0; ///< bytes between copied windows
};

/// Reads and writes no other bytes.
void CopyRuns(const RunCopies& copies);

} // namespace tenon::cpu
