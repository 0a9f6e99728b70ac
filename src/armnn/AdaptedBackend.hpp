// SPDX-License-Identifier: Apache-2.0
// AdaptedBackend: a backend written for Arm NN, which all networks and threads of a runtime share.
#pragma once

#include <armnn/backends/IBackendInternal.hpp>
#include <memory>
#include <mutex>
#include <utility>

namespace tenon
{

struct AdaptedBackend
{
    explicit AdaptedBackend(std::unique_ptr<IBackendInternal> backend) : m_Backend(std::move(backend)) {}

    std::unique_ptr<IBackendInternal> m_Backend;
    /// Held while the backend, its context or one of its factories is called, and while what they made is destroyed.
    /// Without it are the calls that Arm NN calls thread-safe: GetId and IsLayerSupported. Workloads execute under the
    /// lock of their network (WorkloadSource).
    std::mutex m_Mutex;
};

} // namespace tenon
