// SPDX-License-Identifier: Apache-2.0
// Stack: inputs one after the other along a new axis.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Slicing.hpp>

#include <gtest/gtest.h>

#include <string>

namespace tenon::test::stack_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

OpCase MakeCase(const Sizes& input, unsigned int axis, unsigned int count, DataType type)
{
    OpCase op;
    op.m_Type = LayerType::Stack;
    Sizes sizes = input;
    sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(axis), count);
    for (unsigned int i = 0; i < count; ++i)
    {
        op.m_Inputs.push_back(Random(MakeInfo(MakeShape(input), type), i));
    }
    op.m_Output = MakeInfo(MakeShape(sizes), type);
    op.m_Name = std::to_string(count) + " inputs to " + op.m_Output.ToString() + " along " + std::to_string(axis);
    op.m_Descriptor = MakeDescriptor(StackDescriptor(axis, count, TensorShape()));
    op.m_Oracle = [axis, output = op.m_Output.GetShape()](const std::vector<RealTensor>& in)
    {
        std::vector<double> values(output.GetNumElements());
        for (size_t which = 0; which < in.size(); ++which)
        {
            const std::vector<double> part = Move(output, in[which],
                                                  [axis, which](Coordinates at)
                                                  {
                                                      const bool isOther = at[axis] != static_cast<int64_t>(which);
                                                      at.erase(at.begin() + axis);
                                                      return isOther ? Coordinates(at.size(), -1) : at;
                                                  });
            for (size_t i = 0; i < values.size(); ++i)
            {
                values[i] += part[i]; // 0 where the element is another input's
            }
        }
        return values;
    };
    return Exactly(op);
}

} // namespace

ISA_TEST(Stack, AnyTypeAxisAndNumberOfInputs)
{
    for (const DataType type : GetMovedTypes())
    {
        for (unsigned int axis = 0; axis < 4; ++axis)
        {
            CheckOp(MakeCase({2, 3, 4}, axis, 3, type));
        }
        CheckOp(MakeCase({5}, 1, 1, type));
        CheckOp(MakeCase({5}, 1, 6, type));
        CheckOp(MakeCase({0, 2}, 1, 2, type));
        CheckOp(MakeCase({1, 2, 1, 2, 1, 2, 2}, 7, 2, type));
    }
}

ISA_TEST(Stack, Scalars)
{
    OpCase op = MakeCase({2}, 0, 2, DataType::Float32);
    const TensorInfo scalar(MakeShape({}), DataType::Float32);
    op.m_Inputs = {Values(scalar, {3}), Values(scalar, {4})};
    op.m_Output.SetShape(TensorShape({2}));
    op.m_Oracle = Expect(op.m_Output, {3, 4});
    CheckOp(op);
}

ISA_TEST(Stack, JoinsHalfBytes)
{
    OpCase op = MakeCase({3}, 1, 2, DataType::Float32);
    const TensorInfo info(TensorShape({3}), DataType::QSymmS4, 0.5f);
    op.m_Inputs = {FromBytes(info, {0x21, 0x03}), FromBytes(info, {0x54, 0x06})};
    op.m_Output = TensorInfo(TensorShape({3, 2}), DataType::QSymmS4, 0.5f);
    EXPECT_EQ(ToNumbers(RunOnCpuRef(op)), (std::vector<unsigned int>{0x41, 0x52, 0x63}));
}

ISA_TEST(Stack, RefusesWhatDoesNotFit)
{
    OpCase type = MakeCase({3}, 0, 2, DataType::Float32);
    type.m_Inputs[1].m_Info.SetDataType(DataType::Signed32);
    CheckUnsupported(type, SupportCode::UnsupportedType, "input 1");
    OpCase quantization = MakeCase({3}, 0, 2, DataType::QAsymmS8);
    quantization.m_Inputs[1].m_Info.SetQuantizationScale(0.5f);
    CheckUnsupported(quantization, SupportCode::UnsupportedType, "input 1");
    OpCase missing = MakeCase({3}, 0, 2, DataType::Float32);
    missing.m_Inputs[1].m_Connected = false;
    CheckUnsupported(missing, SupportCode::UnsupportedParameters, "not connected");

    OpCase shape = MakeCase({3}, 0, 2, DataType::Float32);
    shape.m_Inputs[1] = Random(TensorInfo(TensorShape({4}), DataType::Float32), 1);
    CheckRejectsShapes(shape, "one shape");
    OpCase axis = MakeCase({3}, 0, 2, DataType::Float32);
    axis.m_Descriptor = MakeDescriptor(StackDescriptor(2, 2, TensorShape()));
    CheckRejectsShapes(axis, "axis 2");
    OpCase output = MakeCase({3}, 0, 2, DataType::Float32);
    output.m_Output.SetShape(TensorShape({3, 2}));
    CheckRejectsShapes(output, "[2,3]");
}

} // namespace tenon::test::stack_test
