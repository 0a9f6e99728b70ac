// SPDX-License-Identifier: Apache-2.0
// DepthwiseConvolution2d of CpuAcc for float data and constant weights of bytes. The data are quantized while running,
// image by image. Sums of a few hundred products of bytes are exact in float, so the loops of floats add them up.
#include "backends/cpu/gemm/PackedSize.hpp"
#include "backends/cpu/gemm/bytes/HybridData8.hpp"
#include "backends/cpu/gemm/bytes/Tiles8.hpp"
#include "backends/cpu/kernels/BytesCheck.hpp"
#include "backends/cpu/kernels/DepthwiseProduct.hpp"
#include "backends/reference/CpuRefBackend.hpp"

#include <tenon/Descriptors.hpp>

#include <array>
#include <vector>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;

constexpr backends::TypeRow WholeByteTypes[] = {
    backends::Types({DataType::Float32, SignedByteWeights | DataType::QAsymmU8, DataType::Float32}, DataType::Float32),
};

/// Data less their zero point are within 255, weights within 128: so many products stay below 2^24.
constexpr size_t MostTaps = 512;

SupportResult Check(const LayerView& layer)
{
    SupportResult result = ref::FindKernel(LayerType::DepthwiseConvolution2d)->m_Check(layer);
    if (result)
    {
        result = CheckBytes(layer, 4, 3);
    }
    if (!result)
    {
        return result;
    }
    const TensorShape& weights = layer.GetInput(1).GetShape();
    const uint64_t taps = uint64_t{weights[1]} * weights[2];
    const size_t scales = layer.GetInput(1).GetQuantizationScales().size();
    if (taps > MostTaps || (scales != 1 && scales != weights[3]))
    {
        return SupportResult::No(
            SupportCode::UnsupportedParameters,
            "the window is too large for sums in float, or the scales are not those of its channels");
    }
    return CheckPackedBytes(PackedDepthwise::GetPackedBytes<float>(taps, weights[3]),
                            weights.GetNumElements64() * sizeof(float));
}

/// Weights as floats; scales and bias of all channels.
class PackedHybridDepthwise final : public backends::PackedWeights
{
public:
    PackedHybridDepthwise(const LayerView& layer, backends::PackedStore& store)
        : m_Weights(Pack(layer, store)), m_Scales(layer.GetInput(1).GetQuantizationScales()),
          m_Bias(layer.GetInput(1).GetShape()[3], 0.0f)
    {
        m_Scales.resize(m_Bias.size(), m_Scales.front());
        if (layer.HasInput(2))
        {
            std::copy_n(static_cast<const float*>(layer.m_ConstantData[2]), m_Bias.size(), m_Bias.begin());
        }
    }

    const PackedDepthwise& GetWeights() const { return m_Weights; }
    const std::vector<float>& GetScales() const { return m_Scales; }
    const std::vector<float>& GetBias() const { return m_Bias; }

private:
    /// TFLite takes uint8 weights beside float data for int8 bit patterns without a zero point.
    static PackedDepthwise Pack(const LayerView& layer, backends::PackedStore& store)
    {
        const TensorShape& shape = layer.GetInput(1).GetShape();
        std::vector<float> floats;
        const auto getFloats = [&]() -> const float*
        {
            const auto* weights = static_cast<const int8_t*>(layer.m_ConstantData[1]);
            floats.assign(weights, weights + shape.GetNumElements());
            return floats.data();
        };
        const std::vector<float> noBias(shape[3], 0.0f); // it is added to what the sums count
        return PackedDepthwise(getFloats, noBias, size_t{shape[1]} * shape[2], store);
    }

    PackedDepthwise m_Weights;
    std::vector<float> m_Scales;
    std::vector<float> m_Bias;
};

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    return std::make_unique<PackedHybridDepthwise>(layer, store);
}

/// A layer of known shapes.
class HybridDepthwise
{
public:
    HybridDepthwise(const ReshapeArgs& args, const ref::ConvolutionGeometry& g, const PackedHybridDepthwise& packed)
        : m_Geometry(g), m_Packed(&packed), m_Sums(WithoutActivation(args), g, packed.GetWeights()),
          m_Clamp(args.m_FusedActivation)
    {
        const size_t elements = args.GetInput(0).GetNumElements();
        Scratch scratch;
        scratch.Add<std::byte>(m_Sums.GetScratchBytes());
        m_Floats = scratch.Add<float>(elements);
        m_Factors = scratch.Add<float>(backends::CheckedCount(g.m_Batches, g.m_OutputChannels));
        m_ScratchBytes = scratch.GetBytes();
    }

    size_t GetScratchBytes() const { return m_ScratchBytes; }

    void operator()(const ExecuteArgs& args) const
    {
        Quantize(args);
        const size_t channels = m_Geometry.m_OutputChannels;
        const size_t imagePixels = m_Geometry.m_Y.m_Output * m_Geometry.m_X.m_Output;
        const float* factors = Scratch::At<float>(args.m_Scratch, m_Factors);
        const auto finish = [&](size_t pixel, size_t pixels)
        {
            FloatColumns columns;
            columns.m_Scales = factors + pixel / imagePixels * channels;
            columns.m_Bias = m_Packed->GetBias().data();
            columns.m_HasClamp = m_Clamp.IsActive();
            columns.m_Low = m_Clamp.GetLow();
            columns.m_High = m_Clamp.GetHigh();
            GetEngine8().m_ScaleFloats(args.GetOutput<float>(0) + pixel * channels, pixels, channels, columns);
        };
        m_Sums.Run(args, Scratch::At<float>(args.m_Scratch, m_Floats), finish);
    }

private:
    static ReshapeArgs WithoutActivation(ReshapeArgs args)
    {
        args.m_FusedActivation = nullptr;
        return args;
    }

    /// Each image less its zero point, in whole floats, and what a sum of each channel counts.
    void Quantize(const ExecuteArgs& args) const
    {
        const size_t count = m_Geometry.NumImageElements();
        const size_t channels = m_Geometry.m_OutputChannels;
        auto* floats = Scratch::At<float>(args.m_Scratch, m_Floats);
        auto* factors = Scratch::At<float>(args.m_Scratch, m_Factors);
        for (size_t batch = 0; batch < m_Geometry.m_Batches; ++batch)
        {
            const size_t at = batch * count;
            const FloatScale scale =
                QuantizeRun(*args.m_Parallel, args.GetInput<float>(0) + at, count, true, floats + at);
            std::transform(m_Packed->GetScales().begin(), m_Packed->GetScales().end(), factors + batch * channels,
                           [&](float weightScale) { return scale.m_Scale * weightScale; });
        }
    }

    ref::ConvolutionGeometry m_Geometry;
    const PackedHybridDepthwise* m_Packed;
    Depthwise<float> m_Sums;
    backends::FloatClamp m_Clamp;
    size_t m_Floats = 0; ///< offsets in the scratch memory, which begins with that of the sums
    size_t m_Factors = 0;
    size_t m_ScratchBytes = 0;
};

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const ref::ConvolutionGeometry g = LayColumnAsRow(ref::MakeDepthwiseGeometry(args));
    if (g.IsEmpty())
    {
        return [](const ExecuteArgs&) {};
    }
    HybridDepthwise depthwise(args, g, static_cast<const PackedHybridDepthwise&>(*packed));
    const size_t bytes = depthwise.GetScratchBytes();
    return {std::move(depthwise), bytes};
}

} // namespace

extern const backends::Kernel CpuDepthwiseConvolution2dHybridKernel = {
    "CpuDepthwiseConvolution2dHybrid", WholeByteTypes, Prepare, Check, Pack, backends::FuseClamp};

} // namespace tenon::cpu
