// SPDX-License-Identifier: Apache-2.0
// Populate: memory that is about to be written as a whole.
#pragma once

#include <cstddef>

namespace tenon
{

/// Makes the whole pages of a block resident at once, where the system can: else each is a fault when it is written.
void Populate(void* data, size_t bytes) noexcept;

} // namespace tenon
