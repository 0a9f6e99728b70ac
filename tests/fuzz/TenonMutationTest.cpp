// SPDX-License-Identifier: Apache-2.0
// Hostile .tenon files: a network with nested ones, states and the bundled model, before and after optimization, cut
// short at every byte and with each byte of its structure bent. Whatever comes of it is a network or an exception of
// Tenon; what is a network is optimized if it has to be, loaded and run under small limits. Run under the sanitizers
// this also shows reads outside of the file and of tensors.
#include "DigitsModel.hpp"
#include "FuzzTarget.hpp"
#include "MutateBytes.hpp"
#include "harness/Networks.hpp"
#include "harness/Serialized.hpp"

#include <tenon/parsers/ITfLiteParser.hpp>
#include <tenon/serializer/IDeserializer.hpp>

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tenon::test::tenon_mutation_test
{

namespace
{

/// An If on a state, weights with a scale per channel and per block, an override, a strided slice with parameters as
/// inputs.
INetworkPtr MakeMixed()
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* condition = AddInput(*network, 0, TensorInfo({1}, DataType::Boolean), "condition");
    IConnectableLayer* state = network->AddReadStateLayer(StateDescriptor("sum"), "read");
    state->GetOutputSlot(0).SetTensorInfo(FloatInfo({2}));
    const INetworkPtr nested = MakeChain(2, FloatInfo({2}));
    IConnectableLayer* chosen = network->AddIfLayer(*nested, *nested, "if");
    Connect(condition, chosen, 0);
    Connect(state, chosen, 1);
    Connect(chosen, network->AddWriteStateLayer(StateDescriptor("sum"), "write"));
    Connect(chosen, network->AddOutputLayer(0, "out"));

    IConnectableLayer* picture =
        AddInput(*network, 1, TensorInfo({1, 2, 2, 1}, DataType::QAsymmS8, 0.5f, 1), "picture");
    static const int8_t weights[] = {3, -2};
    static const int32_t begin[] = {0, 0, 0, 0};
    static const int32_t end[] = {1, 2, 1, 2};
    static const int32_t ones[] = {1, 1, 1, 1};
    Convolution2dDescriptor convolution;
    convolution.m_DataLayout = DataLayout::NHWC;
    IConnectableLayer* convolved = network->AddConvolution2dLayer(convolution, "convolution");
    TensorInfo weightInfo({2, 1, 1, 1}, DataType::QSymmS8, std::vector<float>{0.5f, 0.25f}, 0, true);
    Connect(picture, convolved);
    Connect(network->AddConstantLayer(ConstTensor(weightInfo, weights), "weights"), convolved, 1);
    convolved->GetOutputSlot(0).SetTensorInfo(TensorInfo({1, 2, 2, 2}, DataType::QAsymmS8, 0.25f, -3));
    StridedSliceDescriptor slicing;
    slicing.m_ParametersAsInputs = true;
    IConnectableLayer* slice = network->AddStridedSliceLayer(slicing, "slice");
    Connect(convolved, slice);
    const TensorInfo indexInfo({4}, DataType::Signed32, 0.0f, 0, true);
    unsigned int input = 1;
    for (const int32_t* values : {begin, end, ones})
    {
        Connect(network->AddConstantLayer(ConstTensor(indexInfo, values), "index"), slice, input++);
    }
    slice->GetInputSlot(0).SetTensorInfo(TensorInfo({1, 2, 2, 2}, DataType::QAsymmS8, 0.5f, 0));
    Connect(slice, network->AddOutputLayer(1, "sliced"));

    static const int8_t blocks[] = {1, -2, 3, -4, 5, -6, 7, -8};
    TensorInfo blockInfo({2, 4}, DataType::QSymmS8, std::vector<float>{0.5f, 0.25f, 1.0f, 0.0f}, 1, true);
    blockInfo.SetQuantizationBlockSize(2);
    FullyConnectedDescriptor product;
    product.m_TransposeWeightMatrix = true;
    IConnectableLayer* multiplied = network->AddFullyConnectedLayer(product, "product");
    Connect(AddInput(*network, 2, FloatInfo({1, 4}), "row"), multiplied);
    Connect(network->AddConstantLayer(ConstTensor(blockInfo, blocks), "blocks"), multiplied, 1);
    multiplied->GetOutputSlot(0).SetTensorInfo(FloatInfo({1, 2}));
    Connect(multiplied, network->AddOutputLayer(2, "multiplied"));
    return network;
}

class TenonVictim final : public FuzzTarget
{
public:
    explicit TenonVictim(bool isOptimized) : FuzzTarget(1), m_IsOptimized(isOptimized) // 1: a Boolean as well
    {
        IDeserializer::DeserializerOptions options;
        options.m_Limits = GetLimits();
        m_Deserializer = IDeserializer::Create(options);
    }

private:
    IOptimizedNetworkPtr Read(const Bytes& bytes) override
    {
        return m_IsOptimized ? m_Deserializer->CreateOptimizedNetworkFromBinary(bytes, DeviceSpec())
                             : OptimizeIt(*m_Deserializer->CreateNetworkFromBinary(bytes));
    }

    std::vector<LayerBindingId> InputIds() const override
    {
        std::vector<LayerBindingId> ids;
        for (const std::string& name : m_Deserializer->GetNetworkInputNames())
        {
            ids.push_back(m_Deserializer->GetNetworkInputBindingInfo(0, name).first);
        }
        return ids;
    }

    bool m_IsOptimized;
    IDeserializerPtr m_Deserializer{nullptr, &IDeserializer::Destroy};
};

/// "mixed" or "digits", before or after optimization.
class TenonMutation : public testing::TestWithParam<std::tuple<const char*, bool>>
{
protected:
    TenonMutation() : m_Target(std::get<1>(GetParam()))
    {
        const bool isMixed = std::strcmp(std::get<0>(GetParam()), "mixed") == 0;
        const INetworkPtr network =
            isMixed ? MakeMixed()
                    : ITfLiteParser::Create()->CreateNetworkFromBinaryFile("samples/digits/digits_int8.tflite");
        m_File = std::get<1>(GetParam()) ? Serialized(*Optimize(*network, {"CpuRef"}, m_Target.DeviceSpec()))
                                         : Serialized(*network);
    }

    TenonVictim m_Target;
    Bytes m_File;
};

} // namespace

TEST_P(TenonMutation, CutShortAtEveryByte)
{
    ASSERT_TRUE(m_Target.Runs(m_File));
    for (size_t length = 0; length < m_File.size(); ++length)
    {
        // Of a size of its own, so that a sanitizer sees the end.
        EXPECT_FALSE(m_Target.Runs(Bytes(m_File.begin(), m_File.begin() + static_cast<std::ptrdiff_t>(length))));
    }
}

TEST_P(TenonMutation, EachByteOfTheStructureBent)
{
    ASSERT_TRUE(m_Target.Runs(m_File));
    size_t refused = 0;
    for (const size_t at : PlacesOfStructure(m_File))
    {
        const uint8_t byte = m_File[at];
        BendByte(m_File, at, {0, 127, 255, byte + 1, byte - 1}, [&] { refused += m_Target.Runs(m_File) ? 0 : 1; });
    }
    EXPECT_GT(refused, 1000u);
    EXPECT_TRUE(m_Target.Runs(m_File));
}

TEST_P(TenonMutation, SeveralPlacesAtOnce)
{
    std::mt19937 random(20240611); // any seed: failures must repeat
    for (int round = 0; round < 5000; ++round)
    {
        m_Target.Runs(MutateBytes(m_File, random, 4));
    }
}

INSTANTIATE_TEST_SUITE_P(All, TenonMutation, testing::Combine(testing::Values("mixed", "digits"), testing::Bool()));

} // namespace tenon::test::tenon_mutation_test
