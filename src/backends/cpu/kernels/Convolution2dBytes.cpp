// SPDX-License-Identifier: Apache-2.0
// Convolution2d of CpuAcc for 8-bit data, the bytes of the reference kernel, and for float data beside weights of 8 or
// 4 bits: products of packed bytes.
#include "backends/common/FusedActivation.hpp"
#include "backends/cpu/gemm/PackedSize.hpp"
#include "backends/cpu/gemm/Product8.hpp"
#include "backends/cpu/kernels/BytesCheck.hpp"
#include "backends/cpu/kernels/KnownRows.hpp"
#include "backends/reference/CpuRefBackend.hpp"

#include <tenon/Descriptors.hpp>

#include <algorithm>
#include <functional>
#include <vector>

namespace tenon::cpu
{

namespace
{

SupportResult Check(const LayerView& layer)
{
    const SupportResult result = CheckBytes(layer, 4, 0);
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
    const TensorShape& data = layer.GetInput(0).GetShape();
    const TensorShape& weights = layer.GetInput(1).GetShape();
    if (data.GetDimensionality() != Dimensionality::Specified || data.GetNumDimensions() != 4 ||
        !data.GetDimensionSpecificity(3) || data[3] != weights[3])
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "its channels are in groups, or not known");
    }
    const size_t depth = size_t{weights[1]} * weights[2] * weights[3];
    return CheckPackedBytes(PackedWeights8::GetPackedBytes(weights[0], depth), weights.GetNumElements64());
}

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    const TensorShape& shape = layer.GetInput(1).GetShape();
    const bool isHybrid = layer.GetInput(0).GetDataType() == DataType::Float32;
    return std::make_unique<PackedWeights8>(layer, shape[0], size_t{shape[1]} * shape[2] * shape[3], false,
                                            isHybrid ? Rounding8::None : Rounding8::FixedPoint,
                                            GetKnownRows(layer, shape[0]), store);
}

/// TFLite quantizes the data symmetrically unless the channels' scales differ.
bool HasSeveralScales(const ReshapeArgs& args)
{
    const std::vector<float> scales = args.GetInput(1).GetQuantizationScales();
    return std::adjacent_find(scales.begin(), scales.end(), std::not_equal_to<>()) != scales.end();
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const PackedWeights8&>(*packed);
    if (!weights.IsExact())
    {
        return ref::FindKernel(LayerType::Convolution2d)->Prepare(args, nullptr);
    }
    const Windows windows = MakeConvolutionWindows(args);
    if (windows.m_Channels != windows.m_GroupChannels)
    {
        return ref::FindKernel(LayerType::Convolution2d)->Prepare(args, nullptr);
    }
    const TensorShape& output = args.GetOutput(0).GetShape();
    if (output.GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const size_t rows = size_t{output[0]} * output[1] * output[2];
    const Product8 product = args.GetInput(0).GetDataType() == DataType::Float32
                                 ? Product8(weights, windows, rows, {output[0], HasSeveralScales(args)}, args)
                                 : Product8(weights, windows, rows, args);
    return {[product](const ExecuteArgs& run) { product.Run(run); }, product.GetScratchBytes()};
}

} // namespace

extern const backends::Kernel CpuConvolution2dBytesKernel = {"CpuConvolution2dBytes", BytesTypes, Prepare, Check, Pack,
                                                             backends::FuseClamp};

extern const backends::Kernel CpuConvolution2dHybridKernel = {
    "CpuConvolution2dHybrid", HybridTypes, Prepare, Check, Pack, backends::FuseClamp};

} // namespace tenon::cpu
