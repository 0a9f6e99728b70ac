// SPDX-License-Identifier: Apache-2.0
// Figures of differences with known answers.
#include "tools/compare/TensorDifference.hpp"

#include "Tensors.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace tenon::tools
{
namespace
{

using test::Compare;
using test::Tensor;

constexpr double Infinity = std::numeric_limits<double>::infinity();
constexpr double NaN = std::numeric_limits<double>::quiet_NaN();

uint64_t CountIn(const TensorDifference& difference, uint64_t bound)
{
    for (size_t i = 0; i < HistogramBounds.size(); ++i)
    {
        if (HistogramBounds[i] == bound)
        {
            return difference.Histogram()[i];
        }
    }
    return difference.Histogram().back();
}

TEST(TensorDifference, HasKnownFigures)
{
    // Errors 0, 1, 2 and 3, all exact in binary.
    const TensorDifference difference =
        Compare(Tensor(DataType::Float64, {1, 1, 5, -7}), Tensor(DataType::Float64, {1, 2, 3, -4}));
    EXPECT_EQ(difference.GetMeasure(), Measure::Floats);
    EXPECT_EQ(difference.NumElements(), 4U);
    EXPECT_EQ(difference.NumDifferent(), 3U);
    EXPECT_DOUBLE_EQ(difference.MeanError(), 1.5);
    EXPECT_DOUBLE_EQ(difference.MaxError(), 3.0);
    EXPECT_DOUBLE_EQ(difference.StdError(), std::sqrt(1.25));
    EXPECT_DOUBLE_EQ(difference.RmsError(), std::sqrt(14.0 / 4.0));
    EXPECT_DOUBLE_EQ(difference.Bias(), -0.5);
    EXPECT_DOUBLE_EQ(difference.MaxRelativeError(), 0.75);
    EXPECT_DOUBLE_EQ(difference.LargestReference(), 4.0);
    EXPECT_DOUBLE_EQ(difference.RelativeRmsError().value(), std::sqrt(14.0 / 30.0));
    EXPECT_DOUBLE_EQ(difference.Cosine().value(), (1 + 2 + 15 + 28) / std::sqrt(76.0 * 30.0));
    ASSERT_TRUE(difference.Worst().has_value());
    EXPECT_EQ(difference.Worst()->m_Index, 3U);
    EXPECT_EQ(difference.Worst()->m_Tested, -7.0);
    EXPECT_EQ(difference.Worst()->m_Reference, -4.0);
    EXPECT_EQ(difference.MeanErrorsOfRuns(), std::vector<double>{1.5});
}

TEST(TensorDifference, KeepsItsPrecision)
{
    // A million equal errors on large values: naive sums of squares would give a deviation.
    const std::vector<double> reference(1'000'000, 1e6);
    std::vector<double> tested(reference.size(), 1e6 + 0.125);
    const TensorDifference difference =
        Compare(Tensor(DataType::Float64, tested), Tensor(DataType::Float64, reference));
    EXPECT_EQ(difference.MeanError(), 0.125);
    EXPECT_EQ(difference.StdError(), 0.0);
    EXPECT_EQ(difference.RmsError(), 0.125);
    EXPECT_EQ(difference.Bias(), 0.125);
}

TEST(TensorDifference, AddsRuns)
{
    TensorDifference difference(Measure::Floats);
    const Tensor zeros(DataType::Float32, {0, 0});
    difference.AddRun(Tensor(DataType::Float32, {1, 1}).View(), zeros.View());
    difference.AddRun(Tensor(DataType::Float32, {3, 5}).View(), zeros.View());
    difference.AddRun(zeros.View(), zeros.View());
    EXPECT_EQ(difference.NumElements(), 6U);
    EXPECT_EQ(difference.NumDifferent(), 4U);
    EXPECT_EQ(difference.MeanErrorsOfRuns(), (std::vector<double>{1, 4, 0}));
    EXPECT_DOUBLE_EQ(difference.MeanError(), 10.0 / 6.0);
    EXPECT_DOUBLE_EQ(difference.RmsError(), std::sqrt(36.0 / 6.0));
    EXPECT_EQ(difference.Worst()->m_Run, 1U);
    EXPECT_EQ(difference.Worst()->m_Index, 1U);
    EXPECT_EQ(difference.Cosine(), std::nullopt) << "the reference is 0";
    EXPECT_EQ(difference.RelativeRmsError(), std::nullopt);
    EXPECT_EQ(difference.MaxRelativeError(), 0.0);
}

TEST(TensorDifference, OfEqualTensorsIsNone)
{
    for (const std::vector<double>& values : {std::vector<double>{0.5, -2}, {0, 0}, {}})
    {
        const TensorDifference difference =
            Compare(Tensor(DataType::Float32, values), Tensor(DataType::Float32, values));
        EXPECT_EQ(difference.NumDifferent(), 0U);
        EXPECT_EQ(difference.RmsError(), 0.0);
        EXPECT_EQ(difference.RelativeRmsError(), 0.0);
        EXPECT_NEAR(difference.Cosine().value(), 1.0, 1e-15);
        EXPECT_FALSE(difference.Worst().has_value());
        EXPECT_EQ(CountIn(difference, 0), values.size());
    }
}

TEST(TensorDifference, CountsUlps)
{
    const float one = 1.0f;
    const auto next = [](float value, int n)
    {
        for (int i = 0; i < n; ++i)
        {
            value = std::nextafter(value, 2.0f);
        }
        return static_cast<double>(value);
    };
    const TensorDifference difference = Compare(
        Tensor(DataType::Float32, {1, next(one, 1), next(one, 3), next(one, 7), next(one, 300), -0.0, 1e-45, 1e30}),
        Tensor(DataType::Float32, {1, 1, 1, 1, 1, 0.0, -1e-45, -1e30}));
    EXPECT_EQ(CountIn(difference, 0), 2U) << "zeros of both signs are equal";
    EXPECT_EQ(CountIn(difference, 1), 1U);
    EXPECT_EQ(CountIn(difference, 2), 1U) << "the smallest floats of both signs";
    EXPECT_EQ(CountIn(difference, 3), 1U);
    EXPECT_EQ(CountIn(difference, 8), 1U);
    EXPECT_EQ(CountIn(difference, 1024), 1U);
    EXPECT_EQ(difference.Histogram().back(), 1U);

    const TensorDifference halves =
        Compare(Tensor(DataType::Float16, {1 + 1.0 / 1024, -1}), Tensor(DataType::Float16, {1, -1 - 3.0 / 1024}));
    EXPECT_EQ(CountIn(halves, 1), 1U);
    EXPECT_EQ(CountIn(halves, 3), 1U);
    const TensorDifference bfloats =
        Compare(Tensor(DataType::BFloat16, {1 + 1.0 / 128}), Tensor(DataType::BFloat16, {1}));
    EXPECT_EQ(CountIn(bfloats, 1), 1U);
    const TensorDifference doubles =
        Compare(Tensor(DataType::Float64, {std::nextafter(1.0, 2.0), 1e300}), Tensor(DataType::Float64, {1.0, -1e300}));
    EXPECT_EQ(CountIn(doubles, 1), 1U);
    EXPECT_EQ(doubles.Histogram().back(), 1U);
}

TEST(TensorDifference, LeavesNonFiniteElementsOut)
{
    const TensorDifference difference =
        Compare(Tensor(DataType::Float32, {NaN, Infinity, NaN, 1, Infinity, Infinity, 2}),
                Tensor(DataType::Float32, {NaN, Infinity, 1, NaN, -Infinity, 3, 1}));
    EXPECT_EQ(difference.NumEqualNonFinite(), 2U);
    EXPECT_EQ(difference.NumOddNonFinite(), 4U);
    EXPECT_EQ(difference.NumDifferent(), 5U);
    EXPECT_EQ(difference.NumOutOfTolerance(), 5U);
    EXPECT_EQ(difference.MeanError(), 1.0);
    EXPECT_EQ(difference.MaxError(), 1.0);
    EXPECT_EQ(difference.Cosine(), 1.0);
    EXPECT_EQ(std::accumulate(difference.Histogram().begin(), difference.Histogram().end(), uint64_t{0}), 1U);

    const TensorDifference none = Compare(Tensor(DataType::Float32, {NaN}), Tensor(DataType::Float32, {1}));
    EXPECT_EQ(none.MeanError(), 0.0);
    EXPECT_EQ(none.MeanErrorsOfRuns(), std::vector<double>{0.0});
}

TEST(TensorDifference, OfQuantizedElementsIsInStepsAndRealNumbers)
{
    const TensorInfo info({4}, DataType::QAsymmU8, 0.5f, 10);
    const TensorDifference difference = Compare(Tensor(info, {10, 11, 13, 255}), Tensor(info, {10, 12, 10, 0}));
    EXPECT_EQ(difference.GetMeasure(), Measure::Steps);
    EXPECT_EQ(CountIn(difference, 0), 1U);
    EXPECT_EQ(CountIn(difference, 1), 1U);
    EXPECT_EQ(CountIn(difference, 3), 1U);
    EXPECT_EQ(CountIn(difference, 256), 1U);
    EXPECT_DOUBLE_EQ(difference.MaxError(), 127.5);
    EXPECT_DOUBLE_EQ(difference.MeanError(), (0.5 + 1.5 + 127.5) / 4);

    TensorInfo channels({2, 2}, DataType::QSymmS8, std::vector<float>{0.5f, 0.25f}, 1);
    const TensorDifference perChannel = Compare(Tensor(channels, {1, 1, 2, 2}), Tensor(channels, {0, 0, 0, 0}));
    EXPECT_EQ(perChannel.GetMeasure(), Measure::Steps);
    EXPECT_DOUBLE_EQ(perChannel.MeanError(), (0.5 + 0.25 + 1.0 + 0.5) / 4);
}

TEST(TensorDifference, OfOtherScalesAndTypesIsInRealNumbersAlone)
{
    const TensorInfo halves({2}, DataType::QAsymmS8, 0.5f, 0);
    const TensorInfo quarters({2}, DataType::QAsymmS8, 0.25f, -2);
    const TensorDifference scales = Compare(Tensor(halves, {2, 4}), Tensor(quarters, {2, 5}));
    EXPECT_EQ(scales.GetMeasure(), Measure::Reals);
    EXPECT_DOUBLE_EQ(scales.MaxError(), 0.25);
    EXPECT_EQ(scales.NumDifferent(), 1U);
    EXPECT_EQ(scales.Histogram()[0], 0U);
    const TensorDifference types = Compare(Tensor(halves, {2, 4}), Tensor(DataType::Float32, {1, 2.5}));
    EXPECT_EQ(types.GetMeasure(), Measure::Reals);
    EXPECT_DOUBLE_EQ(types.MaxError(), 0.5);
    EXPECT_EQ(Compare(Tensor(DataType::Float16, {1}), Tensor(DataType::Float32, {1})).GetMeasure(), Measure::Reals);
}

TEST(TensorDifference, OfIntegersAndBooleansIsExact)
{
    // Doubles do not hold these two apart.
    const TensorInfo info({2}, DataType::Signed64);
    Tensor tested(info, {0, 7});
    Tensor reference(info, {0, 7});
    const int64_t large = int64_t{1} << 60;
    const int64_t next = large + 1;
    std::memcpy(tested.Data(), &large, sizeof(large));
    std::memcpy(reference.Data(), &next, sizeof(next));
    const TensorDifference wide = Compare(tested, reference);
    EXPECT_EQ(wide.GetMeasure(), Measure::Exact);
    EXPECT_EQ(wide.NumDifferent(), 1U);
    EXPECT_EQ(wide.NumOutOfTolerance(), 1U);

    const TensorDifference booleans =
        Compare(Tensor(DataType::Boolean, {0, 1, 1}), Tensor(DataType::Boolean, {0, 1, 0}));
    EXPECT_EQ(booleans.GetMeasure(), Measure::Exact);
    EXPECT_EQ(booleans.NumDifferent(), 1U);
    const TensorDifference bytes =
        Compare(Tensor(DataType::Unsigned8, {0, 255}), Tensor(DataType::Unsigned8, {255, 255}));
    EXPECT_EQ(bytes.NumDifferent(), 1U);
    EXPECT_EQ(bytes.MaxError(), 255.0);
    const TensorDifference nibbles =
        Compare(Tensor(DataType::QSymmS4, {-8, 7, 3}), Tensor(DataType::QSymmS4, {-8, 6, 3}));
    EXPECT_EQ(nibbles.NumElements(), 3U);
    EXPECT_EQ(nibbles.NumDifferent(), 1U);
}

TEST(TensorDifference, OfComplexElementsIsOfTheirParts)
{
    const TensorInfo info({2}, DataType::Complex64);
    Tensor tested(info, {1, 1});
    Tensor reference(info, {1, 1});
    const float imaginary = 2.0f;
    std::memcpy(tested.Data() + 3 * sizeof(float), &imaginary, sizeof(imaginary));
    const TensorDifference difference = Compare(tested, reference);
    EXPECT_EQ(difference.NumElements(), 4U);
    EXPECT_EQ(difference.Worst()->m_Index, 1U);
    EXPECT_EQ(difference.NumDifferent(), 1U);
    EXPECT_EQ(difference.MaxError(), 2.0);
}

TEST(TensorDifference, OfOtherTypesIsRefused)
{
    const TensorInfo floats({1}, DataType::Float32);
    const TensorInfo integers({1}, DataType::Signed32);
    EXPECT_EQ(FindMeasure(floats, integers), std::nullopt);
    EXPECT_EQ(FindMeasure(integers, floats), std::nullopt);
    EXPECT_EQ(FindMeasure(integers, TensorInfo({1}, DataType::Signed64)), std::nullopt);
    EXPECT_EQ(FindMeasure(floats, TensorInfo({1}, DataType::Complex64)), std::nullopt);
    EXPECT_EQ(FindMeasure(TensorInfo({1}, DataType::Complex64), floats), std::nullopt);
    EXPECT_EQ(FindMeasure(TensorInfo({1}, DataType::Boolean), floats), std::nullopt);
}

TEST(TensorDifference, KnowsWholeNumbers)
{
    EXPECT_TRUE(Compare(Tensor(DataType::Float32, {0, 3}), Tensor(DataType::Float32, {5, 3})).IsWhole());
    EXPECT_FALSE(Compare(Tensor(DataType::Float32, {0, 3}), Tensor(DataType::Float32, {5, 3.5})).IsWhole());
    EXPECT_FALSE(Compare(Tensor(DataType::Float32, {-1, 3}), Tensor(DataType::Float32, {5, 3})).IsWhole());
    EXPECT_TRUE(Compare(Tensor(DataType::Signed32, {1}), Tensor(DataType::Signed32, {2})).IsWhole());
    const TensorInfo quantized({1}, DataType::QAsymmU8, 1.0f, 0);
    EXPECT_FALSE(Compare(Tensor(quantized, {1}), Tensor(quantized, {2})).IsWhole());
}

} // namespace
} // namespace tenon::tools
