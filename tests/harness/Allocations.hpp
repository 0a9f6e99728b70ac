// SPDX-License-Identifier: Apache-2.0
// Counts the calls of operator new in every program that is linked with the harness.
#pragma once

#include <cstddef>

namespace tenon::test
{

/// The number of allocations of this thread. It is always 0 if a sanitizer replaces operator new.
size_t CountAllocations();

} // namespace tenon::test
