// SPDX-License-Identifier: Apache-2.0
// Bucketize: how many boundaries are not above each element.
#include "ops/ElementwiseOracle.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace tenon::test::bucketize_test
{

namespace
{

OpCase MakeCase(const std::vector<float>& boundaries, TestTensor input)
{
    BucketizeDescriptor descriptor;
    descriptor.m_Boundaries = boundaries;
    return {std::to_string(boundaries.size()) + " boundaries, " + input.m_Info.ToString(),
            LayerType::Bucketize,
            MakeDescriptor(descriptor),
            {input},
            TensorInfo(input.m_Info.GetShape(), DataType::Signed32),
            [boundaries](const auto& in)
            {
                return Map(in[0],
                           [&](double x)
                           {
                               return static_cast<double>(std::count_if(boundaries.begin(), boundaries.end(),
                                                                        [x](float b) { return !(x < double{b}); }));
                           });
            }};
}

} // namespace

ISA_TEST(Bucketize, AllTypes)
{
    for (const DataType type : {DataType::Float32, DataType::Float64, DataType::Float16, DataType::BFloat16,
                                DataType::Signed32, DataType::Signed64})
    {
        const TensorInfo info(TensorShape({4, 9}), type);
        CheckOp(MakeCase({-5, -1, 0, 0, 3, 7.5f}, Random(info, 1, -9, 9)));
        CheckOp(MakeCase({}, Random(info, 2, -9, 9)));
        CheckOp(MakeCase({1}, Random(TensorInfo(TensorShape({0}), type), 2, -9, 9)));
        CheckOp(MakeCase({1}, Random(TensorInfo(TensorShape(Dimensionality::Scalar), type), 2, -9, 9)));
    }
}

ISA_TEST(Bucketize, EdgesAndNan)
{
    constexpr double Infinity = std::numeric_limits<double>::infinity();
    constexpr double NaN = std::numeric_limits<double>::quiet_NaN();
    const TensorInfo info(TensorShape({6}), DataType::Float32);
    OpCase op = MakeCase({0, 10, 100}, Stored(info, {-0.0, 10, 9.999, -Infinity, Infinity, NaN}));
    op.m_Oracle = Expect(op.m_Output, {1, 2, 1, 0, 3, 3});
    CheckOp(op);
}

ISA_TEST(Bucketize, RefusesBoundariesOutOfOrder)
{
    const TestTensor input = Random(TensorInfo(TensorShape({2}), DataType::Float32), 1);
    CheckUnsupported(MakeCase({1, 0}, input), SupportCode::UnsupportedParameters, "ascending");
    CheckUnsupported(MakeCase({std::numeric_limits<float>::quiet_NaN()}, input), SupportCode::UnsupportedParameters,
                     "ascending");
}

} // namespace tenon::test::bucketize_test
