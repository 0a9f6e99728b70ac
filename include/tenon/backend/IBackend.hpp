// SPDX-License-Identifier: Apache-2.0
// IBackend: something that runs layers. What a backend author implements.
#pragma once

#include <tenon/BackendId.hpp>
#include <tenon/BackendOptions.hpp>
#include <tenon/backend/ILayerSupport.hpp>
#include <tenon/backend/IWorkloadFactory.hpp>

#include <memory>

namespace tenon
{

/// Thread-safe; lives as long as the runtimes and optimized networks that use it.
class TENON_API IBackend
{
public:
    virtual ~IBackend();

    virtual const BackendId& GetId() const = 0;

    /// The memory that workloads of this backend read and write. Where two backends differ, the optimizer puts MemCopy
    /// layers on the edges between them, which the backend that is not "Host" runs. "Host" is ordinary memory.
    virtual const char* GetMemoryDomain() const { return "Host"; }

    /// `options` are the model's; only the entries of this backend concern it.
    virtual std::shared_ptr<const ILayerSupport> GetLayerSupport(const ModelOptions& options) const = 0;
    virtual std::unique_ptr<IWorkloadFactory> CreateWorkloadFactory(const ModelOptions& options) const = 0;

    /// Named abilities, e.g. {"NonConstWeights", true}. A backend with {"EqualRankBroadcast", true} wants all operands
    /// of broadcasting layers in one rank: the optimizer adds ExpandDims layers, which the backend then must run.
    virtual BackendCapabilities GetCapabilities() const { return BackendCapabilities(GetId()); }
};

} // namespace tenon
