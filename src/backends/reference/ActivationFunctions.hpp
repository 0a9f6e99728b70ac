// SPDX-License-Identifier: Apache-2.0
// The activation functions on real numbers, in float as TFLite's reference kernels compute them. Used by Activation,
// for floats and to fill its tables.
#pragma once

#include <tenon/Types.hpp>
#include <tenon/descriptors/Elementwise.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tenon::ref
{

/// Calls `visit` with Gelu, or with its approximation by the hyperbolic tangent.
template <typename Visitor>
auto DispatchGelu(const ActivationDescriptor& descriptor, const Visitor& visit)
{
    if (descriptor.m_A != 0.0f)
    {
        constexpr auto SqrtTwoOverPi = static_cast<float>(2.0 * std::numbers::inv_sqrtpi / std::numbers::sqrt2);
        return visit([](float x)
                     { return 0.5f * x * (1.0f + std::tanh(SqrtTwoOverPi * (x + 0.044715f * x * x * x))); });
    }
    // The complement of the error function: 1 + erf cancels out for large negative x.
    return visit([](float x) { return 0.5f * x * std::erfc(x * static_cast<float>(-1.0 / std::numbers::sqrt2)); });
}

/// Calls `visit` with a function of float to float, so that loops over elements are compiled once for each of them.
/// Every function maps NaN to NaN; clamps do because x is the first argument of std::max and std::min.
template <typename Visitor>
auto DispatchActivation(const ActivationDescriptor& descriptor, const Visitor& visit)
{
    const float a = descriptor.m_A;
    const float b = descriptor.m_B;
    switch (descriptor.m_Function)
    {
    case ActivationFunction::Sigmoid: return visit([](float x) { return 1.0f / (1.0f + std::exp(-x)); });
    case ActivationFunction::TanH: return visit([a, b](float x) { return a * std::tanh(b * x); });
    case ActivationFunction::Linear: return visit([a, b](float x) { return a * x + b; });
    case ActivationFunction::ReLu: return visit([](float x) { return std::max(x, 0.0f); });
    case ActivationFunction::BoundedReLu: return visit([a, b](float x) { return std::min(std::max(x, b), a); });
    case ActivationFunction::SoftReLu:
        // log(1 + exp(x)) without overflow.
        return visit([](float x) { return std::max(x, 0.0f) + std::log1p(std::exp(-std::abs(x))); });
    case ActivationFunction::LeakyReLu: return visit([a](float x) { return x > 0.0f ? x : a * x; });
    case ActivationFunction::Abs: return visit([](float x) { return std::abs(x); });
    case ActivationFunction::Sqrt: return visit([](float x) { return std::sqrt(x); });
    case ActivationFunction::Square: return visit([](float x) { return x * x; });
    case ActivationFunction::Elu: return visit([a](float x) { return x >= 0.0f ? x : a * std::expm1(x); });
    case ActivationFunction::HardSwish:
        // Divided before it is multiplied: x times 6 may be infinite.
        return visit([](float x) { return x * (std::min(6.0f, std::max(0.0f, x + 3.0f)) / 6.0f); });
    case ActivationFunction::Swish: return visit([a](float x) { return x * (1.0f / (1.0f + std::exp(-a * x))); });
    case ActivationFunction::Mish:
        // tanh(log(1 + e)) is n / (n + 2) with n = e * (e + 2); above 20 it is 1.
        return visit(
            [](float x)
            {
                const float e = std::exp(std::min(x, 20.0f));
                const float n = e * (e + 2.0f);
                return x * (n / (n + 2.0f));
            });
    case ActivationFunction::Gelu: break;
    }
    return DispatchGelu(descriptor, visit);
}

} // namespace tenon::ref
