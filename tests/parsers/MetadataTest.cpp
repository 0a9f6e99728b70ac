// SPDX-License-Identifier: Apache-2.0
// TFLite's metadata of a model: its texts, normalization and labels. A file of MediaPipe's writer has the scores of
// MediaPipe's ImageClassifier (0.10.21) as judge, in tests/tools.
#include "harness/ZipBuilder.hpp"
#include "parsers/ModelBuilder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <tflite_metadata_generated.h>

namespace tenon::test::metadata_test
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Bytes = std::vector<uint8_t>;
using ModelMetadata = ITfLiteParser::ModelMetadata;
using FileType = tflite::metadata::AssociatedFileType;
namespace md = tflite::metadata;

/// Two inputs, of which a constant is the second of three in the model's list, and two outputs.
ModelBuilder TwoByTwo()
{
    ModelBuilder model;
    const int32_t image = model.AddInput("image", {1, 4});
    const int32_t constant = model.AddFloats("constant", {1, 4});
    model.Graph().inputs.push_back(constant);
    const int32_t other = model.AddInput("other", {1, 4});
    const int32_t sum = model.AddOutput("sum", {1, 4});
    const int32_t largest = model.AddOutput("largest", {1, 4});
    model.AddOperator(ModelBuilder::Operator::ADD, {image, constant}, {sum});
    model.AddOperator(ModelBuilder::Operator::MAXIMUM, {image, other}, {largest});
    return model;
}

std::unique_ptr<md::TensorMetadataT> Describe(const std::string& name)
{
    auto tensor = std::make_unique<md::TensorMetadataT>();
    tensor->name = name;
    tensor->description = "the " + name;
    return tensor;
}

void AddFile(md::TensorMetadataT& tensor, const std::string& name, FileType type = FileType::TENSOR_AXIS_LABELS,
             const std::string& locale = {})
{
    auto file = std::make_unique<md::AssociatedFileT>();
    file->name = name;
    file->type = type;
    file->locale = locale;
    tensor.associated_files.push_back(std::move(file));
}

void Normalize(md::TensorMetadataT& tensor, std::vector<float> mean, std::vector<float> std)
{
    md::NormalizationOptionsT options;
    options.mean = std::move(mean);
    options.std = std::move(std);
    auto unit = std::make_unique<md::ProcessUnitT>();
    unit->options.Set(std::move(options));
    tensor.process_units.push_back(std::move(unit));
}

md::ModelMetadataT TwoByTwoMetadata()
{
    md::ModelMetadataT metadata;
    metadata.name = "two by two";
    metadata.description = "for tests";
    metadata.version = "v1";
    metadata.author = "nobody";
    metadata.license = "none";
    metadata.min_parser_version = "1.2.0";
    auto graph = std::make_unique<md::SubGraphMetadataT>();
    for (const char* name : {"picture", "weights", "mask"})
    {
        graph->input_tensor_metadata.push_back(Describe(name));
    }
    for (const char* name : {"scores", "classes"})
    {
        graph->output_tensor_metadata.push_back(Describe(name));
    }
    metadata.subgraph_metadata.push_back(std::move(graph));
    return metadata;
}

md::TensorMetadataT& Input(md::ModelMetadataT& metadata, size_t index)
{
    return *metadata.subgraph_metadata[0]->input_tensor_metadata[index];
}

md::TensorMetadataT& Output(md::ModelMetadataT& metadata, size_t index)
{
    return *metadata.subgraph_metadata[0]->output_tensor_metadata[index];
}

Bytes Pack(const md::ModelMetadataT& metadata)
{
    flatbuffers::FlatBufferBuilder builder;
    md::FinishModelMetadataBuffer(builder, md::ModelMetadata::Pack(builder, &metadata));
    return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

/// TwoByTwo with this buffer of metadata, and with these bytes behind it.
Bytes WithMetadata(Bytes metadata, const std::string& behind = {}, ModelBuilder model = TwoByTwo())
{
    auto entry = std::make_unique<schema::MetadataT>();
    entry->name = "TFLITE_METADATA";
    entry->buffer = static_cast<uint32_t>(model.Model().buffers.size());
    model.Model().metadata.push_back(std::move(entry));
    model.Model().buffers.push_back(std::make_unique<schema::BufferT>());
    model.Model().buffers.back()->data = std::move(metadata);
    Bytes bytes = model.Build();
    bytes.insert(bytes.end(), behind.begin(), behind.end());
    return bytes;
}

/// The metadata that the parser gives of a model, which must become a network.
ModelMetadata Read(const Bytes& model)
{
    const Parsed parsed(model);
    EXPECT_FALSE(parsed.m_Layers.m_All.empty());
    return parsed.m_Parser->GetMetadata();
}

ModelMetadata Read(const md::ModelMetadataT& metadata, const std::string& behind = {})
{
    return Read(WithMetadata(Pack(metadata), behind));
}

} // namespace

TEST(Metadata, TextsAndNormalization)
{
    md::ModelMetadataT written = TwoByTwoMetadata();
    Normalize(Input(written, 0), {127.5f}, {128.0f});
    Normalize(Input(written, 2), {1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 0.0f});
    const ModelMetadata read = Read(written);
    EXPECT_EQ(read.m_Name, "two by two");
    EXPECT_EQ(read.m_Description, "for tests");
    EXPECT_EQ(read.m_Version, "v1");
    EXPECT_EQ(read.m_Author, "nobody");
    EXPECT_EQ(read.m_License, "none");
    EXPECT_EQ(read.m_MinParserVersion, "1.2.0");
    ASSERT_THAT(read.m_Inputs, SizeIs(2)) << "the constant is no input of the network";
    EXPECT_EQ(read.m_Inputs[0].m_Name, "picture");
    EXPECT_EQ(read.m_Inputs[0].m_Description, "the picture");
    EXPECT_THAT(read.m_Inputs[0].m_Mean, ElementsAre(127.5f));
    EXPECT_THAT(read.m_Inputs[0].m_Std, ElementsAre(128.0f));
    EXPECT_EQ(read.m_Inputs[1].m_Name, "mask");
    EXPECT_THAT(read.m_Inputs[1].m_Mean, ElementsAre(1.0f, 2.0f, 3.0f));
    EXPECT_THAT(read.m_Inputs[1].m_Std, ElementsAre(4.0f, 5.0f, 0.0f)) << "as in the file, unchecked";
    ASSERT_THAT(read.m_Outputs, SizeIs(2));
    EXPECT_EQ(read.m_Outputs[1].m_Name, "classes");
    EXPECT_THAT(read.m_Outputs[1].m_Mean, IsEmpty());
    EXPECT_THAT(read.m_Faults, IsEmpty());
}

TEST(Metadata, NamesOfFilesEachOnce)
{
    md::ModelMetadataT written = TwoByTwoMetadata();
    auto vocabulary = std::make_unique<md::AssociatedFileT>();
    vocabulary->name = "vocabulary.txt";
    vocabulary->type = FileType::VOCABULARY;
    written.associated_files.push_back(std::move(vocabulary));
    AddFile(Input(written, 0), "vocabulary.txt", FileType::VOCABULARY);
    AddFile(Output(written, 0), "scores.txt", FileType::TENSOR_AXIS_SCORE_CALIBRATION);
    EXPECT_THAT(Read(written).m_Files, ElementsAre("vocabulary.txt", "scores.txt")) << "whether they are there or not";
}

TEST(Metadata, ModelsWithoutThem)
{
    const ModelMetadata none = Read(TwoByTwo().Build());
    EXPECT_EQ(none.m_Name, "");
    EXPECT_THAT(none.m_Inputs, SizeIs(2));
    EXPECT_THAT(none.m_Outputs, SizeIs(2));
    EXPECT_THAT(none.m_Faults, IsEmpty());
    ModelBuilder other = TwoByTwo();
    other.Model().metadata.push_back(std::make_unique<schema::MetadataT>());
    other.Model().metadata.back()->name = "min_runtime_version";
    EXPECT_THAT(Read(other.Build()).m_Faults, IsEmpty());
    md::ModelMetadataT bare;
    EXPECT_THAT(Read(bare).m_Faults, IsEmpty()) << "no subgraph is described";
    const ITfLiteParserPtr parser = ITfLiteParser::Create();
    parser->CreateNetworkFromBinary(WithMetadata(Pack(TwoByTwoMetadata())));
    EXPECT_EQ(parser->GetMetadata().m_Name, "two by two");
    parser->CreateNetworkFromBinary(TwoByTwo().Build());
    EXPECT_EQ(parser->GetMetadata().m_Name, "") << "of the last model";
}

TEST(Metadata, LabelsInTheArchiveBehindTheModel)
{
    md::ModelMetadataT written = TwoByTwoMetadata();
    AddFile(Output(written, 0), "german.txt", FileType::TENSOR_AXIS_LABELS, "de");
    AddFile(Output(written, 0), "labels.txt");
    AddFile(Output(written, 0), "french.txt", FileType::TENSOR_AXIS_LABELS, "fr");
    AddFile(Output(written, 1), "german.txt", FileType::TENSOR_VALUE_LABELS, "de");
    AddFile(Output(written, 1), "vocabulary.txt", FileType::VOCABULARY);
    const std::vector<ZipFile> files = {{"labels.txt", "cat\r\n\nsea lion \nlast"}, {"german.txt", "Katze\nHund\n"}};
    for (const std::string& archive : {MakeZip(files), MakeZip(files, {0, true, "comment"})})
    {
        const ModelMetadata read = Read(written, archive);
        EXPECT_THAT(read.m_Outputs.at(0).m_AxisLabels, ElementsAre("cat", "", "sea lion ", "last"));
        EXPECT_THAT(read.m_Outputs.at(0).m_ValueLabels, IsEmpty());
        EXPECT_THAT(read.m_Outputs.at(1).m_AxisLabels, IsEmpty());
        EXPECT_THAT(read.m_Outputs.at(1).m_ValueLabels, ElementsAre("Katze", "Hund"));
        EXPECT_THAT(read.m_Faults, IsEmpty());
    }
}

TEST(Metadata, AnArchiveThatManyOutputsMiss)
{
    md::ModelMetadataT written = TwoByTwoMetadata();
    AddFile(Output(written, 0), "labels.txt");
    AddFile(Output(written, 1), "others.txt");
    EXPECT_THAT(Read(written).m_Faults,
                ElementsAre(HasSubstr("output 0, file 'labels.txt', are not read: there is no zip archive"),
                            HasSubstr("output 1, file 'others.txt', are not read: there is no zip archive")));
}

TEST(Metadata, LabelsThatAreNotThere)
{
    md::ModelMetadataT written = TwoByTwoMetadata();
    AddFile(Output(written, 1), "labels.txt");
    const auto faultOf = [&](const std::string& archive)
    {
        const ModelMetadata read = Read(written, archive);
        EXPECT_THAT(read.m_Outputs.at(1).m_AxisLabels, IsEmpty());
        EXPECT_EQ(read.m_Outputs.at(1).m_Name, "classes");
        EXPECT_THAT(read.m_Faults, SizeIs(1));
        return read.m_Faults.empty() ? "" : read.m_Faults[0];
    };
    EXPECT_EQ(faultOf(""),
              "the labels of output 1, file 'labels.txt', are not read: there is no zip archive, or it is cut "
              "short: the bytes do not end with its end record");
    EXPECT_THAT(faultOf(MakeZip({})), HasSubstr("the archive behind the model does not have it"));
    EXPECT_THAT(faultOf(MakeZip({{"labels.txt", "packed", 0, 8}})), HasSubstr("'labels.txt' is compressed"));
    EXPECT_THAT(faultOf(MakeZip({{"labels.txt", std::string((4U << 20) + 1, 'a')}})),
                HasSubstr("it has 4194305 bytes; at most 4194304 are read"));
    const std::string archive = MakeZip({{"labels.txt", "cat"}});
    EXPECT_THAT(faultOf(archive.substr(0, archive.size() - 1)), HasSubstr("cut short"));
    EXPECT_THAT(faultOf(WithLittleEndian(archive, archive.find(ZipLocal), 0)),
                HasSubstr("there is no header of 'labels.txt'"));
}

/// A file of labels that all outputs name costs no memory out of proportion to the model's size.
TEST(Metadata, LabelsThatManyOutputsShare)
{
    ModelBuilder model;
    const int32_t in = model.AddInput("in", {1, 4});
    model.Graph().outputs.assign(500, in);
    md::ModelMetadataT written;
    written.subgraph_metadata.push_back(std::make_unique<md::SubGraphMetadataT>());
    for (size_t i = 0; i < 500; ++i)
    {
        auto output = Describe("out");
        AddFile(*output, "labels.txt");
        written.subgraph_metadata[0]->output_tensor_metadata.push_back(std::move(output));
    }
    const ModelMetadata read =
        Read(WithMetadata(Pack(written), MakeZip({{"labels.txt", std::string(1U << 20, '\n')}}), std::move(model)));
    EXPECT_THAT(read.m_Faults, ElementsAre(HasSubstr("refers to the same lists or names over and over")));
    EXPECT_THAT(read.m_Outputs.at(0).m_AxisLabels, IsEmpty());
}

/// Metadata with so many outputs, all described by one table that has as many names of dimensions. No field of that is
/// read.
Bytes SharedDimensionNames(size_t count)
{
    constexpr flatbuffers::voffset_t nameOfDimensions = 8; // as in the format's own schema
    flatbuffers::FlatBufferBuilder builder;
    const std::vector<flatbuffers::Offset<flatbuffers::String>> names(count, builder.CreateString("x"));
    const auto list = builder.CreateVector(names);
    const flatbuffers::uoffset_t start = builder.StartTable();
    builder.AddOffset(nameOfDimensions, list);
    const std::vector<flatbuffers::Offset<md::TensorMetadata>> outputs(count, builder.EndTable(start));
    const auto graph = md::CreateSubGraphMetadata(builder, 0, 0, 0, builder.CreateVector(outputs));
    const std::vector<flatbuffers::Offset<md::SubGraphMetadata>> graphs = {graph};
    md::FinishModelMetadataBuffer(builder, md::CreateModelMetadata(builder, 0, 0, 0, builder.CreateVector(graphs)));
    return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

/// The names would take hours to verify.
TEST(Metadata, ListsThatManyOutputsShare)
{
    EXPECT_THAT(Read(WithMetadata(SharedDimensionNames(1000000))).m_Faults,
                ElementsAre(HasSubstr("describe 1000000 outputs, but the model has 2")));
}

TEST(Metadata, ListsOfAnotherLength)
{
    md::ModelMetadataT written = TwoByTwoMetadata();
    written.subgraph_metadata[0]->input_tensor_metadata.pop_back();
    ModelMetadata read = Read(written);
    EXPECT_THAT(read.m_Faults,
                ElementsAre("the metadata describe 2 inputs, but the model has 3, so none is described"));
    EXPECT_EQ(read.m_Inputs.at(0).m_Name, "");
    EXPECT_EQ(read.m_Outputs.at(0).m_Name, "scores");
    written = TwoByTwoMetadata();
    written.subgraph_metadata[0]->output_tensor_metadata.push_back(Describe("third"));
    EXPECT_THAT(Read(written).m_Faults,
                ElementsAre("the metadata describe 3 outputs, but the model has 2, so none is described"));
}

TEST(Metadata, DamagedOnesAreLeftOut)
{
    const auto faultOf = [](const Bytes& metadata)
    {
        const ModelMetadata read = Read(WithMetadata(metadata));
        EXPECT_THAT(read.m_Faults, SizeIs(1));
        return read.m_Faults.empty() ? "" : read.m_Faults[0];
    };
    EXPECT_EQ(faultOf({1, 2, 3}),
              "the metadata (TFLITE_METADATA) are not read: no identifier 'M001' at offset 4 of 3 bytes");
    Bytes other = Pack(TwoByTwoMetadata());
    other[7] = '9';
    EXPECT_THAT(faultOf(other), HasSubstr("no identifier 'M001'"));
    Bytes ones(40, 0xFF);
    std::copy_n("M001", 4, ones.begin() + 4);
    EXPECT_THAT(faultOf(ones), HasSubstr("they are corrupt: an offset in their 40 bytes leads outside"));
    Bytes cut = Pack(TwoByTwoMetadata());
    cut.resize(cut.size() / 2);
    EXPECT_THAT(faultOf(cut), HasSubstr("they are corrupt"));

    ModelBuilder outside = TwoByTwo();
    outside.Model().metadata.push_back(std::make_unique<schema::MetadataT>());
    outside.Model().metadata.back()->name = "TFLITE_METADATA";
    outside.Model().metadata.back()->buffer = 1000;
    EXPECT_THAT(Read(outside.Build()).m_Faults, ElementsAre(HasSubstr("buffer 1000 does not exist")));
}

/// Each byte is bent in turn: the model always becomes a network.
TEST(Metadata, BentBytes)
{
    md::ModelMetadataT written = TwoByTwoMetadata();
    Normalize(Input(written, 0), {127.5f}, {128.0f});
    AddFile(Output(written, 0), "labels.txt");
    const Bytes metadata = Pack(written);
    const std::string archive = MakeZip({{"labels.txt", "cat\ndog"}});
    size_t faulty = 0;
    for (size_t at = 0; at < metadata.size(); ++at)
    {
        for (const int number : {0x00, 0x7F, 0xFF, metadata[at] ^ 0x04})
        {
            Bytes bent = metadata;
            bent[at] = static_cast<uint8_t>(number);
            faulty += !Read(WithMetadata(bent, archive)).m_Faults.empty();
        }
    }
    EXPECT_GT(faulty, metadata.size());
    for (size_t at = 0; at < archive.size(); ++at)
    {
        std::string bent = archive;
        bent[at] = static_cast<char>(~archive[at]);
        Read(WithMetadata(metadata, bent));
    }
}

TEST(Metadata, AFileOfMediaPipesWriter)
{
    std::ifstream file("tests/golden/containers/classifier.tflite", std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(file), {}};
    const ModelMetadata read = Read(Bytes(content.begin(), content.end()));
    EXPECT_EQ(read.m_Name, "tiny");
    EXPECT_EQ(read.m_Inputs.at(0).m_Name, "image");
    EXPECT_THAT(read.m_Inputs[0].m_Mean, ElementsAre(0.0f));
    EXPECT_THAT(read.m_Inputs[0].m_Std, ElementsAre(255.0f));
    EXPECT_THAT(read.m_Outputs.at(0).m_AxisLabels, ElementsAre("cat", "dog", "fünf", "last"));
    EXPECT_THAT(read.m_Faults, IsEmpty());
}

} // namespace tenon::test::metadata_test
