// SPDX-License-Identifier: Apache-2.0
// OptionsReader: see OptionsReader.hpp. Values are copied byte by byte: the verifier of FlatBuffers does not say that
// 64-bit numbers in lists are aligned.
#include "parsers/tflite/OptionsReader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <tflite_generated.h>

namespace tenon::tflite
{

namespace
{

using flatbuffers::TypeCode;
using flatbuffers::TypeTable;
using parsers::Attribute;
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

template <typename T>
T Load(const uint8_t* data)
{
    T value;
    std::memcpy(&value, data, sizeof(T));
    return value;
}

/// What a reference leads to: a vector's or string's elements, `count` of them.
const uint8_t* Follow(const uint8_t* reference, size_t& count)
{
    const uint8_t* vector = reference + Load<flatbuffers::uoffset_t>(reference);
    count = Load<flatbuffers::uoffset_t>(vector);
    return vector + sizeof(flatbuffers::uoffset_t);
}

template <typename T, typename Result>
Attribute::Value ReadElements(ReadBudget& budget, const uint8_t* reference)
{
    std::vector<Result> values;
    if (reference != nullptr)
    {
        size_t count = 0;
        const uint8_t* elements = Follow(reference, count);
        budget.Charge(count * sizeof(Result));
        values.reserve(count);
        for (size_t i = 0; i < count; ++i)
        {
            values.push_back(static_cast<Result>(Load<T>(elements + i * sizeof(T))));
        }
    }
    return values;
}

Attribute::Value ReadText(ReadBudget& budget, const uint8_t* reference)
{
    size_t count = 0;
    const uint8_t* text = reference != nullptr ? Follow(reference, count) : nullptr;
    budget.Charge(count);
    return text != nullptr ? std::string(text, text + count) : std::string();
}

template <typename T, typename Result = int64_t>
Attribute::Value ReadNumber(const uint8_t* data)
{
    return data != nullptr ? static_cast<Result>(Load<T>(data)) : Result();
}

/// The value of a field, or one of the same kind where `data` is null.
Attribute::Value ReadValue(ReadBudget& budget, TypeCode type, const uint8_t* data)
{
    const bool isList = type.is_repeating != 0;
    switch (type.base_type)
    {
    case flatbuffers::ET_BOOL:
        return isList ? ReadElements<uint8_t, int64_t>(budget, data)
                      : Attribute::Value(data != nullptr && Load<uint8_t>(data) != 0);
    case flatbuffers::ET_CHAR: return isList ? ReadElements<int8_t, int64_t>(budget, data) : ReadNumber<int8_t>(data);
    case flatbuffers::ET_UCHAR: return isList ? ReadText(budget, data) : ReadNumber<uint8_t>(data);
    case flatbuffers::ET_SHORT:
        return isList ? ReadElements<int16_t, int64_t>(budget, data) : ReadNumber<int16_t>(data);
    case flatbuffers::ET_USHORT:
        return isList ? ReadElements<uint16_t, int64_t>(budget, data) : ReadNumber<uint16_t>(data);
    case flatbuffers::ET_INT: return isList ? ReadElements<int32_t, int64_t>(budget, data) : ReadNumber<int32_t>(data);
    case flatbuffers::ET_UINT:
        return isList ? ReadElements<uint32_t, int64_t>(budget, data) : ReadNumber<uint32_t>(data);
    case flatbuffers::ET_LONG: return isList ? ReadElements<int64_t, int64_t>(budget, data) : ReadNumber<int64_t>(data);
    case flatbuffers::ET_FLOAT:
        return isList ? ReadElements<float, double>(budget, data) : ReadNumber<float, double>(data);
    case flatbuffers::ET_DOUBLE:
        return isList ? ReadElements<double, double>(budget, data) : ReadNumber<double, double>(data);
    case flatbuffers::ET_STRING: return isList ? Attribute::Value() : ReadText(budget, data);
    default: return {};
    }
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
        list.m_Attributes.push_back({table->names[i], ReadValue(nothing, table->type_codes[i], nullptr), false});
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
            list.m_Attributes[i].m_Value = ReadValue(model.Budget(), type.m_Table->type_codes[i], data);
            list.m_Attributes[i].m_IsSet = true;
        }
    }
    return list;
}

} // namespace tenon::tflite
