// SPDX-License-Identifier: Apache-2.0
// Bounds of errors: what floats really differ by from numbers of double precision is within them, and they are not far
// above it; what is moved or of integers does not differ at all.
#include "harness/ErrorBounds.hpp"

#include "harness/Networks.hpp"

#include <tenon/Exceptions.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace tenon::test::error_bounds_test
{

namespace
{

constexpr unsigned int Columns = 256;

/// An input of Columns numbers and layers behind it.
class Bounded
{
public:
    explicit Bounded(const ValueRange& range)
    {
        m_Last = AddInput(*m_Case.m_Network, 0, FloatInfo({1, Columns}));
        m_Case.m_Inputs[0] = range;
        m_Case.m_Runs = {{{0, TensorShape({1, Columns})}}};
    }
    void Add(IConnectableLayer* layer, const TensorInfo& info)
    {
        Connect(m_Last, layer);
        layer->GetOutputSlot(0).SetTensorInfo(info);
        m_Last = layer;
    }
    void Add(UnaryOperation operation)
    {
        Add(m_Case.m_Network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(operation)), FloatInfo({1, Columns}));
    }
    INetwork& Network() { return *m_Case.m_Network; }

    /// Of the last layer.
    double Bound() const
    {
        return ErrorBounds(m_Case.GetGraph(), ComputeAllValues(m_Case, 0)).Of(static_cast<Layer*>(m_Last)->Output(0));
    }
    std::vector<double> Inputs() const
    {
        const CaseInputs inputs(m_Case, 0);
        const ConstTensor& tensor = inputs.Tensors()[0].second;
        return ToDoubles(tensor.GetInfo(), tensor.GetMemoryArea());
    }
    std::vector<double> Outputs() const
    {
        const TensorValues values = ComputeAllValues(m_Case, 0);
        const Result& result = values.at({m_Last->GetGuid(), 0});
        return ToDoubles(result.m_Info, result.m_Bytes.data());
    }

private:
    NetworkCase m_Case;
    IConnectableLayer* m_Last = nullptr;
};

/// Between the real error of one implementation and a few hundred times as much, or a few units in the last place.
void ExpectClose(const Bounded& network, const std::function<double(double)>& function)
{
    const std::vector<double> inputs = network.Inputs();
    const std::vector<double> outputs = network.Outputs();
    double error = 0.0;
    double max = 0.0;
    for (size_t i = 0; i < inputs.size(); ++i)
    {
        max = std::max(max, std::abs(outputs[i]));
        error = std::max(error, std::abs(outputs[i] - function(inputs[i])));
    }
    EXPECT_LE(error, network.Bound());
    EXPECT_LE(network.Bound(), 1000.0 * std::max(error, 0x1p-23 * max));
    EXPECT_GT(network.Bound(), 0.0);
}

} // namespace

TEST(ErrorBounds, HoldForFunctions)
{
    Bounded one({-3.0, 3.0});
    one.Add(UnaryOperation::Exp);
    ExpectClose(one, [](double x) { return std::exp(x); });
    Bounded several({0.25, 9.0});
    several.Add(UnaryOperation::Sin);
    several.Add(UnaryOperation::Exp);
    several.Add(UnaryOperation::Rsqrt);
    several.Add(UnaryOperation::Log);
    ExpectClose(several, [](double x) { return std::log(1.0 / std::sqrt(std::exp(std::sin(x)))); });
}

TEST(ErrorBounds, GrowWithTheTermsOfASum)
{
    Bounded sum({-1.0, 1.0});
    sum.Add(sum.Network().AddMeanLayer(MeanDescriptor({1}, true)), FloatInfo({1, 1}));
    EXPECT_GT(sum.Bound(), 0x1p-24);
    EXPECT_LT(sum.Bound(), 0x1p-14);
}

TEST(ErrorBounds, AreNoneWhereNothingIsComputed)
{
    Bounded moved({-1.0, 1.0});
    moved.Add(UnaryOperation::Neg);
    moved.Add(moved.Network().AddReshapeLayer(ReshapeDescriptor(TensorShape({Columns, 1}))), FloatInfo({Columns, 1}));
    moved.Add(moved.Network().AddActivationLayer(ActivationDescriptor(ActivationFunction::ReLu)),
              FloatInfo({Columns, 1}));
    EXPECT_EQ(moved.Bound(), 0.0);
    moved.Add(moved.Network().AddQuantizeLayer(), TensorInfo({Columns, 1}, DataType::QAsymmS8, 0.01f, 3));
    EXPECT_EQ(moved.Bound(), 0.0);
}

TEST(ErrorBounds, AreInfiniteBehindAJump)
{
    Bounded jump({-1.0, 1.0});
    jump.Add(UnaryOperation::Sin);
    jump.Add(jump.Network().AddQuantizeLayer(), TensorInfo({1, Columns}, DataType::QAsymmS8, 0.01f, 3));
    EXPECT_TRUE(std::isinf(jump.Bound()));
}

TEST(ErrorBounds, NameTheLayerTypeThatHasNone)
{
    Bounded unknown({-1.0, 1.0});
    unknown.Add(unknown.Network().AddLogSoftmaxLayer(LogSoftmaxDescriptor()), FloatInfo({1, Columns}));
    try
    {
        unknown.Bound();
        FAIL() << "there is a bound";
    }
    catch (const Exception& e)
    {
        EXPECT_NE(std::string(e.what()).find("LogSoftmax"), std::string::npos) << e.what();
    }
}

} // namespace tenon::test::error_bounds_test
