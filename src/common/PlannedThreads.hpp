// SPDX-License-Identifier: Apache-2.0
// PlannedThreads: tells workloads that are shaped how many threads they will be run on, so that they take memory for no
// more.
#pragma once

namespace tenon
{

/// While it lives, what this thread shapes is for runs on at most so many threads. A workload that is run on more has
/// to work all the same, if only on as many as it has memory for.
class PlannedThreads
{
public:
    /// At least 1. Where there is another one, the fewer threads of both count.
    explicit PlannedThreads(unsigned int threads);
    PlannedThreads(const PlannedThreads&) = delete;
    PlannedThreads& operator=(const PlannedThreads&) = delete;
    ~PlannedThreads();

    /// UINT_MAX: nobody knows.
    static unsigned int Get();

private:
    unsigned int m_Before;
};

} // namespace tenon
