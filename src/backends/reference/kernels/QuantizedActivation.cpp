// SPDX-License-Identifier: Apache-2.0
// Activation on quantized tensors, bit for bit as TFLite's reference kernels compute it. 8-bit tensors go through a
// table of all 256 values; 16-bit ones are clamped, multiplied, or interpolated in a table.
#include "backends/reference/kernels/QuantizedActivation.hpp"

#include "backends/common/Quantization.hpp"
#include "backends/common/QuantizationCheck.hpp"
#include "backends/reference/ActivationFunctions.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/ElementwiseLoop.hpp"
#include "backends/reference/LookupTable.hpp"
#include "backends/reference/TensorQuantization.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace tenon::ref
{

namespace
{

using backends::MultiplyByQuantizedMultiplier;
using backends::Prepared;
using backends::QuantizedMultiplier;
using backends::QuantizedRange;
using backends::QuantizeMultiplier;
using backends::RoundingDivideByPot;

/// f as a table where that is smaller than the tensors it is for, else f itself. f: int32_t to int32_t within T.
template <typename T, typename F>
Prepared MakeFromStored(const ReshapeArgs& args, const F& f)
{
    if constexpr (sizeof(T) == 1)
    {
        return MakeElementwise<T>(args, [table = ByteTable<T>::FromStored(f)](T x) { return table[x]; });
    }
    else
    {
        return MakeElementwise<T>(args, [f](T x) { return static_cast<T>(f(x)); });
    }
}

/// ReLu and BoundedReLu: [lower, upper] on the output's scale.
template <typename T>
Prepared MakeRelu(const ReshapeArgs& args, const TensorQuantization& input, const TensorQuantization& output,
                  float lower, float upper)
{
    const QuantizedRange range =
        backends::GetClampRange(args.GetOutput(0).GetDataType(), output.m_Scale, output.m_ZeroPoint, lower, upper);
    if (input == output)
    {
        const auto low = static_cast<T>(range.m_Min);
        const auto high = static_cast<T>(range.m_Max);
        return MakeElementwise<T>(args, [low, high](T x) { return std::min(high, std::max(low, x)); });
    }
    const QuantizedMultiplier multiplier = QuantizeMultiplier(static_cast<double>(input.m_Scale / output.m_Scale));
    return MakeFromStored<T>(
        args,
        [=](int32_t x)
        {
            const int32_t scaled = MultiplyByQuantizedMultiplier(x - input.m_ZeroPoint, multiplier);
            return std::min(range.m_Max, std::max(range.m_Min, WrappingAdd(scaled, output.m_ZeroPoint)));
        });
}

template <typename T>
Prepared MakeLeakyRelu(const ReshapeArgs& args, const TensorQuantization& input, const TensorQuantization& output,
                       float alpha)
{
    const QuantizedMultiplier positive = QuantizeMultiplier(static_cast<double>(input.m_Scale / output.m_Scale));
    const QuantizedMultiplier negative =
        QuantizeMultiplier(static_cast<double>(input.m_Scale * alpha / output.m_Scale));
    // The sign is taken off the multiplier, so that both signs are rounded alike.
    const QuantizedMultiplier magnitude{std::abs(negative.m_Multiplier), negative.m_Shift};
    const bool flips = negative.m_Multiplier < 0;
    return MakeFromStored<T>(
        args,
        [=](int32_t x)
        {
            const int32_t value = x - input.m_ZeroPoint;
            int32_t scaled = MultiplyByQuantizedMultiplier(value, value >= 0 ? positive : magnitude);
            if (value < 0 && flips)
            {
                scaled = WrappingSubtract(0, scaled);
            }
            return std::clamp<int32_t>(WrappingAdd(scaled, output.m_ZeroPoint), std::numeric_limits<T>::min(),
                                       std::numeric_limits<T>::max());
        });
}

int16_t SaturateToInt16(int64_t value)
{
    return static_cast<int16_t>(
        std::clamp<int64_t>(value, std::numeric_limits<int16_t>::min(), std::numeric_limits<int16_t>::max()));
}

/// 2 * a * b / 2^16, rounded to nearest.
int16_t RoundingHighMul(int16_t a, int16_t b)
{
    return SaturateToInt16((static_cast<int32_t>(a) * b + (1 << 14)) >> 15);
}

/// The upper 16 bits of a 32-bit multiplier.
int16_t Narrow(int32_t multiplier)
{
    constexpr int32_t Rounding = 1 << 15;
    return multiplier >= std::numeric_limits<int32_t>::max() - Rounding
               ? std::numeric_limits<int16_t>::max()
               : static_cast<int16_t>((multiplier + Rounding) >> 16);
}

/// HardSwish of 8-bit numbers in 16-bit arithmetic: x times a ramp that rises from 0 at -3 to 1 at 3.
class HardSwish
{
public:
    /// Multiplying must not make larger.
    static bool Fits(const TensorQuantization& input, const TensorQuantization& output)
    {
        return GetOutputMultiplier(input, output).m_Shift <= 0;
    }

    HardSwish(const TensorQuantization& input, const TensorQuantization& output)
        : m_ZeroInput(input.m_ZeroPoint), m_ZeroOutput(output.m_ZeroPoint)
    {
        const QuantizedMultiplier toOutput = GetOutputMultiplier(input, output);
        constexpr float RampScale = 3.0f / 32768.0f;
        const QuantizedMultiplier toRamp = QuantizeMultiplier(static_cast<double>(GetFineScale(input) / RampScale));
        m_OutputMultiplier = Narrow(toOutput.m_Multiplier);
        m_OutputShift = -toOutput.m_Shift;
        m_RampMultiplier = Narrow(toRamp.m_Multiplier);
        m_RampShift = toRamp.m_Shift;
    }

    template <typename T>
    int32_t Apply(int32_t stored) const
    {
        // 128 times as fine, which uses all of 16 bits.
        const auto fine = static_cast<int16_t>((stored - m_ZeroInput) * 128);
        const int16_t onOutputScale = RoundingHighMul(fine, m_OutputMultiplier);

        // The ramp: x / 3 in [-1, 1], saturated. The last left shift comes after the multiplication, which only
        // makes smaller, so that nothing saturates that would not in the end.
        int16_t ramp = fine;
        if (m_RampShift > 0)
        {
            ramp = SaturateToInt16(static_cast<int64_t>(ramp) * (int64_t{1} << (m_RampShift - 1)));
        }
        ramp = RoundingHighMul(ramp, m_RampMultiplier);
        if (m_RampShift > 0)
        {
            ramp = SaturateToInt16(int64_t{ramp} * 2);
        }
        else if (m_RampShift < 0)
        {
            ramp = static_cast<int16_t>(RoundingDivideByPot(ramp, -m_RampShift));
        }
        ramp = static_cast<int16_t>((ramp + (1 << 15)) >> 1); // from [-1, 1] to [0, 1]

        const int32_t product = ramp * onOutputScale / (1 << 15); // towards zero
        const int32_t result = RoundingDivideByPot(product, m_OutputShift) + m_ZeroOutput;
        return std::clamp<int32_t>(result, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
    }

private:
    static float GetFineScale(const TensorQuantization& input) { return (1.0f / 128.0f) * input.m_Scale; }

    static QuantizedMultiplier GetOutputMultiplier(const TensorQuantization& input, const TensorQuantization& output)
    {
        return QuantizeMultiplier(static_cast<double>(GetFineScale(input) / output.m_Scale));
    }

    int32_t m_ZeroInput;
    int32_t m_ZeroOutput;
    int16_t m_OutputMultiplier = 0;
    int m_OutputShift = 0; ///< to the right
    int16_t m_RampMultiplier = 0;
    int m_RampShift = 0; ///< to the left
};

/// Sigmoid and TanH of 16-bit numbers: sigmoid(i / 24) for i in 0..255 in 16 bits, interpolated, the rest by symmetry.
/// An input of 8 fraction bits walks through one entry.
class SigmoidTable
{
public:
    /// Stored inputs are multiplied so that they mean 1/(3*4096).
    SigmoidTable(float inputScale, bool isTanH)
    {
        const auto sigmoid = [](double i) { return 65536.0 / (1.0 + std::exp(-i / 24.0)); };
        for (size_t i = 0; i + 1 < m_Values.size(); ++i)
        {
            // Half of the interpolation's error in the middle of the step is taken off the entry.
            const auto x = static_cast<double>(i);
            const double error = (sigmoid(x) + sigmoid(x + 1.0)) / 2.0 - sigmoid(x + 0.5);
            m_Values[i] = static_cast<uint16_t>(std::round(sigmoid(x) - error / 2.0));
        }
        m_Values.back() = 65535;
        const double log2 = std::log2(static_cast<double>(inputScale));
        const int shift = 12 + static_cast<int>(std::round(log2));
        const bool isPot = std::abs(log2 - std::round(log2)) < 1e-3;
        if (isPot && (shift == 0 || (isTanH && shift == 1)))
        {
            m_Multiplier = 3 << shift;
            return;
        }
        double multiplier = static_cast<double>(inputScale) * 4096.0 * 3.0;
        while (multiplier <= 32767.0 / 2.0 && m_Shift <= 30)
        {
            ++m_Shift;
            multiplier *= 2.0;
        }
        // What does not fit 32 bits saturates the table anyway.
        m_Multiplier = static_cast<int64_t>(std::min(multiplier, 2147483647.0));
    }

    int16_t Sigmoid(int16_t x) const
    {
        const int64_t scaled = Scale(x);
        const auto magnitude = static_cast<uint64_t>(std::abs(scaled));
        const uint64_t entry = magnitude >> 9;
        uint32_t result = uint32_t{0x7FFF} << 10;
        if (entry < 255)
        {
            const uint32_t low = m_Values[static_cast<size_t>(entry)];
            const uint32_t high = m_Values[static_cast<size_t>(entry) + 1];
            result = (low << 9) + static_cast<uint32_t>(magnitude & 0x1FF) * (high - low);
        }
        result = scaled >= 0 ? result + (1U << 9) : (1U << 25) - result + (1U << 9) - 1;
        return static_cast<int16_t>(result >> 10);
    }

    int16_t TanH(int16_t x) const
    {
        const int64_t scaled = Scale(x);
        const auto magnitude = static_cast<uint64_t>(std::abs(scaled));
        const uint64_t entry = magnitude >> 8;
        int32_t result = 0xFFFF << 8;
        if (entry < 255)
        {
            const int32_t low = m_Values[static_cast<size_t>(entry)];
            const int32_t high = m_Values[static_cast<size_t>(entry) + 1];
            result = (low << 8) + static_cast<int32_t>(magnitude & 0xFF) * (high - low);
        }
        // tanh(x) = 2 * sigmoid(2x) - 1
        constexpr int32_t Half = 1 << 23;
        constexpr int32_t Rounding = 1 << 7;
        result = scaled >= 0 ? result - Half + Rounding : -result + Half + Rounding - 1;
        return static_cast<int16_t>(result >> 8);
    }

private:
    int64_t Scale(int16_t x) const
    {
        const int64_t rounding = m_Shift > 0 ? int64_t{1} << (m_Shift - 1) : 0;
        return (x * m_Multiplier + rounding) >> m_Shift;
    }

    std::array<uint16_t, 256> m_Values{};
    int64_t m_Multiplier = 0;
    int m_Shift = 0; ///< to the right
};

/// Through real numbers: a table of f.
template <typename T>
Prepared MakeFromReal(const ReshapeArgs& args, const TensorQuantization& input, const TensorQuantization& output)
{
    return DispatchActivation(
        args.GetDescriptor<ActivationDescriptor>(),
        [&](auto f)
        {
            if constexpr (sizeof(T) == 1)
            {
                return MakeElementwise<T>(args,
                                          [table = ByteTable<T>::FromReal(input, output, f)](T x) { return table[x]; });
            }
            else
            {
                return MakeElementwise<T>(
                    args, [table = InterpolatedTable::Make<float>(input.m_Scale, input.m_ZeroPoint, output.m_Scale, f)](
                              T x) { return table[x]; });
            }
        });
}

template <typename T>
Prepared MakeActivation(const ReshapeArgs& args)
{
    const auto& descriptor = args.GetDescriptor<ActivationDescriptor>();
    const TensorQuantization input = GetTensorQuantization(args.GetInput(0));
    const TensorQuantization output = GetTensorQuantization(args.GetOutput(0));
    constexpr float Infinity = std::numeric_limits<float>::infinity();
    switch (descriptor.m_Function)
    {
    case ActivationFunction::ReLu: return MakeRelu<T>(args, input, output, 0.0f, Infinity);
    case ActivationFunction::BoundedReLu: return MakeRelu<T>(args, input, output, descriptor.m_B, descriptor.m_A);
    case ActivationFunction::LeakyReLu: return MakeLeakyRelu<T>(args, input, output, descriptor.m_A);
    default: break;
    }
    if constexpr (sizeof(T) == 1)
    {
        if (descriptor.m_Function == ActivationFunction::HardSwish)
        {
            return MakeFromStored<T>(args, [hardSwish = HardSwish(input, output)](int32_t x)
                                     { return hardSwish.template Apply<T>(x); });
        }
    }
    else
    {
        const bool isFraction = output.m_Scale == 1.0f / 32768.0f;
        if (descriptor.m_Function == ActivationFunction::Sigmoid && isFraction)
        {
            return MakeElementwise<T>(args,
                                      [table = SigmoidTable(input.m_Scale, false)](T x) { return table.Sigmoid(x); });
        }
        if (descriptor.m_Function == ActivationFunction::TanH && isFraction && descriptor.m_A == 1.0f &&
            descriptor.m_B == 1.0f)
        {
            return MakeElementwise<T>(args, [table = SigmoidTable(input.m_Scale, true)](T x) { return table.TanH(x); });
        }
    }
    return MakeFromReal<T>(args, input, output);
}

} // namespace

SupportResult CheckQuantizedActivation(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<ActivationDescriptor>();
    const auto refuse = [](const char* reason)
    { return SupportResult::No(SupportCode::UnsupportedParameters, reason); };
    switch (descriptor.m_Function)
    {
    case ActivationFunction::ReLu:
    case ActivationFunction::BoundedReLu: return SupportResult::Yes();
    case ActivationFunction::LeakyReLu:
        return std::isnan(descriptor.m_A) ? refuse("the slope of a LeakyReLu must be a number") : SupportResult::Yes();
    case ActivationFunction::HardSwish:
        if (layer.GetInput(0).GetDataType() != DataType::QSymmS16 &&
            !HardSwish::Fits(GetTensorQuantization(layer.GetInput(0)), GetTensorQuantization(layer.GetOutput(0))))
        {
            return refuse("HardSwish needs an output scale of more than 1/128 of the input's");
        }
        break;
    default: break;
    }
    return backends::FirstRefusal({backends::CheckShortZeroPoint(layer.GetInput(0), "input 0"),
                                   backends::CheckShortZeroPoint(layer.GetOutput(0), "output 0")});
}

Prepared PrepareQuantizedActivation(const ReshapeArgs& args)
{
    return DispatchType<int8_t, uint8_t, int16_t>(args.GetInput(0).GetDataType(), [&](auto tag)
                                                  { return MakeActivation<typename decltype(tag)::Type>(args); });
}

} // namespace tenon::ref
