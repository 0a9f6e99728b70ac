// SPDX-License-Identifier: Apache-2.0
// Pass FoldQuantization: which layers become quantized ones, which stay floats, and that both give the same but for
// single steps.
#include "harness/Passes.hpp"
#include "optimizer/passes/Fusing.hpp"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <map>

namespace tenon::test::fold_quantization_test
{

using testing::ElementsAre;

namespace
{

using enum LayerType;

constexpr float Scale = 0.05f;

TensorInfo Stored(const TensorShape& shape, DataType type = DataType::QAsymmU8, float scale = Scale)
{
    return TensorInfo(shape, type, scale, type == DataType::QAsymmU8 ? 120 : -7);
}

/// A network that is quantized as ONNX models are: each layer of floats stands between Dequantize and Quantize.
class Qdq
{
public:
    explicit Qdq(DataType type = DataType::QAsymmU8) : m_Type(type), m_Network(INetwork::Create()) {}

    INetwork& Net() { return *m_Network; }
    TensorInfo Info(const TensorShape& shape, float scale = Scale) const { return Stored(shape, m_Type, scale); }

    IConnectableLayer* Input(const TensorShape& shape) { return AddInput(*m_Network, 0, Info(shape)); }
    void Output(IConnectableLayer* layer) { Connect(layer, m_Network->AddOutputLayer(m_NumOutputs++)); }

    IConnectableLayer* After(std::initializer_list<IConnectableLayer*> inputs, IConnectableLayer* layer,
                             const TensorInfo& info)
    {
        unsigned int i = 0;
        for (IConnectableLayer* input : inputs)
        {
            Connect(input, layer, i++);
        }
        layer->GetOutputSlot(0).SetTensorInfo(info);
        return layer;
    }
    IConnectableLayer* Floats(std::initializer_list<IConnectableLayer*> inputs, IConnectableLayer* layer,
                              const TensorShape& shape)
    {
        return After(inputs, layer, TensorInfo(shape, DataType::Float32));
    }
    IConnectableLayer* Dequantize(IConnectableLayer* in)
    {
        return Floats({in}, m_Network->AddDequantizeLayer(), in->GetOutputSlot(0).GetTensorInfo().GetShape());
    }
    IConnectableLayer* Quantize(IConnectableLayer* in, float scale = Scale,
                                RequantizationMode mode = RequantizationMode::FloatHalfEven)
    {
        return After({in}, m_Network->AddQuantizeLayer(QuantizeDescriptor(mode)),
                     Info(in->GetOutputSlot(0).GetTensorInfo().GetShape(), scale));
    }
    /// Constant int8 weights behind a Dequantize, with a scale for each index of `axis`, or with one.
    IConnectableLayer* Weights(const TensorShape& shape, std::optional<unsigned int> axis)
    {
        TensorInfo info(shape, DataType::QAsymmS8, 0.01f, 3);
        if (axis.has_value())
        {
            std::vector<float> scales;
            for (unsigned int i = 0; i < shape[*axis]; ++i)
            {
                scales.push_back(0.01f + 0.002f * static_cast<float>(i));
            }
            info = TensorInfo(shape, DataType::QSymmS8, scales, *axis);
        }
        std::vector<int8_t> values(shape.GetNumElements());
        for (size_t i = 0; i < values.size(); ++i)
        {
            values[i] = static_cast<int8_t>((i * 37 + 11) % 255 - 127);
        }
        return Dequantize(AddOwnedConstant(*m_Network, info, values));
    }
    IConnectableLayer* Convolve(IConnectableLayer* data, const TensorShape& weights, std::optional<unsigned int> axis,
                                const TensorShape& shape, bool hasBias = true)
    {
        Convolution2dDescriptor d;
        d.m_DataLayout = DataLayout::NHWC;
        d.m_PadLeft = d.m_PadRight = d.m_PadTop = d.m_PadBottom = weights[1] / 2;
        d.m_BiasEnabled = hasBias;
        IConnectableLayer* const conv =
            Floats({data, Weights(weights, axis)}, m_Network->AddConvolution2dLayer(d), shape);
        if (hasBias)
        {
            Connect(AddFloatConstant(*m_Network, {weights[0]}, Spread(weights[0])), conv, 2);
        }
        return conv;
    }
    IConnectableLayer* Activate(IConnectableLayer* in, ActivationFunction function, float a = 0, float b = 0)
    {
        return Floats({in}, m_Network->AddActivationLayer(ActivationDescriptor(function, a, b)),
                      in->GetOutputSlot(0).GetTensorInfo().GetShape());
    }
    IConnectableLayer* Binary(BinaryOperation operation, IConnectableLayer* a, IConnectableLayer* b,
                              const TensorShape& shape)
    {
        return Floats({a, b}, m_Network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(operation)), shape);
    }

private:
    DataType m_Type;
    INetworkPtr m_Network;
    LayerBindingId m_NumOutputs = 0;
};

/// The layers that compute, sorted and counted.
std::map<LayerType, int> CountTypes(const INetwork& network)
{
    std::map<LayerType, int> counts;
    for (const LayerType type : FusedTypes(network))
    {
        ++counts[type];
    }
    return counts;
}

using Counts = std::map<LayerType, int>;

/// Folded or not, all bytes of output 0 differ by `maxSteps` at most, and few do.
void ExpectNear(const INetwork& network, const TensorInfo& input, int maxSteps = 1)
{
    const std::vector<std::byte> bytes = MakeInput(input);
    for (const char* backend : {"CpuRef", "CpuAcc"})
    {
        SCOPED_TRACE(backend);
        const RunResult plain = RunOnce(network, false, input, bytes, {backend, "CpuRef"});
        const RunResult folded = RunOnce(network, true, input, bytes, {backend, "CpuRef"});
        EXPECT_EQ(plain.m_Shape, folded.m_Shape);
        ASSERT_EQ(plain.m_Bytes.size(), folded.m_Bytes.size());
        size_t others = 0;
        for (size_t i = 0; i < plain.m_Bytes.size(); ++i)
        {
            const int want = std::to_integer<int>(plain.m_Bytes[i]);
            const int got = std::to_integer<int>(folded.m_Bytes[i]);
            ASSERT_LE(std::min(std::abs(want - got), 256 - std::abs(want - got)), maxSteps) << "element " << i;
            others += want != got ? 1 : 0;
        }
        EXPECT_LE(others, maxSteps * (1 + plain.m_Bytes.size() / 100));
    }
}

using MakeLayers = std::function<IConnectableLayer*(Qdq&, IConnectableLayer*)>;

void ExpectFoldsOf(DataType type, const TensorShape& shape, const MakeLayers& make, const Counts& counts, int maxSteps)
{
    SCOPED_TRACE(GetDataTypeName(type));
    Qdq q(type);
    q.Output(q.Quantize(make(q, q.Dequantize(q.Input(shape)))));
    EXPECT_EQ(CountTypes(q.Net()), counts);
    ExpectNear(q.Net(), Stored(shape, type), maxSteps);
}

/// The network between Dequantize of its input and Quantize becomes these layers, and with uint8 a Quantize to int8 at
/// its start and one to uint8 at its end.
void ExpectFolds(const TensorShape& shape, const MakeLayers& make, const Counts& counts, int maxSteps = 1)
{
    ExpectFoldsOf(DataType::QAsymmS8, shape, make, counts, maxSteps);
    Counts withConversions = counts;
    withConversions[LayerType::Quantize] += 2;
    ExpectFoldsOf(DataType::QAsymmU8, shape, make, withConversions, maxSteps);
}

/// Nothing but what stood there before: floats.
void ExpectStays(Qdq& q, const TensorInfo& input, const Counts& counts)
{
    EXPECT_EQ(CountTypes(q.Net()), counts);
    ExpectNear(q.Net(), input);
}

} // namespace

TEST(FoldQuantization, ConvolutionsTakeTheirBiasAndClamp)
{
    for (const std::optional<unsigned int> axis : {std::optional<unsigned int>(), std::optional(0U)})
    {
        const MakeLayers make = [&](Qdq& q, IConnectableLayer* x)
        {
            IConnectableLayer* const y = q.Convolve(x, {5, 3, 3, 4}, axis, {1, 6, 7, 5});
            return q.Activate(y, ActivationFunction::BoundedReLu, 3.0f, -0.5f);
        };
        ExpectFoldsOf(DataType::QAsymmS8, {1, 6, 7, 4}, make, {{Convolution2d, 1}}, 1);
        // The clamp and the conversion to uint8 are a function.
        ExpectFoldsOf(DataType::QAsymmU8, {1, 6, 7, 4}, make,
                      {{LayerType::Quantize, 1}, {Convolution2d, 1}, {Table, 1}}, 1);
    }
}

TEST(FoldQuantization, GroupsOfOneChannelAreDepthwise)
{
    ExpectFolds({1, 6, 7, 4},
                [](Qdq& q, IConnectableLayer* x) {
                    return q.Convolve(x, {4, 3, 3, 1}, 0, {1, 6, 7, 4});
                },
                {{DepthwiseConvolution2d, 1}});
}

TEST(FoldQuantization, ChannelsFirst)
{
    ExpectFolds(
        {1, 4, 6, 7},
        [](Qdq& q, IConnectableLayer* x)
        {
            Convolution2dDescriptor d;
            d.m_DataLayout = DataLayout::NCHW;
            IConnectableLayer* const first =
                q.Floats({x, q.Weights({5, 4, 1, 1}, 0)}, q.Net().AddConvolution2dLayer(d), {1, 5, 6, 7});
            IConnectableLayer* const between = q.Dequantize(q.Quantize(first));
            return q.Floats({between, q.Weights({3, 5, 1, 1}, 0)}, q.Net().AddConvolution2dLayer(d), {1, 3, 6, 7});
        },
        {{Convolution2d, 2}, {Transpose, 2}}, 4); // a step of the first result is some of the second
}

TEST(FoldQuantization, ProductsWithMatricesAreFullyConnected)
{
    for (const bool isTransposed : {false, true})
    {
        ExpectFolds(
            {2, 3, 8},
            [&](Qdq& q, IConnectableLayer* x)
            {
                const TensorShape shape = isTransposed ? TensorShape({5, 8}) : TensorShape({8, 5});
                IConnectableLayer* const product =
                    q.Floats({x, q.Weights(shape, isTransposed ? 0 : 1)},
                             q.Net().AddBatchMatMulLayer(BatchMatMulDescriptor(false, isTransposed)), {2, 3, 5});
                return q.Binary(BinaryOperation::Add, AddFloatConstant(q.Net(), {5}, Spread(5)), product, {2, 3, 5});
            },
            {{FullyConnected, 1}});
    }
}

TEST(FoldQuantization, ProductsOfTwoTensors)
{
    ExpectFolds({2, 4, 4},
                [](Qdq& q, IConnectableLayer* x) {
                    return q.Floats({x, x}, q.Net().AddBatchMatMulLayer(BatchMatMulDescriptor(false, true)), {2, 4, 4});
                },
                {{BatchMatMul, 1}});
}

TEST(FoldQuantization, SumsAndAverages)
{
    ExpectFolds(
        {1, 6, 6, 4},
        [](Qdq& q, IConnectableLayer* x)
        {
            IConnectableLayer* const y = q.Dequantize(q.Quantize(q.Convolve(x, {4, 1, 1, 4}, 0, {1, 6, 6, 4}), 0.03f));
            IConnectableLayer* const sum = q.Dequantize(q.Quantize(q.Binary(BinaryOperation::Add, x, y, {1, 6, 6, 4})));
            Pooling2dDescriptor pool;
            pool.m_PoolType = PoolingAlgorithm::Average;
            pool.m_DataLayout = DataLayout::NHWC;
            pool.m_PoolWidth = pool.m_PoolHeight = 2;
            pool.m_StrideX = pool.m_StrideY = 2;
            IConnectableLayer* const pooled =
                q.Dequantize(q.Quantize(q.Floats({sum}, q.Net().AddPooling2dLayer(pool), {1, 3, 3, 4}), 0.04f));
            return q.Floats({pooled}, q.Net().AddMeanLayer(MeanDescriptor({1, 2}, true)), {1, 1, 1, 4});
        },
        {{Convolution2d, 1}, {ElementwiseBinary, 1}, {Pooling2d, 1}, {Mean, 1}});
}

TEST(FoldQuantization, ValuesMoveAsTheyAreStored)
{
    ExpectFolds({1, 6, 6, 4},
                [](Qdq& q, IConnectableLayer* x)
                {
                    Pooling2dDescriptor pool;
                    pool.m_PoolType = PoolingAlgorithm::Max;
                    pool.m_DataLayout = DataLayout::NHWC;
                    pool.m_PoolWidth = pool.m_PoolHeight = 2;
                    pool.m_StrideX = pool.m_StrideY = 2;
                    IConnectableLayer* const pooled = q.Floats({x}, q.Net().AddPooling2dLayer(pool), {1, 3, 3, 4});
                    IConnectableLayer* const y = q.Convolve(pooled, {4, 1, 1, 4}, 0, {1, 3, 3, 4});
                    return q.Floats({y}, q.Net().AddReshapeLayer(ReshapeDescriptor(TensorShape({9, 4}))), {9, 4});
                },
                {{Pooling2d, 1}, {Convolution2d, 1}, {Reshape, 1}});
}

TEST(FoldQuantization, PaddingWithZeroIsPaddingWithTheZeroPoint)
{
    ExpectFolds({1, 6, 6, 4},
                [](Qdq& q, IConnectableLayer* x)
                {
                    const PadDescriptor pad({{0, 0}, {1, 1}, {1, 1}, {0, 0}});
                    IConnectableLayer* const y = q.Convolve(x, {4, 1, 1, 4}, 0, {1, 6, 6, 4});
                    return q.Floats({y}, q.Net().AddPadLayer(pad), {1, 8, 8, 4});
                },
                {{Convolution2d, 1}, {Pad, 1}});
}

TEST(FoldQuantization, PartsOfAConcatAreQuantizedAsTheWhole)
{
    ExpectFolds(
        {1, 6, 6, 4},
        [](Qdq& q, IConnectableLayer* x)
        {
            IConnectableLayer* const y = q.Dequantize(q.Quantize(q.Convolve(x, {4, 1, 1, 4}, 0, {1, 6, 6, 4}), 0.02f));
            const std::vector<TensorShape> shapes(2, TensorShape({1, 6, 6, 4}));
            return q.Floats({x, y},
                            q.Net().AddConcatLayer(CreateDescriptorForConcatenation(shapes.begin(), shapes.end(), 3)),
                            {1, 6, 6, 8});
        },
        {{Convolution2d, 1}, {LayerType::Quantize, 1}, {Concat, 1}});
}

TEST(FoldQuantization, FunctionsOfOneTensorAreTables)
{
    for (const DataType type : {DataType::QAsymmS8, DataType::QAsymmU8})
    {
        ExpectFoldsOf(
            type, {2, 40},
            [](Qdq& q, IConnectableLayer* x)
            {
                IConnectableLayer* const sigmoid =
                    q.Dequantize(q.Quantize(q.Activate(x, ActivationFunction::Sigmoid), 1.0f / 256));
                return q.Binary(BinaryOperation::Mul, x, sigmoid, {2, 40});
            },
            {{Table, 1}}, 1);
    }
}

TEST(FoldQuantization, BytesAreFoundThroughBitcasts)
{
    Qdq q;
    const TensorShape shape({1, 6, 6, 4});
    const auto bitcast = [&](IConnectableLayer* in, const TensorInfo& info)
    { return q.After({in}, q.Net().AddBitcastLayer(), info); };
    IConnectableLayer* const first = q.Quantize(q.Convolve(q.Dequantize(q.Input(shape)), {4, 1, 1, 4}, 0, shape));
    IConnectableLayer* const bytes = bitcast(first, TensorInfo(shape, DataType::Unsigned8));
    IConnectableLayer* const moved =
        q.After({bytes}, q.Net().AddTransposeLayer(TransposeDescriptor(PermutationVector({0, 2, 1, 3}))),
                TensorInfo(shape, DataType::Unsigned8));
    IConnectableLayer* const x = q.Dequantize(bitcast(moved, q.Info(shape)));
    q.Output(q.Quantize(q.Convolve(x, {4, 1, 1, 4}, 0, shape)));
    EXPECT_EQ(CountTypes(q.Net()), (Counts{{Convolution2d, 2}, {Transpose, 1}, {LayerType::Quantize, 2}}));
    ExpectNear(q.Net(), q.Info(shape));
}

TEST(FoldQuantization, WhatOthersReadStaysFloats)
{
    // The float result is an output, too.
    Qdq q(DataType::QAsymmS8);
    const TensorShape shape({1, 6, 6, 4});
    IConnectableLayer* const y = q.Convolve(q.Dequantize(q.Input(shape)), {4, 1, 1, 4}, 0, shape);
    q.Output(q.Quantize(y));
    q.Output(y);
    const std::vector<LayerType> types = FusedTypes(q.Net());
    EXPECT_EQ(std::count(types.begin(), types.end(), Dequantize), 1);
    EXPECT_EQ(std::count(types.begin(), types.end(), LayerType::Quantize), 1);
}

TEST(FoldQuantization, FixedPointIsNoRoot)
{
    Qdq q(DataType::QAsymmS8);
    const TensorShape shape({1, 6, 6, 4});
    IConnectableLayer* const y = q.Convolve(q.Dequantize(q.Input(shape)), {4, 1, 1, 4}, 0, shape);
    q.Output(q.Quantize(y, Scale, RequantizationMode::FixedPoint));
    ExpectStays(q, q.Info(shape), {{Dequantize, 1}, {Convolution2d, 1}, {LayerType::Quantize, 1}});
}

TEST(FoldQuantization, ScalesOfOtherDimensionsStayFloats)
{
    Qdq q(DataType::QAsymmS8);
    const TensorShape shape({1, 6, 6, 4});
    q.Output(q.Quantize(q.Convolve(q.Dequantize(q.Input(shape)), {4, 1, 1, 4}, 3, shape)));
    ExpectStays(q, q.Info(shape), {{Dequantize, 1}, {Convolution2d, 1}, {LayerType::Quantize, 1}});
}

TEST(FoldQuantization, CoarseSumsHaveNoRoomForABiasOfFloats)
{
    // A step of the result is far less than a unit of the sums.
    Qdq q(DataType::QAsymmS8);
    const TensorShape shape({1, 6, 6, 4});
    q.Output(q.Quantize(q.Convolve(q.Dequantize(q.Input(shape)), {4, 1, 1, 4}, 0, shape), 1e-4f));
    ExpectStays(q, q.Info(shape), {{Dequantize, 1}, {Convolution2d, 1}, {LayerType::Quantize, 1}});
}

TEST(FoldQuantization, OtherLayersStayFloats)
{
    Qdq q(DataType::QAsymmS8);
    IConnectableLayer* const y =
        q.Floats({q.Dequantize(q.Input({2, 40}))}, q.Net().AddSoftmaxLayer(SoftmaxDescriptor()), {2, 40});
    q.Output(q.Quantize(y));
    ExpectStays(q, q.Info({2, 40}), {{Dequantize, 1}, {Softmax, 1}, {LayerType::Quantize, 1}});
}

TEST(FoldQuantization, LongChainsOfMovements)
{
    Qdq q(DataType::QAsymmS8);
    IConnectableLayer* x = q.Dequantize(q.Input({4, 40}));
    for (unsigned int i = 0; i < 20000; ++i)
    {
        const TensorShape shape = i % 2 == 0 ? TensorShape({40, 4}) : TensorShape({4, 40});
        x = q.Floats({x}, q.Net().AddReshapeLayer(ReshapeDescriptor(shape)), shape);
    }
    q.Output(q.Quantize(x, 0.03f));
    ExpectNear(q.Net(), q.Info({4, 40}));
}

} // namespace tenon::test::fold_quantization_test
