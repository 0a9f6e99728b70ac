// SPDX-License-Identifier: Apache-2.0
// Fill: every element is the value, which the descriptor or input 1 gives. Input 0 only gives the shape.
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/StoredElement.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Expansion.hpp>

#include <cstring>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow FillTypes[] = {backends::Types({}, backends::AnyType)};

/// Fills `count` elements.
void FillOutput(DataType type, size_t count, const std::byte* value, std::byte* output)
{
    if (GetDataTypeBits(type) >= 8)
    {
        const size_t elementBytes = GetMovedBytes(type);
        FillElements(output, count * elementBytes, value, elementBytes);
        return;
    }
    const std::byte low = *value & std::byte{0xF};
    const std::byte pair = low | low << 4;
    FillElements(output, count / 2, &pair, 1);
    if (count % 2 != 0)
    {
        output[count / 2] = low;
    }
}

backends::Prepared PrepareFill(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<FillDescriptor>();
    const DataType type = args.GetOutput(0).GetDataType();
    const size_t count = args.GetOutput(0).GetNumElements();
    if (!descriptor.m_ValueAsInput)
    {
        return [=, value = StoreValue(descriptor.m_Value, type)](const ExecuteArgs& run)
        { FillOutput(type, count, value.data(), run.GetOutput<std::byte>(0)); };
    }
    if (!args.HasInput(1) || args.GetInput(1).GetNumElements() != 1)
    {
        throw LayerValidationException("Fill: input 1 must hold one element, the value to fill with");
    }
    return [=](const ExecuteArgs& run)
    { FillOutput(type, count, run.GetInput<std::byte>(1), run.GetOutput<std::byte>(0)); };
}

SupportResult CheckFill(const LayerView& layer)
{
    if (!layer.GetDescriptor<FillDescriptor>().m_ValueAsInput)
    {
        return SupportResult::Yes();
    }
    if (!layer.HasInput(1))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "input 1, the value, is not connected");
    }
    if (!layer.GetInput(1).IsTypeSpaceMatch(layer.GetOutput(0)))
    {
        return SupportResult::No(SupportCode::UnsupportedType,
                                 "the value (" + layer.GetInput(1).ToString() +
                                     ") has not the type and quantization of the output (" +
                                     layer.GetOutput(0).ToString() + ")");
    }
    return SupportResult::Yes();
}

} // namespace

extern const backends::Kernel RefFillKernel = {"RefFill", FillTypes, PrepareFill, CheckFill};

} // namespace tenon::ref
