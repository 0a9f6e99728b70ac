// SPDX-License-Identifier: Apache-2.0
// MemorySpaces: the memories that the backends of a runtime work in, and the application's settings for them. Made once
// by Runtime; read by programs, plans and contexts.
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
    size_t m_Alignment = 0;                                         ///< alignment of tensors, bytes
};

/// Whether a device imports host memory of this kind.
inline bool Imports(const ITensorHandleFactory& factory, MemorySource source)
{
    return (factory.GetImportFlags() & static_cast<MemorySourceFlags>(source)) != 0;
}

const char* GetMemorySourceName(MemorySource source);

class MemorySpaces
{
public:
    /// Throws InvalidArgumentException for allocators, strategies and factories that cannot be used; its text names the
    /// backend and the reason. Settings for an unknown backend have no effect; the log warns of them.
    MemorySpaces(const BackendRegistry& registry, const IRuntime::CreationOptions& options);

    size_t Size() const { return m_Spaces.size(); }
    const MemorySpace& operator[](MemoryId id) const { return m_Spaces[id]; }
    /// The memory of a backend. For ids outside of the registry, such as that of layers which the runtime runs, it is
    /// the host.
    MemoryId Of(const BackendId& backend) const;

private:
    /// Sets the strategy of memories that have none yet; the first name counts.
    void TakeNamedStrategies(const BackendRegistry& registry, const std::vector<BackendOptions>& options);

    std::vector<MemorySpace> m_Spaces;
    std::map<std::string, MemoryId> m_ByBackend; ///< backends on devices only
};

} // namespace tenon
