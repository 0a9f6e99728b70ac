// SPDX-License-Identifier: Apache-2.0
// MemorySpaces: the memories that the backends of a runtime work in, and what the application wants done with them.
// Made once by Runtime; read by programs, plans and contexts.
#pragma once

#include <tenon/IRuntime.hpp>
#include <tenon/backend/BackendRegistry.hpp>
#include <tenon/backend/ICustomAllocator.hpp>
#include <tenon/backend/IMemoryOptimizerStrategy.hpp>
#include <tenon/backend/ITensorHandleFactory.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tenon
{

/// Index of a memory.
using MemoryId = uint32_t;
constexpr MemoryId HostMemory = 0;

/// The creation option that all backends have: the name of a packing strategy.
constexpr const char* MemoryStrategyOption = "MemoryOptimizerStrategy";

struct MemorySpace
{
    std::string m_Name;
    const ITensorHandleFactory* m_Factory = nullptr;                ///< null: the host
    std::shared_ptr<ICustomAllocator> m_Allocator = nullptr;        ///< null: the factory, or operator new
    std::shared_ptr<IMemoryOptimizerStrategy> m_Strategy = nullptr; ///< null: the default
    size_t m_Alignment = 0;                                         ///< of tensors, bytes
};

/// What kinds of host memory a device takes as its own.
inline bool Imports(const ITensorHandleFactory& factory, MemorySource source)
{
    return (factory.GetImportFlags() & static_cast<MemorySourceFlags>(source)) != 0;
}

const char* GetMemorySourceName(MemorySource source);

class MemorySpaces
{
public:
    /// Throws InvalidArgumentException for allocators, strategies and factories that cannot be used, naming the
    /// backend and why. What is given for a backend that is not there has no effect; the log warns of it.
    MemorySpaces(const BackendRegistry& registry, const IRuntime::CreationOptions& options);

    size_t Size() const { return m_Spaces.size(); }
    const MemorySpace& operator[](MemoryId id) const { return m_Spaces[id]; }
    /// The host for what is no backend of the registry: layers that the runtime runs.
    MemoryId Of(const BackendId& backend) const;

private:
    /// For memories that have no strategy yet; the first name counts.
    void TakeNamedStrategies(const BackendRegistry& registry, const std::vector<BackendOptions>& options);

    std::vector<MemorySpace> m_Spaces;
    std::map<std::string, MemoryId> m_ByBackend; ///< backends on devices
};

} // namespace tenon
