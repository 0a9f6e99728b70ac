// SPDX-License-Identifier: Apache-2.0
// bench_kernels: single layers of well-known networks on CpuAcc, with the share that they reach of what this core can
// do, which is measured first. Layers that CpuAcc does not take run on CpuRef; their label says so.
//
// usage: bench_kernels [--threads=N] [--fast-math] [--bf16] [--table=FILE] [--benchmark_filter=REGEX] ...
// --table also writes the results to a file, as a table in Markdown.
// --fast-math is for all layers; those named .../fast_math have it in any case, beside the same layer without it.
// On a busy machine run it ahead of other processes, and on one core: taskset -c 1 chrt -r 1 bench_kernels ...
//
// Columns: GMAC/s; vector%: share of the fma peak (f32) or of that of 8-bit dot products of vectors; tiles%: of AMX, in
// bf16 for floats; memcpy%: of the speed that a layer would have that were a memcpy of as many bytes as this one reads
// and writes, a run of a network that has nothing to do included, which takes a part of a microsecond. Weights count as
// bytes only where each is used once. With several threads shares are still of one core.
#include "KernelLayers.hpp"
#include "KernelNetworks.hpp"
#include "KernelReport.hpp"
#include "LoadedLayer.hpp"
#include "MachinePeaks.hpp"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <time.h>
#include <unistd.h>
#include <vector>

namespace tenon::bench
{

namespace
{

/// Of the whole process where it has one thread: what other processes take from it does not count then.
double Now(const Settings& settings)
{
    timespec now{};
    clock_gettime(settings.m_Threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// What a run of a network takes that adds one number to another. Measured once.
double GetSecondsOfCall(const Settings& settings)
{
    static const double seconds = [&]
    {
        constexpr size_t Runs = 100000;
        const LayerNetwork layer =
            MakeBinary(Element::Float32, BinaryOperation::Add, "add", {1, 1, 1, 1}, {1, 1, 1, 1});
        LoadedLayer loaded(layer, settings);
        const double start = Now(settings);
        for (size_t i = 0; i < Runs; ++i)
        {
            loaded.Run();
        }
        return (Now(settings) - start) / static_cast<double>(Runs);
    }();
    return seconds;
}

/// Sets the columns, from the seconds of one run.
void ReportShares(benchmark::State& state, double seconds, const LayerNetwork& layer, const Settings& settings,
                  const MachinePeaks& peaks)
{
    const auto share = [&](const char* name, double work, std::optional<double> limit)
    {
        if (limit)
        {
            state.counters[name] = 100.0 * work / seconds / *limit;
        }
    };
    if (layer.m_Macs > 0.0)
    {
        const bool isFloat = layer.m_Element != Element::Int8 && layer.m_Element != Element::UInt8 &&
                             layer.m_Element != Element::HybridInt8;
        const std::optional<double> peak = layer.m_Element == Element::BFloat16 ? peaks.m_BFloat16
                                           : layer.m_Element == Element::Int16  ? peaks.m_Int16
                                           : isFloat                            ? peaks.m_Float32
                                                                                : peaks.m_Int8;
        state.counters["GMAC/s"] = 1e-9 * layer.m_Macs / seconds;
        share("vector%", layer.m_Macs, peak);
        share("tiles%", layer.m_Macs, isFloat ? peaks.m_BFloat16Tiles : peaks.m_Int8Tiles);
    }
    // memcpy reads one half of these bytes and writes the other.
    const double copied = layer.m_Bytes / 2;
    const double memcpySeconds = copied / MemcpyBytesPerSecond(static_cast<size_t>(copied));
    state.counters["memcpy%"] = 100.0 * (memcpySeconds + GetSecondsOfCall(settings)) / seconds;
}

void Measure(benchmark::State& state, const LayerNetwork& layer, const Settings& settings, const MachinePeaks& peaks)
{
    try
    {
        LoadedLayer loaded(layer, settings);
        loaded.Run();
        const double start = Now(settings);
        for (auto _ : state)
        {
            loaded.Run();
        }
        const double seconds = (Now(settings) - start) / static_cast<double>(state.iterations());
        state.SetLabel(loaded.Backend());
        ReportShares(state, seconds, layer, settings, peaks);
    }
    catch (const Exception& error)
    {
        state.SkipWithError(error.what());
    }
}

void Register(const Make& make, Element element, const Settings& settings, const MachinePeaks& peaks,
              const std::string& suffix)
{
    // Made here for its name alone, and once more if it is chosen to run.
    const std::string name = make(element).m_Name + suffix;
    auto* registered = benchmark::RegisterBenchmark(name.c_str(), [=, &peaks](benchmark::State& state)
                                                    { Measure(state, make(element), settings, peaks); });
    registered->Unit(benchmark::kMicrosecond);
    if (settings.m_Threads != 1)
    {
        registered->UseRealTime();
    }
}

void RegisterAll(const Make& make, const Elements& elements, const Settings& settings, const MachinePeaks& peaks)
{
    for (const Element element : elements)
    {
        Register(make, element, settings, peaks, "");
    }
}

/// What FastMathEnabled speeds up, in floats beside the same layer without it: of a U-Net, then of ResNets.
void RegisterFastMath(const Settings& settings, const MachinePeaks& peaks)
{
    struct Case
    {
        unsigned int m_Size;
        unsigned int m_Inputs;
        unsigned int m_Outputs;
    };
    Settings fastMath = settings;
    fastMath.m_FastMath = true;
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
        Register(make, Element::Float32, settings, peaks, "/beside_fast_math");
        Register(make, Element::Float32, fastMath, peaks, "/fast_math");
    }
}

/// Takes the own options out of the arguments; the file of a table stays empty without one.
Settings ReadSettings(int& argc, char** argv, std::string& table)
{
    Settings settings;
    int kept = 1;
    for (int i = 1; i < argc; ++i)
    {
        const std::string_view word(argv[i]);
        constexpr std::string_view Threads = "--threads=";
        constexpr std::string_view Table = "--table=";
        if (word == "--fast-math")
        {
            settings.m_FastMath = true;
        }
        else if (word == "--bf16")
        {
            settings.m_Bf16 = true;
        }
        else if (word.substr(0, Threads.size()) == Threads)
        {
            settings.m_Threads = static_cast<unsigned int>(std::strtoul(argv[i] + Threads.size(), nullptr, 10));
        }
        else if (word.substr(0, Table.size()) == Table)
        {
            table = word.substr(Table.size());
        }
        else
        {
            argv[kept++] = argv[i];
        }
    }
    argc = kept;
    return settings;
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
    add("peak bfloat16 dot products", peaks.m_BFloat16, "GMAC/s");
    add("peak 8-bit tiles", peaks.m_Int8Tiles, "GMAC/s");
    add("peak bfloat16 tiles", peaks.m_BFloat16Tiles, "GMAC/s");
    add("reading memory", peaks.m_ReadBytes, "GB/s");
    for (const unsigned int kib : {16U, 256U, 4096U, 65536U})
    {
        add("memcpy of " + std::to_string(kib) + " KiB", MemcpyBytesPerSecond(size_t(kib) << 10U), "GB/s");
    }
    char text[64];
    std::snprintf(text, sizeof(text), "%.3f us", 1e6 * GetSecondsOfCall(settings));
    benchmark::AddCustomContext("run of a network", text);
}

} // namespace

} // namespace tenon::bench

int main(int argc, char** argv)
{
    using namespace tenon::bench;
    std::string table;
    const Settings settings = ReadSettings(argc, argv, table);
    // There are hundreds of layers: a tenth of a second each, unless the caller says otherwise.
    std::string shortTime = "--benchmark_min_time=0.1";
    std::vector<char*> arguments(argv, argv + argc);
    arguments.insert(arguments.begin() + 1, shortTime.data());
    int count = argc + 1;
    benchmark::Initialize(&count, arguments.data());
    if (benchmark::ReportUnrecognizedArguments(count, arguments.data()))
    {
        return 1;
    }
    const MachinePeaks peaks = MeasurePeaks();
    try
    {
        AddContext(settings, peaks);
    }
    catch (const tenon::Exception& error)
    {
        std::fprintf(stderr, "bench_kernels: %s\n", error.what());
        return 1;
    }
    AddLayers([&](const Make& make, const Elements& elements) { RegisterAll(make, elements, settings, peaks); });
    RegisterFastMath(settings, peaks);
    if (table.empty())
    {
        benchmark::RunSpecifiedBenchmarks();
    }
    else
    {
        KernelReport report(isatty(STDOUT_FILENO) != 0);
        benchmark::RunSpecifiedBenchmarks(&report);
        std::ofstream out(table);
        report.WriteTable(out, peaks);
        if (!out.flush())
        {
            std::fprintf(stderr, "bench_kernels: cannot write %s\n", table.c_str());
            return 1;
        }
    }
    benchmark::Shutdown();
}
