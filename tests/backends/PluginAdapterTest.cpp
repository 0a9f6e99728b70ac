// SPDX-License-Identifier: Apache-2.0
// PluginAdapter: what a backend in C++ offers for fusion is the same on the host's side of the table.
#include "backends/plugin/PluginBackend.hpp"
#include "harness/ShapedLayer.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/backend/PluginAdapter.hpp>

#include <climits>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tenon::test::plugin_adapter_test
{

namespace
{

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// What the backend's workloads were reshaped for.
struct Seen
{
    unsigned int m_MaxThreads = 0;
    size_t m_OutputPitch = 0;
    std::string m_Attention;
};

Seen seen;

/// A workload that offers these hooks.
class HookedShaped final : public IShapedWorkload
{
public:
    FusionHooks m_Hooks;
    TensorAliases m_Aliases;
    bool m_IsCopy = false;
    std::function<float(float x, float added)> m_Function = [](float x, float) { return x; };
    size_t m_Count = 0;

    size_t GetScratchBytes() const override { return 192; }
    bool IsCopy() const override { return m_IsCopy; }
    const FusionHooks& GetFusion() const override { return m_Hooks; }
    void Execute(const ExecuteArgs& args) const override
    {
        for (size_t i = 0; i < m_Count; ++i)
        {
            const float added = args.m_Inputs.size() > 1 ? args.GetInput<float>(1)[i] : 0.0f;
            args.GetOutput<float>(0)[i] = m_Function(args.GetInput<float>(0)[i], added);
        }
    }
};

/// x * 3 with each hook; the name of the layer says what is special: "bare" offers nothing.
std::unique_ptr<IShapedWorkload> MakeHooked(const ReshapeArgs& args)
{
    auto shaped = std::make_unique<HookedShaped>();
    shaped->m_Count = args.GetOutput(0).GetNumElements();
    shaped->m_Function = [](float x, float) { return 3 * x; };
    if (*args.m_Name == "bare")
    {
        return shaped;
    }
    FusionHooks& hooks = shaped->m_Hooks;
    hooks.m_KernelName = "Triple";
    hooks.m_Declined = "Triple4: not a multiple of 4";
    hooks.m_MaxTileThreads = 7;
    hooks.m_WritesPitched = true;
    shaped->m_IsCopy = true;
    shaped->m_Aliases.m_InputsInOutput = {0};
    shaped->m_Aliases.m_OutputsInInput = {0};
    shaped->m_Aliases.m_InputsInPixels = {TensorAliases::None};
    hooks.m_Aliases = &shaped->m_Aliases;
    hooks.m_ElementLoop = [](const void* const* inputs, void* output, size_t count)
    {
        const auto* input = static_cast<const float*>(inputs[0]);
        std::transform(input, input + count, static_cast<float*>(output), [](float x) { return 3 * x; });
    };
    hooks.m_AddTensor =
        [count = shaped->m_Count](const ActivationDescriptor* activation) -> std::unique_ptr<IShapedWorkload>
    {
        if (activation != nullptr && activation->m_Function == ActivationFunction::TanH)
        {
            return nullptr;
        }
        if (activation != nullptr && activation->m_Function == ActivationFunction::Elu)
        {
            throw UnimplementedException("no Elu in an epilogue");
        }
        auto sum = std::make_unique<HookedShaped>();
        sum->m_Count = count;
        sum->m_Hooks.m_KernelName = "Triple+Add";
        const float highest = activation != nullptr ? activation->m_A : 1e9f;
        sum->m_Function = [highest](float x, float added) { return std::min(3 * x + added, highest); };
        return sum;
    };
    if (args.m_Inputs.size() == 2) // of a product
    {
        shaped->m_IsCopy = false;
        hooks.m_Aliases = nullptr;
        hooks.m_ElementLoop = nullptr;
        hooks.m_MakeAttention = [](const AttentionRest& rest) -> std::unique_ptr<IShapedWorkload>
        {
            seen.m_Attention = std::to_string(rest.m_Beta) + (rest.m_IsShared ? " shared " : " alone ") +
                               (rest.m_Added != nullptr ? rest.m_Added->GetShape().ToString() : "-") + " " +
                               *rest.m_Product.m_Name + rest.m_Product.GetInput(1).GetShape().ToString() +
                               rest.m_Product.GetOutput(0).GetShape().ToString() + " threads " +
                               std::to_string(rest.m_Product.m_MaxThreads);
            if (rest.m_Beta < 0)
            {
                return nullptr;
            }
            auto attention = std::make_unique<HookedShaped>();
            attention->m_Hooks.m_KernelName = "TripleAttention";
            return attention;
        };
    }
    return shaped;
}

class HookedWorkload final : public IWorkload
{
public:
    std::unique_ptr<IShapedWorkload> Reshape(const ReshapeArgs& args) const override
    {
        seen.m_MaxThreads = args.m_MaxThreads;
        seen.m_OutputPitch = args.m_OutputPitch;
        return args.m_OutputPitch == 99 ? nullptr : MakeHooked(args);
    }
    const char* GetName() const override { return "Triples"; }
};

class HookedFactory final : public IWorkloadFactory
{
public:
    const BackendId& GetBackendId() const override { return m_Id; }
    std::unique_ptr<IWorkload> CreateWorkload(const LayerView&) const override
    {
        return std::make_unique<HookedWorkload>();
    }

private:
    BackendId m_Id = "Hooked";
};

class HookedSupport final : public ILayerSupport
{
public:
    SupportResult IsLayerSupported(const LayerView&) const override { return SupportResult::Yes(); }
};

class HookedBackend final : public IBackend
{
public:
    const BackendId& GetId() const override { return m_Id; }
    std::shared_ptr<const ILayerSupport> GetLayerSupport(const ModelOptions&) const override
    {
        return std::make_shared<HookedSupport>();
    }
    std::unique_ptr<IWorkloadFactory> CreateWorkloadFactory(const ModelOptions&) const override
    {
        return std::make_unique<HookedFactory>();
    }

private:
    BackendId m_Id = "Hooked";
};

std::shared_ptr<const IBackend> MakeHookedBackend(const std::vector<BackendOptions>&)
{
    return std::make_shared<HookedBackend>();
}

const char* HookedId()
{
    return "Hooked";
}

/// The backend behind its table.
std::shared_ptr<const IBackend> LoadHooked()
{
    return plugin::MakePluginBackend(std::make_shared<const plugin::Plugin>(
        "hooked_backend.so", nullptr, *GetPluginTable<&MakeHookedBackend, &HookedId>("1"),
        std::vector<BackendOptions>()));
}

} // namespace

TEST(PluginAdapter, HooksCrossTheTable)
{
    const ShapedLayer layer = MakeFloatLayer({{4}}, {4});
    const auto workload = layer.Create(*LoadHooked());
    const auto shaped = layer.Reshape(*workload);
    const FusionHooks& hooks = shaped->GetFusion();
    EXPECT_STREQ(hooks.m_KernelName, "Triple");
    EXPECT_STREQ(hooks.m_Declined, "Triple4: not a multiple of 4");
    EXPECT_EQ(hooks.m_MaxTileThreads, 7u);
    EXPECT_TRUE(hooks.m_WritesPitched);
    EXPECT_TRUE(shaped->IsCopy());
    ASSERT_NE(hooks.m_Aliases, nullptr);
    EXPECT_THAT(hooks.m_Aliases->m_InputsInOutput, ElementsAre(0));
    EXPECT_THAT(hooks.m_Aliases->m_OutputsInInput, ElementsAre(0));
    EXPECT_THAT(hooks.m_Aliases->m_InputsInPixels, ElementsAre(TensorAliases::None));
    EXPECT_EQ(hooks.m_MakeAttention, nullptr);
    ASSERT_NE(hooks.m_ElementLoop, nullptr);
    float values[] = {1, -2};
    const void* const inputs[] = {values};
    hooks.m_ElementLoop(inputs, values, 2);
    EXPECT_THAT(values, ElementsAre(3, -6));
}

TEST(PluginAdapter, AWorkloadWithoutHooksHasNoneBehindTheTable)
{
    ShapedLayer layer = MakeFloatLayer({{4}}, {4});
    layer.m_Name = "bare";
    const auto workload = layer.Create(*LoadHooked());
    const auto shaped = layer.Reshape(*workload);
    const FusionHooks& hooks = shaped->GetFusion();
    EXPECT_FALSE(shaped->IsCopy());
    EXPECT_EQ(hooks.m_KernelName, nullptr);
    EXPECT_EQ(hooks.m_Declined, nullptr);
    EXPECT_EQ(hooks.m_Aliases, nullptr);
    EXPECT_EQ(hooks.m_MaxTileThreads, 0u);
    EXPECT_FALSE(hooks.m_WritesPitched);
    EXPECT_EQ(hooks.m_ElementLoop, nullptr);
    EXPECT_EQ(hooks.m_AddTensor, nullptr);
    EXPECT_EQ(hooks.m_MakeAttention, nullptr);
    EXPECT_THAT(ExecuteFloat(*shaped, {{1, 2, 3, 4}}, 4), ElementsAre(3, 6, 9, 12));
}

TEST(PluginAdapter, SumsCrossTheTable)
{
    const ShapedLayer layer = MakeFloatLayer({{2}}, {2});
    const auto workload = layer.Create(*LoadHooked());
    auto shaped = layer.Reshape(*workload);
    const auto& add = shaped->GetFusion().m_AddTensor;
    ASSERT_NE(add, nullptr);
    const auto plain = add(nullptr);
    ASSERT_NE(plain, nullptr);
    EXPECT_STREQ(plain->GetFusion().m_KernelName, "Triple+Add");
    EXPECT_EQ(plain->GetScratchBytes(), 192u);
    EXPECT_THAT(ExecuteFloat(*plain, {{1, 2}, {10, -20}}, 2), ElementsAre(13, -14));
    const ActivationDescriptor bounded(ActivationFunction::BoundedReLu, 6.0f);
    const auto clamped = add(&bounded);
    ASSERT_NE(clamped, nullptr);
    EXPECT_THAT(ExecuteFloat(*clamped, {{1, 2}, {10, -20}}, 2), ElementsAre(6, -14));
    const ActivationDescriptor tanh(ActivationFunction::TanH);
    EXPECT_EQ(add(&tanh), nullptr);
    const ActivationDescriptor elu(ActivationFunction::Elu);
    try
    {
        add(&elu);
        FAIL() << "the backend throws";
    }
    catch (const UnimplementedException& error)
    {
        EXPECT_THAT(error.what(), HasSubstr("no Elu in an epilogue"));
    }
    shaped = nullptr;
    EXPECT_THAT(ExecuteFloat(*clamped, {{1, 2}, {10, -20}}, 2), ElementsAre(6, -14)) << "the sum stands alone";
}

TEST(PluginAdapter, AttentionsCrossTheTable)
{
    const ShapedLayer scores = MakeFloatLayer({{5, 8}, {8, 7}}, {5, 7}, LayerType::BatchMatMul);
    const auto workload = scores.Create(*LoadHooked());
    const auto shaped = scores.Reshape(*workload);
    const auto& attend = shaped->GetFusion().m_MakeAttention;
    ASSERT_NE(attend, nullptr);
    ShapedLayer product = MakeFloatLayer({{5, 7}, {7, 3}}, {5, 3}, LayerType::BatchMatMul);
    product.m_Name = "values";
    product.m_MaxThreads = 2;
    const TensorInfo mask(TensorShape({1, 7}), DataType::Float32);
    const auto attention = product.WithArgs(
        [&](const ReshapeArgs& args) {
            return attend({&mask, 0.25f, true, args});
        });
    ASSERT_NE(attention, nullptr);
    EXPECT_EQ(seen.m_Attention, "0.250000 shared [1,7] values[7,3][5,3] threads 2");
    EXPECT_STREQ(attention->GetFusion().m_KernelName, "TripleAttention");
    product.m_MaxThreads = UINT_MAX;
    EXPECT_EQ(product.WithArgs(
                  [&](const ReshapeArgs& args) {
                      return attend({nullptr, -1.0f, false, args});
                  }),
              nullptr);
    EXPECT_EQ(seen.m_Attention, "-1.000000 alone - values[7,3][5,3] threads " + std::to_string(UINT_MAX));
}

TEST(PluginAdapter, ThreadsAndPitchesCrossTheTable)
{
    ShapedLayer layer = MakeFloatLayer({{4}}, {4});
    const auto workload = layer.Create(*LoadHooked());
    EXPECT_NE(layer.Reshape(*workload), nullptr);
    EXPECT_EQ(seen.m_MaxThreads, UINT_MAX);
    EXPECT_EQ(seen.m_OutputPitch, 0u);
    layer.m_MaxThreads = 3;
    layer.m_OutputPitch = 9;
    EXPECT_NE(layer.Reshape(*workload), nullptr);
    EXPECT_EQ(seen.m_MaxThreads, 3u);
    EXPECT_EQ(seen.m_OutputPitch, 9u);
    layer.m_OutputPitch = 99;
    EXPECT_EQ(layer.Reshape(*workload), nullptr) << "the backend cannot write so after all";
}

TEST(PluginAdapter, HostsOfMinorVersionZeroSayNothingOfThreadsAndPitches)
{
    const tenon_plugin_table& table = *GetPluginTable<&MakeHookedBackend, &HookedId>("1");
    char buffer[256];
    tenon_text error{buffer, sizeof(buffer)};
    tenon_plugin_backend* backend = nullptr;
    tenon_plugin_model* model = nullptr;
    tenon_plugin_workload* workload = nullptr;
    tenon_plugin_shaped* shaped = nullptr;
    const int64_t size = 4;
    tenon_tensor_info info{};
    info.struct_size = sizeof(info);
    info.type = TENON_FLOAT32;
    info.rank = 1;
    info.dims = &size;
    info.num_bytes = 16;
    info.quantization_dim = -1;
    const tenon_tensor_info* const infos[] = {&info};
    const void* const constants[] = {nullptr};
    const uint8_t isConstant[] = {0};
    tenon_layer full{};
    full.struct_size = offsetof(tenon_layer, max_threads);
    full.type = "ElementwiseUnary";
    full.name = "layer";
    full.num_inputs = 1;
    full.inputs = infos;
    full.constant_data = constants;
    full.input_is_constant = isConstant;
    full.num_outputs = 1;
    full.outputs = infos;
    // Memory of the size that the struct had, so that a sanitizer sees who reads past it.
    const std::unique_ptr<unsigned char[]> memory(new unsigned char[full.struct_size]);
    std::memcpy(memory.get(), &full, full.struct_size);
    const auto* layer = reinterpret_cast<const tenon_layer*>(memory.get());
    size_t scratchBytes = 0;
    seen = {};
    seen.m_OutputPitch = 1;
    ASSERT_EQ(table.backend_create(nullptr, 0, nullptr, &backend, &error), TENON_OK) << buffer;
    ASSERT_EQ(table.model_create(backend, 0, nullptr, &model, &error), TENON_OK) << buffer;
    ASSERT_EQ(table.workload_create(model, layer, &workload, &error), TENON_OK) << buffer;
    ASSERT_EQ(table.workload_reshape(workload, layer, &shaped, &scratchBytes, &error), TENON_OK) << buffer;
    EXPECT_EQ(seen.m_MaxThreads, UINT_MAX);
    EXPECT_EQ(seen.m_OutputPitch, 0u);
    EXPECT_EQ(scratchBytes, 192u);
    table.shaped_destroy(shaped);
    table.workload_destroy(workload);
    table.model_destroy(model);
    table.backend_destroy(backend);
}

} // namespace tenon::test::plugin_adapter_test
