// SPDX-License-Identifier: Apache-2.0
// Hostile .onnx files: models with control flow, functions, external data, sequences, recurrence and sizes that are
// computed, cut short at every byte, with each byte bent, with several at once, and with fields of their messages
// replaced so that lengths still fit. Whatever comes of it is a network or an exception of Tenon; what is a network is
// optimized, loaded and run under small limits. Run under the sanitizers this also shows reads outside of the file and
// of tensors.
#include "FuzzTarget.hpp"
#include "MutateBytes.hpp"
#include "harness/OnnxModel.hpp"

#include <tenon/Logging.hpp>
#include <tenon/parsers/IOnnxParser.hpp>

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace tenon::test::onnx_mutation_test
{

using namespace model;

namespace
{

/// A branch that the run chooses, which reads from outside, and within it a loop that grows a value.
Wire WithControlFlow()
{
    const Wire body = Graph("body")
                          .Input("i", ElementType::Int64, Dims{})
                          .Input("go", ElementType::Bool, Dims{})
                          .Input("v", {"n"})
                          .Add("Concat", {"v", "x"}, {"next"}, {Attribute("axis", 0)})
                          .Add("ReduceMax", {"next"}, {"part"}, {Attribute("keepdims", 0)})
                          .Add("Identity", {"go"}, {"on"})
                          .Output("on")
                          .Output("next")
                          .Output("part");
    const Wire grows = Graph("grows")
                           .Store(Ints("three", {}, {3}))
                           .Add("Loop", {"three", "", "x"}, {"t", "parts"}, {GraphAttribute("body", body)})
                           .Output("t");
    const Wire turns =
        Graph("turns").Add("Loop", {"count", "", "x"}, {"t", "parts"}, {GraphAttribute("body", body)}).Output("t");
    return Model(
        Graph()
            .Input("x", {2})
            .Input("c", ElementType::Bool, Dims{})
            .Store(Ints("count", {}, {20}))
            .Add("If", {"c"}, {"y"}, {GraphAttribute("then_branch", turns), GraphAttribute("else_branch", grows)})
            .Output("y"));
}

/// Functions in functions, with attributes of their callers and a branch.
Wire WithFunctions()
{
    const Wire inner =
        Function("own", "Scale", {"p"}, {"q"},
                 {Node("Constant", {}, {"a"}, {ReferenceAttribute("value_float", "alpha", AttributeType::Float)}),
                  Node("Mul", {"p", "a"}, {"q"})},
                 {Attribute("alpha", 2.0f)});
    const Wire branch =
        Graph("b")
            .Add("Scale", {"p"}, {"t"}, {ReferenceAttribute("alpha", "gain", AttributeType::Float)}, "own")
            .Output("t");
    const Wire other = Graph("e").Add("Clip", {"p", "low"}, {"t"}).Output("t");
    const Wire outer = Function(
        "own", "Choose", {"p", "flag", "low"}, {"q"},
        {Node("If", {"flag"}, {"q"}, {GraphAttribute("then_branch", branch), GraphAttribute("else_branch", other)})});
    return Model(Graph()
                     .Input("x", {2, 3})
                     .Input("c", ElementType::Bool, Dims{})
                     .Add("Choose", {"x", "c"}, {"m"}, {Attribute("gain", 3.0f)}, "own")
                     .Add("Scale", {"m"}, {"y"}, {}, "own")
                     .Output("y"),
                 17, {inner, outer}, Message(14, Message(1, "key") + Message(2, "value")));
}

/// External data, sparse tensors and each field of numbers; an image through convolution, pool and resize.
Wire WithTensors()
{
    Graph graph;
    graph.Input("image", {1, 1, 4, 4})
        .Store(ExternalTensor("w", ElementType::Float, {2, 1, 3, 3},
                              {{"location", "w.bin"}, {"offset", "8"}, {"length", "72"}}));
    graph.StoreSparse(Sparse(Floats("bias", {1}, {0.5f}), Ints("", {1}, {1}), {2}));
    graph.Store(TensorOf("sizes", ElementType::Int64, {4}, Message(7, Varints({1, 2, 4, 3}))));
    graph.Store(TensorOf("half", ElementType::Float16, {1}, Message(5, Varints({0x3800}))));
    graph.Store(TensorOf("one", ElementType::Float, {}, Fixed32(4, 1.0f)));
    graph.Store(TensorOf("two", ElementType::Double, {}, Message(10, Raw<double>({2.0}))));
    graph.Add("Conv", {"image", "w", "bias"}, {"c"},
              {Attribute("pads", Sizes{1, 1, 1, 1}), Attribute("kernel_shape", Sizes{3, 3})});
    graph.Add("MaxPool", {"c"}, {"p"},
              {Attribute("kernel_shape", Sizes{2, 2}), Attribute("strides", Sizes{2, 2}), Attribute("ceil_mode", 1)});
    graph.Add("Resize", {"p", "", "", "sizes"}, {"r"},
              {Attribute("mode", "linear"), Attribute("coordinate_transformation_mode", "align_corners")});
    graph.Add("Cast", {"half"}, {"h"}, {Attribute("to", 1)}).Add("Cast", {"two"}, {"t"}, {Attribute("to", 1)});
    graph.Add("Add", {"r", "h"}, {"a"}).Add("Mul", {"a", "t"}, {"m"}).Add("Sub", {"m", "one"}, {"s"});
    graph.Add("Softmax", {"s"}, {"y"}, {Attribute("axis", -1)})
        .Add("GlobalAveragePool", {"s"}, {"z"})
        .Output("y")
        .Output("z");
    return Model(graph);
}

/// Sizes that stay open, computed from the shape, and operators that take numbers as inputs.
Wire WithShapes()
{
    Graph graph;
    graph.Input("x", {"n", 4})
        .Store(Ints("zero", {1}, {0}))
        .Store(Ints("one", {1}, {1}))
        .Store(Ints("rest", {1}, {-1}))
        .Store(Ints("two", {1}, {2}));
    graph.Add("Shape", {"x"}, {"s"})
        .Add("Gather", {"s", "zero"}, {"n"})
        .Add("Concat", {"n", "two", "rest"}, {"shape"}, {Attribute("axis", 0)});
    graph.Add("Reshape", {"x", "shape"}, {"r"}).Add("Transpose", {"r"}, {"t"}, {Attribute("perm", Sizes{1, 0, 2})});
    graph.Add("Slice", {"t", "zero", "one", "rest"}, {"sl"})
        .Add("Expand", {"sl", "two3"}, {"e"})
        .Store(Ints("two3", {3}, {1, 1, 2}));
    graph.Add("Pad", {"e", "pads"}, {"pd"})
        .Store(Ints("pads", {6}, {0, 0, 1, 0, 0, -1}))
        .Add("Tile", {"pd", "two3"}, {"ti"});
    graph.Add("TopK", {"ti", "one"}, {"values", "places"}).Add("Split", {"ti"}, {"p0", "p1"}, {Attribute("axis", 0)});
    graph.Add("ReduceSum", {"p1", "rest"}, {"sum"})
        .Add("GatherElements", {"ti", "places"}, {"g"}, {Attribute("axis", 2)});
    graph.Add("NonZero", {"p0"}, {"nz"}).Add("CumSum", {"sum", "zero0"}, {"cs"}).Store(Ints("zero0", {}, {0}));
    graph.Add("Einsum", {"p0", "p1"}, {"ei"}, {Attribute("equation", "abc,abd->acd")})
        .Add("Unsqueeze", {"cs", "zero"}, {"u"})
        .Add("Squeeze", {"u", "zero"}, {"q"});
    graph.Output("values").Output("g").Output("nz").Output("q").Output("ei");
    return Model(graph);
}

/// Sequences, a scan, and recurrence.
Wire WithSequences()
{
    const Wire body = Graph("body")
                          .Input("sum", {1, 1})
                          .Input("e", {1, 1})
                          .Add("Add", {"sum", "e"}, {"next"})
                          .Add("Identity", {"next"}, {"part"})
                          .Output("next")
                          .Output("part");
    Graph graph;
    graph.Input("x", {3, 1, 1})
        .Store(Floats("zero", {1, 1}, {0.0f}))
        .Store(Floats("w", {1, 4, 1}, {1, 2, 3, 4}))
        .Store(Ints("k", {}, {1}));
    graph.Add("Scan", {"zero", "x"}, {"last", "all"}, {GraphAttribute("body", body), Attribute("num_scan_inputs", 1)});
    graph.Add("LSTM", {"all", "w", "w"}, {"y", "h", "c"},
              {Attribute("hidden_size", 1), Attribute("activations", Names{"Sigmoid", "Tanh", "Relu"})});
    graph.Add("SplitToSequence", {"y"}, {"s"}, {Attribute("axis", 0)})
        .Add("SequenceAt", {"s", "k"}, {"a"})
        .Add("SequenceInsert", {"s", "a"}, {"s2"});
    graph.Add("SequenceErase", {"s2", "k"}, {"s3"})
        .Add("ConcatFromSequence", {"s3"}, {"z"}, {Attribute("axis", 0)})
        .Output("z")
        .Output("last")
        .Output("c");
    return Model(graph);
}

class OnnxVictim final : public FuzzTarget
{
public:
    OnnxVictim() : FuzzTarget(1) // a Boolean as well
    {
        IOnnxParser::OnnxParserOptions options;
        options.m_Limits = GetLimits();
        options.m_ExternalData["w.bin"] = {reinterpret_cast<const uint8_t*>(m_Weights.data()), sizeof(m_Weights)};
        m_Parser = IOnnxParser::Create(options);
    }

private:
    IOptimizedNetworkPtr Read(const Bytes& bytes) override
    {
        return OptimizeIt(*m_Parser->CreateNetworkFromBinary(bytes));
    }

    std::vector<LayerBindingId> InputIds() const override
    {
        std::vector<LayerBindingId> ids;
        for (const std::string& name : m_Parser->GetInputNames())
        {
            ids.push_back(m_Parser->GetNetworkInputBindingInfo(name).first);
        }
        return ids;
    }

    std::array<float, 20> m_Weights{};
    IOnnxParserPtr m_Parser{nullptr, &IOnnxParser::Destroy};
};

/// A field of the wire format.
struct Field
{
    uint64_t m_Tag;
    Wire m_Value; ///< as encoded, without the length of a text or message
};

/// The fields of a message; nothing where the bytes are none.
std::vector<Field> Fields(const Wire& bytes)
{
    std::vector<Field> fields;
    size_t at = 0;
    const auto varint = [&](uint64_t& value)
    {
        value = 0;
        for (unsigned int shift = 0; at < bytes.size() && shift < 64; shift += 7)
        {
            const auto byte = static_cast<uint8_t>(bytes[at++]);
            value |= uint64_t{byte & 0x7fU} << shift;
            if (byte < 0x80)
            {
                return true;
            }
        }
        return false;
    };
    while (at < bytes.size())
    {
        uint64_t tag = 0;
        uint64_t size = 0;
        if (!varint(tag) || tag >> 3 == 0 || tag >> 3 > 30)
        {
            return {};
        }
        const size_t start = at;
        switch (tag & 7)
        {
        case 0:
            if (!varint(size))
            {
                return {};
            }
            fields.push_back({tag, bytes.substr(start, at - start)});
            continue;
        case 1: size = 8; break;
        case 2:
            if (!varint(size))
            {
                return {};
            }
            break;
        case 5: size = 4; break;
        default: return {};
        }
        if (size > bytes.size() - at)
        {
            return {};
        }
        fields.push_back({tag, bytes.substr(at, size)});
        at += size;
    }
    return fields;
}

Wire Encode(const std::vector<Field>& fields)
{
    Wire bytes;
    for (const Field& field : fields)
    {
        bytes += OnnxVarint(field.m_Tag) + ((field.m_Tag & 7) == 2 ? OnnxVarint(field.m_Value.size()) : Wire()) +
                 field.m_Value;
    }
    return bytes;
}

/// Changes one field somewhere in the message: its value, its number, its place, or whether it is there. Lengths around
/// it follow.
Wire Change(const Wire& message, std::mt19937& random)
{
    static const int64_t numbers[] = {0,  1,  2,  3,    7,         8,         16,        17,
                                      -1, -2, 64, 1000, INT32_MAX, INT64_MAX, INT64_MIN, int64_t{1} << 32};
    std::vector<Field> fields = Fields(message);
    if (fields.empty())
    {
        Wire bent = message;
        if (!bent.empty())
        {
            bent[random() % bent.size()] = static_cast<char>(random());
        }
        return bent;
    }
    const size_t i = random() % fields.size();
    Field& field = fields[i];
    const Field other = fields[random() % fields.size()];
    if ((field.m_Tag & 7) == 2 && random() % 8 != 0)
    {
        // Into the message, mostly.
        field.m_Value = Change(field.m_Value, random);
        return Encode(fields);
    }
    switch (random() % 7)
    {
    case 0: fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(i)); break;
    case 1: fields.insert(fields.begin() + static_cast<std::ptrdiff_t>(i), other); break;
    case 2: std::swap(field.m_Value, fields[random() % fields.size()].m_Value); break;
    case 3: field = other; break;
    case 4: field.m_Tag = (field.m_Tag & 7) | (1 + random() % 25) << 3; break;
    case 5: field.m_Value = (field.m_Tag & 7) == 2 ? other.m_Value : field.m_Value; break;
    default:
        if ((field.m_Tag & 7) == 0)
        {
            field.m_Value = OnnxVarint(static_cast<uint64_t>(numbers[random() % std::size(numbers)]));
        }
    }
    // What is no longer of its wire type would end the reading at once.
    for (Field& each : fields)
    {
        const size_t size = (each.m_Tag & 7) == 1 ? 8 : (each.m_Tag & 7) == 5 ? 4 : each.m_Value.size();
        each.m_Value.resize(size, '\0');
        if ((each.m_Tag & 7) == 0 &&
            (each.m_Value.empty() || each.m_Value.size() > 10 || static_cast<uint8_t>(each.m_Value.back()) >= 0x80))
        {
            each.m_Value = "\1";
        }
    }
    return Encode(fields);
}

class OnnxMutation : public testing::TestWithParam<std::pair<const char*, Wire (*)()>>
{
protected:
    OnnxMutation()
    {
        const Wire model = GetParam().second();
        m_File.assign(model.begin(), model.end());
        SetLogFilter(LogSeverity::Fatal); // of operator sets that are newer than any
    }
    ~OnnxMutation() override { SetLogFilter(m_Filter); }

    OnnxVictim m_Target;
    Bytes m_File;

private:
    LogSeverity m_Filter = GetLogFilter();
};

} // namespace

TEST_P(OnnxMutation, CutShortAtEveryByte)
{
    ASSERT_TRUE(m_Target.Runs(m_File));
    for (size_t length = 0; length < m_File.size(); ++length)
    {
        // Of a size of its own, so that a sanitizer sees the end.
        m_Target.Runs(Bytes(m_File.begin(), m_File.begin() + static_cast<std::ptrdiff_t>(length)));
    }
    EXPECT_FALSE(m_Target.Runs(Bytes(m_File.begin(), m_File.begin() + static_cast<std::ptrdiff_t>(m_File.size() / 2))));
}

TEST_P(OnnxMutation, EachByteBent)
{
    size_t refused = 0;
    for (size_t at = 0; at < m_File.size(); ++at)
    {
        const uint8_t byte = m_File[at];
        BendByte(m_File, at, {0, 1, 127, 255, byte + 1, byte - 1, byte ^ 0x80},
                 [&] { refused += m_Target.Runs(m_File) ? 0 : 1; });
    }
    EXPECT_GT(refused, 500u);
    EXPECT_TRUE(m_Target.Runs(m_File));
}

TEST_P(OnnxMutation, SeveralPlacesAtOnce)
{
    std::mt19937 random(20240611); // any seed: failures must repeat
    for (int round = 0; round < 2000; ++round)
    {
        m_Target.Runs(MutateBytes(m_File, random, 4));
    }
}

TEST_P(OnnxMutation, FieldsReplaced)
{
    std::mt19937 random(20240611);
    const Wire model(m_File.begin(), m_File.end());
    ASSERT_EQ(Encode(Fields(model)), model);
    size_t ran = 0;
    for (int round = 0; round < 4000; ++round)
    {
        Wire changed = model;
        for (size_t i = 1 + random() % 3; i > 0; --i)
        {
            changed = Change(changed, random);
        }
        ran += m_Target.Runs(Bytes(changed.begin(), changed.end())) ? 1 : 0;
    }
    EXPECT_GT(ran, 100u) << "most of what is changed would be refused before anything is read";
}

INSTANTIATE_TEST_SUITE_P(All, OnnxMutation,
                         testing::Values(std::pair{"ControlFlow", &WithControlFlow},
                                         std::pair{"Functions", &WithFunctions}, std::pair{"Tensors", &WithTensors},
                                         std::pair{"Shapes", &WithShapes}, std::pair{"Sequences", &WithSequences}),
                         [](const auto& tested) { return tested.param.first; });

} // namespace tenon::test::onnx_mutation_test
