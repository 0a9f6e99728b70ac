// SPDX-License-Identifier: Apache-2.0
// The table of bench_kernels.
#include "KernelReport.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

namespace tenon::bench
{

namespace
{

std::optional<double> Find(const benchmark::BenchmarkReporter::Run& run, const char* counter)
{
    const auto found = run.counters.find(counter);
    return found == run.counters.end() ? std::nullopt : std::optional<double>(found->second.value);
}

/// With three digits, or a dash.
std::string Number(std::optional<double> value)
{
    char text[32] = "–";
    if (value)
    {
        const int decimals = std::max(0, 2 - static_cast<int>(std::floor(std::log10(std::max(*value, 0.01)))));
        std::snprintf(text, sizeof(text), "%.*f", decimals, *value);
    }
    return text;
}

std::string Percent(std::optional<double> value)
{
    char text[32] = "–";
    if (value)
    {
        std::snprintf(text, sizeof(text), "%.0f%%", *value);
    }
    return text;
}

} // namespace

void KernelReport::ReportRuns(const std::vector<Run>& runs)
{
    for (const Run& run : runs)
    {
        if (run.run_type == Run::RT_Iteration && !run.counters.empty())
        {
            const std::string name = run.run_name.function_name;
            if (m_Runs.empty() || m_Runs.back().first != name)
            {
                m_Runs.emplace_back(name, std::vector<Run>());
            }
            m_Runs.back().second.push_back(run);
        }
    }
    ConsoleReporter::ReportRuns(runs);
}

void KernelReport::WriteTable(std::ostream& out, const MachinePeaks& peaks) const
{
    const auto peak = [](const std::optional<double>& rate) { return rate ? Number(*rate / 1e9) : "–"; };
    out << R"(# Single layers as shares of what the machine can do

Generated; write it anew with `build/release/bin/bench_kernels --table=docs/kernels.md --benchmark_repetitions=3`.
Networks of one layer on CpuAcc, one thread; data as channels last, height x width x channels, and outputs behind it.
Times are medians. Of the peak: multiply-accumulates of the definition as a share of what this core's fused multiply-adds
(f32) or 8-bit dot products of vectors reach, measured before; kernels that leave out points of the border or need fewer
products can be above. Of memcpy: of the speed that the layer would have that were a memcpy of as many bytes as it reads
and writes, the run of an empty network counted on both sides; what is read twice within a cache can be above. A layer
that multiplies is not expected to reach it. Peaks and memcpy are the best of their measurements, a layer's time is the
mean of many runs: what else the machine does counts against the layer.

)";
    out << "Peaks in GMAC/s: float32 " << peak(peaks.m_Float32) << " (" << peaks.m_Float32Name << "), int8 "
        << peak(peaks.m_Int8) << " (" << peaks.m_Int8Name << ").\n\n";
    out << "| layer | us | GMAC/s | of the peak | of memcpy |\n|---|---:|---:|---:|---:|\n";
    for (const auto& [name, all] : m_Runs)
    {
        std::vector<Run> runs = all;
        const auto median = runs.begin() + static_cast<ptrdiff_t>(runs.size() / 2);
        std::nth_element(runs.begin(), median, runs.end(),
                         [](const Run& a, const Run& b) { return a.GetAdjustedCPUTime() < b.GetAdjustedCPUTime(); });
        out << "| " << name << " | " << Number(median->GetAdjustedCPUTime()) << " | " << Number(Find(*median, "GMAC/s"))
            << " | " << Percent(Find(*median, "vector%")) << " | " << Percent(Find(*median, "memcpy%")) << " |\n";
    }
}

} // namespace tenon::bench
