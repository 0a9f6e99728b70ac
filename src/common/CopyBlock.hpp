// SPDX-License-Identifier: Apache-2.0
// CopyBlock: memcpy for what may be large.
#pragma once

#include <cstddef>

namespace tenon
{

/// memcpy(to, from, bytes), which may not overlap, without its slow case: on some x86 processors the C library copies
/// large blocks by one instruction (rep movsb), which takes twenty times as long where the target lies a little behind
/// the source within a page (https://sourceware.org/bugzilla/show_bug.cgi?id=30994). Blocks of memory that begin with
/// what the allocator keeps in front of them are often placed so.
void CopyBlock(void* to, const void* from, size_t bytes) noexcept;

} // namespace tenon
