// SPDX-License-Identifier: Apache-2.0
// Pad: borders of a value, mirrored, repeated or wrapped around.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Expansion.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace tenon::test::pad_test
{

namespace
{

using Sizes = std::vector<unsigned int>;
using Paddings = std::vector<std::pair<unsigned int, unsigned int>>;

/// Where an index of a padded dimension comes from.
int64_t Mirror(int64_t index, int64_t size, PaddingMode mode)
{
    const int64_t edge = mode == PaddingMode::Reflect ? 0 : 1; // whether the edge is repeated
    if (mode == PaddingMode::Constant)
    {
        return index;
    }
    if (mode == PaddingMode::Edge)
    {
        return std::clamp<int64_t>(index, 0, size - 1);
    }
    if (mode == PaddingMode::Wrap)
    {
        return (index % size + size) % size;
    }
    if (index < 0)
    {
        return -index - edge;
    }
    return index < size ? index : 2 * size - 2 + edge - index;
}

/// `value` is what a constant border stores.
OpCase MakeCase(const Sizes& input, const Paddings& paddings, DataType type, PaddingMode mode = PaddingMode::Constant,
                float value = 0.0f)
{
    Sizes sizes;
    for (size_t i = 0; i < input.size(); ++i)
    {
        sizes.push_back(input[i] + paddings[i].first + paddings[i].second);
    }
    const TensorInfo output = MakeInfo(MakeShape(sizes), type);
    const double border = output.IsQuantized()
                              ? (double{value} - output.GetQuantizationOffset()) * output.GetQuantizationScale()
                              : double{value};
    OpCase op{"mode " + std::to_string(static_cast<int>(mode)) + " to " + output.ToString(),
              LayerType::Pad,
              MakeDescriptor(PadDescriptor(paddings, value, mode)),
              {Random(MakeInfo(MakeShape(input), type), 7)},
              output,
              [paddings, mode, border, output](const auto& in)
              {
                  return Move(
                      output.GetShape(), in[0],
                      [&](Coordinates at)
                      {
                          for (unsigned int i = 0; i < at.size(); ++i)
                          {
                              at[i] = Mirror(at[i] - paddings[i].first, in[0].Dim(i), mode);
                          }
                          return at;
                      },
                      border);
              }};
    op.m_Steps = 0;
    op.m_Relative = op.m_Absolute = 0;
    return op;
}

/// The value as input 2, the paddings as input 1.
OpCase WithValueInput(OpCase op, double stored)
{
    auto descriptor = static_cast<const PadDescriptor&>(*op.m_Descriptor);
    descriptor.m_ValueAsInput = true;
    descriptor.m_PadValue = 111.0f; // does not count
    op.m_Descriptor = MakeDescriptor(descriptor);
    std::vector<double> paddings;
    for (const auto& [before, after] : descriptor.m_PadList)
    {
        paddings.push_back(before);
        paddings.push_back(after);
    }
    const auto rank = static_cast<unsigned int>(descriptor.m_PadList.size());
    op.m_Inputs.push_back(Constant(Values(TensorInfo(TensorShape({rank, 2}), DataType::Signed32), paddings)));
    TensorInfo value = op.m_Inputs[0].m_Info;
    value.SetShape(TensorShape(Dimensionality::Scalar));
    op.m_Inputs.push_back(Constant(Stored(value, {stored})));
    return op;
}

} // namespace

ISA_TEST(Pad, ConstantBordersOfAnyType)
{
    for (const DataType type : GetMovedTypes())
    {
        CheckOp(MakeCase({3}, {{2, 1}}, type, PaddingMode::Constant, 1.0f));
        CheckOp(MakeCase({2, 3}, {{0, 0}, {0, 0}}, type));
        CheckOp(MakeCase({2, 3, 2}, {{1, 0}, {0, 2}, {0, 0}}, type, PaddingMode::Constant, 1.0f));
        CheckOp(MakeCase({1, 2, 3, 2}, {{0, 1}, {2, 1}, {0, 0}, {1, 3}}, type, PaddingMode::Constant, 1.0f));
        CheckOp(
            MakeCase({1, 2, 1, 2, 1, 2, 1, 2}, {{1, 0}, {0, 0}, {0, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 0}, {0, 1}}, type));
        CheckOp(MakeCase({}, {}, type));
    }
}

ISA_TEST(Pad, TheValueIsTheStoredOne)
{
    CheckOp(MakeCase({2, 2}, {{1, 1}, {1, 1}}, DataType::QAsymmU8, PaddingMode::Constant, 3.0f)); // the zero point
    CheckOp(MakeCase({2, 2}, {{1, 1}, {1, 1}}, DataType::QAsymmS8, PaddingMode::Constant, -128.0f));
    CheckOp(MakeCase({2, 2}, {{1, 1}, {1, 1}}, DataType::Float32, PaddingMode::Constant, -2.5f));
    CheckOp(MakeCase({2, 2}, {{1, 1}, {1, 1}}, DataType::Signed64, PaddingMode::Constant, -7.0f));
}

ISA_TEST(Pad, TheValueMayBeAnInput)
{
    CheckOp(WithValueInput(MakeCase({2, 3}, {{1, 0}, {2, 1}}, DataType::Float32, PaddingMode::Constant, 0.5f), 0.5));
    CheckOp(WithValueInput(MakeCase({2, 3}, {{1, 0}, {2, 1}}, DataType::QAsymmS8, PaddingMode::Constant, -9.0f), -9));
    CheckOp(WithValueInput(MakeCase({2, 3}, {{1, 0}, {2, 1}}, DataType::Float64, PaddingMode::Constant, 4.0f), 4));
    CheckOp(WithValueInput(MakeCase({2, 3}, {{1, 1}, {2, 1}}, DataType::Float32, PaddingMode::Reflect), 4));
}

ISA_TEST(Pad, MirroredBorders)
{
    for (const DataType type : GetMovedTypes())
    {
        for (const PaddingMode mode : {PaddingMode::Reflect, PaddingMode::Symmetric})
        {
            const unsigned int most = mode == PaddingMode::Reflect ? 2 : 3;
            CheckOp(MakeCase({3}, {{most, most}}, type, mode));
            CheckOp(MakeCase({3, 3, 2}, {{1, 0}, {most, 1}, {0, 0}}, type, mode));
            CheckOp(MakeCase({2, 3, 3}, {{1, 1}, {0, most}, {2, 1}}, type, mode));
        }
        CheckOp(MakeCase({1, 2}, {{1, 1}, {0, 1}}, type, PaddingMode::Symmetric));
    }
}

ISA_TEST(Pad, RepeatedBorders)
{
    for (const DataType type : GetMovedTypes())
    {
        for (const PaddingMode mode : {PaddingMode::Edge, PaddingMode::Wrap})
        {
            CheckOp(MakeCase({3}, {{2, 1}}, type, mode));
            CheckOp(MakeCase({3}, {{7, 8}}, type, mode)); // further than the tensor is long
            CheckOp(MakeCase({1, 2}, {{2, 1}, {0, 5}}, type, mode));
            CheckOp(MakeCase({3, 3, 2}, {{1, 0}, {4, 1}, {0, 0}}, type, mode));
            CheckOp(MakeCase({2, 3, 3}, {{1, 1}, {0, 2}, {2, 1}}, type, mode));
            CheckOp(MakeCase({2, 0}, {{1, 2}, {0, 0}}, type, mode));
        }
    }
}

ISA_TEST(Pad, ZeroSizedTensors)
{
    CheckOp(MakeCase({2, 0}, {{1, 0}, {2, 1}}, DataType::Float32, PaddingMode::Constant, 5.0f)); // border only
    CheckOp(MakeCase({2, 0}, {{1, 0}, {0, 0}}, DataType::Float32));
    CheckOp(MakeCase({0, 3}, {{0, 0}, {1, 1}}, DataType::Float32, PaddingMode::Reflect));
}

ISA_TEST(Pad, HalfBytes)
{
    OpCase op = MakeCase({3}, {{1, 1}}, DataType::Float32, PaddingMode::Constant, -3.0f);
    op.m_Inputs = {FromBytes(TensorInfo(TensorShape({3}), DataType::QSymmS4, 0.5f), {0x21, 0x08})};
    op.m_Output = TensorInfo(TensorShape({5}), DataType::QSymmS4, 0.5f);
    EXPECT_EQ(ToNumbers(RunOnCpuRef(op)), (std::vector<unsigned int>{0x1D, 0x82, 0x0D}));
}

ISA_TEST(Pad, RefusesPaddingsThatDoNotFit)
{
    OpCase tooFew = MakeCase({2, 3}, {{1, 1}, {1, 1}}, DataType::Float32);
    tooFew.m_Descriptor = MakeDescriptor(PadDescriptor({{1, 1}}));
    CheckRejectsShapes(tooFew, "one pair");

    OpCase otherSize = MakeCase({2, 3}, {{1, 1}, {1, 1}}, DataType::Float32);
    otherSize.m_Descriptor = MakeDescriptor(PadDescriptor({{1, 1}, {1, 2}}));
    CheckRejectsShapes(otherSize, "dimension 1");

    CheckRejectsShapes(MakeCase({2, 3}, {{0, 2}, {0, 0}}, DataType::Float32, PaddingMode::Reflect), "too short");
    CheckRejectsShapes(MakeCase({2, 3}, {{0, 0}, {4, 0}}, DataType::Float32, PaddingMode::Symmetric), "too short");
    CheckRejectsShapes(MakeCase({0, 3}, {{1, 0}, {0, 0}}, DataType::Float32, PaddingMode::Symmetric), "too short");

    CheckRejectsShapes(MakeCase({0, 3}, {{1, 0}, {0, 0}}, DataType::Float32, PaddingMode::Edge), "no elements");

    OpCase twoValues = WithValueInput(MakeCase({2}, {{1, 1}}, DataType::Float32), 0);
    twoValues.m_Inputs[2] = Constant(Values(TensorInfo(TensorShape({2}), DataType::Float32), {1, 2}));
    CheckRejectsShapes(twoValues, "one element");
}

ISA_TEST(Pad, RefusesValuesOfOtherTypes)
{
    OpCase otherType = WithValueInput(MakeCase({2}, {{1, 1}}, DataType::Float32), 0);
    otherType.m_Inputs[2].m_Info.SetDataType(DataType::Signed32);
    CheckUnsupported(otherType, SupportCode::UnsupportedType, "value");

    OpCase missing = WithValueInput(MakeCase({2}, {{1, 1}}, DataType::Float32), 0);
    missing.m_Inputs[2].m_Connected = false;
    CheckUnsupported(missing, SupportCode::UnsupportedParameters, "input 2");
}

} // namespace tenon::test::pad_test
