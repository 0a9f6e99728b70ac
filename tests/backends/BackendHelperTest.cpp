// SPDX-License-Identifier: Apache-2.0
// Capabilities and support questions beside Optimize().
#include "harness/FakeBackend.hpp"

#include <tenon/BackendHelper.hpp>
#include <tenon/backend/BackendRegistry.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::test::backend_helper_test
{

using testing::HasSubstr;

TEST(BackendHelper, CapabilitiesByNameAndValue)
{
    const BackendCapabilities capabilities("Some", {{"NonConstWeights", true}, {"MaxThreads", 8}});
    EXPECT_TRUE(HasCapability("MaxThreads", capabilities));
    EXPECT_FALSE(HasCapability("HasFp16", capabilities));
    EXPECT_EQ(GetCapability("MaxThreads", capabilities).value().GetValue().AsInt(), 8);
    EXPECT_TRUE(HasMatchingCapability({"NonConstWeights", true}, capabilities));
    EXPECT_FALSE(HasMatchingCapability({"NonConstWeights", false}, capabilities));
    EXPECT_FALSE(HasMatchingCapability({"MaxThreads", true}, capabilities));
}

TEST(BackendHelper, CapabilitiesOfABuiltInBackend)
{
    EXPECT_TRUE(HasCapability("NonConstWeights", BackendId("CpuRef")));
    EXPECT_FALSE(HasCapability("NumberOfCacheFiles", BackendId("CpuRef")));
    EXPECT_TRUE(HasCapability("NumberOfCacheFiles", BackendId("CpuAcc")));
    EXPECT_EQ(GetCapability("MultiAxisPacking", BackendId("CpuAcc")).value().GetValue().AsBool(), false);
    const BackendOptions::BackendOption packs("MultiAxisPacking", true);
    const BackendOptions::BackendOption packsNot("MultiAxisPacking", false);
    EXPECT_FALSE(HasCapability(packs, BackendId("CpuAcc")));
    EXPECT_TRUE(HasCapability(packsNot, BackendId("CpuAcc")));
    EXPECT_TRUE(HasMatchingCapability(packsNot, BackendId("CpuAcc")));
    EXPECT_FALSE(HasCapability("NonConstWeights", BackendId("NoSuch")));
    EXPECT_EQ(GetNumberOfCacheFiles("CpuAcc"), 1u);
    EXPECT_EQ(GetNumberOfCacheFiles("CpuRef"), 0u);
    EXPECT_EQ(GetNumberOfCacheFiles("NoSuch"), 0u);
}

TEST(BackendHelper, AsksABuiltInBackend)
{
    const LayerSupportHandle handle = GetILayerSupportByBackendId("CpuRef");
    ASSERT_TRUE(handle.IsBackendRegistered());
    const TensorInfo floats({2, 3}, DataType::Float32);
    const TensorInfo complex({2, 3}, DataType::Complex128);
    const SoftmaxDescriptor softmax;
    EXPECT_TRUE(handle.IsLayerSupported(LayerType::Softmax, {floats}, {floats}, softmax));
    std::string reason;
    EXPECT_FALSE(handle.IsLayerSupported(LayerType::Softmax, {complex}, {complex}, softmax, reason));
    EXPECT_THAT(reason, HasSubstr("Complex128"));
}

TEST(BackendHelper, ConstantInfosCountAsConstantInputs)
{
    class Probe final : public ILayerSupport
    {
    public:
        SupportResult IsLayerSupported(const LayerView& layer) const override
        {
            return layer.IsConstant(1) ? SupportResult::Yes()
                                       : SupportResult::No(SupportCode::UnsupportedDynamic, "its weights change");
        }
    };
    const LayerSupportHandle handle(std::make_shared<Probe>());
    FullyConnectedDescriptor descriptor;
    const TensorInfo data({2, 3}, DataType::Float32);
    TensorInfo weights({3, 4}, DataType::Float32);
    const TensorInfo output({2, 4}, DataType::Float32);
    std::string reason;
    EXPECT_FALSE(handle.IsLayerSupported(LayerType::FullyConnected, {data, weights}, {output}, descriptor, reason));
    EXPECT_EQ(reason, "its weights change");
    weights.SetConstant();
    EXPECT_TRUE(handle.IsLayerSupported(LayerType::FullyConnected, {data, weights}, {output}, descriptor));
}

TEST(BackendHelper, GivesNoValuesOfConstantInputs)
{
    class Probe final : public ILayerSupport
    {
    public:
        SupportResult IsLayerSupported(const LayerView& layer) const override
        {
            EXPECT_FALSE(layer.IsConstant(0));
            EXPECT_TRUE(layer.IsConstant(1));
            EXPECT_EQ(layer.GetConstantData(1), nullptr) << "four floats that nobody gave";
            EXPECT_FALSE(layer.IsConstant(2)) << "there is no such input";
            return SupportResult::Yes();
        }
    };
    TensorInfo weights({4}, DataType::Float32);
    weights.SetConstant();
    const TensorInfo data({4}, DataType::Float32);
    EXPECT_TRUE(LayerSupportHandle(std::make_shared<Probe>())
                    .IsLayerSupported(LayerType::Prelu, {data, weights}, {data}, NullDescriptor()));
}

TEST(BackendHelper, ABackendThatIsNotThereSupportsNothing)
{
    const LayerSupportHandle handle = GetILayerSupportByBackendId("NoSuch");
    EXPECT_FALSE(handle.IsBackendRegistered());
    std::string reason;
    EXPECT_FALSE(handle.IsLayerSupported(LayerType::Floor, {}, {}, NullDescriptor(), reason));
    EXPECT_EQ(reason, "the backend is not there");

    BackendRegistry registry;
    registry.Register(std::make_shared<FakeBackend>("Mine", std::set<LayerType>{LayerType::Floor}));
    EXPECT_TRUE(
        GetILayerSupportByBackendId("Mine", registry).IsLayerSupported(LayerType::Floor, {}, {}, NullDescriptor()));
}

} // namespace tenon::test::backend_helper_test
