// SPDX-License-Identifier: Apache-2.0
// Convolution2d: NHWC data, weights [O, H, W, I], grouped if the data has more channels than I. Types are floats and
// doubles; uint8 and int8 as in TFLite's reference kernels; 16-bit data with 8-bit weights; float data with 8-bit
// weights.
#include "backends/common/FusedActivation.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/reference/kernels/F16AsF32.hpp"
#include "backends/reference/kernels/HybridInput.hpp"
#include "backends/reference/kernels/RowProducts.hpp"
#include "backends/reference/kernels/SumRequantizer.hpp"
#include "backends/reference/kernels/UnpackedWeights.hpp"
#include "backends/reference/kernels/WeightedSum.hpp"

#include <tenon/descriptors/Convolution.hpp>

namespace tenon::ref
{

namespace
{

SupportResult Check(const LayerView& layer)
{
    const SupportResult result = CheckConvolution(layer.GetDescriptor<Convolution2dDescriptor>());
    return result ? CheckWeightsQuantization(layer, 0) : result;
}

backends::Prepared PrepareBytes(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const ConvolutionGeometry g = MakeConvolutionGeometry(args);
    // TFLite quantizes the data symmetrically unless the channels' scales differ or the convolution is grouped.
    const std::vector<float> scales = args.GetInput(1).GetQuantizationScales();
    const bool asymmetric =
        g.m_Groups != 1 || std::adjacent_find(scales.begin(), scales.end(), std::not_equal_to<>()) != scales.end();
    const auto& descriptor = args.GetDescriptor<Convolution2dDescriptor>();
    const auto method = SumRequantizer::ChooseMethod(descriptor.m_Requantization, SumRequantizer::Method::FixedPoint);
    return PrepareWeightedSum(args, g, method, asymmetric, nullptr, descriptor.m_SumsOf32Bits);
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

extern const backends::Kernel RefConvolution2dKernel = {.m_Name = "RefConvolution2d",
                                                        .m_Types = WeightedSumTypes,
                                                        .m_Prepare = Prepare,
                                                        .m_Check = Check,
                                                        .m_Fuse = backends::FuseClamp,
                                                        .m_RoundsHalfToEven = true};

} // namespace tenon::ref
