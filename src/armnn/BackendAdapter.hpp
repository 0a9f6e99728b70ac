// SPDX-License-Identifier: Apache-2.0
// BackendAdapter: makes a backend of Tenon's out of one that is written for Arm NN.
#pragma once

#include <tenon/backend/IBackend.hpp>

#include <armnn/backends/IBackendInternal.hpp>
#include <memory>
#include <mutex>
#include <utility>

namespace tenon
{

/// A backend written for Arm NN, which all networks and threads of a runtime share.
struct AdaptedBackend
{
    explicit AdaptedBackend(std::unique_ptr<IBackendInternal> backend) : m_Backend(std::move(backend)) {}

    std::unique_ptr<IBackendInternal> m_Backend;
    /// Held while the backend, its context or one of its factories is called, and while objects that they made are
    /// destroyed. GetId and IsLayerSupported are called without it: they are thread-safe in Arm NN. Workloads execute
    /// under the lock of their network.
    std::mutex m_Mutex;
};

class BackendAdapter final : public backend::IBackend
{
public:
    /// The backend made `context` for the runtime of this adapter; it may be null. `registration` is kept as long as
    /// the adapter lives.
    explicit BackendAdapter(std::unique_ptr<IBackendInternal> adapted,
                            std::unique_ptr<IBackendContext> context = nullptr,
                            std::shared_ptr<void> registration = nullptr);
    ~BackendAdapter() override;

    const BackendId& GetId() const override { return m_Id; }
    std::shared_ptr<const backend::ILayerSupport> GetLayerSupport(const ModelOptions& options) const override;
    std::unique_ptr<backend::IWorkloadFactory> CreateWorkloadFactory(const ModelOptions& options) const override;
    bool OptimizesSubgraphs() const override { return true; }
    /// Throws BackendCapabilityException for an answer with layers or slots from outside of the subgraph. A subgraph
    /// with a layer that INetwork cannot build is left as it is, with a warning in the log. In SubgraphAdapter.cpp.
    backend::OptimizationViews OptimizeSubgraphView(const backend::SubgraphView& subgraph,
                                                    const ModelOptions& options) const override;
    std::unique_ptr<backend::IBackendContext>
    CreateBackendContext(const IRuntime::CreationOptions& options) const override;
    BackendCapabilities GetCapabilities() const override;

private:
    std::shared_ptr<void> m_Registration;
    std::shared_ptr<AdaptedBackend> m_Adapted; ///< workloads keep it, too
    BackendId m_Id;
    mutable std::unique_ptr<IBackendContext> m_Context; ///< under the lock of m_Adapted
};

/// Makes workloads of one loaded network. The backend answers with `support` for the network's options.
std::unique_ptr<backend::IWorkloadFactory> AdaptWorkloadFactory(std::shared_ptr<AdaptedBackend> adapted,
                                                                std::shared_ptr<const ILayerSupport> support,
                                                                const ModelOptions& options);

} // namespace tenon
