// SPDX-License-Identifier: Apache-2.0
// Written as a program for Arm NN is: a system under test as MLPerf's clients are. A load generator issues queries of
// several samples out of a library that is loaded beforehand; the client runs them in batches, answers them, and tells
// latencies and accuracy.
//
// usage: program MODEL.tflite PICTURES.pgm EXPECTED.txt LABELS.txt
// EXPECTED.txt has the probabilities of each picture. Fails where the network gives others.
#include "common/Pictures.hpp"

#include <algorithm>
#include <armnn/ArmNN.hpp>
#include <armnn/BackendOptions.hpp>
#include <armnn/IProfiler.hpp>
#include <armnn/utility/NumericCast.hpp>
#include <armnnTfLiteParser/ITfLiteParser.hpp>
#include <chrono>
#include <cmath>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace
{

using SampleIndex = std::size_t;

struct QuerySample
{
    std::uint64_t m_Id;
    SampleIndex m_Index;
};

struct QuerySampleResponse
{
    std::uint64_t m_Id;
    std::vector<float> m_Data;
};

/// The pictures, those of a set loaded as the network takes them.
class QuerySampleLibrary
{
public:
    explicit QuerySampleLibrary(std::vector<common::Picture> pictures) : m_Pictures(std::move(pictures)) {}

    std::size_t TotalSampleCount() const { return m_Pictures.size(); }
    void LoadSamplesToRam(const std::vector<SampleIndex>& samples)
    {
        for (SampleIndex index : samples)
        {
            std::vector<float>& loaded = m_Loaded[index];
            loaded.clear();
            for (std::uint8_t pixel : m_Pictures.at(index))
            {
                loaded.push_back(static_cast<float>(pixel) / 255.0f);
            }
        }
    }
    void UnloadSamplesFromRam(const std::vector<SampleIndex>& samples)
    {
        for (SampleIndex index : samples)
        {
            m_Loaded.erase(index);
        }
    }
    const float* GetFeatures(SampleIndex index) const { return m_Loaded.at(index).data(); }

private:
    std::vector<common::Picture> m_Pictures;
    std::map<SampleIndex, std::vector<float>> m_Loaded;
};

/// The settings of a run, as they come from the environment of such clients.
struct Settings
{
    bool m_UseAccelerated = true;
    bool m_FastMath = false;
    unsigned int m_NumberOfThreads = 1;
    std::size_t m_BatchSize = 1;
    bool m_Profile = false;
};

class SystemUnderTest
{
public:
    SystemUnderTest(const std::string& modelPath, const Settings& settings, const QuerySampleLibrary& library);

    void IssueQuery(const std::vector<QuerySample>& samples);
    /// Runs what is left of an incomplete batch.
    void FlushQueries();

    const std::map<std::uint64_t, std::vector<float>>& GetResponses() const { return m_Responses; }
    std::vector<double> GetLatencies() const { return m_Latencies; }
    const std::shared_ptr<armnn::IProfiler> GetProfiler() const { return m_Runtime->GetProfiler(m_NetworkId); }

private:
    void RunBatch();

    const Settings m_Settings;
    const QuerySampleLibrary& m_Library;
    armnn::IRuntimePtr m_Runtime{nullptr, [](armnn::IRuntime*) {}};
    armnn::NetworkId m_NetworkId = 0;
    armnnTfLiteParser::BindingPointInfo m_Input;
    armnnTfLiteParser::BindingPointInfo m_Output;
    std::vector<QuerySample> m_Batch;
    std::map<std::uint64_t, std::vector<float>> m_Responses;
    std::vector<double> m_Latencies;
};

SystemUnderTest::SystemUnderTest(const std::string& modelPath, const Settings& settings,
                                 const QuerySampleLibrary& library)
    : m_Settings(settings), m_Library(library)
{
    armnnTfLiteParser::ITfLiteParser::TfLiteParserOptions parserOptions;
    parserOptions.m_InferAndValidate = true;
    armnnTfLiteParser::ITfLiteParserPtr parser = armnnTfLiteParser::ITfLiteParser::Create(
        armnn::Optional<armnnTfLiteParser::ITfLiteParser::TfLiteParserOptions>(parserOptions));
    armnn::INetworkPtr network = parser->CreateNetworkFromBinaryFile(modelPath.c_str());
    const std::vector<std::string> inputs = parser->GetSubgraphInputTensorNames(0);
    const std::vector<std::string> outputs = parser->GetSubgraphOutputTensorNames(0);
    m_Input = parser->GetNetworkInputBindingInfo(0, inputs.at(0));
    m_Output = parser->GetNetworkOutputBindingInfo(0, outputs.at(0));

    armnn::IRuntime::CreationOptions runtimeOptions;
    runtimeOptions.m_BackendOptions.emplace_back(
        armnn::BackendOptions{"GpuAcc", {{"TuningLevel", 0}, {"TuningFile", ""}, {"KernelProfilingEnabled", false}}});
    m_Runtime = armnn::IRuntime::Create(runtimeOptions);

    std::vector<armnn::BackendId> preferences;
    if (settings.m_UseAccelerated)
    {
        preferences.emplace_back(armnn::Compute::CpuAcc);
    }
    preferences.emplace_back(armnn::Compute::CpuRef);

    // Options of all backends that the client knows, whether or not this machine has them.
    armnn::BackendOptions gpuAcc("GpuAcc", {{"FastMathEnabled", settings.m_FastMath},
                                            {"SaveCachedNetwork", false},
                                            {"CachedNetworkFilePath", ""},
                                            {"MLGOTuningFilePath", ""}});
    armnn::BackendOptions cpuAcc(
        "CpuAcc", {{"FastMathEnabled", settings.m_FastMath}, {"NumberOfThreads", settings.m_NumberOfThreads}});
    armnn::OptimizerOptionsOpaque optimizerOptions(false, false, false, armnn::ShapeInferenceMethod::InferAndValidate,
                                                   false, {gpuAcc}, false);
    optimizerOptions.AddModelOption(cpuAcc);
    optimizerOptions.SetProfilingEnabled(settings.m_Profile);
    const armnn::ModelOptions modelOptions = optimizerOptions.GetModelOptions();
    if (modelOptions.size() != 2 || modelOptions[1].GetBackendId() != armnn::BackendId("CpuAcc") ||
        modelOptions[1].GetOptionCount() != 2 || !modelOptions[1].GetOption(0).GetValue().IsBool() ||
        modelOptions[1].GetOption(1).GetValue().AsUnsignedInt() != settings.m_NumberOfThreads)
    {
        throw armnn::Exception("the options of the network are not as they were given");
    }

    std::vector<std::string> messages;
    armnn::IOptimizedNetworkPtr optimized =
        armnn::Optimize(*network, preferences, m_Runtime->GetDeviceSpec(), optimizerOptions,
                        armnn::Optional<std::vector<std::string>&>(messages));
    std::string errorMessage;
    armnn::INetworkProperties properties(false, armnn::MemorySource::Undefined, armnn::MemorySource::Undefined,
                                         settings.m_Profile, armnn::ProfilingDetailsMethod::DetailsWithEvents);
    if (m_Runtime->LoadNetwork(m_NetworkId, std::move(optimized), errorMessage, properties) != armnn::Status::Success)
    {
        throw armnn::RuntimeException(errorMessage);
    }
    GetProfiler()->EnableProfiling(settings.m_Profile);
}

void SystemUnderTest::IssueQuery(const std::vector<QuerySample>& samples)
{
    for (const QuerySample& sample : samples)
    {
        m_Batch.push_back(sample);
        if (m_Batch.size() == m_Settings.m_BatchSize)
        {
            RunBatch();
        }
    }
}

void SystemUnderTest::FlushQueries()
{
    RunBatch();
}

void SystemUnderTest::RunBatch()
{
    const auto start = std::chrono::steady_clock::now();
    for (const QuerySample& sample : m_Batch)
    {
        std::vector<float> scores(m_Output.second.GetNumElements());
        armnn::InputTensors inputTensors{
            {m_Input.first, armnn::ConstTensor(m_Input.second, m_Library.GetFeatures(sample.m_Index))}};
        armnn::OutputTensors outputTensors{{m_Output.first, armnn::Tensor(m_Output.second, scores.data())}};
        if (m_Runtime->EnqueueWorkload(m_NetworkId, inputTensors, outputTensors) != armnn::Status::Success)
        {
            throw armnn::RuntimeException("a sample was not run");
        }
        m_Responses[sample.m_Id] = std::move(scores);
    }
    if (!m_Batch.empty())
    {
        m_Latencies.push_back(
            std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    }
    m_Batch.clear();
}

/// The value that `percent` per cent of the values do not exceed.
double Percentile(std::vector<double> values, double percent)
{
    std::sort(values.begin(), values.end());
    const double rank = std::ceil(percent / 100.0 * armnn::numeric_cast<double>(values.size()));
    return values.at(static_cast<std::size_t>(std::max(rank, 1.0)) - 1);
}

/// Runs all samples of the library twice. Returns whether all scores are as expected.
bool RunScenario(const std::string& title, const std::string& model, const Settings& settings,
                 const std::vector<common::Picture>& pictures, const std::vector<float>& expected,
                 const std::vector<std::size_t>& labels)
{
    QuerySampleLibrary library(pictures);
    std::vector<SampleIndex> all(library.TotalSampleCount());
    for (std::size_t i = 0; i < all.size(); ++i)
    {
        all[i] = i;
    }
    library.LoadSamplesToRam(all);
    SystemUnderTest sut(model, settings, library);

    std::uint64_t id = 0;
    for (unsigned int round = 0; round < 2; ++round)
    {
        std::vector<QuerySample> query;
        for (SampleIndex index : all)
        {
            query.push_back({id++, index});
        }
        sut.IssueQuery(query);
    }
    sut.FlushQueries();
    library.UnloadSamplesFromRam(all);

    std::size_t wrong = 0;
    std::size_t right = 0;
    for (const auto& response : sut.GetResponses())
    {
        const std::size_t index = static_cast<std::size_t>(response.first) % all.size();
        const std::vector<float>& scores = response.second;
        for (std::size_t k = 0; k < scores.size(); ++k)
        {
            wrong += std::fabs(scores[k] - expected.at(index * scores.size() + k)) <= 1e-3f ? 0 : 1;
        }
        const auto best = std::max_element(scores.begin(), scores.end());
        right += static_cast<std::size_t>(best - scores.begin()) == labels.at(index) ? 1 : 0;
    }
    const std::vector<double> latencies = sut.GetLatencies();
    const double p50 = Percentile(latencies, 50);
    const double p99 = Percentile(latencies, 99);
    std::cout << title << ": " << right << " of " << sut.GetResponses().size() << " right, " << wrong
              << " scores wrong, " << latencies.size() << " batches, latency us p50 " << std::fixed
              << std::setprecision(1) << p50 << " p90 " << Percentile(latencies, 90) << " p99 " << p99 << '\n';
    const std::size_t batches = (2 * all.size() + settings.m_BatchSize - 1) / settings.m_BatchSize;
    bool ok = wrong == 0 && sut.GetResponses().size() == 2 * all.size() && latencies.size() == batches && p50 > 0.0 &&
              p50 <= p99 && right * 10 >= sut.GetResponses().size() * 9;

    const std::shared_ptr<armnn::IProfiler> profiler = sut.GetProfiler();
    if (settings.m_Profile)
    {
        std::stringstream table;
        profiler->AnalyzeEventsAndWriteResults(table);
        std::stringstream json;
        profiler->Print(json);
        const bool profiled = profiler->IsProfilingEnabled() && table.str().find("Execute") != std::string::npos &&
                              json.str().find("inference_measurements") != std::string::npos &&
                              json.str().find("Wall clock time") != std::string::npos;
        std::cout << title << ": " << (profiled ? "profiled" : "the profile is not there") << '\n';
        ok = ok && profiled;
    }
    return ok;
}

} // namespace

int main(int argc, char** argv)
{
    armnn::ConfigureLogging(true, true, armnn::StringToLogLevel("warning"));
    if (argc != 5)
    {
        std::cerr << "usage: " << argv[0] << " MODEL.tflite PICTURES.pgm EXPECTED.txt LABELS.txt\n";
        return 1;
    }
    try
    {
        const std::vector<common::Picture> pictures = common::ReadPictures(argv[2]);
        const std::vector<float> expected = common::ReadNumbers<float>(argv[3]);
        const std::vector<std::size_t> labels = common::ReadNumbers<std::size_t>(argv[4]);

        Settings singleStream;
        Settings offline;
        offline.m_FastMath = true;
        offline.m_NumberOfThreads = 2;
        offline.m_BatchSize = 7;
        offline.m_Profile = true;
        Settings reference;
        reference.m_UseAccelerated = false;
        reference.m_BatchSize = 40;
        const bool ok = RunScenario("single stream", argv[1], singleStream, pictures, expected, labels) &&
                        RunScenario("offline", argv[1], offline, pictures, expected, labels) &&
                        RunScenario("reference", argv[1], reference, pictures, expected, labels);
        std::cout << (ok ? "client: ok" : "client: wrong") << '\n';
        return ok ? 0 : 1;
    }
    catch (const armnn::Exception& error)
    {
        std::cerr << "Arm NN: " << error.what() << '\n';
        return 1;
    }
    catch (const std::exception& error)
    {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
