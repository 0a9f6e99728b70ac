// SPDX-License-Identifier: Apache-2.0
// TransposeConvolution3d: NDHWC data, weights [D, H, W, O, I]. Float types.
#include "backends/common/KernelTable.hpp"
#include "backends/reference/kernels/F16AsF32.hpp"
#include "backends/reference/kernels/TransposedConvolution.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Convolution.hpp>

namespace tenon::ref
{

namespace
{

using backends::SameType;

constexpr backends::TypeRow TransposeConvolution3dTypes[] = {
    SameType({DataType::Float32, DataType::Float64, DataType::Float16, DataType::BFloat16}, 3)};

SupportResult Check(const LayerView& layer)
{
    return CheckVolume(layer.GetDescriptor<TransposeConvolution3dDescriptor>());
}

TransposedConvolutionGeometry MakeGeometry(const ReshapeArgs& args)
{
    const TensorShape& data = args.GetInput(0).GetShape();
    const TensorShape& weights = args.GetInput(1).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    const bool fits = data.GetNumDimensions() == 5 && weights.GetNumDimensions() == 5 &&
                      output.GetNumDimensions() == 5 && output[0] <= data[0] && weights[4] == data[4] &&
                      weights[3] == output[4] && (!args.HasInput(2) || args.GetInput(2).GetNumElements() == output[4]);
    if (!fits)
    {
        throw LayerValidationException("data " + data.ToString() + ", weights " + weights.ToString() + " and output " +
                                       output.ToString() +
                                       " do not fit together: weights are [D, H, W, O, I], a bias has O elements");
    }
    TransposedConvolutionGeometry g;
    SetVolumeAxes(args.GetDescriptor<TransposeConvolution3dDescriptor>(), data, weights, output, g);
    g.m_TapStep = g.m_OutputChannels * g.m_InputChannels;
    g.m_OutputStep = g.m_InputChannels;
    return g;
}

backends::Prepared PrepareFloat(const ReshapeArgs& args, const backends::PackedWeights*)
{
    return PrepareTransposedConvolution(args, MakeGeometry(args), SumRequantizer::Method::FixedPoint, false);
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    return PrepareF16AsF32(args, PrepareFloat, packed);
}

} // namespace

extern const backends::Kernel RefTransposeConvolution3dKernel = {"RefTransposeConvolution3d",
                                                                 TransposeConvolution3dTypes, Prepare, Check};

} // namespace tenon::ref
