// SPDX-License-Identifier: Apache-2.0
// Half-precision tensors for kernels that are written for Float32: they are converted to floats in scratch memory and
// back. Used by the convolutions, products, pools and normalizations.
#pragma once

#include "backends/common/KernelTable.hpp"

namespace tenon::ref
{

/// What `prepare` gives for `args`. If input 0 has one of backends::HalfTypes: for the same tensors with Float32 in
/// place of every such type, with the conversions around it; `packed` then is left out.
backends::Prepared PrepareHalfAsFloat(const ReshapeArgs& args,
                                      backends::Prepared (*prepare)(const ReshapeArgs& args,
                                                                    const backends::PackedWeights* packed),
                                      const backends::PackedWeights* packed);

} // namespace tenon::ref
