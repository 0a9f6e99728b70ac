// SPDX-License-Identifier: Apache-2.0
// CpuAcc: the fast CPU backend. It takes all that CpuRef takes: what it has no fast kernel for it runs with the
// reference kernel, in the same subgraph and without a copy. Made by the composition root and by tests.
#pragma once

#include "backends/common/KernelTable.hpp"

#include <tenon/backend/IBackend.hpp>

#include <memory>

namespace tenon::cpu
{

/// Options of the backend "CpuAcc" (others are an InvalidArgumentException when a model is optimized or loaded):
///   NumberOfThreads  int or unsigned: how many of the caller's threads a layer may use; 0, the default, is all
///   FastMathEnabled  bool: accepted for Arm NN's applications; there is no less exact arithmetic to choose yet
/// OpenBLAS is loaded with the first layer that it serves, a float BatchMatMul, see gemm/OpenBlas.hpp; without it the
/// reference kernel runs those.
std::shared_ptr<const IBackend> MakeCpuAccBackend();

/// The kernels of a layer type in the order of trial: the fast ones, then the reference kernel.
std::span<const backends::Kernel* const> FindKernels(LayerType type);

} // namespace tenon::cpu
