// SPDX-License-Identifier: Apache-2.0
// Formats of model files by content, by name of the file and by name of the format.
#include "formats/ModelFormat.hpp"

#include "Program.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tenon::formats
{
namespace
{

using tools::ReadFile;

/// The start of a FlatBuffers file with this identifier.
std::string WithIdentifier(const std::string& identifier)
{
    return std::string(4, '\x10') + identifier;
}

/// The format of a file with this content.
const ModelFormat* FindIn(const std::string& content)
{
    return FindModelFormat("model", std::string_view(content).substr(0, ModelStartBytes),
                           [&] { return std::string_view(content); });
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

TEST(ModelFormat, FilesToWriteMustNotHaveTheNameOfAnotherFormat)
{
    EXPECT_EQ(FindUnwrittenFormat("a.tflite"), FindModelFormat("tflite"));
    EXPECT_EQ(FindUnwrittenFormat("folder/a.ONNX"), FindModelFormat("onnx"));
    EXPECT_EQ(FindUnwrittenFormat("a.armnn"), FindModelFormat("armnn"));
    EXPECT_STREQ(FindUnwrittenFormat("a.task")->m_Label, "zip");
    EXPECT_STREQ(FindUnwrittenFormat("a.litertlm")->m_Label, "LiteRT-LM");
    for (const char* path : {"a.tenon", "a", "-", "", "armnn", "a.armnn.tenon", "a.onnx/net", "a.pb"})
    {
        EXPECT_EQ(FindUnwrittenFormat(path), nullptr) << path;
    }
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
    EXPECT_EQ(FindModelFormat("model", "\x08\x0A\x3A"), FindModelFormat("onnx-binary"));
}

TEST(ModelFormat, OnnxIsToldFromOtherMessagesWithAVersion)
{
    const ModelFormat* const onnx = FindModelFormat("onnx");
    ASSERT_NE(onnx, nullptr);
    EXPECT_EQ(onnx->m_Reader, Reader::Onnx);
    EXPECT_EQ(FindModelFormat("model", "\x08\x07\x12\x07pytorch\x1A\x05"
                                       "2.1.0"),
              onnx);
    EXPECT_EQ(FindModelFormat("model", "\x08\x07\x3A\x80\x80\x04\x0A\x12"), onnx);
    EXPECT_EQ(FindModelFormat("model", "\x12\x07pytorch\x08\x07"), onnx) << "any order";
    // A SavedModel's graph, Core ML's description: messages in place of the producer's name.
    EXPECT_EQ(FindModelFormat("saved_model.pb", "\x08\x01\x12\x20\x0A\x1E"), FindModelFormat("tensorflow-binary"));
    const ModelFormat* const coreMl = FindModelFormat("a.mlmodel", "\x08\x04\x12\x20\x0A\x1E");
    ASSERT_NE(coreMl, nullptr);
    EXPECT_STREQ(coreMl->m_Label, "Core ML");
    EXPECT_EQ(FindModelFormat("model", "\x08\x07\x12\x07pytorch\x98\x06\x01"), nullptr) << "a field of no model";
}

TEST(ModelFormat, TheEndingTellsOnnxUnlessTheContentIsKnown)
{
    const ModelFormat* const onnx = FindModelFormat("onnx");
    EXPECT_EQ(FindModelFormat("a.onnx", "\x3A\x10\x0A\x0E"), onnx);
    EXPECT_EQ(FindModelFormat("a.ONNX", ""), onnx);
    EXPECT_EQ(FindModelFormat("a.onnx", WithIdentifier("TFL3")), FindModelFormat("tflite"));
    EXPECT_EQ(FindModelFormat("a.onnx", WithIdentifier("ORTM")), FindModelFormat("ort"));
    const ModelFormat* const zip = FindModelFormat("a.onnx", "PK\x03\x04....");
    ASSERT_NE(zip, nullptr);
    EXPECT_STREQ(zip->m_Label, "zip");
    EXPECT_EQ(zip->m_Reader, Reader::TfLite) << "may be a bundle of models";
    EXPECT_STREQ(FindModelFormat("a.pt", "PK\x03\x04....")->m_Label, "PyTorch");
    EXPECT_STREQ(FindModelFormat("a.keras", "PK\x03\x04....")->m_Label, "Keras");
}

TEST(ModelFormat, ContainersOfModels)
{
    EXPECT_EQ(FindContainer("LITERTLM\x01"), Container::LiteRtLm);
    EXPECT_EQ(FindModelFormat("a", "LITERTLM\x01")->m_Reader, Reader::TfLite);
    EXPECT_EQ(FindContainer("LITERTL"), Container::None);
    for (size_t zeros = 0; zeros <= 4; ++zeros)
    {
        EXPECT_EQ(FindContainer(std::string(zeros, '\0') + "PK\x03\x04"), Container::Zip) << zeros;
        EXPECT_EQ(FindModelFormat("a.task", std::string(zeros, '\0') + "PK\x03\x04")->m_Reader, Reader::TfLite);
    }
    EXPECT_EQ(FindContainer("PK\x05\x06"), Container::Zip) << "of no files";
    for (const std::string& start : {std::string(), std::string(4, '\0'), std::string("PK"), std::string("PK\x01\x02"),
                                     std::string(5, '\0') + "PK\x03\x04", std::string("1PK\x03\x04")})
    {
        EXPECT_EQ(FindContainer(start), Container::None) << start;
        EXPECT_EQ(FindModelFormat("a.task", start), nullptr) << "the content must tell";
    }
}

TEST(ModelFormat, TextIsNoOnnxModelWhateverItsEnding)
{
    for (const char* page : {"<!DOCTYPE html><html>", "\n\n<html lang=\"en\">", "<!doctype HTML>"})
    {
        EXPECT_STREQ(FindModelFormat("a.onnx", page)->m_Label, "web page") << page;
        EXPECT_EQ(FindModelFormat("a.html", page), nullptr) << "no model's name";
    }
    for (const char* text : {"ir_version: 8\ngraph {\n}\n", "{\"irVersion\": \"8\"}", "<ir_version: 8>\n", "Not Found"})
    {
        EXPECT_STREQ(FindModelFormat("a.onnx", text)->m_Label, "text") << text;
        EXPECT_EQ(FindModelFormat("a", text), nullptr);
    }
    const ModelFormat* const onnx = FindModelFormat("onnx");
    EXPECT_EQ(FindModelFormat("a.onnx", "\n\n"), onnx) << "nothing to read";
    EXPECT_EQ(FindModelFormat("a.onnx", std::string("<html\0>", 7)), onnx) << "no text";
    EXPECT_STREQ(FindModelFormat("a.onnx", "\x1F\x8B\x08")->m_Label, "gzip");
}

TEST(ModelFormat, EveryFormatIsReadOrHasAdvice)
{
    const std::string safetensors = std::string("\x20\0\0\0\0\0\0\0", 8) + "{\"weight\":";
    const std::string tooLong = std::string("\x20\0\0\0\0\x01\0\0", 8) + "{\"weight\":";
    EXPECT_STREQ(FindModelFormat("a", safetensors)->m_Label, "safetensors");
    EXPECT_EQ(FindModelFormat("a", tooLong), nullptr);
    EXPECT_STREQ(FindModelFormat("a", "GGUF\x03")->m_Label, "GGUF");
    for (const char* path :
         {"a.onnxtxt", "a.ort", "a.pb", "a.h5", "a.caffemodel", "a.prototxt", "a.pth", "a.safetensors", "a.gguf",
          "a.pdiparams", "a.mlmodel", "a.xml", "a.engine", "a.pkl", "a.tosa"})
    {
        const ModelFormat* const format = FindModelFormat(path, "some content");
        ASSERT_NE(format, nullptr) << path;
        EXPECT_EQ(format->m_Reader, Reader::None) << path;
        EXPECT_NE(format->m_Advice, nullptr) << path;
    }
}

TEST(ModelFormat, NetworksOfArmNNMayLackTheirIdentifier)
{
    const ModelFormat* const armnn = FindModelFormat("armnn");
    ASSERT_NE(armnn, nullptr);
    EXPECT_EQ(armnn->m_Reader, Reader::ArmNN);
    EXPECT_EQ(FindModelFormat("armnn-binary"), armnn);
    EXPECT_EQ(FindModelFormat("a.armnn", "some content"), armnn);
    for (const char* name : {"Activation", "Convolution2d"})
    {
        const std::string whole = ReadFile("tests/golden/armnn/" + std::string(name) + "_without_identifier.armnn");
        EXPECT_EQ(FindIn(whole), armnn) << name;
        EXPECT_EQ(FindModelFormat("model", whole), nullptr) << "the start alone does not tell";
        constexpr size_t maxPadding = 7;
        for (size_t length = 0; length + maxPadding < whole.size(); ++length)
        {
            EXPECT_EQ(FindIn(whole.substr(0, length)), nullptr) << length;
        }
    }
    // Other files of FlatBuffers, without their identifiers.
    for (const char* path : {"tests/golden/version1.tenon", "tests/golden/states/svdf_float.tflite"})
    {
        std::string other = ReadFile(path);
        ASSERT_GT(other.size(), 8u) << path;
        other.replace(4, 4, 4, '\0');
        EXPECT_EQ(FindIn(other), nullptr) << path;
    }
    const ModelFormat* const text = FindModelFormat("armnn-text");
    ASSERT_NE(text, nullptr);
    EXPECT_EQ(text->m_Reader, Reader::None);
    EXPECT_NE(text->m_Advice, nullptr);
}

TEST(ModelFormat, NamesAreWhole)
{
    for (const char* name : {"", "onn", "tflite-binary,tflite", "tenon ", "a TensorFlow Lite model"})
    {
        EXPECT_EQ(FindModelFormat(name), nullptr) << name;
    }
}

} // namespace
} // namespace tenon::formats
