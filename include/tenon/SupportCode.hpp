// SPDX-License-Identifier: Apache-2.0
// SupportCode: the reason why a backend does not run a layer, for machines; a text for people always comes with it.
#pragma once

namespace tenon
{

enum class SupportCode
{
    Supported = 0,
    UnknownLayer,          ///< the backend has no kernel for the layer type
    UnsupportedType,       ///< not with these element types
    UnsupportedParameters, ///< not with these parameters, shapes or quantization
    UnsupportedDynamic,    ///< not with weights, parameters or shapes that are known only at run time
    Unavailable,           ///< not here: the backend, or a library that it needs, cannot be loaded
    PartitionLimit,        ///< PartitionOptions took the layer's subgraph from the backend
    OptimizationFailed     ///< the backend gave the layer back when it optimized the layer's subgraph
};

/// The enumerator's name.
constexpr const char* GetSupportCodeAsCString(SupportCode code)
{
    switch (code)
    {
    case SupportCode::Supported: return "Supported";
    case SupportCode::UnknownLayer: return "UnknownLayer";
    case SupportCode::UnsupportedType: return "UnsupportedType";
    case SupportCode::UnsupportedParameters: return "UnsupportedParameters";
    case SupportCode::UnsupportedDynamic: return "UnsupportedDynamic";
    case SupportCode::Unavailable: return "Unavailable";
    case SupportCode::PartitionLimit: return "PartitionLimit";
    case SupportCode::OptimizationFailed: return "OptimizationFailed";
    }
    return "Unknown";
}

} // namespace tenon
