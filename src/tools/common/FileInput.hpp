// SPDX-License-Identifier: Apache-2.0
// FileInput: one file of -d. Its kind and shape are known before memory is allocated for its content. Inputs.cpp uses
// it.
#pragma once

#include "tools/common/File.hpp"
#include "tools/common/Inputs.hpp"

#include <string>
#include <string_view>

namespace tenon::tools
{

/// Throws InputError, which says how to give a shape.
void RequireKnownShape(const TensorInfo& info);

/// All throw InputError, which does not name the file.
class FileInput
{
public:
    /// A file of -d; of a stream with raw bytes, no more is read than `expected` takes.
    static InputSource Open(const std::string& path, const TensorInfo& expected, const Limits& limits, bool quantizes);

    /// The kind follows from the file's content and extension. An .npy file has its own shape, unless `shapeFrom` names
    /// the option that fixes it ("--input-tensor-shape"). A picture gives the sizes that are open. The number of
    /// numbers of a text file and the bytes of a raw file must fit. With `quantizes`, a file for a quantized tensor
    /// holds Float32 in place of stored values, unless it is a picture.
    FileInput(InputSource source, const TensorInfo& expected, const std::string& shapeFrom, const Limits& limits,
              bool quantizes = false);

    /// The info of the input, with the shape of the data.
    const TensorInfo& Info() const { return m_Info; }

    InputData Load(const Normalisation& normalisation, const Limits& limits) const;

private:
    enum class Kind
    {
        Raw,
        Npy,
        Picture,
        Text
    };
    static Kind FindKind(const std::string& path, std::string_view start, const TensorInfo& expected);
    InputData LoadRaw() const;

    TensorInfo m_InFile; ///< info of the file's content; it has another type than m_Info if its numbers are quantized
    InputSource m_Source;
    TensorInfo m_Info;
    Kind m_Kind = Kind::Raw;
    TensorInfo m_PictureInput; ///< the model's info of the input, if the file is a picture
    std::string m_Picture;     ///< the file, if it is a picture, for its header and then for its pixels
};

} // namespace tenon::tools
