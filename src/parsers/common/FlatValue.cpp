// SPDX-License-Identifier: Apache-2.0
// See FlatValue.hpp.
#include "parsers/common/FlatValue.hpp"

#include <string>
#include <vector>

namespace tenon::parsers
{

namespace
{

/// A vector's or string's elements, `count` of them.
const uint8_t* FollowToElements(const uint8_t* reference, size_t& count)
{
    const uint8_t* vector = FollowReference(reference);
    count = LoadFlat<flatbuffers::uoffset_t>(vector);
    return vector + sizeof(flatbuffers::uoffset_t);
}

template <typename T, typename Result>
Attribute::Value ReadElements(ReadBudget& budget, const uint8_t* reference)
{
    std::vector<Result> values;
    if (reference != nullptr)
    {
        size_t count = 0;
        const uint8_t* elements = FollowToElements(reference, count);
        budget.Charge(count * sizeof(Result));
        values.reserve(count);
        for (size_t i = 0; i < count; ++i)
        {
            values.push_back(static_cast<Result>(LoadFlat<T>(elements + i * sizeof(T))));
        }
    }
    return values;
}

Attribute::Value ReadText(ReadBudget& budget, const uint8_t* reference)
{
    size_t count = 0;
    const uint8_t* text = reference != nullptr ? FollowToElements(reference, count) : nullptr;
    budget.Charge(count);
    return text != nullptr ? std::string(text, text + count) : std::string();
}

template <typename T, typename Result = int64_t>
Attribute::Value ReadNumber(const uint8_t* data)
{
    return data != nullptr ? static_cast<Result>(LoadFlat<T>(data)) : Result();
}

} // namespace

Attribute::Value ReadFlatValue(ReadBudget& budget, flatbuffers::TypeCode type, const uint8_t* data)
{
    const bool isList = type.is_repeating != 0;
    switch (type.base_type)
    {
    case flatbuffers::ET_BOOL:
        return isList ? ReadElements<uint8_t, int64_t>(budget, data)
                      : Attribute::Value(data != nullptr && LoadFlat<uint8_t>(data) != 0);
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

} // namespace tenon::parsers
