// SPDX-License-Identifier: Apache-2.0
// BackendRegistry: the backends that a runtime knows. An object that each runtime owns, never a global.
#pragma once

#include <tenon/BackendId.hpp>
#include <tenon/Export.hpp>
#include <tenon/backend/IBackend.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tenon
{

namespace backend
{

/// Filled while a runtime is made and immutable afterwards, so reading needs no lock.
class TENON_API BackendRegistry
{
public:
    /// Throws InvalidArgumentException for null, an empty id, or an id that is there already.
    void Register(std::shared_ptr<const IBackend> backend);

    bool IsBackendRegistered(const BackendId& id) const { return Find(id) != nullptr; }
    /// Null when it is not there.
    std::shared_ptr<const IBackend> Find(const BackendId& id) const;
    /// Throws BackendUnavailableException, naming those that are there.
    const IBackend& Get(const BackendId& id) const;

    size_t Size() const { return m_Backends.size(); }
    BackendIdSet GetBackendIds() const;
    /// "CpuRef, CpuAcc", in the order of registration.
    std::string GetBackendIdsAsString() const;

private:
    std::vector<std::shared_ptr<const IBackend>> m_Backends;
};

} // namespace backend

/// The outcome of loading one file of IRuntime::CreationOptions::m_DynamicBackendsPath.
struct DynamicBackendReport
{
    std::string m_Path;
    bool m_IsLoaded = false;
    BackendId m_BackendId; ///< Undefined where the file did not get so far
    std::string m_Reason;  ///< why it is not loaded
};

/// Loads the backends of options.m_DynamicBackendsPath: of a folder (files named *_backend.so, also with version
/// numbers behind; other files are reported and left alone) in order of their names, or of one such file. Registers
/// those that can be used. One that cannot be used is no error: its report says why, and so does the log. A backend for
/// Arm NN's interface that takes its custom allocator removes it from `options`. Throws FileNotFoundException where
/// there is no such path. docs/backends.md says how a backend is made.
TENON_API std::vector<DynamicBackendReport> RegisterDynamicBackends(backend::BackendRegistry& registry,
                                                                    IRuntime::CreationOptions& options);

/// Makes the backend of a shared object that has the functions of Arm NN's dynamic backends: GetBackendId, GetVersion
/// and BackendFactory. `path` is absolute, and the object is open during the call. Throws a tenon::Exception, never
/// null.
using DynamicBackendLoader = std::shared_ptr<const backend::IBackend> (*)(const std::string& path,
                                                                          IRuntime::CreationOptions& options);
/// For libtenon_armnn.so, which adapts such backends: RegisterDynamicBackends calls `loader` from now on. Returns the
/// loader before, or null. A loader stays loaded. Thread-safe.
TENON_API DynamicBackendLoader SetDynamicBackendLoader(DynamicBackendLoader loader);

/// Takes the options that a runtime is made with; valid during the call.
using CreationOptionsUse = std::function<void(const IRuntime::CreationOptions& options)>;
/// Calls `use`, once, with `options` or with changed ones, e.g. with further backends in m_Backends. An exception of
/// the hook ends IRuntime::Create; so does a RuntimeException where it did not call `use`.
using CreationOptionsHook = void (*)(const IRuntime::CreationOptions& options, const CreationOptionsUse& use);
/// For libraries that bring backends along: each IRuntime::Create of the process goes through `hook` from now on.
/// Returns the hook before, or null: the new one must go through it. A hook stays loaded. Thread-safe.
TENON_API CreationOptionsHook SetCreationOptionsHook(CreationOptionsHook hook);

/// Gives the backend with this id and makes no other one, for a question about it; null where the library has none of
/// that id. An exception of the lookup ends the question.
using BackendLookup = std::shared_ptr<const backend::IBackend> (*)(const BackendId& id);
/// For the same libraries: each question of <tenon/BackendHelper.hpp> about the id of a backend that is not built in
/// goes to `lookup` from now on. Returns the lookup before, or null: the new one must ask it for ids that it does not
/// know. A lookup stays loaded. Thread-safe.
TENON_API BackendLookup SetBackendLookup(BackendLookup lookup);

/// Puts CpuRef and CpuAcc into `registry`; every runtime does so.
TENON_API void RegisterBuiltinBackends(backend::BackendRegistry& registry);

#ifndef TENON_BACKEND_NO_SHORT_NAMES
#define TENON_BACKEND_SHORT_NAMES
using backend::BackendRegistry;
#endif

} // namespace tenon
