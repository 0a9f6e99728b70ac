// SPDX-License-Identifier: Apache-2.0
// CpuAcc: the fast CPU backend. It takes every layer that CpuRef takes: a layer without a fast kernel runs with the
// reference kernel, in the same subgraph and without a copy. Made by the composition root and by tests.
#pragma once

#include "backends/common/KernelTable.hpp"

#include <tenon/backend/IBackend.hpp>

#include <memory>

namespace tenon::cpu
{

/// Options of the backend "CpuAcc" (others are an InvalidArgumentException when a model is optimized or loaded):
///   NumberOfThreads  int or unsigned: the maximum number of the caller's threads for a layer; 0, the default, is all
///   FastMathEnabled  bool: adds the kernels that round more coarsely (Kernel::m_IsFastMath), for 3x3 convolutions
///                    of Float32; false is the default. tenon/BackendOptions.hpp describes the differences
///   SaveCachedNetwork      bool: write the packed weights to CachedNetworkFilePath when a network is loaded
///   CachedNetworkFilePath  string: without SaveCachedNetwork, the file from which packed weights are read instead of
///                          packing them. A file that was saved for other layers or constants, instructions,
///                          options or another version of Tenon is refused
std::shared_ptr<const IBackend> MakeCpuAccBackend();

/// The kernels of a layer type in the order of trial: the fast ones, then the reference kernel.
std::span<const backends::Kernel* const> FindKernels(LayerType type);
/// The same with FastMathEnabled.
std::span<const backends::Kernel* const> FindFastMathKernels(LayerType type);

/// A hash of the sources of all backends, made with each build (cmake/HashSources.cmake). Files of packed weights that
/// were written by a build with another hash are refused, so that nobody has to keep a version of the packing.
const char* GetPackingSources();

} // namespace tenon::cpu
