// SPDX-License-Identifier: Apache-2.0
// Figures of a run, and their JSON.
#include "tools/execute_network/Report.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tenon::tools
{
namespace
{

Report MakeReport()
{
    Report report;
    report.m_ModelPath = "a \"model\".tflite";
    report.m_Compute = {"CpuRef"};
    report.m_Messages = {"a\nb"};
    report.m_LoadMs = 1.5;
    report.m_ArenaBytes = 77;
    report.m_ArenaLowerBoundBytes = 76;
    report.m_Threads = 2;
    report.m_Inputs = {{"in", 0, TensorInfo({1, 4}, DataType::QAsymmU8, 0.5f, 3)}};
    TensorInfo perAxis({2}, DataType::QSymmS8, std::vector<float>{0.5f, 0.25f}, 0);
    report.m_Outputs = {{"out", 0, TensorInfo(TensorShape(Dimensionality::Scalar), DataType::Float32)},
                        {"axes", 1, perAxis}};
    LayerAssignment layer;
    layer.m_Name = "relu";
    layer.m_Type = LayerType::Activation;
    layer.m_Backend = "CpuRef";
    layer.m_Reason = "preferred";
    report.m_Assignment = {layer, layer};
    report.m_Assignment[1].m_Backend = "CpuAcc";
    report.m_Assignment[1].m_FusedActivation = "ReLu";
    return report;
}

/// JSON without line ends and the blanks after them.
std::string Compact(const std::string& json)
{
    std::string text;
    bool isIndent = false;
    for (const char c : json)
    {
        isIndent = c == '\n' || (isIndent && c == ' ');
        if (!isIndent)
        {
            text += c;
        }
    }
    return text;
}

TEST(Report, JsonHasAllFields)
{
    Report report = MakeReport();
    const std::string json = Compact(FormatReport(report));
    for (const char* part : {
             R"("model": "a \"model\".tflite")",
             R"("compute": ["CpuRef"])",
             R"("messages": ["a\u000ab"])",
             R"("load_ms": 1.5)",
             R"("optimize_ms": 0)",
             R"("first_inference_ms": 0)",
             R"("inference_ms": null)",
             R"("peak_rss_bytes": 0)",
             R"("arena_bytes": 77)",
             R"("arena_lower_bound_bytes": 76)",
             R"("arena_is_smallest": false)",
             R"("threads": 2)",
             R"({"name": "in","type": "QAsymmU8","shape": [1,4],"quantization": {"scale": 0.5,"zero_point": 3}})",
             R"({"name": "out","type": "Float32","shape": [],"quantization": null})",
             R"("quantization": {"scales": [0.5,0.25],"zero_points": [0,0],"dimension": 0})",
             R"({"layer": "relu","type": "Activation","backend": "CpuRef","reason": "preferred"})",
             R"("backend": "CpuAcc","fused_activation": "ReLu","reason": "preferred"})",
         })
    {
        EXPECT_NE(json.find(part), std::string::npos) << part << " in " << json;
    }
    report.m_InferenceMs = {2.0};
    EXPECT_NE(
        Compact(FormatReport(report))
            .find(R"("inference_ms": {"count": 1,"min": 2,"median": 2,"mean": 2,"p90": 2,"p99": 2,"max": 2,"std": 0})"),
        std::string::npos);
}

TEST(Report, Summaries)
{
    Report report = MakeReport();
    EXPECT_EQ(SummarizeAssignment(report.m_Assignment), "2 layers: CpuRef 1, CpuAcc 1");
    report.m_Assignment[0].m_Name = "a\nname" + std::string(50, 'x');
    report.m_Assignment[1].m_Reason = "CpuRef: no";
    LayerAssignment constant;
    constant.m_Type = LayerType::Constant;
    report.m_Assignment.push_back(constant);
    EXPECT_EQ(SummarizeAssignment(report.m_Assignment), "2 layers: CpuRef 1, CpuAcc 1") << "as layers_after counts";
    EXPECT_EQ(FormatAssignment(report.m_Assignment),
              "layer                                     type        output   backend  reason\n"
              "a; namexxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...  Activation  Float32  CpuRef   preferred\n"
              "relu                                      Activation  Float32  CpuAcc   CpuRef: no\n");
    EXPECT_EQ(SummarizeTimes(report), "load 1.50 ms, optimize 0.00 ms, first inference 0.00 ms");
}

} // namespace
} // namespace tenon::tools
