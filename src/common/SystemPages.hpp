// SPDX-License-Identifier: Apache-2.0
// Memory straight from the system, in pages.
#pragma once

#include <cstddef>

namespace tenon
{

/// Of the pages that the system has now.
size_t GetPageBytes();

/// Memory of zeros, whole pages of it. From HugePageBytes (Populate.hpp) on, which `bytes` is then a multiple of, in
/// huge pages where the system has them. Throws std::bad_alloc.
void* MapPages(size_t bytes);
/// Gives back what MapPages(bytes) gave.
void UnmapPages(void* memory, size_t bytes) noexcept;

/// Lets the system take back pages of MapPages when it needs memory, until they are written again. What is in them may
/// be lost.
void OfferPages(void* memory, size_t bytes) noexcept;

} // namespace tenon
