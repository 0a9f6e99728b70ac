// SPDX-License-Identifier: Apache-2.0
// RegisteredBackends: the backends of BackendRegistryInstance() as backends of Tenon's, for runtimes and for questions.
#pragma once

#include <tenon/IRuntime.hpp>
#include <tenon/backend/IBackend.hpp>

#include <memory>

namespace tenon
{

/// Has IRuntime::Create and the questions of <tenon/BackendHelper.hpp> find the registered backends. Once per process.
void ConnectRegistry();

/// Keeps a backend registered that a shared object brought, as long as it lives. Null for other backends.
using DynamicRegistration = std::shared_ptr<void>;
DynamicRegistration HoldDynamicBackend(const BackendId& id);

/// Makes a registered backend, with a context for a runtime. The allocator that it takes over is removed from
/// `options`. Throws InvalidArgumentException where no backend is registered for `id`, its factory returns null or
/// another backend, and where it does not take its allocator; BackendUnavailableException where it says that it is not
/// there.
std::shared_ptr<const backend::IBackend> MakeBackendForRuntime(const BackendId& id, IRuntime::CreationOptions& options,
                                                               DynamicRegistration registration);

/// A registered backend without a context, which is a runtime's. It is made once, until a backend is deregistered.
/// Throws the exceptions of MakeBackendForRuntime.
std::shared_ptr<const backend::IBackend> GetBackendForQuestions(const BackendId& id);
/// Drops the backends that GetBackendForQuestions keeps: one of them may be registered no more.
void DropBackendsForQuestions();

} // namespace tenon
