// SPDX-License-Identifier: Apache-2.0
// Where: indices in order, whatever the type and rank.
#include "harness/LayerRun.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon::test::where_test
{

namespace
{

IConnectableLayer* Make(INetwork& network)
{
    return network.AddWhereLayer("where");
}

TestTensor Indices(unsigned int count, unsigned int rank, const std::vector<double>& values)
{
    return Numbers(TensorShape({count, rank}), DataType::Signed64, values);
}

} // namespace

TEST(Where, AnyType)
{
    for (const DataType type : {DataType::Boolean, DataType::Float32, DataType::Float16, DataType::BFloat16,
                                DataType::Float64, DataType::Signed8, DataType::Unsigned8, DataType::Signed16,
                                DataType::Signed32, DataType::Unsigned32, DataType::Signed64})
    {
        ExpectLayer(Make, {Numbers({2, 3}, type, {0, 1, 0, 1, 0, 1})}, {Indices(3, 2, {0, 1, 1, 0, 1, 2})});
    }
}

TEST(Where, AnyRank)
{
    ExpectLayer(Make, {Numbers({4}, DataType::Signed32, {0, -5, 7, 0})}, {Indices(2, 1, {1, 2})});
    ExpectLayer(Make, {Constant(Numbers({2, 2, 2}, DataType::Signed32, {1, 0, 0, 0, 0, 0, 1, 1}))},
                {Indices(3, 3, {0, 0, 0, 1, 1, 0, 1, 1, 1})});
    ExpectLayer(Make, {Numbers({3, 2}, DataType::Float32, {0, 0, 0, 0, 0, 0})}, {Indices(0, 2, {})});
    ExpectLayer(Make, {Numbers({3, 0}, DataType::Float32, {})}, {Indices(0, 2, {})});
}

TEST(Where, NaNIsNotZeroButNegativeZeroIs)
{
    ExpectLayer(Make, {Numbers({3}, DataType::Float32, {std::nan(""), -0.0, 1e-40})}, {Indices(2, 1, {0, 2})});
}

TEST(Where, RefusesScalars)
{
    const TestTensor scalar = Numbers(TensorShape(Dimensionality::Scalar), DataType::Boolean, {1});
    EXPECT_THROW(RunLayer(Make, {scalar}), LayerValidationException);
}

} // namespace tenon::test::where_test
