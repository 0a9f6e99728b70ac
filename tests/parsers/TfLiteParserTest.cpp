// SPDX-License-Identifier: Apache-2.0
// Tests of the .tflite parser: bindings, graph structure, options and what an error says.
#include "parsers/ModelBuilder.hpp"

#include <tenon/TensorHandle.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace tenon::test::tf_lite_parser_test
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using Operator = ModelBuilder::Operator;
using Type = ModelBuilder::Type;
using Options = ITfLiteParser::TfLiteParserOptions;

/// in -> ABS -> out
ModelBuilder AbsModel()
{
    ModelBuilder model;
    const int32_t in = model.AddInput("in", {2, 3});
    const int32_t out = model.AddOutput("out", {2, 3});
    model.AddOperator(Operator::ABS, {in}, {out});
    return model;
}

/// in -> ABS -> middle -> ABS -> out
ModelBuilder ChainModel()
{
    ModelBuilder model;
    const int32_t in = model.AddInput("in", {1, 3});
    const int32_t middle = model.AddTensor("middle", {1, 3});
    const int32_t out = model.AddOutput("out", {1, 3});
    model.AddOperator(Operator::ABS, {in}, {middle});
    model.AddOperator(Operator::ABS, {middle}, {out});
    return model;
}

} // namespace

TEST(TfLiteParser, InputsComeInTheOrderOfTheListWithoutConstantAndAbsentOnes)
{
    ModelBuilder model;
    const int32_t second = model.AddTensor("second", {1});
    const int32_t constant = model.AddFloats("constant", {1});
    const int32_t first = model.AddTensor("first", {1});
    const int32_t state = model.AddTensor("state", {1});
    model.Tensor(state).is_variable = true;
    model.Graph().inputs = {first, -1, constant, second, state};
    const int32_t sum = model.AddTensor("sum", {1});
    const int32_t more = model.AddTensor("more", {1});
    const int32_t out = model.AddOutput("out", {1});
    model.AddOperator(Operator::MAXIMUM, {first, second}, {sum});
    model.AddOperator(Operator::MAXIMUM, {sum, state}, {more});
    model.AddOperator(Operator::MAXIMUM, {more, constant}, {out});

    const Parsed parsed(model);
    EXPECT_THAT(parsed.m_Parser->GetSubgraphInputTensorNames(0), ElementsAre("first", "second", "state"));
    EXPECT_EQ(parsed.m_Parser->GetNetworkInputBindingInfo(0, "first").first, 0);
    EXPECT_EQ(parsed.m_Parser->GetNetworkInputBindingInfo(0, "state").first, 2);
    EXPECT_EQ(parsed.Find(LayerType::Input).size(), 3u);
    EXPECT_EQ(parsed.Find(LayerType::Constant).size(), 1u);
    EXPECT_EQ(parsed.m_Parser->GetSubgraphCount(), 1u);
}

TEST(TfLiteParser, OutputsMayRepeatAndComeFromAnywhere)
{
    ModelBuilder model = AbsModel();
    const int32_t constant = model.AddFloats("constant", {1});
    model.Graph().outputs = {1, 0, 1, constant};
    const Parsed parsed(model);
    EXPECT_THAT(parsed.m_Parser->GetSubgraphOutputTensorNames(0), ElementsAre("out", "in", "out_1", "constant"));
    EXPECT_EQ(parsed.m_Parser->GetNetworkOutputBindingInfo(0, "out_1").first, 2);
    const auto outputs = parsed.Find(LayerType::Output);
    ASSERT_EQ(outputs.size(), 4u);
    EXPECT_EQ(parsed.The(LayerType::Input).GetOutputSlot(0).GetNumConnections(), 2u);
}

TEST(TfLiteParser, NamesAreMadeUnique)
{
    ModelBuilder model;
    for (const char* name : {"x", "", "x", "x_1"})
    {
        model.AddInput(name, {1});
    }
    model.Graph().outputs = {0};
    const Parsed parsed(model);
    EXPECT_THAT(parsed.m_Parser->GetSubgraphInputTensorNames(0), ElementsAre("x", "tensor_1", "x_1", "x_1_1"));
    EXPECT_EQ(parsed.m_Parser->GetNetworkInputBindingInfo(0, "x_1_1").first, 3);
}

TEST(TfLiteParser, UnknownNamesAndSubgraphsAreListed)
{
    const Parsed parsed(AbsModel());
    EXPECT_THROW(parsed.m_Parser->GetNetworkInputBindingInfo(1, "in"), ParseException);
    try
    {
        parsed.m_Parser->GetNetworkOutputBindingInfo(0, "nothing");
        FAIL();
    }
    catch (const ParseException& error)
    {
        EXPECT_THAT(error.what(), HasSubstr("'nothing'; it has 'out'"));
    }
}

TEST(TfLiteParser, ValidationSubgraphsDoNotCount)
{
    ModelBuilder model = AbsModel();
    for (const char* name : {"VALIDATION:main", "body"})
    {
        model.Model().subgraphs.push_back(std::make_unique<schema::SubGraphT>());
        model.Model().subgraphs.back()->name = name;
    }
    EXPECT_EQ(Parsed(model).m_Parser->GetSubgraphCount(), 2u);
}

TEST(TfLiteParser, ShapesAndUnknownShapes)
{
    ModelBuilder model;
    const int32_t in = model.AddInput("in", {1, 3});
    model.Tensor(in).shape_signature = {-1, 3};
    const int32_t middle = model.AddTensor("middle", {1, 3});
    model.Tensor(middle).shape_signature = {-1, 3};
    const int32_t scalar = model.AddTensor("scalar", {});
    const int32_t unknown = model.AddOutput("unknown", {});
    model.Tensor(unknown).has_rank = false;
    model.AddOperator(Operator::ABS, {in}, {middle});
    model.AddOperator(Operator::ABS, {middle}, {scalar});
    model.AddOperator(Operator::ABS, {scalar}, {unknown});

    const Parsed parsed(model);
    // An input that nobody resizes has the shape that the file gives; what is computed has one to be inferred.
    EXPECT_EQ(OutputInfo(parsed.The(LayerType::Input)).GetShape(), TensorShape({1, 3}));
    const auto unary = parsed.Find(LayerType::ElementwiseUnary);
    ASSERT_EQ(unary.size(), 3u);
    EXPECT_EQ(OutputInfo(*unary[0]).GetShape(), TensorShape({0, 3}, {false, true}));
    EXPECT_TRUE(OutputInfo(*unary[1]).GetShape().IsScalar());
    EXPECT_EQ(OutputInfo(*unary[2]).GetShape(), TensorShape());
}

TEST(TfLiteParser, BindingsOfInputsAreConstantAndNothingElse)
{
    const Parsed parsed(AbsModel());
    const TensorInfo input = parsed.m_Parser->GetNetworkInputBindingInfo(0, "in").second;
    EXPECT_TRUE(input.IsConstant());
    const std::vector<float> values(6);
    EXPECT_EQ(ConstTensor(input, values.data()).GetNumBytes(), 24u);
    EXPECT_FALSE(parsed.m_Parser->GetNetworkOutputBindingInfo(0, "out").second.IsConstant());
    EXPECT_FALSE(OutputInfo(parsed.The(LayerType::Input)).IsConstant());
    EXPECT_FALSE(OutputInfo(parsed.The(LayerType::ElementwiseUnary)).IsConstant());
}

TEST(TfLiteParser, BindingsOfOutputsHaveTheSizesThatTheFileLeavesOpen)
{
    const auto shape = [](const ModelBuilder& model, const char* name, const Options& options = {})
    { return Parsed(model, options).m_Parser->GetNetworkOutputBindingInfo(0, name).second.GetShape(); };
    ModelBuilder model;
    const int32_t in = model.AddInput("in", {1, 10});
    model.Tensor(in).shape_signature = {-1, 10};
    const int32_t middle = model.AddTensor("middle", {1, 10});
    const int32_t out = model.AddOutput("out", {1, 10});
    const int32_t untold = model.AddOutput("untold", {});
    model.Tensor(middle).shape_signature = model.Tensor(out).shape_signature = {-1, 10};
    model.Tensor(untold).has_rank = false;
    model.AddOperator(Operator::ABS, {in}, {middle});
    model.AddOperator(Operator::ABS, {middle}, {out});
    model.AddOperator(Operator::ABS, {middle}, {untold});
    EXPECT_EQ(shape(model, "out"), TensorShape({1, 10}));
    EXPECT_EQ(shape(model, "untold"), TensorShape({1, 10}));
    // A file that is resized by hand may have stale sizes in all tensors but its inputs.
    model.Tensor(in).shape = {4, 10};
    EXPECT_EQ(shape(model, "out"), TensorShape({4, 10}));
    Options options;
    options.m_InputShapes["in"] = TensorShape({7, 10});
    EXPECT_EQ(shape(model, "out", options), TensorShape({7, 10}));
    EXPECT_EQ(shape(model, "untold", options), TensorShape({7, 10}));
    // What the caller resizes to does not fit: Optimize() says so.
    options.m_InputShapes["in"] = TensorShape({7, 11});
    model.AddOperator(Operator::ADD, {in, model.AddFloats("row", {10})}, {model.AddOutput("sum", {1, 10})},
                      schema::AddOptionsT());
    EXPECT_EQ(shape(model, "sum", options), TensorShape());
}

TEST(TfLiteParser, BindingsOfOutputsThatFollowFromValuesHaveTheShapeOfTheFile)
{
    ModelBuilder model;
    const int32_t in = model.AddInput("in", {2, 6});
    const int32_t target = model.AddInput("target", {2}, Type::INT32);
    const int32_t out = model.AddOutput("out", {1, 12});
    model.Tensor(out).shape_signature = {-1, -1};
    const int32_t untold = model.AddOutput("untold", {});
    model.Tensor(untold).has_rank = false;
    model.AddOperator(Operator::RESHAPE, {in, target}, {out});
    model.AddOperator(Operator::RESHAPE, {in, target}, {untold});
    const Parsed parsed(model);
    EXPECT_EQ(parsed.m_Parser->GetNetworkOutputBindingInfo(0, "out").second.GetShape(), TensorShape({1, 12}));
    EXPECT_EQ(parsed.m_Parser->GetNetworkOutputBindingInfo(0, "untold").second.GetShape(), TensorShape());
    Options options;
    options.m_InputShapes["in"] = TensorShape({3, 6});
    const Parsed resized(model, options);
    EXPECT_EQ(resized.m_Parser->GetNetworkOutputBindingInfo(0, "out").second.GetShape(), TensorShape());
}

TEST(TfLiteParser, InferAndValidateLeavesComputedShapesOpen)
{
    Options options;
    options.m_InferAndValidate = true;
    const Parsed parsed(ChainModel(), options);
    EXPECT_EQ(OutputInfo(parsed.The(LayerType::Input)).GetShape(), TensorShape({1, 3}));
    for (const IConnectableLayer* layer : parsed.Find(LayerType::ElementwiseUnary))
    {
        EXPECT_EQ(OutputInfo(*layer).GetShape(), TensorShape());
    }
    const std::string output = parsed.m_Parser->GetSubgraphOutputTensorNames(0).front();
    EXPECT_EQ(parsed.m_Parser->GetNetworkOutputBindingInfo(0, output).second.GetShape(), TensorShape({1, 3}));
}

TEST(TfLiteParser, InputShapesResizeInputs)
{
    Options options;
    options.m_InputShapes["in"] = TensorShape({7, 3});
    const Parsed parsed(ChainModel(), options);
    EXPECT_EQ(OutputInfo(parsed.The(LayerType::Input)).GetShape(), TensorShape({7, 3}));
    EXPECT_EQ(parsed.m_Parser->GetNetworkInputBindingInfo(0, "in").second.GetShape(), TensorShape({7, 3}));
    EXPECT_EQ(OutputInfo(*parsed.Find(LayerType::ElementwiseUnary).front()).GetShape(), TensorShape());

    options.m_InputShapes["other"] = TensorShape({1});
    EXPECT_THAT(ErrorOf<InvalidArgumentException>(ChainModel(), options), HasSubstr("'other'"));
    EXPECT_THAT(ErrorOf<InvalidArgumentException>(ChainModel(), options), HasSubstr("its inputs are 'in'"));
}

TEST(TfLiteParser, UnknownOperatorsBecomeCustomLayers)
{
    ModelBuilder model;
    const int32_t in = model.AddInput("in", {2});
    const int32_t middle = model.AddTensor("middle", {2});
    const int32_t out = model.AddOutput("out", {2});
    schema::HashtableOptionsT options;
    options.table_id = 7;
    model.AddOperator(Operator::HASHTABLE, {in, -1}, {middle}, options);
    model.AddOperator(Operator::CUSTOM, {middle}, {out}).custom_options = {1, 2, 3};
    model.Model().operator_codes[1]->custom_code = "MyOp";

    const Parsed parsed(model);
    const auto custom = parsed.Find(LayerType::Custom);
    ASSERT_EQ(custom.size(), 2u);
    const auto& builtin = dynamic_cast<const CustomDescriptor&>(custom[0]->GetParameters());
    EXPECT_EQ(builtin.m_Name, "HASHTABLE");
    EXPECT_EQ(builtin.m_NumInputs, 2u);
    EXPECT_EQ(custom[0]->GetInputSlot(1).GetConnection(), nullptr);
    EXPECT_EQ(flatbuffers::GetRoot<schema::HashtableOptions>(builtin.m_Options.data())->table_id(), 7);
    const auto& own = dynamic_cast<const CustomDescriptor&>(custom[1]->GetParameters());
    EXPECT_EQ(own.m_Name, "MyOp");
    EXPECT_THAT(own.m_Options, ElementsAre(1, 2, 3));

    Options standIn;
    standIn.m_StandInLayerForUnsupported = true;
    EXPECT_EQ(Parsed(model, standIn).Find(LayerType::StandIn).size(), 2u);
}

TEST(TfLiteParser, CodesThatAreNewerThanTheSchemaBecomeCustomLayers)
{
    ModelBuilder model = AbsModel();
    model.Model().operator_codes[0]->builtin_code = static_cast<Operator>(4711);
    EXPECT_EQ(Parsed(model).Get<CustomDescriptor>(LayerType::Custom).m_Name, "BUILTIN_4711");
}

TEST(TfLiteParser, OperatorCodeIsTheLargerOfBothFields)
{
    ModelBuilder model = AbsModel();
    model.Model().operator_codes[0]->builtin_code = Operator::ADD; // as old files have it: 0
    model.Model().operator_codes[0]->deprecated_builtin_code = static_cast<int8_t>(Operator::ABS);
    EXPECT_EQ(Parsed(model).Find(LayerType::ElementwiseUnary).size(), 1u);

    ModelBuilder newer = AbsModel();
    newer.Model().operator_codes[0]->builtin_code = Operator::GELU;
    newer.Model().operator_codes[0]->deprecated_builtin_code = 127;
    EXPECT_EQ(Parsed(newer).Get<ActivationDescriptor>(LayerType::Activation).m_Function, ActivationFunction::Gelu);
}

TEST(TfLiteParser, ConstantsAreShared)
{
    ModelBuilder model;
    const int32_t in = model.AddInput("in", {4});
    const int32_t constant = model.AddFloats("constant", {4});
    model.AddFloats("unused", {4});
    const int32_t middle = model.AddTensor("middle", {4});
    const int32_t out = model.AddOutput("out", {4});
    model.AddOperator(Operator::MAXIMUM, {in, constant}, {middle});
    model.AddOperator(Operator::MINIMUM, {middle, constant}, {out});
    const Parsed parsed(model);
    EXPECT_EQ(parsed.The(LayerType::Constant).GetOutputSlot(0).GetNumConnections(), 2u);
    EXPECT_STREQ(parsed.The(LayerType::Constant).GetName(), "constant");
}

TEST(TfLiteParser, ErrorsNameSubgraphOperatorAndTensor)
{
    ModelBuilder model = ChainModel();
    model.Op(1).inputs = {model.AddTensor("lost", {4})};
    const std::string text = ErrorOf<ParseException>(model);
    EXPECT_THAT(text, HasSubstr("subgraph 0 'main'"));
    EXPECT_THAT(text, HasSubstr("operator 1 ABS"));
    EXPECT_THAT(text, HasSubstr("tensor 'lost' is read"));
}

TEST(TfLiteParser, RefusesContradictoryGraphs)
{
    const auto refuses = [](const char* what, void (*bend)(ModelBuilder&), const char* text)
    {
        SCOPED_TRACE(what);
        ModelBuilder model = ChainModel();
        bend(model);
        EXPECT_THAT(ErrorOf<ParseException>(model), HasSubstr(text));
    };
    refuses(
        "version", [](ModelBuilder& m) { m.Model().version = 2; }, "version 2");
    refuses(
        "no subgraph", [](ModelBuilder& m) { m.Model().subgraphs.clear(); }, "subgraph 0 does not exist");
    refuses(
        "graph input index", [](ModelBuilder& m) { m.Graph().inputs = {99}; }, "tensor 99 does not exist");
    refuses(
        "graph output index", [](ModelBuilder& m) { m.Graph().outputs = {-1}; }, "tensor -1 does not exist");
    refuses(
        "operand index", [](ModelBuilder& m) { m.Op(0).inputs = {3}; }, "input 0: tensor 3 does not exist");
    refuses(
        "negative operand", [](ModelBuilder& m) { m.Op(0).inputs = {-2}; }, "tensor -2 does not exist");
    refuses(
        "absent operand", [](ModelBuilder& m) { m.Op(0).inputs = {-1}; }, "input 0 is absent");
    refuses(
        "absent output", [](ModelBuilder& m) { m.Op(0).outputs = {-1}; }, "output 0 is absent");
    refuses(
        "too many inputs",
        [](ModelBuilder& m) {
            m.Op(0).inputs = {0, 0};
        },
        "has 2 inputs, needs 1");
    refuses(
        "too few outputs", [](ModelBuilder& m) { m.Op(0).outputs = {}; }, "has 0 outputs, needs 1");
    refuses(
        "opcode index", [](ModelBuilder& m) { m.Op(0).opcode_index = 77; }, "opcode_index 77");
    refuses(
        "cycle", [](ModelBuilder& m) { m.Op(0).inputs = {1}; }, "0 ABS needs 0 ABS");
    refuses(
        "produced twice", [](ModelBuilder& m) { m.Op(1).outputs = {1}; }, "from elsewhere");
    refuses(
        "produces an input", [](ModelBuilder& m) { m.Op(1).outputs = {0}; }, "from elsewhere");
    refuses(
        "nothing computes an output", [](ModelBuilder& m) { m.Graph().operators.pop_back(); }, "'out' is read");
    refuses(
        "negative code",
        [](ModelBuilder& m)
        {
            m.Model().operator_codes[0]->builtin_code = static_cast<Operator>(-5);
            m.Model().operator_codes[0]->deprecated_builtin_code = -5;
        },
        "builtin code -5");
}

TEST(TfLiteParser, LimitsAreChecked)
{
    Options options;
    options.m_Limits.m_MaxLayers = 3;
    EXPECT_THAT(ErrorOf<ParseException>(ChainModel(), options), HasSubstr("m_MaxLayers"));
    options = {};
    options.m_Limits.m_MaxRank = 1;
    EXPECT_THAT(ErrorOf<ParseException>(ChainModel(), options), HasSubstr("m_MaxRank"));
    options = {};
    options.m_Limits.m_MaxTensorBytes = 11;
    EXPECT_THAT(ErrorOf<ParseException>(ChainModel(), options), HasSubstr("m_MaxTensorBytes"));
    options = {};
    options.m_Limits.m_MaxFileBytes = 100;
    EXPECT_THAT(ErrorOf<ParseException>(ChainModel(), options), HasSubstr("m_MaxFileBytes"));
    options = {};
    options.m_Limits.m_MaxNesting = 2;
    EXPECT_THAT(ErrorOf<ParseException>(ChainModel(), options), HasSubstr("limits"));
    options = {};
    options.m_InputShapes["in"] = TensorShape({4000000000u, 4000000000u, 4000000000u});
    EXPECT_THAT(ErrorOf<ParseException>(ChainModel(), options), HasSubstr("more elements than"));
}

TEST(TfLiteParser, SharedListsDoNotMultiply)
{
    // Each operator refers to one and the same list of operands: reading it a million times would be out of proportion.
    flatbuffers::FlatBufferBuilder builder;
    const std::vector<int32_t> none(200000, -1);
    const auto list = builder.CreateVector(none);
    std::vector<flatbuffers::Offset<schema::Operator>> operators(50000, schema::CreateOperator(builder, 0, list));
    const auto code = schema::CreateOperatorCode(builder, 32, builder.CreateString("Any"), 1, Operator::CUSTOM);
    const auto graph = schema::CreateSubGraph(builder, 0, 0, 0, builder.CreateVector(operators));
    schema::FinishModelBuffer(builder, schema::CreateModel(builder, 3, builder.CreateVector(std::vector{code}),
                                                           builder.CreateVector(std::vector{graph})));
    const std::vector<uint8_t> bytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
    try
    {
        Parsed parsed(bytes);
        FAIL();
    }
    catch (const ParseException& error)
    {
        EXPECT_THAT(error.what(), HasSubstr("over and over"));
    }
}

TEST(TfLiteParser, RefusesWhatIsNoModel)
{
    EXPECT_THROW(Parsed(std::vector<uint8_t>{}), ParseException);
    EXPECT_THROW(Parsed(std::vector<uint8_t>(1000, 7)), ParseException);
    const ITfLiteParserPtr parser = ITfLiteParser::Create();
    EXPECT_THROW(parser->CreateNetworkFromBinaryFile("no/such/file.tflite"), FileNotFoundException);
    EXPECT_THROW(parser->CreateNetworkFromBinaryFile("tests"), ParseException);
    EXPECT_THROW(parser->CreateNetworkFromBinaryFile(nullptr), InvalidArgumentException);
    EXPECT_THROW(parser->CreateNetworkFromMemory(nullptr, 4), InvalidArgumentException);
    EXPECT_TRUE(parser->GetSubgraphInputTensorNames(0).empty());
}

TEST(TfLiteParser, AFailedParseLeavesNothingBehind)
{
    const ITfLiteParserPtr parser = ITfLiteParser::Create();
    parser->CreateNetworkFromBinary(AbsModel().Build());
    ModelBuilder bad = ChainModel();
    bad.Op(1).inputs = {99};
    EXPECT_THROW(parser->CreateNetworkFromBinary(bad.Build()), ParseException);
    EXPECT_TRUE(parser->GetSubgraphOutputTensorNames(0).empty());
    const INetworkPtr network = parser->CreateNetworkFromBinary(AbsModel().Build());
    EXPECT_THAT(parser->GetSubgraphOutputTensorNames(0), ElementsAre("out"));
}

TEST(TfLiteParser, TheNetworkOutlivesParserAndFile)
{
    ModelBuilder model;
    const int32_t in = model.AddInput("in", {4});
    const int32_t constant = model.AddFloats("constant", {4});
    const int32_t out = model.AddOutput("out", {4});
    model.AddOperator(Operator::MAXIMUM, {in, constant}, {out});
    const std::vector<uint8_t> bytes = model.Build();
    const std::string path = testing::TempDir() + "tenon_parser_test.tflite";
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    INetworkPtr network = ITfLiteParser::Create()->CreateNetworkFromBinaryFile(path.c_str());
    std::remove(path.c_str());

    Parsed::Collector layers;
    network->ExecuteStrategy(layers);
    for (const IConnectableLayer* layer : layers.m_All)
    {
        if (layer->GetType() == LayerType::Constant)
        {
            EXPECT_EQ(layer->GetConstantTensorsByRef().front().get()->GetConstTensor<float>()[3], 1.0f);
        }
    }
}

} // namespace tenon::test::tf_lite_parser_test
