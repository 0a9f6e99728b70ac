// SPDX-License-Identifier: Apache-2.0
// Pass DequantizeBlocks: which layers keep constants with a scale per block, and that all others give, bit for bit,
// what the same numbers as floats give. The judge is the product of weight and scale, which is exact here.
#include "optimizer/passes/Fusing.hpp"

#include <tenon/Exceptions.hpp>

#include <functional>
#include <string>

namespace tenon::test::dequantize_blocks_test
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;

enum class Weights
{
    Blocks4, ///< of 4 bits
    Blocks8,
    Floats
};

/// The same numbers in each form: integers from -8 to 7 times powers of two, in blocks of 4 of the last dimension.
IConnectableLayer* AddWeights(INetwork& network, const TensorShape& shape, Weights form)
{
    constexpr unsigned int Block = 4;
    const size_t count = shape.GetNumElements();
    std::vector<int8_t> stored(count);
    std::vector<float> floats(count);
    std::vector<float> scales(count / Block);
    for (size_t i = 0; i < count; ++i)
    {
        scales[i / Block] = std::ldexp(1.0f, -static_cast<int>(i / Block % 5));
        stored[i] = static_cast<int8_t>(static_cast<int>(i * 7 % 16) - 8);
        floats[i] = static_cast<float>(stored[i]) * scales[i / Block];
    }
    if (form == Weights::Floats)
    {
        return AddFloatConstant(network, shape, floats);
    }
    TensorInfo info(shape, form == Weights::Blocks4 ? DataType::QSymmS4 : DataType::QSymmS8, scales,
                    shape.GetNumDimensions() - 1);
    info.SetQuantizationBlockSize(Block);
    if (form == Weights::Blocks8)
    {
        return AddOwnedConstant(network, info, stored);
    }
    std::vector<uint8_t> packed(count / 2);
    for (size_t i = 0; i < count; i += 2)
    {
        packed[i / 2] = static_cast<uint8_t>((stored[i] & 0xF) | (stored[i + 1] & 0xF) << 4);
    }
    return AddOwnedConstant(network, info, packed);
}

struct Case
{
    const char* m_Name;
    TensorInfo m_Data;
    TensorShape m_Weights;
    std::function<IConnectableLayer*(INetwork&)> m_AddLayer;
};

INetworkPtr MakeNetwork(const Case& c, Weights form)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* const layer = c.m_AddLayer(*network);
    Connect(AddInput(*network, 0, c.m_Data), layer);
    Connect(AddWeights(*network, c.m_Weights, form), layer, 1);
    Connect(layer, network->AddOutputLayer(0));
    return network;
}

std::vector<Case> GetCases()
{
    const TensorInfo rows({3, 8}, DataType::Float32);
    return {
        {"convolution",
         TensorInfo({1, 5, 5, 8}, DataType::Float32),
         {4, 3, 3, 8},
         [](INetwork& network)
         {
             Convolution2dDescriptor descriptor;
             descriptor.m_DataLayout = DataLayout::NHWC;
             descriptor.m_StrideX = descriptor.m_StrideY = 1;
             return network.AddConvolution2dLayer(descriptor);
         }},
        {"product", rows, {8, 4}, [](INetwork& n) { return n.AddBatchMatMulLayer(BatchMatMulDescriptor()); }},
        {"product with a transposed matrix",
         rows,
         {5, 8},
         [](INetwork& network)
         {
             BatchMatMulDescriptor descriptor;
             descriptor.m_TransposeY = true;
             return network.AddBatchMatMulLayer(descriptor);
         }},
        {"sum", rows, {8}, [](INetwork& n) { return n.AddElementwiseBinaryLayer(BinaryOperation::Add); }},
        {"weights [inputs, outputs]",
         rows,
         {8, 4},
         [](INetwork& n) { return n.AddFullyConnectedLayer(FullyConnectedDescriptor()); }},
    };
}

FullyConnectedDescriptor Transposed()
{
    FullyConnectedDescriptor descriptor;
    descriptor.m_TransposeWeightMatrix = true;
    return descriptor;
}

/// Types of the constants of the optimized network.
std::vector<DataType> ConstantTypes(const INetwork& network)
{
    const IOptimizedNetworkPtr optimized = OptimizeFor(network, true);
    std::vector<DataType> types;
    for (const auto& layer : static_cast<const OptimizedNetwork&>(*optimized).GetGraph().Layers())
    {
        if (layer->GetType() == LayerType::Constant)
        {
            types.push_back(layer->Output(0).GetTensorInfo().GetDataType());
        }
    }
    return types;
}

} // namespace

TEST(DequantizeBlocks, GivesLayersWithoutBlocksFloats)
{
    for (const Case& c : GetCases())
    {
        const INetworkPtr floats = MakeNetwork(c, Weights::Floats);
        const std::vector<std::byte> input = MakeInput(c.m_Data);
        for (const char* backend : {"CpuRef", "CpuAcc"})
        {
            const RunResult wanted = RunOnce(*floats, true, c.m_Data, input, {backend});
            for (const Weights form : {Weights::Blocks4, Weights::Blocks8})
            {
                SCOPED_TRACE(std::string(c.m_Name) + " on " + backend);
                const INetworkPtr network = MakeNetwork(c, form);
                EXPECT_EQ(FusedTypes(*network, {backend}), FusedTypes(*floats, {backend}));
                EXPECT_THAT(ConstantTypes(*network), ElementsAre(DataType::Float32));
                EXPECT_EQ(RunOnce(*network, true, c.m_Data, input, {backend}).m_Bytes, wanted.m_Bytes);
                EXPECT_EQ(RunOnce(*network, false, c.m_Data, input, {backend}).m_Bytes, wanted.m_Bytes);
            }
        }
    }
}

TEST(DequantizeBlocks, LeavesBlocksToLayersThatComputeWithThem)
{
    const Case product = {"product", TensorInfo({3, 8}, DataType::Float32), {4, 8}, [](INetwork& network) {
                              return network.AddFullyConnectedLayer(Transposed());
                          }};
    EXPECT_THAT(ConstantTypes(*MakeNetwork(product, Weights::Blocks4)), ElementsAre(DataType::QSymmS4));
    EXPECT_THAT(ConstantTypes(*MakeNetwork(product, Weights::Blocks8)), ElementsAre(DataType::QSymmS8));

    const INetworkPtr lookup = INetwork::Create();
    IConnectableLayer* const layer = lookup->AddEmbeddingLookupLayer();
    Connect(AddInput(*lookup, 0, TensorInfo({3}, DataType::Signed32)), layer);
    Connect(AddWeights(*lookup, {4, 8}, Weights::Blocks4), layer, 1);
    layer->GetOutputSlot(0).SetTensorInfo(TensorInfo({3, 8}, DataType::Float32));
    Connect(layer, lookup->AddOutputLayer(0));
    EXPECT_THAT(ConstantTypes(*lookup), ElementsAre(DataType::QSymmS4));
}

// One Dequantize serves all readers; those that take blocks keep them.
TEST(DequantizeBlocks, MayHaveReadersOfBothKinds)
{
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* const input = AddInput(*network, 0, TensorInfo({4, 8}, DataType::Float32));
    IConnectableLayer* const weights = AddWeights(*network, {4, 8}, Weights::Blocks4);
    IConnectableLayer* const layers[] = {network->AddFullyConnectedLayer(Transposed()),
                                         network->AddElementwiseBinaryLayer(BinaryOperation::Mul),
                                         network->AddElementwiseBinaryLayer(BinaryOperation::Maximum)};
    LayerBindingId id = 0;
    for (IConnectableLayer* layer : layers)
    {
        Connect(input, layer);
        Connect(weights, layer, 1);
        Connect(layer, network->AddOutputLayer(id++));
    }
    EXPECT_THAT(ConstantTypes(*network), testing::UnorderedElementsAre(DataType::QSymmS4, DataType::Float32));
}

TEST(DequantizeBlocks, LargeConstantsAreFoldedToo)
{
    const Case product = {"product", TensorInfo({1, 1024}, DataType::Float32), {1024, 2048}, [](INetwork& network) {
                              return network.AddBatchMatMulLayer(BatchMatMulDescriptor());
                          }};
    EXPECT_THAT(ConstantTypes(*MakeNetwork(product, Weights::Blocks4)), ElementsAre(DataType::Float32));
}

// Rows of a table that a model dequantizes itself.
TEST(DequantizeBlocks, GatherReadsDequantizedBlocks)
{
    const auto makeNetwork = [](Weights form)
    {
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* table = AddWeights(*network, {6, 8}, form);
        if (form != Weights::Floats)
        {
            IConnectableLayer* const dequantize = network->AddDequantizeLayer();
            Connect(table, dequantize);
            dequantize->GetOutputSlot(0).SetTensorInfo(TensorInfo({6, 8}, DataType::Float32));
            table = dequantize;
        }
        IConnectableLayer* const gather = network->AddGatherLayer(GatherDescriptor());
        Connect(table, gather);
        Connect(AddInput(*network, 0, TensorInfo({4}, DataType::Signed32)), gather, 1);
        Connect(gather, network->AddOutputLayer(0));
        return network;
    };
    const TensorInfo indices({4}, DataType::Signed32);
    const int32_t values[] = {5, 0, 3, 3};
    const auto* const begin = reinterpret_cast<const std::byte*>(values);
    const std::vector<std::byte> input(begin, begin + sizeof(values));
    for (const char* backend : {"CpuRef", "CpuAcc"})
    {
        const RunResult wanted = RunOnce(*makeNetwork(Weights::Floats), true, indices, input, {backend});
        for (const Weights form : {Weights::Blocks4, Weights::Blocks8})
        {
            EXPECT_EQ(RunOnce(*makeNetwork(form), true, indices, input, {backend}).m_Bytes, wanted.m_Bytes) << backend;
        }
    }
}

TEST(DequantizeBlocks, LayersOfIntegersAreRefused)
{
    Case c = GetCases().front();
    c.m_Data = TensorInfo({1, 5, 5, 8}, DataType::QAsymmS8, 0.5f, 0);
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* const layer = c.m_AddLayer(*network);
    Connect(AddInput(*network, 0, c.m_Data), layer);
    Connect(AddWeights(*network, c.m_Weights, Weights::Blocks8), layer, 1);
    layer->GetOutputSlot(0).SetTensorInfo(TensorInfo({1, 3, 3, 4}, DataType::QAsymmS8, 0.5f, 0));
    Connect(layer, network->AddOutputLayer(0));
    try
    {
        OptimizeFor(*network, true);
        ADD_FAILURE() << "nothing was thrown";
    }
    catch (const UnimplementedException& error)
    {
        EXPECT_THAT(error.what(), HasSubstr("a scale per block, which this layer does not take"));
    }
}

} // namespace tenon::test::dequantize_blocks_test
