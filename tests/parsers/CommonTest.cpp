// SPDX-License-Identifier: Apache-2.0
// What the parsers share (src/parsers/common), whatever the format.
#include "harness/MessageOf.hpp"
#include "parsers/common/AttributeView.hpp"
#include "parsers/common/BindingTable.hpp"
#include "parsers/common/ConstantData.hpp"
#include "parsers/common/ModelFile.hpp"
#include "parsers/common/NetworkSize.hpp"
#include "parsers/common/OperatorRow.hpp"

#include <tenon/Exceptions.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tenon::test::parsers_common_test
{

namespace
{

using parsers::AttributeList;
using parsers::AttributeView;
using parsers::BindingTable;
using parsers::NetworkSize;
using testing::ElementsAre;

/// Attributes as ONNX has them: any name may be asked for.
AttributeView OpenAttributes()
{
    AttributeList list;
    list.m_IsPresent = true;
    list.m_Attributes = {{"flag", int64_t{1}, true},
                         {"text", std::string("a"), true},
                         {"texts", std::vector<std::string>{"a", "b"}, true},
                         {"reals", std::vector<double>{0.5, 1e300}, true},
                         {"wide", int64_t{1} << 40, true}};
    return {"Op", list, "attribute"};
}

TEST(ParsersCommon, AttributesOfAllKinds)
{
    const AttributeView view = OpenAttributes();
    EXPECT_EQ(view.Name(), "Op");
    EXPECT_TRUE(view.Bool("flag", false));
    EXPECT_EQ(view.Float("flag", 0.0f), 1.0f);
    EXPECT_EQ(view.Text("text"), "a");
    EXPECT_THAT(view.Texts("texts"), ElementsAre("a", "b"));
    EXPECT_THAT(view.Texts("none"), ElementsAre());
    EXPECT_EQ(view.Int("none", 7), 7);
    EXPECT_EQ(MessageOf<ParseException>([&] { view.Texts("text"); }), "attribute text is of a kind that does not fit");
    EXPECT_EQ(MessageOf<ParseException>([&] { view.Int("wide", 0); }),
              "attribute wide is 1099511627776, too large for an INT32");
    EXPECT_EQ(MessageOf<ParseException>([&] { view.Unsigned("flag", 0, 2); }),
              "attribute flag is 1, should be at least 2");
    EXPECT_EQ(MessageOf<ParseException>([&] { view.Floats("reals"); }),
              "attribute reals is 1e+300, too large for a FLOAT32");
}

TEST(ParsersCommon, BindingsHaveUniqueNames)
{
    BindingTable table;
    const TensorInfo info({2}, DataType::Float32);
    std::vector<std::string> names;
    for (const char* base : {"a", "b", "a", "a", "b_1", "b"})
    {
        const LayerBindingId id = table.NextId();
        names.push_back(table.AddName(base));
        table.AddAlias(std::string("tensor of ") + base);
        table.Set(names.back(), {id, info});
    }
    EXPECT_THAT(names, ElementsAre("a", "b", "a_1", "a_2", "b_1", "b_2"));
    EXPECT_EQ(table.Names(), names);
    EXPECT_EQ(table.Find("a_2", "input").first, 3);
    EXPECT_EQ(table.Find("tensor of a", "input").first, 0) << "the first one that has the alias";
    EXPECT_EQ(MessageOf<ParseException>([&] { table.Find("c", "output"); }),
              "the model has no output 'c'; it has 'a', 'b', 'a_1', 'a_2', 'b_1', 'b_2'");
    EXPECT_EQ(MessageOf<ParseException>([&] { BindingTable().Find("c", "input"); }),
              "the model has no input 'c'; it has none");
    EXPECT_NO_THROW(table.CheckShapes({{"a_1", TensorShape({3})}}));
    EXPECT_EQ(MessageOf<InvalidArgumentException>(
                  [&] {
                      table.CheckShapes({{"tensor of a", TensorShape({3})}});
                  }),
              "a shape is given for input 'tensor of a', which the model does not have; its inputs are 'a', 'b', "
              "'a_1', 'a_2', 'b_1', 'b_2'");
}

TEST(ParsersCommon, NetworksAreBounded)
{
    Limits limits;
    limits.m_MaxLayers = 3;
    limits.m_MaxNesting = 2;
    NetworkSize size(limits, "functions");
    for (uint64_t i = 0; i < limits.m_MaxLayers; ++i)
    {
        size.CountLayer();
    }
    EXPECT_EQ(MessageOf<ParseException>([&] { size.CountLayer(); }),
              "the network has more than 3 layers (Limits::m_MaxLayers)");
    size.CountVisit(3);
    EXPECT_EQ(MessageOf<ParseException>([&] { size.CountVisit(1); }),
              "the functions that are called have more than 3 operators and tensors together, each time counted, and "
              "long names and lists as several (Limits::m_MaxLayers)");
    for (int times = 0; times < 2; ++times)
    {
        const NetworkSize::Level outer(size);
        const NetworkSize::Level inner(size);
        EXPECT_EQ(MessageOf<ParseException>([&] { const NetworkSize::Level third(size); }),
                  "functions call each other more than 2 levels deep (Limits::m_MaxNesting)");
    }
}

struct TestOperator
{
    size_t m_Inputs;
    size_t m_Outputs;
    size_t NumInputs() const { return m_Inputs; }
    size_t NumOutputs() const { return m_Outputs; }
};
using Row = parsers::OperatorRow<TestOperator, std::string>;

TEST(ParsersCommon, RowsAreSortedAndCheckOperands)
{
    const auto add = [](const TestOperator&, std::string& builder) { builder += "+"; };
    static const Row first[] = {{"Sub", add, 2, 2, 1, 1}, {"Add", add, 2, 3, 1, Row::AnyNumber}};
    static const Row second[] = {{"Mul", add, 1, 1, 1, 1}, {"Mine", add, 1, 1, 1, 1, true}};
    const std::vector<Row> rows = parsers::JoinRows<Row>({Span<const Row>(first, 2), Span<const Row>(second, 2)},
                                                         [](const Row& row) { return !row.m_IsCustom; });
    const Span<const Row> table(rows.data(), rows.size());
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].m_Name, "Add");
    EXPECT_EQ(rows[2].m_Name, "Sub");
    EXPECT_EQ(parsers::FindRow(table, "Mine"), nullptr);
    EXPECT_EQ(parsers::FindRow(table, ""), nullptr);
    const Row* row = parsers::FindRow(table, "Add");
    ASSERT_EQ(row, &rows[0]);
    std::string built;
    parsers::AddOperator(*row, TestOperator{3, 9}, built);
    EXPECT_EQ(built, "+");
    EXPECT_EQ(MessageOf<ParseException>(
                  [&] {
                      parsers::AddOperator(*row, TestOperator{4, 1}, built);
                  }),
              "has 4 inputs, needs 2 to 3");
    EXPECT_EQ(MessageOf<ParseException>(
                  [&] {
                      parsers::AddOperator(*row, TestOperator{2, 0}, built);
                  }),
              "has 0 outputs, needs at least 1");
    EXPECT_EQ(MessageOf<ParseException>(
                  [&] {
                      parsers::AddOperator(rows[2], TestOperator{1, 1}, built);
                  }),
              "has 1 inputs, needs 2");
    EXPECT_EQ(built, "+");
}

TEST(ParsersCommon, ConstantsAreCopiedWhereKernelsCannotReadThem)
{
    alignas(8) const uint8_t bytes[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    ReadBudget budget(1U << 20);
    parsers::TensorView tensor;
    tensor.m_Info = TensorInfo({2}, DataType::Float32);
    tensor.m_Data = {bytes + 4, 8};
    parsers::Align(tensor, budget);
    EXPECT_EQ(tensor.m_Data.data(), bytes + 4);
    EXPECT_EQ(budget.Charged(), 0U);
    tensor.m_Data = {bytes + 3, 8};
    parsers::Align(tensor, budget);
    EXPECT_NE(tensor.m_Data.data(), bytes + 3);
    EXPECT_EQ(tensor.m_Data.data(), tensor.m_Owner.get());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.m_Data.data()) % 4, 0U);
    EXPECT_EQ(std::vector<uint8_t>(tensor.m_Data.begin(), tensor.m_Data.end()),
              std::vector<uint8_t>(bytes + 3, bytes + 11));
    EXPECT_EQ(budget.Charged(), 8U);
    Limits limits;
    limits.m_MaxTensorBytes = 7;
    EXPECT_EQ(MessageOf<ParseException>([&] { parsers::CheckTensorBytes(tensor.m_Info, limits); }),
              "is Float32 [2] of 8 bytes: the limit is 7 (Limits::m_MaxTensorBytes)");
    EXPECT_NO_THROW(parsers::CheckTensorBytes(TensorInfo(TensorShape(), DataType::Float32), limits));
}

TEST(ParsersCommon, ErrorsNameTheFile)
{
    EXPECT_EQ(MessageOf<InvalidArgumentException>(
                  [] { parsers::WithModelFile(nullptr, [](const std::string&) { return 0; }); }),
              "CreateNetworkFromBinaryFile: the path is null");
    EXPECT_EQ(
        MessageOf<ParseException>(
            [] { parsers::WithModelFile("a", [](const std::string&) -> int { throw ParseException("is empty"); }); }),
        "model 'a': is empty");
    EXPECT_EQ(parsers::WithModelFile("a", [](const std::string& path) { return path + "b"; }), "ab");
}

} // namespace

} // namespace tenon::test::parsers_common_test
