// SPDX-License-Identifier: Apache-2.0
// Activation on quantized tensors, bit for bit as TFLite's reference kernels compute it. 8-bit tensors go through a
// table of all 256 values; 16-bit ones are clamped, multiplied, or interpolated in a table. Functions without a 16-bit
// kernel in TFLite are refused, and run through Float32 (QuantizedAsFloat.cpp).
#include "backends/reference/kernels/QuantizedActivation.hpp"

#include "backends/common/Quantization.hpp"
#include "backends/common/QuantizationCheck.hpp"
#include "backends/common/Rescale.hpp"
#include "backends/reference/ActivationFunctions.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/ElementwiseLoop.hpp"
#include "backends/reference/LookupTable.hpp"
#include "backends/reference/TensorQuantization.hpp"
#include "backends/reference/kernels/SigmoidTable.hpp"
#include "backends/reference/kernels/UnaryTablesInt16.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace tenon::ref
{

namespace
{

using backends::MultiplySaturating;
using backends::Prepared;
using backends::QuantizedMultiplier;
using backends::QuantizedRange;
using backends::QuantizeMultiplier;
using backends::RoundingDivideByPot;
using backends::SaturatingAdd;

/// f as a table if the table is smaller than the tensor, else f itself. f maps int32_t to int32_t within T.
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
    return MakeFromStored<T>(args,
                             [=](int32_t x)
                             {
                                 const int32_t scaled = MultiplySaturating(x - input.m_ZeroPoint, multiplier);
                                 return std::min(range.m_Max,
                                                 std::max(range.m_Min, SaturatingAdd(scaled, output.m_ZeroPoint)));
                             });
}

template <typename T>
Prepared MakeLeakyRelu(const ReshapeArgs& args, const TensorQuantization& input, const TensorQuantization& output,
                       float alpha)
{
    const QuantizedMultiplier positive = QuantizeMultiplier(static_cast<double>(input.m_Scale / output.m_Scale));
    const QuantizedMultiplier negative =
        QuantizeMultiplier(static_cast<double>(input.m_Scale * alpha / output.m_Scale));
    // The multiplier has no sign, so that both signs are rounded alike.
    const QuantizedMultiplier magnitude{std::abs(negative.m_Multiplier), negative.m_Shift};
    const bool flips = negative.m_Multiplier < 0;
    return MakeFromStored<T>(args,
                             [=](int32_t x)
                             {
                                 const int32_t value = x - input.m_ZeroPoint;
                                 int32_t scaled = MultiplySaturating(value, value >= 0 ? positive : magnitude);
                                 if (value < 0 && flips)
                                 {
                                     scaled = backends::SaturateToInt32(-int64_t{scaled});
                                 }
                                 return std::clamp<int32_t>(SaturatingAdd(scaled, output.m_ZeroPoint),
                                                            std::numeric_limits<T>::min(),
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
    /// Whether the output multiplier is below 1, so that it needs no left shift.
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
        // The value with 7 more fraction bits, which uses all 16 bits.
        const auto fine = static_cast<int16_t>((stored - m_ZeroInput) * 128);
        const int16_t onOutputScale = RoundingHighMul(fine, m_OutputMultiplier);

        // The ramp: x / 3 in [-1, 1], saturated. The last left shift comes after the multiplication, which only reduces
        // magnitudes, so that no value saturates early.
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

/// Computes through real numbers: a table of the function, which is Gelu for 16 bits.
template <typename T>
Prepared MakeFromReal(const ReshapeArgs& args, const TensorQuantization& input, const TensorQuantization& output)
{
    if constexpr (sizeof(T) == 2)
    {
        return MakeElementwise<T>(args, [table = MakeGeluTableInt16(args)](T x) { return table[x]; });
    }
    else
    {
        return DispatchActivation(args.GetDescriptor<ActivationDescriptor>(),
                                  [&](auto f) {
                                      return MakeElementwise<T>(args,
                                                                [table = ByteTable<T>::FromReal(input, output, f)](T x)
                                                                { return table[x]; });
                                  });
    }
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
        if (SigmoidTable::Has(descriptor, output.m_Scale))
        {
            const bool isTanH = descriptor.m_Function == ActivationFunction::TanH;
            const SigmoidTable table(input.m_Scale, isTanH);
            return isTanH ? MakeElementwise<T>(args, [table](T x) { return table.TanH(x); })
                          : MakeElementwise<T>(args, [table](T x) { return table.Sigmoid(x); });
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
    default: break;
    }
    if (layer.GetInput(0).GetDataType() != DataType::QSymmS16)
    {
        const bool fits =
            descriptor.m_Function != ActivationFunction::HardSwish ||
            HardSwish::Fits(GetTensorQuantization(layer.GetInput(0)), GetTensorQuantization(layer.GetOutput(0)));
        return fits ? SupportResult::Yes()
                    : refuse("HardSwish needs an output scale of more than 1/128 of the input's");
    }
    if (descriptor.m_Function != ActivationFunction::Gelu &&
        !SigmoidTable::Has(descriptor, layer.GetOutput(0).GetQuantizationScale()))
    {
        return refuse("there is no 16-bit kernel of the function with these parameters and this output scale");
    }
    return backends::FirstRefusal({backends::CheckZeroPointInt16(layer.GetInput(0), "input 0"),
                                   backends::CheckZeroPointInt16(layer.GetOutput(0), "output 0")});
}

Prepared PrepareQuantizedActivation(const ReshapeArgs& args)
{
    return DispatchType<int8_t, uint8_t, int16_t>(args.GetInput(0).GetDataType(), [&](auto tag)
                                                  { return MakeActivation<typename decltype(tag)::Type>(args); });
}

InterpolatedTable MakeGeluTableInt16(const ReshapeArgs& args)
{
    const TensorQuantization input = GetTensorQuantization(args.GetInput(0));
    const TensorQuantization output = GetTensorQuantization(args.GetOutput(0));
    return DispatchGelu(
        args.GetDescriptor<ActivationDescriptor>(),
        [&](auto f) { return InterpolatedTable::Make<float>(input.m_Scale, input.m_ZeroPoint, output.m_Scale, f); });
}

} // namespace tenon::ref
