// SPDX-License-Identifier: Apache-2.0
// CheckBound: whether a tensor of the caller fits an input or output. For runs and for imports.
#pragma once

#include "runtime/Program.hpp"

namespace tenon
{

/// Throws InvalidArgumentException unless `given`, as a caller gives it, fits what the network has there. Unknown sizes
/// fit any. `kind` is "input" or "output".
void CheckBound(const Binding& binding, const char* kind, const TensorInfo& wanted, const TensorInfo& given,
                const void* memory);

} // namespace tenon
