// SPDX-License-Identifier: Apache-2.0
// Models whose options or variables contradict their tensors: what TFLite refuses is refused, and where it lets one of
// both decide, that one does.
#include "parsers/ModelRun.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <type_traits>

namespace tenon::test::contradictions_test
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using Op = ModelBuilder::Operator;
using Type = ModelBuilder::Type;

/// An operator on Float32 inputs [2, 2], with outputs of this type.
template <typename Options>
ModelBuilder Operands(Op code, size_t numInputs, size_t numOutputs, Options options, Type type = Type::FLOAT32)
{
    ModelBuilder model;
    std::vector<int32_t> inputs;
    std::vector<int32_t> outputs;
    for (size_t i = 0; i < numInputs; ++i)
    {
        inputs.push_back(model.AddInput("in" + std::to_string(i), {2, 2}));
    }
    for (size_t i = 0; i < numOutputs; ++i)
    {
        outputs.push_back(model.AddOutput("out" + std::to_string(i), {2}, type));
    }
    model.AddOperator(code, inputs, outputs, std::move(options));
    return model;
}

template <typename Options>
ModelBuilder ArgMinMax(Op code, Type option, Type type)
{
    ModelBuilder model;
    Options options;
    options.output_type = option;
    const int32_t in = model.AddInput("in", {2, 2});
    const int32_t axis = model.AddConstant<int32_t>("axis", {}, {1}, Type::INT32);
    model.AddOperator(code, {in, axis}, {model.AddOutput("out", {2}, type)}, options);
    return model;
}

ModelBuilder Shape(Type option, Type type)
{
    schema::ShapeOptionsT options;
    options.out_type = option;
    return Operands(Op::SHAPE, 1, 1, options, type);
}

ModelBuilder Unique(Type option, Type type)
{
    schema::UniqueOptionsT options;
    options.idx_out_type = option;
    ModelBuilder model;
    const int32_t in = model.AddInput("in", {2});
    model.AddOperator(Op::UNIQUE, {in}, {model.AddOutput("values", {2}), model.AddOutput("indices", {2}, type)},
                      options);
    return model;
}

/// Data, weights of int8 and a bias, if that has a type.
template <typename Options>
ModelBuilder WithBias(Op code, Type option, Type data, std::optional<Type> bias)
{
    ModelBuilder model;
    Options options;
    options.quantized_bias_type = option;
    if constexpr (!std::is_same_v<Options, schema::FullyConnectedOptionsT>)
    {
        options.stride_w = options.stride_h = 1;
    }
    const int32_t in = model.AddInput("in", {1, 1, 1, 1}, data);
    const int32_t weights = model.AddInput("weights", {1, 1, 1, 1}, Type::INT8);
    model.Quantize(in, {0.5f}, {0}).Quantize(weights, {0.5f}, {0});
    std::vector<int32_t> inputs = {in, weights};
    if (code == Op::TRANSPOSE_CONV)
    {
        inputs = {model.AddIntegers("shape", {1, 1, 1, 1}), weights, in};
    }
    if (bias.has_value())
    {
        inputs.push_back(model.AddInput("bias", {1}, *bias));
    }
    model.AddOperator(code, inputs, {model.AddOutput("out", {1, 1, 1, 1}, data)}, options);
    return model;
}

int32_t AddHandle(ModelBuilder& model)
{
    schema::VarHandleOptionsT options;
    options.shared_name = "total";
    const int32_t handle = model.AddTensor("handle", {}, Type::RESOURCE);
    model.AddOperator(Op::VAR_HANDLE, {}, {handle}, options);
    return handle;
}

void AddAssignment(ModelBuilder& model, int32_t handle, int32_t value)
{
    model.AddOperator(Op::ASSIGN_VARIABLE, {handle, value}, {});
}

void AddRead(ModelBuilder& model, int32_t handle, Type type)
{
    model.AddOperator(Op::READ_VARIABLE, {handle}, {model.AddOutput("out", {2}, type)});
}

/// As the parser gives it to the caller, and as the network has it.
DataType OutputType(const ModelBuilder& model)
{
    const Parsed parsed(model);
    const std::string name = parsed.m_Parser->GetSubgraphOutputTensorNames(0).at(0);
    const DataType type = parsed.m_Parser->GetNetworkOutputBindingInfo(0, name).second.GetDataType();
    EXPECT_EQ(OutputInfo(SourceOf(parsed.The(LayerType::Output), 0)).GetDataType(), type);
    return type;
}

} // namespace

TEST(TfLiteContradictions, NumbersOfPieces)
{
    const auto error = [](Op code, size_t inputs, size_t outputs, auto options)
    { return ErrorOf<ParseException>(Operands(code, inputs, outputs, options)); };

    schema::SplitOptionsT split;
    split.num_splits = -7;
    EXPECT_THAT(error(Op::SPLIT, 2, 2, split), HasSubstr("SPLIT: has 2 outputs, but option num_splits asks for -7"));
    EXPECT_THAT(error(Op::SPLIT, 2, 1, schema::SplitOptionsT()), HasSubstr("option num_splits asks for 0"));
    schema::SplitVOptionsT sized;
    sized.num_splits = 3;
    EXPECT_THAT(error(Op::SPLIT_V, 3, 2, sized), HasSubstr("has 2 outputs, but option num_splits asks for 3"));
    schema::UnpackOptionsT unpack;
    unpack.num = 6;
    EXPECT_THAT(error(Op::UNPACK, 1, 2, unpack), HasSubstr("has 2 outputs, but option num asks for 6"));
    schema::PackOptionsT pack;
    pack.values_count = -2;
    EXPECT_THAT(error(Op::PACK, 2, 1, pack), HasSubstr("has 2 inputs, but option values_count asks for -2"));
}

TEST(TfLiteContradictions, NumbersOfOperandsThatFollowFromAnOption)
{
    const auto error = [](Op code, size_t inputs, size_t outputs, auto options)
    { return ErrorOf<ParseException>(Operands(code, inputs, outputs, options)); };

    schema::FullyConnectedOptionsT product;
    EXPECT_THAT(error(Op::FULLY_CONNECTED, 2, 2, product), HasSubstr("has 2 outputs, but option weights_format"));
    product.weights_format = schema::FullyConnectedOptionsWeightsFormat::SHUFFLED4x16INT8;
    EXPECT_THAT(error(Op::FULLY_CONNECTED, 2, 1, product), HasSubstr("has 1 outputs, but option weights_format"));

    schema::BidirectionalSequenceRNNOptionsT rnn;
    schema::BidirectionalSequenceLSTMOptionsT lstm;
    EXPECT_THAT(error(Op::BIDIRECTIONAL_SEQUENCE_RNN, 12, 1, rnn), HasSubstr("merge_outputs asks for 2"));
    EXPECT_THAT(error(Op::BIDIRECTIONAL_SEQUENCE_LSTM, 48, 1, lstm), HasSubstr("merge_outputs asks for 2"));
    rnn.merge_outputs = lstm.merge_outputs = true;
    EXPECT_THAT(error(Op::BIDIRECTIONAL_SEQUENCE_RNN, 12, 2, rnn), HasSubstr("merge_outputs asks for 1"));
    EXPECT_THAT(error(Op::BIDIRECTIONAL_SEQUENCE_LSTM, 48, 2, lstm), HasSubstr("merge_outputs asks for 1"));

    const schema::UnidirectionalSequenceLSTMOptionsT oneWay;
    EXPECT_THAT(error(Op::UNIDIRECTIONAL_SEQUENCE_LSTM, 19, 1, oneWay), HasSubstr("has 19 inputs, needs 20 to 24"));

    schema::LSTMOptionsT step;
    EXPECT_THAT(error(Op::LSTM, 24, 2, step), HasSubstr("has 2 outputs, but option kernel_type asks for 1"));
    step.kernel_type = schema::LSTMKernelType::BASIC;
    EXPECT_THAT(error(Op::LSTM, 6, 4, step), HasSubstr("has 6 inputs, but option kernel_type asks for 5"));
}

TEST(TfLiteContradictions, TypesOfIntegers)
{
    EXPECT_THAT(ErrorOf<ParseException>(Shape(Type::UINT8, Type::INT32)),
                HasSubstr("SHAPE: option out_type is 3, should be 2 (INT32) or 4 (INT64)"));
    EXPECT_THAT(ErrorOf<ParseException>(Shape(Type::FLOAT32, Type::INT32)), HasSubstr("out_type is 0")); // or absent
    EXPECT_THAT(ErrorOf<ParseException>(ArgMinMax<schema::ArgMaxOptionsT>(Op::ARG_MAX, Type::COMPLEX64, Type::INT32)),
                HasSubstr("ARG_MAX: option output_type is 8"));
    EXPECT_THAT(ErrorOf<ParseException>(ArgMinMax<schema::ArgMinOptionsT>(Op::ARG_MIN, Type::FLOAT32, Type::INT32)),
                HasSubstr("ARG_MIN: option output_type is 0"));

    EXPECT_THAT(ErrorOf<ParseException>(Unique(Type::INT64, Type::INT32)),
                HasSubstr("tensor 'indices' is Signed32, but option idx_out_type asks for Signed64"));
    EXPECT_THAT(ErrorOf<ParseException>(Unique(Type::INT32, Type::INT64)), HasSubstr("asks for Signed32"));
    // TFLite takes any other type for INT32.
    EXPECT_EQ(Parsed(Unique(Type::UINT8, Type::INT32)).Get<UniqueDescriptor>(LayerType::Unique).m_IndexType,
              DataType::Signed32);
}

TEST(TfLiteContradictions, TheOptionDecidesOnTheTypeOfShapesAndPlaces)
{
    EXPECT_EQ(OutputType(Shape(Type::INT64, Type::INT32)), DataType::Signed64);
    EXPECT_EQ(OutputType(Shape(Type::INT32, Type::INT64)), DataType::Signed32);
    EXPECT_EQ(OutputType(ArgMinMax<schema::ArgMaxOptionsT>(Op::ARG_MAX, Type::INT32, Type::FLOAT32)),
              DataType::Signed32);
    EXPECT_EQ(OutputType(ArgMinMax<schema::ArgMinOptionsT>(Op::ARG_MIN, Type::INT64, Type::INT32)), DataType::Signed64);

    const std::vector<Data> data = {Data::Of<float>({2, 2}, {4, 3, 1, 2})};
    ModelRun shape(Shape(Type::INT64, Type::INT32));
    EXPECT_THAT(shape.Run(data).at(0).As<int64_t>(), ElementsAre(2, 2));
    ModelRun places(ArgMinMax<schema::ArgMaxOptionsT>(Op::ARG_MAX, Type::INT64, Type::INT32));
    EXPECT_THAT(places.Run(data).at(0).As<int64_t>(), ElementsAre(0, 1));
}

TEST(TfLiteContradictions, TypesOfBiases)
{
    const auto build = [](Op code, Type option, Type data, std::optional<Type> bias)
    {
        return code == Op::CONV_2D          ? WithBias<schema::Conv2DOptionsT>(code, option, data, bias)
               : code == Op::TRANSPOSE_CONV ? WithBias<schema::TransposeConvOptionsT>(code, option, data, bias)
                                            : WithBias<schema::FullyConnectedOptionsT>(code, option, data, bias);
    };
    for (const Op code : {Op::CONV_2D, Op::TRANSPOSE_CONV, Op::FULLY_CONNECTED})
    {
        SCOPED_TRACE(EnumNameBuiltinOperator(code));
        EXPECT_THAT(ErrorOf<ParseException>(build(code, Type::INT64, Type::INT16, Type::INT32)),
                    HasSubstr("tensor 'bias' is Signed32, but option quantized_bias_type asks for Signed64"));
        EXPECT_THAT(ErrorOf<ParseException>(build(code, Type::INT32, Type::INT16, Type::INT64)),
                    HasSubstr("asks for Signed32"));
        EXPECT_THAT(ErrorOf<ParseException>(build(code, Type::FLOAT16, Type::INT16, std::nullopt)),
                    HasSubstr("option quantized_bias_type is 1"));
        // The default, a bias of the same type or none, and data of 8 bits, where the option says nothing.
        EXPECT_NO_THROW(Parsed(build(code, Type::FLOAT32, Type::INT16, Type::INT64)));
        EXPECT_NO_THROW(Parsed(build(code, Type::INT32, Type::INT16, Type::INT32)));
        EXPECT_NO_THROW(Parsed(build(code, Type::INT64, Type::INT16, std::nullopt)));
        EXPECT_NO_THROW(Parsed(build(code, Type::INT64, Type::INT8, Type::INT32)));
    }
}

TEST(TfLiteContradictions, OneHotCountsNoAxisButTheLastFromTheEnd)
{
    schema::OneHotOptionsT options;
    options.axis = -1;
    EXPECT_EQ(Parsed(Operands(Op::ONE_HOT, 4, 1, options)).Get<OneHotDescriptor>(LayerType::OneHot).m_Axis, -1);
    options.axis = -2;
    EXPECT_THAT(ErrorOf<ParseException>(Operands(Op::ONE_HOT, 4, 1, options)),
                HasSubstr("ONE_HOT: option axis is -2, should be -1"));
}

TEST(TfLiteContradictions, VariablesAreReadAsWhatTheyHold)
{
    ModelBuilder model;
    const int32_t in = model.AddInput("in", {2});
    const int32_t handle = AddHandle(model);
    AddAssignment(model, handle, in);
    ModelBuilder right = model;
    AddRead(model, handle, Type::INT32);
    EXPECT_THAT(ErrorOf<ParseException>(model),
                HasSubstr("READ_VARIABLE: reads variable 'total' as Signed32 into tensor 'out', but it holds Float32"));

    // It may hold another type later.
    const int32_t number = right.AddInput("number", {2}, Type::INT32);
    AddRead(right, handle, Type::FLOAT32);
    AddAssignment(right, handle, number);
    AddRead(right, handle, Type::INT32);
    EXPECT_NO_THROW(Parsed{right});
}

TEST(TfLiteContradictions, InitialValuesAndBranchesReadVariablesAsWhatTheyHold)
{
    ModelBuilder initial;
    const int32_t init = initial.AddSubgraph("init");
    const int32_t handle = AddHandle(initial);
    AddAssignment(initial, handle, initial.AddIntegers("value", {1, 2}));
    AddRead(initial, handle, Type::FLOAT32);
    initial.Select(0);
    schema::CallOnceOptionsT call;
    call.init_subgraph_index = init;
    initial.AddOperator(Op::CALL_ONCE, {}, {}, call);
    EXPECT_THAT(ErrorOf<ParseException>(initial), HasSubstr("but it holds Signed32"));

    ModelBuilder branches;
    schema::IfOptionsT options;
    options.then_subgraph_index = options.else_subgraph_index = branches.AddSubgraph("branch");
    AddRead(branches, AddHandle(branches), Type::INT32);
    branches.Select(0);
    const int32_t condition = branches.AddInput("condition", {1}, Type::BOOL);
    const int32_t in = branches.AddInput("in", {2});
    AddAssignment(branches, AddHandle(branches), in);
    branches.AddOperator(Op::IF, {condition}, {branches.AddOutput("out", {2}, Type::INT32)}, options);
    EXPECT_THAT(ErrorOf<ParseException>(branches), HasSubstr("but it holds Float32"));
}

} // namespace tenon::test::contradictions_test
