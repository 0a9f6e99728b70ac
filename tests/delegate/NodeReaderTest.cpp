// SPDX-License-Identifier: Apache-2.0
// Nodes of an interpreter as the views that the parser's rows take: the same networks as from model files, and errors
// for what contradicts itself. Tensors by themselves: TensorScopeTest.cpp.
#include "delegate/NodeReader.hpp"

#include "delegate/BareTensors.hpp"
#include "delegate/BuiltinData.hpp"
#include "delegate/NodeModel.hpp"
#include "parsers/ExampleModels.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::test::node_reader_test
{

namespace
{

using namespace tenon::delegate;
using parsers::OperatorView;
using parsers::TensorView;
using testing::ElementsAre;
using testing::HasSubstr;
using Operator = ModelBuilder::Operator;
using Type = ModelBuilder::Type;

TfLiteRegistration RegistrationOf(int32_t code, const char* customName = nullptr)
{
    TfLiteRegistration registration{};
    registration.builtin_code = code;
    registration.custom_name = customName;
    registration.version = 1;
    return registration;
}

/// As an interpreter can show it: options whose lists have no counter in the struct have one element a dimension.
ModelBuilder AsNodesCanBe(const ModelBuilder& example)
{
    ModelBuilder model(example);
    for (size_t i = 0; i < model.Graph().tensors.size(); ++i)
    {
        model.Graph().tensors[i]->name = fmt::format("tensor {}", i);
    }
    schema::OperatorT& op = *model.Graph().operators.back();
    const size_t rank = op.inputs.empty() ? 0 : model.Tensor(op.inputs.front()).shape.size();
    if (auto* pad = op.builtin_options_2.AsStablehloPadOptions())
    {
        for (auto* list : {&pad->edge_padding_low, &pad->edge_padding_high, &pad->interior_padding})
        {
            list->assign(rank, 1);
        }
    }
    if (auto* window = op.builtin_options_2.AsStablehloReduceWindowOptions())
    {
        for (auto* list :
             {&window->window_dimensions, &window->window_strides, &window->base_dilations, &window->window_dilations})
        {
            list->assign(rank, 1);
        }
        window->padding.assign(2 * rank, 1);
    }
    return model;
}

bool IsLeft(const ExampleRow& row)
{
    return ReasonToLeave(RegistrationOf(static_cast<int32_t>(row.m_Code))) != nullptr;
}

/// The network as text, or what was thrown.
template <typename Function>
std::string Outcome(Function make)
{
    try
    {
        return ToJson(*make());
    }
    catch (const parsers::UnknownOptionException& error)
    {
        ADD_FAILURE() << error.what();
    }
    catch (const Exception&)
    {
    }
    return "refused";
}

void ExpectSameNetworks(const ModelBuilder& model)
{
    for (const bool inferShapes : {false, true})
    {
        ITfLiteParser::TfLiteParserOptions options;
        options.m_InferAndValidate = inferShapes;
        const Parsed parsed(model, options);
        NodeModel nodes(model);
        EXPECT_EQ(ToJson(*parsed.m_Network), ToJson(*nodes.MakeNetwork(inferShapes)));
    }
}

} // namespace

TEST(DelegateNodeReader, EveryRowMakesTheNetworkOfTheParser)
{
    for (const ExampleRow& row : GetExampleRows())
    {
        SCOPED_TRACE(row.m_Name);
        if (IsLeft(row))
        {
            continue;
        }
        size_t numMade = 0;
        VisitExamples(row,
                      [&](const ModelBuilder& example)
                      {
                          const ModelBuilder model = AsNodesCanBe(example);
                          if (ModelBuilder(model).Graph().operators.size() != 1)
                          {
                              return; // VAR_HANDLE for an operand
                          }
                          const std::string wanted = Outcome([&] { return std::move(Parsed(model).m_Network); });
                          const std::string made = Outcome([&] { return NodeModel(model).MakeNetwork(false); });
                          EXPECT_EQ(wanted, made);
                          numMade += made != "refused" ? 1 : 0;
                      });
        EXPECT_GT(numMade, 0U) << "no example got through the row";
    }
}

TEST(DelegateNodeReader, QuantizedConvolution)
{
    ModelBuilder model;
    const int32_t input = model.AddInput("in", {1, 4, 4, 2}, Type::INT8);
    model.Quantize(input, {0.5f}, {3});
    model.Tensor(input).shape_signature = {-1, 4, 4, 2};
    const int32_t weights = model.AddConstant<int8_t>("weights", {3, 1, 1, 2}, {1, 2, 3, 4, 5, 6}, Type::INT8);
    model.Quantize(weights, {0.1f, 0.2f, 0.3f}, {0, 0, 0}, 0);
    const int32_t bias = model.AddConstant<int32_t>("bias", {3}, {7, 8, 9}, Type::INT32);
    model.Quantize(bias, {0.05f, 0.1f, 0.15f}, {0, 0, 0}, 0);
    const int32_t output = model.AddOutput("out", {1, 4, 4, 3}, Type::INT8);
    model.Quantize(output, {0.25f}, {-4});
    model.Tensor(output).shape_signature = {-1, 4, 4, 3};
    schema::Conv2DOptionsT options;
    options.padding = schema::Padding::VALID;
    options.stride_w = 1;
    options.stride_h = 2;
    options.fused_activation_function = schema::ActivationFunctionType::RELU6;
    model.AddOperator(Operator::CONV_2D, {input, weights, bias}, {output}, options);
    ExpectSameNetworks(model);
}

TEST(DelegateNodeReader, ReshapeByItsOptions)
{
    ModelBuilder model;
    schema::ReshapeOptionsT options;
    options.new_shape = {3, -1};
    model.AddOperator(Operator::RESHAPE, {model.AddInput("in", {2, 3})}, {model.AddOutput("out", {3, 2})}, options);
    ExpectSameNetworks(model);
}

TEST(DelegateNodeReader, SparseWeights)
{
    ModelBuilder model;
    const int32_t weights = model.AddConstant<float>("weights", {2, 4}, {1, 2, 3}, Type::FLOAT32);
    auto sparsity = std::make_unique<schema::SparsityParametersT>();
    sparsity->traversal_order = {0, 1};
    sparsity->dim_metadata.push_back(std::make_unique<schema::DimensionMetadataT>());
    sparsity->dim_metadata.back()->dense_size = 2;
    sparsity->dim_metadata.push_back(std::make_unique<schema::DimensionMetadataT>());
    schema::DimensionMetadataT& columns = *sparsity->dim_metadata.back();
    columns.format = schema::DimensionType::SPARSE_CSR;
    schema::Int32VectorT segments;
    segments.values = {0, 1, 3};
    columns.array_segments.Set(std::move(segments));
    schema::Uint8VectorT indices;
    indices.values = {2, 0, 3};
    columns.array_indices.Set(std::move(indices));
    model.Tensor(weights).sparsity = std::move(sparsity);
    const int32_t dense = model.AddTensor("dense", {2, 4});
    model.AddOperator(Operator::DENSIFY, {weights}, {dense});
    model.AddOperator(Operator::FULLY_CONNECTED, {model.AddInput("in", {1, 4}), dense, -1},
                      {model.AddOutput("out", {1, 2})}, schema::FullyConnectedOptionsT());
    ExpectSameNetworks(model);

    NodeModel nodes(model);
    TensorScope tensors(nodes.Context(), nodes.IsComputed(), false, Limits());
    const TensorView& view = tensors.Get(weights);
    EXPECT_TRUE(view.m_IsSparse && view.m_IsConstant);
    ASSERT_EQ(view.m_Data.size(), 8 * sizeof(float));
    const auto* values = reinterpret_cast<const float*>(view.m_Data.data());
    EXPECT_THAT(std::vector<float>(values, values + 8), ElementsAre(0, 0, 1, 0, 2, 0, 0, 3));

    // What the arrays say is checked as in files.
    nodes.Tensor(static_cast<size_t>(weights)).sparsity->dim_metadata[1].array_indices->data[0] = 4;
    TensorScope bad(nodes.Context(), nodes.IsComputed(), false, Limits());
    EXPECT_THROW(bad.Get(weights), ParseException);
    nodes.Tensor(static_cast<size_t>(weights)).sparsity->dim_metadata = nullptr;
    EXPECT_THROW(bad.Get(weights), ParseException);
}

/// The state comes in as an input and goes out as an output: the network keeps none.
TEST(DelegateNodeReader, FedVariablesAreNoStatesOfTheNetwork)
{
    ModelBuilder model;
    const int32_t input = model.AddInput("in", {1, 2});
    const int32_t weights = model.AddFloats("weights", {3, 2});
    const int32_t recurrent = model.AddFloats("recurrent", {3, 3});
    const int32_t bias = model.AddFloats("bias", {3});
    const int32_t state = model.AddTensor("state", {1, 3});
    model.Tensor(state).is_variable = true;
    const int32_t output = model.AddOutput("out", {1, 3});
    model.AddOperator(Operator::RNN, {input, weights, recurrent, bias, state}, {output}, schema::RNNOptionsT());
    model.Graph().inputs.push_back(state);
    model.Graph().outputs.push_back(state);
    const INetworkPtr network = NodeModel(model).MakeNetwork(true);
    const std::string json = ToJson(*network);
    EXPECT_THAT(json, testing::Not(HasSubstr("ReadState")));
    EXPECT_THAT(json, testing::Not(HasSubstr("WriteState")));

    Parsed::Collector layers;
    network->ExecuteStrategy(layers);
    std::vector<const IConnectableLayer*> outputs;
    for (const IConnectableLayer* layer : layers.m_All)
    {
        if (layer->GetType() == LayerType::Output)
        {
            outputs.push_back(layer);
        }
    }
    ASSERT_EQ(outputs.size(), 2U);
    EXPECT_EQ(SourceOf(*outputs[0], 0).GetType(), LayerType::Rnn);
    EXPECT_EQ(SourceOf(*outputs[1], 0).GetType(), LayerType::Rnn) << "the new state";
    EXPECT_NE(outputs[0]->GetInputSlot(0).GetConnection(), outputs[1]->GetInputSlot(0).GetConnection());
}

TEST(DelegateNodeReader, Nodes)
{
    BareTensors tensors;
    tensors.Add(kTfLiteFloat32, {1, 3});
    tensors.Add(kTfLiteFloat32, {1, 3});
    TensorScope scope(tensors.Context(), tensors.m_IsComputed, false, Limits());
    TfLiteNode node{};
    const TfLiteRegistration add = RegistrationOf(static_cast<int32_t>(Operator::ADD));
    TfLiteAddParams params{1, true};
    node.builtin_data = &params;
    const OperatorView empty = ReadNode(scope, node, add, 4); // its arrays are null
    EXPECT_EQ(empty.NumInputs() + empty.NumOutputs() + empty.NumIntermediates(), 0U);
    EXPECT_EQ(empty.LayerName(), "ADD:4");
    EXPECT_EQ(empty.Int("fused_activation_function", 0), 1);

    node.inputs = tensors.Keep({0, -1});
    node.outputs = tensors.Keep({1});
    node.intermediates = tensors.Keep({0});
    const OperatorView op = ReadNode(scope, node, add, 0);
    EXPECT_EQ(op.NumInputs(), 2U);
    EXPECT_FALSE(op.HasInput(1));
    EXPECT_EQ(&op.Input(0), &scope.Get(0));
    EXPECT_EQ(&op.Output(0), &scope.Get(1));
    EXPECT_EQ(&op.Intermediate(0), &scope.Get(0));

    const auto refuses = [&](TfLiteIntArray* TfLiteNode::*list, int32_t number, const char* text)
    {
        TfLiteNode bad = node;
        bad.*list = tensors.Keep({0, number});
        try
        {
            ReadNode(scope, bad, add, 0);
            ADD_FAILURE() << "nothing was thrown";
        }
        catch (const ParseException& error)
        {
            EXPECT_THAT(error.what(), HasSubstr(text));
        }
    };
    refuses(&TfLiteNode::inputs, 2, "input 1: tensor 2 does not exist: the graph has 2");
    refuses(&TfLiteNode::outputs, -2, "output 1: tensor -2 does not exist");
    refuses(&TfLiteNode::intermediates, INT32_MAX, "intermediate 1: tensor 2147483647 does not exist");

    BareTensors resources;
    resources.Add(kTfLiteResource, {}).name = "handle";
    TensorScope handles(resources.Context(), resources.m_IsComputed, false, Limits());
    TfLiteNode reader{};
    reader.inputs = resources.Keep({0});
    EXPECT_THROW(ReadNode(handles, reader, add, 0), UnimplementedException);
}

TEST(DelegateNodeReader, CustomOperators)
{
    BareTensors tensors;
    tensors.Add(kTfLiteFloat32, {1});
    TensorScope scope(tensors.Context(), tensors.m_IsComputed, false, Limits());
    TfLiteNode node{};
    const std::vector<uint8_t> noMap = {1, 2, 3};
    node.custom_initial_data = noMap.data();
    node.custom_initial_data_size = static_cast<int32_t>(noMap.size());
    // One that no row knows keeps its bytes.
    const OperatorView unknown = ReadNode(scope, node, RegistrationOf(CustomCode, "Mystery"), 2);
    EXPECT_EQ(unknown.Name(), "Mystery");
    EXPECT_EQ(unknown.RawOptions(), noMap);
    // One with a row must have a map, once an option is asked for.
    const OperatorView known = ReadNode(scope, node, RegistrationOf(CustomCode, "MaxPool3D"), 2);
    EXPECT_THROW(known.Text("padding"), ParseException);
    node.custom_initial_data_size = -1;
    EXPECT_THROW(ReadNode(scope, node, RegistrationOf(CustomCode, "Mystery"), 2), ParseException);
    node.custom_initial_data = nullptr;
    node.custom_initial_data_size = 3;
    EXPECT_THROW(ReadNode(scope, node, RegistrationOf(CustomCode, "MaxPool3D"), 2), ParseException);
}

TEST(DelegateNodeReader, NamesAndRows)
{
    EXPECT_EQ(NameOfOperator(RegistrationOf(static_cast<int32_t>(Operator::CONV_2D))), "CONV_2D");
    EXPECT_EQ(NameOfOperator(RegistrationOf(100000)), "BUILTIN_100000");
    EXPECT_EQ(NameOfOperator(RegistrationOf(-1)), "BUILTIN_-1");
    EXPECT_EQ(NameOfOperator(RegistrationOf(CustomCode)), "CUSTOM");
    EXPECT_EQ(NameOfOperator(RegistrationOf(CustomCode, "")), "CUSTOM");
    EXPECT_EQ(NameOfOperator(RegistrationOf(CustomCode, "Roll")), "Roll");
    // A builtin operator's kernel may have a name, too; it says nothing.
    EXPECT_EQ(NameOfOperator(RegistrationOf(0, "Roll")), "ADD");
    EXPECT_NE(FindRow(RegistrationOf(CustomCode, "Roll")), nullptr);
    EXPECT_EQ(FindRow(RegistrationOf(CustomCode, "CONV_2D")), nullptr);
    EXPECT_EQ(FindRow(RegistrationOf(DelegateCode, "TheirDelegate")), nullptr);
    EXPECT_EQ(FindRow(RegistrationOf(100000)), nullptr);
    EXPECT_EQ(ReasonToLeave(RegistrationOf(static_cast<int32_t>(Operator::CONV_2D))), nullptr);
    EXPECT_EQ(ReasonToLeave(RegistrationOf(CustomCode, "WHILE")), nullptr);
    EXPECT_THAT(ReasonToLeave(RegistrationOf(static_cast<int32_t>(Operator::WHILE))), HasSubstr("subgraphs"));
    EXPECT_THAT(ReasonToLeave(RegistrationOf(static_cast<int32_t>(Operator::VAR_HANDLE))), HasSubstr("resource"));
    EXPECT_THAT(ReasonToLeave(RegistrationOf(static_cast<int32_t>(Operator::HASHTABLE_FIND))), HasSubstr("tables"));
    EXPECT_THAT(ReasonToLeave(RegistrationOf(static_cast<int32_t>(Operator::MULTINOMIAL))), HasSubstr("random"));
    EXPECT_THAT(ReasonToLeave(RegistrationOf(DelegateCode)), HasSubstr("delegate"));
}

TEST(DelegateNodeReader, SubgraphsByTheirOperators)
{
    ModelBuilder model;
    model.AddSubgraph("body");
    const int32_t a = model.AddInput("a", {});
    const int32_t b = model.AddInput("b", {});
    model.AddOperator(Operator::STABLEHLO_ADD, {a, b}, {model.AddOutput("out", {})});
    model.Select(0);
    NodeModel nodes(model);
    ContextSubgraphs subgraphs(nodes.Context());
    tflite::ISubgraph& body = subgraphs.Open(1);
    EXPECT_EQ(&subgraphs.Open(1), &body);
    std::vector<std::string> names;
    body.ForEachOperator([&](const OperatorView& op) { names.push_back(op.Name()); });
    EXPECT_THAT(names, ElementsAre("STABLEHLO_ADD"));
    EXPECT_EQ(body.Index(), 1U);
    EXPECT_EQ(body.NumTensors(), 3U);
    EXPECT_EQ(body.Cost(), 5U);
    EXPECT_THROW(body.Inputs(), UnimplementedException);
    EXPECT_THROW(subgraphs.Open(2), UnimplementedException) << "the runtime has none";
    EXPECT_THROW(subgraphs.Open(-1), ParseException);
    EXPECT_THROW(subgraphs.Open(int64_t{1} << 40), ParseException);
    nodes.Context().AcquireSubgraphContext = nullptr;
    EXPECT_THROW(ContextSubgraphs(nodes.Context()).Open(1), UnimplementedException);
}

} // namespace tenon::test::node_reader_test
