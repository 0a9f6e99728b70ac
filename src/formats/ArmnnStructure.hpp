// SPDX-License-Identifier: Apache-2.0
// Whether bytes are a network of Arm NN: the one definition, which the reader of such files uses and FindModelFormat().
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace tenon::formats
{

/// Whether the bytes are a FlatBuffers buffer of the structure of Arm NN's networks, whatever identifier it has: all
/// that it refers to lies within it. A buffer in which more than `maxTables` tables are referred to is none. The bytes
/// must be aligned as those of an allocation are.
bool HasArmnnStructure(std::string_view bytes, uint64_t maxTables = std::numeric_limits<uint64_t>::max());

/// Whether the bytes, all of a file, are a network of Arm NN: they have its identifier, or they have its structure and
/// layers, because Arm NN's serializer writes no identifier.
bool IsArmnn(std::string_view bytes);

/// Whether a file that begins so may be one without an identifier: worth a look at the rest.
bool MayBeArmnn(std::string_view start);

} // namespace tenon::formats
