// SPDX-License-Identifier: Apache-2.0
// See Thumbnail.hpp.
#include "tools/evaluate/Thumbnail.hpp"

#include "tools/common/Image.hpp"

#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace tenon::tools::evaluate
{
namespace
{

constexpr unsigned int MaxSide = 240;
constexpr int Quality = 80;

std::string EncodeBase64(std::string_view bytes)
{
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (size_t at = 0; at < bytes.size(); at += 3)
    {
        const std::string_view part = bytes.substr(at, 3);
        uint32_t bits = 0;
        for (size_t i = 0; i < 3; ++i)
        {
            bits = bits << 8 | (i < part.size() ? static_cast<unsigned char>(part[i]) : 0U);
        }
        for (size_t i = 0; i < 4; ++i)
        {
            text += i <= part.size() ? digits[bits >> (18 - 6 * i) & 63U] : '=';
        }
    }
    return text;
}

void Append(void* text, void* data, int size)
{
    static_cast<std::string*>(text)->append(static_cast<const char*>(data), static_cast<size_t>(size));
}

/// The size of a picture whose longer side is at most MaxSide.
std::pair<unsigned int, unsigned int> Shrink(unsigned int width, unsigned int height)
{
    const unsigned int longer = std::max(width, height);
    const auto shrink = [&](unsigned int side)
    { return longer <= MaxSide ? side : std::max(1U, static_cast<unsigned int>(uint64_t{side} * MaxSide / longer)); };
    return {shrink(width), shrink(height)};
}

std::string DrawPng(const Picture& picture)
{
    std::string bytes;
    const auto width = static_cast<int>(picture.m_Width);
    stbi_write_png_to_func(Append, &bytes, width, static_cast<int>(picture.m_Height),
                           static_cast<int>(picture.m_Channels), picture.m_Pixels.data(),
                           width * static_cast<int>(picture.m_Channels));
    return "data:image/png;base64," + EncodeBase64(bytes);
}

/// Bit `bit` of a class is one of a colour's higher bits: each group of three bits gives one to each channel.
std::array<uint8_t, 3> ColourOf(unsigned int index)
{
    std::array<uint8_t, 3> colour = {};
    for (unsigned int bit = 0; bit < 8; ++bit)
    {
        const unsigned int shifted = (index >> bit & 1U) << (7 - bit / 3);
        colour[bit % 3] = static_cast<uint8_t>(colour[bit % 3] | shifted);
    }
    return colour;
}

} // namespace

std::string DrawPicture(std::string_view bytes)
{
    const Picture picture = DecodePicture(bytes, 3);
    const auto [width, height] = Shrink(picture.m_Width, picture.m_Height);
    if (width == picture.m_Width && height == picture.m_Height)
    {
        return DrawPng(picture);
    }
    const Picture small = ResizePicture(picture, width, height);
    std::string jpeg;
    stbi_write_jpg_to_func(Append, &jpeg, static_cast<int>(width), static_cast<int>(height), 3, small.m_Pixels.data(),
                           Quality);
    return "data:image/jpeg;base64," + EncodeBase64(jpeg);
}

std::string DrawMask(const Mask& mask)
{
    const auto [width, height] = Shrink(mask.m_Width, mask.m_Height);
    Picture picture{width, height, 3, {}};
    for (unsigned int y = 0; y < height; ++y)
    {
        for (unsigned int x = 0; x < width; ++x)
        {
            const size_t row = size_t{y} * mask.m_Height / height;
            const size_t column = size_t{x} * mask.m_Width / width;
            const std::array<uint8_t, 3> colour = ColourOf(mask.m_Classes[row * mask.m_Width + column]);
            picture.m_Pixels.insert(picture.m_Pixels.end(), colour.begin(), colour.end());
        }
    }
    return DrawPng(picture);
}

} // namespace tenon::tools::evaluate
