// SPDX-License-Identifier: Apache-2.0
// Copies of short runs of bytes, many of them at equal distances: the rows of windows. Used by Windows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Windows beside each other, each of several rows of several runs. They are laid out one run behind the other.
struct RunCopies
{
    const uint8_t* m_From = nullptr;
    int64_t m_Windows = 0;
    int64_t m_WindowStep = 0; ///< bytes from one to the next
    int64_t m_Rows = 0;
    int64_t m_RowStep = 0;
    int64_t m_Runs = 0;
    int64_t m_RunStep = 0;
    int64_t m_RunBytes = 0;
    uint8_t* m_To = nullptr;
    size_t m_Pitch = 0; ///< bytes from a window that is laid out to the next
};

/// Reads and writes nothing but these bytes.
void CopyRuns(const RunCopies& copies);

} // namespace tenon::cpu
