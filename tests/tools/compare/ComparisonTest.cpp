// SPDX-License-Identifier: Apache-2.0
// The result of a comparison, as text and as JSON.
#include "tools/compare/Comparison.hpp"

#include "Tensors.hpp"
#include "harness/Json.hpp"
#include "tools/common/Errors.hpp"
#include "tools/harness/Expect.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace tenon::tools
{
namespace
{

using tenon::test::Json;
using test::Tensor;

Comparison MakeComparison()
{
    Comparison comparison;
    comparison.m_Tested = "a.tflite on CpuAcc 3";
    comparison.m_Reference = "a.tflite on CpuRef 3";
    comparison.m_NumRuns = 2;
    comparison.m_TestedMs = {1.0, 2.0};
    comparison.m_ReferenceMs = {84.5, 84.25};
    comparison.m_Tolerance = ParseTolerance("0.5");
    const Tensor reference(TensorInfo({1, 2}, DataType::Float32), {1, 2});
    AddOutputs(comparison,
               {{"y", Tensor(TensorInfo({1, 2}, DataType::Float32), {1.5, 2}).View(), "y", reference.View()}});
    AddOutputs(comparison,
               {{"y", Tensor(TensorInfo({1, 2}, DataType::Float32), {1, 4}).View(), "y", reference.View()}});
    return comparison;
}

Json ToJson(const Comparison& comparison)
{
    JsonWriter json;
    WriteComparison(json, comparison);
    return Json::Parse(json.Text());
}

bool Has(const std::string& text, const std::string& words)
{
    return text.find(words) != std::string::npos;
}

TEST(Comparison, HasTheLinesOfInferenceDiff)
{
    const std::string text = FormatComparison(MakeComparison());
    EXPECT_EQ(text.find("Num evaluation runs: 2\n"
                        "Reference run latency: avg=84375(us), std_dev=125(us)\n"
                        "Test run latency: avg=1500(us), std_dev=500(us)\n"
                        "OutputDiff[0]: avg_error=0.625, std_dev=0.375\n"
                        "\n"
                        "tested     a.tflite on CpuAcc 3\n"
                        "reference  a.tflite on CpuRef 3\n"
                        "median     1.500 ms in place of 84.375 ms: 56.25 times as fast\n"),
              0U)
        << text;
}

TEST(Comparison, HasTables)
{
    const std::string text = FormatComparison(MakeComparison());
    EXPECT_TRUE(Has(text, "output  type     elements  equal  avg error  max error  std error  RMS   cosine\n"
                          "y       Float32  4         50 %   0.625      2          0.82       1.03  0.9"))
        << text;
    EXPECT_TRUE(Has(text, "output 'y' Float32 [1,2]\n"
                          "  largest difference: 4 in place of 2, element [0,1] of run 2\n"
                          "  bias 0.625, largest relative error 1, RMS 0.652 of the reference's\n"
                          "  1 elements are out of the tolerance (abs=0.5)\n"
                          "  ULP (floats) between the two, elements\n"
                          "                 0           2   50.000 %  ########################################\n"
                          "                 1           0    0.000 %\n"))
        << text;
    EXPECT_TRUE(Has(text, "        1025-65536           0    0.000 %\n")) << text;
    EXPECT_TRUE(Has(text, "    65537-16777216           2   50.000 %  ########################################\n"))
        << text;
    EXPECT_FALSE(Has(text, "16777217 or more"));
    EXPECT_EQ(CountOutOfTolerance(MakeComparison()), 1U);
}

TEST(Comparison, NamesFilesOfRuns)
{
    Comparison comparison = MakeComparison();
    comparison.m_Files = {"a.png", "b.png"};
    comparison.m_ReferenceMs.clear();
    const std::string text = FormatComparison(comparison);
    EXPECT_TRUE(Has(text, "element [0,1] of 'b.png'\n")) << text;
    EXPECT_FALSE(Has(text, "Reference run latency")) << text;
    EXPECT_FALSE(Has(text, "median")) << text;
}

TEST(Comparison, CountsNonFiniteElements)
{
    Comparison comparison;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    AddOutputs(comparison, {{"y", Tensor(DataType::Float32, {nan, nan, 1}).View(), "y",
                             Tensor(DataType::Float32, {nan, 1, 1}).View()}});
    EXPECT_TRUE(Has(FormatComparison(comparison), "  NaN or infinite: 1 elements in one of the two alone, 1 in both "
                                                  "alike; errors are without them\n"));
}

TEST(Comparison, TellsOfTies)
{
    const auto notes = [](DataType type, const std::vector<double>& tested, const std::vector<double>& reference)
    {
        Comparison comparison;
        AddOutputs(comparison, {{"classes", Tensor(type, tested).View(), "classes", Tensor(type, reference).View()}});
        EXPECT_EQ(Has(FormatComparison(comparison), "note: "), !DescribeTies(comparison.m_Outputs[0]).empty());
        return !DescribeTies(comparison.m_Outputs[0]).empty();
    };
    EXPECT_TRUE(notes(DataType::Float32, {1, 17}, {17, 1}));
    EXPECT_TRUE(notes(DataType::Signed64, {3}, {4}));
    EXPECT_FALSE(notes(DataType::Float32, {1, 17}, {1, 17}));
    EXPECT_FALSE(notes(DataType::Float32, {1, 17.5}, {17.5, 1}));
    EXPECT_FALSE(notes(DataType::Boolean, {0}, {1}));
}

TEST(Comparison, CountsElementsOfIntegers)
{
    Comparison comparison;
    AddOutputs(comparison, {{"y", Tensor(DataType::Signed32, {1, 2, 3}).View(), "z",
                             Tensor(DataType::Signed32, {1, 5, 3}).View()}});
    const std::string text = FormatComparison(comparison);
    EXPECT_TRUE(Has(text, "output 'y' Signed32 [3], reference 'z'\n")) << text;
    EXPECT_TRUE(Has(text, "  1 of 3 elements differ\n")) << text;
    EXPECT_FALSE(Has(text, "ULP")) << text;
}

TEST(Comparison, IsInJson)
{
    Comparison comparison = MakeComparison();
    ComparedLayer layer;
    layer.m_Name = "relu";
    layer.m_Type = "Activation";
    layer.m_WhyNot = "not in the reference";
    comparison.m_Layers.push_back(layer);
    const Json json = ToJson(comparison);
    EXPECT_EQ(json.At("tested").m_Text, comparison.m_Tested);
    EXPECT_EQ(json.At("reference").m_Text, comparison.m_Reference);
    EXPECT_EQ(json.At("runs").m_Number, 2);
    EXPECT_EQ(json.At("tested_ms").At("mean").m_Number, 1.5);
    EXPECT_EQ(json.At("reference_ms").At("std").m_Number, 0.125);
    EXPECT_EQ(json.At("tolerance").At("abs").m_Number, 0.5);
    EXPECT_EQ(json.At("tolerance").At("ulp").m_Kind, Json::Kind::Null);
    EXPECT_EQ(json.At("is_within_tolerance").m_Number, 0);
    ASSERT_EQ(json.At("outputs").m_Items.size(), 1U);
    const Json& output = json.At("outputs").m_Items[0];
    EXPECT_EQ(output.At("name").m_Text, "y");
    EXPECT_EQ(output.At("type").m_Text, "Float32");
    EXPECT_EQ(output.At("measure").m_Text, "ulp");
    EXPECT_EQ(output.At("elements").m_Number, 4);
    EXPECT_EQ(output.At("different").m_Number, 2);
    EXPECT_EQ(output.At("out_of_tolerance").m_Number, 1);
    EXPECT_EQ(output.At("mean_error").m_Number, 0.625);
    EXPECT_EQ(output.At("max_error").m_Number, 2);
    EXPECT_EQ(output.At("bias").m_Number, 0.625);
    EXPECT_EQ(output.At("worst").At("run").m_Number, 1);
    EXPECT_EQ(output.At("worst").At("index").m_Number, 1);
    EXPECT_EQ(output.At("histogram").m_Items.size(), 2U) << "classes with elements";
    EXPECT_EQ(output.At("histogram").m_Items[0].At("max").m_Number, 0);
    EXPECT_EQ(output.At("histogram").m_Items[1].At("count").m_Number, 2);
    EXPECT_EQ(output.At("mean_errors_of_runs").m_Items.size(), 2U);
    EXPECT_EQ(output.At("note").m_Kind, Json::Kind::Null);
    EXPECT_EQ(json.At("first_layer_that_differs").m_Kind, Json::Kind::Null);
    EXPECT_EQ(json.At("layers").m_Items[0].At("why_not").m_Text, "not in the reference");
    EXPECT_EQ(json.At("layers").m_Items[0].Find("max_error"), nullptr);

    comparison.m_Tolerance.reset();
    comparison.m_Layers.clear();
    const Json plain = ToJson(comparison);
    EXPECT_EQ(plain.At("tolerance").m_Kind, Json::Kind::Null);
    EXPECT_EQ(plain.At("is_within_tolerance").m_Kind, Json::Kind::Null);
    EXPECT_EQ(plain.Find("layers"), nullptr);
}

TEST(Comparison, OfOtherShapesAndTypesIsRefused)
{
    Comparison comparison;
    const auto add = [&](const Tensor& tested, const Tensor& reference) {
        AddOutputs(comparison, {{"y", tested.View(), "z", reference.View()}});
    };
    EXPECT_THROW_WITH(add(Tensor(DataType::Float32, {1}), Tensor(DataType::Float32, {1, 2})), InputError,
                      "--compare-with: output 'y' is Float32 [1], but Float32 [2] in the reference, 'z'; tensors of "
                      "different shapes cannot be compared");
    EXPECT_THROW_WITH(add(Tensor(DataType::Float32, {1}), Tensor(DataType::Signed32, {1})), InputError,
                      "output 'y' is Float32 [1], but Signed32 [1] in the reference, 'z'; these types cannot be "
                      "compared");
    comparison.m_Tolerance = ParseTolerance("steps=1");
    EXPECT_THROW_WITH(add(Tensor(DataType::Float32, {1}), Tensor(DataType::Float32, {1})), UsageError,
                      "--tolerance: steps=1 is no bound for output 'y', which is Float32 [1]; add ulp, abs or rel");
    EXPECT_TRUE(comparison.m_Outputs.empty());
    add(Tensor(DataType::Signed32, {1}), Tensor(DataType::Signed32, {1}));
    EXPECT_THROW_WITH(add(Tensor(DataType::Float32, {1}), Tensor(DataType::Float32, {1})), InputError,
                      "these types cannot be compared");
}

TEST(Comparison, AddsAllOutputsOfARunOrNone)
{
    Comparison comparison;
    const Tensor one(DataType::Float32, {1});
    const Tensor two(DataType::Float32, {1, 2});
    AddOutputs(comparison, {{"a", one.View(), "a", one.View()}, {"b", two.View(), "b", two.View()}});
    EXPECT_THROW_WITH(AddOutputs(comparison, {{"a", one.View(), "a", one.View()}, {"b", two.View(), "b", one.View()}}),
                      InputError, "output 'b' is Float32 [2], but Float32 [1] in the reference");
    EXPECT_EQ(comparison.m_Outputs[0].m_Difference.MeanErrorsOfRuns().size(), 1U);
}

} // namespace
} // namespace tenon::tools
