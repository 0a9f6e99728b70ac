// SPDX-License-Identifier: Apache-2.0
// Convolution2d of int8 or uint8 data by weights of 8 or 4 bits, and of float data by the same weights (hybrid).
// Results of int8 data are the bytes of the reference kernel.
//
//   out[p][o] = clamp(zo + requantize(bias[o] + sum over k of (a[p][k] - za) * (w[o][k] - zw)))   k = (ky, kx, channel)
//
// Algorithm: im2col + GEMM (GemmInt8). Where windows can be read in the image without a copy, the GEMM is implicit
// (indirect convolution, M. Dukhan, 2019); for that, weights are padded by zeros where a run of a window is no multiple
// of 4 bytes. Groups with fewer outputs than a vector has lanes share a block-diagonal matrix, see GroupMatrices.
#include "backends/common/FusedActivation.hpp"
#include "backends/cpu/conv/GroupMatrices.hpp"
#include "backends/cpu/gemm/driver/GemmInt8.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"
#include "backends/cpu/weights/WeightsCheckInt8.hpp"

#include <tenon/descriptors/Convolution.hpp>

#include <algorithm>

namespace tenon::cpu
{

namespace
{

/// Whether implicit GEMM may be used, as far as the layer tells before its input shapes are known.
bool MayUseImplicitGemm(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<Convolution2dDescriptor>();
    const TensorShape& weights = layer.GetInput(1).GetShape();
    return HasSharedPixels(weights[1], weights[2], descriptor.m_StrideY, descriptor.m_StrideX) &&
           FitsImplicitGemm(layer, GetMicrokernelsInt8());
}

/// The contiguous runs of a matrix's windows in the image.
PatchRunsInt8 FindRuns(const LayerView& layer, const GroupMatrices& matrices)
{
    const TensorShape& weights = layer.GetInput(1).GetShape();
    const bool hasWholeRows = layer.GetDescriptor<Convolution2dDescriptor>().m_DilationX == 1 && matrices.m_Count == 1;
    return {weights[1], weights[2], weights[3] * matrices.m_Merged, hasWholeRows};
}

bool IsPaddable(const LayerView& layer, const GroupMatrices& matrices)
{
    const TensorShape& weights = layer.GetInput(1).GetShape();
    // An image of one column is read as one row, in which such a window is one run.
    const bool mayBeRow = weights[2] == 1 && weights[1] > 1;
    // Implicit GEMM also copies the pixels between the taps of a dilated window.
    constexpr uint32_t MaxDilation = 4;
    const auto& descriptor = layer.GetDescriptor<Convolution2dDescriptor>();
    const bool isWide = std::max(descriptor.m_DilationX, descriptor.m_DilationY) > MaxDilation;
    const TensorShape& output = layer.GetOutput(0).GetShape();
    const bool isKnown = output.GetDimensionality() == Dimensionality::Specified && output.AreAllDimensionsSpecified();
    const size_t pixels = isKnown ? size_t{output[1]} * output[2] : 0;
    const bool isFew = isKnown && !ImplicitGemmInt8::HasManyPixels(pixels, pixels * output[0]);
    const size_t vectors = DivideUp(weights[0] / matrices.m_Count, GetMicrokernelsInt8().m_Lanes);
    // Hybrid layers have no dot products for few columns.
    const bool isHybrid = layer.GetInput(0).GetDataType() == DataType::Float32;
    return !mayBeRow && !isWide && !isFew && matrices.m_Merged == 1 &&
           (isHybrid || matrices.m_Count > 1 || weights[0] > GemmFactsInt8::FewColumnsOfDots) &&
           FindRuns(layer, matrices).IsPaddable(vectors);
}

/// Groups are merged (block diagonal) unless separate groups can use implicit GEMM.
GroupMatrices MakeMatrices(const LayerView& layer)
{
    const GroupMatrices merged(layer, GetMicrokernelsInt8().m_Lanes);
    if (merged.m_Merged == 1 || !MayUseImplicitGemm(layer))
    {
        return merged;
    }
    const GroupMatrices own(layer, 1);
    const bool isApart =
        FindRuns(layer, own).IsWhole() || (!FindRuns(layer, merged).IsWhole() && IsPaddable(layer, own));
    return isApart ? own : merged;
}

/// Runs whose weights have to be padded for implicit GEMM; none where no padding is needed.
PatchRunsInt8 FindPaddedRuns(const LayerView& layer, const GroupMatrices& matrices)
{
    const PatchRunsInt8 runs = FindRuns(layer, matrices);
    // MayUseImplicitGemm() reads all scales: last.
    return !runs.IsWhole() && IsPaddable(layer, matrices) && MayUseImplicitGemm(layer) ? runs : PatchRunsInt8();
}

SupportResult Check(const LayerView& layer)
{
    const SupportResult result = CheckWeightsInt8(layer, 4, 0);
    if (!result)
    {
        return result;
    }
    const auto& descriptor = layer.GetDescriptor<Convolution2dDescriptor>();
    if (descriptor.m_DataLayout != DataLayout::NHWC || descriptor.m_StrideX == 0 || descriptor.m_StrideY == 0 ||
        descriptor.m_DilationX == 0 || descriptor.m_DilationY == 0)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "its layout or strides are not to be convolved");
    }
    const GroupMatrices matrices = MakeMatrices(layer);
    if (matrices.m_Count == 0)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "its channels are not known, or not in groups of equal size");
    }
    const TensorShape& weights = layer.GetInput(1).GetShape();
    const size_t depth = std::max(matrices.m_Depth, FindPaddedRuns(layer, matrices).GetPaddedDepth());
    return CheckPackedSize(PackedWeightsInt8::GetPackedBytes(weights[0], depth, matrices.m_Count),
                           weights.GetNumElements64());
}

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    const TensorShape& weights = layer.GetInput(1).GetShape();
    const GroupMatrices matrices = MakeMatrices(layer);
    GemmShapeInt8 shape = {weights[0], matrices.m_Depth, GetKnownRows(layer, weights[0]), GetRounding(layer)};
    shape.m_Matrices = matrices.m_Count;
    if (const PatchRunsInt8 runs = FindPaddedRuns(layer, matrices); runs.m_Count != 0)
    {
        shape.m_Depth = runs.GetPaddedDepth();
        shape.m_PaddedRunBytes = runs.m_Bytes;
        const TensorShape padded({weights[0], static_cast<unsigned int>(runs.m_Count), 1,
                                  static_cast<unsigned int>(runs.GetGroups() * PatchRunsInt8::GroupBytes)});
        const LayerWithWeights padding(layer, padded, runs.Pad(ConstantWeightsInt8(layer).Get(), weights[0]));
        return std::make_unique<PackedWeightsInt8>(padding.View(), shape, store);
    }
    if (matrices.m_Merged == 1)
    {
        shape.m_MayStayUnpacked = true;
        return std::make_unique<PackedWeightsInt8>(layer, shape, store);
    }
    const LayerWithWeights merged = matrices.Merge(layer);
    return std::make_unique<PackedWeightsInt8>(merged.View(), shape, store);
}

GemmInt8 MakeHybrid(const PackedWeightsInt8& weights, const Im2col& windows, size_t rows, const ReshapeArgs& args)
{
    const SampledPixelsInt8 seen(windows);
    return {weights,
            seen.HasSamples() ? windows.GetWithoutStrides() : windows,
            rows,
            {args.GetOutput(0).GetShape()[0], IsHybridAsymmetric(args), 0, seen},
            args};
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const PackedWeightsInt8&>(*packed);
    if (!weights.IsExact())
    {
        return backends::Prepared::Declined("its weights are not exact in sums of 32 bits");
    }
    Im2col windows = MakeConvolutionIm2col(args);
    windows.m_GroupChannels = windows.m_Channels / static_cast<int64_t>(weights.GetNumMatrices());
    // If the data have other channels than at packing time, the number of groups differs as well.
    const TensorShape& output = args.GetOutput(0).GetShape();
    const size_t rows = size_t{output[0]} * output[1] * output[2];
    const bool isHybrid = args.GetInput(0).GetDataType() == DataType::Float32;
    const bool fit = weights.GetPaddedRunBytes() != 0 ? ImplicitGemmInt8(weights, windows, rows, isHybrid).IsUsed()
                                                      : windows.GetDepth() == weights.GetDepth();
    if (windows.m_GroupChannels * static_cast<int64_t>(weights.GetNumMatrices()) != windows.m_Channels || !fit)
    {
        return backends::Prepared::Declined("the data have other channels than the weights were packed for");
    }
    if (output.GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    GemmInt8 product = isHybrid ? MakeHybrid(weights, windows, rows, args) : GemmInt8(weights, windows, rows, args);
    SetOutputPitch(product, args.m_OutputPitch);
    backends::Prepared prepared([product](const ExecuteArgs& run) { product.Run(run); }, product.GetScratchBytes());
    prepared.m_Variant = product.DescribeVariant();
    return prepared;
}

} // namespace

extern const backends::Kernel CpuConvolution2dInt8Kernel = {.m_Name = "CpuConvolution2dInt8",
                                                            .m_Types = Int8Types,
                                                            .m_Prepare = Prepare,
                                                            .m_Check = Check,
                                                            .m_Pack = Pack,
                                                            .m_Fuse = backends::FuseClamp,
                                                            .m_RoundsHalfToEven = true,
                                                            .m_WritesPitched = true};

extern const backends::Kernel CpuConvolution2dHybridKernel = {.m_Name = "CpuConvolution2dHybrid",
                                                              .m_Types = HybridTypes,
                                                              .m_Prepare = Prepare,
                                                              .m_Check = Check,
                                                              .m_Pack = Pack,
                                                              .m_Fuse = backends::FuseClamp,
                                                              .m_WritesPitched = true};

} // namespace tenon::cpu
