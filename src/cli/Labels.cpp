// SPDX-License-Identifier: Apache-2.0
// See Labels.hpp.
#include "cli/Labels.hpp"

#include "cli/Elements.hpp"
#include "cli/Errors.hpp"
#include "cli/File.hpp"
#include "cli/Strings.hpp"
#include "cli/TextFile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tenon::cli
{
namespace
{

/// A label file is a list of words; this is a million long ones.
constexpr uint64_t MaxLabelBytes = uint64_t{64} << 20;
/// A batch of pictures may have a table each; a segmentation's pixels may not.
constexpr size_t MaxTables = 16;

bool IsListOfScores(const TensorShape& shape)
{
    const unsigned int rank = shape.GetNumDimensions();
    const uint64_t elements = shape.GetNumElements64();
    return rank > 0 && elements > 0 && elements / shape[rank - 1] <= MaxTables;
}

} // namespace

std::vector<std::string> ReadLabels(const std::string& path)
{
    try
    {
        return ReadLines(InputSource(path, MaxLabelBytes, "").ReadAll());
    }
    catch (const InputError& error)
    {
        throw InputError(fmt::format("label file '{}': {}", OneLine(path), error.what()));
    }
}

std::vector<RankedClass> RankClasses(const OutputData& output, size_t row, size_t count)
{
    const TensorInfo& info = output.m_Info;
    const size_t classes = info.GetShape()[info.GetNumDimensions() - 1];
    const bool hasOneScale = info.HasQuantization() && !info.HasMultipleQuantizationScales();
    const double scale = hasOneScale ? info.GetQuantizationScale() : 1.0;
    const double zeroPoint = hasOneScale ? info.GetQuantizationOffset() : 0.0;
    std::vector<double> scores(classes);
    for (size_t i = 0; i < classes; ++i)
    {
        scores[i] = scale * (GetElement(info.GetDataType(), output.m_Data.Data(), row * classes + i) - zeroPoint);
    }
    std::vector<size_t> order(classes);
    std::iota(order.begin(), order.end(), size_t{0});
    count = std::min(count, classes);
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                      [&](size_t a, size_t b)
                      {
                          const bool nanA = std::isnan(scores[a]);
                          const bool nanB = std::isnan(scores[b]);
                          if (nanA || nanB)
                          {
                              return nanA == nanB ? a < b : nanB;
                          }
                          return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
                      });
    std::vector<RankedClass> ranked;
    for (size_t i = 0; i < count; ++i)
    {
        ranked.push_back({order[i], scores[order[i]]});
    }
    return ranked;
}

std::string FormatTopK(const OutputData& output, const std::string& name, const std::vector<std::string>& labels,
                       size_t count)
{
    const TensorShape& shape = output.m_Info.GetShape();
    const unsigned int rank = shape.GetNumDimensions();
    const uint64_t elements = shape.GetNumElements64();
    if (!IsListOfScores(shape))
    {
        return fmt::format("no classes are named for output '{}': {} is no list of scores\n", OneLine(name),
                           shape.ToString());
    }
    std::string text;
    const auto rows = static_cast<size_t>(elements / shape[rank - 1]);
    for (size_t row = 0; row < rows; ++row)
    {
        const std::vector<RankedClass> ranked = RankClasses(output, row, count);
        text += fmt::format("best {} of {} classes in '{}'", ranked.size(), shape[rank - 1], OneLine(name));
        text += rows > 1 ? fmt::format(", row {}:\n", row) : ":\n";
        for (const RankedClass& ranking : ranked)
        {
            const std::string label = ranking.m_Index < labels.size() ? OneLine(labels[ranking.m_Index]) : "";
            text += fmt::format("  {:10.6f}  {:5}  {}\n", ranking.m_Score, ranking.m_Index, label);
        }
    }
    return text;
}

bool HasScoreForEach(const OutputData& output, const std::vector<std::string>& labels)
{
    const TensorShape& shape = output.m_Info.GetShape();
    return IsListOfScores(shape) && shape[shape.GetNumDimensions() - 1] == labels.size();
}

std::string DescribeUnusedLabels(const NamedOutput& output, const std::vector<std::string>& labels)
{
    const TensorShape& shape = output.m_Output->m_Info.GetShape();
    const unsigned int classes = IsListOfScores(shape) ? shape[shape.GetNumDimensions() - 1] : 0;
    if (labels.empty() || classes <= 1 || classes == labels.size())
    {
        return {};
    }
    return fmt::format("output '{}': the model's metadata have {} labels for {} classes, so they are not shown; give a "
                       "file with --labels",
                       OneLine(output.m_Name), labels.size(), classes);
}

std::string DescribeOtherCount(const std::vector<NamedOutput>& outputs, const std::vector<std::string>& labels)
{
    std::string counts;
    for (const NamedOutput& output : outputs)
    {
        const TensorShape& shape = output.m_Output->m_Info.GetShape();
        if (!IsListOfScores(shape))
        {
            continue;
        }
        const unsigned int classes = shape[shape.GetNumDimensions() - 1];
        if (classes == labels.size())
        {
            return {};
        }
        counts +=
            fmt::format("{}{} classes in output '{}'", counts.empty() ? "" : ", ", classes, OneLine(output.m_Name));
    }
    return counts.empty() ? ""
                          : fmt::format("there are {} labels for {}, so names may belong to other classes: line i of "
                                        "the file names class i, counted from 0",
                                        labels.size(), counts);
}

} // namespace tenon::cli
