// SPDX-License-Identifier: Apache-2.0
// Rows: see Rows.hpp.
#include "parsers/onnx/Rows.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <vector>

namespace tenon::onnx
{

namespace
{

constexpr uint16_t Any = Row::AnyNumber;

auto KeyOf(const Row& row)
{
    return std::tuple(row.m_Domain, row.m_Name);
}

const std::vector<Row>& SortedRows()
{
    static const std::vector<Row> sorted = []
    {
        std::vector<Row> all = {
#define TENON_ONNX_OPERATOR(name, since, function, minInputs, maxInputs, maxOutputs)                                   \
    {"", name, since, &rows::function, minInputs, maxInputs, maxOutputs},
#define TENON_MICROSOFT_OPERATOR(name, since, function, minInputs, maxInputs, maxOutputs)                              \
    {"com.microsoft", name, since, &rows::function, minInputs, maxInputs, maxOutputs},
#include "parsers/onnx/operators.def"
        };
        std::sort(all.begin(), all.end(),
                  [](const Row& a, const Row& b)
                  { return std::tuple(KeyOf(a), a.m_Since) < std::tuple(KeyOf(b), b.m_Since); });
        return all;
    }();
    return sorted;
}

auto RowsOf(std::string_view domain, std::string_view name)
{
    const std::vector<Row>& all = SortedRows();
    const auto key = std::tuple(domain, name);
    const auto first =
        std::lower_bound(all.begin(), all.end(), key, [](const Row& row, const auto& k) { return KeyOf(row) < k; });
    const auto last = std::find_if(first, all.end(), [&](const Row& row) { return KeyOf(row) != key; });
    return std::pair(first, last);
}

} // namespace

const Row* FindRow(std::string_view domain, std::string_view name, int64_t version)
{
    const auto [first, last] = RowsOf(domain, name);
    const Row* found = nullptr;
    for (auto row = first; row != last && row->m_Since <= version; ++row)
    {
        found = &*row;
    }
    return found;
}

bool IsKnownOperator(std::string_view domain, std::string_view name)
{
    const auto [first, last] = RowsOf(domain, name);
    return first != last;
}

namespace
{

constexpr std::string_view FourBitMovers[] = {"Concat", "Expand", "Flatten", "Gather", "Identity",  "Reshape",
                                              "Slice",  "Split",  "Squeeze", "Tile",   "Transpose", "Unsqueeze"};
constexpr std::string_view FourBitReaders[] = {"Cast", "DequantizeLinear", "QuantizeLinear", "Shape", "Size"};

template <size_t Count>
bool IsListed(std::string_view name, const std::string_view (&list)[Count])
{
    return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

bool HasFourBits(const Value& value)
{
    return value && value->m_Bits != 0;
}

} // namespace

void AddOperator(const Row& row, Operator& op, GraphBuilder& graph)
{
    const size_t inputs = op.NumInputs();
    if (inputs < row.m_MinInputs || (row.m_MaxInputs != Row::AnyNumber && inputs > row.m_MaxInputs))
    {
        const std::string upTo = row.m_MaxInputs == Row::AnyNumber    ? " or more"
                                 : row.m_MaxInputs == row.m_MinInputs ? ""
                                                                      : fmt::format(" to {}", row.m_MaxInputs);
        throw ParseException(
            fmt::format("has {} input{}; it takes {}{}", inputs, inputs == 1 ? "" : "s", row.m_MinInputs, upTo));
    }
    if (row.m_MaxOutputs != Row::AnyNumber && op.NumOutputs() > row.m_MaxOutputs)
    {
        throw ParseException(fmt::format("has {} outputs; at most {} are possible", op.NumOutputs(), row.m_MaxOutputs));
    }
    // Integers of 4 bits are held as 8-bit ones, with whose numbers nothing may be computed.
    const bool hasFourBits = std::any_of(op.Inputs().begin(), op.Inputs().end(), HasFourBits);
    const bool isMover = hasFourBits && IsListed(row.m_Name, FourBitMovers);
    if (hasFourBits && !isMover && !IsListed(row.m_Name, FourBitReaders))
    {
        op.Refuse("operands of 4-bit integers are not supported");
    }
    row.m_Function(op, graph);
    for (const Value& output : op.Outputs())
    {
        if (isMover && output)
        {
            output.GetState()->m_Bits = op.Inputs().front()->m_Bits;
        }
    }
}

} // namespace tenon::onnx
