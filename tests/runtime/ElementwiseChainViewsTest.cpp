// SPDX-License-Identifier: Apache-2.0
// Views in chains of elementwise layers: in every place, of every kind, with the right values; with CpuAcc's
// NumberOfThreads as without.
#include "harness/Passes.hpp"
#include "runtime/ConcatNetworks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace tenon::test::elementwise_chain_views_test
{

namespace
{

constexpr unsigned int Rows = 12;
constexpr unsigned int Columns = 300; // 14 KB, which a chain takes

IConnectableLayer* AddView(INetwork& network, IConnectableLayer* from, const TensorShape& shape)
{
    IConnectableLayer* layer = network.AddReshapeLayer(ReshapeDescriptor(shape), "view");
    Connect(from, layer);
    return layer;
}

IConnectableLayer* AddRunTimeView(INetwork& network, IConnectableLayer* from, IConnectableLayer* shape)
{
    ReshapeDescriptor descriptor;
    descriptor.m_ParametersAsInputs = true;
    IConnectableLayer* layer = network.AddReshapeLayer(descriptor, "view");
    Connect(from, layer, 0);
    Connect(shape, layer, 1);
    return layer;
}

IConnectableLayer* AddFilled(INetwork& network, const TensorShape& shape, float value)
{
    return AddFloats(network, shape, Floats(shape.GetNumElements(), value));
}

/// The outputs on CpuAcc, without a limit of threads and with each of two, which must be the same bytes.
std::vector<Floats> RunInAllWays(const INetwork& network, const std::vector<Floats>& inputs)
{
    std::vector<Floats> results;
    for (const unsigned int layerThreads : {0u, 1u, 2u})
    {
        const IRuntimePtr runtime = IRuntime::Create({});
        const NetworkId id = Load(*runtime, network, {"CpuAcc", "CpuRef"},
                                  layerThreads == 0 ? OptimizerOptionsOpaque() : LimitedThreads(layerThreads));
        InputTensors given;
        for (size_t i = 0; i < inputs.size(); ++i)
        {
            TensorInfo info = runtime->GetInputTensorInfo(id, static_cast<LayerBindingId>(i));
            info.SetConstant();
            given.emplace_back(static_cast<LayerBindingId>(i), ConstTensor(info, inputs[i]));
        }
        std::vector<Floats> made;
        for (const auto& [binding, result] : RunNetwork(*runtime, id, given))
        {
            made.push_back(result.Floats());
        }
        if (layerThreads == 0)
        {
            results = made;
        }
        EXPECT_EQ(made, results) << "NumberOfThreads " << layerThreads;
    }
    return results;
}

/// x / sqrt(mean of squares + 1/2), as JAX writes it.
INetworkPtr MakeRmsNorm(unsigned int batch, unsigned int rows, unsigned int columns, bool isShapeGiven)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* x = AddInput(*network, 0, FloatInfo({batch, rows, columns}));
    IConnectableLayer* squares = AddBinary(*network, BinaryOperation::Mul, x, x);
    ReduceDescriptor descriptor;
    descriptor.m_vAxis = {2};
    IConnectableLayer* sum = network->AddReduceLayer(descriptor, "sum");
    Connect(squares, sum);
    IConnectableLayer* mean =
        AddBinary(*network, BinaryOperation::Div, sum, AddFilled(*network, {1}, static_cast<float>(columns)));
    IConnectableLayer* positive = AddBinary(*network, BinaryOperation::Add, mean, AddFilled(*network, {1}, 0.5f));
    const auto size = [](unsigned int value) { return static_cast<int32_t>(value); };
    IConnectableLayer* view =
        isShapeGiven ? AddRunTimeView(*network, positive, AddInts(*network, {3}, {size(batch), size(rows), 1}))
                     : AddView(*network, positive, {batch, rows, 1});
    IConnectableLayer* factor = AddUnary(*network, view, UnaryOperation::Rsqrt);
    AddOutputs(*network, {AddBinary(*network, BinaryOperation::Mul, x, factor)});
    return network;
}

Floats RmsNorm(const Floats& x, unsigned int columns)
{
    Floats result;
    for (size_t row = 0; row < x.size(); row += columns)
    {
        double squares = 0.0;
        for (size_t i = row; i < row + columns; ++i)
        {
            squares += double{x[i]} * x[i];
        }
        for (size_t i = row; i < row + columns; ++i)
        {
            result.push_back(static_cast<float>(x[i] / std::sqrt(squares / columns + 0.5)));
        }
    }
    return result;
}

/// Adds views to layer `from`, and gives the last one.
using Views = std::function<IConnectableLayer*(INetwork& network, IConnectableLayer* from)>;

struct NamedViews
{
    const char* m_Name;
    Views m_Add;
};

std::vector<NamedViews> AllViews()
{
    return {
        {"Reshape",
         [](INetwork& network, IConnectableLayer* from) {
             return AddView(network, from, {4, Rows * Columns / 4});
         }},
        {"Flat", [](INetwork& network, IConnectableLayer* from) { return AddView(network, from, {Rows * Columns}); }},
        {"SameShape",
         [](INetwork& network, IConnectableLayer* from) {
             return AddView(network, from, {Rows, Columns});
         }},
        {"ExpandDims",
         [](INetwork& network, IConnectableLayer* from)
         {
             ExpandDimsDescriptor descriptor;
             descriptor.m_Axis = 1;
             IConnectableLayer* layer = network.AddExpandDimsLayer(descriptor, "view");
             Connect(from, layer);
             return layer;
         }},
        {"ExpandAndSqueeze",
         [](INetwork& network, IConnectableLayer* from)
         {
             IConnectableLayer* wide = AddView(network, from, {1, Rows, 1, Columns});
             SqueezeDescriptor descriptor;
             descriptor.m_Axis = {0, 2};
             IConnectableLayer* layer = network.AddSqueezeLayer(descriptor, "view");
             Connect(wide, layer);
             return layer;
         }},
        {"Two",
         [](INetwork& network, IConnectableLayer* from) {
             return AddView(network, AddView(network, from, {2, Rows / 2, Columns}), {Columns, Rows});
         }},
        {"ConstantShape",
         [](INetwork& network, IConnectableLayer* from) {
             return AddRunTimeView(network, from, AddInts(network, {2}, {-1, 100}));
         }},
        {"ShapeOfTheRun", [](INetwork& network, IConnectableLayer* from)
         {
             IConnectableLayer* wide = AddView(network, from, {Rows / 3, 3, Columns});
             IConnectableLayer* shape = network.AddShapeLayer("shape");
             Connect(from, shape);
             return AddRunTimeView(network, wide, shape);
         }}};
}

class ChainViews : public testing::TestWithParam<NamedViews>
{
};

INSTANTIATE_TEST_SUITE_P(Kinds, ChainViews, testing::ValuesIn(AllViews()),
                         [](const auto& views) { return std::string(views.param.m_Name); });

Floats SomeValues()
{
    return Ramp(size_t{Rows} * Columns, -4.5f, 0.0025f);
}

Floats Mapped(Floats values, const std::function<float(float)>& function)
{
    std::transform(values.begin(), values.end(), values.begin(), function);
    return values;
}

constexpr int Length = 4;

/// |x|, -|x| ... of views at place 0, the input, to Length, the last layer; `shown` views are outputs, too.
void ExpectViewAt(int place, const Views& add, bool isShown)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* last = AddInput(*network, 0, FloatInfo({Rows, Columns}));
    std::vector<IConnectableLayer*> outputs;
    Floats expected = SomeValues();
    std::vector<Floats> wanted;
    for (int i = 0; i <= Length; ++i)
    {
        if (i == place)
        {
            last = add(*network, last);
            if (isShown)
            {
                outputs.push_back(last);
                wanted.push_back(expected);
            }
        }
        if (i < Length)
        {
            const bool isAbs = i % 2 == 0;
            last = AddBinary(*network, isAbs ? BinaryOperation::Add : BinaryOperation::Mul, last,
                             AddFilled(*network, {1}, isAbs ? 0.5f : 2.0f));
            expected = Mapped(expected, [&](float value) { return isAbs ? value + 0.5f : value * 2.0f; });
        }
    }
    outputs.push_back(last);
    wanted.push_back(expected);
    AddOutputs(*network, outputs);
    EXPECT_EQ(RunInAllWays(*network, {SomeValues()}), wanted) << "at place " << place;
}

} // namespace

// Of which sizes the chain between the sum and the quotient is one layer by itself, and of which it is fused.
TEST(ChainOfViews, IsAnRmsNormOfAnySize)
{
    for (const auto& [batch, rows, columns] :
         std::vector<std::array<unsigned int, 3>>{{2, 3, 5}, {8, 127, 8}, {8, 128, 64}, {8, 129, 16}, {1, 4096, 3}})
    {
        const Floats x = Ramp(size_t{batch} * rows * columns, -2.0f, 1.0f / 1024);
        const Floats expected = RmsNorm(x, columns);
        for (const bool isShapeGiven : {false, true})
        {
            const std::vector<Floats> results = RunInAllWays(*MakeRmsNorm(batch, rows, columns, isShapeGiven), {x});
            ASSERT_EQ(results.size(), 1u);
            ASSERT_EQ(results[0].size(), expected.size());
            for (size_t i = 0; i < expected.size(); ++i)
            {
                ASSERT_NEAR(results[0][i], expected[i], 1e-5f * std::max(1.0f, std::abs(expected[i])))
                    << batch << "x" << rows << "x" << columns << ", " << i;
            }
        }
    }
}

TEST_P(ChainViews, MayBeAtAnyPlace)
{
    for (int place = 0; place <= Length; ++place)
    {
        ExpectViewAt(place, GetParam().m_Add, false);
    }
}

TEST_P(ChainViews, MayBeOutputsOfTheNetwork)
{
    for (int place = 0; place <= Length; ++place)
    {
        ExpectViewAt(place, GetParam().m_Add, true);
    }
}

// A view of a tensor that the chain did not make, beside one that it did.
TEST_P(ChainViews, MayBeOfOtherTensors)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* x = AddInput(*network, 0, FloatInfo({Rows, Columns}));
    IConnectableLayer* y = AddInput(*network, 1, FloatInfo({Rows, Columns}));
    IConnectableLayer* a = AddUnary(*network, x);
    IConnectableLayer* b = GetParam().m_Add(*network, a);
    IConnectableLayer* c = GetParam().m_Add(*network, y);
    IConnectableLayer* d = AddBinary(*network, BinaryOperation::Sub, c, b);
    AddOutputs(*network, {AddUnary(*network, d, UnaryOperation::Abs)});
    const Floats ones(size_t{Rows} * Columns, 1.0f);
    EXPECT_EQ(RunInAllWays(*network, {SomeValues(), ones}),
              std::vector<Floats>{Mapped(SomeValues(), [](float value) { return std::abs(1.0f + value); })});
}

// Each of two readers has another shape of the tensor.
TEST_P(ChainViews, MayHaveSeveralReaders)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* x = AddInput(*network, 0, FloatInfo({Rows, Columns}));
    IConnectableLayer* a = AddUnary(*network, x);
    IConnectableLayer* b = GetParam().m_Add(*network, a);
    IConnectableLayer* c = AddUnary(*network, b, UnaryOperation::Abs);
    IConnectableLayer* d = AddView(*network, AddBinary(*network, BinaryOperation::Sub, b, c), {Rows, Columns});
    AddOutputs(*network, {AddBinary(*network, BinaryOperation::Add, d, a)});
    EXPECT_EQ(RunInAllWays(*network, {SomeValues()}),
              std::vector<Floats>{Mapped(SomeValues(), [](float value) { return -value - std::abs(value) - value; })});
}

} // namespace tenon::test::elementwise_chain_views_test
