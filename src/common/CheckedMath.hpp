// SPDX-License-Identifier: Apache-2.0
// Arithmetic on sizes that come from a model file or a caller, where an overflow would turn into a buffer too small.
// Shapes, the planner, the parsers and the file readers use it. Unsigned types only, and both operands of one type: a
// silent narrowing on the way in would be the same mistake again.
#pragma once

#include <tenon/Exceptions.hpp>

#include <concepts>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

namespace tenon
{

template <typename T>
concept CheckedSize = std::unsigned_integral<T> && !std::same_as<T, bool>;

// The sum, or nothing if it does not fit into T.
template <CheckedSize T>
[[nodiscard]] constexpr std::optional<T> CheckedAdd(T a, T b) noexcept
{
    T result{};
    return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional<T>(result);
}

// The difference, or nothing if b is larger than a.
template <CheckedSize T>
[[nodiscard]] constexpr std::optional<T> CheckedSub(T a, T b) noexcept
{
    return b > a ? std::nullopt : std::optional<T>(static_cast<T>(a - b));
}

// The product, or nothing if it does not fit into T.
template <CheckedSize T>
[[nodiscard]] constexpr std::optional<T> CheckedMul(T a, T b) noexcept
{
    T result{};
    return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional<T>(result);
}

// value rounded up to a multiple of alignment, or nothing if that does not fit or alignment is zero.
template <CheckedSize T>
[[nodiscard]] constexpr std::optional<T> CheckedAlignUp(T value, T alignment) noexcept
{
    if (alignment == 0)
    {
        return std::nullopt;
    }
    const T rest = static_cast<T>(value % alignment);
    return rest == 0 ? std::optional<T>(value) : CheckedAdd(value, static_cast<T>(alignment - rest));
}

// The product of all elements of a range; 1 for an empty one. A zero makes it zero however large the others are, as for
// the element count of a tensor, so it never fails where one factor is zero.
template <CheckedSize T, typename Range>
[[nodiscard]] constexpr std::optional<T> CheckedProduct(const Range& factors) noexcept
{
    std::optional<T> product = T{1};
    for (const auto factor : factors)
    {
        static_assert(std::is_unsigned_v<decltype(factor)> && sizeof(factor) <= sizeof(T),
                      "a factor would be narrowed");
        if (factor == 0)
        {
            return T{0};
        }
        if (product)
        {
            product = CheckedMul(*product, static_cast<T>(factor));
        }
    }
    return product;
}

// value as a To, or nothing if To cannot hold it; signed types too.
template <std::integral To, std::integral From>
requires(!std::same_as<To, bool> && !std::same_as<From, bool>)
    [[nodiscard]] constexpr std::optional<To> CheckedCast(From value) noexcept
{
    To result{};
    return __builtin_add_overflow(value, From{0}, &result) ? std::nullopt : std::optional<To>(result);
}

// The same with an exception in place of nothing. `what` names the quantity: "bytes of tensor 3 'conv/w'".
template <typename ExceptionType = InvalidArgumentException, CheckedSize T>
constexpr T AddOrThrow(T a, T b, const char* what)
{
    if (const std::optional<T> sum = CheckedAdd(a, b))
    {
        return *sum;
    }
    throw ExceptionType(std::string(what) + ": " + std::to_string(a) + " + " + std::to_string(b) + " is more than " +
                        std::to_string(std::numeric_limits<T>::max()));
}

template <typename ExceptionType = InvalidArgumentException, CheckedSize T>
constexpr T MulOrThrow(T a, T b, const char* what)
{
    if (const std::optional<T> product = CheckedMul(a, b))
    {
        return *product;
    }
    throw ExceptionType(std::string(what) + ": " + std::to_string(a) + " * " + std::to_string(b) + " is more than " +
                        std::to_string(std::numeric_limits<T>::max()));
}

template <std::integral To, typename ExceptionType = InvalidArgumentException, std::integral From>
constexpr To CastOrThrow(From value, const char* what)
{
    if (const std::optional<To> result = CheckedCast<To>(value))
    {
        return *result;
    }
    throw ExceptionType(std::string(what) + ": " + std::to_string(value) + " is outside [" +
                        std::to_string(std::numeric_limits<To>::min()) + ", " +
                        std::to_string(std::numeric_limits<To>::max()) + "]");
}

} // namespace tenon
