// SPDX-License-Identifier: Apache-2.0
// Tests of .onnx models whose tensors lie in other files: in the model's folder, in buffers, and where no model may
// reach.
#include "OnnxRun.hpp"
#include "tools/harness/TempFolder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sys/stat.h>

namespace tenon::test::onnx_external_data_test
{

using namespace model;
using testing::ElementsAre;
using testing::HasSubstr;
using tools::test::TempFolder;

namespace
{

using Entries = std::vector<std::pair<std::string, std::string>>;

/// y = x + w with a w [2] of floats that lie elsewhere.
Wire External(const Entries& entries)
{
    return Model(Graph()
                     .Input("x", {2})
                     .Store(ExternalTensor("w", ElementType::Float, {2}, entries))
                     .Add("Add", {"x", "w"}, {"y"})
                     .Output("y"));
}

const Wire Weights = Raw<float>({1.0f, 2.0f, 10.0f, 20.0f});

class OnnxExternalData : public testing::Test
{
protected:
    std::string Write(const std::string& name, const Wire& bytes) const { return m_Folder.Write(name, bytes); }

    std::vector<float> RunFile(const Wire& model) const
    {
        const std::string path = Write("model.onnx", model);
        const IOnnxParserPtr parser = IOnnxParser::Create();
        const INetworkPtr network = parser->CreateNetworkFromBinaryFile(path.c_str());
        const IRuntimePtr runtime = IRuntime::Create({});
        NetworkId id = 0;
        runtime->LoadNetwork(id, Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec()));
        const std::vector<float> x = {0.5f, 0.25f};
        std::vector<float> y(2);
        runtime->EnqueueWorkload(id, {{0, ConstTensor(TensorInfo({2}, DataType::Float32, 0.0f, 0, true), x.data())}},
                                 {{0, tenon::Tensor(TensorInfo({2}, DataType::Float32), y.data())}});
        return y;
    }

    template <typename ExceptionType = ParseException>
    std::string FileError(const Entries& entries) const
    {
        const std::string path = Write("model.onnx", External(entries));
        return MessageOf<ExceptionType>([&] { IOnnxParser::Create()->CreateNetworkFromBinaryFile(path.c_str()); });
    }

    TempFolder m_Folder;
};

} // namespace

TEST_F(OnnxExternalData, OffsetsAndLengths)
{
    Write("weights.bin", Weights);
    EXPECT_THAT(RunFile(External({{"location", "weights.bin"}, {"offset", "8"}, {"length", "8"}})),
                ElementsAre(10.5f, 20.25f));
    EXPECT_THAT(RunFile(External({{"location", "weights.bin"}, {"length", "8"}})), ElementsAre(1.5f, 2.25f));
    EXPECT_THAT(RunFile(External({{"offset", "8"}, {"location", "weights.bin"}})), ElementsAre(10.5f, 20.25f))
        << "to the end of the file";
    EXPECT_THAT(RunFile(External({{"location", "weights.bin"}})), ElementsAre(1.5f, 2.25f)) << "others' data behind";
    EXPECT_THAT(RunFile(External({{"location", "weights.bin"}, {"length", "8"}, {"checksum", "none"}, {"more", ""}})),
                ElementsAre(1.5f, 2.25f));
    Write("odd.bin", "x" + Weights);
    EXPECT_THAT(RunFile(External({{"location", "odd.bin"}, {"offset", "9"}})), ElementsAre(10.5f, 20.25f))
        << "not aligned";
    std::filesystem::create_directory(m_Folder.Path("sub"));
    Write("sub/weights.bin", Weights);
    EXPECT_THAT(RunFile(External({{"location", "sub/weights.bin"}, {"length", "8"}})), ElementsAre(1.5f, 2.25f));
    EXPECT_THAT(RunFile(External({{"location", "sub/../weights.bin"}, {"length", "8"}})), ElementsAre(1.5f, 2.25f));
    EXPECT_THAT(RunFile(External({{"location", "./weights.bin"}, {"length", "8"}})), ElementsAre(1.5f, 2.25f));
}

TEST_F(OnnxExternalData, TensorsOfAttributes)
{
    Write("weights.bin", Weights);
    const Wire tensor = ExternalTensor("", ElementType::Float, {2}, {{"location", "weights.bin"}, {"length", "8"}});
    EXPECT_THAT(RunFile(Model(Graph()
                                  .Input("x", {2})
                                  .Add("Constant", {}, {"w"}, {TensorAttribute("value", tensor)})
                                  .Add("Add", {"x", "w"}, {"y"})
                                  .Output("y"))),
                ElementsAre(1.5f, 2.25f));
}

TEST_F(OnnxExternalData, ManyTensorsOfOneFile)
{
    Write("weights.bin", Weights);
    Graph graph;
    graph.Input("x", {2});
    std::string last = "x";
    for (int i = 0; i < 100; ++i)
    {
        const std::string w = "w" + std::to_string(i);
        graph.Store(ExternalTensor(w, ElementType::Float, {2}, {{"location", "weights.bin"}, {"length", "8"}}));
        graph.Add("Add", {last, w}, {"y" + std::to_string(i)});
        last = "y" + std::to_string(i);
    }
    EXPECT_THAT(RunFile(Model(graph.Output(last))), ElementsAre(100.5f, 200.25f));
}

// The data stay mapped when the parser is gone, and also when the file is.
TEST_F(OnnxExternalData, OutliveTheParserAndTheFile)
{
    Write("weights.bin", Weights);
    const std::string path = Write("model.onnx", External({{"location", "weights.bin"}, {"length", "8"}}));
    IOnnxParserPtr parser = IOnnxParser::Create();
    const INetworkPtr network = parser->CreateNetworkFromBinaryFile(path.c_str());
    parser.reset();
    std::filesystem::remove(m_Folder.Path("weights.bin"));
    const IRuntimePtr runtime = IRuntime::Create({});
    NetworkId id = 0;
    runtime->LoadNetwork(id, Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec()));
    const std::vector<float> x = {0.5f, 0.25f};
    std::vector<float> y(2);
    runtime->EnqueueWorkload(id, {{0, ConstTensor(TensorInfo({2}, DataType::Float32, 0.0f, 0, true), x.data())}},
                             {{0, tenon::Tensor(TensorInfo({2}, DataType::Float32), y.data())}});
    EXPECT_THAT(y, ElementsAre(1.5f, 2.25f));
}

TEST_F(OnnxExternalData, OfModelsInMemory)
{
    const Wire model = External({{"location", "weights.bin"}, {"offset", "8"}});
    EXPECT_THAT(ErrorOf(model),
                HasSubstr("external data 'weights.bin' are not given, and a model from memory has no folder"));
    Options folder;
    folder.m_ExternalDataFolder = std::filesystem::path(Write("weights.bin", Weights)).parent_path().string();
    EXPECT_THAT(RunModel(model, {List({0, 0})}, folder).at(0).Floats(), ElementsAre(10.0f, 20.0f));
    folder.m_ExternalDataFolder += '/';
    EXPECT_THAT(RunModel(model, {List({0, 0})}, folder).at(0).Floats(), ElementsAre(10.0f, 20.0f));

    Options buffers;
    const std::vector<float> data = {0, 0, 5, 6};
    buffers.m_ExternalData["weights.bin"] = {reinterpret_cast<const uint8_t*>(data.data()), 16};
    EXPECT_THAT(RunModel(model, {List({0, 0})}, buffers).at(0).Floats(), ElementsAre(5.0f, 6.0f));
    buffers.m_ExternalDataFolder = folder.m_ExternalDataFolder;
    EXPECT_THAT(RunModel(model, {List({0, 0})}, buffers).at(0).Floats(), ElementsAre(5.0f, 6.0f)) << "before files";
    buffers.m_ExternalData["weights.bin"] = {reinterpret_cast<const uint8_t*>(data.data()), 4};
    EXPECT_THAT(ErrorOf(model, buffers), HasSubstr("its data begins at byte 8 of 'weights.bin', which has 4"));
    // Buffers may have names that no file has.
    Options any;
    any.m_ExternalData["/etc/../w"] = {reinterpret_cast<const uint8_t*>(data.data() + 2), 8};
    EXPECT_THAT(RunModel(External({{"location", "/etc/../w"}}), {List({0, 0})}, any).at(0).Floats(),
                ElementsAre(5.0f, 6.0f));
}

TEST_F(OnnxExternalData, NumbersThatDoNotFit)
{
    Write("weights.bin", Weights);
    const auto error = [&](const std::string& offset, const std::string& length) {
        return FileError({{"location", "weights.bin"}, {"offset", offset}, {"length", length}});
    };
    EXPECT_THAT(error("17", "0"), HasSubstr("tensor 'w': its data begins at byte 17 of 'weights.bin', which has 16"));
    EXPECT_THAT(error("16", "8"), HasSubstr("its data are 8 bytes from byte 16 on of 'weights.bin', which has 16"));
    EXPECT_THAT(error("0", "18446744073709551615"), HasSubstr("its data are 18446744073709551615 bytes"));
    EXPECT_THAT(error("18446744073709551615", "8"), HasSubstr("its data begins at byte 18446744073709551615"));
    EXPECT_THAT(error("0", "4"), HasSubstr("is Float32 [2] of 8 bytes, but has 4 bytes of data"));
    EXPECT_THAT(error("0", "16"), HasSubstr("but has 16 bytes of data"));
    for (const char* number : {"", "-1", " 8", "8 ", "0x8", "8.0", "18446744073709551616", "eight"})
    {
        EXPECT_THAT(error(number, "8"),
                    HasSubstr("external data has the offset '" + std::string(number) + "', which is no number"));
        EXPECT_THAT(error("0", number),
                    HasSubstr("external data has the length '" + std::string(number) + "', which is no number"));
    }
    EXPECT_THAT(FileError({{"offset", "0"}}), HasSubstr("its data is external, but no location is given"));
    EXPECT_THAT(FileError({{"location", ""}}), HasSubstr("no location is given"));
}

TEST_F(OnnxExternalData, FilesOutsideOfTheFolder)
{
    const TempFolder other;
    const std::string outside = other.Write("weights.bin", Weights);
    std::filesystem::create_directory(m_Folder.Path("sub"));
    Write("weights.bin", Weights);
    const std::string refused = "lies outside of the model's folder, which is not allowed; copy it into the folder";
    const std::string sibling =
        "../" + std::filesystem::path(outside).parent_path().filename().string() + "/weights.bin";
    for (const std::string& location :
         {outside, m_Folder.Path("weights.bin"), sibling, "sub/../" + sibling, "sub/../../" + sibling,
          std::string("../weights.bin"), std::string(".."), std::string("/"), std::string("/dev/zero")})
    {
        EXPECT_THAT(FileError({{"location", location}}), HasSubstr(refused)) << location;
    }
    // The name of a folder that begins with the model's.
    const std::string longer = m_Folder.Path("") + "x";
    EXPECT_THAT(FileError({{"location",
                            "../" + std::filesystem::path(m_Folder.Path("model")).parent_path().filename().string() +
                                "x/weights.bin"}}),
                HasSubstr(refused));
    // Links out of the folder: of a file, of a folder, and one that leads nowhere.
    std::filesystem::create_symlink(outside, m_Folder.Path("link.bin"));
    std::filesystem::create_directory_symlink(std::filesystem::path(outside).parent_path(), m_Folder.Path("folder"));
    std::filesystem::create_symlink(other.Path("nothing"), m_Folder.Path("dangling"));
    EXPECT_THAT(FileError<FileNotFoundException>({{"location", "dangling"}}), HasSubstr("dangling"));
    for (const char* location : {"link.bin", "folder/weights.bin", "sub/../folder/weights.bin"})
    {
        EXPECT_THAT(FileError({{"location", location}}), HasSubstr(refused)) << location;
    }
    // A model that is a link itself may have data beside its file, to which links lead as well, as in caches.
    other.Write("model", External({{"location", "link.bin"}, {"length", "8"}}));
    other.Write("model_above", External({{"location", "above.bin"}, {"length", "8"}}));
    std::filesystem::create_symlink(other.Path("model"), m_Folder.Path("linked.onnx"));
    EXPECT_NO_THROW(IOnnxParser::Create()->CreateNetworkFromBinaryFile(m_Folder.Path("linked.onnx").c_str()));
    const TempFolder third;
    std::filesystem::create_symlink(third.Write("weights.bin", Weights), m_Folder.Path("above.bin"));
    std::filesystem::create_symlink(other.Path("model_above"), m_Folder.Path("above.onnx"));
    EXPECT_THAT(MessageOf<ParseException>(
                    [&] { IOnnxParser::Create()->CreateNetworkFromBinaryFile(m_Folder.Path("above.onnx").c_str()); }),
                HasSubstr(refused));
    // One within it is none.
    std::filesystem::create_symlink("weights.bin", m_Folder.Path("inner.bin"));
    EXPECT_THAT(RunFile(External({{"location", "inner.bin"}, {"length", "8"}})), ElementsAre(1.5f, 2.25f));
}

TEST_F(OnnxExternalData, WhatIsNoFile)
{
    EXPECT_THAT(FileError<FileNotFoundException>({{"location", "missing.bin"}}), HasSubstr("missing.bin"));
    EXPECT_THAT(FileError<FileNotFoundException>({{"location", "missing/weights.bin"}}),
                HasSubstr("missing/weights.bin"));
    std::filesystem::create_directory(m_Folder.Path("sub"));
    EXPECT_THAT(FileError({{"location", "sub"}}), HasSubstr("it is a directory; a regular file is needed"));
    EXPECT_THAT(FileError({{"location", "."}}), HasSubstr("it is a directory"));
    ASSERT_EQ(mkfifo(m_Folder.Path("pipe").c_str(), 0600), 0);
    EXPECT_THAT(FileError({{"location", "pipe"}}), HasSubstr("it is a pipe; a regular file is needed"));
    Write("weights.bin", Weights);
    EXPECT_THAT(FileError({{"location", Wire("weights.bin\0x", 13)}}), HasSubstr("has a zero byte in it"));
    EXPECT_NE(FileError({{"location", Wire(100000, 'x')}}), "no exception");
    // An empty file.
    Write("empty.bin", "");
    EXPECT_THAT(FileError({{"location", "empty.bin"}}), HasSubstr("but has 0 bytes of data"));
    EXPECT_THAT(FileError({{"location", "empty.bin"}, {"offset", "1"}}), HasSubstr("which has 0"));
}

TEST_F(OnnxExternalData, FilesMayBeLargerThanModels)
{
    Write("weights.bin", Weights + Wire(100000, '\0'));
    const std::string path = Write("model.onnx", External({{"location", "weights.bin"}, {"length", "8"}}));
    Options options;
    options.m_Limits.m_MaxFileBytes = 10000;
    EXPECT_NO_THROW(IOnnxParser::Create(options)->CreateNetworkFromBinaryFile(path.c_str()));
    options.m_Limits.m_MaxTotalBytes = 10000;
    EXPECT_THAT(
        MessageOf<ParseException>([&] { IOnnxParser::Create(options)->CreateNetworkFromBinaryFile(path.c_str()); }),
        HasSubstr("more than the limit of 10000"));
}

} // namespace tenon::test::onnx_external_data_test
