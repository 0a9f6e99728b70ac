// SPDX-License-Identifier: Apache-2.0
// BroadcastTo: dimensions of size 1 and missing ones are repeated.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Expansion.hpp>

#include <gtest/gtest.h>

namespace tenon::test::broadcast_to_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

OpCase MakeCase(const Sizes& from, const Sizes& to, DataType type)
{
    const TensorInfo output = MakeInfo(MakeShape(to), type);
    return Exactly({MakeShape(from).ToString() + " to " + output.ToString(),
                    LayerType::BroadcastTo,
                    MakeDescriptor(BroadcastToDescriptor(MakeShape(to))),
                    {Random(MakeInfo(MakeShape(from), type), 4)},
                    output,
                    [from, output](const auto& in)
                    {
                        return Move(output.GetShape(), in[0],
                                    [&from](Coordinates at)
                                    {
                                        at.erase(at.begin(), at.end() - static_cast<std::ptrdiff_t>(from.size()));
                                        for (size_t i = 0; i < at.size(); ++i)
                                        {
                                            at[i] = from[i] == 1 ? 0 : at[i];
                                        }
                                        return at;
                                    });
                    }});
}

} // namespace

ISA_TEST(BroadcastTo, AnyTypeAndRank)
{
    for (const DataType type : GetMovedTypes())
    {
        CheckOp(MakeCase({}, {}, type));
        CheckOp(MakeCase({}, {2, 3}, type));
        CheckOp(MakeCase({1}, {7}, type));
        CheckOp(MakeCase({4}, {4}, type));
        CheckOp(MakeCase({3, 1}, {3, 5}, type));
        CheckOp(MakeCase({1, 3}, {2, 4, 3}, type));
        CheckOp(MakeCase({2, 1, 3, 1}, {2, 4, 3, 2}, type));
        CheckOp(MakeCase({2, 1, 2, 1, 2, 1, 2, 1}, {2, 2, 2, 2, 2, 2, 2, 2}, type));
        CheckOp(MakeCase({1, 3}, {0, 3}, type));
    }
}

ISA_TEST(BroadcastTo, RepeatsHalfBytes)
{
    const auto info = [](const Sizes& sizes) { return TensorInfo(MakeShape(sizes), DataType::QSymmS4, 0.5f); };
    OpCase op = MakeCase({3, 1}, {3, 3}, DataType::Float32);
    op.m_Inputs = {FromBytes(info({3, 1}), {0x21, 0x0F})};
    op.m_Output = info({3, 3});
    EXPECT_EQ(ToNumbers(RunOnCpuRef(op)), (std::vector<unsigned int>{0x11, 0x21, 0x22, 0xFF, 0x0F}));
}

ISA_TEST(BroadcastTo, RefusesOtherShapes)
{
    CheckRejectsShapes(MakeCase({2, 3}, {2, 4}, DataType::Float32), "equal or 1");
    CheckRejectsShapes(MakeCase({2, 3}, {3}, DataType::Float32), "equal or 1");
}

} // namespace tenon::test::broadcast_to_test
