// SPDX-License-Identifier: Apache-2.0
// Fusion across the table of plugins: what the host makes of a plugin's tenon_fusion, and what it refuses. The plugin
// is a table of functions in this file; it doubles each element.
#include "backends/plugin/PluginBackend.hpp"
#include "harness/MessageOf.hpp"
#include "harness/ShapedLayer.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Elementwise.hpp>

#include <climits>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace tenon::test::plugin_fusion_test
{

namespace
{

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// What the plugin answers, and what it was asked.
struct Script
{
    tenon_fusion m_Fusion{};          ///< of workloads that are reshaped
    tenon_fusion m_FusionOfPitched{}; ///< of workloads that are reshaped with a pitch
    bool m_GivesFusion = true;
    bool m_GivesShaped = true; ///< else workload_reshape gives null; so do hooks
    bool m_HooksFail = false;

    std::vector<std::string> m_Destroyed;
    size_t m_NumReshaped = 0;
    uint32_t m_MaxThreads = 0;
    size_t m_Pitch = 0;
    std::string m_Attention; ///< what make_attention was given
};

Script* script = nullptr; ///< of the test that runs

/// The plugin's tenon_plugin_shaped.
struct Object
{
    const char* m_Name;
    size_t m_Count; ///< elements of the output
    bool m_AddsTensor = false;
    bool m_Clamps = false; ///< below 0, after the sum
    tenon_fusion m_Fusion{};

    static Object& Of(tenon_plugin_shaped* shaped) { return *reinterpret_cast<Object*>(shaped); }
    tenon_plugin_shaped* Handle() { return reinterpret_cast<tenon_plugin_shaped*>(this); }
};

/// A handle for objects that have nothing in them.
template <typename T>
tenon_status MakeNothing(T** made)
{
    static int nothing = 0;
    *made = reinterpret_cast<T*>(&nothing);
    return TENON_OK;
}

void WriteError(tenon_text* error, const char* text)
{
    std::strncpy(error->data, text, error->capacity - 1);
    error->data[error->capacity - 1] = '\0';
}

size_t CountElements(const tenon_tensor_info& info)
{
    return info.num_bytes / sizeof(float);
}

tenon_status Reshape(tenon_plugin_workload*, const tenon_layer* layer, tenon_plugin_shaped** shaped,
                     size_t* scratchBytes, tenon_text*)
{
    ++script->m_NumReshaped;
    script->m_MaxThreads = layer->max_threads;
    script->m_Pitch = layer->output_pitch;
    if (!script->m_GivesShaped)
    {
        *shaped = nullptr;
        return TENON_OK;
    }
    auto* object = new Object{"layer", CountElements(*layer->outputs[0])};
    object->m_Fusion = layer->output_pitch != 0 ? script->m_FusionOfPitched : script->m_Fusion;
    *shaped = object->Handle();
    *scratchBytes = 64;
    return TENON_OK;
}

void Destroy(tenon_plugin_shaped* shaped)
{
    Object& object = Object::Of(shaped);
    script->m_Destroyed.emplace_back(object.m_Name);
    delete &object;
}

tenon_status Execute(tenon_plugin_shaped* shaped, const tenon_execute_args* args, tenon_text*)
{
    const Object& object = Object::Of(shaped);
    const auto* input = static_cast<const float*>(args->inputs[0]);
    auto* output = static_cast<float*>(args->outputs[0]);
    for (size_t i = 0; i < object.m_Count; ++i)
    {
        const float sum = 2 * input[i] + (object.m_AddsTensor ? static_cast<const float*>(args->inputs[1])[i] : 0.0f);
        output[i] = object.m_Clamps ? std::max(sum, 0.0f) : sum;
    }
    return TENON_OK;
}

void DoubleElements(tenon_plugin_shaped*, const void* const* inputs, void* output, size_t count)
{
    const auto* input = static_cast<const float*>(inputs[0]);
    std::transform(input, input + count, static_cast<float*>(output), [](float x) { return 2 * x; });
}

tenon_status AddTensor(tenon_plugin_shaped* shaped, size_t numAttributes, const tenon_attribute* attributes,
                       tenon_plugin_shaped** sum, size_t* scratchBytes, tenon_text* error)
{
    if (script->m_HooksFail)
    {
        WriteError(error, "the accumulator is full");
        return TENON_UNSUPPORTED;
    }
    if (!script->m_GivesShaped)
    {
        *sum = nullptr;
        return TENON_OK;
    }
    auto* object = new Object{"sum", Object::Of(shaped).m_Count, true};
    for (size_t i = 0; i < numAttributes; ++i)
    {
        object->m_Clamps = object->m_Clamps || (std::string(attributes[i].name) == "Function" &&
                                                *static_cast<const int64_t*>(attributes[i].values) ==
                                                    static_cast<int64_t>(ActivationFunction::ReLu));
    }
    object->m_Fusion.struct_size = sizeof(tenon_fusion);
    object->m_Fusion.kernel_name = object->m_Clamps ? "Double+Add+ReLu" : "Double+Add";
    *sum = object->Handle();
    *scratchBytes = 128;
    return TENON_OK;
}

tenon_status MakeAttention(tenon_plugin_shaped*, const tenon_attention* rest, tenon_plugin_shaped** attention,
                           size_t* scratchBytes, tenon_text* error)
{
    if (script->m_HooksFail)
    {
        WriteError(error, "no room for a row of scores");
        return TENON_OUT_OF_MEMORY;
    }
    const tenon_layer& product = *rest->product;
    script->m_Attention = "beta " + std::to_string(rest->beta) + ", shared " + std::to_string(rest->is_shared) +
                          ", added rank " + (rest->added != nullptr ? std::to_string(rest->added->rank) : "none") +
                          ", " + product.type + " '" + product.name + "' of " + std::to_string(product.num_inputs) +
                          " inputs, guid " + std::to_string(product.guid) + ", threads " +
                          std::to_string(product.max_threads);
    if (!script->m_GivesShaped)
    {
        *attention = nullptr;
        return TENON_OK;
    }
    auto* object = new Object{"attention", CountElements(*product.outputs[0])};
    object->m_Fusion.struct_size = sizeof(tenon_fusion);
    object->m_Fusion.kernel_name = "Attention";
    *attention = object->Handle();
    *scratchBytes = 256;
    return TENON_OK;
}

tenon_plugin_table MakeTable()
{
    tenon_plugin_table table{};
    table.struct_size = sizeof(table);
    table.major = TENON_PLUGIN_MAJOR;
    table.minor = TENON_PLUGIN_MINOR;
    table.id = "Doubler";
    table.backend_create = [](const tenon_host*, size_t, const tenon_attribute*, tenon_plugin_backend** backend,
                              tenon_text*) { return MakeNothing(backend); };
    table.backend_destroy = [](tenon_plugin_backend*) {};
    table.model_create = [](tenon_plugin_backend*, size_t, const tenon_attribute*, tenon_plugin_model** model,
                            tenon_text*) { return MakeNothing(model); };
    table.model_destroy = [](tenon_plugin_model*) {};
    table.is_supported = [](tenon_plugin_model*, const tenon_layer*, tenon_text*)
    { return tenon_support_code{TENON_SUPPORTED}; };
    table.workload_create = [](tenon_plugin_model*, const tenon_layer*, tenon_plugin_workload** workload, tenon_text*)
    { return MakeNothing(workload); };
    table.workload_destroy = [](tenon_plugin_workload*) {};
    table.workload_name = [](tenon_plugin_workload*) { return "Double"; };
    table.workload_reshape = &Reshape;
    table.shaped_destroy = &Destroy;
    table.shaped_execute = &Execute;
    table.shaped_fusion = [](tenon_plugin_shaped* shaped) -> const tenon_fusion*
    { return script->m_GivesFusion ? &Object::Of(shaped).m_Fusion : nullptr; };
    return table;
}

std::shared_ptr<const IBackend> Load(const tenon_plugin_table& table)
{
    return plugin::MakePluginBackend(std::make_shared<const plugin::Plugin>("/opt/doubler_backend.so", nullptr, table,
                                                                            std::vector<BackendOptions>()));
}

class PluginFusion : public ::testing::Test
{
protected:
    PluginFusion()
    {
        script = &m_Script;
        m_Script.m_Fusion.struct_size = sizeof(tenon_fusion);
        m_Script.m_FusionOfPitched.struct_size = sizeof(tenon_fusion);
    }
    ~PluginFusion() override
    {
        m_Shaped = nullptr;
        m_Workload = nullptr;
        m_Backend = nullptr;
        script = nullptr;
    }
    PluginFusion(const PluginFusion&) = delete;
    PluginFusion& operator=(const PluginFusion&) = delete;

    /// Shapes the layer on the plugin with the script's fusion.
    const FusionHooks& Shape(const ShapedLayer& layer)
    {
        m_Shaped = nullptr;
        m_Backend = Load(MakeTable());
        m_Workload = layer.Create(*m_Backend);
        m_Shaped = layer.Reshape(*m_Workload);
        return m_Shaped->GetFusion();
    }
    Script m_Script;
    std::shared_ptr<const IBackend> m_Backend;
    std::unique_ptr<IWorkload> m_Workload;
    std::unique_ptr<IShapedWorkload> m_Shaped;
};

/// Whether nothing is offered.
void ExpectNoHooks(const IShapedWorkload& shaped)
{
    const FusionHooks& hooks = shaped.GetFusion();
    EXPECT_FALSE(shaped.IsCopy());
    EXPECT_EQ(hooks.m_KernelName, nullptr);
    EXPECT_EQ(hooks.m_Declined, nullptr);
    EXPECT_EQ(hooks.m_Aliases, nullptr);
    EXPECT_EQ(hooks.m_MaxTileThreads, 0u);
    EXPECT_FALSE(hooks.m_WritesPitched);
    EXPECT_EQ(hooks.m_ElementLoop, nullptr);
    EXPECT_EQ(hooks.m_AddTensor, nullptr);
    EXPECT_EQ(hooks.m_MakeAttention, nullptr);
}

TEST_F(PluginFusion, PluginsOfMinorVersionZeroRunAsBefore)
{
    // Memory of the size that the table had, so that a sanitizer sees who reads past it.
    tenon_plugin_table full = MakeTable();
    full.minor = 0;
    full.struct_size = offsetof(tenon_plugin_table, shaped_fusion);
    const std::unique_ptr<unsigned char[]> memory(new unsigned char[full.struct_size]);
    std::memcpy(memory.get(), &full, full.struct_size);
    m_Backend = Load(*reinterpret_cast<const tenon_plugin_table*>(memory.get()));
    ShapedLayer layer = MakeFloatLayer({{3}}, {3});
    m_Workload = layer.Create(*m_Backend);
    m_Shaped = layer.Reshape(*m_Workload);
    EXPECT_EQ(m_Shaped->GetScratchBytes(), 64u);
    EXPECT_THAT(ExecuteFloat(*m_Shaped, {{1, -2, 3}}, 3), ElementsAre(2, -4, 6));
    ExpectNoHooks(*m_Shaped);
    layer.m_OutputPitch = 8;
    EXPECT_EQ(layer.Reshape(*m_Workload), nullptr) << "it would write without gaps";
    EXPECT_EQ(m_Script.m_NumReshaped, 1u);
}

TEST(PluginBlocks, ReachPluginsThatKnowThem)
{
    static std::string seen;
    tenon_plugin_table table = MakeTable();
    table.is_supported = [](tenon_plugin_model*, const tenon_layer* layer, tenon_text*)
    {
        const tenon_tensor_info& info = *layer->inputs[1];
        seen = std::to_string(info.num_scales) + " scales for blocks of " + std::to_string(info.quantization_block);
        return tenon_support_code{TENON_SUPPORTED};
    };
    TensorInfo weights({2, 8}, DataType::QSymmS4, std::vector<float>{1, 2, 3, 4}, 1, true);
    ShapedLayer layer = MakeFloatLayer({{3, 8}, {2, 8}}, {3, 2});
    const auto ask = [&](uint32_t minor)
    {
        seen = "";
        table.minor = minor;
        layer.m_Inputs[1] = weights;
        const auto support = Load(table)->GetLayerSupport({});
        return layer.WithView([&](const LayerView& view) { return support->IsLayerSupported(view); });
    };
    EXPECT_TRUE(ask(1));
    EXPECT_EQ(seen, "4 scales for blocks of 0");
    weights.SetQuantizationBlockSize(4);
    EXPECT_TRUE(ask(TENON_PLUGIN_MINOR));
    EXPECT_EQ(seen, "4 scales for blocks of 4");
    // An older one would take the scales for those of slices.
    EXPECT_THAT(ask(1).m_Reason, HasSubstr("a scale per block, which the plugin is too old for"));
    EXPECT_EQ(seen, "");
}

TEST_F(PluginFusion, PluginsThatOfferNothingHaveNoHooks)
{
    m_Script.m_GivesFusion = false;
    Shape(MakeFloatLayer({{3}}, {3}));
    ExpectNoHooks(*m_Shaped);
    m_Script.m_GivesFusion = true;
    Shape(MakeFloatLayer({{3}}, {3}));
    ExpectNoHooks(*m_Shaped);
    m_Script.m_Fusion.kernel_name = "Double8";
    m_Script.m_Fusion.max_tile_threads = 3;
    m_Script.m_Fusion.struct_size = offsetof(tenon_fusion, max_tile_threads);
    EXPECT_STREQ(Shape(MakeFloatLayer({{3}}, {3})).m_KernelName, "Double8");
    EXPECT_EQ(m_Shaped->GetFusion().m_MaxTileThreads, 0u) << "it lies beyond the struct_size that the plugin set";
}

TEST_F(PluginFusion, NamesNumbersAndFlagsAreThePlugins)
{
    m_Script.m_Fusion.kernel_name = "Double8";
    m_Script.m_Fusion.declined = "Double16: not a multiple of 16";
    m_Script.m_Fusion.is_copy = 1;
    m_Script.m_Fusion.writes_pitched = 1;
    m_Script.m_Fusion.max_tile_threads = 3;
    const FusionHooks& hooks = Shape(MakeFloatLayer({{3}}, {3}));
    EXPECT_STREQ(hooks.m_KernelName, "Double8");
    EXPECT_STREQ(hooks.m_Declined, "Double16: not a multiple of 16");
    EXPECT_TRUE(m_Shaped->IsCopy());
    EXPECT_TRUE(hooks.m_WritesPitched);
    EXPECT_EQ(hooks.m_MaxTileThreads, 3u);
    m_Script.m_Fusion.max_tile_threads = UINT32_MAX;
    EXPECT_EQ(Shape(MakeFloatLayer({{3}}, {3})).m_MaxTileThreads, UINT_MAX);
}

TEST_F(PluginFusion, ThreadsAndPitchReachWorkloadReshape)
{
    ShapedLayer layer = MakeFloatLayer({{4}}, {4});
    Shape(layer);
    EXPECT_EQ(m_Script.m_MaxThreads, 0u) << "not known";
    EXPECT_EQ(m_Script.m_Pitch, 0u);
    layer.m_MaxThreads = 5;
    layer.m_OutputPitch = 12;
    m_Script.m_FusionOfPitched.writes_pitched = 1;
    m_Shaped = layer.Reshape(*m_Workload);
    ASSERT_NE(m_Shaped, nullptr);
    EXPECT_EQ(m_Script.m_MaxThreads, 5u);
    EXPECT_EQ(m_Script.m_Pitch, 12u);
}

TEST_F(PluginFusion, OutputsThatCannotBePitchedAfterAllGiveNoWorkload)
{
    ShapedLayer layer = MakeFloatLayer({{4}}, {4});
    Shape(layer);
    layer.m_OutputPitch = 12;
    EXPECT_EQ(layer.Reshape(*m_Workload), nullptr) << "the plugin does not say that it writes so";
    EXPECT_THAT(m_Script.m_Destroyed, ElementsAre("layer"));
    m_Script.m_GivesShaped = false;
    EXPECT_EQ(layer.Reshape(*m_Workload), nullptr);
    layer.m_OutputPitch = 0;
    EXPECT_THAT(MessageOf<RuntimeException>([&] { layer.Reshape(*m_Workload); }),
                AllOf(HasSubstr("Doubler"), HasSubstr("workload_reshape reported success but gave null")));
}

TEST_F(PluginFusion, ElementLoopsOutliveTheirWorkload)
{
    m_Script.m_Fusion.element_loop = &DoubleElements;
    ElementLoop loop = Shape(MakeFloatLayer({{3}}, {3})).m_ElementLoop;
    m_Shaped = nullptr;
    m_Workload = nullptr;
    m_Backend = nullptr;
    EXPECT_TRUE(m_Script.m_Destroyed.empty());
    float values[] = {1.5f, -2, 3};
    const void* const inputs[] = {values};
    loop(inputs, values, 2); // in place
    EXPECT_THAT(values, ElementsAre(3, -4, 3));
    loop = nullptr;
    EXPECT_THAT(m_Script.m_Destroyed, ElementsAre("layer"));
}

TEST_F(PluginFusion, SumsAreMadeWithTheirActivation)
{
    m_Script.m_Fusion.add_tensor = &AddTensor;
    const FusionHooks& hooks = Shape(MakeFloatLayer({{3}}, {3}));
    std::unique_ptr<IShapedWorkload> plain = hooks.m_AddTensor(nullptr);
    ASSERT_NE(plain, nullptr);
    EXPECT_STREQ(plain->GetFusion().m_KernelName, "Double+Add");
    EXPECT_EQ(plain->GetScratchBytes(), 128u);
    EXPECT_THAT(ExecuteFloat(*plain, {{1, 2, 3}, {-10, 0, 10}}, 3), ElementsAre(-8, 4, 16));
    const ActivationDescriptor relu(ActivationFunction::ReLu);
    std::unique_ptr<IShapedWorkload> clamped = hooks.m_AddTensor(&relu);
    ASSERT_NE(clamped, nullptr);
    EXPECT_STREQ(clamped->GetFusion().m_KernelName, "Double+Add+ReLu");
    EXPECT_THAT(ExecuteFloat(*clamped, {{1, 2, 3}, {-10, 0, 10}}, 3), ElementsAre(0, 4, 16));
    plain = nullptr;
    m_Shaped = nullptr;
    m_Workload = nullptr;
    m_Backend = nullptr;
    EXPECT_THAT(m_Script.m_Destroyed, ElementsAre("sum")) << "the other sum keeps the workload that made it";
    EXPECT_THAT(ExecuteFloat(*clamped, {{1, 2, 3}, {-10, 0, 10}}, 3), ElementsAre(0, 4, 16));
    clamped = nullptr;
    EXPECT_THAT(m_Script.m_Destroyed, ElementsAre("sum", "sum", "layer"));
}

TEST_F(PluginFusion, AttentionsAreMadeOfWhatFollowsTheProduct)
{
    m_Script.m_Fusion.make_attention = &MakeAttention;
    ShapedLayer scores = MakeFloatLayer({{2, 5, 8}, {2, 8, 7}}, {2, 5, 7}, LayerType::BatchMatMul);
    scores.m_Name = "scores";
    const FusionHooks& hooks = Shape(scores);
    ShapedLayer product = MakeFloatLayer({{2, 5, 7}, {2, 7, 3}}, {2, 5, 3}, LayerType::BatchMatMul);
    product.m_Name = "values";
    product.m_MaxThreads = 6;
    const TensorInfo mask(TensorShape({5, 7}), DataType::Float32);
    std::unique_ptr<IShapedWorkload> attention = product.WithArgs(
        [&](const ReshapeArgs& args) {
            return hooks.m_MakeAttention({&mask, 0.5f, true, args});
        });
    ASSERT_NE(attention, nullptr);
    EXPECT_EQ(m_Script.m_Attention, "beta 0.500000, shared 1, added rank 2, BatchMatMul 'values' of 2 inputs, guid 0, "
                                    "threads 6");
    EXPECT_STREQ(attention->GetFusion().m_KernelName, "Attention");
    EXPECT_EQ(attention->GetScratchBytes(), 256u);
    m_Script.m_GivesShaped = false;
    EXPECT_EQ(product.WithArgs(
                  [&](const ReshapeArgs& args) {
                      return hooks.m_MakeAttention({nullptr, 2.0f, false, args});
                  }),
              nullptr);
    EXPECT_THAT(m_Script.m_Attention, StartsWith("beta 2.000000, shared 0, added rank none"));
    m_Shaped = nullptr;
    attention = nullptr;
    EXPECT_THAT(m_Script.m_Destroyed, ElementsAre("attention", "layer"));
}

TEST_F(PluginFusion, HooksThatGiveNoneAreNoErrorAndThoseThatFailAre)
{
    m_Script.m_Fusion.add_tensor = &AddTensor;
    const FusionHooks& hooks = Shape(MakeFloatLayer({{3}}, {3}));
    m_Script.m_GivesShaped = false;
    EXPECT_EQ(hooks.m_AddTensor(nullptr), nullptr);
    m_Script.m_HooksFail = true;
    EXPECT_THAT(MessageOf<UnimplementedException>([&] { hooks.m_AddTensor(nullptr); }),
                AllOf(HasSubstr("plugin Doubler (/opt/doubler_backend.so)"), HasSubstr("add_tensor"),
                      HasSubstr("layer 'layer'"), HasSubstr("the accumulator is full")));

    m_Script.m_Fusion.make_attention = &MakeAttention;
    ShapedLayer scores = MakeFloatLayer({{4, 4}, {4, 4}}, {4, 4}, LayerType::BatchMatMul);
    scores.m_Name = "scores";
    m_Script.m_GivesShaped = true;
    Shape(scores);
    EXPECT_THAT(MessageOf<MemoryValidationException>(
                    [&]
                    {
                        scores.WithArgs(
                            [&](const ReshapeArgs& args) {
                                return m_Shaped->GetFusion().m_MakeAttention({nullptr, 1.0f, false, args});
                            });
                    }),
                AllOf(HasSubstr("make_attention of layer 'scores'"), HasSubstr("no room for a row of scores")));
}

TEST_F(PluginFusion, AnOfferThatDoesNotSuitTheLayerEndsReshape)
{
    m_Script.m_Fusion.make_attention = &MakeAttention;
    EXPECT_THAT(MessageOf<RuntimeException>([&] { Shape(MakeFloatLayer({{3}}, {3})); }),
                "plugin Doubler (/opt/doubler_backend.so): shaped_fusion of layer 'layer' (ElementwiseUnary): "
                "make_attention is for BatchMatMul layers; leave it null");
    EXPECT_THAT(m_Script.m_Destroyed, ElementsAre("layer"));
}

TEST_F(PluginFusion, WhatAHookMadeIsCheckedToo)
{
    m_Script.m_Fusion.add_tensor = [](tenon_plugin_shaped*, size_t, const tenon_attribute*, tenon_plugin_shaped** sum,
                                      size_t*, tenon_text*) -> tenon_status
    {
        static const size_t offsets[] = {0, 4}; // the residual may not lie 4 bytes into an output of its size
        auto* object = new Object{"sum", 3};
        object->m_Fusion.struct_size = sizeof(tenon_fusion);
        object->m_Fusion.num_inputs_in_output = 2;
        object->m_Fusion.inputs_in_output = offsets;
        *sum = object->Handle();
        return TENON_OK;
    };
    const FusionHooks& hooks = Shape(MakeFloatLayer({{3}}, {3}));
    EXPECT_THAT(MessageOf<RuntimeException>([&] { hooks.m_AddTensor(nullptr); }),
                AllOf(HasSubstr("layer 'layer' (ElementwiseUnary) with a sum"), HasSubstr("inputs_in_output[1] is 4")));
    EXPECT_THAT(m_Script.m_Destroyed, ElementsAre("sum"));
}

TEST_F(PluginFusion, AliasesAreThePlugins)
{
    const size_t none = TENON_NO_ALIAS;
    const size_t inOutput[] = {0, none, 20};
    m_Script.m_Fusion.num_inputs_in_output = 3;
    m_Script.m_Fusion.inputs_in_output = inOutput;
    const FusionHooks& joined = Shape(MakeFloatLayer({{2}, {3}, {4}}, {9}));
    ASSERT_NE(joined.m_Aliases, nullptr);
    EXPECT_THAT(joined.m_Aliases->m_InputsInOutput, ElementsAre(0, TensorAliases::None, 20));
    EXPECT_THAT(joined.m_Aliases->m_OutputsInInput, ElementsAre());
    EXPECT_THAT(joined.m_Aliases->m_InputsInPixels, ElementsAre());

    const size_t inPixels[] = {0, 8};
    m_Script.m_Fusion = {};
    m_Script.m_Fusion.struct_size = sizeof(tenon_fusion);
    m_Script.m_Fusion.num_inputs_in_pixels = 2;
    m_Script.m_Fusion.inputs_in_pixels = inPixels;
    const FusionHooks& pixels = Shape(MakeFloatLayer({{1, 3, 2}, {1, 3, 4}}, {1, 3, 6}));
    ASSERT_NE(pixels.m_Aliases, nullptr);
    EXPECT_THAT(pixels.m_Aliases->m_InputsInPixels, ElementsAre(0, 8));

    const size_t inInput[] = {4, 4}; // outputs may be the same range
    m_Script.m_Fusion = {};
    m_Script.m_Fusion.struct_size = sizeof(tenon_fusion);
    m_Script.m_Fusion.num_outputs_in_input = 2;
    m_Script.m_Fusion.outputs_in_input = inInput;
    ShapedLayer split = MakeFloatLayer({{5}}, {4});
    split.m_Outputs.emplace_back(TensorShape({2}), DataType::Float32);
    const FusionHooks& parts = Shape(split);
    ASSERT_NE(parts.m_Aliases, nullptr);
    EXPECT_THAT(parts.m_Aliases->m_OutputsInInput, ElementsAre(4, 4));
}

} // namespace

} // namespace tenon::test::plugin_fusion_test
