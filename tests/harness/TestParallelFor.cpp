// SPDX-License-Identifier: Apache-2.0
// The threads of TestParallelFor.
#include "harness/TestParallelFor.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace tenon::test
{

namespace
{

/// A thread that runs one piece of work after the other.
class TaskThread
{
public:
    TaskThread() : m_Thread([this] { RunAll(); }) {}

    ~TaskThread()
    {
        m_Work = nullptr;
        m_Begin.release();
        m_Thread.join();
    }

    TaskThread(const TaskThread&) = delete;
    TaskThread& operator=(const TaskThread&) = delete;

    /// The work stays valid until it has ended.
    void Begin(const std::function<void()>& work)
    {
        m_Work = &work;
        m_Begin.release();
    }

    void WaitForEnd() { m_End.acquire(); }

private:
    void RunAll()
    {
        for (m_Begin.acquire(); m_Work != nullptr; m_Begin.acquire())
        {
            (*m_Work)();
            m_End.release();
        }
    }

    const std::function<void()>* m_Work = nullptr;
    std::binary_semaphore m_Begin{0};
    std::binary_semaphore m_End{0};
    std::thread m_Thread; // last: it uses the others
};

/// Whether this thread runs a piece.
bool& IsInside()
{
    static thread_local bool isInside = false;
    return isInside;
}

/// Of a loop.
struct Task
{
    const std::function<void(size_t, size_t)>* m_Body = nullptr;
    size_t m_Begin = 0;
    size_t m_End = 0;
    std::function<void()> m_Run;
    std::exception_ptr m_Error;

    void Run()
    {
        const bool wasInside = std::exchange(IsInside(), true);
        try
        {
            (*m_Body)(m_Begin, m_End);
        }
        catch (...)
        {
            m_Error = std::current_exception();
        }
        IsInside() = wasInside;
    }
};

} // namespace

TestParallelFor::TestParallelFor(unsigned int threads) : m_Threads(threads)
{
    if (threads > MaxThreads)
    {
        throw std::invalid_argument("the operator harness has no " + std::to_string(threads) + " threads");
    }
}

void TestParallelFor::Run(size_t count, size_t grain, const std::function<void(size_t, size_t)>& body)
{
    const size_t max = count / std::max<size_t>(grain, 1);
    m_WasAsked = m_WasAsked || max > 1;
    const size_t pieces = std::clamp<size_t>(max, 1, m_Threads);
    if (count == 0)
    {
        return;
    }
    if (pieces == 1)
    {
        body(0, count);
        return;
    }
    static std::array<TaskThread, MaxThreads - 1> others;
    // No memory is allocated here: that is counted. One pointer fits into a std::function as it is.
    std::array<Task, MaxThreads> all;
    for (size_t piece = 0; piece < pieces; ++piece)
    {
        all[piece].m_Body = &body;
        all[piece].m_Begin = count * piece / pieces;
        all[piece].m_End = count * (piece + 1) / pieces;
        all[piece].m_Run = [at = &all[piece]] { at->Run(); };
    }
    const bool isNested = IsInside(); // in a piece of another loop, whose threads are taken
    for (size_t piece = 1; piece < pieces && !isNested; ++piece)
    {
        others[piece - 1].Begin(all[piece].m_Run);
    }
    for (size_t piece = 0; piece < (isNested ? pieces : 1); ++piece)
    {
        all[piece].m_Run();
    }
    for (size_t piece = 1; piece < pieces && !isNested; ++piece)
    {
        others[piece - 1].WaitForEnd();
    }
    for (const Task& piece : all)
    {
        if (piece.m_Error)
        {
            std::rethrow_exception(piece.m_Error);
        }
    }
}

unsigned int TestParallelFor::GetNumThreads() const
{
    m_WasAsked = true;
    return m_Threads;
}

} // namespace tenon::test
