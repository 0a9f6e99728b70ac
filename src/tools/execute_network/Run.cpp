// SPDX-License-Identifier: Apache-2.0
// See Run.hpp.
#include "tools/execute_network/Run.hpp"

#include "tools/common/Assignment.hpp"
#include "tools/common/Backends.hpp"
#include "tools/common/Console.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/File.hpp"
#include "tools/common/Labels.hpp"
#include "tools/common/Process.hpp"
#include "tools/common/Progress.hpp"
#include "tools/common/Stopwatch.hpp"
#include "tools/common/Strings.hpp"
#include "tools/compare/ByteErrors.hpp"
#include "tools/execute_network/ArmNNText.hpp"
#include "tools/execute_network/FileChecks.hpp"
#include "tools/execute_network/FileReport.hpp"
#include "tools/execute_network/OtherNetwork.hpp"
#include "tools/execute_network/Outputs.hpp"
#include "tools/execute_network/PlanText.hpp"
#include "tools/execute_network/PreparedNetwork.hpp"
#include "tools/execute_network/Report.hpp"
#include "tools/execute_network/RunComparison.hpp"
#include "tools/execute_network/Serialize.hpp"
#include "tools/execute_network/SeriesOutputs.hpp"
#include "tools/execute_network/Summary.hpp"
#include "tools/execute_network/Warnings.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/IRuntime.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <sstream>
#include <string_view>
#include <utility>

namespace tenon::tools
{
namespace
{

class Session : private PreparedNetwork
{
public:
    explicit Session(const Options& options) : PreparedNetwork(options) {}

    void Execute()
    {
        for (const std::string& remark : m_Options.m_Remarks)
        {
            PrintWarning(remark);
        }
        CheckFiles(m_Options);
        if (const std::string remark = DescribeOutputKinds(m_Options); !remark.empty())
        {
            PrintWarning(remark);
        }
        m_PrintsAside = WritesToStandardOutput(m_Options);
        if (!m_Options.m_ProfileAgainst.empty())
        {
            m_EarlierProfile = ReadEarlierProfile(m_Options.m_ProfileAgainst, m_Limits);
        }
        if (!m_Options.m_LabelsFile.empty())
        {
            m_Labels = ReadLabels(m_Options.m_LabelsFile);
        }
        CreateRuntime();
        PrintForArmNN(FormatArmNNVersion() + FormatArmNNInitialization(m_Report.m_RuntimeMs));
        const std::vector<BackendId> backends = SelectBackends(m_Options.m_Compute, *m_Runtime, "--compute");
        const bool comparesBackends = !m_Options.m_CompareBackends.empty();
        const std::vector<BackendId> otherBackends =
            comparesBackends ? SelectBackends(m_Options.m_CompareBackends, *m_Runtime, "--compare-output-with-backend")
                             : std::vector<BackendId>();
        if (!m_Options.m_CompareWith.empty())
        {
            m_Comparison.emplace(m_Options, *m_Runtime);
            m_Report.m_Comparison = &m_Comparison->Get();
        }

        Model model = PrepareModel();
        if (m_Series.IsUsed())
        {
            m_SeriesOutputs = SeriesOutputs(m_Options.m_OutputFiles, m_Report.m_Outputs.size(), m_Series.Sets());
        }
        Serialize(model);
        MakeLayersFolder(m_Options);
        IOptimizedNetworkPtr network = Optimized(std::move(model), backends);
        PrintForArmNN(FormatArmNNOptimization(m_Report.m_OptimizeMs));
        WriteText(m_Options.m_DotFile,
                  [&]
                  {
                      std::ostringstream dot;
                      network->SerializeToDot(dot);
                      return dot.str();
                  });
        Load(std::move(network));
        LoadReference(backends);
        FillInputs(HasRandomSets() ? Distribution::Gaussian : Distribution::Uniform);
        ShareRandomInputs(0);
        WarnOfQuantization(m_Options, m_Report);
        PrintForArmNN(FormatArmNNNetwork(m_Report.m_Inputs, OutputsOfNetwork()));
        Iterate();
        WriteFiles(); // before the text, because it matters more than a terminal, which may be closed
        Print(DescribeRun());
        WarnOfLabels(m_Options, m_Report, m_Outputs, m_Labels);
        // Comparisons come last: they take further time and may fail, and the results of the run are printed by then.
        if (comparesBackends)
        {
            Print(CompareWithBackends(otherBackends));
        }
        Print(CompareWithFiles(m_Report.m_Outputs, m_Outputs, m_Options.m_CompareFiles, m_Limits,
                               m_Options.m_ArmNNOutput));
        if (m_Comparison)
        {
            Print(FormatComparison(m_Comparison->Get()));
            m_Comparison->Unload();
        }
        Stopwatch shutdown;
        m_Runtime.reset();
        PrintForArmNN(FormatArmNNShutdown(shutdown.Milliseconds()));
        m_Series.ThrowIfFailed();
        CheckTimes(m_Report, m_Options.m_MaxInferenceMs.value_or(0.0f));
        if (m_Comparison)
        {
            m_Comparison->CheckTolerance();
        }
    }

private:
    void Print(const std::string& text) const { m_PrintsAside ? PrintTextAside(text) : PrintText(text); }

    /// Prints a line of --armnn-output, which come as the run goes on; nothing without that option.
    void PrintForArmNN(const std::string& text) const
    {
        if (m_Options.m_ArmNNOutput)
        {
            Print(text);
        }
    }

    /// The text of the run; with --armnn-output without inputs, outputs and profile, which are printed by then.
    std::string DescribeRun() const
    {
        if (m_Options.m_ArmNNOutput)
        {
            return FormatRun(m_Options, m_Report);
        }
        const std::string run = FormatRun(m_Options, m_Report);
        const std::string events = m_Options.m_PrintProfile ? FormatEvents() : "";
        if (m_Series.IsUsed())
        {
            return m_Series.Summarize() + "\n" + run + events;
        }
        return (HasSets() ? run + m_IterationTexts
                          : FormatInputs(m_Options, m_Report, m_Inputs) + run +
                                FormatOutputs(m_Options, m_Report, m_Outputs, m_Labels)) +
               events;
    }

    void Serialize(const Model& model) const
    {
        if (m_Options.m_SerializeFile.empty())
        {
            return;
        }
        if (model.m_Network == nullptr)
        {
            throw UsageError("--serialize: the model is optimized already; write it with --serialize-optimized");
        }
        WriteNetwork(m_Options.m_SerializeFile, *model.m_Network);
    }

    bool HasRandomSets() const { return m_Comparison && m_Comparison->HasRandomSets(); }

    void ShareRandomInputs(unsigned int iteration)
    {
        if (HasRandomSets())
        {
            m_Comparison->ShareRandomInputs(m_Inputs, iteration);
        }
    }

    void LoadReference(const std::vector<BackendId>& backends)
    {
        if (m_Comparison)
        {
            m_Comparison->Load({backends, m_Network, m_Report.m_Assignment, m_Report.m_Inputs, m_Report.m_Outputs,
                                m_NewShapes, CountBytes(m_Inputs), m_Report.m_Compute.empty(),
                                [this] { return Parse(m_NewShapes); }});
        }
    }

    /// Compares the outputs of the last inference.
    void CompareWithReference(size_t index, const std::string& file, std::span<const InputData> inputs)
    {
        if (m_Comparison)
        {
            m_Comparison->AddRun(index, file, inputs, m_LastMs, m_Outputs);
        }
    }

    /// With the inputs of the last run, or with the first files of a series, as the last ones may be unreadable.
    void CompareLayers()
    {
        if (m_Comparison && m_Options.m_ComparesLayers)
        {
            if (m_Series.IsUsed())
            {
                m_Inputs = m_Series.LoadFirstAgain();
            }
            m_Comparison->CompareLayers(m_Series.IsUsed() ? m_Inputs : InputsOf(m_Options.m_Iterations - 1));
        }
    }

    /// The outputs as the loaded network has them: shapes that follow from the inputs are open until the first run.
    std::vector<Binding> OutputsOfNetwork() const
    {
        std::vector<Binding> outputs = m_Report.m_Outputs;
        for (Binding& output : outputs)
        {
            output.m_Info = m_Runtime->GetOutputTensorInfo(m_Network, output.m_Id);
        }
        return outputs;
    }

    /// Runs once. An error about the file of a layer names the option that chooses its folder.
    Status Enqueue(const InputTensors& tensors, const OutputAllocator& allocator)
    {
        try
        {
            return m_Runtime->EnqueueWorkload(m_Network, tensors, allocator);
        }
        catch (const RuntimeException& error)
        {
            const std::string start = "cannot write '" + GetLayersFolder(m_Options);
            if (m_Options.m_WriteLayers && std::string_view(error.what()).starts_with(start))
            {
                throw RuntimeException(std::string(error.what()) +
                                       "; make room there, or choose another folder with --intermediate-layers-folder");
            }
            throw;
        }
    }

    void Iterate()
    {
        WarnOfStates(m_Options, m_Report);
        m_Report.m_InferenceMs.reserve(m_Series.IsUsed() ? m_Series.Sets().size() : m_Options.m_Iterations);
        if (m_Series.IsUsed())
        {
            m_Series.Run(m_Inputs,
                         {[&](size_t i) { InferFile(i); }, [&](size_t i) { FinishFile(i); }, FailureReporter()});
        }
        std::optional<Progress> progress;
        if (m_Comparison && !m_Series.IsUsed() && !m_Options.m_PrintLayers)
        {
            progress.emplace(m_Options.m_Iterations, 0, "runs");
        }
        InputTensors tensors;
        for (unsigned int i = 0; i < m_Options.m_Iterations && !m_Series.IsUsed(); ++i)
        {
            if (i > 0 && HasRandomSets())
            {
                FillRandomInputs(m_Report.m_Inputs, m_Inputs, Distribution::Gaussian, i);
                ShareRandomInputs(i);
            }
            if (i == 0 || HasSets() || HasRandomSets())
            {
                tensors = TensorsOf(i);
            }
            Infer(tensors);
            CompareWithReference(i, "", InputsOf(i));
            FinishIteration(i);
            if (progress)
            {
                progress->Advance();
            }
        }
        progress.reset();
        CompareLayers();
        DescribeResults();
    }

    void InferFile(size_t index)
    {
        Infer(TensorsOf(0));
        CompareWithReference(index, m_Series.Sets()[index].front(), m_Inputs);
    }

    /// One inference; its time is the last one afterwards.
    void Infer(const InputTensors& tensors)
    {
        if (m_HasRun && !m_Options.m_KeepStates)
        {
            m_Runtime->ResetStates(m_Network); // each inference is a first step
        }
        const OutputAllocator allocator = m_Outputs.GetAllocator();
        Stopwatch running;
        m_Blame.OfRun([&] { return Enqueue(tensors, allocator); });
        m_LastMs = running.Milliseconds();
        PrintForArmNN(FormatArmNNExecution(m_LastMs));
        if (m_Options.m_DequantizeOutputs)
        {
            m_Outputs.Dequantize();
        }
        if (!std::exchange(m_HasRun, true))
        {
            m_Report.m_FirstInferenceMs = m_LastMs;
        }
        else
        {
            m_Report.m_InferenceMs.push_back(m_LastMs);
        }
    }

    void DescribeResults()
    {
        for (Binding& output : m_Report.m_Outputs)
        {
            output.m_Info = m_Outputs.Get(output.m_Id).m_Info;
        }
        SetStatistics(m_Report, m_Runtime->GetStatistics(m_Network));
        m_Report.m_PeakRssBytes = GetPeakRssBytes();
        if (m_Options.m_PrintPlan || !m_Options.m_PlanFile.empty())
        {
            m_Report.m_Plan = m_Runtime->GetPlan(m_Network);
        }
        if (m_Options.HasProfile())
        {
            m_Report.m_Profile = MakeProfile();
        }
    }

    Profile MakeProfile() const
    {
        const std::optional<MachinePeaks> peaks =
            m_Options.m_MeasurePeaks ? std::optional(MeasurePeaks(m_Report.m_Threads)) : std::nullopt;
        const std::shared_ptr<IProfiler> profiler = m_Runtime->GetProfiler(m_Network);
        Profile profile = tools::MakeProfile({*profiler, m_Structure, m_Report.m_Assignment,
                                              m_Runtime->GetPlan(m_Network), m_Runtime->GetStatistics(m_Network)},
                                             peaks);
        profile.m_Model = m_Options.m_ModelPath;
        profile.m_Threads = m_Report.m_Threads;
        return profile;
    }

    /// Prints and writes the outputs of an iteration, before the next one replaces them.
    void FinishIteration(unsigned int iteration)
    {
        WriteOutputs(GetOutputFiles(m_Options, m_Report.m_Outputs.size(), iteration), iteration);
        if (m_Options.m_ArmNNOutput)
        {
            PrintValuesForArmNN(iteration + 1 == m_Options.m_Iterations);
        }
        else if (HasSets())
        {
            const std::string text = FormatInputs(m_Options, m_Report, InputsOf(iteration)) +
                                     FormatOutputs(m_Options, m_Report, m_Outputs, m_Labels);
            m_IterationTexts +=
                text.empty() ? "" : fmt::format("iteration {} of {}:\n", iteration + 1, m_Options.m_Iterations) + text;
        }
    }

    /// The same of a file of a series, which may be long: nothing of it is kept but for the report.
    void FinishFile(size_t index)
    {
        WriteOutputs(m_SeriesOutputs.FilesOf(index), index);
        const std::string name = m_Series.DescribeSet(index);
        if (m_Options.m_ArmNNOutput)
        {
            PrintValuesForArmNN(index + 1 == m_Series.Sets().size());
        }
        else
        {
            const std::string title =
                fmt::format("file {} of {}, {}", index + 1, m_Series.Sets().size(), OneLine(name));
            Print(FormatFileResult(m_Options, m_Report, name, title, m_Inputs, m_Outputs, m_Labels));
        }
        if (!m_Options.m_ReportFile.empty())
        {
            m_Report.m_Files.push_back(
                FormatFileReport(m_Series.Sets()[index], m_LastMs, m_Options, m_Report.m_Outputs, m_Outputs, m_Labels));
        }
    }

    void WriteOutputs(const std::vector<std::string>& files, size_t iteration) const
    {
        PrintForArmNN(WriteOutputFiles(m_Options, m_Report.m_Outputs, m_Outputs, files, iteration));
    }

    void PrintValuesForArmNN(bool isLast) const
    {
        Print((m_Options.m_PrintProfile && isLast ? FormatEvents() : "") +
              FormatOutputs(m_Options, m_Report, m_Outputs, m_Labels));
        PrintForArmNN(FormatArmNNInference(m_LastMs, m_Options.m_MaxInferenceMs));
    }

    /// The last iteration on the backends of --compare-output-with-backend.
    std::string CompareWithBackends(const std::vector<BackendId>& backends)
    {
        OtherNetwork other(Parse(m_NewShapes), backends, m_Options, CountBytes(m_Inputs), m_Blame, *m_Runtime);
        const unsigned int last = m_Options.m_Iterations - 1;
        for (unsigned int i = m_Options.m_KeepStates ? 0 : last; i <= last; ++i)
        {
            other.Run(TensorsOf(i));
        }
        return CompareWithOthers(m_Report.m_Outputs, m_Outputs, other.GetOutputs(), m_Options.m_ArmNNOutput);
    }

    void WriteFiles() const
    {
        WriteText(m_Options.m_ReportFile, [&] { return FormatReport(m_Report); });
        WriteText(m_Options.m_PlanFile, [&] { return FormatPlanJson(*m_Report.m_Plan); });
        WriteText(m_Options.m_ProfileFile, [&] { return FormatEvents(); });
        WriteText(m_Options.m_ProfilePage, [&] { return FormatProfilePage(*m_Report.m_Profile, m_EarlierProfile); });
        WriteText(m_Options.m_ChromeTraceFile, [&] { return FormatProfile(&IProfiler::WriteChromeTrace); });
    }

    /// Writes a text file; nothing where the path is empty.
    template <typename MakeText>
    static void WriteText(const std::string& path, MakeText makeText)
    {
        if (path.empty())
        {
            return;
        }
        WriteFile(path, makeText());
    }

    std::string FormatProfile(void (IProfiler::*write)(std::ostream&) const) const
    {
        std::ostringstream stream;
        ((*m_Runtime->GetProfiler(m_Network)).*write)(stream);
        return stream.str();
    }

    std::string FormatEvents() const
    {
        std::string events = FormatProfile(&IProfiler::Print);
        return m_Options.m_ArmNNOutput ? NameRootArmNN(std::move(events)) : events;
    }

    std::vector<std::string> m_Labels;
    std::string m_EarlierProfile; ///< of --profile-against, or empty
    SeriesOutputs m_SeriesOutputs;
    bool m_PrintsAside = false;   ///< text goes to standard error, because standard output is a file to write
    std::string m_IterationTexts; ///< inputs and outputs where each iteration has its own inputs
    bool m_HasRun = false;
    double m_LastMs = 0.0;                     ///< time of the last inference
    std::optional<RunComparison> m_Comparison; ///< of --compare-with
};

} // namespace

void Run(const Options& options)
{
    Session(options).Execute();
}

} // namespace tenon::tools
