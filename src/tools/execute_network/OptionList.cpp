// SPDX-License-Identifier: Apache-2.0
// See OptionList.hpp.
#include "tools/execute_network/OptionList.hpp"

#include "tools/common/CommandLine.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/Help.hpp"
#include "tools/common/OptionValues.hpp"
#include "tools/common/Strings.hpp"
#include "tools/execute_network/OptionGroups.hpp"

#include <fmt/format.h>

#include <cstring>
#include <functional>
#include <limits>

namespace tenon::tools
{
namespace
{

void DeclareModel(CLI::App& app, Options& options, RawOptions& raw)
{
    app.option_defaults()->group(groups::Model);
    app.add_option("-m,--model-path", options.m_ModelPath,
                   "The model, or - for standard input. A TensorFlow Lite (.tflite, .task, .litertlm), ONNX or Arm NN "
                   "(.armnn) model, or a file of --serialize (.tenon)")
        ->type_name("FILE");
    app.add_option(
           "-f,--model-format", options.m_ModelFormat,
           "tflite-binary, tflite, onnx-binary, onnx, armnn-binary, armnn or tenon. Not needed: content decides")
        ->type_name("NAME");
    app.add_option("--entry", options.m_Entry, "The model in a .task or .litertlm file that holds several")
        ->type_name("NAME");
    app.add_option("--signature", options.m_Signature, "The signature of the model to run")->type_name("NAME");
    AddNumber(app, "-x,--subgraph-number,--subgraph", options.m_Subgraph, 0, AnyNumber,
              "The subgraph of the model to run (default 0)", options.m_SubgraphOption);
    AddList(app, "--dim", raw.m_Dimensions, "NAME=SIZE",
            "A size that an ONNX model leaves open, by its name in it, or INPUT.N for dimension N where it has none. "
            "May be given several times");
    app.add_option("--describe", raw.m_DescribedPath,
                   "Print what the model of -m, or this one, has and needs, and what backends do not support, in place "
                   "of running it; of a folder, a table")
        ->expected(0, 1)
        ->type_name("[PATH]");
    app.add_option("--can-run", options.m_ModelFolder,
                   "Print which models in a folder, in place of -m, the backends can run, and why not")
        ->type_name("FOLDER");
}

void DeclareBackends(CLI::App& app, Options& options, RawOptions& raw)
{
    app.option_defaults()->group(groups::Backends);
    AddList(app, "-c,--compute", raw.m_Compute, "NAME,...",
            "Backends in order of preference, CpuAcc,CpuRef by default; possible choices: [ CpuAcc, CpuRef ] and those "
            "of -b");
    app.add_option("-b,--dynamic-backends-path", options.m_DynamicBackendsPath,
                   "A folder of backends (*_backend.so) to load, or one such file; also TENON_DYNAMIC_BACKENDS_PATH in "
                   "the environment")
        ->envname("TENON_DYNAMIC_BACKENDS_PATH")
        ->type_name("PATH");
    AddNumber(app, "--number-of-threads", options.m_NumberOfThreads, 0, MaxThreads,
              "Threads of one run; 0, the default: all cores");
    AddNumber(app, "--max-partitions", options.m_MaxPartitions, 0, AnyNumber,
              "For each backend of -c but the last, which takes the rest: how many of its largest subgraphs it runs "
              "(default 0: all)");
    AddNumber(app, "--min-layers-per-partition", options.m_MinLayersPerPartition, 0, AnyNumber,
              "For each backend of -c but the last: subgraphs with fewer layers go to the next one");
    app.add_flag("--all-or-nothing", options.m_AllOrNothing,
                 "For each backend of -c but the last: it runs all layers or none");
    app.add_flag("--fp16-turbo-mode", options.m_Fp16,
                 "Float16 in place of Float32 wherever backends can: numbers above 65504 become infinite, and those "
                 "below 6e-8 zero");
    app.add_flag("--bf16-turbo-mode", options.m_Bf16, "BFloat16 in place of Float32 wherever that is faster");
    app.add_flag("--enable-fast-math", options.m_FastMath,
                 "Let CpuAcc compute Float32 convolutions of 3x3 with fewer multiplications, rounded otherwise");
    app.add_flag("--print-assignment", options.m_PrintAssignment, "Print which backend runs which layer, and why");
    app.add_flag("--print-plan", options.m_PrintPlan,
                 "Print how the network runs: each layer's kernel and memory, kernels that declined it, and each "
                 "fusion of layers that was tried, with reasons");
    app.add_option("--plan-json", options.m_PlanFile, "Write the same as JSON")->type_name("FILE");
    AddList(app, "--without-fusion", raw.m_DisabledFusions, "NAME",
            "Run layers without one of the fusions that --print-plan names. May be given several times");
}

void DeclareInputs(CLI::App& app, Options& options, RawOptions& raw)
{
    app.option_defaults()->group(groups::Inputs);
    app.add_option("-d,--input-tensor-data", raw.m_InputFiles,
                   "Files of the inputs, a folder or a 'pattern' of them. One file per input: .npy; a picture (PNG, "
                   "JPEG, BMP), which is resized to the input; .bin with the tensor's raw bytes; text with numbers. "
                   "One .npz holds all inputs, by name or as arr_0, arr_1. Of a folder or a pattern in quotes "
                   "('day?/*.jpg') each file is an inference, in natural order; for several inputs give one for each, "
                   "or .npz files. With -I N, several sets of files take turns. Without -d, inputs are seeded random "
                   "values")
        ->type_name("FILE,...");
    AddList(app, "-i,--input-name", raw.m_InputNames, "NAME,...", "Names of the inputs, in the order of -d and -s");
    app.add_option("-s,--input-tensor-shape", raw.m_InputShapes,
                   "New shapes of the inputs, e.g. 1,224,224,3:1,10; an empty one keeps the model's")
        ->type_name("SHAPE:...");
    app.add_flag("-q,--quantize-input", options.m_QuantizeInputs,
                 "Files of -d for quantized inputs hold real numbers (pictures aside), to be quantized as the model "
                 "says");
    AddNumbers(app, "--input-mean", options.m_InputMean, true,
               "For pictures: they become (p - mean) / std. For float inputs always (default: that of a .tflite "
               "model's metadata, else 127.5); for 8-bit inputs, which otherwise take the bytes as they are, if mean "
               "or std is given. One number, or one for each channel: 123.675,116.28,103.53");
    AddNumbers(app, "--input-std", options.m_InputStd, false, "See --input-mean, with the same defaults");
    app.add_flag("--keep-states", options.m_KeepStates,
                 "Let each iteration, or file of a folder, go on with the states (of variables and recurrent layers) "
                 "that the one before left. Otherwise each is a first step");
}

void DeclareOutputs(CLI::App& app, Options& options, RawOptions& raw)
{
    app.option_defaults()->group(groups::Outputs);
    AddList(app, "-o,--output-name", raw.m_OutputNames, "NAME,...", "Names of the outputs to give, in the order of -w");
    app.add_option("-w,--write-outputs-to-file", raw.m_OutputFiles,
                   "One file to write per output: .npy, or text where its name ends with .txt. It is that of the last "
                   "iteration; with -I N, several sets of files take turns. With a folder or pattern in -d, a folder, "
                   "or a name with * for that of the input: 'out/*.txt'")
        ->type_name("FILE,...");
    app.add_flag("-l,--dequantize-output", options.m_DequantizeOutputs,
                 "Print, write and compare quantized outputs as the real numbers (Float32) for which they stand");
    app.add_option("--labels", options.m_LabelsFile,
                   "Names of the classes, one a line. Default: those in a .tflite model's metadata, for outputs with "
                   "as many classes")
        ->type_name("FILE");
    AddNumber(app, "--top-k", raw.m_TopK, 1, AnyNumber, "Print the N best classes (5 with labels)");
    app.add_flag("-N,--do-not-print-output", options.m_DoNotPrintOutput, "Print no tensors");
    app.add_option("--report-json", options.m_ReportFile,
                   "Write times, memory, tensors and assignment as JSON. Of a folder or pattern, the results of each "
                   "file are in it, too")
        ->type_name("FILE");
    app.add_flag("--armnn-output", options.m_ArmNNOutput,
                 "Print as Arm NN's ExecuteNetwork does: times as 'Info: Inference time: X ms', all values as 'name: v "
                 "v v', 'ArmNN' as root of the profile; -w writes text but for .npy. Also with TENON_ARMNN_OUTPUT=1 in "
                 "the environment")
        ->envname("TENON_ARMNN_OUTPUT");
    app.add_flag("-p,--print-intermediate-layers", options.m_PrintLayers,
                 "Print the outputs of each layer, a line of JSON for each");
    app.add_flag("-F,--print-intermediate-layers-to-file", options.m_WriteLayers,
                 "Write the outputs of each layer to .npy files in the folder TenonIntermediateLayerOutputs");
    app.add_option("--intermediate-layers-folder", options.m_LayersFolder,
                   "Another folder for -F, which this implies; it is made where it is not there")
        ->type_name("FOLDER");
}

/// A number of seconds or the like, of which there are none below 0.
void AddTime(CLI::App& app, const char* option, const char* type, const std::function<void(float)>& set,
             const char* description)
{
    const char* const name = std::strstr(option, "--");
    const auto parse = [set, name](const std::string& text)
    {
        const float time = ParseFinite(text, name, true);
        if (time < 0.0f)
        {
            throw UsageError(fmt::format("{}: '{}' is below 0", name, OneLine(text)));
        }
        set(time);
    };
    app.add_option_function<std::string>(option, parse, description)->type_name(type);
}

void DeclareBenchmark(CLI::App& app, Options& options, RawOptions& raw)
{
    app.option_defaults()->group(groups::Benchmark);
    BenchmarkOptions& benchmark = options.m_Benchmark;
    app.add_flag("--benchmark", benchmark.m_IsAsked,
                 "Run again and again, and print times and memory alone, also in the lines of TensorFlow Lite's "
                 "benchmark_model");
    AddNumber(app, "-I,--iterations,--min-runs,--num-runs", options.m_Iterations, 1, MaxIterations,
              "Run N times (default 1). With --benchmark at least N times (default 50)", "--iterations");
    AddNumber(app, "--warmup-runs", benchmark.m_WarmupRuns, 0, MaxIterations,
              "Inferences before the measured ones (default 1)");
    AddTime(
        app, "--min-secs", "SECONDS", [&benchmark](float time) { benchmark.m_Bounds.m_MinSeconds = double{time}; },
        "Measure for so long at least (default 1)");
    AddTime(
        app, "--max-secs", "SECONDS", [&benchmark](float time) { benchmark.m_Bounds.m_MaxSeconds = double{time}; },
        "Begin no inference later, even if there were fewer than -I (default 150)");
    app.add_option("-n,--concurrent", raw.m_Callers,
                   "So many callers at once, which share the cores unless --number-of-threads is given; without a "
                   "number no effect, as in Arm NN")
        ->expected(0, 1)
        ->type_name("[N]");
    app.add_option("--against", benchmark.m_Against,
                   "Take turns with another model, other backends (CpuRef) or another build of the library "
                   "(libtenon.so), and print the ratio of times with a confidence interval")
        ->type_name("FILE|NAME,...");
    AddTime(
        app, "-r,--threshold-time", "MS", [&options](float time) { options.m_MaxInferenceMs = time; },
        "End with status 5 where an iteration took more than these milliseconds (default 0: no bound)");
    app.add_flag("--serve-turns", benchmark.m_ServesTurns,
                 "For --against alone: run as requests of another process say")
        ->group(""); // not in the help
}

void DeclareProfile(CLI::App& app, Options& options, RawOptions& raw)
{
    app.option_defaults()->group(groups::Profile);
    app.add_flag("--profile,--enable-op-profiling", options.m_PrintProfileTables,
                 "Print tables of the time by layer and operator type, with -I N the mean of all but the first");
    app.add_flag("--roofline", options.m_MeasurePeaks,
                 "Measure the peak rates of the machine, for about a second, and show how much of them each layer "
                 "reaches");
    app.add_option("--profile-html", options.m_ProfilePage,
                   "Write a page for browsers: graph, time by layer, memory over time, backends with reasons")
        ->type_name("FILE");
    app.add_option("--profile-against", options.m_ProfileAgainst,
                   "An earlier --report-json to compare with on that page")
        ->type_name("FILE");
    app.add_flag("-e,--event-based-profiling", options.m_PrintProfile,
                 "Print the steps with start and duration, as JSON");
    app.add_option("--profile-json", options.m_ProfileFile, "Write the same to a file")->type_name("FILE");
    app.add_option("--chrome-trace", options.m_ChromeTraceFile, "The same as a trace for chrome://tracing or Perfetto")
        ->type_name("FILE");
    app.add_flag("--output-network-details", raw.m_Details, "Let -e (implied) or --profile-json describe workloads");
    app.add_flag("--output-network-details-only", raw.m_DetailsOnly, "The same without events");
}

void DeclareCompare(CLI::App& app, Options& options, RawOptions& raw)
{
    app.option_defaults()->group(groups::Compare);
    AddList(app, "--compare-with", raw.m_CompareWith, "REFERENCE,...",
            "Compare the outputs of each inference with those of a reference, with figures, and histograms of ULP or "
            "quantization steps. Backends: the model on these. A model: that model, on backends given with it or on "
            "those of -c. Else files, as -w writes them, or an .npz file. Without -d, 50 runs (--num-runs) with "
            "random, Gaussian inputs");
    app.add_option("--tolerance", raw.m_Tolerance,
                   "End with status 6 if elements differ by more than all of these bounds: abs=X or X alone, rel=X of "
                   "the reference, ulp=N of floats, steps=N of quantized outputs; e.g. rel=1e-3,abs=1e-6. Integers, "
                   "NaN and infinity must be equal")
        ->type_name("BOUND,...");
    app.add_flag("--compare-layers", options.m_ComparesLayers,
                 "Also run both networks layer by layer, and print the error at each layer and where it begins");
    app.add_option("-C,--compare-output", raw.m_CompareFiles,
                   "One file per output, as -w writes them, to print the root of the mean square difference of bytes, "
                   "and the largest difference of floats")
        ->type_name("FILE,...");
    AddList(app, "-B,--compare-output-with-backend", raw.m_CompareBackends, "NAME,...",
            "The same against a run of the last iteration on these backends");
}

void DeclareFiles(CLI::App& app, Options& options, RawOptions& raw)
{
    app.option_defaults()->group(groups::Files);
    app.add_option("--serialize", options.m_SerializeFile,
                   "Write the network as a .tenon file, before optimization; no other format is written")
        ->type_name("FILE");
    app.add_option("--serialize-optimized", options.m_SerializeOptimizedFile,
                   "Write the optimized network as a .tenon file, which loads without optimization")
        ->type_name("FILE");
    app.add_option("-v,--visualize-optimized-model", raw.m_Graph,
                   "Write the optimized network in Graphviz' language (dot -Tsvg FILE); without a name, to that of "
                   "the model with .dot as ending, as Arm NN's program does")
        ->type_name("[FILE]");
    app.add_flag("--save-cached-network", options.m_SaveCachedNetwork,
                 "Write what CpuAcc packs of the weights to the file of --cached-network-filepath");
    app.add_option("--cached-network-filepath", options.m_CachedNetworkFile,
                   "Without --save-cached-network: a file that was saved so, for CpuAcc to read in place of packing. "
                   "One of another model, other instructions or another version is refused")
        ->type_name("FILE");
}

HelpText MakeHelpText()
{
    HelpText text;
    text.m_Description = "Runs a neural network on input files and prints or writes what comes out.";
    text.m_Usage = "ExecuteNetwork -m MODEL [-d FILE,...] [OPTION...]";
    text.m_CommonOptions = {"--model-path", "--compute", "--input-tensor-data", "--write-outputs-to-file",
                            "--labels",     "--top-k",   "--input-mean",        "--iterations",
                            "--report-json"};
    text.m_Groups = {
        {groups::General, "this help, the version, bounds"},
        {groups::Model, "the file, its format, and the part of it that runs"},
        {groups::Backends, "backends, threads, types; which backend runs which layer"},
        {groups::Inputs, "files of the inputs, and how they become tensors"},
        {groups::Outputs, "printed and written outputs, classes, the report"},
        {groups::Benchmark, "repeated runs, their times, and comparisons of times"},
        {groups::Profile, "where the time goes"},
        {groups::Compare, "outputs compared with backends, models and files"},
        {groups::Files, "the network and its packed weights as files; names of files",
         "Names of files: '-' is standard input where one is read, and standard output where one is written, which "
         "then takes nothing else; text for people goes to standard error. Pipes and devices are read and written as "
         "they are, but for --cached-network-filepath, which takes regular files alone. In lists a backslash before a "
         "comma makes it a part of the name (a\\,b.npy is one file), and \\\\ is a backslash."}};
    text.m_BriefOptions = ArmNNOptions::GetNames();
    text.m_BriefTitle = "Options of Arm NN's ExecuteNetwork without effect, or answered with another option "
                        "(docs/execute-network.md):";
    text.m_Examples = {"ExecuteNetwork -m model.tflite -d picture.jpg --labels labels.txt",
                       "ExecuteNetwork -m model.tflite -d 'pictures/*.jpg' --top-k 1",
                       "ExecuteNetwork -m model.onnx --dim batch=4 -d inputs.npz -w outputs.npy"};
    text.m_End = "Exit status: 0 success; 2 bad arguments; 3 the model or an input file is missing, corrupt or "
                 "contradictory; 4 an operator or type is not supported by the chosen backends; 5 a failure while "
                 "running; 6 --tolerance is exceeded.";
    return text;
}

} // namespace

void DeclareOptions(CLI::App& app, Options& options, RawOptions& raw, ArmNNOptions& armNN)
{
    app.option_defaults()->group(groups::General);
    DeclareGeneral(app, "ExecuteNetwork", raw.m_HelpTopic, raw.m_Limits);
    DeclareModel(app, options, raw);
    DeclareBackends(app, options, raw);
    DeclareInputs(app, options, raw);
    DeclareOutputs(app, options, raw);
    DeclareBenchmark(app, options, raw);
    DeclareProfile(app, options, raw);
    DeclareCompare(app, options, raw);
    DeclareFiles(app, options, raw);
    armNN.Declare(app);
}

std::string FormatOptionHelp(const CLI::App& app, const std::string& topic, size_t width)
{
    return FormatHelp(app, MakeHelpText(), topic, width);
}

} // namespace tenon::tools
