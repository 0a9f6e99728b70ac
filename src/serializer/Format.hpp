// SPDX-License-Identifier: Apache-2.0
// Constants of the .tenon format that its schema, tenon.fbs, cannot hold.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::serializer
{

/// The version that this library writes. It reads every file of the same major version if it knows the names in it.
constexpr uint16_t FormatMajor = 1;
constexpr uint16_t FormatMinor = 0;

/// Connection::layer of an input that is not connected.
constexpr uint32_t NotConnected = 0xFFFFFFFF;

/// Assignment::blob of a layer without a blob.
constexpr uint32_t NoBuffer = 0xFFFFFFFF;

/// The alignment, in bytes, of the data section and of each buffer in it. It is the size of a cache line, more than any
/// element type needs.
constexpr size_t DataAlignment = 64;

} // namespace tenon::serializer
