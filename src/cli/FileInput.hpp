// SPDX-License-Identifier: Apache-2.0
// FileInput: one file of -d. Its kind and shape are known before memory is taken for what it holds. Inputs.cpp uses it.
#pragma once

#include "cli/File.hpp"
#include "cli/Inputs.hpp"

#include <string>
#include <string_view>

namespace tenon::cli
{

/// Throws InputError, which says how to give a shape.
void RequireKnownShape(const TensorInfo& info);

/// All throw InputError, which does not name the file.
class FileInput
{
public:
    /// The kind follows from the file's content and extension. An .npy file brings its own shape unless `shapeFrom`
    /// says what fixes it ("--input-tensor-shape"), and a picture the sizes that are open; of the others, a text's
    /// count of numbers and a raw file's bytes must fit. With `quantizes`, a file for a quantized tensor holds Float32
    /// in place of stored values, unless it is a picture.
    FileInput(const std::string& path, const TensorInfo& expected, const std::string& shapeFrom, const Limits& limits,
              bool quantizes = false);

    /// With the shape that the data has.
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

    TensorInfo m_InFile; ///< what the file holds; of another type than m_Info where its numbers are to be quantized
    InputSource m_Source;
    TensorInfo m_Info;
    Kind m_Kind = Kind::Raw;
    TensorInfo m_PictureInput; ///< the input as the model has it, if the file is a picture
    std::string m_Picture;     ///< the file, if it is a picture, for its header and then for its pixels
};

} // namespace tenon::cli
