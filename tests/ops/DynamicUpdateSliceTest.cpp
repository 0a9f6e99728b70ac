// SPDX-License-Identifier: Apache-2.0
// DynamicUpdateSlice: any rank and type, half bytes included, and starts that are moved.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Base.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::test::dynamic_update_slice_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

OpCase MakeCase(const Sizes& operand, const Sizes& update, const std::vector<double>& starts, DataType type,
                DataType indexType = DataType::Signed32)
{
    OpCase op;
    op.m_Name = MakeShape(update).ToString() + " into " + MakeShape(operand).ToString();
    op.m_Type = LayerType::DynamicUpdateSlice;
    op.m_Descriptor = MakeDescriptor(NullDescriptor());
    op.m_Output = MakeInfo(MakeShape(operand), type);
    op.m_Inputs = {Random(op.m_Output, 3), Random(MakeInfo(MakeShape(update), type), 4),
                   Stored(TensorInfo({static_cast<unsigned int>(starts.size())}, indexType), starts)};
    op.m_Steps = op.m_Relative = op.m_Absolute = 0;
    op.m_Oracle = [=](const std::vector<RealTensor>& in)
    {
        const auto inside = [&](Coordinates at)
        {
            for (size_t i = 0; i < at.size(); ++i)
            {
                at[i] -= static_cast<int64_t>(std::clamp<double>(starts[i], 0, operand[i] - update[i]));
            }
            return at;
        };
        // Once each with what no element holds, to see which of the two an element comes from.
        const TensorShape shape = in[0].m_Shape;
        const std::vector<double> low = Move(shape, in[1], inside, -1e9);
        const std::vector<double> high = Move(shape, in[1], inside, 1e9);
        std::vector<double> values = in[0].m_Values;
        for (size_t i = 0; i < values.size(); ++i)
        {
            values[i] = low[i] == high[i] ? low[i] : values[i];
        }
        return values;
    };
    return op;
}

} // namespace

ISA_TEST(DynamicUpdateSlice, AnyType)
{
    std::vector<DataType> types = GetMovedTypes();
    types.push_back(DataType::BFloat16);
    for (const DataType type : types)
    {
        CheckOp(MakeCase({3, 3}, {2, 1}, {1, 1}, type));
        CheckOp(MakeCase({3, 5}, {2, 3}, {0, 1}, type, DataType::Signed64));
        CheckOp(MakeCase({2, 3, 5}, {1, 3, 3}, {1, 0, 2}, type));
    }
}

ISA_TEST(DynamicUpdateSlice, TakesHalfBytes)
{
    const auto info = [](const TensorShape& shape) { return TensorInfo(shape, DataType::QSymmS4, 0.5f); };
    const OpCase op{"4 bits",
                    LayerType::DynamicUpdateSlice,
                    MakeDescriptor(NullDescriptor()),
                    {FromBytes(info(TensorShape({3, 3})), {0x21, 0x43, 0x65, 0x87, 0x09}),
                     FromBytes(info(TensorShape({2, 1})), {0xFE}), Stored(TensorInfo({2}, DataType::Signed32), {1, 1})},
                    info(TensorShape({3, 3})),
                    nullptr};
    EXPECT_EQ(ToNumbers(RunOnCpuRef(op)), (std::vector<unsigned int>{0x21, 0x43, 0x6E, 0xF7, 0x09}));
}

ISA_TEST(DynamicUpdateSlice, StartsAreMoved)
{
    CheckOp(MakeCase({3, 5}, {2, 3}, {-7, 9}, DataType::Float32));
    CheckOp(MakeCase({3, 5}, {2, 3}, {2147483647, -2147483648.0}, DataType::Float32));
    CheckOp(MakeCase({3, 5}, {3, 5}, {1, 1}, DataType::Float32));
}

ISA_TEST(DynamicUpdateSlice, ScalarsAndNothing)
{
    CheckOp(MakeCase({}, {}, {}, DataType::Float32));
    CheckOp(MakeCase({7}, {3}, {2}, DataType::Float32));
    CheckOp(MakeCase({3, 3}, {2, 0}, {1, 1}, DataType::Signed32));
    CheckOp(MakeCase({0, 3}, {0, 2}, {1, 1}, DataType::Signed32));
}

ISA_TEST(DynamicUpdateSlice, RefusesWhatDoesNotFit)
{
    OpCase op = MakeCase({3, 5}, {2, 3}, {0, 0}, DataType::Float32);
    op.m_Inputs[1] = Random(TensorInfo({4, 3}, DataType::Float32), 4);
    CheckRejectsShapes(op, "does not fit");
    OpCase starts = MakeCase({3, 5}, {2, 3}, {0, 0}, DataType::Float32);
    starts.m_Inputs[2] = Stored(TensorInfo({1}, DataType::Signed32), {0});
    CheckRejectsShapes(starts, "input 2");
    OpCase types = MakeCase({3, 5}, {2, 3}, {0, 0}, DataType::Float32);
    types.m_Inputs[1].m_Info.SetDataType(DataType::Signed32);
    CheckUnsupported(types, SupportCode::UnsupportedType, "input 1");
}

} // namespace tenon::test::dynamic_update_slice_test
