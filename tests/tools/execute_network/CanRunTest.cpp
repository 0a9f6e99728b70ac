// SPDX-License-Identifier: Apache-2.0
// ExecuteNetwork --can-run: a table of the models in a folder.
#include "Program.hpp"
#include "harness/OnnxModel.hpp"
#include "harness/TinyOnnx.hpp"
#include "tools/harness/TinyModel.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>

namespace tenon::tools
{
namespace
{

using tenon::test::MakeTinyOnnx;

class CanRunProgram : public Program
{
protected:
    void AddGoodModels()
    {
        std::filesystem::create_directory(m_Folder.Path("inner"));
        m_Folder.Write("b.tflite", ReadFile(FloatModel));
        m_Folder.Write("inner/c.onnx", MakeTinyOnnx("Relu", {{"x", {"batch", "3"}}}).Bytes());
        ASSERT_EQ(Execute({"-m", FloatModel, "-N", "-c", "CpuRef", "--serialize-optimized", m_Folder.Path("d.tenon")})
                      .m_Status,
                  0);
        // What is no model: text, data, hidden files, a pointer to something else.
        m_Folder.Write("README.md", "# Models\n");
        m_Folder.Write("inner/c.onnx.data", std::string(64, '\1'));
        m_Folder.Write(".hidden.tflite", "no model");
        m_Folder.Write("picture.png", Pointer);
        m_Folder.Write("arrays.npz", "PK\x03\x04 and more");
        m_Folder.Write("logs.tar.gz", "\x1F\x8B and more");
        std::filesystem::create_directory(m_Folder.Path(".git"));
        m_Folder.Write(".git/a.tflite", "no model");
    }

    /// One line of the table, with single spaces between cells.
    static std::string Row(const std::string& table, const std::string& model)
    {
        std::smatch match;
        if (!std::regex_search(table, match, std::regex("(^|\\n)(" + model + " [^\\n]*)")))
        {
            return "no row in " + table;
        }
        return std::regex_replace(match[2].str(), std::regex("  +"), " ");
    }

    static inline const std::string Pointer =
        "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 12345\n";
};

TEST_F(CanRunProgram, ModelsThatCanRun)
{
    AddGoodModels();
    const Outcome outcome = Execute({"--can-run", m_Folder.Path("")});
    EXPECT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_EQ(outcome.m_Error, "");
    EXPECT_EQ(Row(outcome.m_Out, "model"), "model format layers backends can run");
    EXPECT_EQ(Row(outcome.m_Out, "b.tflite"), "b.tflite TFLite 10 CpuAcc 10 yes");
    EXPECT_EQ(Row(outcome.m_Out, "inner/c.onnx"), "inner/c.onnx ONNX 1 CpuAcc 1 yes");
    EXPECT_EQ(Row(outcome.m_Out, "d.tenon"), "d.tenon Tenon 10 CpuRef 10 yes");
    EXPECT_EQ(std::count(outcome.m_Out.begin(), outcome.m_Out.end(), '\n'), 4) << outcome.m_Out;
    const Outcome reference = Execute({"--can-run", m_Folder.Path(""), "-c", "CpuRef"});
    EXPECT_EQ(Row(reference.m_Out, "b.tflite"), "b.tflite TFLite 10 CpuRef 10 yes");
}

TEST_F(CanRunProgram, ModelsThatCannot)
{
    AddGoodModels();
    m_Folder.Write("cut.tflite", ReadFile(FloatModel).substr(0, 1000));
    m_Folder.Write("short.tflite", "TFL");
    m_Folder.Write("lfs.onnx", Pointer);
    m_Folder.Write("page.onnx", "<!DOCTYPE html>");
    m_Folder.Write("weights.pt", "PK\x03\x04 and more");
    const Outcome unreadable = Execute({"--can-run", m_Folder.Path("")});
    ExpectFailure(unreadable, 3, "5 of 8 models cannot run: 0 for lack of support, 5 that cannot be read");
    EXPECT_EQ(Row(unreadable.m_Out, "cut.tflite").find("cut.tflite TFLite - - no: the model is corrupt or cut short"),
              0U)
        << unreadable.m_Out;
    EXPECT_EQ(Row(unreadable.m_Out, "short.tflite").find("short.tflite unknown - - no: it is of no known format"), 0U)
        << unreadable.m_Out;
    EXPECT_EQ(Row(unreadable.m_Out, "lfs.onnx"),
              "lfs.onnx Git LFS - - no: it is a pointer of Git LFS to a file that was not fetched, which is not read; "
              "fetch it with 'git lfs pull'");
    EXPECT_EQ(Row(unreadable.m_Out, "page.onnx"),
              "page.onnx web page - - no: it is a web page (HTML), which is not read; download the model's file itself "
              "in place of the page that shows it");
    EXPECT_EQ(Row(unreadable.m_Out, "weights.pt"),
              "weights.pt PyTorch - - no: it is a PyTorch model, which is not read; export it to ONNX with "
              "torch.onnx.export");
    EXPECT_EQ(Row(unreadable.m_Out, "b.tflite"), "b.tflite TFLite 10 CpuAcc 10 yes");

    m_Folder.Write("custom.tflite", test::TinyModel(test::Custom, {{"x", {2}}}, {{"y", {2}}}));
    m_Folder.Write("custom.onnx", MakeTinyOnnx("NoSuchOperator", {{"x", {"2"}}}, "some.domain").Bytes());
    const Outcome unsupported = Execute({"--can-run", m_Folder.Path("")});
    ExpectFailure(unsupported, 4, "7 of 10 models cannot run: 2 for lack of support, 5 that cannot be read");
    EXPECT_TRUE(Has(Row(unsupported.m_Out, "custom.tflite"), "custom.tflite TFLite 1 - no: "));
    EXPECT_TRUE(Has(Row(unsupported.m_Out, "custom.tflite"), "NobodyKnowsThis")) << unsupported.m_Out;
    EXPECT_TRUE(Has(Row(unsupported.m_Out, "custom.onnx"), "custom.onnx ONNX - - no: "));
    EXPECT_TRUE(Has(Row(unsupported.m_Out, "custom.onnx"), "NoSuchOperator")) << unsupported.m_Out;
}

TEST_F(CanRunProgram, ModelsThatNeedTheSizesOfInputs)
{
    // Which dimensions Squeeze drops follows from their sizes.
    m_Folder.Write("squeeze.onnx", MakeTinyOnnx("Squeeze", {{"x", {"n", "1", "", "n"}}}).Bytes());
    m_Folder.Write("custom.onnx", MakeTinyOnnx("NoSuchOperator", {{"x", {"n"}}}, "some.domain").Bytes());
    const Outcome outcome = Execute({"--can-run", m_Folder.Path(""), "--report-json", m_Folder.Path("report.json")});
    ExpectFailure(outcome, 4, "1 of 2 models cannot run: 1 for lack of support, 0 that cannot be read");
    EXPECT_EQ(Row(outcome.m_Out, "squeeze.onnx"), "squeeze.onnx ONNX 1 CpuAcc 1 yes, with sizes for 'n' and 'x.2'");
    const std::string report = std::regex_replace(m_Folder.Read("report.json"), std::regex("\\s+"), " ");
    EXPECT_TRUE(Has(report, "\"can_run\": true, \"with_sizes_for\": [ \"n\", \"x.2\" ], \"reason\": null")) << report;
}

TEST_F(CanRunProgram, SizesOfLastDimensionsAlone)
{
    namespace model = tenon::test::model;
    m_Folder.Write("sound.onnx", model::Model(model::Graph()
                                                  .Input("x", {"batch", "", "samples"})
                                                  .Store(model::Ints("shape", {1}, {512}))
                                                  .Add("Squeeze", {"x"}, {"s"})
                                                  .Add("Reshape", {"s", "shape"}, {"y"})
                                                  .Output("y")));
    const Outcome outcome = Execute({"--can-run", m_Folder.Path("")});
    EXPECT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(Row(outcome.m_Out, "sound.onnx"), "yes, with sizes for 'batch', 'x.1' and 'samples'"))
        << outcome.m_Out;
}

TEST_F(CanRunProgram, AsJson)
{
    m_Folder.Write("a.tflite", ReadFile(FloatModel));
    m_Folder.Write("b.onnx", MakeTinyOnnx("NoSuchOperator", {{"x", {"2"}}}, "some.domain").Bytes());
    const Outcome outcome = Execute({"--can-run", m_Folder.Path(""), "-c", "CpuRef", "--report-json", "-"});
    EXPECT_EQ(outcome.m_Status, 4);
    EXPECT_TRUE(Has(outcome.m_Error, "a.tflite")) << "the table makes way";
    const std::string spaced = std::regex_replace(outcome.m_Out, std::regex("\\s+"), " ");
    EXPECT_TRUE(Has(spaced, "\"compute\": [ \"CpuRef\" ]")) << spaced;
    EXPECT_TRUE(Has(spaced, "{ \"model\": \"a.tflite\", \"format\": \"TFLite\", \"layers\": 10, \"backends\": "
                            "{\"CpuRef\": 10}, \"can_run\": true, \"with_sizes_for\": [], \"reason\": null }"))
        << spaced;
    EXPECT_TRUE(Has(spaced, "{ \"model\": \"b.onnx\", \"format\": \"ONNX\", \"layers\": null, \"backends\": {}, "
                            "\"can_run\": false, \"with_sizes_for\": [], \"reason\": \""))
        << spaced;
}

TEST_F(CanRunProgram, Refusals)
{
    const std::string folder = m_Folder.Path("");
    ExpectFailure(Execute({"--can-run", folder}), 2, "--can-run: there is no model in '" + folder + "'");
    ExpectFailure(Execute({"--can-run", m_Folder.Path("none")}), 2, "--can-run: there is no folder '");
    ExpectFailure(Execute({"--can-run", FloatModel}), 2, "--can-run: there is no folder '" + FloatModel + "'");
    ExpectFailure(Execute({"--can-run", ""}), 2, "--can-run: name a folder of models");
    for (const Words& words : {Words{"-m", FloatModel}, Words{"-d", "in.npy"}, Words{"--dim", "batch=4"}, Words{"-N"}})
    {
        Words all = {"--can-run", folder};
        all.insert(all.end(), words.begin(), words.end());
        ExpectFailure(Execute(all), 2, ": with --can-run it has no effect, because --can-run runs no model");
    }
}

} // namespace
} // namespace tenon::tools
