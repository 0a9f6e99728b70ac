// SPDX-License-Identifier: Apache-2.0
// FileReader: see FileReader.hpp.
#include "serializer/FileReader.hpp"

#include "serializer/Format.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace tenon::serializer
{

static_assert(std::endian::native == std::endian::little, "constants of a .tenon file are used in place");

namespace
{

/// The tables of a file nest no deeper: network, graph, layer, attribute, record, attribute, shape; one level each for
/// a layer's other parts.
constexpr unsigned int MaxTableDepth = 16;

void CheckVersion(Span<const uint8_t> bytes, flatbuffers::Verifier& verifier)
{
    if (!FileReader::HasIdentifier(bytes))
    {
        throw ParseException(fmt::format("not a .tenon file: no identifier '{}' at offset 4 of {} bytes; and no .armnn "
                                         "file, or one that is corrupt or cut short",
                                         schema::NetworkIdentifier(), bytes.size()));
    }
    if (!verifier.VerifyBuffer<schema::Header>(schema::NetworkIdentifier()))
    {
        throw ParseException(fmt::format("the file of {} bytes is corrupt or cut short", bytes.size()));
    }
    const auto* header = flatbuffers::GetRoot<schema::Header>(bytes.data());
    if (header->major() != FormatMajor)
    {
        throw ParseException(fmt::format("the file has format version {}.{}; this library reads version {}{}",
                                         header->major(), header->minor(), FormatMajor,
                                         header->major() > FormatMajor ? ", a newer one is needed" : ""));
    }
}

} // namespace

FileReader::FileReader(ModelBytes bytes, const Limits& limits)
    : m_Owner(std::move(bytes.m_Owner)), m_Bytes(bytes.m_Bytes), m_Limits(limits), m_Budget(m_Bytes.size())
{
    // Each table takes four bytes and four more to refer to it. A layer has about four for each parameter and two for
    // each tensor. The data section lies behind the flatbuffer, which itself is below 2 GiB.
    constexpr uint64_t tablesPerLayer = 128;
    constexpr uint64_t maxTables = 1ULL << 31;
    const uint64_t tables = std::min(
        {uint64_t{m_Bytes.size()} / 4, (std::min(limits.m_MaxLayers, maxTables) + 1) * tablesPerLayer, maxTables});
    constexpr size_t maxFlatBuffer = FLATBUFFERS_MAX_BUFFER_SIZE - 1;
    flatbuffers::Verifier verifier(m_Bytes.data(), std::min(m_Bytes.size(), maxFlatBuffer), MaxTableDepth,
                                   static_cast<flatbuffers::uoffset_t>(tables));
    CheckVersion(m_Bytes, verifier);
    if (!schema::VerifyNetworkBuffer(verifier))
    {
        throw ParseException(fmt::format("the file is corrupt or cut short: an offset in its {} bytes leads outside, "
                                         "or it has more tables than the limits allow (Limits::m_MaxLayers)",
                                         m_Bytes.size()));
    }
    m_Root = schema::GetNetwork(m_Bytes.data());
    const schema::DataSection& data = *m_Root->data();
    if (data.offset() > m_Bytes.size() || data.bytes() != m_Bytes.size() - data.offset())
    {
        throw ParseException(fmt::format("the file is cut short or has something behind its end: its data section of "
                                         "{} bytes at offset {} does not end where its {} bytes do",
                                         data.bytes(), data.offset(), m_Bytes.size()));
    }
}

bool FileReader::HasIdentifier(Span<const uint8_t> bytes)
{
    constexpr size_t identifierEnd = 8;
    return bytes.size() >= identifierEnd && schema::NetworkBufferHasIdentifier(bytes.data());
}

Span<const uint8_t> FileReader::Buffer(uint32_t index) const
{
    const auto* buffers = m_Root->buffers();
    const size_t count = buffers != nullptr ? buffers->size() : 0;
    if (index >= count)
    {
        throw ParseException(fmt::format("buffer {} does not exist: the file has {}", index, count));
    }
    const schema::Buffer& buffer = *Aligned(*buffers).Get(index);
    const schema::DataSection& data = *m_Root->data();
    if (buffer.offset() > data.bytes() || buffer.bytes() > data.bytes() - buffer.offset())
    {
        throw ParseException(fmt::format("buffer {} of {} bytes at offset {} lies outside of the data section of {} "
                                         "bytes",
                                         index, buffer.bytes(), buffer.offset(), data.bytes()));
    }
    const uint8_t* start = m_Bytes.data() + data.offset() + buffer.offset();
    if (reinterpret_cast<uintptr_t>(start) % DataAlignment != 0)
    {
        throw ParseException(fmt::format("buffer {} does not start at a multiple of {} bytes", index, DataAlignment));
    }
    return {start, static_cast<size_t>(buffer.bytes())};
}

void FileReader::CheckAlignment(const void* list)
{
    if (reinterpret_cast<uintptr_t>(list) % sizeof(uint64_t) != 0)
    {
        throw ParseException("the file is corrupt: a list of 8-byte elements does not lie on a multiple of 8 bytes");
    }
}

std::string FileReader::Text(const flatbuffers::String* text)
{
    if (text == nullptr)
    {
        return {};
    }
    m_Budget.Charge(text->size());
    return text->str();
}

std::string FileReader::VersionText() const
{
    return fmt::format("(the file has format version {}.{}, this library knows {}.{})", m_Root->major(),
                       m_Root->minor(), FormatMajor, FormatMinor);
}

} // namespace tenon::serializer
