// SPDX-License-Identifier: Apache-2.0
// Packs weights, keeps them, and writes a file of them.
#include "backends/common/PackedFormat.hpp"
#include "common/ReplaceFile.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace tenon::backends
{

namespace
{

/// The packed blocks of each layer. They are sorted, so that the same network always gives the same file.
using PackedLayers = std::map<PackedKey, std::vector<PackedBlock>>;

class RecordingStore final : public PackedStore
{
public:
    RecordingStore(std::mutex& mutex, PackedLayers& layers, const Kernel& kernel, const LayerView& layer)
        : m_Lock(mutex), m_Layers(layers), m_Kernel(kernel), m_Layer(layer)
    {
    }

    PackedBlock GetBlock(size_t bytes, FunctionRef<void(std::byte*)> fill) override
    {
        if (bytes == 0)
        {
            return MakeBlock(bytes, fill);
        }
        if (m_Blocks == nullptr)
        {
            m_Blocks = &m_Layers[MakePackedKey(m_Kernel, m_Layer)];
        }
        if (m_Next == m_Blocks->size()) // else an equal layer was packed before
        {
            m_Blocks->push_back(MakeBlock(bytes, fill));
        }
        return (*m_Blocks)[m_Next++];
    }

private:
    std::unique_lock<std::mutex> m_Lock;
    PackedLayers& m_Layers;
    const Kernel& m_Kernel;
    const LayerView& m_Layer;
    std::vector<PackedBlock>* m_Blocks = nullptr;
    size_t m_Next = 0;
};

/// Cut where it is too long for the header: texts that differ there only are compared for equality in vain, and
/// refused.
void SetText(char (&field)[PackedHeader::TextBytes], const std::string& text)
{
    std::copy_n(text.begin(), std::min(text.size(), sizeof(field) - 1), field);
}

class PackedWriter final : public PackedArchive
{
public:
    PackedWriter(const std::string& path, PackedFor packedFor) : m_Path(path), m_For(std::move(packedFor)) {}

    std::unique_ptr<PackedStore> OpenStore(const Kernel& kernel, const LayerView& layer) override
    {
        return std::make_unique<RecordingStore>(m_Mutex, m_Layers, kernel, layer);
    }

    void Finish() override
    {
        PackedHeader header;
        SetText(header.m_Version, m_For.m_Version);
        SetText(header.m_Instructions, m_For.m_Instructions);
        SetText(header.m_Options, m_For.m_Options);
        std::vector<PackedEntry> entries;
        std::vector<std::span<const std::byte>> blocks;
        for (const auto& [key, layerBlocks] : m_Layers)
        {
            for (const PackedBlock& block : layerBlocks)
            {
                entries.push_back({key, block.Bytes(), GetChecksum(block.Data(), block.Bytes())});
                blocks.emplace_back(block.Data(), block.Bytes());
            }
        }
        header.m_NumBlocks = entries.size();
        std::vector<std::byte> start(sizeof(header) + entries.size() * sizeof(PackedEntry));
        header.m_FileBytes = start.size();
        for (const auto& block : blocks)
        {
            header.m_FileBytes = RoundUpToBlock(header.m_FileBytes) + block.size();
        }
        std::copy_n(reinterpret_cast<const std::byte*>(entries.data()), entries.size() * sizeof(PackedEntry),
                    start.data() + sizeof(header));
        std::memcpy(start.data(), &header, sizeof(header));
        header.m_Checksum = GetDirectoryChecksum(start.data(), start.size());
        std::memcpy(start.data(), &header, sizeof(header));
        Write(start, blocks);
        m_Layers.clear(); // the layers keep what they need
    }

private:
    void Write(const std::vector<std::byte>& start, const std::vector<std::span<const std::byte>>& blocks) const
    {
        static constexpr std::byte zeros[ArenaAlignment] = {};
        std::vector<std::span<const std::byte>> parts = {start};
        uint64_t offset = start.size();
        for (const auto& block : blocks)
        {
            parts.emplace_back(zeros, static_cast<size_t>(RoundUpToBlock(offset) - offset));
            parts.push_back(block);
            offset = RoundUpToBlock(offset) + block.size();
        }
        ReplaceFile(m_Path, parts);
    }

    std::string m_Path;
    PackedFor m_For;
    std::mutex m_Mutex; ///< of m_Layers: one store at a time
    PackedLayers m_Layers;
};

} // namespace

std::shared_ptr<PackedArchive> MakePackedWriter(const std::string& path, PackedFor packedFor)
{
    return std::make_shared<PackedWriter>(path, std::move(packedFor));
}

} // namespace tenon::backends
