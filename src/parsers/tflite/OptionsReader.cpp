// SPDX-License-Identifier: Apache-2.0
// OptionsReader: see OptionsReader.hpp.
#include "parsers/tflite/OptionsReader.hpp"

#include "parsers/common/FlatValue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <mutex>
#include <string>
#include <string_view>
#include <tflite_generated.h>

namespace tenon::tflite
{

namespace
{

using flatbuffers::TypeTable;
using parsers::ReadFlatValue;
using schema::BuiltinOperator;

/// The options table of an operator: a member of one of two unions.
struct OptionsType
{
    const TypeTable* m_Table = nullptr; ///< null: the operator has none
    const char* m_Name = "";
    uint8_t m_Number = 0; ///< in its union
    bool m_IsSecond = false;
};

/// Operators that share a table, or whose table is named otherwise than they are.
constexpr struct
{
    BuiltinOperator m_Code;
    std::string_view m_Table;
} OtherNames[] = {
    {BuiltinOperator::AVERAGE_POOL_2D, "Pool2DOptions"},
    {BuiltinOperator::CONV_3D_TRANSPOSE, "Conv3DOptions"},
    {BuiltinOperator::L2_NORMALIZATION, "L2NormOptions"},
    {BuiltinOperator::L2_POOL_2D, "Pool2DOptions"},
    {BuiltinOperator::MAX_POOL_2D, "Pool2DOptions"},
    {BuiltinOperator::MAXIMUM, "MaximumMinimumOptions"},
    {BuiltinOperator::MEAN, "ReducerOptions"},
    {BuiltinOperator::MINIMUM, "MaximumMinimumOptions"},
    {BuiltinOperator::MULTINOMIAL, "RandomOptions"},
    {BuiltinOperator::RANDOM_STANDARD_NORMAL, "RandomOptions"},
    {BuiltinOperator::RANDOM_UNIFORM, "RandomOptions"},
    {BuiltinOperator::REDUCE_ALL, "ReducerOptions"},
    {BuiltinOperator::REDUCE_ANY, "ReducerOptions"},
    {BuiltinOperator::REDUCE_MAX, "ReducerOptions"},
    {BuiltinOperator::REDUCE_MIN, "ReducerOptions"},
    {BuiltinOperator::REDUCE_PROD, "ReducerOptions"},
    {BuiltinOperator::SUM, "ReducerOptions"},
    {BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_RNN, "SequenceRNNOptions"},
};

/// Whether both have the same letters, as "BATCH_MATMUL" and "BatchMatMul" have.
bool IsSameName(std::string_view a, std::string_view b)
{
    const auto upper = [](char c) { return std::toupper(static_cast<unsigned char>(c)); };
    size_t i = 0;
    size_t k = 0;
    for (;;)
    {
        i = std::min(a.find_first_not_of('_', i), a.size());
        k = std::min(b.find_first_not_of('_', k), b.size());
        if (i == a.size() || k == b.size())
        {
            return i == a.size() && k == b.size();
        }
        if (upper(a[i++]) != upper(b[k++]))
        {
            return false;
        }
    }
}

/// Whether a table of options is the operator's.
bool IsTableOf(BuiltinOperator code, std::string_view table)
{
    for (const auto& other : OtherNames)
    {
        if (other.m_Code == code)
        {
            return table == other.m_Table;
        }
    }
    constexpr std::string_view suffix = "Options";
    return table.ends_with(suffix) &&
           IsSameName(EnumNameBuiltinOperator(code), table.substr(0, table.size() - suffix.size()));
}

OptionsType FindType(BuiltinOperator code)
{
    const TypeTable* const unions[] = {schema::BuiltinOptionsTypeTable(), schema::BuiltinOptions2TypeTable()};
    for (const TypeTable* types : unions)
    {
        for (size_t i = 1; i < types->num_elems; ++i) // 0 is NONE
        {
            if (IsTableOf(code, types->names[i]))
            {
                return {types->type_refs[types->type_codes[i].sequence_ref](), types->names[i], static_cast<uint8_t>(i),
                        types == unions[1]};
            }
        }
    }
    return {};
}

/// Looked for once for each operator that models have: to look for those of all operators takes as long as to read a
/// small model.
const OptionsType& TypeOf(int32_t builtin)
{
    constexpr auto numCodes = static_cast<int32_t>(BuiltinOperator::MAX) + 1;
    struct Entry
    {
        std::once_flag m_IsFound;
        OptionsType m_Type;
    };
    static std::array<Entry, numCodes> entries;
    static const OptionsType none;
    if (builtin < 0 || builtin >= numCodes)
    {
        return none;
    }
    Entry& entry = entries[static_cast<size_t>(builtin)];
    std::call_once(entry.m_IsFound, [&] { entry.m_Type = FindType(static_cast<BuiltinOperator>(builtin)); });
    return entry.m_Type;
}

} // namespace

AttributeList ListOptions(int32_t builtin)
{
    AttributeList list;
    list.m_IsComplete = true;
    const TypeTable* table = TypeOf(builtin).m_Table;
    const size_t count = table != nullptr ? table->num_elems : 0;
    list.m_Attributes.reserve(count);
    ReadBudget nothing(0);
    for (size_t i = 0; i < count; ++i)
    {
        list.m_Attributes.push_back({table->names[i], ReadFlatValue(nothing, table->type_codes[i], nullptr), false});
    }
    return list;
}

AttributeList ReadOptions(Model& model, const schema::Operator& op, int32_t builtin)
{
    AttributeList list = ListOptions(builtin);
    if (list.m_Attributes.empty())
    {
        return list;
    }
    const OptionsType& type = TypeOf(builtin);
    const auto number = type.m_IsSecond ? static_cast<uint8_t>(op.builtin_options_2_type())
                                        : static_cast<uint8_t>(op.builtin_options_type());
    if (number != 0 && number != type.m_Number)
    {
        list.m_Error = fmt::format("has options {} ({}), should have {}",
                                   type.m_IsSecond ? EnumNameBuiltinOptions2(op.builtin_options_2_type())
                                                   : EnumNameBuiltinOptions(op.builtin_options_type()),
                                   number, type.m_Name);
    }
    const auto* options = static_cast<const flatbuffers::Table*>(
        number != type.m_Number ? nullptr : (type.m_IsSecond ? op.builtin_options_2() : op.builtin_options()));
    list.m_IsPresent = options != nullptr;
    for (size_t i = 0; options != nullptr && i < list.m_Attributes.size(); ++i)
    {
        const auto field = flatbuffers::FieldIndexToOffset(static_cast<flatbuffers::voffset_t>(i));
        if (const uint8_t* data = options->GetAddressOf(field))
        {
            list.m_Attributes[i].m_Value = ReadFlatValue(model.Budget(), type.m_Table->type_codes[i], data);
            list.m_Attributes[i].m_IsSet = true;
        }
    }
    return list;
}

} // namespace tenon::tflite
