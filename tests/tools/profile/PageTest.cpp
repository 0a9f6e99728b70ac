// SPDX-License-Identifier: Apache-2.0
// The page of a profile in Chromium, where that is installed: no error in its scripts, sums as in the JSON, no two
// layers of the graph in one place, and the same for thousands of layers.
#include "harness/Json.hpp"
#include "tools/common/Strings.hpp"
#include "tools/harness/Browser.hpp"
#include "tools/profile/Profile.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace tenon::tools
{
namespace
{

using tenon::test::Json;

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
root.width = innerWidth;
root.wide = document.documentElement.scrollWidth > innerWidth;
</script>
)";

constexpr size_t NumLayers = 66;

/// With half of the speed.
Profile MakeEarlierProfile()
{
    Profile earlier = MakeProfileOf(60);
    for (ProfiledLayer& layer : earlier.m_Layers)
    {
        layer.m_Ms->m_Mean *= 2;
    }
    return earlier;
}

Profile MakeDisturbedProfile()
{
    Profile profile = MakeProfileOf(8);
    for (ProfiledLayer& layer : profile.m_Layers)
    {
        layer.m_Ms = ComputeStatistics({1.0, 2.0, 9.0});
    }
    return profile;
}

std::string MakePage(const Profile& profile, const std::string& against, const std::string& script)
{
    std::string page = FormatProfilePage(profile, against);
    return page.insert(page.rfind("</body>"), script);
}

class Page : public testing::Test
{
protected:
    /// The documents after their scripts have run.
    struct Shown
    {
        std::string m_Narrow;
        std::string m_Wide;
        std::string m_Disturbed;
        std::string m_Compared;
        std::string m_Refused;
        std::string m_Large;
    };

    /// One start of the browser serves all tests.
    static void SetUpTestSuite()
    {
        const std::optional<std::string> browser = test::FindBrowser();
        if (!browser)
        {
            return;
        }
        const Profile profile = MakeProfileOf(NumLayers);
        const std::vector<std::string> shown = test::ShowPages(
            *browser, {{MakePage(profile, "", Tour), 400},
                       {MakePage(profile, "", Tour)},
                       {MakePage(MakeDisturbedProfile(), "",
                                 "<script>document.documentElement.dataset.sums = [state.a.sum, "
                                 "document.getElementById('statistic').value, state.a.types[0].ms];</script>")},
                       {MakePage(profile, ToJson(MakeEarlierProfile()),
                                 "<script>choose(5);document.documentElement.dataset.details = "
                                 "byId('details').textContent;</script>")},
                       {MakePage(profile, "", "<script>open(new File(['{}'], 'other.json'));</script>")},
                       {MakePage(MakeProfileOf(5000), "", Tour)}});
        s_Shown = {shown.at(0), shown.at(1), shown.at(2), shown.at(3), shown.at(4), shown.at(5)};
    }

    void SetUp() override
    {
        if (!s_Shown)
        {
            GTEST_SKIP() << "chromium is not installed, which shows the page";
        }
    }

    inline static std::optional<Shown> s_Shown;
};

TEST_F(Page, HasTheSumsOfTheJson)
{
    const double layers = Json::Parse(ToJson(MakeProfileOf(NumLayers))).At("layers_ms").m_Number;
    for (const std::string& page : {s_Shown->m_Narrow, s_Shown->m_Wide})
    {
        EXPECT_EQ(AttributeOf(page, "errors"), "none");
        EXPECT_EQ(AttributeOf(page, "layers"), "66");
        EXPECT_NEAR(std::atof(AttributeOf(page, "layers-ms").c_str()), layers, 1e-9);
        EXPECT_NEAR(std::atof(AttributeOf(page, "types-ms").c_str()), layers, 1e-9);
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
    EXPECT_EQ(AttributeOf(s_Shown->m_Narrow, "width"), "400");
    EXPECT_EQ(AttributeOf(s_Shown->m_Wide, "width"), "1600");
}

TEST_F(Page, ShowsMediansOfADisturbedRun)
{
    const std::string& page = s_Shown->m_Disturbed;
    EXPECT_EQ(AttributeOf(page, "errors"), "none");
    EXPECT_EQ(AttributeOf(page, "layers-ms"), "32");
    EXPECT_EQ(AttributeOf(page, "sums"), "16,median,4");
    EXPECT_NE(page.find("means of layers are 2.0× their medians"), std::string::npos);
}

TEST_F(Page, ComparesTwoRuns)
{
    const std::string& page = s_Shown->m_Compared;
    EXPECT_EQ(AttributeOf(page, "errors"), "none");
    EXPECT_EQ(AttributeOf(page, "compared"), "true");
    EXPECT_NE(AttributeOf(page, "details").find("2.00× faster"), std::string::npos) << AttributeOf(page, "details");
    EXPECT_NE(s_Shown->m_Refused.find("other.json cannot be compared with: it has no profile"), std::string::npos);
    EXPECT_EQ(AttributeOf(s_Shown->m_Refused, "errors"), "none");
}

TEST_F(Page, StaysUsableWithThousandsOfLayers)
{
    const std::string& page = s_Shown->m_Large;
    EXPECT_EQ(AttributeOf(page, "errors"), "none");
    EXPECT_EQ(AttributeOf(page, "unfolded"), "5002");
    EXPECT_LT(std::atoi(AttributeOf(page, "folded").c_str()), 1300);
    EXPECT_EQ(AttributeOf(page, "overlaps"), "0");
    EXPECT_LT(std::atoi(AttributeOf(page, "rows").c_str()), 60); // those in view
}

} // namespace
} // namespace tenon::tools
