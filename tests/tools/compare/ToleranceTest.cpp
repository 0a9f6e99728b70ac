// SPDX-License-Identifier: Apache-2.0
// --tolerance: bounds, their texts, and elements within and out of them.
#include "tools/compare/Tolerance.hpp"

#include "Tensors.hpp"
#include "tools/common/Errors.hpp"
#include "tools/harness/Expect.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tenon::tools
{
namespace
{

using test::Compare;
using test::Tensor;

uint64_t CountOut(const std::string& tolerance, const std::vector<double>& tested, const std::vector<double>& reference,
                  const TensorInfo& type = TensorInfo({1}, DataType::Float32))
{
    TensorInfo info = type;
    info.SetShape({static_cast<unsigned int>(tested.size())});
    return Compare(Tensor(info, tested), Tensor(info, reference), ParseTolerance(tolerance)).NumOutOfTolerance();
}

TEST(Tolerance, IsParsed)
{
    const Tolerance plain = ParseTolerance("1e-5");
    EXPECT_EQ(plain.m_Absolute, 1e-5);
    EXPECT_EQ(plain.m_Relative, std::nullopt);
    const Tolerance all = ParseTolerance("rel=1e-3, abs=0, ulp=4,steps=1");
    EXPECT_EQ(all.m_Absolute, 0.0);
    EXPECT_EQ(all.m_Relative, 1e-3);
    EXPECT_EQ(all.m_Ulp, 4U);
    EXPECT_EQ(all.m_Steps, 1U);
    EXPECT_EQ(DescribeTolerance(all), "abs=0, rel=0.001, ulp=4, steps=1");
}

TEST(Tolerance, OfAnotherFormIsRefused)
{
    EXPECT_THROW_WITH(ParseTolerance(""), UsageError, "--tolerance: nothing is given");
    EXPECT_THROW_WITH(ParseTolerance("x"), UsageError, "--tolerance: 'x' is no finite number of 0 or more");
    EXPECT_THROW_WITH(ParseTolerance("-1"), UsageError, "'-1' is no finite number of 0 or more");
    EXPECT_THROW_WITH(ParseTolerance("nan"), UsageError, "'nan' is no finite number");
    EXPECT_THROW_WITH(ParseTolerance("abs=inf"), UsageError, "'inf' is no finite number");
    EXPECT_THROW_WITH(ParseTolerance("ulp=1.5"), UsageError, "'1.5' is no whole number of 0 or more");
    EXPECT_THROW_WITH(ParseTolerance("steps=-1"), UsageError, "'-1' is no whole number");
    EXPECT_THROW_WITH(ParseTolerance("1,abs=2"), UsageError, "abs is given twice");
    EXPECT_THROW_WITH(ParseTolerance("max=2"), UsageError,
                      "there is no bound 'max'; there are abs, rel, ulp and steps, e.g. rel=1e-3,abs=1e-6");
    EXPECT_THROW_WITH(ParseTolerance("abs="), UsageError, "'' is no finite number");
}

TEST(Tolerance, HoldsIfOneBoundHolds)
{
    EXPECT_EQ(CountOut("0.5", {1, 2, 4}, {1, 2.5, 3}), 1U);
    EXPECT_EQ(CountOut("rel=0.25", {1, 5, 6}, {1, 4, 4}), 1U);
    EXPECT_EQ(CountOut("rel=0.25,abs=2", {1, 5, 6, 100}, {1, 4, 4, 90}), 0U);
    EXPECT_EQ(CountOut("rel=0.25", {1e-9}, {0}), 1U) << "nothing is relative to 0";
    EXPECT_EQ(CountOut("abs=0", {1, 2}, {1, 2}), 0U);
    const double next = std::nextafter(1.0f, 2.0f);
    EXPECT_EQ(CountOut("ulp=1", {next, 1.1}, {1, 1}), 1U);
    EXPECT_EQ(CountOut("ulp=0", {next}, {1}), 1U);
    const TensorInfo quantized({1}, DataType::QAsymmS8, 0.5f, 0);
    EXPECT_EQ(CountOut("steps=1", {1, 2, 3}, {1, 1, 1}, quantized), 1U);
    EXPECT_EQ(CountOut("abs=0.5", {1, 2, 3}, {1, 1, 1}, quantized), 1U);
    EXPECT_EQ(CountOut("abs=100", {1, 2}, {1, 1}, TensorInfo({1}, DataType::Signed32)), 1U) << "integers are exact";
}

TEST(Tolerance, NeverTakesNonFiniteElementsForOthers)
{
    const double infinity = std::numeric_limits<double>::infinity();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(CountOut("1e30,rel=1e30,ulp=4000000000", {nan, infinity, infinity}, {1, 1, -infinity}), 3U);
    EXPECT_EQ(CountOut("0", {nan, infinity}, {nan, infinity}), 0U);
}

TEST(Tolerance, HasBoundsForSomeMeasures)
{
    EXPECT_TRUE(HasBoundFor(ParseTolerance("1"), Measure::Reals));
    EXPECT_TRUE(HasBoundFor(ParseTolerance("rel=1"), Measure::Steps));
    EXPECT_TRUE(HasBoundFor(ParseTolerance("ulp=1"), Measure::Floats));
    EXPECT_FALSE(HasBoundFor(ParseTolerance("ulp=1"), Measure::Steps));
    EXPECT_FALSE(HasBoundFor(ParseTolerance("steps=1"), Measure::Floats));
    EXPECT_FALSE(HasBoundFor(ParseTolerance("steps=1,ulp=1"), Measure::Reals));
    EXPECT_TRUE(HasBoundFor(ParseTolerance("ulp=1"), Measure::Exact));
}

} // namespace
} // namespace tenon::tools
