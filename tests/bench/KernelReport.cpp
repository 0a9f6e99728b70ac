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
Networks of one layer on CpuAcc, one thread. A name has the layer, its data as height x width x channels (channels last),
the channels of the output, and the types of the data and of the weights or output. [glossary.md](glossary.md) explains
the words.

Each layer and the loops that it is compared with run in interleaved rounds of a millisecond (or one run), so that other
load affects all of them equally. Medians are shown. With several repetitions, a row shows the repetition with the
median time.

Of peak: multiply-accumulates of the operator's definition per second, divided by this core's peak rate on registers.
The peak is measured with fused multiply-adds (f32, f16, f32xf16), or with 8-bit (int8, uint8, f32xint8), 16-bit
(int16xint8) or bfloat16 (bf16) dot products. Kernels that skip taps in the padding, or need fewer products, can exceed
100 %.

Of memcpy: the time of a memcpy of as many bytes as the layer reads and writes, in the same memory, divided by the
measured time. Layers that read data twice from a cache can exceed 100 %.

Of roofline: the larger of (multiply-accumulates / peak rate) and (memcpy time), divided by the measured time. Some
layers cannot reach 100 %: layers that compute other things than products, such as softmax and tanh; 8-bit products of
few terms, whose accumulators have to be requantized; and transpositions of bytes within the first-level cache, where 32
bytes take four shuffles: two cycles on a core that does two at a time, one and a half times memcpy's.

Depthwise convolutions have a closer roofline. Its memory bound is: load the image once and store the output once. Its
8-bit compute bound is a loop on data in the first-level cache that issues the minimal instructions per output vector
without dependencies: one dot product per four taps (AVX2: one pairwise multiply and one addition per two taps), two
shuffles per new pixel to interleave taps, TFLite's two-step requantization, and packing. Receptive fields that share
rows need more of these shuffles.

The time of a run of an empty network is included on both sides of the shares of memcpy and of the roofline.

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
    out << "| layer | us | GMAC/s | of peak | of memcpy | of roofline |\n|---|---:|---:|---:|---:|---:|\n";
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
