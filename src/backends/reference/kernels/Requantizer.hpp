// SPDX-License-Identifier: Apache-2.0
// What the convolutions and FullyConnected share around their sums of products: the conditions on
// quantization, the bias, and the way from an accumulator to a stored value. Set up in prepare, applied per pixel.
#pragma once

#include "backends/common/Quantization.hpp"

#include <tenon/backend/ILayerSupport.hpp>
#include <tenon/backend/IWorkload.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace tenon::ref
{

/// Adds, wrapping around on overflow, which only senseless models reach: it must not be undefined for them.
template <typename T>
T WrapAdd(T a, T b)
{
    if constexpr (std::is_integral_v<T>)
    {
        using Unsigned = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
    }
    else
    {
        return a + b;
    }
}

/// Quantization that these operators cannot run with. `weightsAxis`: the output channels' dimension in the weights.
SupportResult CheckWeightsQuantization(const LayerView& layer, unsigned int weightsAxis);

/// The same, for those that take no uint8 weights beside float data.
SupportResult CheckSignedWeights(const LayerView& layer, unsigned int weightsAxis);

/// The weights' zero point; 0 when they are quantized per axis.
int32_t GetWeightsZeroPoint(const TensorInfo& weights);

/// The real scales of sums of products, from those of data, weights and output as TFLite's reference kernels have them:
/// one for each scale of the weights. In fixed point it becomes a 31-bit multiplier afterwards, else it is applied in
/// double precision, rounding once; the last bits depend on that.
std::vector<double> GetSumScales(const TensorInfo& input, const TensorInfo& weights, const TensorInfo& output,
                                 bool inFixedPoint);

/// From accumulators (sums of products of stored values less zero points, plus bias) to stored values.
class Requantizer
{
public:
    /// How TFLite's reference kernel scales: by a 31-bit multiplier, or in double precision, rounding once.
    enum class Method
    {
        FixedPoint,
        Double
    };

    Requantizer() = default;
    /// One scale for each output channel, from the scales of input 0, the weights and output 0. Results are clamped to
    /// what a fused activation leaves.
    /// `sumsOf32Bits`: sums of 16-bit data without a bias are taken as 32 bits wide.
    /// Throws LayerValidationException when the weights have another number of scales than 1 or `outputChannels`.
    Requantizer(const ReshapeArgs& args, size_t outputChannels, Method method, bool sumsOf32Bits = false);

    /// Channels [first, first + count) of one pixel.
    template <typename Acc, typename Out>
    void Run(const Acc* accumulators, const Acc* bias, size_t first, size_t count, Out* out) const
    {
        if (!m_Rescalers.empty())
        {
            const auto scale = [this](Acc acc, size_t c)
            { return m_Rescalers[c * m_Stride](static_cast<int32_t>(acc)); };
            RunIntegers(accumulators, bias, first, count, scale, out);
        }
        else if (!m_Multipliers.empty())
        {
            const auto scale = [this](Acc acc, size_t c)
            { return backends::MultiplyByQuantizedMultiplier(int64_t{acc}, m_Multipliers[c * m_Stride]); };
            RunIntegers(accumulators, bias, first, count, scale, out);
        }
        else
        {
            for (size_t i = 0; i < count; ++i)
            {
                const Acc acc = WrapAdd(accumulators[i], bias[first + i]);
                const double real =
                    std::round(static_cast<double>(acc) * m_Reals[(first + i) * m_Stride]) + m_ZeroPoint;
                out[i] = static_cast<Out>(std::clamp<double>(real, m_Range.m_Min, m_Range.m_Max));
            }
        }
    }

private:
    template <typename Acc, typename Scale, typename Out>
    void RunIntegers(const Acc* accumulators, const Acc* bias, size_t first, size_t count, Scale scale, Out* out) const
    {
        for (size_t i = 0; i < count; ++i)
        {
            const int32_t scaled = scale(WrapAdd(accumulators[i], bias[first + i]), first + i);
            out[i] = static_cast<Out>(std::clamp(WrapAdd(scaled, m_ZeroPoint), m_Range.m_Min, m_Range.m_Max));
        }
    }

    // One of the three has an element for each scale of the weights; the others are empty.
    std::vector<backends::Rescaler> m_Rescalers;              ///< fixed point, sums of 32 bits
    std::vector<backends::QuantizedMultiplier> m_Multipliers; ///< fixed point, sums of 64 bits
    std::vector<double> m_Reals;
    size_t m_Stride = 0; ///< in them, from one output channel to the next: 0 where all share one scale
    int32_t m_ZeroPoint = 0;
    backends::QuantizedRange m_Range;
};

/// The bias at input 2, of which there may be none.
class Bias
{
public:
    Bias() = default;
    explicit Bias(const ReshapeArgs& args);

    /// Fills `row` with the bias of each output channel; zeros without one.
    template <typename Acc>
    void Load(const ExecuteArgs& args, size_t outputChannels, Acc* row) const
    {
        if (!m_Present)
        {
            std::fill_n(row, outputChannels, Acc{0});
        }
        else if (std::is_integral_v<Acc> && m_Is64Bit)
        {
            Copy(args.GetInput<int64_t>(2), outputChannels, row);
        }
        else
        {
            Copy(args.GetInput<std::conditional_t<std::is_integral_v<Acc>, int32_t, float>>(2), outputChannels, row);
        }
    }

private:
    template <typename From, typename To>
    static void Copy(const From* from, size_t count, To* to)
    {
        std::transform(from, from + count, to, [](From value) { return static_cast<To>(value); });
    }

    bool m_Present = false;
    bool m_Is64Bit = false;
};

} // namespace tenon::ref
