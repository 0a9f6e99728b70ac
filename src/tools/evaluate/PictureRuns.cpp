// SPDX-License-Identifier: Apache-2.0
// See PictureRuns.hpp.
#include "tools/evaluate/PictureRuns.hpp"

#include "tools/common/Console.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/File.hpp"
#include "tools/common/Strings.hpp"
#include "tools/evaluate/Hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <thread>
#include <utility>

namespace tenon::tools::evaluate
{

PictureRuns::PictureRuns(const Task& task, Network& network, State& state, const Limits& limits)
    : m_Task(task), m_Network(network), m_State(state), m_Limits(limits), m_Results(task.Files().size()),
      m_Errors(task.Files().size())
{
}

void PictureRuns::Run(unsigned int jobs)
{
    Progress progress(m_Results.size());
    std::vector<std::thread> threads;
    const size_t numOthers = std::min<size_t>(jobs, m_Results.size()) - 1;
    threads.reserve(numOthers);
    try
    {
        for (size_t i = 0; i < numOthers; ++i)
        {
            threads.emplace_back([&] { Work(progress); });
        }
    }
    catch (const std::exception&) // there is no memory or no thread for more; those that are there do all
    {
    }
    Work(progress);
    for (std::thread& thread : threads)
    {
        thread.join();
    }
    if (m_End != nullptr)
    {
        std::rethrow_exception(m_End);
    }
}

void PictureRuns::Work(Progress& progress) noexcept
{
    try
    {
        Caller caller(m_Network);
        for (size_t picture = m_Next++; picture < m_Results.size(); picture = m_Next++)
        {
            RunPicture(picture, caller);
            const std::lock_guard lock(m_Mutex);
            progress.Advance();
        }
    }
    catch (...)
    {
        const std::lock_guard lock(m_Mutex);
        m_End = std::current_exception();
        m_Next = m_Results.size();
    }
}

void PictureRuns::RunPicture(size_t picture, Caller& caller)
{
    Measured measured;
    try
    {
        measured = Measure(picture, caller);
    }
    catch (const InputError& error)
    {
        Fail(picture, error.what(), true);
        return;
    }
    catch (const RunError& error)
    {
        Fail(picture, error.what(), false);
        return;
    }
    catch (const std::bad_alloc&)
    {
        Fail(picture, "not enough memory", false);
        return;
    }
    const std::lock_guard lock(m_Mutex);
    if (measured.m_IsKnown)
    {
        ++m_NumKnown;
    }
    else
    {
        m_State.Append(measured.m_Key, measured.m_Numbers);
    }
    m_Results[picture] = std::move(measured.m_Numbers);
}

PictureRuns::Measured PictureRuns::Measure(size_t picture, Caller& caller) const
{
    const std::string& file = m_Task.Files()[picture];
    const std::string bytes = InputSource(file, m_Limits.m_MaxFileBytes).ReadAll();
    const std::string more = m_Task.ReadMore(picture);
    Measured measured;
    measured.m_Key = HashParts({bytes, more});
    if (std::optional<Numbers> known = m_State.Find(measured.m_Key))
    {
        measured.m_IsKnown = true;
        measured.m_Numbers = std::move(*known);
        return measured;
    }
    measured.m_Numbers = m_Task.Measure(picture, bytes, more, caller.Infer(m_Network.Load(file)));
    return measured;
}

void PictureRuns::Fail(size_t picture, const std::string& error, bool isOfInput)
{
    const std::lock_guard lock(m_Mutex);
    m_Errors[picture] = error;
    ++m_NumFailed;
    m_IsFailureOfInputs = m_IsFailureOfInputs && isOfInput;
    PrintError(fmt::format("picture '{}': {}", OneLine(m_Task.NameOf(picture)), error));
}

} // namespace tenon::tools::evaluate
