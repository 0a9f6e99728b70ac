// SPDX-License-Identifier: Apache-2.0
// BackendAdapter: makes a backend of Tenon's out of one that is written for Arm NN.
#pragma once

#include "armnn/AdaptedBackend.hpp"

#include <tenon/backend/IBackend.hpp>

#include <armnn/backends/IBackendInternal.hpp>
#include <memory>

namespace tenon
{

class BackendAdapter final : public backend::IBackend
{
public:
    /// The backend made `context` for the runtime of this adapter; it may be null.
    BackendAdapter(std::unique_ptr<IBackendInternal> adapted, std::unique_ptr<IBackendContext> context);
    ~BackendAdapter() override;

    const BackendId& GetId() const override { return m_Id; }
    std::shared_ptr<const backend::ILayerSupport> GetLayerSupport(const ModelOptions& options) const override;
    std::unique_ptr<backend::IWorkloadFactory> CreateWorkloadFactory(const ModelOptions& options) const override;
    bool OptimizesSubgraphs() const override { return true; }
    backend::OptimizationViews OptimizeSubgraphView(const backend::SubgraphView& subgraph,
                                                    const ModelOptions& options) const override;
    std::unique_ptr<backend::IBackendContext>
    CreateBackendContext(const IRuntime::CreationOptions& options) const override;
    BackendCapabilities GetCapabilities() const override;

private:
    std::shared_ptr<AdaptedBackend> m_Adapted; ///< workloads keep it, too
    BackendId m_Id;
    mutable std::unique_ptr<IBackendContext> m_Context; ///< under the lock of m_Adapted
};

/// The backend's answers for these options. Throws InvalidArgumentException where it has none for them.
std::shared_ptr<const ILayerSupport> GetAdaptedSupport(const IBackendInternal& adapted, const ModelOptions& options);

/// Calls the factory of `id` in BackendRegistryInstance(). Throws InvalidArgumentException where none is registered,
/// and where it returns null or a backend with another id.
std::unique_ptr<IBackendInternal> MakeRegisteredBackend(const BackendId& id);

} // namespace tenon
