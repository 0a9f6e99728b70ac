// SPDX-License-Identifier: Apache-2.0
// Profiles that the program prints and writes, and options that do not fit together.
#include "Program.hpp"
#include "harness/Json.hpp"

#include <cmath>

namespace tenon::tools
{
namespace
{

using tenon::test::Json;

class ProfileOptions : public Program
{
};

TEST_F(ProfileOptions, PrintTables)
{
    for (const char* option : {"--profile", "--enable-op-profiling", "--enable_op_profiling=true"})
    {
        const Outcome outcome = Execute({"-m", Int8Model, "-I", "4", "-N", option});
        ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
        EXPECT_TRUE(Has(outcome.m_Out, "\nProfile of 3 inferences after the first: ")) << outcome.m_Out;
        EXPECT_TRUE(Has(outcome.m_Out, "\nRun order:\n")) << outcome.m_Out;
        EXPECT_TRUE(Has(outcome.m_Out, "\nSummary by node type:\n[node type] ")) << outcome.m_Out;
        EXPECT_TRUE(Has(outcome.m_Out, "100.000%")) << outcome.m_Out;
        EXPECT_EQ(outcome.m_Error, "");
    }
    EXPECT_FALSE(Has(Execute({"-m", Int8Model, "-N", "--enable_op_profiling=false"}).m_Out, "Summary"));
    EXPECT_TRUE(Has(Execute({"-m", Int8Model, "-N", "--profile"}).m_Out, "Profile of the first inference"));
}

TEST_F(ProfileOptions, SumUpInTheReport)
{
    const Outcome outcome = Execute({"-m", FloatModel, "-I", "5", "-N", "--profile", "--roofline", "--report-json",
                                     m_Folder.Path("report.json"), "--profile-html", m_Folder.Path("page.html")});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Out, "[% of roofline]")) << outcome.m_Out;
    const Json report = Json::Parse(m_Folder.Read("report.json"));
    const Json& profile = report.At("profile");
    EXPECT_EQ(profile.At("inferences").m_Number, 4.0);
    double layers = 0.0;
    for (const Json& layer : profile.At("layers").m_Items)
    {
        layers += layer.At("ms").At("mean").m_Number;
        EXPECT_EQ(layer.At("reason").m_Text, "preferred");
    }
    double types = 0.0;
    for (const Json& type : profile.At("types").m_Items)
    {
        types += type.At("ms").m_Number;
    }
    EXPECT_NEAR(layers, profile.At("layers_ms").m_Number, 1e-9);
    EXPECT_NEAR(types, layers, 1e-9);
    EXPECT_LE(layers, profile.At("inference_ms").At("mean").m_Number * 1.0001);
    EXPECT_TRUE(Has(m_Folder.Read("page.html"), "<!DOCTYPE html>"));

    const Outcome second = Execute({"-m", FloatModel, "-I", "2", "-N", "--profile-html", m_Folder.Path("second.html"),
                                    "--profile-against", m_Folder.Path("report.json")});
    ASSERT_EQ(second.m_Status, 0) << second.m_Error;
    EXPECT_FALSE(Has(second.m_Out, "Summary"));
    EXPECT_GT(m_Folder.Read("second.html").size(), m_Folder.Read("page.html").size());
}

TEST_F(ProfileOptions, RunOverFilesOfAPattern)
{
    WriteInput("a.npy", DataType::Float32);
    WriteInput("b.npy", DataType::Float32);
    const Outcome outcome = Execute({"-m", FloatModel, "-d", m_Folder.Path("*.npy"), "-N", "--profile"});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Out, "Profile of 1 inference after the first")) << outcome.m_Out;
}

TEST_F(ProfileOptions, RefuseEachOther)
{
    ExpectFailure(Execute({"-m", FloatModel, "--roofline"}), 2,
                  "--roofline: it is a part of the profile; add --profile or --profile-html FILE");
    ExpectFailure(Execute({"-m", FloatModel, "--profile", "--profile-against", "x.json"}), 2,
                  "--profile-against: the comparison is a part of the page; name it in --profile-html");
    ExpectFailure(Execute({"-m", FloatModel, "--profile-html", ""}), 2, "--profile-html: nothing is given");
    ExpectFailure(Execute({"-m", FloatModel, "--benchmark", "--profile"}), 2, "--profile");
    ExpectFailure(Execute({"-m", FloatModel, "--profile-html", m_Folder.Path("none/page.html")}), 2,
                  "there is no folder");
    ExpectFailure(Execute({"-m", FloatModel, "--profile-html", "-", "--report-json", "-"}), 2,
                  "standard output is given for two files");
}

TEST_F(ProfileOptions, RefuseOtherFilesThanReports)
{
    const std::string page = m_Folder.Path("page.html");
    const std::string bad = m_Folder.Write("bad.json", "{\n\"profile\": [}");
    ExpectFailure(Execute({"-m", FloatModel, "--profile-html", page, "--profile-against", bad}), 3,
                  "bad.json': it is no valid JSON: parse error at line 2, column 13: ");
    ExpectFailure(Execute({"-m", FloatModel, "--profile-html", page, "--profile-against", bad}), 3,
                  "; write one with --profile --report-json FILE");
    ExpectFailure(Execute({"-m", FloatModel, "--profile-html", page, "--profile-against", m_Folder.Path("none.json")}),
                  3, "none.json");
    ASSERT_EQ(Execute({"-m", FloatModel, "-N", "--report-json", m_Folder.Path("plain.json")}).m_Status, 0);
    ExpectFailure(Execute({"-m", FloatModel, "--profile-html", page, "--profile-against", m_Folder.Path("plain.json")}),
                  3, "it is no report with a profile");
    EXPECT_FALSE(std::filesystem::exists(page));
}

} // namespace
} // namespace tenon::tools
