// SPDX-License-Identifier: Apache-2.0
// See Inflate.hpp. stb_image inflates pictures in any case, and its source is compiled for every system.
#include "tools/common/Inflate.hpp"

#include "tools/common/Errors.hpp"

#include <climits>
#include <fmt/format.h>
#include <stb/stb_image.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>

namespace tenon::tools
{
namespace
{

/// stb_image refuses codes in the last bytes, where .png files have a checksum.
constexpr size_t PaddingBytes = 4;

/// The number of bytes written; -1 for damaged data and for more than fit.
int InflateInto(std::vector<uint8_t>& target, const std::vector<uint8_t>& padded)
{
    try
    {
        return stbi_zlib_decode_noheader_buffer(reinterpret_cast<char*>(target.data()), static_cast<int>(target.size()),
                                                reinterpret_cast<const char*>(padded.data()),
                                                static_cast<int>(padded.size()));
    }
    catch (const std::runtime_error&) // a failed assertion
    {
        return -1;
    }
}

} // namespace

std::vector<uint8_t> Inflate(Span<const uint8_t> deflated, uint64_t size)
{
    if (size > INT_MAX || deflated.size() > INT_MAX - PaddingBytes)
    {
        throw InputError(
            "compressed data of 2 GiB and more are not read; store them uncompressed, as numpy.savez does");
    }
    std::vector<uint8_t> padded(deflated.size() + PaddingBytes);
    std::copy(deflated.begin(), deflated.end(), padded.begin());
    std::vector<uint8_t> bytes(std::max<size_t>(static_cast<size_t>(size), 1)); // no null pointer for an empty file
    const int count = InflateInto(bytes, padded);
    bytes.resize(static_cast<size_t>(size));
    if (count < 0 || static_cast<uint64_t>(count) != size)
    {
        throw InputError(fmt::format("its compressed data are damaged, or are not the {} bytes that it says", size));
    }
    return bytes;
}

} // namespace tenon::tools
