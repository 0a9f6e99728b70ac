// SPDX-License-Identifier: Apache-2.0
// See ArmNNText.hpp.
#include "tools/execute_network/ArmNNText.hpp"

#include "tools/common/Elements.hpp"
#include "tools/common/Strings.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

namespace tenon::tools
{
namespace
{

/// That of include/tenon/compat/armnn/Version.hpp, which no program but those written for Arm NN may include.
constexpr const char* ArmNNVersion = "35.0.0";

std::string FormatNetworkTensor(const Binding& binding)
{
    const TensorInfo& info = binding.m_Info;
    std::string text = fmt::format("{}, {}, {}", OneLine(binding.m_Name), info.GetShape().ToString(),
                                   GetDataTypeName(info.GetDataType()));
    if (!info.HasQuantization())
    {
        return text + "\n";
    }
    text += fmt::format(" Quantization Offset: {}",
                        info.GetQuantizationOffsets().empty() ? 0 : info.GetQuantizationOffsets().front());
    if (!info.HasMultipleQuantizationScales())
    {
        return text + fmt::format(" Quantization scale: {:g}\n", info.GetQuantizationScale());
    }
    text += " Quantization scales: ";
    for (const float scale : info.GetQuantizationScales())
    {
        text += fmt::format("{:g}, ", scale);
    }
    return text + "\n";
}

} // namespace

std::string FormatArmNNVersion()
{
    return fmt::format("Info: ArmNN v{}\n", ArmNNVersion);
}

std::string FormatArmNNInitialization(double milliseconds)
{
    return fmt::format("Info: Initialization time: {:.2f} ms.\n", milliseconds);
}

std::string FormatArmNNOptimization(double milliseconds)
{
    return fmt::format("Info: Optimization time: {:.2f} ms\n\n", milliseconds);
}

std::string FormatArmNNExecution(double milliseconds)
{
    return fmt::format("Info: Execution time: {:.2f} ms.\n", milliseconds);
}

std::string FormatArmNNInference(double milliseconds, std::optional<float> maxMilliseconds)
{
    std::string text = fmt::format("Info: Inference time: {:.2f} ms\n\n", milliseconds);
    if (maxMilliseconds.value_or(0.0f) > 0.0f)
    {
        const double max = *maxMilliseconds;
        text += fmt::format("Info: Threshold time: {:.2f} ms\nInfo: Threshold time - Inference time: {:.2f} ms\n\n",
                            max, max - milliseconds);
    }
    return text;
}

std::string FormatArmNNShutdown(double milliseconds)
{
    return fmt::format("Info: Shutdown time: {:.2f} ms.\n", milliseconds);
}

std::string FormatArmNNNetwork(const std::vector<Binding>& inputs, const std::vector<Binding>& outputs)
{
    std::string text = "===== Network Info =====\nInputs in order:\n";
    for (const Binding& input : inputs)
    {
        text += FormatNetworkTensor(input);
    }
    text += "Outputs in order:\n";
    for (const Binding& output : outputs)
    {
        text += FormatNetworkTensor(output);
    }
    return text + "\n";
}

std::string FormatArmNNWriting(const Binding& output, size_t iteration, const std::string& file)
{
    return fmt::format("Info: Writing output: {} bindingId: '{}' of iteration: {} to file: '{}'\n",
                       OneLine(output.m_Name), output.m_Id, iteration + 1, OneLine(file));
}

std::string FormatArmNNValues(const std::string& name, const OutputData& output)
{
    const DataType type = output.m_Info.GetDataType();
    std::string text = OneLine(name) + ": ";
    const uint64_t count = output.m_Info.GetShape().GetNumElements64();
    for (size_t i = 0; i < count; ++i)
    {
        if (IsFloatType(type))
        {
            fmt::format_to(std::back_inserter(text), "{:f}", GetElement(type, output.m_Data.Data(), i));
        }
        else
        {
            AppendPlainElement(type, output.m_Data.Data(), i, text);
        }
        text += ' ';
    }
    return text + "\n";
}

std::string NameRootArmNN(std::string profile)
{
    constexpr std::string_view root = "\"Tenon\"";
    const size_t at = profile.find(root); // the first name of all
    return at == std::string::npos ? profile : profile.replace(at, root.size(), "\"ArmNN\"");
}

} // namespace tenon::tools
