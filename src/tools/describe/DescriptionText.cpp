// SPDX-License-Identifier: Apache-2.0
// See DescriptionText.hpp.
#include "tools/describe/DescriptionText.hpp"

#include "tools/common/Elements.hpp"
#include "tools/common/Strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace tenon::tools
{
namespace
{

/// Characters of a text from the file that are shown.
constexpr size_t MaxTextCharacters = 160;

/// Cells of numbers, aligned to the right below a title that is, too.
void AlignRight(TextRows& rows, size_t column)
{
    size_t width = 0;
    for (const auto& row : rows)
    {
        width = std::max(width, row[column].size());
    }
    for (auto& row : rows)
    {
        row[column].insert(0, width - row[column].size(), ' ');
    }
}

std::string NameModel(const ModelDescription& model)
{
    return OneLine(model.m_Path + (model.m_Entry.empty() ? "" : ", " + model.m_Entry));
}

std::string FormatVerdict(const ModelDescription& model, size_t maxReason = std::string::npos)
{
    if (model.m_Verdict != Verdict::Runs)
    {
        return "no: " + Printable(model.m_Reason, maxReason);
    }
    return model.m_GivenSizes.empty() ? "yes"
                                      : OneLine(fmt::format("yes, with sizes for {}", QuotedList(model.m_GivenSizes)));
}

/// "-" where nothing is known, and "+" behind a sum without some layers.
std::string FormatMacs(const WorkSum& work, uint64_t numLayers)
{
    if (work.m_NumWithoutMacs == numLayers && numLayers > 0)
    {
        return "-";
    }
    return FormatLarge(work.m_Macs) + (work.m_NumWithoutMacs > 0 ? "+" : "");
}

/// "Float32", or "Float32 12, Signed32 3"
std::string FormatTypes(const OperatorSummary& summary)
{
    if (summary.m_OutputTypes.size() == 1)
    {
        return summary.m_OutputTypes.begin()->first;
    }
    std::string text;
    for (const auto& [type, count] : summary.m_OutputTypes)
    {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", type, count);
    }
    return text.empty() ? "-" : text;
}

/// "[batch,8,8,1]", with the names that the model has for open sizes.
std::string FormatShape(const Binding& binding)
{
    const TensorShape& shape = binding.m_Info.GetShape();
    if (shape.GetDimensionality() == Dimensionality::NotSpecified || binding.m_DimensionNames.empty())
    {
        return shape.ToString();
    }
    std::vector<std::string> sizes;
    for (unsigned int d = 0; d < shape.GetNumDimensions(); ++d)
    {
        sizes.push_back(shape.GetDimensionSpecificity(d) ? std::to_string(shape[d])
                                                         : OneLine(binding.m_DimensionNames[d]));
    }
    return fmt::format("[{}]", fmt::join(sizes, ","));
}

/// "Float32 [1,224,224,3]", with the quantization in words of TensorInfo::ToString().
std::string FormatInfo(const Binding& binding)
{
    TensorInfo info = binding.m_Info;
    info.SetConstant(false);
    std::string text = info.ToString();
    const std::string shape = info.GetShape().ToString();
    return text.replace(text.find(shape), shape.size(), FormatShape(binding));
}

std::string FormatBinding(const Binding& binding)
{
    std::string text = fmt::format("  '{}' {}\n", OneLine(binding.m_Name), FormatInfo(binding));
    if (!binding.m_Description.empty())
    {
        text += fmt::format("    {}\n", Printable(OneLine(binding.m_Description), MaxTextCharacters));
    }
    const Normalisation& pictures = binding.m_Normalisation;
    if (!pictures.m_Mean.empty() || !pictures.m_Std.empty())
    {
        const std::string formula = DescribeNormalisation(pictures);
        text += IsFloatType(binding.m_Info.GetDataType())
                    ? fmt::format("    pictures: {}, the default of --input-mean and --input-std\n", formula)
                    : fmt::format("    pictures: bytes, which stand for {}\n", formula);
    }
    if (!binding.m_Labels.empty())
    {
        constexpr size_t maxLabels = 5;
        const size_t numShown = std::min(binding.m_Labels.size(), maxLabels);
        const std::vector<std::string> first(binding.m_Labels.begin(),
                                             binding.m_Labels.begin() + static_cast<std::ptrdiff_t>(numShown));
        text += fmt::format("    {} labels: {}{}, the default of --labels\n", binding.m_Labels.size(),
                            Printable(OneLine(fmt::format("{}", fmt::join(first, ", "))), MaxTextCharacters),
                            numShown < binding.m_Labels.size() ? ", ..." : "");
    }
    return text;
}

std::string FormatBindings(const char* title, const std::vector<Binding>& bindings)
{
    std::string text = bindings.empty() ? "" : fmt::format("{}\n", title);
    for (const Binding& binding : bindings)
    {
        text += FormatBinding(binding);
    }
    return text;
}

std::string FormatParameters(const NetworkSummary& network)
{
    const Parameters sum = network.SumParameters();
    std::string types;
    for (const auto& [type, parameters] : network.m_Parameters)
    {
        types += fmt::format("{}{} {}", types.empty() ? ": " : ", ", GetDataTypeName(type),
                             FormatLarge(parameters.m_Elements));
    }
    return fmt::format("parameters {} in {} tensors, {}{}\n", FormatLarge(sum.m_Elements), sum.m_Tensors,
                       FormatBytes(sum.m_Bytes), types);
}

std::string FormatWork(const ModelDescription& model)
{
    const NetworkSummary& network = *model.m_Network;
    const WorkSum work = network.SumWork();
    const uint64_t numLayers = network.CountLayers();
    std::string text = fmt::format("multiply-accumulates {}", FormatMacs(work, numLayers));
    if (work.m_NumWithoutOperations < numLayers)
    {
        text += fmt::format(", other operations {}{}", FormatLarge(work.m_Operations),
                            work.m_NumWithoutOperations > 0 ? "+" : "");
    }
    if (!model.m_AssumedDimensions.empty())
    {
        text += fmt::format(", where {} is 1", OneLine(QuotedList(model.m_AssumedDimensions)));
    }
    return text + "\n";
}

std::string FormatMemory(const ModelDescription& model)
{
    return fmt::format("memory: weights {}{}\n", FormatBytes(model.m_Network->SumParameters().m_Bytes),
                       model.m_ArenaBytes ? ", arena " + FormatBytes(*model.m_ArenaBytes) : "");
}

/// The bar of each operator is its share of the multiply-accumulates, or of the parameters where there are none.
std::string FormatOperators(const NetworkSummary& network, size_t width)
{
    const WorkSum work = network.SumWork();
    const bool isOfMacs = work.m_Macs > 0;
    const uint64_t all = isOfMacs ? work.m_Macs : network.SumParameters().m_Elements;
    TextRows rows = {{"operator", "count", "types", "parameters", "MACs", ""}};
    std::vector<double> shares;
    for (const OperatorSummary& summary : network.m_Operators)
    {
        const uint64_t part = isOfMacs ? summary.m_Work.m_Macs : summary.m_Parameters.m_Elements;
        shares.push_back(static_cast<double>(part) / static_cast<double>(std::max<uint64_t>(all, 1)));
        rows.push_back({NameCell(summary.m_Type), std::to_string(summary.m_Count), FormatTypes(summary),
                        FormatLarge(summary.m_Parameters.m_Elements), FormatMacs(summary.m_Work, summary.m_Count), ""});
    }
    for (const size_t column : {1U, 3U, 4U})
    {
        AlignRight(rows, column);
    }
    if (all == 0)
    {
        return FormatRows(rows);
    }
    size_t used = 0;
    for (size_t column = 0; column + 1 < rows.front().size(); ++column)
    {
        size_t widest = 0;
        for (const auto& row : rows)
        {
            widest = std::max(widest, row[column].size());
        }
        used += widest + 2;
    }
    constexpr std::string_view percentage = "100.0% ";
    constexpr size_t minBar = 8;
    constexpr size_t maxBar = 40;
    used += percentage.size();
    const size_t bar = used + minBar > width ? 0 : std::min(maxBar, width - used);
    rows.front().back() = isOfMacs ? "share of MACs" : "share of parameters";
    for (size_t i = 0; i < shares.size(); ++i)
    {
        const auto length = static_cast<size_t>(shares[i] * static_cast<double>(bar) + 0.5);
        rows[i + 1].back() = fmt::format("{:5.1f}% {}", shares[i] * 100.0, std::string(length, '#'));
    }
    return FormatRows(rows);
}

std::string FormatSupport(const ModelDescription& model)
{
    if (model.m_Verdict == Verdict::Runs)
    {
        return fmt::format("can run: {}: {} layers after optimization, {}\n", FormatVerdict(model),
                           model.m_Layers.value_or(0), FormatCounts(model.m_Backends));
    }
    std::string text = "can run: no, these are not supported:\n";
    for (const std::string& line : model.m_Unsupported)
    {
        text += fmt::format("  {}\n", line);
    }
    return text;
}

/// Smaller numbers are written with all of their digits.
constexpr uint64_t ExactBelow = 10'000;

/// The number in the largest unit in which it is 1 or more, with three digits or so.
std::string FormatScaled(uint64_t number, double step, const std::array<const char*, 7>& units)
{
    auto value = static_cast<double>(number);
    size_t unit = 0;
    while (value >= step - 0.05 && unit + 1 < units.size())
    {
        value /= step;
        ++unit;
    }
    return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : 1, units[unit]);
}

} // namespace

std::string FormatLarge(uint64_t number)
{
    return number < ExactBelow ? std::to_string(number)
                               : FormatScaled(number, 1000.0, {"", "k", "M", "G", "T", "P", "E"});
}

std::string FormatBytes(uint64_t bytes)
{
    return bytes < ExactBelow ? fmt::format("{} bytes", bytes)
                              : FormatScaled(bytes, 1024.0, {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"});
}

std::string FormatDescription(const ModelDescription& model, size_t width)
{
    std::string text =
        fmt::format("model '{}': {}, {}\n", NameModel(model), model.m_Format, FormatBytes(model.m_FileBytes));
    for (const auto& [name, content] : model.m_Texts)
    {
        text += fmt::format("  {}: {}\n", NameCell(name), Printable(OneLine(content), MaxTextCharacters));
    }
    text += FormatBindings("inputs", model.m_Inputs) + FormatBindings("outputs", model.m_Outputs);
    if (!model.m_Signatures.empty())
    {
        text += fmt::format("signatures {}\n", OneLine(QuoteSome(model.m_Signatures)));
    }
    if (model.m_NumSubgraphs > 1)
    {
        text += fmt::format("subgraphs {}\n", model.m_NumSubgraphs);
    }
    if (model.m_Network)
    {
        text += fmt::format("layers {}{}\n", model.m_Network->CountLayers(),
                            model.m_NumNestedLayers > 0
                                ? fmt::format(", and {} in the networks of If and While layers, which are not counted "
                                              "in what follows",
                                              model.m_NumNestedLayers)
                                : "");
        text += FormatParameters(*model.m_Network) + FormatWork(model) + FormatMemory(model);
    }
    text += FormatSupport(model);
    if (model.m_Network && !model.m_Network->m_Operators.empty())
    {
        text += "\n" + FormatOperators(*model.m_Network, width);
    }
    return text;
}

std::string FormatDescriptionTable(const std::vector<ModelDescription>& models)
{
    constexpr size_t maxReason = 100; // the description of the model alone has the rest
    TextRows rows = {{"model", "format", "inputs", "layers", "parameters", "MACs", "can run"}};
    for (const ModelDescription& model : models)
    {
        std::string inputs = "-";
        if (!model.m_Inputs.empty())
        {
            const Binding& first = model.m_Inputs.front();
            inputs = fmt::format("{} {}", GetDataTypeName(first.m_Info.GetDataType()), FormatShape(first));
            inputs += model.m_Inputs.size() > 1 ? fmt::format(" +{}", model.m_Inputs.size() - 1) : "";
        }
        const std::optional<NetworkSummary>& network = model.m_Network;
        rows.push_back(
            {NameModel(model), model.m_Format, inputs, network ? std::to_string(network->CountLayers()) : "-",
             network ? FormatLarge(network->SumParameters().m_Elements) : "-",
             network ? FormatMacs(network->SumWork(), network->CountLayers()) : "-", FormatVerdict(model, maxReason)});
    }
    for (const size_t column : {3U, 4U, 5U})
    {
        AlignRight(rows, column);
    }
    return FormatRows(rows);
}

std::string FormatCanRunTable(const std::vector<ModelDescription>& models)
{
    TextRows rows = {{"model", "format", "layers", "backends", "can run"}};
    for (const ModelDescription& model : models)
    {
        rows.push_back({NameModel(model), model.m_Format, model.m_Layers ? std::to_string(*model.m_Layers) : "-",
                        model.m_Backends.empty() ? "-" : FormatCounts(model.m_Backends), FormatVerdict(model)});
    }
    return FormatRows(rows);
}

} // namespace tenon::tools
