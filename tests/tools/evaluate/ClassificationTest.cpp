// SPDX-License-Identifier: Apache-2.0
// Classification: accuracies that are known, each form of the ground truth, and refusals.
#include "Evaluation.hpp"
#include "tools/harness/PseudoTerminal.hpp"

#include <limits>

namespace tenon::tools::evaluate
{
namespace
{

class Classification : public Evaluation
{
protected:
    /// Scores of four pictures, whose best classes are 2, 0, 1 and 2.
    Classification()
    {
        MakeFolder("in");
        WriteFloats("in/a.npy", {1, 3}, {0.1F, 0.2F, 0.7F});
        WriteFloats("in/b.npy", {1, 3}, {0.6F, 0.3F, 0.1F});
        WriteFloats("in/c.npy", {1, 3}, {0.2F, 0.5F, 0.3F});
        WriteFloats("in/d.npy", {1, 3}, {0.3F, 0.2F, 0.5F});
    }

    Outcome Run(const Words& more) const
    {
        return Evaluate(With({"-m", m_Model, "-d", m_In, "-c", "CpuRef", "--jobs", "1"}, more));
    }

    std::string Truth(const std::string& content) const { return m_Folder.Write("truth.txt", content); }

    const std::string m_Model = WriteRelu("scores.tflite", {1, 3});
    const std::string m_In = m_Folder.Path("in");
};

TEST_F(Classification, AccuracyIsThatOfTheGroundTruth)
{
    const Outcome outcome = Run({"-g", Truth("2\n1\n1\n0\n")});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_EQ(outcome.m_Error, "");
    const std::string start = "classification of 4 pictures in '" + m_In +
                              "'\nTop-1 Accuracy: 0.500000\nTop-2 Accuracy: 1.000000\nTop-3 Accuracy: 1.000000\n";
    EXPECT_EQ(outcome.m_Out.substr(0, start.size()), start);
    EXPECT_TRUE(Has(outcome.m_Out, "class  pictures  right  accuracy\n0      1         0      0.000\n"))
        << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, "2      1         1      1.000     ##############################\n"));
}

TEST_F(Classification, PicturesHaveNamesInAnyOrder)
{
    const std::string half = "Top-1 Accuracy: 0.500000\n";
    EXPECT_TRUE(Has(Run({"-g", Truth("d.npy 0\nb.npy 1\na.npy 2\nc.npy 1\n")}).m_Out, half));
    EXPECT_TRUE(Has(Run({"-g", Truth(m_In + "/d.npy\t0\nb.npy\t1\nval/a.npy\t2\nc.npy 1")}).m_Out, half));
    const Outcome some = Run({"-g", Truth("a.npy 2\nb.npy 0\n")});
    EXPECT_TRUE(Has(some.m_Out, "2 pictures in '" + m_In + "'\nTop-1 Accuracy: 1.000000\n")) << some.m_Out;
    EXPECT_TRUE(Has(some.m_Error, "2 of 4 pictures have no label in ")) << some.m_Error;
}

TEST_F(Classification, LabelsAreNamesOfClasses)
{
    const std::string labels = m_Folder.Write("labels.txt", "red fox\ncat\ndog\n");
    const Outcome outcome = Run({"--labels", labels, "-g", Truth("dog\ncat\ncat\nred fox\n")});
    EXPECT_TRUE(Has(outcome.m_Out, "Top-1 Accuracy: 0.500000\n")) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Out, "red fox  1 ")) << outcome.m_Out;
    const Outcome named = Run({"--labels", labels, "-g", Truth("a.npy dog\nb.npy cat\nc.npy 1\nd.npy red fox\n")});
    EXPECT_TRUE(Has(named.m_Out, "Top-1 Accuracy: 0.500000\n")) << named.m_Error;
    ExpectFailure(Run({"--labels", labels, "-g", Truth("dog\ncow\ncat\ncat\n")}), 3,
                  "line 2: 'cow' is none of the 3 labels, and no number");
    const std::string twice = m_Folder.Write("twice.txt", "crane\ncat\ncrane\n");
    ExpectFailure(Run({"--labels", twice, "-g", Truth("cat\ncrane\ncat\ncat\n")}), 3,
                  "line 2: the label 'crane' is that of the classes 0 and 2; give numbers in its place");
    const std::string few = m_Folder.Write("few.txt", "cat\ndog\n");
    ExpectFailure(Run({"--labels", few, "-g", Truth("0\n0\n0\n0\n")}), 3,
                  "it has 2 labels, but output 'y' has 3 classes");
}

TEST_F(Classification, NumbersMayHaveAnOffset)
{
    EXPECT_TRUE(Has(Run({"--label-offset", "1", "-g", Truth("1\n0\n0\n-1\n")}).m_Out, "Top-1 Accuracy: 0.500000\n"));
    ExpectFailure(Run({"--label-offset", "1", "-g", Truth("1\n2\n0\n0\n")}), 3,
                  "line 2: there is no class 2 + 1 (--label-offset); the model has the classes 0..2");
}

TEST_F(Classification, FoldersAreClasses)
{
    for (const char* name : {"0/b", "1/c", "2/a", "2/d"})
    {
        MakeFolder("classes/" + std::string(name).substr(0, 1));
        std::filesystem::copy_file(m_Folder.Path("in/" + std::string(name).substr(2) + ".npy"),
                                   m_Folder.Path("classes/" + std::string(name) + ".npy"));
    }
    const Words command = {"-m", m_Model, "-c", "CpuRef", "-d"};
    const std::string all = "classification of 4 pictures";
    const Outcome folder = Evaluate(With(command, {m_Folder.Path("classes")}));
    EXPECT_EQ(folder.m_Out.substr(0, all.size()), all) << folder.m_Error;
    EXPECT_TRUE(Has(folder.m_Out, "Top-1 Accuracy: 1.000000\n")) << folder.m_Out;
    const Outcome pattern = Evaluate(With(command, {m_Folder.Path("classes/[01]/*.npy")}));
    EXPECT_TRUE(Has(pattern.m_Out, "of 2 pictures in ")) << pattern.m_Error;

    std::filesystem::rename(m_Folder.Path("classes/2"), m_Folder.Path("classes/two"));
    ExpectFailure(
        Evaluate(With(command, {m_Folder.Path("classes/[1t]*/*.npy")})), 3,
        "the folders of pictures are their classes, but 'two' is no number; the model's classes have no names, "
        "which --labels gives (2 folders, 3 classes)");
    const Outcome ordered = Evaluate(With(command, {m_Folder.Path("classes")}));
    EXPECT_TRUE(Has(ordered.m_Out, "Top-1 Accuracy: 1.000000\n")) << ordered.m_Error;
    EXPECT_TRUE(Has(ordered.m_Error, "the 3 folders, in the order of their names, are taken for the classes 0..2"));
    ExpectFailure(Evaluate(With(command, {m_In})), 2, "without such folders give labels with --ground-truth");
}

TEST_F(Classification, WrongGroundTruthIsRefused)
{
    const auto refuse = [&](const std::string& truth, const std::string& words) {
        ExpectFailure(Run({"-g", Truth(truth)}), 3, words);
    };
    refuse("1\n2\n", "its lines name no picture of '" + m_In + "', and there are 2 lines for 4 pictures");
    refuse("1\n2\n3\n0\n", "line 3: there is no class 3; the model has the classes 0..2");
    refuse("1\n2\ncat\n0\n", "line 3: 'cat' is no number; the model's classes have no names, which --labels gives");
    refuse("a.npy 1\ne.npy 2\n", "line 2: there is no picture 'e.npy' in '" + m_In + "'");
    refuse("a.npy 1\nb.npy 1\na.npy 2\n", "line 3: 'a.npy' has a label in line 1 already");
    refuse("a.npy 1\nb.npy\n", "line 2: 'b.npy' has no label; expected is 'picture label'");
    refuse("a.npy 1\nb.npy -1\n", "line 2: there is no class -1");
    refuse("a.npy 1\nb.npy 99999999999999999999\n", "line 2: '99999999999999999999' is no number");
    refuse("", "its lines name no picture");
    ExpectFailure(Run({"-g", m_Folder.Path("none.txt")}), 3, "ground truth '" + m_Folder.Path("none.txt"));
    m_Folder.Write("utf16.txt", std::string("\xFF\xFE"
                                            "1\0",
                                            4));
    ExpectFailure(Run({"-g", m_Folder.Path("utf16.txt")}), 3, "UTF-16");
}

TEST_F(Classification, PicturesThatFailAreNamed)
{
    m_Folder.Write("in/e.npy", "no array");
    WriteFloats("in/f.npy", {1, 4}, {0, 0, 0, 1});
    const std::string report = m_Folder.Path("report.json");
    const Outcome outcome = Run({"-g", Truth("2\n1\n1\n0\n0\n0\n"), "--report-json", report});
    ExpectFailure(outcome, 3, "2 of 6 pictures failed");
    EXPECT_TRUE(Has(outcome.m_Error, "error: picture 'e.npy': file '")) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Error, "its shape is [1,4], but [1,3] is expected")) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Out, "6 pictures in '" + m_In + "', 2 of them failed\nTop-1 Accuracy: 0.500000\n"));
    const Json json = Json::Parse(ReadFile(report));
    EXPECT_EQ(json.At("failed").m_Number, 2.0);
    EXPECT_TRUE(Has(json.At("files").m_Items.at(4).At("error").m_Text, "e.npy"));
    EXPECT_EQ(json.At("files").m_Items.at(0).At("best").m_Items.at(0).At("class").m_Number, 2.0);
    EXPECT_EQ(json.At("top_k").m_Items.at(0).m_Number, 0.5);
    EXPECT_EQ(json.At("confusions").m_Items.size(), 4U);
}

TEST_F(Classification, ScoresThatAreNaNAreFailuresOfPictures)
{
    WriteFloats("in/a.npy", {1, 3}, {0.1F, std::numeric_limits<float>::quiet_NaN(), 0.2F});
    const Outcome outcome = Run({"-g", Truth("0\n1\n1\n0\n")});
    ExpectFailure(outcome, 3, "1 of 4 pictures failed");
    EXPECT_TRUE(Has(outcome.m_Error, "'a.npy': the score of class 1 in output 'y' is NaN")) << outcome.m_Error;
}

TEST_F(Classification, PicturesAreNotWrittenOver)
{
    const std::string picture = m_Folder.Path("in/a.npy");
    const std::string before = ReadFile(picture);
    ExpectFailure(Run({"-g", Truth("2\n1\n1\n0\n"), "--report-json", picture}), 2,
                  "'" + picture + "' is given both as a file to read and as one to write");
    EXPECT_EQ(ReadFile(picture), before);
}

TEST_F(Classification, OutputsThatAreNoScoresAreRefused)
{
    const std::string model = WriteRelu("map.tflite", {1, 2, 3});
    ExpectFailure(Evaluate({"-m", model, "-d", m_In, "-c", "CpuRef", "-g", Truth("1\n1\n1\n1\n")}), 3,
                  "output 'y' is [1,2,3], no list of scores");
    const std::string sum =
        m_Folder.Write("sum.tflite", test::TinyModel(test::Add, {{"a", {3}}, {"b", {3}}}, {{"sum", {3}}}));
    ExpectFailure(Evaluate({"-m", sum, "-d", m_In, "-c", "CpuRef", "-g", Truth("1\n1\n1\n1\n")}), 2,
                  "it has 2 inputs; models with one, for a picture, are evaluated");
}

TEST_F(Classification, FilesOfOtherKindsArePassedOver)
{
    m_Folder.Write("in/readme.txt", "");
    const Outcome outcome = Run({"-g", Truth("2\n1\n1\n0\n"), "--num-images", "1"});
    EXPECT_TRUE(Has(outcome.m_Error, "1 files in '" + m_In + "' are no pictures by their names")) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Out, "1 picture in '" + m_In + "'\nTop-1 Accuracy: 1.000000\n")) << outcome.m_Out;
    MakeFolder("none");
    ExpectFailure(Evaluate({"-m", m_Model, "-d", m_Folder.Path("none"), "-g", Truth("1")}), 2,
                  "has no file whose name");
}

TEST_F(Classification, OrderIsThatOfBytes)
{
    MakeFolder("numbers");
    WriteFloats("numbers/p2.npy", {1, 3}, {1, 0, 0});
    WriteFloats("numbers/p10.npy", {1, 3}, {0, 1, 0});
    const Outcome outcome =
        Evaluate({"-m", m_Model, "-d", m_Folder.Path("numbers"), "-c", "CpuRef", "-g", Truth("1\n0\n")});
    EXPECT_TRUE(Has(outcome.m_Out, "Top-1 Accuracy: 1.000000\n")) << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Error, "in which 'img10' is before 'img2'")) << outcome.m_Error;
}

TEST_F(Classification, MetadataGiveNormalizationAndLabels)
{
    MakeFolder("pictures");
    std::vector<uint8_t> pixels(size_t{8} * 8 * 3);
    for (size_t i = 0; i < pixels.size(); ++i)
    {
        pixels[i] = static_cast<uint8_t>(i * 89 % 256);
    }
    m_Folder.Write("pictures/p.png", test::Png(8, 8, 3, pixels));
    const auto run = [&](const Words& more)
    {
        const std::string report = m_Folder.Path("report.json");
        const Outcome outcome =
            Evaluate(With({"-m", "tests/golden/containers/classifier.tflite", "-d", m_Folder.Path("pictures"), "-g",
                           Truth("p.png fünf\n"), "--report-json", report},
                          more));
        EXPECT_EQ(outcome.m_Status, 0) << outcome.m_Error;
        EXPECT_EQ(outcome.m_Error, "");
        return ReadFile(report);
    };
    const std::string byMetadata = run({});
    EXPECT_TRUE(Has(byMetadata, "\"truth\": 2, \"truth_name\": \"fünf\"")) << byMetadata;
    EXPECT_EQ(byMetadata, run({"--input-mean", "0", "--input-std", "255"}));
    EXPECT_NE(byMetadata, run({"--input-mean", "100"}));
}

TEST_F(Classification, ATerminalShowsTheProgress)
{
    test::PseudoTerminal terminal(60);
    const std::string truth = Truth("2\n1\n1\n0\n");
    const Outcome outcome =
        test::RunProgram({PathOfProgram("tenon-evaluate"), "-m", m_Model, "-d", m_In, "-c", "CpuRef", "-g", truth}, "",
                         {"/bin/sh", "-c", "\"$@\" 2> " + terminal.Path(), "sh"});
    const std::string shown = terminal.Finish();
    EXPECT_EQ(outcome.m_Status, 0) << shown;
    EXPECT_TRUE(Has(shown, "[..............................] 0/4 files")) << shown;
    EXPECT_TRUE(shown.ends_with("\r")) << "the line is gone at the end: " << shown;
}

/// 355 of 360 and 356 of 360, as samples/digits/README.md has it.
TEST_F(Classification, DigitsAreTheSameForAnyNumberOfJobs)
{
    const std::string digits = WriteDigits();
    std::vector<std::string> reports;
    for (const std::string jobs : {"1", "2", "5"})
    {
        const std::string report = m_Folder.Path(jobs + ".json");
        const Outcome outcome =
            Evaluate(With(DigitsCommand(DigitsFloat, digits), {"--jobs", jobs, "--report-json", report}));
        ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
        EXPECT_EQ(outcome.m_Error, "");
        EXPECT_TRUE(Has(outcome.m_Out, "Top-1 Accuracy: 0.986111\n")) << outcome.m_Out;
        EXPECT_TRUE(Has(outcome.m_Out, "Top-10 Accuracy: 1.000000\n")) << outcome.m_Out;
        reports.push_back(ReadFile(report));
    }
    EXPECT_EQ(reports[0], reports[1]);
    EXPECT_EQ(reports[0], reports[2]);
    EXPECT_TRUE(Has(Evaluate(DigitsCommand(DigitsInt8, digits)).m_Out, "Top-1 Accuracy: 0.988889\n"));
    const Words onnx = DigitsCommand("samples/digits/digits_float.onnx", digits);
    EXPECT_TRUE(Has(Evaluate(onnx).m_Out, "Top-1 Accuracy: 0.986111\n")) << Evaluate(onnx).m_Error;
}

} // namespace
} // namespace tenon::tools::evaluate
