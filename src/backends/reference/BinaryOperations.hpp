// SPDX-License-Identifier: Apache-2.0
// The arithmetic of ElementwiseBinary on plain numbers: one struct per operation, with Apply for every supported type.
// Floats follow IEEE 754. Integers wrap on overflow; the caller refuses a divisor of 0 and a negative exponent.
#pragma once

#include <tenon/Types.hpp>

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace tenon::ref
{

/// The unsigned type in which integer arithmetic wraps instead of being undefined. It has at least 32 bits, because
/// narrower types would be promoted to int.
template <typename T>
using WrappingType = std::conditional_t<(sizeof(T) > sizeof(uint32_t)), uint64_t, uint32_t>;

template <typename T>
constexpr T WrapTo(WrappingType<T> value)
{
    return static_cast<T>(value);
}

struct AddOperation
{
    template <typename T>
    static T Apply(T a, T b)
    {
        if constexpr (std::is_integral_v<T>)
        {
            return WrapTo<T>(static_cast<WrappingType<T>>(a) + static_cast<WrappingType<T>>(b));
        }
        else
        {
            return a + b;
        }
    }
};

struct SubOperation
{
    template <typename T>
    static T Apply(T a, T b)
    {
        if constexpr (std::is_integral_v<T>)
        {
            return WrapTo<T>(static_cast<WrappingType<T>>(a) - static_cast<WrappingType<T>>(b));
        }
        else
        {
            return a - b;
        }
    }
};

struct MulOperation
{
    template <typename T>
    static T Apply(T a, T b)
    {
        if constexpr (std::is_integral_v<T>)
        {
            return WrapTo<T>(static_cast<WrappingType<T>>(a) * static_cast<WrappingType<T>>(b));
        }
        else
        {
            return a * b;
        }
    }
};

/// Whether a / b is -a, which the hardware cannot divide for the smallest a.
template <typename T>
constexpr bool IsMinusOne(T b)
{
    return std::is_signed_v<T> && b == static_cast<T>(-1);
}

/// Integers are divided towards zero.
struct DivOperation
{
    template <typename T>
    static T Apply(T a, T b)
    {
        if constexpr (std::is_integral_v<T>)
        {
            return IsMinusOne(b) ? SubOperation::Apply(T{0}, a) : static_cast<T>(a / b);
        }
        else
        {
            return a / b;
        }
    }
};

struct MaximumOperation
{
    template <typename T>
    static T Apply(T a, T b)
    {
        return a > b ? a : b;
    }
};

struct MinimumOperation
{
    template <typename T>
    static T Apply(T a, T b)
    {
        return a < b ? a : b;
    }
};

struct SqDiffOperation
{
    template <typename T>
    static T Apply(T a, T b)
    {
        const T difference = SubOperation::Apply(a, b);
        return MulOperation::Apply(difference, difference);
    }
};

/// b >= 0 for integers.
struct PowerOperation
{
    template <typename T>
    static T Apply(T a, T b)
    {
        if constexpr (std::is_integral_v<T>)
        {
            auto base = static_cast<WrappingType<T>>(a);
            WrappingType<T> result = 1;
            for (auto exponent = static_cast<WrappingType<T>>(b); exponent != 0; exponent >>= 1)
            {
                result *= (exponent & 1) != 0 ? base : 1;
                base *= base;
            }
            return WrapTo<T>(result);
        }
        else
        {
            return std::pow(a, b);
        }
    }
};

struct FloorDivOperation
{
    template <typename T>
    static T Apply(T a, T b)
    {
        if constexpr (std::is_integral_v<T>)
        {
            if (IsMinusOne(b))
            {
                return SubOperation::Apply(T{0}, a);
            }
            const bool roundsUp = a % b != 0 && (a < 0) != (b < 0);
            return static_cast<T>(a / b - (roundsUp ? 1 : 0));
        }
        else
        {
            // The quotient of two floats, in double precision, is never rounded up to an integer above it.
            return static_cast<T>(std::floor(static_cast<double>(a) / static_cast<double>(b)));
        }
    }
};

/// The result has the sign of b.
struct FloorModOperation
{
    template <typename T>
    static T Apply(T a, T b)
    {
        if constexpr (std::is_integral_v<T>)
        {
            if (IsMinusOne(b))
            {
                return 0;
            }
            const auto rest = static_cast<T>(a % b);
            return static_cast<T>(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
        }
        else
        {
            const T rest = std::fmod(a, b);
            return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
        }
    }
};

/// The result has the sign of a.
struct RemainderOperation
{
    template <typename T>
    static T Apply(T a, T b)
    {
        if constexpr (std::is_integral_v<T>)
        {
            return IsMinusOne(b) ? T{0} : static_cast<T>(a % b);
        }
        else
        {
            return std::fmod(a, b);
        }
    }
};

/// The angle of the point (b, a), with all quadrants; floats only.
struct Atan2Operation
{
    template <typename T>
    static T Apply(T a, T b)
    {
        return std::atan2(a, b);
    }
};

struct BitwiseAndOperation
{
    template <typename T>
    static T Apply(T a, T b)
    {
        return static_cast<T>(a & b);
    }
};

struct BitwiseOrOperation
{
    template <typename T>
    static T Apply(T a, T b)
    {
        return static_cast<T>(a | b);
    }
};

struct BitwiseXorOperation
{
    template <typename T>
    static T Apply(T a, T b)
    {
        return static_cast<T>(a ^ b);
    }
};

struct ShiftLeftOperation
{
    template <typename T>
    static T Apply(T a, T b)
    {
        const bool isInside = b >= 0 && static_cast<WrappingType<T>>(b) < sizeof(T) * 8;
        return isInside ? WrapTo<T>(static_cast<WrappingType<T>>(a) << static_cast<unsigned int>(b)) : T{0};
    }
};

/// Amounts outside of the type's bits are moved inside, as in TFLite.
struct ShiftRightOperation
{
    template <typename T>
    static T Apply(T a, T b)
    {
        constexpr T Max = sizeof(T) * 8 - 1;
        return static_cast<T>(a >> (b < 0 ? T{0} : b > Max ? Max : b));
    }
};

constexpr bool IsBitwise(BinaryOperation operation)
{
    return operation == BinaryOperation::BitwiseAnd || operation == BinaryOperation::BitwiseOr ||
           operation == BinaryOperation::BitwiseXor;
}

constexpr bool IsShift(BinaryOperation operation)
{
    return operation == BinaryOperation::ShiftLeft || operation == BinaryOperation::ShiftRight;
}

/// Calls f with an object of the struct of a bitwise operation or shift.
template <typename F>
auto DispatchBits(BinaryOperation operation, const F& f)
{
    switch (operation)
    {
    case BinaryOperation::BitwiseAnd: return f(BitwiseAndOperation());
    case BinaryOperation::BitwiseOr: return f(BitwiseOrOperation());
    case BinaryOperation::BitwiseXor: return f(BitwiseXorOperation());
    case BinaryOperation::ShiftLeft: return f(ShiftLeftOperation());
    default: return f(ShiftRightOperation());
    }
}

/// Calls f with an object of the operation's struct. The operation must be one that floats and integers both have.
template <typename F>
auto DispatchOperation(BinaryOperation operation, const F& f)
{
    switch (operation)
    {
    case BinaryOperation::Add: return f(AddOperation());
    case BinaryOperation::Div: return f(DivOperation());
    case BinaryOperation::Maximum: return f(MaximumOperation());
    case BinaryOperation::Minimum: return f(MinimumOperation());
    case BinaryOperation::Mul: return f(MulOperation());
    case BinaryOperation::Sub: return f(SubOperation());
    case BinaryOperation::SqDiff: return f(SqDiffOperation());
    case BinaryOperation::Power: return f(PowerOperation());
    case BinaryOperation::FloorDiv: return f(FloorDivOperation());
    case BinaryOperation::Remainder: return f(RemainderOperation());
    default: return f(FloorModOperation());
    }
}

} // namespace tenon::ref
