// SPDX-License-Identifier: Apache-2.0
// See Comparison.hpp: the collection, and the text.
#include "tools/compare/Comparison.hpp"

#include "tools/common/Errors.hpp"
#include "tools/common/Statistics.hpp"
#include "tools/common/Strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tenon::tools
{
namespace
{

std::string FormatLatency(const char* which, const std::vector<double>& ms)
{
    const std::optional<Statistics> statistics = ComputeStatistics(ms);
    constexpr double usPerMs = 1000.0;
    return statistics ? fmt::format("{} run latency: avg={:g}(us), std_dev={:g}(us)\n", which,
                                    statistics->m_Mean * usPerMs, statistics->m_Std * usPerMs)
                      : "";
}

/// The lines of inference_diff.
std::string FormatSummary(const Comparison& comparison)
{
    std::string text = fmt::format("Num evaluation runs: {}\n", comparison.m_NumRuns) +
                       FormatLatency("Reference", comparison.m_ReferenceMs) +
                       FormatLatency("Test", comparison.m_TestedMs);
    for (size_t i = 0; i < comparison.m_Outputs.size(); ++i)
    {
        const Statistics errors =
            ComputeStatistics(comparison.m_Outputs[i].m_Difference.MeanErrorsOfRuns()).value_or(Statistics());
        text += fmt::format("OutputDiff[{}]: avg_error={:g}, std_dev={:g}\n", i, errors.m_Mean, errors.m_Std);
    }
    return text;
}

double Percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string FormatSides(const Comparison& comparison)
{
    std::string text =
        fmt::format("tested     {}\nreference  {}\n", OneLine(comparison.m_Tested), OneLine(comparison.m_Reference));
    const std::optional<Statistics> tested = ComputeStatistics(comparison.m_TestedMs);
    const std::optional<Statistics> reference = ComputeStatistics(comparison.m_ReferenceMs);
    if (tested && reference && tested->m_Median > 0.0)
    {
        text += fmt::format("median     {:.3f} ms in place of {:.3f} ms: {:.2f} times as fast\n", tested->m_Median,
                            reference->m_Median, reference->m_Median / tested->m_Median);
    }
    return text;
}

std::string FormatTable(const std::vector<ComparedOutput>& outputs)
{
    TextRows rows = {{"output", "type", "elements", "equal", "avg error", "max error", "std error", "RMS", "cosine"}};
    for (const ComparedOutput& output : outputs)
    {
        const TensorDifference& difference = output.m_Difference;
        const uint64_t numEqual = difference.NumElements() - difference.NumDifferent();
        const std::optional<double> cosine = difference.Cosine();
        rows.push_back({NameCell(output.m_Name), GetDataTypeName(output.m_Info.GetDataType()),
                        fmt::format("{}", difference.NumElements()),
                        fmt::format("{:.4g} %", Percent(numEqual, difference.NumElements())),
                        fmt::format("{:.3g}", difference.MeanError()), fmt::format("{:.3g}", difference.MaxError()),
                        fmt::format("{:.3g}", difference.StdError()), fmt::format("{:.3g}", difference.RmsError()),
                        cosine ? fmt::format("{:.9f}", *cosine) : "-"});
    }
    return FormatRows(rows);
}

/// "3-4", and "17 or more" of the last class.
std::string NameClass(size_t index)
{
    const uint64_t first = index == 0 ? 0 : HistogramBounds[index - 1] + 1;
    if (index == HistogramBounds.size())
    {
        return fmt::format("{} or more", first);
    }
    const uint64_t last = HistogramBounds[index];
    return first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
}

/// The classes between the first one and the last one that have elements.
std::string FormatHistogram(const TensorDifference& difference)
{
    constexpr double maxSigns = 40.0;
    const auto& counts = difference.Histogram();
    const uint64_t max = *std::max_element(counts.begin(), counts.end());
    const auto hasElements = [](uint64_t count) { return count > 0; };
    const auto* const first = std::find_if(counts.begin(), counts.end(), hasElements);
    const auto last = std::find_if(counts.rbegin(), counts.rend(), hasElements);
    if (max == 0)
    {
        return {};
    }
    const auto begin = static_cast<size_t>(first - counts.begin());
    const auto end = static_cast<size_t>(counts.rend() - last);
    size_t width = 0;
    for (size_t i = begin; i < end; ++i)
    {
        width = std::max(width, NameClass(i).size());
    }
    TextRows rows;
    for (size_t i = begin; i < end; ++i)
    {
        const double signs = maxSigns * static_cast<double>(counts[i]) / static_cast<double>(max);
        const auto numSigns = static_cast<size_t>(counts[i] > 0 ? std::max(signs, 1.0) : 0.0);
        rows.push_back({fmt::format("{:>{}}", NameClass(i), width), fmt::format("{:>10}", counts[i]),
                        fmt::format("{:>7.3f} %", Percent(counts[i], difference.NumElements())),
                        std::string(numSigns, '#')});
    }
    return FormatRows(rows, "    ");
}

/// "[0,3]" of an element in the order of memory.
std::string FormatPlace(const TensorShape& shape, size_t index)
{
    std::vector<size_t> place(shape.GetNumDimensions());
    for (size_t d = place.size(); d-- > 0;)
    {
        place[d] = index % shape[static_cast<unsigned int>(d)];
        index /= shape[static_cast<unsigned int>(d)];
    }
    return fmt::format("[{}]", fmt::join(place, ","));
}

std::string FormatWorst(const ComparedOutput& output, const Comparison& comparison)
{
    const std::optional<WorstElement>& worst = output.m_Difference.Worst();
    if (!worst)
    {
        return {};
    }
    return fmt::format("  largest difference: {:.7g} in place of {:.7g}, element {}{}\n", worst->m_Tested,
                       worst->m_Reference, FormatPlace(output.m_Info.GetShape(), worst->m_Index),
                       !comparison.m_Files.empty() ? fmt::format(" of '{}'", OneLine(comparison.m_Files[worst->m_Run]))
                       : comparison.m_NumRuns > 1  ? fmt::format(" of run {}", worst->m_Run + 1)
                                                   : "");
}

/// Rounding alone has a bias of far less than the errors.
std::string DescribeBias(const TensorDifference& difference)
{
    constexpr double minShare = 0.01;
    const bool hasBias = std::fabs(difference.Bias()) > minShare * difference.MeanError();
    return hasBias ? fmt::format("bias {:.3g}", difference.Bias()) : "no bias";
}

std::string FormatDetails(const ComparedOutput& output, const Comparison& comparison)
{
    const TensorDifference& difference = output.m_Difference;
    std::string text = fmt::format("output '{}' {}{}\n", OneLine(output.m_Name), output.m_Info.ToString(),
                                   output.m_ReferenceName == output.m_Name
                                       ? ""
                                       : fmt::format(", reference '{}'", OneLine(output.m_ReferenceName)));
    text += FormatWorst(output, comparison);
    if (difference.GetMeasure() != Measure::Exact && difference.MaxError() > 0.0)
    {
        const std::optional<double> relative = difference.RelativeRmsError();
        text += fmt::format("  {}, largest relative error {:.3g}{}\n", DescribeBias(difference),
                            difference.MaxRelativeError(),
                            relative ? fmt::format(", RMS {:.3g} of the reference's", *relative) : "");
    }
    if (difference.GetMeasure() == Measure::Exact)
    {
        text += fmt::format("  {} of {} elements differ\n", difference.NumDifferent(), difference.NumElements());
    }
    if (difference.NumOddNonFinite() + difference.NumEqualNonFinite() > 0)
    {
        text += fmt::format("  NaN or infinite: {} elements in one of the two alone, {} in both alike; errors are "
                            "without them\n",
                            difference.NumOddNonFinite(), difference.NumEqualNonFinite());
    }
    if (const std::string ties = DescribeTies(output); !ties.empty())
    {
        text += fmt::format("  note: {}\n", ties);
    }
    if (comparison.m_Tolerance)
    {
        text += fmt::format("  {} elements are out of the tolerance ({})\n", difference.NumOutOfTolerance(),
                            DescribeTolerance(*comparison.m_Tolerance));
    }
    const std::string histogram = FormatHistogram(difference);
    const char* const unit = difference.GetMeasure() == Measure::Steps ? "steps of the scale between the two, elements"
                                                                       : "ULP (floats) between the two, elements";
    return text + (histogram.empty() ? "" : fmt::format("  {}\n{}", unit, histogram));
}

/// Throws the errors of AddOutputs.
Measure ChooseMeasure(const Comparison& comparison, size_t index, const OutputPair& pair)
{
    const TensorInfo& tested = *pair.m_Tested.m_Info;
    const TensorInfo& reference = *pair.m_Reference.m_Info;
    const std::optional<Measure> measure = FindMeasure(tested, reference);
    const bool isOneShape = tested.GetShape() == reference.GetShape();
    const bool isAsBefore = index >= comparison.m_Outputs.size() ||
                            comparison.m_Outputs[index].m_Difference.GetMeasure() == measure.value_or(Measure::Exact);
    if (!isOneShape || !measure || !isAsBefore)
    {
        throw InputError(
            fmt::format("--compare-with: output '{}' is {}, but {} in the reference{}; {} cannot be compared",
                        OneLine(pair.m_Name), tested.ToString(), reference.ToString(),
                        pair.m_Name == pair.m_ReferenceName ? "" : fmt::format(", '{}'", OneLine(pair.m_ReferenceName)),
                        isOneShape ? "these types" : "tensors of different shapes"));
    }
    if (comparison.m_Tolerance && !HasBoundFor(*comparison.m_Tolerance, *measure))
    {
        throw UsageError(fmt::format("--tolerance: {} is no bound for output '{}', which is {}; add {}abs or rel",
                                     DescribeTolerance(*comparison.m_Tolerance), OneLine(pair.m_Name),
                                     tested.ToString(),
                                     *measure == Measure::Floats  ? "ulp, "
                                     : *measure == Measure::Steps ? "steps, "
                                                                  : ""));
    }
    return *measure;
}

} // namespace

void AddOutputs(Comparison& comparison, const std::vector<OutputPair>& outputs)
{
    std::vector<Measure> measures;
    for (size_t i = 0; i < outputs.size(); ++i)
    {
        measures.push_back(ChooseMeasure(comparison, i, outputs[i]));
    }
    for (size_t i = 0; i < outputs.size(); ++i)
    {
        const OutputPair& pair = outputs[i];
        if (i >= comparison.m_Outputs.size())
        {
            comparison.m_Outputs.push_back(
                {pair.m_Name,
                 pair.m_ReferenceName,
                 {},
                 {},
                 TensorDifference(measures[i], comparison.m_Tolerance.value_or(Tolerance()))});
        }
        ComparedOutput& output = comparison.m_Outputs[i];
        output.m_Info = *pair.m_Tested.m_Info;
        output.m_ReferenceInfo = *pair.m_Reference.m_Info;
        output.m_Difference.AddRun(pair.m_Tested, pair.m_Reference);
    }
}

std::string DescribeTies(const ComparedOutput& output)
{
    const TensorDifference& difference = output.m_Difference;
    const bool isBoolean = output.m_Info.GetDataType() == DataType::Boolean;
    if (difference.NumDifferent() == 0 || !difference.IsWhole() || isBoolean)
    {
        return {};
    }
    return "its values look like classes, indices or counts; where scores tie or nearly tie, these differ much and "
           "detections come in another order, though the scores hardly differ: look at the scores";
}

uint64_t CountOutOfTolerance(const Comparison& comparison)
{
    uint64_t count = 0;
    for (const ComparedOutput& output : comparison.m_Outputs)
    {
        count += output.m_Difference.NumOutOfTolerance();
    }
    return count;
}

std::string FormatComparison(const Comparison& comparison)
{
    std::string text =
        FormatSummary(comparison) + "\n" + FormatSides(comparison) + "\n" + FormatTable(comparison.m_Outputs);
    for (const ComparedOutput& output : comparison.m_Outputs)
    {
        text += "\n" + FormatDetails(output, comparison);
    }
    if (!comparison.m_Layers.empty())
    {
        text += "\n" + FormatLayers(comparison.m_Layers, comparison.m_Tolerance.has_value());
    }
    return text;
}

} // namespace tenon::tools
