// SPDX-License-Identifier: Apache-2.0
// Tests of how the .tflite parser reads options, whatever the operator: tables of tflite.fbs and FlexBuffers maps, and
// that each row asks for options that exist.
#include "parsers/ExampleModels.hpp"
#include "parsers/ModelBuilder.hpp"
#include "parsers/tflite/FlexOptions.hpp"
#include "parsers/tflite/Operators.hpp"
#include "parsers/tflite/OptionsReader.hpp"

#include <flatbuffers/flexbuffers.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace tenon::test::options_test
{

namespace
{

using parsers::AttributeList;
using parsers::UnknownOptionException;
using testing::ElementsAre;
using testing::HasSubstr;
using tflite::FindRow;
using tflite::OperatorView;
using Operator = ModelBuilder::Operator;

AttributeList Read(const std::vector<uint8_t>& bytes, Operator code)
{
    tflite::Model model = tflite::Model::FromCopy(bytes, Limits());
    return ReadOptions(model, *model.Subgraph(0).operators()->Get(0), static_cast<int32_t>(code));
}

/// Whether the parser takes the model. That a row asks for an option that does not exist fails the test.
bool Parses(const ModelBuilder& model)
{
    try
    {
        Parsed parsed(model);
        return true;
    }
    catch (const UnknownOptionException& error)
    {
        ADD_FAILURE() << error.what();
    }
    catch (const Exception&) // values that fit only some operators
    {
    }
    return false;
}

std::vector<uint8_t> FlexMap(void (*fill)(flexbuffers::Builder&))
{
    flexbuffers::Builder builder;
    builder.Map([&] { fill(builder); });
    builder.Finish();
    return builder.GetBuffer();
}

std::vector<uint8_t> ExampleMap()
{
    return FlexMap(
        [](flexbuffers::Builder& b)
        {
            b.Int("int", -7);
            b.UInt("uint", 70000);
            b.Int("wide", int64_t{1} << 40);
            b.Float("float", 0.25f);
            b.Double("double", 1e300);
            b.Bool("bool", true);
            b.String("text", "NDHWC");
            b.Null("null");
            b.IndirectInt("indirect", 5);
            b.TypedVector("ints", [&] { b += 1, b += 300, b += -2; });
            b.Vector("untyped", [&] { b += 1, b += 2u, b += true; });
            b.FixedTypedVector("fixed", std::vector<int32_t>{8, 9, 10}.data(), 3);
            b.TypedVector("floats", [&] { b += 0.5f, b += 2.0f; });
            b.Vector("mixed", [&] { b += 1, b += "x"; });
            b.Map("map", [&] { b.Int("inner", 1); });
        });
}

/// What a row sees of a custom operator with these options.
OperatorView CustomOp(tflite::Model& model, Span<const uint8_t> options)
{
    return {"Custom", 0, {}, {}, tflite::ReadFlexOptions(model.Budget(), options), {}};
}

tflite::Model AnyModel()
{
    return tflite::Model::FromCopy(ModelBuilder().Build(), Limits());
}

} // namespace

TEST(TfLiteOptions, EveryTableBelongsToAnOperator)
{
    std::vector<Operator> seen;
    for (const OptionsTable& table : GetOptionsTables())
    {
        EXPECT_FALSE(table.m_Codes.empty()) << (table.m_IsSecond ? "second " : "") << table.m_Number;
        for (const Operator code : table.m_Codes)
        {
            EXPECT_THAT(seen, testing::Not(testing::Contains(code))) << EnumNameBuiltinOperator(code);
            seen.push_back(code);
        }
    }
}

TEST(TfLiteOptions, EveryRowAsksForOptionsThatExist)
{
    for (const ExampleRow& row : GetExampleRows())
    {
        SCOPED_TRACE(row.m_Name);
        bool isBuilt = false;
        VisitExamples(row, [&](const ModelBuilder& model) { isBuilt |= Parses(model); });
        EXPECT_TRUE(isBuilt) << "no example gets through the row: add operands that do to ExampleModels.cpp";
    }
}

TEST(TfLiteOptions, TablesAreReadByTheNamesOfTheirFields)
{
    tflite::Model model = AnyModel();
    const auto view = [](size_t number, bool second, Operator code)
    { return OperatorView("OP", 0, {}, {}, Read(ModelWith(number, second), code), {}); };

    const OperatorView conv = view(1, false, Operator::CONV_2D);
    EXPECT_EQ(conv.Int("stride_w", 5), 1);
    EXPECT_EQ(conv.Unsigned("padding", 0, 1), 1u);
    EXPECT_THROW(conv.Unsigned("stride_w", 0, 2), ParseException);
    EXPECT_THROW(conv.Int("stride_x", 5), UnknownOptionException);
    EXPECT_THROW(conv.Float("stride_w", 5), UnknownOptionException);
    EXPECT_THROW(conv.Bool("stride_w", true), UnknownOptionException);
    EXPECT_THROW(conv.Ints("stride_w"), UnknownOptionException);

    // Left out: what the row says, but names and kinds still hold.
    const OperatorView absent("OP", 0, {}, {}, Read(ModelWith(1, false), Operator::STABLEHLO_COMPOSITE), {});
    EXPECT_EQ(absent.Int("version", 5), 5);
    EXPECT_EQ(absent.Text("name"), "");
    EXPECT_FALSE(absent.Has("name"));
    EXPECT_THROW(absent.Int("name", 5), UnknownOptionException);
    EXPECT_THROW(absent.Has("title"), UnknownOptionException);

    const auto composite = static_cast<size_t>(schema::BuiltinOptions2::StableHLOCompositeOptions);
    const OperatorView second = view(composite, true, Operator::STABLEHLO_COMPOSITE);
    EXPECT_EQ(second.Text("name"), "text");
    EXPECT_EQ(second.Text("composite_attributes"), "\x01");
    EXPECT_TRUE(second.Has("version"));

    const auto pad = static_cast<size_t>(schema::BuiltinOptions2::StablehloPadOptions);
    EXPECT_THAT(view(pad, true, Operator::STABLEHLO_PAD).Int64s("edge_padding_low"), ElementsAre(1));
    EXPECT_THAT(view(pad, true, Operator::STABLEHLO_PAD).Ints("edge_padding_low"), ElementsAre(1));
    const auto bucketize = static_cast<size_t>(schema::BuiltinOptions::BucketizeOptions);
    EXPECT_EQ(view(bucketize, false, Operator::BUCKETIZE).Floats("boundaries").size(), 1u);
    const auto softmax = static_cast<size_t>(schema::BuiltinOptions::SoftmaxOptions);
    EXPECT_EQ(view(softmax, false, Operator::SOFTMAX).Float("beta", 0.0f), 1.0f);

    // Options of another operator matter when a row reads them.
    const OperatorView wrong("OP", 0, {}, {}, Read(ModelWith(1, false), Operator::SOFTMAX), {});
    EXPECT_THROW(wrong.Float("beta", 0.0f), ParseException);
}

TEST(TfLiteOptions, OperatorsIgnoreWrongOptionsThatTheyDoNotRead)
{
    ModelBuilder model;
    const int32_t in = model.AddInput("in", {1});
    model.AddOperator(Operator::RELU, {in}, {model.AddOutput("out", {1})}, schema::MulOptionsT());
    EXPECT_TRUE(Parses(model));
}

TEST(TfLiteOptions, LongListsAreCharged)
{
    // All operators share the list of one options table.
    flatbuffers::FlatBufferBuilder builder;
    const auto options = schema::CreateReshapeOptions(builder, builder.CreateVector(std::vector<int32_t>(200000, 1)));
    schema::OperatorBuilder op(builder);
    op.add_builtin_options_type(schema::BuiltinOptions::ReshapeOptions);
    op.add_builtin_options(options.Union());
    const std::vector<flatbuffers::Offset<schema::Operator>> operators(50000, op.Finish());
    const auto code = schema::CreateOperatorCode(builder, 22, 0, 1, Operator::RESHAPE);
    const auto graph = schema::CreateSubGraph(builder, 0, 0, 0, builder.CreateVector(operators));
    schema::FinishModelBuffer(builder, schema::CreateModel(builder, 3, builder.CreateVector(std::vector{code}),
                                                           builder.CreateVector(std::vector{graph})));
    tflite::Model model = tflite::Model::FromCopy({builder.GetBufferPointer(), builder.GetSize()}, Limits());
    const auto readAll = [&]
    {
        for (const schema::Operator* each : *model.Subgraph(0).operators())
        {
            ReadOptions(model, *each, static_cast<int32_t>(Operator::RESHAPE));
        }
    };
    EXPECT_THROW(readAll(), ParseException);
}

TEST(TfLiteOptions, CustomOptionsAreAMap)
{
    tflite::Model model = AnyModel();
    const std::vector<uint8_t> bytes = ExampleMap();
    const OperatorView op = CustomOp(model, bytes);
    EXPECT_EQ(op.Int("int", 0), -7);
    EXPECT_EQ(op.Int("uint", 0), 70000);
    EXPECT_EQ(op.Int64("wide", 0), int64_t{1} << 40);
    EXPECT_THROW(op.Int("wide", 0), ParseException);
    EXPECT_EQ(op.Float("float", 0), 0.25f);
    EXPECT_EQ(op.Float("int", 0), -7.0f);
    EXPECT_THROW(op.Float("double", 0), ParseException);
    EXPECT_TRUE(op.Bool("bool", false));
    EXPECT_TRUE(op.Bool("int", false));
    EXPECT_EQ(op.Text("text"), "NDHWC");
    EXPECT_EQ(op.Int("indirect", 0), 5);
    EXPECT_THAT(op.Ints("ints"), ElementsAre(1, 300, -2));
    EXPECT_THAT(op.Ints("untyped"), ElementsAre(1, 2, 1));
    EXPECT_THAT(op.Ints("fixed"), ElementsAre(8, 9, 10));
    EXPECT_THAT(op.Floats("floats"), ElementsAre(0.5f, 2.0f));
    EXPECT_THROW(op.Ints("mixed"), ParseException);
    EXPECT_THROW(op.Int("map", 0), ParseException);
    EXPECT_THROW(op.Int("text", 0), ParseException);
    EXPECT_THROW(op.Text("int"), ParseException);
    EXPECT_FALSE(op.Has("null"));
    EXPECT_EQ(op.Int("absent", 4), 4);

    EXPECT_EQ(CustomOp(model, {}).Int("absent", 4), 4);
    const uint8_t garbage[] = {1, 2, 3};
    const OperatorView bad = CustomOp(model, {garbage, 3});
    EXPECT_THROW(bad.Int("absent", 4), ParseException);
}

TEST(TfLiteOptions, CorruptCustomOptionsAreRefusedOrRead)
{
    tflite::Model model = AnyModel();
    const std::vector<uint8_t> good = ExampleMap();
    const auto tryAll = [&](const std::vector<uint8_t>& bytes)
    {
        const AttributeList list = tflite::ReadFlexOptions(model.Budget(), bytes);
        for (const parsers::Attribute& attribute : list.m_Attributes)
        {
            const auto* first = reinterpret_cast<const uint8_t*>(attribute.m_Name.data());
            EXPECT_TRUE(first >= bytes.data() && attribute.m_Name.size() < bytes.size());
        }
    };
    for (size_t size = 0; size < good.size(); ++size)
    {
        model = AnyModel();
        tryAll(std::vector<uint8_t>(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)));
        tryAll(std::vector<uint8_t>(good.begin() + static_cast<std::ptrdiff_t>(size), good.end()));
    }
    for (size_t at = 0; at < good.size(); ++at)
    {
        for (int value = 0; value < 256; ++value)
        {
            std::vector<uint8_t> bytes = good;
            bytes[at] = static_cast<uint8_t>(value);
            model = AnyModel();
            tryAll(bytes);
        }
    }
}

TEST(TfLiteOptions, RowsAreFoundByName)
{
    const auto nothing = [](const OperatorView&, tflite::NetworkBuilder&) {};
    const tflite::OperatorRow table[] = {
        {"Irfft2d", nothing, 2, 2, 1, 1}, {"Roll", nothing, 3, 3, 1, 1}, {"atan2", nothing, 2, 2, 1, 1}};
    const Span<const tflite::OperatorRow> rows(table, std::size(table));
    for (const char* name : {"Irfft2d", "Roll", "atan2"})
    {
        ASSERT_NE(FindRow(rows, name), nullptr);
        EXPECT_EQ(FindRow(rows, name)->m_Name, name);
    }
    for (const char* name : {"", "A", "Roll2", "roll", "zzz"})
    {
        EXPECT_EQ(FindRow(rows, name), nullptr);
    }

    // A custom operator is not the builtin one that has its name.
    EXPECT_NE(FindRow("ABS", false), nullptr);
    EXPECT_EQ(FindRow("ABS", true), nullptr);
    for (const ExampleRow& row : GetExampleRows())
    {
        EXPECT_NE(FindRow(row.m_Name, row.m_Code == Operator::CUSTOM), nullptr) << row.m_Name;
    }
}

/// Whether `word` stands in the text by itself.
static bool HasWord(const std::string& text, const std::string& word)
{
    const auto isPart = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    {
        const size_t end = at + word.size();
        if ((at == 0 || !isPart(text[at - 1])) && (end == text.size() || !isPart(text[end])))
        {
            return true;
        }
    }
    return false;
}

// What a row makes of operands and options is checked by its values, beside what is checked of all rows here.
TEST(TfLiteOptions, EachRowHasATest)
{
    ASSERT_TRUE(std::filesystem::exists("tests/parsers")) << "run it in the folder of the sources";
    std::string tests;
    for (const auto& entry : std::filesystem::directory_iterator("tests/parsers"))
    {
        if (entry.is_regular_file())
        {
            std::ifstream file(entry.path());
            tests.append(std::istreambuf_iterator<char>(file), {});
        }
    }
    for (const ExampleRow& row : GetExampleRows())
    {
        const bool isCustom = row.m_Code == Operator::CUSTOM;
        EXPECT_TRUE(isCustom ? tests.find('"' + row.m_Name + '"') != std::string::npos : HasWord(tests, row.m_Name))
            << "nothing in tests/parsers is about " << row.m_Name;
    }
}

} // namespace tenon::test::options_test
