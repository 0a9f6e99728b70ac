// SPDX-License-Identifier: Apache-2.0
// Masks: PNG files whose pixels are classes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tenon::tools::evaluate
{

struct Mask
{
    unsigned int m_Width = 0;
    unsigned int m_Height = 0;
    std::vector<uint8_t> m_Classes; ///< row by row
};

/// The grey values of a PNG of at most 8 bits, or the places of its pixels in its palette. Throws InputError for other
/// files, and for a palette with a colour that is there twice and used.
Mask ReadMask(std::string_view bytes);

} // namespace tenon::tools::evaluate
