// SPDX-License-Identifier: Apache-2.0
// DepthwiseConvolution2d of CpuAcc for int16 data and constant weights of int8 or int4; the numbers of CpuRef.
#include "backends/cpu/depthwise/int16/DepthwiseDriverInt16.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"
#include "backends/cpu/weights/WeightsCheckInt8.hpp"
#include "backends/reference/Kernels.hpp"

namespace tenon::cpu
{

namespace
{

/// Larger windows would need large indirection buffers.
constexpr uint64_t MaxTaps = 512;

uint64_t GetTaps(const TensorShape& weights)
{
    return uint64_t{weights[1]} * weights[2];
}

SupportResult Check(const LayerView& layer)
{
    const SupportResult result = CheckWeightsInt8(layer, 4, 3);
    if (!result)
    {
        return result;
    }
    const TensorShape& data = layer.GetInput(0).GetShape();
    const TensorShape& weights = layer.GetInput(1).GetShape();
    const bool isKnown = data.GetDimensionality() == Dimensionality::Specified && data.GetNumDimensions() == 4 &&
                         data.GetDimensionSpecificity(3);
    if (GetTaps(weights) > MaxTaps || (isKnown && (data[3] == 0 || weights[3] % data[3] != 0)))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "the window is large, or its weights are not whole channels of the data");
    }
    return CheckPackedSize(PackedDepthwiseInt16::GetPackedBytes(GetTaps(weights), weights[3], 1),
                           weights.GetNumElements64());
}

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    const TensorShape& weights = layer.GetInput(1).GetShape();
    return std::make_unique<PackedDepthwiseInt16>(WeightReaderInt16(layer, weights[3], false),
                                                  static_cast<size_t>(GetTaps(weights)), weights[3], 1, store);
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const PackedDepthwiseInt16&>(*packed);
    if (!weights.IsExact())
    {
        return backends::Prepared::Declined("its weights are not exact in sums of 32 bits");
    }
    const ref::ConvolutionGeometry g = ref::MakeDepthwiseGeometry(args); // checks the shapes
    if (g.IsEmpty())
    {
        return [](const ExecuteArgs&) {};
    }
    const DepthwiseDriverInt16 depthwise(args, g, weights);
    return {depthwise, depthwise.GetScratchBytes()};
}

} // namespace

extern const backends::Kernel CpuDepthwiseConvolution2dInt16Kernel = {.m_Name = "CpuDepthwiseConvolution2dInt16",
                                                                      .m_Types = Int16Types,
                                                                      .m_Prepare = Prepare,
                                                                      .m_Check = Check,
                                                                      .m_Pack = Pack,
                                                                      .m_Fuse = backends::FuseClamp,
                                                                      .m_Reference =
                                                                          &ref::RefDepthwiseConvolution2dKernel};

} // namespace tenon::cpu
