// SPDX-License-Identifier: Apache-2.0
// See Mask.hpp. stb_image gives colours in place of numbers of a palette, and grey values that fill 8 bits; the numbers
// follow from the file's header and palette.
#include "tools/evaluate/Mask.hpp"

#include "tools/common/Errors.hpp"
#include "tools/common/Image.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

namespace tenon::tools::evaluate
{
namespace
{

constexpr std::string_view PngStart = "\x89PNG\r\n\x1a\n";
constexpr size_t LengthBytes = 4;
constexpr size_t NameBytes = 4;
constexpr size_t ChecksumBytes = 4;
constexpr size_t BitDepthAt = 8; ///< in the header's data
constexpr size_t ColourTypeAt = 9;
constexpr size_t HeaderBytes = 13;
constexpr unsigned char Grey = 0;
constexpr unsigned char Palette = 3;

/// The data of the first chunk of this name before the pixels; empty if there is none.
std::string_view FindChunk(std::string_view png, std::string_view name)
{
    size_t at = PngStart.size();
    while (png.size() - at >= LengthBytes + NameBytes)
    {
        uint32_t length = 0;
        for (size_t i = 0; i < LengthBytes; ++i)
        {
            length = length << 8 | static_cast<unsigned char>(png[at + i]);
        }
        const std::string_view found = png.substr(at + LengthBytes, NameBytes);
        const std::string_view data = png.substr(at + LengthBytes + NameBytes);
        if (length > data.size() || found == "IDAT")
        {
            return {};
        }
        if (found == name)
        {
            return data.substr(0, length);
        }
        if (data.size() - length < ChecksumBytes)
        {
            return {};
        }
        at = png.size() - (data.size() - length - ChecksumBytes);
    }
    return {};
}

/// The number of each colour of a palette; -1 for a colour that is there twice.
std::map<uint32_t, int> NumberColours(std::string_view palette)
{
    std::map<uint32_t, int> numbers;
    for (size_t i = 0; i + 2 < palette.size(); i += 3)
    {
        const auto byte = [&](size_t channel) { return uint32_t{static_cast<unsigned char>(palette[i + channel])}; };
        const auto [place, isNew] = numbers.emplace(byte(0) << 16 | byte(1) << 8 | byte(2), static_cast<int>(i / 3));
        if (!isNew)
        {
            place->second = -1;
        }
    }
    return numbers;
}

Mask ReadPalette(std::string_view bytes, std::string_view palette)
{
    const Picture picture = DecodePicture(bytes, 3);
    const std::map<uint32_t, int> numbers = NumberColours(palette);
    Mask mask{picture.m_Width, picture.m_Height, {}};
    for (size_t i = 0; i < picture.m_Pixels.size(); i += 3)
    {
        const uint32_t colour =
            uint32_t{picture.m_Pixels[i]} << 16 | uint32_t{picture.m_Pixels[i + 1]} << 8 | picture.m_Pixels[i + 2];
        const auto found = numbers.find(colour);
        if (found == numbers.end() || found->second < 0)
        {
            throw InputError(
                fmt::format("the colour {:06x} is in its palette more than once, so its class is not known; "
                            "write the mask as grey values",
                            colour));
        }
        mask.m_Classes.push_back(static_cast<uint8_t>(found->second));
    }
    return mask;
}

} // namespace

Mask ReadMask(std::string_view bytes)
{
    const std::string_view header = bytes.starts_with(PngStart) ? FindChunk(bytes, "IHDR") : std::string_view();
    if (header.size() != HeaderBytes)
    {
        throw InputError("a mask must be a PNG file");
    }
    const auto bitDepth = static_cast<unsigned char>(header[BitDepthAt]);
    const auto colourType = static_cast<unsigned char>(header[ColourTypeAt]);
    if (colourType == Palette)
    {
        return ReadPalette(bytes, FindChunk(bytes, "PLTE"));
    }
    if (colourType != Grey || bitDepth > 8)
    {
        throw InputError("a mask must have grey values of at most 8 bits, or a palette, whose numbers are classes");
    }
    Picture picture = DecodePicture(bytes, 1);
    // Grey values of fewer bits come spread over 0..255.
    const unsigned int step = 255U / ((1U << bitDepth) - 1U);
    for (uint8_t& pixel : picture.m_Pixels)
    {
        pixel = static_cast<uint8_t>(pixel / step);
    }
    return {picture.m_Width, picture.m_Height, std::move(picture.m_Pixels)};
}

} // namespace tenon::tools::evaluate
