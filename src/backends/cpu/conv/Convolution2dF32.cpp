// SPDX-License-Identifier: Apache-2.0
// Convolution2d of CpuAcc for NHWC float data and constant weights: im2col + GEMM (GemmF32), a matrix for each group.
#include "backends/cpu/gemm/driver/PrepareGemm.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"
#include "backends/cpu/weights/WeightsCheckFloat.hpp"

#include <tenon/descriptors/Convolution.hpp>

namespace tenon::cpu
{

namespace
{

/// Number of groups: 1 where the channels are not known yet, 0 where they do not fit the weights.
size_t GetGroups(const LayerView& layer)
{
    const TensorShape& data = layer.GetInput(0).GetShape();
    const unsigned int groupChannels = layer.GetInput(1).GetShape()[3];
    if (data.GetDimensionality() != Dimensionality::Specified || data.GetNumDimensions() != 4 ||
        !data.GetDimensionSpecificity(3))
    {
        return 1;
    }
    return data[3] % groupChannels == 0 ? data[3] / groupChannels : 0;
}

WeightSizes GetSizes(const LayerView& layer)
{
    const TensorShape& shape = layer.GetInput(1).GetShape();
    const size_t rowDepth = size_t{shape[2]} * shape[3];
    return {GetGroups(layer), shape[0], shape[1] * rowDepth, rowDepth};
}

/// Whether the layer is a 1x1 convolution whose windows are the pixels of the image, whatever its shape: a plain matrix
/// product.
bool IsPointwise(const LayerView& layer)
{
    const auto& d = layer.GetDescriptor<Convolution2dDescriptor>();
    const TensorShape& weights = layer.GetInput(1).GetShape();
    return weights[1] == 1 && weights[2] == 1 && GetGroups(layer) == 1 && d.m_StrideX == 1 && d.m_StrideY == 1 &&
           d.m_PadTop == 0 && d.m_PadBottom == 0 && d.m_PadLeft == 0 && d.m_PadRight == 0;
}

/// Whether the weights stay unpacked, as columns that dot products read. With few channels the rows of a window are
/// short, and vectors of sixteen lanes sum several columns faster than one row. Measured with AVX-512.
bool StayColumns(const WeightSizes& sizes)
{
    constexpr size_t ManyLanes = 16;
    constexpr size_t ColumnsOfBlock = 4; // columns whose dot products are computed together
    const size_t minDepth = sizes.m_Columns > ColumnsOfBlock ? 384 : sizes.m_Columns > 1 ? 96 : 0;
    return HasFewColumns(sizes) && (GetMicrokernelsF32().m_Lanes < ManyLanes || sizes.m_Depth > minDepth);
}

SupportResult Check(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<Convolution2dDescriptor>();
    if (descriptor.m_DataLayout != DataLayout::NHWC || descriptor.m_StrideX == 0 || descriptor.m_StrideY == 0 ||
        descriptor.m_DilationX == 0 || descriptor.m_DilationY == 0)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "its layout or strides are not to be convolved");
    }
    const SupportResult result = CheckFloatWeights(layer, 4);
    if (!result)
    {
        return result;
    }
    const TensorShape& weights = layer.GetInput(1).GetShape();
    const size_t groups = GetGroups(layer);
    if (groups == 0 || weights[0] % groups != 0)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "its channels are not in groups of equal size");
    }
    const WeightSizes sizes = GetSizes(layer);
    const bool isPlain = IsPointwise(layer) ? HasFewColumns(sizes) : StayColumns(sizes);
    return isPlain
               ? SupportResult::Yes()
               : CheckPackedSize(PackedWeightsF32::GetPackedBytes(sizes), weights.GetNumElements64() * sizeof(float));
}

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    const FloatWeights weights(layer, 1);
    const WeightSizes sizes = GetSizes(layer);
    if (IsPointwise(layer) || StayColumns(sizes))
    {
        return PackMatrix(weights, sizes, WeightOrder::Columns, GetKnownRows(layer, sizes.m_Columns), store);
    }
    return std::make_unique<PackedWeightsF32>(weights, sizes, WeightOrder::Columns, store);
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const PackedWeightsF32&>(*packed);
    const Im2col windows = MakeConvolutionIm2col(args);
    if (windows.m_Channels != windows.m_GroupChannels * static_cast<int64_t>(weights.GetSizes().m_Groups))
    {
        return backends::Prepared::Declined("the data have other channels than the weights were packed for");
    }
    const TensorShape& output = args.GetOutput(0).GetShape();
    if (output.GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    GemmF32 product(weights, windows, size_t{output[0]} * output[1] * output[2],
                    backends::FloatClamp(args.m_FusedActivation), args.m_MaxThreads);
    SetOutputPitch(product, args.m_OutputPitch);
    return PrepareGemm(product, args);
}

} // namespace

extern const backends::Kernel CpuConvolution2dF32Kernel = {.m_Name = "CpuConvolution2dF32",
                                                           .m_Types = PackedFloatTypes,
                                                           .m_Prepare = Prepare,
                                                           .m_Check = Check,
                                                           .m_Pack = Pack,
                                                           .m_Fuse = backends::FuseClamp,
                                                           .m_WritesPitched = true};

} // namespace tenon::cpu
