// SPDX-License-Identifier: Apache-2.0
// Tables of a function on quantized numbers, filled in a kernel's prepare step as TFLite fills its own: 256 entries for
// 8-bit types, 513 with interpolation for 16-bit types. Used by Activation, ElementwiseUnary, Softmax and Table.
#pragma once

#include "backends/reference/TensorQuantization.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace tenon::ref
{

/// One result for each 8-bit value, by its bit pattern.
template <typename T>
class ByteTable
{
    static_assert(sizeof(T) == 1);

public:
    /// f maps a stored value to a stored value. Both are int32_t, and the result is within T.
    template <typename F>
    static ByteTable FromStored(const F& f)
    {
        ByteTable table;
        for (int32_t x = std::numeric_limits<T>::min(); x <= std::numeric_limits<T>::max(); ++x)
        {
            table.m_Values[static_cast<uint8_t>(x)] = static_cast<T>(f(x));
        }
        return table;
    }

    /// f maps float to float. Results outside of the type's range saturate; NaN becomes the lowest value.
    template <typename F>
    static ByteTable FromReal(const TensorQuantization& input, const TensorQuantization& output, const F& f)
    {
        const float inverseScale = 1.0f / output.m_Scale;
        return FromStored(
            [&](int32_t x)
            {
                const float real = input.m_Scale * static_cast<float>(x - input.m_ZeroPoint);
                const float stored = std::round(f(real) * inverseScale) + static_cast<float>(output.m_ZeroPoint);
                const float low = std::numeric_limits<T>::min();
                const float high = std::numeric_limits<T>::max();
                return static_cast<int32_t>(stored > low ? std::min(stored, high) : low);
            });
    }

    T operator[](T x) const { return m_Values[static_cast<uint8_t>(x)]; }

private:
    std::array<T, 256> m_Values{};
};

/// Entries of a table for 16-bit values: the ends of 512 equal steps over them.
constexpr size_t InterpolatedTableEntries = 513;

/// The line between the two entries around x. Slope and sum wrap at the entry's width, as in TFLite.
template <typename Entry>
Entry Interpolate(const Entry* entries, int16_t x)
{
    const auto index = static_cast<size_t>((x >> 7) + 256);
    const int32_t offset = x & 0x7F;
    const int32_t base = entries[index];
    const auto slope = static_cast<Entry>(entries[index + 1] - base);
    return static_cast<Entry>(base + ((slope * offset + 64) >> 7));
}

/// 512 equal steps over the 16-bit values and linear interpolation between them. Zero points are ignored.
class InterpolatedTable
{
public:
    /// f maps Real to Real; Real is float or double, the type in which the entries are computed. The stored value x
    /// means inputScale * (x - inputZeroPoint).
    template <typename Real, typename F>
    static InterpolatedTable Make(Real inputScale, int32_t inputZeroPoint, Real outputScale, const F& f)
    {
        constexpr int Low = std::numeric_limits<int16_t>::min();
        constexpr int High = std::numeric_limits<int16_t>::max();
        const Real inputMin = inputScale * static_cast<Real>(Low - inputZeroPoint);
        const Real inputMax = inputScale * static_cast<Real>(High - inputZeroPoint);
        const Real step = (inputMax - inputMin) / Steps;
        const Real toStored = static_cast<Real>(High - Low + 1) /
                              (outputScale * static_cast<Real>(High) - outputScale * static_cast<Real>(Low));
        const auto stored = [&](Real x)
        {
            constexpr Real Bound = Real{1e9}; // far outside int16, so that differences stay finite
            const Real value = f(x) * toStored;
            return value > -Bound ? std::min(value, Bound) : -Bound;
        };

        InterpolatedTable table;
        for (int i = 0; i < Steps; ++i)
        {
            const Real x = inputMin + static_cast<Real>(i) * step;
            const Real value = std::round(stored(x));
            const Real next = stored(inputMin + static_cast<Real>(i + 1) * step);
            // Half of the error in the middle of the step is taken off the entry.
            const Real middle = std::round((next + value) / 2);
            const Real error = middle - std::round(stored(x + step / 2));
            table.m_Values[static_cast<size_t>(i)] = ToEntry(value - std::round(error / 2));
        }
        table.m_Values[Steps] = ToEntry(std::round(stored(inputMax)));
        return table;
    }

    int16_t operator[](int16_t x) const { return Interpolate(m_Values.data(), x); }

    const std::array<int16_t, InterpolatedTableEntries>& GetEntries() const { return m_Values; }

private:
    static constexpr int Steps = 512;

    template <typename Real>
    static int16_t ToEntry(Real value)
    {
        return static_cast<int16_t>(std::clamp(value, static_cast<Real>(std::numeric_limits<int16_t>::min()),
                                               static_cast<Real>(std::numeric_limits<int16_t>::max())));
    }

    std::array<int16_t, InterpolatedTableEntries> m_Values{};
};

} // namespace tenon::ref
