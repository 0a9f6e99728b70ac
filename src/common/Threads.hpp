// SPDX-License-Identifier: Apache-2.0
// Functions of the system for threads, beyond the standard library.
#pragma once

namespace tenon
{

/// Names the calling thread, for debuggers and lists of threads: at most 15 characters.
void NameThread(const char* name) noexcept;

/// Has `before` called before the process forks, and `after` in both processes afterwards, where processes can fork.
void CallAroundForks(void (*before)(), void (*after)());

} // namespace tenon
