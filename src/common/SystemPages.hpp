// SPDX-License-Identifier: Apache-2.0
// Memory straight from the system, in pages.
#pragma once

#include <cstddef>

namespace tenon
{

/// The size of a page of memory, in bytes.
size_t GetPageBytes();

/// Memory of zeros, whole pages of it. Sizes of HugePageBytes (Populate.hpp) and above are multiples of that, and get
/// huge pages where the system has them. Throws std::bad_alloc.
void* MapPages(size_t bytes);
/// Gives back the memory that MapPages(bytes) gave.
void UnmapPages(void* memory, size_t bytes) noexcept;

/// Lets the system take back pages of MapPages when it needs memory, until they are written again. Their contents may
/// be lost.
void OfferPages(void* memory, size_t bytes) noexcept;

} // namespace tenon
