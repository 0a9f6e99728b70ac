// SPDX-License-Identifier: Apache-2.0
// Formats of model files: the two that are read, and others that users have, for which a message says what to do.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tenon::cli
{

struct ModelFormat
{
    const char* m_Description; ///< "a TensorFlow Lite model"
    const char* m_Names;       ///< for --model-format, with commas; may be empty
    const char* m_Identifier;  ///< the four bytes at offset 4 of a FlatBuffers file; empty for other files
    const char* m_Endings;     ///< of file names, in lower case, with commas; empty for a format that is read
    const char* m_Advice;      ///< how to get a model that is read; null for a format that is read
};

/// How many bytes of a file FindModelFormat() looks at.
constexpr size_t ModelStartBytes = 8;

/// The format with this name for --model-format; null where there is none.
const ModelFormat* FindModelFormat(std::string_view name);

/// The format of a file that begins with `start`: its content decides, and the ending of `path` where the content is
/// of no known format. Null where neither is known; a format that is read always follows from the content.
const ModelFormat* FindModelFormat(const std::string& path, std::string_view start);

} // namespace tenon::cli
