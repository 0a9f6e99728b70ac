// SPDX-License-Identifier: Apache-2.0
// Writes docs/operators.md, or says whether it is stale: which layers there are, and which operators of TFLite and ONNX
// become them. Everything in it is taken from the code: tables are read, and the parsers are run on examples of each
// operator.
//   operator_docs <source folder> write
//   operator_docs <source folder> check <the command that writes it, for the message>
#include "docs/Layers.hpp"
#include "docs/OnnxExamples.hpp"
#include "docs/TypeText.hpp"
#include "parsers/ExampleModels.hpp"
#include "parsers/ModelBuilder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::docs
{

namespace
{

using test::ExampleRow;
using test::ModelBuilder;
using Operator = ModelBuilder::Operator;
using LayerTypes = std::set<LayerType>;

/// The layers of all examples that the parser takes, without those that say nothing of the operator: inputs, outputs
/// and constants; layers of subgraphs that take the operator's place; and layers beside its own ones.
LayerTypes LayersOf(const ExampleRow& row)
{
    LayerTypes types;
    bool isTaken = false;
    const std::string body = fmt::format("{}:", EnumNameBuiltinOperator(test::BodyOperator));
    const auto look = [&](const ModelBuilder& model)
    {
        try
        {
            const test::Parsed parsed(model);
            isTaken = true;
            for (const IConnectableLayer* layer : parsed.m_Layers.m_All)
            {
                // A layer is named after its operator.
                const bool isOfBody = std::string_view(layer->GetName()).substr(0, body.size()) == body;
                if (!isOfBody || row.m_Code == test::BodyOperator)
                {
                    types.insert(layer->GetType());
                }
            }
        }
        catch (const Exception&) // values that fit only some operators
        {
        }
    };
    VisitExamples(row, look);
    if (!isTaken)
    {
        throw std::runtime_error(row.m_Name + " has no example that gets through: add operands that do to "
                                              "tests/parsers/ExampleModels.cpp");
    }
    for (const LayerType type : {LayerType::Input, LayerType::Output, LayerType::Constant})
    {
        types.erase(type);
    }
    // A fused activation; an operator with a subgraph that is not known.
    for (const LayerType type : {LayerType::Activation, LayerType::Custom})
    {
        if (types.size() > 1)
        {
            types.erase(type);
        }
    }
    return types;
}

/// The parser's rows with their layers.
struct ParserRow
{
    std::string m_Name;
    bool m_IsCustom;
    LayerTypes m_Layers;
};

std::vector<ParserRow> RunParser()
{
    std::vector<ParserRow> rows;
    for (const ExampleRow& row : test::GetExampleRows())
    {
        rows.push_back({row.m_Name, row.m_Code == Operator::CUSTOM, LayersOf(row)});
    }
    return rows;
}

/// In lower case, as hosts of Markdown want it.
std::string AnchorOf(std::string name)
{
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return "layer-" + name;
}

std::string LinkTo(const std::string& name)
{
    return fmt::format("[{}](#{})", name, AnchorOf(name));
}

std::string OperatorsOf(LayerType type, const std::vector<ParserRow>& rows)
{
    std::vector<std::string> names;
    for (const ParserRow& row : rows)
    {
        if (row.m_Layers.count(type) != 0)
        {
            names.push_back(row.m_IsCustom ? fmt::format("\"{}\"", row.m_Name) : row.m_Name);
        }
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string OperatorsOf(LayerType type, const std::vector<OnnxRow>& rows)
{
    std::vector<std::string> names;
    for (const OnnxRow& row : rows)
    {
        if (row.m_Layers.count(type) != 0)
        {
            names.push_back(row.m_Name);
        }
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string LayerTable(const std::vector<LayerText>& layers, const std::vector<ParserRow>& rows,
                       const std::vector<OnnxRow>& onnxRows)
{
    std::string text =
        "| Layer | What it gives | In | Out | Element types | TFLite operators | ONNX operators | Notes |\n"
        "|---|---|---|---|---|---|---|---|\n";
    for (const LayerText& layer : layers)
    {
        if (!layer.m_Method.empty())
        {
            text += fmt::format("| <a id=\"{0}\"></a>**{1}**<br>`{2}` | {3} | {4} | {5} | {6} | {7} | {8} | {9} |\n",
                                AnchorOf(layer.m_Name), layer.m_Name, layer.m_Method, layer.m_Summary, layer.m_Inputs,
                                layer.m_Outputs, layer.m_Types, OperatorsOf(layer.m_Type, rows),
                                OperatorsOf(layer.m_Type, onnxRows), layer.m_Notes);
        }
    }
    return text;
}

std::string InternalLayers(const std::vector<LayerText>& layers)
{
    std::vector<std::string> names;
    for (const LayerText& layer : layers)
    {
        if (layer.m_Method.empty())
        {
            names.push_back(layer.m_Name);
        }
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string DeprecatedNames()
{
    const std::vector<std::string> names = {
#define TENON_OP(name, ...)
#define TENON_DEPRECATED_OP(name) "`Add" #name "Layer`",
#include <tenon/ops.def>
    };
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string LayerNames(const LayerTypes& types)
{
    if (types.empty())
    {
        return "done while the model is read";
    }
    std::vector<std::string> names;
    for (const LayerType type : types)
    {
        names.push_back(LinkTo(GetLayerTypeAsCString(type)));
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

/// With which results the tests of a custom operator compare. A list for each judge.
std::string JudgeOf(const std::string& name)
{
    static const std::map<std::string, std::set<std::string>> judges = {
        {"TensorFlow Lite's kernel",
         {"AudioSpectrogram", "AveragePool3D", "Irfft2d", "MaxPool3D", "Mfcc", "Roll", "Sign",
          "TFLite_Detection_PostProcess", "Table", "atan2"}},
        {"double-precision mathematics", {"FlexErf"}},
        {"MediaPipe's kernel (mediapipe 0.10.21)",
         {"Convolution2DTransposeBias", "Landmarks2TransformMatrix", "MaxPoolingWithArgmax2D", "Resampler",
          "TransformLandmarks", "TransformTensorBilinear"}},
        {"MediaPipe's kernel (mediapipe 0.10.21), and its newer source for indices outside of the output",
         {"MaxUnpooling2D"}},
        {"TFLM's kernel (tflite-micro 0.dev20261023182759)",
         {"SignalDelay", "SignalEnergy", "SignalFftAutoScale", "SignalFilterBank", "SignalFilterBankLog",
          "SignalFilterBankSpectralSubtraction", "SignalFilterBankSquareRoot", "SignalFramer", "SignalOverlapAdd",
          "SignalPCAN", "SignalStacker", "SignalWindow"}},
        {"TFLM's kernel (tflite-micro 0.dev20261023182759) for integers, double-precision mathematics for floats",
         {"SignalIrfft", "SignalRfft"}},
    };
    for (const auto& [judge, names] : judges)
    {
        if (names.count(name) != 0)
        {
            return judge;
        }
    }
    throw std::runtime_error(name + " has no judge: say in tests/docs/OperatorDocs.cpp what its tests compare with");
}

constexpr const char* BlockwiseSection = R"(
### Weights with a scale per block

Constants of INT4 and INT8 with BlockwiseQuantization, as ai-edge-quantizer writes them, are read for all operators:
blocks of any size that divides the last dimension, along which they lie, and scales in a tensor of FLOAT16 or FLOAT32.
Zero points other than 0 and blocks of INT2 are refused. LiteRT 2.3.0 has kernels on the CPU only for layers that the
table names as judges.

| Operator | What is computed | Judge |
|---|---|---|
| FULLY_CONNECTED of FLOAT32 | rows of data are quantized to int8; sums of a block are integers | LiteRT's kernel for INT4, bit for bit; double-precision mathematics for INT8 |
| EMBEDDING_LOOKUP | weight times scale | LiteRT's kernel for INT4, bit for bit; double-precision mathematics for INT8 |
| DEQUANTIZE | weight times scale | double-precision mathematics |
| BATCH_MATMUL, CONV_2D and all others that give floats | the constant becomes floats while the network is optimized, as from DEQUANTIZE | double-precision mathematics |
)";

std::string OperatorTable(const std::vector<ParserRow>& rows)
{
    std::map<std::string, std::string> builtins;
    for (const Operator code : test::schema::EnumValuesBuiltinOperator())
    {
        if (code != Operator::CUSTOM && code != Operator::PLACEHOLDER_FOR_GREATER_OP_CODES)
        {
            builtins[EnumNameBuiltinOperator(code)] = "no";
        }
    }
    std::string custom;
    size_t numKnown = 0;
    for (const ParserRow& row : rows)
    {
        if (row.m_IsCustom)
        {
            custom += fmt::format("| \"{}\" | {} | {} |\n", row.m_Name, LayerNames(row.m_Layers), JudgeOf(row.m_Name));
        }
        else
        {
            builtins[row.m_Name] = LayerNames(row.m_Layers);
            ++numKnown;
        }
    }
    std::string text = fmt::format("Tenon reads {} of the {} builtin operators in `src/parsers/tflite/tflite.fbs`.\n\n"
                                   "| Builtin operator | Layers |\n|---|---|\n",
                                   numKnown, builtins.size());
    for (const auto& [name, layers] : builtins)
    {
        text += fmt::format("| {} | {} |\n", name, layers);
    }
    return text + BlockwiseSection +
           "\n### Custom operators\n\n"
           "Custom operators that have layers, each with its judge, from which the results in its tests come.\n\n"
           "| Custom operator | Layers | Judge |\n|---|---|---|\n" +
           custom +
           "\nAn operator without a judge is refused by its name. These forms have none:\n\n"
           "- Landmarks2TransformMatrix, TransformLandmarks and TransformTensorBilinear of a version other than 2, for "
           "which\n  MediaPipe has no kernels on the CPU;\n"
           "- SignalRfft and SignalIrfft of integers where `fft_length` is 2 or has a prime factor above 5, at which "
           "TFLM's\n  kernel crashes.\n"
           "\nOther custom operators are the program's own: see `m_CustomOperators` in [README.md](../README.md).\n";
}

std::string OnnxTable(const std::vector<OnnxRow>& rows)
{
    const auto others = std::count_if(rows.begin(), rows.end(),
                                      [](const OnnxRow& row) { return row.m_Name.find('.') != std::string::npos; });
    std::string text = fmt::format("Tenon reads {} operators of ai.onnx and {} of com.microsoft.\n\n"
                                   "| Operator | From version | Layers |\n|---|---|---|\n",
                                   std::ssize(rows) - others, others);
    for (const OnnxRow& row : rows)
    {
        text += fmt::format("| {} | {} | {} |\n", row.m_Name, row.m_Since, LayerNames(row.m_Layers));
    }
    return text;
}

constexpr const char* Head =
    R"(<!-- Generated by tests/docs/OperatorDocs.cpp: do not edit. The test operator_docs says how to write it anew. -->
# Layers and operators

The layers of networks, and the layers that operators of `.tflite` and `.onnx` models become.

- [Layers](#layers)
- [Operators of TFLite](#operators-of-tflite)
- [Operators of ONNX](#operators-of-onnx)

## Layers

Each layer is added with the method of `INetwork` below its name. It is documented there, in
[INetwork.hpp](../include/tenon/INetwork.hpp), and at its descriptor, in the header of its family in
[include/tenon/descriptors](../include/tenon/descriptors).

*In* and *Out* count the layer's slots. A range: the last inputs are optional or depend on the descriptor; `1+`: as many
as the descriptor says.

*Element types* lists the types that CpuRef supports, one combination a line: types of the inputs, from the first on,
and of output 0 after the arrow. `/` separates alternatives, `same` is the type of input 0, and inputs that are not
listed may have any type that suits the layer. Kernels may have further conditions, e.g. a single scale; `Optimize()`
then gives the reason. Types after *through Float32* belong to layers for which TFLite has no kernel, because of their
types, scales, zero points or RequantizationMode: tensors are dequantized, the layer runs on floats, and its results are
quantized, as in Arm NN's CpuRef. If CpuAcc has kernels of its own, their types follow; it runs other types with CpuRef's
kernels. Groups of types:

)";

constexpr const char* OperatorsHead = R"(
## Operators of TFLite

A row lists all layers of an operator that becomes several, or different ones depending on its options. In addition, a
fused activation becomes an Activation, and variable tensors, e.g. the states of LSTM, become ReadState and WriteState.
Operators that are *done while the model is read* have no layer of their own: a subgraph's layers take the operator's
place, a variable gets its name, or a sparse constant its values. An unknown operator, or a use of it that no layer
supports, becomes a Custom layer: it runs if a backend of yours knows it or its `CustomDescriptor` has an
implementation, and `Optimize()` refuses it otherwise.

)";

constexpr const char* OnnxHead = R"(
## Operators of ONNX

[onnx.md](onnx.md) has the rules of files. The table has the first version of an operator that is read; all
later ones are read, too; com.microsoft has version 1 alone. A row lists all layers of an operator that becomes several, or different ones depending on its
attributes and shapes. A result that follows from numbers known while the model is read, such as sizes, needs no layer.
Operators that are *done while the model is read* never have a layer of their own.

)";

/// Empty if there is no such file.
std::string ReadFile(const std::filesystem::path& path)
{
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string MakeText(const std::filesystem::path& root)
{
    const std::vector<LayerText> layers = DescribeLayers(ReadFile(root / "include/tenon/INetwork.hpp"));
    const std::vector<ParserRow> rows = RunParser();
    const std::vector<OnnxRow> onnxRows = RunOnnxParser();
    return Head + ExplainGroups() + "\n" + LayerTable(layers, rows, onnxRows) +
           fmt::format(
               "\nThe optimizer and the loader add layers of their own: {}. The deprecated methods {} add an {} "
               "layer.\n",
               InternalLayers(layers), DeprecatedNames(), LinkTo("ElementwiseBinary")) +
           OperatorsHead + OperatorTable(rows) + OnnxHead + OnnxTable(onnxRows);
}

/// The first line in which the texts differ.
std::string FirstDifference(const std::string& found, const std::string& expected)
{
    std::istringstream a(found);
    std::istringstream b(expected);
    std::string is;
    std::string shouldBe;
    for (int number = 1;; ++number)
    {
        const bool hasA = static_cast<bool>(std::getline(a, is));
        const bool hasB = static_cast<bool>(std::getline(b, shouldBe));
        if (hasA != hasB || is != shouldBe || !hasA)
        {
            return fmt::format("line {} is:\n{}\nand should be:\n{}\n", number, hasA ? is : "(nothing)",
                               hasB ? shouldBe : "(nothing)");
        }
    }
}

int Main(const std::vector<std::string>& arguments)
{
    const bool isWrite = arguments.size() == 2 && arguments[1] == "write";
    const bool isCheck = arguments.size() == 3 && arguments[1] == "check";
    if (!isWrite && !isCheck)
    {
        fmt::print(stderr, "operator_docs <source folder> write|check <command>\n");
        return 2;
    }
    const std::filesystem::path root = arguments[0];
    const std::filesystem::path path = root / "docs/operators.md";
    const std::string text = MakeText(root);
    if (isWrite)
    {
        std::ofstream file(path, std::ios::binary);
        file << text;
        file.close();
        if (!file)
        {
            throw std::runtime_error("cannot write " + path.string());
        }
        return 0;
    }
    const std::string found = ReadFile(path);
    if (found == text)
    {
        return 0;
    }
    fmt::print(stderr, "docs/operators.md is stale: {}Write it anew:\n  {}\n", FirstDifference(found, text),
               arguments[2]);
    return 1;
}

} // namespace

} // namespace tenon::docs

int main(int argc, char** argv)
{
    try
    {
        return tenon::docs::Main(std::vector<std::string>(argv + 1, argv + argc));
    }
    catch (const std::exception& error)
    {
        fmt::print(stderr, "operator_docs: {}\n", error.what());
        return 1;
    }
}
