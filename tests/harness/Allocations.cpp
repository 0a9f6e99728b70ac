// SPDX-License-Identifier: Apache-2.0
// See Allocations.hpp.
#include "harness/Allocations.hpp"

#include <cstdlib>
#include <new>

namespace
{

thread_local size_t allocations = 0;

} // namespace

namespace tenon::test
{

size_t CountAllocations()
{
    return allocations;
}

} // namespace tenon::test

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

// The other forms of operator new call these.
void* operator new(size_t bytes)
{
    ++allocations;
    if (void* memory = std::malloc(bytes == 0 ? 1 : bytes))
    {
        return memory;
    }
    throw std::bad_alloc();
}

void* operator new(size_t bytes, std::align_val_t alignment)
{
    ++allocations;
    const auto step = static_cast<size_t>(alignment);
    if (void* memory = std::aligned_alloc(step, (bytes + step - 1) / step * step))
    {
        return memory;
    }
    throw std::bad_alloc();
}

void operator delete(void* memory) noexcept
{
    std::free(memory);
}

void operator delete(void* memory, size_t) noexcept
{
    std::free(memory);
}

void operator delete(void* memory, std::align_val_t) noexcept
{
    std::free(memory);
}

void operator delete(void* memory, size_t, std::align_val_t) noexcept
{
    std::free(memory);
}

#endif
