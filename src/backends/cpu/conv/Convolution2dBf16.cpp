// SPDX-License-Identifier: Apache-2.0
// Convolution2d of CpuAcc for NHWC BFloat16 data, constant weights and bias: im2col + GEMM (GemmBf16).
#include "backends/cpu/gemm/driver/PrepareGemm.hpp"
#include "backends/cpu/gemm/pack/PackedWeightsBf16.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"
#include "backends/cpu/weights/WeightsCheckFloat.hpp"
#include "backends/reference/kernels/ConvolutionGeometry.hpp"

#include <tenon/descriptors/Convolution.hpp>

namespace tenon::cpu
{

namespace
{

WeightSizes GetSizes(const LayerView& layer)
{
    const TensorShape& shape = layer.GetInput(1).GetShape();
    const size_t rowDepth = size_t{shape[2]} * shape[3];
    return {1, shape[0], shape[1] * rowDepth, rowDepth};
}

/// Whether the layer is known to be grouped. The Float32 kernels run grouped convolutions.
bool HasGroups(const LayerView& layer)
{
    const TensorShape& data = layer.GetInput(0).GetShape();
    return data.GetDimensionality() == Dimensionality::Specified && data.GetNumDimensions() == 4 &&
           data.GetDimensionSpecificity(3) && data[3] != layer.GetInput(1).GetShape()[3];
}

SupportResult Check(const LayerView& layer)
{
    SupportResult result = ref::CheckConvolution(layer.GetDescriptor<Convolution2dDescriptor>());
    if (result)
    {
        result = CheckFloatWeights(layer, 4);
    }
    if (result)
    {
        result = CheckConstantBias(layer, layer.GetInput(1).GetShape()[0]);
    }
    if (result && HasGroups(layer))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "its channels are in groups");
    }
    return result ? CheckPackedSize(PackedWeightsBf16::GetPackedBytes(GetSizes(layer)),
                                    layer.GetInput(1).GetShape().GetNumElements64() * sizeof(uint16_t))
                  : result;
}

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    const auto* weights = static_cast<const uint16_t*>(layer.m_ConstantData[1]);
    return std::make_unique<PackedWeightsBf16>(weights, GetSizes(layer), WeightOrder::Columns, layer, store);
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const Im2col windows = MakeConvolutionIm2col(args);
    if (windows.m_Channels != windows.m_GroupChannels)
    {
        return backends::Prepared::Declined("the data have other channels than the weights were packed for");
    }
    const TensorShape& output = args.GetOutput(0).GetShape();
    if (output.GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    GemmBf16 product(static_cast<const PackedWeightsBf16&>(*packed), windows, size_t{output[0]} * output[1] * output[2],
                     backends::FloatClamp(args.m_FusedActivation), args.m_MaxThreads);
    SetOutputPitch(product, args.m_OutputPitch);
    return PrepareGemm(product, args);
}

} // namespace

extern const backends::Kernel CpuConvolution2dBf16Kernel = {.m_Name = "CpuConvolution2dBf16",
                                                            .m_Types = Bf16Types,
                                                            .m_Prepare = Prepare,
                                                            .m_Check = Check,
                                                            .m_Pack = Pack,
                                                            .m_Fuse = backends::FuseClamp,
                                                            .m_CheckMachine = CheckBf16Products,
                                                            .m_WritesPitched = true};

} // namespace tenon::cpu
