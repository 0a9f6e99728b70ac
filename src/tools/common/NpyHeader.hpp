// SPDX-License-Identifier: Apache-2.0
// The header of an .npy file: magic and version, then a Python dictionary that says what the data is. Npy.cpp uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::tools
{

class InputFile;

constexpr std::string_view NpyMagic = "\x93NUMPY";
/// Magic, major and minor version; the header's length follows.
constexpr size_t NpyVersionEnd = NpyMagic.size() + 2;

/// NumPy itself refuses headers above 10,000 bytes unless told to trust them.
constexpr size_t MaxNpyHeaderBytes = size_t{64} * 1024;
/// The bytes in front of the data, with the length of the header.
constexpr size_t MaxNpyStartBytes = NpyVersionEnd + 4 + MaxNpyHeaderBytes;

struct NpyHeader
{
    std::string m_Type; ///< "<f4"
    bool m_FortranOrder = false;
    std::vector<uint64_t> m_Shape;
};

/// Whether a file that starts so is an .npy file.
bool IsNpy(std::string_view start);

/// The dictionary that a header holds. Throws InputError.
NpyHeader ParseNpyDictionary(std::string_view text);

/// Reads a file up to its data. Throws InputError.
NpyHeader ReadNpyHeader(InputFile& file);

} // namespace tenon::tools
