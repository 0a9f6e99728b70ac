// SPDX-License-Identifier: Apache-2.0
// What ExecuteNetwork refuses: exit statuses, and messages that name what is wrong.
#include "Program.hpp"
#include "tools/harness/TinyModel.hpp"

#include <filesystem>

namespace tenon::tools
{
namespace
{

class Refusals : public Program
{
};

TEST_F(Refusals, BadArgumentsGiveTwo)
{
    ExpectFailure(Execute({}), 2, "--model-path");
    ExpectFailure(Execute({"-m", FloatModel, "--nonsense"}), 2, "--nonsense");
    ExpectFailure(Execute({"-m", FloatModel, "-c", "NpuAcc"}), 2, "CpuRef");
    ExpectFailure(Execute({"-m", FloatModel, "-i", "nobody"}), 2, "the model has no input 'nobody'");
    ExpectFailure(Execute({"-m", FloatModel, "-o", "nobody"}), 2, "the model has no output 'nobody'");
    ExpectFailure(Execute({"-m", FloatModel, "-w", "a.npy,b.npy"}), 2, "2 file(s) are given for 1 output(s)");
    ExpectFailure(Execute({"-m", FloatModel, "-s", "1,8,8,1:1"}), 2, "2 shape(s) are given for 1 input(s)");
}

TEST_F(Refusals, UnknownBackendsBesideAKnownOneAreAWarning)
{
    const Outcome outcome = Execute({"-m", FloatModel, "-N", "-c", "NpuAcc,CpuRef"});
    EXPECT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Error, "warning: --compute: there is no backend 'NpuAcc'"));
}

TEST_F(Refusals, BadFilesGiveThree)
{
    ExpectFailure(Execute({"-m", m_Folder.Path("none.tflite")}), 3, "does not exist");
    ExpectFailure(Execute({"-m", m_Folder.Path(".")}), 3, "not a regular file");
    ExpectFailure(Execute({"-m", m_Folder.Write("text.tflite", "no model at all")}), 3, "supported: TensorFlow Lite");
    const std::string cut = m_Folder.Write("short.tflite", ReadFile(Int8Model).substr(0, 100));
    const Outcome outcome = Execute({"-m", cut});
    ExpectFailure(outcome, 3, "model '" + cut + "'");
    EXPECT_EQ(outcome.m_Error.find(cut), outcome.m_Error.rfind(cut)) << "names it once: " << outcome.m_Error;
    ExpectFailure(Execute({"-m", FloatModel, "-d", m_Folder.Path("none.npy")}), 3, "none.npy");
    ExpectFailure(Execute({"-m", FloatModel, "-d", WriteInput("bytes.npy", DataType::QAsymmS8)}), 3,
                  "expected '<f4' (float32)");
    const std::string in = WriteInput("in.npy", DataType::Float32);
    ExpectFailure(Execute({"-m", FloatModel, "-d", in + "," + in}), 2, "the model has 1 input(s)");
    ExpectFailure(Execute({"-m", FloatModel, "-d", m_Folder.Write("word.txt", "hello")}), 3, "'hello' is no value");
    ExpectFailure(Execute({"-m", FloatModel, "-d", WriteInput("flat.npy", DataType::Float32, {3})}), 3, "model");
    ExpectFailure(Execute({"-m", FloatModel, "--labels", m_Folder.Path("none.txt")}), 3, "none.txt");
}

TEST_F(Refusals, FilesThatWouldOverwriteEachOther)
{
    const std::string copy = m_Folder.Write("copy.tflite", ReadFile(FloatModel));
    ExpectFailure(Execute({"-m", copy, "-w", copy}), 2, "to read and as one to write");
    EXPECT_EQ(ReadFile(copy), ReadFile(FloatModel));
    const std::string backend = m_Folder.Write("a_backend.so", "text");
    ExpectFailure(Execute({"-m", FloatModel, "-b", backend, "-w", backend}), 2, "to read and as one to write");
    const std::string out = m_Folder.Path("out.npy");
    ExpectFailure(Execute({"-m", FloatModel, "-w", out, "--report-json", m_Folder.Path("./out.npy")}), 2,
                  "twice as a file to write");
    ExpectFailure(Execute({"-m", FloatModel, "--report-json", ""}), 2, "--report-json");
    ExpectFailure(Execute({"-m", FloatModel, "--labels", ""}), 2, "--labels");
    EXPECT_EQ(Execute({"-m", FloatModel, "-N", "-w", "/dev/null", "--report-json", "/dev/null"}).m_Status, 0);
}

TEST_F(Refusals, PackedWeightsThatWouldOverwriteOthers)
{
    const std::string model = m_Folder.Write("copy.tflite", ReadFile(FloatModel));
    const std::string in = WriteInput("in.npy", DataType::Float32);
    const std::string labels = m_Folder.Write("labels.txt", "zero\none\n");
    const std::string out = m_Folder.Write("out", "of an earlier run");
    const Words common = {"-m", model, "-N", "-d", in, "--labels", labels};
    const auto expectKept = [&](const std::string& file, const Words& words, const std::string& reason)
    {
        const std::string before = ReadFile(file);
        Words command = common;
        command.insert(command.end(), words.begin(), words.end());
        ExpectFailure(Execute(command), 2, reason);
        EXPECT_EQ(ReadFile(file), before) << file;
    };
    const Words save = {"--save-cached-network", "--cached-network-filepath"};
    for (const std::string& file : {model, in, labels})
    {
        expectKept(file, {save[0], save[1], file}, "to read and as one to write");
    }
    for (const char* option : {"-w", "--serialize", "--serialize-optimized", "--report-json", "--plan-json", "-v"})
    {
        expectKept(out, {save[0], save[1], out, option, m_Folder.Path("./out")}, "twice as a file to write");
    }
    expectKept(out, {save[1], out, "-w", out}, "to read and as one to write");

    // Seen before the model, which is not there.
    const auto expectEarly = [&](const std::string& file, const std::string& reason) {
        ExpectFailure(Execute({"-m", m_Folder.Path("none"), save[0], save[1], file}), 2, reason);
    };
    expectEarly(m_Folder.Path("no/packed"), "there is no folder");
    expectEarly(m_Folder.Path(""), "it is a folder");
    expectEarly("/dev/null", "need a regular file");

    // One of an earlier run makes way.
    for (int run = 0; run < 2; ++run)
    {
        EXPECT_EQ(Execute({"-m", model, "-N", save[0], save[1], out}).m_Status, 0);
        EXPECT_NE(ReadFile(out), "of an earlier run");
    }
}

TEST_F(Refusals, FilesToWriteThatAreNotThereYet)
{
    const Outcome outcome = test::RunProgram(
        {ProgramPath(), "-m", std::filesystem::absolute(FloatModel), "-N", "-w", "new", "--report-json", "./new"}, "",
        {"/usr/bin/env", "-C", m_Folder.Path("")});
    ExpectFailure(outcome, 2, "twice as a file to write");
}

TEST_F(Refusals, OutputsThatCannotBeWritten)
{
    // Seen before the runs, which would take minutes.
    ExpectFailure(Execute({"-m", FloatModel, "-I", "1000000", "-w", m_Folder.Path("no/folder.npy")}), 2,
                  "there is no folder");
    ExpectFailure(Execute({"-m", FloatModel, "-N", "-w", m_Folder.Path("")}), 2, "it is a folder");
    const Outcome full = test::RunProgram({ProgramPath(), "-m", FloatModel}, "/dev/full");
    ExpectFailure(full, 5, "cannot write to standard output");
}

/// An optimized file of the bundled model.
class OptimizedRefusals : public Refusals
{
protected:
    std::string Optimize(const std::string& model, const std::string& backends = "CpuAcc,CpuRef")
    {
        const std::string path = m_Folder.Path("optimized.tenon");
        EXPECT_EQ(Execute({"-m", model, "-N", "-c", backends, "--serialize-optimized", path}).m_Status, 0);
        return path;
    }
};

TEST_F(OptimizedRefusals, PackedWeightsWhereNoLayerHasAny)
{
    const std::string packed = m_Folder.Path("packed");
    const std::string reference = Optimize(FloatModel, "CpuRef");
    for (const Words& words : {Words{"--save-cached-network"}, Words{}})
    {
        Words command = {"-m", reference, "-N", "--cached-network-filepath", packed};
        command.insert(command.end(), words.begin(), words.end());
        const Outcome outcome = Execute(command);
        EXPECT_EQ(outcome.m_Status, 0) << outcome.m_Error;
        EXPECT_TRUE(Has(outcome.m_Error, "runs no layer of this network, so the file is neither read nor written"))
            << outcome.m_Error;
    }
    EXPECT_FALSE(std::filesystem::exists(packed));
    const std::string fast = Optimize(FloatModel, "CpuAcc");
    EXPECT_EQ(Execute({"-m", fast, "-N", "--save-cached-network", "--cached-network-filepath", packed}).m_Status, 0);
    EXPECT_TRUE(std::filesystem::exists(packed));
}

TEST_F(OptimizedRefusals, InputShapesThatDoNotFitAreNamedWithTheirSource)
{
    const std::string in = WriteInput("wrong.npy", DataType::QAsymmS8, {1, 7, 8, 1});
    const std::string optimized = Optimize(Int8Model);
    for (const std::string& model : {Int8Model, optimized})
    {
        const Outcome fromFile = Execute({"-m", model, "-d", in});
        ExpectFailure(fromFile, 3, "model '" + model + "' with input '");
        ExpectFailure(fromFile, 3, "as [1,7,8,1] (from " + in + "; the model says [1,8,8,1])");
        ExpectFailure(Execute({"-m", model, "-s", "2,8,8,1"}), 3,
                      "as [2,8,8,1] (from --input-tensor-shape; the model says [1,8,8,1])");
    }
}

TEST_F(Refusals, InstructionSetsThatAreNotThere)
{
    for (const char* backend : {"CpuAcc", "CpuRef"})
    {
        const Outcome outcome = test::RunProgram({ProgramPath(), "-m", FloatModel, "-N", "-c", backend}, "",
                                                 {"/usr/bin/env", "TENON_FORCE_ISA=foo"});
        ExpectFailure(outcome, 2, "TENON_FORCE_ISA is 'foo'");
        EXPECT_FALSE(Has(outcome.m_Error, "model '")) << outcome.m_Error;
    }
}

TEST_F(Refusals, PathsWithoutBackends)
{
    const Outcome missing = Execute({"-m", FloatModel, "-N", "-b", m_Folder.Path("none")});
    ExpectFailure(missing, 2, "--dynamic-backends-path: there is no '");
    EXPECT_FALSE(Has(missing.m_Error, "m_DynamicBackendsPath")) << missing.m_Error;
    ExpectFailure(Execute({"-m", FloatModel, "-N", "-b", m_Folder.Write("a.txt", "text")}), 2, "is no backend");
    ExpectFailure(Execute({"-m", FloatModel, "-N", "-b", m_Folder.Write("a_backend.so", "text")}), 2, "is no backend");
    // In a folder a file of another name is none of our business, and one that only has the name is passed over.
    const Outcome folder = Execute({"-m", FloatModel, "-N", "-b", m_Folder.Path("")});
    EXPECT_EQ(folder.m_Status, 0) << folder.m_Error;
    EXPECT_FALSE(Has(folder.m_Error, "a.txt")) << folder.m_Error;
    EXPECT_TRUE(Has(folder.m_Error, "a_backend.so")) << folder.m_Error;
}

TEST_F(OptimizedRefusals, FormatsThatTheFileDoesNotHave)
{
    const std::string tenon = Optimize(FloatModel);
    const auto remark = [](const std::string& model, const std::string& format)
    {
        const Outcome outcome = Execute({"-m", model, "-N", "-f", format, "-c", "CpuAcc"});
        EXPECT_EQ(outcome.m_Status, 0) << outcome.m_Error;
        return outcome.m_Error;
    };
    EXPECT_EQ(remark(FloatModel, "tenon"), "warning: --model-format: '" + FloatModel +
                                               "' is a TensorFlow Lite model and is read as that, in place of tenon\n");
    const Outcome outcome = Execute({"-m", tenon, "-N", "-f", "tflite-binary"});
    EXPECT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Error, "' is a network of Tenon and is read as that, in place of tflite-binary"));
    EXPECT_TRUE(Has(remark(FloatModel, "pytorch\n"), "is read as that, in place of pytorch\n")) << "one line";
    EXPECT_EQ(Execute({"-m", tenon, "-N", "-f", "tenon"}).m_Error, "");
    EXPECT_EQ(remark(FloatModel, "tflite"), "");
}

TEST_F(Refusals, ModelsOfOtherFormats)
{
    const auto expect = [&](const std::string& file, const std::string& description, const std::string& advice)
    {
        ExpectFailure(Execute({"-m", file}), 3, "model '" + file + "': it is " + description + ", which is not read; ");
        ExpectFailure(Execute({"-m", file}), 3, advice);
    };
    const std::string armnn("\x10\0\0\0ARMN and more", 17);
    ExpectFailure(Execute({"-m", m_Folder.Write("a.armnn", armnn)}), 3, "an offset in its 17 bytes leads outside");
    ExpectFailure(Execute({"-m", m_Folder.Write("a.bytes", armnn)}), 3, "an offset in its 17 bytes leads outside");
    ExpectFailure(Execute({"-m", m_Folder.Write("b.ARMNN", "cut")}), 3, "no .armnn file, or one that is corrupt");
    expect(m_Folder.Write("a.ort", std::string("\x10\0\0\0ORTM", 8)), "an ONNX model in the format of ONNX Runtime",
           "run the ONNX model (.onnx)");
    expect(m_Folder.Write("a.onnxtxt", "graph"), "an ONNX model in the text form of protobuf", "onnx.save_model");
    expect(m_Folder.Write("weights", std::string("\x20\0\0\0\0\0\0\0{\"a\":", 13)),
           "a file of weights (safetensors), without the model that they belong to", "export the model to ONNX");
    expect(m_Folder.Write("model.onnx", "version https://git-lfs.github.com/spec/v1\n"),
           "a pointer of Git LFS to a file that was not fetched", "git lfs pull");
    expect(m_Folder.Write("a.pdmodel", "graph"), "a Paddle model", "paddle2onnx");
    expect(m_Folder.Write("keras", "\x89HDF\r\n\x1A\n"), "a Keras model", "from_keras_model");
    expect(m_Folder.Write("a.pb", "graph"), "a TensorFlow graph", "with tf.lite.TFLiteConverter");
    expect(m_Folder.Write("a.caffemodel", "graph"), "a Caffe model", "convert it");
    expect(m_Folder.Write("a.prototxt", "graph"), "a model in the text form of protobuf", "convert it");
    expect(m_Folder.Write("a.pt", "PK"), "a PyTorch model", "torch.onnx.export");
    expect(m_Folder.Write("a.tosa", std::string("\x10\0\0\0TOSA", 8)), "a TOSA graph", "run the TensorFlow Lite model");
    ExpectFailure(Execute({"-m", m_Folder.Write("a.bin", "no model at all")}), 3, "it is of no known format");
    m_Folder.Write("saved_model.pb", "graph");
    ExpectFailure(Execute({"-m", m_Folder.Path("")}), 3, "it is a folder with a SavedModel of TensorFlow");
    const std::string renamed = m_Folder.Write("model.armnn", ReadFile(FloatModel));
    EXPECT_EQ(Execute({"-m", renamed, "-N"}).m_Status, 0) << "the content decides";
}

TEST_F(Refusals, NormalisationWithoutAPicture)
{
    const std::string in = WriteInput("in.npy", DataType::Float32);
    ExpectFailure(Execute({"-m", FloatModel, "-d", in, "--input-mean", "1"}), 2, "no input is one");
    ExpectFailure(Execute({"-m", FloatModel, "--input-std", "2"}), 2, "no input is one");
    EXPECT_EQ(Execute({"-m", FloatModel, "-N", "-d", "samples/digits/seven.png", "--input-mean", "1"}).m_Status, 0);
}

} // namespace
} // namespace tenon::tools
