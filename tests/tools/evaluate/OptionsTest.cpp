// SPDX-License-Identifier: Apache-2.0
// The command line: help, the version, and wrong words.
#include "tools/evaluate/Options.hpp"

#include "Evaluation.hpp"
#include "tools/common/Errors.hpp"
#include "tools/harness/Expect.hpp"

#include <algorithm>

namespace tenon::tools::evaluate
{
namespace
{

CommandLine Parse(std::vector<const char*> words)
{
    words.insert(words.begin(), "tenon-evaluate");
    return ParseCommandLine(static_cast<int>(words.size()), words.data(), 80);
}

const std::vector<const char*> Usual = {"-m", "model.tflite", "-d", "in"};

Options ParseWith(const std::vector<const char*>& more)
{
    std::vector<const char*> words = Usual;
    words.insert(words.end(), more.begin(), more.end());
    return Parse(words).m_Options;
}

TEST(EvaluateOptions, HelpIsAScreenForEachGroup)
{
    constexpr long maxLines = 40;
    constexpr long maxGroupLines = 25;
    const std::string overview = *Parse({"--help"}).m_Text;
    EXPECT_LE(std::count(overview.begin(), overview.end(), '\n'), maxLines);
    for (const char* group : {"general", "model", "pictures", "truth", "detection", "outputs"})
    {
        const std::string text = *Parse({"--help", group}).m_Text;
        EXPECT_LE(std::count(text.begin(), text.end(), '\n'), maxGroupLines) << text;
        EXPECT_TRUE(Has(overview, std::string("  ") + group + " ")) << overview;
    }
    EXPECT_TRUE(Has(*Parse({"--version"}).m_Text, "tenon-evaluate (Tenon) "));
}

TEST(EvaluateOptions, ValuesAreParsed)
{
    const Options options = ParseWith({"-j", "3", "--class-map", "-2", "--box-format", "xywh", "--box-unit", "pixel",
                                       "--ignore-label", "none", "--detection-outputs", "scores,boxes,classes",
                                       "--label-offset", "-1", "--min-score", "0.25"});
    EXPECT_EQ(options.m_Jobs, 3U);
    EXPECT_EQ(options.m_Detection.m_ClassMap, ClassMap::ByOffset);
    EXPECT_EQ(options.m_Detection.m_ClassOffset, -2);
    EXPECT_EQ(options.m_Detection.m_BoxFormat, BoxFormat::Xywh);
    EXPECT_EQ(options.m_Detection.m_BoxUnit, BoxUnit::InputPixel);
    EXPECT_EQ(options.m_Detection.m_Parts,
              (std::vector{DetectionPart::Scores, DetectionPart::Boxes, DetectionPart::Classes}));
    EXPECT_EQ(options.m_Detection.m_MinScore, 0.25F);
    EXPECT_EQ(options.m_LabelOffset, -1);
    EXPECT_FALSE(options.m_IgnoreLabel);
    EXPECT_EQ(options.m_Compute, (std::vector<std::string>{"CpuAcc", "CpuRef"}));
    EXPECT_EQ(ParseWith({}).m_IgnoreLabel, 255U);
}

TEST(EvaluateOptions, WrongWordsAreRefused)
{
    EXPECT_THROW_WITH(Parse({}), UsageError, "--model-path: name a model file");
    EXPECT_THROW_WITH(Parse({"-m", "x"}), UsageError, "--images: name a folder");
    EXPECT_THROW_WITH(ParseWith({"--label", "x"}), UsageError, "--labels");
    EXPECT_THROW_WITH(ParseWith({"--jobs", "-1"}), UsageError, "--jobs: '-1' is no whole number in 0..1024");
    EXPECT_THROW_WITH(ParseWith({"--top-k", "0"}), UsageError, "--top-k: '0' is no whole number in 1..1000");
    EXPECT_THROW_WITH(ParseWith({"--label-offset", "1.5"}), UsageError, "--label-offset: '1.5' is no whole number");
    EXPECT_THROW_WITH(ParseWith({"--state", ""}), UsageError, "--state: nothing is given");
    EXPECT_THROW_WITH(ParseWith({"-d", "y"}), UsageError,
                      "--images: it is given more than once; leave all but one out");
    EXPECT_THROW_WITH(ParseWith({"--detection-outputs", "boxes,boxes"}), UsageError, "'boxes' is given twice");
    EXPECT_THROW_WITH(ParseWith({"--enable-fast-math", "-c", "CpuRef"}), UsageError, "CpuAcc alone has this option");
    EXPECT_THROW_WITH(ParseWith({"--fp16-turbo-mode", "--bf16-turbo-mode"}), UsageError, "exclude each other");
    EXPECT_THROW_WITH(ParseWith({"--min-score", "nan"}), UsageError, "--min-score: 'nan' is no finite number");
}

class EvaluateFiles : public Evaluation
{
};

TEST_F(EvaluateFiles, WrongFilesAreRefused)
{
    const std::string digits = WriteDigits(2);
    const auto run = [&](const Words& words) {
        return Evaluate(With({"-d", digits, "-g", m_Folder.Write("truth.txt", "7\n3\n")}, words));
    };
    ExpectFailure(run({"-m", m_Folder.Path("none.tflite")}), 3, "model '" + m_Folder.Path("none.tflite"));
    ExpectFailure(run({"-m", m_Folder.Write("bad.tflite", "no model")}), 3, "bad.tflite");
    ExpectFailure(run({"-m", m_Folder.Write("custom.tflite",
                                            test::TinyModel(test::Custom, {{"x", {1, 8, 8, 1}}}, {{"y", {1, 10}}}))}),
                  4, "NobodyKnowsThis");
    ExpectFailure(run({"-m", DigitsInt8, "-c", "Npu"}), 2, "--compute: there is no backend 'Npu'");
    ExpectFailure(run({"-m", DigitsInt8, "--report-json", m_Folder.Path("truth.txt")}), 2,
                  "is given both as a file to read and as one to write");
    ExpectFailure(run({"-m", DigitsInt8, "--report-json", m_Folder.Path("none/x.json")}), 2, "there is no folder");
    ExpectFailure(run({"-m", DigitsInt8, "--write-detections", m_Folder.Path("x.json")}), 2,
                  "--write-detections: --ground-truth is no JSON file for detection");
    ExpectFailure(run({"-m", DigitsInt8, "-o", "scores"}), 2, "the model has no output 'scores'");
    ExpectFailure(run({"-m", DigitsInt8, "-b", m_Folder.Path("none")}), 2, "--dynamic-backends-path: there is no '");
    ExpectFailure(Evaluate({"-m", DigitsInt8, "-d", digits, "-g", "-"}), 2, "--ground-truth: '-' is a stream");
    ExpectFailure(Evaluate({"-m", DigitsInt8, "-d", digits, "-g", "/dev/null"}), 2, "'/dev/null' is a stream");
    EXPECT_EQ(run({"-m", DigitsFloat, "--fp16-turbo-mode"}).m_Status, 0);
    EXPECT_EQ(run({"-m", DigitsFloat, "--enable-fast-math"}).m_Status, 0);
    const Outcome aside = run({"-m", DigitsInt8, "--report-json", "-"});
    EXPECT_EQ(Json::Parse(aside.m_Out).At("pictures").m_Number, 2.0);
    EXPECT_TRUE(Has(aside.m_Error, "Top-1 Accuracy: 1.000000\n"));
}

} // namespace
} // namespace tenon::tools::evaluate
