// SPDX-License-Identifier: Apache-2.0
// The C++ type of each data type's elements in memory. Elements.cpp and ElementText.cpp use it.
#pragma once

#include <tenon/Exceptions.hpp>
#include <tenon/Types.hpp>

#include <fmt/format.h>

#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tenon::tools
{

static_assert(std::endian::native == std::endian::little, ".npy files and raw files are read as they are in memory");

struct Half
{
    uint16_t m_Bits;
};
struct BFloat
{
    uint16_t m_Bits;
};
/// Two elements per byte, the first in the low half.
struct Int4
{
};

template <typename T>
constexpr bool IsComplex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

/// Calls f with a value of the C++ type of the elements.
template <typename F>
auto VisitStorage(DataType type, F&& f)
{
    switch (type)
    {
    case DataType::Float16: return f(Half{});
    case DataType::BFloat16: return f(BFloat{});
    case DataType::Float32: return f(float{});
    case DataType::Float64: return f(double{});
    case DataType::Boolean: return f(bool{});
    case DataType::QSymmS4: return f(Int4{});
    case DataType::QAsymmU8:
    case DataType::Unsigned8: return f(uint8_t{});
    case DataType::QSymmS8:
    case DataType::QAsymmS8:
    case DataType::Signed8: return f(int8_t{});
    case DataType::QSymmS16:
    case DataType::Signed16: return f(int16_t{});
    case DataType::Unsigned16: return f(uint16_t{});
    case DataType::Signed32: return f(int32_t{});
    case DataType::Unsigned32: return f(uint32_t{});
    case DataType::Signed64: return f(int64_t{});
    case DataType::Unsigned64: return f(uint64_t{});
    case DataType::Complex64: return f(std::complex<float>{});
    case DataType::Complex128: return f(std::complex<double>{});
    }
    throw UnimplementedException(fmt::format("data type {} is not known to ExecuteNetwork", static_cast<int>(type)));
}

template <typename T>
T Load(const std::byte* data, size_t i)
{
    T value;
    std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    return value;
}

template <typename T>
void Store(std::byte* data, size_t i, const T& value)
{
    std::memcpy(data + i * sizeof(T), &value, sizeof(T));
}

inline int LoadInt4(const std::byte* data, size_t i)
{
    const auto byte = static_cast<unsigned int>(data[i / 2]);
    const auto nibble = static_cast<int>(i % 2 == 0 ? byte & 0xFU : byte >> 4);
    return nibble >= 8 ? nibble - 16 : nibble;
}

inline void StoreInt4(std::byte* data, size_t i, int value)
{
    const unsigned int nibble = static_cast<unsigned int>(value) & 0xFU;
    const auto byte = static_cast<unsigned int>(data[i / 2]);
    data[i / 2] = static_cast<std::byte>(i % 2 == 0 ? (byte & 0xF0U) | nibble : (byte & 0x0FU) | nibble << 4);
}

} // namespace tenon::tools
