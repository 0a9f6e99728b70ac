// SPDX-License-Identifier: Apache-2.0
// Scratch: lays out the parts of a kernel's scratch memory. Used in prepare steps; execute adds the offsets.
#pragma once

#include "common/CheckedMath.hpp"

#include <tenon/Exceptions.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>

namespace tenon::backends
{

[[noreturn]] inline void ThrowScratchOverflow()
{
    throw InvalidArgumentException("the scratch memory of a layer overflows the address space; its weights or shapes "
                                   "are too large");
}

/// a * b elements. Throws InvalidArgumentException when the product overflows.
inline size_t CheckedCount(size_t a, size_t b)
{
    size_t count = 0;
    if (__builtin_mul_overflow(a, b, &count))
    {
        ThrowScratchOverflow();
    }
    return count;
}

class Scratch
{
public:
    /// Room for as many elements of T as the product of `sizes`; returns its offset, a multiple of 64.
    /// Throws InvalidArgumentException when the product or the sum overflows.
    template <typename T, std::unsigned_integral... Sizes>
    size_t Add(Sizes... sizes)
    {
        const size_t offset = m_Bytes;
        const auto bytes = CheckedProduct<size_t>(std::array<size_t, 1 + sizeof...(sizes)>{sizeof(T), sizes...});
        const auto padded = bytes ? CheckedAlignUp<size_t>(*bytes, Alignment) : std::nullopt;
        const auto sum = padded ? CheckedAdd<size_t>(offset, *padded) : std::nullopt;
        if (!sum)
        {
            ThrowScratchOverflow();
        }
        m_Bytes = *sum;
        return offset;
    }

    /// Room for `count` parts that are laid out as `part` is; returns the offset of the first one. Each begins
    /// part.GetBytes() after the one before. Throws likewise.
    size_t AddPerTask(const Scratch& part, size_t count) { return Add<std::byte>(part.GetBytes(), count); }

    size_t GetBytes() const { return m_Bytes; }

    template <typename T>
    static T* At(void* scratch, size_t offset)
    {
        return reinterpret_cast<T*>(static_cast<std::byte*>(scratch) + offset);
    }

private:
    static constexpr size_t Alignment = 64; ///< bytes: a cache line, and the widest vector
    size_t m_Bytes = 0;
};

} // namespace tenon::backends
