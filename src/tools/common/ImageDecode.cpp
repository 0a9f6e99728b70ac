// SPDX-License-Identifier: Apache-2.0
// The formats of pictures: told by their first bytes, measured before memory is taken, and decoded by stb_image. See
// Image.hpp.
#include "tools/common/Errors.hpp"
#include "tools/common/Image.hpp"

#include <climits>
#include <fmt/format.h>
#include <stb/stb_image.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <string>

namespace tenon::tools
{
namespace
{

/// 256 MB once decoded to four channels; more than any camera's picture.
constexpr int64_t MaxPixels = int64_t{1} << 26;
/// What stb_image is built for, see StbImage.cpp.
constexpr int64_t MaxSide = 65535;

struct Format
{
    const char* m_Name;
    std::string_view m_Start;
};

constexpr Format Png = {"PNG", "\x89PNG\r\n\x1a\n"};
constexpr Format Jpeg = {"JPEG", "\xFF\xD8\xFF"};
constexpr Format Bmp = {"BMP", "BM"};

/// Null for none.
const Format* FindFormat(std::string_view start)
{
    for (const Format* format : {&Png, &Jpeg, &Bmp})
    {
        if (start.substr(0, format->m_Start.size()) == format->m_Start)
        {
            return format;
        }
    }
    return nullptr;
}

const Format& GetFormat(std::string_view bytes)
{
    const Format* const format = FindFormat(bytes);
    if (format == nullptr)
    {
        throw InputError("it is no PNG, JPEG or BMP");
    }
    if (bytes.size() > INT_MAX)
    {
        throw InputError("the picture's file is too large");
    }
    return *format;
}

/// What stb_image throws is from assertions, see StbImage.cpp.
template <typename Call>
auto CallStb(const Format& format, Call call)
{
    try
    {
        return call();
    }
    catch (const std::bad_alloc&)
    {
        throw;
    }
    catch (const std::exception& error)
    {
        throw InputError(fmt::format("it cannot be read as {}: {}", format.m_Name, error.what()));
    }
}

uint32_t ReadNumber(std::string_view bytes, size_t at, bool isBigEndian)
{
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i)
    {
        value = value << 8 | static_cast<unsigned char>(bytes[at + (isBigEndian ? i : 3 - i)]);
    }
    return value;
}

/// Width and height.
using Size = std::array<int64_t, 2>;

/// As the header has it. stb_image only says of a size that it does not read that it does not know the picture.
std::optional<Size> ReadSize(const Format& format, std::string_view bytes)
{
    constexpr size_t pngNumbers = 16; // behind the signature and the first chunk's length and name
    constexpr size_t bmpHeader = 14;
    constexpr size_t bmpNumbers = 18;
    if (&format == &Png && bytes.size() >= pngNumbers + 8 && bytes.substr(12, 4) == "IHDR")
    {
        return Size{ReadNumber(bytes, pngNumbers, true), ReadNumber(bytes, pngNumbers + 4, true)};
    }
    if (&format == &Bmp && bytes.size() >= bmpNumbers + 8)
    {
        const uint32_t width = ReadNumber(bytes, bmpNumbers, false);
        if (ReadNumber(bytes, bmpHeader, false) == 12) // the oldest header has numbers of 16 bits
        {
            return Size{width & 0xFFFFU, width >> 16};
        }
        // A negative height: the rows are from top to bottom.
        const auto height = static_cast<int32_t>(ReadNumber(bytes, bmpNumbers + 4, false));
        return Size{static_cast<int32_t>(width), std::abs(int64_t{height})};
    }
    int width = 0;
    int height = 0;
    int channels = 0;
    const bool isKnown =
        CallStb(format,
                [&]
                {
                    return stbi_info_from_memory(reinterpret_cast<const stbi_uc*>(bytes.data()),
                                                 static_cast<int>(bytes.size()), &width, &height, &channels) != 0;
                });
    return isKnown ? std::optional(Size{width, height}) : std::nullopt;
}

/// Asked before decoding, which takes memory by what the header claims.
std::optional<PictureSize> FindSize(const Format& format, std::string_view bytes)
{
    const std::optional<Size> size = ReadSize(format, bytes);
    if (!size)
    {
        return std::nullopt;
    }
    const auto [width, height] = *size;
    if (width < 1 || height < 1)
    {
        throw InputError(
            fmt::format("the picture's header says {}x{} pixels; there must be one at least", width, height));
    }
    if (width > MaxSide || height > MaxSide || width * height > MaxPixels)
    {
        throw InputError(fmt::format("the picture has {}x{} pixels; at most {} are read, and at most {} a side", width,
                                     height, MaxPixels, MaxSide));
    }
    return PictureSize{static_cast<unsigned int>(width), static_cast<unsigned int>(height)};
}

/// Why decoding failed. Throws std::bad_alloc if that is why.
std::string GetReason()
{
    const char* const given = stbi_failure_reason();
    const std::string_view reason = given != nullptr ? given : "";
    if (reason == "outofmem")
    {
        throw std::bad_alloc();
    }
    // Decoders that fail without a reason leave what a test for another format said. The shortest texts are names of a
    // PNG's chunks that a zero byte ends.
    const bool isOwn = reason.size() > 4 && reason != "bad png sig" && reason != "unknown image type";
    return isOwn ? std::string(reason) : "it is corrupt, or of a kind that is not known";
}

} // namespace

bool IsPicture(std::string_view start)
{
    return FindFormat(start) != nullptr;
}

PictureSize GetPictureSize(std::string_view bytes)
{
    if (const std::optional<PictureSize> size = FindSize(GetFormat(bytes), bytes))
    {
        return *size;
    }
    const Picture picture = DecodePicture(bytes, 1); // says what is wrong
    return {picture.m_Width, picture.m_Height};
}

Picture DecodePicture(std::string_view bytes, unsigned int channels)
{
    const Format& format = GetFormat(bytes);
    FindSize(format, bytes);
    int width = 0;
    int height = 0;
    int ownChannels = 0;
    const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
        CallStb(format,
                [&]
                {
                    return stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(bytes.data()),
                                                 static_cast<int>(bytes.size()), &width, &height, &ownChannels,
                                                 static_cast<int>(channels));
                }),
        stbi_image_free);
    if (!pixels || width <= 0 || height <= 0)
    {
        throw InputError(fmt::format("it cannot be read as {}: {}", format.m_Name, GetReason()));
    }

    Picture picture;
    picture.m_Width = static_cast<unsigned int>(width);
    picture.m_Height = static_cast<unsigned int>(height);
    picture.m_Channels = channels;
    picture.m_Pixels.assign(pixels.get(), pixels.get() + size_t{picture.m_Width} * picture.m_Height * channels);
    return picture;
}

} // namespace tenon::tools
