// SPDX-License-Identifier: Apache-2.0
// Buffer: memory of one input or output, aligned so that the runtime can use it in place.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace tenon::tools
{

class Buffer
{
public:
    /// The size of a cache line, and of the widest vector register of known CPUs.
    static constexpr std::align_val_t Alignment{64};

    Buffer() = default;
    /// The contents are undefined. Throws std::bad_alloc.
    explicit Buffer(size_t bytes) : m_Data(static_cast<std::byte*>(::operator new(bytes, Alignment))), m_Bytes(bytes) {}

    std::byte* Data() { return m_Data.get(); }
    const std::byte* Data() const { return m_Data.get(); }
    size_t Size() const { return m_Bytes; }

private:
    struct Free
    {
        void operator()(std::byte* data) const { ::operator delete(data, Alignment); }
    };
    std::unique_ptr<std::byte, Free> m_Data;
    size_t m_Bytes = 0;
};

} // namespace tenon::tools
