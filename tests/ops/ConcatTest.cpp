// SPDX-License-Identifier: Apache-2.0
// Concat: inputs one after the other along an axis, requantized where their quantization is not the output's.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Slicing.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace tenon::test::concat_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

/// Inputs that have `lengths` along the axis and else the sizes of `shape`.
OpCase MakeCase(const Sizes& shape, unsigned int axis, const Sizes& lengths, DataType type)
{
    OpCase op;
    op.m_Type = LayerType::Concat;
    Sizes sizes = shape;
    sizes[axis] = 0;
    for (const unsigned int length : lengths)
    {
        Sizes inputSizes = shape;
        inputSizes[axis] = length;
        sizes[axis] += length;
        op.m_Inputs.push_back(Random(MakeInfo(MakeShape(inputSizes), type), static_cast<uint32_t>(op.m_Inputs.size())));
    }
    op.m_Output = MakeInfo(MakeShape(sizes), type);
    op.m_Name =
        std::to_string(lengths.size()) + " inputs to " + op.m_Output.ToString() + " along " + std::to_string(axis);
    ConcatDescriptor descriptor(static_cast<unsigned int>(lengths.size()), static_cast<unsigned int>(sizes.size()));
    descriptor.SetConcatAxis(axis);
    op.m_Descriptor = MakeDescriptor(descriptor);
    op.m_Oracle = [axis, output = op.m_Output.GetShape()](const std::vector<RealTensor>& in)
    {
        std::vector<double> values(output.GetNumElements());
        int64_t begin = 0;
        for (const RealTensor& input : in)
        {
            const std::vector<double> part = Move(output, input,
                                                  [axis, begin](Coordinates at)
                                                  {
                                                      at[axis] -= begin;
                                                      return at;
                                                  });
            for (size_t i = 0; i < values.size(); ++i)
            {
                values[i] += part[i]; // 0 where the element is another input's
            }
            begin += input.Dim(axis);
        }
        return values;
    };
    op.m_Steps = 0;
    op.m_Relative = op.m_Absolute = 0;
    return op;
}

/// Two uint8 or int8 inputs of three values; the second has the output's quantization.
OpCase MakeRequantizing(DataType type, const std::vector<double>& first, float scale, int zeroPoint,
                        const std::vector<double>& second, const std::vector<double>& expected)
{
    OpCase op = MakeCase({3}, 0, {3, 3}, type);
    const TensorInfo from(TensorShape({3}), type, scale, zeroPoint);
    const TensorInfo to(TensorShape({3}), type, 0.25f, 20);
    op.m_Inputs = {Stored(from, first), Stored(to, second)};
    op.m_Output = TensorInfo(TensorShape({6}), type, 0.25f, 20);
    op.m_Oracle = Expect(op.m_Output, expected);
    return op;
}

} // namespace

ISA_TEST(Concat, AnyTypeAxisAndNumberOfInputs)
{
    for (const DataType type : GetMovedTypes())
    {
        for (unsigned int axis = 0; axis < 4; ++axis)
        {
            CheckOp(MakeCase({2, 3, 1, 4}, axis, {1, 3}, type));
        }
        CheckOp(MakeCase({5}, 0, {4}, type));
        CheckOp(MakeCase({2, 5}, 1, {1, 2, 3, 4, 5, 6}, type));
        CheckOp(MakeCase({2, 5}, 1, {0, 2, 0, 1}, type));
        CheckOp(MakeCase({0, 5}, 1, {2, 1}, type));
        CheckOp(MakeCase({2, 1, 2, 1, 2, 1, 2, 2}, 6, {1, 2, 3}, type));
    }
}

ISA_TEST(Concat, RequantizesAsTfLite)
{
    // real 2 * (x - 10) / 4: (x - 10) * 2 + 20, within the type
    CheckOp(MakeRequantizing(DataType::QAsymmU8, {10, 11, 250}, 0.5f, 10, {0, 1, 255}, {20, 22, 255, 0, 1, 255}));
    CheckOp(MakeRequantizing(DataType::QAsymmU8, {0, 5, 127}, 0.5f, 10, {7, 8, 9}, {0, 10, 254, 7, 8, 9}));
    // halves go away from zero: (x - 10) / 2 + 20
    CheckOp(MakeRequantizing(DataType::QAsymmU8, {11, 9, 13}, 0.125f, 10, {7, 8, 9}, {21, 19, 22, 7, 8, 9}));
    CheckOp(MakeRequantizing(DataType::QAsymmS8, {-10, -127, 120}, 0.5f, -10, {7, -8, 9}, {20, -128, 127, 7, -8, 9}));
}

ISA_TEST(Concat, RequantizedValuesStayWithinAStep)
{
    OpCase op = MakeCase({4, 50}, 0, {2, 2}, DataType::QAsymmU8);
    op.m_Inputs[0] = Random(TensorInfo(TensorShape({2, 50}), DataType::QAsymmU8, 0.3f, 77), 8);
    op.m_Inputs[1] = Random(TensorInfo(TensorShape({2, 50}), DataType::QAsymmU8, 0.011f, 200), 9);
    op.m_Steps = 1;
    CheckOp(op);
}

ISA_TEST(Concat, JoinsHalfBytes)
{
    OpCase op = MakeCase({2, 3}, 1, {3, 1}, DataType::Float32);
    const auto info = [](const TensorShape& shape) { return TensorInfo(shape, DataType::QSymmS4, 0.5f); };
    op.m_Inputs = {FromBytes(info(TensorShape({2, 3})), {0x21, 0x83, 0xFE}),
                   FromBytes(info(TensorShape({2, 1})), {0x97})};
    op.m_Output = info(TensorShape({2, 4}));
    // 1 2 3 | 7 and 8 E F | 9
    EXPECT_EQ(ToNumbers(RunOnCpuRef(op)), (std::vector<unsigned int>{0x21, 0x73, 0xE8, 0x9F}));
}

ISA_TEST(Concat, RefusesInputsOfOtherTypesAndQuantizations)
{
    OpCase fifth = MakeCase({2, 5}, 1, {1, 2, 3, 4, 5}, DataType::Float32);
    fifth.m_Inputs[4].m_Info.SetDataType(DataType::Signed32);
    CheckUnsupported(fifth, SupportCode::UnsupportedType, "input 4");

    OpCase perAxis = MakeCase({2, 5}, 1, {1, 2}, DataType::QSymmS8);
    perAxis.m_Inputs[1].m_Info.SetQuantizationScales({0.5f, 0.25f});
    perAxis.m_Inputs[1].m_Info.SetQuantizationDim(0U);
    CheckUnsupported(perAxis, SupportCode::UnsupportedParameters, "input 1");

    for (const int32_t zeroPoint : {-1, 256, std::numeric_limits<int32_t>::min()})
    {
        OpCase outside = MakeCase({2, 5}, 1, {1, 2}, DataType::QAsymmU8);
        outside.m_Inputs[1].m_Info.SetQuantizationScale(0.125f);
        outside.m_Inputs[1].m_Info.SetQuantizationOffset(zeroPoint);
        CheckUnsupported(outside, SupportCode::UnsupportedParameters, "zero point");
    }

    OpCase missing = MakeCase({2, 5}, 1, {1, 2}, DataType::Float32);
    missing.m_Inputs[1].m_Connected = false;
    CheckUnsupported(missing, SupportCode::UnsupportedParameters, "not connected");
}

ISA_TEST(Concat, RefusesShapesThatDoNotFit)
{
    OpCase otherSize = MakeCase({2, 5}, 1, {1, 2}, DataType::Float32);
    otherSize.m_Inputs[1] = Random(TensorInfo(TensorShape({3, 2}), DataType::Float32), 1);
    CheckRejectsShapes(otherSize, "along the axis only");

    OpCase otherSum = MakeCase({2, 5}, 1, {1, 2}, DataType::Float32);
    otherSum.m_Output.SetShape(TensorShape({2, 4}));
    CheckRejectsShapes(otherSum, "add up");

    OpCase noAxis = MakeCase({2, 5}, 1, {1, 2}, DataType::Float32);
    ConcatDescriptor descriptor(2, 2);
    descriptor.SetConcatAxis(2);
    noAxis.m_Descriptor = MakeDescriptor(descriptor);
    CheckRejectsShapes(noAxis, "axis 2");
}

} // namespace tenon::test::concat_test
