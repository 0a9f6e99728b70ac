// SPDX-License-Identifier: Apache-2.0
// Shape inference of reductions. In the resolved descriptor the axes are the canonical ones: ascending, each once, all
// of them written out. An empty list there means that nothing is reduced, while in a descriptor from outside it means
// all axes; an empty tensor of axes means none.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/descriptors/Reduction.hpp>

namespace tenon::infer
{

namespace
{

// Axes of a tensor may repeat, so there may be more than the rank; this many is generous.
constexpr size_t MaxAxes = 64;

unsigned int AxisBit(const InferContext& context, int64_t axis, unsigned int rank)
{
    // A scalar has no axes, but converters write one for it all the same.
    return rank == 0 ? 0U : 1U << context.CanonicalAxis(axis, rank);
}

template <typename D>
void InferReduction(InferContext& context, std::vector<unsigned int> D::*axes)
{
    const D& descriptor = context.Descriptor<D>();
    const TensorShape& input = context.InputShape(0);
    const unsigned int rank = input.GetNumDimensions();
    unsigned int reduced = 0;
    if (descriptor.m_ParametersAsInputs)
    {
        for (int64_t axis : context.Values(1, MaxAxes))
        {
            reduced |= AxisBit(context, axis, rank);
        }
    }
    else if ((descriptor.*axes).empty())
    {
        reduced = (1U << rank) - 1U;
    }
    else
    {
        for (unsigned int axis : descriptor.*axes)
        {
            reduced |= AxisBit(context, axis, rank);
        }
    }

    D& edited = context.Edit<D>();
    edited.m_ParametersAsInputs = false;
    (edited.*axes).clear();
    ShapeBuilder output(context);
    for (unsigned int i = 0; i < rank; ++i)
    {
        if (((reduced >> i) & 1U) == 0)
        {
            output.Add(input[i]);
            continue;
        }
        (edited.*axes).push_back(i);
        if (edited.m_KeepDims)
        {
            output.Add(1);
        }
    }
    context.SetOutputShape(0, output.Shape());
}

} // namespace

void InferArgMinMax(InferContext& context)
{
    const auto& descriptor = context.Descriptor<ArgMinMaxDescriptor>();
    const TensorShape& input = context.InputShape(0);
    const unsigned int rank = input.GetNumDimensions();
    int64_t given = descriptor.m_Axis;
    if (descriptor.m_ParametersAsInputs)
    {
        const std::vector<int64_t> values = context.Values(1);
        context.Check(values.size() == 1, "input 1, the axis, has {} elements in place of one", values.size());
        given = values[0];
    }
    const unsigned int axis = context.CanonicalAxis(given, rank);
    ShapeBuilder builder(context);
    builder.AddRange(input, 0, axis);
    builder.AddRange(input, axis + 1, rank);
    const TensorShape output = builder.Shape();
    context.Check(input[axis] != 0 || output.GetNumElements64() == 0,
                  "axis {} of input 0 of shape {} has no elements to choose from", axis, input);
    context.SetOutputShape(0, output);
    if (descriptor.m_ParametersAsInputs || descriptor.m_Axis < 0)
    {
        auto& edited = context.Edit<ArgMinMaxDescriptor>();
        edited.m_Axis = static_cast<int>(axis);
        edited.m_ParametersAsInputs = false;
    }
}

void InferMean(InferContext& context)
{
    InferReduction(context, &MeanDescriptor::m_Axis);
}

void InferReduce(InferContext& context)
{
    InferReduction(context, &ReduceDescriptor::m_vAxis);
}

} // namespace tenon::infer
