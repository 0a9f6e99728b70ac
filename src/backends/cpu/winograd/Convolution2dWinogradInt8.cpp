// SPDX-License-Identifier: Apache-2.0
// Convolution2dWinogradInt8: Convolution2d of 8-bit NHWC data, or of float data that are quantized at run time
// (hybrid), by constant 3x3 weights, on processors without int8 dot products. Sums equal those of the reference kernel.
#include "backends/common/FusedActivation.hpp"
#include "backends/cpu/weights/LayerWithWeights.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"
#include "backends/cpu/weights/WeightsCheckInt8.hpp"
#include "backends/cpu/winograd/WinogradCheck.hpp"
#include "backends/cpu/winograd/WinogradInt8.hpp"

namespace tenon::cpu
{

namespace
{

/// Refuses layers where Winograd is not faster than GemmInt8 with all taps, as measured on AVX2 and SSE4: tiles must be
/// well filled, and numerous enough to pay for reading two to four times the memory of the weights, which may come from
/// a distant cache or memory. A batch of unknown size counts as one image.
SupportResult CheckIsFaster(const LayerView& layer)
{
    constexpr unsigned int MinChannels = 16;
    constexpr uint64_t MaxWeights = 640 * 1024; // their transforms have 2.3 MiB
    constexpr uint64_t ManyTiles = 16;
    constexpr uint64_t FewTiles = 4;
    constexpr uint64_t FewWeights = 160 * 1024;
    const TensorShape& weights = layer.GetInput(1).GetShape();
    if (weights[0] < MinChannels || weights[3] < MinChannels)
    {
        return RefuseWinograd("it has too few channels to gain from other products");
    }
    if (weights.GetNumElements64() > MaxWeights)
    {
        return RefuseWinograd("its weights are too many to gain from other products");
    }
    TensorShape output = layer.GetOutput(0).GetShape();
    if (output.GetDimensionality() != Dimensionality::Specified || output.GetNumDimensions() != 4 ||
        !output.GetDimensionSpecificity(1) || !output.GetDimensionSpecificity(2))
    {
        return RefuseWinograd("its height or width are not known");
    }
    if (!output.GetDimensionSpecificity(0))
    {
        output.SetDimensionSize(0, 1);
    }
    const WinogradCounts counts(output, WinogradTileInt8::Outputs);
    const uint64_t minTiles = weights.GetNumElements64() <= FewWeights ? FewTiles : ManyTiles;
    return counts.m_Tiles >= minTiles && counts.m_Pixels >= 3 * counts.m_Tiles // of four
               ? SupportResult::Yes()
               : RefuseWinograd("it has too few pixels to gain from other products");
}

/// Processors with int8 dot products are faster with GemmInt8: the transforms have 16 bits.
SupportResult CheckMachine()
{
    return GetMicrokernelsInt8().m_Signed.m_Layout == WeightLayoutInt8::Int16x2
               ? SupportResult::Yes()
               : RefuseWinograd("the processor has dot products of bytes");
}

SupportResult Check(const LayerView& layer)
{
    const SupportResult result = CheckWeightsInt8(layer, 4, 0);
    if (!result)
    {
        return result;
    }
    const SupportResult steps = CheckWinogradStrides(layer);
    if (!steps)
    {
        return steps;
    }
    const TensorShape& data = layer.GetInput(0).GetShape();
    const TensorShape& weights = layer.GetInput(1).GetShape();
    if (weights[1] != WinogradTileInt8::Window || weights[2] != WinogradTileInt8::Window)
    {
        return RefuseWinograd("its windows are not 3x3");
    }
    if (data.GetDimensionality() != Dimensionality::Specified || data.GetNumDimensions() != 4 ||
        !data.GetDimensionSpecificity(3) || data[3] != weights[3])
    {
        return RefuseWinograd("its channels are in groups, or not known");
    }
    if (weights[3] > WinogradWeightsInt8::MaxChannels)
    {
        return RefuseWinograd("its transforms have too many channels for sums of 32 bits");
    }
    const SupportResult faster = CheckIsFaster(layer);
    if (!faster)
    {
        return faster;
    }
    return CheckPackedSize(WinogradWeightsInt8::GetPackedBytes(weights[0], weights[3]), weights.GetNumElements64());
}

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    if (layer.GetInput(1).GetDataType() != DataType::QSymmS4)
    {
        return std::make_unique<WinogradWeightsInt8>(layer, store);
    }
    const TensorShape& shape = layer.GetInput(1).GetShape();
    const ConstantWeightsInt8 stored(layer);
    const LayerWithWeights unpacked(layer, shape, {stored.Get(), stored.Get() + shape.GetNumElements()});
    return std::make_unique<WinogradWeightsInt8>(unpacked.View(), store);
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const WinogradWeightsInt8&>(*packed);
    const Im2col windows = MakeConvolutionIm2col(args);
    if (!weights.IsExact())
    {
        return backends::Prepared::Declined("its weights are not exact in sums of 32 bits");
    }
    if (windows.m_Channels != windows.m_GroupChannels)
    {
        return backends::Prepared::Declined("its channels are in groups");
    }
    if (args.GetOutput(0).GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const WinogradInt8 convolution(weights, windows, args, IsHybridAsymmetric(args));
    return {[convolution](const ExecuteArgs& run) { convolution.Run(run); }, convolution.GetScratchBytes()};
}

} // namespace

extern const backends::Kernel CpuConvolution2dWinogradInt8Kernel = {
    "CpuConvolution2dWinogradInt8", Int8Types, Prepare, Check, Pack, backends::FuseClamp, CheckMachine};

extern const backends::Kernel CpuConvolution2dWinogradHybridKernel = {
    "CpuConvolution2dWinogradHybrid", HybridTypes, Prepare, Check, Pack, backends::FuseClamp, CheckMachine};

} // namespace tenon::cpu
