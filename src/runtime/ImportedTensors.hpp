// SPDX-License-Identifier: Apache-2.0
// ImportedTensors: memory of the caller that a loaded network keeps by id, for IRuntime::ImportInputs/ImportOutputs and
// ClearImportedInputs/ClearImportedOutputs.
#pragma once

#include "runtime/MemorySpaces.hpp"

#include <tenon/Exceptions.hpp>

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tenon
{

/// Memory of the caller that devices have imported.
struct ImportedMemory
{
    const void* m_Host = nullptr;
    size_t m_Bytes = 0;
    std::vector<std::unique_ptr<IDeviceMemory>> m_Devices; ///< by MemoryId; null where it was not imported

    /// The device's import of exactly this memory; null if there is none.
    IDeviceMemory* Find(MemoryId memory, const void* host, size_t bytes) const
    {
        return host == m_Host && bytes == m_Bytes ? m_Devices[memory].get() : nullptr;
    }
};

template <typename TensorType>
struct ImportedTensor
{
    LayerBindingId m_Id;
    TensorType m_Tensor;
    ImportedMemory m_Memory;
};

/// Tensors by their ids. Not thread-safe: LoadedNetwork has the lock.
template <typename TensorType>
class ImportTable
{
public:
    using Tensors = std::vector<std::pair<LayerBindingId, TensorType>>;
    using Entry = std::shared_ptr<const ImportedTensor<TensorType>>;

    /// Returns the ids.
    std::vector<unsigned int> Add(const std::vector<Entry>& entries)
    {
        std::vector<unsigned int> ids;
        for (const Entry& entry : entries)
        {
            ids.push_back(m_NextId);
            m_Entries.emplace(m_NextId, entry);
            ++m_NextId;
        }
        return ids;
    }

    /// Throws InvalidArgumentException for an unknown id.
    std::vector<Entry> Get(const std::vector<unsigned int>& ids, const char* kind) const
    {
        std::vector<Entry> entries;
        for (const unsigned int id : ids)
        {
            const auto found = m_Entries.find(id);
            if (found == m_Entries.end())
            {
                throw InvalidArgumentException(std::string("there is no imported ") + kind + " with id " +
                                               std::to_string(id));
            }
            entries.push_back(found->second);
        }
        return entries;
    }

    /// Removes and returns all of them or, if an id is unknown, none; throws as Get() does.
    std::vector<Entry> Remove(const std::vector<unsigned int>& ids, const char* kind)
    {
        std::vector<Entry> removed = Get(ids, kind);
        for (const unsigned int id : ids)
        {
            m_Entries.erase(id);
        }
        return removed;
    }

    /// The tensors of `given`, followed by the imported ones.
    static Tensors Merge(const Tensors& given, const std::vector<Entry>& imported)
    {
        Tensors merged = given;
        for (const Entry& entry : imported)
        {
            merged.emplace_back(entry->m_Id, entry->m_Tensor);
        }
        return merged;
    }

private:
    std::unordered_map<unsigned int, Entry> m_Entries;
    unsigned int m_NextId = 0; ///< no id is given out twice
};

} // namespace tenon
