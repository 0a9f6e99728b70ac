// SPDX-License-Identifier: Apache-2.0
// Shape inference of layers that choose: between two tensors, the best elements or boxes, and the elements that are not
// zero.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/descriptors/Elementwise.hpp>
#include <tenon/descriptors/Indexing.hpp>
#include <tenon/descriptors/Vision.hpp>

#include <algorithm>

namespace tenon::infer
{

namespace
{

// The only value of parameter tensor `input`, which `what` names.
int64_t OneValue(const InferContext& context, size_t input, const char* what)
{
    const std::vector<int64_t> values = context.Values(input);
    context.Check(values.size() == 1, "input {}, {}, has {} elements in place of one", input, what, values.size());
    return values[0];
}

bool HasOneElement(const TensorShape& shape)
{
    return shape.AreAllDimensionsSpecified() && shape.GetNumElements64() == 1;
}

} // namespace

void InferSelect(InferContext& context)
{
    const TensorShape& condition = context.InputShape(0);
    const TensorShape& x = context.InputShape(1);
    const TensorShape& y = context.InputShape(2);
    // Single elements may come as scalars or not; the declared shape decides, as in TFLite.
    const TensorShape& declared = context.DeclaredOutput(0).GetShape();
    if (HasOneElement(condition) && HasOneElement(x) && HasOneElement(y) && HasOneElement(declared))
    {
        context.SetOutputShape(0, declared);
        return;
    }
    if (!context.Descriptor<SelectDescriptor>().m_ConditionBySlice)
    {
        context.SetOutputShape(0, Broadcast(context, condition, Broadcast(context, x, y)));
        return;
    }
    context.Check(x == y, "inputs 1 and 2 have shapes {} and {}; both must have the same", x, y);
    const bool isBySlice = condition.GetNumDimensions() == 1 && x.GetNumDimensions() >= 1 && condition[0] == x[0];
    context.Check(
        condition == x || condition.GetNumDimensions() == 0 || isBySlice,
        "input 0 of shape {} does not choose from inputs of shape {}: it must be a scalar, or of their shape, "
        "or flat with one element for each slice along dimension 0",
        condition, x);
    context.SetOutputShape(0, x);
}

void InferTopK(InferContext& context)
{
    const TensorShape& input = context.InputShape(0);
    const unsigned int rank = input.GetNumDimensions();
    context.Check(rank >= 1, "input 0 is a scalar; the elements must have an axis to choose along");
    const unsigned int axis = context.CanonicalAxis(context.Descriptor<TopKDescriptor>().m_Axis, rank);
    const int64_t given = OneValue(context, 1, "the number of elements");
    // TFLite takes negative numbers as none.
    const int64_t count = std::max<int64_t>(given, 0);
    context.Check(count <= input[axis],
                  "{} elements are asked for, but dimension {} of input 0 of shape {} has no more than {}", given, axis,
                  input, input[axis]);
    ShapeBuilder output(context);
    output.AddRange(input, 0, axis);
    output.Add(count);
    output.AddRange(input, axis + 1, rank);
    context.SetOutputShape(0, output.Shape());
    context.SetOutputShape(1, output.Shape());
}

void InferUnique(InferContext& context)
{
    const auto& descriptor = context.Descriptor<UniqueDescriptor>();
    if (!descriptor.m_AxisEnabled)
    {
        CheckRank(context, 0, 1);
        return;
    }
    const unsigned int axis = context.CanonicalAxis(descriptor.m_Axis, context.InputShape(0).GetNumDimensions());
    if (descriptor.m_Axis < 0)
    {
        context.Edit<UniqueDescriptor>().m_Axis = static_cast<int32_t>(axis);
    }
}

void InferWhere(InferContext& context)
{
    context.Check(context.InputShape(0).GetNumDimensions() >= 1,
                  "input 0 is a scalar; an element of a scalar has no indices");
}

void InferNonMaxSuppression(InferContext& context)
{
    const auto& descriptor = context.Descriptor<NonMaxSuppressionDescriptor>();
    CheckAllConnected(context);
    CheckRank(context, 0, 2);
    CheckRank(context, 1, 1);
    const TensorShape& boxes = context.InputShape(0);
    const TensorShape& scores = context.InputShape(1);
    context.Check(boxes[1] == 4, "input 0, the boxes, has shape {}; a box has 4 numbers", boxes);
    context.Check(boxes[0] == scores[0], "input 1, the scores, has shape {}, but there are {} boxes", scores, boxes[0]);
    CheckElements(context, 2, "limit", 1);
    CheckElements(context, 3, "overlap threshold", 1);
    CheckElements(context, 4, "score threshold", 1);
    if (descriptor.m_Soft)
    {
        CheckElements(context, 5, "sigma", 1);
    }
    const int64_t limit = OneValue(context, 2, "the limit");
    context.Check(limit >= 0, "input 2, the limit, is {}; it may not be negative", limit);
    const size_t lists = context.NumOutputs() - 1;
    for (size_t i = 0; i < lists; ++i)
    {
        context.SetOutputShape(i, std::vector<int64_t>{limit});
    }
    context.SetOutputShape(lists, TensorShape(Dimensionality::Scalar));
}

} // namespace tenon::infer
