// SPDX-License-Identifier: Apache-2.0
// Networks of one input that are written as formulas, for tests of the passes that find operators in long forms.
#pragma once

#include "optimizer/passes/Fusing.hpp"

#include <string>
#include <vector>

namespace tenon::test
{

inline constexpr double Tolerance = 2e-5;

/// A network that is written as a formula.
class Formula
{
public:
    Formula() : m_Network(INetwork::Create()) {}

    IConnectableLayer* Input(const TensorInfo& info = FloatInfo({2, 3, 8})) { return AddInput(*m_Network, 0, info); }
    IConnectableLayer* Constant(const TensorShape& shape, const std::vector<float>& values)
    {
        return AddFloatConstant(*m_Network, shape, values);
    }
    IConnectableLayer* Scalar(float value) { return Constant(TensorShape(Dimensionality::Scalar), {value}); }

    IConnectableLayer* Binary(BinaryOperation operation, IConnectableLayer* a, IConnectableLayer* b)
    {
        IConnectableLayer* layer = m_Network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(operation));
        Connect(a, layer);
        Connect(b, layer, 1);
        return layer;
    }
    IConnectableLayer* Mul(IConnectableLayer* a, IConnectableLayer* b) { return Binary(BinaryOperation::Mul, a, b); }
    IConnectableLayer* Mul(IConnectableLayer* a, float b) { return Mul(a, Scalar(b)); }
    IConnectableLayer* Div(IConnectableLayer* a, IConnectableLayer* b) { return Binary(BinaryOperation::Div, a, b); }
    IConnectableLayer* Div(IConnectableLayer* a, float b) { return Div(a, Scalar(b)); }
    IConnectableLayer* Add(IConnectableLayer* a, IConnectableLayer* b) { return Binary(BinaryOperation::Add, a, b); }
    IConnectableLayer* Add(IConnectableLayer* a, float b) { return Add(a, Scalar(b)); }
    IConnectableLayer* Sub(IConnectableLayer* a, IConnectableLayer* b) { return Binary(BinaryOperation::Sub, a, b); }

    IConnectableLayer* Unary(UnaryOperation operation, IConnectableLayer* a)
    {
        return After(a, m_Network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(operation)));
    }
    IConnectableLayer* Activation(IConnectableLayer* in, ActivationFunction function, float a = 0.0f, float b = 0.0f)
    {
        return After(in, m_Network->AddActivationLayer(ActivationDescriptor(function, a, b)));
    }
    IConnectableLayer* Reduce(IConnectableLayer* in, ReduceOperation operation, uint32_t axis, bool keepDims = true)
    {
        ReduceDescriptor descriptor;
        descriptor.m_ReduceOperation = operation;
        descriptor.m_vAxis = {axis};
        descriptor.m_KeepDims = keepDims;
        return After(in, m_Network->AddReduceLayer(descriptor));
    }
    /// With axes that may count from the end.
    IConnectableLayer* Mean(IConnectableLayer* in, const std::vector<int32_t>& axes, bool keepDims = true)
    {
        MeanDescriptor descriptor;
        descriptor.m_KeepDims = keepDims;
        descriptor.m_ParametersAsInputs = true;
        IConnectableLayer* layer = After(in, m_Network->AddMeanLayer(descriptor));
        const TensorShape shape({static_cast<unsigned int>(axes.size())});
        Connect(AddOwnedConstant(*m_Network, TensorInfo(shape, DataType::Signed32), axes), layer, 1);
        return layer;
    }
    IConnectableLayer* Product(IConnectableLayer* in, unsigned int inputs, unsigned int outputs)
    {
        FullyConnectedDescriptor descriptor;
        descriptor.m_KeepDims = true;
        IConnectableLayer* layer = After(in, m_Network->AddFullyConnectedLayer(descriptor));
        Connect(Constant(TensorShape({inputs, outputs}), Spread(size_t{inputs} * outputs)), layer, 1);
        return layer;
    }
    IConnectableLayer* Reshape(IConnectableLayer* in, const TensorShape& shape)
    {
        return After(in, m_Network->AddReshapeLayer(ReshapeDescriptor(shape)));
    }

    void Output(IConnectableLayer* layer, LayerBindingId id = 0) { Connect(layer, m_Network->AddOutputLayer(id)); }
    const INetwork& Get() const { return *m_Network; }

private:
    static IConnectableLayer* After(IConnectableLayer* in, IConnectableLayer* layer)
    {
        Connect(in, layer);
        return layer;
    }

    INetworkPtr m_Network;
};

inline const std::vector<TensorShape> Shapes = {{2, 3, 8}, {1, 8}, {4, 1, 2, 8}};

inline void ExpectBecomes(const Formula& formula, const std::vector<LayerType>& types,
                          const std::vector<TensorShape>& shapes = Shapes)
{
    EXPECT_EQ(FusedTypes(formula.Get()), types);
    ExpectSame(formula.Get(), FloatInfo({2, 3, 8}), shapes, Tolerance);
}

} // namespace tenon::test
