// SPDX-License-Identifier: Apache-2.0
// Files that list operators before the ones whose results they take: put in order, or refused with the operators that
// wait for each other.
#include "parsers/ModelRun.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::test::operator_order_test
{

namespace
{

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

using Op = schema::BuiltinOperator;
using Type = schema::TensorType;

std::vector<float> RunOne(const ModelBuilder& model, const std::vector<float>& in)
{
    const TensorShape shape({static_cast<unsigned int>(in.size())});
    return ModelRun(model).Run({Data::Of<float>(shape, in)}).at(0).As<float>();
}

std::vector<std::string> NamesOf(const Parsed& parsed)
{
    std::vector<std::string> names;
    for (const IConnectableLayer* layer : parsed.Find(LayerType::ElementwiseUnary))
    {
        names.emplace_back(layer->GetName());
    }
    return names;
}

int32_t AddHandle(ModelBuilder& model)
{
    schema::VarHandleOptionsT options;
    options.shared_name = "total";
    const int32_t handle = model.AddTensor("handle", {}, Type::RESOURCE);
    model.AddOperator(Op::VAR_HANDLE, {}, {handle}, options);
    return handle;
}

} // namespace

TEST(OperatorOrder, ResultsComeBeforeTheirReaders)
{
    ModelBuilder model;
    const int32_t in = model.AddInput("in", {2});
    const int32_t negative = model.AddTensor("negative", {2});
    const int32_t square = model.AddTensor("square", {2});
    const int32_t out = model.AddOutput("out", {2});
    model.AddOperator(Op::ABS, {square}, {out});
    model.AddOperator(Op::SQUARE, {negative}, {square});
    model.AddOperator(Op::COS, {in}, {model.AddTensor("other", {2})});
    model.AddOperator(Op::NEG, {in}, {negative});
    EXPECT_THAT(RunOne(model, {-3, 4}), ElementsAre(9, 16));
    // Names tell the places in the file.
    EXPECT_THAT(NamesOf(Parsed(model)), ElementsAre("COS:2", "NEG:3", "ABS:0"));
}

TEST(OperatorOrder, AListInOrderStaysAsItIs)
{
    ModelBuilder model;
    const int32_t in = model.AddInput("in", {2});
    const int32_t late = model.AddTensor("late", {2});
    model.AddOperator(Op::NEG, {in}, {late});
    model.AddOperator(Op::COS, {in}, {model.AddTensor("other", {2})});
    model.AddOperator(Op::ABS, {late}, {model.AddOutput("out", {2})});
    EXPECT_THAT(NamesOf(Parsed(model)), ElementsAre("NEG:0", "COS:1", "ABS:2"));
}

TEST(OperatorOrder, CalledSubgraphsAreOrderedToo)
{
    ModelBuilder model;
    const int32_t called = model.AddSubgraph("called");
    {
        const int32_t in = model.AddInput("in", {2});
        const int32_t between = model.AddTensor("between", {2});
        model.AddOperator(Op::ABS, {between}, {model.AddOutput("out", {2})});
        model.AddOperator(Op::NEG, {in}, {between});
    }
    model.Select(0);
    schema::CallOptionsT call;
    call.subgraph = static_cast<uint32_t>(called);
    schema::IfOptionsT branch;
    branch.then_subgraph_index = branch.else_subgraph_index = called;
    const int32_t in = model.AddInput("in", {2});
    const int32_t between = model.AddTensor("between", {2});
    const int32_t condition = model.AddConstant<uint8_t>("condition", {1}, {1}, Type::BOOL);
    model.AddOperator(Op::IF, {condition, between}, {model.AddOutput("out", {2})}, branch);
    model.AddOperator(Op::CALL, {in}, {between}, call);
    EXPECT_THAT(RunOne(model, {-3, 4}), ElementsAre(3, 4));
}

TEST(OperatorOrder, VariablesKeepTheOrderOfTheList)
{
    // total is read, increased and read again; the constant sum that is assigned comes last in the file.
    ModelBuilder model;
    const int32_t in = model.AddInput("in", {2});
    const int32_t handle = AddHandle(model);
    const int32_t before = model.AddTensor("before", {2});
    const int32_t sum = model.AddTensor("sum", {2});
    const int32_t after = model.AddTensor("after", {2});
    model.AddOperator(Op::READ_VARIABLE, {handle}, {before});
    model.AddOperator(Op::ASSIGN_VARIABLE, {handle, sum}, {});
    model.AddOperator(Op::READ_VARIABLE, {handle}, {after});
    model.AddOperator(Op::SUB, {after, before}, {model.AddOutput("out", {2})}, schema::SubOptionsT());
    model.AddOperator(Op::ADD, {before, in}, {sum}, schema::AddOptionsT());
    ModelRun run(model);
    for (int i = 0; i < 2; ++i)
    {
        EXPECT_THAT(run.Run({Data::Of<float>({2}, {5, 7})}).at(0).As<float>(), ElementsAre(5, 7));
    }
}

// A composite is its decomposition, which assigns the variable before it is read.
TEST(OperatorOrder, VariablesOfCompositesKeepTheOrderOfTheList)
{
    ModelBuilder model;
    const int32_t decomposition = model.AddSubgraph("decomposition");
    {
        const int32_t in = model.AddInput("in", {2});
        model.AddOperator(Op::ASSIGN_VARIABLE, {AddHandle(model), in}, {});
        model.AddOperator(Op::ABS, {in}, {model.AddOutput("out", {2})});
    }
    model.Select(0);
    const int32_t in = model.AddInput("in", {2});
    const int32_t negative = model.AddTensor("negative", {2});
    const int32_t magnitude = model.AddTensor("magnitude", {2});
    const int32_t read = model.AddTensor("read", {2});
    const int32_t handle = AddHandle(model);
    schema::StableHLOCompositeOptionsT options;
    options.decomposition_subgraph_index = decomposition;
    model.AddOperator(Op::STABLEHLO_COMPOSITE, {negative}, {magnitude}).builtin_options_2.Set(std::move(options));
    model.AddOperator(Op::READ_VARIABLE, {handle}, {read});
    model.AddOperator(Op::SUB, {magnitude, read}, {model.AddOutput("out", {2})}, schema::SubOptionsT());
    model.AddOperator(Op::NEG, {in}, {negative});
    EXPECT_THAT(RunOne(model, {-3, 4}), ElementsAre(0, 8)); // |x| + x
}

// Operators may share one table, and so one list: walking all lists would take far longer than the file is long.
TEST(OperatorOrder, ListsThatAreSharedByManyOperatorsAreRefused)
{
    for (const bool isInputList : {true, false})
    {
        flatbuffers::FlatBufferBuilder file;
        const auto shape = file.CreateVector(std::vector<int32_t>{1});
        const auto name = file.CreateString("t");
        const auto tensor = schema::CreateTensor(file, shape, Type::FLOAT32, 0, name);
        const auto tensors = file.CreateVector(std::vector<flatbuffers::Offset<schema::Tensor>>{tensor, tensor});
        const auto ends = file.CreateVector(std::vector<int32_t>{0});
        const auto result = file.CreateVector(std::vector<int32_t>{1});
        const auto longList = file.CreateVector(std::vector<int32_t>(1'000'000, isInputList ? 0 : 1));
        const auto op = schema::CreateOperator(file, 0, isInputList ? longList : ends, isInputList ? result : longList);
        const auto ops = file.CreateVector(std::vector<flatbuffers::Offset<schema::Operator>>(1'000'000, op));
        const auto graph = schema::CreateSubGraph(file, tensors, ends, result, ops);
        const auto graphs = file.CreateVector(std::vector<flatbuffers::Offset<schema::SubGraph>>{graph});
        const auto code = schema::CreateOperatorCode(file, 106, 0, 1, Op::ADD_N);
        const auto codes = file.CreateVector(std::vector<flatbuffers::Offset<schema::OperatorCode>>{code});
        const auto buffers =
            file.CreateVector(std::vector<flatbuffers::Offset<schema::Buffer>>{schema::CreateBuffer(file)});
        file.Finish(schema::CreateModel(file, 3, codes, graphs, 0, buffers), "TFL3");
        const std::vector<uint8_t> bytes(file.GetBufferPointer(), file.GetBufferPointer() + file.GetSize());
        EXPECT_THROW(ITfLiteParser::Create()->CreateNetworkFromBinary(bytes), ParseException);
    }
}

TEST(OperatorOrder, CyclesAreRefused)
{
    ModelBuilder cycle;
    const int32_t in = cycle.AddInput("in", {2});
    const int32_t a = cycle.AddTensor("a", {2});
    const int32_t b = cycle.AddTensor("b", {2});
    cycle.AddOperator(Op::NEG, {in}, {cycle.AddOutput("out", {2})});
    cycle.AddOperator(Op::ADD, {in, b}, {a}, schema::AddOptionsT());
    cycle.AddOperator(Op::ABS, {a}, {b});
    const std::string error = ErrorOf<ParseException>(cycle);
    EXPECT_THAT(error, HasSubstr("subgraph 0"));
    EXPECT_THAT(error, HasSubstr("the operators form a cycle of 2: 1 ADD needs 2 ABS needs 1 ADD"));

    ModelBuilder itself;
    const int32_t own = itself.AddOutput("own", {2});
    itself.AddOperator(Op::NEG, {own}, {own});
    EXPECT_THAT(ErrorOf<ParseException>(itself), HasSubstr("the operators form a cycle of 1: 0 NEG needs 0 NEG"));

    // Results ask for an order that variables forbid: what is assigned follows from what is read behind it.
    ModelBuilder variable;
    variable.AddInput("in", {2});
    const int32_t handle = AddHandle(variable);
    const int32_t read = variable.AddOutput("read", {2});
    const int32_t negative = variable.AddTensor("negative", {2});
    variable.AddOperator(Op::ASSIGN_VARIABLE, {handle, negative}, {});
    variable.AddOperator(Op::READ_VARIABLE, {handle}, {read});
    variable.AddOperator(Op::NEG, {read}, {negative});
    EXPECT_THAT(ErrorOf<ParseException>(variable),
                HasSubstr("operators that use variables run in the order of the list"));

    // Only some of many are named.
    ModelBuilder large;
    std::vector<int32_t> tensors;
    for (int i = 0; i < 40; ++i)
    {
        tensors.push_back(large.AddTensor("", {2}));
    }
    for (size_t i = 0; i < tensors.size(); ++i)
    {
        large.AddOperator(Op::NEG, {tensors[i]}, {tensors[(i + 1) % tensors.size()]});
    }
    const std::string shortened = ErrorOf<ParseException>(large);
    EXPECT_THAT(shortened, AllOf(HasSubstr("a cycle of 40: 0 NEG"), HasSubstr("32 NEG ...; the file is invalid")));
    EXPECT_LT(shortened.size(), 400u);
}

} // namespace tenon::test::operator_order_test
