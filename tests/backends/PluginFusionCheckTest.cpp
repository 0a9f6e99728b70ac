// SPDX-License-Identifier: Apache-2.0
// Offers of a plugin for fusion that do not suit the layer: each fault is refused with a text that says what is
// wrong.
#include "backends/plugin/PluginBackend.hpp"
#include "harness/MessageOf.hpp"
#include "harness/ShapedLayer.hpp"

#include <tenon/Exceptions.hpp>

#include <gmock/gmock.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenon::test::plugin_fusion_check_test
{

namespace
{

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// The text of the error that the fusion is for this layer.
std::string FaultOf(const ShapedLayer& layer, const tenon_fusion& fusion, bool hasDevice = false)
{
    return MessageOf<RuntimeException>(
        [&]
        {
            layer.With([&](auto inputs, auto outputs)
                       { plugin::CheckFusion(fusion, layer.m_Type, inputs, outputs, hasDevice, "who"); });
        });
}

std::string FaultOf(const ShapedLayer& layer, const std::function<void(tenon_fusion&)>& change)
{
    tenon_fusion fusion{};
    fusion.struct_size = sizeof(fusion);
    change(fusion);
    return FaultOf(layer, fusion);
}

// Hooks that are never called.
void RunNothing(tenon_plugin_shaped*, const void* const*, void*, size_t) {}
tenon_status AddNothing(tenon_plugin_shaped*, size_t, const tenon_attribute*, tenon_plugin_shaped**, size_t*,
                        tenon_text*)
{
    return TENON_ERROR;
}
tenon_status AttendNothing(tenon_plugin_shaped*, const tenon_attention*, tenon_plugin_shaped**, size_t*, tenon_text*)
{
    return TENON_ERROR;
}

} // namespace

TEST(PluginFusionCheck, AliasesThatDoNotSuitTheLayerAreRefused)
{
    const ShapedLayer join = MakeFloatLayer({{2}, {3}}, {5});
    std::vector<size_t> offsets;
    const auto inOutput = [&](std::vector<size_t> given)
    {
        offsets = std::move(given);
        return [&](tenon_fusion& fusion)
        {
            fusion.num_inputs_in_output = offsets.size();
            fusion.inputs_in_output = offsets.data();
        };
    };
    EXPECT_THAT(
        FaultOf(join, inOutput({0})),
        AllOf(StartsWith("who: "), HasSubstr("num_inputs_in_output is 1, but the number of the layer's inputs is "
                                             "2; give one offset for each, or none")));
    EXPECT_THAT(FaultOf(join, inOutput({0, 8, 16})), HasSubstr("num_inputs_in_output is 3"));
    EXPECT_THAT(FaultOf(join, inOutput({0, 12})),
                HasSubstr("inputs_in_output[1] is 12, from where 12 bytes do not fit into 20"));
    EXPECT_THAT(FaultOf(join, inOutput({SIZE_MAX - 3, 8})), HasSubstr("inputs_in_output[0]"));
    EXPECT_THAT(FaultOf(join, inOutput({2, 8})), HasSubstr("2, which is no multiple of the 4 bytes of an element"));
    EXPECT_THAT(FaultOf(join, inOutput({4, 8})), HasSubstr("places inputs 0 and 1 so that they overlap"));
    EXPECT_THAT(FaultOf(join, inOutput({12, 4})), HasSubstr("places inputs 1 and 0 so that they overlap"));
    EXPECT_EQ(FaultOf(join, inOutput({12, 0})), "no exception");
    EXPECT_THAT(FaultOf(join, [](tenon_fusion& fusion) { fusion.num_inputs_in_output = 2; }),
                HasSubstr("inputs_in_output is null, but num_inputs_in_output is 2"));
    ShapedLayer unconnected = join;
    unconnected.m_Inputs[1] = std::nullopt;
    EXPECT_THAT(FaultOf(unconnected, inOutput({0, 8})), HasSubstr("inputs_in_output[1] must be TENON_NO_ALIAS"));
    EXPECT_EQ(FaultOf(unconnected, inOutput({0, TENON_NO_ALIAS})), "no exception");
    ShapedLayer late = join;
    late.m_Outputs[0].SetShape(TensorShape({5}, {false}));
    EXPECT_THAT(FaultOf(late, inOutput({0, 8})), HasSubstr("inputs_in_output[0] must be TENON_NO_ALIAS"));

    const auto inInput = [&](std::vector<size_t> given)
    {
        offsets = std::move(given);
        return [&](tenon_fusion& fusion)
        {
            fusion.num_outputs_in_input = offsets.size();
            fusion.outputs_in_input = offsets.data();
        };
    };
    const ShapedLayer slice = MakeFloatLayer({{5}}, {2});
    EXPECT_EQ(FaultOf(slice, inInput({12})), "no exception");
    EXPECT_THAT(FaultOf(slice, inInput({0, 8})), HasSubstr("the number of the layer's outputs is 1"));
    EXPECT_THAT(FaultOf(slice, inInput({16})),
                HasSubstr("outputs_in_input[0] is 16, from where 8 bytes do not fit into 20"));
    EXPECT_THAT(FaultOf(slice, inInput({6})), HasSubstr("no multiple of the 4 bytes"));
    EXPECT_THAT(FaultOf(slice, [](tenon_fusion& fusion) { fusion.num_outputs_in_input = 1; }),
                HasSubstr("outputs_in_input is null"));
}

TEST(PluginFusionCheck, PixelsThatDoNotSuitTheLayerAreRefused)
{
    std::vector<size_t> offsets;
    const auto inPixels = [&](std::vector<size_t> given)
    {
        offsets = std::move(given);
        return [&](tenon_fusion& fusion)
        {
            fusion.num_inputs_in_pixels = offsets.size();
            fusion.inputs_in_pixels = offsets.data();
        };
    };
    const ShapedLayer join = MakeFloatLayer({{3, 2}, {3, 4}}, {3, 6});
    EXPECT_EQ(FaultOf(join, inPixels({16, 0})), "no exception");
    EXPECT_THAT(FaultOf(join, inPixels({0})), HasSubstr("num_inputs_in_pixels is 1"));
    EXPECT_THAT(FaultOf(join, inPixels({0, 12})),
                HasSubstr("inputs_in_pixels[1] is 12, from where 16 bytes do not fit into 24"));
    EXPECT_THAT(FaultOf(join, inPixels({4, 8})), HasSubstr("places inputs 0 and 1 so that they overlap"));
    EXPECT_THAT(FaultOf(join, inPixels({2, 8})), HasSubstr("no multiple of the 4 bytes"));
    EXPECT_THAT(FaultOf(join, [](tenon_fusion& fusion) { fusion.num_inputs_in_pixels = 2; }),
                HasSubstr("inputs_in_pixels is null"));
    EXPECT_THAT(FaultOf(MakeFloatLayer({{2, 2}, {3, 4}}, {3, 6}), inPixels({0, 8})),
                AllOf(HasSubstr("inputs_in_pixels[0] is 0"), HasSubstr("[2,2]"), HasSubstr("[3,6]")));
    EXPECT_THAT(FaultOf(MakeFloatLayer({{6}, {3, 4}}, {3, 6}), inPixels({0, 8})),
                HasSubstr("inputs_in_pixels[0] is 0"));
    ShapedLayer types = join;
    types.m_Inputs[1]->SetDataType(DataType::Signed32);
    EXPECT_THAT(FaultOf(types, inPixels({0, 8})), HasSubstr("or their types differ"));
    EXPECT_EQ(FaultOf(types, inPixels({0, TENON_NO_ALIAS})), "no exception");
}

TEST(PluginFusionCheck, OtherOffersThatDoNotSuitTheLayerAreRefused)
{
    const ShapedLayer unary = MakeFloatLayer({{4}}, {4});
    const ShapedLayer twoOutputs = [&]
    {
        ShapedLayer layer = unary;
        layer.m_Outputs.emplace_back(TensorShape({4}), DataType::Float32);
        return layer;
    }();
    EXPECT_THAT(FaultOf(unary, [](tenon_fusion& fusion) { fusion.struct_size = 0; }),
                HasSubstr("struct_size is 0; set it to sizeof(tenon_fusion)"));
    const auto copy = [](tenon_fusion& fusion) { fusion.is_copy = 1; };
    EXPECT_THAT(FaultOf(MakeFloatLayer({{3}}, {4}), copy), HasSubstr("different numbers of bytes"));
    EXPECT_THAT(FaultOf(MakeFloatLayer({}, {4}), copy), HasSubstr("is_copy"));
    EXPECT_THAT(FaultOf(twoOutputs, copy), HasSubstr("is_copy is for layers with one output"));
    const auto loop = [](tenon_fusion& fusion) { fusion.element_loop = &RunNothing; };
    EXPECT_THAT(FaultOf(MakeFloatLayer({{4}, {3}}, {4}), loop), HasSubstr("element_loop does not suit input 1"));
    EXPECT_THAT(FaultOf(MakeFloatLayer({{1, 2, 4}}, {2, 4}), loop), HasSubstr("element_loop does not suit input 0"));
    EXPECT_EQ(FaultOf(MakeFloatLayer({{4}, {1}, {2, 1}}, {2, 4}), loop), "no exception") << "inputs that are broadcast";
    EXPECT_THAT(FaultOf(twoOutputs, loop), HasSubstr("element_loop is for layers with one output"));
    ShapedLayer unconnected = unary;
    unconnected.m_Inputs.emplace_back();
    EXPECT_THAT(FaultOf(unconnected, loop), HasSubstr("element_loop does not suit input 1"));
    ShapedLayer halfBytes = unary;
    halfBytes.m_Inputs[0]->SetDataType(DataType::QSymmS4);
    EXPECT_THAT(FaultOf(halfBytes, loop), HasSubstr("element_loop does not suit input 0"));
    EXPECT_THAT(FaultOf(twoOutputs, [](tenon_fusion& fusion) { fusion.add_tensor = &AddNothing; }),
                HasSubstr("add_tensor is for layers with one output"));
    EXPECT_THAT(FaultOf(unary, [](tenon_fusion& fusion) { fusion.make_attention = &AttendNothing; }),
                HasSubstr("make_attention is for BatchMatMul layers"));
}

TEST(PluginFusionCheck, PluginsWithADeviceOfferNoWorkOnHostMemory)
{
    const ShapedLayer unary = MakeFloatLayer({{4}}, {4});
    const size_t offset = 0;
    tenon_fusion fusion{};
    fusion.struct_size = sizeof(fusion);
    fusion.is_copy = 1;
    fusion.num_outputs_in_input = 1;
    fusion.outputs_in_input = &offset;
    EXPECT_EQ(FaultOf(unary, fusion, true), "no exception");
    tenon_fusion pitched = fusion;
    pitched.writes_pitched = 1;
    tenon_fusion tiled = fusion;
    tiled.max_tile_threads = 1;
    tenon_fusion looped = fusion;
    looped.element_loop = &RunNothing;
    tenon_fusion attending = fusion;
    attending.make_attention = &AttendNothing;
    tenon_fusion summed = fusion;
    summed.add_tensor = &AddNothing;
    for (const tenon_fusion& offer : {pitched, tiled, looped, summed, attending})
    {
        EXPECT_THAT(FaultOf(unary, offer, true), HasSubstr("a plugin with a device offers"));
    }
}

} // namespace tenon::test::plugin_fusion_check_test
