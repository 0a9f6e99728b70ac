// SPDX-License-Identifier: Apache-2.0
// Formats of model files by content, by name of the file and by name of the format.
#include "formats/ModelFormat.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tenon::formats
{
namespace
{

/// The start of a FlatBuffers file with this identifier.
std::string WithIdentifier(const std::string& identifier)
{
    return std::string(4, '\x10') + identifier;
}

TEST(ModelFormat, ContentDecidesBeforeTheEnding)
{
    const ModelFormat* const tflite = FindModelFormat("tflite");
    const ModelFormat* const armnn = FindModelFormat("armnn-binary");
    ASSERT_TRUE(tflite != nullptr && armnn != nullptr && tflite != armnn);
    EXPECT_EQ(tflite->m_Advice, nullptr);
    EXPECT_EQ(FindModelFormat("tflite-binary"), tflite);
    EXPECT_EQ(FindModelFormat("a.armnn", WithIdentifier("TFL3")), tflite);
    EXPECT_EQ(FindModelFormat("a.tflite", WithIdentifier("ARMN")), armnn);
    EXPECT_EQ(FindModelFormat("a.pb", WithIdentifier("TNON") + "more"), FindModelFormat("tenon"));
    EXPECT_EQ(FindModelFormat("a.pb", "\x08\x07\x12\x07"), FindModelFormat("onnx-binary"));
    EXPECT_EQ(FindModelFormat("a.ARMNN", WithIdentifier("none")), armnn);
}

TEST(ModelFormat, FormatsThatAreReadNeedTheirContent)
{
    for (const std::string& start : {std::string(), std::string("TFL3"), WithIdentifier("TFL"), WithIdentifier("tfl3")})
    {
        EXPECT_EQ(FindModelFormat("a.tflite", start), nullptr) << start;
        EXPECT_EQ(FindModelFormat("a.tenon", start), nullptr) << start;
        EXPECT_EQ(FindModelFormat("-", start), nullptr) << start;
    }
}

TEST(ModelFormat, OnnxNeedsASmallVersionAndAKnownField)
{
    for (const std::string& start :
         {std::string("\x08\x07", 2), std::string("\x08\0\x12", 3), std::string("\x08\x7F\x12"),
          std::string("\x08\x07\x13"), std::string("\x09\x07\x12")})
    {
        EXPECT_EQ(FindModelFormat("model", start), nullptr);
    }
    EXPECT_EQ(FindModelFormat("model", "\x08\x0A\x3A"), FindModelFormat("onnx-text"));
}

TEST(ModelFormat, NamesAreWhole)
{
    for (const char* name : {"", "onnx", "tflite-binary,tflite", "tenon ", "a TensorFlow Lite model"})
    {
        EXPECT_EQ(FindModelFormat(name), nullptr) << name;
    }
}

} // namespace
} // namespace tenon::formats
