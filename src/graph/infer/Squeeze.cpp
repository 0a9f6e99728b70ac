// SPDX-License-Identifier: Apache-2.0
// Shape inference of layers that add or drop dimensions of size 1.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/descriptors/Arrangement.hpp>

#include <limits>

namespace tenon::infer
{

void InferExpandDims(InferContext& context)
{
    if (context.Descriptor<ExpandDimsDescriptor>().m_ParametersAsInputs)
    {
        const std::vector<int64_t> values = context.Values(1);
        context.Check(values.size() == 1, "input 1, the axis, has {} elements in place of 1", values.size());
        context.Check(values[0] >= std::numeric_limits<int32_t>::min() &&
                          values[0] <= std::numeric_limits<int32_t>::max(),
                      "axis {} is beyond 32 bits", values[0]);
        auto& edited = context.Edit<ExpandDimsDescriptor>();
        edited.m_Axis = static_cast<int32_t>(values[0]);
        edited.m_ParametersAsInputs = false;
    }
    const TensorShape& input = context.InputShape(0);
    const unsigned int rank = input.GetNumDimensions();
    const unsigned int axis = context.CanonicalAxis(context.Descriptor<ExpandDimsDescriptor>().m_Axis, rank + 1);
    ShapeBuilder output(context);
    output.AddRange(input, 0, axis);
    output.Add(1);
    output.AddRange(input, axis, rank);
    context.SetOutputShape(0, output.Shape());
}

void InferSqueeze(InferContext& context)
{
    const TensorShape& input = context.InputShape(0);
    const unsigned int rank = input.GetNumDimensions();
    const std::vector<int32_t>& axes = context.Descriptor<SqueezeDescriptor>().m_Axis;
    std::array<bool, MaxNumOfTensorDimensions> isDropped{};
    for (const int32_t axis : axes)
    {
        const unsigned int dimension = context.CanonicalAxis(axis, rank);
        context.Check(input[dimension] == 1, "dimension {} of input 0 of shape {} cannot be dropped: its size is not 1",
                      dimension, input);
        isDropped[dimension] = true;
    }
    ShapeBuilder output(context);
    for (unsigned int i = 0; i < rank; ++i)
    {
        if (axes.empty() ? input[i] != 1 : !isDropped[i])
        {
            output.Add(input[i]);
        }
    }
    context.SetOutputShape(0, output.Shape());
}

} // namespace tenon::infer
