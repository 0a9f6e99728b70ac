// SPDX-License-Identifier: Apache-2.0
// ArmnnChain: see ArmnnPeer.hpp. Written against Debian 12's Arm NN 20.08.
#include "ArmnnPeer.hpp"

#include <armnn/Descriptors.hpp>
#include <armnn/INetwork.hpp>
#include <armnn/IRuntime.hpp>
#include <stdexcept>

namespace tenon::bench
{

struct ArmnnChain::Impl
{
    armnn::INetworkPtr m_Network = armnn::INetwork::Create();
    armnn::IRuntimePtr m_Runtime = armnn::IRuntime::Create(armnn::IRuntime::CreationOptions());
    armnn::NetworkId m_Id = 0;
};

ArmnnChain::ArmnnChain(unsigned int length) : m_Impl(new Impl)
{
    armnn::ActivationDescriptor descriptor;
    descriptor.m_Function = armnn::ActivationFunction::ReLu;
    const armnn::TensorInfo info({1, 16}, armnn::DataType::Float32);
    armnn::IConnectableLayer* last = m_Impl->m_Network->AddInputLayer(0, "input");
    last->GetOutputSlot(0).SetTensorInfo(info);
    for (unsigned int i = 0; i < length; ++i)
    {
        armnn::IConnectableLayer* layer = m_Impl->m_Network->AddActivationLayer(descriptor, "relu");
        last->GetOutputSlot(0).Connect(layer->GetInputSlot(0));
        layer->GetOutputSlot(0).SetTensorInfo(info);
        last = layer;
    }
    last->GetOutputSlot(0).Connect(m_Impl->m_Network->AddOutputLayer(0, "output")->GetInputSlot(0));
}

ArmnnChain::~ArmnnChain()
{
    delete m_Impl;
}

void ArmnnChain::Load()
{
    auto optimized = armnn::Optimize(*m_Impl->m_Network, {armnn::Compute::CpuRef}, m_Impl->m_Runtime->GetDeviceSpec());
    if (!optimized || m_Impl->m_Runtime->LoadNetwork(m_Impl->m_Id, std::move(optimized)) != armnn::Status::Success)
    {
        throw std::runtime_error("Arm NN cannot load the chain");
    }
}

void ArmnnChain::Unload()
{
    m_Impl->m_Runtime->UnloadNetwork(m_Impl->m_Id);
}

} // namespace tenon::bench
