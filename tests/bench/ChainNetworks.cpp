// SPDX-License-Identifier: Apache-2.0
#include "ChainNetworks.hpp"

namespace tenon::bench
{

namespace
{

/// A network whose layers all read what others give, one after the other.
class Maker
{
public:
    IConnectableLayer* AddInput(const TensorInfo& info)
    {
        IConnectableLayer* layer = m_Network->AddInputLayer(m_NumInputs++);
        layer->GetOutputSlot(0).SetTensorInfo(info);
        return layer;
    }
    /// A result of the type and scale of `a`.
    IConnectableLayer* AddBinary(BinaryOperation operation, IConnectableLayer* a, IConnectableLayer* b)
    {
        IConnectableLayer* layer = m_Network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(operation));
        const TensorInfo& info = a->GetOutputSlot(0).GetTensorInfo();
        layer->GetOutputSlot(0).SetTensorInfo(info);
        a->GetOutputSlot(0).Connect(layer->GetInputSlot(0));
        b->GetOutputSlot(0).Connect(layer->GetInputSlot(1));
        return layer;
    }
    IConnectableLayer* AddNegation(IConnectableLayer* from)
    {
        IConnectableLayer* layer = m_Network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Neg));
        layer->GetOutputSlot(0).SetTensorInfo(from->GetOutputSlot(0).GetTensorInfo());
        from->GetOutputSlot(0).Connect(layer->GetInputSlot(0));
        return layer;
    }
    IConnectableLayer* AddSigmoid(IConnectableLayer* from)
    {
        ActivationDescriptor descriptor;
        descriptor.m_Function = ActivationFunction::Sigmoid;
        IConnectableLayer* layer = m_Network->AddActivationLayer(descriptor);
        layer->GetOutputSlot(0).SetTensorInfo(from->GetOutputSlot(0).GetTensorInfo());
        from->GetOutputSlot(0).Connect(layer->GetInputSlot(0));
        return layer;
    }
    INetworkPtr Finish(IConnectableLayer* last)
    {
        last->GetOutputSlot(0).Connect(m_Network->AddOutputLayer(0)->GetInputSlot(0));
        return std::move(m_Network);
    }

private:
    INetworkPtr m_Network = INetwork::Create();
    LayerBindingId m_NumInputs = 0;
};

} // namespace

INetworkPtr MakeElementwise(unsigned int images, unsigned int rows, unsigned int columns)
{
    Maker maker;
    IConnectableLayer* last = maker.AddInput(TensorInfo({images, rows, columns}, DataType::Float32));
    IConnectableLayer* row = maker.AddInput(TensorInfo({columns}, DataType::Float32));
    for (const BinaryOperation operation :
         {BinaryOperation::Add, BinaryOperation::Mul, BinaryOperation::Sub, BinaryOperation::Maximum})
    {
        last = maker.AddNegation(maker.AddBinary(operation, last, row));
    }
    return maker.Finish(last);
}

INetworkPtr MakeSwish(unsigned int size, unsigned int channels)
{
    Maker maker;
    IConnectableLayer* x = maker.AddInput(TensorInfo({1, size, size, channels}, DataType::Float32));
    return maker.Finish(maker.AddBinary(BinaryOperation::Mul, x, maker.AddSigmoid(x)));
}

INetworkPtr MakeScaledResidual(unsigned int size, unsigned int channels)
{
    Maker maker;
    const TensorInfo info({1, size, size, channels}, DataType::Float32);
    IConnectableLayer* x = maker.AddInput(info);
    IConnectableLayer* scale = maker.AddInput(TensorInfo({channels}, DataType::Float32));
    IConnectableLayer* residual = maker.AddInput(info);
    return maker.Finish(
        maker.AddBinary(BinaryOperation::Add, maker.AddBinary(BinaryOperation::Mul, x, scale), residual));
}

INetworkPtr MakeProductSum(DataType type, unsigned int size, unsigned int channels)
{
    Maker maker;
    const TensorInfo info({1, size, size, channels}, type, IsQuantizedType(type) ? 1.0f / 64 : 0.0f, 0);
    IConnectableLayer* product = maker.AddBinary(BinaryOperation::Mul, maker.AddInput(info), maker.AddInput(info));
    return maker.Finish(maker.AddBinary(BinaryOperation::Add, product, maker.AddInput(info)));
}

} // namespace tenon::bench
