// SPDX-License-Identifier: Apache-2.0
// The page of a profile in Chromium, where that is installed: no error in its scripts, sums as in the JSON, no two
// layers of the graph in one place, and the same for thousands of layers.
#include "harness/Json.hpp"
#include "tools/common/Strings.hpp"
#include "tools/harness/Subprocess.hpp"
#include "tools/harness/TempFolder.hpp"
#include "tools/profile/Profile.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>

namespace tenon::tools
{
namespace
{

using tenon::test::Json;

std::optional<std::string> FindBrowser()
{
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path != nullptr ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');)
    {
        const std::string program = folder + "/chromium";
        if (std::filesystem::exists(program))
        {
            return program;
        }
    }
    return {};
}

/// A chain with a branch over every fourth layer, in blocks that repeat.
Profile MakeProfileOf(size_t numLayers)
{
    Profile profile;
    profile.m_Model = "models/chain.tflite";
    profile.m_Threads = 2;
    profile.m_NumInferences = 3;
    profile.m_InferenceMs = ComputeStatistics({1.0, 2.0, 3.0});
    profile.m_Inputs.push_back({"in", TensorInfo({1, 8}, DataType::Float32)});
    profile.m_Outputs.push_back({"out", TensorInfo({1, 8}, DataType::Float32), numLayers - 1});
    profile.m_Statistics.m_ArenaBytes = 4096;
    constexpr const char* types[] = {"Convolution2d", "DepthwiseConvolution2d", "Activation", "ElementwiseBinary"};
    profile.m_Types.resize(std::size(types));
    for (size_t i = 0; i < numLayers; ++i)
    {
        ProfiledLayer& layer = profile.m_Layers.emplace_back();
        layer.m_Planned.m_Name = fmt::format("layer <{}> & co", i);
        layer.m_Planned.m_Type = types[i % std::size(types)];
        layer.m_Planned.m_Backend = i % 7 == 0 ? "CpuRef" : "CpuAcc";
        layer.m_Planned.m_Kernel = "Kernel";
        layer.m_Reason = i % 7 == 0 ? "CpuAcc: it does not" : "preferred";
        layer.m_Ms = ComputeStatistics({0.25 * static_cast<double>(1 + i % 5)});
        layer.m_ThreadMs = {0.2, 0.1};
        layer.m_Work = {1000, 1000, 100, 100, 100};
        layer.m_RooflineMs = 0.1;
        layer.m_Producers.push_back(static_cast<int64_t>(i) - 1);
        if (i % 4 == 3)
        {
            layer.m_Producers.push_back(static_cast<int64_t>(i) - 4);
        }
        layer.m_Outputs.push_back(
            {{TensorInfo({1, 8}, DataType::Float32), "arena", i % 4 * 64}, i + 1 < numLayers ? i + 1 : i});
        ProfiledType& type = profile.m_Types[i % std::size(types)];
        type.m_Type = layer.m_Planned.m_Type;
        ++type.m_Count;
        type.m_Ms += layer.m_Ms->m_Mean;
    }
    MachinePeaks peaks;
    peaks.m_Float32 = 1e10;
    peaks.m_BytesBySize = {{1024, 1e11}, {1 << 27, 1e10}};
    profile.m_Peaks = peaks;
    return profile;
}

std::string ToJson(const Profile& profile)
{
    JsonWriter json;
    WriteProfile(json, profile);
    return json.Text();
}

/// The value of an attribute that the page gives itself.
std::string AttributeOf(const std::string& page, const std::string& name)
{
    const std::string start = "data-" + name + "=\"";
    const size_t begin = page.find(start);
    return begin == std::string::npos
               ? "none"
               : page.substr(begin + start.size(), page.find('"', begin + start.size()) - begin - start.size());
}

/// Goes through the page as its users do, and counts cards of the graph that overlap.
constexpr const char* Tour = R"(<script>
const overlaps = () => {
  const places = new Set(graph.cards.map((card) => card.row + ":" + card.lane));
  return graph.cards.length - places.size;
};
const root = document.documentElement.dataset;
graph.foldAll(false);
root.unfolded = graph.cards.length;
root.overlaps = overlaps();
graph.foldAll(true);
root.folded = graph.cards.length;
root.overlapsFolded = overlaps();
graph.foldAll(false);
find("layer <3>");
findNext(false);
root.chosen = state.chosen;
root.found = state.found.size;
find("");
for (const paint of ["type", "backend", "share"]) { state.paint = paint; showLegend(); graph.paint(); }
graph.zoom(0.1, 5, 5);
graph.step(1);
root.stepped = state.chosen;
root.rows = document.querySelectorAll("#table .body").length;
root.details = byId("details").textContent;
charts.forEach((chart) => chart.drawNow());
root.wide = document.documentElement.scrollWidth > innerWidth;
</script>
)";

class Page : public testing::Test
{
protected:
    void SetUp() override
    {
        m_Browser = FindBrowser();
        if (!m_Browser)
        {
            GTEST_SKIP() << "chromium is not installed, which shows the page";
        }
    }

    /// The document after its scripts have run, in a window of that width.
    std::string Show(std::string page, int width, const std::string& script = Tour)
    {
        page.insert(page.rfind("</body>"), script);
        const std::string file = m_Folder.Write("page.html", page);
        const test::Outcome outcome =
            test::RunProgram({*m_Browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                              "--user-data-dir=" + m_Folder.Path("browser"), fmt::format("--window-size={},900", width),
                              "--virtual-time-budget=5000", "--dump-dom", "file://" + file});
        EXPECT_EQ(outcome.m_Status, 0) << outcome.m_Error;
        return outcome.m_Out;
    }

    test::TempFolder m_Folder;
    std::optional<std::string> m_Browser;
};

TEST_F(Page, HasTheSumsOfTheJson)
{
    const Profile profile = MakeProfileOf(66);
    const std::string json = ToJson(profile);
    for (const int width : {400, 1600})
    {
        const std::string page = Show(FormatProfilePage(profile, ""), width);
        EXPECT_EQ(AttributeOf(page, "errors"), "none");
        EXPECT_EQ(AttributeOf(page, "layers"), "66");
        EXPECT_NEAR(std::atof(AttributeOf(page, "layers-ms").c_str()), Json::Parse(json).At("layers_ms").m_Number,
                    1e-9);
        EXPECT_NEAR(std::atof(AttributeOf(page, "types-ms").c_str()), Json::Parse(json).At("layers_ms").m_Number, 1e-9);
        EXPECT_EQ(AttributeOf(page, "compared"), "false");
        EXPECT_EQ(AttributeOf(page, "unfolded"), "68"); // with input and output
        EXPECT_EQ(AttributeOf(page, "overlaps"), "0");
        EXPECT_EQ(AttributeOf(page, "overlaps-folded"), "0");
        EXPECT_EQ(AttributeOf(page, "found"), "1");
        EXPECT_EQ(AttributeOf(page, "chosen"), "3");
        EXPECT_EQ(AttributeOf(page, "stepped"), "4");
        EXPECT_EQ(AttributeOf(page, "wide"), "false"); // nothing sticks out
        EXPECT_NE(AttributeOf(page, "details").find("layer &lt;4&gt; &amp; co"), std::string::npos)
            << AttributeOf(page, "details");
    }
}

TEST_F(Page, ShowsMediansOfADisturbedRun)
{
    Profile profile = MakeProfileOf(8);
    for (ProfiledLayer& layer : profile.m_Layers)
    {
        layer.m_Ms = ComputeStatistics({1.0, 2.0, 9.0});
    }
    const std::string page = Show(FormatProfilePage(profile, ""), 1600,
                                  "<script>document.documentElement.dataset.sums = [state.a.sum, "
                                  "document.getElementById('statistic').value, state.a.types[0].ms];</script>");
    EXPECT_EQ(AttributeOf(page, "errors"), "none");
    EXPECT_EQ(AttributeOf(page, "layers-ms"), "32");
    EXPECT_EQ(AttributeOf(page, "sums"), "16,median,4");
    EXPECT_NE(page.find("means of layers are 2.0× their medians"), std::string::npos);
}

TEST_F(Page, ComparesTwoRuns)
{
    const Profile profile = MakeProfileOf(66);
    Profile earlier = MakeProfileOf(60);
    for (ProfiledLayer& layer : earlier.m_Layers)
    {
        layer.m_Ms->m_Mean *= 2;
    }
    const std::string page = Show(FormatProfilePage(profile, ToJson(earlier)), 1600,
                                  "<script>choose(5);document.documentElement.dataset.details = "
                                  "byId('details').textContent;</script>");
    EXPECT_EQ(AttributeOf(page, "errors"), "none");
    EXPECT_EQ(AttributeOf(page, "compared"), "true");
    EXPECT_NE(AttributeOf(page, "details").find("2.00× faster"), std::string::npos) << AttributeOf(page, "details");
    const std::string refused =
        Show(FormatProfilePage(profile, ""), 1600, "<script>open(new File(['{}'], 'other.json'));</script>");
    EXPECT_NE(refused.find("other.json cannot be compared with: it has no profile"), std::string::npos);
    EXPECT_EQ(AttributeOf(refused, "errors"), "none");
}

TEST_F(Page, StaysUsableWithThousandsOfLayers)
{
    const std::string page = Show(FormatProfilePage(MakeProfileOf(5000), ""), 1600);
    EXPECT_EQ(AttributeOf(page, "errors"), "none");
    EXPECT_EQ(AttributeOf(page, "unfolded"), "5002");
    EXPECT_LT(std::atoi(AttributeOf(page, "folded").c_str()), 1300);
    EXPECT_EQ(AttributeOf(page, "overlaps"), "0");
    EXPECT_LT(std::atoi(AttributeOf(page, "rows").c_str()), 60); // those in view
}

} // namespace
} // namespace tenon::tools
