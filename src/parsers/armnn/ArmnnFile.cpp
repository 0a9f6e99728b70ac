// SPDX-License-Identifier: Apache-2.0
// ArmnnFile: see ArmnnFile.hpp.
#include "parsers/armnn/ArmnnFile.hpp"

#include "parsers/armnn/ReadNetwork.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <armnn_generated.h>
#include <bit>
#include <utility>

namespace tenon::arm_nn
{

static_assert(std::endian::native == std::endian::little, "constants of a .armnn file are used in place");

namespace
{

/// The root, if the bytes are a buffer of this structure, whatever identifier they have; else null.
const schema::SerializedGraph* Verify(Span<const uint8_t> bytes, const Limits& limits)
{
    // The tables of a file nest no deeper: graph, layer and its kind, its parameters or base, lists in them, a tensor.
    constexpr unsigned int maxDepth = 16;
    // Each table takes four bytes and four more to refer to it. A layer has about three for each slot and constant.
    constexpr uint64_t tablesPerLayer = 128;
    constexpr uint64_t maxTables = 1ULL << 31;
    const uint64_t tables = std::min(
        {uint64_t{bytes.size()} / 4, (std::min(limits.m_MaxLayers, maxTables) + 1) * tablesPerLayer, maxTables});
    if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    {
        return nullptr;
    }
    flatbuffers::Verifier verifier(bytes.data(), bytes.size(), maxDepth, static_cast<flatbuffers::uoffset_t>(tables));
    return verifier.VerifyBuffer<schema::SerializedGraph>(nullptr)
               ? flatbuffers::GetRoot<schema::SerializedGraph>(bytes.data())
               : nullptr;
}

bool HasIdentifier(Span<const uint8_t> bytes)
{
    constexpr size_t identifierEnd = 8;
    return bytes.size() >= identifierEnd && schema::SerializedGraphBufferHasIdentifier(bytes.data());
}

bool HasLayers(const schema::SerializedGraph& graph)
{
    return graph.layers() != nullptr && graph.layers()->size() != 0;
}

} // namespace

bool IsArmnnFile(Span<const uint8_t> bytes, const Limits& limits)
{
    if (HasIdentifier(bytes))
    {
        return true;
    }
    const schema::SerializedGraph* const root = Verify(bytes, limits);
    return root != nullptr && HasLayers(*root);
}

ArmnnFile::ArmnnFile(ModelBytes bytes, const Limits& limits)
    : m_Owner(std::move(bytes.m_Owner)), m_Root(Verify(bytes.m_Bytes, limits)), m_Limits(limits),
      m_Budget(bytes.m_Bytes.size())
{
    if (m_Root == nullptr)
    {
        throw ParseException(fmt::format("the file is corrupt or cut short: an offset in its {} bytes leads outside, "
                                         "or it has more tables than the limits allow (Limits::m_MaxLayers)",
                                         bytes.m_Bytes.size()));
    }
    if (!HasLayers(*m_Root))
    {
        throw ParseException("the file has no layers");
    }
}

std::string ArmnnFile::Text(const flatbuffers::String* text)
{
    if (text == nullptr)
    {
        return {};
    }
    m_Budget.Charge(text->size());
    return text->str();
}

} // namespace tenon::arm_nn
