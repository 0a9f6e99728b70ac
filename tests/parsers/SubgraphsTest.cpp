// SPDX-License-Identifier: Apache-2.0
// Models with several subgraphs: branches, loops, calls, initializers, variables that reach into them, signatures; and
// what is refused.
#include "parsers/ModelBuilder.hpp"

#include <tenon/Tenon.hpp>

#include <gmock/gmock.h>

namespace tenon::test::subgraphs_test
{

using testing::HasSubstr;

namespace
{

using Op = schema::BuiltinOperator;
using Type = schema::TensorType;
using Names = std::vector<std::string>;
using Floats = std::vector<float>;

/// A loaded network with one Float32 output.
class Loaded
{
public:
    explicit Loaded(const ModelBuilder& model, const ITfLiteParser::TfLiteParserOptions& options = {})
        : m_Runtime(IRuntime::Create({}))
    {
        Parsed parsed(model, options);
        OptimizerOptionsOpaque optimizer;
        optimizer.SetShapeInferenceMethod(ShapeInferenceMethod::InferAndValidate);
        m_Runtime->LoadNetwork(m_Id, Optimize(*parsed.m_Network, {"CpuRef"}, m_Runtime->GetDeviceSpec(), optimizer));
    }

    Floats Run(std::vector<Floats> inputs, std::vector<uint8_t> flags = {})
    {
        InputTensors tensors;
        for (uint8_t& flag : flags)
        {
            const TensorInfo info({1}, DataType::Boolean, 0.0f, 0, true);
            tensors.emplace_back(static_cast<LayerBindingId>(tensors.size()), ConstTensor(info, &flag));
        }
        for (Floats& input : inputs)
        {
            const TensorInfo info({static_cast<unsigned int>(input.size())}, DataType::Float32, 0.0f, 0, true);
            tensors.emplace_back(static_cast<LayerBindingId>(tensors.size()), ConstTensor(info, input.data()));
        }
        Floats result;
        m_Runtime->EnqueueWorkload(m_Id, tensors,
                                   [&](LayerBindingId, const TensorInfo& info)
                                   {
                                       result.resize(info.GetNumElements());
                                       return result.data();
                                   });
        return result;
    }

    void Reset() { m_Runtime->ResetStates(m_Id); }

private:
    IRuntimePtr m_Runtime;
    NetworkId m_Id = 0;
};

int32_t AddFloat(ModelBuilder& model, const std::string& name, float value)
{
    return model.AddConstant<float>(name, {1}, {value}, Type::FLOAT32);
}

/// A subgraph out = in (code) operand.
int32_t AddArithmetic(ModelBuilder& model, const std::string& name, Op code, float operand)
{
    const int32_t graph = model.AddSubgraph(name);
    const int32_t in = model.AddInput("in", {2});
    const int32_t constant = AddFloat(model, "operand", operand);
    model.AddOperator(code, {in, constant}, {model.AddOutput("out", {2})});
    return graph;
}

void AddIf(ModelBuilder& model, std::vector<int32_t> inputs, std::vector<int32_t> outputs, int32_t thenGraph,
           int32_t elseGraph)
{
    schema::IfOptionsT options;
    options.then_subgraph_index = thenGraph;
    options.else_subgraph_index = elseGraph;
    model.AddOperator(Op::IF, std::move(inputs), std::move(outputs), options);
}

int32_t AddHandle(ModelBuilder& model, const std::string& name)
{
    schema::VarHandleOptionsT options;
    options.shared_name = name;
    const int32_t handle = model.AddTensor("handle of " + name, {}, Type::RESOURCE);
    model.AddOperator(Op::VAR_HANDLE, {}, {handle}, options);
    return handle;
}

/// variable += in, in the current subgraph; returns the sum.
int32_t AddAccumulation(ModelBuilder& model, int32_t handle, int32_t in)
{
    const int32_t old = model.AddTensor("old", {2});
    const int32_t sum = model.AddTensor("sum", {2});
    model.AddOperator(Op::READ_VARIABLE, {handle}, {old});
    model.AddOperator(Op::ADD, {old, in}, {sum});
    model.AddOperator(Op::ASSIGN_VARIABLE, {handle, sum}, {});
    return sum;
}

/// A subgraph that assigns {10, 20} to the variable "total".
int32_t AddInitializer(ModelBuilder& model)
{
    const int32_t graph = model.AddSubgraph("init");
    const int32_t handle = AddHandle(model, "total");
    const int32_t initial = model.AddConstant<float>("initial", {2}, {10.0f, 20.0f}, Type::FLOAT32);
    model.AddOperator(Op::ASSIGN_VARIABLE, {handle, initial}, {});
    return graph;
}

void AddCallOnce(ModelBuilder& model, int32_t graph)
{
    schema::CallOnceOptionsT options;
    options.init_subgraph_index = graph;
    model.AddOperator(Op::CALL_ONCE, {}, {}, options);
}

/// A signature named "abs" for a model of one operator: gives it names of the input and the output.
void AddSignature(ModelBuilder& model, const std::vector<const char*>& inputs, const std::vector<const char*>& outputs)
{
    auto signature = std::make_unique<schema::SignatureDefT>();
    signature->signature_key = "abs";
    const auto add = [](auto& maps, const char* name, int32_t tensor)
    {
        maps.push_back(std::make_unique<schema::TensorMapT>());
        maps.back()->name = name;
        maps.back()->tensor_index = static_cast<uint32_t>(tensor);
    };
    for (const char* name : inputs)
    {
        add(signature->inputs, name, model.Graph().inputs.front());
    }
    for (const char* name : outputs)
    {
        add(signature->outputs, name, model.Graph().outputs.front());
    }
    model.Model().signature_defs.push_back(std::move(signature));
}

} // namespace

TEST(Subgraphs, IfRunsOneOfTwo)
{
    ModelBuilder model;
    const int32_t add = AddArithmetic(model, "add", Op::ADD, 10);
    const int32_t multiply = AddArithmetic(model, "multiply", Op::MUL, 3);
    model.Select(0);
    const int32_t condition = model.AddInput("condition", {1}, Type::BOOL);
    const int32_t in = model.AddInput("in", {2});
    AddIf(model, {condition, in}, {model.AddOutput("out", {2})}, add, multiply);
    Loaded loaded(model);
    EXPECT_EQ(loaded.Run({{1, 2}}, {1}), (Floats{11, 12}));
    EXPECT_EQ(loaded.Run({{1, 2}}, {0}), (Floats{3, 6}));
}

TEST(Subgraphs, WhileLoops)
{
    ModelBuilder model;
    const int32_t condition = model.AddSubgraph("condition");
    {
        const int32_t count = model.AddInput("count", {1});
        model.AddInput("values", {2});
        const int32_t left = model.AddTensor("left", {1});
        model.AddOperator(Op::SUB, {AddFloat(model, "end", 3), count}, {left});
        const int32_t positive = model.AddTensor("positive", {1});
        model.AddOperator(Op::RELU, {left}, {positive});
        model.AddOperator(Op::CAST, {positive}, {model.AddOutput("goes on", {1}, Type::BOOL)});
    }
    const int32_t body = model.AddSubgraph("body");
    {
        const int32_t count = model.AddInput("count", {1});
        const int32_t values = model.AddInput("values", {2});
        model.AddOperator(Op::ADD, {count, AddFloat(model, "one", 1)}, {model.AddOutput("next", {1})});
        model.AddOperator(Op::ADD, {values, values}, {model.AddOutput("twice", {2})});
    }
    model.Select(0);
    const int32_t in = model.AddInput("in", {2});
    schema::WhileOptionsT options;
    options.cond_subgraph_index = condition;
    options.body_subgraph_index = body;
    const int32_t start = AddFloat(model, "start", 0);
    const int32_t count = model.AddTensor("turns", {1});
    model.AddOperator(Op::WHILE, {start, in}, {count, model.AddOutput("out", {2})}, options);
    Loaded loaded(model);
    EXPECT_EQ(loaded.Run({{1, 2}}), (Floats{8, 16}));
}

TEST(Subgraphs, TheFirstElementOfAConditionCounts)
{
    // Goes on while count < [3, 100]; with `reversed`, while count < [100, 3].
    for (const bool reversed : {false, true})
    {
        ModelBuilder model;
        const int32_t condition = model.AddSubgraph("condition");
        {
            const int32_t count = model.AddInput("count", {1});
            const int32_t bounds =
                model.AddConstant<float>("bounds", {2}, reversed ? Floats{5, 3} : Floats{3, 5}, Type::FLOAT32);
            model.AddOperator(Op::LESS, {count, bounds}, {model.AddOutput("goes on", {2}, Type::BOOL)});
        }
        const int32_t body = model.AddSubgraph("body");
        {
            const int32_t count = model.AddInput("count", {1});
            model.AddOperator(Op::ADD, {count, AddFloat(model, "one", 1)}, {model.AddOutput("next", {1})});
        }
        model.Select(0);
        schema::WhileOptionsT options;
        options.cond_subgraph_index = condition;
        options.body_subgraph_index = body;
        model.AddOperator(Op::WHILE, {model.AddInput("in", {1})}, {model.AddOutput("out", {1})}, options);
        EXPECT_EQ(Loaded(model).Run({{0}}), Floats{reversed ? 5.0f : 3.0f});
    }
}

TEST(Subgraphs, AConditionWithoutElementsIsRefused)
{
    ModelBuilder model;
    const int32_t condition = model.AddSubgraph("condition");
    {
        const int32_t count = model.AddInput("count", {1});
        const int32_t none = model.AddConstant<float>("none", {0}, {}, Type::FLOAT32);
        model.AddOperator(Op::LESS, {count, none}, {model.AddOutput("goes on", {0}, Type::BOOL)});
    }
    const int32_t body = model.AddSubgraph("body");
    {
        const int32_t count = model.AddInput("count", {1});
        model.AddOperator(Op::ADD, {count, AddFloat(model, "one", 1)}, {model.AddOutput("next", {1})});
    }
    model.Select(0);
    schema::WhileOptionsT options;
    options.cond_subgraph_index = condition;
    options.body_subgraph_index = body;
    model.AddOperator(Op::WHILE, {model.AddInput("in", {1})}, {model.AddOutput("out", {1})}, options);
    Loaded loaded(model);
    EXPECT_THROW(loaded.Run({{0}}), RuntimeException);
}

TEST(Subgraphs, OfAnInputListedTwiceTheLastValueCounts)
{
    // called(a, a, b) = a - b
    ModelBuilder model;
    const int32_t called = model.AddSubgraph("called");
    {
        const int32_t a = model.AddInput("a", {2});
        model.Graph().inputs.push_back(a);
        const int32_t b = model.AddInput("b", {2});
        model.AddOperator(Op::SUB, {a, b}, {model.AddOutput("out", {2})});
    }
    model.Select(0);
    const int32_t first = model.AddInput("first", {2});
    const int32_t second = model.AddInput("second", {2});
    const int32_t third = model.AddInput("third", {2});
    const int32_t difference = model.AddTensor("difference", {2});
    schema::CallOptionsT call;
    call.subgraph = static_cast<uint32_t>(called);
    model.AddOperator(Op::CALL, {first, second, third}, {difference}, call);
    const int32_t condition = model.AddConstant<uint8_t>("condition", {1}, {1}, Type::BOOL);
    AddIf(model, {condition, first, difference, second}, {model.AddOutput("out", {2})}, called, called);
    // (second - third) - second
    EXPECT_EQ(Loaded(model).Run({{1, 2}, {10, 30}, {5, 6}}), (Floats{-5, -6}));
}

TEST(Subgraphs, CallsAreInlined)
{
    ModelBuilder model;
    const int32_t add = AddArithmetic(model, "add", Op::ADD, 10);
    model.Select(0);
    const int32_t in = model.AddInput("in", {2});
    const int32_t between = model.AddTensor("between", {2});
    schema::CallOptionsT options;
    options.subgraph = static_cast<uint32_t>(add);
    model.AddOperator(Op::CALL, {in}, {between}, options);
    model.AddOperator(Op::CALL, {between}, {model.AddOutput("out", {2})}, options);
    Loaded loaded(model);
    EXPECT_EQ(loaded.Run({{1, 2}}), (Floats{21, 22}));
}

TEST(Subgraphs, OneIsCalledHundredsOfTimes)
{
    ModelBuilder model;
    const int32_t add = model.AddSubgraph("add");
    {
        int32_t value = model.AddInput("in", {2});
        for (int i = 0; i < 20; ++i)
        {
            const int32_t sum =
                model.AddTensor("a name as long as converters make them, number " + std::to_string(i), {2});
            model.AddOperator(Op::ADD, {value, AddFloat(model, "one", 1)}, {sum});
            value = sum;
        }
        model.Graph().outputs.push_back(value);
    }
    model.Select(0);
    int32_t value = model.AddInput("in", {2});
    const int32_t condition = model.AddInput("condition", {1}, Type::BOOL);
    schema::CallOptionsT options;
    options.subgraph = static_cast<uint32_t>(add);
    constexpr int calls = 500;
    for (int i = 0; i < calls; ++i)
    {
        const int32_t next = model.AddTensor("next", {2});
        model.AddOperator(Op::CALL, {value}, {next}, options);
        value = next;
    }
    AddIf(model, {condition, value}, {model.AddOutput("out", {2})}, add, add);
    const Parsed parsed(model);
    EXPECT_EQ(parsed.Find(LayerType::ElementwiseBinary).size(), size_t{20 * calls});
}

TEST(Subgraphs, CopiesOfLongNamesAreBounded)
{
    // Each call makes a layer of the same long name, once as an operator's, once as a constant's, once as a variable's.
    const std::string name(1000000, 'x');
    for (const int kind : {0, 1, 2})
    {
        ModelBuilder model;
        const int32_t called = model.AddSubgraph("called");
        const int32_t in = model.AddInput("in", {2});
        const int32_t out = model.AddOutput("out", {2});
        int32_t handle = -1;
        if (kind == 0)
        {
            model.AddOperator(Op::CUSTOM, {in}, {out});
            model.Model().operator_codes.back()->custom_code = name;
        }
        else if (kind == 1)
        {
            model.AddOperator(Op::ADD, {in, AddFloat(model, name, 1)}, {out});
        }
        else
        {
            handle = model.AddInput("handle", {}, Type::RESOURCE);
            model.AddOperator(Op::READ_VARIABLE, {handle}, {out});
        }
        model.Select(0);
        const int32_t value = model.AddInput("in", {2});
        const int32_t condition = model.AddInput("condition", {1}, Type::BOOL);
        std::vector<int32_t> operands = {condition, value};
        if (kind == 2)
        {
            operands.push_back(AddHandle(model, name));
        }
        for (int i = 0; i < 1000; ++i)
        {
            AddIf(model, operands, {model.AddTensor("out", {2})}, called, called);
        }
        EXPECT_THAT(ErrorOf<ParseException>(model), HasSubstr("m_MaxLayers")) << kind;
    }
}

TEST(Subgraphs, VariablesKeepTheirValuesAndStartWhereTheInitializerSays)
{
    ModelBuilder model;
    const int32_t init = AddInitializer(model);
    model.Select(0);
    AddCallOnce(model, init);
    const int32_t in = model.AddInput("in", {2});
    model.Graph().outputs.push_back(AddAccumulation(model, AddHandle(model, "total"), in));
    Loaded loaded(model);
    EXPECT_EQ(loaded.Run({{1, 2}}), (Floats{11, 22}));
    EXPECT_EQ(loaded.Run({{1, 2}}), (Floats{12, 24}));
    loaded.Reset();
    EXPECT_EQ(loaded.Run({{1, 2}}), (Floats{11, 22}));
}

TEST(Subgraphs, BranchesReachVariables)
{
    ModelBuilder model;
    const int32_t init = AddInitializer(model);
    // One branch assigns through a handle of its own, the other through one that is passed to it and does nothing.
    const int32_t accumulate = model.AddSubgraph("accumulate");
    {
        const int32_t in = model.AddInput("in", {2});
        model.AddInput("handle", {}, Type::RESOURCE);
        model.Graph().outputs.push_back(AddAccumulation(model, AddHandle(model, "total"), in));
    }
    const int32_t read = model.AddSubgraph("read");
    {
        model.AddInput("in", {2});
        const int32_t handle = model.AddInput("handle", {}, Type::RESOURCE);
        model.AddOperator(Op::READ_VARIABLE, {handle}, {model.AddOutput("out", {2})});
    }
    model.Select(0);
    AddCallOnce(model, init);
    const int32_t condition = model.AddInput("condition", {1}, Type::BOOL);
    const int32_t in = model.AddInput("in", {2});
    AddIf(model, {condition, in, AddHandle(model, "total")}, {model.AddOutput("out", {2})}, accumulate, read);
    Loaded loaded(model);
    EXPECT_EQ(loaded.Run({{1, 2}}, {0}), (Floats{10, 20}));
    EXPECT_EQ(loaded.Run({{1, 2}}, {1}), (Floats{11, 22}));
    EXPECT_EQ(loaded.Run({{5, 5}}, {0}), (Floats{11, 22}));
}

TEST(Subgraphs, SignaturesNameInputsAndOutputs)
{
    ModelBuilder model;
    const int32_t add = AddArithmetic(model, "add", Op::ADD, 10);
    model.Select(0);
    const int32_t in = model.AddInput("in", {2});
    model.AddOperator(Op::ABS, {in}, {model.AddOutput("out", {2})});
    auto signature = std::make_unique<schema::SignatureDefT>();
    signature->signature_key = "sum";
    signature->subgraph_index = static_cast<uint32_t>(add);
    signature->inputs.push_back(std::make_unique<schema::TensorMapT>());
    signature->inputs.back()->name = "x";
    signature->inputs.back()->tensor_index = 0;
    model.Model().signature_defs.push_back(std::move(signature));

    ITfLiteParser::TfLiteParserOptions options;
    options.m_Signature = "sum";
    Loaded loaded(model, options);
    EXPECT_EQ(loaded.Run({{1, 2}}), (Floats{11, 12}));
    Parsed parsed(model, options);
    EXPECT_EQ(parsed.m_Parser->GetSignatureNames(), std::vector<std::string>{"sum"});
    EXPECT_EQ(parsed.m_Parser->GetNetworkSubgraph(), static_cast<size_t>(add));
    EXPECT_EQ(parsed.m_Parser->GetSubgraphInputTensorNames(1), std::vector<std::string>{"x"});
    EXPECT_EQ(parsed.m_Parser->GetNetworkInputBindingInfo(1, "x").first, 0);
    EXPECT_EQ(parsed.m_Parser->GetNetworkInputBindingInfo(1, "in").first, 0) << "by the tensor's name, too";
    EXPECT_THROW(parsed.m_Parser->GetNetworkInputBindingInfo(0, "in"), ParseException);

    options.m_Signature = "difference";
    EXPECT_THAT(ErrorOf<InvalidArgumentException>(model, options), HasSubstr("its signatures are 'sum'"));
    options.m_Signature.clear();
    options.m_Subgraph = 1;
    Loaded chosen(model, options);
    EXPECT_EQ(chosen.Run({{1, 2}}), (Floats{11, 12}));
    options.m_Subgraph = 7;
    EXPECT_THAT(ErrorOf<InvalidArgumentException>(model, options),
                HasSubstr("no subgraph 7; it has 2 of them, and its signatures are 'sum'"));
    options.m_Signature = "sum";
    model.Model().signature_defs.back()->subgraph_index = 7; // the model's fault
    EXPECT_THAT(ErrorOf<ParseException>(model, options), HasSubstr("subgraph 7 does not exist"));
}

TEST(Subgraphs, SignaturesNameEachPlaceOfATensorThatIsListedTwice)
{
    ModelBuilder model;
    const int32_t in = model.AddInput("in", {2});
    const int32_t out = model.AddOutput("out", {2});
    model.AddOperator(Op::ABS, {in}, {out});
    model.Graph().inputs = {in, in};
    model.Graph().outputs = {out, out, out};
    AddSignature(model, {"x"}, {"size", "magnitude"});
    ITfLiteParser::TfLiteParserOptions options;
    options.m_Signature = "abs";
    const Parsed parsed(model, options);
    EXPECT_EQ(parsed.m_Parser->GetSubgraphInputTensorNames(0), (Names{"x", "x_1"}));
    EXPECT_EQ(parsed.m_Parser->GetSubgraphOutputTensorNames(0), (Names{"size", "magnitude", "magnitude_1"}));
    EXPECT_EQ(parsed.m_Parser->GetNetworkOutputBindingInfo(0, "magnitude").first, 1);
    EXPECT_EQ(parsed.m_Parser->GetNetworkOutputBindingInfo(0, "out").first, 0) << "by the tensor's name, too";
    EXPECT_EQ(Loaded(model, options).Run({{9, 9}, {-1, 2}}), (Floats{1, 2}));
}

TEST(Subgraphs, SignaturesMayHaveMoreNamesThanThereArePlaces)
{
    ModelBuilder model;
    const int32_t in = model.AddInput("in", {2});
    model.AddOperator(Op::ABS, {in}, {model.AddOutput("out", {2})});
    AddSignature(model, {"x", "y"}, {"size", "magnitude", "size"});
    ITfLiteParser::TfLiteParserOptions options;
    options.m_Signature = "abs";
    const Parsed parsed(model, options);
    EXPECT_EQ(parsed.m_Parser->GetSubgraphInputTensorNames(0), (Names{"x", "y"}));
    EXPECT_EQ(parsed.m_Parser->GetSubgraphOutputTensorNames(0), (Names{"size", "magnitude", "size_1"}));
    EXPECT_EQ(Loaded(model, options).Run({{9, 9}, {-1, 2}}), (Floats{1, 2})) << "the last input counts";
    // Without the signature the list alone counts.
    EXPECT_EQ(Parsed(model).m_Parser->GetSubgraphOutputTensorNames(0), Names{"out"});
}

TEST(Subgraphs, WhatDoesNotFitIsRefused)
{
    ModelBuilder missing;
    const int32_t condition = missing.AddInput("condition", {1}, Type::BOOL);
    AddIf(missing, {condition}, {missing.AddOutput("out", {2})}, 5, -1);
    EXPECT_THAT(ErrorOf<ParseException>(missing), HasSubstr("IF"));

    ModelBuilder operands;
    const int32_t add = AddArithmetic(operands, "add", Op::ADD, 10);
    operands.Select(0);
    const int32_t flag = operands.AddInput("condition", {1}, Type::BOOL);
    AddIf(operands, {flag}, {operands.AddOutput("out", {2})}, add, add);
    EXPECT_THAT(ErrorOf<ParseException>(operands), HasSubstr("0 operands to pass, but subgraph 1 has 1"));

    ModelBuilder endless;
    schema::CallOptionsT itself;
    itself.subgraph = 0;
    const int32_t in = endless.AddInput("in", {2});
    endless.AddOperator(Op::CALL, {in}, {endless.AddOutput("out", {2})}, itself);
    EXPECT_THAT(ErrorOf<ParseException>(endless), HasSubstr("m_MaxNesting"));

    // Each of 30 subgraphs calls the next one twice.
    ModelBuilder bomb;
    for (int32_t level = 0; level < 30; ++level)
    {
        bomb.Select(level);
        const int32_t value = bomb.AddInput("in", {2});
        const int32_t between = bomb.AddTensor("between", {2});
        schema::CallOptionsT next;
        next.subgraph = static_cast<uint32_t>(level + 1);
        bomb.AddOperator(Op::CALL, {value}, {between}, next);
        bomb.AddOperator(Op::CALL, {between}, {bomb.AddOutput("out", {2})}, next);
        bomb.AddSubgraph("level");
    }
    const int32_t last = bomb.AddInput("in", {2});
    bomb.AddOperator(Op::ABS, {last}, {bomb.AddOutput("out", {2})});
    ITfLiteParser::TfLiteParserOptions options;
    options.m_Limits.m_MaxLayers = 10000;
    EXPECT_THAT(ErrorOf<ParseException>(bomb, options), HasSubstr("m_MaxLayers"));

    ModelBuilder unbound;
    const int32_t handle = unbound.AddInput("handle", {}, Type::RESOURCE);
    unbound.AddOperator(Op::READ_VARIABLE, {handle}, {unbound.AddOutput("out", {2})});
    EXPECT_THAT(ErrorOf<UnimplementedException>(unbound), HasSubstr("handle"));
}

} // namespace tenon::test::subgraphs_test
