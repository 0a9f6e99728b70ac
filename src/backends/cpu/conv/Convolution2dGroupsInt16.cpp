// SPDX-License-Identifier: Apache-2.0
// Convolution2d of int16 data by weights of 8 or 4 bits, in groups of 2, 4 or 8 channels with as many outputs: direct
// convolution by the loops of int16 depthwise convolutions, in which each output sums all channels of its group. A GEMM
// would leave most lanes of its column vectors empty. Packed weights: see SmallGroupsInt16.hpp.
#include "backends/cpu/depthwise/int16/DepthwiseDriverInt16.hpp"
#include "backends/cpu/im2col/ColumnAsRow.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"
#include "backends/cpu/weights/WeightsCheckInt8.hpp"

#include <tenon/descriptors/Convolution.hpp>

#include <cstdlib>

namespace tenon::cpu
{

namespace
{

uint64_t GetTaps(const TensorShape& weights)
{
    return uint64_t{weights[1]} * weights[2];
}

/// Whether the sums fit 32 bits for any weights: these microkernels add all taps to one int32.
bool FitSums(const TensorInfo& weights)
{
    const TensorShape& shape = weights.GetShape();
    const int32_t zeroPoint = weights.HasMultipleQuantizationScales() ? 0 : weights.GetQuantizationOffset();
    const uint64_t maxWeight = 128 + static_cast<uint64_t>(std::abs(int64_t{zeroPoint}));
    return GetTaps(shape) * shape[3] <= RequantizeArraysInt16::MaxMagnitude / maxWeight;
}

SupportResult Check(const LayerView& layer)
{
    SupportResult result = ref::CheckConvolution(layer.GetDescriptor<Convolution2dDescriptor>());
    if (result)
    {
        result = CheckWeightsInt8(layer, 4, 0);
    }
    if (result)
    {
        result = CheckSmallGroups(layer);
    }
    if (!result)
    {
        return result;
    }
    const TensorShape& weights = layer.GetInput(1).GetShape();
    if (!FitSums(layer.GetInput(1)))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "its windows are large");
    }
    return CheckPackedSize(PackedDepthwiseInt16::GetPackedBytes(GetTaps(weights), weights[0], weights[3]),
                           weights.GetNumElements64());
}

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    const TensorShape& weights = layer.GetInput(1).GetShape();
    const bool sumsOf32Bits = layer.GetDescriptor<Convolution2dDescriptor>().m_SumsOf32Bits;
    return std::make_unique<PackedDepthwiseInt16>(WeightReaderInt16(layer, weights[0], false, sumsOf32Bits),
                                                  static_cast<size_t>(GetTaps(weights)), weights[0], weights[3], store);
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const PackedDepthwiseInt16&>(*packed);
    if (!weights.IsExact())
    {
        return backends::Prepared::Declined("its weights are not exact in sums of 32 bits");
    }
    ref::ConvolutionGeometry g = LayColumnAsRow(ref::MakeConvolutionGeometry(args)); // checks the shapes
    if (g.IsEmpty())
    {
        return [](const ExecuteArgs&) {};
    }
    if (g.m_InputChannels != g.m_OutputChannels)
    {
        return backends::Prepared::Declined("the data have other channels than the weights were packed for");
    }
    g.m_GroupOutputs = 1; // each channel is read once, not repeated for outputs
    const DepthwiseDriverInt16 groups(args, g, weights);
    return {groups, groups.GetScratchBytes()};
}

} // namespace

extern const backends::Kernel CpuConvolution2dGroupsInt16Kernel = {
    "CpuConvolution2dGroupsInt16", Int16Types, Prepare, Check, Pack, backends::FuseClamp};

} // namespace tenon::cpu
