// SPDX-License-Identifier: Apache-2.0
// See ByteErrors.hpp.
#include "tools/compare/ByteErrors.hpp"

#include "tools/common/Elements.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/Strings.hpp"
#include "tools/compare/ExpectedOutputs.hpp"
#include "tools/compare/TensorDifference.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>

namespace tenon::tools
{
namespace
{

/// Of floats, whose bytes tell little; empty for other types.
std::string FormatLargestDifference(const OutputData& output, const OutputData& expected)
{
    const DataType type = output.m_Info.GetDataType();
    if (!IsFloatType(type) || expected.m_Info.GetDataType() != type)
    {
        return {};
    }
    TensorDifference difference(Measure::Floats);
    difference.AddRun(TensorView(output), TensorView(expected));
    const double largest = difference.LargestReference();
    const uint64_t numOdd = difference.NumOddNonFinite();
    return fmt::format("  largest difference {:.3g}{}{}\n", difference.MaxError(),
                       largest > 0.0 ? fmt::format(", {:.3g} of the largest value", difference.MaxError() / largest)
                                     : "",
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

} // namespace

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
        const std::vector<OutputData> expected =
            ReadExpectedOutputs({files[i]}, {{bindings[i].m_Name, output.m_Info}}, "--compare-output", limits);
        text += FormatComparison(bindings[i].m_Name, output, expected.front(), asArmNN);
    }
    return text;
}

} // namespace tenon::tools
