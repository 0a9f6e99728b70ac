// SPDX-License-Identifier: Apache-2.0
// The smallest complete program: one FullyConnected layer built by hand through the API.
//
// out = in * weights + bias, with in = {2}, weights = {3}, bias = {1}. Prints the result and which backend ran it.
#include <tenon/Tenon.hpp>

#include <iostream>
#include <vector>

using namespace tenon;

int main()
{
    try
    {
        // 1. Describe the network: input -> fully connected -> output. Weights and bias are Constant layers.
        INetworkPtr network = INetwork::Create();
        const TensorInfo dataInfo({1, 1}, DataType::Float32);
        const TensorInfo weightsInfo({1, 1}, DataType::Float32, 0.0f, 0, true);
        const TensorInfo biasInfo({1}, DataType::Float32, 0.0f, 0, true);
        const std::vector<float> weights{3.0f};
        const std::vector<float> bias{1.0f};

        FullyConnectedDescriptor descriptor;
        descriptor.m_BiasEnabled = true;
        IConnectableLayer* input = network->AddInputLayer(0, "input");
        IConnectableLayer* fullyConnected = network->AddFullyConnectedLayer(descriptor, "fully connected");
        IConnectableLayer* weightsLayer = network->AddConstantLayer(ConstTensor(weightsInfo, weights), "weights");
        IConnectableLayer* biasLayer = network->AddConstantLayer(ConstTensor(biasInfo, bias), "bias");
        IConnectableLayer* output = network->AddOutputLayer(0, "output");

        input->GetOutputSlot(0).Connect(fullyConnected->GetInputSlot(0));
        weightsLayer->GetOutputSlot(0).Connect(fullyConnected->GetInputSlot(1));
        biasLayer->GetOutputSlot(0).Connect(fullyConnected->GetInputSlot(2));
        fullyConnected->GetOutputSlot(0).Connect(output->GetInputSlot(0));

        // 2. Say what goes in. All other shapes and types follow.
        input->GetOutputSlot(0).SetTensorInfo(dataInfo);

        // 3. Optimize for the fast backend, with the reference backend for what it does not support.
        IRuntimePtr runtime = IRuntime::Create(IRuntime::CreationOptions());
        IOptimizedNetworkPtr optimized =
            Optimize(*network, {Compute::CpuAcc, Compute::CpuRef}, runtime->GetDeviceSpec());
        for (const LayerAssignment& layer : optimized->GetAssignment())
        {
            std::cout << "  " << layer.m_Name << " runs on " << layer.m_Backend << '\n';
        }

        // 4. Load and run.
        NetworkId id = 0;
        runtime->LoadNetwork(id, std::move(optimized));
        TensorInfo inputInfo = runtime->GetInputTensorInfo(id, 0);
        inputInfo.SetConstant();
        const std::vector<float> in{2.0f};
        std::vector<float> out(1);
        runtime->EnqueueWorkload(id, {{0, ConstTensor(inputInfo, in)}},
                                 {{0, Tensor(runtime->GetOutputTensorInfo(id, 0), out.data())}});
        std::cout << "2 * 3 + 1 = " << out[0] << '\n';
        return out[0] == 7.0f ? 0 : 1;
    }
    catch (const Exception& error)
    {
        std::cerr << "error: " << error.what() << '\n';
        return 1;
    }
}
