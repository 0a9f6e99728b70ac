// SPDX-License-Identifier: Apache-2.0
// See OutputStore.hpp.
#include "tools/common/OutputStore.hpp"

#include "tools/common/Elements.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/Quantize.hpp"
#include "tools/common/Strings.hpp"
#include "tools/common/TensorMemory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

namespace tenon::tools
{
namespace
{

constexpr const char* InputsAndOutputs = "inputs and outputs";

} // namespace

OutputStore::OutputStore(const std::vector<Binding>& outputs, uint64_t inputBytes, const Limits& limits)
    : m_Bytes(inputBytes), m_Limits(limits)
{
    for (const Binding& output : outputs)
    {
        m_Names[output.m_Id] = output.m_Name;
    }
}

void OutputStore::CheckBytes(const IRuntime& runtime, NetworkId network) const
{
    uint64_t bytes = m_Bytes;
    for (const auto& [id, name] : m_Names)
    {
        const TensorInfo info = runtime.GetOutputTensorInfo(network, id);
        bytes += info.GetShape().AreAllDimensionsSpecified() ? info.GetNumBytes() : 0;
    }
    CheckTotalBytes(InputsAndOutputs, bytes, m_Limits);
}

OutputAllocator OutputStore::GetAllocator()
{
    return [this](LayerBindingId id, const TensorInfo& info) { return Allocate(id, info); };
}

void* OutputStore::Allocate(OutputData& output, LayerBindingId id, const TensorInfo& info)
{
    const size_t bytes = info.GetNumBytes();
    if (output.m_Data.Data() == nullptr || output.m_Data.Size() < bytes)
    {
        m_Bytes -= output.m_Data.Size();
        output.m_Data = {}; // the old memory is free before the new one is taken
        CheckTotalBytes(InputsAndOutputs, m_Bytes + bytes, m_Limits);
        try
        {
            output.m_Data = Buffer(bytes);
        }
        catch (const std::bad_alloc&)
        {
            throw RunError(fmt::format("output '{}': {}", OneLine(m_Names[id]), DescribeLackOfMemory(info)));
        }
        m_Bytes += bytes;
    }
    output.m_Info = info;
    return output.m_Data.Data();
}

void OutputStore::Dequantize()
{
    for (const auto& [id, output] : m_Outputs)
    {
        if (StandsForReals(output.m_Info))
        {
            void* const floats = Allocate(m_Dequantized[id], id, AsFloat32(output.m_Info));
            DequantizeToFloats(output.m_Data.Data(), output.m_Info, static_cast<std::byte*>(floats));
        }
    }
}

const OutputData& OutputStore::Get(LayerBindingId id) const
{
    if (const auto real = m_Dequantized.find(id); real != m_Dequantized.end())
    {
        return real->second;
    }
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

} // namespace tenon::tools
