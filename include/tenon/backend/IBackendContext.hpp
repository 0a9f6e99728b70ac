// SPDX-License-Identifier: Apache-2.0
// IBackendContext: the hooks of a backend around the loading, running and unloading of networks.
#pragma once

#include <tenon/Export.hpp>
#include <tenon/IRuntime.hpp>

namespace tenon
{

namespace backend
{

/// One per runtime and backend. Called for the networks that have layers on the backend. Thread-safe: networks load and
/// run at once. An exception of a Before... hook or of AfterEnqueueWorkload ends the call of the application that led
/// there; the other hooks must not throw. A load that fails is followed by the two unload hooks wherever
/// BeforeLoadNetwork had returned; AfterEnqueueWorkload follows wherever BeforeEnqueueWorkload had returned.
class TENON_API IBackendContext
{
public:
    virtual ~IBackendContext();

    virtual void BeforeLoadNetwork(NetworkId) {}
    virtual void AfterLoadNetwork(NetworkId) noexcept {}
    virtual void BeforeEnqueueWorkload(NetworkId) {}
    /// After a run, whether it succeeded or not.
    virtual void AfterEnqueueWorkload(NetworkId) {}
    virtual void BeforeUnloadNetwork(NetworkId) noexcept {}
    virtual void AfterUnloadNetwork(NetworkId) noexcept {}
};

} // namespace backend

#ifndef TENON_BACKEND_NO_SHORT_NAMES
#define TENON_BACKEND_SHORT_NAMES
using backend::IBackendContext;
#endif

} // namespace tenon
