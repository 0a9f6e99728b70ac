// SPDX-License-Identifier: Apache-2.0
// FileWriter: a .tenon file under construction: its flatbuffer, and the ranges of memory that become its data section.
// Filled by GraphWriter and the writers of attributes and tensor infos, finished by Serializer.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tenon_generated.h>
#include <utility>
#include <vector>

namespace tenon::serializer
{

class FileWriter
{
public:
    flatbuffers::FlatBufferBuilder& Builder() { return m_Builder; }
    /// Adds a text; equal texts are stored once.
    flatbuffers::Offset<flatbuffers::String> AddText(const std::string& text)
    {
        return m_Builder.CreateSharedString(text);
    }
    /// Adds a text; null for an empty one.
    flatbuffers::Offset<flatbuffers::String> AddOptionalText(const std::string& text)
    {
        return text.empty() ? flatbuffers::Offset<flatbuffers::String>() : AddText(text);
    }
    /// The index of a buffer with these bytes, which must stay until Finish. The same memory is stored once.
    uint32_t AddBuffer(const void* data, size_t bytes);
    /// The same for bytes that the writer keeps itself.
    uint32_t AddOwnedBuffer(std::vector<uint8_t> bytes)
    {
        const std::vector<uint8_t>& kept = m_Owned.emplace_back(std::move(bytes));
        return AddBuffer(kept.data(), kept.size());
    }
    /// The table for blocks with these scales, which is stored once; none until the caller has added it.
    flatbuffers::Offset<schema::Blocks>& BlocksOf(const float* scales) { return m_Blocks[scales]; }
    /// The whole file. `network` is complete except for version, buffers and data section.
    std::vector<uint8_t>
    Finish(bool isOptimized, flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<schema::Graph>>> graphs,
           flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<schema::BackendOptions>>> options,
           flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<schema::Attribute>>> optimizerOptions);

private:
    flatbuffers::FlatBufferBuilder m_Builder;
    std::vector<schema::Buffer> m_Buffers;
    std::vector<const void*> m_Memory; ///< address of each buffer
    std::deque<std::vector<uint8_t>> m_Owned;
    std::map<std::pair<const void*, size_t>, uint32_t> m_BufferIndex;
    std::map<const float*, flatbuffers::Offset<schema::Blocks>> m_Blocks;
    size_t m_DataBytes = 0;
};

} // namespace tenon::serializer
