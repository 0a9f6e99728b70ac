// SPDX-License-Identifier: Apache-2.0
// Formats of model files: the formats that Tenon reads, and others that users have, for which a message has advice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tenon::formats
{

enum class Reader : uint8_t
{
    None,
    TfLite,
    Onnx,
    Tenon,
    ArmNN ///< by the reader of Tenon's own files, too
};

struct ModelFormat
{
    const char* m_Label;       ///< "TFLite"
    const char* m_Description; ///< "a TensorFlow Lite model"
    Reader m_Reader;           ///< None: the format is not read
    const char* m_Names;       ///< for --model-format, with commas; may be empty
    const char* m_Identifier;  ///< the four bytes at offset 4 of a FlatBuffers file; empty for other files
    std::string_view m_Magic;  ///< the first bytes of other files; may be empty
    const char* m_Endings;     ///< of file names, in lower case, with commas; empty where the content must tell
    const char* m_Advice;      ///< how to get a model that is read; null for a format that is read
};

/// A file that holds TensorFlow Lite models, maybe several.
enum class Container : uint8_t
{
    None,
    Zip,     ///< an archive: a .task bundle of MediaPipe, or one of anything else
    LiteRtLm ///< a .litertlm file
};

/// The kind of container of a file that begins with `start`.
Container FindContainer(std::string_view start);

/// How many bytes of a file are enough for FindModelFormat(). More tell more of an ONNX model.
constexpr size_t ModelStartBytes = 256;

/// The format with this name for --model-format; null where there is none.
const ModelFormat* FindModelFormat(std::string_view name);

/// All bytes of a file, aligned as those of an allocation are; they must outlive the call that asks for them.
using WholeFile = std::function<std::string_view()>;

/// The format of a file that begins with `start`: its content decides, and the ending of `path` where the content is
/// of no known format. Null where neither is known. ONNX has no identifier: a file is one where its first fields can be
/// those of a model, or where it ends with .onnx and is neither text nor of another format. Files of Arm NN may lack
/// their identifier: a file is one where its whole has their structure, or where it ends with .armnn. `whole` is called
/// where only that is left to be asked.
const ModelFormat* FindModelFormat(const std::string& path, std::string_view start, const WholeFile& whole = {});

/// The format by the ending of a file to write, where Tenon reads that format but does not write it; null for any other
/// file. Networks are written as .tenon files alone.
const ModelFormat* FindUnwrittenFormat(std::string_view path);

/// For messages: the formats, with the endings of their files and the identifiers in them.
const char* DescribeFormatsThatAreRead();

} // namespace tenon::formats
