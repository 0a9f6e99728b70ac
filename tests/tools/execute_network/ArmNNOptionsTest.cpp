// SPDX-License-Identifier: Apache-2.0
// Every option of Arm NN's ExecuteNetwork, long and short, as tests/package/armnn/options.tsv lists them: it works, is
// taken without effect, or is refused with the option to use in its place.
#include "tools/execute_network/ArmNNOptions.hpp"

#include "ArmNNProgram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

namespace tenon::tools
{
namespace
{

/// A line of the file.
struct Row
{
    std::string m_Long;
    std::string m_Short;
    std::string m_Argument;
    std::string m_Status;
    std::string m_Note;
};

std::vector<Row> ReadRows()
{
    std::istringstream file(ReadFile("tests/package/armnn/options.tsv"));
    std::string line;
    std::getline(file, line);
    EXPECT_EQ(line, "long\tshort\targument\tstatus\tnote");
    std::vector<Row> rows;
    while (std::getline(file, line))
    {
        std::vector<std::string> cells(1);
        for (const char c : line)
        {
            c == '\t' ? void(cells.emplace_back()) : cells.back().push_back(c);
        }
        EXPECT_EQ(cells.size(), 5U) << line;
        cells.resize(5);
        rows.push_back({cells[0], cells[1], cells[2], cells[3], cells[4]});
    }
    return rows;
}

/// A command line and its outcome. "@" stands for the option, and is tried in both spellings.
struct Trial
{
    Words m_Words;
    int m_Status = 0;
    std::string m_Text; ///< of standard output where the program succeeds, else of its error
    std::string m_Remark = {};
    std::function<void(const Outcome&)> m_Check = {};
};

/// Scripts of Arm NN look for the backends between ": [" and "]" of the help, after they join its lines.
void ExpectBackends(std::string help)
{
    std::replace(help.begin(), help.end(), '\n', ' ');
    const size_t start = help.rfind(": [");
    ASSERT_NE(start, std::string::npos) << help;
    std::istringstream list(help.substr(start + 3, help.find(']', start) - start - 3));
    std::string first;
    std::string second;
    list >> first >> second;
    EXPECT_EQ(first + second, "CpuAcc,CpuRef");
}

class ArmNNOptionsTest : public ArmNNProgram
{
protected:
    std::function<void(const Outcome&)> Writes(const std::string& file, const std::string& start) const
    {
        return [this, file, start](const Outcome&)
        {
            EXPECT_EQ(m_Folder.Read(file).substr(0, start.size()), start);
            std::filesystem::remove(m_Folder.Path(file));
        };
    }

    /// By long name.
    std::map<std::string, std::vector<Trial>> Trials() const
    {
        const std::string external = "there is no external profiling (arm::pipe), so nothing is sent or captured";
        const std::string own = "there is no TensorFlow Lite in this program to delegate from: Tenon's own parser";
        const std::string withoutCpuAcc = "no effect, because CpuAcc alone has this option";
        const std::string oneByOne = "iterations run one after another, each on the threads of --number-of-threads";
        const std::string untuned = "no backend here has OpenCL kernels to tune, so the file is neither read nor";
        const std::string out = m_Folder.Path("out.txt");
        const std::string csv = m_Folder.Path("out.csv");
        const std::string bin = m_Folder.Path("out.bin");
        const std::string dot = m_Folder.Path("graph.dot");
        const std::string packed = m_Folder.Path("packed");
        const std::string dotOfModel = m_Folder.Path("relu.dot");
        const std::string layers = m_Folder.Path("layers");
        const Words quantized = {"-m", Int8Model, "-N", "-d", m_Digit};
        return {
            {"--compute",
             {{{"-m", FloatModel, "-N", "@", "CpuRef"}, 0, "10 layers: CpuRef 10"},
              {{"-m", FloatModel, "-N", "@", "CpuRef", "@", "CpuAcc"}, 0, "10 layers: CpuRef 10"},
              {{"-m", FloatModel, "@", "CpuRef", "CpuAcc", "-N"}, 0, "10 layers: CpuRef 10"},
              {{"-m", FloatModel, "-N", "@", "CpuRef,CpuRef"}, 0, "10 layers: CpuRef 10"},
              {{"-m", FloatModel, "-N", "@", "GpuAcc,CpuRef"},
               0,
               "CpuRef 10",
               "--compute: there is no backend 'GpuAcc'"},
              {{"-m", FloatModel, "-N", "@", "GpuAcc"},
               2,
               "--compute: there is no backend 'GpuAcc'; there are 'CpuAcc'"},
              {{"-m", FloatModel, "-N", "@", ",CpuRef,"}, 0, "10 layers: CpuRef 10"},
              {{"-m", FloatModel, "-N", "@", ","}, 2, "--compute: nothing is given"},
              {{"-m", FloatModel, "-N", "@", ""}, 2, "--compute: nothing is given"}}},
            {"--model-path", {{{"@", FloatModel, "-N"}, 0, "10 layers"}, {{"@", m_Folder.Path("none")}, 3, "none'"}}},
            {"--model-format",
             {{Digits({"@", "tflite-binary"}), 0, "10 layers"},
              {Digits({"@", "onnx-binary"}), 0, "10 layers",
               "--model-format: '" + FloatModel + "' is a TensorFlow Lite"},
              {Digits({"@", ""}), 0, "10 layers"},
              {{"-m", GoldenArmNN, "-N", "@", "armnn-binary"}, 0, "1 layers"},
              {{"-m", m_ArmNN, "@", "armnn-binary"}, 3, "the file is corrupt or cut short"},
              {{"-m", m_Unknown, "@", "armnn-binary"}, 3, "no .armnn file, or one that is corrupt or cut short"},
              {{"-m", m_Unknown, "@", "armnn-text"}, 3, "run the TensorFlow Lite model (.tflite) that it was made"},
              {Digits({"@", "other"}), 0, "10 layers", "--model-format: '" + FloatModel + "' is a TensorFlow Lite"}}},
            {"--input-name",
             {{Relu({"@", "x", "-d", m_A}), 0, "0 1.5 0 3 0 5"},
              {Relu({"@", "", "-d", m_A}), 0, "0 1.5 0 3 0 5"},
              {Relu({"@", "x,", "-d", m_A}), 0, "0 1.5 0 3 0 5"},
              {Relu({"@", "x,x"}), 2, "--input-name: 'x' is given twice"},
              {Relu({"@", "z"}), 2, "no input 'z'; it has 'x'"}}},
            {"--output-name",
             {{Relu({"@", "y", "-d", m_A}), 0, "0 1.5 0 3 0 5"},
              {Relu({"@", "", "-d", m_A}), 0, "0 1.5 0 3 0 5"},
              {Relu({"@", ",y", "-d", m_A}), 0, "0 1.5 0 3 0 5"},
              {Relu({"@", "z"}), 2, "no output 'z'; it has 'y'"}}},
            {"--dynamic-backends-path",
             {{Digits({"@", m_Folder.Path("")}), 0, "10 layers"},
              {Digits({"@", ""}), 0, "10 layers"},
              {Digits({"@", m_Folder.Path("none")}), 2, "--dynamic-backends-path: there is no"}}},
            {"--thread-pool-size",
             {{Relu({"@", "4", "-I", "2", "-d", m_A}), 0, "0 1.5 0 3 0 5", "--thread-pool-size: " + oneByOne},
              {Relu({"@", "0"}), 0, "Float32 [2,3]"},
              {Relu({"@", "-1"}), 2, "--thread-pool-size: '-1' is no whole number"}}},
            {"--concurrent",
             {{Relu({"@", "-d", m_A}), 0, "0 1.5 0 3 0 5", "--concurrent: " + oneByOne},
              {Relu({"@", "false", "-d", m_A}), 0, "0 1.5 0 3 0 5"},
              {Relu({"@", "4", "-d", m_A}), 2, "--concurrent: callers at once are for --benchmark"}}},
            {"--input-tensor-data",
             {{Relu({"@", m_A}), 0, "0 1.5 0 3 0 5"},
              {Relu({"@", m_A + ","}), 0, "0 1.5 0 3 0 5"},
              {Relu({"@", ""}), 0, "seeded random values"},
              {Relu({"@", m_A, "@", m_A}), 2,
               "--input-tensor-data: it is given more than once; give it once, with commas"},
              {Relu({"@", m_A + "," + m_B, "-I", "2"}), 0, "0 1.5 0 3 0 5"},
              {Relu({"@", m_Digit}), 3, "it has 64 numbers; expected the 6 of [2,3]"},
              {Relu({"@", m_A + "," + m_B}), 2, "add --iterations 2"}}},
            {"--help",
             {{{"@"}, 0, "--input-tensor-data", "", [](const Outcome& outcome) { ExpectBackends(outcome.m_Out); }}}},
            {"--infer-output-shape", {{Digits({"@"}), 0, "10 layers"}, {Digits({"@", "true"}), 0, "10 layers"}}},
            {"--allow-expanded-dims", {{Digits({"@"}), 0, "10 layers"}, {Digits({"@", "false"}), 0, "10 layers"}}},
            {"--iterations",
             {{Relu({"@", "3", "-d", m_A}), 0, "\n2 more: min "},
              {Relu({"@", "0"}), 2, "--iterations: '0' is no whole number in 1"}}},
            {"--dequantize-output",
             {{{"-m", m_Quantized, "-d", m_Stored, "@"}, 0, "output 'out' Float32 [4]\n  1.5 0 100 0.5\n"},
              {{"-m", m_Quantized, "-d", m_Stored, "@", "true"}, 0, "  1.5 0 100 0.5\n"},
              {{"-m", m_Quantized, "-d", m_Stored, "@", "false"}, 0, "  13 10 210 11\n"},
              {Relu({"-d", m_A, "@"}), 0, "0 1.5 0 3 0 5", "--dequantize-output: no output is quantized"}}},
            {"--print-intermediate-layers", {{Digits({"@", "-c", "CpuRef"}), 0, "\"outputSlot\": 0"}}},
            {"--print-intermediate-layers-to-file",
             {{Digits({"@", "--intermediate-layers-folder", layers}), 0, " layers: CpuAcc ", "",
               [layers](const Outcome&)
               {
                   EXPECT_FALSE(std::filesystem::is_empty(layers));
                   std::filesystem::remove_all(layers);
               }}}},
            {"--parse-unsupported", {{Digits({"@"}), 0, "10 layers"}, {{"-m", m_Custom, "@"}, 4, "NobodyKnowsThis"}}},
            {"--do-not-print-output",
             {{Relu({"@", "-d", m_A}), 0, "1 layers", "",
               [](const Outcome& outcome) { EXPECT_FALSE(Has(outcome.m_Out, "0 1.5 0 3")) << outcome.m_Out; }}}},
            {"--quantize-input",
             {{{"-m", m_Quantized, "-d", m_Reals, "@"},
               0,
               "output 'out' QAsymmU8 [4] scale 0.5 zero point 10\n  13 10 210 11\n"},
              {{"-m", m_Quantized, "-d", m_Reals, "@", "true"}, 0, "  13 10 210 11\n"},
              {{"-m", m_Quantized, "-d", m_Reals, "@", "false"},
               3,
               "'1.5' is no value of type QAsymmU8; --quantize-input takes real numbers"},
              {{"-m", m_Quantized, "-d", m_NaN, "@"}, 3, "element 1 is NaN, which no quantized value stands for"},
              {Relu({"-d", m_A, "@"}), 0, "0 1.5 0 3 0 5", "--quantize-input: the model has no quantized input"}}},
            {"--threshold-time",
             {{Relu({"@", "60000", "-I", "2"}), 0, "Float32 [2,3]"},
              {Relu({"@", "0"}), 0, "Float32 [2,3]"},
              {Relu({"@", "0.000001", "-w", out}), 5, "--threshold-time: the slowest iteration took ", "",
               Writes("out.txt", "y, Float32 : ")},
              {Relu({"@", "-1"}), 2, "--threshold-time: '-1' is below 0"},
              {Relu({"@", "soon"}), 2, "--threshold-time: 'soon' is no finite number"}}},
            {"--input-tensor-shape",
             {{Relu({"@", "3,2", "-d", m_A}), 0, "output 'y' Float32 [3,2]"},
              {Relu({"@", "", "-d", m_A}), 0, "output 'y' Float32 [2,3]"},
              {Relu({"@", "3,2", "@", "2,3"}), 2,
               "--input-tensor-shape: it is given more than once; give it once, with c"},
              {Relu({"@", "3,2:", "-d", m_A}), 0, "output 'y' Float32 [3,2]"},
              {Relu({"@", "3,2:1"}), 2, "--input-tensor-shape: 2 shape(s) are given for 1 input(s)"}}},
            {"--visualize-optimized-model",
             {{Relu({"@", dot}), 0, "1 layers", "", Writes("graph.dot", "digraph Optimized {")},
              {Relu({"@"}), 0, "1 layers", "", Writes("relu.dot", "digraph Optimized {")},
              {Relu({"@", "-N"}), 0, "1 layers", "", Writes("relu.dot", "digraph Optimized {")},
              {Relu({"@", "true"}), 0, "1 layers", "", Writes("relu.dot", "digraph Optimized {")},
              {Relu({"@", "1"}), 0, "1 layers", "", Writes("relu.dot", "digraph Optimized {")},
              {Relu({"@", "false"}), 0, "1 layers", "",
               [dotOfModel](const Outcome&) { EXPECT_FALSE(std::filesystem::exists(dotOfModel)); }},
              {{"-m", "-", "@"}, 2, "--visualize-optimized-model: name a file, because the model of standard input"}}},
            {"--write-outputs-to-file",
             {{Relu({"-d", m_A, "@", out}), 0, "0 1.5 0 3 0 5", "", Writes("out.txt", "y, Float32 : 0 1.5 0 3 0 5 ")},
              {Relu({"@", ""}), 0, "1 layers"},
              {Relu({"@", csv}), 0, "1 layers", "--write-outputs-to-file: '" + csv + "' gets the .npy format; name it",
               Writes("out.csv", "\x93NUMPY")},
              {Relu({"@", bin}), 0, "1 layers",
               "--write-outputs-to-file: '" + bin + "' gets the .npy format, though a file of that name is read as raw",
               Writes("out.bin", "\x93NUMPY")},
              {Relu({"@", csv, "-d", m_A, "--armnn-output"}), 0, "y: 0.000000 1.500000", "",
               Writes("out.csv", "y, Float32 : 0 1.5 0 3 0 5 ")},
              {Relu({"@", out + "," + m_Folder.Path("b.npy")}), 2, "2 file(s) are given for 1 output(s)"}}},
            {"--subgraph-number",
             {{Digits({"@", "0"}), 0, "10 layers"},
              {Digits({"@", "x"}), 2, "--subgraph-number: 'x' is no whole number"}}},
            {"--input-type",
             {{Digits({"@", "float"}), 0, "10 layers", "--input-type: no effect, because the model says"},
              {Digits({"@", "float,qasymmu8"}), 0, "10 layers", "--input-type: no effect"},
              {Digits({"@", "text"}), 0, "10 layers", "--input-type: no effect"}}},
            {"--output-type",
             {{Digits({"@", "qasymms8"}), 0, "10 layers", "--output-type: no effect, because the model says"},
              {Digits({"@", ""}), 0, "10 layers"},
              {Digits({"@", "words"}), 0, "10 layers", "--output-type: no effect, because the model says"}}},
            {"--tflite-executor",
             {{Digits({"@", "parser"}), 0, "10 layers"},
              {Digits({"@", ""}), 0, "10 layers"},
              {Digits({"@", "delegate"}), 0, "10 layers", "--tflite-executor: " + own},
              {Digits({"@", "opaquedelegate"}), 0, "10 layers", "--tflite-executor: " + own},
              {Digits({"@", "tflite"}), 2, "--compute CpuRef runs the exact reference"},
              {Digits({"@", "other"}), 2, "--tflite-executor: 'other' is not known; supported: parser"}}},
            {"--compare-output",
             {{Relu({"-d", m_A, "@", m_Same}), 0, "Byte level root mean square error: 0\n"},
              // 5 and -5 differ in the highest bit of one of 24 bytes: the square root of 128 * 128 / 24.
              {Relu({"-d", m_A, "@", m_Other}), 0, "Byte level root mean square error: 26.1279\n"},
              {Relu({"-d", m_A, "@", m_Folder.Path("none.txt")}), 3, "--compare-output: there is no file '"},
              {Relu({"-d", m_A, "@", m_Stored}), 3, "it has 4 numbers; expected the 6 of [2,3]"},
              {Relu({"-d", m_A, "@", m_OtherType}), 3, "its values are of type QAsymmU8; expected Float32"},
              {Relu({"-d", m_A, "@", m_Same + "," + m_Other}), 2, "--compare-output: 2 file(s) are given for 1 output"},
              {Relu({"@", ",", "-d", m_A}), 2, "--compare-output: nothing is given"},
              {Relu({"@", "", "-d", m_A}), 0, "0 1.5 0 3 0 5"}}},
            {"--compare-output-with-backend",
             {{Relu({"-d", m_A, "@", "CpuAcc,CpuRef"}), 0, "Byte level root mean square error: 0\n"},
              {Relu({"-d", m_A, "@", "CpuAcc", "CpuRef"}), 0, "Byte level root mean square error: 0\n"},
              {Relu({"@", "GpuAcc"}), 2, "--compare-output-with-backend: there is no backend 'GpuAcc'"},
              {Relu({"@", "CpuRef,", "-d", m_A}), 0, "Byte level root mean square error: 0\n"},
              {Relu({"@", "", "-d", m_A}), 0, "0 1.5 0 3 0 5"}}},
            {"--compare-with-tflite",
             {{Digits({"@"}), 2,
               "--compare-with-tflite: there is no TensorFlow Lite in this program; "
               "--compare-output-with-backend CpuRef compares with the exact reference"}}},
            {"--bf16-turbo-mode", {{Digits({"@", "--print-assignment"}), 0, " BFloat16 "}}},
            {"--enable-fast-math",
             {{Digits({"@"}), 0, "10 layers"},
              {Digits({"@", "false", "-c", "CpuRef"}), 0, "10 layers"},
              {Digits({"@", "-c", "CpuRef"}), 0, "10 layers", "--enable-fast-math: " + withoutCpuAcc}}},
            {"--number-of-threads",
             {{Digits({"@", "2"}), 0, "2 threads"},
              {Digits({"@", "1000"}), 2, "--number-of-threads: '1000' is no whole number in 0..256"}}},
            {"--save-cached-network",
             {{Digits({"@", "--cached-network-filepath", packed}), 0, "10 layers", "",
               [packed](const Outcome&) { EXPECT_TRUE(std::filesystem::remove(packed)); }},
              {Digits({"@", "-c", "CpuRef", "--cached-network-filepath", packed}), 0, "10 layers",
               "--save-cached-network, --cached-network-filepath: no effect, because CpuAcc alone has these options, "
               "and",
               [packed](const Outcome&) { EXPECT_FALSE(std::filesystem::exists(packed)); }},
              {Digits({"@"}), 2, "--save-cached-network: name the file in --cached-network-filepath"}}},
            {"--cached-network-filepath",
             {{Digits({"@", packed, "--save-cached-network"}), 0, "10 layers", "",
               [packed](const Outcome&) { EXPECT_TRUE(std::filesystem::remove(packed)); }},
              {Digits({"@", ""}), 0, "10 layers"},
              {Digits({"@", packed, "-c", "CpuRef"}), 0, "10 layers", "--cached-network-filepath: " + withoutCpuAcc},
              {Digits({"@", packed}), 3, "packed"}}},
            {"--fp16-turbo-mode", {{Digits({"@", "--print-assignment"}), 0, " Float16 "}}},
            {"--tuning-level",
             {{Digits({"@", "0"}), 0, "10 layers"},
              {Digits({"@", "1", "--tuning-path", "x"}), 0, "10 layers", "--tuning-path: " + untuned},
              {Digits({"@", "1"}), 2, "--tuning-level: name the file in --tuning-path"},
              {Digits({"@", "4", "--tuning-path", "x"}), 2, "--tuning-level: '4' is no whole number in 0..3"}}},
            {"--tuning-path",
             {{Digits({"@", "x"}), 0, "10 layers", "--tuning-path: " + untuned}, {Digits({"@", ""}), 0, "10 layers"}}},
            {"--MLGOTuningFilePath", {{Digits({"@", "x"}), 0, "10 layers", "--MLGOTuningFilePath: " + untuned}}},
            {"--reuse-buffers", {{Digits({"@", "-I", "2"}), 0, "10 layers"}}},
            {"--enable-external-profiling",
             {{Digits({"@"}), 0, "10 layers", "--enable-external-profiling: " + external},
              {Digits({"@", "--timeline-profiling"}), 0, "10 layers",
               "--enable-external-profiling, --timeline-profiling: " + external}}},
            {"--event-based-profiling",
             {{Digits({"@"}), 0, "\"inference_measurements_#3\""},
              {Digits({"@", "1"}), 0, "\"inference_measurements_#3\""},
              {Digits({"@", "0"}), 0, "10 layers", "",
               [](const Outcome& outcome) { EXPECT_FALSE(Has(outcome.m_Out, "_measurements_")) << outcome.m_Out; }}}},
            {"--file-only-external-profiling",
             {{Digits({"@"}), 0, "10 layers", "--file-only-external-profiling: " + external}}},
            {"--file-format", {{Digits({"@", "binary"}), 0, "10 layers", "--file-format: " + external}}},
            {"--outgoing-capture-file",
             {{Digits({"@", "x"}), 0, "10 layers", "--outgoing-capture-file: " + external},
              {Digits({"@", "x", "-a"}), 2, "--outgoing-capture-file: " + external}}},
            {"--incoming-capture-file",
             {{Digits({"@", "x"}), 0, "10 layers", "--incoming-capture-file: " + external},
              {Digits({"@", "x", "-a"}), 2, "--incoming-capture-file: " + external}}},
            {"--timeline-profiling", {{Digits({"@"}), 0, "10 layers", "--timeline-profiling: " + external}}},
            {"--counter-capture-period",
             {{Digits({"@", "150"}), 0, "10 layers", "--counter-capture-period: " + external},
              {Digits({"@", "often"}), 2, "--counter-capture-period: 'often' is no whole number"}}},
            {"--output-network-details", {{Digits({"@"}), 0, "\"layer_details\""}}},
            {"--output-network-details-only",
             {{Digits({"@"}), 0, "\"layer_details\""},
              {Digits({"@", "--output-network-details"}), 0, "\"layer_details\"",
               "--output-network-details: --output-network-details-only is given, too"}}},
            {"--import-inputs-if-aligned", {{Digits({"@", "-I", "3"}), 0, "10 layers"}}},
            {"--serialize-to-armnn", {{Digits({"@"}), 2, "--serialize FILE.tenon writes the network"}}},
            {"--armnn-tflite-delegate",
             {{Digits({"@"}), 0, "10 layers", "--armnn-tflite-delegate: " + own},
              {Digits({"@", "-T", "delegate"}), 0, "10 layers", "--armnn-tflite-delegate, --tflite-executor: " + own}}},
            {"--simultaneous-iterations",
             {{Digits({"@", "1"}), 0, "10 layers"},
              {Relu({"@", "3", "-d", m_A}), 0, "\n2 more: min ", "--simultaneous-iterations: " + oneByOne},
              {Digits({"@", "0"}), 2, "--simultaneous-iterations: '0' is no whole number in 1"}}},
            {"--test-cases", {{{"@", "x.csv"}, 2, "give --input-tensor-data a set of files for each"}}},
        };
    }

    void Try(const std::string& name, const std::string& spelling, const Trial& trial)
    {
        Words words = trial.m_Words;
        std::replace(words.begin(), words.end(), std::string("@"), spelling);
        SCOPED_TRACE(testing::PrintToString(words));
        const Outcome outcome = Execute(words);
        EXPECT_FALSE(Has(outcome.m_Error, "not expected") || Has(outcome.m_Error, "there is no option") ||
                     Has(outcome.m_Error, "belongs to no option"))
            << outcome.m_Error;
        if (trial.m_Status == 0)
        {
            EXPECT_EQ(outcome.m_Status, 0) << outcome.m_Error;
            EXPECT_TRUE(Has(outcome.m_Out, trial.m_Text)) << outcome.m_Out;
            const std::string remark = trial.m_Remark.empty() ? "" : "warning: " + trial.m_Remark;
            EXPECT_EQ(outcome.m_Error.substr(0, remark.size()), remark);
            EXPECT_EQ(outcome.m_Error.empty(), remark.empty()) << outcome.m_Error;
        }
        else
        {
            ExpectFailure(outcome, trial.m_Status, trial.m_Text);
            if (trial.m_Status == 2 && name != "--input-name" && name != "--output-name")
            {
                EXPECT_TRUE(Has(outcome.m_Error, name)) << outcome.m_Error;
            }
        }
        if (trial.m_Check)
        {
            trial.m_Check(outcome);
        }
    }
};

TEST_F(ArmNNOptionsTest, DoAsTheFileSays)
{
    std::map<std::string, std::vector<Trial>> trials = Trials();
    const std::string help = Execute({"--help", "all"}).m_Out;
    for (const Row& row : ReadRows())
    {
        SCOPED_TRACE(row.m_Long);
        const std::vector<Trial> tried = trials[row.m_Long];
        trials.erase(row.m_Long);
        ASSERT_FALSE(tried.empty()) << "not tried";
        EXPECT_TRUE(Has(help, row.m_Short.empty() ? "  " + row.m_Long : row.m_Short + "," + row.m_Long)) << help;
        const bool succeeds =
            std::any_of(tried.begin(), tried.end(), [](const Trial& trial) { return trial.m_Status == 0; });
        EXPECT_TRUE(row.m_Status == "works" || row.m_Status == "accepted" || row.m_Status == "explained");
        EXPECT_EQ(succeeds, row.m_Status != "explained");
        EXPECT_TRUE(row.m_Status == "works" || !row.m_Note.empty());
        for (const Trial& trial : tried)
        {
            Try(row.m_Long, row.m_Long, trial);
            if (!row.m_Short.empty())
            {
                Try(row.m_Long, row.m_Short, trial);
            }
        }
    }
    for (const auto& [name, tried] : trials)
    {
        ADD_FAILURE() << name << " is not in options.tsv";
    }
}

TEST_F(ArmNNOptionsTest, GivenWithoutAValueAreNamed)
{
    for (const Row& row : ReadRows())
    {
        const bool needsValue = !row.m_Argument.empty() && row.m_Argument[0] != '[';
        if (needsValue)
        {
            ExpectFailure(Execute(Digits({row.m_Long})), 2, "it needs a value (see --help)");
        }
    }
}

TEST_F(ArmNNOptionsTest, FlagsTakeTrueAndFalse)
{
    for (const Row& row : ReadRows())
    {
        if (row.m_Argument.empty() && row.m_Long != "--help")
        {
            for (const Words& words : {Words{row.m_Long + "=false"}, Words{row.m_Long, "false"}})
            {
                const Outcome outcome = Execute(Digits(words));
                EXPECT_EQ(outcome.m_Status, 0) << words[0] << outcome.m_Error;
                EXPECT_EQ(outcome.m_Error, "") << words[0];
            }
            ExpectFailure(Execute(Digits({row.m_Long + "=maybe"})), 2, "maybe");
        }
    }
}

TEST_F(ArmNNOptionsTest, CommandLinesOfItsUsers)
{
    const Words lines[] = {
        Digits({"-c", "CpuAcc", "-T", "parser"}),
        Digits({"-c", "CpuAcc", "--infer-output-shape"}),
        Digits({"-c", "CpuRef", "--allow-expanded-dims"}),
        Digits({"-c", "CpuAcc", "--import-inputs-if-aligned", "-I", "3"}),
        {"-m", Int8Model, "-c", "CpuRef", "-d", m_Digit, "--quantize-input", "--dequantize-output"},
        Digits({"-c", "CpuAcc", "--threshold-time", "60000"}),
        Digits({"-c", "CpuAcc", "--iterations=10", "-f", "tflite-binary", "-i", "image", "-o", "Identity", "-e", "1"}),
        Digits({"-c", "CpuAcc,", "-d", "", "-w", "", "--dynamic-backends-path=", "--cached-network-filepath="}),
        {"-f", "tflite-binary", "-i", "image", "-o", "Identity", "-d", m_Digit, "-s", "1,8,8,1", "-m", FloatModel, "-c",
         "CpuAcc,CpuRef"},
        {"--model-format=tflite-binary", "--input-name=image", "--output-name=Identity", "--model-path=" + FloatModel,
         "--compute=CpuAcc", "--iterations=2", "--number-of-threads=1", "--event-based-profiling"},
        {"-Nqv", "-m", m_Quantized, "-d", m_Reals, "-cCpuRef", "-I2"},
    };
    for (const Words& line : lines)
    {
        const Outcome outcome = Execute(line);
        EXPECT_EQ(outcome.m_Status, 0) << testing::PrintToString(line) << outcome.m_Error;
        EXPECT_EQ(outcome.m_Error, "") << testing::PrintToString(line);
    }
    EXPECT_TRUE(Has(m_Folder.Read("quantized.dot"), "digraph Optimized {"));
}

TEST(ArmNNWords, AreJoined)
{
    CLI::App app;
    bool flag = false;
    std::string text;
    app.add_flag("-q,--quantize-input", flag);
    app.add_flag("-N,--do-not-print-output", flag);
    app.add_option("-c,--compute", text);
    app.add_option("-d,--input-tensor-data", text);
    app.add_option("-v,--visualize-optimized-model", text);
    const auto join = [&](const Words& words) { return JoinArmNNWords(app, words); };
    EXPECT_EQ(join({}), Words{});
    EXPECT_EQ(join({"-q", "true", "--quantize-input", "false", "-q"}),
              (Words{"--quantize-input=true", "--quantize-input=false", "-q"}));
    EXPECT_EQ(join({"-q", "1", "-N", "False", "-q=on", "-N=0"}),
              (Words{"--quantize-input=true", "--do-not-print-output=false", "--quantize-input=true",
                     "--do-not-print-output=false"}));
    EXPECT_EQ(join({"-q=true", "-N=x", "-c=CpuRef", "-q="}),
              (Words{"--quantize-input=true", "--do-not-print-output=x", "-c=CpuRef", "--quantize-input="}));
    EXPECT_EQ(join({"-d", "", "-q", "--input-tensor-data=", "-d=", "-d", "a", "-d"}), (Words{"-q", "-d", "a", "-d"}));
    EXPECT_EQ(join({"--compute=", "-c", "", "-q", ""}), (Words{"--compute", "", "-c", "", "-q", ""}))
        << "an empty value is no absence there";
    EXPECT_EQ(join({"-q", "maybe", "true"}), (Words{"-q", "maybe", "true"}));
    EXPECT_EQ(join({"-c", "CpuAcc", "CpuRef", "GpuAcc", "stray", "CpuRef"}),
              (Words{"-c", "CpuAcc,CpuRef,GpuAcc", "stray", "CpuRef"}));
    EXPECT_EQ(join({"--compute"}), Words{"--compute"});
    const std::string graph = "--visualize-optimized-model";
    EXPECT_EQ(join({"-v"}), Words{graph + "=true"});
    EXPECT_EQ(join({graph, "-q"}), (Words{graph + "=true", "-q"}));
    EXPECT_EQ(join({"-v", "a.dot", graph, "b.dot", "-v", "-"}), (Words{"-v", "a.dot", graph, "b.dot", "-v", "-"}));
    EXPECT_EQ(join({"-qNv", "-Nv", "a.dot"}), (Words{"-qN", graph + "=true", "-Nv", "a.dot"}));
    EXPECT_EQ(join({"-xv", "--v"}), (Words{"-xv", "--v"})) << "x is no flag";
    app.add_option("-n,--concurrent", text)->expected(0, 1);
    EXPECT_EQ(join({"-n", "-n=4", "-n4", "-Nn", "4", "--concurrent=true"}),
              (Words{"-n", "--concurrent=4", "-n4", "-Nn", "4", "--concurrent=true"}));
    EXPECT_EQ(join({"-nN", "-qnN", "-nx"}), (Words{"-N", "--concurrent=true", "-qN", "--concurrent=true", "-nx"}));
}

} // namespace
} // namespace tenon::tools
