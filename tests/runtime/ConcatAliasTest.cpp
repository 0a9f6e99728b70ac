// SPDX-License-Identifier: Apache-2.0
// Layers that join or cut out whole stretches of tensors: these lie in place where they can, and only there.
#include "runtime/ConcatNetworks.hpp"
#include "runtime/PlannedNetwork.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tenon::test::concat_alias_test
{

namespace
{

bool IsAt(const Location& part, const Location& whole, size_t bytes)
{
    return part.m_Place == whole.m_Place && part.m_Index == whole.m_Index && part.m_Offset == whole.m_Offset + bytes;
}

class Parts : public testing::TestWithParam<const char*>
{
};

INSTANTIATE_TEST_SUITE_P(Backends, Parts, testing::Values("CpuRef", "CpuAcc"),
                         [](const auto& backend) { return std::string(backend.param); });

} // namespace

TEST_P(Parts, InputsOfAConcatLieInItsOutput)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* a = AddUnary(*network, AddInput(*network, 0, FloatInfo({1, 2, Row})));
    IConnectableLayer* b = AddUnary(*network, AddInput(*network, 1, FloatInfo({1, 3, Row})));
    AddOutputs(*network, {AddUnary(*network, AddConcat(*network, {a, b}, 1, 3), UnaryOperation::Abs)});
    const Planned plan(*network, GetParam());
    const Location& whole = plan.OutputOf(LayerType::Concat);
    EXPECT_TRUE(IsAt(plan.InputOf(LayerType::Concat, 0), whole, 0));
    EXPECT_TRUE(IsAt(plan.InputOf(LayerType::Concat, 1), whole, 2 * Row * sizeof(float)));
    EXPECT_TRUE(plan.IsInPlace(LayerType::Concat));
    const Floats x = Ramp(2 * Row, 1.0f);
    const Floats y = Ramp(3 * Row, 100.0f);
    EXPECT_EQ(RunAll(*network, GetParam(), {x, y}), std::vector<Floats>{Joined(x, y)});
}

TEST_P(Parts, InputsOfAStackLieInItsOutput)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* a = AddUnary(*network, AddInput(*network, 0, FloatInfo({Row})));
    IConnectableLayer* b = AddUnary(*network, AddInput(*network, 1, FloatInfo({Row})));
    IConnectableLayer* stack = network->AddStackLayer(StackDescriptor(0, 2, TensorShape({Row})), "stack");
    Connect(a, stack, 0);
    Connect(b, stack, 1);
    AddOutputs(*network, {stack});
    EXPECT_TRUE(Planned(*network, GetParam()).IsInPlace(LayerType::Stack));
    EXPECT_EQ(RunAll(*network, GetParam(), {Ramp(Row), Ramp(Row, 50.0f)}),
              std::vector<Floats>{Negated(Joined(Ramp(Row), Ramp(Row, 50.0f)))});
}

TEST_P(Parts, WhatIsInterleavedOrNotAlignedIsCopied)
{
    struct Case
    {
        TensorShape m_First;
        TensorShape m_Second;
        unsigned int m_Axis;
        bool m_IsFirstIn;
    };
    // Chunk by chunk, and behind a part that ends in the middle of a line.
    for (const Case& test : {Case{{2, Row}, {2, Row}, 1, false}, Case{{1, 3}, {1, Row}, 1, true}})
    {
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* a = AddUnary(*network, AddInput(*network, 0, TensorInfo(test.m_First, DataType::Float32)));
        IConnectableLayer* b = AddUnary(*network, AddInput(*network, 1, TensorInfo(test.m_Second, DataType::Float32)));
        AddOutputs(*network, {AddUnary(*network, AddConcat(*network, {a, b}, test.m_Axis), UnaryOperation::Abs)});
        const Planned plan(*network, GetParam());
        EXPECT_FALSE(plan.IsInPlace(LayerType::Concat));
        const Location& whole = plan.OutputOf(LayerType::Concat);
        EXPECT_EQ(IsAt(plan.InputOf(LayerType::Concat, 0), whole, 0), test.m_IsFirstIn);
        const Floats x = Ramp(test.m_First.GetNumElements());
        const Floats y = Ramp(test.m_Second.GetNumElements(), 100.0f);
        Floats expected;
        for (size_t row = 0; row < test.m_First[0]; ++row)
        {
            const auto append = [&](const Floats& values, size_t length)
            {
                const auto from = values.begin() + static_cast<std::ptrdiff_t>(row * length);
                expected.insert(expected.end(), from, from + static_cast<std::ptrdiff_t>(length));
            };
            append(x, test.m_First[1]);
            append(y, test.m_Second[1]);
        }
        EXPECT_EQ(RunAll(*network, GetParam(), {x, y}), std::vector<Floats>{expected});
    }
}

TEST_P(Parts, MemoryOfOthersIsCopied)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({1, Row}));
    IConnectableLayer* a = AddUnary(*network, input);
    auto owner = std::make_shared<Floats>(Ramp(Row, 7.0f));
    const ConstTensor values(TensorInfo({1, Row}, DataType::Float32, 0.0f, 0, true), owner->data());
    IConnectableLayer* constant = network->AddConstantLayer(values, owner, "constant");
    // The second time a is a part already.
    IConnectableLayer* concat = AddConcat(*network, {input, a, constant, a}, 0);
    AddOutputs(*network, {concat});
    const Planned plan(*network, GetParam());
    const Location& whole = plan.OutputOf(LayerType::Concat);
    const size_t rowBytes = Row * sizeof(float);
    EXPECT_EQ(plan.InputOf(LayerType::Concat, 0).m_Place, Place::Input);
    EXPECT_TRUE(IsAt(plan.InputOf(LayerType::Concat, 1), whole, rowBytes));
    EXPECT_EQ(plan.InputOf(LayerType::Concat, 2).m_Place, Place::Constant);
    EXPECT_FALSE(plan.IsInPlace(LayerType::Concat));
    const Floats x = Ramp(Row);
    EXPECT_EQ(RunAll(*network, GetParam(), {x}),
              std::vector<Floats>{Joined(Joined(Joined(x, Negated(x)), *owner), Negated(x))});
}

TEST_P(Parts, ConcatsOfConcatsLieInTheLastOne)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({2, Row}));
    IConnectableLayer* a = AddUnary(*network, input);
    IConnectableLayer* b = AddUnary(*network, input, UnaryOperation::Abs);
    IConnectableLayer* c = AddUnary(*network, input, UnaryOperation::Exp);
    IConnectableLayer* inner = AddConcat(*network, {a, b}, 0);
    AddOutputs(*network, {AddConcat(*network, {c, inner}, 0)});
    const Planned plan(*network, GetParam());
    EXPECT_TRUE(plan.IsInPlace(LayerType::Concat, 0));
    EXPECT_TRUE(plan.IsInPlace(LayerType::Concat, 1));
    const Location& whole = plan.OutputOf(LayerType::Concat, 0, 1);
    EXPECT_EQ(whole.m_Place, Place::Output);
    EXPECT_TRUE(IsAt(plan.InputOf(LayerType::Concat, 1, 0), whole, 4 * Row * sizeof(float)));
    const Floats x(2 * Row, 0.0f);
    EXPECT_EQ(RunAll(*network, GetParam(), {x}), std::vector<Floats>{Joined(Floats(2 * Row, 1.0f), Floats(4 * Row))});
}

TEST_P(Parts, WhatTheNetworkGivesStaysTheCallers)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({2, Row}));
    IConnectableLayer* a = AddUnary(*network, input);
    IConnectableLayer* b = AddUnary(*network, input, UnaryOperation::Abs);
    IConnectableLayer* concat = AddConcat(*network, {a, b}, 0);
    IConnectableLayer* split = AddSplit(*network, concat, 1, 4);
    AddOutputs(*network, {concat, a, split});
    const Planned plan(*network, GetParam());
    EXPECT_EQ(plan.InputOf(LayerType::Concat, 0).m_Index, 1u);
    EXPECT_EQ(plan.OutputOf(LayerType::Splitter, 0).m_Index, 2u);
    const Location& whole = plan.OutputOf(LayerType::Concat);
    EXPECT_TRUE(IsAt(plan.InputOf(LayerType::Concat, 1), whole, 2 * Row * sizeof(float)));
    const Floats x = Ramp(2 * Row, 1.0f);
    const std::vector<Floats> results = RunAll(*network, GetParam(), {x});
    EXPECT_EQ(results[0], Joined(Negated(x), x));
    EXPECT_EQ(results[1], Negated(x));
    EXPECT_EQ(results[2], Negated(Ramp(Row, 1.0f)));
}

TEST_P(Parts, OfAnInputAreViews)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({3, Row}));
    IConnectableLayer* split = AddSplit(*network, input, 1, 3);
    AddOutputs(*network,
               {AddUnary(*network, split, UnaryOperation::Neg, 0), AddUnary(*network, split, UnaryOperation::Abs, 1),
                AddUnary(*network, AddRows(*network, input, 1, 1))});
    const Planned plan(*network, GetParam());
    EXPECT_TRUE(plan.IsInPlace(LayerType::Splitter));
    EXPECT_EQ(plan.OutputOf(LayerType::Splitter, 1).m_Place, Place::Input);
    EXPECT_EQ(plan.OutputOf(LayerType::Splitter, 1).m_Offset, Row * sizeof(float));
    EXPECT_TRUE(plan.IsInPlace(LayerType::Slice));
    const std::vector<Floats> results = RunAll(*network, GetParam(), {Ramp(3 * Row)});
    EXPECT_EQ(results[0], Negated(Ramp(Row)));
    EXPECT_EQ(results[1], Ramp(2 * Row, Row));
    EXPECT_EQ(results[2], Negated(Ramp(Row, Row)));
}

TEST_P(Parts, ThatOverlapAreNotOverwritten)
{
    // The sum could take the place of rows 1 and 2, but row 1 is also read as the second one of rows 0 and 1.
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* all = AddUnary(*network, AddInput(*network, 0, FloatInfo({3, Row})));
    IConnectableLayer* sum = network->AddAdditionLayer("sum");
    Connect(AddRows(*network, all, 1, 2), sum, 0);
    Connect(AddRows(*network, all, 0, 2), sum, 1);
    AddOutputs(*network, {AddUnary(*network, sum)});
    const Planned plan(*network, GetParam());
    EXPECT_TRUE(plan.IsInPlace(LayerType::Slice, 0));
    EXPECT_TRUE(plan.IsInPlace(LayerType::Slice, 1));
    EXPECT_EQ(RunAll(*network, GetParam(), {Ramp(3 * Row)}), std::vector<Floats>{Ramp(2 * Row, Row, 2.0f)});
}

TEST_P(Parts, DoNotMakeTheArenaLarger)
{
    // A part that waits for the other one beside something large.
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({1, Row}));
    IConnectableLayer* early = AddUnary(*network, input);
    const auto addTiles = [&](IConnectableLayer* from, unsigned int rows, unsigned int columns)
    {
        IConnectableLayer* layer = network->AddTileLayer(TileDescriptor({rows, columns}), "tile");
        Connect(from, layer);
        return layer;
    };
    IConnectableLayer* large = addTiles(early, 1000, 1);
    IConnectableLayer* few = AddRows(*network, AddUnary(*network, large), 999, 1);
    IConnectableLayer* late = addTiles(AddUnary(*network, few), 100, 1);
    IConnectableLayer* wide = addTiles(AddConcat(*network, {early, late}, 0), 1, 2);
    // Here the memory is free by then.
    IConnectableLayer* pair =
        AddConcat(*network, {AddUnary(*network, wide), AddUnary(*network, wide, UnaryOperation::Abs)}, 0);
    AddOutputs(*network, {addTiles(pair, 1, 2)});
    const Planned plan(*network, GetParam());
    EXPECT_FALSE(plan.IsInPlace(LayerType::Slice));
    EXPECT_FALSE(plan.IsInPlace(LayerType::Concat, 0));
    EXPECT_TRUE(plan.IsInPlace(LayerType::Concat, 1));
    EXPECT_EQ(plan.Get().Arenas()[HostMemory].m_Bytes, (1 + 1000 + 1) * Row * sizeof(float));
    const Floats x = Ramp(Row, 1.0f);
    const Floats result = RunAll(*network, GetParam(), {x}).front();
    ASSERT_EQ(result.size(), 2 * 101 * 4 * Row);
    EXPECT_EQ(Floats(result.begin(), result.begin() + Row), x);
    EXPECT_EQ(Floats(result.end() - Row, result.end()), x);
}

TEST_P(Parts, OfLateShapesAreCopied)
{
    // One concat before the shapes of the rest are known, and one after.
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({1, Row}));
    IConnectableLayer* zeros = AddUnary(*network, AddUnary(*network, input, UnaryOperation::Log));
    IConnectableLayer* where = network->AddWhereLayer("where"); // [those that are not 0, 2]
    Connect(AddConcat(*network, {zeros, AddUnary(*network, input)}, 0), where);
    AddOutputs(*network, {AddConcat(*network, {where, where}, 0)});
    const Planned plan(*network, GetParam());
    EXPECT_TRUE(plan.IsInPlace(LayerType::Concat));
    EXPECT_FALSE(plan.Get().IsComplete());
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *network, {GetParam()});
    const Floats ones(Row, 1.0f);
    const TensorInfo info({1, Row}, DataType::Float32, 0.0f, 0, true);
    std::vector<int64_t> result;
    runtime->EnqueueWorkload(id, {{0, ConstTensor(info, ones.data())}},
                             [&](LayerBindingId, const TensorInfo& output)
                             {
                                 result.resize(output.GetNumElements());
                                 return result.data();
                             });
    std::vector<int64_t> expected;
    for (int64_t i = 0; i < 2 * Row; ++i) // the second row, twice
    {
        expected.insert(expected.end(), {1, i % Row});
    }
    EXPECT_EQ(result, expected);
}

TEST(PartsOfMany, LayersArePlannedInNoTimeThatMatters)
{
    // 6,000 joins after each other, each a part of the next one's part, would take minutes if each were looked at from
    // each other.
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* last = AddUnary(*network, AddInput(*network, 0, FloatInfo({1, Row})));
    for (int i = 0; i < 6000; ++i)
    {
        last = AddRows(*network, AddConcat(*network, {last, AddUnary(*network, last)}, 0), i % 2, 1);
    }
    AddOutputs(*network, {AddUnary(*network, last)});
    const Planned plan(*network, "CpuRef");
    EXPECT_TRUE(plan.Get().IsComplete());
}

TEST(PartsOfMany, PartsOfPartsOfParts)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({1, Row}));
    IConnectableLayer* row = AddUnary(*network, input);
    IConnectableLayer* last = row;
    constexpr unsigned int depth = 300;
    for (unsigned int i = 0; i < depth; ++i)
    {
        row = AddUnary(*network, row);
        last = AddConcat(*network, {last, row}, 0);
    }
    AddOutputs(*network, {AddUnary(*network, last, UnaryOperation::Abs)});
    const Planned plan(*network, "CpuRef");
    EXPECT_TRUE(plan.IsInPlace(LayerType::Concat, 0));
    EXPECT_TRUE(plan.IsInPlace(LayerType::Concat, depth - 1));
    Floats expected;
    for (unsigned int i = 0; i <= depth; ++i)
    {
        const Floats values = Ramp(Row);
        expected.insert(expected.end(), values.begin(), values.end());
    }
    EXPECT_EQ(RunAll(*network, "CpuRef", {Ramp(Row)}), std::vector<Floats>{expected});
}

} // namespace tenon::test::concat_alias_test
