// SPDX-License-Identifier: Apache-2.0
// DepthwiseConvolution2d of CpuAcc for NHWC data of Float32 or BFloat16 and constant weights; sums are float32.
#include "backends/cpu/depthwise/float/DepthwiseDriverF32.hpp"
#include "backends/cpu/gemm/kernels/f32/MaxSumDepth.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"
#include "backends/cpu/weights/WeightsCheckFloat.hpp"

#include <tenon/descriptors/Convolution.hpp>

#include <type_traits>

namespace tenon::cpu
{

namespace
{

template <typename T>
SupportResult Check(const LayerView& layer)
{
    SupportResult result = ref::CheckConvolution(layer.GetDescriptor<DepthwiseConvolution2dDescriptor>());
    if (result)
    {
        result = CheckFloatWeights(layer, 4);
    }
    if (result)
    {
        result = CheckConstantBias(layer, layer.GetInput(1).GetShape()[3]);
    }
    if (!result)
    {
        return result;
    }
    const TensorShape& weights = layer.GetInput(1).GetShape();
    // All products of a window are added in float: the limit keeps the rounding error at that of other layers.
    if (uint64_t{weights[1]} * weights[2] > MaxSumDepth)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "a window has more taps than one float sum adds up accurately");
    }
    return CheckPackedSize(PackedDepthwiseF32::GetPackedBytes<T>(uint64_t{weights[1]} * weights[2], weights[3]),
                           weights.GetNumElements64() * sizeof(float));
}

template <typename T>
std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    const TensorShape& shape = layer.GetInput(1).GetShape();
    const size_t channels = shape[3];
    std::vector<float> bias(channels, 0.0f);
    if (layer.HasInput(2))
    {
        const auto toFloats = [&](const auto* values)
        { std::transform(values, values + channels, bias.begin(), [](auto value) { return ToFloat(value); }); };
        layer.GetInput(2).GetDataType() == DataType::Float32
            ? toFloats(static_cast<const float*>(layer.m_ConstantData[2]))
            : toFloats(static_cast<const uint16_t*>(layer.m_ConstantData[2]));
    }
    const size_t taps = size_t{shape[1]} * shape[2];
    if constexpr (std::is_same_v<T, float>)
    {
        std::vector<float> copy; // of 16-bit weights; depthwise convolutions have few
        const auto getWeights = [&] { return FloatWeights(layer, 1).GetAll(taps * channels, copy); };
        return std::make_unique<PackedDepthwiseF32>(getWeights, bias, taps, store);
    }
    else
    {
        return std::make_unique<PackedDepthwiseF32>(static_cast<const T*>(layer.m_ConstantData[1]), bias, taps, store);
    }
}

template <typename T>
backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const ref::ConvolutionGeometry g = LayColumnAsRow(ref::MakeDepthwiseGeometry(args));
    if (g.IsEmpty())
    {
        return [](const ExecuteArgs&) {};
    }
    DepthwiseDriverF32<T> depthwise(args, g, static_cast<const PackedDepthwiseF32&>(*packed));
    const size_t bytes = depthwise.GetScratchBytes();
    return {depthwise, bytes};
}

} // namespace

extern const backends::Kernel CpuDepthwiseConvolution2dF32Kernel = {
    "CpuDepthwiseConvolution2dF32", PackedFloatTypes, Prepare<float>, Check<float>, Pack<float>, backends::FuseClamp};
extern const backends::Kernel CpuDepthwiseConvolution2dBf16Kernel = {"CpuDepthwiseConvolution2dBf16",
                                                                     Bf16Types,
                                                                     Prepare<uint16_t>,
                                                                     Check<uint16_t>,
                                                                     Pack<uint16_t>,
                                                                     backends::FuseClamp};

} // namespace tenon::cpu
