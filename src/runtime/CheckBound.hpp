// SPDX-License-Identifier: Apache-2.0
// CheckBound: whether a tensor of the caller fits an input or output. Used by runs and imports.
#pragma once

#include "runtime/Program.hpp"

namespace tenon
{

/// Throws InvalidArgumentException unless `given`, a caller's info, fits the info of the network. Unknown sizes fit
/// any. `kind` is "input" or "output".
void CheckBound(const Binding& binding, const char* kind, const TensorInfo& wanted, const TensorInfo& given,
                const void* memory);

} // namespace tenon
