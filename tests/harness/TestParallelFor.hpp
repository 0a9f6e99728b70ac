// SPDX-License-Identifier: Apache-2.0
// TestParallelFor: loops in as many pieces as there are threads, and no fewer, to show what depends on the split.
#pragma once

#include <tenon/backend/IWorkload.hpp>

#include <atomic>
#include <cstddef>
#include <functional>

namespace tenon::test
{

/// Splits every loop that may be split into a piece for each thread. Its threads stay for later loops, and it allocates
/// no memory after the first one: the harness counts that.
class TestParallelFor final : public IParallelFor
{
public:
    static constexpr unsigned int MaxThreads = 8;

    /// Throws std::invalid_argument if `threads` is above MaxThreads.
    explicit TestParallelFor(unsigned int threads);

    void Run(size_t count, size_t grain, const std::function<void(size_t, size_t)>& body) override;
    unsigned int GetNumThreads() const override;

    /// Whether what ran could tell how many threads there are.
    bool WasAsked() const { return m_WasAsked; }

private:
    unsigned int m_Threads;
    mutable std::atomic<bool> m_WasAsked = false;
};

} // namespace tenon::test
