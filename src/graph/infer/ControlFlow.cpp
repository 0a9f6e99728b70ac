// SPDX-License-Identifier: Apache-2.0
// Shape inference of layers that the runtime itself runs: branches and loops, whose shapes only the run knows, and
// states.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/descriptors/ControlFlow.hpp>

namespace tenon::infer
{

void InferIf(InferContext& context)
{
    context.Check(context.Input(0).GetDataType() == DataType::Boolean, "input 0, the condition, is {}, not Boolean",
                  GetDataTypeName(context.Input(0).GetDataType()));
    CheckElements(context, 0, "condition", 1);
    CheckAllConnected(context);
}

void InferWhile(InferContext& context)
{
    CheckAllConnected(context);
}

void InferReadState(InferContext& context)
{
    const auto& descriptor = context.Descriptor<StateDescriptor>();
    context.Check(!descriptor.m_Name.empty(), "a state must have a name: set StateDescriptor::m_Name");
    context.Check(!context.HasInput(0) || context.Input(0).GetDataType() == context.DeclaredOutput(0).GetDataType(),
                  "input 0, the initial value, is of another type than the state, which is {}",
                  GetDataTypeName(context.DeclaredOutput(0).GetDataType()));
    TensorShape shape = context.HasInput(0) ? context.InputShape(0) : context.DeclaredOutput(0).GetShape();
    if (context.HasInput(1))
    {
        const TensorShape& reference = context.InputShape(1);
        context.Check(descriptor.m_BatchDimension < reference.GetNumDimensions(),
                      "input 1 of shape {} has no dimension {} to take the batch size from", reference,
                      descriptor.m_BatchDimension);
        context.Check(shape.GetDimensionality() == Dimensionality::Specified && shape.GetNumDimensions() > 0,
                      "a state with a batch reference must have a declared rank of at least 1");
        shape.SetDimensionSize(0, reference[descriptor.m_BatchDimension]);
    }
    context.SetOutputShape(0, shape);
}

void InferWriteState(InferContext& context)
{
    context.Check(!context.Descriptor<StateDescriptor>().m_Name.empty(),
                  "a state must have a name: set StateDescriptor::m_Name");
}

} // namespace tenon::infer
