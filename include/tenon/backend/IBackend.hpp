// SPDX-License-Identifier: Apache-2.0
// IBackend: the interface that the author of a backend implements. A backend runs layers.
#pragma once

#include <tenon/BackendId.hpp>
#include <tenon/BackendOptions.hpp>
#include <tenon/Span.hpp>
#include <tenon/backend/IBackendContext.hpp>
#include <tenon/backend/ILayerSupport.hpp>
#include <tenon/backend/ITensorHandleFactory.hpp>
#include <tenon/backend/IWorkloadFactory.hpp>
#include <tenon/backend/SubgraphView.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace tenon
{

namespace backend
{

/// Thread-safe; lives as long as the runtimes and optimized networks that use it.
class TENON_API IBackend
{
public:
    virtual ~IBackend();

    virtual const BackendId& GetId() const = 0;

    /// The memory that workloads of this backend read and write; null: ordinary host memory. On edges between different
    /// memories the optimizer puts MemCopy or MemImport layers, which the runtime runs through the device's queue.
    virtual const ITensorHandleFactory* GetTensorHandleFactory() const { return nullptr; }

    /// `options` are the model's; only the entries of this backend concern it.
    virtual std::shared_ptr<const ILayerSupport> GetLayerSupport(const ModelOptions& options) const = 0;
    virtual std::unique_ptr<IWorkloadFactory> CreateWorkloadFactory(const ModelOptions& options) const = 0;

    /// Whether OptimizeSubgraphView is to be called. A backend that overrides that returns true here; for one that does
    /// not, the optimizer makes no views.
    virtual bool OptimizesSubgraphs() const { return false; }
    /// Asked once for each subgraph of layers that were assigned to this backend, those of nested networks included:
    /// the chance to fuse layers, or to compile them into one PreCompiled layer. Changes nothing by default.
    virtual OptimizationViews OptimizeSubgraphView(const SubgraphView& subgraph, const ModelOptions& options) const;

    /// The bytes of a PreCompiled layer's blob of this backend, and the blob of such bytes, for optimized networks in
    /// files. Both throw UnimplementedException by default, and ParseException for bytes that are no blob.
    virtual std::vector<uint8_t> SaveCompiledBlob(const void* blob) const;
    virtual std::shared_ptr<const void> LoadCompiledBlob(Span<const uint8_t> bytes) const;

    /// Called once by each runtime that registers this backend; may return null.
    virtual std::unique_ptr<IBackendContext> CreateBackendContext(const IRuntime::CreationOptions& options) const;

    /// Named abilities, e.g. {"NonConstWeights", true}. A backend with {"EqualRankBroadcast", true} wants all operands
    /// of broadcasting layers in one rank: the optimizer adds ExpandDims layers, which the backend then must run.
    virtual BackendCapabilities GetCapabilities() const { return BackendCapabilities(GetId()); }
};

} // namespace backend

#ifndef TENON_BACKEND_NO_SHORT_NAMES
#define TENON_BACKEND_SHORT_NAMES
using backend::IBackend;
#endif

} // namespace tenon
