// SPDX-License-Identifier: Apache-2.0
// ExecuteNetwork with files that hold several models, and with the metadata of a model as defaults. The scores and the
// order of labels are those of MediaPipe's ImageClassifier (0.10.21).
#include "Program.hpp"
#include "harness/TinyOnnx.hpp"
#include "harness/ZipBuilder.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/Inputs.hpp"
#include "tools/common/Labels.hpp"
#include "tools/harness/Expect.hpp"
#include "tools/harness/Pictures.hpp"
#include "tools/harness/TinyModel.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace tenon::tools
{
namespace
{

using tenon::test::MakeZip;
using tenon::test::WithLittleEndian;

/// A picture of 8x8 pixels for Classifier.
const std::vector<uint8_t> Pixels = {
    244, 99,  52,  184, 130, 116, 180, 83,  121, 147, 8,   60,  218, 44,  190, 252, 229, 123, 16,  45,  148, 8,
    151, 81,  70,  63,  131, 164, 210, 87,  222, 201, 225, 81,  197, 163, 172, 137, 177, 222, 118, 9,   95,  12,
    70,  34,  30,  100, 178, 61,  218, 146, 196, 6,   25,  112, 41,  56,  126, 99,  220, 120, 108, 95,  67,  16,
    71,  10,  151, 79,  97,  27,  148, 138, 235, 138, 225, 122, 157, 122, 32,  210, 73,  245, 17,  65,  201, 61,
    43,  27,  81,  217, 96,  69,  212, 65,  165, 40,  154, 36,  59,  145, 74,  47,  241, 182, 214, 101, 105, 27,
    161, 49,  90,  253, 75,  229, 155, 2,   87,  208, 136, 220, 247, 205, 22,  177, 72,  108, 40,  1,   199, 7,
    152, 1,   132, 65,  187, 112, 17,  114, 199, 104, 69,  151, 52,  123, 44,  115, 213, 150, 177, 154, 155, 79,
    235, 96,  215, 124, 152, 165, 85,  18,  0,   7,   217, 166, 78,  233, 90,  64,  53,  137, 98,  232, 115, 38,
    150, 227, 192, 208, 18,  58,  19,  95,  93,  12,  40,  224, 233, 229, 220, 72};

class ContainersProgram : public Program
{
protected:
    std::string WritePicture() const { return m_Folder.Write("picture.png", test::Png(8, 8, 3, Pixels)); }

    /// A model with one row of the classifier's file replaced by another one of the same length.
    std::string WriteBent(const std::string& from, const std::string& to) const
    {
        std::string content = ReadFile(Classifier);
        const size_t at = content.find(from);
        EXPECT_NE(at, std::string::npos);
        return m_Folder.Write("bent.tflite", content.replace(at, from.size(), to));
    }

    static std::string FloatBytes(float number) { return WithLittleEndian(std::string(4, '\0'), 0, number); }
};

TEST_F(ContainersProgram, SeveralModelsAreListed)
{
    const std::string listed =
        "model '" + Bundle + "': it holds 2 models; choose one with --entry: 'first.tflite' and 'second.tflite'";
    ExpectFailure(Execute({"-m", Bundle}), 2, listed);
    ExpectFailure(Execute({"-m", Bundle, "-N", "-d", "in.npy"}), 2, listed);
    ExpectFailure(Execute({"-m", Bundle, "--entry", "third"}), 3,
                  "the file has no entry 'third'; its models are: 'first.tflite', 'second.tflite'");
    ExpectFailure(ExecuteInShell("cat " + Bundle + " | \"$@\"", {"-m", "-"}), 2, "model '-': it holds 2 models");
    ExpectFailure(Execute({"-m", Bundle, "--entry", ""}), 2, "--entry: nothing is given");
}

TEST_F(ContainersProgram, TheEntryRuns)
{
    const Outcome first = Execute({"-m", Bundle, "--entry", "first.tflite", "-f", "tflite"});
    EXPECT_EQ(first.m_Status, 0) << first.m_Error;
    EXPECT_EQ(first.m_Error, "");
    EXPECT_TRUE(Has(first.m_Out, "input 'x' Float32 [2,4]")) << first.m_Out;
    const Outcome second = ExecuteInShell("cat " + Bundle + " | \"$@\"", {"-m", "-", "--entry", "second.tflite"});
    EXPECT_TRUE(Has(second.m_Out, "input 'x' Float32 [1,8]")) << second.m_Out << second.m_Error;
    const std::string only = m_Folder.Write("only.task", MakeZip({{"METADATA", "text"}, {"m", ReadFile(FloatModel)}}));
    EXPECT_EQ(Execute({"-m", only, "-N"}).m_Status, 0);
    EXPECT_EQ(Execute({"-m", only, "-N", "--entry", "m"}).m_Status, 0);
    EXPECT_EQ(Execute({"-m", only, "-N", "-B", "CpuRef"}).m_Status, 0) << "the file is read again";
}

TEST_F(ContainersProgram, FilesOfOneModelHaveNoEntries)
{
    ExpectFailure(Execute({"-m", FloatModel, "--entry", "a"}), 3, "there is no entry 'a': the file is a model");
    const std::string onnx = m_Folder.Write("a.onnx", tenon::test::MakeTinyOnnx("Relu", {{"x", {"2"}}}).Bytes());
    ExpectFailure(Execute({"-m", onnx, "--entry", "a"}), 2,
                  "--entry: only .task and .litertlm files hold several models");
    ExpectFailure(Execute({"--can-run", m_Folder.Path(""), "--entry", "a"}), 2, "with --can-run it has no effect");
}

TEST_F(ContainersProgram, RefusalsNameTheFault)
{
    const std::string cut = m_Folder.Write("cut.task", ReadFile(Bundle).substr(0, 1000));
    ExpectFailure(Execute({"-m", cut}), 3, "model '" + cut + "': there is no zip archive, or it is cut short");
    const std::string packed = m_Folder.Write("packed.task", MakeZip({{"a.tflite", "packed", 0, 8}}));
    ExpectFailure(Execute({"-m", packed}), 4, "'a.tflite' is compressed in the zip archive (method 8)");
    const std::string other = m_Folder.Write("other.zip", MakeZip({{"data.pkl", "..."}}));
    ExpectFailure(Execute({"-m", other}), 3, "there is no TensorFlow Lite model in the zip archive");
    const std::string litertlm = m_Folder.Write("a.litertlm", "LITERTLM\1");
    ExpectFailure(Execute({"-m", litertlm}), 3, "the .litertlm file is corrupt or cut short: it has 9 bytes");
    const std::string damaged = m_Folder.Write(
        "damaged.task", MakeZip({{"a", ReadFile(FloatModel).substr(0, 999)}, {"b", ReadFile(FloatModel)}}));
    ExpectFailure(Execute({"-m", damaged, "--entry", "a"}), 3,
                  "model '" + damaged + "': 'a': the model is corrupt or cut short");
    EXPECT_EQ(Execute({"-m", damaged, "--entry", "b", "-N"}).m_Status, 0);
    for (const char* name : {"net.task", "net.litertlm"})
    {
        ExpectFailure(Execute({"-m", FloatModel, "-N", "--serialize", m_Folder.Path(name)}), 2, name);
    }
}

TEST_F(ContainersProgram, CanRunHasARowForEachModel)
{
    m_Folder.Write("a.task", MakeZip({{"cut", ReadFile(FloatModel).substr(0, 999)}, {"good", ReadFile(FloatModel)}}));
    m_Folder.Write("b.task", MakeZip({{"only", ReadFile(FloatModel)}}));
    m_Folder.Write("c.litertlm", "LITERTLM");
    m_Folder.Write("assets.zip", MakeZip({{"only", ReadFile(FloatModel)}}));
    const Outcome outcome = Execute({"--can-run", m_Folder.Path(""), "--report-json", m_Folder.Path("report.json")});
    ExpectFailure(outcome, 3, "2 of 4 models cannot run: 0 for lack of support, 2 that cannot be read");
    EXPECT_TRUE(Has(outcome.m_Out, "a.task, cut ")) << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, "no: 'cut': the model is corrupt or cut short")) << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, "a.task, good ")) << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, "b.task ")) << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, "c.litertlm ")) << outcome.m_Out;
    EXPECT_FALSE(Has(outcome.m_Out, "assets.zip")) << "an archive of anything";
    EXPECT_TRUE(Has(m_Folder.Read("report.json"), "\"entry\": \"good\""));
}

TEST_F(ContainersProgram, MetadataGiveNormalizationAndLabels)
{
    const Outcome outcome = Execute({"-m", Classifier, "-d", WritePicture()});
    EXPECT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_EQ(outcome.m_Error, "");
    EXPECT_TRUE(Has(outcome.m_Out, "picture of 8x8, (p - 0) / 255 by the model's metadata\n")) << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, "labels of 'scores' by the model's metadata (another file: --labels)\n"
                                   "best 4 of 4 classes in 'scores':\n"
                                   "    0.435912      3  last\n"
                                   "    0.364731      2  fünf\n"
                                   "    0.191814      0  cat\n"
                                   "    0.007543      1  dog\n"))
        << outcome.m_Out;
}

TEST_F(ContainersProgram, OptionsWinOverMetadata)
{
    const std::string picture = WritePicture();
    const auto run = [&](Words words)
    {
        words.insert(words.begin(), {"-m", Classifier, "-d", picture});
        const Outcome outcome = Execute(words);
        EXPECT_EQ(outcome.m_Status, 0) << outcome.m_Error;
        EXPECT_EQ(outcome.m_Error, "");
        return outcome.m_Out;
    };
    EXPECT_TRUE(Has(run({"--input-mean", "1", "--input-std", "2"}), "8x8, (p - 1) / 2\n"));
    EXPECT_TRUE(Has(run({"--input-mean", "1"}), "8x8, (p - 1) / 255 by the model's metadata\n"));
    const std::string labels = m_Folder.Write("l.txt", "one\ntwo\nthree\nfour\n");
    const std::string named = run({"--labels", labels, "--top-k", "1"});
    EXPECT_FALSE(Has(named, "labels of")) << named;
    EXPECT_TRUE(Has(named, "best 1 of 4 classes in 'scores':\n    0.435912      3  four\n")) << named;
    EXPECT_TRUE(Has(run({"--top-k", "1", "-N"}), "best 1 of 4 classes in 'scores':\n    0.435912      3  last\n"));
    for (const char* quiet : {"-N", "--armnn-output"})
    {
        EXPECT_FALSE(Has(run({quiet}), "classes in")) << quiet;
    }
}

TEST_F(ContainersProgram, MetadataThatDoNotFit)
{
    const std::string picture = WritePicture();
    const Outcome fewer = Execute({"-m", WriteBent("dog\nf", "dog f"), "-d", picture, "--top-k", "1"});
    EXPECT_EQ(fewer.m_Error,
              "warning: --top-k: output 'scores': the model's metadata have 3 labels for 4 classes, so they are not "
              "shown; give a file with --labels\n");
    EXPECT_TRUE(Has(fewer.m_Out, "best 1 of 4 classes in 'scores':\n    0.435912      3  \n")) << fewer.m_Out;
    const Outcome unasked = Execute({"-m", m_Folder.Path("bent.tflite")});
    EXPECT_EQ(unasked.m_Error, "");
    EXPECT_FALSE(Has(unasked.m_Out, "best"));

    const std::string zero = WriteBent(FloatBytes(255.0f), FloatBytes(0.0f));
    ExpectFailure(Execute({"-m", zero, "-d", picture}), 3,
                  "the std in the model's metadata has the number 0; give --input-std with another one");
    EXPECT_EQ(Execute({"-m", zero, "-d", picture, "--input-std", "255"}).m_Status, 0);
    EXPECT_EQ(Execute({"-m", zero}).m_Status, 0) << "numbers for pictures, of which there is none";

    const std::string damaged = WriteBent("M001", "M009");
    const Outcome without = Execute({"-m", damaged, "-d", picture});
    EXPECT_EQ(without.m_Status, 0);
    EXPECT_TRUE(
        without.m_Error.starts_with("warning: model '" + damaged + "': the metadata (TFLITE_METADATA) are not read"))
        << without.m_Error;
    EXPECT_TRUE(Has(without.m_Out, "(p - 127.5) / 127.5\n")) << without.m_Out;

    const Outcome escaped = Execute({"-m", WriteBent("dog", "\x1B[2"), "-d", picture});
    EXPECT_TRUE(Has(escaped.m_Out, "?[2\n")) << escaped.m_Out << "no control characters";
    EXPECT_FALSE(Has(escaped.m_Out, "\x1B"));
}

class NormalisationOfModels : public testing::Test
{
protected:
    /// The description of a picture of 8x8 pixels as an input of this type.
    std::string Load(DataType type, const Normalisation& ofModel) const
    {
        Binding binding{"image", 0, TensorInfo({1, 8, 8, 3}, type, 1.0f)};
        binding.m_Normalisation = ofModel;
        const std::string picture = m_Folder.Write("picture.png", test::Png(8, 8, 3, Pixels));
        return LoadInputs({binding}, {picture}, {}, {}, Limits()).at(0).m_Description;
    }

    test::TempFolder m_Folder;
};

TEST_F(NormalisationOfModels, IsForFloatInputsAlone)
{
    EXPECT_TRUE(Has(Load(DataType::Float32, {{1.0f}, {2.0f}}), "(p - 1) / 2 by the model's metadata"));
    EXPECT_TRUE(Has(Load(DataType::Float16, {{}, {2.0f}}), "(p - 127.5) / 2 by the model's metadata"));
    EXPECT_TRUE(Has(Load(DataType::Float32, {}), "(p - 127.5) / 127.5"));
    EXPECT_TRUE(Has(Load(DataType::QAsymmU8, {{1.0f}, {2.0f}}), "bytes as they are"));
    EXPECT_TRUE(Has(Load(DataType::QAsymmS8, {{1.0f}, {2.0f}}), "bytes less 128"));
}

TEST_F(NormalisationOfModels, IsRefusedWhereItDoesNotFit)
{
    EXPECT_THROW_WITH(Load(DataType::Float32, {{1.0f, 2.0f}, {}}), InputError,
                      "the mean in the model's metadata has 2 numbers, but the input has 3 channels; give --input-mean "
                      "with one number, or one for each channel");
    EXPECT_THROW_WITH(Load(DataType::Float32, {{NAN}, {}}), InputError,
                      "the mean in the model's metadata has the number nan");
    EXPECT_THROW_WITH(Load(DataType::Float32, {{}, {1.0f, 0.0f, 1.0f}}), InputError,
                      "the std in the model's metadata has the number 0; give --input-std with another one");
    EXPECT_NO_THROW(Load(DataType::Float32, {{0.0f}, {1.0f, 2.0f, 3.0f}}));
}

TEST(OwnLabels, NeedAScoreEach)
{
    const std::vector<std::string> two = {"cat", "dog"};
    const auto output = [](const TensorShape& shape)
    {
        const TensorInfo info(shape, DataType::Float32);
        return OutputData{info, Buffer(info.GetNumBytes())};
    };
    EXPECT_TRUE(HasScoreForEach(output({1, 2}), two));
    EXPECT_TRUE(HasScoreForEach(output({3, 2}), two)) << "a table for each of a batch";
    EXPECT_FALSE(HasScoreForEach(output({1, 3}), two));
    EXPECT_FALSE(HasScoreForEach(output({1, 256, 256, 2}), two)) << "a mask";
    const auto remark = [&](const TensorShape& shape)
    {
        const OutputData data = output(shape);
        return DescribeUnusedLabels({"out", &data}, two);
    };
    EXPECT_EQ(remark({1, 2}), "");
    EXPECT_TRUE(Has(remark({1, 3}), "output 'out': the model's metadata have 2 labels for 3 classes"));
    EXPECT_EQ(remark({1, 1}), "") << "left or right in one score";
    EXPECT_EQ(remark({1, 256, 256, 3}), "");
}

} // namespace
} // namespace tenon::tools
