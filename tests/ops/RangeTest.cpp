// SPDX-License-Identifier: Apache-2.0
// Range: numbers of every type, from shape inference on; quantized ones as TFLite steps them.
#include "harness/LayerRun.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace tenon::test::range_test
{

namespace
{

IConnectableLayer* Make(INetwork& network)
{
    return network.AddRangeLayer("range");
}

TestTensor Scalar(TensorInfo info, double stored)
{
    info.SetShape(TensorShape(Dimensionality::Scalar));
    return Constant(Stored(info, {stored}));
}

void Check(TensorInfo info, double start, double limit, double delta, const std::vector<double>& expected)
{
    SCOPED_TRACE(GetDataTypeName(info.GetDataType()));
    info.SetShape(TensorShape({static_cast<unsigned int>(expected.size())}));
    ExpectLayer(Make, {Scalar(info, start), Scalar(info, limit), Scalar(info, delta)}, {Stored(info, expected)});
}

} // namespace

TEST(Range, AnyType)
{
    for (const DataType type : {DataType::Float32, DataType::Float64, DataType::Float16, DataType::BFloat16,
                                DataType::Signed8, DataType::Signed16, DataType::Signed32, DataType::Signed64})
    {
        const TensorInfo info({1}, type);
        Check(info, 0, 4, 1, {0, 1, 2, 3});
        Check(info, 10, 3, -3, {10, 7, 4});
        Check(info, 2, 9, 4, {2, 6});
        Check(info, 5, 5, 1, {});
    }
}

TEST(Range, Fractions)
{
    Check(TensorInfo({1}, DataType::Float32), 0.25, 1.5, 0.5, {0.25, 0.75, 1.25});
    Check(TensorInfo({1}, DataType::Float16), 0, 1, 0.375, {0, 0.375, 0.75});
    Check(TensorInfo({1}, DataType::Float64), 0, 0x1p-40, 0x1p-42, {0, 0x1p-42, 0x1p-41, 0x3p-42});
}

TEST(Range, EndsOfTheType)
{
    constexpr double highest = std::numeric_limits<int32_t>::max();
    Check(TensorInfo({1}, DataType::Signed32), -highest - 1, highest, highest, {-highest - 1, -1, highest - 1});
}

TEST(Range, Quantized)
{
    // 0 to 3 in steps of 1, counted with integers' rounding up.
    Check(TensorInfo({1}, DataType::QAsymmS8, 0.5f, 1), 1, 7, 3, {1, 3, 5});
    Check(TensorInfo({1}, DataType::QSymmS16, 1.0f), 0, 4, 1, {0, 1, 2, 3});
}

TEST(Range, RefusesWhatLeadsNowhere)
{
    const TensorInfo info({1}, DataType::Signed32);
    EXPECT_THROW(RunLayer(Make, {Scalar(info, 0), Scalar(info, 4), Scalar(info, 0)}), LayerValidationException);
    EXPECT_THROW(RunLayer(Make, {Scalar(info, 0), Scalar(info, 4), Scalar(info, -1)}), LayerValidationException);
    const TensorInfo wide({1}, DataType::Signed64);
    EXPECT_THROW(RunLayer(Make, {Scalar(wide, 0), Scalar(wide, 1e18), Scalar(wide, 1)}), LayerValidationException);
    EXPECT_THROW(RunLayer(Make, {Scalar(wide, 0), Scalar(wide, 4e9), Scalar(wide, 1)}), Exception) << "32 GB";
}

} // namespace tenon::test::range_test
