// SPDX-License-Identifier: Apache-2.0
// Shape inference of ranges, running sums, sequences, segments, shapes as values, and diagonals.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/descriptors/Arrangement.hpp>
#include <tenon/descriptors/Reduction.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tenon::infer
{

namespace
{

// More elements than this do not fit into a dimension.
constexpr double MaxSize = std::numeric_limits<unsigned int>::max();

template <typename T>
T ReadOne(const InferContext& context, size_t input)
{
    const void* const data = input < context.InputValues().size() ? context.InputValues()[input] : nullptr;
    context.Check(data != nullptr, "the values of input {} are not known yet", input);
    T value;
    std::memcpy(&value, data, sizeof(T));
    return value;
}

// Fails unless steps of `delta` lead from start to limit.
template <typename T>
void CheckDirection(const InferContext& context, T start, T limit, T delta)
{
    context.Check((start <= limit && delta > T(0)) || (start >= limit && delta < T(0)),
                  "a range cannot go from {} to {} in steps of {}", static_cast<double>(start),
                  static_cast<double>(limit), static_cast<double>(delta));
}

int64_t ToCount(const InferContext& context, double count)
{
    context.Check(count >= 0.0 && count <= MaxSize, "a range of {} elements does not fit into a tensor", count);
    return static_cast<int64_t>(count);
}

template <typename T>
int64_t CountFloats(const InferContext& context)
{
    const auto start = ReadOne<T>(context, 0);
    const auto limit = ReadOne<T>(context, 1);
    const auto delta = ReadOne<T>(context, 2);
    CheckDirection(context, start, limit, delta);
    return ToCount(context, std::ceil(std::abs(static_cast<double>((limit - start) / delta))));
}

// A 16-bit floating-point format; exponents of all ones mean infinity or NaN.
struct FloatFormat16Bit
{
    int m_FractionBits;
    int m_ExponentBits;

    int Bias() const { return (1 << (m_ExponentBits - 1)) - 1; }

    double Decode(uint16_t bits) const
    {
        const int fraction = bits & ((1 << m_FractionBits) - 1);
        const int exponent = (bits >> m_FractionBits) & ((1 << m_ExponentBits) - 1);
        const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
        if (exponent == (1 << m_ExponentBits) - 1)
        {
            return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                                 : sign * std::numeric_limits<double>::infinity();
        }
        const int implied = exponent != 0 ? 1 << m_FractionBits : 0;
        return sign * std::ldexp(implied + fraction, std::max(exponent, 1) - Bias() - m_FractionBits);
    }

    // The nearest number of this format.
    double Round(double value) const
    {
        if (!std::isfinite(value) || value == 0.0)
        {
            return value;
        }
        const int last = std::max(std::ilogb(value), 1 - Bias()) - m_FractionBits;
        const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -last)), last);
        return std::abs(rounded) < std::ldexp(1.0, Bias() + 1) ? rounded : value * HUGE_VAL;
    }
};

// Each operation is rounded, as TFLite does it: that may make a quotient a whole number.
int64_t Count16BitFloats(const InferContext& context, FloatFormat16Bit format)
{
    const double start = format.Decode(ReadOne<uint16_t>(context, 0));
    const double limit = format.Decode(ReadOne<uint16_t>(context, 1));
    const double delta = format.Decode(ReadOne<uint16_t>(context, 2));
    CheckDirection(context, start, limit, delta);
    return ToCount(context, std::ceil(std::abs(format.Round(format.Round(limit - start) / delta))));
}

int64_t CountIntegers(const InferContext& context)
{
    const int64_t start = context.Values(0)[0];
    const int64_t limit = context.Values(1)[0];
    const int64_t delta = context.Values(2)[0];
    CheckDirection(context, start, limit, delta);
    // Distances of 64-bit numbers need all 64 bits.
    const auto from = static_cast<uint64_t>(delta > 0 ? start : limit);
    const auto to = static_cast<uint64_t>(delta > 0 ? limit : start);
    const uint64_t step = delta > 0 ? static_cast<uint64_t>(delta) : uint64_t{0} - static_cast<uint64_t>(delta);
    const uint64_t distance = to - from;
    const uint64_t count = distance / step + (distance % step != 0 ? 1 : 0);
    context.Check(count <= std::numeric_limits<unsigned int>::max(),
                  "a range of {} elements does not fit into a tensor", count);
    return static_cast<int64_t>(count);
}

// The real values count, in the same odd way as in TFLite: rounded up as if the numbers were integers.
template <typename T>
int64_t CountQuantized(const InferContext& context)
{
    const auto real = [&context](size_t input)
    {
        const TensorInfo& info = context.Input(input);
        return static_cast<float>(static_cast<double>(info.GetQuantizationScale()) *
                                  (ReadOne<T>(context, input) - info.GetQuantizationOffset()));
    };
    const float start = real(0);
    const float limit = real(1);
    const float delta = real(2);
    CheckDirection(context, start, limit, delta);
    const float step = std::abs(delta);
    return ToCount(context, static_cast<double>((std::abs(limit - start) + step - 1.0f) / step));
}

int64_t CountRange(const InferContext& context)
{
    switch (context.Input(0).GetDataType())
    {
    case DataType::Float32: return CountFloats<float>(context);
    case DataType::Float64: return CountFloats<double>(context);
    case DataType::Float16: return Count16BitFloats(context, {10, 5});
    case DataType::BFloat16: return Count16BitFloats(context, {7, 8});
    case DataType::QAsymmS8:
    case DataType::QSymmS8: return CountQuantized<int8_t>(context);
    case DataType::QSymmS16: return CountQuantized<int16_t>(context);
    default: return CountIntegers(context);
    }
}

} // namespace

void InferRange(InferContext& context)
{
    for (size_t i = 0; i < 3; ++i)
    {
        CheckElements(context, i, i == 0 ? "start" : i == 1 ? "limit" : "step", 1);
        context.Check(context.Input(i).GetDataType() == context.Input(0).GetDataType(),
                      "input {} is {} and input 0 {}; a range has numbers of one type", i,
                      GetDataTypeName(context.Input(i).GetDataType()), GetDataTypeName(context.Input(0).GetDataType()));
    }
    context.SetOutputShape(0, std::vector<int64_t>{CountRange(context)});
}

void InferBroadcastArgs(InferContext& context)
{
    CheckRank(context, 0, 1);
    CheckRank(context, 1, 1);
    context.SetOutputShape(0, TensorShape({std::max(context.InputShape(0)[0], context.InputShape(1)[0])}));
}

void InferCumSum(InferContext& context)
{
    const auto& descriptor = context.Descriptor<CumSumDescriptor>();
    int64_t given = descriptor.m_Axis;
    if (descriptor.m_ParametersAsInputs)
    {
        const std::vector<int64_t> values = context.Values(1);
        context.Check(values.size() == 1, "input 1, the axis, has {} elements in place of one", values.size());
        given = values[0];
    }
    const unsigned int axis = context.CanonicalAxis(given, context.InputShape(0).GetNumDimensions());
    context.SetOutputShape(0, context.InputShape(0));
    if (descriptor.m_ParametersAsInputs || given < 0)
    {
        auto& edited = context.Edit<CumSumDescriptor>();
        edited.m_Axis = static_cast<int32_t>(axis);
        edited.m_ParametersAsInputs = false;
    }
}

void InferReverseSequence(InferContext& context)
{
    const auto& descriptor = context.Descriptor<ReverseSequenceDescriptor>();
    const TensorShape& input = context.InputShape(0);
    const unsigned int rank = input.GetNumDimensions();
    const unsigned int sequence = context.CanonicalAxis(descriptor.m_SequenceDimension, rank);
    const unsigned int batch = context.CanonicalAxis(descriptor.m_BatchDimension, rank);
    context.Check(sequence != batch, "dimension {} cannot be both that of the sequences and that of the batch", batch);
    CheckRank(context, 1, 1);
    context.Check(context.InputShape(1)[0] == input[batch],
                  "input 1, the lengths, has shape {}, but dimension {} of input 0 of shape {} is the batch",
                  context.InputShape(1), batch, input);
    context.SetOutputShape(0, input);
    if (descriptor.m_SequenceDimension < 0 || descriptor.m_BatchDimension < 0)
    {
        auto& edited = context.Edit<ReverseSequenceDescriptor>();
        edited.m_SequenceDimension = static_cast<int32_t>(sequence);
        edited.m_BatchDimension = static_cast<int32_t>(batch);
    }
}

void InferSegmentSum(InferContext& context)
{
    const TensorShape& data = context.InputShape(0);
    context.Check(data.GetNumDimensions() >= 1, "input 0 is a scalar; it must have slices along dimension 0");
    CheckRank(context, 1, 1);
    context.Check(context.InputShape(1)[0] == data[0],
                  "input 1 of shape {} does not give a number to each slice of input 0 of shape {}",
                  context.InputShape(1), data);
    int64_t last = -1;
    const std::vector<int64_t> numbers = context.Values(1, data[0]);
    for (size_t i = 0; i < numbers.size(); ++i)
    {
        context.Check(numbers[i] == last + 1 || (i != 0 && numbers[i] == last),
                      "element {} of input 1 is {} after {}; segment numbers start at 0 and rise in steps of 1", i,
                      numbers[i], last);
        last = numbers[i];
    }
    ShapeBuilder output(context);
    output.Add(last + 1);
    output.AddRange(data, 1, data.GetNumDimensions());
    context.SetOutputShape(0, output.Shape());
}

void InferUnsortedSegment(InferContext& context)
{
    const TensorShape& data = context.InputShape(0);
    const TensorShape& numbers = context.InputShape(1);
    const unsigned int length = numbers.GetNumDimensions();
    bool fits = length <= data.GetNumDimensions();
    for (unsigned int i = 0; fits && i < length; ++i)
    {
        fits = numbers[i] == data[i];
    }
    context.Check(fits, "input 1, the segment numbers, has shape {}, which is not the start of input 0's shape {}",
                  numbers, data);
    const std::vector<int64_t> count = context.Values(2);
    context.Check(count.size() == 1, "input 2, the number of segments, has {} elements in place of one", count.size());
    context.Check(count[0] >= 0, "input 2, the number of segments, is {}; it must not be negative", count[0]);
    ShapeBuilder output(context);
    output.Add(count[0]);
    output.AddRange(data, length, data.GetNumDimensions());
    context.SetOutputShape(0, output.Shape());
}

void InferMatrixDiag(InferContext& context)
{
    const TensorShape& input = context.InputShape(0);
    const unsigned int rank = input.GetNumDimensions();
    context.Check(rank >= 1, "input 0 is a scalar; its last dimension must be a diagonal");
    ShapeBuilder output(context);
    output.AddRange(input, 0, rank);
    output.Add(input[rank - 1]);
    context.SetOutputShape(0, output.Shape());
}

void InferMatrixSetDiag(InferContext& context)
{
    const TensorShape& input = context.InputShape(0);
    const unsigned int rank = input.GetNumDimensions();
    context.Check(rank >= 2, "input 0 of shape {} has no matrices in its last two dimensions", input);
    ShapeBuilder diagonal(context);
    diagonal.AddRange(input, 0, rank - 2);
    diagonal.Add(std::min(input[rank - 2], input[rank - 1]));
    context.Check(context.InputShape(1) == diagonal.Shape(),
                  "input 1, the diagonals, has shape {}, but input 0 of shape {} wants {}", context.InputShape(1),
                  input, diagonal.Shape());
    context.SetOutputShape(0, input);
}

} // namespace tenon::infer
