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

    /// One whose id is there already is dropped. Throws NullPointerException for null.
    void RegisterFactory(std::unique_ptr<ITensorHandleFactory> factory);
    /// One that is there already is not added again. Throws NullPointerException for null.
    void RegisterMemoryManager(std::shared_ptr<IMemoryManager> memoryManager);

    /// Null where there is none of that id.
    ITensorHandleFactory* GetFactory(ITensorHandleFactory::FactoryId id) const;
    /// The same, where it imports memory of that source.
    ITensorHandleFactory* GetFactory(ITensorHandleFactory::FactoryId id, MemorySource memSource) const;

    void RegisterCopyAndImportFactoryPair(ITensorHandleFactory::FactoryId copyFactoryId,
                                          ITensorHandleFactory::FactoryId importFactoryId);
    /// Empty where none was registered.
    ITensorHandleFactory::FactoryId GetMatchingImportFactoryId(ITensorHandleFactory::FactoryId copyFactoryId);

    /// Of all memory managers, or of none where one throws.
    void AquireMemory();
    /// Of all memory managers, also where one throws; then the first exception is thrown again.
    void ReleaseMemory();

    std::vector<std::shared_ptr<IMemoryManager>>& GetMemoryManagers() { return m_MemoryManagers; }

private:
    std::vector<std::unique_ptr<ITensorHandleFactory>> m_Factories;
    std::vector<std::shared_ptr<IMemoryManager>> m_MemoryManagers;
    CopyAndImportFactoryPairs m_ImportFactories;
};

} // namespace tenon
