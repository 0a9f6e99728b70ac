// SPDX-License-Identifier: Apache-2.0
// Convolution2dWinogradF32: Convolution2d of NHWC float data by constant 3x3 weights, with the option FastMathEnabled,
// as sums are rounded differently.
#include "backends/cpu/weights/WeightsCheck.hpp"
#include "backends/cpu/weights/WeightsCheckFloat.hpp"
#include "backends/cpu/winograd/WinogradCheck.hpp"
#include "backends/cpu/winograd/WinogradF32.hpp"

namespace tenon::cpu
{

namespace
{

/// Whether Winograd is faster than GemmF32 with all taps, as measured on AVX-512, AVX2 and SSE4: tiles must be well
/// filled, and numerous enough to pay for reading four times the memory of the weights.
bool IsFaster(const LayerView& layer)
{
    constexpr unsigned int MinChannels = 4; // a vector of fewer is mostly padding
    const TensorShape& weights = layer.GetInput(1).GetShape();
    const TensorShape& output = layer.GetOutput(0).GetShape();
    if (weights[3] < MinChannels || !output.AreAllDimensionsSpecified() || output.GetNumDimensions() != 4)
    {
        return weights[3] >= MinChannels;
    }
    const WinogradCounts counts(output, WinogradTileF32::Outputs);
    constexpr uint64_t MinTilePixels = 8; // on average: half the products
    constexpr uint64_t ManyTiles = 9;
    constexpr uint64_t FewTiles = 4;
    constexpr uint64_t CachedWeights = 640 * 1024; // their transforms have 10 MiB
    constexpr unsigned int FewTilesChannels = 16;
    const bool isWeightsSmall = weights.GetNumElements64() <= CachedWeights && weights[3] >= FewTilesChannels;
    return counts.m_Pixels >= counts.m_Tiles * MinTilePixels &&
           (counts.m_Tiles >= ManyTiles || (counts.m_Tiles >= FewTiles && isWeightsSmall));
}

SupportResult Check(const LayerView& layer)
{
    const SupportResult steps = CheckWinogradStrides(layer);
    if (!steps)
    {
        return steps;
    }
    const SupportResult result = CheckFloatWeights(layer, 4);
    if (!result)
    {
        return result;
    }
    const TensorShape& weights = layer.GetInput(1).GetShape();
    if (weights[1] != WinogradTileF32::Window || weights[2] != WinogradTileF32::Window)
    {
        return RefuseWinograd("its windows are not 3x3");
    }
    const TensorShape& data = layer.GetInput(0).GetShape();
    if (data.GetDimensionality() == Dimensionality::Specified && data.GetNumDimensions() == 4 &&
        data.GetDimensionSpecificity(3) && data[3] != weights[3])
    {
        return RefuseWinograd("its channels are in groups");
    }
    if (!IsFaster(layer))
    {
        return RefuseWinograd("it has too few channels or pixels to gain from other products");
    }
    return CheckPackedSize(PackedWeightsF32::GetPackedBytes(GetWinogradSizesF32(weights[0], weights[3])),
                           weights.GetNumElements64() * sizeof(float));
}

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    const TensorShape& weights = layer.GetInput(1).GetShape();
    return PackWinogradF32(FloatWeights(layer, 1), weights[0], weights[3], store);
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const PackedWeightsF32&>(*packed);
    const Im2col windows = MakeConvolutionIm2col(args);
    if (windows.m_Channels != windows.m_GroupChannels)
    {
        return backends::Prepared::Declined("its channels are in groups");
    }
    const TensorShape& output = args.GetOutput(0).GetShape();
    if (output.GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const WinogradF32 convolution(weights, windows, output[0], backends::FloatClamp(args.m_FusedActivation),
                                  args.m_MaxThreads);
    const bool hasBias = args.HasInput(2);
    return {[convolution, hasBias](const ExecuteArgs& run)
            {
                convolution.Run(run.GetInput<float>(0), hasBias ? run.GetInput<float>(2) : nullptr,
                                run.GetOutput<float>(0), run.m_Scratch, *run.m_Parallel);
            },
            convolution.GetScratchBytes()};
}

} // namespace

extern const backends::Kernel CpuConvolution2dWinogradF32Kernel = {
    "CpuConvolution2dWinogradF32", PackedFloatTypes, Prepare, Check, Pack, backends::FuseClamp, nullptr, true};

} // namespace tenon::cpu
