// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: the base of backends.
#pragma once

#include <tenon/BackendId.hpp>

#include <armnn/backends/OwnNames.hpp>
#include <memory>

namespace tenon
{

/// A backend as applications see it. Backends derive from IBackendInternal.
class IBackend
{
protected:
    IBackend() = default;
    virtual ~IBackend() = default;

public:
    virtual const BackendId& GetId() const = 0;
};

using IBackendSharedPtr = std::shared_ptr<IBackend>;
using IBackendUniquePtr = std::unique_ptr<IBackend, void (*)(IBackend* backend)>;

} // namespace tenon
