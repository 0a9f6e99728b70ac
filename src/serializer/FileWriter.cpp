// SPDX-License-Identifier: Apache-2.0
// FileWriter: see FileWriter.hpp.
#include "serializer/FileWriter.hpp"

#include "serializer/Format.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tenon::serializer
{

static_assert(std::endian::native == std::endian::little, "values of constants are written as they are in memory");

namespace
{

size_t AlignUp(size_t bytes)
{
    return (bytes + DataAlignment - 1) / DataAlignment * DataAlignment;
}

} // namespace

uint32_t FileWriter::AddBuffer(const void* data, size_t bytes)
{
    const auto [found, isNew] = m_BufferIndex.emplace(std::pair(data, bytes), static_cast<uint32_t>(m_Buffers.size()));
    if (isNew)
    {
        m_DataBytes = AlignUp(m_DataBytes);
        m_Buffers.emplace_back(m_DataBytes, bytes);
        m_Memory.push_back(data);
        m_DataBytes += bytes;
    }
    return found->second;
}

std::vector<uint8_t>
FileWriter::Finish(bool isOptimized,
                   flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<schema::Graph>>> graphs,
                   flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<schema::BackendOptions>>> options,
                   flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<schema::Attribute>>> optimizerOptions)
{
    const auto buffers = m_Builder.CreateVectorOfStructs(m_Buffers);
    schema::DataSection data(0, m_DataBytes);
    schema::FinishNetworkBuffer(m_Builder,
                                schema::CreateNetwork(m_Builder, FormatMajor, FormatMinor, &data, isOptimized, graphs,
                                                      buffers, options, optimizerOptions));
    // Only now is it known how long the flatbuffer is.
    const size_t start = AlignUp(m_Builder.GetSize());
    schema::GetMutableNetwork(m_Builder.GetBufferPointer())->mutable_data()->mutate_offset(start);
    std::vector<uint8_t> file(start + m_DataBytes);
    std::memcpy(file.data(), m_Builder.GetBufferPointer(), m_Builder.GetSize());
    for (size_t i = 0; i < m_Buffers.size(); ++i)
    {
        const auto bytes = static_cast<size_t>(m_Buffers[i].bytes());
        if (bytes != 0) // else the memory may be null
        {
            std::memcpy(file.data() + start + m_Buffers[i].offset(), m_Memory[i], bytes);
        }
    }
    return file;
}

} // namespace tenon::serializer
