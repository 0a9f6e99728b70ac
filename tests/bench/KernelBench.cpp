// SPDX-License-Identifier: Apache-2.0
// bench_kernels: single layers of well-known networks on CpuAcc, with the share that they reach of what this core can
// do. Layers that CpuAcc does not take run on CpuRef; their label says so.
//
// usage: bench_kernels [--threads=N] [--fast-math] [--bf16] [--seconds=S] [--table=FILE] [--benchmark_filter=REGEX] ...
// --table also writes the results to a file, as a table in Markdown. A later section of that file stays.
// --seconds is for each layer and repetition, 0.08 otherwise. Each layer takes turns with the loops that it is compared
// with, a millisecond or a run at a time, and of all of them medians count.
// --fast-math is for all layers; those named .../fast_math have it in any case, beside the same layer without it.
// --bf16 has layers of floats compute with bfloat16; those of type bf16 have tensors of it in any case.
// Names are followed by /iterations:1/manual_time. The exit status is 1 where a layer could not run.
// On a busy machine run it ahead of other processes, and on one core: taskset -c 1 chrt -r 1 bench_kernels ...
//
// Columns: Time: of a run, the median; CPU says nothing. GMAC/s; vector%: share of the peak of this core's vectors:
// fused multiply-adds (f32, f16), dot products of 8 bits (int8, uint8, f32xint8), 16 bits (int16xint8) or bfloat16
// (bf16); tiles%: of AMX; memcpy%: of the speed that a layer would have that were a memcpy of as many bytes as this one
// reads and writes; limit%: of what it could have at best: its multiply-accumulates at the peak or that memcpy,
// whichever takes longer; of depthwise convolutions DepthwiseLimit.hpp says what. The last two include on both sides
// what a run of a network takes that has nothing to do, a part of a microsecond. Weights count as bytes only where each
// is used once. With several threads shares are still of one core.
#include "KernelLayers.hpp"
#include "KernelReport.hpp"
#include "LayerTimes.hpp"
#include "MachinePeaks.hpp"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace tenon::bench
{

namespace
{

struct Options
{
    Settings m_Settings;
    double m_Seconds = 0.08;
    std::string m_Table; ///< empty: none
};

/// Of the layers that ran.
bool hasFailed = false;

/// Sets the columns.
void ReportShares(benchmark::State& state, const LayerNetwork& layer, const LayerTimes& times)
{
    const auto share = [&](const char* name, std::optional<double> min)
    {
        if (min)
        {
            state.counters[name] = 100.0 * *min / times.m_Layer;
        }
    };
    if (layer.m_Macs > 0.0)
    {
        state.counters["GMAC/s"] = 1e-9 * layer.m_Macs / times.m_Layer;
        share("vector%", times.m_Vectors);
        share("tiles%", times.m_Tiles);
    }
    share("memcpy%", times.m_Memcpy + times.m_Call);
    share("limit%", times.m_Limit + times.m_Call);
}

void Measure(benchmark::State& state, const LayerNetwork& layer, const Settings& settings, double seconds)
{
    try
    {
        for (auto _ : state)
        {
            state.PauseTiming(); // of the processor, which would count all that this one is compared with
            const LayerTimes times = MeasureLayer(layer, settings, seconds);
            state.SetLabel(times.m_Backend);
            ReportShares(state, layer, times);
            state.ResumeTiming();
            state.SetIterationTime(times.m_Layer);
        }
    }
    catch (const Exception& error)
    {
        hasFailed = true;
        state.SkipWithError(error.what());
    }
}

void Register(const Make& make, Element element, const Options& options, const std::string& suffix = "")
{
    // Made here for its name alone, and once more if it is chosen to run.
    const std::string name = make(element).m_Name + suffix;
    benchmark::RegisterBenchmark(
        name.c_str(), [=, settings = options.m_Settings, seconds = options.m_Seconds](benchmark::State& state)
        { Measure(state, make(element), settings, seconds); })
        ->Unit(benchmark::kMicrosecond)
        ->UseManualTime()
        ->Iterations(1);
}

/// What FastMathEnabled speeds up, in floats beside the same layer without it: of a U-Net, then of ResNets.
void RegisterFastMath(const Options& options)
{
    struct Case
    {
        unsigned int m_Size;
        unsigned int m_Inputs;
        unsigned int m_Outputs;
    };
    Options fastMath = options;
    fastMath.m_Settings.m_FastMath = true;
    for (const Case& c : std::initializer_list<Case>{{256, 16, 16},
                                                     {256, 32, 16},
                                                     {128, 32, 32},
                                                     {64, 64, 64},
                                                     {32, 256, 128},
                                                     {16, 256, 256},
                                                     {56, 64, 64},
                                                     {28, 128, 128},
                                                     {14, 256, 256},
                                                     {7, 128, 128}})
    {
        const auto make = [=](Element element) {
            return MakeConvolution(element, c.m_Size, c.m_Inputs, c.m_Outputs, {3, 1});
        };
        Register(make, Element::Float32, options, "/beside_fast_math");
        Register(make, Element::Float32, fastMath, "/fast_math");
    }
}

/// Takes the own options out of the arguments.
Options ReadOptions(int& argc, char** argv)
{
    Options options;
    int kept = 1;
    const auto read = [](const char* word, std::string_view name) -> const char*
    { return std::string_view(word).substr(0, name.size()) == name ? word + name.size() : nullptr; };
    for (int i = 1; i < argc; ++i)
    {
        const char* const word = argv[i];
        if (std::string_view(word) == "--fast-math")
        {
            options.m_Settings.m_FastMath = true;
        }
        else if (std::string_view(word) == "--bf16")
        {
            options.m_Settings.m_Bf16 = true;
        }
        else if (const char* threads = read(word, "--threads="))
        {
            options.m_Settings.m_Threads = static_cast<unsigned int>(std::strtoul(threads, nullptr, 10));
        }
        else if (const char* seconds = read(word, "--seconds="))
        {
            options.m_Seconds = std::strtod(seconds, nullptr);
        }
        else if (const char* table = read(word, "--table="))
        {
            options.m_Table = table;
        }
        else
        {
            argv[kept++] = argv[i];
        }
    }
    argc = kept;
    return options;
}

void AddContext(const Settings& settings, const MachinePeaks& peaks)
{
    const auto add = [](const std::string& name, const std::optional<double>& rate, const char* unit)
    {
        char text[64];
        std::snprintf(text, sizeof(text), "%.1f %s", rate.value_or(0.0) / 1e9, unit);
        benchmark::AddCustomContext(name, rate ? text : "none");
    };
    add("peak float32 " + peaks.m_Float32Name, peaks.m_Float32, "GMAC/s");
    add("peak 8-bit dot products " + peaks.m_Int8Name, peaks.m_Int8, "GMAC/s");
    add("peak 16-bit dot products", peaks.m_Int16, "GMAC/s");
    add("peak bfloat16 dot products", peaks.m_BFloat16, "GMAC/s");
    add("peak 8-bit tiles", peaks.m_Int8Tiles, "GMAC/s");
    add("peak bfloat16 tiles", peaks.m_BFloat16Tiles, "GMAC/s");
    add("reading memory", peaks.m_ReadBytes, "GB/s");
    for (const unsigned int kib : {16U, 256U, 4096U, 65536U})
    {
        add("memcpy of " + std::to_string(kib) + " KiB", MemcpyBytesPerSecond(size_t(kib) << 10U), "GB/s");
    }
    char text[64];
    std::snprintf(text, sizeof(text), "%.3f us", 1e6 * MeasureCall(settings));
    benchmark::AddCustomContext("run of a network", text);
}

/// A file's text from its second heading on: it is not of this program. Empty where there is none.
std::string ReadRest(const std::string& path)
{
    std::ifstream in(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const size_t heading = text.find("\n## ");
    return heading == std::string::npos ? "" : text.substr(heading);
}

} // namespace

} // namespace tenon::bench

int main(int argc, char** argv)
{
    using namespace tenon::bench;
    const Options options = ReadOptions(argc, argv);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
    {
        return 1;
    }
    const MachinePeaks peaks = MeasurePeaks();
    try
    {
        AddContext(options.m_Settings, peaks);
    }
    catch (const tenon::Exception& error)
    {
        std::fprintf(stderr, "bench_kernels: %s\n", error.what());
        return 1;
    }
    AddLayers(
        [&](const Make& make, const Elements& elements)
        {
            for (const Element element : elements)
            {
                Register(make, element, options);
            }
        });
    RegisterFastMath(options);
    if (options.m_Table.empty())
    {
        benchmark::RunSpecifiedBenchmarks();
    }
    else
    {
        KernelReport report(isatty(STDOUT_FILENO) != 0);
        benchmark::RunSpecifiedBenchmarks(&report);
        const std::string rest = ReadRest(options.m_Table);
        std::ofstream out(options.m_Table);
        report.WriteTable(out, peaks);
        out << rest;
        if (!out.flush())
        {
            std::fprintf(stderr, "bench_kernels: cannot write %s\n", options.m_Table.c_str());
            return 1;
        }
    }
    benchmark::Shutdown();
    return hasFailed ? 1 : 0;
}
