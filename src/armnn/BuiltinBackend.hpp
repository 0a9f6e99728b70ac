// SPDX-License-Identifier: Apache-2.0
// BuiltinBackend: CpuRef and CpuAcc as programs for Arm NN get them from BackendRegistryInstance(): they answer
// questions. Runtimes have them without this.
#pragma once

#include <tenon/backend/BackendRegistry.hpp>
#include <tenon/backend/IBackend.hpp>

#include <armnn/backends/IBackendInternal.hpp>
#include <memory>

namespace tenon
{

/// Never destroyed: destructors of static variables may ask it.
const backend::BackendRegistry& GetBuiltinBackends();

std::unique_ptr<IBackendInternal> MakeBuiltinBackend(std::shared_ptr<const backend::IBackend> adapted);

} // namespace tenon
