// SPDX-License-Identifier: Apache-2.0
// CreationOptions: the functions that libraries with backends add to the process (SetCreationOptionsHook,
// SetBackendLookup).
#pragma once

#include <tenon/backend/BackendRegistry.hpp>

#include <memory>

namespace tenon
{

/// Calls `use` with the options as the process's hook makes them.
void CompleteCreationOptions(const IRuntime::CreationOptions& options, const CreationOptionsUse& use);

/// The backend of that id that a library brought along, or null.
std::shared_ptr<const backend::IBackend> LookUpBackend(const BackendId& id);

} // namespace tenon
