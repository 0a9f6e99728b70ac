// SPDX-License-Identifier: Apache-2.0
// For backends written for Arm NN: the tensor handle factories and memory managers of a backend.
#pragma once

#include <tenon/Export.hpp>

#include <armnn/backends/IMemoryManager.hpp>
#include <armnn/backends/ITensorHandleFactory.hpp>
#include <map>
#include <memory>
#include <vector>

namespace tenon
{

using CopyAndImportFactoryPairs = std::map<ITensorHandleFactory::FactoryId, ITensorHandleFactory::FactoryId>;

/// Filled by IBackendInternal::RegisterTensorHandleFactories and CreateWorkloadFactory.
class TENON_API TensorHandleFactoryRegistry
{
public:
    TensorHandleFactoryRegistry();
    ~TensorHandleFactoryRegistry();
    TensorHandleFactoryRegistry(const TensorHandleFactoryRegistry&) = delete;
    TensorHandleFactoryRegistry& operator=(const TensorHandleFactoryRegistry&) = delete;

    /// A factory whose id is there already is dropped. Throws NullPointerException for null.
    void RegisterFactory(std::unique_ptr<ITensorHandleFactory> factory);
    /// A manager that is there already is not added again. Throws NullPointerException for null.
    void RegisterMemoryManager(std::shared_ptr<IMemoryManager> memoryManager);

    /// The factory of that id, or null.
    ITensorHandleFactory* GetFactory(ITensorHandleFactory::FactoryId id) const;
    /// The factory of that id, if it imports memory of that source, or null.
    ITensorHandleFactory* GetFactory(ITensorHandleFactory::FactoryId id, MemorySource memSource) const;

    void RegisterCopyAndImportFactoryPair(ITensorHandleFactory::FactoryId copyFactoryId,
                                          ITensorHandleFactory::FactoryId importFactoryId);
    /// The import factory of the pair; empty where none was registered.
    ITensorHandleFactory::FactoryId GetMatchingImportFactoryId(ITensorHandleFactory::FactoryId copyFactoryId);

    /// All memory managers acquire their memory, or none where one throws.
    void AquireMemory();
    /// All memory managers release their memory, also where one throws; then the first exception is thrown again.
    void ReleaseMemory();

    std::vector<std::shared_ptr<IMemoryManager>>& GetMemoryManagers() { return m_MemoryManagers; }

private:
    std::vector<std::unique_ptr<ITensorHandleFactory>> m_Factories;
    std::vector<std::shared_ptr<IMemoryManager>> m_MemoryManagers;
    CopyAndImportFactoryPairs m_ImportFactories;
};

} // namespace tenon
