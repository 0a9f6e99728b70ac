// SPDX-License-Identifier: Apache-2.0
// PictureRuns: all pictures of a task, several at a time, with results from a state where it has them.
#pragma once

#include "tools/common/Progress.hpp"
#include "tools/evaluate/Network.hpp"
#include "tools/evaluate/State.hpp"
#include "tools/evaluate/Task.hpp"

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <string>
#include <vector>

namespace tenon::tools::evaluate
{

class PictureRuns
{
public:
    PictureRuns(const Task& task, Network& network, State& state, const Limits& limits);

    /// Runs so many pictures at a time. Failures of pictures are printed. Throws RunError if the state cannot be
    /// written, and others if threads cannot be started.
    void Run(unsigned int jobs);

    const Results& Get() const { return m_Results; }
    /// By picture; empty for those without a failure.
    const std::vector<std::string>& Errors() const { return m_Errors; }
    size_t CountFailures() const { return m_NumFailed; }
    /// Whether all failures so far are about the content of files.
    bool IsFailureOfInputs() const { return m_IsFailureOfInputs; }
    size_t CountKnown() const { return m_NumKnown; }

private:
    struct Measured
    {
        std::string m_Key;
        Numbers m_Numbers;
        bool m_IsKnown = false; ///< in the state
    };

    /// Takes the next picture until there is none.
    void Work(Progress& progress) noexcept;
    void RunPicture(size_t picture, Caller& caller);
    Measured Measure(size_t picture, Caller& caller) const;
    void Fail(size_t picture, const std::string& error, bool isOfInput);

    const Task& m_Task;
    Network& m_Network;
    State& m_State;
    const Limits& m_Limits;
    Results m_Results;
    std::vector<std::string> m_Errors;
    std::atomic<size_t> m_Next = 0;
    std::mutex m_Mutex; ///< of all members below, of the state and of the terminal
    size_t m_NumFailed = 0;
    size_t m_NumKnown = 0; ///< pictures with a result in the state
    bool m_IsFailureOfInputs = true;
    std::exception_ptr m_End; ///< the error that ends the run
};

} // namespace tenon::tools::evaluate
