// SPDX-License-Identifier: Apache-2.0
// ReverseV2: backwards along some axes, which are known at run time.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Base.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace tenon::test::reverse_v2_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

OpCase MakeCase(const Sizes& sizes, const std::vector<double>& axes, DataType type,
                DataType axisType = DataType::Signed32)
{
    const TensorInfo info = MakeInfo(MakeShape(sizes), type);
    const TensorInfo axisInfo(TensorShape({static_cast<unsigned int>(axes.size())}), axisType);
    return Exactly({"reversed " + info.ToString(),
                    LayerType::ReverseV2,
                    MakeDescriptor(NullDescriptor()),
                    {Random(info, 4), Constant(Stored(axisInfo, axes))},
                    info,
                    [=](const auto& in)
                    {
                        return Move(info.GetShape(), in[0],
                                    [&](Coordinates at)
                                    {
                                        for (const double axis : axes)
                                        {
                                            const auto i = static_cast<size_t>(
                                                axis < 0 ? axis + static_cast<double>(sizes.size()) : axis);
                                            at[i] = sizes[i] - 1 - at[i];
                                        }
                                        return at;
                                    });
                    }});
}

} // namespace

ISA_TEST(ReverseV2, AnyTypeAndAxes)
{
    for (const DataType type : GetMovedTypes())
    {
        CheckOp(MakeCase({7}, {0}, type));
        CheckOp(MakeCase({2, 3, 4}, {}, type));
        CheckOp(MakeCase({2, 3, 4}, {0}, type));
        CheckOp(MakeCase({2, 3, 4}, {-1}, type));
        CheckOp(MakeCase({2, 3, 4}, {2, 0}, type, DataType::Signed64));
        CheckOp(MakeCase({2, 3, 4}, {0, 1, 2}, type, DataType::Signed16));
        CheckOp(MakeCase({1, 2, 1, 2, 1, 2, 1, 3}, {1, 5, 6, 7}, type));
        CheckOp(MakeCase({0, 3}, {0}, type));
        CheckOp(MakeCase({}, {}, type));
    }
}

ISA_TEST(ReverseV2, TurnsHalfBytes)
{
    OpCase op = MakeCase({3}, {0}, DataType::Float32);
    op.m_Output = TensorInfo(TensorShape({3}), DataType::QSymmS4, 0.5f);
    op.m_Inputs[0] = FromBytes(op.m_Output, {0x21, 0x0F});
    EXPECT_EQ(ToNumbers(RunOnCpuRef(op)), (std::vector<unsigned int>{0x2F, 0x01}));
}

ISA_TEST(ReverseV2, RefusesOtherAxes)
{
    CheckUnsupported(MakeCase({2, 3}, {0}, DataType::Float32, DataType::Float32), SupportCode::UnsupportedType,
                     "input 1");
    OpCase outside = MakeCase({2, 3}, {1, 0}, DataType::Float32);
    outside.m_Inputs[1] = Indices({1, 2});
    CheckFailsToRun(outside, "element 1 of input 1 is 2");
    outside.m_Inputs[1] = Indices({-3, 0});
    CheckFailsToRun(outside, "is -3");
    outside.m_Inputs[1] = Indices({1, -1});
    CheckFailsToRun(outside, "a second time");
    OpCase shape = MakeCase({2, 3}, {0}, DataType::Float32);
    shape.m_Output.SetShape(TensorShape({3, 2}));
    CheckRejectsShapes(shape, "[2,3]");
}

} // namespace tenon::test::reverse_v2_test
