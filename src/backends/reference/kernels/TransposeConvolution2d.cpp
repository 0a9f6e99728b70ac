// SPDX-License-Identifier: Apache-2.0
// TransposeConvolution2d: NHWC data, weights [O, H, W, I]. Types are those of Convolution2d, except that float data
// needs int8 weights if they are integers.
#include "backends/common/FusedActivation.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/reference/kernels/F16AsF32.hpp"
#include "backends/reference/kernels/TransposedConvolution.hpp"
#include "backends/reference/kernels/UnpackedWeights.hpp"
#include "backends/reference/kernels/WeightedSum.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Convolution.hpp>

namespace tenon::ref
{

namespace
{

SupportResult Check(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<TransposeConvolution2dDescriptor>();
    if (descriptor.m_DataLayout != DataLayout::NHWC)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "its data layout is not NHWC; the optimizer turns NCHW layers into NHWC ones, unless "
                                 "the output's shape arrives at run time");
    }
    if (descriptor.m_StrideX == 0 || descriptor.m_StrideY == 0)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "a stride is 0; they start at 1");
    }
    return CheckSignedWeights(layer, 0);
}

TransposedConvolutionGeometry MakeGeometry(const ReshapeArgs& args)
{
    const auto& descriptor = args.GetDescriptor<TransposeConvolution2dDescriptor>();
    const TensorShape& data = args.GetInput(0).GetShape();
    const TensorShape& weights = args.GetInput(1).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    const bool fits = data.GetNumDimensions() == 4 && weights.GetNumDimensions() == 4 &&
                      output.GetNumDimensions() == 4 && output[0] <= data[0] && weights[3] == data[3] &&
                      weights[0] == output[3] && (!args.HasInput(2) || args.GetInput(2).GetNumElements() == output[3]);
    if (!fits)
    {
        throw LayerValidationException("data " + data.ToString() + ", weights " + weights.ToString() + " and output " +
                                       output.ToString() +
                                       " do not fit together: weights are [O, H, W, I], a bias has O elements");
    }
    TransposedConvolutionGeometry g;
    g.m_Batches = output[0];
    g.m_Y = {data[1], output[1], weights[1], descriptor.m_StrideY, 1, descriptor.m_PadTop};
    g.m_X = {data[2], output[2], weights[2], descriptor.m_StrideX, 1, descriptor.m_PadLeft};
    g.m_InputChannels = data[3];
    g.m_OutputChannels = output[3];
    g.m_TapStep = g.m_InputChannels;
    g.m_OutputStep = g.m_Y.m_Kernel * g.m_X.m_Kernel * g.m_InputChannels;
    return g;
}

backends::Prepared PrepareBytes(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<TransposeConvolution2dDescriptor>();
    const auto method = SumRequantizer::ChooseMethod(descriptor.m_Requantization, SumRequantizer::Method::FixedPoint);
    return PrepareTransposedConvolution(args, MakeGeometry(args), method, descriptor.m_SumsOf32Bits);
}

backends::Prepared PrepareExceptF16(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    return PrepareWithUnpackedWeights(args, PrepareBytes, packed);
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    return PrepareF16AsF32(args, PrepareExceptF16, packed);
}

} // namespace

extern const backends::Kernel RefTransposeConvolution2dKernel = {.m_Name = "RefTransposeConvolution2d",
                                                                 .m_Types = WeightedSumTypes,
                                                                 .m_Prepare = Prepare,
                                                                 .m_Check = Check,
                                                                 .m_Fuse = backends::FuseClamp,
                                                                 .m_RoundsHalfToEven = true};

} // namespace tenon::ref
