// SPDX-License-Identifier: Apache-2.0
// IInputSlot::SetTensorInfo: what one consumer takes a tensor for reaches shape inference and kernels, before and
// during the run, and passes of the optimizer keep it.
#include "harness/Networks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::test::override_test
{

using testing::HasSubstr;

namespace
{

TensorInfo Quantized(const TensorShape& shape, float scale, int32_t offset = 0)
{
    return TensorInfo(shape, DataType::QAsymmU8, scale, offset);
}

/// Output 0 is the input dequantized, output 1 the same with the input taken for what `other` says.
INetworkPtr MakeTwoReaders(const TensorInfo& input, const TensorInfo& other)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* source = AddInput(*network, 0, input);
    for (LayerBindingId id : {0, 1})
    {
        IConnectableLayer* reader = network->AddDequantizeLayer(id == 0 ? "plain" : "overridden");
        Connect(source, reader);
        Connect(reader, network->AddOutputLayer(id));
        if (id == 1)
        {
            reader->GetInputSlot(0).SetTensorInfo(other);
        }
    }
    return network;
}

struct Results
{
    std::vector<std::vector<float>> m_Values{2};
    std::vector<TensorShape> m_Shapes{2};
};

Results RunBytes(IRuntime& runtime, NetworkId id, const TensorShape& shape, const std::vector<uint8_t>& bytes)
{
    Results results;
    TensorInfo info = Quantized(shape, 1.0f);
    info.SetConstant();
    runtime.EnqueueWorkload(id, {{0, ConstTensor(info, bytes.data())}},
                            [&](LayerBindingId output, const TensorInfo& given)
                            {
                                const auto i = static_cast<size_t>(output);
                                results.m_Shapes[i] = given.GetShape();
                                results.m_Values[i].resize(given.GetNumElements());
                                return results.m_Values[i].data();
                            });
    return results;
}

} // namespace

TEST(Override, QuantizationOfOneOfTwoReaders)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *MakeTwoReaders(Quantized({3}, 1.0f), Quantized({3}, 0.5f, 2)));
    Results results = RunBytes(*runtime, id, {3}, {0, 2, 10});
    EXPECT_EQ(results.m_Values[0], (std::vector<float>{0, 2, 10}));
    EXPECT_EQ(results.m_Values[1], (std::vector<float>{-1, 0, 4}));
    // Another shape at the run is the tensor's, for both.
    results = RunBytes(*runtime, id, {2}, {4, 6});
    EXPECT_EQ(results.m_Values[1], (std::vector<float>{1, 2}));
}

TEST(Override, ShapeOfAsManyElements)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *MakeTwoReaders(Quantized({2, 3}, 1.0f), Quantized({6}, 1.0f)));
    const Results results = RunBytes(*runtime, id, {3, 2}, {1, 2, 3, 4, 5, 6});
    EXPECT_EQ(results.m_Shapes[0], TensorShape({3, 2}));
    EXPECT_EQ(results.m_Shapes[1], TensorShape({6}));
    EXPECT_THROW(RunBytes(*runtime, id, {2, 2}, {1, 2, 3, 4}), LayerValidationException);
}

TEST(Override, ReachesStepsThatAreShapedDuringTheRun)
{
    INetworkPtr network = INetwork::Create();
    ReshapeDescriptor descriptor;
    descriptor.m_ParametersAsInputs = true;
    IConnectableLayer* reshape = network->AddReshapeLayer(descriptor, "reshape");
    IConnectableLayer* reader = network->AddDequantizeLayer("reader");
    Connect(AddInput(*network, 0, Quantized({4}, 1.0f)), reshape, 0);
    Connect(AddInput(*network, 1, TensorInfo({2}, DataType::Signed32), "shape"), reshape, 1);
    Connect(reshape, reader);
    Connect(reader, network->AddOutputLayer(0));
    reader->GetInputSlot(0).SetTensorInfo(Quantized(TensorShape(), 0.25f, 1));
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *network);
    const std::vector<uint8_t> bytes{1, 2, 3, 5};
    const std::vector<int32_t> target{2, 2};
    std::vector<float> result(4);
    TensorInfo info = Quantized({4}, 1.0f);
    info.SetConstant();
    const ConstTensor operand(TensorInfo({2}, DataType::Signed32, 0.0f, 0, true), target.data());
    runtime->EnqueueWorkload(id, {{0, ConstTensor(info, bytes.data())}, {1, operand}},
                             OutputTensors{{0, Tensor(FloatInfo({2, 2}), result.data())}});
    EXPECT_EQ(result, (std::vector<float>{0, 0.25f, 0.5f, 1}));
}

TEST(Override, MovesToTheTransposeOfALoweredLayer)
{
    // The pool's output has the override's quantization, so that a pool that saw the source's would be refused.
    INetworkPtr network = INetwork::Create();
    Pooling2dDescriptor pool; // NCHW, maximum
    pool.m_PoolHeight = 1;
    pool.m_PoolWidth = 2;
    pool.m_StrideX = 1;
    pool.m_StrideY = 1;
    IConnectableLayer* layer = network->AddPooling2dLayer(pool, "pool");
    IConnectableLayer* reader = network->AddDequantizeLayer("reader");
    Connect(AddInput(*network, 0, Quantized({1, 2, 1, 3}, 1.0f)), layer);
    layer->GetInputSlot(0).SetTensorInfo(Quantized({1, 2, 1, 3}, 0.5f));
    Connect(layer, reader);
    Connect(reader, network->AddOutputLayer(0));
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *network);
    EXPECT_EQ(RunBytes(*runtime, id, {1, 2, 1, 3}, {1, 2, 4, 9, 7, 3}).m_Values[0],
              (std::vector<float>{1, 2, 4.5f, 3.5f}));
}

TEST(Override, RefusedWhereItSpeaksOfOtherBytes)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const auto optimize = [&](const TensorInfo& other) {
        Optimize(*MakeTwoReaders(Quantized({2, 3}, 1.0f), other), {"CpuRef"}, runtime->GetDeviceSpec());
    };
    EXPECT_THROW(optimize(Quantized({7}, 1.0f)), LayerValidationException);
    EXPECT_THROW(optimize(TensorInfo({2, 3}, DataType::QSymmS16, 1.0f)), LayerValidationException);
    EXPECT_NO_THROW(optimize(TensorInfo({2, 3}, DataType::QSymmS8, 1.0f)));
}

} // namespace tenon::test::override_test
