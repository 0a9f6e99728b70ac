// SPDX-License-Identifier: Apache-2.0
// Shape inference of normalizations: the output has the input's shape; the layers differ in their further inputs.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/descriptors/Normalization.hpp>

namespace tenon::infer
{

namespace
{

// Infers the output of Softmax and LogSoftmax, which share a descriptor.
void InferSoftmaxFamily(InferContext& context)
{
    const int axis = context.Descriptor<SoftmaxDescriptor>().m_Axis;
    const unsigned int canonical = context.CanonicalAxis(axis, context.InputShape(0).GetNumDimensions());
    if (axis < 0)
    {
        context.Edit<SoftmaxDescriptor>().m_Axis = static_cast<int>(canonical);
    }
    context.SetOutputShape(0, context.InputShape(0));
}

// Scale or bias of LayerNormalization: one element, or the dimensions of input 0 from `axis` on, behind any ones.
void CheckNormalizedParameter(const InferContext& context, size_t parameter, const char* what, unsigned int axis)
{
    if (!context.HasInput(parameter) || context.InputShape(parameter).GetNumElements64() == 1)
    {
        return;
    }
    const TensorShape& data = context.InputShape(0);
    const TensorShape& shape = context.InputShape(parameter);
    bool fits = shape.GetNumDimensions() <= data.GetNumDimensions();
    for (unsigned int i = 0; fits && i < data.GetNumDimensions(); ++i)
    {
        const unsigned int missing = data.GetNumDimensions() - shape.GetNumDimensions();
        const unsigned int size = i < missing ? 1 : shape[i - missing];
        fits = size == (i < axis ? 1 : data[i]);
    }
    context.Check(fits,
                  "input {}, the {}, has shape {}, but it must have one element or the sizes of input 0, {}, from "
                  "dimension {} on",
                  parameter, what, shape, data, axis);
}

// Scale or bias of a LayerNormalization that normalizes dimensions in the middle.
void CheckBroadcastParameter(const InferContext& context, size_t parameter, const char* what)
{
    if (!context.HasInput(parameter))
    {
        return;
    }
    const TensorShape& data = context.InputShape(0);
    context.Check(Broadcast(context, data, context.InputShape(parameter)) == data,
                  "input {}, the {}, has shape {}, which does not broadcast to that of input 0, {}", parameter, what,
                  context.InputShape(parameter), data);
}

} // namespace

void InferBatchNormalization(InferContext& context)
{
    const unsigned int channels = GetChannels(context, context.Descriptor<BatchNormalizationDescriptor>().m_DataLayout);
    CheckElements(context, 1, "mean", channels);
    CheckElements(context, 2, "variance", channels);
    CheckElements(context, 3, "beta", channels);
    CheckElements(context, 4, "gamma", channels);
    context.SetOutputShape(0, context.InputShape(0));
}

void InferInstanceNormalization(InferContext& context)
{
    CheckRank(context, 0, 4);
    GetImageDims(context, context.Descriptor<InstanceNormalizationDescriptor>().m_DataLayout);
    context.SetOutputShape(0, context.InputShape(0));
}

void InferL2Normalization(InferContext& context)
{
    GetChannels(context, context.Descriptor<L2NormalizationDescriptor>().m_DataLayout);
    context.SetOutputShape(0, context.InputShape(0));
}

void InferLayerNormalization(InferContext& context)
{
    const TensorShape& input = context.InputShape(0);
    const auto given = context.Descriptor<LayerNormalizationDescriptor>();
    const unsigned int canonical = context.CanonicalAxis(given.m_Axis, input.GetNumDimensions());
    const unsigned int following = input.GetNumDimensions() - canonical;
    context.Check(given.m_NumAxes <= following,
                  "{} dimensions from dimension {} on are more than input 0 of shape {} has", given.m_NumAxes,
                  canonical, input);
    const bool isLast = given.m_NumAxes == 0 || given.m_NumAxes == following;
    if (given.m_Axis < 0 || (isLast && given.m_NumAxes != 0))
    {
        auto& edited = context.Edit<LayerNormalizationDescriptor>();
        edited.m_Axis = static_cast<int>(canonical);
        edited.m_NumAxes = isLast ? 0 : given.m_NumAxes;
    }
    for (const auto& [parameter, what] : {std::pair(1U, "scale"), std::pair(2U, "bias")})
    {
        isLast ? CheckNormalizedParameter(context, parameter, what, canonical)
               : CheckBroadcastParameter(context, parameter, what);
    }
    context.SetOutputShape(0, input);
}

void InferLogSoftmax(InferContext& context)
{
    InferSoftmaxFamily(context);
}

void InferNormalization(InferContext& context)
{
    CheckRank(context, 0, 4);
    GetImageDims(context, context.Descriptor<NormalizationDescriptor>().m_DataLayout);
    context.SetOutputShape(0, context.InputShape(0));
}

void InferSoftmax(InferContext& context)
{
    InferSoftmaxFamily(context);
}

} // namespace tenon::infer
