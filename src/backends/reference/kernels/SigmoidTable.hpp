// SPDX-License-Identifier: Apache-2.0
// Sigmoid and TanH of 16-bit quantized tensors whose output has the scale 2^-15, bit for bit as TFLite's reference
// kernels compute them. Used by Activation, here and in CpuAcc.
#pragma once

#include <tenon/descriptors/Elementwise.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace tenon::ref
{

/// Sigmoid and TanH of 16-bit numbers: sigmoid(i / 24) for i in 0..255 in 16 bits, interpolated; negative inputs follow
/// by symmetry. An input has 8 fraction bits within one entry.
class SigmoidTable
{
public:
    /// Whether the activation is one of the two, with an output scale that TFLite supports. For TanH, TFLite accepts
    /// scales close to the power of two.
    static bool Has(const ActivationDescriptor& activation, float outputScale)
    {
        const bool isSigmoid = activation.m_Function == ActivationFunction::Sigmoid;
        const bool isTanH =
            activation.m_Function == ActivationFunction::TanH && activation.m_A == 1.0f && activation.m_B == 1.0f;
        const float log2 = std::log(outputScale) * (1.0f / std::log(2.0f));
        return (isSigmoid && outputScale == 1.0f / 32768.0f) || (isTanH && std::abs(log2 + 15.0f) < 1e-3f);
    }

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
        // A multiplier above 32 bits saturates the table anyway.
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
        constexpr int32_t OneHalf = 1 << 23;
        constexpr int32_t Rounding = 1 << 7;
        result = scaled >= 0 ? result - OneHalf + Rounding : -result + OneHalf + Rounding - 1;
        return static_cast<int16_t>(result >> 8);
    }

    const std::array<uint16_t, 256>& GetValues() const { return m_Values; }
    /// The multiplier of an input, before the rounding right shift.
    int64_t GetMultiplier() const { return m_Multiplier; }
    int GetShift() const { return m_Shift; }

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

} // namespace tenon::ref
