// SPDX-License-Identifier: Apache-2.0
// Models whose shapes change: a loaded network that takes other input shapes gives what a freshly loaded one gives,
// without packing its weights again; and files that leave shapes open.
#include "harness/FakeBackend.hpp"
#include "parsers/ModelRun.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tenon::test::dynamic_shapes_test
{

namespace
{

using testing::ElementsAre;

using Op = schema::BuiltinOperator;
using Type = schema::TensorType;

/// Different values, none of them round.
std::vector<float> Wave(size_t count, float phase)
{
    std::vector<float> values(count);
    for (size_t i = 0; i < count; ++i)
    {
        values[i] = std::sin(phase + 0.7f * static_cast<float>(i));
    }
    return values;
}

int32_t AddWave(ModelBuilder& model, const std::string& name, const std::vector<int32_t>& shape)
{
    size_t count = 1;
    for (const int32_t size : shape)
    {
        count *= static_cast<size_t>(size);
    }
    return model.AddConstant(name, shape, Wave(count, static_cast<float>(name.size())), Type::FLOAT32);
}

/// How a file declares its shapes.
enum class Declared
{
    Fixed,     ///< as they are for the input [1, 6, 6, 2]
    Signature, ///< the same, with shape_signature [-1, -1, -1, ...]
    Unranked   ///< [] without has_rank, but for the input
};

/// Convolution (SAME padding, stride 2), depthwise convolution (SAME), pool, mean over the image, fully connected,
/// softmax: works for any batch and any size of image.
ModelBuilder VisionModel(Declared declared)
{
    ModelBuilder model;
    const auto tensor = [&](const char* name, const std::vector<int32_t>& shape)
    {
        const int32_t index = model.AddTensor(name, declared == Declared::Unranked ? std::vector<int32_t>() : shape);
        if (declared == Declared::Unranked)
        {
            model.Tensor(index).has_rank = false;
        }
        if (declared == Declared::Signature)
        {
            std::vector<int32_t> signature(shape.size(), -1);
            signature.back() = shape.back();
            model.Tensor(index).shape_signature = signature;
        }
        return index;
    };
    const int32_t in = model.AddInput("in", {1, 6, 6, 2});
    if (declared != Declared::Fixed)
    {
        model.Tensor(in).shape_signature = {-1, -1, -1, 2};
    }
    const int32_t convolved = tensor("convolved", {1, 3, 3, 4});
    schema::Conv2DOptionsT convolution;
    convolution.stride_w = convolution.stride_h = 2;
    convolution.fused_activation_function = schema::ActivationFunctionType::RELU;
    model.AddOperator(Op::CONV_2D, {in, AddWave(model, "weights", {4, 3, 3, 2}), AddWave(model, "bias", {4})},
                      {convolved}, convolution);
    const int32_t filtered = tensor("filtered", {1, 3, 3, 4});
    schema::DepthwiseConv2DOptionsT depthwise;
    depthwise.stride_w = depthwise.stride_h = depthwise.depth_multiplier = 1;
    model.AddOperator(Op::DEPTHWISE_CONV_2D,
                      {convolved, AddWave(model, "depthwise", {1, 3, 3, 4}), AddWave(model, "other bias", {4})},
                      {filtered}, depthwise);
    const int32_t pooled = tensor("pooled", {1, 2, 2, 4});
    schema::Pool2DOptionsT pool;
    pool.stride_w = pool.stride_h = pool.filter_width = pool.filter_height = 2;
    model.AddOperator(Op::AVERAGE_POOL_2D, {filtered}, {pooled}, pool);
    const int32_t mean = tensor("mean", {1, 4});
    model.AddOperator(Op::MEAN, {pooled, model.AddIntegers("axes", {1, 2})}, {mean}, schema::ReducerOptionsT());
    const int32_t connected = tensor("connected", {1, 3});
    model.AddOperator(Op::FULLY_CONNECTED, {mean, AddWave(model, "matrix", {3, 4}), AddWave(model, "b", {3})},
                      {connected}, schema::FullyConnectedOptionsT());
    const int32_t out = tensor("out", {1, 3});
    model.Graph().outputs = {out};
    schema::SoftmaxOptionsT softmax;
    softmax.beta = 1.0f;
    model.AddOperator(Op::SOFTMAX, {connected}, {out}, softmax);
    return model;
}

std::vector<Data> Image(const TensorShape& shape)
{
    return {Data::Of(shape, Wave(shape.GetNumElements(), 1.0f))};
}

const TensorShape Shapes[] = {{1, 6, 6, 2}, {3, 6, 6, 2}, {1, 7, 9, 2}, {1, 6, 6, 2}, {2, 1, 4, 2}, {1, 7, 9, 2}};

std::shared_ptr<FakeBackend> TakesVision()
{
    return std::make_shared<FakeBackend>(
        "Fake", std::set<LayerType>{LayerType::Convolution2d, LayerType::DepthwiseConvolution2d, LayerType::Activation,
                                    LayerType::Pooling2d, LayerType::Mean, LayerType::Reduce, LayerType::FullyConnected,
                                    LayerType::Softmax});
}

} // namespace

TEST(DynamicShapes, ALoadedNetworkGivesWhatAFreshOneGives)
{
    for (const Declared declared : {Declared::Fixed, Declared::Signature, Declared::Unranked})
    {
        const std::shared_ptr<FakeBackend> fake = TakesVision();
        ModelRun loaded(VisionModel(declared), {}, fake);
        const int packed = fake->NumWorkloads();
        EXPECT_GT(packed, 0);
        for (const TensorShape& shape : Shapes)
        {
            SCOPED_TRACE(testing::Message() << static_cast<int>(declared) << ", " << shape.ToString());
            ITfLiteParser::TfLiteParserOptions options;
            options.m_InputShapes["in"] = shape;
            ModelRun fresh(VisionModel(declared), options);
            const Data expected = fresh.Run(Image(shape)).at(0);
            const Data actual = loaded.Run(Image(shape)).at(0);
            EXPECT_EQ(actual.m_Shape, TensorShape({shape[0], 3}));
            EXPECT_EQ(actual.m_Shape, expected.m_Shape);
            EXPECT_EQ(actual.m_Bytes, expected.m_Bytes);
        }
        EXPECT_EQ(fake->NumWorkloads(), packed) << "weights are packed once";
    }
}

TEST(DynamicShapes, LoopsAndStatesFollowToo)
{
    // An RNN with a state, then a loop that goes through a fully connected layer twice.
    ModelBuilder model;
    const int32_t condition = model.AddSubgraph("condition");
    {
        const int32_t turns = model.AddInput("turns", {1}, Type::INT32);
        model.AddInput("values", {1, 4});
        model.AddOperator(Op::LESS, {turns, model.AddIntegers("end", {2})},
                          {model.AddOutput("goes on", {1}, Type::BOOL)}, schema::LessOptionsT());
    }
    const int32_t body = model.AddSubgraph("body");
    {
        const int32_t turns = model.AddInput("turns", {1}, Type::INT32);
        const int32_t values = model.AddInput("values", {1, 4});
        model.AddOperator(Op::ADD, {turns, model.AddIntegers("one", {1})}, {model.AddOutput("next", {1}, Type::INT32)},
                          schema::AddOptionsT());
        model.AddOperator(Op::FULLY_CONNECTED, {values, AddWave(model, "matrix", {4, 4}), AddWave(model, "bias", {4})},
                          {model.AddOutput("result", {1, 4})}, schema::FullyConnectedOptionsT());
    }
    model.Select(0);
    const int32_t in = model.AddInput("in", {1, 3, 2});
    model.Tensor(in).shape_signature = {-1, -1, 2};
    const int32_t state = model.AddTensor("state", {1, 4});
    model.Tensor(state).is_variable = true;
    const int32_t sequence = model.AddTensor("sequence", {1, 3, 4});
    model.Tensor(sequence).shape_signature = {-1, -1, 4};
    schema::SequenceRNNOptionsT rnn;
    rnn.fused_activation_function = schema::ActivationFunctionType::TANH;
    model.AddOperator(
        Op::UNIDIRECTIONAL_SEQUENCE_RNN,
        {in, AddWave(model, "data", {4, 2}), AddWave(model, "recurrent", {4, 4}), AddWave(model, "b", {4}), state},
        {sequence}, rnn);
    const int32_t last = model.AddTensor("last", {1, 4});
    model.Tensor(last).shape_signature = {-1, 4};
    model.AddOperator(Op::MEAN, {sequence, model.AddIntegers("axis", {1})}, {last}, schema::ReducerOptionsT());
    schema::WhileOptionsT loop;
    loop.cond_subgraph_index = condition;
    loop.body_subgraph_index = body;
    const int32_t out = model.AddOutput("out", {1, 4});
    model.Tensor(out).shape_signature = {-1, 4};
    model.AddOperator(Op::WHILE, {model.AddIntegers("zero", {0}), last},
                      {model.AddTensor("turns", {1}, Type::INT32), out}, loop);

    const auto fake = std::make_shared<FakeBackend>(
        "Fake", std::set<LayerType>{LayerType::Rnn, LayerType::Mean, LayerType::Reduce, LayerType::FullyConnected,
                                    LayerType::Comparison, LayerType::ElementwiseBinary});
    ModelRun loaded(model, {}, fake);
    const int packed = fake->NumWorkloads();
    for (const TensorShape& shape : {TensorShape({1, 3, 2}), TensorShape({3, 3, 2}), TensorShape({2, 5, 2})})
    {
        SCOPED_TRACE(shape.ToString());
        ITfLiteParser::TfLiteParserOptions options;
        options.m_InputShapes["in"] = shape;
        ModelRun fresh(model, options);
        for (int step = 0; step < 2; ++step) // a state of another batch starts anew, then goes on
        {
            const Data expected = fresh.Run(Image(shape)).at(0);
            const Data actual = loaded.Run(Image(shape)).at(0);
            EXPECT_EQ(actual.m_Shape, TensorShape({shape[0], 4}));
            EXPECT_EQ(actual.m_Bytes, expected.m_Bytes) << "step " << step;
        }
    }
    EXPECT_EQ(fake->NumWorkloads(), packed) << "weights are packed once";
}

TEST(DynamicShapes, FilesThatLeaveShapesOpenGiveWhatFixedOnesGive)
{
    ModelRun fixed(VisionModel(Declared::Fixed));
    const Data expected = fixed.Run(Image({1, 6, 6, 2})).at(0);
    for (const Declared declared : {Declared::Signature, Declared::Unranked})
    {
        ModelRun open(VisionModel(declared));
        EXPECT_EQ(open.Run(Image({1, 6, 6, 2})).at(0).m_Bytes, expected.m_Bytes) << static_cast<int>(declared);
    }
}

TEST(DynamicShapes, InputsWithoutRank)
{
    ModelBuilder model;
    const int32_t in = model.AddInput("in", {});
    const int32_t sum = model.AddTensor("sum", {});
    const int32_t out = model.AddOutput("out", {});
    for (const int32_t tensor : {in, sum, out})
    {
        model.Tensor(tensor).has_rank = false;
    }
    model.AddOperator(Op::ADD, {in, model.AddConstant<float>("row", {2}, {10, 20}, Type::FLOAT32)}, {sum},
                      schema::AddOptionsT());
    schema::ConcatenationOptionsT options;
    options.axis = 0;
    model.AddOperator(Op::CONCATENATION, {sum, in}, {out}, options);
    ModelRun run(model);
    std::vector<Data> result = run.Run({Data::Of<float>({2}, {1, 2})});
    EXPECT_THAT(result.at(0).As<float>(), ElementsAre(11, 22, 1, 2));
    result = run.Run({Data::Of<float>({2, 2}, {1, 2, 3, 4})});
    EXPECT_EQ(result.at(0).m_Shape, TensorShape({4, 2}));
    EXPECT_THAT(result.at(0).As<float>(), ElementsAre(11, 22, 13, 24, 1, 2, 3, 4));
    result = run.Run({Data::Of<float>({2}, {5, 6})});
    EXPECT_THAT(result.at(0).As<float>(), ElementsAre(15, 26, 5, 6));
}

TEST(DynamicShapes, JoinsCountTheirAxisFromTheEndOfAnyRank)
{
    ModelBuilder model;
    const int32_t in = model.AddInput("in", {});
    const int32_t joined = model.AddOutput("joined", {});
    const int32_t inner = model.AddOutput("inner", {});
    const int32_t outer = model.AddOutput("outer", {});
    for (const int32_t tensor : {in, joined, inner, outer})
    {
        model.Tensor(tensor).has_rank = false;
    }
    schema::ConcatenationOptionsT concat;
    concat.axis = -1;
    model.AddOperator(Op::CONCATENATION, {in, in}, {joined}, concat);
    schema::PackOptionsT pack;
    pack.values_count = 2;
    pack.axis = -1;
    model.AddOperator(Op::PACK, {in, in}, {inner}, pack);
    pack.axis = -2;
    model.AddOperator(Op::PACK, {in, in}, {outer}, pack);
    ModelRun run(model);
    std::vector<Data> result = run.Run({Data::Of<float>({2, 2}, {1, 2, 3, 4})});
    EXPECT_EQ(result.at(0).m_Shape, TensorShape({2, 4}));
    EXPECT_THAT(result.at(0).As<float>(), ElementsAre(1, 2, 1, 2, 3, 4, 3, 4));
    EXPECT_EQ(result.at(1).m_Shape, TensorShape({2, 2, 2}));
    EXPECT_THAT(result.at(1).As<float>(), ElementsAre(1, 1, 2, 2, 3, 3, 4, 4));
    EXPECT_THAT(result.at(2).As<float>(), ElementsAre(1, 2, 1, 2, 3, 4, 3, 4));
    result = run.Run({Data::Of<float>({2}, {1, 2})});
    EXPECT_THAT(result.at(0).As<float>(), ElementsAre(1, 2, 1, 2));
    EXPECT_THAT(result.at(1).As<float>(), ElementsAre(1, 1, 2, 2));
    EXPECT_EQ(result.at(2).m_Shape, TensorShape({2, 2}));
    EXPECT_THAT(result.at(2).As<float>(), ElementsAre(1, 2, 1, 2));
    // A scalar has no last dimension to join along.
    EXPECT_THROW(run.Run({Data::Of<float>(TensorShape(Dimensionality::Scalar), {1})}), Exception);
}

TEST(DynamicShapes, InputsWithoutSizesAreScalarsUnlessTheFileTellsRanks)
{
    ModelBuilder model;
    const int32_t scalar = model.AddInput("scalar", {});
    const int32_t list = model.AddInput("list", {2});
    model.Tensor(scalar).has_rank = false;
    model.AddOperator(Op::MUL, {scalar, list}, {model.AddOutput("out", {2})}, schema::MulOptionsT());
    {
        const Parsed parsed(model);
        EXPECT_TRUE(parsed.m_Parser->GetNetworkInputBindingInfo(0, "scalar").second.GetShape().IsScalar());
    }
    ModelRun run(model);
    const Data two = Data::Of<float>(TensorShape(Dimensionality::Scalar), {2});
    EXPECT_THAT(run.Run({two, Data::Of<float>({2}, {3, 4})}).at(0).As<float>(), ElementsAre(6, 8));

    model.Tensor(list).has_rank = true;
    const Parsed parsed(model);
    EXPECT_EQ(parsed.m_Parser->GetNetworkInputBindingInfo(0, "scalar").second.GetShape(), TensorShape());
}

TEST(DynamicShapes, TargetsThatFollowFromShapes)
{
    // out = reshape(in, [shape(in)[0], -1]), a flattening as converters write it.
    ModelBuilder model;
    const int32_t in = model.AddInput("in", {1, 2, 3});
    model.Tensor(in).shape_signature = {-1, -1, 3};
    const int32_t shape = model.AddTensor("shape", {3}, Type::INT32);
    schema::ShapeOptionsT sizes;
    sizes.out_type = Type::INT32;
    model.AddOperator(Op::SHAPE, {in}, {shape}, sizes);
    const int32_t batch = model.AddTensor("batch", {}, Type::INT32);
    schema::StridedSliceOptionsT slice;
    slice.shrink_axis_mask = 1;
    model.AddOperator(
        Op::STRIDED_SLICE,
        {shape, model.AddIntegers("begin", {0}), model.AddIntegers("end", {1}), model.AddIntegers("stride", {1})},
        {batch}, slice);
    const int32_t target = model.AddTensor("target", {2}, Type::INT32);
    schema::PackOptionsT pack;
    pack.values_count = 2;
    model.AddOperator(Op::PACK, {batch, model.AddConstant<int32_t>("rest", {}, {-1}, Type::INT32)}, {target}, pack);
    const int32_t out = model.AddOutput("out", {1, 6});
    model.Tensor(out).shape_signature = {-1, -1};
    model.AddOperator(Op::RESHAPE, {in, target}, {out});
    ModelRun run(model);
    for (const TensorShape& size : {TensorShape({1, 2, 3}), TensorShape({4, 5, 3}), TensorShape({1, 2, 3})})
    {
        const std::vector<Data> data = Image(size);
        const Data result = run.Run(data).at(0);
        EXPECT_EQ(result.m_Shape, TensorShape({size[0], size[1] * size[2]}));
        EXPECT_EQ(result.m_Bytes, data[0].m_Bytes);
    }
}

} // namespace tenon::test::dynamic_shapes_test
