// SPDX-License-Identifier: Apache-2.0
// The progress of work on many files or runs: a line on standard error, if that is a terminal; nothing otherwise.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace tenon::tools
{

/// "[#####.....] 45/90 files  12.5/s  4 s left", at most `width` wide, with `unit` for "files". `rate` is per second; 0
/// if it is not known.
std::string FormatProgress(size_t numDone, size_t numAll, double rate, size_t width, const char* unit = "files");

class Progress
{
public:
    explicit Progress(size_t numAll, size_t numDone = 0, const char* unit = "files");
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// One more is done. The line is drawn at most ten times a second.
    void Advance();

private:
    using Clock = std::chrono::steady_clock;

    void Draw();

    size_t m_NumAll;
    size_t m_NumDone;
    const char* m_Unit;
    size_t m_NumBefore; ///< done before the time began
    size_t m_Width = 0; ///< 0 if there is no terminal
    Clock::time_point m_Start = Clock::now();
    Clock::time_point m_Drawn = {};
};

} // namespace tenon::tools
