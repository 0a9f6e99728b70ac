// SPDX-License-Identifier: Apache-2.0
// Profiles out of plans and traces that are spelled out: connections, fused layers, sums, and the forms of output.
#include "tools/profile/Profile.hpp"

#include "TextProfiler.hpp"
#include "harness/Json.hpp"
#include "tools/common/Errors.hpp"
#include "tools/harness/Expect.hpp"
#include "tools/harness/TempFolder.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tenon::tools
{
namespace
{

using tenon::test::Json;

bool Has(const std::string& text, const std::string& words)
{
    return text.find(words) != std::string::npos;
}

/// Input -> Convolution2d -> ElementwiseBinary (in the convolution's epilogue) -> Softmax -> output. Each tensor has
/// 1000 bytes.
class ProfileOfLayers : public testing::Test
{
protected:
    static PlannedLayer Planned(uint64_t guid, const std::string& name, const std::string& type, size_t offset)
    {
        PlannedLayer layer;
        layer.m_Guid = LayerGuid(guid);
        layer.m_Name = name;
        layer.m_Type = type;
        layer.m_Backend = "CpuAcc";
        layer.m_Kernel = "Cpu" + type;
        layer.m_IsPlanned = true;
        layer.m_Outputs.push_back({Info(), "arena", offset});
        return layer;
    }

    static TensorInfo Info() { return TensorInfo({10, 100}, DataType::QAsymmS8, 1.0f, 0); }

    static NetworkStructure::Node Node(uint64_t guid, LayerType type, const std::string& name,
                                       std::vector<NetworkStructure::Source> inputs, uint64_t macs)
    {
        NetworkStructure::Node node;
        node.m_Guid = guid;
        node.m_Type = type;
        node.m_Name = name;
        node.m_Inputs = std::move(inputs);
        node.m_Outputs = {Info()};
        node.m_Work.m_Macs = macs;
        node.m_Work.m_Operations = 1000;
        node.m_Work.m_InputBytes = 1000 * node.m_Inputs.size();
        node.m_Work.m_OutputBytes = 1000;
        node.m_Work.m_ConstantBytes = macs > 0 ? 500 : 0;
        return node;
    }

    void SetUp() override
    {
        m_Plan.m_Layers = {Planned(2, "conv</script>", "Convolution2d", 0),
                           Planned(3, "add", "ElementwiseBinary", 1024), Planned(4, "soft", "Softmax", 0)};
        m_Plan.m_Fusions = {{"ResidualAdd", 0, 1, ""}, {"ElementwiseChain", 1, 2, "it is no chain"}};
        m_Structure.m_Nodes = {Node(1, LayerType::Input, "in", {}, 0),
                               Node(2, LayerType::Convolution2d, "conv</script>", {{1, 0}}, 1000000),
                               Node(3, LayerType::ElementwiseBinary, "add", {{2, 0}, {1, 0}}, 0),
                               Node(4, LayerType::Softmax, "soft", {{3, 0}, {9, 0}}, 0), // 9: a constant
                               Node(5, LayerType::Output, "out", {{4, 0}}, 0)};
        for (const PlannedLayer& planned : m_Plan.m_Layers)
        {
            LayerAssignment& assigned = m_Assignment.emplace_back();
            assigned.m_Guid = planned.m_Guid;
            assigned.m_Reason = "preferred";
            assigned.m_DataType = DataType::QAsymmS8;
        }
        m_Statistics.m_ArenaBytes = 2048;
        for (const double start : {0.0, 10000.0})
        {
            m_Profiler.AddLayer(2, "Cpu", start, 4000);
            m_Profiler.AddLayer(4, "Cpu", start + 5000, 1000);
            m_Profiler.AddInference(start, 8000);
        }
    }

    Profile Make(const std::optional<MachinePeaks>& peaks = {}) const
    {
        Profile profile = MakeProfile({m_Profiler, m_Structure, m_Assignment, m_Plan, m_Statistics}, peaks);
        profile.m_Model = "some/model.tflite";
        profile.m_Threads = 2;
        return profile;
    }

    NetworkPlan m_Plan;
    NetworkStructure m_Structure;
    std::vector<LayerAssignment> m_Assignment;
    NetworkStatistics m_Statistics;
    TextProfiler m_Profiler;
};

MachinePeaks SomePeaks()
{
    MachinePeaks peaks;
    peaks.m_Threads = 2;
    peaks.m_Float32 = 1e9;
    peaks.m_Int8 = 2e9;
    peaks.m_BytesBySize = {{1U << 10U, 4e9}, {1U << 20U, 1e9}};
    return peaks;
}

TEST_F(ProfileOfLayers, HasConnectionsAndLifetimes)
{
    const Profile profile = Make();
    ASSERT_EQ(profile.m_Layers.size(), 3U);
    EXPECT_EQ(profile.m_Layers[0].m_Producers, (std::vector<int64_t>{-1}));
    EXPECT_EQ(profile.m_Layers[1].m_Producers, (std::vector<int64_t>{0, -1}));
    EXPECT_EQ(profile.m_Layers[2].m_Producers, (std::vector<int64_t>{1}));
    EXPECT_EQ(profile.m_Layers[0].m_Outputs[0].m_LastReader, 1U);
    EXPECT_EQ(profile.m_Layers[2].m_Outputs[0].m_LastReader, 2U);
    ASSERT_EQ(profile.m_Inputs.size(), 1U);
    EXPECT_EQ(profile.m_Inputs[0].m_Name, "in");
    ASSERT_EQ(profile.m_Outputs.size(), 1U);
    EXPECT_EQ(profile.m_Outputs[0].m_Layer, 2U);
}

TEST_F(ProfileOfLayers, GivesTheWorkOfAFusionToTheLayerWithItsTime)
{
    const Profile profile = Make();
    EXPECT_FALSE(profile.m_Layers[0].m_RunsIn);
    EXPECT_EQ(profile.m_Layers[1].m_RunsIn, 0U);
    EXPECT_FALSE(profile.m_Layers[2].m_RunsIn); // that fusion is not applied
    const LayerWork& work = profile.m_Layers[0].m_Work;
    EXPECT_EQ(work.m_Macs, 1000000U);
    EXPECT_EQ(work.CountOperations(), 2002000U);
    EXPECT_EQ(work.m_InputBytes, 2000U); // the tensor between the two counts neither as output nor as input
    EXPECT_EQ(work.m_OutputBytes, 1000U);
    EXPECT_EQ(profile.GetLayersMs(), 5.0);
    EXPECT_EQ(profile.m_NumInferences, 1U);
    EXPECT_EQ(profile.m_InferenceMs->m_Mean, 8.0);
    ASSERT_EQ(profile.m_Types.size(), 2U);
    EXPECT_EQ(profile.m_Types[0].m_Type, "Convolution2d");
    EXPECT_EQ(profile.m_Types[0].m_Ms, 4.0);
}

TEST_F(ProfileOfLayers, HasNoWorkForOtherShapesThanThoseOfTheRun)
{
    m_Plan.m_Layers[2].m_Outputs[0].m_Info = TensorInfo({20, 100}, DataType::QAsymmS8, 1.0f, 0);
    const Profile profile = Make();
    EXPECT_FALSE(profile.m_Layers[2].m_Work.m_OutputBytes);
    EXPECT_TRUE(profile.m_Layers[0].m_Work.m_OutputBytes);
}

TEST_F(ProfileOfLayers, HasNoBytesWhereNothingMoves)
{
    m_Structure.m_Nodes[3].m_Work.m_Operations = 0; // soft, which reads the output of add alone
    m_Plan.m_Layers[2].m_Outputs[0].m_Offset = 1024;
    EXPECT_EQ(Make().m_Layers[2].m_Work.CountBytes(), 0U);
    m_Plan.m_Layers[2].m_Outputs[0].m_Offset = 0;
    EXPECT_EQ(Make().m_Layers[2].m_Work.CountBytes(), 3000U);
}

TEST_F(ProfileOfLayers, IsATableByLayerAndOneByType)
{
    const std::string text = FormatProfile(Make());
    EXPECT_TRUE(Has(text, "Profile of 1 inference after the first: 8.000 ms, of which 5.000 ms in layers, 2 threads"))
        << text;
    EXPECT_TRUE(Has(text, "\nSummary by node type:\n"
                          "[node type]    [count]   [avg ms]   [avg %]   [cdf %]  [GOP/s]   [GB/s]  [backends]\n"
                          "Convolution2d        1      4.000   80.000%   80.000%     0.50     0.00  CpuAcc\n"
                          "Softmax              1      1.000   20.000%  100.000%     0.00     0.00  CpuAcc\n"))
        << text;
    EXPECT_TRUE(Has(text, "    4.000   80.000%   80.000%     0.50     0.00  Convolution2d  conv</script>  CpuAcc     "
                          "CpuConvolution2d\n"))
        << text;
    EXPECT_FALSE(Has(text, "roofline"));
}

TEST_F(ProfileOfLayers, ShowsRoofsIfPeaksAreMeasured)
{
    const Profile profile = Make(SomePeaks());
    EXPECT_NEAR(*profile.m_Layers[0].m_RooflineMs, 0.5, 1e-9); // a million products at 2e9 in a second
    const std::string text = FormatProfile(profile);
    EXPECT_TRUE(Has(text, "Peaks of 2 threads: float32 2 GOP/s, int8 4; copies 4 GB/s in caches, 1.0 in memory"))
        << text;
    EXPECT_TRUE(Has(text, "  12.5%  Convolution2d")) << text;
}

TEST_F(ProfileOfLayers, SaysWhereOtherLoadDisturbedIt)
{
    for (const double duration : {4000.0, 40000.0})
    {
        m_Profiler.AddLayer(2, "Cpu", 100000 * duration, duration);
        m_Profiler.AddInference(100000 * duration, duration + 1000);
    }
    const std::string text = FormatProfile(Make());
    EXPECT_TRUE(Has(text,
                    "of which 4.000 ms in layers, 2 threads\nOther load of the machine disturbed it: the means of "
                    "layers are 4.1 times their medians, which follow\n"))
        << text;
    EXPECT_TRUE(Has(text, "[node type]    [count]   [med ms]   [med %]   [cdf %]")) << text;
    EXPECT_TRUE(Has(text, "Convolution2d        1      4.000  100.000%  100.000%")) << text;
}

TEST_F(ProfileOfLayers, SaysWhereOnlyTheFirstInferenceIsThere)
{
    TextProfiler profiler;
    profiler.AddLayer(2, "Cpu", 0, 4000);
    profiler.AddInference(0, 8000);
    profiler.m_NumDropped = 5;
    const std::string text =
        FormatProfile(MakeProfile({profiler, m_Structure, m_Assignment, m_Plan, m_Statistics}, {}));
    EXPECT_TRUE(Has(text, "Profile of the first inference, which also plans memory (more of them: -I N)")) << text;
    EXPECT_TRUE(Has(text, "5 later events found no room in the profile")) << text;
    const std::string none =
        FormatProfile(MakeProfile({TextProfiler(), m_Structure, m_Assignment, m_Plan, m_Statistics}, {}));
    EXPECT_EQ(none, "Profile: no inference has ended\n");
}

TEST_F(ProfileOfLayers, IsJsonThatAPageHas)
{
    JsonWriter json;
    json.BeginObject();
    json.Key("profile");
    WriteProfile(json, Make(SomePeaks()));
    json.EndObject();
    const test::TempFolder folder;
    const std::string earlier = ReadEarlierProfile(folder.Write("report.json", json.Text()), Limits());
    const Json profile = Json::Parse(earlier);
    EXPECT_EQ(profile.At("layers_ms").m_Number, 5.0);
    const std::vector<Json>& layers = profile.At("layers").m_Items;
    EXPECT_EQ(layers.at(1).At("runs_in").m_Number, 0.0);
    EXPECT_EQ(layers.at(0).At("outputs").m_Items.at(0).At("last_reader").m_Number, 1.0);

    const std::string page = FormatProfilePage(Make(), earlier);
    EXPECT_TRUE(Has(page, "\"conv\\u003c/script>\""));
    EXPECT_FALSE(Has(page, "conv</script>"));
    EXPECT_FALSE(Has(page, "{{"));
    EXPECT_FALSE(Has(page, "http")); // nothing comes from a network
}

TEST_F(ProfileOfLayers, ComparesWithReportsAlone)
{
    const test::TempFolder folder;
    constexpr const char* advice = "write one with --profile --report-json FILE";
    for (const char* text : {"", "{}", "[1]", "{\"profile\": {}}", "{\"profile\": {\"layers\": []}}", "text"})
    {
        EXPECT_THROW_WITH(ReadEarlierProfile(folder.Write("bad", text), Limits()), InputError, advice) << text;
    }
    EXPECT_THROW_WITH(ReadEarlierProfile(folder.Path("none"), Limits()), InputError, "none");
}

TEST(Roofline, IsTheLongerOneOfProductsAndBytes)
{
    const MachinePeaks peaks = SomePeaks();
    LayerWork work;
    work.m_Operations = 0;
    work.m_ConstantBytes = 0;
    work.m_InputBytes = 512;
    work.m_OutputBytes = 512;
    EXPECT_FALSE(ComputeRooflineMs(peaks, work, DataType::Float32)); // products are not known
    work.m_Macs = 0;
    EXPECT_NEAR(*ComputeRooflineMs(peaks, work, DataType::Float32), 1024 / 4e9 * 1e3, 1e-12);
    work.m_InputBytes = (1U << 15U) - 512; // halfway between the two footprints
    EXPECT_NEAR(*ComputeRooflineMs(peaks, work, DataType::Float32), (1 << 15) / 2.5e9 * 1e3, 1e-12);
    work.m_InputBytes = uint64_t{1} << 30U;
    work.m_OutputBytes = 0;
    EXPECT_NEAR(*ComputeRooflineMs(peaks, work, DataType::Float32), (1 << 30) / 1e9 * 1e3, 1e-9);
    work.m_InputBytes = 512;
    work.m_Macs = 4000000;
    EXPECT_NEAR(*ComputeRooflineMs(peaks, work, DataType::Float32), 4.0, 1e-9);
    EXPECT_NEAR(*ComputeRooflineMs(peaks, work, DataType::QAsymmS8), 2.0, 1e-9);
    EXPECT_NEAR(*ComputeRooflineMs(peaks, work, DataType::QSymmS16), 4.0, 1e-9); // no instruction: as float32
    work.m_Macs = 0;
    work.m_InputBytes = 0;
    EXPECT_FALSE(ComputeRooflineMs(peaks, work, DataType::Float32)); // nothing to do
}

TEST(Roofline, PeaksAreMeasured)
{
    const MachinePeaks peaks = MeasurePeaks(2);
    EXPECT_TRUE(peaks.m_Threads == 1 || peaks.m_Threads == 2) << peaks.m_Threads; // where there is one core, one
    EXPECT_GT(peaks.m_Float32, 0.0);
    for (const auto& [bytes, rate] : peaks.m_BytesBySize)
    {
        EXPECT_GT(rate, 0.0) << bytes;
    }
}

} // namespace
} // namespace tenon::tools
