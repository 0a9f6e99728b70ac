// SPDX-License-Identifier: Apache-2.0
// Counts what operator new gives, in every program that is linked with the harness.
#pragma once

#include <cstddef>

namespace tenon::test
{

/// How often this thread has allocated. Always 0 where a sanitizer has operator new for itself.
size_t CountAllocations();

} // namespace tenon::test
