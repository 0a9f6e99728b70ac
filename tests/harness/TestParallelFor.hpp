// SPDX-License-Identifier: Apache-2.0
// TestParallelFor: loops in exactly as many tasks as there are threads, which shows results that depend on the
// partition.
#pragma once

#include <tenon/backend/IWorkload.hpp>

#include <atomic>
#include <cstddef>
#include <functional>

namespace tenon::test
{

/// Partitions every divisible loop into one task for each thread. Its threads stay for later loops, and it allocates no
/// memory after the first loop, because the harness counts allocations.
class TestParallelFor final : public IParallelFor
{
public:
    static constexpr unsigned int MaxThreads = 8;

    /// Throws std::invalid_argument if `threads` is above MaxThreads.
    explicit TestParallelFor(unsigned int threads);

    void Run(size_t count, size_t grain, const std::function<void(size_t, size_t)>& body) override;
    unsigned int GetNumThreads() const override;

    /// Whether a loop has asked for the number of threads.
    bool WasAsked() const { return m_WasAsked; }

private:
    unsigned int m_Threads;
    mutable std::atomic<bool> m_WasAsked = false;
};

} // namespace tenon::test
