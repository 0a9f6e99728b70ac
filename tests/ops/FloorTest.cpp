// SPDX-License-Identifier: Apache-2.0
// Floor: down to the next integer, for every float type.
#include "ops/ElementwiseOracle.hpp"

#include <tenon/descriptors/Base.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tenon::test::floor_test
{

namespace
{

OpCase MakeCase(TestTensor input)
{
    OpCase op;
    op.m_Name = input.m_Info.ToString();
    op.m_Type = LayerType::Floor;
    op.m_Descriptor = MakeDescriptor(NullDescriptor());
    op.m_Output = input.m_Info;
    op.m_Inputs = {std::move(input)};
    op.m_Oracle = [](const std::vector<RealTensor>& in) { return Map(in[0], [](double x) { return std::floor(x); }); };
    op.m_Relative = op.m_Absolute = 0;
    return op;
}

} // namespace

ISA_TEST(Floor, FloatTypes)
{
    for (const DataType type : {DataType::Float32, DataType::Float16, DataType::BFloat16, DataType::Float64})
    {
        CheckOp(MakeCase(Random(TensorInfo(TensorShape({2, 3, 17}), type), 1, -30, 30)));
        CheckOp(MakeCase(Values(TensorInfo(TensorShape({6}), type), {-1, -0.5, -0.0, 0.5, 1, 1.5})));
        CheckOp(MakeCase(Random(TensorInfo(TensorShape(Dimensionality::Scalar), type), 2)));
        CheckOp(MakeCase(Random(TensorInfo(TensorShape({0}), type), 3)));
    }
    const double inf = std::numeric_limits<double>::infinity();
    CheckOp(MakeCase(Values(TensorInfo(TensorShape({4}), DataType::Float32), {inf, -inf, std::nan(""), 1e30})));
}

ISA_TEST(Floor, RefusesIntegers)
{
    CheckUnsupported(MakeCase(Random(TensorInfo(TensorShape({2}), DataType::Signed32), 1)),
                     SupportCode::UnsupportedType, "Float32");
}

} // namespace tenon::test::floor_test
