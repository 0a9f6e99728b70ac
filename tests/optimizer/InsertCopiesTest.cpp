// SPDX-License-Identifier: Apache-2.0
// Where Optimize() puts layers that bring tensors into another memory, and which.
#include "graph/OptimizedNetwork.hpp"
#include "harness/DeviceBackend.hpp"
#include "harness/Networks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::test::insert_copies_test
{

using testing::ElementsAre;
using testing::UnorderedElementsAre;

namespace
{

std::shared_ptr<DeviceBackend> MakeDevice(const std::string& id, const std::string& memory, std::set<LayerType> takes,
                                          MemorySource imports = MemorySource::Undefined)
{
    DeviceOptions options;
    options.m_Id = id;
    options.m_Memory = memory;
    options.m_Takes = std::move(takes);
    options.m_ImportFlags = static_cast<MemorySourceFlags>(imports);
    return std::make_shared<DeviceBackend>(options);
}

class Copies : public testing::Test
{
protected:
    IConnectableLayer* Unary(const char* name)
    {
        return m_Network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Abs), name);
    }
    /// Type and reason of each layer that changes memory, in order of execution.
    std::vector<std::string> Run(std::vector<std::shared_ptr<const IBackend>> backends,
                                 const std::vector<BackendId>& preference)
    {
        IRuntime::CreationOptions options;
        options.m_Backends = std::move(backends);
        const IRuntimePtr runtime = IRuntime::Create(options);
        m_Optimized = Optimize(*m_Network, preference, runtime->GetDeviceSpec());
        std::vector<std::string> copies;
        for (const LayerAssignment& layer : m_Optimized->GetAssignment())
        {
            if (layer.m_Type == LayerType::MemCopy || layer.m_Type == LayerType::MemImport)
            {
                copies.push_back(layer.m_Backend.Get() + ": " + layer.m_Name + " " + layer.m_Reason);
            }
        }
        return copies;
    }

    INetworkPtr m_Network = INetwork::Create();
    IOptimizedNetworkPtr m_Optimized = IOptimizedNetworkPtr(nullptr, &IOptimizedNetwork::Destroy);
};

} // namespace

TEST_F(Copies, StandWhereMemoriesMeet)
{
    IConnectableLayer* abs = Unary("abs");
    IConnectableLayer* first = m_Network->AddFloorLayer("first");
    IConnectableLayer* second = m_Network->AddFloorLayer("second");
    Connect(AddInput(*m_Network, 0, FloatInfo({2})), abs);
    Connect(abs, first);
    Connect(first, second);
    Connect(second, m_Network->AddOutputLayer(0, "out"));
    const auto device = MakeDevice("Device", "Vram", {LayerType::Floor});
    EXPECT_THAT(Run({device}, {"Device", "CpuRef"}),
                ElementsAre("Device: abs:copy copies from memory Host to memory Vram",
                            "Runtime: second:copy copies from memory Vram to memory Host"));
}

TEST_F(Copies, AreImportsWhereTheDeviceTakesHostMemory)
{
    IConnectableLayer* floor = m_Network->AddFloorLayer("floor");
    Connect(AddInput(*m_Network, 0, FloatInfo({2}), "in"), floor);
    Connect(floor, m_Network->AddOutputLayer(0, "out"));
    const auto device = MakeDevice("Device", "Vram", {LayerType::Floor}, MemorySource::Malloc);
    EXPECT_THAT(Run({device}, {"Device"}), ElementsAre("Device: in:import lets memory Vram use host memory",
                                                       "Runtime: floor:copy copies from memory Vram to memory Host"));
    const auto other = MakeDevice("Device", "Vram", {LayerType::Floor}, MemorySource::DmaBuf);
    EXPECT_THAT(Run({other}, {"Device"}), testing::Contains("Device: in:copy copies from memory Host to memory Vram"));
}

TEST_F(Copies, OneServesAllConsumersInAMemory)
{
    // Two layers on the device and one on the host read the input; two outputs and a host layer read the device's.
    IConnectableLayer* input = AddInput(*m_Network, 0, FloatInfo({2}), "in");
    IConnectableLayer* floor = m_Network->AddFloorLayer("floor");
    IConnectableLayer* again = m_Network->AddFloorLayer("again");
    IConnectableLayer* abs = Unary("abs");
    IConnectableLayer* late = Unary("late");
    again->BackendSelectionHint(Optional<BackendId>(BackendId("Device"))); // else it is a twin of the first
    Connect(input, floor);
    Connect(input, again);
    Connect(input, abs);
    Connect(floor, late);
    Connect(floor, m_Network->AddOutputLayer(0));
    Connect(floor, m_Network->AddOutputLayer(1));
    Connect(again, m_Network->AddOutputLayer(2));
    Connect(abs, m_Network->AddOutputLayer(3));
    Connect(late, m_Network->AddOutputLayer(4));
    const auto device = MakeDevice("Device", "Vram", {LayerType::Floor});
    EXPECT_THAT(Run({device}, {"Device", "CpuRef"}),
                UnorderedElementsAre("Device: in:copy copies from memory Host to memory Vram",
                                     "Runtime: floor:copy copies from memory Vram to memory Host",
                                     "Runtime: again:copy copies from memory Vram to memory Host"));
}

TEST_F(Copies, BackendsThatShareAMemoryNeedNone)
{
    IConnectableLayer* floor = m_Network->AddFloorLayer("floor");
    IConnectableLayer* abs = Unary("abs");
    Connect(AddInput(*m_Network, 0, FloatInfo({2}), "in"), floor);
    Connect(floor, abs);
    Connect(abs, m_Network->AddOutputLayer(0));
    const auto a = MakeDevice("A", "Shared", {LayerType::Floor});
    const auto b = MakeDevice("B", "Shared", {LayerType::ElementwiseUnary});
    EXPECT_THAT(Run({a, b}, {"A", "B"}), ElementsAre("A: in:copy copies from memory Host to memory Shared",
                                                     "Runtime: abs:copy copies from memory Shared to memory Host"));
    const auto c = MakeDevice("C", "Other", {LayerType::ElementwiseUnary});
    EXPECT_THAT(Run({a, c}, {"A", "C"}), testing::Contains("C: floor:copy copies from memory Shared to memory Other"));
}

TEST_F(Copies, ConstantsAndValuesForShapesStayOnTheHost)
{
    ReshapeDescriptor late;
    late.m_ParametersAsInputs = true;
    IConnectableLayer* reshape = m_Network->AddReshapeLayer(late, "reshape");
    IConnectableLayer* add =
        m_Network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add), "add");
    const std::vector<float> values{1, 2};
    TensorInfo info = FloatInfo({2});
    info.SetConstant();
    Connect(AddInput(*m_Network, 0, FloatInfo({4}), "in"), reshape, 0);
    Connect(AddInput(*m_Network, 1, TensorInfo({2}, DataType::Signed32), "shape"), reshape, 1);
    Connect(reshape, add, 0);
    Connect(m_Network->AddConstantLayer(ConstTensor(info, values.data()), "constant"), add, 1);
    Connect(add, m_Network->AddOutputLayer(0));
    const auto device = MakeDevice("Device", "Vram", {LayerType::Reshape, LayerType::ElementwiseBinary});
    EXPECT_THAT(Run({device}, {"Device"}), ElementsAre("Device: in:copy copies from memory Host to memory Vram",
                                                       "Runtime: add:copy copies from memory Vram to memory Host"));
}

TEST_F(Copies, OverridesStayWithTheInput)
{
    IConnectableLayer* floor = m_Network->AddFloorLayer("floor");
    Connect(AddInput(*m_Network, 0, FloatInfo({4}), "in"), floor);
    floor->GetInputSlot(0).SetTensorInfo(FloatInfo({2, 2}));
    Connect(floor, m_Network->AddOutputLayer(0));
    const auto device = MakeDevice("Device", "Vram", {LayerType::Floor});
    ASSERT_EQ(Run({device}, {"Device"}).size(), 2u);
    for (const auto& layer : static_cast<const OptimizedNetwork&>(*m_Optimized).GetGraph().Layers())
    {
        if (layer->GetType() == LayerType::Floor)
        {
            EXPECT_TRUE(layer->Input(0).IsTensorInfoOverridden());
            EXPECT_EQ(layer->Input(0).GetTensorInfo().GetShape(), TensorShape({2, 2}));
            EXPECT_EQ(layer->Input(0).GetProducer()->Output(0).GetTensorInfo().GetShape(), TensorShape({4}));
        }
    }
}

} // namespace tenon::test::insert_copies_test
