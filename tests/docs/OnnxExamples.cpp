// SPDX-License-Identifier: Apache-2.0
// OnnxExamples: see OnnxExamples.hpp. Examples are written in lines:
//   Conv<group=2 kernel_shape=[3,3]>(f[1,4,6,6], F[8,2,3,3], -)       a node, or several with ; between them
//   x = f[n,3]; a, b = Split<num_outputs=2>(x); Neg(a)                 names
//   @9 Upsample(...)                                                   the version of the operator set
//   com.microsoft.QLinearSigmoid(...)                                  an operator of another domain
// Operands are inputs of the model, f[sizes] in small letters: f float, h float16, i int64, j int32, s int8, u uint8,
// b bool, where a size may be a name; constants of ones, in capitals (F, I, J, S, U); lists of numbers {1,2} and
// numbers #1, int64 or, with a point, float; names; and - for none. @name is a graph of Graphs.
#include "docs/OnnxExamples.hpp"

#include "harness/TinyOnnx.hpp"
#include "parsers/onnx/Rows.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/INetwork.hpp>
#include <tenon/IStrategy.hpp>
#include <tenon/parsers/IOnnxParser.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace tenon::docs
{

namespace
{

using test::OnnxBytes;
using test::OnnxNumber;

const std::map<std::string_view, const char*> Graphs = {
    {"then", " -> y: y = Relu(x)"},
    {"else", " -> y: y = Neg(x)"},
    {"loop", "i, c, x -> d, y: d = Identity(c); y = Relu(x)"},
    {"scan", "s, x -> t, y: t = Add(s, x); y = Relu(t)"},
    {"map", "x -> y: y = Relu(x)"},
};

/// Examples of operators that need more than floats, integers or Booleans of one shape as inputs.
const std::multimap<std::string_view, const char*> Examples = {
    {"AffineGrid", "AffineGrid(f[1,2,3], {1,1,4,4})"},
    {"AffineGrid", "AffineGrid(f[1,3,4], {1,1,4,4,4})"},
    {"AveragePool", "AveragePool<kernel_shape=[2,2]>(f[1,4,6,6])"},
    {"AveragePool", "AveragePool<kernel_shape=[2,2,2]>(f[1,4,6,6,6])"},
    {"AveragePool", "AveragePool<kernel_shape=[2,2] dilations=[2,2]>(f[1,4,6,6])"},
    {"BatchNormalization", "BatchNormalization(f[1,4,6,6], F[4], F[4], F[4], F[4])"},
    {"BitShift", "BitShift<direction='LEFT'>(u[4], u[4])"},
    {"BlackmanWindow", "BlackmanWindow(i[])"},
    {"Cast", "Cast<to=6>(f[2,3])"},
    {"CastLike", "CastLike(f[2,3], i[1])"},
    {"CenterCropPad", "CenterCropPad(f[4,6], {2,8})"},
    {"Clip", "Clip(f[2,3], #0.0, #6.0)"},
    {"Clip", "Clip(f[2,3], f[], f[])"},
    {"Compress", "Compress<axis=0>(f[4,2], b[4])"},
    {"Concat", "Concat<axis=1>(f[2,3], f[2,4])"},
    {"ConcatFromSequence", "s = SequenceConstruct(f[2], f[3]); ConcatFromSequence<axis=0>(s)"},
    {"Constant", "c = Constant<value_float=1.5>(); Add(f[2], c)"},
    {"ConstantOfShape", "ConstantOfShape(i[2])"},
    {"Conv", "Conv(f[1,4,6,6], F[8,4,3,3], F[8])"},
    {"Conv", "Conv<group=4>(f[1,4,6,6], F[4,1,3,3])"},
    {"Conv", "Conv(f[1,4,6], F[8,4,3])"},
    {"Conv", "Conv(f[1,4,6,6,6], F[8,4,3,3,3])"},
    {"ConvInteger", "ConvInteger(u[1,4,6,6], S[8,4,3,3], U[])"},
    {"ConvTranspose", "ConvTranspose(f[1,4,6,6], F[4,8,3,3], F[8])"},
    {"ConvTranspose", "ConvTranspose<strides=[2,2]>(f[1,4,6,6], F[4,8,3,3], F[8])"},
    {"ConvTranspose", "ConvTranspose(f[1,4,6,6,6], F[4,8,3,3,3])"},
    {"CumProd", "CumProd(f[2,3], #1)"},
    {"CumSum", "CumSum(f[2,3], #1)"},
    {"DFT", "DFT(f[1,8,1], -, #1)"},
    {"DepthToSpace", "DepthToSpace<blocksize=2>(f[1,8,3,3])"},
    {"DepthToSpace", "DepthToSpace<blocksize=2 mode='CRD'>(f[1,8,3,3])"},
    {"DequantizeLinear", "DequantizeLinear(u[2,3], #0.5, U[])"},
    {"DequantizeLinear", "DequantizeLinear(u[2,3], f[], u[])"},
    {"DynamicQuantizeLinear", "y, s, z = DynamicQuantizeLinear(f[2,3])"},
    {"Einsum", "Einsum<equation='bij,bjk->bik'>(f[2,3,4], f[2,4,5])"},
    {"Einsum", "Einsum<equation='ij->ji'>(f[2,3])"},
    {"Einsum", "Einsum<equation='ij->i'>(f[2,3])"},
    {"Einsum", "Einsum<equation='i,i->i'>(f[3], f[3])"},
    {"Expand", "Expand(f[1,3], {2,3})"},
    {"Expand", "Expand(f[1,3], i[2])"},
    {"EyeLike", "EyeLike(f[3,4])"},
    {"GRU", "GRU<hidden_size=5>(f[4,2,3], F[1,15,3], F[1,15,5])"},
    {"Gather", "Gather<axis=1>(f[2,3], i[2])"},
    {"GatherElements", "GatherElements(f[2,3], i[2,3])"},
    {"GatherND", "GatherND(f[2,3], i[2,1])"},
    {"GatherND", "GatherND<batch_dims=1>(f[2,3], i[2,1])"},
    {"Gemm", "Gemm(f[2,3], F[3,4], F[4])"},
    {"Gemm", "Gemm<transA=1>(f[3,2], f[3,4], f[2,4])"},
    {"GridSample", "GridSample(f[1,2,4,4], f[1,3,3,2])"},
    {"GroupNormalization", "GroupNormalization<num_groups=2>(f[1,4,6,6], F[4], F[4])"},
    {"HammingWindow", "HammingWindow(i[])"},
    {"HannWindow", "HannWindow(i[])"},
    {"If", "x = f[2,3]; If<then_branch=@then else_branch=@else>(b[])"},
    {"InstanceNormalization", "InstanceNormalization(f[1,4,6,6], F[4], F[4])"},
    {"LRN", "LRN<size=3>(f[1,4,6,6])"},
    {"LSTM", "LSTM<hidden_size=5>(f[4,2,3], F[1,20,3], F[1,20,5])"},
    {"LayerNormalization", "LayerNormalization(f[2,3,4], F[4], F[4])"},
    {"Loop", "Loop<body=@loop>(i[], -, f[2])"},
    {"LpPool", "LpPool<kernel_shape=[2,2]>(f[1,4,6,6])"},
    {"MatMul", "MatMul(f[2,3], F[3,4])"},
    {"MatMul", "MatMul(f[2,2,3], f[2,3,4])"},
    {"MatMulInteger", "MatMulInteger(u[2,3], S[3,4], u[], S[])"},
    {"MaxPool", "MaxPool<kernel_shape=[2,2]>(f[1,4,6,6])"},
    {"MaxPool", "MaxPool<kernel_shape=[2,2,2]>(f[1,4,6,6,6])"},
    {"MaxPool", "y, i = MaxPool<kernel_shape=[2,2]>(f[1,4,6,6])"},
    {"Max", "Max(f[2,3], f[2,3])"},
    {"MaxUnpool", "MaxUnpool<kernel_shape=[2,2] strides=[2,2]>(f[1,1,2,2], i[1,1,2,2])"},
    {"Mean", "Mean(f[2,3], f[2,3])"},
    {"MelWeightMatrix", "w = MelWeightMatrix(#4, #16, #8000, #10.0, #4000.0); MatMul(f[2,9], w)"},
    {"Min", "Min(f[2,3], f[2,3])"},
    {"Mod", "Mod<fmod=1>(f[2], f[2])"},
    {"Mod", "Mod(i[2], i[2])"},
    {"NonMaxSuppression", "NonMaxSuppression(f[1,6,4], f[1,2,6], #3)"},
    {"OneHot", "OneHot(i[3], #4, {0.0,1.0})"},
    {"Optional", "x = f[2,3]; o = Optional(x); OptionalGetElement(o)"},
    {"OptionalGetElement", "x = f[2,3]; o = Optional(x); OptionalGetElement(o)"},
    {"OptionalHasElement", "x = f[2,3]; o = Optional(x); OptionalHasElement(o)"},
    {"Pad", "Pad(f[2,3], {1,1,1,1})"},
    {"Pad", "Pad<mode='reflect'>(f[4,5], {1,1,1,1})"},
    {"QLinearConv", "QLinearConv(u[1,4,6,6], #0.5, U[], S[8,4,3,3], #0.5, S[], #0.5, U[], J[8])"},
    {"QLinearMatMul", "QLinearMatMul(u[2,3], #0.5, U[], S[3,4], #0.5, S[], #0.5, U[])"},
    {"QuantizeLinear", "QuantizeLinear(f[2,3], #0.5, U[])"},
    {"QuantizeLinear", "QuantizeLinear(f[2,3], f[], u[])"},
    {"RMSNormalization", "RMSNormalization(f[2,3,4], F[4])"},
    {"RNN", "RNN<hidden_size=5>(f[4,2,3], F[1,5,3], F[1,5,5])"},
    {"RandomNormal", "RandomNormal<shape=[2,3]>()"},
    {"RandomUniform", "RandomUniform<shape=[2,3]>()"},
    {"Range", "Range(i[], i[], i[])"},
    {"ReduceLogSumExp", "ReduceLogSumExp(f[2,3], {1})"},
    {"Reshape", "Reshape(f[2,3], {3,2})"},
    {"Resize", "Resize<mode='linear'>(f[1,1,4,4], -, {1.0,1.0,2.0,2.0})"},
    {"Resize", "Resize<mode='cubic'>(f[1,1,4,4], -, {1.0,1.0,2.0,2.0})"},
    {"ReverseSequence", "ReverseSequence(f[4,2], i[2])"},
    {"RoiAlign", "RoiAlign<output_height=2 output_width=2>(f[1,2,6,6], f[3,4], i[3])"},
    {"STFT", "STFT(f[1,16,1], #4, F[8])"},
    {"Scan", "Scan<body=@scan num_scan_inputs=1>(f[2], f[n,2])"},
    {"Scatter", "Scatter(f[2,3], i[1,3], f[1,3])"},
    {"ScatterElements", "ScatterElements(f[2,3], i[1,3], f[1,3])"},
    {"ScatterND", "ScatterND(f[4], i[2,1], f[2])"},
    {"SequenceAt", "s = SequenceConstruct(f[2], f[3]); SequenceAt(s, #0)"},
    {"SequenceConstruct", "s = SequenceConstruct(f[2], f[3]); SequenceAt(s, #0)"},
    {"SequenceEmpty", "s = SequenceEmpty(); t = SequenceInsert(s, f[2]); SequenceAt(t, #0)"},
    {"SequenceErase", "s = SequenceConstruct(f[2], f[3]); t = SequenceErase(s); SequenceAt(t, #0)"},
    {"SequenceInsert", "s = SequenceEmpty(); t = SequenceInsert(s, f[2]); SequenceAt(t, #0)"},
    {"SequenceLength", "s = SequenceConstruct(f[2], f[3]); SequenceLength(s)"},
    {"SequenceMap", "s = SequenceConstruct(f[2], f[3]); t = SequenceMap<body=@map>(s); SequenceAt(t, #0)"},
    {"Shape", "Shape(f[n,3])"},
    {"Size", "Size(f[n,3])"},
    {"Slice", "Slice(f[4,5], {1,0}, {3,2})"},
    {"Slice", "Slice(f[4,5], i[2], i[2])"},
    {"SpaceToDepth", "SpaceToDepth<blocksize=2>(f[1,2,4,4])"},
    {"Split", "y, z = Split<num_outputs=2>(f[4,3])"},
    {"SplitToSequence", "s = SplitToSequence(f[4,3], {2,2}); SequenceAt(s, #0)"},
    {"Squeeze", "Squeeze(f[1,3], {0})"},
    {"Sum", "Sum(f[2,3], f[2,3])"},
    {"Tile", "Tile(f[2,3], {2,1})"},
    {"TopK", "y, i = TopK(f[4,3], {2})"},
    {"Transpose", "Transpose(f[2,3])"},
    {"Trilu", "Trilu(f[3,4])"},
    {"Unique", "y, i, j, k = Unique(f[4])"},
    {"Unsqueeze", "Unsqueeze(f[2,3], {0})"},
    {"Upsample", "@9 Upsample(f[1,1,4,4], {1.0,1.0,2.0,2.0})"},
    {"Upsample", "@9 Upsample<mode='linear'>(f[1,1,4,4], {1.0,1.0,2.0,2.0})"},
    {"Where", "Where(b[2,3], f[2,3], f[2,3])"},
    {"com.microsoft.DequantizeLinear", "com.microsoft.DequantizeLinear(u[2,3], #0.5, U[])"},
    {"com.microsoft.DequantizeLinear", "com.microsoft.DequantizeLinear(u[2,3], f[], u[])"},
    {"com.microsoft.DynamicQuantizeMatMul", "com.microsoft.DynamicQuantizeMatMul(f[2,3], S[3,4], #0.5, S[], F[4])"},
    {"com.microsoft.MatMulIntegerToFloat",
     "com.microsoft.MatMulIntegerToFloat(u[2,3], S[3,4], #0.5, #0.5, U[], S[], F[4])"},
    {"com.microsoft.QGemm", "com.microsoft.QGemm(u[2,3], #0.5, U[], S[3,4], #0.5, S[], J[4], #0.5, U[])"},
    {"com.microsoft.QGemm", "com.microsoft.QGemm<alpha=0.5>(u[2,3], #0.5, U[], s[3,4], #0.5, S[])"},
    {"com.microsoft.QLinearAdd", "com.microsoft.QLinearAdd(u[2,3], #0.5, U[], u[2,3], #0.5, U[], #0.5, U[])"},
    {"com.microsoft.QLinearAveragePool",
     "com.microsoft.QLinearAveragePool<kernel_shape=[2,2]>(u[1,4,6,6], #0.5, U[], #0.5, U[])"},
    {"com.microsoft.QLinearAveragePool",
     "com.microsoft.QLinearAveragePool<kernel_shape=[2,2] channels_last=1>(u[1,6,6,4], #0.5, U[], #0.5, U[])"},
    {"com.microsoft.QLinearConcat",
     "com.microsoft.QLinearConcat<axis=1>(#0.5, U[], u[2,3], #0.5, U[], u[2,4], #0.5, U[])"},
    {"com.microsoft.QLinearGlobalAveragePool",
     "com.microsoft.QLinearGlobalAveragePool(u[1,4,6,6], #0.5, U[], #0.5, U[])"},
    {"com.microsoft.QLinearLeakyRelu", "com.microsoft.QLinearLeakyRelu(u[2,3], #0.5, U[], #0.5, U[])"},
    {"com.microsoft.QLinearMul", "com.microsoft.QLinearMul(u[2,3], #0.5, U[], u[2,3], #0.5, U[], #0.5, U[])"},
    {"com.microsoft.QLinearReduceMean", "com.microsoft.QLinearReduceMean<axes=[1]>(u[2,3], #0.5, U[], #0.5, U[])"},
    {"com.microsoft.QLinearSigmoid", "com.microsoft.QLinearSigmoid(u[2,3], #0.5, U[], #0.5, U[])"},
    {"com.microsoft.QLinearSoftmax", "com.microsoft.QLinearSoftmax<opset=13>(u[2,3], #0.5, U[], #0.5, U[])"},
    {"com.microsoft.QLinearWhere",
     "com.microsoft.QLinearWhere(b[2,3], u[2,3], #0.5, U[], u[2,3], #0.5, U[], #0.5, U[])"},
    {"com.microsoft.QuantizeLinear", "com.microsoft.QuantizeLinear(f[2,3], #0.5, U[])"},
    {"com.microsoft.QuantizeLinear", "com.microsoft.QuantizeLinear(f[2,3], f[], u[])"},
};

/// An operator's rows in operators.def, by its name behind its domain: the first version, and the number of inputs that
/// must be there in the last one.
struct Definition
{
    int64_t m_Since = 0;
    size_t m_Inputs = 0;
};

std::map<std::string, Definition> ReadDefinitions()
{
    std::map<std::string, Definition> definitions;
    const auto add = [&](const char* name, int64_t since, size_t minInputs)
    {
        const int64_t first = definitions.count(name) != 0 ? definitions[name].m_Since : since;
        definitions[name] = {first, minInputs};
    };
#define TENON_ONNX_OPERATOR(name, since, function, minInputs, maxInputs, maxOutputs) add(name, since, minInputs);
#define TENON_MICROSOFT_OPERATOR(name, since, function, minInputs, maxInputs, maxOutputs)                              \
    add("com.microsoft." name, since, minInputs);
#include "parsers/onnx/operators.def"
    return definitions;
}

/// Reads a line, token by token.
class Reader
{
public:
    explicit Reader(std::string_view text) : m_Text(text) {}

    bool IsAtEnd()
    {
        SkipSpaces();
        return m_Text.empty();
    }
    bool Take(std::string_view token)
    {
        SkipSpaces();
        const bool is = m_Text.substr(0, token.size()) == token;
        m_Text.remove_prefix(is ? token.size() : 0);
        return is;
    }
    void Require(std::string_view token)
    {
        if (!Take(token))
        {
            throw std::runtime_error(fmt::format("'{}' is missing before '{}'", token, m_Text));
        }
    }
    /// Letters, digits and what else belongs to names and numbers.
    std::string Word()
    {
        SkipSpaces();
        const auto end =
            std::find_if(m_Text.begin(), m_Text.end(),
                         [](unsigned char c) { return std::isalnum(c) == 0 && c != '_' && c != '.' && c != '-'; });
        return Cut(static_cast<size_t>(end - m_Text.begin()));
    }
    std::string Until(char mark)
    {
        const std::string text = Cut(std::min(m_Text.find(mark), m_Text.size()));
        Require(std::string(1, mark));
        return text;
    }
    /// Words with commas between them, up to `end`.
    std::vector<std::string> List(std::string_view end)
    {
        std::vector<std::string> words;
        while (!Take(end))
        {
            words.push_back(Word());
            Take(",");
        }
        return words;
    }
    bool HasBefore(char mark, std::string_view ends) const
    {
        const size_t found = m_Text.find(mark);
        return found != std::string_view::npos && found < m_Text.find_first_of(ends);
    }

private:
    void SkipSpaces() { m_Text.remove_prefix(std::min(m_Text.find_first_not_of(' '), m_Text.size())); }
    std::string Cut(size_t count)
    {
        std::string text(m_Text.substr(0, count));
        m_Text.remove_prefix(count);
        return text;
    }

    std::string_view m_Text;
};

bool IsReal(const std::string& word)
{
    return word.find('.') != std::string::npos;
}

std::string FloatBytes(float value)
{
    std::string bytes(sizeof(value), '\0');
    std::memcpy(bytes.data(), &value, sizeof(value));
    return bytes;
}

template <typename T>
std::string IntegerBytes(T value)
{
    std::string bytes(sizeof(value), '\0');
    std::memcpy(bytes.data(), &value, sizeof(value));
    return bytes;
}

/// A number as raw data: a float or int64.
std::string RawNumber(const std::string& word)
{
    if (IsReal(word))
    {
        return FloatBytes(std::stof(word));
    }
    return IntegerBytes(int64_t{std::stoll(word)});
}

/// A graph, as it is written: see the head of this file.
class GraphWriter
{
public:
    std::string Write(std::string_view text)
    {
        Reader reader(text);
        std::vector<std::string> outputs;
        do
        {
            outputs = WriteStatement(reader);
        } while (reader.Take(";"));
        if (!reader.IsAtEnd())
        {
            throw std::runtime_error("the line goes on behind its end");
        }
        return Finish(outputs);
    }

    /// "inputs -> outputs: nodes".
    std::string WriteBody(std::string_view text)
    {
        Reader reader(text);
        for (const std::string& input : reader.List("->"))
        {
            m_Graph += OnnxBytes(11, OnnxBytes(1, input));
        }
        const std::vector<std::string> outputs = reader.List(":");
        do
        {
            WriteStatement(reader);
        } while (reader.Take(";"));
        return Finish(outputs);
    }

private:
    std::string Finish(const std::vector<std::string>& outputs)
    {
        for (const std::string& output : outputs)
        {
            m_Graph += OnnxBytes(12, OnnxBytes(1, output));
        }
        return m_Graph + OnnxBytes(2, "example");
    }

    std::vector<std::string> WriteStatement(Reader& reader)
    {
        std::vector<std::string> outputs = {"y"};
        if (reader.HasBefore('=', "<(;"))
        {
            outputs = reader.List("=");
        }
        const std::string word = reader.Word();
        if (reader.Take("["))
        {
            AddTensor(word, reader.List("]"), outputs.front());
            return outputs;
        }
        std::string attributes;
        if (reader.Take("<"))
        {
            while (!reader.Take(">"))
            {
                attributes += OnnxBytes(5, ReadAttribute(reader));
            }
        }
        std::string node;
        reader.Require("(");
        while (!reader.Take(")"))
        {
            node += OnnxBytes(1, ReadOperand(reader));
            reader.Take(",");
        }
        for (const std::string& output : outputs)
        {
            node += OnnxBytes(2, output);
        }
        const size_t point = word.rfind('.');
        const bool hasDomain = point != std::string::npos;
        node += OnnxBytes(3, word + "#") + OnnxBytes(4, hasDomain ? word.substr(point + 1) : word) + attributes;
        m_Graph += OnnxBytes(1, node + (hasDomain ? OnnxBytes(7, word.substr(0, point)) : ""));
        return outputs;
    }

    std::string ReadOperand(Reader& reader)
    {
        const std::string name = fmt::format("operand{}", m_NumOperands++);
        if (reader.Take("#"))
        {
            AddNumbers(name, {reader.Word()}, true);
        }
        else if (reader.Take("{"))
        {
            AddNumbers(name, reader.List("}"), false);
        }
        else
        {
            const std::string word = reader.Word();
            if (!reader.Take("["))
            {
                return word == "-" ? "" : word;
            }
            AddTensor(word, reader.List("]"), name);
        }
        return name;
    }

    void AddNumbers(const std::string& name, const std::vector<std::string>& numbers, bool isScalar)
    {
        std::string raw;
        for (const std::string& number : numbers)
        {
            raw += RawNumber(number);
        }
        const bool isReal = !numbers.empty() && IsReal(numbers.front());
        m_Graph += OnnxBytes(5, (isScalar ? "" : OnnxNumber(1, numbers.size())) + OnnxNumber(2, isReal ? 1 : 7) +
                                    OnnxBytes(8, name) + OnnxBytes(9, raw));
    }

    void AddTensor(const std::string& letter, const std::vector<std::string>& sizes, const std::string& name)
    {
        const std::map<std::string, uint64_t> types = {{"f", 1}, {"u", 2}, {"s", 3}, {"j", 6},
                                                       {"i", 7}, {"b", 9}, {"h", 10}};
        const std::map<std::string, std::pair<uint64_t, std::string>> ones = {{"F", {1, FloatBytes(1.0f)}},
                                                                              {"U", {2, IntegerBytes(uint8_t{1})}},
                                                                              {"S", {3, IntegerBytes(int8_t{1})}},
                                                                              {"J", {6, IntegerBytes(int32_t{1})}},
                                                                              {"I", {7, IntegerBytes(int64_t{1})}}};
        std::string shape;
        std::string dims;
        size_t count = 1;
        for (const std::string& size : sizes)
        {
            const bool isNumber = std::isdigit(static_cast<unsigned char>(size.at(0))) != 0;
            shape += OnnxBytes(1, isNumber ? OnnxNumber(1, std::stoull(size)) : OnnxBytes(2, size));
            dims += isNumber ? OnnxNumber(1, std::stoull(size)) : "";
            count *= isNumber ? std::stoul(size) : 1;
        }
        const auto constant = ones.find(letter);
        if (constant != ones.end())
        {
            const auto& [element, one] = constant->second;
            std::string raw;
            for (size_t i = 0; i < count; ++i)
            {
                raw += one;
            }
            m_Graph += OnnxBytes(5, dims + OnnxNumber(2, element) + OnnxBytes(8, name) + OnnxBytes(9, raw));
            return;
        }
        const std::string type = OnnxBytes(1, OnnxNumber(1, types.at(letter)) + OnnxBytes(2, shape));
        m_Graph += OnnxBytes(11, OnnxBytes(1, name) + OnnxBytes(2, type));
    }

    static std::string ReadAttribute(Reader& reader)
    {
        const std::string name = OnnxBytes(1, reader.Word());
        reader.Require("=");
        if (reader.Take("@"))
        {
            return name + OnnxBytes(6, GraphWriter().WriteBody(Graphs.at(reader.Word()))) + OnnxNumber(20, 5);
        }
        if (reader.Take("'"))
        {
            return name + OnnxBytes(4, reader.Until('\'')) + OnnxNumber(20, 3);
        }
        if (reader.Take("["))
        {
            std::string numbers;
            for (const std::string& word : reader.List("]"))
            {
                numbers += OnnxNumber(8, std::stoull(word));
            }
            return name + numbers + OnnxNumber(20, 7);
        }
        const std::string word = reader.Word();
        if (IsReal(word))
        {
            constexpr uint64_t fieldOfFloat = 2 << 3 | 5;
            return name + test::OnnxVarint(fieldOfFloat) + FloatBytes(std::stof(word)) + OnnxNumber(20, 1);
        }
        return name + OnnxNumber(3, std::stoull(word)) + OnnxNumber(20, 2);
    }

    std::string m_Graph;
    int m_NumOperands = 0;
};

struct Collector : IStrategy
{
    void ExecuteStrategy(const IConnectableLayer* layer, const BaseDescriptor&, const std::vector<ConstTensor>&,
                         const char*, LayerBindingId) override
    {
        m_Layers.push_back(layer);
    }
    std::vector<const IConnectableLayer*> m_Layers;
};

/// The layers of the nodes of an operator.
std::set<LayerType> ReadExample(const std::string& name, std::string_view text)
{
    Reader reader(text);
    const bool hasVersion = reader.Take("@");
    const int64_t version = hasVersion ? std::stoll(reader.Word()) : onnx::NewestOpset;
    if (hasVersion)
    {
        text.remove_prefix(text.find(' '));
    }
    test::TinyOnnx model;
    model.m_Graph = OnnxBytes(7, GraphWriter().Write(text));
    model.m_Opsets = OnnxBytes(8, OnnxNumber(2, static_cast<uint64_t>(version)));
    const std::string bytes = model.Bytes();

    const IOnnxParserPtr parser = IOnnxParser::Create();
    const INetworkPtr network = parser->CreateNetworkFromBinary({bytes.begin(), bytes.end()});
    Collector collector;
    network->ExecuteStrategy(collector);
    std::set<LayerType> types;
    for (const IConnectableLayer* layer : collector.m_Layers)
    {
        // Layers have the names of their nodes.
        if (std::string_view(layer->GetName()).substr(0, name.size() + 1) == name + "#")
        {
            types.insert(layer->GetType());
        }
    }
    types.erase(LayerType::Constant);
    return types;
}

} // namespace

std::vector<OnnxRow> RunOnnxParser()
{
    const std::map<std::string, Definition> definitions = ReadDefinitions();
    for (const auto& [name, text] : Examples)
    {
        if (definitions.count(std::string(name)) == 0)
        {
            throw std::runtime_error(fmt::format("{} has an example and no row in operators.def", name));
        }
    }
    std::vector<OnnxRow> rows;
    for (const auto& [name, definition] : definitions)
    {
        OnnxRow row{name, definition.m_Since, {}};
        const auto [first, last] = Examples.equal_range(name);
        for (auto example = first; example != last; ++example)
        {
            try
            {
                row.m_Layers.merge(ReadExample(name, example->second));
            }
            catch (const std::exception& error)
            {
                throw std::runtime_error(fmt::format("{}: {}", example->second, error.what()));
            }
        }
        std::string refusals;
        bool isRead = first != last;
        for (const char* operand : {"f[1,4,6,6]", "i[1,4,6,6]", "b[1,4,6,6]"})
        {
            if (first == last)
            {
                try
                {
                    const std::vector<std::string> operands(definition.m_Inputs, operand);
                    row.m_Layers.merge(ReadExample(name, fmt::format("{}({})", name, fmt::join(operands, ", "))));
                    isRead = true;
                }
                catch (const Exception& error) // a type that the operator does not take
                {
                    refusals += fmt::format("\n  {}: {}", operand, error.what());
                }
            }
        }
        if (!isRead)
        {
            throw std::runtime_error(fmt::format("{} has no example that gets through: add one that does to "
                                                 "tests/docs/OnnxExamples.cpp{}",
                                                 name, refusals));
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

} // namespace tenon::docs
