// SPDX-License-Identifier: Apache-2.0
// Options, limits and infos of callers of the C interface.
#include "c_api/Handles.hpp"
#include "common/OptionText.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>

namespace tenon::c_api
{

void CopyKnown(void* target, size_t targetSize, const void* source, size_t structSize, size_t firstSize,
               const char* what)
{
    std::memset(target, 0, targetSize);
    if (source == nullptr)
    {
        return;
    }
    if (structSize < firstSize)
    {
        throw InvalidArgumentException(fmt::format("{} has a struct_size of {}; set it to sizeof({}), at least {}",
                                                   what, structSize, what, firstSize));
    }
    const auto* const bytes = static_cast<const unsigned char*>(source);
    if (structSize > targetSize &&
        std::any_of(bytes + targetSize, bytes + structSize, [](unsigned char byte) { return byte != 0; }))
    {
        throw InvalidArgumentException(fmt::format(
            "{} has {} bytes, and something set behind the {} that this library knows: it is older than the program",
            what, structSize, targetSize));
    }
    std::memcpy(target, source, std::min(structSize, targetSize));
}

Limits ToLimits(const tenon_limits* limits)
{
    const tenon_limits given = Complete(limits, "tenon_limits");
    Limits result;
    const auto take = [](auto& limit, auto value)
    {
        if (value != 0)
        {
            limit = value;
        }
    };
    take(result.m_MaxTensorBytes, given.max_tensor_bytes);
    take(result.m_MaxTotalBytes, given.max_total_bytes);
    take(result.m_MaxLayers, given.max_layers);
    take(result.m_MaxFileBytes, given.max_file_bytes);
    take(result.m_MaxLoopIterations, given.max_loop_iterations);
    take(result.m_MaxRank, given.max_rank);
    take(result.m_MaxNesting, given.max_nesting);
    return result;
}

BackendOptions ToBackendOptions(const tenon_option& option)
{
    const std::string key = &Deref(option.key, "the key of an option");
    const size_t dot = key.find('.');
    if (dot == std::string::npos || dot == 0 || dot + 1 == key.size())
    {
        throw InvalidArgumentException(fmt::format(
            "there is no option '{}'; those of backends are '<backend>.<option>', as 'CpuAcc.FastMathEnabled'", key));
    }
    BackendOptions options(BackendId(key.substr(0, dot)));
    options.AddOption({key.substr(dot + 1), OptionFromText(&Deref(option.value, "the value of an option"))});
    return options;
}

bool ToBool(const tenon_option& option)
{
    const std::string_view value = &Deref(option.value, "the value of an option");
    if (value != "true" && value != "false")
    {
        throw InvalidArgumentException(fmt::format("option '{}' is '{}'; it must be true or false", option.key, value));
    }
    return value == "true";
}

TensorInfo ToInfo(const tenon_tensor_info* info, const char* what)
{
    const tenon_tensor_info given = Complete(&Deref(info, what), "tenon_tensor_info");
    if (std::any_of(std::begin(given.reserved), std::end(given.reserved), [](uint8_t byte) { return byte != 0; }))
    {
        throw InvalidArgumentException(fmt::format("{}: the reserved members of tenon_tensor_info must be 0", what));
    }
    ListOf(given.scales, given.num_scales, "the list of scales");
    ListOf(given.zero_points, given.num_zero_points, "the list of zero points");
    tenon_tensor_info complete = given;
    if (given.num_scales <= 1 && given.quantization_block == 0)
    {
        complete.quantization_dim = -1; // 0 in a struct that was set to 0
    }
    return plugin::ToInfo(complete);
}

} // namespace tenon::c_api
