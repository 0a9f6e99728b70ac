// SPDX-License-Identifier: Apache-2.0
// OpFlags: the flags of a row of ops.def, whose head explains them. Used by the graph's schema and by kernel tables.
#pragma once

#include <cstdint>

namespace tenon
{

enum class OpFlags : uint16_t
{
    None = 0,
    InPlace = 1,
    View = 2,
    Internal = 4,
    Effect = 8,
    Late = 16,
    Keep = 32,
    Moves = 64 | Keep,
    SameRank = 128,
    SameShape = 256 | SameRank,
    Elementwise = 512 | SameShape,
    Broadcast = 1024,
    EndsSizes = 2048,
    Random = 4096
};
constexpr OpFlags operator|(OpFlags a, OpFlags b)
{
    return static_cast<OpFlags>(static_cast<uint16_t>(a) | static_cast<uint16_t>(b));
}
/// Whether all that `flag` stands for is among `flags`: some flags imply others.
constexpr bool HasFlag(OpFlags flags, OpFlags flag)
{
    return (static_cast<uint16_t>(flags) & static_cast<uint16_t>(flag)) == static_cast<uint16_t>(flag);
}

} // namespace tenon
