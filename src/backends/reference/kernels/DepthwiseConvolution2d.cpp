// SPDX-License-Identifier: Apache-2.0
// DepthwiseConvolution2d: NHWC data, weights [1, H, W, O]; output channel c reads input channel c / (O / C). Types are
// those of Convolution2d, except that float data needs int8 weights if they are integers.
#include "backends/common/FusedActivation.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/reference/kernels/ConvolutionGeometry.hpp"
#include "backends/reference/kernels/F16AsF32.hpp"
#include "backends/reference/kernels/HybridInput.hpp"
#include "backends/reference/kernels/Requantizer.hpp"
#include "backends/reference/kernels/SumRequantizer.hpp"
#include "backends/reference/kernels/UnpackedWeights.hpp"
#include "backends/reference/kernels/WeightedSum.hpp"

#include <tenon/descriptors/Convolution.hpp>

#include <functional>
#include <utility>

namespace tenon::ref
{

namespace
{

using backends::Prepared;
using backends::Scratch;

/// One product of centred values. Integers are multiplied as 16 by 16 bits, which vectorizes better than 32 by 32.
template <typename Acc, typename In, typename W>
Acc Product(In value, [[maybe_unused]] int32_t valueZero, W weight, [[maybe_unused]] int32_t weightZero)
{
    if constexpr (std::is_floating_point_v<Acc>)
    {
        return static_cast<Acc>(value) * static_cast<Acc>(weight);
    }
    else
    {
        return static_cast<int16_t>(value - valueZero) * static_cast<int16_t>(weight - weightZero);
    }
}

/// sums[c] = sum over the taps inside the image, for all output channels of one pixel.
template <typename Acc, typename In, typename W>
void SumTaps(const ConvolutionGeometry& g, const In* image, int32_t valueZero, const W* weights, int32_t weightZero,
             size_t outY, size_t outX, Acc* __restrict sums)
{
    const int64_t originY = g.m_Y.Origin(outY);
    const int64_t originX = g.m_X.Origin(outX);
    const size_t endY = g.m_Y.EndTap(originY);
    const size_t beginX = g.m_X.FirstTap(originX);
    const size_t endX = g.m_X.EndTap(originX);
    std::fill_n(sums, g.m_OutputChannels, Acc{0});
    for (size_t tapY = g.m_Y.FirstTap(originY); tapY < endY; ++tapY)
    {
        const auto y = static_cast<size_t>(originY + static_cast<int64_t>(tapY) * g.m_Y.m_Dilation);
        for (size_t tapX = beginX; tapX < endX; ++tapX)
        {
            const auto x = static_cast<size_t>(originX + static_cast<int64_t>(tapX) * g.m_X.m_Dilation);
            const In* values = image + (y * g.m_X.m_Input + x) * g.m_InputChannels;
            const W* tap = weights + (tapY * g.m_X.m_Kernel + tapX) * g.m_OutputChannels;
            if (g.m_GroupOutputs == 1)
            {
                for (size_t c = 0; c < g.m_OutputChannels; ++c)
                {
                    sums[c] = WrapAdd(sums[c], Product<Acc>(values[c], valueZero, tap[c], weightZero));
                }
                continue;
            }
            for (size_t c = 0, o = 0; c < g.m_InputChannels; ++c)
            {
                for (size_t m = 0; m < g.m_GroupOutputs; ++m, ++o)
                {
                    sums[o] = WrapAdd(sums[o], Product<Acc>(values[c], valueZero, tap[o], weightZero));
                }
            }
        }
    }
}

/// Calls emit(pixel, batch, sums) for each output pixel.
template <typename Acc, typename In, typename W, typename ZeroPointOf, typename Emit>
void ForEachPixel(const ConvolutionGeometry& g, const In* data, ZeroPointOf zeroPointOf, const W* weights,
                  int32_t weightZero, Acc* sums, Emit emit)
{
    size_t pixel = 0;
    for (size_t batch = 0; batch < g.m_Batches; ++batch, data += g.NumImageElements())
    {
        const int32_t zeroPoint = zeroPointOf(batch);
        for (size_t y = 0; y < g.m_Y.m_Output; ++y)
        {
            for (size_t x = 0; x < g.m_X.m_Output; ++x, ++pixel)
            {
                SumTaps(g, data, zeroPoint, weights, weightZero, y, x, sums);
                emit(pixel, batch, sums);
            }
        }
    }
}

/// The maximum number of taps of a window whose products are added in float.
constexpr size_t MaxFloatTaps = 128;

/// T: float or double. Sum: double also for windows of more than MaxFloatTaps taps of floats, because the rounding
/// error of a float sum grows with its length.
template <typename T, typename Sum>
class FloatDepthwise
{
public:
    FloatDepthwise(const ReshapeArgs& args, const ConvolutionGeometry& g, Scratch& scratch)
        : m_Geometry(g), m_Bias(args), m_Sums(scratch.Add<Sum>(g.m_OutputChannels)),
          m_BiasRow(scratch.Add<T>(g.m_OutputChannels)), m_Clamp(args.m_FusedActivation)
    {
    }

    void operator()(const ExecuteArgs& args) const
    {
        const size_t channels = m_Geometry.m_OutputChannels;
        T* bias = Scratch::At<T>(args.m_Scratch, m_BiasRow);
        m_Bias.Load(args, channels, bias);
        T* output = args.GetOutput<T>(0);
        const auto emit = [&](size_t pixel, size_t, const Sum* sums)
        {
            std::transform(sums, sums + channels, bias, output + pixel * channels,
                           [](Sum sum, T b) { return static_cast<T>(sum + Sum{b}); });
            m_Clamp.Run(output + pixel * channels, channels);
        };
        ForEachPixel(
            m_Geometry, args.GetInput<T>(0), [](size_t) { return 0; }, args.GetInput<T>(1), 0,
            Scratch::At<Sum>(args.m_Scratch, m_Sums), emit);
    }

private:
    ConvolutionGeometry m_Geometry;
    Bias m_Bias;
    size_t m_Sums; ///< offsets in the scratch memory
    size_t m_BiasRow;
    backends::FloatClamp m_Clamp;
};

template <typename In, typename W, typename Acc>
class QuantizedDepthwise
{
public:
    QuantizedDepthwise(const ReshapeArgs& args, const ConvolutionGeometry& g, Scratch& scratch)
        : m_Geometry(g), m_Bias(args),
          m_Requantizer(
              args, g.m_OutputChannels,
              SumRequantizer::ChooseMethod(args.GetDescriptor<DepthwiseConvolution2dDescriptor>().m_Requantization,
                                           SumRequantizer::Method::FixedPoint)),
          m_ZeroPoint(args.GetInput(0).GetQuantizationOffset()),
          m_WeightsZeroPoint(GetWeightsZeroPoint(args.GetInput(1))), m_Sums(scratch.Add<Acc>(g.m_OutputChannels)),
          m_BiasRow(scratch.Add<Acc>(g.m_OutputChannels))
    {
    }

    void operator()(const ExecuteArgs& args) const
    {
        const size_t channels = m_Geometry.m_OutputChannels;
        Acc* bias = Scratch::At<Acc>(args.m_Scratch, m_BiasRow);
        m_Bias.Load(args, channels, bias);
        In* output = args.GetOutput<In>(0);
        const auto emit = [&](size_t pixel, size_t, const Acc* sums)
        { m_Requantizer.Run(sums, bias, 0, channels, output + pixel * channels); };
        ForEachPixel(
            m_Geometry, args.GetInput<In>(0), [this](size_t) { return m_ZeroPoint; }, args.GetInput<W>(1),
            m_WeightsZeroPoint, Scratch::At<Acc>(args.m_Scratch, m_Sums), emit);
    }

private:
    ConvolutionGeometry m_Geometry;
    Bias m_Bias;
    SumRequantizer m_Requantizer;
    int32_t m_ZeroPoint;
    int32_t m_WeightsZeroPoint;
    size_t m_Sums; ///< offsets in the scratch memory
    size_t m_BiasRow;
};

class HybridDepthwise
{
public:
    HybridDepthwise(const ReshapeArgs& args, const ConvolutionGeometry& g, Scratch& scratch)
        : m_Geometry(g), m_Bias(args),
          m_Input(args, g.m_Batches, g.NumImageElements(), g.m_OutputChannels, true, scratch),
          m_Sums(scratch.Add<int64_t>(g.m_OutputChannels)), m_BiasRow(scratch.Add<float>(g.m_OutputChannels)),
          m_Clamp(args.m_FusedActivation)
    {
    }

    void operator()(const ExecuteArgs& args) const
    {
        const size_t channels = m_Geometry.m_OutputChannels;
        void* const scratch = args.m_Scratch;
        float* bias = Scratch::At<float>(scratch, m_BiasRow);
        m_Bias.Load(args, channels, bias);
        m_Input.Quantize(args);
        float* output = args.GetOutput<float>(0);
        const auto emit = [&](size_t pixel, size_t batch, const int64_t* sums)
        {
            m_Input.Run(scratch, batch, sums, bias, 0, channels, output + pixel * channels);
            m_Clamp.Run(output + pixel * channels, channels);
        };
        ForEachPixel(
            m_Geometry, m_Input.GetValues(scratch), [&](size_t b) { return m_Input.GetZeroPoint(scratch, b); },
            args.GetInput<int8_t>(1), 0, Scratch::At<int64_t>(scratch, m_Sums), emit);
    }

private:
    ConvolutionGeometry m_Geometry;
    Bias m_Bias;
    HybridInput m_Input;
    size_t m_Sums; ///< offsets in the scratch memory
    size_t m_BiasRow;
    backends::FloatClamp m_Clamp;
};

template <typename Executor>
Prepared Make(const ReshapeArgs& args, const ConvolutionGeometry& g)
{
    Scratch scratch;
    Executor executor(args, g, scratch);
    return Prepared(std::move(executor), scratch.GetBytes());
}

SupportResult Check(const LayerView& layer)
{
    const SupportResult result = CheckConvolution(layer.GetDescriptor<DepthwiseConvolution2dDescriptor>());
    return result ? CheckSignedWeights(layer, 3) : result;
}

Prepared PrepareBytes(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const ConvolutionGeometry g = MakeDepthwiseGeometry(args);
    if (g.IsEmpty())
    {
        return Prepared([](const ExecuteArgs&) {});
    }
    if (IsHybrid(args))
    {
        return Make<HybridDepthwise>(args, g);
    }
    switch (args.GetInput(0).GetDataType())
    {
    case DataType::QAsymmU8:
        return args.GetInput(1).GetDataType() == DataType::QAsymmU8
                   ? Make<QuantizedDepthwise<uint8_t, uint8_t, int64_t>>(args, g)
                   : Make<QuantizedDepthwise<uint8_t, int8_t, int64_t>>(args, g);
    case DataType::QAsymmS8: return Make<QuantizedDepthwise<int8_t, int8_t, int64_t>>(args, g);
    case DataType::QSymmS16: return Make<QuantizedDepthwise<int16_t, int8_t, int64_t>>(args, g);
    case DataType::Float64: return Make<FloatDepthwise<double, double>>(args, g);
    default:
        return g.m_Y.m_Kernel * g.m_X.m_Kernel <= MaxFloatTaps ? Make<FloatDepthwise<float, float>>(args, g)
                                                               : Make<FloatDepthwise<float, double>>(args, g);
    }
}

Prepared PrepareExceptF16(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    return PrepareWithUnpackedWeights(args, PrepareBytes, packed);
}

Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    return PrepareF16AsF32(args, PrepareExceptF16, packed);
}

} // namespace

extern const backends::Kernel RefDepthwiseConvolution2dKernel = {.m_Name = "RefDepthwiseConvolution2d",
                                                                 .m_Types = WeightedSumTypes,
                                                                 .m_Prepare = Prepare,
                                                                 .m_Check = Check,
                                                                 .m_Fuse = backends::FuseClamp,
                                                                 .m_RoundsHalfToEven = true};

} // namespace tenon::ref
