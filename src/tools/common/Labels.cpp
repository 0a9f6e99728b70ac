// SPDX-License-Identifier: Apache-2.0
// See Labels.hpp.
#include "tools/common/Labels.hpp"

#include "tools/common/Elements.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/File.hpp"
#include "tools/common/Strings.hpp"
#include "tools/common/TextFile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tenon::tools
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

std::string LabelOf(const RankedClass& ranking, const std::vector<std::string>& labels)
{
    return ranking.m_Index < labels.size() ? OneLine(labels[ranking.m_Index]) : "";
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
    const size_t rows = CountScoreRows(output);
    if (rows == 0)
    {
        return fmt::format("no classes are named for output '{}': {} is no list of scores\n", OneLine(name),
                           shape.ToString());
    }
    std::string text;
    for (size_t row = 0; row < rows; ++row)
    {
        const std::vector<RankedClass> ranked = RankClasses(output, row, count);
        text += fmt::format("best {} of {} classes in '{}'", ranked.size(), shape[shape.GetNumDimensions() - 1],
                            OneLine(name));
        text += rows > 1 ? fmt::format(", row {}:\n", row) : ":\n";
        for (const RankedClass& ranking : ranked)
        {
            text += fmt::format("  {:10.6f}  {:5}  {}\n", ranking.m_Score, ranking.m_Index, LabelOf(ranking, labels));
        }
    }
    return text;
}

std::string FormatTopKLine(const OutputData& output, const std::vector<std::string>& labels, size_t count)
{
    const size_t rows = CountScoreRows(output);
    if (rows == 0)
    {
        return fmt::format("{} is no list of scores", output.m_Info.GetShape().ToString());
    }
    std::string text;
    for (size_t row = 0; row < rows; ++row)
    {
        text += row > 0 ? "; " : "";
        text += rows > 1 ? fmt::format("row {}: ", row) : "";
        std::string separator;
        for (const RankedClass& ranking : RankClasses(output, row, count))
        {
            const std::string label = LabelOf(ranking, labels);
            text += fmt::format("{}{}{}{} {:.6f}", std::exchange(separator, ", "), ranking.m_Index,
                                label.empty() ? "" : " ", label, ranking.m_Score);
        }
    }
    return text;
}

size_t CountScoreRows(const OutputData& output)
{
    const TensorShape& shape = output.m_Info.GetShape();
    return IsListOfScores(shape) ? static_cast<size_t>(shape.GetNumElements64() / shape[shape.GetNumDimensions() - 1])
                                 : 0;
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

} // namespace tenon::tools
