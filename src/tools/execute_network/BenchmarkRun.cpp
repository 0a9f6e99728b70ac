// SPDX-License-Identifier: Apache-2.0
// See BenchmarkRun.hpp.
#include "tools/execute_network/BenchmarkRun.hpp"

#include "tools/benchmark/Against.hpp"
#include "tools/benchmark/BenchmarkReport.hpp"
#include "tools/benchmark/EnergyMeter.hpp"
#include "tools/benchmark/LibraryProcess.hpp"
#include "tools/benchmark/Measure.hpp"
#include "tools/benchmark/Ratio.hpp"
#include "tools/benchmark/TurnServer.hpp"
#include "tools/common/Backends.hpp"
#include "tools/common/Console.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/File.hpp"
#include "tools/common/Process.hpp"
#include "tools/common/Stopwatch.hpp"
#include "tools/common/SystemFiles.hpp"
#include "tools/common/Terminal.hpp"
#include "tools/execute_network/FileChecks.hpp"
#include "tools/execute_network/PreparedNetwork.hpp"
#include "tools/execute_network/Report.hpp"
#include "tools/execute_network/Summary.hpp"
#include "tools/execute_network/Warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

namespace tenon::tools
{
namespace
{

/// A network that is measured, with all callers that run it.
class MeasuredNetwork : private PreparedNetwork
{
public:
    /// `startBytes`: the peak of resident memory before; 0 if memory is not to be reported.
    MeasuredNetwork(const Options& options, unsigned int numThreads, uint64_t startBytes) : PreparedNetwork(options)
    {
        m_Report.m_Threads = numThreads;
        m_Figures.m_StartBytes = startBytes;
    }

    void Prepare(unsigned int numCallers)
    {
        CreateRuntime();
        const std::vector<BackendId> backends = SelectBackends(m_Options.m_Compute, *m_Runtime, "--compute");
        Model model = PrepareModel();
        const std::vector<Binding> outputs = model.m_Outputs;
        Load(Optimized(std::move(model), backends));
        m_Figures.m_RuntimeMs = m_Report.m_RuntimeMs;
        m_Figures.m_ParseMs = m_Report.m_ParseMs;
        m_Figures.m_OptimizeMs = m_Report.m_OptimizeMs;
        m_Figures.m_LoadMs = m_Report.m_LoadMs - m_Report.m_RuntimeMs - m_Report.m_ParseMs;
        m_Figures.m_InitBytes = GetPeak();
        FillInputs();
        WarnOfQuantization(m_Options, m_Report);
        WarnOfStates(m_Options, m_Report);
        const size_t numSets = HasSets() ? m_Inputs.size() / m_Report.m_Inputs.size() : 1;
        for (unsigned int set = 0; set < numSets; ++set)
        {
            m_Sets.push_back(TensorsOf(set));
        }
        for (unsigned int caller = 0; caller < numCallers; ++caller)
        {
            const SessionId session = caller == 0 ? SessionId::Default : m_Runtime->CreateSession(m_Network);
            m_Callers.push_back({session, OutputStore(outputs, CountBytes(m_Inputs), m_Limits), {}, 0});
            m_Callers.back().m_Allocator = m_Callers.back().m_Outputs.GetAllocator();
        }
    }

    /// One inference; gives its milliseconds.
    double Infer(unsigned int number)
    {
        Caller& caller = m_Callers[number];
        if (caller.m_NumRuns > 0 && !m_Options.m_KeepStates)
        {
            m_Runtime->ResetStates(m_Network, caller.m_Session); // each inference is a first step
        }
        const InputTensors& inputs = m_Sets[caller.m_NumRuns % m_Sets.size()];
        Stopwatch running;
        m_Blame.OfRun([&]
                      { return m_Runtime->EnqueueWorkload(m_Network, caller.m_Session, inputs, caller.m_Allocator); });
        const double ms = running.Milliseconds();
        if (caller.m_NumRuns++ == 0 && number == 0)
        {
            m_Figures.m_FirstMs = ms;
        }
        return ms;
    }

    std::vector<double> InferInARow(unsigned int numRuns)
    {
        std::vector<double> times(numRuns);
        std::generate(times.begin(), times.end(), [&] { return Infer(0); });
        return times;
    }

    Figures GetFigures()
    {
        m_Figures.m_ArenaBytes = m_Runtime->GetStatistics(m_Network).m_ArenaBytes;
        m_Figures.m_OverallBytes = GetPeak();
        return m_Figures;
    }

    /// The report as it is now, without times of inferences.
    Report& CompleteReport()
    {
        SetStatistics(m_Report, m_Runtime->GetStatistics(m_Network));
        m_Report.m_PeakRssBytes = GetPeakRssBytes();
        for (Binding& output : m_Report.m_Outputs)
        {
            output.m_Info =
                m_Callers.front().m_NumRuns > 0 ? m_Callers.front().m_Outputs.Get(output.m_Id).m_Info : output.m_Info;
        }
        return m_Report;
    }

    std::vector<std::string> GetBackendNames() const
    {
        const BackendIdSet& there = m_Runtime->GetDeviceSpec().GetSupportedBackends();
        std::vector<std::string> names(there.begin(), there.end());
        std::sort(names.begin(), names.end());
        return names;
    }

    std::string DescribeInputs() const
    {
        return FormatInputs(m_Options, m_Report, InputsOf(0)) +
               (HasSets() ? fmt::format("{} sets of inputs take turns, of which this is the first\n", m_Sets.size())
                          : "");
    }

    bool IsReadOptimized() const { return m_Report.m_Compute.empty(); }

private:
    struct Caller
    {
        SessionId m_Session;
        OutputStore m_Outputs;
        OutputAllocator m_Allocator;
        size_t m_NumRuns;
    };

    uint64_t GetPeak() const { return m_Figures.m_StartBytes > 0 ? GetPeakRssBytes() : 0; }

    Figures m_Figures;
    std::vector<InputTensors> m_Sets; ///< of inputs, which take turns
    std::deque<Caller> m_Callers;     ///< their allocators refer to their outputs
};

/// Threads of one inference: callers share the cores, unless the command line says otherwise.
unsigned int CountThreads(const Options& options)
{
    const unsigned int cores = std::max(1U, std::thread::hardware_concurrency());
    return options.m_NumberOfThreads != 0 ? options.m_NumberOfThreads
                                          : std::max(1U, cores / options.m_Benchmark.m_Callers);
}

/// A side of --against: a network of this process, or a further process with its own library.
class Side
{
public:
    /// Another model, or other backends.
    Side(const Options& options, const Against& against) : m_Options(options)
    {
        if (against.m_Kind == Against::Kind::Backends)
        {
            m_Options.m_Compute = against.m_Backends;
        }
        else
        {
            m_Options.m_ModelPath = options.m_Benchmark.m_Against;
            m_Options.m_ModelFormat.clear();
        }
        m_Network = std::make_unique<MeasuredNetwork>(m_Options, CountThreads(m_Options), 0);
        m_Network->Prepare(1);
        if (against.m_Kind == Against::Kind::Backends && m_Network->IsReadOptimized())
        {
            throw UsageError("--against: the model is optimized already, so no other backends can run it; give the "
                             "model itself");
        }
    }

    /// The same network with a library.
    Side(const Options& options, const std::string& library)
    {
        std::vector<std::string> words = options.m_Benchmark.m_Words;
        words.emplace_back("--serve-turns");
        m_Process = std::make_unique<LibraryProcess>(library, words);
    }

    std::vector<double> InferInARow(unsigned int numRuns)
    {
        return m_Process != nullptr ? AskForTurn(*m_Process, numRuns) : m_Network->InferInARow(numRuns);
    }

    Figures GetFigures() { return m_Process != nullptr ? AskForFigures(*m_Process) : m_Network->GetFigures(); }

private:
    Options m_Options; ///< those of the other side, but for the one difference
    std::unique_ptr<LibraryProcess> m_Process;
    std::unique_ptr<MeasuredNetwork> m_Network;
};

/// The names of both sides: of two files as much as tells them apart.
std::pair<std::string, std::string> NameSides(const Options& options, const Against& against)
{
    if (against.m_Kind == Against::Kind::Backends)
    {
        return {fmt::format("{}", fmt::join(options.m_Compute, ",")), options.m_Benchmark.m_Against};
    }
    const std::filesystem::path own = against.m_Kind == Against::Kind::Model
                                          ? std::filesystem::path(options.m_ModelPath)
                                          : CanonicalPath(GetLibraryFile());
    const std::filesystem::path other = options.m_Benchmark.m_Against;
    return own.filename() != other.filename() ? std::pair(own.filename().string(), other.filename().string())
                                              : std::pair(own.string(), other.string());
}

class Benchmark
{
public:
    explicit Benchmark(const Options& options)
        : m_Options(options), m_Network(options, CountThreads(options), GetPeakRssBytes())
    {
    }

    void Execute()
    {
        CheckFiles(m_Options);
        m_PrintsAside = WritesToStandardOutput(m_Options);
        m_Network.Prepare(m_Options.m_Benchmark.m_Callers);
        if (m_Options.m_Benchmark.m_ServesTurns)
        {
            ServeTurns([&](unsigned int numRuns) { return m_Network.InferInARow(numRuns); },
                       [&] { return m_Network.GetFigures(); });
            return;
        }
        m_Result.m_WarmupRuns = m_Options.m_Benchmark.m_WarmupRuns;
        m_Result.m_Bounds = m_Options.m_Benchmark.m_Bounds;
        m_Result.m_Sides.resize(1);
        m_Result.m_Sides[0].m_Name = std::filesystem::path(m_Options.m_ModelPath).filename().string();
        PrepareSides();
        DescribeStart();
        WarmUp();
        Print(FormatBounds(m_Result.m_Bounds));
        m_Other ? MeasureBoth() : MeasureAlone();
        Report& report = m_Network.CompleteReport();
        report.m_FirstInferenceMs = m_Result.m_Sides[0].m_Figures.m_FirstMs;
        for (const std::vector<double>& times : m_Result.m_Sides[0].m_Runs.m_Ms)
        {
            report.m_InferenceMs.insert(report.m_InferenceMs.end(), times.begin(), times.end());
        }
        Print(FormatCounts(report.m_InferenceMs) + FormatTimings(m_Result.m_Sides[0]) + "\n");
        if (!m_Options.m_ReportFile.empty())
        {
            report.m_Benchmark = FormatBenchmarkJson(m_Result);
            WriteFile(m_Options.m_ReportFile, FormatReport(report));
        }
        Print(fmt::format("{}, {} threads{}\n\n", SummarizeAssignment(report.m_Assignment), report.m_Threads,
                          m_Options.m_Benchmark.m_Callers > 1
                              ? fmt::format(" for each of {} callers", m_Options.m_Benchmark.m_Callers)
                              : ""));
        Print(FormatBenchmark(m_Result, GetTerminalWidth(StandardOutput).value_or(DefaultWidth)));
        CheckTimes(report, m_Options.m_MaxInferenceMs.value_or(0.0f));
    }

private:
    void Print(const std::string& text) const { m_PrintsAside ? PrintTextAside(text) : PrintText(text); }

    void PrepareSides()
    {
        if (m_Options.m_Benchmark.m_Against.empty())
        {
            return;
        }
        const Against against = FindAgainst(m_Options.m_Benchmark.m_Against, m_Network.GetBackendNames());
        m_Result.m_AgainstKind = GetName(against.m_Kind);
        m_Result.m_Sides.resize(2);
        std::tie(m_Result.m_Sides[0].m_Name, m_Result.m_Sides[1].m_Name) = NameSides(m_Options, against);
        if (against.m_Kind == Against::Kind::Library)
        {
            // Both are processes that wait for their turns: the system prefers those on a machine that others use, too.
            m_Own.emplace(m_Options, GetLibraryFile());
            m_Other.emplace(m_Options, m_Options.m_Benchmark.m_Against);
        }
        else
        {
            m_Other.emplace(m_Options, against);
        }
    }

    void DescribeStart()
    {
        std::error_code error;
        const uintmax_t bytes = std::filesystem::file_size(m_Options.m_ModelPath, error);
        Print(m_Network.DescribeInputs() + (error ? "" : FormatModelSize(bytes)) + FormatInit(GetOwnFigures()));
    }

    void WarmUp()
    {
        if (m_Options.m_Benchmark.m_WarmupRuns == 0)
        {
            return;
        }
        const RunBounds bounds{m_Options.m_Benchmark.m_WarmupRuns, 0.0, m_Options.m_Benchmark.m_Bounds.m_MaxSeconds};
        const auto warmUp = [&](const Turn& turn)
        { return MeasureCallers([&](unsigned int) { return turn(1).front(); }, bounds, 1).m_Ms[0]; };
        Print(FormatBounds(bounds));
        m_Result.m_Sides[0].m_WarmupMs = warmUp(m_OwnTurn);
        Print(FormatCounts(m_Result.m_Sides[0].m_WarmupMs));
        if (m_Options.m_Benchmark.m_Callers > 1) // the others, at once, so that each of them has memory of its own
        {
            MeasureCallers(m_Infer, bounds, m_Options.m_Benchmark.m_Callers);
        }
        if (m_Other)
        {
            m_Result.m_Sides[1].m_WarmupMs = warmUp(m_OtherTurn);
        }
    }

    void MeasureAlone()
    {
        BenchmarkSide& side = m_Result.m_Sides[0];
        const EnergyMeter energy;
        side.m_Runs = MeasureCallers(m_Infer, m_Result.m_Bounds, m_Options.m_Benchmark.m_Callers);
        size_t numRuns = 0;
        for (const std::vector<double>& times : side.m_Runs.m_Ms)
        {
            numRuns += times.size();
        }
        if (const std::optional<double> joules = energy.Joules())
        {
            m_Result.m_JoulesPerInference = *joules / static_cast<double>(numRuns);
        }
        m_Result.m_WhyNoEnergy = energy.WhyNot();
        side.m_Figures = m_Network.GetFigures();
    }

    void MeasureBoth()
    {
        const std::array<SideRuns, 2> runs = MeasureTurns({m_OwnTurn, m_OtherTurn}, m_Result.m_Bounds);
        for (size_t i = 0; i < runs.size(); ++i)
        {
            constexpr double msPerSecond = 1000.0;
            const double ms = std::accumulate(runs[i].m_Ms.begin(), runs[i].m_Ms.end(), 0.0);
            m_Result.m_Sides[i].m_Runs = {{runs[i].m_Ms}, ms / msPerSecond};
        }
        m_Result.m_NumRounds = runs[0].m_Medians.size();
        m_Result.m_Ratio = EstimateRatio(runs[1].m_Medians, runs[0].m_Medians);
        m_Result.m_Sides[0].m_Figures = GetOwnFigures();
        m_Result.m_Sides[1].m_Figures = m_Other->GetFigures();
        if (!m_Own)
        {
            m_Result.m_Sides[0].m_Figures.m_OverallBytes = 0; // which both have filled
        }
    }

    /// The figures of the first side.
    Figures GetOwnFigures() { return m_Own ? m_Own->GetFigures() : m_Network.GetFigures(); }

    const Options& m_Options;
    bool m_PrintsAside = false; ///< text goes to standard error, because standard output is a file to write
    MeasuredNetwork m_Network;
    const Inference m_Infer = [this](unsigned int caller) { return m_Network.Infer(caller); };
    const Turn m_OwnTurn = [this](unsigned int numRuns)
    { return m_Own ? m_Own->InferInARow(numRuns) : m_Network.InferInARow(numRuns); };
    const Turn m_OtherTurn = [this](unsigned int numRuns) { return m_Other->InferInARow(numRuns); };
    std::optional<Side> m_Own;   ///< the first side, if it is a process of its own, too
    std::optional<Side> m_Other; ///< the second one, if there is one
    BenchmarkResult m_Result;
};

} // namespace

void RunBenchmark(const Options& options)
{
    for (const std::string& remark : options.m_Remarks)
    {
        PrintWarning(remark);
    }
    Benchmark(options).Execute();
}

} // namespace tenon::tools
