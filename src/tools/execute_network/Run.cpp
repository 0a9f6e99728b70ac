// SPDX-License-Identifier: Apache-2.0
// See Run.hpp.
#include "tools/execute_network/Run.hpp"

#include "tools/common/Backends.hpp"
#include "tools/common/Console.hpp"
#include "tools/common/ErrorAttribution.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/File.hpp"
#include "tools/common/Inputs.hpp"
#include "tools/common/Labels.hpp"
#include "tools/common/Model.hpp"
#include "tools/common/Process.hpp"
#include "tools/common/RandomInputs.hpp"
#include "tools/common/Stopwatch.hpp"
#include "tools/common/Strings.hpp"
#include "tools/execute_network/ArmNNText.hpp"
#include "tools/execute_network/FileChecks.hpp"
#include "tools/execute_network/FileReport.hpp"
#include "tools/execute_network/FileSeries.hpp"
#include "tools/execute_network/InputShapes.hpp"
#include "tools/execute_network/OptimizerOptions.hpp"
#include "tools/execute_network/Outputs.hpp"
#include "tools/execute_network/PlanText.hpp"
#include "tools/execute_network/Report.hpp"
#include "tools/execute_network/Serialize.hpp"
#include "tools/execute_network/SeriesOutputs.hpp"
#include "tools/execute_network/Summary.hpp"
#include "tools/execute_network/Warnings.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/IRuntime.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

namespace tenon::tools
{
namespace
{

class Session
{
public:
    explicit Session(const Options& options)
        : m_Options(options), m_Blame(options.m_ModelPath), m_Limits(options.m_Limits), m_Series(options)
    {
        m_Report.m_ModelPath = options.m_ModelPath;
        m_Report.m_Compute = options.m_Compute;
        m_Report.m_Threads = options.m_NumberOfThreads != 0 ? options.m_NumberOfThreads
                                                            : std::max(1U, std::thread::hardware_concurrency());
    }

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
        Stopwatch creation;
        m_Runtime = MakeRuntime(m_Options.m_DynamicBackendsPath, m_Options.m_Limits);
        m_Report.m_LoadMs += creation.Milliseconds();
        PrintForArmNN(FormatArmNNVersion() + FormatArmNNInitialization(creation.Milliseconds()));
        const std::vector<BackendId> backends = SelectBackends(m_Options.m_Compute, *m_Runtime, "--compute");
        const bool comparesBackends = !m_Options.m_CompareBackends.empty();
        const std::vector<BackendId> otherBackends =
            comparesBackends ? SelectBackends(m_Options.m_CompareBackends, *m_Runtime, "--compare-output-with-backend")
                             : std::vector<BackendId>();

        Model model = PrepareModel();
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
        FillInputs();
        WarnOfQuantization(m_Options, m_Report);
        PrintForArmNN(FormatArmNNNetwork(m_Report.m_Inputs, OutputsOfNetwork()));
        Iterate();
        WriteFiles(); // before the text, because it matters more than a terminal, which may be closed
        Print(DescribeRun());
        WarnOfLabels(m_Options, m_Report, m_Outputs, m_Labels);
        // Comparisons come last: they take further time and may fail, and the results of the run are printed by then.
        if (comparesBackends)
        {
            Print(CompareWithOthers(m_Report.m_Outputs, m_Outputs, RunOnOtherBackends(otherBackends),
                                    m_Options.m_ArmNNOutput));
        }
        Print(CompareWithFiles(m_Report.m_Outputs, m_Outputs, m_Options.m_CompareFiles, m_Limits,
                               m_Options.m_ArmNNOutput));
        Stopwatch shutdown;
        m_Runtime.reset();
        PrintForArmNN(FormatArmNNShutdown(shutdown.Milliseconds()));
        m_Series.ThrowIfFailed();
        CheckTimes(m_Report, m_Options.m_MaxInferenceMs.value_or(0.0f));
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

    /// Parses the model and reads the inputs; parses again when these have other shapes than the model says.
    Model PrepareModel()
    {
        Model model = Parse({});
        for (const std::string& remark : model.m_Remarks)
        {
            PrintWarning(fmt::format("model '{}': {}", OneLine(m_Options.m_ModelPath), OneLine(remark)));
        }
        m_Report.m_Inputs = OrderInputs(model.m_Inputs, m_Options.m_InputNames);
        SelectOutputs(model);
        ReadInputs();

        std::vector<std::string> changes;
        for (size_t i = 0; i < m_Report.m_Inputs.size(); ++i)
        {
            if (!m_Inputs[i].m_Remark.empty())
            {
                PrintWarning(m_Inputs[i].m_Remark);
            }
            const TensorShape& shape = m_Inputs[i].m_Info.GetShape();
            if (shape != m_Report.m_Inputs[i].m_Info.GetShape())
            {
                m_NewShapes[m_Report.m_Inputs[i].m_Name] = shape;
                changes.push_back(DescribeNewShape(m_Report.m_Inputs[i], shape, i, m_Options));
            }
            m_Report.m_Inputs[i].m_Info = m_Inputs[i].m_Info;
        }
        if (!m_NewShapes.empty())
        {
            m_Blame.SetInputs(fmt::format("{}", fmt::join(changes, ", ")));
            model = Parse(m_NewShapes);
            SelectOutputs(model);
        }
        if (model.m_WhyNot != nullptr)
        {
            m_Blame.OfModel([&] { std::rethrow_exception(model.m_WhyNot); });
        }
        m_Outputs = OutputStore(model.m_Outputs, CountBytes(m_Inputs), m_Limits);
        if (m_Series.IsUsed())
        {
            m_SeriesOutputs = SeriesOutputs(m_Options.m_OutputFiles, m_Report.m_Outputs.size(), m_Series.Sets());
        }
        return model;
    }

    /// All sets of files, or the first files of a series.
    void ReadInputs()
    {
        const std::vector<std::vector<unsigned int>> shapes = OrderShapes(m_Options, m_Report.m_Inputs.size());
        if (m_Series.IsUsed())
        {
            m_Inputs = m_Series.LoadFirst(m_Report.m_Inputs, shapes, FailureReporter());
            return;
        }
        const Normalisation normalisation{m_Options.m_InputMean, m_Options.m_InputStd};
        m_Inputs = LoadInputs(m_Report.m_Inputs, m_Options.m_InputFiles, shapes, normalisation, m_Limits,
                              m_Options.m_Iterations, m_Options.m_QuantizeInputs);
        RequirePicture(m_Inputs, normalisation);
    }

    void SelectOutputs(const Model& model)
    {
        if (model.m_WhyNot == nullptr)
        {
            m_Report.m_Outputs = SelectBindings(model.m_Outputs, m_Options.m_OutputNames, "output");
            CheckOutputFiles(m_Options, m_Report.m_Outputs.size());
        }
    }

    Model Parse(const std::map<std::string, TensorShape>& shapes)
    {
        Stopwatch parsing;
        if (!m_ModelFile)
        {
            m_ModelFile = OpenModel(m_Options.m_ModelPath, m_Options.m_ModelFormat, m_Limits);
        }
        const ModelChoice choice{m_Options.m_Entry,          m_Options.m_Subgraph,  m_Options.m_Signature, shapes,
                                 m_Options.m_SubgraphOption, m_Options.m_Dimensions};
        Model model =
            m_Blame.OfModel([&] { return LoadModel(*m_ModelFile, choice, m_Limits, m_Runtime->GetDeviceSpec()); });
        m_Report.m_LoadMs += parsing.Milliseconds();
        return model;
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

    /// The network after optimization; that of a file of an optimized network as it is.
    IOptimizedNetworkPtr Optimized(Model model, const std::vector<BackendId>& backends)
    {
        if (model.m_Optimized != nullptr && !m_Options.m_OptimizerOptions.empty())
        {
            throw UsageError(fmt::format("{}: the model is optimized already, so this can have no effect; give it "
                                         "beside --serialize-optimized",
                                         fmt::join(m_Options.m_OptimizerOptions, ", ")));
        }
        const bool isRead = model.m_Optimized != nullptr;
        if (isRead && !m_Options.m_CompareBackends.empty())
        {
            throw UsageError("--compare-output-with-backend: the model is optimized already, so no other backend can "
                             "run it; give the model itself");
        }
        if (!isRead)
        {
            m_Report.m_LayersBefore = CountLayers(*model.m_Network);
        }
        Stopwatch optimizing;
        IOptimizedNetworkPtr optimized = isRead ? std::move(model.m_Optimized)
                                                : Optimize(*model.m_Network, backends, m_Options, m_Report.m_Messages);
        if (isRead)
        {
            m_Report.m_Compute.clear(); // no backend was preferred
        }
        else
        {
            m_Report.m_OptimizeMs = optimizing.Milliseconds();
        }
        m_Report.m_Assignment = optimized->GetAssignment();
        if (m_Options.HasProfile())
        {
            m_Structure = ReadStructure(*optimized);
        }
        if (!m_Options.m_SerializeOptimizedFile.empty())
        {
            WriteNetwork(m_Options.m_SerializeOptimizedFile, *optimized);
        }
        return optimized;
    }

    IOptimizedNetworkPtr Optimize(const INetwork& network, const std::vector<BackendId>& backends,
                                  const Options& options, std::vector<std::string>& messages) const
    {
        const OptimizerOptionsOpaque optimizerOptions = MakeOptimizerOptions(options, backends, m_Limits);
        return m_Blame.OfModel(
            [&]
            {
                return tenon::Optimize(network, backends, m_Runtime->GetDeviceSpec(), optimizerOptions,
                                       Optional<std::vector<std::string>&>(messages));
            });
    }

    void Load(IOptimizedNetworkPtr network)
    {
        const bool usesCachedNetwork = UsesCachedNetwork(m_Options, m_Report.m_Assignment);
        WarnOfCachedNetwork(m_Options, usesCachedNetwork);
        const INetworkProperties properties = MakeNetworkProperties(m_Options, m_Report.m_Threads, usesCachedNetwork);
        Stopwatch loading;
        const auto load = [&] { return m_Runtime->LoadNetwork(m_Network, std::move(network), properties); };
        // The file of packed weights is an input, too, which may be missing, damaged or that of another model.
        const bool readsFile = usesCachedNetwork && !m_Options.m_SaveCachedNetwork;
        readsFile ? m_Blame.OfModel(load) : m_Blame.OfRun(load);
        m_Report.m_LoadMs += loading.Milliseconds();
    }

    /// Random values, which take long for large inputs, come last, after all refusals.
    void FillInputs()
    {
        // The outputs of a .tenon file follow from the shapes in the file, so they are known only where inputs have
        // these.
        const auto hasShape = [&](const Binding& input)
        { return m_Runtime->GetInputTensorInfo(m_Network, input.m_Id).GetShape() == input.m_Info.GetShape(); };
        if (std::all_of(m_Report.m_Inputs.begin(), m_Report.m_Inputs.end(), hasShape))
        {
            m_Outputs.CheckBytes(*m_Runtime, m_Network);
        }
        if (m_Options.m_InputFiles.empty())
        {
            FillRandomInputs(m_Report.m_Inputs, m_Inputs);
            if (m_Options.m_ArmNNOutput && !m_Inputs.empty())
            {
                PrintWarning("--input-tensor-data: no file is given, so inputs are seeded random values");
            }
        }
    }

    /// Whether each iteration has input files of its own.
    bool HasSets() const { return m_Inputs.size() > m_Report.m_Inputs.size(); }

    std::span<const InputData> InputsOf(unsigned int iteration) const
    {
        const size_t count = m_Report.m_Inputs.size();
        const size_t numSets = HasSets() ? m_Inputs.size() / count : 1;
        return std::span(m_Inputs).subspan(iteration % numSets * count, count);
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

    InputTensors TensorsOf(unsigned int iteration) const
    {
        InputTensors tensors;
        const std::span<const InputData> inputs = InputsOf(iteration);
        for (size_t i = 0; i < inputs.size(); ++i)
        {
            TensorInfo info = inputs[i].m_Info;
            info.SetConstant();
            tensors.emplace_back(m_Report.m_Inputs[i].m_Id, ConstTensor(info, inputs[i].m_Data.Data()));
        }
        return tensors;
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
            m_Series.Run(m_Inputs, {[&] { Infer(TensorsOf(0)); }, [&](size_t i) { FinishFile(i); }, FailureReporter()});
        }
        InputTensors tensors;
        for (unsigned int i = 0; i < m_Options.m_Iterations && !m_Series.IsUsed(); ++i)
        {
            if (i == 0 || HasSets())
            {
                tensors = TensorsOf(i);
            }
            Infer(tensors);
            FinishIteration(i);
        }
        DescribeResults();
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

    std::function<void(size_t, const std::string&)> FailureReporter()
    {
        return [this](size_t index, const std::string& error)
        {
            if (!m_Options.m_ReportFile.empty())
            {
                m_Report.m_Files.push_back(FormatFileFailure(m_Series.Sets()[index], error));
            }
        };
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

    /// The outputs of the last iteration on the backends of --compare-output-with-backend.
    OutputStore RunOnOtherBackends(const std::vector<BackendId>& backends)
    {
        Options options = m_Options;
        options.m_PrintLayers = false; // as they are printed and written already
        options.m_WriteLayers = false;
        Model model = Parse(m_NewShapes);
        std::vector<std::string> messages;
        IOptimizedNetworkPtr network = Optimize(*model.m_Network, backends, options, messages);
        INetworkProperties properties;
        properties.m_NumberOfThreads = m_Report.m_Threads;
        NetworkId id = 0;
        m_Blame.OfRun([&] { return m_Runtime->LoadNetwork(id, std::move(network), properties); });
        OutputStore outputs(model.m_Outputs, CountBytes(m_Inputs), m_Limits);
        const unsigned int last = m_Options.m_Iterations - 1;
        for (unsigned int i = m_Options.m_KeepStates ? 0 : last; i <= last; ++i)
        {
            m_Blame.OfRun([&] { return m_Runtime->EnqueueWorkload(id, TensorsOf(i), outputs.GetAllocator()); });
        }
        if (m_Options.m_DequantizeOutputs)
        {
            outputs.Dequantize();
        }
        return outputs;
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

    const Options& m_Options;
    ErrorAttribution m_Blame;
    const Limits m_Limits;
    Report m_Report;
    std::vector<std::string> m_Labels;
    std::string m_EarlierProfile; ///< of --profile-against, or empty
    NetworkStructure m_Structure; ///< for a profile
    FileSeries m_Series;          ///< the files of folders and patterns
    SeriesOutputs m_SeriesOutputs;
    /// Those of all sets of files, one set after another; of a series those of the present inference.
    std::vector<InputData> m_Inputs;
    OutputStore m_Outputs;
    std::map<std::string, TensorShape> m_NewShapes; ///< shapes of inputs by name, where the model has others
    bool m_PrintsAside = false;           ///< text goes to standard error, because standard output is a file to write
    std::string m_IterationTexts;         ///< inputs and outputs where each iteration has its own inputs
    std::optional<ModelFile> m_ModelFile; ///< outlives the runtime, whose networks may use it in place
    IRuntimePtr m_Runtime{nullptr, &IRuntime::Destroy};
    NetworkId m_Network = 0;
    bool m_HasRun = false;
    double m_LastMs = 0.0; ///< time of the last inference
};

} // namespace

void Run(const Options& options)
{
    Session(options).Execute();
}

} // namespace tenon::tools
