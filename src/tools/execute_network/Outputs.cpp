// SPDX-License-Identifier: Apache-2.0
// See Outputs.hpp.
#include "tools/execute_network/Outputs.hpp"

#include "tools/common/Elements.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/File.hpp"
#include "tools/common/FileInput.hpp"
#include "tools/common/Npy.hpp"
#include "tools/common/Quantize.hpp"
#include "tools/common/Strings.hpp"
#include "tools/common/TextFile.hpp"
#include "tools/execute_network/ArmNNText.hpp"
#include "tools/execute_network/FileSeries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <utility>

namespace tenon::tools
{
namespace
{

/// Whether a file of --write-outputs-to-file gets text; .npy otherwise. Its name decides.
bool IsTextFile(const Options& options, const std::string& file)
{
    return options.m_ArmNNOutput ? !EndsWithNoCase(file, ".npy") : EndsWithNoCase(file, ".txt");
}

/// Of floats, whose bytes tell little; empty for other types.
std::string FormatLargestDifference(const OutputData& output, const OutputData& expected)
{
    const DataType type = output.m_Info.GetDataType();
    if (!IsFloatType(type) || expected.m_Info.GetDataType() != type)
    {
        return {};
    }
    double difference = 0.0;
    double largest = 0.0;
    size_t numOdd = 0;
    for (size_t i = 0; i < output.m_Info.GetNumElements(); ++i)
    {
        const double a = GetElement(type, output.m_Data.Data(), i);
        const double b = GetElement(type, expected.m_Data.Data(), i);
        if (std::isfinite(a) && std::isfinite(b))
        {
            difference = std::max(difference, std::fabs(a - b));
            largest = std::max(largest, std::fabs(b));
        }
        else if (a != b && !(std::isnan(a) && std::isnan(b)))
        {
            ++numOdd;
        }
    }
    return fmt::format("  largest difference {:.3g}{}{}\n", difference,
                       largest > 0.0 ? fmt::format(", {:.3g} of the largest value", difference / largest) : "",
                       numOdd > 0 ? fmt::format("; {} of the elements are NaN or infinite in one alone", numOdd) : "");
}

std::string FormatComparison(const std::string& name, const OutputData& output, const OutputData& expected,
                             bool asArmNN)
{
    const size_t bytes = output.m_Info.GetNumBytes();
    if (expected.m_Info.GetNumBytes() != bytes)
    {
        throw RunError(fmt::format("output '{}' has {} on one backend and {} on another, so they cannot be compared",
                                   OneLine(name), output.m_Info.ToString(), expected.m_Info.ToString()));
    }
    double sum = 0.0;
    for (size_t i = 0; i < bytes; ++i)
    {
        const int difference =
            std::to_integer<int>(output.m_Data.Data()[i]) - std::to_integer<int>(expected.m_Data.Data()[i]);
        sum += difference * difference;
    }
    return fmt::format("Byte level root mean square error: {:g}\n",
                       bytes == 0 ? 0.0 : std::sqrt(sum / static_cast<double>(bytes))) +
           (asArmNN ? std::string() : FormatLargestDifference(output, expected));
}

/// The tensor in a file, with the shape and type of `output`.
OutputData ReadExpected(const std::string& file, const std::string& name, const TensorInfo& output,
                        const Limits& limits)
{
    try
    {
        const FileInput input(FileInput::Open(file, output, limits, false), output, "the output", limits);
        InputData data = input.Load({}, limits);
        return {std::move(data.m_Info), std::move(data.m_Data)};
    }
    catch (const InputError& error)
    {
        throw InputError(fmt::format("--compare-output: file '{}' for output '{}', which is {}: {}", OneLine(file),
                                     OneLine(name), output.ToString(), error.what()));
    }
}

} // namespace

void CheckOutputFiles(const Options& options, size_t numOutputs)
{
    const size_t numFiles = options.m_OutputFiles.size();
    const bool isWholeSets = numOutputs != 0 && numFiles % numOutputs == 0;
    if (numFiles != 0 && !HasFileSeries(options) && (!isWholeSets || numFiles / numOutputs > options.m_Iterations))
    {
        throw UsageError(
            fmt::format("--write-outputs-to-file: {} file(s) are given for {} output(s){}", numFiles, numOutputs,
                        options.m_Iterations > 1
                            ? fmt::format("; {} iterations write one set of as many files, or several sets in turn",
                                          options.m_Iterations)
                            : ""));
    }
    const size_t numCompared = options.m_CompareFiles.size();
    if (numCompared != 0 && numCompared != numOutputs)
    {
        throw UsageError(fmt::format("--compare-output: {} file(s) are given for {} output(s); --output-name chooses "
                                     "outputs",
                                     numCompared, numOutputs));
    }
}

std::string DescribeOutputKinds(const Options& options)
{
    const bool isSeries = HasFileSeries(options);
    const auto isUnclear = [&](const std::string& file)
    {
        if (isSeries && file.find('*') == std::string::npos) // a folder
        {
            return false;
        }
        std::error_code error; // a file that is not there yet is none
        const bool isStream = IsStandardOutput(file) ||
                              (std::filesystem::exists(file, error) && !std::filesystem::is_regular_file(file, error));
        return !isStream && !EndsWithNoCase(file, ".npy") && !EndsWithNoCase(file, ".txt");
    };
    const auto found = std::find_if(options.m_OutputFiles.begin(), options.m_OutputFiles.end(), isUnclear);
    if (options.m_ArmNNOutput || found == options.m_OutputFiles.end())
    {
        return {};
    }
    const bool isReadAsRaw = EndsWithNoCase(*found, ".bin") || EndsWithNoCase(*found, ".raw");
    return fmt::format("--write-outputs-to-file: '{}' gets the .npy format{}; name it .txt for text in Arm NN's form, "
                       "or .npy",
                       OneLine(*found), isReadAsRaw ? ", though a file of that name is read as raw bytes" : "");
}

std::vector<std::string> GetOutputFiles(const Options& options, size_t numOutputs, unsigned int iteration)
{
    const size_t numSets = numOutputs == 0 ? 0 : options.m_OutputFiles.size() / numOutputs;
    if (numSets == 0 || iteration + numSets < options.m_Iterations)
    {
        return {};
    }
    const auto first = options.m_OutputFiles.begin() + static_cast<std::ptrdiff_t>(iteration % numSets * numOutputs);
    return {first, first + static_cast<std::ptrdiff_t>(numOutputs)};
}

std::string WriteOutputFiles(const Options& options, const std::vector<Binding>& bindings, const OutputStore& outputs,
                             const std::vector<std::string>& files, size_t iteration)
{
    std::string text;
    for (size_t i = 0; i < files.size(); ++i)
    {
        const OutputData& output = outputs.Get(bindings[i].m_Id);
        IsTextFile(options, files[i])
            ? WriteTextTensor(files[i], bindings[i].m_Name, output.m_Info, output.m_Data.Data())
            : WriteNpy(files[i], output.m_Info, output.m_Data.Data());
        if (options.m_ArmNNOutput)
        {
            text += FormatArmNNWriting(bindings[i], iteration, files[i]);
        }
    }
    return text;
}

std::string CompareWithOthers(const std::vector<Binding>& bindings, const OutputStore& outputs,
                              const OutputStore& others, bool asArmNN)
{
    std::string text;
    for (const Binding& binding : bindings)
    {
        text += FormatComparison(binding.m_Name, outputs.Get(binding.m_Id), others.Get(binding.m_Id), asArmNN);
    }
    return text;
}

std::string CompareWithFiles(const std::vector<Binding>& bindings, const OutputStore& outputs,
                             const std::vector<std::string>& files, const Limits& limits, bool asArmNN)
{
    std::string text;
    for (size_t i = 0; i < files.size(); ++i)
    {
        const OutputData& output = outputs.Get(bindings[i].m_Id);
        text += FormatComparison(bindings[i].m_Name, output,
                                 ReadExpected(files[i], bindings[i].m_Name, output.m_Info, limits), asArmNN);
    }
    return text;
}

} // namespace tenon::tools
