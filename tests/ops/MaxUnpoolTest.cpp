// SPDX-License-Identifier: Apache-2.0
// MaxUnpool: elements put back, against the definition.
#include "harness/LayerRun.hpp"
#include "ops/ElementwiseOracle.hpp"
#include "ops/InferCases.hpp"
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Pooling.hpp>

#include <gtest/gtest.h>

namespace tenon::test::max_unpool_test
{

ISA_TEST(MaxUnpool, PutsElementsBack)
{
    MaxUnpoolDescriptor descriptor;
    for (const DataType type : {DataType::Float32, DataType::Float16, DataType::BFloat16, DataType::Float64,
                                DataType::Signed8, DataType::Signed32, DataType::Unsigned16, DataType::Signed64})
    {
        const TensorInfo out(TensorShape({1, 2, 4}), type);
        OpCase op{std::string(GetDataTypeName(type)),
                  LayerType::MaxUnpool,
                  MakeDescriptor(descriptor),
                  {Random(TensorInfo(TensorShape({1, 2, 2}), type), 3),
                   Stored(TensorInfo(TensorShape({1, 2, 2}), DataType::Signed64), {1, 2, 4, 7})},
                  out,
                  [](const std::vector<RealTensor>& in)
                  {
                      const std::vector<double>& x = in[0].m_Values;
                      return std::vector<double>{0, x[0], x[1], 0, x[2], 0, 0, x[3]};
                  }};
        op.m_Relative = op.m_Absolute = 0;
        CheckOp(op);
    }
}

ISA_TEST(MaxUnpool, RefusesWhatDoesNotFit)
{
    const TensorInfo in(TensorShape({1, 1, 2}), DataType::Float32);
    const TensorInfo out(TensorShape({1, 1, 4}), DataType::Float32);
    OpCase op{"indices",
              LayerType::MaxUnpool,
              MakeDescriptor(MaxUnpoolDescriptor()),
              {Random(in, 3), Stored(TensorInfo(TensorShape({1, 1, 3}), DataType::Signed64), {0, 1, 2})},
              out,
              {}};
    CheckRejectsShapes(op, "2 elements are wanted");
    op.m_Inputs[1] = Stored(TensorInfo(TensorShape({1, 1, 2}), DataType::Signed32), {0, 1});
    CheckUnsupported(op, SupportCode::UnsupportedType, "input 1");
}

TEST(MaxUnpool, RefusesPlacesThatAreNotThere)
{
    for (const double place : {-1.0, 4.0})
    {
        const OpCase op{"places",
                        LayerType::MaxUnpool,
                        MakeDescriptor(MaxUnpoolDescriptor()),
                        {Random(TensorInfo(TensorShape({1, 1, 1}), DataType::Float32), 3),
                         Stored(TensorInfo(TensorShape({1, 1, 1}), DataType::Signed64), {place})},
                        TensorInfo(TensorShape({1, 1, 4}), DataType::Float32),
                        {}};
        EXPECT_THROW(RunOp(*GetTestBackends()[0], op, {}), RuntimeException);
    }
}

TEST(MaxUnpool, IsTheInverseOfAPool)
{
    const TestTensor image = Numbers({1, 1, 4, 4}, DataType::Float32, {1, 2, 3, 4, 8, 7, 6, 5, 1, 3, 5, 7, 9, 8, 7, 6});
    PoolingNdDescriptor pool;
    pool.m_PoolSizes = {2, 2};
    pool.m_Strides = {2, 2};
    pool.m_IndicesEnabled = true;
    std::vector<TestTensor> pooled;
    ASSERT_NO_THROW(pooled = RunLayer([&](INetwork& network) { return network.AddPoolingNdLayer(pool); }, {image}));
    MaxUnpoolDescriptor unpool;
    unpool.m_PoolSizes = {2, 2};
    unpool.m_Strides = {2, 2};
    const std::vector<TestTensor> expected = {
        Numbers({1, 1, 4, 4}, DataType::Float32, {0, 0, 0, 0, 8, 0, 6, 0, 0, 0, 0, 7, 9, 0, 0, 0})};
    ExpectLayer([&](INetwork& network) { return network.AddMaxUnpoolLayer(unpool); }, pooled, expected);
    unpool.m_ParametersAsInputs = true;
    pooled.push_back(Constant(Numbers({4}, DataType::Signed64, {1, 1, 4, 4})));
    ExpectLayer([&](INetwork& network) { return network.AddMaxUnpoolLayer(unpool); }, pooled, expected);
}

static InferCases MakeMaxUnpoolCases()
{
    using enum LayerType;
    const auto unpool = [](auto&& set)
    {
        return Made<MaxUnpoolDescriptor>(
            [&](auto& d)
            {
                d.m_PoolSizes = {3, 2};
                d.m_Strides = {2, 2};
                set(d);
            });
    };
    const auto back = unpool([](auto&) {});
    const auto byInput = unpool([](auto& d) { d.m_ParametersAsInputs = true; });
    return {
        Case(MaxUnpool, "plain", back, {T({1, 2, 3, 4}), T({1, 2, 3, 4})}).Gives({"[1,2,7,8]"}),
        Case(MaxUnpool, "paddings",
             unpool(
                 [](auto& d)
                 {
                     d.m_PadsBefore = {1, 0};
                     d.m_PadsAfter = {1, 2};
                 }),
             {T({1, 2, 3, 4}), T({1, 2, 3, 4})})
            .Gives({"[1,2,5,6]"}),
        Case(MaxUnpool, "shape",
             unpool(
                 [](auto& d) {
                     d.m_OutputShape = {1, 2, 9, 9};
                 }),
             {T({1, 2, 3, 4}), T({1, 2, 3, 4})})
            .Gives({"[1,2,9,9]"}),
        Case(MaxUnpool, "shape by input", byInput, {T({1, 2, 3, 4}), T({1, 2, 3, 4}), P64({1, 2, 8, 8})})
            .Gives({"[1,2,8,8]"})
            .Resolves(unpool(
                [](auto& d) {
                    d.m_OutputShape = {1, 2, 8, 8};
                })),
        Case(MaxUnpool, "indices", back, {T({1, 2, 3, 4}), T({1, 2, 3, 5})}).Rejects("that of input 0"),
        Case(MaxUnpool, "channels", byInput, {T({1, 2, 3, 4}), T({1, 2, 3, 4}), P64({1, 3, 8, 8})})
            .Rejects("begins with 1 and 3"),
        Case(MaxUnpool, "rank", byInput, {T({1, 2, 3, 4}), T({1, 2, 3, 4}), P64({1, 2, 8})}).Rejects("3 sizes"),
        Case(MaxUnpool, "large paddings",
             unpool(
                 [](auto& d) {
                     d.m_PadsBefore = {9, 0};
                 }),
             {T({1, 2, 3, 4}), T({1, 2, 3, 4})})
            .Rejects("would become -2"),
    };
}
static const InferTable maxUnpool(MakeMaxUnpoolCases);

} // namespace tenon::test::max_unpool_test
