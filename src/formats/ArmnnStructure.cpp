// SPDX-License-Identifier: Apache-2.0
// See ArmnnStructure.hpp.
#include "formats/ArmnnStructure.hpp"

#include <algorithm>
#include <armnn_generated.h>

namespace tenon::formats
{

namespace
{

namespace schema = arm_nn::schema;

const uint8_t* Data(std::string_view bytes)
{
    return reinterpret_cast<const uint8_t*>(bytes.data());
}

} // namespace

bool HasArmnnStructure(std::string_view bytes, uint64_t maxTables)
{
    // The tables of a file do not nest deeper than this: graph, layer and its kind, its parameters or base, lists in
    // them, a tensor.
    constexpr unsigned int maxDepth = 16;
    constexpr uint64_t minTableBytes = 4;
    if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    {
        return false;
    }
    const uint64_t tables = std::min(maxTables, bytes.size() / minTableBytes);
    flatbuffers::Verifier verifier(Data(bytes), bytes.size(), maxDepth, static_cast<flatbuffers::uoffset_t>(tables));
    return verifier.VerifyBuffer<schema::SerializedGraph>(nullptr);
}

bool IsArmnn(std::string_view bytes)
{
    constexpr size_t identifierEnd = 8;
    if (bytes.size() >= identifierEnd && schema::SerializedGraphBufferHasIdentifier(bytes.data()))
    {
        return true;
    }
    if (!HasArmnnStructure(bytes))
    {
        return false;
    }
    const auto* const layers = flatbuffers::GetRoot<schema::SerializedGraph>(bytes.data())->layers();
    return layers != nullptr && layers->size() != 0;
}

bool MayBeArmnn(std::string_view start)
{
    // A builder of FlatBuffers writes from the end to the start, and the root last: only the root's vtable is between
    // the file's start and the root.
    constexpr uint32_t farthest = 64;
    uint32_t root = 0;
    if (start.size() <= sizeof(root))
    {
        return false;
    }
    root = flatbuffers::ReadScalar<uint32_t>(start.data());
    return root >= sizeof(root) && root <= farthest && root % sizeof(root) == 0;
}

} // namespace tenon::formats
