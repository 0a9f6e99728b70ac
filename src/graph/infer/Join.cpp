// SPDX-License-Identifier: Apache-2.0
// Shape inference of joining tensors and cutting them into views.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/descriptors/Slicing.hpp>

namespace tenon::infer
{

namespace
{

// An unsigned axis of a descriptor as a number that may count from the end: 4294967295 stands for -1.
int32_t SignedAxis(uint32_t axis)
{
    return static_cast<int32_t>(axis);
}

// Origins are optional; where there are any, they must agree with the axis and the inputs' shapes.
void CheckOrigins(const InferContext& context, const ConcatDescriptor& descriptor)
{
    const unsigned int rank = context.InputShape(0).GetNumDimensions();
    context.Check(descriptor.GetNumDimensions() == rank, "view origins of {} dimensions do not fit input 0 of shape {}",
                  descriptor.GetNumDimensions(), context.InputShape(0));
    uint64_t start = 0;
    for (uint32_t view = 0; view < descriptor.GetNumViews(); ++view)
    {
        const uint32_t* const origin = descriptor.GetViewOrigin(view);
        for (unsigned int i = 0; i < rank; ++i)
        {
            const uint64_t expected = i == descriptor.GetConcatAxis() ? start : 0;
            context.Check(
                origin[i] == expected,
                "coordinate {} of the origin of view {} is {}, but the inputs' shapes and concat axis {} give "
                "{}; leave the origins out to have them computed",
                i, view, origin[i], descriptor.GetConcatAxis(), expected);
        }
        start += context.InputShape(view)[descriptor.GetConcatAxis()];
    }
}

// Splitter along an axis: views may leave out sizes that follow from the input's shape. A size of 0 in another
// dimension stands for all of it; views without any size along the axis are equal parts, one after the other.
SplitterDescriptor CompleteViews(const InferContext& context, const SplitterDescriptor& descriptor)
{
    const TensorShape& input = context.InputShape(0);
    const unsigned int rank = input.GetNumDimensions();
    const unsigned int axis = context.CanonicalAxis(descriptor.GetAxis(), rank);
    const uint32_t numViews = descriptor.GetNumViews();
    bool isSized = false;
    for (uint32_t view = 0; view < numViews && axis < descriptor.GetNumDimensions(); ++view)
    {
        isSized = isSized || descriptor.GetViewSizes(view)[axis] != 0;
    }
    context.Check(isSized || input[axis] % numViews == 0,
                  "dimension {} of input 0 of shape {} cannot be cut into {} "
                  "equal parts",
                  axis, input, numViews);
    context.Check(!isSized || descriptor.GetNumDimensions() == rank,
                  "views of {} dimensions do not fit input 0 of shape {}", descriptor.GetNumDimensions(), input);

    SplitterDescriptor complete(numViews, rank);
    complete.SetAxis(static_cast<int32_t>(axis));
    for (uint32_t view = 0; view < numViews; ++view)
    {
        for (unsigned int i = 0; i < rank; ++i)
        {
            uint32_t origin = isSized ? descriptor.GetViewOrigin(view)[i] : 0;
            uint32_t size = isSized ? descriptor.GetViewSizes(view)[i] : 0;
            if (i != axis && size == 0)
            {
                size = input[i];
            }
            else if (!isSized)
            {
                size = input[axis] / numViews;
                origin = view * size;
            }
            complete.SetViewOriginCoord(view, i, origin);
            complete.SetViewSize(view, i, size);
        }
    }
    return complete;
}

// The sizes of the parts along `axis`: input 2, in which -1 stands for the size that the others leave, or equal ones.
std::vector<int64_t> GetParts(const InferContext& context, const SplitterDescriptor& descriptor, unsigned int axis)
{
    const TensorShape& input = context.InputShape(0);
    const uint32_t numViews = descriptor.GetNumViews();
    if (!descriptor.m_SizesAsInput)
    {
        context.Check(input[axis] % numViews == 0,
                      "dimension {} of input 0 of shape {} cannot be cut into {} equal parts", axis, input, numViews);
        return std::vector<int64_t>(numViews, input[axis] / numViews);
    }
    std::vector<int64_t> parts = context.Values(2, numViews);
    context.Check(parts.size() == numViews, "input 2 has {} sizes for {} outputs", parts.size(), numViews);
    int64_t* rest = nullptr;
    int64_t sum = 0;
    for (int64_t& part : parts)
    {
        const bool isRest = part == -1 && rest == nullptr;
        context.Check(isRest || (part >= 0 && part <= input[axis]),
                      "input 2 has size {} for a part of {} elements; there may be one -1", part, input[axis]);
        rest = isRest ? &part : rest;
        sum += isRest ? 0 : part;
    }
    if (rest != nullptr && sum <= input[axis])
    {
        *rest = input[axis] - sum;
        sum = input[axis];
    }
    context.Check(sum == input[axis], "input 2 has sizes that make {} in place of {}, dimension {} of input 0", sum,
                  input[axis], axis);
    return parts;
}

// The views that inputs 1 and 2 describe.
void ResolveViews(InferContext& context)
{
    const auto& descriptor = context.Descriptor<SplitterDescriptor>();
    const TensorShape& input = context.InputShape(0);
    const unsigned int rank = input.GetNumDimensions();
    const std::vector<int64_t> axes = context.Values(1, 1);
    context.Check(axes.size() == 1, "input 1, the axis, has {} elements in place of 1", axes.size());
    const unsigned int axis = context.CanonicalAxis(axes.front(), rank);
    const std::vector<int64_t> parts = GetParts(context, descriptor, axis);

    SplitterDescriptor resolved(descriptor.GetNumViews(), rank);
    resolved.SetAxis(static_cast<int32_t>(axis));
    int64_t origin = 0;
    for (uint32_t view = 0; view < parts.size(); ++view)
    {
        for (unsigned int i = 0; i < rank; ++i)
        {
            resolved.SetViewSize(view, i, input[i]);
        }
        resolved.SetViewOriginCoord(view, axis, static_cast<uint32_t>(origin));
        resolved.SetViewSize(view, axis, static_cast<uint32_t>(parts[view]));
        origin += parts[view];
    }
    context.Edit<SplitterDescriptor>() = std::move(resolved);
}

} // namespace

void InferConcat(InferContext& context)
{
    CheckAllConnected(context);
    TensorShape output = context.InputShape(0);
    const unsigned int rank = output.GetNumDimensions();
    const int64_t given = SignedAxis(context.Descriptor<ConcatDescriptor>().GetConcatAxis());
    context.Check(given >= -int64_t{rank} && given < int64_t{rank},
                  "concat axis {} does not exist in input 0 of shape {}", given, output);
    const unsigned int axis = context.CanonicalAxis(given, rank);
    if (given < 0)
    {
        context.Edit<ConcatDescriptor>().SetConcatAxis(axis);
    }
    const auto& descriptor = context.Descriptor<ConcatDescriptor>();
    int64_t size = output[axis];
    for (size_t input = 1; input < context.NumInputs(); ++input)
    {
        const TensorShape& shape = context.InputShape(input);
        bool fits = shape.GetNumDimensions() == rank;
        for (unsigned int i = 0; fits && i < rank; ++i)
        {
            fits = i == axis || shape[i] == output[i];
        }
        context.Check(fits,
                      "input {} of shape {} cannot be joined to input 0 of shape {} along axis {}: all other "
                      "dimensions must be equal",
                      input, shape, output, axis);
        size += shape[axis];
    }
    output.SetDimensionSize(axis, ToSize(context, size));
    if (descriptor.HasOrigins())
    {
        CheckOrigins(context, descriptor);
    }
    context.SetOutputShape(0, output);
}

void InferSplitter(InferContext& context)
{
    context.Check(context.Descriptor<SplitterDescriptor>().GetNumViews() > 0, "the layer needs at least one view");
    context.Check(context.Descriptor<SplitterDescriptor>().m_ParametersAsInputs ||
                      !context.Descriptor<SplitterDescriptor>().m_SizesAsInput,
                  "the sizes are an input but the axis is not; set m_ParametersAsInputs, too");
    const bool isResolved = !context.Descriptor<SplitterDescriptor>().m_ParametersAsInputs;
    if (!isResolved)
    {
        ResolveViews(context);
    }
    const auto* descriptor = &context.Descriptor<SplitterDescriptor>();
    if (isResolved && descriptor->HasAxis())
    {
        auto complete = CompleteViews(context, *descriptor);
        if (complete != *descriptor)
        {
            auto& edited = context.Edit<SplitterDescriptor>();
            edited = std::move(complete);
            descriptor = &edited;
        }
    }
    const TensorShape& input = context.InputShape(0);
    const unsigned int rank = input.GetNumDimensions();
    context.Check(descriptor->GetNumDimensions() == rank, "views of {} dimensions do not fit input 0 of shape {}",
                  descriptor->GetNumDimensions(), input);
    for (uint32_t view = 0; view < descriptor->GetNumViews(); ++view)
    {
        const uint32_t* const origin = descriptor->GetViewOrigin(view);
        const uint32_t* const size = descriptor->GetViewSizes(view);
        for (unsigned int i = 0; i < rank; ++i)
        {
            context.Check(
                uint64_t{origin[i]} + size[i] <= input[i],
                "view {} takes {} elements from {} in dimension {}, which is more than input 0 of shape {} has", view,
                size[i], origin[i], i, input);
        }
        context.SetOutputShape(view, TensorShape(rank, size));
    }
}

void InferStack(InferContext& context)
{
    CheckAllConnected(context);
    const TensorShape& input = context.InputShape(0);
    const TensorShape wanted = context.Descriptor<StackDescriptor>().m_InputShape;
    context.Check(!wanted.AreAllDimensionsSpecified() || wanted == input,
                  "input 0 of shape {} has not the shape {} that the descriptor gives", input, wanted);
    for (size_t i = 1; i < context.NumInputs(); ++i)
    {
        context.Check(context.InputShape(i) == input, "input {} of shape {} cannot be stacked on input 0 of shape {}",
                      i, context.InputShape(i), input);
    }
    const unsigned int rank = input.GetNumDimensions();
    const int64_t given = SignedAxis(context.Descriptor<StackDescriptor>().m_Axis);
    context.Check(given >= -int64_t{rank} - 1 && given <= int64_t{rank},
                  "axis {} does not exist in the stack of inputs of shape {}", given, input);
    const unsigned int axis = context.CanonicalAxis(given, rank + 1);
    if (given < 0)
    {
        context.Edit<StackDescriptor>().m_Axis = axis;
    }
    ShapeBuilder output(context);
    output.AddRange(input, 0, axis);
    output.Add(static_cast<int64_t>(context.NumInputs()));
    output.AddRange(input, axis, rank);
    context.SetOutputShape(0, output.Shape());
}

} // namespace tenon::infer
