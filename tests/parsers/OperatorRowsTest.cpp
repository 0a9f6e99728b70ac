// SPDX-License-Identifier: Apache-2.0
// Tests of the rows of the .tflite parser: which layer each operator becomes, with which descriptor and operands.
#include "parsers/ModelBuilder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::test::operator_rows_test
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using Operator = ModelBuilder::Operator;
using Type = ModelBuilder::Type;
using Activation = schema::ActivationFunctionType;

/// An operator on graph inputs "in0", "in1"... of these shapes, with one output.
template <typename... Options>
ModelBuilder OneOp(Operator code, const std::vector<std::vector<int32_t>>& shapes, Options... options)
{
    ModelBuilder model;
    std::vector<int32_t> inputs;
    for (const std::vector<int32_t>& shape : shapes)
    {
        inputs.push_back(model.AddInput("in" + std::to_string(inputs.size()), shape));
    }
    const int32_t out = model.AddOutput("out", {1});
    model.AddOperator(code, inputs, {out}, std::move(options)...);
    return model;
}

/// Input slot k of the layer reads from the graph input of this name.
void ExpectInputs(const IConnectableLayer& layer, const std::vector<std::string>& names)
{
    ASSERT_EQ(layer.GetNumInputSlots(), names.size());
    for (unsigned int i = 0; i < names.size(); ++i)
    {
        EXPECT_EQ(SourceOf(layer, i).GetName(), names[i]) << "input slot " << i;
    }
}

/// A row whose operands are wired in order.
void ExpectInOrder(const Parsed& parsed, LayerType type, size_t inputs)
{
    std::vector<std::string> names;
    for (size_t i = 0; i < inputs; ++i)
    {
        names.push_back("in" + std::to_string(i));
    }
    ExpectInputs(parsed.The(type), names);
}

schema::Conv2DOptionsT ConvOptions()
{
    schema::Conv2DOptionsT options;
    options.padding = schema::Padding::VALID;
    options.stride_w = 2;
    options.stride_h = 3;
    options.dilation_w_factor = 4;
    options.dilation_h_factor = 5;
    return options;
}

} // namespace

TEST(TfLiteRows, ActivationFunctions)
{
    struct Case
    {
        Operator m_Code;
        ActivationDescriptor m_Expected;
    };
    using F = ActivationFunction;
    const Case cases[] = {
        {Operator::RELU, ActivationDescriptor(F::ReLu)},
        {Operator::RELU6, ActivationDescriptor(F::BoundedReLu, 6, 0)},
        {Operator::RELU_0_TO_1, ActivationDescriptor(F::BoundedReLu, 1, 0)},
        {Operator::RELU_N1_TO_1, ActivationDescriptor(F::BoundedReLu, 1, -1)},
        {Operator::TANH, ActivationDescriptor(F::TanH, 1, 1)},
        {Operator::LOGISTIC, ActivationDescriptor(F::Sigmoid)},
        {Operator::ELU, ActivationDescriptor(F::Elu, 1)},
        {Operator::HARD_SWISH, ActivationDescriptor(F::HardSwish)},
        {Operator::SQUARE, ActivationDescriptor(F::Square)},
        {Operator::GELU, ActivationDescriptor(F::Gelu)},
        {Operator::LEAKY_RELU, ActivationDescriptor(F::LeakyReLu)},
    };
    for (const Case& c : cases)
    {
        SCOPED_TRACE(EnumNameBuiltinOperator(c.m_Code));
        const Parsed parsed(OneOp(c.m_Code, {{1}}));
        EXPECT_TRUE(parsed.Get<ActivationDescriptor>(LayerType::Activation) == c.m_Expected);
        EXPECT_EQ(parsed.The(LayerType::Activation).GetName(), std::string(EnumNameBuiltinOperator(c.m_Code)) + ":0");
    }
    schema::LeakyReluOptionsT leaky;
    leaky.alpha = 0.25f;
    EXPECT_EQ(Parsed(OneOp(Operator::LEAKY_RELU, {{1}}, leaky)).Get<ActivationDescriptor>(LayerType::Activation).m_A,
              0.25f);
    schema::GeluOptionsT gelu;
    gelu.approximate = true;
    EXPECT_NE(Parsed(OneOp(Operator::GELU, {{1}}, gelu)).Get<ActivationDescriptor>(LayerType::Activation).m_A, 0.0f);
}

TEST(TfLiteRows, Unary)
{
    const std::pair<Operator, UnaryOperation> cases[] = {
        {Operator::ABS, UnaryOperation::Abs},     {Operator::SQRT, UnaryOperation::Sqrt},
        {Operator::EXP, UnaryOperation::Exp},     {Operator::LOG, UnaryOperation::Log},
        {Operator::SIN, UnaryOperation::Sin},     {Operator::NEG, UnaryOperation::Neg},
        {Operator::RSQRT, UnaryOperation::Rsqrt}, {Operator::CEIL, UnaryOperation::Ceil},
        {Operator::COS, UnaryOperation::Cos},     {Operator::ROUND, UnaryOperation::Round},
        {Operator::SIGN, UnaryOperation::Sign},   {Operator::LOGICAL_NOT, UnaryOperation::LogicalNot},
    };
    for (const auto& [code, operation] : cases)
    {
        const Parsed parsed(OneOp(code, {{1}}));
        EXPECT_EQ(parsed.Get<ElementwiseUnaryDescriptor>(LayerType::ElementwiseUnary).m_Operation, operation);
    }
}

TEST(TfLiteRows, Binary)
{
    const std::pair<Operator, BinaryOperation> cases[] = {
        {Operator::ADD, BinaryOperation::Add},
        {Operator::SUB, BinaryOperation::Sub},
        {Operator::MUL, BinaryOperation::Mul},
        {Operator::DIV, BinaryOperation::Div},
        {Operator::MAXIMUM, BinaryOperation::Maximum},
        {Operator::MINIMUM, BinaryOperation::Minimum},
        {Operator::POW, BinaryOperation::Power},
        {Operator::SQUARED_DIFFERENCE, BinaryOperation::SqDiff},
        {Operator::FLOOR_DIV, BinaryOperation::FloorDiv},
        {Operator::FLOOR_MOD, BinaryOperation::FloorMod},
        {Operator::ATAN2, BinaryOperation::Atan2},
        {Operator::BITWISE_XOR, BinaryOperation::BitwiseXor},
        {Operator::RIGHT_SHIFT, BinaryOperation::ShiftRight},
        {Operator::STABLEHLO_ADD, BinaryOperation::Add},
        {Operator::STABLEHLO_AND, BinaryOperation::BitwiseAnd},
        {Operator::STABLEHLO_MAXIMUM, BinaryOperation::Maximum},
        {Operator::STABLEHLO_MINIMUM, BinaryOperation::Minimum},
        {Operator::STABLEHLO_MULTIPLY, BinaryOperation::Mul},
        {Operator::STABLEHLO_SHIFT_LEFT, BinaryOperation::ShiftLeft},
    };
    for (const auto& [code, operation] : cases)
    {
        const Parsed parsed(OneOp(code, {{1}, {1}}));
        EXPECT_EQ(parsed.Get<ElementwiseBinaryDescriptor>(LayerType::ElementwiseBinary).m_Operation, operation);
        ExpectInOrder(parsed, LayerType::ElementwiseBinary, 2);
    }
}

TEST(TfLiteRows, FloorDivAndFloorModAreOfStoredIntegers)
{
    for (const Operator code : {Operator::FLOOR_DIV, Operator::FLOOR_MOD})
    {
        ModelBuilder model = OneOp(code, {{3}, {3}});
        for (int32_t tensor = 0; tensor < 3; ++tensor)
        {
            model.Tensor(tensor).type = Type::INT8;
        }
        EXPECT_EQ(OutputInfo(Parsed(model).The(LayerType::ElementwiseBinary)).GetDataType(), DataType::Signed8);
        EXPECT_EQ(Parsed(model).Find(LayerType::Bitcast).size(), 0u);
        model.Quantize(1, {0.5f}, {3});
        model.Quantize(2, {0.25f}, {-1});
        const Parsed quantized(model);
        const IConnectableLayer& layer = quantized.The(LayerType::ElementwiseBinary);
        EXPECT_EQ(OutputInfo(layer).GetDataType(), DataType::Signed8);
        const std::vector<const IConnectableLayer*> relabelled = quantized.Find(LayerType::Bitcast);
        ASSERT_EQ(relabelled.size(), 2u) << "input 1 and the output";
        EXPECT_EQ(OutputInfo(*relabelled[0]).GetDataType(), DataType::Signed8);
        EXPECT_EQ(OutputInfo(*relabelled[1]).GetDataType(), DataType::QAsymmS8);
    }
}

TEST(TfLiteRows, ComparisonsAndLogic)
{
    const std::pair<Operator, ComparisonOperation> comparisons[] = {
        {Operator::EQUAL, ComparisonOperation::Equal},
        {Operator::NOT_EQUAL, ComparisonOperation::NotEqual},
        {Operator::GREATER, ComparisonOperation::Greater},
        {Operator::GREATER_EQUAL, ComparisonOperation::GreaterOrEqual},
        {Operator::LESS, ComparisonOperation::Less},
        {Operator::LESS_EQUAL, ComparisonOperation::LessOrEqual},
    };
    for (const auto& [code, operation] : comparisons)
    {
        const Parsed parsed(OneOp(code, {{1}, {1}}));
        EXPECT_EQ(parsed.Get<ComparisonDescriptor>(LayerType::Comparison).m_Operation, operation);
        ExpectInOrder(parsed, LayerType::Comparison, 2);
    }
    EXPECT_EQ(Parsed(OneOp(Operator::LOGICAL_AND, {{1}, {1}}))
                  .Get<LogicalBinaryDescriptor>(LayerType::LogicalBinary)
                  .m_Operation,
              LogicalBinaryOperation::LogicalAnd);
    EXPECT_EQ(Parsed(OneOp(Operator::LOGICAL_OR, {{1}, {1}}))
                  .Get<LogicalBinaryDescriptor>(LayerType::LogicalBinary)
                  .m_Operation,
              LogicalBinaryOperation::LogicalOr);
}

TEST(TfLiteRows, LayersWithoutParameters)
{
    struct Case
    {
        Operator m_Code;
        LayerType m_Type;
        size_t m_Inputs;
    };
    const Case cases[] = {
        {Operator::FLOOR, LayerType::Floor, 1},          {Operator::CAST, LayerType::Cast, 1},
        {Operator::QUANTIZE, LayerType::Quantize, 1},    {Operator::DEQUANTIZE, LayerType::Dequantize, 1},
        {Operator::WHERE, LayerType::Where, 1},          {Operator::RANK, LayerType::Rank, 1},
        {Operator::PRELU, LayerType::Prelu, 2},          {Operator::REVERSE_V2, LayerType::ReverseV2, 2},
        {Operator::GATHER_ND, LayerType::GatherNd, 2},   {Operator::BITCAST, LayerType::Bitcast, 1},
        {Operator::ZEROS_LIKE, LayerType::ZerosLike, 1}, {Operator::ADD_N, LayerType::AddN, 3}};
    for (const Case& c : cases)
    {
        SCOPED_TRACE(EnumNameBuiltinOperator(c.m_Code));
        const Parsed parsed(OneOp(c.m_Code, std::vector<std::vector<int32_t>>(c.m_Inputs, {1})));
        ExpectInOrder(parsed, c.m_Type, c.m_Inputs);
    }
    // Float16 weights are "dequantized" by a mere change of type.
    ModelBuilder half = OneOp(Operator::DEQUANTIZE, {{1}});
    half.Tensor(0).type = Type::FLOAT16;
    EXPECT_EQ(Parsed(half).Find(LayerType::Cast).size(), 1u);
}

TEST(TfLiteRows, FusedActivationsAreLayersOfTheirOwn)
{
    struct Case
    {
        Activation m_Activation;
        ActivationDescriptor m_Expected;
        const char* m_Name;
    };
    const Case cases[] = {
        {Activation::RELU, ActivationDescriptor(ActivationFunction::ReLu), "ADD:0:RELU"},
        {Activation::RELU6, ActivationDescriptor(ActivationFunction::BoundedReLu, 6, 0), "ADD:0:RELU6"},
        {Activation::RELU_N1_TO_1, ActivationDescriptor(ActivationFunction::BoundedReLu, 1, -1), "ADD:0:RELU_N1_TO_1"},
        {Activation::TANH, ActivationDescriptor(ActivationFunction::TanH, 1, 1), "ADD:0:TANH"},
    };
    for (const Case& c : cases)
    {
        schema::AddOptionsT options;
        options.fused_activation_function = c.m_Activation;
        ModelBuilder model = OneOp(Operator::ADD, {{3}, {3}}, options);
        model.Tensor(2).shape = {3};
        model.Tensor(2).type = Type::INT8;
        model.Quantize(2, {0.5f}, {3});
        const Parsed parsed(model);
        const IConnectableLayer& activation = parsed.The(LayerType::Activation);
        EXPECT_TRUE(parsed.Get<ActivationDescriptor>(LayerType::Activation) == c.m_Expected);
        EXPECT_STREQ(activation.GetName(), c.m_Name);
        EXPECT_EQ(&SourceOf(activation, 0), &parsed.The(LayerType::ElementwiseBinary));
        EXPECT_EQ(&SourceOf(parsed.The(LayerType::Output), 0), &activation);
        // Both have the operator's quantization, so that clamping loses nothing.
        EXPECT_EQ(OutputInfo(activation), TensorInfo({3}, DataType::QAsymmS8, 0.5f, 3));
        EXPECT_EQ(OutputInfo(parsed.The(LayerType::ElementwiseBinary)), OutputInfo(activation));
    }
    schema::AddOptionsT options;
    options.fused_activation_function = Activation::SIGN_BIT;
    EXPECT_THAT(ErrorOf<UnimplementedException>(OneOp(Operator::ADD, {{3}, {3}}, options)), HasSubstr("SIGN_BIT"));
    options.fused_activation_function = static_cast<Activation>(77);
    EXPECT_THAT(ErrorOf<ParseException>(OneOp(Operator::ADD, {{3}, {3}}, options)),
                HasSubstr("fused_activation_function is 77"));
    // Options of another operator contradict.
    EXPECT_THAT(ErrorOf<ParseException>(OneOp(Operator::ADD, {{3}, {3}}, schema::MulOptionsT())),
                HasSubstr("should have AddOptions"));
}

TEST(TfLiteRows, Conv2d)
{
    const Parsed parsed(OneOp(Operator::CONV_2D, {{1, 8, 8, 2}, {4, 3, 3, 2}, {4}}, ConvOptions()));
    const auto& descriptor = parsed.Get<Convolution2dDescriptor>(LayerType::Convolution2d);
    EXPECT_EQ(descriptor.m_PaddingScheme, PaddingScheme::Valid);
    EXPECT_EQ(descriptor.m_StrideX, 2u);
    EXPECT_EQ(descriptor.m_StrideY, 3u);
    EXPECT_EQ(descriptor.m_DilationX, 4u);
    EXPECT_EQ(descriptor.m_DilationY, 5u);
    EXPECT_EQ(descriptor.m_DataLayout, DataLayout::NHWC);
    EXPECT_TRUE(descriptor.m_BiasEnabled);
    ExpectInOrder(parsed, LayerType::Convolution2d, 3);

    schema::Conv2DOptionsT same = ConvOptions();
    same.padding = schema::Padding::SAME;
    ModelBuilder withoutBias = OneOp(Operator::CONV_2D, {{1, 8, 8, 2}, {4, 3, 3, 2}}, same);
    withoutBias.Op(0).inputs.push_back(-1);
    const Parsed other(withoutBias);
    EXPECT_EQ(other.Get<Convolution2dDescriptor>(LayerType::Convolution2d).m_PaddingScheme, PaddingScheme::Same);
    EXPECT_FALSE(other.Get<Convolution2dDescriptor>(LayerType::Convolution2d).m_BiasEnabled);
    ExpectInOrder(other, LayerType::Convolution2d, 2);

    schema::Conv2DOptionsT bad = ConvOptions();
    bad.stride_w = 0;
    EXPECT_THAT(ErrorOf<ParseException>(OneOp(Operator::CONV_2D, {{1}, {1}}, bad)), HasSubstr("stride_w is 0"));
    bad = ConvOptions();
    bad.dilation_h_factor = -1;
    EXPECT_THAT(ErrorOf<ParseException>(OneOp(Operator::CONV_2D, {{1}, {1}}, bad)), HasSubstr("dilation_h_factor"));
    bad = ConvOptions();
    bad.padding = static_cast<schema::Padding>(5);
    EXPECT_THAT(ErrorOf<ParseException>(OneOp(Operator::CONV_2D, {{1}, {1}}, bad)), HasSubstr("padding is 5"));
    EXPECT_THAT(ErrorOf<ParseException>(OneOp(Operator::CONV_2D, {{1}, {1}})), HasSubstr("stride_w is 0"));
}

TEST(TfLiteRows, OtherConvolutions)
{
    schema::DepthwiseConv2DOptionsT depthwise;
    depthwise.stride_w = 1;
    depthwise.stride_h = 2;
    depthwise.fused_activation_function = Activation::RELU6;
    const Parsed parsed(OneOp(Operator::DEPTHWISE_CONV_2D, {{1, 8, 8, 2}, {1, 3, 3, 4}, {4}}, depthwise));
    const auto& descriptor = parsed.Get<DepthwiseConvolution2dDescriptor>(LayerType::DepthwiseConvolution2d);
    EXPECT_EQ(descriptor.m_StrideY, 2u);
    EXPECT_EQ(descriptor.m_DilationX, 1u);
    EXPECT_EQ(descriptor.m_PaddingScheme, PaddingScheme::Same);
    EXPECT_EQ(descriptor.m_DataLayout, DataLayout::NHWC);
    EXPECT_EQ(parsed.Find(LayerType::Activation).size(), 1u);

    schema::Conv3DOptionsT conv3d;
    conv3d.stride_w = 1;
    conv3d.stride_h = 2;
    conv3d.stride_d = 3;
    conv3d.dilation_d_factor = 4;
    const Parsed three(OneOp(Operator::CONV_3D, {{1, 4, 4, 4, 1}, {1, 1, 1, 1, 1}}, conv3d));
    EXPECT_EQ(three.Get<Convolution3dDescriptor>(LayerType::Convolution3d).m_StrideZ, 3u);
    EXPECT_EQ(three.Get<Convolution3dDescriptor>(LayerType::Convolution3d).m_DilationZ, 4u);
    EXPECT_EQ(three.Get<Convolution3dDescriptor>(LayerType::Convolution3d).m_DataLayout, DataLayout::NDHWC);

    schema::TransposeConvOptionsT transpose;
    transpose.stride_w = 2;
    transpose.stride_h = 3;
    ModelBuilder model;
    const int32_t shape = model.AddIntegers("shape", {1, 8, 9, 4});
    const int32_t weights = model.AddInput("weights", {4, 3, 3, 2});
    const int32_t data = model.AddInput("data", {1, 4, 3, 2});
    const int32_t bias = model.AddInput("bias", {4});
    model.AddOperator(Operator::TRANSPOSE_CONV, {shape, weights, data, bias}, {model.AddOutput("out", {1})}, transpose);
    const Parsed transposed(model);
    const auto& t = transposed.Get<TransposeConvolution2dDescriptor>(LayerType::TransposeConvolution2d);
    EXPECT_TRUE(t.m_ParametersAsInputs && t.m_BiasEnabled);
    EXPECT_FALSE(t.m_SumsOf32Bits);
    EXPECT_EQ(t.m_StrideX, 2u);
    EXPECT_EQ(transposed.The(LayerType::TransposeConvolution2d).GetNumInputSlots(), 4u);

    transpose.quantized_bias_type = Type::INT32;
    const Parsed narrow(OneOp(Operator::TRANSPOSE_CONV, {{4}, {1, 1, 1, 1}, {1, 1, 1, 1}}, transpose));
    const auto& n = narrow.Get<TransposeConvolution2dDescriptor>(LayerType::TransposeConvolution2d);
    EXPECT_TRUE(n.m_SumsOf32Bits && n.m_ParametersAsInputs);
    EXPECT_FALSE(n.m_BiasEnabled);

    const Parsed volumes(OneOp(Operator::CONV_3D_TRANSPOSE, {{5}, {1, 1, 1, 1, 1}, {1, 4, 4, 4, 1}, {1}}, conv3d));
    const auto& v = volumes.Get<TransposeConvolution3dDescriptor>(LayerType::TransposeConvolution3d);
    EXPECT_EQ(v.m_StrideZ, 3u);
    EXPECT_EQ(v.m_DilationZ, 4u);
    EXPECT_TRUE(v.m_ParametersAsInputs && v.m_BiasEnabled);
}

TEST(TfLiteRows, FullyConnected)
{
    schema::FullyConnectedOptionsT options;
    options.keep_num_dims = true;
    options.asymmetric_quantize_inputs = true;
    const Parsed parsed(OneOp(Operator::FULLY_CONNECTED, {{2, 3}, {4, 3}, {4}}, options));
    const auto& descriptor = parsed.Get<FullyConnectedDescriptor>(LayerType::FullyConnected);
    EXPECT_TRUE(descriptor.m_TransposeWeightMatrix && descriptor.m_KeepDims && descriptor.m_AsymmetricQuantizeInputs &&
                descriptor.m_BiasEnabled);
    EXPECT_FALSE(descriptor.m_ConstantWeights);
    ExpectInOrder(parsed, LayerType::FullyConnected, 3);

    options.weights_format = schema::FullyConnectedOptionsWeightsFormat::SHUFFLED4x16INT8;
    ModelBuilder shuffled;
    const int32_t rows = shuffled.AddInput("data", {4, 16});
    const int32_t blocks = shuffled.AddInput("weights", {4, 16});
    shuffled.AddOperator(Operator::FULLY_CONNECTED, {rows, blocks},
                         {shuffled.AddOutput("out", {4, 4}), shuffled.AddOutput("workspace", {4, 16})}, options);
    EXPECT_TRUE(Parsed(shuffled).Get<FullyConnectedDescriptor>(LayerType::FullyConnected).m_ShuffledWeights);
    options.weights_format = static_cast<schema::FullyConnectedOptionsWeightsFormat>(9);
    EXPECT_THAT(ErrorOf<ParseException>(OneOp(Operator::FULLY_CONNECTED, {{2, 3}, {4, 3}}, options)),
                HasSubstr("weights_format is 9"));

    schema::BatchMatMulOptionsT matMul;
    matMul.adj_y = true;
    matMul.asymmetric_quantize_inputs = true;
    const Parsed product(OneOp(Operator::BATCH_MATMUL, {{2, 3}, {4, 3}}, matMul));
    EXPECT_TRUE(product.Get<BatchMatMulDescriptor>(LayerType::BatchMatMul).m_TransposeY);
    EXPECT_TRUE(product.Get<BatchMatMulDescriptor>(LayerType::BatchMatMul).m_AsymmetricQuantizeInputs);
    EXPECT_FALSE(product.Get<BatchMatMulDescriptor>(LayerType::BatchMatMul).m_TransposeX);
}

TEST(TfLiteRows, Pools)
{
    schema::Pool2DOptionsT options;
    options.padding = schema::Padding::VALID;
    options.stride_w = 1;
    options.stride_h = 2;
    options.filter_width = 3;
    options.filter_height = 4;
    const std::pair<Operator, PoolingAlgorithm> cases[] = {{Operator::AVERAGE_POOL_2D, PoolingAlgorithm::Average},
                                                           {Operator::MAX_POOL_2D, PoolingAlgorithm::Max},
                                                           {Operator::L2_POOL_2D, PoolingAlgorithm::L2}};
    for (const auto& [code, algorithm] : cases)
    {
        const Parsed parsed(OneOp(code, {{1, 8, 8, 1}}, options));
        const auto& descriptor = parsed.Get<Pooling2dDescriptor>(LayerType::Pooling2d);
        EXPECT_EQ(descriptor.m_PoolType, algorithm);
        EXPECT_EQ(descriptor.m_PaddingScheme, PaddingScheme::Valid);
        EXPECT_EQ(descriptor.m_StrideX, 1u);
        EXPECT_EQ(descriptor.m_StrideY, 2u);
        EXPECT_EQ(descriptor.m_PoolWidth, 3u);
        EXPECT_EQ(descriptor.m_PoolHeight, 4u);
        EXPECT_EQ(descriptor.m_PaddingMethod, PaddingMethod::Exclude);
        EXPECT_EQ(descriptor.m_DataLayout, DataLayout::NHWC);
    }
    options.filter_width = 0;
    EXPECT_THAT(ErrorOf<ParseException>(OneOp(Operator::MAX_POOL_2D, {{1}}, options)), HasSubstr("filter_width is 0"));
}

TEST(TfLiteRows, Normalizations)
{
    schema::LocalResponseNormalizationOptionsT options;
    options.radius = 5;
    options.bias = 1;
    options.alpha = 2;
    options.beta = 3;
    const Parsed parsed(OneOp(Operator::LOCAL_RESPONSE_NORMALIZATION, {{1, 1, 1, 8}}, options));
    const auto& descriptor = parsed.Get<NormalizationDescriptor>(LayerType::Normalization);
    EXPECT_EQ(descriptor.m_NormSize, 11u);
    EXPECT_EQ(descriptor.m_K, 1.0f);
    EXPECT_EQ(descriptor.m_Alpha, 2.0f);
    EXPECT_EQ(descriptor.m_Beta, 3.0f);

    schema::SoftmaxOptionsT softmax;
    softmax.beta = 0.5f;
    EXPECT_EQ(Parsed(OneOp(Operator::SOFTMAX, {{4}}, softmax)).Get<SoftmaxDescriptor>(LayerType::Softmax).m_Beta, 0.5f);
    EXPECT_EQ(Parsed(OneOp(Operator::LOG_SOFTMAX, {{4}})).Get<LogSoftmaxDescriptor>(LayerType::LogSoftmax).m_Beta,
              1.0f);
    EXPECT_EQ(Parsed(OneOp(Operator::L2_NORMALIZATION, {{1, 4}}, schema::L2NormOptionsT()))
                  .Get<L2NormalizationDescriptor>(LayerType::L2Normalization)
                  .m_Eps,
              1e-6f);
}

TEST(TfLiteRows, ParametersStayInputs)
{
    struct Case
    {
        Operator m_Code;
        LayerType m_Type;
        size_t m_Inputs;
    };
    const Case cases[] = {{Operator::TRANSPOSE, LayerType::Transpose, 2},
                          {Operator::TILE, LayerType::Tile, 2},
                          {Operator::BROADCAST_TO, LayerType::BroadcastTo, 2},
                          {Operator::SLICE, LayerType::Slice, 3},
                          {Operator::STRIDED_SLICE, LayerType::StridedSlice, 4},
                          {Operator::SPACE_TO_BATCH_ND, LayerType::SpaceToBatchNd, 3},
                          {Operator::BATCH_TO_SPACE_ND, LayerType::BatchToSpaceNd, 3},
                          {Operator::PAD, LayerType::Pad, 2},
                          {Operator::PAD, LayerType::Pad, 3},
                          {Operator::PADV2, LayerType::Pad, 3},
                          {Operator::MIRROR_PAD, LayerType::Pad, 2},
                          {Operator::RESHAPE, LayerType::Reshape, 2},
                          {Operator::RESIZE_BILINEAR, LayerType::Resize, 2},
                          {Operator::RESIZE_NEAREST_NEIGHBOR, LayerType::Resize, 2},
                          {Operator::MEAN, LayerType::Mean, 2},
                          {Operator::SUM, LayerType::Reduce, 2},
                          {Operator::FILL, LayerType::Fill, 2}};
    for (const Case& c : cases)
    {
        SCOPED_TRACE(EnumNameBuiltinOperator(c.m_Code));
        const Parsed parsed(OneOp(c.m_Code, std::vector<std::vector<int32_t>>(c.m_Inputs, {1})));
        ExpectInOrder(parsed, c.m_Type, c.m_Inputs);
    }
}

TEST(TfLiteRows, Reductions)
{
    const std::pair<Operator, ReduceOperation> cases[] = {
        {Operator::SUM, ReduceOperation::Sum},        {Operator::REDUCE_MAX, ReduceOperation::Max},
        {Operator::REDUCE_MIN, ReduceOperation::Min}, {Operator::REDUCE_PROD, ReduceOperation::Prod},
        {Operator::REDUCE_ALL, ReduceOperation::All}, {Operator::REDUCE_ANY, ReduceOperation::Any}};
    schema::ReducerOptionsT options;
    options.keep_dims = true;
    for (const auto& [code, operation] : cases)
    {
        const Parsed parsed(OneOp(code, {{4}, {1}}, options));
        EXPECT_EQ(parsed.Get<ReduceDescriptor>(LayerType::Reduce).m_ReduceOperation, operation);
        EXPECT_TRUE(parsed.Get<ReduceDescriptor>(LayerType::Reduce).m_KeepDims);
        EXPECT_TRUE(parsed.Get<ReduceDescriptor>(LayerType::Reduce).m_ParametersAsInputs);
    }
    EXPECT_TRUE(Parsed(OneOp(Operator::MEAN, {{4}, {1}}, options)).Get<MeanDescriptor>(LayerType::Mean).m_KeepDims);

    schema::ArgMaxOptionsT largest;
    schema::ArgMinOptionsT smallest;
    largest.output_type = smallest.output_type = Type::INT64;
    const std::pair<ModelBuilder, ArgMinMaxFunction> places[] = {
        {OneOp(Operator::ARG_MAX, {{4}, {}}, largest), ArgMinMaxFunction::Max},
        {OneOp(Operator::ARG_MIN, {{4}, {}}, smallest), ArgMinMaxFunction::Min}};
    for (const auto& [model, function] : places)
    {
        const Parsed parsed(model);
        EXPECT_EQ(parsed.Get<ArgMinMaxDescriptor>(LayerType::ArgMinMax).m_Function, function);
        EXPECT_EQ(parsed.Get<ArgMinMaxDescriptor>(LayerType::ArgMinMax).m_Output_Type, DataType::Signed64);
        ExpectInOrder(parsed, LayerType::ArgMinMax, 2);
    }
}

TEST(TfLiteRows, Pads)
{
    ModelBuilder quantized = OneOp(Operator::PAD, {{4}, {1, 2}});
    const int32_t padded = quantized.Op(0).outputs.at(0);
    quantized.Tensor(0).type = quantized.Tensor(padded).type = Type::INT8;
    quantized.Quantize(0, {0.5f}, {3}).Quantize(padded, {0.5f}, {-7});
    EXPECT_EQ(Parsed(quantized).Get<PadDescriptor>(LayerType::Pad).m_PadValue, -7.0f);
    EXPECT_EQ(Parsed(OneOp(Operator::PAD, {{4}, {1, 2}})).Get<PadDescriptor>(LayerType::Pad).m_PadValue, 0.0f);
    EXPECT_TRUE(Parsed(OneOp(Operator::PADV2, {{4}, {1, 2}, {}})).Get<PadDescriptor>(LayerType::Pad).m_ValueAsInput);
    schema::MirrorPadOptionsT options;
    options.mode = schema::MirrorPadMode::SYMMETRIC;
    EXPECT_EQ(
        Parsed(OneOp(Operator::MIRROR_PAD, {{4}, {1, 2}}, options)).Get<PadDescriptor>(LayerType::Pad).m_PaddingMode,
        PaddingMode::Symmetric);
}

TEST(TfLiteRows, ReshapeTakesItsTargetFromInputOrOptions)
{
    schema::ReshapeOptionsT options;
    options.new_shape = {2, -1};
    const auto target = [](const ModelBuilder& model)
    {
        const Parsed parsed(model);
        const auto& descriptor = parsed.Get<ReshapeDescriptor>(LayerType::Reshape);
        EXPECT_FALSE(descriptor.m_ParametersAsInputs);
        return descriptor.m_TargetShape;
    };
    EXPECT_EQ(target(OneOp(Operator::RESHAPE, {{4}}, options)), TensorShape({2, 0}, {true, false}));
    EXPECT_EQ(target(OneOp(Operator::RESHAPE, {{4}, {}}, options)), TensorShape({2, 0}, {true, false}));
    EXPECT_TRUE(Parsed(OneOp(Operator::RESHAPE, {{4}, {2}}, options))
                    .Get<ReshapeDescriptor>(LayerType::Reshape)
                    .m_ParametersAsInputs);
    EXPECT_EQ(target(OneOp(Operator::RESHAPE, {{4}, {1, 2}}, options)), TensorShape({2, 0}, {true, false}));
    options.new_shape = {0}; // as old files write a scalar
    EXPECT_TRUE(target(OneOp(Operator::RESHAPE, {{1}}, options)).IsScalar());
    options.new_shape = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    EXPECT_THAT(ErrorOf<ParseException>(OneOp(Operator::RESHAPE, {{1}}, options)), HasSubstr("rank 9"));
    options.new_shape = {-2};
    EXPECT_THAT(ErrorOf<ParseException>(OneOp(Operator::RESHAPE, {{1}}, options)), HasSubstr("size -2"));
}

TEST(TfLiteRows, SqueezeAndExpandDims)
{
    schema::SqueezeOptionsT options;
    options.squeeze_dims = {-1, 0};
    const Parsed squeeze(OneOp(Operator::SQUEEZE, {{1, -1, 1}}, options));
    EXPECT_THAT(squeeze.Get<SqueezeDescriptor>(LayerType::Squeeze).m_Axis, ElementsAre(-1, 0));
    ExpectInOrder(squeeze, LayerType::Squeeze, 1);
    const Parsed expand(OneOp(Operator::EXPAND_DIMS, {{2}, {1}}));
    EXPECT_TRUE(expand.Get<ExpandDimsDescriptor>(LayerType::ExpandDims).m_ParametersAsInputs);
    ExpectInOrder(expand, LayerType::ExpandDims, 2);
}

TEST(TfLiteRows, BoundariesGridsAndSeeds)
{
    schema::BucketizeOptionsT bucketize;
    bucketize.boundaries = {-1.5f, 2.0f};
    EXPECT_THAT(Parsed(OneOp(Operator::BUCKETIZE, {{1}}, bucketize))
                    .Get<BucketizeDescriptor>(LayerType::Bucketize)
                    .m_Boundaries,
                ElementsAre(-1.5f, 2.0f));

    schema::FakeQuantOptionsT quant;
    quant.min = -2.0f;
    quant.max = 3.0f;
    quant.num_bits = 7;
    quant.narrow_range = true;
    const Parsed grid(OneOp(Operator::FAKE_QUANT, {{1}}, quant));
    const auto& descriptor = grid.Get<FakeQuantizationDescriptor>(LayerType::FakeQuantization);
    EXPECT_EQ(descriptor.m_Min, -2.0f);
    EXPECT_EQ(descriptor.m_Max, 3.0f);
    EXPECT_EQ(descriptor.m_NumBits, 7u);
    EXPECT_TRUE(descriptor.m_NarrowRange);

    schema::RandomOptionsT random;
    random.seed = int64_t{1} << 40;
    random.seed2 = -3;
    const Parsed normal(OneOp(Operator::RANDOM_STANDARD_NORMAL, {{1}}, random));
    EXPECT_EQ(normal.Get<RandomDescriptor>(LayerType::Random).m_Distribution, RandomDistribution::StandardNormal);
    EXPECT_EQ(normal.Get<RandomDescriptor>(LayerType::Random).m_Seed, int64_t{1} << 40);
    EXPECT_EQ(normal.Get<RandomDescriptor>(LayerType::Random).m_Seed2, -3);
    const Parsed uniform(OneOp(Operator::RANDOM_UNIFORM, {{1}}, random));
    EXPECT_EQ(uniform.Get<RandomDescriptor>(LayerType::Random).m_Distribution, RandomDistribution::Uniform);
    const Parsed multinomial(OneOp(Operator::MULTINOMIAL, {{2, 2}, {}}, random));
    EXPECT_EQ(multinomial.Get<MultinomialDescriptor>(LayerType::Multinomial).m_Seed2, -3);
    ExpectInOrder(multinomial, LayerType::Multinomial, 2);
}

TEST(TfLiteRows, SlicesAndImages)
{
    schema::StridedSliceOptionsT slice;
    slice.begin_mask = 1;
    slice.end_mask = 2;
    slice.ellipsis_mask = 4;
    slice.new_axis_mask = 8;
    slice.shrink_axis_mask = 16;
    slice.offset = true;
    const Parsed parsed(OneOp(Operator::STRIDED_SLICE, {{4}, {1}, {1}, {1}}, slice));
    const auto& descriptor = parsed.Get<StridedSliceDescriptor>(LayerType::StridedSlice);
    EXPECT_EQ(descriptor.m_BeginMask, 1);
    EXPECT_EQ(descriptor.m_EndMask, 2);
    EXPECT_EQ(descriptor.m_EllipsisMask, 4);
    EXPECT_EQ(descriptor.m_NewAxisMask, 8);
    EXPECT_EQ(descriptor.m_ShrinkAxisMask, 16);
    EXPECT_TRUE(descriptor.m_Offset && descriptor.m_ParametersAsInputs);

    schema::ResizeBilinearOptionsT resize;
    resize.half_pixel_centers = true;
    const Parsed resized(OneOp(Operator::RESIZE_BILINEAR, {{1, 2, 2, 1}, {2}}, resize));
    EXPECT_TRUE(resized.Get<ResizeDescriptor>(LayerType::Resize).m_HalfPixelCenters);
    EXPECT_FALSE(resized.Get<ResizeDescriptor>(LayerType::Resize).m_AlignCorners);
    EXPECT_EQ(resized.Get<ResizeDescriptor>(LayerType::Resize).m_Method, ResizeMethod::Bilinear);

    schema::SpaceToDepthOptionsT block;
    block.block_size = 2;
    EXPECT_EQ(Parsed(OneOp(Operator::SPACE_TO_DEPTH, {{1, 2, 2, 1}}, block))
                  .Get<SpaceToDepthDescriptor>(LayerType::SpaceToDepth)
                  .m_BlockSize,
              2u);
    EXPECT_THAT(ErrorOf<ParseException>(OneOp(Operator::DEPTH_TO_SPACE, {{1, 2, 2, 4}})), HasSubstr("block_size is 0"));
}

TEST(TfLiteRows, Gathers)
{
    schema::GatherOptionsT options;
    options.axis = -1;
    options.batch_dims = 1;
    const Parsed parsed(OneOp(Operator::GATHER, {{4, 4}, {1}}, options));
    EXPECT_EQ(parsed.Get<GatherDescriptor>(LayerType::Gather).m_Axis, -1);
    EXPECT_EQ(parsed.Get<GatherDescriptor>(LayerType::Gather).m_BatchDims, 1);
    const Parsed scatter(OneOp(Operator::SCATTER_ND, {{1, 1}, {1}, {1}}));
    ExpectInputs(scatter.The(LayerType::ScatterNd), {"in2", "in0", "in1"});
    EXPECT_EQ(scatter.Get<ScatterNdDescriptor>(LayerType::ScatterNd).m_Function, ScatterNdFunction::Add);
    EXPECT_FALSE(scatter.Get<ScatterNdDescriptor>(LayerType::ScatterNd).m_InputEnabled);
}

TEST(TfLiteRows, Joins)
{
    schema::ConcatenationOptionsT concat;
    concat.axis = -1;
    const Parsed parsed(OneOp(Operator::CONCATENATION, {{1, 2, 3}, {1, 2, 4}, {1, 2, 5}}, concat));
    EXPECT_EQ(parsed.Get<ConcatDescriptor>(LayerType::Concat).GetConcatAxis(), 2u);
    ExpectInOrder(parsed, LayerType::Concat, 3);
    concat.axis = 3;
    EXPECT_THAT(ErrorOf<ParseException>(OneOp(Operator::CONCATENATION, {{1, 2, 3}, {1, 2, 4}}, concat)),
                HasSubstr("axis is 3"));

    ModelBuilder unranked = OneOp(Operator::CONCATENATION, {{}, {}}, concat);
    unranked.Tensor(0).has_rank = unranked.Tensor(1).has_rank = false;
    EXPECT_EQ(Parsed(unranked).Get<ConcatDescriptor>(LayerType::Concat).GetConcatAxis(), 3u);
    unranked.Op(0).builtin_options.AsConcatenationOptions()->axis = -1;
    EXPECT_EQ(Parsed(unranked).Get<ConcatDescriptor>(LayerType::Concat).GetConcatAxis(), static_cast<unsigned int>(-1));
    unranked.Op(0).builtin_options.AsConcatenationOptions()->axis = -9;
    EXPECT_THAT(ErrorOf<ParseException>(unranked), HasSubstr("axis is -9"));

    schema::PackOptionsT pack;
    pack.axis = -1;
    pack.values_count = 2;
    const Parsed packed(OneOp(Operator::PACK, {{2, 3}, {2, 3}}, pack));
    EXPECT_EQ(packed.Get<StackDescriptor>(LayerType::Stack).m_Axis, 2u);
    EXPECT_EQ(packed.Get<StackDescriptor>(LayerType::Stack).m_NumInputs, 2u);
}

TEST(TfLiteRows, RanksAreKnownWhereShapesAreLeftToBeInferred)
{
    ModelBuilder model;
    const int32_t in = model.AddInput("in", {1, 2});
    const int32_t middle = model.AddTensor("middle", {1, 2});
    model.AddOperator(Operator::ABS, {in}, {middle});
    schema::ConcatenationOptionsT options;
    options.axis = -1;
    model.AddOperator(Operator::CONCATENATION, {middle, middle}, {model.AddOutput("out", {1, 4})}, options);
    ITfLiteParser::TfLiteParserOptions infer;
    infer.m_InferAndValidate = true;
    EXPECT_EQ(Parsed(model, infer).Get<ConcatDescriptor>(LayerType::Concat).GetConcatAxis(), 1u);
}

TEST(TfLiteRows, Unpack)
{
    const auto unpack = [](std::vector<int32_t> shape, int32_t axis)
    {
        ModelBuilder model;
        const int32_t in = model.AddInput("in", std::move(shape));
        schema::UnpackOptionsT options;
        options.axis = axis;
        options.num = 2;
        model.AddOperator(Operator::UNPACK, {in}, {model.AddOutput("a", {2}), model.AddOutput("b", {2})}, options);
        return model;
    };
    const Parsed parsed(unpack({2, 2}, 1));
    const auto slices = parsed.Find(LayerType::StridedSlice);
    ASSERT_EQ(slices.size(), 2u);
    const auto& second = dynamic_cast<const StridedSliceDescriptor&>(slices[1]->GetParameters());
    EXPECT_THAT(second.m_Begin, ElementsAre(0, 1));
    EXPECT_THAT(second.m_End, ElementsAre(0, 2));
    EXPECT_EQ(second.m_BeginMask, 0b01);
    EXPECT_EQ(second.m_ShrinkAxisMask, 0b10);
    EXPECT_FALSE(second.m_ParametersAsInputs);

    const Parsed back(unpack({2, -1}, -2));
    const auto& first =
        dynamic_cast<const StridedSliceDescriptor&>(back.Find(LayerType::StridedSlice)[0]->GetParameters());
    EXPECT_EQ(first.m_EllipsisMask, 0b001);
    EXPECT_EQ(first.m_ShrinkAxisMask, 0b010);
    EXPECT_THAT(first.m_End, ElementsAre(0, 1, 0));
    EXPECT_THAT(ErrorOf<ParseException>(unpack({2, 3}, 1)), HasSubstr("into 2 outputs"));
    EXPECT_THAT(ErrorOf<ParseException>(unpack({2, 3}, 100)), HasSubstr("axis is 100"));
}

TEST(TfLiteRows, Splits)
{
    ModelBuilder split;
    const int32_t axis = split.AddConstant<int32_t>("axis", {}, {-1}, Type::INT32);
    const int32_t value = split.AddInput("value", {2, 4});
    schema::SplitOptionsT two;
    two.num_splits = 2;
    split.AddOperator(Operator::SPLIT, {axis, value}, {split.AddOutput("a", {2, 2}), split.AddOutput("b", {2, 2})},
                      two);
    const Parsed equal(split);
    EXPECT_EQ(equal.Get<ViewsDescriptor>(LayerType::Splitter).GetNumViews(), 2u);
    EXPECT_TRUE(equal.Get<ViewsDescriptor>(LayerType::Splitter).m_ParametersAsInputs);
    EXPECT_FALSE(equal.Get<ViewsDescriptor>(LayerType::Splitter).m_SizesAsInput);
    EXPECT_STREQ(SourceOf(equal.The(LayerType::Splitter), 0).GetName(), "value");
    EXPECT_STREQ(SourceOf(equal.The(LayerType::Splitter), 1).GetName(), "axis");

    ModelBuilder sized;
    const int32_t in = sized.AddInput("in", {2, 6});
    const int32_t pieces = sized.AddIntegers("pieces", {1, -1, 2});
    const int32_t where = sized.AddConstant<int32_t>("axis", {}, {-1}, Type::INT32);
    schema::SplitVOptionsT three;
    three.num_splits = 3;
    sized.AddOperator(Operator::SPLIT_V, {in, pieces, where},
                      {sized.AddOutput("a", {2, 1}), sized.AddOutput("b", {2, 3}), sized.AddOutput("c", {2, 2})},
                      three);
    const Parsed parsed(sized);
    EXPECT_EQ(parsed.Get<ViewsDescriptor>(LayerType::Splitter).GetNumViews(), 3u);
    EXPECT_TRUE(parsed.Get<ViewsDescriptor>(LayerType::Splitter).m_SizesAsInput);
    EXPECT_STREQ(SourceOf(parsed.The(LayerType::Splitter), 0).GetName(), "in");
    EXPECT_STREQ(SourceOf(parsed.The(LayerType::Splitter), 1).GetName(), "axis");
    EXPECT_STREQ(SourceOf(parsed.The(LayerType::Splitter), 2).GetName(), "pieces");
}

} // namespace tenon::test::operator_rows_test
