// SPDX-License-Identifier: Apache-2.0
// Reshape, Squeeze, ExpandDims: the same elements in the same order.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Arrangement.hpp>

#include <gtest/gtest.h>

namespace tenon::test::reshape_test
{

namespace
{

OpCase MakeCase(const std::vector<unsigned int>& from, const std::vector<unsigned int>& to, DataType type)
{
    const TensorInfo output = MakeInfo(MakeShape(to), type);
    OpCase op{"to " + output.ToString(),
              LayerType::Reshape,
              MakeDescriptor(ReshapeDescriptor(output.GetShape())),
              {Random(MakeInfo(MakeShape(from), type), 1)},
              output,
              [](const auto& in) { return in[0].m_Values; }};
    op.m_Steps = 0;
    op.m_Relative = op.m_Absolute = 0;
    return op;
}

} // namespace

ISA_TEST(Reshape, KeepsTheElements)
{
    for (const DataType type : GetMovedTypes())
    {
        CheckOp(MakeCase({2, 3, 4}, {6, 4}, type));
        CheckOp(MakeCase({1}, {}, type));
        CheckOp(MakeCase({}, {1, 1, 1}, type));
        CheckOp(MakeCase({24}, {1, 2, 1, 3, 1, 2, 2, 1}, type));
        CheckOp(MakeCase({0, 7}, {3, 0}, type));
    }
}

ISA_TEST(Reshape, DimensionsOfSizeOneComeAndGo)
{
    for (const DataType type : GetMovedTypes())
    {
        OpCase squeeze = MakeCase({2, 1, 3, 1}, {2, 3}, type);
        squeeze.m_Type = LayerType::Squeeze;
        squeeze.m_Descriptor = MakeDescriptor(SqueezeDescriptor());
        CheckOp(squeeze);
        OpCase expand = MakeCase({2, 3}, {2, 1, 3}, type);
        expand.m_Type = LayerType::ExpandDims;
        ExpandDimsDescriptor descriptor;
        descriptor.m_Axis = 1;
        expand.m_Descriptor = MakeDescriptor(descriptor);
        CheckOp(expand);
    }
}

ISA_TEST(Reshape, CopiesHalfBytes)
{
    const TensorInfo from(TensorShape({3}), DataType::QSymmS4, 0.5f);
    const TensorInfo to(TensorShape({1, 3}), DataType::QSymmS4, 0.5f);
    const OpCase op{"three of 4 bits",
                    LayerType::Reshape,
                    MakeDescriptor(ReshapeDescriptor(to.GetShape())),
                    {FromBytes(from, {0x21, 0x08})},
                    to,
                    nullptr};
    EXPECT_EQ(ToNumbers(RunOnCpuRef(op)), (std::vector<unsigned int>{0x21, 0x08}));
}

ISA_TEST(Reshape, RefusesAnotherNumberOfElements)
{
    CheckRejectsShapes(MakeCase({2, 3}, {5}, DataType::Float32), "numbers of elements differ");
    CheckRejectsShapes(MakeCase({2, 3}, {0}, DataType::Float32), "numbers of elements differ");
}

ISA_TEST(Reshape, RefusesAnotherType)
{
    OpCase op = MakeCase({2, 3}, {6}, DataType::Float32);
    op.m_Output.SetDataType(DataType::Float16);
    CheckUnsupported(op, SupportCode::UnsupportedType, "output 0");
}

} // namespace tenon::test::reshape_test
