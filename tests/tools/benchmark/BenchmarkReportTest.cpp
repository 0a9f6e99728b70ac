// SPDX-License-Identifier: Apache-2.0
// The lines of benchmark_model, the tables, and the JSON of known figures.
#include "tools/benchmark/BenchmarkReport.hpp"

#include <gtest/gtest.h>

#include <regex>

namespace tenon::tools
{
namespace
{

constexpr uint64_t Mb = 1 << 20;

BenchmarkSide MakeSide(const std::string& name, double factor)
{
    BenchmarkSide side;
    side.m_Name = name;
    side.m_Figures = {0.1, 0.2, 3.0, 0.54, 6036.807, 10 * Mb, 12 * Mb, 39 * Mb, Mb / 2};
    side.m_WarmupMs = {6036.807};
    side.m_Runs = {{{2.795 * factor, 2.653 * factor, 2.849 * factor, 2.704 * factor}}, 0.5};
    return side;
}

BenchmarkResult MakeResult()
{
    BenchmarkResult result;
    result.m_Sides = {MakeSide("a.tflite", 1.0)};
    result.m_WhyNoEnergy = "no counters";
    return result;
}

BenchmarkResult MakeResultOfTwo()
{
    BenchmarkResult result = MakeResult();
    result.m_Sides.push_back(MakeSide("CpuRef", 2.0));
    result.m_Sides[1].m_Figures.m_InitBytes = 0;
    result.m_Sides[1].m_Figures.m_OverallBytes = 0;
    result.m_AgainstKind = "backends";
    result.m_NumRounds = 24;
    result.m_Ratio = {2.0, Ratio::Interval{1.9, 2.1}};
    return result;
}

bool Has(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

TEST(BenchmarkLines, AreThoseOfBenchmarkModel)
{
    const BenchmarkSide side = MakeSide("a.tflite", 1.0);
    EXPECT_EQ(FormatModelSize(4276352), "The input model file size (MB): 4.27635\n");
    EXPECT_EQ(FormatInit(side.m_Figures), "Initialized session in 3.84ms.\n");
    EXPECT_EQ(FormatBounds({1, 0.5, 150.0}), "Running benchmark for at least 1 iterations and at least 0.5 seconds but "
                                             "terminate if exceeding 150 seconds.\n");
    EXPECT_EQ(FormatCounts(side.m_Runs.m_Ms[0]), "count=4 first=2795 curr=2704 min=2653 max=2849 avg=2750.25 std=76\n");
    EXPECT_EQ(FormatCounts({6036.807}), "count=1 curr=6036807\n");
    EXPECT_EQ(FormatTimings(side), "Inference timings in us: Init: 3840, First inference: 6036807, Warmup (avg): "
                                   "6.03681e+06, Inference (avg): 2750.25\n"
                                   "Peak memory footprint (MB): init=2 overall=29\n");
    BenchmarkSide unknown = side;
    unknown.m_Figures.m_OverallBytes = 0;
    EXPECT_FALSE(Has(FormatTimings(unknown), "Peak memory"));
}

TEST(BenchmarkTable, HasAllFigures)
{
    const std::string text = FormatBenchmark(MakeResult(), 80);
    for (const char* line :
         {"make the runtime, ms     0.1000\n", "parse, ms                0.2000\n", "optimize, ms             3.000\n",
          "load, ms                 0.5400\n", "first inference, ms      6037\n", "inferences               4\n",
          "min, ms                  2.653\n", "median, ms               2.750\n", "mean, ms                 2.750\n",
          "p90, ms                  2.833\n", "p99, ms                  2.847\n", "max, ms                  2.849\n",
          "std, ms                  0.0764\n", "inferences per second    8.000\n", "peak memory at init, MB  2.00\n",
          "peak memory overall, MB  29.00\n", "arena, MB                0.50\n", "latency, ms"})
    {
        EXPECT_TRUE(Has(text, line)) << line << text;
    }
    EXPECT_FALSE(Has(text, "energy")) << text;
    EXPECT_FALSE(Has(text, "caller")) << text;
    BenchmarkResult metered = MakeResult();
    metered.m_JoulesPerInference = 0.0125;
    EXPECT_TRUE(Has(FormatBenchmark(metered, 80), "energy per inference, mJ  12.50\n"));
}

TEST(BenchmarkTable, HasALineForEachCaller)
{
    BenchmarkResult result = MakeResult();
    result.m_Sides[0].m_Runs.m_Ms.push_back({3.0, 5.0});
    const std::string text = FormatBenchmark(result, 80);
    EXPECT_TRUE(Has(text, "inferences per second    12.00\n")) << text;
    EXPECT_TRUE(Has(text, "1       4           2.653")) << text;
    EXPECT_TRUE(Has(text, "2       2           3.000    4.000")) << text;
}

TEST(BenchmarkTable, ComparesTwoSides)
{
    BenchmarkResult result = MakeResultOfTwo();
    const std::string text = FormatBenchmark(result, 80);
    EXPECT_TRUE(Has(text, "a.tflite  CpuRef\n")) << text;
    EXPECT_TRUE(Has(text, "median, ms               2.750     5.499\n")) << text;
    EXPECT_TRUE(Has(text, "peak memory overall, MB  29.00     -\n")) << text;
    EXPECT_TRUE(Has(text, "latency, ms  inferences  a.tflite")) << text;
    EXPECT_TRUE(
        Has(text, "'CpuRef' takes 2.000 times as long as 'a.tflite' (95% confidence: 1.900 to 2.100, 24 rounds)\n"))
        << text;
    EXPECT_FALSE(Has(text, "no difference")) << text;
    result.m_Ratio = {1.0, Ratio::Interval{0.99, 1.01}};
    EXPECT_TRUE(Has(FormatBenchmark(result, 80), "0.9900 to 1.010, 24 rounds)\nno difference can be told\n"))
        << FormatBenchmark(result, 80);
    result.m_NumRounds = 3;
    result.m_Ratio = {9.0, {}};
    const std::string few = FormatBenchmark(result, 80);
    EXPECT_TRUE(Has(few, "; 3 rounds are too few for a confidence interval\n")) << few;
    EXPECT_TRUE(Has(few, "\nCpuRef\nlatency, ms")) << "histograms of their own, as the times lie far apart\n" << few;
}

TEST(BenchmarkJson, HasAllFigures)
{
    const auto compact = [](const std::string& json) { return std::regex_replace(json, std::regex("\n *"), ""); };
    const std::string json = compact(FormatBenchmarkJson(MakeResult()));
    for (
        const char* part :
        {R"("warmup_runs": 1,"min_runs": 50,"min_secs": 1,"max_secs": 150,"sides": [{"name": "a.tflite","runtime_ms": 0.1)",
         R"("parse_ms": 0.2,"optimize_ms": 3,"load_ms": 0.54,"first_inference_ms": 6036.807,"warmup_ms": {"count": 1,)",
         R"("inference_ms": {"count": 4,"min": 2.653,"median": 2.7495)", R"("inferences_per_second": 8,)",
         R"("init_peak_rss_bytes": 12582912,"overall_peak_rss_bytes": 40894464,"arena_bytes": 524288)",
         R"("callers": [{"inference_ms": {"count": 4,)", R"("histogram": [{"from_ms": )",
         R"("joules_per_inference": null,"why_no_energy": "no counters"})"})
    {
        EXPECT_TRUE(Has(json, part)) << part << " in " << json;
    }
    const std::string two = compact(FormatBenchmarkJson(MakeResultOfTwo()));
    EXPECT_TRUE(Has(two,
                    R"("against": {"kind": "backends","rounds": 24,"ratio": 2,"interval": {"low": 1.9, "high": 2.1, )"
                    R"("confidence": 0.95}}})"))
        << two;
    EXPECT_TRUE(Has(two, R"("init_peak_rss_bytes": null)")) << two;
}

} // namespace
} // namespace tenon::tools
