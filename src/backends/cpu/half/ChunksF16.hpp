// SPDX-License-Identifier: Apache-2.0
// Layers of Float16 or BFloat16 without weights, run by a Float32 kernel in chunks of 4096 elements of the output,
// which stay in the first-level cache as floats.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/reference/kernels/F16AsF32.hpp"

namespace tenon::cpu
{

/// Runs the Float32 kernel of `prepare` chunk by chunk, between conversions from and to the 16-bit type of all tensors.
/// A chunk is a range of output indices along one or several dimensions before the last `whole` ones: a layer of its
/// own, with the same range of each input that is not broadcast along it. Layers that cannot be cut are converted as a
/// whole. `prepare` must not decline.
backends::Prepared PrepareChunksF16(const ReshapeArgs& args, unsigned int whole,
                                    backends::Prepared (*prepare)(const ReshapeArgs&, const backends::PackedWeights*),
                                    const ref::F16Loops& loops);

} // namespace tenon::cpu
