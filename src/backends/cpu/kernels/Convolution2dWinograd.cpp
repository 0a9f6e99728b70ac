// SPDX-License-Identifier: Apache-2.0
// Convolution2d of CpuAcc for NHWC float data and constant 3x3 weights by Winograd's transforms: with the option
// FastMathEnabled, because sums are rounded otherwise.
#include "backends/cpu/gemm/PackedSize.hpp"
#include "backends/cpu/gemm/WinogradF32.hpp"
#include "backends/cpu/kernels/FloatCheck.hpp"
#include "backends/reference/CpuRefBackend.hpp"

#include <tenon/Descriptors.hpp>

namespace tenon::cpu
{

namespace
{

SupportResult Refuse(const char* reason)
{
    return SupportResult::No(SupportCode::UnsupportedParameters, reason);
}

/// Whether this is faster than the products with all windows, as measured on AVX-512, AVX2 and SSE4: with tiles that
/// are well filled, and enough of them for reading four times the memory of the weights.
bool IsFaster(const LayerView& layer)
{
    constexpr unsigned int LeastChannels = 4; // a vector of fewer is padding for the most part
    const TensorShape& weights = layer.GetInput(1).GetShape();
    const TensorShape& output = layer.GetOutput(0).GetShape();
    if (weights[3] < LeastChannels || !output.AreAllDimensionsSpecified() || output.GetNumDimensions() != 4)
    {
        return weights[3] >= LeastChannels;
    }
    const auto countTiles = [&output](unsigned int dimension)
    { return (uint64_t{output[dimension]} + WinogradTile::Outputs - 1) / WinogradTile::Outputs; };
    const uint64_t tiles = output[0] * countTiles(1) * countTiles(2);
    const uint64_t pixels = uint64_t{output[0]} * output[1] * output[2];
    constexpr uint64_t LeastTilePixels = 8; // on average: where products are half as many
    constexpr uint64_t ManyTiles = 9;
    constexpr uint64_t FewTiles = 4;
    constexpr uint64_t CachedWeights = 640 * 1024; // whose transforms have 10 MiB
    constexpr unsigned int FewTilesChannels = 16;
    const bool areWeightsSmall = weights.GetNumElements64() <= CachedWeights && weights[3] >= FewTilesChannels;
    return pixels >= tiles * LeastTilePixels && (tiles >= ManyTiles || (tiles >= FewTiles && areWeightsSmall));
}

SupportResult Check(const LayerView& layer)
{
    const auto& d = layer.GetDescriptor<Convolution2dDescriptor>();
    if (d.m_DataLayout != DataLayout::NHWC || d.m_StrideX != 1 || d.m_StrideY != 1 || d.m_DilationX != 1 ||
        d.m_DilationY != 1)
    {
        return Refuse("its layout is not NHWC, or its strides or dilations are not 1");
    }
    const SupportResult result = CheckFloatWeights(layer, 4);
    if (!result)
    {
        return result;
    }
    const TensorShape& weights = layer.GetInput(1).GetShape();
    if (weights[1] != WinogradTile::Window || weights[2] != WinogradTile::Window)
    {
        return Refuse("its windows are not 3x3");
    }
    const TensorShape& data = layer.GetInput(0).GetShape();
    if (data.GetDimensionality() == Dimensionality::Specified && data.GetNumDimensions() == 4 &&
        data.GetDimensionSpecificity(3) && data[3] != weights[3])
    {
        return Refuse("its channels are in groups");
    }
    if (!IsFaster(layer))
    {
        return Refuse("it has too few channels or pixels to gain from other products");
    }
    return CheckPackedBytes(PackedWeightsF32::GetPackedBytes(GetWinogradSizes(weights[0], weights[3])),
                            weights.GetNumElements64() * sizeof(float));
}

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    const TensorShape& weights = layer.GetInput(1).GetShape();
    return PackWinograd(FloatWeights(layer, 1), weights[0], weights[3], store);
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const PackedWeightsF32&>(*packed);
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
    const WinogradF32 convolution(weights, windows, output[0], backends::FloatClamp(args.m_FusedActivation));
    const bool hasBias = args.HasInput(2);
    return {[convolution, hasBias](const ExecuteArgs& run)
            {
                convolution.Run(run.GetInput<float>(0), hasBias ? run.GetInput<float>(2) : nullptr,
                                run.GetOutput<float>(0), run.m_Scratch, *run.m_Parallel);
            },
            convolution.GetScratchBytes()};
}

} // namespace

extern const backends::Kernel CpuConvolution2dWinogradKernel = {
    "CpuConvolution2dWinograd", PackedFloatTypes, Prepare, Check, Pack, backends::FuseClamp, nullptr, true};

} // namespace tenon::cpu
