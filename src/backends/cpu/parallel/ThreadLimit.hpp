// SPDX-License-Identifier: Apache-2.0
// The option NumberOfThreads of CpuAcc: a decorator of the workload factory. Its workloads see a narrowed IParallelFor.
// Called by CpuAccBackend.
#pragma once

#include <tenon/backend/IWorkloadFactory.hpp>

#include <memory>

namespace tenon::cpu
{

/// A factory whose workloads are the workloads of `inner`, run on at most `threads` (at least 1) of the caller's
/// threads.
std::unique_ptr<IWorkloadFactory> LimitThreads(std::unique_ptr<IWorkloadFactory> inner, unsigned int threads);

} // namespace tenon::cpu
