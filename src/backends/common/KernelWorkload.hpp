// SPDX-License-Identifier: Apache-2.0
// IKernelWorkload: the interfaces that a plan looks for in workloads of built-in backends. The workload of a kernel
// table implements it, and so does each decorator of such workloads, which the compiler then holds to all of them.
#pragma once

#include "common/AddsTensor.hpp"
#include "common/KernelName.hpp"
#include "common/RunsAttention.hpp"
#include "common/RunsElements.hpp"
#include "common/RunsInStrips.hpp"
#include "common/SharedParts.hpp"

#include <tenon/backend/IWorkload.hpp>

namespace tenon::backends
{

class IKernelWorkload : public IShapedWorkload,
                        public INamesKernel,
                        public ISharesParts,
                        public IRunsInStrips,
                        public IAddsTensor,
                        public IRunsAttention,
                        public IRunsElements
{
public:
    unsigned int GetMostStripThreads() const override = 0;
};

} // namespace tenon::backends
