// SPDX-License-Identifier: Apache-2.0
// See Run.hpp.
#include "cli/Run.hpp"

#include "cli/Console.hpp"
#include "cli/Errors.hpp"
#include "cli/File.hpp"
#include "cli/Inputs.hpp"
#include "cli/Labels.hpp"
#include "cli/Model.hpp"
#include "cli/Npy.hpp"
#include "cli/OutputStore.hpp"
#include "cli/Process.hpp"
#include "cli/Report.hpp"
#include "cli/Serialize.hpp"
#include "cli/Strings.hpp"

#include <tenon/IRuntime.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace tenon::cli
{
namespace
{

/// Values of a tensor that are printed before the rest is only counted.
constexpr size_t MaxPrintedValues = 20;

class Stopwatch
{
public:
    double Milliseconds() const
    {
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - m_Start).count();
    }

private:
    std::chrono::steady_clock::time_point m_Start = std::chrono::steady_clock::now();
};

/// The backends of -c that exist. One that does not is passed over with a warning, as long as another does.
std::vector<BackendId> SelectBackends(const std::vector<std::string>& names, const IRuntime& runtime)
{
    const BackendIdSet& there = runtime.GetDeviceSpec().GetSupportedBackends();
    std::vector<BackendId> selected;
    for (const std::string& name : names)
    {
        if (there.count(name) > 0)
        {
            selected.emplace_back(name);
        }
        else if (names.size() > 1)
        {
            PrintWarning(fmt::format("--compute: there is no backend '{}'", OneLine(name)));
        }
    }
    if (selected.empty())
    {
        std::vector<std::string> all(there.begin(), there.end());
        std::sort(all.begin(), all.end());
        throw UsageError(
            fmt::format("--compute: there is no backend {}; there are {}", QuotedList(names), QuotedList(all)));
    }
    return selected;
}

/// Until a network is optimized, whatever is wrong with it is wrong with the model file or with the inputs' shapes; but
/// for memory that ran out. Messages of parsers name the model themselves.
template <typename Step>
auto BlameModel(const std::string& modelPath, Step step)
{
    const std::string prefix = fmt::format("model '{}'", OneLine(modelPath));
    const auto isNamed = [&](const Exception& error)
    { return std::string_view(error.what()).substr(0, prefix.size()) == prefix; };
    try
    {
        return step();
    }
    catch (MemoryValidationException& error)
    {
        error.AddContext(prefix);
        throw;
    }
    catch (const BackendUnavailableException& error) // an optimized network's
    {
        throw UnimplementedException(isNamed(error) ? error.what() : fmt::format("{}: {}", prefix, error.what()));
    }
    catch (UnimplementedException& error)
    {
        if (!isNamed(error))
        {
            error.AddContext(prefix);
        }
        throw;
    }
    catch (const Exception& error)
    {
        throw InputError(isNamed(error) ? error.what() : fmt::format("{}: {}", prefix, error.what()));
    }
}

/// The named inputs, then those that are not named.
std::vector<Binding> OrderInputs(const std::vector<Binding>& inputs, const std::vector<std::string>& names)
{
    std::vector<Binding> ordered = SelectBindings(inputs, names, "input");
    std::set<LayerBindingId> taken;
    for (const Binding& input : ordered)
    {
        taken.insert(input.m_Id);
    }
    for (const Binding& input : inputs)
    {
        if (taken.insert(input.m_Id).second)
        {
            ordered.push_back(input);
        }
    }
    return ordered;
}

/// One entry per input.
std::vector<std::vector<unsigned int>> OrderShapes(const Options& options, size_t numInputs)
{
    std::vector<std::vector<unsigned int>> shapes = options.m_InputShapes;
    const size_t wanted = options.m_InputNames.empty() ? numInputs : options.m_InputNames.size();
    if (!shapes.empty() && shapes.size() != wanted)
    {
        throw UsageError(
            fmt::format("--input-tensor-shape: {} shape(s) are given for {} input(s)", shapes.size(), wanted));
    }
    shapes.resize(numInputs);
    return shapes;
}

struct LayerCounter final : IStrategy
{
    void ExecuteStrategy(const IConnectableLayer* layer, const BaseDescriptor&, const std::vector<ConstTensor>&,
                         const char*, LayerBindingId) override
    {
        m_Count += Computes(layer->GetType()) ? 1 : 0;
    }
    uint64_t m_Count = 0;
};

class Session
{
public:
    explicit Session(const Options& options) : m_Options(options)
    {
        m_Report.m_ModelPath = options.m_ModelPath;
        m_Report.m_Compute = options.m_Compute;
        m_Report.m_Threads = options.m_NumberOfThreads != 0 ? options.m_NumberOfThreads
                                                            : std::max(1U, std::thread::hardware_concurrency());
    }

    void Execute()
    {
        CheckFiles();
        if (!m_Options.m_LabelsFile.empty())
        {
            m_Labels = ReadLabels(m_Options.m_LabelsFile);
        }
        Stopwatch creation;
        IRuntime::CreationOptions creationOptions;
        creationOptions.m_DynamicBackendsPath = m_Options.m_DynamicBackendsPath;
        m_Runtime = IRuntime::Create(creationOptions);
        m_Report.m_LoadMs += creation.Milliseconds();
        const std::vector<BackendId> backends = SelectBackends(m_Options.m_Compute, *m_Runtime);

        Model model = PrepareModel();
        Serialize(model);
        IOptimizedNetworkPtr network = Optimized(std::move(model), backends);
        WriteText(m_Options.m_DotFile,
                  [&]
                  {
                      std::ostringstream dot;
                      network->SerializeToDot(dot);
                      return dot.str();
                  });
        Load(std::move(network));
        Iterate();
        WriteFiles(); // first: it matters more than what the terminal shows, which may be closed
        Print();
    }

private:
    /// That each file is to be written once, and not over one that is read, is seen before anything runs; and so is
    /// whether the folders are there.
    void CheckFiles() const
    {
        std::vector<std::string> written = m_Options.m_OutputFiles;
        for (const std::string* path :
             {&m_Options.m_ReportFile, &m_Options.m_ProfileFile, &m_Options.m_ChromeTraceFile,
              &m_Options.m_SerializeFile, &m_Options.m_SerializeOptimizedFile, &m_Options.m_DotFile})
        {
            if (!path->empty())
            {
                written.push_back(*path);
            }
        }
        std::vector<std::string> read = m_Options.m_InputFiles;
        read.push_back(m_Options.m_ModelPath);
        read.push_back(m_Options.m_LabelsFile);
        std::set<std::filesystem::path> seen;
        for (const std::string& path : written)
        {
            std::error_code error;
            std::filesystem::path whole = std::filesystem::weakly_canonical(path, error);
            if (error)
            {
                whole = path;
            }
            if (std::filesystem::is_regular_file(whole, error) || !std::filesystem::exists(whole, error))
            {
                if (!seen.insert(whole).second)
                {
                    throw UsageError(fmt::format("'{}' is given twice as a file to write", OneLine(path)));
                }
            }
            const auto isSame = [&](const std::string& other)
            {
                std::error_code none; // a file that is not there is no error here
                return !other.empty() && std::filesystem::equivalent(other, whole, none);
            };
            if (std::any_of(read.begin(), read.end(), isSame))
            {
                throw UsageError(
                    fmt::format("'{}' is given both as a file to read and as one to write", OneLine(path)));
            }
            const std::filesystem::path folder = whole.parent_path();
            if (std::filesystem::is_directory(whole, error))
            {
                throw RunError(fmt::format("cannot write '{}': it is a folder", OneLine(path)));
            }
            if (!folder.empty() && !std::filesystem::is_directory(folder, error))
            {
                throw RunError(
                    fmt::format("cannot write '{}': there is no folder '{}'", OneLine(path), OneLine(folder.string())));
            }
        }
    }

    /// Parses the model and reads the inputs; parses again when these have other shapes than the model says.
    Model PrepareModel()
    {
        Model model = Parse({});
        m_Report.m_Inputs = OrderInputs(model.m_Inputs, m_Options.m_InputNames);
        m_Report.m_Outputs = SelectBindings(model.m_Outputs, m_Options.m_OutputNames, "output");
        if (!m_Options.m_OutputFiles.empty() && m_Options.m_OutputFiles.size() != m_Report.m_Outputs.size())
        {
            throw UsageError(fmt::format("--write-outputs-to-file: {} file(s) are given for {} output(s)",
                                         m_Options.m_OutputFiles.size(), m_Report.m_Outputs.size()));
        }
        m_Inputs =
            LoadInputs(m_Report.m_Inputs, m_Options.m_InputFiles, OrderShapes(m_Options, m_Report.m_Inputs.size()),
                       {m_Options.m_InputMean, m_Options.m_InputStd}, m_Limits);

        std::map<std::string, TensorShape> newShapes;
        for (size_t i = 0; i < m_Inputs.size(); ++i)
        {
            if (m_Inputs[i].m_Info.GetShape() != m_Report.m_Inputs[i].m_Info.GetShape())
            {
                newShapes[m_Report.m_Inputs[i].m_Name] = m_Inputs[i].m_Info.GetShape();
            }
            m_Report.m_Inputs[i].m_Info = m_Inputs[i].m_Info;
        }
        if (!newShapes.empty())
        {
            model = Parse(newShapes);
        }
        return model;
    }

    Model Parse(const std::map<std::string, TensorShape>& shapes)
    {
        Stopwatch parsing;
        Model model = BlameModel(m_Options.m_ModelPath,
                                 [&]
                                 {
                                     return LoadModel(m_Options.m_ModelPath,
                                                      {m_Options.m_Subgraph, m_Options.m_Signature, shapes}, m_Limits,
                                                      m_Runtime->GetDeviceSpec());
                                 });
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

    /// The optimized network of a file as it is, any other after optimization.
    IOptimizedNetworkPtr Optimized(Model model, const std::vector<BackendId>& backends)
    {
        if (model.m_Optimized != nullptr && m_Options.m_IsComputeGiven)
        {
            throw UsageError("--compute: the model is optimized already, for backends that it names itself");
        }
        const bool isRead = model.m_Optimized != nullptr;
        if (!isRead)
        {
            LayerCounter counter;
            model.m_Network->ExecuteStrategy(counter);
            m_Report.m_LayersBefore = counter.m_Count;
        }
        IOptimizedNetworkPtr optimized = isRead ? std::move(model.m_Optimized) : Optimize(*model.m_Network, backends);
        if (isRead)
        {
            m_Report.m_Compute.clear(); // no backend was preferred
        }
        m_Report.m_Assignment = optimized->GetAssignment();
        if (!m_Options.m_SerializeOptimizedFile.empty())
        {
            WriteNetwork(m_Options.m_SerializeOptimizedFile, *optimized);
        }
        return optimized;
    }

    IOptimizedNetworkPtr Optimize(const INetwork& network, const std::vector<BackendId>& backends)
    {
        OptimizerOptionsOpaque optimizerOptions;
        optimizerOptions.SetShapeInferenceMethod(ShapeInferenceMethod::InferAndValidate);
        optimizerOptions.SetLimits(m_Limits);
        optimizerOptions.SetProfilingEnabled(m_Options.IsProfiling());
        optimizerOptions.SetReduceFp32ToFp16(m_Options.m_Fp16);
        optimizerOptions.SetReduceFp32ToBf16(m_Options.m_Bf16);
        optimizerOptions.SetDebugEnabled(m_Options.m_PrintLayers);
        optimizerOptions.SetDebugToFileEnabled(m_Options.m_WriteLayers);
        PartitionOptions partitions;
        partitions.m_MaxPartitions = m_Options.m_MaxPartitions;
        partitions.m_MinLayersPerPartition = m_Options.m_MinLayersPerPartition;
        partitions.m_AllOrNothing = m_Options.m_AllOrNothing;
        for (size_t i = 0; i + 1 < backends.size(); ++i)
        {
            optimizerOptions.SetPartitionOptions(backends[i], partitions);
        }
        Stopwatch optimizing;
        IOptimizedNetworkPtr optimized =
            BlameModel(m_Options.m_ModelPath,
                       [&]
                       {
                           return tenon::Optimize(network, backends, m_Runtime->GetDeviceSpec(), optimizerOptions,
                                                  Optional<std::vector<std::string>&>(m_Report.m_Messages));
                       });
        m_Report.m_OptimizeMs = optimizing.Milliseconds();
        return optimized;
    }

    void Load(IOptimizedNetworkPtr network)
    {
        INetworkProperties properties;
        properties.m_NumberOfThreads = m_Report.m_Threads;
        properties.m_ProfilingEnabled = m_Options.IsProfiling();
        properties.m_OutputNetworkDetailsMethod = m_Options.m_Details;
        std::string message;
        Stopwatch loading;
        if (m_Runtime->LoadNetwork(m_Network, std::move(network), message, properties) != Status::Success)
        {
            throw RunError(message);
        }
        m_Report.m_LoadMs += loading.Milliseconds();
    }

    void Iterate()
    {
        InputTensors tensors;
        for (size_t i = 0; i < m_Inputs.size(); ++i)
        {
            TensorInfo info = m_Inputs[i].m_Info;
            info.SetConstant();
            tensors.emplace_back(m_Report.m_Inputs[i].m_Id, ConstTensor(info, m_Inputs[i].m_Data.Data()));
        }
        const OutputAllocator allocator = m_Outputs.GetAllocator();
        m_Report.m_InferenceMs.reserve(m_Options.m_Iterations - 1);
        for (unsigned int i = 0; i < m_Options.m_Iterations; ++i)
        {
            if (i > 0)
            {
                m_Runtime->ResetStates(m_Network); // each iteration is a first step
            }
            Stopwatch running;
            if (m_Runtime->EnqueueWorkload(m_Network, tensors, allocator) != Status::Success)
            {
                throw RunError("the network failed to run");
            }
            const double time = running.Milliseconds();
            if (i == 0)
            {
                m_Report.m_FirstInferenceMs = time;
            }
            else
            {
                m_Report.m_InferenceMs.push_back(time);
            }
        }
        for (Binding& output : m_Report.m_Outputs)
        {
            output.m_Info = m_Outputs.Get(output.m_Id).m_Info;
        }
        const NetworkStatistics statistics = m_Runtime->GetStatistics(m_Network);
        m_Report.m_ArenaBytes = statistics.m_ArenaBytes;
        m_Report.m_ArenaLowerBoundBytes = statistics.m_ArenaLowerBoundBytes;
        m_Report.m_PeakRssBytes = GetPeakRssBytes();
    }

    void Print() const
    {
        std::string text;
        for (size_t i = 0; i < m_Inputs.size(); ++i)
        {
            // What is not a given file is said even where tensors are not printed: results would mislead.
            if (!m_Options.m_DoNotPrintOutput || m_Options.m_InputFiles.empty())
            {
                text += fmt::format("input '{}' {}\n  from {}\n", OneLine(m_Report.m_Inputs[i].m_Name),
                                    m_Report.m_Inputs[i].m_Info.ToString(), m_Inputs[i].m_Description);
            }
        }
        text += fmt::format("{}\n{}, {} threads\n", SummarizeTimes(m_Report),
                            SummarizeAssignment(m_Report.m_Assignment), m_Report.m_Threads);
        if (m_Options.m_PrintAssignment)
        {
            text += FormatAssignment(m_Report.m_Assignment);
        }
        if (!m_Options.m_DoNotPrintOutput && !m_Report.m_Messages.empty())
        {
            text += fmt::format("{} remarks of the optimizer (--report-json has them)\n", m_Report.m_Messages.size());
        }
        for (const Binding& output : m_Report.m_Outputs)
        {
            const OutputData& data = m_Outputs.Get(output.m_Id);
            if (!m_Options.m_DoNotPrintOutput)
            {
                text += fmt::format("output '{}' {}\n  {}\n", OneLine(output.m_Name), data.m_Info.ToString(),
                                    FormatValues(data, MaxPrintedValues));
            }
            if (m_Options.m_TopK)
            {
                text += FormatTopK(data, output.m_Name, m_Labels, *m_Options.m_TopK);
            }
        }
        if (m_Options.m_PrintProfile)
        {
            text += FormatProfile(&IProfiler::Print);
        }
        PrintText(text);
    }

    void WriteFiles() const
    {
        for (size_t i = 0; i < m_Options.m_OutputFiles.size(); ++i)
        {
            const OutputData& output = m_Outputs.Get(m_Report.m_Outputs[i].m_Id);
            WriteNpy(m_Options.m_OutputFiles[i], output.m_Info, output.m_Data.Data());
        }
        WriteText(m_Options.m_ReportFile, [&] { return FormatReport(m_Report); });
        WriteText(m_Options.m_ProfileFile, [&] { return FormatProfile(&IProfiler::Print); });
        WriteText(m_Options.m_ChromeTraceFile, [&] { return FormatProfile(&IProfiler::WriteChromeTrace); });
    }

    /// Nothing where no file is wanted.
    template <typename MakeText>
    static void WriteText(const std::string& path, MakeText makeText)
    {
        if (path.empty())
        {
            return;
        }
        const std::string text = makeText();
        OutputFile file(path);
        file.Write(text.data(), text.size());
        file.Close();
    }

    std::string FormatProfile(void (IProfiler::*write)(std::ostream&) const) const
    {
        std::ostringstream stream;
        ((*m_Runtime->GetProfiler(m_Network)).*write)(stream);
        return stream.str();
    }

    const Options& m_Options;
    const Limits m_Limits;
    Report m_Report;
    std::vector<std::string> m_Labels;
    std::vector<InputData> m_Inputs;
    OutputStore m_Outputs;
    IRuntimePtr m_Runtime{nullptr, &IRuntime::Destroy};
    NetworkId m_Network = 0;
};

} // namespace

void Run(const Options& options)
{
    Session(options).Execute();
}

} // namespace tenon::cli
