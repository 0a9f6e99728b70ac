// SPDX-License-Identifier: Apache-2.0
// See Outputs.hpp.
#include "cli/Outputs.hpp"

#include "cli/ArmNNText.hpp"
#include "cli/Elements.hpp"
#include "cli/Errors.hpp"
#include "cli/File.hpp"
#include "cli/FileInput.hpp"
#include "cli/Npy.hpp"
#include "cli/Quantize.hpp"
#include "cli/Strings.hpp"
#include "cli/TensorMemory.hpp"
#include "cli/TextFile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <new>
#include <utility>

namespace tenon::cli
{
namespace
{

constexpr const char* InputsAndOutputs = "inputs and outputs";

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
        InputData data = FileInput(file, output, "the output", limits).Load({}, limits);
        return {std::move(data.m_Info), std::move(data.m_Data)};
    }
    catch (const InputError& error)
    {
        throw InputError(fmt::format("--compare-output: file '{}' for output '{}', which is {}: {}", OneLine(file),
                                     OneLine(name), output.ToString(), error.what()));
    }
}

} // namespace

OutputStore::OutputStore(const std::vector<Binding>& outputs, uint64_t inputBytes, const Limits& limits)
    : m_Bytes(inputBytes), m_Limits(limits)
{
    for (const Binding& output : outputs)
    {
        m_Names[output.m_Id] = output.m_Name;
    }
}

void OutputStore::CheckBytes(const IRuntime& runtime, NetworkId network) const
{
    uint64_t bytes = m_Bytes;
    for (const auto& [id, name] : m_Names)
    {
        const TensorInfo info = runtime.GetOutputTensorInfo(network, id);
        bytes += info.GetShape().AreAllDimensionsSpecified() ? info.GetNumBytes() : 0;
    }
    CheckTotalBytes(InputsAndOutputs, bytes, m_Limits);
}

OutputAllocator OutputStore::GetAllocator()
{
    return [this](LayerBindingId id, const TensorInfo& info) { return Allocate(id, info); };
}

void* OutputStore::Allocate(OutputData& output, LayerBindingId id, const TensorInfo& info)
{
    const size_t bytes = info.GetNumBytes();
    if (output.m_Data.Data() == nullptr || output.m_Data.Size() < bytes)
    {
        m_Bytes -= output.m_Data.Size();
        output.m_Data = {}; // the old memory is free before the new one is taken
        CheckTotalBytes(InputsAndOutputs, m_Bytes + bytes, m_Limits);
        try
        {
            output.m_Data = Buffer(bytes);
        }
        catch (const std::bad_alloc&)
        {
            throw RunError(fmt::format("output '{}': {}", OneLine(m_Names[id]), DescribeLackOfMemory(info)));
        }
        m_Bytes += bytes;
    }
    output.m_Info = info;
    return output.m_Data.Data();
}

void OutputStore::Dequantize()
{
    for (const auto& [id, output] : m_Outputs)
    {
        if (StandsForReals(output.m_Info))
        {
            void* const floats = Allocate(m_Dequantized[id], id, AsFloat32(output.m_Info));
            DequantizeToFloats(output.m_Data.Data(), output.m_Info, static_cast<std::byte*>(floats));
        }
    }
}

const OutputData& OutputStore::Get(LayerBindingId id) const
{
    if (const auto real = m_Dequantized.find(id); real != m_Dequantized.end())
    {
        return real->second;
    }
    const auto found = m_Outputs.find(id);
    if (found == m_Outputs.end())
    {
        throw RunError(fmt::format("the run gave no output of binding id {}", id));
    }
    return found->second;
}

std::string FormatValues(const OutputData& output, size_t maxElements)
{
    const uint64_t count = output.m_Info.GetShape().GetNumElements64();
    std::string text;
    for (size_t i = 0; i < std::min<uint64_t>(count, maxElements); ++i)
    {
        text += i > 0 ? " " : "";
        AppendElement(output.m_Info.GetDataType(), output.m_Data.Data(), i, text);
    }
    if (count == 0)
    {
        return "(no values)";
    }
    if (count > maxElements)
    {
        text += fmt::format(" … ({} values)", count);
    }
    return text;
}

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

std::string DescribeOutputKinds(const Options& options)
{
    const auto isUnclear = [](const std::string& file)
    {
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

} // namespace tenon::cli
