// SPDX-License-Identifier: Apache-2.0
// Reads files of packed weights. Nothing in a file is believed: sizes are compared with the file's before they are
// used, and bytes with their checksums.
#include "backends/common/PackedFormat.hpp"
#include "common/ErrorContext.hpp"
#include "common/MappedFile.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace tenon::backends
{

namespace
{

std::string Refusal(const std::string& path, const std::string& what)
{
    return fmt::format("the packed weights of '{}' {}; delete the file, or save it anew with the option "
                       "SaveCachedNetwork",
                       path, what);
}

/// A block of the file: its place and its properties.
struct Block
{
    uint64_t m_Offset;
    PackedEntry m_Entry;
};

class ReadStore final : public PackedStore
{
public:
    /// `archive` is the reader, which outlives the store.
    ReadStore(const class PackedReader& archive, const Kernel& kernel, const LayerView& layer)
        : m_Archive(archive), m_Kernel(kernel), m_Layer(layer)
    {
    }

    PackedBlock GetBlock(size_t bytes, FunctionRef<void(std::byte*)> fill) override;

private:
    const PackedReader& m_Archive;
    const Kernel& m_Kernel;
    const LayerView& m_Layer;
    bool m_HasLooked = false;
    size_t m_Next = 0; ///< of the blocks of the file
    size_t m_End = 0;
};

class PackedReader final : public PackedArchive
{
public:
    PackedReader(const std::string& path, const PackedFor& packedFor) : m_File(Open(path))
    {
        ReadHeader(packedFor);
        ReadDirectory();
    }

    std::unique_ptr<PackedStore> OpenStore(const Kernel& kernel, const LayerView& layer) override
    {
        return std::make_unique<ReadStore>(*this, kernel, layer);
    }
    void Finish() override {}

    /// The first block of a layer and the one past the last.
    std::pair<size_t, size_t> Find(const PackedKey& key) const
    {
        const auto found = m_Layers.find(key);
        return found == m_Layers.end() ? std::pair<size_t, size_t>() : found->second;
    }

    PackedBlock GetBlock(size_t index) const
    {
        const Block& block = m_Blocks[index];
        const std::byte* const data = m_File->Bytes().data() + block.m_Offset;
        const auto bytes = static_cast<size_t>(block.m_Entry.m_Bytes);
        if (GetChecksum(data, bytes) != block.m_Entry.m_Checksum)
        {
            RefuseDamage("are damaged");
        }
        return {std::shared_ptr<const std::byte>(m_File, data), bytes};
    }

    uint64_t GetBytes(size_t index) const { return m_Blocks[index].m_Entry.m_Bytes; }

    [[noreturn]] void RefuseOther(const std::string& what) const
    {
        throw InvalidArgumentException(Refusal(m_File->Path(), what));
    }

private:
    static std::shared_ptr<const MappedFile> Open(const std::string& path)
    {
        try
        {
            return MappedFile::Open(path, std::numeric_limits<uint64_t>::max());
        }
        catch (...)
        {
            RethrowWithContext("the packed weights of CachedNetworkFilePath, which SaveCachedNetwork writes");
        }
    }

    [[noreturn]] void RefuseDamage(const std::string& what) const
    {
        throw ParseException(Refusal(m_File->Path(), what));
    }

    void ReadHeader(const PackedFor& packedFor)
    {
        const auto file = m_File->Bytes();
        if (file.size() < sizeof(m_Header))
        {
            RefuseDamage(fmt::format("have {} bytes, fewer than their header", file.size()));
        }
        std::memcpy(&m_Header, file.data(), sizeof(m_Header));
        if (m_Header.m_Magic != PackedMagic)
        {
            RefuseDamage("do not start as such a file of this kind of machine does");
        }
        if (m_Header.m_Format != PackedFormatVersion || m_Header.m_AddressBytes != sizeof(void*))
        {
            RefuseOther(fmt::format("have format {} of {}-bit machines, and this is format {} of {}-bit ones",
                                    m_Header.m_Format, uint64_t{m_Header.m_AddressBytes} * 8, PackedFormatVersion,
                                    sizeof(void*) * 8));
        }
        if (m_Header.m_FileBytes != file.size())
        {
            RefuseDamage(fmt::format("have {} bytes instead of {}", file.size(), m_Header.m_FileBytes));
        }
        if (m_Header.m_NumBlocks > (file.size() - sizeof(m_Header)) / sizeof(PackedEntry))
        {
            RefuseDamage("have a directory that is larger than the file");
        }
        const size_t end = GetDirectoryEnd();
        if (GetDirectoryChecksum(file.data(), end) != m_Header.m_Checksum)
        {
            RefuseDamage("are damaged in their header or directory");
        }
        CheckText(m_Header.m_Version, packedFor.m_Version, "version");
        CheckText(m_Header.m_Instructions, packedFor.m_Instructions, "instructions");
        CheckText(m_Header.m_Options, packedFor.m_Options, "options");
    }

    size_t GetDirectoryEnd() const
    {
        return sizeof(m_Header) + static_cast<size_t>(m_Header.m_NumBlocks) * sizeof(PackedEntry);
    }

    void CheckText(const char (&text)[PackedHeader::TextBytes], const std::string& expected, const char* what) const
    {
        const std::string there(text, strnlen(text, sizeof(text)));
        if (there != expected)
        {
            RefuseOther(fmt::format("were saved for {} '{}', and this is '{}'", what, there, expected));
        }
    }

    /// The blocks lie one behind the other, so that none can lie outside of the file, or over another one.
    void ReadDirectory()
    {
        const auto file = m_File->Bytes();
        uint64_t end = GetDirectoryEnd();
        m_Blocks.resize(static_cast<size_t>(m_Header.m_NumBlocks));
        for (size_t i = 0; i < m_Blocks.size(); ++i)
        {
            Block& block = m_Blocks[i];
            std::memcpy(&block.m_Entry, file.data() + sizeof(m_Header) + i * sizeof(PackedEntry), sizeof(PackedEntry));
            block.m_Offset = RoundUpToBlock(end);
            if (block.m_Offset > file.size() || block.m_Entry.m_Bytes > file.size() - block.m_Offset)
            {
                RefuseDamage("have a block that is larger than the file");
            }
            end = block.m_Offset + block.m_Entry.m_Bytes;
            const bool isSameLayer = i != 0 && m_Blocks[i - 1].m_Entry.m_Key == block.m_Entry.m_Key;
            const auto [found, isNew] = m_Layers.try_emplace(block.m_Entry.m_Key, i, i + 1);
            if (!isNew && !isSameLayer)
            {
                RefuseDamage("have the blocks of a layer in several places");
            }
            found->second.second = i + 1;
        }
        if (end != file.size())
        {
            RefuseDamage("do not end where their last block does");
        }
    }

    std::shared_ptr<const MappedFile> m_File;
    PackedHeader m_Header;
    std::vector<Block> m_Blocks;
    std::map<PackedKey, std::pair<size_t, size_t>> m_Layers; ///< first block and past the last
};

PackedBlock ReadStore::GetBlock(size_t bytes, FunctionRef<void(std::byte*)> fill)
{
    if (bytes == 0)
    {
        return MakeBlock(bytes, fill);
    }
    if (!m_HasLooked) // not before: a layer without blocks has no need of a hash
    {
        m_HasLooked = true;
        std::tie(m_Next, m_End) = m_Archive.Find(MakePackedKey(m_Kernel, m_Layer));
        if (m_Next == m_End)
        {
            m_Archive.RefuseOther(fmt::format("are of another network: there is nothing that {} packed of such a layer "
                                              "with such constants",
                                              m_Kernel.m_Name));
        }
    }
    if (m_Next == m_End || m_Archive.GetBytes(m_Next) != bytes)
    {
        m_Archive.RefuseOther(fmt::format("have other blocks than {} asks for", m_Kernel.m_Name));
    }
    return m_Archive.GetBlock(m_Next++);
}

} // namespace

std::shared_ptr<PackedArchive> OpenPackedFile(const std::string& path, const PackedFor& packedFor)
{
    return std::make_shared<PackedReader>(path, packedFor);
}

} // namespace tenon::backends
