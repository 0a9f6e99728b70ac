// SPDX-License-Identifier: Apache-2.0
// Convolution2d of CpuAcc for 16-bit data and constant weights of 8 or 4 bits, also in groups: the numbers of the
// reference kernel.
#include "backends/common/FusedActivation.hpp"
#include "backends/cpu/gemm/PackedSize.hpp"
#include "backends/cpu/gemm/shorts/Product16.hpp"
#include "backends/cpu/kernels/KnownRows.hpp"
#include "backends/cpu/kernels/ShortsCheck.hpp"
#include "backends/reference/CpuRefBackend.hpp"
#include "backends/reference/kernels/ConvolutionGeometry.hpp"

#include <tenon/Descriptors.hpp>

namespace tenon::cpu
{

namespace
{

/// Precondition: the weights' shape is known, and the data's channels are.
Sizes16 GetSizes(const LayerView& layer)
{
    const TensorShape& weights = layer.GetInput(1).GetShape();
    Sizes16 sizes;
    sizes.m_Groups = layer.GetInput(0).GetShape()[3] / weights[3];
    sizes.m_Columns = weights[0];
    sizes.m_Depth = size_t{weights[1]} * weights[2] * weights[3];
    return sizes;
}

SupportResult Check(const LayerView& layer)
{
    SupportResult result = ref::CheckConvolution(layer.GetDescriptor<Convolution2dDescriptor>());
    if (result)
    {
        result = CheckBytes(layer, 4, 0);
    }
    if (!result)
    {
        return result;
    }
    const TensorShape& data = layer.GetInput(0).GetShape();
    const TensorShape& weights = layer.GetInput(1).GetShape();
    if (data.GetDimensionality() != Dimensionality::Specified || data.GetNumDimensions() != 4 ||
        !data.GetDimensionSpecificity(3) || data[3] == 0 || data[3] % weights[3] != 0 ||
        weights[0] % (data[3] / weights[3]) != 0)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "its channels are not known, or not in groups of equal size");
    }
    return CheckPackedBytes(PackedWeights16::GetPackedBytes(GetSizes(layer)), weights.GetNumElements64());
}

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    const Sizes16 sizes = GetSizes(layer);
    const bool sumsOf32Bits = layer.GetDescriptor<Convolution2dDescriptor>().m_SumsOf32Bits;
    return std::make_unique<PackedWeights16>(Weights16(layer, sizes.m_Columns, false, sumsOf32Bits), sizes,
                                             GetKnownRows(layer, sizes.m_Columns), store);
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const PackedWeights16&>(*packed);
    if (!weights.IsExact())
    {
        return ref::FindKernel(LayerType::Convolution2d)->Prepare(args, nullptr);
    }
    const Windows windows = MakeConvolutionWindows(args);
    if (windows.m_Channels != windows.m_GroupChannels * static_cast<int64_t>(weights.GetSizes().m_Groups))
    {
        return ref::FindKernel(LayerType::Convolution2d)->Prepare(args, nullptr);
    }
    const TensorInfo& output = args.GetOutput(0);
    if (output.GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const TensorShape& shape = output.GetShape();
    const Product16 product(weights, windows, size_t{shape[0]} * shape[1] * shape[2],
                            backends::GetFusedRange(output, args.m_FusedActivation));
    return {[product](const ExecuteArgs& run) { product.Run(run); }, product.GetScratchBytes()};
}

} // namespace

extern const backends::Kernel CpuConvolution2dShortsKernel = {
    "CpuConvolution2dShorts", ShortsTypes, Prepare, Check, Pack, backends::FuseClamp};

} // namespace tenon::cpu
