// SPDX-License-Identifier: Apache-2.0
// Im2col: copied windows, with and without moves of constant size, and rows of taps read in place. Checks the elements,
// the padding, and that nothing is read or written out of bounds.
#include "backends/cpu/im2col/PixelOrder.hpp"
#include "harness/GuardedBuffer.hpp"
#include "harness/IsaTest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace tenon::test::im2col_test
{

namespace
{

using cpu::Im2col;

template <typename T>
std::vector<T> LayOut(const Im2col& w, const T* input, size_t first, size_t last, T padding)
{
    std::vector<T> rows;
    for (size_t pixel = first; pixel < last; ++pixel)
    {
        const auto column = static_cast<int64_t>(pixel) % w.m_OutputWidth;
        const int64_t row = static_cast<int64_t>(pixel) / w.m_OutputWidth % w.m_OutputHeight;
        const int64_t image = static_cast<int64_t>(pixel) / w.m_OutputWidth / w.m_OutputHeight;
        for (int64_t i = 0; i < w.m_Height * w.m_Width * w.m_GroupChannels; ++i)
        {
            const int64_t channel = i % w.m_GroupChannels;
            const int64_t point = i / w.m_GroupChannels;
            const int64_t x = column * w.m_StrideX - w.m_PadLeft + point % w.m_Width * w.m_DilationX;
            const int64_t y = row * w.m_StrideY - w.m_PadTop + point / w.m_Width * w.m_DilationY;
            const bool isInside = y >= 0 && y < w.m_InputHeight && x >= 0 && x < w.m_InputWidth;
            const int64_t at = ((image * w.m_InputHeight + y) * w.m_InputWidth + x) * w.m_Channels + channel;
            rows.push_back(isInside ? input[at] : padding);
        }
    }
    return rows;
}

void Copy(const Im2col& w, const uint8_t* input, size_t first, size_t last, uint8_t padding, size_t depth, uint8_t* to)
{
    w.CopyBytes(input, first, last, padding, depth, to);
}

template <typename T>
void Copy(const Im2col& w, const T* input, size_t first, size_t last, T, size_t depth, T* to)
{
    w.CopyNumbers(input, first, last, depth, to);
}

std::string Describe(const Im2col& w, size_t images)
{
    std::ostringstream out;
    out << images << " images of " << w.m_InputHeight << " x " << w.m_InputWidth << " x " << w.m_Channels
        << ", windows of " << w.m_Height << " x " << w.m_Width << ", strides " << w.m_StrideY << " x " << w.m_StrideX
        << ", pads " << w.m_PadTop << " x " << w.m_PadLeft << ", dilations " << w.m_DilationY << " x " << w.m_DilationX
        << ", groups of " << w.m_GroupChannels;
    return out.str();
}

/// `images`: their number.
template <typename T>
void CheckCopies(const Im2col& w, size_t images, T padding, std::mt19937& random)
{
    const auto elements = static_cast<size_t>(w.m_InputHeight * w.m_InputWidth * w.m_Channels) * images;
    const GuardedBuffer input(elements * sizeof(T));
    auto* const values = reinterpret_cast<T*>(input.GetData());
    std::generate_n(values, elements, [&random] { return static_cast<T>(random() % 251); });
    const size_t pixels = images * static_cast<size_t>(w.m_OutputHeight * w.m_OutputWidth);
    const size_t first = random() % pixels;
    const size_t last = first + 1 + random() % (pixels - first);
    const size_t depth = w.GetDepth();
    const size_t pitch = depth + random() % 5;
    const GuardedBuffer out((last - first) * pitch * sizeof(T) + Im2col::ShortRowBytes);
    Copy(w, values, first, last, padding, pitch, reinterpret_cast<T*>(out.GetData()));
    ASSERT_TRUE(out.IsIntactAround());
    const std::vector<T> want = LayOut(w, values, first, last, padding);
    for (size_t row = 0; row < last - first; ++row)
    {
        const std::byte* const got = out.GetData() + row * pitch * sizeof(T);
        ASSERT_EQ(std::memcmp(got, want.data() + row * depth, depth * sizeof(T)), 0) << Describe(w, images);
    }
}

void CheckRowsInPlace(const Im2col& w, size_t images, std::mt19937& random)
{
    const auto elements = static_cast<size_t>(w.m_InputHeight * w.m_InputWidth * w.m_Channels) * images;
    const GuardedBuffer input(elements * sizeof(float));
    auto* const values = reinterpret_cast<float*>(input.GetData());
    std::generate_n(values, elements, [&random] { return static_cast<float>(random() % 251); });
    const size_t pixels = images * static_cast<size_t>(w.m_OutputHeight * w.m_OutputWidth);
    const size_t first = random() % pixels;
    const size_t count = 1 + random() % (pixels - first);
    const auto rowElements = static_cast<size_t>(w.m_Width * w.m_Channels);
    const std::vector<float> zeros(rowElements);
    const GuardedBuffer strip(w.CountMaxBorderWindows(count) * w.GetDepth() * sizeof(float));
    const auto height = static_cast<size_t>(w.m_Height);
    std::vector<const float*> table(count * height);
    w.FindRows(values, first, first + count, zeros.data(), reinterpret_cast<float*>(strip.GetData()), table.data(),
               count);
    ASSERT_TRUE(strip.IsIntactAround());
    const std::vector<float> want = LayOut(w, values, first, first + count, 0.0f);
    for (size_t i = 0; i < count * height; ++i)
    {
        const float* const row = table[i % height * count + i / height];
        ASSERT_TRUE(std::equal(row, row + rowElements, want.begin() + static_cast<ptrdiff_t>(i * rowElements)))
            << Describe(w, images) << ", window " << first + i / height << ", its row " << i % height;
    }
}

/// Checks a pixel order: each pixel occurs once, runs with missing taps are marked, and the taps of windows are found.
void CheckOrder(const Im2col& w, size_t images, bool hasSplitColumns, std::mt19937& random)
{
    const auto elements = static_cast<size_t>(w.m_InputHeight * w.m_InputWidth * w.m_Channels) * images;
    const std::vector<float> input(elements);
    const size_t pixels = images * static_cast<size_t>(w.m_OutputHeight * w.m_OutputWidth);
    const cpu::PixelOrder order(w, {1 + random() % 14, random() % 3}, hasSplitColumns);
    ASSERT_TRUE(hasSplitColumns || !order.HasSplitColumns());
    const float padding = 0.0f;
    const auto points = static_cast<size_t>(w.m_Height * w.m_Width);
    std::vector<const float*> want(points * pixels);
    w.Find(input.data(), 0, pixels, &padding, want.data());
    const auto isPadding = [&](const float* point) { return point == &padding; };
    std::vector<size_t> visits(pixels);
    for (size_t first = 0; first < pixels;)
    {
        const size_t last = first + 1 + random() % (pixels - first);
        std::vector<const float*> table(points * (last - first));
        order.FindTaps(w, input.data(), first, last, &padding, table.data());
        size_t before = 0;
        order.ForEachRun(first, last,
                         [&](const cpu::PixelRun& run, size_t window)
                         {
                             ASSERT_EQ(window, before);
                             before += run.m_Count;
                             ASSERT_LE(before, last - first);
                             for (size_t i = 0; i < run.m_Count; ++i)
                             {
                                 const size_t pixel = run.m_First + i * run.m_Step;
                                 ASSERT_LT(pixel, pixels);
                                 ++visits[pixel];
                                 for (size_t p = 0; p < points; ++p)
                                 {
                                     const float* const found = table[p * (last - first) + window + i];
                                     ASSERT_EQ(found, want[p * pixels + pixel]) << Describe(w, images);
                                     ASSERT_TRUE(run.m_LacksTaps || !order.HasSplitColumns() || !isPadding(found))
                                         << Describe(w, images) << ", pixel " << pixel;
                                 }
                             }
                         });
        ASSERT_EQ(before, last - first);
        first = last;
    }
    ASSERT_TRUE(std::all_of(visits.begin(), visits.end(), [](size_t count) { return count == 1; }))
        << Describe(w, images);
}

Im2col PickWindows(std::mt19937& random, int64_t maxChannels)
{
    const auto pick = [&random](int64_t least, int64_t most)
    { return std::uniform_int_distribution<int64_t>(least, most)(random); };
    Im2col w;
    w.m_InputHeight = pick(1, 12);
    w.m_InputWidth = pick(1, 12);
    w.m_Channels = w.m_GroupChannels = pick(1, maxChannels);
    w.m_Height = pick(1, 5);
    w.m_Width = pick(1, 10);
    w.m_StrideX = pick(1, 3);
    w.m_StrideY = pick(1, 3);
    w.m_DilationY = pick(1, 2);
    w.m_PadTop = pick(0, 5);
    w.m_PadLeft = pick(0, 11);
    w.m_OutputHeight = pick(1, 6);
    w.m_OutputWidth = pick(1, 8);
    return w;
}

} // namespace

ISA_TEST(Im2col, LaidOut)
{
    std::mt19937 random(5);
    for (int i = 0; i < 3000; ++i)
    {
        const Im2col w = PickWindows(random, 4);
        const size_t images = 1 + random() % 2;
        ASSERT_NO_FATAL_FAILURE(CheckCopies<uint8_t>(w, images, static_cast<uint8_t>(random()), random));
        ASSERT_NO_FATAL_FAILURE(CheckCopies<int16_t>(w, images, 0, random));
        ASSERT_NO_FATAL_FAILURE(CheckCopies<float>(w, images, 0.0f, random));
    }
}

// Windows of a group of channels, or with a dilation, have many short runs; windows of many channels have few long
// ones.
ISA_TEST(Im2col, LaidOutInRuns)
{
    std::mt19937 random(7);
    for (int i = 0; i < 3000; ++i)
    {
        Im2col w = PickWindows(random, 24);
        w.m_DilationX = 1 + static_cast<int64_t>(random() % 3);
        w.m_Channels *= 1 + static_cast<int64_t>(random() % 3);
        const size_t images = 1 + random() % 2;
        ASSERT_NO_FATAL_FAILURE(CheckCopies<uint8_t>(w, images, static_cast<uint8_t>(random()), random));
        ASSERT_NO_FATAL_FAILURE(CheckCopies<float>(w, images, 0.0f, random));
    }
}

ISA_TEST(Im2col, RowsInPlace)
{
    std::mt19937 random(6);
    for (int i = 0; i < 5000; ++i)
    {
        const Im2col w = PickWindows(random, 9);
        ASSERT_NO_FATAL_FAILURE(CheckRowsInPlace(w, 1 + random() % 2, random));
    }
}

ISA_TEST(Im2col, PixelsInOrder)
{
    std::mt19937 random(8);
    for (int i = 0; i < 5000; ++i)
    {
        Im2col w = PickWindows(random, 2);
        w.m_DilationX = 1 + static_cast<int64_t>(random() % 3);
        ASSERT_NO_FATAL_FAILURE(CheckOrder(w, 1 + random() % 2, random() % 2 == 0, random));
    }
}

/// Counts the runs of 3x3 windows on a square output, and their pixels with possible missing taps. `more`: pixels of
/// the image after the origins of the last windows.
std::pair<size_t, size_t> CountRuns(size_t size, int64_t stride, int64_t before, const cpu::TileCosts& tiles,
                                    bool hasSplitColumns, int64_t more = 0)
{
    Im2col w;
    w.m_OutputHeight = w.m_OutputWidth = static_cast<int64_t>(size);
    w.m_InputHeight = w.m_InputWidth = w.m_OutputHeight * stride + more;
    w.m_StrideX = w.m_StrideY = stride;
    w.m_Height = w.m_Width = 3;
    w.m_Channels = w.m_GroupChannels = 1;
    w.m_PadTop = w.m_PadLeft = before;
    std::pair<size_t, size_t> counts;
    cpu::PixelOrder(w, tiles, hasSplitColumns)
        .ForEachRun(0, size * size,
                    [&](const cpu::PixelRun& run, size_t)
                    {
                        ++counts.first;
                        counts.second += run.m_LacksTaps ? run.m_Count : 0;
                    });
    return counts;
}

// Border rows and columns of 3x3 windows on 7x7 pixels miss a third of their taps.
ISA_TEST(Im2col, BordersAreApart)
{
    EXPECT_EQ(CountRuns(7, 1, 1, {12}, true), std::make_pair(size_t{9}, size_t{24}));
    EXPECT_EQ(CountRuns(7, 1, 1, {6, 1, 36}, true), std::make_pair(size_t{9}, size_t{24}));
    EXPECT_EQ(CountRuns(7, 1, 1, {12}, false), std::make_pair(size_t{3}, size_t{14}));
    EXPECT_EQ(CountRuns(7, 1, 0, {12}, true).first, size_t{9}); // taps are missing on the other side
    EXPECT_EQ(CountRuns(3, 1, 1, {12}, true), std::make_pair(size_t{1}, size_t{0}));    // too short
    EXPECT_EQ(CountRuns(7, 1, 0, {12}, true, 2), std::make_pair(size_t{1}, size_t{0})); // without padding
}

// With stride two, one row and one column of 8x8 pixels have missing taps. A separate column would leave runs of seven,
// which fit neither tiles of six nor of ten.
ISA_TEST(Im2col, BordersAreApartWhereThatPays)
{
    const cpu::TileCosts low{6, 1, 36};
    EXPECT_EQ(CountRuns(8, 2, 0, low, true), std::make_pair(size_t{2}, size_t{8}));
    EXPECT_EQ(CountRuns(8, 2, 0, {12}, true), std::make_pair(size_t{9}, size_t{15}));
    EXPECT_EQ(CountRuns(12, 1, 1, low, true), std::make_pair(size_t{3}, size_t{24}));
    EXPECT_EQ(CountRuns(14, 1, 1, low, true), std::make_pair(size_t{16}, size_t{52}));
}

// Copies of border windows are bounded by the cache, or by the smallest number of windows.
ISA_TEST(Im2col, CopiesOfCutRowsAreBounded)
{
    Im2col windows;
    windows.m_InputHeight = windows.m_InputWidth = windows.m_OutputHeight = windows.m_OutputWidth = 32;
    windows.m_Height = windows.m_Width = 31;
    windows.m_Channels = windows.m_GroupChannels = 64;
    windows.m_PadTop = windows.m_PadLeft = 15;
    const size_t windowBytes = windows.GetDepth() * sizeof(float);
    EXPECT_EQ(windows.LimitBorderWindows(480, 12, windowBytes, 128 * 1024), 12U);
    windows.m_Height = windows.m_Width = 3;
    windows.m_PadTop = windows.m_PadLeft = 1;
    EXPECT_EQ(windows.LimitBorderWindows(480, 12, windows.GetDepth() * sizeof(float), 128 * 1024), 480U);
    windows.m_OutputWidth = windows.m_InputWidth = 8;
    const size_t limited = windows.LimitBorderWindows(480, 12, windows.GetDepth() * sizeof(float), 128 * 1024);
    EXPECT_LT(limited, 480U);
    EXPECT_LE(windows.CountMaxBorderWindows(limited) * windows.GetDepth() * sizeof(float), 128U * 1024);
}

} // namespace tenon::test::im2col_test
