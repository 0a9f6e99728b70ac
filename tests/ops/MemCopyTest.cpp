// SPDX-License-Identifier: Apache-2.0
// MemCopy: the same bytes elsewhere.
#include "ops/MovementOracle.hpp"

#include <tenon/Descriptors.hpp>

#include <gtest/gtest.h>

namespace tenon::test
{

namespace
{

OpCase MakeCase(const TensorInfo& input, const TensorInfo& output)
{
    OpCase op{"copy of " + input.ToString(),
              LayerType::MemCopy,
              MakeDescriptor(NullDescriptor()),
              {Random(input, 2)},
              output,
              [](const auto& in) { return in[0].m_Values; }};
    op.m_Steps = 0;
    op.m_Relative = op.m_Absolute = 0;
    return op;
}

} // namespace

TEST(MemCopy, CopiesAnyType)
{
    for (const DataType type : GetMovedTypes())
    {
        for (const TensorShape& shape : {MakeShape({3, 5, 7}), MakeShape({}), MakeShape({2, 0})})
        {
            CheckOp(MakeCase(MakeInfo(shape, type), MakeInfo(shape, type)));
        }
    }
}

TEST(MemCopy, RefusesAnotherSizeOrType)
{
    const TensorInfo six(TensorShape({6}), DataType::Float32);
    CheckRejectsShapes(MakeCase(six, TensorInfo(TensorShape({5}), DataType::Float32)), "one size");
    CheckUnsupported(MakeCase(six, TensorInfo(TensorShape({6}), DataType::Signed32)), SupportCode::UnsupportedType,
                     "output 0");
}

} // namespace tenon::test
