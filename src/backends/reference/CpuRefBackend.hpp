// SPDX-License-Identifier: Apache-2.0
// CpuRef: the reference backend. Plain and obviously right; bit-exact with TFLite's reference kernels on quantized
// types. It is the oracle of the fast backends and what they fall back to. Made by the composition root and by tests.
#pragma once

#include "backends/common/KernelTable.hpp"

#include <tenon/backend/IBackend.hpp>

#include <memory>

namespace tenon::ref
{

std::shared_ptr<const IBackend> MakeCpuRefBackend();

/// The reference kernel of a layer type; null where there is none. It is the last one in the lists of fast backends.
const backends::Kernel* FindKernel(LayerType type);
/// The same as the last one of a list, before it the kernel that runs quantized layers as floats, if there is one
/// (Kernels.hpp). Empty where there is no kernel.
std::span<const backends::Kernel* const> FindKernels(LayerType type);

} // namespace tenon::ref
