// SPDX-License-Identifier: Apache-2.0
// Reads the host's description of a layer: infos and attributes of plugin.h.
#pragma once

#include <tenon/backend/plugin.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace sample
{

inline bool IsFloat(const tenon_tensor_info* info)
{
    return info != nullptr && info->type == TENON_FLOAT32;
}

inline bool IsShapeKnown(const tenon_tensor_info* info)
{
    return info != nullptr && info->rank != TENON_UNKNOWN_RANK &&
           std::none_of(info->dims, info->dims + info->rank, [](int64_t d) { return d == TENON_UNKNOWN_DIM; });
}

inline std::vector<int64_t> Dims(const tenon_tensor_info* info)
{
    return std::vector<int64_t>(info->dims, info->dims + info->rank);
}

inline bool Is(const tenon_layer& layer, const char* type)
{
    return std::strcmp(layer.type, type) == 0;
}

/// A field of the layer's descriptor; `otherwise` if this Tenon has no such field.
inline int64_t Int(const tenon_layer& layer, const char* name, int64_t otherwise)
{
    for (size_t i = 0; i < layer.num_attributes; ++i)
    {
        const tenon_attribute& a = layer.attributes[i];
        if (std::strcmp(a.name, name) == 0 && a.count == 1)
        {
            return a.kind == TENON_BOOL ? *static_cast<const uint8_t*>(a.values)
                                        : *static_cast<const int64_t*>(a.values);
        }
    }
    return otherwise;
}

inline float Float(const tenon_layer& layer, const char* name, float otherwise)
{
    for (size_t i = 0; i < layer.num_attributes; ++i)
    {
        const tenon_attribute& a = layer.attributes[i];
        if (std::strcmp(a.name, name) == 0 && a.kind == TENON_FLOATS && a.count == 1)
        {
            return static_cast<float>(*static_cast<const double*>(a.values));
        }
    }
    return otherwise;
}

inline void Write(tenon_text* target, const std::string& text)
{
    if (target != nullptr && target->capacity != 0)
    {
        const size_t count = std::min(text.size(), target->capacity - 1);
        std::memcpy(target->data, text.data(), count);
        target->data[count] = '\0';
    }
}

} // namespace sample
