// SPDX-License-Identifier: Apache-2.0
// A profiler whose trace a test spells out.
#pragma once

#include <tenon/IProfiler.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace tenon::tools
{

class TextProfiler final : public IProfiler
{
public:
    // Times in microseconds. Events come in the order in which they end, then loops.

    void AddLayer(uint64_t guid, const std::string& kernel, double start, double duration)
    {
        Add(kernel + "_Execute", "inference_measurements", start, duration, 0,
            fmt::format(R"(, "args": {{"layer": "a}}", "guid": {}, "backend": "CpuAcc"}})", guid));
    }
    void AddInference(double start, double duration)
    {
        Add("Execute", "inference_measurements", start, duration, 0, "");
        Add("inference_measurements", "inference_measurements", start, duration, 0, "");
    }
    /// `shares`: threads with the time of their work.
    void AddLoop(double start, double duration, const std::vector<std::pair<int, double>>& shares)
    {
        Add("loop", "loops", start, duration, 0, R"(, "args": {"loop": 0, "threads": 2, "max_threads": 2})");
        for (const auto& [thread, work] : shares)
        {
            Add("share", "loops", start, duration, thread,
                fmt::format(R"(, "args": {{"loop": 0, "chunks": 1, "work": {}}})", work));
        }
    }

    void EnableProfiling(bool) override {}
    bool IsProfilingEnabled() override { return true; }
    void AnalyzeEventsAndWriteResults(std::ostream&) const override {}
    void Print(std::ostream&) const override {}
    void WriteChromeTrace(std::ostream& stream) const override
    {
        stream << "{\n \"displayTimeUnit\": \"ms\",\n \"otherData\": {\"dropped_events\": " << m_NumDropped
               << "},\n \"traceEvents\": [" << m_Events << "\n ]\n}\n";
    }
    void EnableNetworkDetailsToStdOut(ProfilingDetailsMethod) override {}

    uint64_t m_NumDropped = 0;

private:
    void Add(const std::string& name, const char* category, double start, double duration, int thread,
             const std::string& arguments)
    {
        m_Events += m_Events.empty() ? "\n" : ",\n";
        m_Events +=
            fmt::format(R"(  {{"name": "{}", "cat": "{}", "ph": "X", "ts": {}, "dur": {}, "pid": 1, "tid": {}{}}})",
                        name, category, start, duration, thread, arguments);
    }

    std::string m_Events;
};

} // namespace tenon::tools
