// SPDX-License-Identifier: Apache-2.0
// CreationOptions: the creation options of a runtime as the process's hook makes them (SetCreationOptionsHook).
#pragma once

#include <tenon/backend/BackendRegistry.hpp>

namespace tenon
{

/// Calls `use` with them.
void CompleteCreationOptions(const IRuntime::CreationOptions& options, const CreationOptionsUse& use);

} // namespace tenon
