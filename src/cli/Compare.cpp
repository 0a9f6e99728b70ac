// SPDX-License-Identifier: Apache-2.0
// See Compare.hpp.
#include "cli/Compare.hpp"

#include "cli/Errors.hpp"
#include "cli/FileInput.hpp"
#include "cli/Strings.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <utility>

namespace tenon::cli
{
namespace
{

std::string FormatByteError(const std::string& name, const OutputData& output, const OutputData& expected)
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
                       bytes == 0 ? 0.0 : std::sqrt(sum / static_cast<double>(bytes)));
}

/// With the shape and type of `output`.
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

std::string FormatByteErrors(const std::vector<Binding>& bindings, const OutputStore& outputs,
                             const OutputStore& others)
{
    std::string text;
    for (const Binding& binding : bindings)
    {
        text += FormatByteError(binding.m_Name, outputs.Get(binding.m_Id), others.Get(binding.m_Id));
    }
    return text;
}

std::string CompareWithFiles(const std::vector<Binding>& bindings, const OutputStore& outputs,
                             const std::vector<std::string>& files, const Limits& limits)
{
    std::string text;
    for (size_t i = 0; i < files.size(); ++i)
    {
        const OutputData& output = outputs.Get(bindings[i].m_Id);
        text += FormatByteError(bindings[i].m_Name, output,
                                ReadExpected(files[i], bindings[i].m_Name, output.m_Info, limits));
    }
    return text;
}

} // namespace tenon::cli
