// SPDX-License-Identifier: Apache-2.0
// CpuRef: the reference backend. Its code is plain and obviously right, and bit-exact with TFLite's reference kernels
// on quantized types. It is the oracle of the fast backends and their fallback. Made by the composition root and by
// tests.
#pragma once

#include "backends/common/KernelTable.hpp"

#include <tenon/backend/IBackend.hpp>

#include <memory>

namespace tenon::ref
{

std::shared_ptr<const IBackend> MakeCpuRefBackend();

/// The reference kernel of a layer type; null where there is none. It is the last one in the lists of fast backends.
const backends::Kernel* FindKernel(LayerType type);
/// A list that ends with the same kernel. The kernel that runs quantized layers as floats comes before it, if there is
/// one (Kernels.hpp). The list is empty if there is no kernel.
std::span<const backends::Kernel* const> FindKernels(LayerType type);

} // namespace tenon::ref
