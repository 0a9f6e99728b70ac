// SPDX-License-Identifier: Apache-2.0
// For backends written for Arm NN: hooks around the loading, running and unloading of networks.
#pragma once

#include <armnn/BackendOptions.hpp>
#include <armnn/IRuntime.hpp>
#include <armnn/backends/OwnNames.hpp>
#include <memory>

namespace tenon
{

/// One per runtime. Called for the networks that have layers on the backend, one call at a time. Where a hook returns
/// false the log warns, and nothing else happens, as in Arm NN; an exception of BeforeLoadNetwork or
/// AfterEnqueueWorkload ends the call.
class IBackendContext
{
protected:
    explicit IBackendContext(const IRuntime::CreationOptions& /*options*/) {}

public:
    virtual ~IBackendContext() = default;
    virtual bool BeforeLoadNetwork(NetworkId networkId) = 0;
    virtual bool AfterLoadNetwork(NetworkId networkId) = 0;
    virtual bool BeforeUnloadNetwork(NetworkId networkId) = 0;
    virtual bool AfterUnloadNetwork(NetworkId networkId) = 0;
    /// After each run.
    virtual bool AfterEnqueueWorkload(NetworkId networkId) = 0;
};

using IBackendContextUniquePtr = std::unique_ptr<IBackendContext>;

/// A backend's own form of the model options.
class IBackendModelContext
{
public:
    virtual ~IBackendModelContext() = default;
};

} // namespace tenon
