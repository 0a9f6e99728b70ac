// SPDX-License-Identifier: Apache-2.0
// Fill: one value, of the descriptor or of input 1, everywhere.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Expansion.hpp>

#include <gtest/gtest.h>

namespace tenon::test::fill_test
{

namespace
{

OpCase MakeCase(const std::vector<unsigned int>& sizes, double value, DataType type, bool isInput)
{
    FillDescriptor descriptor(static_cast<float>(value));
    descriptor.m_ValueAsInput = isInput;
    const TensorInfo info = MakeInfo(MakeShape(sizes), type);
    OpCase op{"fill of " + info.ToString(),
              LayerType::Fill,
              MakeDescriptor(descriptor),
              {Indices(std::vector<double>(sizes.begin(), sizes.end()))},
              info,
              Expect(info, std::vector<double>(info.GetNumElements(), value))};
    if (isInput)
    {
        op.m_Inputs.push_back(Stored(MakeInfo(MakeShape({}), type), {value}));
    }
    return Exactly(op);
}

} // namespace

ISA_TEST(Fill, AnyTypeAndShape)
{
    for (const DataType type : GetMovedTypes())
    {
        for (const bool isInput : {false, true})
        {
            CheckOp(MakeCase({}, 1, type, isInput));
            CheckOp(MakeCase({7}, 1, type, isInput));
            CheckOp(MakeCase({2, 3, 5}, 1, type, isInput));
            CheckOp(MakeCase({2, 0}, 1, type, isInput));
        }
    }
}

ISA_TEST(Fill, KeepsValuesWithinTheType)
{
    OpCase op = MakeCase({2}, 300, DataType::QAsymmU8, false);
    op.m_Oracle = Expect(op.m_Output, {255, 255});
    CheckOp(op);
}

ISA_TEST(Fill, WritesHalfBytes)
{
    OpCase op = MakeCase({3}, -3, DataType::Float32, false);
    op.m_Output = TensorInfo(TensorShape({3}), DataType::QSymmS4, 0.5f);
    EXPECT_EQ(ToNumbers(RunOnCpuRef(op)), (std::vector<unsigned int>{0xDD, 0x0D}));
}

ISA_TEST(Fill, RefusesOtherValues)
{
    OpCase missing = MakeCase({3}, 1, DataType::Float32, true);
    missing.m_Inputs[1].m_Connected = false;
    CheckUnsupported(missing, SupportCode::UnsupportedParameters, "not connected");
    OpCase type = MakeCase({3}, 1, DataType::Float32, true);
    type.m_Inputs[1].m_Info.SetDataType(DataType::Signed32);
    CheckUnsupported(type, SupportCode::UnsupportedType, "the value");
    OpCase many = MakeCase({3}, 1, DataType::Float32, true);
    many.m_Inputs[1] = Random(TensorInfo(TensorShape({2}), DataType::Float32), 1);
    CheckRejectsShapes(many, "one element");
}

} // namespace tenon::test::fill_test
