// SPDX-License-Identifier: Apache-2.0
// IWorkloadFactory: makes the workloads of one backend. Nothing else does.
#pragma once

#include <tenon/backend/IWorkload.hpp>

#include <memory>

namespace tenon
{

class BackendId;

namespace backend
{

class TENON_API IWorkloadFactory
{
public:
    virtual ~IWorkloadFactory();
    virtual const BackendId& GetBackendId() const = 0;
    /// Makes the workload of a layer that the backend's ILayerSupport accepted. Throws an exception that explains a
    /// failure; never returns null.
    virtual std::unique_ptr<IWorkload> CreateWorkload(const LayerView& layer) const = 0;
    /// Whether CreateWorkload may be called by several threads at once. Networks with much to pack load faster then.
    virtual bool IsThreadSafe() const { return false; }
    /// Called once, when a loaded network has all of its workloads, those of its nested networks among them. An
    /// exception of this method ends the load.
    virtual void AfterWorkloadsCreated() {}
};

} // namespace backend

#ifndef TENON_BACKEND_NO_SHORT_NAMES
#define TENON_BACKEND_SHORT_NAMES
using backend::IWorkloadFactory;
#endif

} // namespace tenon
