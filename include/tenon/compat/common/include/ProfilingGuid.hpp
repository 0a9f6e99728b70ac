// SPDX-License-Identifier: Apache-2.0
// For backends written for Arm NN: arm::pipe::ProfilingGuid, which armnn/Types.hpp defines, and its two kinds.
#pragma once

#include <armnn/Types.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace arm
{
namespace pipe
{

/// The least static guid of Arm NN: one that is the same in all runs of a program. Guids of layers are dynamic ones.
constexpr uint64_t MIN_STATIC_GUID = uint64_t{1} << 63U;

struct ProfilingStaticGuid : public ProfilingGuid
{
    using tenon::LayerGuid::LayerGuid;
};

struct ProfilingDynamicGuid : public ProfilingGuid
{
    using tenon::LayerGuid::LayerGuid;
};

} // namespace pipe
} // namespace arm

namespace std
{
template <>
struct hash<arm::pipe::ProfilingStaticGuid>
{
    size_t operator()(const arm::pipe::ProfilingStaticGuid& guid) const noexcept { return hash<uint64_t>()(guid); }
};
template <>
struct hash<arm::pipe::ProfilingDynamicGuid>
{
    size_t operator()(const arm::pipe::ProfilingDynamicGuid& guid) const noexcept { return hash<uint64_t>()(guid); }
};
} // namespace std
