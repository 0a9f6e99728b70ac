// SPDX-License-Identifier: Apache-2.0
// CreationOptions: the creation options of a runtime as the hooks of the process make them (AddCreationOptionsHook).
#pragma once

#include <tenon/IRuntime.hpp>

namespace tenon
{

IRuntime::CreationOptions CompleteCreationOptions(IRuntime::CreationOptions options);

} // namespace tenon
