// SPDX-License-Identifier: Apache-2.0
// Random detections: the figures are those of pycocotools, where Python has it.
#include "Boxes.hpp"

#include <array>
#include <random>

namespace tenon::tools::evaluate
{
namespace
{

/// The environment that scripts/test_python.sh makes, or else the system's Python.
std::string FindPython()
{
    const std::string own = "build/venv-tests/bin/python";
    return std::filesystem::exists(own) ? own : "python3";
}

class Pycocotools : public Boxes
{
protected:
    /// Truth and detections of so many pictures. Detections lie near boxes, elsewhere, in crowds and over others; some
    /// scores are equal, and so are some boxes.
    std::string WriteRandomSet(unsigned int seed, size_t numPictures)
    {
        std::mt19937 random(seed);
        const auto uniform = [&](double min, double max)
        { return min + (max - min) * static_cast<double>(random()) / 4294967295.0; };
        const auto pick = [&](unsigned int count) { return static_cast<unsigned int>(random() % count); };
        std::string images;
        std::string annotations;
        size_t id = 1;
        for (size_t i = 0; i < numPictures; ++i)
        {
            constexpr double width = 640.0;
            constexpr double height = 480.0;
            // Ids are not in the order of names.
            const size_t imageId = (i * 7 + 3) % numPictures + 1;
            images += fmt::format("{}{{\"id\": {}, \"file_name\": \"p{}.npy\", \"width\": {}, \"height\": {}}}",
                                  i == 0 ? "" : ", ", imageId, i, width, height);
            std::vector<std::vector<float>> rows;
            const auto add = [&](double x, double y, double w, double h, unsigned int category)
            {
                if (rows.size() < NumDetections)
                {
                    const auto score = static_cast<float>(pick(20) + 1) / 20.0F;
                    rows.push_back({static_cast<float>(y / height), static_cast<float>(x / width),
                                    static_cast<float>((y + h) / height), static_cast<float>((x + w) / width),
                                    static_cast<float>(category), score});
                }
            };
            for (unsigned int box = 0; box < pick(9); ++box)
            {
                const double side = std::array{8.0, 25.0, 60.0, 200.0}[pick(4)];
                const double w = side * uniform(0.7, 1.4);
                const double h = side * uniform(0.7, 1.4);
                const double x = uniform(0, width - w);
                const double y = uniform(0, height - h);
                const unsigned int category = pick(4);
                const bool isCrowd = pick(8) == 0;
                annotations += fmt::format(
                    "{}{{\"id\": {}, \"image_id\": {}, \"category_id\": {}, \"bbox\": [{}, {}, {}, {}], \"area\": {}, "
                    "\"iscrowd\": {}}}",
                    id == 1 ? "" : ",\n", id, imageId, category * 3 + 1, x, y, w, h, w * h * uniform(0.5, 1.0),
                    isCrowd ? 1 : 0);
                ++id;
                for (unsigned int copy = 0; copy < pick(4); ++copy)
                {
                    const double shift = side * uniform(-0.25, 0.25);
                    add(x + shift, y - shift, w * uniform(0.8, 1.2), h, pick(6) == 0 ? pick(5) : category);
                }
            }
            for (unsigned int other = 0; other < pick(4); ++other)
            {
                add(uniform(0, 500), uniform(0, 400), uniform(5, 120), uniform(5, 80), pick(5));
            }
            WriteRows(fmt::format("p{}.npy", i), rows);
        }
        return Truth("{\"info\": {}, \"images\": [" + images + "], \"annotations\": [" + annotations +
                     R"(], "categories": [{"id": 10, "name": "d"}, {"id": 1, "name": "a"}, {"id": 4, "name": "b"},
                                          {"id": 7, "name": "c"}, {"id": 13, "name": "e"}]})");
    }
};

TEST_F(Pycocotools, FiguresAreTheSame)
{
    const std::string python = FindPython();
    if (test::RunProgram({python, "-c", "import pycocotools"}).m_Status != 0)
    {
        GTEST_SKIP() << "pycocotools is not installed; scripts/test_python.sh puts it into build/venv-tests";
    }
    for (const unsigned int seed : {1U, 2U, 3U})
    {
        const std::string truth = WriteRandomSet(seed, 40);
        const std::string report = m_Folder.Path("report.json");
        const std::string detections = m_Folder.Path("detections.json");
        const Outcome outcome = Run({"-g", truth, "--class-map", "order", "--report-json", report, "--write-detections",
                                     detections, "-j", "2"});
        ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
        const Outcome reference =
            test::RunProgram({python, "tests/tools/evaluate/pycocotools_figures.py", truth, detections});
        ASSERT_EQ(reference.m_Status, 0) << reference.m_Error;
        const Json expected = Json::Parse(reference.m_Out);
        const Json found = Json::Parse(ReadFile(report)).At("summary");
        ASSERT_EQ(expected.m_Items.size(), 12U);
        for (size_t i = 0; i < expected.m_Items.size(); ++i)
        {
            EXPECT_NEAR(found.m_Items.at(i).m_Number, expected.m_Items[i].m_Number, 1e-9)
                << found.m_Names[i] << " of set " << seed;
            EXPECT_GT(expected.m_Items[i].m_Number, 0.0) << "a figure of nothing would test nothing";
        }
    }
}

} // namespace
} // namespace tenon::tools::evaluate
