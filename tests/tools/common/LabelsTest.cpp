// SPDX-License-Identifier: Apache-2.0
// The classes that a network names, and outputs as text.
#include "tools/common/Labels.hpp"

#include "tools/common/Elements.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/OutputStore.hpp"
#include "tools/harness/Expect.hpp"
#include "tools/harness/TempFolder.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace tenon::tools
{
namespace
{

OutputData MakeOutput(const TensorInfo& info, const std::vector<double>& values)
{
    OutputData output{info, Buffer(info.GetNumBytes())};
    for (size_t i = 0; i < values.size(); ++i)
    {
        SetElement(info.GetDataType(), output.m_Data.Data(), i, values[i]);
    }
    return output;
}

TEST(Labels, FilesHaveOneALine)
{
    const test::TempFolder folder;
    EXPECT_EQ(ReadLabels(folder.Write("l.txt", "cat\r\n\ndog, wet\n")),
              (std::vector<std::string>{"cat", "", "dog, wet"}));
    EXPECT_EQ(ReadLabels(folder.Write("l.txt", "cat\ndog")), (std::vector<std::string>{"cat", "dog"}));
    EXPECT_TRUE(ReadLabels(folder.Write("l.txt", "")).empty());
    const std::vector<std::string> two = {"cat", "dog"};
    EXPECT_EQ(ReadLabels(folder.Write("l.txt", "\xEF\xBB\xBF"
                                               "cat\r\ndog\r\n\r\n")),
              two)
        << "of a Windows editor";
    EXPECT_EQ(ReadLabels(folder.Write("l.txt", "cat\n dog \n\n \n")), two);
    EXPECT_EQ(ReadLabels(folder.Write("l.txt", "cat\rdog\r")), two) << "of an old Macintosh";
    EXPECT_TRUE(ReadLabels(folder.Write("l.txt", "\xEF\xBB\xBF")).empty());
    EXPECT_THROW_WITH(ReadLabels(folder.Path("none.txt")), InputError, "none.txt");
}

TEST(Labels, OtherEncodingsAreRefused)
{
    using namespace std::string_literals;
    const test::TempFolder folder;
    for (const std::string& content : {"\xFF\xFE"
                                       "c\0a\0"s,
                                       "\xFE\xFF\0c\0a"s, "\0\0\xFE\xFF\0\0\0c"s})
    {
        const std::string path = folder.Write("l.txt", content);
        EXPECT_THROW_WITH(ReadLabels(path), InputError, "label file '" + path + "': it is text in UTF-16 or UTF-32");
        EXPECT_THROW_WITH(ReadLabels(path), InputError, "save it as UTF-8");
    }
    EXPECT_THROW_WITH(ReadLabels(folder.Write("l.txt", "cat\nd\0o\0"s)), InputError, "line 2 has a byte of zero");
}

TEST(Labels, AnotherCountThanOfClassesIsRemarked)
{
    const OutputData output = MakeOutput(TensorInfo({1, 3}, DataType::Float32), {0.1, 0.7, 0.2});
    const std::vector<NamedOutput> scores = {{"scores", &output}};
    EXPECT_EQ(DescribeOtherCount(scores, {"cat", "dog", "cow"}), "");
    EXPECT_NE(DescribeOtherCount(scores, {"cat"}).find("1 labels for 3 classes"), std::string::npos);
    EXPECT_NE(DescribeOtherCount(scores, {}).find("0 labels for 3 classes"), std::string::npos);
    const std::vector<std::string> four(4, "cat");
    EXPECT_NE(DescribeOtherCount(scores, four).find("4 labels for 3 classes"), std::string::npos);
    const OutputData pixels = MakeOutput(TensorInfo({1, 8, 8, 2}, DataType::QAsymmU8), {});
    EXPECT_EQ(DescribeOtherCount({{"mask", &pixels}}, {"cat"}), "") << "has no table";
    EXPECT_EQ(DescribeOtherCount({}, {"cat"}), "");
}

TEST(Labels, OneOutputWithAsManyClassesIsEnough)
{
    const OutputData boxes = MakeOutput(TensorInfo({1, 2, 4}, DataType::Float32), {1, 2, 3, 4, 5, 6, 7, 8});
    const OutputData scores = MakeOutput(TensorInfo({1, 3}, DataType::Float32), {0.1, 0.7, 0.2});
    const OutputData pixels = MakeOutput(TensorInfo({1, 8, 8, 2}, DataType::QAsymmU8), {});
    const std::vector<NamedOutput> outputs = {{"boxes", &boxes}, {"mask", &pixels}, {"scores", &scores}};
    EXPECT_EQ(DescribeOtherCount(outputs, {"cat", "dog", "cow"}), "");
    EXPECT_EQ(
        DescribeOtherCount(outputs, {"cat"}),
        "there are 1 labels for 4 classes in output 'boxes', 3 classes in output 'scores', so names may belong to "
        "other classes: line i of the file names class i, counted from 0");
}

TEST(Labels, BestFirstEqualOnesInOrderNanLast)
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const OutputData output = MakeOutput(TensorInfo({1, 5}, DataType::Float32), {0.25, nan, 0.5, 0.25, 0.75});
    const std::vector<RankedClass> ranked = RankClasses(output, 0, 10);
    std::vector<size_t> order;
    for (const RankedClass& ranking : ranked)
    {
        order.push_back(ranking.m_Index);
    }
    EXPECT_EQ(order, (std::vector<size_t>{4, 2, 0, 3, 1}));
    EXPECT_EQ(RankClasses(output, 0, 2).size(), 2U);
}

TEST(Labels, ScoresAreDequantized)
{
    const OutputData output = MakeOutput(TensorInfo({2, 3}, DataType::QAsymmS8, 0.5f, -10), {-10, -8, -9, 0, 1, 2});
    EXPECT_EQ(RankClasses(output, 0, 1)[0].m_Score, 1.0);
    EXPECT_EQ(RankClasses(output, 0, 1)[0].m_Index, 1U);
    EXPECT_EQ(RankClasses(output, 1, 1)[0].m_Score, 6.0);
}

TEST(Labels, TablesNameTheClasses)
{
    const OutputData output = MakeOutput(TensorInfo({1, 3}, DataType::Float32), {0.1, 0.7, 0.2});
    const std::string table = FormatTopK(output, "scores", {"cat", "dog", "cow"}, 2);
    EXPECT_LT(table.find("dog"), table.find("cow"));
    EXPECT_EQ(table.find("cat"), std::string::npos);
}

TEST(Labels, WhatIsNoListOfScoresHasNoTable)
{
    const OutputData scalar = MakeOutput(TensorInfo(TensorShape(Dimensionality::Scalar), DataType::Float32), {1});
    const OutputData empty = MakeOutput(TensorInfo({1, 0}, DataType::Float32), {});
    const OutputData pixels = MakeOutput(TensorInfo({1, 8, 8, 2}, DataType::QAsymmU8), {});
    for (const OutputData* output : {&scalar, &empty, &pixels})
    {
        EXPECT_NE(FormatTopK(*output, "x", {}, 2).find("no list of scores"), std::string::npos);
    }
}

TEST(OutputStore, MemoryIsKeptWhileItIsLargeEnough)
{
    OutputStore store;
    const OutputAllocator allocate = store.GetAllocator();
    void* first = allocate(7, TensorInfo({4}, DataType::Float32));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0U);
    EXPECT_EQ(allocate(7, TensorInfo({3}, DataType::Float32)), first);
    EXPECT_EQ(store.Get(7).m_Info.GetShape(), TensorShape({3}));
    allocate(7, TensorInfo({400}, DataType::Float32));
    EXPECT_GE(store.Get(7).m_Data.Size(), 1600U);
    EXPECT_NE(allocate(8, TensorInfo({0}, DataType::Float32)), nullptr);
    EXPECT_THROW(store.Get(9), RunError);
}

TEST(OutputStore, LongTensorsAreCutShort)
{
    const OutputData output = MakeOutput(TensorInfo({1, 4}, DataType::QAsymmS8, 0.5f), {1, -2, 3, 4});
    EXPECT_EQ(FormatValues(output, 4), "1 -2 3 4");
    EXPECT_EQ(FormatValues(output, 2), "1 -2 … (4 values)");
    EXPECT_EQ(FormatValues(MakeOutput(TensorInfo({0}, DataType::Float32), {}), 2), "(no values)");
}

} // namespace
} // namespace tenon::tools
