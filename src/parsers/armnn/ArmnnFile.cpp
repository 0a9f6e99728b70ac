// SPDX-License-Identifier: Apache-2.0
// ArmnnFile: see ArmnnFile.hpp.
#include "parsers/armnn/ArmnnFile.hpp"

#include "formats/ArmnnStructure.hpp"

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

/// The root of bytes that have the structure. Throws ParseException for others.
const schema::SerializedGraph& Verify(Span<const uint8_t> bytes, const Limits& limits)
{
    // Each table takes four bytes and four more to refer to it. A layer has about three for each slot and constant.
    constexpr uint64_t tablesPerLayer = 128;
    constexpr uint64_t maxLayers = 1ULL << 32;
    if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    {
        throw ParseException(fmt::format("the file has {} bytes; files of Arm NN, which are of FlatBuffers, have less "
                                         "than {}",
                                         bytes.size(), uint64_t{FLATBUFFERS_MAX_BUFFER_SIZE}));
    }
    const uint64_t tables = (std::min(limits.m_MaxLayers, maxLayers) + 1) * tablesPerLayer;
    if (!formats::HasArmnnStructure({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, tables))
    {
        throw ParseException(fmt::format("the file is corrupt or cut short: an offset in its {} bytes leads outside, "
                                         "or it has more tables than the limits allow (Limits::m_MaxLayers)",
                                         bytes.size()));
    }
    return *flatbuffers::GetRoot<schema::SerializedGraph>(bytes.data());
}

} // namespace

ArmnnFile::ArmnnFile(ModelBytes bytes, const Limits& limits)
    : m_Owner(std::move(bytes.m_Owner)), m_Root(Verify(bytes.m_Bytes, limits)), m_Limits(limits),
      m_Budget(bytes.m_Bytes.size())
{
    if (m_Root.layers() == nullptr || m_Root.layers()->size() == 0)
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
