// SPDX-License-Identifier: Apache-2.0
// Shape inference of normalizations: the output has the input's shape; what differs is which inputs they take.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

namespace tenon::infer
{

namespace
{

// Of Softmax and LogSoftmax, which share a descriptor.
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
