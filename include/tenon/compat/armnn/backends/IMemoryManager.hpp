// SPDX-License-Identifier: Apache-2.0
// For backends written for Arm NN: memory for the tensors of a network.
#pragma once

#include <armnn/Namespace.hpp>
#include <memory>

namespace tenon
{

/// Plans memory by the calls of ITensorHandle::Manage and Allocate. Tenon calls Acquire once the handles of a workload
/// are allocated, before its first run, and Release when the workload goes.
class IMemoryManager
{
protected:
    IMemoryManager() = default;

public:
    virtual ~IMemoryManager() = default;
    virtual void Acquire() = 0;
    virtual void Release() = 0;
};

using IMemoryManagerUniquePtr = std::unique_ptr<IMemoryManager>;

} // namespace tenon
