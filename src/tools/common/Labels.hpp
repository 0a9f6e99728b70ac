// SPDX-License-Identifier: Apache-2.0
// The best classes of an output with scores, by name: --labels and --top-k.
#pragma once

#include "tools/common/OutputStore.hpp"

#include <string>
#include <vector>

namespace tenon::tools
{

/// Line i names class i: see ReadLines. Throws InputError.
std::vector<std::string> ReadLabels(const std::string& path);

struct RankedClass
{
    size_t m_Index = 0;
    double m_Score = 0.0;
};

/// The `count` largest elements of row `row` along the last dimension, best first, in real numbers: quantized elements
/// are dequantized, others are unchanged. Equal scores keep their order; NaN comes last.
std::vector<RankedClass> RankClasses(const OutputData& output, size_t row, size_t count);

/// A table per row of the output, or a sentence if the output is no list of scores (no dimension, or many rows).
std::string FormatTopK(const OutputData& output, const std::string& name, const std::vector<std::string>& labels,
                       size_t count);

/// The same in a line: "7 seven 0.992188, 9 nine 0.003906".
std::string FormatTopKLine(const OutputData& output, const std::vector<std::string>& labels, size_t count);

/// The number of rows of an output with scores; 0 if it is no list of scores.
size_t CountScoreRows(const OutputData& output);

/// Whether the output is a list of scores, with one for each label.
bool HasScoreForEach(const OutputData& output, const std::vector<std::string>& labels);

struct NamedOutput
{
    std::string m_Name;
    const OutputData* m_Output;
};

/// A remark if the output is a list of several scores, but has another number of them than there are labels of the
/// model itself, which are not shown then; else empty.
std::string DescribeUnusedLabels(const NamedOutput& output, const std::vector<std::string>& labels);

/// A remark if there are outputs with such tables and none of them has as many classes as there are labels; else empty.
/// One output with that count is enough: the other heads of a network have classes of another kind.
std::string DescribeOtherCount(const std::vector<NamedOutput>& outputs, const std::vector<std::string>& labels);

} // namespace tenon::tools
