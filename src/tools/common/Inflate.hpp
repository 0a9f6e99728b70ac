// SPDX-License-Identifier: Apache-2.0
// Data that are compressed by deflate (RFC 1951). Npz.cpp uses it.
#pragma once

#include <tenon/Span.hpp>

#include <cstdint>
#include <vector>

namespace tenon::tools
{

/// The `size` bytes of which `deflated` were made. Throws InputError for damaged data, for data of another size, and
/// for more than stb_image, which does it, can count (2 GiB).
std::vector<uint8_t> Inflate(Span<const uint8_t> deflated, uint64_t size);

} // namespace tenon::tools
