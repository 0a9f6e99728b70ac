// SPDX-License-Identifier: Apache-2.0
// Convolution3d of CpuAcc for NDHWC floats and constant weights: out[z] = bias + sum over depth taps t of conv2d(in[z *
// stride + t * dilation - pad], w[t]).
// One GEMM for each depth tap and run of frames (neighbouring frames are one GEMM where the stride is 1) adds to the
// output, which begins with the bias. The clamp follows after the last tap.
#include "backends/common/FusedActivation.hpp"
#include "backends/cpu/elementwise/BroadcastRuns.hpp"
#include "backends/cpu/gemm/driver/GemmF32.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"
#include "backends/cpu/weights/WeightsCheckFloat.hpp"
#include "backends/reference/kernels/VolumeGeometry.hpp"

#include <tenon/descriptors/Convolution.hpp>

#include <algorithm>
#include <vector>

namespace tenon::cpu
{

namespace
{

/// Sizes of the weights of one depth tap.
WeightSizes GetSizes(const TensorShape& weights)
{
    const size_t rowDepth = size_t{weights[2]} * weights[3];
    return {1, weights[4], weights[1] * rowDepth, rowDepth};
}

/// Packed weights: one matrix for each depth tap.
class TapWeights final : public backends::PackedWeights
{
public:
    TapWeights(const LayerView& layer, backends::PackedStore& store)
    {
        const TensorShape& shape = layer.GetInput(1).GetShape();
        const FloatWeights weights(layer, 1);
        const WeightSizes sizes = GetSizes(shape);
        const size_t count = sizes.m_Columns * sizes.m_Depth;
        std::vector<float> copy;
        for (unsigned int tap = 0; tap < shape[0]; ++tap)
        {
            m_Taps.emplace_back([&] { return weights.Get(tap * count, count, copy); }, sizes, WeightOrder::Depth,
                                store);
        }
    }

    const PackedWeightsF32& operator[](size_t tap) const { return m_Taps[tap]; }

private:
    std::vector<PackedWeightsF32> m_Taps;
};

/// The GEMMs of one depth tap.
struct TapGemm
{
    GemmF32 m_Gemm;
    size_t m_Tap = 0;
    size_t m_FirstOutput = 0; ///< first output frame that reads an input frame through this tap
    size_t m_LastOutput = 0;  ///< one past the last one
    size_t m_Frames = 1;      ///< output frames of one GEMM
};

class DepthTapGemms
{
public:
    DepthTapGemms(const ReshapeArgs& args, const ref::VolumeGeometry& g, const TapWeights& weights)
        : m_Geometry(g), m_Clamp(args.m_FusedActivation)
    {
        const Im2col windows = MakeAxisIm2col(g.m_Y, g.m_X, g.m_InputChannels, g.m_InputChannels);
        for (size_t tap = 0; tap < g.m_Z.m_Kernel; ++tap)
        {
            const auto seesFrame = [&](size_t z) { return tap >= g.m_Z.FirstTap(g.m_Z.Origin(z)) && IsBefore(z, tap); };
            size_t first = 0;
            while (first < g.m_Z.m_Output && !seesFrame(first))
            {
                ++first;
            }
            size_t last = first;
            while (last < g.m_Z.m_Output && seesFrame(last))
            {
                ++last;
            }
            if (first < last)
            {
                // Frames that are not neighbours in the input are GEMMs of their own.
                const size_t frames = g.m_Z.m_Stride == 1 ? last - first : 1;
                GemmF32 product(weights[tap], windows, frames * g.m_Y.m_Output * g.m_X.m_Output,
                                backends::FloatClamp(nullptr), args.m_MaxThreads);
                product.SetAccumulates();
                m_ScratchBytes = std::max(m_ScratchBytes, product.GetScratchBytes());
                m_Taps.push_back({product, tap, first, last, frames});
            }
        }
    }

    size_t GetScratchBytes() const { return m_ScratchBytes; }

    void operator()(const ExecuteArgs& args) const
    {
        const float* const bias = args.m_Inputs.size() > 2 ? args.GetInput<float>(2) : nullptr;
        float* const output = args.GetOutput<float>(0);
        const size_t channels = m_Geometry.m_OutputChannels;
        const size_t inputFrame = m_Geometry.m_Y.m_Input * m_Geometry.m_X.m_Input * m_Geometry.m_InputChannels;
        const size_t outputFrame = m_Geometry.m_Y.m_Output * m_Geometry.m_X.m_Output * channels;
        const size_t pixels = m_Geometry.NumRows() * m_Geometry.m_X.m_Output;
        RunElements(
            *args.m_Parallel, pixels,
            [=](size_t begin, size_t end)
            {
                for (size_t pixel = begin; pixel < end; ++pixel)
                {
                    float* const to = output + pixel * channels;
                    bias != nullptr ? std::copy_n(bias, channels, to) : std::fill_n(to, channels, 0.0f);
                }
            },
            GetMinPixels());
        for (size_t batch = 0; batch < m_Geometry.m_Batches; ++batch)
        {
            const float* const volume = args.GetInput<float>(0) + batch * m_Geometry.m_Z.m_Input * inputFrame;
            float* const out = output + batch * m_Geometry.m_Z.m_Output * outputFrame;
            for (const TapGemm& tap : m_Taps)
            {
                for (size_t z = tap.m_FirstOutput; z < tap.m_LastOutput; z += tap.m_Frames)
                {
                    const auto frame = static_cast<size_t>(m_Geometry.m_Z.Origin(z) +
                                                           static_cast<int64_t>(tap.m_Tap) * m_Geometry.m_Z.m_Dilation);
                    tap.m_Gemm.Run(volume + frame * inputFrame, nullptr, out + z * outputFrame, args.m_Scratch,
                                   *args.m_Parallel);
                }
            }
        }
        if (m_Clamp.IsActive())
        {
            RunElements(
                *args.m_Parallel, pixels,
                [this, output, channels](size_t begin, size_t end)
                { m_Clamp.Run(output + begin * channels, (end - begin) * channels); },
                GetMinPixels());
        }
    }

private:
    bool IsBefore(size_t z, size_t tap) const { return tap < m_Geometry.m_Z.EndTap(m_Geometry.m_Z.Origin(z)); }
    size_t GetMinPixels() const { return MinTaskElements / m_Geometry.m_OutputChannels + 1; }

    ref::VolumeGeometry m_Geometry;
    backends::FloatClamp m_Clamp;
    std::vector<TapGemm> m_Taps;
    size_t m_ScratchBytes = 0;
};

SupportResult Check(const LayerView& layer)
{
    SupportResult result = ref::CheckVolume(layer.GetDescriptor<Convolution3dDescriptor>());
    if (result)
    {
        result = CheckFloatWeights(layer, 5);
    }
    if (!result)
    {
        return result;
    }
    const TensorShape& weights = layer.GetInput(1).GetShape();
    return CheckPackedSize(weights[0] * PackedWeightsF32::GetPackedBytes(GetSizes(weights)),
                           weights.GetNumElements64() * sizeof(float));
}

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    return std::make_unique<TapWeights>(layer, store);
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const TensorShape& data = args.GetInput(0).GetShape();
    const TensorShape& weights = args.GetInput(1).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    if (data.GetNumDimensions() != 5 || output.GetNumDimensions() != 5 || data[0] != output[0] ||
        weights[3] != data[4] || weights[4] != output[4] ||
        (args.HasInput(2) && args.GetInput(2).GetNumElements() != output[4]))
    {
        return backends::Prepared::Declined("its shapes do not fit together");
    }
    ref::VolumeGeometry g;
    ref::SetVolumeAxes(args.GetDescriptor<Convolution3dDescriptor>(), data, weights, output, g);
    if (g.IsEmpty())
    {
        return [](const ExecuteArgs&) {};
    }
    DepthTapGemms product(args, g, static_cast<const TapWeights&>(*packed));
    const size_t scratchBytes = product.GetScratchBytes();
    return {std::move(product), scratchBytes};
}

} // namespace

extern const backends::Kernel CpuConvolution3dF32Kernel = {"CpuConvolution3dF32", FloatTypes, Prepare, Check, Pack,
                                                           backends::FuseClamp};

} // namespace tenon::cpu
