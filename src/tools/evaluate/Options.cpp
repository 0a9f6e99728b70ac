// SPDX-License-Identifier: Apache-2.0
// See Options.hpp.
#include "tools/evaluate/Options.hpp"

#include "tools/common/CommandLine.hpp"
#include "tools/common/Elements.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/Help.hpp"
#include "tools/common/LimitOption.hpp"
#include "tools/common/OptionValues.hpp"
#include "tools/common/Strings.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace tenon::tools::evaluate
{
namespace
{

constexpr const char* General = "General";
constexpr const char* ModelGroup = "Model";
constexpr const char* Pictures = "Pictures";
constexpr const char* Truth = "Truth";
constexpr const char* DetectionGroup = "Detection";
constexpr const char* Outputs = "Outputs";

constexpr unsigned int MaxJobs = 1024;
constexpr unsigned int MaxTopK = 1000;
constexpr unsigned int MaxWorst = 100;
constexpr int MaxOffset = 1'000'000;

/// Values before lists are split and checked.
struct RawOptions
{
    std::string m_HelpTopic;
    std::vector<std::string> m_Limits;
    std::vector<std::string> m_Compute;
    std::vector<std::string> m_Dimensions;
    std::vector<std::string> m_OutputNames;
    std::vector<std::string> m_Parts;
    std::string m_BoxFormat;
    std::string m_BoxUnit;
    std::string m_ClassMap;
    std::string m_IgnoreLabel;
};

template <typename Value, size_t N>
using Choices = std::array<std::pair<std::string_view, Value>, N>;

constexpr Choices<BoxFormat, 4> BoxFormats = {
    {{"yxyx", BoxFormat::Yxyx}, {"xyxy", BoxFormat::Xyxy}, {"xywh", BoxFormat::Xywh}, {"cxcywh", BoxFormat::Cxcywh}}};
constexpr Choices<BoxUnit, 2> BoxUnits = {{{"picture", BoxUnit::Picture}, {"pixel", BoxUnit::InputPixel}}};
constexpr Choices<DetectionPart, 4> Parts = {{{"boxes", DetectionPart::Boxes},
                                              {"classes", DetectionPart::Classes},
                                              {"scores", DetectionPart::Scores},
                                              {"count", DetectionPart::Count}}};

template <typename Value, size_t N>
Value Choose(const std::string& text, const Choices<Value, N>& choices, const char* option)
{
    std::string names;
    for (const auto& [name, value] : choices)
    {
        if (text == name)
        {
            return value;
        }
        names += (names.empty() ? "" : ", ") + std::string(name);
    }
    throw UsageError(fmt::format("{}: '{}' is none of {}", option, OneLine(text), names));
}

/// A whole number, which may be below 0.
int ParseOffset(const std::string& text, const char* option)
{
    int number = 0;
    const bool isNumber = ParseElement(DataType::Signed32, text, reinterpret_cast<std::byte*>(&number), 0);
    if (!isNumber || number < -MaxOffset || number > MaxOffset)
    {
        throw UsageError(
            fmt::format("{}: '{}' is no whole number in {}..{}", option, OneLine(text), -MaxOffset, MaxOffset));
    }
    return number;
}

void DeclareModel(CLI::App& app, Options& options, RawOptions& raw)
{
    app.option_defaults()->group(ModelGroup);
    app.add_option("-m,--model-path", options.m_ModelPath,
                   "The model, of a format that ExecuteNetwork reads. It has one input")
        ->type_name("FILE");
    app.add_option("--entry", options.m_Entry, "The model to run of a file that holds several, by name")
        ->type_name("NAME");
    app.add_option("--signature", options.m_Signature, "The signature of the model to run")->type_name("NAME");
    AddList(app, "--dim", raw.m_Dimensions, "NAME=SIZE",
            "The size of a dimension that an ONNX model leaves open and pictures do not give. May be given several "
            "times");
    AddList(app, "-c,--compute", raw.m_Compute, "NAME,...", "Backends in order of preference (default CpuAcc,CpuRef)");
    app.add_option("-b,--dynamic-backends-path", options.m_DynamicBackendsPath,
                   "A folder of backends (*_backend.so) to load, or one such file; also TENON_DYNAMIC_BACKENDS_PATH in "
                   "the environment")
        ->envname("TENON_DYNAMIC_BACKENDS_PATH")
        ->type_name("PATH");
    app.add_flag("--fp16-turbo-mode", options.m_Fp16, "Float16 in place of Float32 wherever backends can");
    app.add_flag("--bf16-turbo-mode", options.m_Bf16, "BFloat16 in place of Float32 wherever backends can");
    app.add_flag("--enable-fast-math", options.m_FastMath,
                 "Let CpuAcc compute 3x3 convolutions of Float32 by Winograd");
    AddNumber(app, "-j,--jobs", options.m_Jobs, 0, MaxJobs,
              "Pictures that run at a time; 0, the default: one for each core. Results are the same for any number");
    AddNumber(app, "--number-of-threads", options.m_Threads, 0, MaxThreads,
              "Threads of one inference (default 1); 0: all cores");
}

void DeclarePictures(CLI::App& app, Options& options)
{
    app.option_defaults()->group(Pictures);
    app.add_option("-d,--images", options.m_Images,
                   "A folder or a 'pattern' of pictures (PNG, JPEG, BMP), which are resized to the input as "
                   "ExecuteNetwork does, or of .npy files. Where a folder has folders alone, the pictures in these")
        ->type_name("FOLDER");
    AddNumber(app, "--num-images", options.m_NumImages, 0, AnyNumber, "The first N of them alone (default 0: all)");
    AddNumbers(app, "--input-mean", options.m_InputMean, true,
               "Pictures become (p - mean) / std. Defaults: those of the model's metadata, else 127.5 for float "
               "inputs; 8-bit inputs take the bytes. One number, or one for each channel");
    AddNumbers(app, "--input-std", options.m_InputStd, false, "See --input-mean");
}

void DeclareTruth(CLI::App& app, Options& options, RawOptions& raw)
{
    app.option_defaults()->group(Truth);
    app.add_option(
           "-g,--ground-truth", options.m_GroundTruth,
           "A text file with labels, COCO's JSON file or a folder of masks. Labels are lines 'picture label', or "
           "one label a line for pictures in the order of their names; without this option, each picture's "
           "folder has the name of its class. COCO's file is for detection, and masks are for segmentation: PNG "
           "files with the pictures' names")
        ->type_name("FILE");
    app.add_option("--labels", options.m_LabelsFile,
                   "Names of the model's classes, one a line. Default: those in a .tflite model's metadata")
        ->type_name("FILE");
    app.add_option_function<std::string>(
           "--label-offset",
           [&options](const std::string& text) { options.m_LabelOffset = ParseOffset(text, "--label-offset"); },
           "Added to numbers that are labels of the ground truth: 1 for a model with a background class 0 (default 0)")
        ->type_name("N");
    app.add_option("--ignore-label", raw.m_IgnoreLabel,
                   "The value of pixels in masks that do not count (default 255), or 'none'")
        ->type_name("N");
}

void DeclareDetection(CLI::App& app, Options& options, RawOptions& raw)
{
    app.option_defaults()->group(DetectionGroup);
    AddList(app, "--detection-outputs", raw.m_Parts, "PART,...",
            "The parts that the outputs are, in the order of the model or of -o (default "
            "boxes,classes,scores,count, as TFLite_Detection_PostProcess has them; without count all boxes count)");
    app.add_option("--box-format", raw.m_BoxFormat,
                   "The numbers of a box: yxyx (default: top, left, bottom, right), xyxy, xywh (left, top, width, "
                   "height) or cxcywh (centre and size)")
        ->type_name("NAME");
    app.add_option("--box-unit", raw.m_BoxUnit,
                   "Their unit: picture (default: 1 is the picture's width or height) or pixel (of the input)")
        ->type_name("NAME");
    app.add_option("--class-map", raw.m_ClassMap,
                   "The category of a class: 'names' (that of the class's label; default where there are labels), "
                   "'order' (class 0 is that of the lowest id) or a number to add to the class for the category's id "
                   "(default 1)")
        ->type_name("MAP");
    const auto parseScore = [&options](const std::string& text)
    { options.m_Detection.m_MinScore = ParseFinite(text, "--min-score", true); };
    app.add_option_function<std::string>("--min-score", parseScore, "Detections with a lower score do not count")
        ->type_name("FLOAT");
    app.add_option("--write-detections", options.m_Detection.m_File,
                   "Write the detections in COCO's form of results, as pycocotools reads it")
        ->type_name("FILE");
}

void DeclareOutputs(CLI::App& app, Options& options, RawOptions& raw)
{
    app.option_defaults()->group(Outputs);
    AddList(app, "-o,--output-name", raw.m_OutputNames, "NAME,...",
            "The output with the scores, or the outputs of a detection (default: all outputs of the model)");
    AddNumber(app, "--top-k", options.m_TopK, 1, MaxTopK, "Print the accuracy of the best 1 to N classes (default 10)");
    app.add_option("--report-json", options.m_ReportFile, "Write figures and the result of each picture as JSON")
        ->type_name("FILE");
    app.add_option("--report-html", options.m_PageFile,
                   "Write a page with charts, confusions and the worst pictures, in one file")
        ->type_name("FILE");
    AddNumber(app, "--worst", options.m_NumWorst, 0, MaxWorst, "Pictures on that page (default 24)");
    app.add_option("--state", options.m_StateFile,
                   "Keep results of finished pictures in this file. A run that was interrupted goes on from it; a file "
                   "of another model or other options is refused")
        ->type_name("FILE");
}

HelpText MakeHelpText()
{
    HelpText text;
    text.m_Description = "Measures the accuracy of a model over many pictures: classification, detection and "
                         "segmentation. The ground truth tells which.";
    text.m_Usage = "tenon-evaluate -m MODEL -d FOLDER [-g TRUTH] [OPTION...]";
    text.m_CommonOptions = {"--model-path", "--images",      "--ground-truth", "--labels", "--input-mean",
                            "--jobs",       "--report-html", "--report-json",  "--state"};
    text.m_Groups = {{General, "this help, the version, bounds"},
                     {ModelGroup, "the model, its backends and threads"},
                     {Pictures, "the pictures, and how they become inputs"},
                     {Truth, "the ground truth and the names of classes"},
                     {DetectionGroup, "boxes, and the classes that they have"},
                     {Outputs, "figures, reports, the state of a long run"}};
    text.m_Examples = {"tenon-evaluate -m model.tflite -d val -g val.txt --labels labels.txt",
                       "tenon-evaluate -m ssd.tflite -d val2017 -g instances.json --report-html ssd.html",
                       "tenon-evaluate -m deeplab.tflite -d images -g masks -j 4 --state deeplab.state"};
    text.m_End = "Exit status: 0 success; 2 bad arguments; 3 the model, a picture or the ground truth is missing, "
                 "corrupt or contradictory; 4 an operator or type is not supported by the chosen backends; 5 a failure "
                 "while running.";
    return text;
}

void SetClassMap(const std::string& text, DetectionOptions& options)
{
    options.m_ClassMap = text == "names" ? ClassMap::ByName : text == "order" ? ClassMap::ByOrder : ClassMap::ByOffset;
    if (*options.m_ClassMap == ClassMap::ByOffset)
    {
        try
        {
            options.m_ClassOffset = ParseOffset(text, "--class-map");
        }
        catch (const UsageError&)
        {
            throw UsageError(
                fmt::format("--class-map: '{}' is none of names, order and a whole number", OneLine(text)));
        }
    }
}

void SetParts(const std::vector<std::string>& names, DetectionOptions& options)
{
    for (const std::string& name : SplitList(names, "--detection-outputs", Repeated::Refused))
    {
        options.m_Parts.push_back(Choose(name, Parts, "--detection-outputs"));
    }
    for (const DetectionPart part : {DetectionPart::Boxes, DetectionPart::Classes, DetectionPart::Scores})
    {
        const std::vector<DetectionPart>& parts = options.m_Parts;
        if (!parts.empty() && std::find(parts.begin(), parts.end(), part) == parts.end())
        {
            throw UsageError("--detection-outputs: boxes, classes and scores are needed, and count may be left out");
        }
    }
}

void CheckPaths(const CLI::App& app, const Options& options)
{
    for (const char* option : {"--entry", "--signature", "--ground-truth", "--labels", "--report-json", "--report-html",
                               "--state", "--write-detections"})
    {
        const std::vector<std::string>& values = app.get_option(option)->results();
        if (std::find(values.begin(), values.end(), "") != values.end())
        {
            throw UsageError(fmt::format("{}: nothing is given", option));
        }
    }
    if (options.m_ModelPath.empty())
    {
        throw UsageError("--model-path: name a model file (see --help)");
    }
    if (options.m_Images.empty())
    {
        throw UsageError("--images: name a folder or a pattern of pictures (see --help)");
    }
}

} // namespace

CommandLine ParseCommandLine(int argc, const char* const* argv, size_t helpWidth)
{
    CommandLine line;
    Options& options = line.m_Options;
    RawOptions raw;
    CLI::App app;
    app.allow_extras();
    app.option_defaults()->group(General);
    DeclareGeneral(app, "tenon-evaluate", raw.m_HelpTopic, raw.m_Limits);
    DeclareModel(app, options, raw);
    DeclarePictures(app, options);
    DeclareTruth(app, options, raw);
    DeclareDetection(app, options, raw);
    DeclareOutputs(app, options, raw);
    const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    line.m_Text = ParseWords(
        app, words, {"--images", {}, [&] { return FormatHelp(app, MakeHelpText(), raw.m_HelpTopic, helpWidth); }});
    if (line.m_Text)
    {
        return line;
    }
    CheckPaths(app, options);
    options.m_Compute = SplitList(raw.m_Compute, "--compute", Repeated::LeftOut);
    if (options.m_Compute.empty())
    {
        options.m_Compute = {"CpuAcc", "CpuRef"};
    }
    const bool hasCpuAcc =
        std::find(options.m_Compute.begin(), options.m_Compute.end(), "CpuAcc") != options.m_Compute.end();
    if (options.m_FastMath && !hasCpuAcc)
    {
        throw UsageError("--enable-fast-math: CpuAcc alone has this option; name it in --compute");
    }
    if (options.m_Fp16 && options.m_Bf16)
    {
        throw UsageError("--fp16-turbo-mode and --bf16-turbo-mode exclude each other");
    }
    options.m_OutputNames = SplitList(raw.m_OutputNames, "--output-name", Repeated::Refused);
    options.m_Dimensions = ParseDimensions(raw.m_Dimensions);
    options.m_Limits = ParseLimits(raw.m_Limits);
    SetParts(raw.m_Parts, options.m_Detection);
    if (app.count("--box-format") > 0)
    {
        options.m_Detection.m_BoxFormat = Choose(raw.m_BoxFormat, BoxFormats, "--box-format");
    }
    if (app.count("--box-unit") > 0)
    {
        options.m_Detection.m_BoxUnit = Choose(raw.m_BoxUnit, BoxUnits, "--box-unit");
    }
    if (app.count("--class-map") > 0)
    {
        SetClassMap(raw.m_ClassMap, options.m_Detection);
    }
    if (raw.m_IgnoreLabel == "none")
    {
        options.m_IgnoreLabel.reset();
    }
    else if (app.count("--ignore-label") > 0)
    {
        options.m_IgnoreLabel = ParseNumber(raw.m_IgnoreLabel, "--ignore-label", 0, 255);
    }
    return line;
}

} // namespace tenon::tools::evaluate
