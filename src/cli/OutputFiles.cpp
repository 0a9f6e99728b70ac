// SPDX-License-Identifier: Apache-2.0
// See OutputFiles.hpp.
#include "cli/OutputFiles.hpp"

#include "cli/ArmNNText.hpp"
#include "cli/Errors.hpp"
#include "cli/Npy.hpp"
#include "cli/Strings.hpp"
#include "cli/TextFile.hpp"

#include <fmt/format.h>

namespace tenon::cli
{
namespace
{

/// By the file's name: .npy or text.
bool IsTextFile(const Options& options, const std::string& file)
{
    return options.m_ArmNNOutput ? !EndsWithNoCase(file, ".npy") : EndsWithNoCase(file, ".txt");
}

} // namespace

void CheckOutputFiles(const Options& options, size_t numOutputs)
{
    const size_t numFiles = options.m_OutputFiles.size();
    const bool isWholeSets = numOutputs != 0 && numFiles % numOutputs == 0;
    if (numFiles != 0 && (!isWholeSets || numFiles / numOutputs > options.m_Iterations))
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

std::string WriteOutputFiles(const Options& options, const std::vector<Binding>& bindings, const OutputStore& outputs,
                             unsigned int iteration)
{
    const size_t numSets = bindings.empty() ? 0 : options.m_OutputFiles.size() / bindings.size();
    std::string text;
    if (numSets == 0 || iteration + numSets < options.m_Iterations)
    {
        return text;
    }
    for (size_t i = 0; i < bindings.size(); ++i)
    {
        const OutputData& output = outputs.Get(bindings[i].m_Id);
        const std::string& file = options.m_OutputFiles[iteration % numSets * bindings.size() + i];
        IsTextFile(options, file) ? WriteTextTensor(file, bindings[i].m_Name, output.m_Info, output.m_Data.Data())
                                  : WriteNpy(file, output.m_Info, output.m_Data.Data());
        if (options.m_ArmNNOutput)
        {
            text += FormatArmNNWriting(bindings[i], iteration, file);
        }
    }
    return text;
}

} // namespace tenon::cli
