// SPDX-License-Identifier: Apache-2.0
// armnnDeserializer reads .armnn files as programs written for Arm NN do: from streams and memory, with the bindings as
// a structure, and with constants that visitors get beside the layer.
#include <gtest/gtest.h>

#include <armnn/IRuntime.hpp>
#include <armnn/IStrategy.hpp>
#include <armnnDeserializer/IDeserializer.hpp>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace
{

std::ifstream Open(const std::string& name)
{
    return std::ifstream(std::string(GOLDEN_ARMNN) + "/" + name + ".armnn", std::ios::binary);
}

/// The constants of the layer that is called "layer".
struct ConstantsOfLayer : armnn::IStrategy
{
    void ExecuteStrategy(const armnn::IConnectableLayer* layer, const armnn::BaseDescriptor&,
                         const std::vector<armnn::ConstTensor>& constants, const char* name,
                         const armnn::LayerBindingId) override
    {
        if (std::string(name) == "layer")
        {
            m_NumInputs = layer->GetNumInputSlots();
            m_Constants = constants;
        }
    }

    unsigned int m_NumInputs = 0;
    std::vector<armnn::ConstTensor> m_Constants;
};

TEST(ArmnnDeserializer, ReadsNetworksOfArmNN)
{
    armnnDeserializer::IDeserializerPtr deserializer = armnnDeserializer::IDeserializer::Create();
    std::ifstream file = Open("Activation_without_identifier");
    armnn::INetworkPtr network = deserializer->CreateNetworkFromBinary(file);
    const armnnDeserializer::BindingPointInfo in = deserializer->GetNetworkInputBindingInfo(0, "in0");
    const armnnDeserializer::BindingPointInfo out = deserializer->GetNetworkOutputBindingInfo(0, "out0");
    EXPECT_EQ(in.m_BindingId, 10);
    EXPECT_EQ(out.m_BindingId, 20);
    EXPECT_EQ(out.m_TensorInfo.GetShape(), armnn::TensorShape({2, 3}));

    armnn::IRuntimePtr runtime = armnn::IRuntime::Create(armnn::IRuntime::CreationOptions());
    armnn::NetworkId id = 0;
    runtime->LoadNetwork(id, armnn::Optimize(*network, {armnn::Compute::CpuRef}, runtime->GetDeviceSpec()));
    const std::vector<float> values = {-1.0f, 0.25f, 7.0f, -0.125f, 0.5f, 0.0f};
    std::vector<float> results(values.size());
    const armnn::InputTensors inputs{{in.m_BindingId, armnn::ConstTensor(in.m_TensorInfo, values.data())}};
    const armnn::OutputTensors outputs{{out.m_BindingId, armnn::Tensor(out.m_TensorInfo, results.data())}};
    runtime->EnqueueWorkload(id, inputs, outputs);
    EXPECT_EQ(results, (std::vector<float>{-0.25f, 0.25f, 0.5f, -0.125f, 0.5f, 0.0f}));
}

TEST(ArmnnDeserializer, ConstantsOfLayersAreThoseOfArmNN)
{
    std::ifstream file = Open("BatchNormalization");
    const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    armnn::INetworkPtr network = armnnDeserializer::IDeserializer::Create()->CreateNetworkFromBinary(bytes);
    ConstantsOfLayer visited;
    network->ExecuteStrategy(visited);
    EXPECT_EQ(visited.m_NumInputs, 1u);
    ASSERT_EQ(visited.m_Constants.size(), 4u);
    EXPECT_EQ(static_cast<const float*>(visited.m_Constants[1].GetMemoryArea())[1], 2.0f) << "the variance";
}

} // namespace
