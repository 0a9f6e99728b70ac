// SPDX-License-Identifier: Apache-2.0
// See Outputs.hpp.
#include "tools/execute_network/Outputs.hpp"

#include "tools/common/Errors.hpp"
#include "tools/common/File.hpp"
#include "tools/common/Npy.hpp"
#include "tools/common/Strings.hpp"
#include "tools/common/TextFile.hpp"
#include "tools/execute_network/ArmNNText.hpp"
#include "tools/execute_network/FileSeries.hpp"

#include <fmt/format.h>

#include <algorithm>
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

} // namespace tenon::tools
