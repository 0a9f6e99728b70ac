// SPDX-License-Identifier: Apache-2.0
// See LayerComparison.hpp: the text.
#include "tools/common/Strings.hpp"
#include "tools/compare/LayerComparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tenon::tools
{
namespace
{

/// Half of the spacing of Float32 around 1: smaller relative errors are as good as none.
constexpr double MinGrowing = 0x1p-24;

/// Two signs for each power of ten of a relative error above 1e-8, which is below rounding to Float32.
std::string FormatBar(double relative)
{
    constexpr double maxSigns = 16.0;
    const double signs = relative > 0.0 ? std::round(maxSigns + 2.0 * std::log10(relative)) : 0.0;
    return std::string(static_cast<size_t>(std::clamp(signs, relative > 0.0 ? 1.0 : 0.0, maxSigns)), '#');
}

std::string NameOutput(const ComparedLayer& layer)
{
    const std::string name = layer.m_Name.empty() ? "(no name)" : NameCell(layer.m_Name);
    return layer.m_Output > 0 ? fmt::format("{}:{}", name, layer.m_Output) : name;
}

std::string NameBackends(const ComparedLayer& layer)
{
    const auto name = [](const std::string& backend) { return backend.empty() ? "-" : backend; };
    return name(layer.m_Backend) + " / " + name(layer.m_ReferenceBackend);
}

std::string DescribeLayer(const ComparedLayer& layer)
{
    return fmt::format("'{}' ({}, {})", NameOutput(layer), layer.m_Type, NameBackends(layer));
}

template <typename Predicate>
std::optional<size_t> FindCompared(const std::vector<ComparedLayer>& layers, Predicate predicate)
{
    const auto found = std::find_if(layers.begin(), layers.end(),
                                    [&](const ComparedLayer& layer)
                                    { return layer.m_Difference.has_value() && predicate(*layer.m_Difference); });
    return found == layers.end() ? std::nullopt : std::optional(static_cast<size_t>(found - layers.begin()));
}

std::vector<std::string> MakeRow(const ComparedLayer& layer)
{
    std::vector<std::string> row = {NameOutput(layer), layer.m_Type, NameBackends(layer)};
    std::string remark = layer.m_WhyNot.empty() ? "" : "not compared: " + OneLine(layer.m_WhyNot);
    if (!layer.m_Fusion.empty())
    {
        remark += (remark.empty() ? "" : "; ") + OneLine(layer.m_Fusion);
    }
    if (!layer.m_Difference)
    {
        row.insert(row.end(), {"", "", "", "", remark});
        return row;
    }
    const TensorDifference& difference = *layer.m_Difference;
    const std::optional<double> relative = difference.RelativeRmsError();
    const uint64_t numOdd = difference.NumOddNonFinite();
    row.push_back(fmt::format("{:.3g}", difference.MaxError()));
    row.push_back(fmt::format("{:.3g}", difference.RmsError()));
    row.push_back(relative ? fmt::format("{:.2g}", *relative) : "-");
    row.push_back(FormatBar(relative.value_or(1.0)));
    row.push_back(numOdd > 0 ? fmt::format("{} NaN or infinite in one alone {}", numOdd, remark) : remark);
    return row;
}

/// The layer whose relative error is the largest multiple of any before it; empty if none is ten times as large.
/// Quantized outputs that exist only here may have the range of the activation behind them, and so a large error.
std::string DescribeLargestGrowth(const std::vector<ComparedLayer>& layers)
{
    constexpr double minGrowth = 10.0;
    double before = MinGrowing;
    double growth = minGrowth;
    std::string text;
    for (const ComparedLayer& layer : layers)
    {
        const bool isCompared = layer.m_Difference && !layer.m_IsInner;
        const double relative = isCompared ? layer.m_Difference->RelativeRmsError().value_or(0.0) : 0.0;
        if (relative / before >= growth)
        {
            growth = relative / before;
            text = fmt::format("largest growth of the relative error: at {}, from {}{:.2g} to {:.2g}\n",
                               DescribeLayer(layer), before == MinGrowing ? "below " : "", before, relative);
        }
        before = std::max(before, relative);
    }
    return text;
}

} // namespace

std::optional<size_t> FindFirstDifference(const std::vector<ComparedLayer>& layers)
{
    return FindCompared(layers, [](const TensorDifference& difference) { return difference.NumDifferent() > 0; });
}

std::optional<size_t> FindFirstOutOfTolerance(const std::vector<ComparedLayer>& layers)
{
    return FindCompared(layers, [](const TensorDifference& difference) { return difference.NumOutOfTolerance() > 0; });
}

std::string FormatLayers(const std::vector<ComparedLayer>& layers, bool hasTolerance)
{
    const auto isCompared = [](const ComparedLayer& layer) { return layer.m_Difference.has_value(); };
    if (std::none_of(layers.begin(), layers.end(), isCompared))
    {
        return "layers: none is compared, because no layer of one network has the name of one of the other\n";
    }
    TextRows rows = {{"layer", "type", "backends", "max error", "RMS", "relative", "1e-8 .. 1", ""}};
    for (const ComparedLayer& layer : layers)
    {
        rows.push_back(MakeRow(layer));
    }
    const auto name = [&](const std::optional<size_t>& index)
    { return index ? DescribeLayer(layers[*index]) : std::string("none"); };
    std::string text = FormatRows(rows);
    text += fmt::format("first layer that differs: {}\n", name(FindFirstDifference(layers)));
    if (hasTolerance)
    {
        text += fmt::format("first layer out of the tolerance: {}\n", name(FindFirstOutOfTolerance(layers)));
    }
    return text + DescribeLargestGrowth(layers);
}

} // namespace tenon::tools
