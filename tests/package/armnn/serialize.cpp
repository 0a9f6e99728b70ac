// SPDX-License-Identifier: Apache-2.0
// Written as a program for Arm NN is: builds a network, serializes it, reads it back and runs what came back.
// tests/package compiles it, unchanged, against the headers in include/tenon/compat.
#include <armnn/Descriptors.hpp>
#include <armnn/INetwork.hpp>
#include <armnn/IRuntime.hpp>
#include <armnn/Tensor.hpp>
#include <armnnDeserializer/IDeserializer.hpp>
#include <armnnSerializer/ISerializer.hpp>
#include <cstdint>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

int main()
{
    armnn::INetworkPtr built = armnn::INetwork::Create();
    armnn::ActivationDescriptor descriptor;
    descriptor.m_Function = armnn::ActivationFunction::BoundedReLu;
    descriptor.m_A = 6.0f;
    armnn::IConnectableLayer* input = built->AddInputLayer(0, "input");
    armnn::IConnectableLayer* relu = built->AddActivationLayer(descriptor, "relu6");
    armnn::IConnectableLayer* output = built->AddOutputLayer(0, "output");
    const armnn::TensorInfo info(armnn::TensorShape({3}), armnn::DataType::Float32);
    input->GetOutputSlot(0).SetTensorInfo(info);
    relu->GetOutputSlot(0).SetTensorInfo(info);
    input->GetOutputSlot(0).Connect(relu->GetInputSlot(0));
    relu->GetOutputSlot(0).Connect(output->GetInputSlot(0));

    armnnSerializer::ISerializerPtr serializer = armnnSerializer::ISerializer::Create();
    serializer->Serialize(*built);
    std::stringstream stream;
    if (!serializer->SaveSerializedToStream(stream))
    {
        return 1;
    }
    const std::string text = stream.str();
    const std::vector<std::uint8_t> bytes(text.begin(), text.end());

    armnnDeserializer::IDeserializerPtr deserializer = armnnDeserializer::IDeserializer::Create();
    armnn::INetworkPtr network = deserializer->CreateNetworkFromBinary(bytes);
    const armnnDeserializer::BindingPointInfo in = deserializer->GetNetworkInputBindingInfo(0, "input");
    const armnnDeserializer::BindingPointInfo out = deserializer->GetNetworkOutputBindingInfo(0, "output");

    armnn::IRuntimePtr runtime = armnn::IRuntime::Create(armnn::IRuntime::CreationOptions());
    armnn::NetworkId id = 0;
    runtime->LoadNetwork(id, armnn::Optimize(*network, {armnn::Compute::CpuRef}, runtime->GetDeviceSpec()));
    const std::vector<float> values = {-1.0f, 2.0f, 7.0f};
    std::vector<float> results(3);
    const armnn::InputTensors inputTensors{{in.m_BindingId, armnn::ConstTensor(in.m_TensorInfo, values.data())}};
    const armnn::OutputTensors outputTensors{{out.m_BindingId, armnn::Tensor(out.m_TensorInfo, results.data())}};
    runtime->EnqueueWorkload(id, inputTensors, outputTensors);
    std::cout << "after the file: " << results[0] << " " << results[1] << " " << results[2] << std::endl;
    return results == std::vector<float>{0.0f, 2.0f, 6.0f} ? 0 : 1;
}
