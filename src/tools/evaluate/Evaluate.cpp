// SPDX-License-Identifier: Apache-2.0
// See Evaluate.hpp.
#include "tools/evaluate/Evaluate.hpp"

#include "json/JsonWriter.hpp"
#include "tools/common/Console.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/File.hpp"
#include "tools/common/Glob.hpp"
#include "tools/common/PathChecks.hpp"
#include "tools/common/Strings.hpp"
#include "tools/evaluate/Classification.hpp"
#include "tools/evaluate/Detection.hpp"
#include "tools/evaluate/Hash.hpp"
#include "tools/evaluate/Network.hpp"
#include "tools/evaluate/Page.hpp"
#include "tools/evaluate/PictureList.hpp"
#include "tools/evaluate/PictureRuns.hpp"
#include "tools/evaluate/Segmentation.hpp"
#include "tools/evaluate/State.hpp"

#include <tenon/Utils.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

namespace tenon::tools::evaluate
{
namespace
{

namespace fs = std::filesystem;

bool IsFolder(const std::string& path)
{
    std::error_code none;
    return fs::is_directory(path, none);
}

/// Whether the file begins as an object of JSON does.
bool IsJson(const std::string& path)
{
    try
    {
        const std::string start = InputSource(path).ReadStart(InputSource::StartBytes);
        const size_t first = start.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
        return first != std::string::npos && (start[first] == '{' || start[first] == '[');
    }
    catch (const InputError& error)
    {
        throw InputError(fmt::format("ground truth '{}': {}", OneLine(path), error.what()));
    }
}

std::unique_ptr<Task> MakeTask(const Options& options, const Network& network, const PictureList& pictures)
{
    if (IsFolder(options.m_GroundTruth))
    {
        return MakeSegmentation(options, network, pictures);
    }
    std::error_code none;
    if (IsStandardInput(options.m_GroundTruth) ||
        (fs::exists(options.m_GroundTruth, none) && !fs::is_regular_file(options.m_GroundTruth, none)))
    {
        throw UsageError(fmt::format("--ground-truth: '{}' is a stream; name a file", OneLine(options.m_GroundTruth)));
    }
    if (!options.m_GroundTruth.empty() && IsJson(options.m_GroundTruth))
    {
        return MakeDetection(options, network, pictures);
    }
    if (!options.m_Detection.m_File.empty())
    {
        throw UsageError("--write-detections: --ground-truth is no JSON file for detection; leave it out");
    }
    return MakeClassification(options, network, pictures);
}

/// All on which the results of pictures depend.
std::string ChecksumOf(const Options& options, const Network& network, const Task& task)
{
    const std::string inputs = fmt::format("{} {} {} {} {} {} {}", fmt::join(options.m_InputMean, ","),
                                           fmt::join(options.m_InputStd, ","), fmt::join(options.m_Compute, ","),
                                           options.m_Threads, options.m_Fp16, options.m_Bf16, options.m_FastMath);
    const std::string model =
        fmt::format("{} {} {}", options.m_Entry, options.m_Signature, network.Input().m_Info.GetShape().ToString());
    return HashParts({GetVersion(), network.Checksum(), model, inputs, task.Name(), task.DescribeOptions()});
}

/// Refuses files to write that cannot be, before the work of hours.
void CheckFiles(const Options& options, const PictureList& pictures)
{
    std::vector<std::string> written = {options.m_ReportFile, options.m_PageFile, options.m_StateFile,
                                        options.m_Detection.m_File};
    std::erase(written, "");
    std::vector<std::string> read = {options.m_ModelPath, options.m_LabelsFile, options.m_GroundTruth};
    read.insert(read.end(), pictures.Files().begin(), pictures.Files().end());
    if (std::error_code none; fs::is_directory(options.m_GroundTruth, none))
    {
        const std::vector<std::string> masks = ListFolder(options.m_GroundTruth);
        read.insert(read.end(), masks.begin(), masks.end());
    }
    CheckFilePaths(read, written);
}

/// The pictures with faults, the worst first, at most so many.
std::vector<size_t> FindWorst(const Task& task, const Results& results, size_t count)
{
    std::vector<std::pair<double, size_t>> faults;
    for (size_t i = 0; i < results.size(); ++i)
    {
        const double fault = results[i] ? task.FaultOf(i) : 0.0;
        if (fault != 0.0)
        {
            faults.emplace_back(std::isnan(fault) ? std::numeric_limits<double>::infinity() : fault, i);
        }
    }
    std::stable_sort(faults.begin(), faults.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<size_t> worst;
    for (size_t i = 0; i < std::min(count, faults.size()); ++i)
    {
        worst.push_back(faults[i].second);
    }
    return worst;
}

std::string FormatReport(const Options& options, const Task& task, const PictureRuns& runs)
{
    JsonWriter json;
    json.BeginObject();
    json.Member("version", GetVersion());
    json.Member("model", options.m_ModelPath);
    json.Member("task", task.Name());
    json.Member("pictures", task.Files().size());
    json.Member("failed", runs.CountFailures());
    task.WriteFigures(json);
    json.Key("files");
    json.BeginArray();
    for (size_t i = 0; i < task.Files().size(); ++i)
    {
        json.BeginObject(JsonWriter::Layout::Line);
        json.Member("file", task.NameOf(i));
        if (runs.Get()[i])
        {
            task.WritePicture(json, i);
        }
        else
        {
            json.Member("error", runs.Errors()[i]);
        }
        json.EndObject();
    }
    json.EndArray();
    json.EndObject();
    return json.Text() + "\n";
}

std::string DescribeRuns(const Task& task, const PictureRuns& runs, const Options& options)
{
    const size_t count = task.Files().size();
    std::string text =
        fmt::format("{} of {} picture{} in '{}'", task.Name(), count, count == 1 ? "" : "s", OneLine(options.m_Images));
    text += runs.CountFailures() > 0 ? fmt::format(", {} of them failed", runs.CountFailures()) : "";
    text += runs.CountKnown() > 0 ? fmt::format(", {} known from '{}'", runs.CountKnown(), OneLine(options.m_StateFile))
                                  : "";
    return text + "\n";
}

void ThrowIfFailed(const PictureRuns& runs)
{
    if (runs.CountFailures() == 0)
    {
        return;
    }
    const std::string message =
        fmt::format("--images: {} of {} pictures failed", runs.CountFailures(), runs.Get().size());
    if (runs.IsFailureOfInputs())
    {
        throw InputError(message);
    }
    throw RunError(message);
}

} // namespace

void Evaluate(const Options& options)
{
    const PictureList pictures(options.m_Images, options.m_GroundTruth.empty());
    CheckFiles(options, pictures);
    if (pictures.CountOthers() > 0)
    {
        PrintWarning(fmt::format("--images: {} files in '{}' are no pictures by their names and are passed over",
                                 pictures.CountOthers(), OneLine(options.m_Images)));
    }
    Network network(options, pictures.Files());
    const std::unique_ptr<Task> task = MakeTask(options, network, pictures);
    State state(options.m_StateFile, ChecksumOf(options, network, *task), *task);
    PictureRuns runs(*task, network, state, options.m_Limits);
    runs.Run(options.m_Jobs != 0 ? options.m_Jobs : std::max(1U, std::thread::hardware_concurrency()));
    if (runs.CountFailures() == runs.Get().size())
    {
        ThrowIfFailed(runs);
    }
    task->Conclude(runs.Get());
    const std::string report = FormatReport(options, *task, runs);
    const bool isAside = IsStandardOutput(options.m_ReportFile) || IsStandardOutput(options.m_PageFile) ||
                         IsStandardOutput(options.m_Detection.m_File);
    const std::string text = DescribeRuns(*task, runs, options) + task->FormatText();
    if (!options.m_ReportFile.empty())
    {
        WriteFile(options.m_ReportFile, report);
    }
    if (!options.m_PageFile.empty())
    {
        const std::vector<size_t> worst = FindWorst(*task, runs.Get(), options.m_NumWorst);
        WriteFile(options.m_PageFile, FormatPage(report, *task, worst, network));
    }
    isAside ? PrintTextAside(text) : PrintText(text);
    ThrowIfFailed(runs);
}

} // namespace tenon::tools::evaluate
