// SPDX-License-Identifier: Apache-2.0
#include "BranchNetworks.hpp"

#include <memory>
#include <vector>

namespace tenon::bench
{

namespace
{

/// A value of so many channels.
struct Image
{
    IConnectableLayer* m_Layer = nullptr;
    unsigned int m_Channels = 0;
};

Image AddImage(INetwork& network, unsigned int size, unsigned int channels)
{
    IConnectableLayer* layer = network.AddInputLayer(0);
    layer->GetOutputSlot(0).SetTensorInfo(TensorInfo({1, size, size, channels}, DataType::Float32));
    return {layer, channels};
}

/// Of the same size, and an activation behind it.
Image AddConvolution(INetwork& network, const Image& from, unsigned int channels, unsigned int kernel)
{
    Convolution2dDescriptor descriptor;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_StrideX = descriptor.m_StrideY = 1;
    descriptor.m_PadLeft = descriptor.m_PadRight = descriptor.m_PadTop = descriptor.m_PadBottom = kernel / 2;
    IConnectableLayer* layer = network.AddConvolution2dLayer(descriptor);
    from.m_Layer->GetOutputSlot(0).Connect(layer->GetInputSlot(0));
    const TensorInfo info({channels, kernel, kernel, from.m_Channels}, DataType::Float32, 0.0f, 0, true);
    const auto values = std::make_shared<std::vector<float>>(info.GetNumElements(), 0.01f);
    network.AddConstantLayer(ConstTensor(info, values->data()), values)
        ->GetOutputSlot(0)
        .Connect(layer->GetInputSlot(1));
    ActivationDescriptor activation;
    activation.m_Function = ActivationFunction::ReLu;
    IConnectableLayer* positive = network.AddActivationLayer(activation);
    layer->GetOutputSlot(0).Connect(positive->GetInputSlot(0));
    return {positive, channels};
}

Image AddPool(INetwork& network, const Image& from)
{
    Pooling2dDescriptor descriptor;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_PoolType = PoolingAlgorithm::Max;
    descriptor.m_PoolHeight = descriptor.m_PoolWidth = 3;
    descriptor.m_StrideX = descriptor.m_StrideY = 1;
    descriptor.m_PadLeft = descriptor.m_PadRight = descriptor.m_PadTop = descriptor.m_PadBottom = 1;
    IConnectableLayer* layer = network.AddPooling2dLayer(descriptor);
    from.m_Layer->GetOutputSlot(0).Connect(layer->GetInputSlot(0));
    return {layer, from.m_Channels};
}

Image Join(INetwork& network, const std::vector<Image>& branches)
{
    ConcatDescriptor descriptor(static_cast<uint32_t>(branches.size()), 4);
    descriptor.SetConcatAxis(3);
    Image joined{network.AddConcatLayer(descriptor)};
    for (unsigned int i = 0; i < branches.size(); ++i)
    {
        branches[i].m_Layer->GetOutputSlot(0).Connect(joined.m_Layer->GetInputSlot(i));
        joined.m_Channels += branches[i].m_Channels;
    }
    return joined;
}

void AddOutput(INetwork& network, const Image& image)
{
    image.m_Layer->GetOutputSlot(0).Connect(network.AddOutputLayer(0)->GetInputSlot(0));
}

} // namespace

INetworkPtr MakeFires(unsigned int size, unsigned int channels, unsigned int squeezed, unsigned int expanded)
{
    INetworkPtr network = INetwork::Create();
    Image image = AddImage(*network, size, channels);
    for (int module = 0; module < 2; ++module)
    {
        const Image narrow = AddConvolution(*network, image, squeezed, 1);
        image = Join(*network,
                     {AddConvolution(*network, narrow, expanded, 1), AddConvolution(*network, narrow, expanded, 3)});
    }
    AddOutput(*network, AddConvolution(*network, image, squeezed, 1));
    return network;
}

INetworkPtr MakeInception(unsigned int size)
{
    const bool isLarge = size == 28; // module 3a, else 4a
    INetworkPtr network = INetwork::Create();
    const Image image = AddImage(*network, size, isLarge ? 192 : 480);
    const Image one = AddConvolution(*network, image, isLarge ? 64 : 192, 1);
    const Image three = AddConvolution(*network, AddConvolution(*network, image, 96, 1), isLarge ? 128 : 208, 3);
    const Image five = AddConvolution(*network, AddConvolution(*network, image, 16, 1), isLarge ? 32 : 48, 5);
    const Image pooled = AddConvolution(*network, AddPool(*network, image), isLarge ? 32 : 64, 1);
    const Image joined = Join(*network, {one, three, five, pooled});
    AddOutput(*network, AddConvolution(*network, AddPool(*network, joined), 64, 1));
    return network;
}

} // namespace tenon::bench
