// SPDX-License-Identifier: Apache-2.0
// The layout of scratch memory: parts one after the other, and sizes that do not fit into the address space. With
// 32-bit sizes those are within reach of a layer's shapes.
#include "backends/common/Scratch.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace tenon::backends::scratch_test
{
namespace
{

TEST(Scratch, PartsStartAtMultiplesOf64)
{
    Scratch scratch;
    EXPECT_EQ(scratch.Add<float>(size_t{3}), 0U);
    EXPECT_EQ(scratch.Add<int8_t>(size_t{5}, size_t{13}), 64U);
    EXPECT_EQ(scratch.Add<double>(), 192U); // one
    EXPECT_EQ(scratch.GetBytes(), 256U);
}

TEST(Scratch, SizesThatOverflowAreRefused)
{
    constexpr size_t half = SIZE_MAX / 2 + 1;
    Scratch scratch;
    EXPECT_THROW(scratch.Add<int8_t>(half, size_t{2}), InvalidArgumentException); // the product
    EXPECT_THROW(scratch.Add<int16_t>(half), InvalidArgumentException);           // its bytes
    EXPECT_THROW(scratch.Add<int8_t>(SIZE_MAX), InvalidArgumentException);        // the padding
    EXPECT_EQ(scratch.Add<int32_t>(half, half, size_t{0}), 0U);                   // nothing, however often
    EXPECT_EQ(scratch.GetBytes(), 0U);
    scratch.Add<int8_t>(half);
    EXPECT_THROW(scratch.Add<int8_t>(half), InvalidArgumentException); // the sum
    EXPECT_EQ(scratch.GetBytes(), half);
}

TEST(Scratch, PartsThatOverflowAreRefused)
{
    Scratch part;
    part.Add<float>(size_t{5});
    part.Add<float>(size_t{7});
    Scratch scratch;
    scratch.Add<int8_t>(size_t{1});
    EXPECT_EQ(scratch.AddPerTask(part, 3), 64U);
    EXPECT_EQ(scratch.GetBytes(), 64U + 3 * 128);
    Scratch huge;
    huge.Add<int8_t>(SIZE_MAX / 4 + 1);
    EXPECT_THROW(scratch.AddPerTask(huge, 4), InvalidArgumentException); // the product
    EXPECT_THROW(scratch.AddPerTask(huge, 5), InvalidArgumentException);
}

TEST(Scratch, CountsThatOverflowAreRefused)
{
    EXPECT_EQ(CheckedCount(SIZE_MAX / 3, 3), SIZE_MAX / 3 * 3);
    EXPECT_THROW(CheckedCount(SIZE_MAX / 3 + 1, 3), InvalidArgumentException);
}

} // namespace
} // namespace tenon::backends::scratch_test
