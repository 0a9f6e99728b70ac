// SPDX-License-Identifier: Apache-2.0
// Tests of the rows of StableHLO's operators, of those that came to TFLite with them, and of custom operators that have
// rows.
#include "parsers/ModelBuilder.hpp"

#include <tenon/Tenon.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::test::stablehlo_rows_test
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using Operator = ModelBuilder::Operator;

template <typename Options>
ModelBuilder OneOp(Operator code, const std::vector<std::vector<int32_t>>& shapes, Options options,
                   int32_t numOutputs = 1)
{
    ModelBuilder model;
    std::vector<int32_t> inputs;
    std::vector<int32_t> outputs;
    for (const std::vector<int32_t>& shape : shapes)
    {
        inputs.push_back(model.AddInput("in" + std::to_string(inputs.size()), shape));
    }
    for (int32_t i = 0; i < numOutputs; ++i)
    {
        outputs.push_back(model.AddOutput("out", {1}));
    }
    model.AddOperator(code, inputs, outputs).builtin_options_2.Set(std::move(options));
    return model;
}

/// Subgraph 1: one operator on two elements; with ABS none.
ModelBuilder WithBody(ModelBuilder model, Operator code)
{
    model.AddSubgraph("body");
    const int32_t a = model.AddInput("a", {});
    const int32_t b = model.AddInput("b", {});
    if (code != Operator::ABS)
    {
        model.AddOperator(code, {a, b}, {model.AddOutput("out", {})});
    }
    return model;
}

std::vector<std::string> InputsOf(const IConnectableLayer& layer)
{
    std::vector<std::string> names;
    for (unsigned int i = 0; i < layer.GetNumInputSlots(); ++i)
    {
        names.emplace_back(SourceOf(layer, i).GetName());
    }
    return names;
}

schema::StablehloReduceWindowOptionsT WindowOptions()
{
    schema::StablehloReduceWindowOptionsT options;
    options.window_dimensions = {2, 3};
    options.window_strides = {1, 2};
    options.window_dilations = {3, 4};
    options.body_subgraph_index = 1;
    return options;
}

} // namespace

TEST(StablehloRows, GatherAndPad)
{
    schema::StablehloGatherOptionsT gather;
    gather.offset_dims = {2, 3};
    gather.collapsed_slice_dims = {0};
    gather.start_index_map = {1, 0};
    gather.index_vector_dim = 2;
    gather.slice_sizes = {1, 2, 2};
    const Parsed gathered(OneOp(Operator::STABLEHLO_GATHER, {{3, 4, 2}, {2, 3, 2}}, gather));
    const auto& d = gathered.Get<StablehloGatherDescriptor>(LayerType::StablehloGather);
    EXPECT_THAT(d.m_OffsetDims, ElementsAre(2, 3));
    EXPECT_THAT(d.m_CollapsedSliceDims, ElementsAre(0));
    EXPECT_THAT(d.m_StartIndexMap, ElementsAre(1, 0));
    EXPECT_EQ(d.m_IndexVectorDim, 2u);
    EXPECT_THAT(d.m_SliceSizes, ElementsAre(1, 2, 2));
    gather.offset_dims = {-1};
    EXPECT_THAT(ErrorOf<ParseException>(OneOp(Operator::STABLEHLO_GATHER, {{1}, {1}}, gather)), HasSubstr("-1"));
    gather.offset_dims.assign(9, 0);
    EXPECT_THAT(ErrorOf<ParseException>(OneOp(Operator::STABLEHLO_GATHER, {{1}, {1}}, gather)), HasSubstr("at most 8"));

    schema::StablehloPadOptionsT pad;
    pad.edge_padding_low = {1, -2};
    pad.edge_padding_high = {3, 4};
    pad.interior_padding = {5, 6};
    const Parsed padded(OneOp(Operator::STABLEHLO_PAD, {{3, 4}, {}}, pad));
    const auto& p = padded.Get<StablehloPadDescriptor>(LayerType::StablehloPad);
    EXPECT_THAT(p.m_EdgeLow, ElementsAre(1, -2));
    EXPECT_THAT(p.m_EdgeHigh, ElementsAre(3, 4));
    EXPECT_THAT(p.m_Interior, ElementsAre(5, 6));
    pad.edge_padding_low = {int64_t{1} << 40, 0};
    EXPECT_THAT(ErrorOf<ParseException>(OneOp(Operator::STABLEHLO_PAD, {{3, 4}, {}}, pad)), HasSubstr("edge_padding"));
}

TEST(StablehloRows, OperandsInTfLitesOrder)
{
    const Parsed dilate(OneOp(Operator::DILATE, {{1}, {1}, {}}, schema::DilateOptionsT()));
    EXPECT_THAT(InputsOf(dilate.The(LayerType::Dilate)), ElementsAre("in0", "in2", "in1"));
    schema::ReduceWindowOptionsT options;
    options.reduce_function = schema::ReduceWindowFunction::MAXIMUM;
    const Parsed window(OneOp(Operator::REDUCE_WINDOW, {{1}, {}, {1}, {1}, {1}}, options));
    EXPECT_THAT(InputsOf(window.The(LayerType::ReduceWindow)), ElementsAre("in0", "in1", "in2", "in3", "in4"));
    EXPECT_EQ(window.Get<ReduceWindowDescriptor>(LayerType::ReduceWindow).m_Function, ReduceWindowFunction::Max);
    options.reduce_function = schema::ReduceWindowFunction::UNSUPPORTED;
    EXPECT_THAT(ErrorOf<ParseException>(OneOp(Operator::REDUCE_WINDOW, {{1}, {}, {1}, {1}, {1}}, options)),
                HasSubstr("reduce_function"));
}

TEST(StablehloRows, BodiesAreFunctions)
{
    const std::pair<Operator, ReduceWindowFunction> bodies[] = {
        {Operator::ADD, ReduceWindowFunction::Add},
        {Operator::STABLEHLO_MULTIPLY, ReduceWindowFunction::Mul},
        {Operator::STABLEHLO_MINIMUM, ReduceWindowFunction::Min},
        {Operator::MAXIMUM, ReduceWindowFunction::Max},
        {Operator::STABLEHLO_AND, ReduceWindowFunction::All},
        {Operator::LOGICAL_OR, ReduceWindowFunction::Any},
    };
    const ModelBuilder window = OneOp(Operator::STABLEHLO_REDUCE_WINDOW, {{5, 9}, {}}, WindowOptions());
    for (const auto& [code, function] : bodies)
    {
        const Parsed parsed(WithBody(window, code));
        const auto& d = parsed.Get<ReduceWindowDescriptor>(LayerType::ReduceWindow);
        EXPECT_EQ(d.m_Function, function);
        EXPECT_THAT(d.m_WindowSizes, ElementsAre(2, 3));
        EXPECT_THAT(d.m_Strides, ElementsAre(1, 2));
        EXPECT_THAT(d.m_Dilations, ElementsAre(3, 4));
        EXPECT_THAT(InputsOf(parsed.The(LayerType::ReduceWindow)), ElementsAre("in0", "in1"));
    }
    EXPECT_EQ(Parsed(WithBody(window, Operator::SUB)).Find(LayerType::Custom).size(), 1u);
    EXPECT_EQ(Parsed(WithBody(window, Operator::ABS)).Find(LayerType::Custom).size(), 1u);
    EXPECT_THAT(ErrorOf<ParseException>(window), HasSubstr("subgraph"));

    schema::StablehloScatterOptionsT options;
    options.update_window_dims = {1};
    options.inserted_window_dims = {0};
    options.scatter_dims_to_operand_dims = {0, 1};
    options.index_vector_dim = 1;
    options.update_computation_subgraph_index = 1;
    const ModelBuilder scatter = OneOp(Operator::STABLEHLO_SCATTER, {{3, 5}, {3, 2}, {3, 2}}, options);
    const std::pair<Operator, ScatterNdFunction> updates[] = {
        {Operator::ABS, ScatterNdFunction::Update},
        {Operator::STABLEHLO_ADD, ScatterNdFunction::Add},
        {Operator::STABLEHLO_MULTIPLY, ScatterNdFunction::Mul},
        {Operator::STABLEHLO_MAXIMUM, ScatterNdFunction::Max},
        {Operator::STABLEHLO_MINIMUM, ScatterNdFunction::Min},
    };
    for (const auto& [code, function] : updates)
    {
        const Parsed parsed(WithBody(scatter, code));
        const auto& d = parsed.Get<StablehloScatterDescriptor>(LayerType::StablehloScatter);
        EXPECT_EQ(d.m_Function, function);
        EXPECT_THAT(d.m_UpdateWindowDims, ElementsAre(1));
        EXPECT_THAT(d.m_InsertedWindowDims, ElementsAre(0));
        EXPECT_THAT(d.m_ScatterDimsToOperandDims, ElementsAre(0, 1));
        EXPECT_EQ(d.m_IndexVectorDim, 1u);
    }
    EXPECT_EQ(Parsed(WithBody(scatter, Operator::STABLEHLO_AND)).Find(LayerType::Custom).size(), 1u);
}

TEST(StablehloRows, PaddedWindowsAreTwoLayers)
{
    schema::StablehloReduceWindowOptionsT options = WindowOptions();
    options.base_dilations = {1, 2};
    options.padding = {0, 1, -1, 0};
    const Parsed parsed(WithBody(OneOp(Operator::STABLEHLO_REDUCE_WINDOW, {{5, 9}, {}}, options), Operator::ADD));
    const auto& d = parsed.Get<StablehloPadDescriptor>(LayerType::StablehloPad);
    EXPECT_THAT(d.m_EdgeLow, ElementsAre(0, -1));
    EXPECT_THAT(d.m_EdgeHigh, ElementsAre(1, 0));
    EXPECT_THAT(d.m_Interior, ElementsAre(0, 1));
    EXPECT_THAT(InputsOf(parsed.The(LayerType::StablehloPad)), ElementsAre("in0", "in1"));
    EXPECT_EQ(&SourceOf(parsed.The(LayerType::ReduceWindow), 0), &parsed.The(LayerType::StablehloPad));
    EXPECT_STREQ(SourceOf(parsed.The(LayerType::ReduceWindow), 1).GetName(), "in1");
    EXPECT_EQ(parsed.Find(LayerType::Output).size(), 1u);

    options.padding = {0, 1, -1};
    EXPECT_THAT(ErrorOf<ParseException>(
                    WithBody(OneOp(Operator::STABLEHLO_REDUCE_WINDOW, {{5, 9}, {}}, options), Operator::ADD)),
                HasSubstr("padding"));
    options.padding = {};
    options.base_dilations = {0, 1};
    EXPECT_THAT(ErrorOf<ParseException>(
                    WithBody(OneOp(Operator::STABLEHLO_REDUCE_WINDOW, {{5, 9}, {}}, options), Operator::ADD)),
                HasSubstr("base_dilations"));
}

TEST(StablehloRows, PaddedWindowsRun)
{
    schema::StablehloReduceWindowOptionsT options;
    options.window_dimensions = {3};
    options.window_strides = {1};
    options.window_dilations = {1};
    options.base_dilations = {2};
    options.padding = {1, 1};
    options.body_subgraph_index = 1;
    const Parsed parsed(WithBody(OneOp(Operator::STABLEHLO_REDUCE_WINDOW, {{3}, {1}}, options), Operator::ADD));
    const IRuntimePtr runtime = IRuntime::Create({});
    OptimizerOptionsOpaque optimizer;
    optimizer.SetShapeInferenceMethod(ShapeInferenceMethod::InferAndValidate);
    NetworkId id = 0;
    runtime->LoadNetwork(id, Optimize(*parsed.m_Network, {"CpuRef"}, runtime->GetDeviceSpec(), optimizer));
    const std::vector<float> data = {1, 2, 3};
    const float zero = 0;
    std::vector<float> result;
    runtime->EnqueueWorkload(id,
                             {{0, ConstTensor(TensorInfo({3}, DataType::Float32, 0.0f, 0, true), data.data())},
                              {1, ConstTensor(TensorInfo({1}, DataType::Float32, 0.0f, 0, true), &zero)}},
                             [&](LayerBindingId, const TensorInfo& info)
                             {
                                 result.resize(info.GetNumElements());
                                 return result.data();
                             });
    EXPECT_THAT(result, ElementsAre(1, 3, 2, 5, 3)); // of 0 1 0 2 0 3 0
}

TEST(StablehloRows, CompositesAreTheirDecompositions)
{
    schema::StableHLOCompositeOptionsT options;
    options.decomposition_subgraph_index = 1;
    const Parsed parsed(WithBody(OneOp(Operator::STABLEHLO_COMPOSITE, {{}, {}}, options), Operator::MUL));
    EXPECT_THAT(InputsOf(parsed.The(LayerType::ElementwiseBinary)), ElementsAre("in0", "in1"));
}

TEST(StablehloRows, RngBitGenerator)
{
    schema::StablehloRngBitGeneratorOptionsT options;
    options.algorithm = schema::RngAlgorithm::THREEFRY;
    const Parsed parsed(OneOp(Operator::STABLEHLO_RNG_BIT_GENERATOR, {{2}}, options, 2));
    EXPECT_EQ(parsed.Get<RngBitGeneratorDescriptor>(LayerType::RngBitGenerator).m_Algorithm, RngAlgorithm::ThreeFry);
    EXPECT_EQ(parsed.Find(LayerType::Output).size(), 2u);
}

TEST(CustomRows, LayersByName)
{
    const auto parse = [](const char* name, int inputs)
    {
        ModelBuilder model;
        std::vector<int32_t> operands;
        for (int i = 0; i < inputs; ++i)
        {
            operands.push_back(model.AddInput("in" + std::to_string(i), {1}));
        }
        model.AddOperator(Operator::CUSTOM, operands, {model.AddOutput("out", {1})});
        model.Model().operator_codes.back()->custom_code = name;
        return Parsed(model);
    };
    EXPECT_THAT(InputsOf(parse("Roll", 3).The(LayerType::Roll)), ElementsAre("in0", "in1", "in2"));
    EXPECT_THAT(InputsOf(parse("Table", 2).The(LayerType::Table)), ElementsAre("in0", "in1"));
    EXPECT_EQ(parse("Sign", 1).Get<ElementwiseUnaryDescriptor>(LayerType::ElementwiseUnary).m_Operation,
              UnaryOperation::Sign);
    EXPECT_EQ(parse("FlexErf", 1).Get<ElementwiseUnaryDescriptor>(LayerType::ElementwiseUnary).m_Operation,
              UnaryOperation::Erf);
    EXPECT_EQ(parse("atan2", 2).Get<ElementwiseBinaryDescriptor>(LayerType::ElementwiseBinary).m_Operation,
              BinaryOperation::Atan2);
}

} // namespace tenon::test::stablehlo_rows_test
