// SPDX-License-Identifier: Apache-2.0
// DepthwiseConvolution2d of CpuAcc for int8 images of one channel: a convolution with one input channel, which the int8
// GEMM computes from im2col rows. Speech models begin with one.
#include "backends/common/FusedActivation.hpp"
#include "backends/cpu/gemm/driver/GemmInt8.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"
#include "backends/cpu/weights/WeightsCheckInt8.hpp"
#include "backends/reference/kernels/ConvolutionGeometry.hpp"

#include <tenon/descriptors/Convolution.hpp>

namespace tenon::cpu
{

namespace
{

SupportResult Check(const LayerView& layer)
{
    SupportResult result = CheckWeightsInt8(layer, 4, 3);
    if (result)
    {
        result = ref::CheckConvolution(layer.GetDescriptor<DepthwiseConvolution2dDescriptor>());
    }
    if (!result)
    {
        return result;
    }
    const TensorShape& data = layer.GetInput(0).GetShape();
    const bool isOne = data.GetDimensionality() == Dimensionality::Specified && data.GetNumDimensions() == 4 &&
                       data.GetDimensionSpecificity(3) && data[3] == 1;
    if (!isOne)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "the data may have several channels");
    }
    const TensorShape& weights = layer.GetInput(1).GetShape();
    return CheckPackedSize(PackedWeightsInt8::GetPackedBytes(weights[3], size_t{weights[1]} * weights[2]),
                           weights.GetNumElements64());
}

/// The weights are [1, H, W, O]: a matrix [depth, columns].
std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    const TensorShape& shape = layer.GetInput(1).GetShape();
    const GemmShapeInt8 product = {shape[3], size_t{shape[1]} * shape[2], GetKnownRows(layer, shape[3]),
                                   GetRounding(layer), true};
    return std::make_unique<PackedWeightsInt8>(layer, product, store);
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const PackedWeightsInt8&>(*packed);
    const ref::ConvolutionGeometry g = ref::MakeDepthwiseGeometry(args);
    if (!weights.IsExact())
    {
        return backends::Prepared::Declined("its weights are not exact in sums of 32 bits");
    }
    if (g.m_InputChannels != 1)
    {
        return backends::Prepared::Declined("the data have several channels");
    }
    if (g.IsEmpty())
    {
        return [](const ExecuteArgs&) {};
    }
    const GemmInt8 product(weights, MakeDepthwiseIm2col(g), g.NumPixels(), args);
    return {[product](const ExecuteArgs& run) { product.Run(run); }, product.GetScratchBytes()};
}

} // namespace

extern const backends::Kernel CpuDepthwiseConvolution2dSingleChannelInt8Kernel = {
    .m_Name = "CpuDepthwiseConvolution2dSingleChannelInt8",
    .m_Types = Int8Types,
    .m_Prepare = Prepare,
    .m_Check = Check,
    .m_Pack = Pack,
    .m_Fuse = backends::FuseClamp,
    .m_RoundsHalfToEven = true};

} // namespace tenon::cpu
