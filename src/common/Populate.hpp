// SPDX-License-Identifier: Apache-2.0
// Populate: memory that is about to be written as a whole, and Discard: memory that nobody is going to read.
#pragma once

#include <cstddef>

namespace tenon
{

/// The bytes that one entry of the address cache (TLB) covers where the system gives huge pages, on x86-64 and most
/// Arm.
constexpr size_t HugePageBytes = size_t{2} << 20;

/// Has the system use huge pages for the part of a block that fills whole ones, where it can.
void UseHugePages(void* data, size_t bytes) noexcept;

/// Makes the whole pages of a block resident at once, where the system can: else each is a fault when it is written.
void Populate(void* data, size_t bytes) noexcept;

/// Gives the whole pages of a block back to the system, where it can, which has no huge pages at these addresses until
/// they are mapped anew. The memory stays the caller's, with undefined contents.
void Discard(void* data, size_t bytes) noexcept;

} // namespace tenon
