// SPDX-License-Identifier: Apache-2.0
// See TensorMemory.hpp.
#include "tools/common/TensorMemory.hpp"

#include "tools/common/Errors.hpp"

#include <fmt/format.h>

namespace tenon::tools
{

void CheckTensorBytes(const TensorInfo& info, const Limits& limits)
{
    if (info.GetNumBytes() > limits.m_MaxTensorBytes)
    {
        throw InputError(fmt::format("{} is {} bytes; the limit is {} (--limit tensor-bytes)", info.ToString(),
                                     info.GetNumBytes(), limits.m_MaxTensorBytes));
    }
}

void CheckTotalBytes(std::string_view what, uint64_t bytes, const Limits& limits)
{
    if (bytes > limits.m_MaxTotalBytes)
    {
        throw InputError(fmt::format("{} take {} bytes together; the limit is {}. Give smaller shapes by "
                                     "--input-tensor-shape, or raise --limit total-bytes",
                                     what, bytes, limits.m_MaxTotalBytes));
    }
}

std::string DescribeLackOfMemory(const TensorInfo& info)
{
    std::string text = "not enough memory for " + info.ToString();
    if (info.GetShape().AreAllDimensionsSpecified())
    {
        text += fmt::format(", which takes {} bytes", info.GetNumBytes());
    }
    return text;
}

} // namespace tenon::tools
