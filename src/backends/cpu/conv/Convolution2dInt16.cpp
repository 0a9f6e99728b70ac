// SPDX-License-Identifier: Apache-2.0
// Convolution2d of CpuAcc for int16 data and constant weights of 8 or 4 bits, also in groups: im2col + GEMM
// (GemmInt16). Results are the numbers of the reference kernel.
#include "backends/common/FusedActivation.hpp"
#include "backends/cpu/conv/GroupMatrices.hpp"
#include "backends/cpu/gemm/driver/GemmInt16.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"
#include "backends/cpu/weights/WeightsCheckInt8.hpp"
#include "backends/reference/kernels/ConvolutionGeometry.hpp"

#include <tenon/descriptors/Convolution.hpp>

namespace tenon::cpu
{

namespace
{

GroupMatrices GetMatrices(const LayerView& layer)
{
    return GroupMatrices(layer, GetMicrokernelsInt16().m_Lanes);
}

WeightSizesInt16 GetSizes(const LayerView& layer, const GroupMatrices& matrices)
{
    return {matrices.m_Count, layer.GetInput(1).GetShape()[0], matrices.m_Depth};
}

SupportResult Check(const LayerView& layer)
{
    SupportResult result = ref::CheckConvolution(layer.GetDescriptor<Convolution2dDescriptor>());
    if (result)
    {
        result = CheckWeightsInt8(layer, 4, 0);
    }
    if (!result)
    {
        return result;
    }
    const GroupMatrices matrices = GetMatrices(layer);
    if (matrices.m_Count == 0)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "its channels are not known, or not in groups of equal size");
    }
    return CheckPackedSize(PackedWeightsInt16::GetPackedBytes(GetSizes(layer, matrices)),
                           layer.GetInput(1).GetShape().GetNumElements64());
}

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    const GroupMatrices matrices = GetMatrices(layer);
    const WeightSizesInt16 sizes = GetSizes(layer, matrices);
    const bool sumsOf32Bits = layer.GetDescriptor<Convolution2dDescriptor>().m_SumsOf32Bits;
    const auto pack = [&](const LayerView& view)
    {
        return std::make_unique<PackedWeightsInt16>(WeightReaderInt16(view, sizes.m_Columns, false, sumsOf32Bits),
                                                    sizes, GetKnownRows(layer, sizes.m_Columns), store);
    };
    return matrices.m_Merged == 1 ? pack(layer) : pack(matrices.Merge(layer).View());
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const PackedWeightsInt16&>(*packed);
    if (!weights.IsExact())
    {
        return backends::Prepared::Declined("its weights are not exact in sums of 32 bits");
    }
    Im2col windows = MakeConvolutionIm2col(args);
    const auto groups = static_cast<int64_t>(weights.GetSizes().m_Groups);
    windows.m_GroupChannels = windows.m_Channels / groups;
    // If the data have other channels than at packing time, the number of groups differs as well.
    if (windows.m_GroupChannels * groups != windows.m_Channels || windows.GetDepth() != weights.GetSizes().m_Depth)
    {
        return backends::Prepared::Declined("the data have other channels than the weights were packed for");
    }
    const TensorInfo& output = args.GetOutput(0);
    if (output.GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const TensorShape& shape = output.GetShape();
    const GemmInt16 product(weights, windows, size_t{shape[0]} * shape[1] * shape[2],
                            backends::GetFusedRange(output, args.m_FusedActivation), args.m_MaxThreads);
    return {[product](const ExecuteArgs& run) { product.Run(run); }, product.GetScratchBytes()};
}

} // namespace

extern const backends::Kernel CpuConvolution2dInt16Kernel = {"CpuConvolution2dInt16", Int16Types, Prepare, Check, Pack,
                                                             backends::FuseClamp};

} // namespace tenon::cpu
