// SPDX-License-Identifier: Apache-2.0
// Pictures for tests, as the bytes of their files.
#pragma once

#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::tools::test
{

/// The `context` is a string, which gets more bytes.
inline void AppendToString(void* context, void* data, int size)
{
    static_cast<std::string*>(context)->append(static_cast<const char*>(data), static_cast<size_t>(size));
}

inline std::string Png(int width, int height, int channels, const std::vector<uint8_t>& pixels)
{
    std::string bytes;
    stbi_write_png_to_func(AppendToString, &bytes, width, height, channels, pixels.data(), width * channels);
    return bytes;
}

} // namespace tenon::tools::test
