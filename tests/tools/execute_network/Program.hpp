// SPDX-License-Identifier: Apache-2.0
// Runs ExecuteNetwork for tests, and makes inputs for the bundled digit classifier.
#pragma once

#include "tools/common/Elements.hpp"
#include "tools/common/Npy.hpp"
#include "tools/harness/Outcomes.hpp"
#include "tools/harness/TempFolder.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tenon::tools
{

/// Tests run in the source folder.
inline const std::string Int8Model = "samples/digits/digits_int8.tflite";
inline const std::string FloatModel = "samples/digits/digits_float.tflite";
/// Four scores of a picture of 8x8 pixels, with mean 0, std 255 and labels.txt (cat, dog, fünf, last) as metadata.
inline const std::string Classifier = "tests/golden/containers/classifier.tflite";
/// first.tflite and second.tflite.
inline const std::string Bundle = "tests/golden/containers/two.task";

inline std::string ProgramPath()
{
    return PathOfProgram("ExecuteNetwork");
}

inline Outcome Execute(Words words)
{
    words.insert(words.begin(), ProgramPath());
    return test::RunProgram(words);
}

/// The same out of a script of the shell, in which "$@" is the program with its arguments.
inline Outcome ExecuteInShell(const std::string& script, Words words)
{
    words.insert(words.begin(), ProgramPath());
    return test::RunProgram(words, "", {"/bin/sh", "-c", script, "sh"});
}

class Program : public testing::Test
{
protected:
    /// The bundled models take [batch,8,8,1].
    std::string WriteInput(const std::string& name, DataType type, const TensorShape& shape = {1, 8, 8, 1})
    {
        const TensorInfo info(shape, type, 1.0f);
        std::vector<std::byte> data(info.GetNumBytes());
        for (size_t i = 0; i < info.GetNumElements(); ++i)
        {
            SetElement(type, data.data(), i, static_cast<double>(i % 16));
        }
        WriteNpy(m_Folder.Path(name), info, data.data());
        return m_Folder.Path(name);
    }

    test::TempFolder m_Folder;
};

} // namespace tenon::tools
