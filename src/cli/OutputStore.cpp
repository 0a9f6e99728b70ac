// SPDX-License-Identifier: Apache-2.0
// See OutputStore.hpp.
#include "cli/OutputStore.hpp"

#include "cli/Elements.hpp"
#include "cli/Errors.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon::cli
{

OutputAllocator OutputStore::GetAllocator()
{
    return [this](LayerBindingId id, const TensorInfo& info) -> void*
    {
        OutputData& output = m_Outputs[id];
        const size_t bytes = info.GetNumBytes();
        if (output.m_Data.Data() == nullptr || output.m_Data.Size() < bytes)
        {
            output.m_Data = {}; // not both at once
            output.m_Data = Buffer(bytes);
        }
        output.m_Info = info;
        return output.m_Data.Data();
    };
}

const OutputData& OutputStore::Get(LayerBindingId id) const
{
    const auto found = m_Outputs.find(id);
    if (found == m_Outputs.end())
    {
        throw RunError(fmt::format("the run gave no output of binding id {}", id));
    }
    return found->second;
}

std::string FormatValues(const OutputData& output, size_t maxElements)
{
    const uint64_t count = output.m_Info.GetShape().GetNumElements64();
    std::string text;
    for (size_t i = 0; i < std::min<uint64_t>(count, maxElements); ++i)
    {
        text += i > 0 ? " " : "";
        AppendElement(output.m_Info.GetDataType(), output.m_Data.Data(), i, text);
    }
    if (count == 0)
    {
        return "(no values)";
    }
    if (count > maxElements)
    {
        text += fmt::format(" … ({} values)", count);
    }
    return text;
}

} // namespace tenon::cli
