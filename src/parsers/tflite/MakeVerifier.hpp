// SPDX-License-Identifier: Apache-2.0
// MakeVerifier: the bounds under which a flatbuffer of a model file is verified.
#pragma once

#include <tenon/Limits.hpp>
#include <tenon/Span.hpp>

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tenon::tflite
{

/// The number of tables that a flatbuffer may have at most.
constexpr uint64_t MaxTables = uint64_t{1} << 31;

/// A verifier of the flatbuffer at the start of `bytes`, which itself is below 2 GiB; other data may follow. No more
/// tables are visited than the bytes have room for, so that tables that are referred to over and over take no time out
/// of proportion.
inline flatbuffers::Verifier MakeVerifier(Span<const uint8_t> bytes, const Limits& limits,
                                          uint64_t maxTables = MaxTables)
{
    constexpr size_t maxBytes = FLATBUFFERS_MAX_BUFFER_SIZE - 1;
    constexpr uint64_t bytesOfReference = 4;
    const uint64_t tables = std::min({uint64_t{bytes.size()} / bytesOfReference, maxTables, MaxTables});
    return {bytes.data(), std::min(bytes.size(), maxBytes), limits.m_MaxNesting,
            static_cast<flatbuffers::uoffset_t>(tables)};
}

} // namespace tenon::tflite
