// SPDX-License-Identifier: Apache-2.0
// Select: broadcasting of three inputs, TFLite's choice by slice, every element size, and what is refused.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <gtest/gtest.h>

namespace tenon::test::select_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

/// The value of `in` at `at`, where missing leading dimensions and those of size 1 repeat.
double Repeated(const RealTensor& in, const Coordinates& at, bool alignFirst)
{
    const unsigned int rank = in.m_Shape.GetNumDimensions();
    size_t offset = 0;
    for (unsigned int i = 0; i < rank; ++i)
    {
        // One element may have more dimensions than there are coordinates.
        offset =
            offset * in.Dim(i) + (in.Dim(i) == 1 ? 0 : static_cast<size_t>(at[alignFirst ? i : at.size() - rank + i]));
    }
    return in.m_Values.at(offset);
}

OpCase MakeCase(const Sizes& condition, const Sizes& x, const Sizes& y, const Sizes& out, DataType type,
                bool bySlice = false)
{
    OpCase op;
    op.m_Name = MakeShape(condition).ToString() + MakeShape(x).ToString() + MakeShape(y).ToString();
    op.m_Type = LayerType::Select;
    SelectDescriptor descriptor;
    descriptor.m_ConditionBySlice = bySlice;
    op.m_Descriptor = MakeDescriptor(descriptor);
    op.m_Inputs = {Random(TensorInfo(MakeShape(condition), DataType::Boolean), 3, 0, 1),
                   Random(MakeInfo(MakeShape(x), type), 4), Random(MakeInfo(MakeShape(y), type), 5)};
    op.m_Output = MakeInfo(MakeShape(out), type);
    op.m_Steps = op.m_Relative = op.m_Absolute = 0;
    op.m_Oracle = [shape = op.m_Output.GetShape(), bySlice](const std::vector<RealTensor>& in)
    {
        std::vector<double> values;
        RealTensor unused{shape, std::vector<double>(shape.GetNumElements())};
        Move(shape, unused,
             [&](const Coordinates& at)
             {
                 const bool first = Repeated(in[0], at, bySlice && in[0].m_Shape.GetNumDimensions() == 1) != 0;
                 values.push_back(Repeated(in[first ? 1 : 2], at, false));
                 return at;
             });
        return values;
    };
    return op;
}

} // namespace

ISA_TEST(Select, AnyType)
{
    for (const DataType type : GetMovedTypes())
    {
        CheckOp(MakeCase({3, 4}, {3, 4}, {3, 4}, {3, 4}, type));
        CheckOp(MakeCase({4}, {3, 1}, {}, {3, 4}, type));
        CheckOp(MakeCase({3}, {3, 4}, {3, 4}, {3, 4}, type, true));
    }
}

ISA_TEST(Select, Broadcasts)
{
    constexpr DataType type = DataType::Float32;
    CheckOp(MakeCase({}, {}, {}, {}, type));
    CheckOp(MakeCase({}, {2, 3}, {1}, {2, 3}, type));
    CheckOp(MakeCase({2, 1, 3}, {4, 1}, {2, 4, 3}, {2, 4, 3}, type));
    CheckOp(MakeCase({1, 1, 2}, {1, 2, 1, 1, 2, 2}, {1, 1, 2}, {1, 2, 1, 1, 2, 2}, type));
    CheckOp(MakeCase({2, 1, 2, 1, 3, 1, 2, 1}, {3, 1, 2, 1}, {1, 3, 1, 3, 1, 3, 1, 3}, {2, 3, 2, 3, 3, 3, 2, 3}, type));
    CheckOp(MakeCase({0}, {3, 1}, {3, 0}, {3, 0}, type));
    CheckOp(MakeCase({1}, {1, 1}, {1}, {}, type));
}

ISA_TEST(Select, BySlice)
{
    constexpr DataType type = DataType::Signed32;
    CheckOp(MakeCase({2}, {2, 2}, {2, 2}, {2, 2}, type, true));
    CheckOp(MakeCase({3}, {3, 2, 4}, {3, 2, 4}, {3, 2, 4}, type, true));
    CheckOp(MakeCase({}, {3, 2}, {3, 2}, {3, 2}, type, true));
    CheckOp(MakeCase({3, 2}, {3, 2}, {3, 2}, {3, 2}, type, true));
    CheckOp(MakeCase({0}, {0, 2}, {0, 2}, {0, 2}, type, true));
}

ISA_TEST(Select, RefusesWhatDoesNotFit)
{
    CheckRejectsShapes(MakeCase({2}, {3}, {3}, {3}, DataType::Float32), "does not broadcast");
    CheckRejectsShapes(MakeCase({1, 3}, {3}, {3}, {3}, DataType::Float32), "does not broadcast");
    OpCase types = MakeCase({3}, {3}, {3}, {3}, DataType::Float32);
    types.m_Inputs[2].m_Info.SetDataType(DataType::Signed32);
    CheckUnsupported(types, SupportCode::UnsupportedType, "input 2");
    OpCase condition = MakeCase({3}, {3}, {3}, {3}, DataType::Float32);
    condition.m_Inputs[0].m_Info.SetDataType(DataType::Signed8);
    CheckUnsupported(condition, SupportCode::UnsupportedType, "input 0");
}

} // namespace tenon::test::select_test
