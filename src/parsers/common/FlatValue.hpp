// SPDX-License-Identifier: Apache-2.0
// ReadFlatValue: a field of any table of FlatBuffers as an attribute's value, by the reflection that flatc generates.
// Used by the front ends of formats that are FlatBuffers. Values are copied byte by byte: the verifier of FlatBuffers
// does not say that 64-bit numbers in lists are aligned.
#pragma once

#include "common/ModelBytes.hpp"
#include "parsers/common/Attribute.hpp"

#include <flatbuffers/flatbuffers.h>

#include <cstdint>
#include <cstring>

namespace tenon::parsers
{

template <typename T>
T LoadFlat(const uint8_t* data)
{
    T value;
    std::memcpy(&value, data, sizeof(T));
    return value;
}

/// The target of a reference: a table, or the length of a list or text, which comes before its elements.
inline const uint8_t* FollowReference(const uint8_t* reference)
{
    return reference + LoadFlat<flatbuffers::uoffset_t>(reference);
}

/// The value of a field, or any value of the same kind if `data` is null; none for a table. Lists and texts are
/// charged.
Attribute::Value ReadFlatValue(ReadBudget& budget, flatbuffers::TypeCode type, const uint8_t* data);

} // namespace tenon::parsers
