// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: backends' names, and how lists of them are printed.
#pragma once

#include <tenon/BackendId.hpp>

#include <armnn/Namespace.hpp>
#include <ostream>
#include <set>
#include <utility>
#include <vector>

namespace tenon
{

inline std::ostream& operator<<(std::ostream& os, const Compute& compute)
{
    return os << GetComputeDeviceAsCString(compute);
}
/// Each name with a space behind it.
inline std::ostream& operator<<(std::ostream& os, const std::vector<Compute>& compute)
{
    for (const Compute& each : compute)
    {
        os << each << " ";
    }
    return os;
}
inline std::ostream& operator<<(std::ostream& os, const std::set<Compute>& compute)
{
    for (const Compute& each : compute)
    {
        os << each << " ";
    }
    return os;
}
/// "[CpuAcc CpuRef ]", as Arm NN prints it: a vector, set or the like.
template <template <typename...> class Container, typename... Arguments,
          typename = decltype(std::declval<const Container<BackendId, Arguments...>&>().begin())>
std::ostream& operator<<(std::ostream& os, const Container<BackendId, Arguments...>& ids)
{
    os << '[';
    for (const BackendId& id : ids)
    {
        os << id << " ";
    }
    return os << ']';
}

namespace profiling
{
/// The name under which Arm NN's profiling counts events of no backend.
static const BackendId BACKEND_ID("ARMNN");
} // namespace profiling

} // namespace tenon
