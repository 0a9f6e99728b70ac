// SPDX-License-Identifier: Apache-2.0
// Conversion of an accumulator of a convolution or of FullyConnected to a stored value. Set up in prepare, applied per
// pixel.
#pragma once

#include "backends/common/Rescale.hpp"
#include "backends/reference/TensorQuantization.hpp"
#include "backends/reference/kernels/Requantizer.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::ref
{

/// Converts accumulators (sums of products of stored values less zero points, plus bias) to stored values.
class SumRequantizer
{
public:
    /// The way in which TFLite's reference kernel scales: by a 31-bit multiplier, or in double precision, rounding
    /// once; or that of RequantizationMode::FloatHalfEven.
    enum class Method
    {
        FixedPoint,
        Double,
        FloatHalfEven
    };
    /// The method of a layer's mode. `tflite`: TFLite's for the operator.
    static Method ChooseMethod(RequantizationMode mode, Method tflite)
    {
        return mode == RequantizationMode::FloatHalfEven ? Method::FloatHalfEven : tflite;
    }

    SumRequantizer() = default;
    /// One scale for each output channel, from the scales of input 0, the weights and output 0. Results are clamped to
    /// the range of a fused activation. `sumsOf32Bits`: sums of 16-bit data without a bias are taken as 32 bits wide.
    /// Throws LayerValidationException when the weights have another number of scales than 1 or `outputChannels`.
    SumRequantizer(const ReshapeArgs& args, size_t outputChannels, Method method, bool sumsOf32Bits = false);

    /// Converts channels [first, first + count) of one pixel.
    template <typename Acc, typename Out>
    void Run(const Acc* accumulators, const Acc* bias, size_t first, size_t count, Out* out) const
    {
        if (!m_Rescalers.empty())
        {
            const auto scale = [this](Acc acc, size_t c) { return m_Rescalers[c * m_Stride](int64_t{acc}); };
            RunIntegers(accumulators, bias, first, count, scale, out);
        }
        else if (!m_Multipliers.empty())
        {
            const auto scale = [this](Acc acc, size_t c)
            { return backends::MultiplyReducedSaturating(int64_t{acc}, m_Multipliers[c * m_Stride]); };
            RunIntegers(accumulators, bias, first, count, scale, out);
        }
        else if (!m_Factors.empty())
        {
            for (size_t i = 0; i < count; ++i)
            {
                const Acc acc = WrapAdd(accumulators[i], bias[first + i]);
                out[i] = RescaleHalfEven<Out>(int64_t{acc}, m_Factors[(first + i) * m_Stride], m_ZeroPoint, m_Range);
            }
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
            out[i] = static_cast<Out>(
                std::clamp(backends::SaturatingAdd(scaled, m_ZeroPoint), m_Range.m_Min, m_Range.m_Max));
        }
    }

    // One of the four has an element for each scale of the weights; the others are empty.
    std::vector<backends::SumRescaler> m_Rescalers;           ///< fixed point, sums of 32 bits
    std::vector<backends::QuantizedMultiplier> m_Multipliers; ///< fixed point, sums of 64 bits
    std::vector<double> m_Reals;
    std::vector<float> m_Factors; ///< of RequantizationMode::FloatHalfEven
    size_t m_Stride = 0;          ///< step in them from one output channel to the next; 0 if all share one scale
    int32_t m_ZeroPoint = 0;
    backends::QuantizedRange m_Range;
};

} // namespace tenon::ref
