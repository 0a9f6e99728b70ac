// SPDX-License-Identifier: Apache-2.0
// ElementwiseBinary on quantized tensors, bit for bit as TFLite's reference kernels compute it. Every operation is a
// small struct that holds its multipliers and maps two stored values to one.
#include "backends/reference/kernels/QuantizedBinary.hpp"

#include "backends/common/FixedPoint.hpp"
#include "backends/common/FusedActivation.hpp"
#include "backends/common/QuantizationCheck.hpp"
#include "backends/common/Rescale.hpp"
#include "backends/reference/BroadcastLoop.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/TensorQuantization.hpp"

#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

namespace tenon::ref
{

namespace
{

using backends::GetTypeRange;
using backends::MultiplySaturating;
using backends::MultiplySumSaturating;
using backends::Prepared;
using backends::QuantizedMultiplier;
using backends::QuantizeMultiplier;
using backends::RoundingDivideByPot;
using backends::SaturatingAdd;
using backends::SaturatingRoundingDoublingHighMul;

template <typename T>
T ClampTo(int32_t value)
{
    return static_cast<T>(std::clamp<int32_t>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

/// The quantization of both inputs and the output.
struct Quantizations
{
    TensorQuantization m_A;
    TensorQuantization m_B;
    TensorQuantization m_Output;

    explicit Quantizations(const ReshapeArgs& args)
        : m_A(GetTensorQuantization(args.GetInput(0))), m_B(GetTensorQuantization(args.GetInput(1))),
          m_Output(GetTensorQuantization(args.GetOutput(0)))
    {
    }
};

/// Brings both inputs to the scale 2 * max(scale) and `leftShift` more bits: the common part of Add, Sub and SqDiff.
struct CommonScale
{
    CommonScale(const Quantizations& q, int leftShift)
        : m_ZeroA(q.m_A.m_ZeroPoint), m_ZeroB(q.m_B.m_ZeroPoint), m_LeftShift(leftShift),
          m_TwiceMaxScale(2.0 * static_cast<double>(std::max(q.m_A.m_Scale, q.m_B.m_Scale))),
          m_MultiplierA(QuantizeMultiplier(static_cast<double>(q.m_A.m_Scale) / m_TwiceMaxScale)),
          m_MultiplierB(QuantizeMultiplier(static_cast<double>(q.m_B.m_Scale) / m_TwiceMaxScale))
    {
    }

    int32_t A(int32_t stored) const { return Scale(stored - m_ZeroA, m_MultiplierA); }
    int32_t B(int32_t stored) const { return Scale(stored - m_ZeroB, m_MultiplierB); }

    int32_t Scale(int32_t value, QuantizedMultiplier multiplier) const
    {
        // 16-bit values with a zero point may need more than 32 bits.
        return MultiplySumSaturating(int64_t{value} * (int64_t{1} << m_LeftShift), multiplier);
    }

    int32_t m_ZeroA;
    int32_t m_ZeroB;
    int m_LeftShift;
    double m_TwiceMaxScale;
    QuantizedMultiplier m_MultiplierA;
    QuantizedMultiplier m_MultiplierB;
};

/// a + b or a - b.
template <typename T, bool Subtracts>
struct QuantizedSum
{
    // The number of bits that 32-bit sums have in addition to 8- and 16-bit inputs.
    static constexpr int LeftShift = sizeof(T) == 1 ? 20 : 15;

    explicit QuantizedSum(const Quantizations& q)
        : m_Inputs(q, LeftShift), m_ZeroOutput(q.m_Output.m_ZeroPoint),
          m_Multiplier(QuantizeMultiplier(m_Inputs.m_TwiceMaxScale / (static_cast<double>(1 << LeftShift) *
                                                                      static_cast<double>(q.m_Output.m_Scale))))
    {
    }

    T operator()(T a, T b) const
    {
        const int64_t x = m_Inputs.A(a);
        const int64_t y = m_Inputs.B(b);
        const int64_t sum = Subtracts ? x - y : x + y;
        return ClampTo<T>(SaturatingAdd(MultiplySumSaturating(sum, m_Multiplier), m_ZeroOutput));
    }

    CommonScale m_Inputs;
    int32_t m_ZeroOutput;
    QuantizedMultiplier m_Multiplier;
};

template <typename T>
struct QuantizedSqDiff
{
    static constexpr int LeftShift = 7;

    explicit QuantizedSqDiff(const Quantizations& q)
        : m_Inputs(q, LeftShift), m_ZeroOutput(q.m_Output.m_ZeroPoint),
          m_Multiplier(
              QuantizeMultiplier(m_Inputs.m_TwiceMaxScale * m_Inputs.m_TwiceMaxScale /
                                 (static_cast<double>(1 << (2 * LeftShift)) * static_cast<double>(q.m_Output.m_Scale))))
    {
    }

    T operator()(T a, T b) const
    {
        const int32_t difference = m_Inputs.A(a) - m_Inputs.B(b);
        const int32_t square = difference * difference; // at most 255^2 * 2^14
        return ClampTo<T>(SaturatingAdd(MultiplySaturating(square, m_Multiplier), m_ZeroOutput));
    }

    CommonScale m_Inputs;
    int32_t m_ZeroOutput;
    QuantizedMultiplier m_Multiplier;
};

/// 16-bit a + b or a - b if all scales are powers of two and one input has the output's scale: the other input is
/// shifted.
template <bool Subtracts>
struct PotSum
{
    PotShifts m_Shifts;

    int16_t operator()(int16_t a, int16_t b) const
    {
        const int32_t x = RoundingDivideByPot(a, m_Shifts.m_A);
        const int32_t y = RoundingDivideByPot(b, m_Shifts.m_B);
        return ClampTo<int16_t>(Subtracts ? x - y : x + y);
    }
};

template <typename T>
struct QuantizedMul
{
    explicit QuantizedMul(const Quantizations& q)
        : m_ZeroA(q.m_A.m_ZeroPoint), m_ZeroB(q.m_B.m_ZeroPoint), m_ZeroOutput(q.m_Output.m_ZeroPoint),
          // The product is computed in float, as in TFLite.
          m_Multiplier(QuantizeMultiplier(static_cast<double>(q.m_A.m_Scale * q.m_B.m_Scale / q.m_Output.m_Scale)))
    {
    }

    T operator()(T a, T b) const
    {
        // 16-bit values with a zero point may need more than 32 bits.
        const int64_t product = int64_t{a - m_ZeroA} * (b - m_ZeroB);
        return ClampTo<T>(SaturatingAdd(MultiplySumSaturating(product, m_Multiplier), m_ZeroOutput));
    }

    int32_t m_ZeroA;
    int32_t m_ZeroB;
    int32_t m_ZeroOutput;
    QuantizedMultiplier m_Multiplier;
};

/// 16-bit times 16-bit to 8-bit, all as fractions in [-1, 1), independent of the scales.
template <typename T>
struct FractionMul
{
    int32_t m_ZeroOutput;

    T operator()(int16_t a, int16_t b) const
    {
        constexpr int Half = 1 << 14;
        const int32_t product = std::min((a * b + Half) >> 15, int32_t{std::numeric_limits<int16_t>::max()});
        return ClampTo<T>(RoundingDivideByPot(product, 8) + m_ZeroOutput);
    }
};

/// b is never its zero point.
template <typename T>
struct QuantizedDiv
{
    explicit QuantizedDiv(const Quantizations& q)
        : m_ZeroA(q.m_A.m_ZeroPoint), m_ZeroB(q.m_B.m_ZeroPoint), m_ZeroOutput(q.m_Output.m_ZeroPoint),
          m_Multiplier(QuantizeMultiplier(static_cast<double>(q.m_A.m_Scale / (q.m_B.m_Scale * q.m_Output.m_Scale))))
    {
    }

    T operator()(T a, T b) const
    {
        int32_t x = a - m_ZeroA;
        int32_t y = b - m_ZeroB;
        if (y < 0) // the reciprocal is defined for positive numbers only
        {
            x = -x;
            y = -y;
        }
        const backends::FixedReciprocal reciprocal = backends::GetReciprocal(y, 31);
        // x is moved to the top of its 32 bits before it is multiplied.
        const int headroom = std::countl_zero(static_cast<uint32_t>(x < 0 ? ~x : x)) - 1;
        const auto moved = static_cast<int32_t>(static_cast<uint32_t>(x) << headroom);
        const int32_t quotient = SaturatingRoundingDoublingHighMul(moved, reciprocal.m_Scale.m_Raw);
        const int32_t scaled = SaturatingRoundingDoublingHighMul(quotient, m_Multiplier.m_Multiplier);
        const int shift = m_Multiplier.m_Shift - reciprocal.m_BitsOverUnit - headroom;
        const int32_t result = backends::MultiplyRawByPot(scaled, std::clamp(shift, -31, 30));
        return ClampTo<T>(SaturatingAdd(result, m_ZeroOutput));
    }

    int32_t m_ZeroA;
    int32_t m_ZeroB;
    int32_t m_ZeroOutput;
    QuantizedMultiplier m_Multiplier;
};

/// The larger or smaller of two stored values of the same quantization.
template <typename T, bool IsMaximum>
struct StoredExtreme
{
    T operator()(T a, T b) const { return IsMaximum ? std::max(a, b) : std::min(a, b); }
};

/// The same for inputs and outputs of different quantization, through real numbers. TFLite does not support this.
template <typename T, bool IsMaximum>
struct RealExtreme
{
    Quantizations m_Q;

    T operator()(T a, T b) const
    {
        const float x = m_Q.m_A.m_Scale * static_cast<float>(a - m_Q.m_A.m_ZeroPoint);
        const float y = m_Q.m_B.m_Scale * static_cast<float>(b - m_Q.m_B.m_ZeroPoint);
        const float extreme = IsMaximum ? std::max(x, y) : std::min(x, y);
        constexpr float Bound = 1e9f; // outside every type, inside int32
        const float steps = std::clamp(std::round(extreme / m_Q.m_Output.m_Scale), -Bound, Bound);
        return ClampTo<T>(static_cast<int32_t>(steps) + m_Q.m_Output.m_ZeroPoint);
    }
};

template <typename In, typename Out, typename Op>
Prepared MakeRun(const ReshapeArgs& args, const Op& op)
{
    const BroadcastLoop loop(args.GetInput(0).GetShape(), args.GetInput(1).GetShape(), args.GetOutput(0).GetShape());
    if (args.m_FusedActivation != nullptr)
    {
        const backends::QuantizedRange range = backends::GetFusedRange(args.GetOutput(0), args.m_FusedActivation);
        const auto low = static_cast<Out>(range.m_Min);
        const auto high = static_cast<Out>(range.m_Max);
        const auto opAndClamp = [op, low, high](In a, In b) { return std::clamp<Out>(op(a, b), low, high); };
        return [loop, opAndClamp](const ExecuteArgs& run)
        { loop.Run(run.GetInput<In>(0), run.GetInput<In>(1), run.GetOutput<Out>(0), opAndClamp); };
    }
    return [loop, op](const ExecuteArgs& run)
    { loop.Run(run.GetInput<In>(0), run.GetInput<In>(1), run.GetOutput<Out>(0), op); };
}

/// log2(scale) if the scale is a power of two, within TFLite's tolerance.
bool IsPowerOfTwo(float scale, int& exponent)
{
    const float log2 = std::log(scale) * (1.0f / std::log(2.0f));
    exponent = static_cast<int>(std::round(log2));
    return std::abs(log2 - std::round(log2)) < 1e-3f;
}

template <typename T, bool Subtracts>
Prepared MakeSum(const ReshapeArgs& args, const Quantizations& q)
{
    if constexpr (sizeof(T) == 2)
    {
        if (const auto shifts = FindPotShifts(args.GetInput(0), args.GetInput(1), args.GetOutput(0)))
        {
            return MakeRun<T, T>(args, PotSum<Subtracts>{*shifts});
        }
    }
    return MakeRun<T, T>(args, QuantizedSum<T, Subtracts>(q));
}

template <typename T>
Prepared MakeDiv(const ReshapeArgs& args, const Quantizations& q)
{
    const BroadcastLoop loop(args.GetInput(0).GetShape(), args.GetInput(1).GetShape(), args.GetOutput(0).GetShape());
    const size_t countB = loop.IsEmpty() ? 0 : args.GetInput(1).GetNumElements();
    return [loop, countB, op = QuantizedDiv<T>(q)](const ExecuteArgs& run)
    {
        const T* b = run.GetInput<T>(1);
        if (const T* zero = std::find(b, b + countB, static_cast<T>(op.m_ZeroB)); zero != b + countB)
        {
            throw RuntimeException("division by zero: element " + std::to_string(zero - b) +
                                   " of the divisor (input 1) is its zero point");
        }
        loop.Run(run.GetInput<T>(0), b, run.GetOutput<T>(0), op);
    };
}

template <typename T, bool IsMaximum>
Prepared MakeExtreme(const ReshapeArgs& args, const Quantizations& q)
{
    if (q.m_A == q.m_B && q.m_A == q.m_Output)
    {
        return MakeRun<T, T>(args, StoredExtreme<T, IsMaximum>());
    }
    return MakeRun<T, T>(args, RealExtreme<T, IsMaximum>{q});
}

template <typename T>
Prepared MakeOperation(const ReshapeArgs& args, BinaryOperation operation, const Quantizations& q)
{
    switch (operation)
    {
    case BinaryOperation::Add: return MakeSum<T, false>(args, q);
    case BinaryOperation::Sub: return MakeSum<T, true>(args, q);
    case BinaryOperation::Mul: return MakeRun<T, T>(args, QuantizedMul<T>(q));
    case BinaryOperation::Div: return MakeDiv<T>(args, q);
    case BinaryOperation::Maximum: return MakeExtreme<T, true>(args, q);
    case BinaryOperation::Minimum: return MakeExtreme<T, false>(args, q);
    case BinaryOperation::SqDiff:
        if constexpr (sizeof(T) == 1)
        {
            return MakeRun<T, T>(args, QuantizedSqDiff<T>(q));
        }
        break;
    default: break;
    }
    throw UnimplementedException("no code for this binary operation on quantized tensors");
}

} // namespace

SupportResult CheckQuantizedBinary(BinaryOperation operation, const LayerView& layer)
{
    const DataType input = layer.GetInput(0).GetDataType();
    if (layer.GetOutput(0).GetDataType() != input && operation != BinaryOperation::Mul)
    {
        return SupportResult::No(SupportCode::UnsupportedType, "only Mul takes 16-bit inputs to an 8-bit output");
    }
    switch (operation)
    {
    case BinaryOperation::Power:
    case BinaryOperation::FloorDiv:
    case BinaryOperation::FloorMod:
    case BinaryOperation::Remainder:
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "Power, FloorDiv, FloorMod and Remainder are not there for quantized tensors");
    case BinaryOperation::SqDiff:
        if (input == DataType::QSymmS16)
        {
            return SupportResult::No(SupportCode::UnsupportedParameters,
                                     "SqDiff is not there for 16-bit quantized tensors");
        }
        break;
    default: break;
    }
    return backends::CheckPerTensor(layer, {0, 1}, {0});
}

Prepared PrepareQuantizedBinary(const ReshapeArgs& args, BinaryOperation operation)
{
    const Quantizations q(args);
    const DataType type = args.GetInput(0).GetDataType();
    if (args.GetOutput(0).GetDataType() != type)
    {
        return DispatchType<int8_t, uint8_t>(args.GetOutput(0).GetDataType(),
                                             [&](auto tag)
                                             {
                                                 using Out = typename decltype(tag)::Type;
                                                 return MakeRun<int16_t, Out>(args,
                                                                              FractionMul<Out>{q.m_Output.m_ZeroPoint});
                                             });
    }
    return DispatchType<int8_t, uint8_t, int16_t>(
        type, [&](auto tag) { return MakeOperation<typename decltype(tag)::Type>(args, operation, q); });
}

std::optional<PotShifts> FindPotShifts(const TensorInfo& a, const TensorInfo& b, const TensorInfo& output)
{
    int exponentA = 0;
    int exponentB = 0;
    int exponentOutput = 0;
    const bool allPot = IsPowerOfTwo(a.GetQuantizationScale(), exponentA) &&
                        IsPowerOfTwo(b.GetQuantizationScale(), exponentB) &&
                        IsPowerOfTwo(output.GetQuantizationScale(), exponentOutput);
    const bool isSymmetric =
        a.GetQuantizationOffset() == 0 && b.GetQuantizationOffset() == 0 && output.GetQuantizationOffset() == 0;
    const PotShifts shifts{exponentOutput - exponentA, exponentOutput - exponentB};
    const bool fits = std::min(shifts.m_A, shifts.m_B) == 0 && std::max(shifts.m_A, shifts.m_B) <= 31;
    return allPot && isSymmetric && fits ? std::optional(shifts) : std::nullopt;
}

} // namespace tenon::ref
