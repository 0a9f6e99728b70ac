// SPDX-License-Identifier: Apache-2.0
// Types of kernels as text: see TypeText.hpp.
#include "docs/TypeText.hpp"

#include <tenon/Tensor.hpp>

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <vector>

namespace tenon::docs
{

namespace
{

using backends::TypeRow;
using Bits = uint32_t;

/// Every type, in the order in which text names them.
constexpr DataType Types[] = {DataType::Float16,    DataType::BFloat16,   DataType::Float32,   DataType::Float64,
                              DataType::QAsymmU8,   DataType::QAsymmS8,   DataType::QSymmS8,   DataType::QSymmS16,
                              DataType::QSymmS4,    DataType::Boolean,    DataType::Signed8,   DataType::Signed16,
                              DataType::Signed32,   DataType::Signed64,   DataType::Unsigned8, DataType::Unsigned16,
                              DataType::Unsigned32, DataType::Unsigned64, DataType::Complex64, DataType::Complex128};
constexpr auto NumTypes = static_cast<unsigned int>(std::size(Types));
static_assert(NumTypes == static_cast<unsigned int>(DataType::Complex128) + 1);
constexpr Bits AllBits = (Bits{1} << NumTypes) - 1;
constexpr int MaxExceptions = 3; ///< how many types "any but ..." may leave out

Bits ToBits(backends::TypeSet set)
{
    Bits bits = 0;
    for (unsigned int i = 0; i < NumTypes; ++i)
    {
        bits |= set.Has(Types[i]) ? Bits{1} << i : 0;
    }
    return bits;
}

struct Group
{
    const char* m_Name;
    backends::TypeSet m_Types;
};

/// Largest first where one is part of another.
const Group Groups[] = {
    {"floats", {DataType::Float16, DataType::Float32, DataType::BFloat16}},
    {"quantized", {DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS8, DataType::QSymmS16}},
    {"integers",
     {DataType::Signed8, DataType::Signed16, DataType::Signed32, DataType::Signed64, DataType::Unsigned8,
      DataType::Unsigned16, DataType::Unsigned32, DataType::Unsigned64}},
    {"signed integers", {DataType::Signed8, DataType::Signed16, DataType::Signed32, DataType::Signed64}},
    {"complex", {DataType::Complex64, DataType::Complex128}},
};

std::vector<std::string> Names(Bits bits)
{
    std::vector<std::string> names;
    for (unsigned int i = 0; i < NumTypes; ++i)
    {
        if ((bits >> i & 1U) != 0)
        {
            names.emplace_back(GetDataTypeName(Types[i]));
        }
    }
    return names;
}

std::string ToText(Bits bits)
{
    if (bits == 0 || bits == AllBits)
    {
        return "any";
    }
    const std::vector<std::string> missing = Names(AllBits & ~bits);
    if (missing.size() <= MaxExceptions)
    {
        return fmt::format("any but {}", fmt::join(missing, "/"));
    }
    std::vector<std::string> names;
    for (const Group& group : Groups)
    {
        const Bits members = ToBits(group.m_Types);
        if ((bits & members) == members)
        {
            names.emplace_back(group.m_Name);
            bits &= ~members;
        }
    }
    const std::vector<std::string> others = Names(bits);
    names.insert(names.end(), others.begin(), others.end());
    return fmt::format("{}", fmt::join(names, "/"));
}

/// A TypeRow as sets that can be compared and joined. 0 is any type.
class Row
{
public:
    explicit Row(const TypeRow& row)
    {
        for (size_t i = 0; i < Output; ++i)
        {
            m_Places[i] = ToBits(row.m_Inputs[i]);
        }
        m_Places[Output] = ToBits(row.m_Output);
        const bool isOneType = m_Places[0] != 0 && (m_Places[0] & (m_Places[0] - 1)) == 0;
        for (size_t i = 1; i < m_Places.size(); ++i)
        {
            m_IsSame[i] = m_Places[i] != 0 && (row.m_SameAsInput0 || (isOneType && m_Places[i] == m_Places[0]));
        }
    }

    /// Takes the other row in if together they still allow nothing that neither of them allows: if they differ at one
    /// place, where places that follow input 0 are one with it.
    bool Join(const Row& other)
    {
        if (m_IsSame != other.m_IsSame)
        {
            return false;
        }
        size_t numDifferent = 0;
        for (size_t i = 0; i < m_Places.size(); ++i)
        {
            if ((m_Places[i] == 0) != (other.m_Places[i] == 0))
            {
                return false;
            }
            numDifferent += !m_IsSame[i] && m_Places[i] != other.m_Places[i] ? 1 : 0;
        }
        if (numDifferent > 1)
        {
            return false;
        }
        for (size_t i = 0; i < m_Places.size(); ++i)
        {
            m_Places[i] |= other.m_Places[i];
        }
        return true;
    }

    std::string Text() const
    {
        size_t numInputs = Output; // up to the last one whose type matters
        while (numInputs > 1 && m_Places[numInputs - 1] == 0)
        {
            --numInputs;
        }
        std::vector<std::string> inputs;
        for (size_t i = 0; i < numInputs; ++i)
        {
            inputs.push_back(TextAt(i));
        }
        return fmt::format("{} → {}", fmt::join(inputs, ", "), TextAt(Output));
    }

private:
    static constexpr size_t Output = std::tuple_size_v<decltype(TypeRow::m_Inputs)>;

    std::string TextAt(size_t place) const { return m_IsSame[place] ? "same" : ToText(m_Places[place]); }

    std::array<Bits, Output + 1> m_Places{};
    std::array<bool, Output + 1> m_IsSame{}; ///< whether the place has the type of input 0
};

/// Joins rows until none fits another.
std::vector<Row> Joined(std::vector<Row> rows)
{
    for (size_t i = 0; i < rows.size(); ++i)
    {
        for (size_t k = i + 1; k < rows.size(); ++k)
        {
            if (rows[i].Join(rows[k]))
            {
                rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(k));
                k = i; // what did not fit before may fit now
            }
        }
    }
    return rows;
}

} // namespace

std::string TypesOf(const std::vector<const backends::Kernel*>& kernels)
{
    std::vector<Row> rows;
    for (const backends::Kernel* kernel : kernels)
    {
        for (const TypeRow& row : kernel->m_Types)
        {
            rows.emplace_back(row);
        }
    }
    std::vector<std::string> lines;
    for (const Row& row : Joined(std::move(rows)))
    {
        lines.push_back(row.Text());
    }
    return lines.empty() ? "any" : fmt::format("{}", fmt::join(lines, "<br>"));
}

std::string ExplainGroups()
{
    std::string text;
    for (const Group& group : Groups)
    {
        text += fmt::format("- *{}*: {}\n", group.m_Name, fmt::join(Names(ToBits(group.m_Types)), ", "));
    }
    return text;
}

} // namespace tenon::docs
