// SPDX-License-Identifier: Apache-2.0
// Shape inference of operations on single elements: the input's shape, or that of two inputs broadcast to each other.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

namespace tenon::infer
{

namespace
{

void InferSame(InferContext& context)
{
    context.SetOutputShape(0, context.InputShape(0));
}

void InferBroadcast(InferContext& context)
{
    context.SetOutputShape(0, Broadcast(context, context.InputShape(0), context.InputShape(1)));
}

} // namespace

void InferActivation(InferContext& context)
{
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
    InferSame(context);
}

void InferFloor(InferContext& context)
{
    InferSame(context);
}

// AddMulAdd is (in0 + in1) * in2 + in3; the last output is that, the first of two the sum of in0 and in1.
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

} // namespace tenon::infer
