// SPDX-License-Identifier: Apache-2.0
// Concat: joins the inputs along one axis. With respect to that axis every tensor is a list of chunks, and an output
// chunk is the concatenation of the inputs' chunks. 8- and 16-bit quantized inputs whose quantization differs from the
// output's are requantized in float, as TFLite's reference kernel does for uint8.
#include "backends/common/QuantizationCheck.hpp"
#include "backends/reference/kernels/ChunkJoin.hpp"
#include "backends/reference/kernels/DataMovement.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Slicing.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace tenon::ref
{

namespace
{

using backends::TypeSet;

constexpr backends::TypeRow ConcatTypes[] = {backends::SameType(backends::AnyType)};

SupportResult CheckConcat(const LayerView& layer)
{
    const TensorInfo& output = layer.GetOutput(0);
    for (size_t i = 0; i < layer.GetNumInputs(); ++i)
    {
        const std::string which = "input " + std::to_string(i);
        if (!layer.HasInput(i))
        {
            return SupportResult::No(SupportCode::UnsupportedParameters, which + " is not connected");
        }
        const TensorInfo& input = layer.GetInput(i);
        if (input.GetDataType() != output.GetDataType())
        {
            return SupportResult::No(SupportCode::UnsupportedType,
                                     which + " is " + GetDataTypeName(input.GetDataType()) + " and the output " +
                                         GetDataTypeName(output.GetDataType()) + "; they must be of one type");
        }
        const bool requantizes = backends::QuantizedTypes.Has(output.GetDataType()) &&
                                 backends::CheckPerTensor(input, which) && backends::CheckPerTensor(output, "output 0");
        if (!input.IsTypeSpaceMatch(output) && !requantizes)
        {
            return SupportResult::No(SupportCode::UnsupportedParameters,
                                     which + " has another quantization than the output, which is supported only for "
                                             "8- and 16-bit tensors with one scale and a zero point of their type");
        }
    }
    return SupportResult::Yes();
}

template <typename T>
void Requantize(const std::byte* from, size_t count, float scale, float bias, int32_t zeroPoint, std::byte* to)
{
    constexpr float Bound = 1e9f; // far outside any type, well inside int32
    for (size_t i = 0; i < count; ++i, from += sizeof(T), to += sizeof(T))
    {
        T stored;
        std::memcpy(&stored, from, sizeof(T));
        const float steps = std::round(static_cast<float>(stored) * scale + bias);
        const auto rounded = static_cast<int64_t>(std::max(-Bound, std::min(Bound, steps)));
        stored = static_cast<T>(
            std::clamp<int64_t>(rounded + zeroPoint, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
        std::memcpy(to, &stored, sizeof(T));
    }
}

RequantizeFunction ChooseRequantize(DataType type)
{
    switch (type)
    {
    case DataType::QAsymmU8: return Requantize<uint8_t>;
    case DataType::QSymmS16: return Requantize<int16_t>;
    default: return Requantize<int8_t>;
    }
}

JoinInput MakeJoinInput(const TensorInfo& input, const TensorInfo& output, unsigned int axis)
{
    JoinInput part;
    part.m_ChunkElements = CountElements(input.GetShape(), axis, input.GetNumDimensions());
    if (!input.IsTypeSpaceMatch(output))
    {
        part.m_Requantize = ChooseRequantize(output.GetDataType());
        part.m_Scale = input.GetQuantizationScale() * (1.0f / output.GetQuantizationScale());
        part.m_Bias = static_cast<float>(-input.GetQuantizationOffset()) * part.m_Scale;
        part.m_ZeroPoint = output.GetQuantizationOffset();
    }
    return part;
}

/// Checks that the shapes are equal except for the axis, and that the output's size there is the sum of the inputs'.
void CheckShapes(const ReshapeArgs& args, unsigned int axis)
{
    const TensorShape& output = args.GetOutput(0).GetShape();
    uint64_t length = 0;
    bool fits = axis < output.GetNumDimensions();
    for (size_t i = 0; fits && i < args.m_Inputs.size(); ++i)
    {
        TensorShape expected = args.GetInput(i).GetShape();
        fits = axis < expected.GetNumDimensions();
        if (fits)
        {
            length += expected[axis];
            expected.SetDimensionSize(axis, output[axis]);
            fits = expected == output;
        }
    }
    if (!fits || length != output[axis])
    {
        std::string shapes;
        for (const TensorInfo* input : args.m_Inputs)
        {
            shapes += input->GetShape().ToString() + " ";
        }
        throw LayerValidationException("Concat of " + shapes + "along axis " + std::to_string(axis) + " to " +
                                       output.ToString() +
                                       ": sizes may differ along the axis only and must add up there");
    }
}

backends::Prepared PrepareConcat(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& output = args.GetOutput(0);
    const unsigned int axis = args.GetDescriptor<ConcatDescriptor>().GetConcatAxis();
    CheckShapes(args, axis);

    const size_t outputElements = output.GetNumElements();
    if (outputElements == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    std::vector<JoinInput> parts;
    for (const TensorInfo* input : args.m_Inputs)
    {
        parts.push_back(MakeJoinInput(*input, output, axis));
    }
    return PrepareJoin(std::move(parts), CountElements(output.GetShape(), 0, axis), output);
}

} // namespace

extern const backends::Kernel RefConcatKernel = {"RefConcat", ConcatTypes, PrepareConcat, CheckConcat};

} // namespace tenon::ref
