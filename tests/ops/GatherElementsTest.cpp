// SPDX-License-Identifier: Apache-2.0
// GatherElements: elements along any axis, by indices of every type, from either end, and such as are outside.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Indexing.hpp>

#include <gtest/gtest.h>

#include <string>

namespace tenon::test::gather_elements_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

OpCase MakeCase(const Sizes& data, const Sizes& indexSizes, int32_t axis, DataType type,
                DataType indexType = DataType::Signed32)
{
    const auto along = static_cast<size_t>(axis < 0 ? axis + static_cast<int32_t>(data.size()) : axis);
    const double size = data[along];
    const TensorInfo output = MakeInfo(MakeShape(indexSizes), type);
    return Exactly({"from " + MakeShape(data).ToString() + " by " + MakeShape(indexSizes).ToString() + " along " +
                        std::to_string(axis) + " of " + GetDataTypeName(type),
                    LayerType::GatherElements,
                    MakeDescriptor(GatherElementsDescriptor(axis)),
                    {Random(MakeInfo(MakeShape(data), type), 3),
                     Constant(Random(TensorInfo(MakeShape(indexSizes), indexType), 4, -size, size - 1))},
                    output,
                    [=](const auto& in)
                    {
                        size_t next = 0; // output elements come in the order of the indices
                        return Move(output.GetShape(), in[0],
                                    [&](Coordinates at)
                                    {
                                        const double index = in[1].m_Values.at(next++);
                                        at[along] = static_cast<int64_t>(index < 0 ? index + size : index);
                                        return at;
                                    });
                    }});
}

} // namespace

ISA_TEST(GatherElements, AnyTypeAxisAndIndices)
{
    for (const DataType type :
         {DataType::Boolean, DataType::QAsymmS8, DataType::Unsigned8, DataType::Float16, DataType::BFloat16,
          DataType::Float32, DataType::Signed32, DataType::Signed64, DataType::Float64})
    {
        for (const DataType indexType : {DataType::Signed16, DataType::Signed32, DataType::Signed64})
        {
            CheckOp(MakeCase({5}, {7}, 0, type, indexType));
            CheckOp(MakeCase({4, 3}, {4, 3}, 0, type, indexType));
            CheckOp(MakeCase({4, 3}, {9, 2}, 0, type, indexType));
            CheckOp(MakeCase({4, 3}, {2, 9}, 1, type, indexType));
            CheckOp(MakeCase({2, 4, 3}, {2, 9, 2}, -2, type, indexType));
            CheckOp(MakeCase({2, 4, 3}, {1, 3, 3}, -1, type, indexType));
            CheckOp(MakeCase({2, 1, 2, 3, 1, 2, 1, 2}, {2, 1, 1, 5, 1, 2, 1, 1}, 3, type, indexType));
        }
    }
}

ISA_TEST(GatherElements, LongAxes)
{
    for (const int32_t axis : {0, 1, 2})
    {
        CheckOp(MakeCase({40, 50, 60}, {40, 50, 60}, axis, DataType::Float32));
        CheckOp(MakeCase({40, 50, 60}, {37, 41, 59}, axis, DataType::Signed64, DataType::Signed64));
    }
}

ISA_TEST(GatherElements, Nothing)
{
    CheckOp(MakeCase({4, 3}, {0, 3}, 0, DataType::Float32));
    CheckOp(MakeCase({4, 3}, {4, 0}, 1, DataType::Float32));
    CheckOp(MakeCase({4, 3}, {0, 3}, 1, DataType::Float32));
}

ISA_TEST(GatherElements, TakesHalfBytes)
{
    OpCase op = MakeCase({3}, {4}, 0, DataType::Float32);
    op.m_Output = TensorInfo(TensorShape({4}), DataType::QSymmS4, 0.5f);
    op.m_Inputs = {FromBytes(TensorInfo(TensorShape({3}), DataType::QSymmS4, 0.5f), {0x21, 0x0F}),
                   Stored(TensorInfo(TensorShape({4}), DataType::Signed32), {2, 0, -2, 1})};
    EXPECT_EQ(ToNumbers(RunOnCpuRef(op)), (std::vector<unsigned int>{0x1F, 0x22}));
}

ISA_TEST(GatherElements, RefusesWhatDoesNotFit)
{
    OpCase op = MakeCase({4, 3}, {2, 2}, 0, DataType::Float32);
    op.m_Inputs[1] = Stored(op.m_Inputs[1].m_Info, {0, -4, 4, 3});
    CheckFailsToRun(op, "element 2 of input 1 is 4; it must be at least -4 and below 4");
    op.m_Inputs[1] = Stored(op.m_Inputs[1].m_Info, {0, -5, 1, 3});
    CheckFailsToRun(op, "element 1 of input 1 is -5");
    OpCase none = MakeCase({1, 3}, {2, 2}, 0, DataType::Float32);
    none.m_Inputs[0] = Random(TensorInfo(TensorShape({0, 3}), DataType::Float32), 1);
    CheckFailsToRun(none, "below 0");

    CheckUnsupported(MakeCase({4}, {2}, 0, DataType::Float32, DataType::Float32), SupportCode::UnsupportedType,
                     "input 1");
    OpCase shape = MakeCase({4, 3}, {4, 3}, 0, DataType::Float32);
    shape.m_Descriptor = MakeDescriptor(GatherElementsDescriptor(2));
    CheckRejectsShapes(shape, "axis 2");
    shape = MakeCase({4, 3}, {2, 2}, 0, DataType::Float32);
    shape.m_Inputs[0] = Random(TensorInfo(TensorShape({4, 1}), DataType::Float32), 1);
    CheckRejectsShapes(shape, "no larger");
    shape = MakeCase({4, 3}, {2, 2}, 0, DataType::Float32);
    shape.m_Output.SetShape(TensorShape({3, 2}));
    CheckRejectsShapes(shape, "output 0");
}

} // namespace tenon::test::gather_elements_test
