// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions. Every output element is computed independently, so that threads can share the rows.
#include "backends/reference/kernels/TransposedConvolution.hpp"

#include "backends/common/FusedActivation.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/reference/kernels/HybridInput.hpp"
#include "backends/reference/kernels/Requantizer.hpp"

#include <algorithm>
#include <functional>
#include <type_traits>
#include <utility>

namespace tenon::ref
{

namespace
{

using backends::Prepared;
using backends::Scratch;

/// The input position that a tap spreads to output position `out`; false if there is none.
bool FindSource(const WindowAxis& axis, size_t out, size_t tap, size_t& in)
{
    const int64_t spread = static_cast<int64_t>(out) + axis.m_Pad - static_cast<int64_t>(tap) * axis.m_Dilation;
    if (spread < 0 || spread % axis.m_Stride != 0)
    {
        return false;
    }
    in = static_cast<size_t>(spread / axis.m_Stride);
    return in < axis.m_Input;
}

template <typename Acc, typename In, typename W>
Acc Product(In value, [[maybe_unused]] int32_t zeroPoint, W weight, [[maybe_unused]] int32_t weightsZeroPoint)
{
    if constexpr (std::is_floating_point_v<Acc>)
    {
        return static_cast<Acc>(value) * static_cast<Acc>(weight);
    }
    else // a 16-bit or 8-bit number by an 8-bit number
    {
        return (value - zeroPoint) * (weight - weightsZeroPoint);
    }
}

/// sums[o] += the product of a pixel's input channels with the weights of output channel o, for Rows of them.
template <size_t Rows, typename Acc, typename In, typename W>
void AddRows(const TransposedConvolutionGeometry& g, const In* values, int32_t zeroPoint, const W* weights,
             int32_t weightsZeroPoint, Acc* sums)
{
    Acc totals[Rows] = {};
    for (size_t i = 0; i < g.m_InputChannels; ++i)
    {
#pragma GCC unroll 4
        for (size_t r = 0; r < Rows; ++r)
        {
            totals[r] += Product<Acc>(values[i], zeroPoint, weights[r * g.m_OutputStep + i], weightsZeroPoint);
        }
    }
    for (size_t r = 0; r < Rows; ++r)
    {
        sums[r] += totals[r];
    }
}

/// The sums of all output channels at one position.
template <typename Acc, typename In, typename W>
void SumTaps(const TransposedConvolutionGeometry& g, const In* data, int32_t zeroPoint, const W* weights,
             int32_t weightsZeroPoint, const VolumePosition& position, Acc* sums)
{
    const In* volume = data + position.m_Batch * g.NumVolumeElements();
    std::fill_n(sums, g.m_OutputChannels, Acc{0});
    size_t z = 0;
    size_t y = 0;
    size_t x = 0;
    for (size_t tapZ = 0; tapZ < g.m_Z.m_Kernel; ++tapZ)
    {
        if (!FindSource(g.m_Z, position.m_Z, tapZ, z))
        {
            continue;
        }
        for (size_t tapY = 0; tapY < g.m_Y.m_Kernel; ++tapY)
        {
            if (!FindSource(g.m_Y, position.m_Y, tapY, y))
            {
                continue;
            }
            for (size_t tapX = 0; tapX < g.m_X.m_Kernel; ++tapX)
            {
                if (!FindSource(g.m_X, position.m_X, tapX, x))
                {
                    continue;
                }
                const In* values = volume + ((z * g.m_Y.m_Input + y) * g.m_X.m_Input + x) * g.m_InputChannels;
                const W* tap = weights + ((tapZ * g.m_Y.m_Kernel + tapY) * g.m_X.m_Kernel + tapX) * g.m_TapStep;
                size_t o = 0;
                for (; o + 4 <= g.m_OutputChannels; o += 4)
                {
                    AddRows<4>(g, values, zeroPoint, tap + o * g.m_OutputStep, weightsZeroPoint, sums + o);
                }
                for (; o < g.m_OutputChannels; ++o)
                {
                    AddRows<1>(g, values, zeroPoint, tap + o * g.m_OutputStep, weightsZeroPoint, sums + o);
                }
            }
        }
    }
}

/// The part that all combinations of types share. Acc: type of a sum; BiasType: type of a loaded bias.
template <typename Acc, typename BiasType>
class Base
{
protected:
    Base(const ReshapeArgs& args, const TransposedConvolutionGeometry& g, Scratch& scratch)
        : m_Geometry(g), m_Bias(args), m_Sums(scratch.Add<Acc>(MaxTasks, g.m_OutputChannels)),
          m_BiasRow(scratch.Add<BiasType>(g.m_OutputChannels))
    {
    }

    const BiasType* LoadBias(const ExecuteArgs& args) const
    {
        BiasType* row = Scratch::At<BiasType>(args.m_Scratch, m_BiasRow);
        m_Bias.Load(args, m_Geometry.m_OutputChannels, row);
        return row;
    }

    /// Calls emit(pixel, batch, sums) for each output pixel. zeroPointOf(batch): the data's zero point.
    template <typename W, typename In, typename ZeroPointOf, typename Emit>
    void ForEachPixel(const ExecuteArgs& args, const In* data, const ZeroPointOf& zeroPointOf, int32_t weightsZeroPoint,
                      const Emit& emit) const
    {
        const W* weights = args.GetInput<W>(1);
        const auto sum = [&](const VolumePosition& position, Acc* sums)
        { SumTaps(m_Geometry, data, zeroPointOf(position.m_Batch), weights, weightsZeroPoint, position, sums); };
        ForEachVolumePixel(m_Geometry, *args.m_Parallel, Scratch::At<Acc>(args.m_Scratch, m_Sums), sum, emit);
    }

    TransposedConvolutionGeometry m_Geometry;

private:
    Bias m_Bias;
    size_t m_Sums; ///< offsets in the scratch memory
    size_t m_BiasRow;
};

/// T: float or double; sums are doubles.
template <typename T>
class FloatSum : Base<double, T>
{
public:
    FloatSum(const ReshapeArgs& args, const TransposedConvolutionGeometry& g, Scratch& scratch)
        : Base<double, T>(args, g, scratch), m_Clamp(args.m_FusedActivation)
    {
    }

    void operator()(const ExecuteArgs& args) const
    {
        const T* bias = this->LoadBias(args);
        T* output = args.GetOutput<T>(0);
        const size_t channels = this->m_Geometry.m_OutputChannels;
        const auto emit = [&](size_t pixel, size_t, const double* sums)
        {
            T* const out = output + pixel * channels;
            std::transform(sums, sums + channels, bias, out,
                           [](double sum, T b) { return static_cast<T>(sum + double{b}); });
            m_Clamp.Run(out, channels);
        };
        this->template ForEachPixel<T>(
            args, args.GetInput<T>(0), [](size_t) { return 0; }, 0, emit);
    }

private:
    backends::FloatClamp m_Clamp;
};

template <typename In, typename W, typename Acc>
class QuantizedSum : Base<Acc, Acc>
{
public:
    QuantizedSum(const ReshapeArgs& args, const TransposedConvolutionGeometry& g, Scratch& scratch,
                 SumRequantizer::Method method, bool sumsOf32Bits)
        : Base<Acc, Acc>(args, g, scratch), m_Requantizer(args, g.m_OutputChannels, method, sumsOf32Bits),
          m_ZeroPoint(args.GetInput(0).GetQuantizationOffset()),
          m_WeightsZeroPoint(GetWeightsZeroPoint(args.GetInput(1)))
    {
    }

    void operator()(const ExecuteArgs& args) const
    {
        const Acc* bias = this->LoadBias(args);
        In* output = args.GetOutput<In>(0);
        const size_t channels = this->m_Geometry.m_OutputChannels;
        const auto emit = [&](size_t pixel, size_t, const Acc* sums)
        { m_Requantizer.Run(sums, bias, 0, channels, output + pixel * channels); };
        this->template ForEachPixel<W>(
            args, args.GetInput<In>(0), [this](size_t) { return m_ZeroPoint; }, m_WeightsZeroPoint, emit);
    }

private:
    SumRequantizer m_Requantizer;
    int32_t m_ZeroPoint;
    int32_t m_WeightsZeroPoint;
};

class HybridSum : Base<int64_t, float>
{
public:
    HybridSum(const ReshapeArgs& args, const TransposedConvolutionGeometry& g, Scratch& scratch)
        : Base(args, g, scratch), m_Input(args, g.m_Batches, g.NumVolumeElements(), g.m_OutputChannels, true, scratch),
          m_Clamp(args.m_FusedActivation)
    {
    }

    void operator()(const ExecuteArgs& args) const
    {
        void* const scratch = args.m_Scratch;
        const float* bias = LoadBias(args);
        m_Input.Quantize(args);
        float* output = args.GetOutput<float>(0);
        const size_t channels = m_Geometry.m_OutputChannels;
        const auto emit = [&](size_t pixel, size_t batch, const int64_t* sums)
        {
            float* const out = output + pixel * channels;
            m_Input.Run(scratch, batch, sums, bias, 0, channels, out);
            m_Clamp.Run(out, channels);
        };
        ForEachPixel<int8_t>(
            args, m_Input.GetValues(scratch), [&](size_t batch) { return m_Input.GetZeroPoint(scratch, batch); }, 0,
            emit);
    }

private:
    HybridInput m_Input;
    backends::FloatClamp m_Clamp;
};

template <typename Executor, typename... More>
Prepared Make(const ReshapeArgs& args, const TransposedConvolutionGeometry& g, More... more)
{
    Scratch scratch;
    Executor executor(args, g, scratch, more...);
    return Prepared(std::move(executor), scratch.GetBytes());
}

} // namespace

Prepared PrepareTransposedConvolution(const ReshapeArgs& args, const TransposedConvolutionGeometry& g,
                                      SumRequantizer::Method method, bool sumsOf32Bits)
{
    if (g.IsEmpty())
    {
        return Prepared([](const ExecuteArgs&) {});
    }
    if (IsHybrid(args))
    {
        return Make<HybridSum>(args, g);
    }
    switch (args.GetInput(0).GetDataType())
    {
    case DataType::QAsymmU8:
        return args.GetInput(1).GetDataType() == DataType::QAsymmU8
                   ? Make<QuantizedSum<uint8_t, uint8_t, int64_t>>(args, g, method, sumsOf32Bits)
                   : Make<QuantizedSum<uint8_t, int8_t, int64_t>>(args, g, method, sumsOf32Bits);
    case DataType::QAsymmS8: return Make<QuantizedSum<int8_t, int8_t, int64_t>>(args, g, method, sumsOf32Bits);
    case DataType::QSymmS16: return Make<QuantizedSum<int16_t, int8_t, int64_t>>(args, g, method, sumsOf32Bits);
    case DataType::Float64: return Make<FloatSum<double>>(args, g);
    default: return Make<FloatSum<float>>(args, g);
    }
}

} // namespace tenon::ref
