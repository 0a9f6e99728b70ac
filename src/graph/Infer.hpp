// SPDX-License-Identifier: Apache-2.0
// Declares the shape-inference function of each row of ops.def: `void Infer<Name>(InferContext&)`, defined in infer/.
#pragma once

#include "graph/InferContext.hpp"

namespace tenon::infer
{

#define TENON_OP(name, ...) void Infer##name(InferContext& context);
#include <tenon/ops.def>

} // namespace tenon::infer
