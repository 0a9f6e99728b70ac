// SPDX-License-Identifier: Apache-2.0
// DepthwiseConvolution2d of CpuAcc for float data and constant weights of int8 or int4:
//   out = (sum of q * w) * (scale of the image * scale of the weights) + bias,   q = round(in / scale of the image)
// Each image is quantized at run time with a scale of its own. Sums of at most 512 such products are exact in float32,
// so the float microkernels add them up.
#include "backends/cpu/depthwise/float/DepthwiseDriverF32.hpp"
#include "backends/cpu/gemm/pack/HybridDataInt8.hpp"
#include "backends/cpu/weights/LayerWithWeights.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"
#include "backends/cpu/weights/WeightsCheckInt8.hpp"
#include "backends/reference/Kernels.hpp"

#include <algorithm>
#include <vector>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;

/// Data less their zero point are within 255, weights within 128: sums of this many products stay below 2^24.
constexpr size_t MaxTaps = 512;

SupportResult Check(const LayerView& layer)
{
    const SupportResult result = CheckWeightsInt8(layer, 4, 3);
    if (!result)
    {
        return result;
    }
    const TensorShape& weights = layer.GetInput(1).GetShape();
    const uint64_t taps = uint64_t{weights[1]} * weights[2];
    const size_t scales = layer.GetInput(1).GetQuantizationScales().size();
    if (taps > MaxTaps || (scales != 1 && scales != weights[3]))
    {
        return SupportResult::No(
            SupportCode::UnsupportedParameters,
            "the window is too large for sums in float, or the scales are not those of its channels");
    }
    return CheckPackedSize(PackedDepthwiseF32::GetPackedBytes<float>(taps, weights[3]),
                           weights.GetNumElements64() * sizeof(float));
}

/// Packed weights as floats, with the scales and the bias of all channels.
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

    const PackedDepthwiseF32& GetWeights() const { return m_Weights; }
    const std::vector<float>& GetScales() const { return m_Scales; }
    const std::vector<float>& GetBias() const { return m_Bias; }

private:
    /// TFLite reads uint8 weights of hybrid layers as int8 bit patterns without a zero point.
    static PackedDepthwiseF32 Pack(const LayerView& layer, backends::PackedStore& store)
    {
        const TensorShape& shape = layer.GetInput(1).GetShape();
        std::vector<float> floats;
        const auto getFloats = [&]() -> const float*
        {
            const ConstantWeightsInt8 stored(layer);
            const auto* weights = reinterpret_cast<const int8_t*>(stored.Get());
            floats.assign(weights, weights + shape.GetNumElements());
            return floats.data();
        };
        const std::vector<float> noBias(shape[3], 0.0f); // the bias is added after the sums are scaled
        return PackedDepthwiseF32(getFloats, noBias, size_t{shape[1]} * shape[2], store);
    }

    PackedDepthwiseF32 m_Weights;
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
        : m_Geometry(g), m_Packed(&packed), m_Sums(args, g, packed.GetWeights(), true)
    {
        Scratch scratch;
        scratch.Add<std::byte>(m_Sums.GetScratchBytes());
        m_Floats = scratch.Add<float>(m_Sums.QuantizesInStrips() ? 0 : args.GetInput(0).GetNumElements());
        m_Factors = scratch.Add<float>(backends::CheckedCount(g.m_Batches, g.m_OutputChannels));
        m_Steps = scratch.Add<DepthwiseQuantization>(g.m_Batches);
        m_ScratchBytes = scratch.GetBytes();
    }

    size_t GetScratchBytes() const { return m_ScratchBytes; }

    void operator()(const ExecuteArgs& args) const
    {
        auto* const factors = Scratch::At<float>(args.m_Scratch, m_Factors);
        auto* const steps = Scratch::At<DepthwiseQuantization>(args.m_Scratch, m_Steps);
        auto* const floats = Scratch::At<float>(args.m_Scratch, m_Floats);
        const auto* const image = args.GetInput<float>(0);
        const size_t count = m_Geometry.NumImageElements();
        for (size_t batch = 0; batch < m_Geometry.m_Batches; ++batch)
        {
            const size_t at = batch * count;
            const BatchQuantizationInt8 run = FindBatchQuantization(*args.m_Parallel, image + at, count, true);
            std::transform(m_Packed->GetScales().begin(), m_Packed->GetScales().end(),
                           factors + batch * m_Geometry.m_OutputChannels,
                           [&](float weightScale) { return run.m_Scale.m_Scale * weightScale; });
            if (!m_Sums.QuantizesInStrips())
            {
                QuantizeBatch(*args.m_Parallel, image + at, count, run, floats + at);
                continue;
            }
            const auto zeroPoint = static_cast<float>(run.m_Steps.m_ZeroPoint);
            steps[batch] = {run.m_Steps.m_Inverse, static_cast<float>(run.m_Steps.m_Lowest) - zeroPoint,
                            127.0f - zeroPoint};
            steps[batch] = run.m_IsZero ? DepthwiseQuantization() : steps[batch];
        }
        m_Sums.Run(args, m_Sums.QuantizesInStrips() ? image : floats,
                   {factors, m_Packed->GetBias().data(), m_Sums.QuantizesInStrips() ? steps : nullptr});
    }

private:
    ref::ConvolutionGeometry m_Geometry;
    const PackedHybridDepthwise* m_Packed;
    DepthwiseDriverF32<float> m_Sums;
    size_t m_Floats = 0; ///< offsets in the scratch memory, which begins with that of the driver
    size_t m_Factors = 0;
    size_t m_Steps = 0;
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

extern const backends::Kernel CpuDepthwiseConvolution2dHybridKernel = {.m_Name = "CpuDepthwiseConvolution2dHybrid",
                                                                       .m_Types = HybridTypes,
                                                                       .m_Prepare = Prepare,
                                                                       .m_Check = Check,
                                                                       .m_Pack = Pack,
                                                                       .m_Fuse = backends::FuseClamp,
                                                                       .m_Reference =
                                                                           &ref::RefDepthwiseConvolution2dKernel};

} // namespace tenon::cpu
