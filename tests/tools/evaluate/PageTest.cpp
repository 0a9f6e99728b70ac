// SPDX-License-Identifier: Apache-2.0
// The page: one file with the report and the worst pictures, and in a browser without a fault of its script.
#include "Boxes.hpp"
#include "tools/harness/Browser.hpp"

namespace tenon::tools::evaluate
{
namespace
{

class Page : public Boxes
{
protected:
    /// The text between two marks, the first time that they are there.
    static std::string Between(const std::string& text, const std::string& begin, const std::string& end)
    {
        const size_t at = text.find(begin);
        EXPECT_NE(at, std::string::npos) << begin;
        const size_t from = at + begin.size();
        return text.substr(from, text.find(end, from) - from);
    }

    static Json DataOf(const std::string& page, const std::string& id)
    {
        return Json::Parse(Between(page, "<script type=\"application/json\" id=\"" + id + "\">", "</script>"));
    }

    Outcome RunDigits(const Words& more) const
    {
        return Evaluate(
            With(DigitsCommand(DigitsFloat, WriteDigits()), With({"--labels", "samples/digits/labels.txt"}, more)));
    }
};

TEST_F(Page, HasTheReportAndTheWorstPictures)
{
    const std::string report = m_Folder.Path("report.json");
    const std::string page = m_Folder.Path("page.html");
    ASSERT_EQ(RunDigits({"--report-json", report, "--report-html", page}).m_Status, 0);
    const std::string text = ReadFile(page);
    EXPECT_EQ(Json::Parse(ReadFile(report)).At("top_k").m_Items.at(0).m_Number,
              DataOf(text, "report").At("top_k").m_Items.at(0).m_Number);
    const Json worst = DataOf(text, "worst");
    ASSERT_EQ(worst.m_Items.size(), 5U) << "355 of 360 are right";
    double before = 1.0;
    for (const Json& each : worst.m_Items)
    {
        EXPECT_TRUE(each.At("picture").m_Text.starts_with("data:image/png;base64,iVBORw0KGgo"));
        const std::vector<Json>& best = each.At("best").m_Items;
        EXPECT_NE(best.at(0).At("class").m_Number, each.At("truth").m_Number);
        double right = 0.0;
        for (const Json& scored : best)
        {
            right = scored.At("class").m_Number == each.At("truth").m_Number ? scored.At("score").m_Number : right;
        }
        EXPECT_LE(best[0].At("score").m_Number - right, before) << "the worst come first";
        before = best[0].At("score").m_Number - right;
    }
    EXPECT_FALSE(Has(text, "http://") && !Has(text, "http://www.w3.org/2000/svg"));
    EXPECT_FALSE(Has(text, "https://"));
    ASSERT_EQ(RunDigits({"--report-html", page, "--worst", "2"}).m_Status, 0);
    EXPECT_EQ(DataOf(ReadFile(page), "worst").m_Items.size(), 2U);
}

TEST_F(Page, NamesCannotEndItsScript)
{
    const std::string model = WriteRelu("scores.tflite", {1, 2});
    WriteFloats("in/x.npy", {1, 2}, {1, 0});
    const std::string labels = m_Folder.Write("labels.txt", "</script><script>alert(1)\n{{script}} {{worst}}\n");
    const std::string page = m_Folder.Path("page.html");
    const Outcome outcome = Evaluate({"-m", model, "-d", m_Folder.Path("in"), "-c", "CpuRef", "-g",
                                      m_Folder.Write("truth.txt", "1\n"), "--labels", labels, "--report-html", page});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    const std::string text = ReadFile(page);
    EXPECT_FALSE(Has(text, "alert(1)\n") || Has(text, "<script>alert"));
    EXPECT_EQ(DataOf(text, "worst").m_Items.at(0).At("truth_name").m_Text, "{{script}} {{worst}}");
}

TEST_F(Page, RunsInABrowser)
{
    const std::optional<std::string> browser = test::FindBrowser();
    if (!browser)
    {
        GTEST_SKIP() << "there is no Chromium";
    }
    std::vector<test::PageView> pages;
    const std::string page = m_Folder.Path("page.html");
    ASSERT_EQ(RunDigits({"--report-html", page}).m_Status, 0);
    pages.push_back({ReadFile(page)});

    WriteRows("a.npy", {{0.1F, 0.2F, 0.3F, 0.6F, 0, 0.9F}, {0.5F, 0.5F, 0.6F, 0.6F, 0, 0.8F}});
    const std::string truth = Truth(R"({"images": [{"id": 1, "file_name": "a.npy", "width": 100, "height": 50}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [20, 5, 40, 10], "area": 400, "iscrowd": 0}],
        "categories": [{"id": 1, "name": "cat"}]})");
    ASSERT_EQ(Run({"-g", truth, "--report-html", page}).m_Status, 0);
    pages.push_back({ReadFile(page)});

    MakeFolder("scores");
    MakeFolder("masks");
    WriteFloats("scores/a.npy", {1, 2, 2, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1});
    m_Folder.Write("masks/a.png", test::Png(2, 2, 1, {0, 1, 2, 1}));
    const std::string model = WriteRelu("scores.tflite", {1, 2, 2, 3});
    ASSERT_EQ(Evaluate({"-m", model, "-d", m_Folder.Path("scores"), "-c", "CpuRef", "-g", m_Folder.Path("masks"),
                        "--report-html", page})
                  .m_Status,
              0);
    pages.push_back({ReadFile(page)});

    const std::vector<std::string> shown = test::ShowPages(*browser, pages);
    const std::string& digits = shown.at(0);
    EXPECT_TRUE(Has(digits, "<b>98.61 %</b><span class=\"soft\">top-1 accuracy</span>")) << digits.substr(0, 2000);
    EXPECT_TRUE(Has(digits, "The worst 5 pictures"));
    EXPECT_TRUE(Has(digits, "<b>360</b><span class=\"soft\">pictures</span>"));
    const std::string& boxes = shown.at(1);
    EXPECT_TRUE(Has(boxes, "<b>1.000</b><span class=\"soft\">AP</span>")) << boxes.substr(0, 2000);
    EXPECT_TRUE(Has(boxes, "1 found, 0 missed, 1 wrong"));
    const std::string& masks = shown.at(2);
    EXPECT_TRUE(Has(masks, "<b>0.6667</b><span class=\"soft\">mIoU</span>")) << masks.substr(0, 2000);
}

} // namespace
} // namespace tenon::tools::evaluate
