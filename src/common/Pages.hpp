// SPDX-License-Identifier: Apache-2.0
// Pages: memory for objects of which large networks have many. A new page costs far more than filling it, so pages that
// were given back are kept for a while.
#pragma once

#include <cstddef>
#include <limits>
#include <mutex>
#include <new>
#include <vector>

namespace tenon
{

/// Memory of at least so many bytes, aligned as that of operator new; much of it in huge pages where the system has
/// them. Its contents are undefined. Throws std::bad_alloc.
void* TakePages(size_t bytes);
/// Gives back what TakePages(bytes) gave.
void GivePages(void* memory, size_t bytes) noexcept;
/// How many bytes TakePages(bytes) gives. Throws std::bad_alloc where there can't be as many.
size_t RoundToPages(size_t bytes);

/// Guards the memory that is kept, here and in pools. No other one is locked within it, and a fork leaves it free.
std::mutex& GetPagesMutex();

template <typename T>
struct PageAllocator
{
    using value_type = T;

    PageAllocator() = default;
    template <typename U>
    PageAllocator(const PageAllocator<U>&) noexcept // NOLINT: as allocators do
    {
    }

    T* allocate(size_t count)
    {
        static_assert(alignof(T) <= alignof(std::max_align_t));
        if (count > std::numeric_limits<size_t>::max() / sizeof(T))
        {
            throw std::bad_array_new_length();
        }
        return static_cast<T*>(TakePages(count * sizeof(T)));
    }
    void deallocate(T* memory, size_t count) noexcept { GivePages(memory, count * sizeof(T)); }

    friend bool operator==(const PageAllocator&, const PageAllocator&) { return true; }
    friend bool operator!=(const PageAllocator&, const PageAllocator&) { return false; }
};

/// For lists that have an element for each layer.
template <typename T>
using PageVector = std::vector<T, PageAllocator<T>>;

} // namespace tenon
