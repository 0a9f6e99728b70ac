// SPDX-License-Identifier: Apache-2.0
// Loops that turn elements of one type into those of another: real numbers into stored ones and back, and numbers of
// different width. Results are those of the reference kernels in every case.
#pragma once

#include <tenon/Types.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// What a real number is divided by, and where its zero is stored.
struct QuantizeNumbers
{
    float m_Scale = 1.0f;
    int32_t m_ZeroPoint = 0;
};

/// out[i] of in[i]. The numbers are looked at by loops to and from quantized types only.
using ConversionLoop = void (*)(const void* in, void* out, size_t count, const QuantizeNumbers& numbers);

/// From Float32 to QAsymmU8, QAsymmS8, QSymmS8 or QSymmS16; else null.
ConversionLoop FindQuantize(DataType to);

/// From these to Float32; else null.
ConversionLoop FindDequantize(DataType from);

/// Between numbers without a scale, null where there is no loop: Float32 with Float16, BFloat16, Signed32 and bytes,
/// bytes to Signed32, Signed32 with Signed64, and Booleans with Float32, Signed32, bytes and themselves. Bytes with a
/// scale are taken as the integers that they store.
ConversionLoop FindCast(DataType from, DataType to);

} // namespace tenon::cpu
