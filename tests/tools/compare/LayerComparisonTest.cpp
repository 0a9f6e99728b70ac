// SPDX-License-Identifier: Apache-2.0
// Layers of two networks: the ones that are compared, and the reasons why others are not.
#include "tools/compare/LayerComparison.hpp"

#include "Tensors.hpp"
#include "tools/common/Errors.hpp"
#include "tools/harness/Expect.hpp"

#include <tenon/TensorHandle.hpp>

#include <gtest/gtest.h>

namespace tenon::tools
{
namespace
{

using test::Tensor;

LayerAssignment MakeLayer(uint64_t guid, const std::string& name, LayerType type = LayerType::Activation,
                          const char* backend = "CpuAcc")
{
    LayerAssignment layer;
    layer.m_Guid = LayerGuid(guid);
    layer.m_Name = name;
    layer.m_Type = type;
    layer.m_Backend = backend;
    return layer;
}

void Show(const DebugCallbackFunction& callback, uint64_t guid, const Tensor& tensor, unsigned int output = 0)
{
    ConstPassthroughTensorHandle handle(*tensor.View().m_Info, tensor.View().m_Data);
    callback(LayerGuid(guid), output, &handle);
}

Tensor Floats(const std::vector<double>& values)
{
    return {DataType::Float32, values};
}

TEST(LayerComparison, FindsLayersByName)
{
    LayerComparison layers(
        {MakeLayer(1, "in", LayerType::Input), MakeLayer(2, "a"), MakeLayer(3, "b")},
        {MakeLayer(12, "b", LayerType::Activation, "CpuRef"), MakeLayer(13, "a", LayerType::Activation, "CpuRef")}, {},
        Limits());
    const DebugCallbackFunction keep = layers.KeepReference();
    Show(keep, 13, Floats({1, 2}));
    Show(keep, 12, Floats({3, 4}));
    Show(keep, 12, Floats({5}), 1);
    const DebugCallbackFunction compare = layers.CompareTested();
    Show(compare, 1, Floats({9}));
    Show(compare, 2, Floats({1, 2}));
    Show(compare, 3, Floats({3, 5}));
    Show(compare, 3, Floats({5}), 1);
    const std::vector<ComparedLayer> rows = layers.Finish();
    ASSERT_EQ(rows.size(), 3U) << "inputs are no layers";
    EXPECT_EQ(rows[0].m_Name, "a");
    EXPECT_EQ(rows[0].m_Type, "Activation");
    EXPECT_EQ(rows[0].m_Backend, "CpuAcc");
    EXPECT_EQ(rows[0].m_ReferenceBackend, "CpuRef");
    EXPECT_EQ(rows[0].m_Difference.value().NumDifferent(), 0U);
    EXPECT_EQ(rows[1].m_Difference.value().MaxError(), 1.0);
    EXPECT_EQ(rows[2].m_Output, 1U);
    EXPECT_EQ(rows[2].m_Difference.value().NumElements(), 1U);
    EXPECT_EQ(FindFirstDifference(rows), 1U);
    const std::string text = FormatLayers(rows, true);
    EXPECT_NE(text.find("first layer that differs: 'b' (Activation, CpuAcc / CpuRef)\n"), std::string::npos) << text;
    EXPECT_NE(text.find("first layer out of the tolerance: 'b' (Activation, CpuAcc / CpuRef)\n"), std::string::npos);
    EXPECT_NE(text.find("largest growth of the relative error: at 'b' (Activation, CpuAcc / CpuRef), from below 6e-08 "
                        "to 0.2\n"),
              std::string::npos)
        << text;
}

TEST(LayerComparison, SaysWhyLayersAreNotCompared)
{
    LayerComparison layers({MakeLayer(1, "only"), MakeLayer(2, "type"), MakeLayer(3, "shape"), MakeLayer(4, "kind"),
                            MakeLayer(5, "loop"), MakeLayer(6, "")},
                           {MakeLayer(12, "type", LayerType::Pooling2d), MakeLayer(13, "shape"), MakeLayer(14, "kind"),
                            MakeLayer(15, "loop"), MakeLayer(16, ""), MakeLayer(17, "other")},
                           {}, Limits());
    const DebugCallbackFunction keep = layers.KeepReference();
    for (const uint64_t guid : {12, 13, 14, 15, 15, 16, 17})
    {
        Show(keep, guid, Floats({1, 2}));
    }
    const DebugCallbackFunction compare = layers.CompareTested();
    Show(compare, 1, Floats({1}));
    Show(compare, 2, Floats({1, 2}));
    Show(compare, 3, Floats({1, 2, 3}));
    Show(compare, 4, Tensor(DataType::Signed32, {1, 2}));
    Show(compare, 5, Floats({1, 2}));
    Show(compare, 6, Floats({1, 3}));
    Show(compare, 6, Floats({1, 3}));
    const std::vector<ComparedLayer> rows = layers.Finish();
    ASSERT_EQ(rows.size(), 9U);
    EXPECT_EQ(rows[0].m_WhyNot, "not in the reference");
    EXPECT_EQ(rows[1].m_WhyNot, "Pooling2d in the reference");
    EXPECT_EQ(rows[2].m_WhyNot, "Float32 [3], but Float32 [2] in the reference");
    EXPECT_EQ(rows[3].m_WhyNot, "Signed32 [2], but Float32 [2] in the reference");
    EXPECT_TRUE(rows[4].m_Difference.has_value()) << "the first value of a loop";
    EXPECT_EQ(rows[5].m_Difference.value().MaxError(), 1.0) << "without names, by type and place";
    EXPECT_EQ(rows[6].m_WhyNot, "has fewer values in the reference");
    EXPECT_EQ(rows[7].m_WhyNot, "has more values in the reference");
    EXPECT_EQ(rows[8].m_WhyNot, "in the reference alone");
    EXPECT_EQ(rows[8].m_Backend, "");
    for (const ComparedLayer& row : rows)
    {
        EXPECT_EQ(row.m_WhyNot.empty(), row.m_Difference.has_value()) << row.m_Name;
    }
    EXPECT_NE(FormatLayers(rows, false).find("not compared: Pooling2d in the reference\n"), std::string::npos);
}

TEST(LayerComparison, NamesFusions)
{
    LayerComparison layers({MakeLayer(1, "conv", LayerType::Convolution2d), MakeLayer(2, "relu"), MakeLayer(3, "add")},
                           {MakeLayer(11, "conv", LayerType::Convolution2d)}, {}, Limits());
    std::vector<LayerAssignment> plain = {MakeLayer(1, "conv", LayerType::Convolution2d), MakeLayer(3, "add")};
    plain[0].m_FusedActivation = "ReLu";
    NetworkPlan plan;
    plan.m_Layers.resize(2);
    plan.m_Layers[0].m_Name = "conv";
    plan.m_Layers[1].m_Name = "add";
    plan.m_Fusions = {{"ResidualAdd", 0, 1, ""}, {"Attention", 0, 1, "no attention"}, {"ConcatInPlace", 1, 1, ""}};
    layers.AddFusions(plain, plan);
    Show(layers.KeepReference(), 11, Floats({0.5}));
    const DebugCallbackFunction compare = layers.CompareTested();
    Show(compare, 1, Floats({1}));
    Show(compare, 2, Floats({1}));
    Show(compare, 3, Floats({1}));
    const std::vector<ComparedLayer> rows = layers.Finish();
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].m_Fusion, "fused with ReLu, ResidualAdd from here");
    EXPECT_EQ(rows[1].m_Fusion, "fused into another layer");
    EXPECT_EQ(rows[2].m_Fusion, "ResidualAdd to here, ConcatInPlace");
    const std::string text = FormatLayers(rows, false);
    EXPECT_EQ(text.find("largest growth"), std::string::npos) << "not at outputs that exist only layer by layer";
    EXPECT_NE(text.find("not compared: not in the reference; fused into another layer\n"), std::string::npos) << text;
}

TEST(LayerComparison, IsBounded)
{
    LayerComparison loop({MakeLayer(1, "a")}, {MakeLayer(1, "a")}, {}, Limits());
    for (const DebugCallbackFunction& callback : {loop.KeepReference(), loop.CompareTested()})
    {
        for (size_t i = 0; i < 2 * MaxValuesOfOutput; ++i)
        {
            Show(callback, 1, Floats({1}));
        }
    }
    EXPECT_EQ(loop.Finish().size(), MaxValuesOfOutput);

    Limits limits;
    limits.m_MaxTotalBytes = 10;
    LayerComparison layers({MakeLayer(1, "a"), MakeLayer(2, "b")}, {MakeLayer(1, "a"), MakeLayer(2, "b")}, {}, limits);
    const DebugCallbackFunction keep = layers.KeepReference();
    Show(keep, 1, Floats({1, 2}));
    EXPECT_NO_THROW(Show(keep, 2, Floats({1, 2}))) << "the library has no use for errors of its callers";
    EXPECT_THROW_WITH(layers.Finish(), InputError, "the tensors of the layers");
}

TEST(LayerComparison, OfNetworksWithoutCommonNamesIsALine)
{
    LayerComparison layers({MakeLayer(1, "a")}, {MakeLayer(2, "b")}, {}, Limits());
    Show(layers.KeepReference(), 2, Floats({1}));
    Show(layers.CompareTested(), 1, Floats({1}));
    const std::vector<ComparedLayer> rows = layers.Finish();
    EXPECT_EQ(rows.size(), 2U);
    EXPECT_EQ(FormatLayers(rows, true),
              "layers: none is compared, because no layer of one network has the name of one of the other\n");
    EXPECT_EQ(FindFirstDifference(rows), std::nullopt);
    EXPECT_EQ(FindFirstOutOfTolerance(rows), std::nullopt);
}

} // namespace
} // namespace tenon::tools
