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

TEST(BackendHelper, ChannelsFirstLayersAreTakenWhereOptimizeTurnsThem)
{
    const TensorInfo data({1, 3, 8, 10}, DataType::Float32);
    const TensorInfo sameSize({1, 3, 8, 10}, DataType::Float32);
    const TensorInfo weights({16, 3, 3, 2}, DataType::Float32, 0.0f, 0, true);
    const TensorInfo bias({16}, DataType::Float32, 0.0f, 0, true);
    const TensorInfo output({1, 16, 6, 9}, DataType::Float32);
    for (const char* backend : {"CpuRef", "CpuAcc"})
    {
        const LayerSupportHandle handle = GetILayerSupportByBackendId(backend);
        std::string reason;
        Convolution2dDescriptor convolution; // NCHW, as Arm NN's
        convolution.m_StrideX = 1;
        convolution.m_StrideY = 1;
        convolution.m_BiasEnabled = true;
        EXPECT_TRUE(handle.IsConvolution2dSupported(data, output, convolution, weights, Optional<TensorInfo>(bias),
                                                    Optional<std::string&>(reason)))
            << reason;
        const TensorInfo complex({1, 3, 8, 10}, DataType::Complex64);
        EXPECT_FALSE(handle.IsConvolution2dSupported(complex, complex, convolution, weights, Optional<TensorInfo>(bias),
                                                     Optional<std::string&>(reason)));
        EXPECT_THAT(reason, HasSubstr("Complex64"));
        DepthwiseConvolution2dDescriptor depthwise;
        depthwise.m_StrideX = 1;
        depthwise.m_StrideY = 1;
        EXPECT_TRUE(handle.IsDepthwiseConvolutionSupported(data, TensorInfo({1, 3, 6, 9}, DataType::Float32), depthwise,
                                                           TensorInfo({1, 3, 2, 3}, DataType::Float32, 0.0f, 0, true),
                                                           EmptyOptional()));
        Pooling2dDescriptor pooling;
        pooling.m_PoolWidth = pooling.m_PoolHeight = 2;
        pooling.m_StrideX = pooling.m_StrideY = 2;
        EXPECT_TRUE(handle.IsPooling2dSupported(data, TensorInfo({1, 3, 4, 5}, DataType::Float32), pooling));
        const TensorInfo channels({3}, DataType::Float32, 0.0f, 0, true);
        EXPECT_TRUE(handle.IsBatchNormalizationSupported(data, sameSize, channels, channels, channels, channels,
                                                         BatchNormalizationDescriptor()));
        EXPECT_TRUE(handle.IsL2NormalizationSupported(data, sameSize, L2NormalizationDescriptor()));
        EXPECT_TRUE(handle.IsPermuteSupported(data, TensorInfo({1, 8, 10, 3}, DataType::Float32),
                                              PermuteDescriptor({0, 3, 1, 2})));
        EXPECT_TRUE(handle.IsResizeSupported(data, TensorInfo({1, 3, 4, 5}, DataType::Float32), ResizeDescriptor()));
    }
}

TEST(BackendHelper, BackendsAreAskedAboutChannelsLast)
{
    class Probe final : public ILayerSupport
    {
    public:
        SupportResult IsLayerSupported(const LayerView& layer) const override
        {
            m_Texts.clear();
            for (size_t i = 0; i < 2; ++i)
            {
                const TensorInfo* const info = layer.m_Inputs[i];
                m_Texts.push_back(info->GetShape().ToString() + (info->IsConstant() ? " constant" : "") +
                                  (info->GetQuantizationDim().has_value()
                                       ? " by " + std::to_string(info->GetQuantizationDim().value())
                                       : ""));
            }
            m_Texts.push_back(layer.GetOutput(0).GetShape().ToString());
            const auto& descriptor = layer.GetDescriptor<TransposeConvolution2dDescriptor>();
            m_IsLast = descriptor.m_DataLayout == DataLayout::NHWC;
            m_OutputShape = descriptor.m_OutputShape;
            return SupportResult::Yes();
        }
        mutable std::vector<std::string> m_Texts;
        mutable bool m_IsLast = false;
        mutable std::vector<unsigned int> m_OutputShape;
    };
    const auto probe = std::make_shared<Probe>();
    const LayerSupportHandle handle(probe);
    TransposeConvolution2dDescriptor descriptor;
    descriptor.m_OutputShape = {1, 2, 8, 9};
    const TensorInfo data({1, 5, 6, 7}, DataType::QAsymmS8, 0.5f, 0);
    const TensorInfo output({1, 2, 8, 9}, DataType::QAsymmS8, 0.5f, 0);
    TensorInfo weights({2, 5, 3, 4}, DataType::QSymmS8, std::vector<float>(4, 0.5f), 3);
    weights.SetConstant();
    EXPECT_TRUE(handle.IsTransposeConvolution2dSupported(data, output, descriptor, weights, EmptyOptional()));
    EXPECT_TRUE(probe->m_IsLast);
    EXPECT_THAT(probe->m_OutputShape, testing::ElementsAre(1, 8, 9, 2));
    EXPECT_THAT(probe->m_Texts, testing::ElementsAre("[1,6,7,5]", "[2,3,4,5] constant by 2", "[1,8,9,2]"));
    // What is channels last, or of no rank that the layer takes, is asked as it is.
    EXPECT_TRUE(handle.IsTransposeConvolution2dSupported(TensorInfo({5, 6}, DataType::Float32), output, descriptor,
                                                         weights, EmptyOptional()));
    EXPECT_FALSE(probe->m_IsLast);
    EXPECT_THAT(probe->m_Texts, testing::ElementsAre("[5,6]", "[2,5,3,4] constant by 3", "[1,2,8,9]"));
    descriptor.m_DataLayout = DataLayout::NHWC;
    EXPECT_TRUE(handle.IsTransposeConvolution2dSupported(data, output, descriptor, weights, EmptyOptional()));
    EXPECT_THAT(probe->m_Texts, testing::ElementsAre("[1,5,6,7]", "[2,5,3,4] constant by 3", "[1,2,8,9]"));
}

TEST(BackendHelper, APermuteIsAskedAsTheTransposeThatRuns)
{
    class Probe final : public ILayerSupport
    {
    public:
        SupportResult IsLayerSupported(const LayerView& layer) const override
        {
            EXPECT_EQ(layer.m_Type, LayerType::Transpose);
            EXPECT_EQ(layer.GetDescriptor<TransposeDescriptor>().m_DimMappings, PermutationVector({2, 0, 1}));
            EXPECT_EQ(layer.GetInput(0).GetShape(), TensorShape({2, 3, 4}));
            EXPECT_EQ(layer.GetOutput(0).GetShape(), TensorShape({4, 2, 3}));
            return SupportResult::Yes();
        }
    };
    // Dimension i of the input becomes dimension m_DimMappings[i] of the output.
    EXPECT_TRUE(LayerSupportHandle(std::make_shared<Probe>())
                    .IsPermuteSupported(TensorInfo({2, 3, 4}, DataType::Float32),
                                        TensorInfo({4, 2, 3}, DataType::Float32), PermuteDescriptor({1, 2, 0})));
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
