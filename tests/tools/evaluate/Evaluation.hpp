// SPDX-License-Identifier: Apache-2.0
// Runs tenon-evaluate for tests, and makes models, pictures and .npy files whose accuracy is known.
#pragma once

#include "harness/Json.hpp"
#include "tools/common/Elements.hpp"
#include "tools/common/Npy.hpp"
#include "tools/harness/Outcomes.hpp"
#include "tools/harness/Pictures.hpp"
#include "tools/harness/TempFolder.hpp"
#include "tools/harness/TinyModel.hpp"

#include <tenon/Tenon.hpp>
#include <tenon/serializer/ISerializer.hpp>

#include <gtest/gtest.h>
#include <stb/stb_image.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace tenon::tools::evaluate
{

using tenon::test::Json;

inline const std::string DigitsFloat = "samples/digits/digits_float.tflite";
inline const std::string DigitsInt8 = "samples/digits/digits_int8.tflite";

class Evaluation : public testing::Test
{
protected:
    Outcome Evaluate(Words words) const
    {
        words.insert(words.begin(), PathOfProgram("tenon-evaluate"));
        return test::RunProgram(words);
    }

    void MakeFolder(const std::string& name) const { std::filesystem::create_directories(m_Folder.Path(name)); }

    std::string WriteFloats(const std::string& name, const TensorShape& shape, const std::vector<float>& values) const
    {
        const TensorInfo info(shape, DataType::Float32);
        WriteNpy(m_Folder.Path(name), info, reinterpret_cast<const std::byte*>(values.data()));
        return m_Folder.Path(name);
    }

    /// A network that gives its input, where that has no number below 0.
    std::string WriteRelu(const std::string& name, const std::vector<int32_t>& shape) const
    {
        return m_Folder.Write(name, test::TinyModel(test::Relu, {{"x", shape}}, {{"y", shape}}));
    }

    /// The held-out digits of samples/digits in a folder: "digit000.png" and so on.
    std::string WriteDigits(size_t count = 360) const
    {
        constexpr size_t side = 8;
        constexpr size_t columns = 20;
        int width = 0;
        int height = 0;
        int channels = 0;
        const std::string sheet = ReadFile("samples/digits/test_digits.png");
        stbi_uc* const pixels = stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(sheet.data()),
                                                      static_cast<int>(sheet.size()), &width, &height, &channels, 1);
        MakeFolder("digits");
        for (size_t i = 0; i < count; ++i)
        {
            std::vector<uint8_t> digit;
            for (size_t y = 0; y < side; ++y)
            {
                const stbi_uc* const row =
                    pixels + (i / columns * side + y) * static_cast<size_t>(width) + i % columns * side;
                digit.insert(digit.end(), row, row + side);
            }
            m_Folder.Write(fmt::format("digits/digit{:03}.png", i), test::Png(side, side, 1, digit));
        }
        stbi_image_free(pixels);
        return m_Folder.Path("digits");
    }

    static Words DigitsCommand(const std::string& model, const std::string& digits)
    {
        Words words = {"-m", model, "-d", digits, "-g", "samples/digits/test_labels.txt", "-c", "CpuRef"};
        if (model != DigitsInt8)
        {
            words.insert(words.end(), {"--input-mean", "0", "--input-std", "255"});
        }
        return words;
    }

    static Words With(Words words, const Words& more)
    {
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }

    test::TempFolder m_Folder;
};

} // namespace tenon::tools::evaluate
