// SPDX-License-Identifier: Apache-2.0
// Shape inference of operations on single elements: the input's shape, or that of two inputs broadcast to each other.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <cmath>

namespace tenon::infer
{

namespace
{

void InferBroadcast(InferContext& context)
{
    context.SetOutputShape(0, Broadcast(context, context.InputShape(0), context.InputShape(1)));
}

} // namespace

void InferActivation(InferContext& context)
{
    InferSame(context);
}

void InferAddN(InferContext& context)
{
    CheckAllConnected(context);
    for (size_t i = 1; i < context.NumInputs(); ++i)
    {
        context.Check(context.InputShape(i) == context.InputShape(0),
                      "input {} of shape {} and input 0 of shape {} cannot be added: they must have one shape", i,
                      context.InputShape(i), context.InputShape(0));
    }
    InferSame(context);
}

// The elements' bytes stay: a dimension comes or goes where their number changes.
void InferBitcast(InferContext& context)
{
    const TensorShape& input = context.InputShape(0);
    const unsigned int rank = input.GetNumDimensions();
    const unsigned int from = GetDataTypeBits(context.Input(0).GetDataType());
    const unsigned int to = GetDataTypeBits(context.DeclaredOutput(0).GetDataType());
    context.Check(from % 8 == 0 && to % 8 == 0,
                  "4-bit elements have no bytes of their own to be taken as another type");
    if (from < to)
    {
        context.Check(rank != 0 && input[rank - 1] == to / from,
                      "the last dimension of input 0 of shape {} must have {} elements, which make one of the output",
                      input, to / from);
    }
    ShapeBuilder output(context);
    output.AddRange(input, 0, from < to ? rank - 1 : rank);
    if (from > to)
    {
        output.Add(from / to);
    }
    context.SetOutputShape(0, output.Shape());
}

void InferBucketize(InferContext& context)
{
    const std::vector<float>& boundaries = context.Descriptor<BucketizeDescriptor>().m_Boundaries;
    for (size_t i = 0; i < boundaries.size(); ++i)
    {
        context.Check(i == 0 ? !std::isnan(boundaries[0]) : boundaries[i - 1] <= boundaries[i],
                      "boundary {} is {}; the boundaries must be in ascending order", i, boundaries[i]);
    }
    InferSame(context);
}

void InferCast(InferContext& context)
{
    InferSame(context);
}

void InferComparison(InferContext& context)
{
    InferBroadcast(context);
}

void InferDequantize(InferContext& context)
{
    InferSame(context);
}

void InferElementwiseBinary(InferContext& context)
{
    InferBroadcast(context);
}

void InferElementwiseUnary(InferContext& context)
{
    InferSame(context);
}

void InferFakeQuantization(InferContext& context)
{
    const auto& descriptor = context.Descriptor<FakeQuantizationDescriptor>();
    context.Check(descriptor.m_Min < descriptor.m_Max && std::isfinite(descriptor.m_Max - descriptor.m_Min),
                  "the range [{}, {}] to quantize is empty or not finite", descriptor.m_Min, descriptor.m_Max);
    context.Check(descriptor.m_NumBits >= 2 && descriptor.m_NumBits <= 16, "{} bits; they must be 2 to 16",
                  descriptor.m_NumBits);
    InferSame(context);
}

void InferFloor(InferContext& context)
{
    InferSame(context);
}

// AddMulAdd is (in0 + in1) * in2 + in3; this is its last output. The first of two outputs is the sum of in0 and in1.
void InferFused(InferContext& context)
{
    CheckAllConnected(context);
    context.Check(context.NumInputs() == 4 && (context.NumOutputs() == 1 || context.NumOutputs() == 2),
                  "AddMulAdd has 4 inputs and 1 or 2 outputs, not {} and {}", context.NumInputs(),
                  context.NumOutputs());
    const TensorShape sum = Broadcast(context, context.InputShape(0), context.InputShape(1));
    const TensorShape product = Broadcast(context, sum, context.InputShape(2));
    context.SetOutputShape(0, sum);
    context.SetOutputShape(context.NumOutputs() - 1, Broadcast(context, product, context.InputShape(3)));
}

void InferLogicalBinary(InferContext& context)
{
    InferBroadcast(context);
}

void InferPrelu(InferContext& context)
{
    InferBroadcast(context);
}

void InferQuantize(InferContext& context)
{
    InferSame(context);
}

void InferRoll(InferContext& context)
{
    const TensorShape& shifts = context.InputShape(1);
    const TensorShape& axes = context.InputShape(2);
    context.Check(shifts.GetNumDimensions() <= 1 && axes.GetNumDimensions() <= 1 &&
                      shifts.GetNumElements64() == axes.GetNumElements64(),
                  "shifts of shape {} and axes of shape {}: both must be flat, with one shift for each axis", shifts,
                  axes);
    InferSame(context);
}

void InferTable(InferContext& context)
{
    const unsigned int entries = GetDataTypeBits(context.Input(0).GetDataType()) == 8 ? 256 : 513;
    context.Check(context.InputShape(1).GetNumElements64() == entries,
                  "input 1, the table, has shape {}, but it must have {} entries", context.InputShape(1), entries);
    InferSame(context);
}

void InferZerosLike(InferContext& context)
{
    InferSame(context);
}

} // namespace tenon::infer
