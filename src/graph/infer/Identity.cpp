// SPDX-License-Identifier: Apache-2.0
// Shape inference of layers that compute nothing: the ends of a network, copies, control flow, questions about shapes,
// and layers of which only their maker knows the outputs.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/backend/ICustomOperator.hpp>

namespace tenon::infer
{

namespace
{

// The shapes that the layer's maker declared, known or not.
void InferDeclared(InferContext& context)
{
    for (size_t i = 0; i < context.NumOutputs(); ++i)
    {
        context.SetOutputShape(i, context.DeclaredOutput(i).GetShape());
    }
}

} // namespace

void InferConstant(InferContext& context)
{
    InferDeclared(context);
}

void InferConvertFp16ToFp32(InferContext& context)
{
    InferSame(context);
}

void InferConvertFp32ToFp16(InferContext& context)
{
    InferSame(context);
}

void InferCustom(InferContext& context)
{
    const auto& descriptor = context.Descriptor<CustomDescriptor>();
    if (descriptor.m_Operator == nullptr)
    {
        InferDeclared(context);
        return;
    }
    const std::vector<TensorShape> shapes =
        descriptor.m_Operator->InferOutputShapes({descriptor, context.Inputs(), context.InputValues()});
    context.Check(shapes.size() == context.NumOutputs(),
                  "custom operator '{}' gave shapes of {} outputs, but it has {}", descriptor.m_Name, shapes.size(),
                  context.NumOutputs());
    for (size_t i = 0; i < shapes.size(); ++i)
    {
        context.SetOutputShape(i, shapes[i]);
    }
}

void InferInput(InferContext& context)
{
    InferDeclared(context);
}

void InferMap(InferContext&) {}

void InferMemCopy(InferContext& context)
{
    InferSame(context);
}

void InferMemImport(InferContext& context)
{
    InferSame(context);
}

void InferMerge(InferContext& context)
{
    context.Check(context.InputShape(0) == context.InputShape(1),
                  "inputs of shapes {} and {} cannot be merged: they "
                  "must have one shape",
                  context.InputShape(0), context.InputShape(1));
    InferSame(context);
}

void InferOutput(InferContext&) {}

void InferPreCompiled(InferContext& context)
{
    InferDeclared(context);
}

void InferRank(InferContext& context)
{
    context.SetOutputShape(0, TensorShape(Dimensionality::Scalar));
}

void InferShape(InferContext& context)
{
    context.SetOutputShape(0, TensorShape({context.InputShape(0).GetNumDimensions()}));
}

void InferStandIn(InferContext& context)
{
    InferDeclared(context);
}

void InferSwitch(InferContext& context)
{
    InferSame(context);
    context.SetOutputShape(1, context.InputShape(0));
}

void InferUnmap(InferContext&) {}

} // namespace tenon::infer
