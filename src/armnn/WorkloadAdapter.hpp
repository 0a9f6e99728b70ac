// SPDX-License-Identifier: Apache-2.0
// WorkloadAdapter: runs workloads that are written for Arm NN. Their tensors are fixed when they are made: there is one
// for each set of shapes, with tensors of the backend's own, into which inputs are copied and out of which outputs are.
#pragma once

#include "armnn/AdaptedBackend.hpp"

#include <tenon/backend/IWorkload.hpp>

#include <armnn/backends/IBackendInternal.hpp>
#include <memory>
#include <mutex>
#include <utility>

namespace tenon
{

/// The backend, its options and the locks that the workloads of one loaded network share.
struct WorkloadSource
{
    WorkloadSource(std::shared_ptr<AdaptedBackend> adapted, std::shared_ptr<const ILayerSupport> support,
                   ModelOptions options)
        : m_Adapted(std::move(adapted)), m_Support(std::move(support)), m_Options(std::move(options))
    {
    }

    std::shared_ptr<AdaptedBackend> m_Adapted;
    std::shared_ptr<const ILayerSupport> m_Support;
    ModelOptions m_Options;
    /// Held while a workload of the network is made, executes or is destroyed: Arm NN runs all workloads of a network
    /// in one thread at a time.
    std::mutex m_Execution;
};

std::unique_ptr<backend::IWorkload> AdaptWorkload(std::shared_ptr<WorkloadSource> source, const LayerView& layer);

} // namespace tenon
