// SPDX-License-Identifier: Apache-2.0
// Pass OptimizeInverseConversions: which pairs go, which stay, and that every value stays as it is without the pass.
#include "graph/Network.hpp"
#include "graph/OptimizedNetwork.hpp"
#include "harness/Networks.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

namespace tenon::test::optimize_inverse_conversions_test
{

namespace
{

using Infos = std::vector<TensorInfo>;

TensorInfo Info(DataType type, float scale = 0.0f, int32_t offset = 0)
{
    return TensorInfo({256}, type, scale, offset);
}

/// From each info to the next: Quantize and Dequantize for quantized types, else Cast. `read` keeps what comes between
/// from being dead: every value is an output too.
INetworkPtr MakeConversions(const Infos& infos, bool read = false)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* last = AddInput(*network, 0, infos[0]);
    for (size_t i = 1; i < infos.size(); ++i)
    {
        const bool fromStored = infos[i - 1].IsQuantized();
        const bool toStored = infos[i].IsQuantized();
        IConnectableLayer* layer = toStored     ? network->AddQuantizeLayer("quantize")
                                   : fromStored ? network->AddDequantizeLayer("dequantize")
                                                : network->AddCastLayer("cast");
        layer->GetOutputSlot(0).SetTensorInfo(infos[i]);
        Connect(last, layer);
        last = layer;
        if (read)
        {
            Connect(last, network->AddOutputLayer(static_cast<LayerBindingId>(i)));
        }
    }
    Connect(last, network->AddOutputLayer(0));
    return network;
}

/// Layers beside inputs and outputs that are left.
size_t CountLeft(const Infos& infos)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const auto optimized = Optimize(*MakeConversions(infos), {"CpuRef"}, runtime->GetDeviceSpec());
    return static_cast<const OptimizedNetwork&>(*optimized).GetGraph().Size() - 2;
}

/// Every value of 8 bits and samples of wider types through the network as it is and after one conversion at a time.
void CheckValues(const Infos& infos)
{
    std::vector<std::byte> values(infos[0].GetNumBytes());
    for (size_t i = 0; i < values.size(); ++i)
    {
        values[i] = static_cast<std::byte>(values.size() == 256 ? i : i * 37 + i / 256 * 11);
    }
    const auto run = [&](const Infos& steps, const std::vector<std::byte>& in)
    {
        const IRuntimePtr runtime = IRuntime::Create({});
        const NetworkId id = Load(*runtime, *MakeConversions(steps));
        TensorInfo given = steps[0];
        given.SetConstant();
        std::vector<std::byte> out(steps.back().GetNumBytes());
        runtime->EnqueueWorkload(id, {{0, ConstTensor(given, in.data())}}, {{0, Tensor(steps.back(), out.data())}});
        return out;
    };
    std::vector<std::byte> want = values;
    for (size_t i = 1; i < infos.size(); ++i)
    {
        want = run({infos[i - 1], infos[i]}, want);
    }
    EXPECT_EQ(run(infos, values), want);
}

} // namespace

TEST(InverseConversions, OfHalvesByWayOfFloatGo)
{
    for (const DataType half : {DataType::Float16, DataType::BFloat16})
    {
        EXPECT_EQ(CountLeft({Info(half), Info(DataType::Float32), Info(half)}), 0u);
        EXPECT_EQ(CountLeft({Info(half), Info(DataType::Float64), Info(half)}), 0u);
        EXPECT_EQ(CountLeft({Info(half), Info(DataType::Float32), Info(half), Info(DataType::Float32)}), 1u);
        EXPECT_EQ(CountLeft({Info(half), Info(DataType::Float32), Info(DataType::Float64), Info(DataType::Float32),
                             Info(half)}),
                  0u);
    }
}

TEST(InverseConversions, OfFloatsByWayOfHalvesStay)
{
    EXPECT_EQ(CountLeft({Info(DataType::Float32), Info(DataType::Float16), Info(DataType::Float32)}), 2u);
    EXPECT_EQ(CountLeft({Info(DataType::Float16), Info(DataType::BFloat16), Info(DataType::Float16)}), 2u);
    EXPECT_EQ(CountLeft({Info(DataType::BFloat16), Info(DataType::Float16), Info(DataType::BFloat16)}), 2u);
    CheckValues({Info(DataType::Float16), Info(DataType::BFloat16), Info(DataType::Float16)});
}

TEST(InverseConversions, OfIntegersGoWhereTheWiderTypeHoldsThem)
{
    EXPECT_EQ(CountLeft({Info(DataType::Signed8), Info(DataType::Signed32), Info(DataType::Signed8)}), 0u);
    EXPECT_EQ(CountLeft({Info(DataType::Unsigned8), Info(DataType::BFloat16), Info(DataType::Unsigned8)}), 0u);
    EXPECT_EQ(CountLeft({Info(DataType::Signed32), Info(DataType::Float64), Info(DataType::Signed32)}), 0u);
    EXPECT_EQ(CountLeft({Info(DataType::Signed32), Info(DataType::Float32), Info(DataType::Signed32)}), 2u);
    EXPECT_EQ(CountLeft({Info(DataType::Signed8), Info(DataType::Unsigned32), Info(DataType::Signed8)}), 2u);
    EXPECT_EQ(CountLeft({Info(DataType::Unsigned16), Info(DataType::Float16), Info(DataType::Unsigned16)}), 2u);
    for (const DataType small : {DataType::Signed8, DataType::Unsigned8})
    {
        for (const DataType wide : {DataType::Float16, DataType::BFloat16, DataType::Signed64, DataType::Float32})
        {
            EXPECT_EQ(CountLeft({Info(small), Info(wide), Info(small)}), 0u);
        }
    }
}

TEST(InverseConversions, OfOneTypeToItselfGoButForBooleans)
{
    EXPECT_EQ(CountLeft({Info(DataType::Float32), Info(DataType::Float32)}), 0u);
    EXPECT_EQ(CountLeft({Info(DataType::Boolean), Info(DataType::Boolean)}), 1u);
    CheckValues({Info(DataType::Boolean), Info(DataType::Boolean)});
}

TEST(InverseConversions, OfQuantizedTypesGoWhereScalesAgree)
{
    for (const DataType type : {DataType::QAsymmS8, DataType::QAsymmU8, DataType::QSymmS8, DataType::QSymmS16})
    {
        const int32_t offset = type == DataType::QAsymmU8 ? 7 : (type == DataType::QAsymmS8 ? -5 : 0);
        for (const float scale : {0.1f, 1e-20f, 3e15f, 0.007874015718698502f})
        {
            const Infos infos = {Info(type, scale, offset), Info(DataType::Float32), Info(type, scale, offset)};
            EXPECT_EQ(CountLeft(infos), 0u);
            CheckValues(infos);
        }
        EXPECT_EQ(CountLeft({Info(type, 0.1f, offset), Info(type, 0.1f, offset)}), 0u);
        CheckValues({Info(type, 0.1f, offset), Info(type, 0.1f, offset)});
        EXPECT_EQ(CountLeft({Info(type, 0.1f, offset), Info(DataType::Float32), Info(type, 0.2f, offset)}), 2u);
        EXPECT_EQ(CountLeft({Info(type, 0.1f, offset), Info(type, 0.2f, offset)}), 1u);
        EXPECT_EQ(CountLeft({Info(type, 0.1f, offset), Info(DataType::Float16), Info(type, 0.1f, offset)}), 2u);
        EXPECT_EQ(CountLeft({Info(DataType::Float32), Info(type, 0.1f, offset), Info(DataType::Float32)}), 2u);
        EXPECT_EQ(CountLeft({Info(type, 1e-40f, offset), Info(DataType::Float32), Info(type, 1e-40f, offset)}), 2u);
    }
}

TEST(InverseConversions, WhatOthersReadStays)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const Infos infos = {Info(DataType::Float16), Info(DataType::Float32), Info(DataType::Float16)};
    const auto optimized = Optimize(*MakeConversions(infos, true), {"CpuRef"}, runtime->GetDeviceSpec());
    const Graph& graph = static_cast<const OptimizedNetwork&>(*optimized).GetGraph();
    EXPECT_EQ(graph.Size(), 5u); // input, one cast, three outputs
}

TEST(InverseConversions, AnInputTakenForAnotherTypeStays)
{
    const INetworkPtr network = MakeConversions({Info(DataType::Float16), Info(DataType::Float32)});
    IConnectableLayer* back = network->AddCastLayer("back");
    back->GetOutputSlot(0).SetTensorInfo(Info(DataType::Float16));
    const Graph& graph = static_cast<const Network&>(*network).GetGraph();
    Layer& cast = *graph.Layers()[1];
    ASSERT_EQ(cast.GetType(), LayerType::Cast);
    Connect(&cast, back);
    back->GetInputSlot(0).SetTensorInfo(Info(DataType::Signed32)); // its bits
    Connect(back, network->AddOutputLayer(1));
    const IRuntimePtr runtime = IRuntime::Create({});
    const auto optimized = Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec());
    EXPECT_EQ(static_cast<const OptimizedNetwork&>(*optimized).GetGraph().Size(), 5u);
}

} // namespace tenon::test::optimize_inverse_conversions_test
