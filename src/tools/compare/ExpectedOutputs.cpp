// SPDX-License-Identifier: Apache-2.0
// See ExpectedOutputs.hpp.
#include "tools/compare/ExpectedOutputs.hpp"

#include "tools/common/Errors.hpp"
#include "tools/common/FileInput.hpp"
#include "tools/common/Npz.hpp"
#include "tools/common/Quantize.hpp"
#include "tools/common/Strings.hpp"

#include <fmt/format.h>

#include <utility>

namespace tenon::tools
{
namespace
{

OutputData ReadTensor(InputSource source, const TensorInfo& info, const Limits& limits)
{
    const FileInput input(std::move(source), info, "the output", limits);
    InputData data = input.Load({}, limits);
    return {std::move(data.m_Info), std::move(data.m_Data)};
}

/// Runs a step for a file, whose errors get its name in front.
template <typename Step>
auto AtFile(const char* option, const std::string& file, const std::string& more, Step step)
{
    try
    {
        return step();
    }
    catch (const InputError& error)
    {
        throw InputError(fmt::format("{}: file '{}'{}: {}", option, OneLine(file), more, error.what()));
    }
}

std::string DescribeOutput(const NamedInfo& output)
{
    return fmt::format(" for output '{}', which is {}{}", OneLine(output.m_Name), output.m_Info.ToString(),
                       StandsForReals(output.m_Info) ? " (--dequantize-output makes it Float32)" : "");
}

std::vector<OutputData> ReadArrays(const std::string& file, const std::vector<NamedInfo>& outputs, const char* option,
                                   const Limits& limits)
{
    std::vector<Binding> bindings;
    for (const NamedInfo& output : outputs)
    {
        bindings.push_back({output.m_Name, 0, output.m_Info});
    }
    std::vector<OutputData> tensors;
    AtFile(option, file, "",
           [&]
           {
               const NpzFile npz(InputSource(file, limits.m_MaxFileBytes), limits);
               const std::vector<std::string> names = ChooseArrays(npz.GetNames(), bindings, "output");
               for (size_t i = 0; i < outputs.size(); ++i)
               {
                   tensors.push_back(ReadTensor(npz.Open(names[i]), outputs[i].m_Info, limits));
               }
           });
    return tensors;
}

} // namespace

std::vector<OutputData> ReadExpectedOutputs(const std::vector<std::string>& files,
                                            const std::vector<NamedInfo>& outputs, const char* option,
                                            const Limits& limits)
{
    if (files.size() == 1 && IsNpz(files.front(), ""))
    {
        return ReadArrays(files.front(), outputs, option, limits);
    }
    if (files.size() != outputs.size())
    {
        throw UsageError(fmt::format("{}: {} file(s) are given for {} output(s); --output-name chooses outputs", option,
                                     files.size(), outputs.size()));
    }
    std::vector<OutputData> tensors;
    for (size_t i = 0; i < files.size(); ++i)
    {
        tensors.push_back(AtFile(option, files[i], DescribeOutput(outputs[i]),
                                 [&]
                                 {
                                     const TensorInfo& info = outputs[i].m_Info;
                                     return ReadTensor(FileInput::Open(files[i], info, limits, false), info, limits);
                                 }));
    }
    return tensors;
}

} // namespace tenon::tools
