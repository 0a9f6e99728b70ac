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
    out << R"(# Single layers as shares of what the machine can do

Generated; write it anew with `build/release/bin/bench_kernels --table=docs/kernels.md --benchmark_repetitions=5`.
Networks of one layer on CpuAcc, one thread; data as channels last, height x width x channels, and outputs behind it.
Types are those of the data, then of the weights or of the output.

A layer takes turns with the loops that it is compared with, a millisecond or a run of each at a time, and of each the
median counts, so that what else the machine does meets all of them alike. Of several repetitions a row shows the one
of median time.

Of the peak: multiply-accumulates of the definition as a share of what this core's vectors reach on registers: fused
multiply-adds (f32, f16, f32xf16), dot products of 8 bits (int8, uint8, f32xint8), of 16 bits (int16xint8) or of
bfloat16 (bf16). Kernels that leave out points of the border or need fewer products can be above.

Of memcpy: of the speed that the layer would have that were a memcpy of as many bytes as it reads and writes, within
the same memory. What is read twice within a cache can be above.

Of the limit: of the speed that the layer would have that took only its multiply-accumulates at the peak, or only that
memcpy, whichever is longer. Layers that compute other things than products, as softmax and tanh do, cannot reach it,
nor can 8-bit products of few terms, whose sums have to become bytes, nor transpositions of bytes within the first
cache: 32 bytes take four shuffles, two cycles where a core does two at a time, and one and a half of memcpy's.
Depthwise convolutions have a closer limit. In place of the memcpy it has loads of all of the image and stores of all
of the output; in place of the peak of 8-bit products it has a loop on data in the first cache that does what every
exact kernel has to do for each vector of outputs, without waiting for results, so that only the units of the
processor bound it: a dot product for every fourth tap (with AVX2 alone a product of pairs, and an addition, for every
second one), two shuffles of each pixel that the windows see anew, which bring bytes of different pixels beside each
other, TFLite's multiplication by a multiplier with two roundings, and packing. Windows that share rows take more of
these shuffles in fact.

Shares of memcpy and of the limit have on both sides what a run of an empty network takes.

)";
    const auto peak = [](double rate, const std::string& instructions)
    { return Number(rate / 1e9) + " (" + instructions + ")"; };
    out << "Peaks in GMAC/s: float32 " << peak(peaks.m_Float32, peaks.m_Float32Name);
    if (peaks.m_Int8)
    {
        out << ", 8 bits " << peak(*peaks.m_Int8, peaks.m_Int8Name);
    }
    if (peaks.m_Int16)
    {
        out << ", 16 bits " << Number(*peaks.m_Int16 / 1e9);
    }
    if (peaks.m_BFloat16)
    {
        out << ", bfloat16 " << Number(*peaks.m_BFloat16 / 1e9);
    }
    out << ".\n\n";
    out << "| layer | us | GMAC/s | of the peak | of memcpy | of the limit |\n|---|---:|---:|---:|---:|---:|\n";
    for (const auto& [name, all] : m_Runs)
    {
        std::vector<Run> runs = all;
        const auto median = runs.begin() + static_cast<ptrdiff_t>(runs.size() / 2);
        std::nth_element(runs.begin(), median, runs.end(),
                         [](const Run& a, const Run& b) { return a.GetAdjustedRealTime() < b.GetAdjustedRealTime(); });
        out << "| " << name << " | " << Number(median->GetAdjustedRealTime()) << " | "
            << Number(Find(*median, "GMAC/s")) << " | " << Percent(Find(*median, "vector%")) << " | "
            << Percent(Find(*median, "memcpy%")) << " | " << Percent(Find(*median, "limit%")) << " |\n";
    }
}

} // namespace tenon::bench
