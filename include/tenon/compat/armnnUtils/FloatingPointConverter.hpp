// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: conversion between Float32 and the floats of two bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace armnnUtils
{

/// Converts numElements elements. Both buffers may be aligned anyhow and must not overlap; two-byte elements are in the
/// byte order of the machine. Float32 is rounded to the nearest value, of two equally near ones to the even one.
class FloatingPointConverter
{
public:
    /// Values beyond the largest float of two bytes, infinities too, become that one, +-65504.
    static void ConvertFloat32To16(const float* srcFloat32Buffer, size_t numElements, void* dstFloat16Buffer)
    {
        Convert<float, uint16_t>(srcFloat32Buffer, numElements, dstFloat16Buffer, ToFloat16);
    }
    static void ConvertFloat16To32(const void* srcFloat16Buffer, size_t numElements, float* dstFloat32Buffer)
    {
        Convert<uint16_t, float>(srcFloat16Buffer, numElements, dstFloat32Buffer, FromFloat16);
    }
    static void ConvertFloat32ToBFloat16(const float* srcFloat32Buffer, size_t numElements, void* dstBFloat16Buffer)
    {
        Convert<float, uint16_t>(srcFloat32Buffer, numElements, dstBFloat16Buffer, ToBFloat16);
    }
    static void ConvertBFloat16ToFloat32(const void* srcBFloat16Buffer, size_t numElements, float* dstFloat32Buffer)
    {
        Convert<uint16_t, float>(srcBFloat16Buffer, numElements, dstFloat32Buffer, FromBFloat16);
    }

private:
    template <typename From, typename To>
    static void Convert(const void* source, size_t numElements, void* destination, To (*convert)(From))
    {
        const auto* const from = static_cast<const unsigned char*>(source);
        auto* const to = static_cast<unsigned char*>(destination);
        for (size_t i = 0; i < numElements; ++i)
        {
            From value;
            std::memcpy(&value, from + i * sizeof(From), sizeof(From));
            const To converted = convert(value);
            std::memcpy(to + i * sizeof(To), &converted, sizeof(To));
        }
    }

    static uint32_t BitsOf(float value)
    {
        uint32_t bits;
        std::memcpy(&bits, &value, sizeof(bits));
        return bits;
    }
    static float FromBits(uint32_t bits)
    {
        float value;
        std::memcpy(&value, &bits, sizeof(value));
        return value;
    }
    static bool IsNan(uint32_t bits) { return (bits & 0x7FFFFFFFU) > 0x7F800000U; }
    /// bits / 2^shift, rounded to the nearest, of two to the even one; shift is 1 to 31.
    static uint32_t ShiftRounded(uint32_t bits, uint32_t shift)
    {
        const uint32_t half = 1U << (shift - 1);
        const uint32_t isOdd = (bits >> shift) & 1U;
        return (bits + half - 1 + isOdd) >> shift;
    }

    static uint16_t ToFloat16(float value)
    {
        const uint32_t bits = BitsOf(value);
        const uint32_t sign = (bits >> 16) & 0x8000U;
        const uint32_t magnitude = bits & 0x7FFFFFFFU;
        if (IsNan(bits))
        {
            return static_cast<uint16_t>(sign | 0x7E00U);
        }
        constexpr uint32_t smallestNormal = 0x38800000U; // 2^-14
        uint32_t converted;
        if (magnitude >= smallestNormal)
        {
            const uint32_t rebiased = magnitude - 0x38000000U; // exponents count from -15 in place of -127
            converted = rebiased >= 0x10000000U ? 0x7C00U : ShiftRounded(rebiased, 13);
        }
        else
        {
            // In units of the smallest subnormal, 2^-24: the significand moves right by the bits that the exponent
            // lacks.
            const uint32_t exponent = magnitude >> 23;
            const uint32_t significand = (magnitude & 0x7FFFFFU) | 0x800000U;
            converted = exponent < 102 ? 0 : ShiftRounded(significand, 126 - exponent);
        }
        constexpr uint32_t largest = 0x7BFFU; // 65504
        return static_cast<uint16_t>(sign | (converted > largest ? largest : converted));
    }
    static float FromFloat16(uint16_t value)
    {
        const uint32_t sign = (value & 0x8000U) << 16;
        const uint32_t exponent = (value >> 10) & 0x1FU;
        const uint32_t fraction = value & 0x3FFU;
        if (exponent == 0)
        {
            const float magnitude = static_cast<float>(fraction) * FromBits(0x33800000U); // 2^-24
            return sign != 0 ? -magnitude : magnitude;
        }
        const uint32_t rebiased = exponent == 0x1FU ? 0xFFU : exponent + 112;
        return FromBits(sign | (rebiased << 23) | (fraction << 13));
    }
    static uint16_t ToBFloat16(float value)
    {
        const uint32_t bits = BitsOf(value);
        return static_cast<uint16_t>(IsNan(bits) ? 0x7FC0U
                                                 : ShiftRounded(bits & 0x7FFFFFFFU, 16) | ((bits >> 16) & 0x8000U));
    }
    static float FromBFloat16(uint16_t value) { return FromBits(static_cast<uint32_t>(value) << 16); }
};

} // namespace armnnUtils
