// SPDX-License-Identifier: Apache-2.0
// Memory for inputs and outputs of measured layers. It begins at a cache line, as inside of a network: vectors that
// cross two lines take twice as long to load.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace tenon::bench
{

template <typename T>
struct LineAllocator
{
    using value_type = T;
    static constexpr std::align_val_t Line{64};

    LineAllocator() = default;
    template <typename U>
    LineAllocator(const LineAllocator<U>&)
    {
    }

    T* allocate(size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), Line)); }
    void deallocate(T* p, size_t) { ::operator delete(p, Line); }

    friend bool operator==(const LineAllocator&, const LineAllocator&) { return true; }
};

using AlignedBytes = std::vector<char, LineAllocator<char>>;

} // namespace tenon::bench
