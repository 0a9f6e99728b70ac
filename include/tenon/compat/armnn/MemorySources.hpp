// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: kinds of memory, and sets of them.
#pragma once

#include <tenon/Types.hpp>

#include <armnn/Namespace.hpp>
#include <type_traits>

namespace tenon
{

template <typename T>
struct IsMemorySource : std::false_type
{
};
template <>
struct IsMemorySource<MemorySource> : std::true_type
{
};

/// The set of these sources.
template <typename Arg, typename std::enable_if<IsMemorySource<Arg>::value>::type* = nullptr>
MemorySourceFlags Combine(Arg sourceA, Arg sourceB)
{
    return static_cast<MemorySourceFlags>(sourceA) | static_cast<MemorySourceFlags>(sourceB);
}
template <typename Arg, typename... Args, typename std::enable_if<IsMemorySource<Arg>::value>::type* = nullptr>
MemorySourceFlags Combine(Arg source, Args... rest)
{
    return static_cast<MemorySourceFlags>(source) | Combine(rest...);
}

/// Whether the set has this source.
inline bool CheckFlag(MemorySourceFlags flags, MemorySource source)
{
    return (static_cast<MemorySourceFlags>(source) & flags) != 0;
}

} // namespace tenon
