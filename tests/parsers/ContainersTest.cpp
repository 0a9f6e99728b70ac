// SPDX-License-Identifier: Apache-2.0
// Files that hold several models: how they are listed and chosen, where their bytes lie, and the faults that they are
// refused for. The bundle and the header are those of the formats' own writers, and the values of the models in them
// those of LiteRT's interpreter (ai-edge-litert 2.3.0).
#include "harness/MessageOf.hpp"
#include "harness/ZipBuilder.hpp"
#include "parsers/ModelRun.hpp"
#include "parsers/tflite/containers/ContainedModel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <litertlm_generated.h>
#include <optional>

namespace tenon::test::containers_test
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using tflite::ContainedModel;
using Options = ITfLiteParser::TfLiteParserOptions;
using Type = ModelBuilder::Type;
using Operator = ModelBuilder::Operator;
using Bytes = std::vector<uint8_t>;
using Floats = std::vector<float>;
namespace lm = tflite::litertlm;

/// Two models: first.tflite takes [2,4], second.tflite takes [1,8]. MediaPipe's create_model_asset_bundle wrote it.
constexpr const char* BundlePath = "tests/golden/containers/two.task";

std::string ReadFile(const char* path)
{
    std::ifstream file(path, std::ios::binary);
    std::string content{std::istreambuf_iterator<char>(file), {}};
    EXPECT_FALSE(content.empty()) << "run this test in the root of the source tree";
    return content;
}

Bytes ToBytes(const std::string& text)
{
    return {text.begin(), text.end()};
}

std::vector<ContainedModel> List(const std::string& file)
{
    return tflite::ListModels({reinterpret_cast<const uint8_t*>(file.data()), file.size()}, Limits());
}

std::vector<std::string> NamesIn(const std::string& file)
{
    return tflite::NamesOf(List(file));
}

/// The text of the E that listing the models throws.
template <typename E = ParseException>
std::string Refusal(const std::string& file)
{
    return MessageOf<E>([&] { List(file); });
}

Options Choose(const std::string& entry)
{
    Options options;
    options.m_Entry = entry;
    return options;
}

/// A model that adds its constant, four floats of this value, to its input.
ModelBuilder AddModel(float value)
{
    ModelBuilder model;
    const int32_t in = model.AddInput("in", {4});
    const int32_t constant = model.AddConstant("constant", {4}, Floats(4, value), Type::FLOAT32);
    const int32_t out = model.AddOutput("out", {4});
    model.AddOperator(Operator::ADD, {in, constant}, {out});
    return model;
}

std::string ToText(const ModelBuilder& model)
{
    const Bytes bytes = model.Build();
    return {bytes.begin(), bytes.end()};
}

Floats RunEntry(const Bytes& file, const std::string& entry, const TensorShape& shape, const Floats& input)
{
    ModelRun run(Parsed(file, Choose(entry)));
    return run.Run({Data::Of(shape, input)}).at(0).As<float>();
}

/// The value of AddModel in `file`.
float ValueOf(const std::string& file, const std::string& entry = {})
{
    return RunEntry(ToBytes(file), entry, {4}, Floats(4, 0.0f)).at(0);
}

/// A section of a .litertlm file.
struct Section
{
    lm::SectionKind m_Kind = lm::SectionKind::TFLiteModel;
    std::optional<std::string> m_ModelType;
    std::string m_Bytes;
};

std::string LiteRtLmPreamble(uint32_t major, uint64_t headerEnd)
{
    std::string preamble = "LITERTLM";
    AppendNumber(preamble, major);
    AppendNumber<uint64_t>(preamble, 7); // minor version and patch
    AppendNumber<uint32_t>(preamble, 0);
    AppendNumber(preamble, headerEnd);
    return preamble;
}

std::string MakeLiteRtLm(const lm::HeaderT& header, const std::string& content = {})
{
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(lm::Header::Pack(builder, &header));
    const std::string table(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
    return LiteRtLmPreamble(1, 32 + table.size()) + table + content;
}

/// Sections begin at multiples of 4096 (of 16384 in files of the format's writer), but for `shift` bytes.
std::string MakeLiteRtLm(const std::vector<Section>& sections, size_t shift = 0,
                         const std::function<void(lm::SectionMetadataT&)>& bend = {})
{
    constexpr size_t alignment = 4096;
    lm::HeaderT header;
    header.section_metadata = std::make_unique<lm::SectionMetadataT>();
    std::string content;
    for (const Section& section : sections)
    {
        auto object = std::make_unique<lm::SectionObjectT>();
        if (section.m_ModelType)
        {
            auto item = std::make_unique<lm::KeyValuePairT>();
            item->key = "model_type";
            lm::StringValueT type;
            type.value = *section.m_ModelType;
            item->value.Set(std::move(type));
            object->items.push_back(std::move(item));
        }
        content.resize((content.size() + alignment - 1) / alignment * alignment + shift);
        object->begin_offset = alignment + content.size();
        content += section.m_Bytes;
        object->end_offset = alignment + content.size();
        object->data_type = static_cast<uint8_t>(section.m_Kind);
        header.section_metadata->objects.push_back(std::move(object));
    }
    if (bend)
    {
        bend(*header.section_metadata);
    }
    std::string file = MakeLiteRtLm(header);
    EXPECT_LE(file.size(), alignment);
    file.resize(alignment);
    return file + content;
}

/// The header that litert-lm-builder 0.18.1 wrote: two models, a tokenizer, a text and other data, each at a multiple
/// of 16384.
constexpr const char* BuilderHeader =
    "4c49544552544c4d01000000070000000000000000000000b0020000000000000c00000008000c000800040008000000080000007001"
    "0000aefdffff0400000005000000f4000000800000004c00000028000000040000009cffffff00000001644001000000000000400100"
    "000000000400000000000000bcffffff000000051500010000000000000001000000000004000000000000006cffffff0000000649c0"
    "00000000000000c00000000000000000000004000000000000000c001c0018001000080007000c000000000000030083000000000000"
    "0080000000000000040000000100000004000000d6feffff0c000000000000092400000072feffff040000001000000074665f6c6974"
    "655f656d626564646572000000000a0000006d6f64656c5f7479706500000c0020001c001000080007000c0000000000000388420000"
    "000000000040000000000000000000000400000001000000040000004affffff0c0000000000000928000000e6feffff040000001600"
    "000074665f6c6974655f70726566696c6c5f6465636f646500000a0000006d6f64656c5f7479706500001affffff0400000003000000"
    "c80000006c00000004000000a6ffffff0c000000000000093400000042ffffff0400000020000000323032362d31312d33305431323a"
    "32333a34312e3434373532352b30303a303000000000120000006372656174696f6e5f74696d657374616d70000000000a0010000c00"
    "0b0004000a0000000c0000000000000938000000a6ffffff040000002400000066323434363135352d623964632d346664312d393565"
    "632d32386461656537656161633800000000040000007575696400000a0012000c000b0004000a000000140000000000000920000000"
    "000006000800040006000000040000000500000054656e6f6e00000006000000617574686f720000";

std::string FromHex(const std::string& digits)
{
    std::string bytes;
    for (size_t i = 0; i < digits.size(); i += 2)
    {
        bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
    }
    return bytes;
}

} // namespace

TEST(Containers, ABundleOfMediaPipe)
{
    const std::string bundle = ReadFile(BundlePath);
    EXPECT_EQ(bundle.front(), '\0') << "its writer puts zeros in front of files";
    EXPECT_THAT(NamesIn(bundle), ElementsAre("first.tflite", "second.tflite"));
    const Floats first = RunEntry(ToBytes(bundle), "first.tflite", {2, 4},
                                  {0.484110832f, 0.591613293f, 0.157279745f, 0.114384577f, -0.027200520f, 0.875362933f,
                                   0.718551934f, 1.501188517f});
    EXPECT_THAT(first, testing::Pointwise(testing::FloatNear(1e-6f), {0.132946432f, -0.623839617f, 0.544683695f,
                                                                      2.030418396f, 0.894777834f, 0.053648550f}));
    const Floats second = RunEntry(ToBytes(bundle), "second.tflite", {1, 8},
                                   {-1.631378531f, -1.810641408f, 0.339127958f, 1.804967523f, 1.418989539f,
                                    0.599861920f, 1.107564569f, -1.696025133f});
    EXPECT_THAT(second, testing::Pointwise(testing::FloatNear(2e-6f),
                                           {-2.588194132f, -4.050461292f, 2.676090479f, 8.807904243f, 3.196634531f}));
}

TEST(Containers, AFileOfLiteRtLmBuilder)
{
    const std::string bundle = ReadFile(BundlePath);
    const std::vector<ContainedModel> models = List(bundle);
    std::string file = FromHex(BuilderHeader);
    for (const auto& [model, offset] : {std::pair(models.at(0), 16384), std::pair(models.at(1), 32768)})
    {
        file.resize(static_cast<size_t>(offset));
        file.append(model.m_Bytes.begin(), model.m_Bytes.end());
    }
    file.resize(82020);
    EXPECT_THAT(NamesIn(file), ElementsAre("tf_lite_prefill_decode", "tf_lite_embedder"));
    const std::vector<ContainedModel> read = List(file);
    for (size_t i = 0; i < 2; ++i)
    {
        EXPECT_TRUE(std::equal(read[i].m_Bytes.begin(), read[i].m_Bytes.end(), models[i].m_Bytes.begin(),
                               models[i].m_Bytes.end()));
    }
}

TEST(Containers, AnEntryIsChosenByName)
{
    const std::string file =
        MakeZip({{"a.tflite", ToText(AddModel(1.0f))}, {"labels.txt", "cat"}, {"NO_ENDING", ToText(AddModel(2.0f))}});
    EXPECT_EQ(ValueOf(file, "a.tflite"), 1.0f);
    EXPECT_EQ(ValueOf(file, "NO_ENDING"), 2.0f);
    EXPECT_EQ(ValueOf(MakeZip({{"labels.txt", "cat"}, {"only", ToText(AddModel(3.0f))}})), 3.0f);

    const ITfLiteParserPtr parser = ITfLiteParser::Create();
    EXPECT_EQ(MessageOf<InvalidArgumentException>([&] { parser->CreateNetworkFromBinary(ToBytes(file)); }),
              "the file has 2 models; name one of them as entry: 'a.tflite', 'NO_ENDING'");
    EXPECT_THAT(parser->GetEntryNames(), ElementsAre("a.tflite", "NO_ENDING"));
    EXPECT_EQ(MessageOf<InvalidArgumentException>([&] { ValueOf(file, "labels.txt"); }),
              "the file has no entry 'labels.txt'; its models are: 'a.tflite', 'NO_ENDING'");
    EXPECT_EQ(MessageOf<InvalidArgumentException>([&] { ValueOf(ToText(AddModel(1.0f)), "a"); }),
              "there is no entry 'a': the file is a model, not a container of several");
    parser->CreateNetworkFromBinary(AddModel(1.0f).Build());
    EXPECT_TRUE(parser->GetEntryNames().empty());
}

TEST(Containers, FromAFileAndFromMemory)
{
    const std::string content = MakeZip({{"a", ToText(AddModel(1.0f))}, {"b", ToText(AddModel(2.0f))}});
    const std::string path = testing::TempDir() + "ContainersTest.task";
    std::ofstream(path, std::ios::binary) << content;
    const ITfLiteParserPtr parser = ITfLiteParser::Create(Choose("b"));
    EXPECT_NE(parser->CreateNetworkFromBinaryFile(path.c_str()), nullptr);
    EXPECT_NE(parser->CreateNetworkFromMemory(content.data(), content.size()), nullptr);
    EXPECT_THAT(MessageOf<InvalidArgumentException>(
                    [&] { ITfLiteParser::Create()->CreateNetworkFromBinaryFile(path.c_str()); }),
                HasSubstr("ContainersTest.task': the file has 2 models"));
    std::remove(path.c_str());
}

TEST(Containers, ErrorsNameTheEntry)
{
    std::string broken = ToText(AddModel(1.0f));
    broken.resize(broken.size() / 2);
    const std::string file = MakeZip({{"broken.tflite", broken}, {"whole.tflite", ToText(AddModel(2.0f))}});
    EXPECT_THAT(MessageOf<ParseException>([&] { ValueOf(file, "broken.tflite"); }),
                HasSubstr("'broken.tflite': the model is corrupt or cut short"));
    EXPECT_EQ(ValueOf(file, "whole.tflite"), 2.0f);
}

/// Where the constant of AddModel lies, relative to `begin`; -1 where it is a copy.
std::ptrdiff_t FindConstant(const uint8_t* begin, size_t bytes)
{
    struct Finder : IStrategy
    {
        void ExecuteStrategy(const IConnectableLayer*, const BaseDescriptor&, const std::vector<ConstTensor>& constants,
                             const char*, LayerBindingId) override
        {
            if (!constants.empty())
            {
                m_Data = static_cast<const uint8_t*>(constants[0].GetMemoryArea());
            }
        }
        const uint8_t* m_Data = nullptr;
    };
    const INetworkPtr network = ITfLiteParser::Create()->CreateNetworkFromMemory(begin, bytes);
    Finder finder;
    network->ExecuteStrategy(finder);
    const bool isInside = std::less_equal<>()(begin, finder.m_Data) && std::less<>()(finder.m_Data, begin + bytes);
    return isInside ? finder.m_Data - begin : -1;
}

TEST(Containers, OnlyMisalignedModelsAreCopied)
{
    const std::string model = ToText(AddModel(7.0f));
    constexpr size_t alignment = 8;
    std::vector<bool> isCopied;
    for (size_t length = 1; length <= alignment; ++length)
    {
        const std::string zip = MakeZip({{std::string(length, 'a'), model}});
        std::vector<uint64_t> memory(zip.size() / alignment + 1);
        std::memcpy(memory.data(), zip.data(), zip.size());
        const auto* const begin = reinterpret_cast<const uint8_t*>(memory.data());
        const std::ptrdiff_t at = FindConstant(begin, zip.size());
        const bool isAligned = zip.find(model) % alignment == 0;
        EXPECT_EQ(at >= 0, isAligned) << length;
        isCopied.push_back(at < 0);
        EXPECT_EQ(ValueOf(zip), 7.0f);
    }
    EXPECT_EQ(std::count(isCopied.begin(), isCopied.end(), false), 1);
}

TEST(Containers, BundlesInBundles)
{
    const std::string inner =
        MakeZip({{"a.tflite", ToText(AddModel(1.0f))}, {"b.tflite", ToText(AddModel(2.0f))}}, {4, false, ""});
    const std::string outer =
        MakeZip({{"x.task", inner}, {"c.tflite", ToText(AddModel(3.0f))}, {"y.task", "no archive"}});
    EXPECT_THAT(NamesIn(outer), ElementsAre("x.task/a.tflite", "x.task/b.tflite", "c.tflite"));
    EXPECT_EQ(ValueOf(outer, "x.task/b.tflite"), 2.0f);
    EXPECT_THAT(Refusal(MakeZip({{"x.task", inner.substr(0, inner.size() - 1)}})), HasSubstr("cut short"));
    EXPECT_THAT(Refusal(MakeZip({{"x.task", inner}, {"x.task/a.tflite", ToText(AddModel(1.0f))}})),
                HasSubstr("the file has two models 'x.task/a.tflite'"));
    EXPECT_THAT(NamesIn(MakeZip({{"assets.zip", "PK\3\4 is not looked into"}, {"a", ToText(AddModel(1.0f))}})),
                ElementsAre("a"));

    std::string deep = MakeZip({{"a", ToText(AddModel(1.0f))}});
    for (int i = 0; i < 3; ++i)
    {
        deep = MakeZip({{"x.task", deep}});
    }
    EXPECT_THAT(NamesIn(deep), ElementsAre("x.task/x.task/x.task/a"));
    EXPECT_THAT(Refusal(MakeZip({{"x.task", deep}})), HasSubstr("is a bundle in 4 others; at most 3 are possible"));
}

/// Names in bundles within bundles repeat those of the bundles: many short files would take much memory.
TEST(Containers, FilesOfAllBundlesTogether)
{
    const auto files = [](size_t count)
    {
        std::vector<ZipFile> made;
        for (size_t i = 0; i < count; ++i)
        {
            made.push_back({std::to_string(i), ""});
        }
        return made;
    };
    std::vector<ZipFile> outer = {{"a", ToText(AddModel(1.0f))},
                                  {"x.task", MakeZip(files(2000))},
                                  {"y.task", MakeZip(files(2000))},
                                  {"z.task", MakeZip(files(92))}};
    EXPECT_THAT(NamesIn(MakeZip(outer)), ElementsAre("a"));
    outer.back().m_Bytes = MakeZip(files(93));
    EXPECT_THAT(Refusal(MakeZip(outer)), HasSubstr("the bundles in it have more than 4096 files"));
}

TEST(Containers, ArchivesOfAnythingElse)
{
    EXPECT_THAT(Refusal(MakeZip({{"archive/data.pkl", "..."}, {"archive/version", "3"}})),
                HasSubstr("there is no TensorFlow Lite model in the zip archive; its files are: 'archive/data.pkl', "
                          "'archive/version'. Unpack it, or, where PyTorch wrote it, export the model to ONNX"));
    EXPECT_THAT(Refusal(MakeZip({})), HasSubstr("its files are: none"));
    std::vector<ZipFile> many;
    for (int i = 0; i < 40; ++i)
    {
        many.push_back({std::to_string(i), ""});
    }
    EXPECT_THAT(Refusal(MakeZip(many)), HasSubstr("'31' and 8 more"));
    EXPECT_THAT(Refusal<UnimplementedException>(MakeZip({{"a.tflite", "packed", 0, 8}})),
                HasSubstr("'a.tflite' is compressed"));
}

TEST(Containers, ModelsOfALiteRtLmFileGoByTypeOrNumber)
{
    const std::string one = ToText(AddModel(1.0f));
    const std::string two = ToText(AddModel(2.0f));
    using Kind = lm::SectionKind;
    const auto other = static_cast<Kind>(77);
    const std::string file = MakeLiteRtLm({{other, std::nullopt, "a kind of later versions"},
                                           {Kind::TFLiteModel, "decoder", one},
                                           {Kind::TFLiteModel, std::nullopt, two}});
    EXPECT_THAT(NamesIn(file), ElementsAre("decoder", "2"));
    EXPECT_EQ(ValueOf(file, "decoder"), 1.0f);
    EXPECT_EQ(ValueOf(file, "2"), 2.0f);
    const std::string same = MakeLiteRtLm({{Kind::TFLiteModel, "decoder", one}, {Kind::TFLiteModel, "decoder", two}});
    EXPECT_THAT(NamesIn(same), ElementsAre("0", "1"));
    EXPECT_EQ(ValueOf(same, "1"), 2.0f);
    EXPECT_EQ(ValueOf(MakeLiteRtLm({{Kind::TFLiteModel, std::nullopt, one}}, 12)), 1.0f) << "at any offset";
    EXPECT_THAT(Refusal(MakeLiteRtLm({{Kind::TFLiteModel, "1", one}, {Kind::TFLiteModel, std::nullopt, two}})),
                HasSubstr("the file has two models '1'"));
    EXPECT_THAT(Refusal(MakeLiteRtLm(std::vector<Section>{})),
                HasSubstr("no TensorFlow Lite model in the .litertlm file"));
    EXPECT_THAT(Refusal(MakeLiteRtLm(lm::HeaderT())), HasSubstr("no TensorFlow Lite model in the .litertlm file"));
}

TEST(Containers, DamagedLiteRtLmFiles)
{
    using Kind = lm::SectionKind;
    const std::vector<Section> sections = {{Kind::TFLiteModel, "a", ToText(AddModel(1.0f))},
                                           {Kind::TFLiteModel, "b", ToText(AddModel(2.0f))}};
    const std::string file = MakeLiteRtLm(sections);
    for (size_t bytes = 8; bytes < file.size(); ++bytes)
    {
        EXPECT_THAT(Refusal(file.substr(0, bytes)), HasSubstr("the .litertlm file is corrupt or cut short"));
    }
    EXPECT_THAT(Refusal<UnimplementedException>(LiteRtLmPreamble(2, 33) + "header"),
                HasSubstr("of format version 2.7.0; version 1 is read"));
    for (const uint64_t end :
         {uint64_t{0}, uint64_t{31}, uint64_t{32}, uint64_t{1} << 20, uint64_t{1} << 63, ~uint64_t{0}})
    {
        EXPECT_THAT(Refusal(WithLittleEndian(file, 24, end)), HasSubstr("its header ends at byte"));
    }
    EXPECT_THAT(Refusal(WithLittleEndian(file, 24, uint64_t{40})),
                HasSubstr("an offset in its header of 8 bytes leads outside"));
    for (const uint32_t root : {0U, 0x7FFFFFFFU, 0xFFFFFFFFU})
    {
        EXPECT_THAT(Refusal(WithLittleEndian(file, 32, root)), HasSubstr("leads outside"));
    }
    EXPECT_THAT(Refusal(MakeLiteRtLm({{Kind::TFLiteModel, "a", "TFL"}})),
                HasSubstr("section 0 is to be a .tflite model"));

    const auto bent = [&](const std::function<void(lm::SectionObjectT&)>& bend)
    { return Refusal(MakeLiteRtLm(sections, 0, [&](lm::SectionMetadataT& metadata) { bend(*metadata.objects[1]); })); };
    EXPECT_THAT(bent([](auto& section) { section.end_offset = section.begin_offset; }),
                HasSubstr("section 1 from byte 8192 to 8192"));
    EXPECT_THAT(bent([](auto& section) { section.end_offset = section.begin_offset - 1; }),
                HasSubstr("is empty or lies outside"));
    EXPECT_THAT(bent([](auto& section) { ++section.end_offset; }), HasSubstr("is empty or lies outside"));
    EXPECT_THAT(bent([](auto& section) { section.end_offset = ~uint64_t{0}; }), HasSubstr("is empty or lies outside"));
    EXPECT_THAT(bent([](auto& section) { section.begin_offset = 32; }), HasSubstr("section 1 from byte 32"));
    EXPECT_THAT(bent([](auto& section) { section.begin_offset = 4100; }),
                HasSubstr("two sections overlap at byte 4100"));
    EXPECT_THAT(
        bent([](auto& section) { section.items.push_back(std::make_unique<lm::KeyValuePairT>(*section.items[0])); }),
        HasSubstr("section 1 has two values of 'model_type'"));
    for (const std::string& name : {std::string("a\x1B[2J"), std::string("\xFF"), std::string(1025, 'a')})
    {
        EXPECT_THAT(Refusal(MakeLiteRtLm({{Kind::TFLiteModel, name, ToText(AddModel(1.0f))}})),
                    HasSubstr("the model_type of section 0 is empty, longer than 1024 bytes"));
    }

    lm::HeaderT many;
    many.section_metadata = std::make_unique<lm::SectionMetadataT>();
    many.section_metadata->objects.resize(4097);
    for (auto& object : many.section_metadata->objects)
    {
        object = std::make_unique<lm::SectionObjectT>();
    }
    EXPECT_THAT(Refusal(MakeLiteRtLm(many)), HasSubstr("has 4097 sections; at most 4096 are read"));
}

/// AddModel with its constant in external buffer 9: four floats at byte 8 of the weights.
ModelBuilder ExternalModel(const std::string& group = "tflite_weights")
{
    ModelBuilder model = AddModel(0.0f);
    model.Tensor(1).buffer = 0;
    model.Tensor(1).external_buffer = 9;
    auto named = std::make_unique<schema::ExternalBufferGroupT>();
    named->name = group;
    model.Model().external_buffer_groups.push_back(std::move(named));
    auto buffer = std::make_unique<schema::ExternalBufferT>();
    buffer->id = 9;
    buffer->offset = 8;
    buffer->length = 16;
    buffer->packing = "unpacked";
    model.Model().external_buffers.push_back(std::move(buffer));
    return model;
}

std::string Weights(float value)
{
    std::string weights(8, '\0');
    for (int i = 0; i < 4; ++i)
    {
        AppendNumber(weights, value);
    }
    return weights;
}

TEST(Containers, WeightsApartFromTheirModel)
{
    using Kind = lm::SectionKind;
    const std::string model = ToText(ExternalModel());
    for (const size_t shift : {0, 3, 4, 8}) // model and weights are copied where that is needed
    {
        const std::string file = MakeLiteRtLm({{Kind::TFLiteWeights, "a", Weights(5.0f)},
                                               {Kind::TFLiteModel, "a", model},
                                               {Kind::TFLiteWeights, "b", Weights(6.0f)},
                                               {Kind::TFLiteModel, "b", model},
                                               {Kind::TFLiteModel, "c", model}},
                                              shift);
        EXPECT_EQ(ValueOf(file, "a"), 5.0f);
        EXPECT_EQ(ValueOf(file, "b"), 6.0f);
        EXPECT_THAT(MessageOf<UnimplementedException>([&] { ValueOf(file, "c"); }),
                    HasSubstr("its data is in another file ('tflite_weights'), which is not supported"));
    }
    const auto refusal = [&](const ModelBuilder& bent)
    {
        const std::string file =
            MakeLiteRtLm({{Kind::TFLiteModel, "a", ToText(bent)}, {Kind::TFLiteWeights, "a", Weights(5.0f)}});
        return MessageOf<Exception>([&] { ValueOf(file); });
    };
    EXPECT_THAT(refusal(ExternalModel("other.bin")), HasSubstr("its data is in another file ('other.bin')"));
    ModelBuilder bent = ExternalModel();
    bent.Model().external_buffers[0]->packing = "nibbles";
    EXPECT_THAT(refusal(bent), HasSubstr("its data is packed as 'nibbles', which is not supported"));
    bent = ExternalModel();
    for (const auto& [offset, length] :
         {std::pair<uint64_t, uint64_t>{9, 16}, {8, 17}, {~uint64_t{0}, 16}, {8, ~uint64_t{0}}})
    {
        bent.Model().external_buffers[0]->offset = offset;
        bent.Model().external_buffers[0]->length = length;
        EXPECT_THAT(refusal(bent), HasSubstr("lies outside of the 24 bytes of weights"));
    }
    bent = ExternalModel();
    bent.Model().external_buffers[0]->length = 12;
    EXPECT_THAT(refusal(bent), HasSubstr("of 16 bytes, but its data has 12"));
    bent = ExternalModel();
    bent.Model().external_buffers[0]->id = 8;
    EXPECT_THAT(refusal(bent), HasSubstr("external buffer 9 does not exist: the model has 1"));
    bent = ExternalModel();
    bent.Model().external_buffers[0]->group = 1;
    EXPECT_THAT(refusal(bent), HasSubstr("group 1 of external buffer 9 does not exist: the model has 1"));
    bent = ExternalModel();
    bent.Model().external_buffers.push_back(
        std::make_unique<schema::ExternalBufferT>(*bent.Model().external_buffers[0]));
    EXPECT_THAT(refusal(bent), HasSubstr("two external buffers of id 9"));
    EXPECT_THAT(MessageOf<UnimplementedException>([&] { ValueOf(model); }), HasSubstr("its data is in another file"));
}

/// What is read of the weights counts as part of the file, and so does not exceed the bounds of a short model.
TEST(Containers, WeightsAreLongerThanTheirModel)
{
    using Kind = lm::SectionKind;
    constexpr uint32_t elements = 1U << 20;
    ModelBuilder model = ExternalModel();
    for (const int32_t tensor : {0, 1, 2})
    {
        model.Tensor(tensor).shape = {static_cast<int32_t>(elements)};
    }
    model.Model().external_buffers[0]->length = elements * sizeof(float);
    std::string weights(8 + elements * sizeof(float), '\0');
    const std::string file =
        MakeLiteRtLm({{Kind::TFLiteModel, "a", ToText(model)}, {Kind::TFLiteWeights, "a", std::move(weights)}}, 3);
    EXPECT_EQ(RunEntry(ToBytes(file), "a", {elements}, Floats(elements, 2.0f)).at(5), 2.0f);
}

/// Whether the bytes hold no network by this name. Whatever they are, nothing but an exception of Tenon comes of them.
bool IsRefused(ITfLiteParser& parser, const std::string& file)
{
    try
    {
        return parser.CreateNetworkFromMemory(file.data(), file.size()) == nullptr;
    }
    catch (const Exception& error)
    {
        EXPECT_STRNE(error.what(), "");
        return true;
    }
}

/// Bends each of these bytes in turn.
void BendBytes(const std::string& file, size_t begin, size_t end)
{
    size_t refused = 0;
    for (size_t at = begin; at < end; ++at)
    {
        for (const int number : {0x00, 0x01, 0x7F, 0x80, 0xFF, static_cast<int>(file[at]) ^ 0x10})
        {
            std::string bent = file;
            bent[at] = static_cast<char>(number);
            const ITfLiteParserPtr parser = ITfLiteParser::Create();
            refused += IsRefused(*parser, bent);
            for (const std::string& entry : parser->GetEntryNames())
            {
                IsRefused(*ITfLiteParser::Create(Choose(entry)), bent);
            }
        }
    }
    EXPECT_GT(refused, end - begin);
}

TEST(Containers, BentBytes)
{
    using Kind = lm::SectionKind;
    const std::string bundle = ReadFile(BundlePath);
    BendBytes(bundle, 0, 44);
    BendBytes(bundle, bundle.find(ZipEntryRecord), bundle.size());
    const std::string wide = MakeZip({{"a", ToText(AddModel(1.0f))}}, {3, true, ""});
    BendBytes(wide, wide.find(ZipEntryRecord), wide.size());
    const std::string file =
        MakeLiteRtLm({{Kind::TFLiteModel, "a", ToText(ExternalModel())}, {Kind::TFLiteWeights, "a", Weights(5.0f)}});
    BendBytes(file, 0, 400);
}

} // namespace tenon::test::containers_test
