// SPDX-License-Identifier: Apache-2.0
// Geometry of convolutions from descriptors and shapes.
#include "backends/reference/kernels/ConvolutionGeometry.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Convolution.hpp>

#include <string>

namespace tenon::ref
{

namespace
{

void Require(bool fits, const ReshapeArgs& args, const char* rule)
{
    if (!fits)
    {
        throw LayerValidationException(
            "data " + args.GetInput(0).GetShape().ToString() + ", weights " + args.GetInput(1).GetShape().ToString() +
            (args.HasInput(2) ? ", bias " + args.GetInput(2).GetShape().ToString() : "") + " and output " +
            args.GetOutput(0).GetShape().ToString() + " do not fit together: " + rule);
    }
}

template <typename D>
ConvolutionGeometry MakeCommon(const ReshapeArgs& args)
{
    const D& descriptor = args.GetDescriptor<D>();
    const TensorShape& data = args.GetInput(0).GetShape();
    const TensorShape& weights = args.GetInput(1).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    Require(data.GetNumDimensions() == 4 && weights.GetNumDimensions() == 4 && output.GetNumDimensions() == 4, args,
            "data, weights and output have 4 dimensions each");
    Require(data[0] == output[0], args, "data and output have the same number of batches");

    ConvolutionGeometry g;
    g.m_Batches = data[0];
    g.m_Y = {data[1], output[1], weights[1], descriptor.m_StrideY, descriptor.m_DilationY, descriptor.m_PadTop};
    g.m_X = {data[2], output[2], weights[2], descriptor.m_StrideX, descriptor.m_DilationX, descriptor.m_PadLeft};
    g.m_InputChannels = data[3];
    g.m_OutputChannels = output[3];
    if (descriptor.m_BiasEnabled && args.HasInput(2))
    {
        Require(args.GetInput(2).GetNumElements() == output[3], args, "a bias has one element for each output channel");
    }
    return g;
}

} // namespace

ConvolutionGeometry MakeConvolutionGeometry(const ReshapeArgs& args)
{
    ConvolutionGeometry g = MakeCommon<Convolution2dDescriptor>(args);
    const TensorShape& weights = args.GetInput(1).GetShape();
    Require(weights[0] == g.m_OutputChannels, args, "weights are [O, H, W, I] with O output channels");
    g.m_GroupInputs = weights[3];
    Require(g.m_GroupInputs != 0 || g.m_InputChannels == 0, args, "the weights' I is not 0 when the data has channels");
    if (g.m_GroupInputs != 0)
    {
        Require(g.m_InputChannels % g.m_GroupInputs == 0, args, "the data's channels are a multiple of the weights' I");
        g.m_Groups = g.m_InputChannels / g.m_GroupInputs;
    }
    Require(g.m_Groups != 0 && g.m_OutputChannels % g.m_Groups == 0, args,
            "the output's channels are a multiple of the number of groups, which is the data's channels / I");
    g.m_GroupOutputs = g.m_OutputChannels / g.m_Groups;
    return g;
}

ConvolutionGeometry MakeDepthwiseGeometry(const ReshapeArgs& args)
{
    ConvolutionGeometry g = MakeCommon<DepthwiseConvolution2dDescriptor>(args);
    const TensorShape& weights = args.GetInput(1).GetShape();
    Require(weights[0] == 1 && weights[3] == g.m_OutputChannels, args,
            "weights are [1, H, W, O] with O output channels");
    g.m_Groups = g.m_InputChannels;
    g.m_GroupOutputs = 0;
    if (g.m_OutputChannels != 0)
    {
        Require(g.m_Groups != 0 && g.m_OutputChannels % g.m_Groups == 0, args,
                "the output's channels are a multiple of the data's");
        g.m_GroupOutputs = g.m_OutputChannels / g.m_Groups;
    }
    return g;
}

} // namespace tenon::ref
