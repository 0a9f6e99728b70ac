// SPDX-License-Identifier: Apache-2.0
// CheckedMath: the last value that fits and the first that does not, for both widths.
#include "common/CheckedMath.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace tenon::checked_math_test
{
namespace
{

template <typename T>
class CheckedMath : public testing::Test
{
};

using Widths = testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::size_t>;
TYPED_TEST_SUITE(CheckedMath, Widths);

TYPED_TEST(CheckedMath, Add)
{
    constexpr TypeParam Max = std::numeric_limits<TypeParam>::max();
    constexpr TypeParam One = 1;
    EXPECT_EQ(CheckedAdd<TypeParam>(2, 3), TypeParam{5});
    EXPECT_EQ(CheckedAdd<TypeParam>(Max, 0), Max);
    EXPECT_EQ(CheckedAdd<TypeParam>(static_cast<TypeParam>(Max - 1), One), Max);
    EXPECT_EQ(CheckedAdd<TypeParam>(Max, One), std::nullopt);
    EXPECT_EQ(CheckedAdd<TypeParam>(Max, Max), std::nullopt);
}

TYPED_TEST(CheckedMath, Mul)
{
    constexpr TypeParam Max = std::numeric_limits<TypeParam>::max();
    constexpr TypeParam Half = static_cast<TypeParam>(Max / 2);
    EXPECT_EQ(CheckedMul<TypeParam>(3, 5), TypeParam{15});
    EXPECT_EQ(CheckedMul<TypeParam>(0, Max), TypeParam{0});
    EXPECT_EQ(CheckedMul<TypeParam>(Max, 1), Max);
    EXPECT_EQ(CheckedMul<TypeParam>(Half, 2), static_cast<TypeParam>(Max - 1));
    EXPECT_EQ(CheckedMul<TypeParam>(static_cast<TypeParam>(Half + 1), 2), std::nullopt);
    EXPECT_EQ(CheckedMul<TypeParam>(Max, Max), std::nullopt);
}

TYPED_TEST(CheckedMath, AlignUp)
{
    constexpr TypeParam Max = std::numeric_limits<TypeParam>::max();
    EXPECT_EQ(CheckedAlignUp<TypeParam>(0, 64), TypeParam{0});
    EXPECT_EQ(CheckedAlignUp<TypeParam>(1, 64), TypeParam{64});
    EXPECT_EQ(CheckedAlignUp<TypeParam>(64, 64), TypeParam{64});
    EXPECT_EQ(CheckedAlignUp<TypeParam>(7, 3), TypeParam{9});
    EXPECT_EQ(CheckedAlignUp<TypeParam>(Max, 1), Max);
    EXPECT_EQ(CheckedAlignUp<TypeParam>(Max, 64), std::nullopt);
    EXPECT_EQ(CheckedAlignUp<TypeParam>(static_cast<TypeParam>(Max - 62), 64), std::nullopt);
    EXPECT_EQ(CheckedAlignUp<TypeParam>(static_cast<TypeParam>(Max - 63), 64), static_cast<TypeParam>(Max - 63));
    EXPECT_EQ(CheckedAlignUp<TypeParam>(8, 0), std::nullopt);
}

TEST(CheckedProduct, ZeroWinsOverOverflow)
{
    using Dims = std::vector<std::uint32_t>;
    constexpr std::uint32_t Big = std::numeric_limits<std::uint32_t>::max();
    EXPECT_EQ(CheckedProduct<std::uint64_t>(Dims{}), 1u);
    EXPECT_EQ(CheckedProduct<std::uint64_t>(Dims{2, 3, 4}), 24u);
    EXPECT_EQ(CheckedProduct<std::uint64_t>(Dims{Big, Big}), std::uint64_t{Big} * Big);
    EXPECT_EQ(CheckedProduct<std::uint64_t>(Dims{Big, Big, 2}), std::nullopt);
    EXPECT_EQ(CheckedProduct<std::uint64_t>(Dims{Big, Big, Big, 0}), 0u);
    EXPECT_EQ(CheckedProduct<std::uint64_t>(Dims{0, Big, Big, Big}), 0u);
    EXPECT_EQ(CheckedProduct<std::uint64_t>(Dims{Big, Big, 1, 1, Big}), std::nullopt);
    static_assert(CheckedProduct<std::uint32_t>(std::initializer_list<std::uint32_t>{65536, 65536}) == std::nullopt);
}

TEST(CheckedCast, EveryDirection)
{
    EXPECT_EQ(CheckedCast<std::uint32_t>(std::int64_t{-1}), std::nullopt);
    EXPECT_EQ(CheckedCast<std::uint32_t>(std::int64_t{0xFFFFFFFF}), 0xFFFFFFFFu);
    EXPECT_EQ(CheckedCast<std::uint32_t>(std::int64_t{0x100000000}), std::nullopt);
    EXPECT_EQ(CheckedCast<std::int32_t>(std::uint32_t{0x7FFFFFFF}), 0x7FFFFFFF);
    EXPECT_EQ(CheckedCast<std::int32_t>(std::uint32_t{0x80000000}), std::nullopt);
    EXPECT_EQ(CheckedCast<std::int8_t>(std::numeric_limits<std::int64_t>::min()), std::nullopt);
    EXPECT_EQ(CheckedCast<std::int64_t>(std::numeric_limits<std::uint64_t>::max()), std::nullopt);
    EXPECT_EQ(CheckedCast<std::uint64_t>(std::int8_t{-128}), std::nullopt);
    EXPECT_EQ(CheckedCast<std::int64_t>(std::int8_t{-128}), -128);
}

} // namespace
} // namespace tenon::checked_math_test
