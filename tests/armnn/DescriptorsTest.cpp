// SPDX-License-Identifier: Apache-2.0
// Members of descriptors and parameters, of properties and options, that programs written for Arm NN use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <armnn/BackendHelper.hpp>
#include <armnn/Descriptors.hpp>
#include <armnn/IRuntime.hpp>
#include <armnn/LstmParams.hpp>
#include <armnn/QuantizedLstmParams.hpp>
#include <string>
#include <utility>
#include <vector>

namespace
{

using namespace armnn;
using testing::ElementsAre;

TEST(ArmnnDescriptors, BatchMatMulSaysWhichAxesItMultiplies)
{
    const TensorShape shape({2, 3, 4, 5});
    EXPECT_EQ(BatchMatMulDescriptor::GetAxesToMul(DataLayout::NCHW, shape), std::make_pair(2U, 3U));
    EXPECT_EQ(BatchMatMulDescriptor::GetAxesToMul(DataLayout::NHWC, shape), std::make_pair(1U, 2U));
    EXPECT_THAT(BatchMatMulDescriptor::GetAxesNotMul(DataLayout::NCHW, shape), ElementsAre(0, 1));
    EXPECT_THAT(BatchMatMulDescriptor::GetAxesNotMul(DataLayout::NHWC, shape), ElementsAre(0, 3));
    EXPECT_EQ(BatchMatMulDescriptor::GetPermuteVec(DataLayout::NCHW, shape), PermutationVector({0, 1, 3, 2}));
    EXPECT_EQ(BatchMatMulDescriptor::GetPermuteVec(DataLayout::NDHWC, TensorShape({1, 2, 3, 4, 5})),
              PermutationVector({0, 1, 3, 2, 4}));
    EXPECT_THROW(BatchMatMulDescriptor::GetAxesToMul(DataLayout::NCHW, TensorShape({2})), InvalidArgumentException);
    EXPECT_THROW(BatchMatMulDescriptor::GetAxesToMul(DataLayout::NHWC, TensorShape({2, 3})), InvalidArgumentException);
}

TEST(ArmnnDescriptors, StridedSliceResolvesStartAndStop)
{
    StridedSliceDescriptor descriptor({1, -2, 9, 3}, {-1, 0, 0, 4}, {1, -1, 2, 1});
    descriptor.m_BeginMask = 1 << 2;
    descriptor.m_EndMask = (1 << 1) | (1 << 2);
    descriptor.m_ShrinkAxisMask = 1 << 3;
    const TensorShape shape({5, 6, 7, 8});
    EXPECT_EQ(descriptor.GetStartForAxis(shape, 0), 1);
    EXPECT_EQ(descriptor.GetStopForAxis(shape, 0, 1), 4);
    EXPECT_EQ(descriptor.GetStartForAxis(shape, 1), 4);
    EXPECT_EQ(descriptor.GetStopForAxis(shape, 1, 4), -1); // to the first one, downwards
    EXPECT_EQ(descriptor.GetStartForAxis(shape, 2), 0);
    EXPECT_EQ(descriptor.GetStopForAxis(shape, 2, 0), 7);
    EXPECT_EQ(descriptor.GetStartForAxis(shape, 3), 3);
    EXPECT_EQ(descriptor.GetStopForAxis(shape, 3, 3), 4);
    EXPECT_THROW(descriptor.GetStartForAxis(shape, 4), InvalidArgumentException);
    EXPECT_THROW(descriptor.GetStopForAxis(TensorShape({5}), 1, 0), InvalidArgumentException);
    descriptor.m_BeginMask |= 1 << 1;
    EXPECT_EQ(descriptor.GetStartForAxis(shape, 1), 5);
    const StridedSliceDescriptor beyond({-9, 9}, {99, -99}, {1, 1});
    EXPECT_EQ(beyond.GetStartForAxis(shape, 0), 0);
    EXPECT_EQ(beyond.GetStopForAxis(shape, 0, 0), 5);
    EXPECT_EQ(beyond.GetStartForAxis(shape, 1), 5);
    EXPECT_EQ(beyond.GetStopForAxis(shape, 1, 5), 0);
}

TEST(ArmnnDescriptors, OriginsAreReordered)
{
    OriginsDescriptor descriptor(3, 2);
    for (uint32_t view = 0; view < 3; ++view)
    {
        descriptor.SetViewOriginCoord(view, 0, 10 * view);
        descriptor.SetViewOriginCoord(view, 1, 10 * view + 1);
    }
    unsigned int ordering[] = {2, 0, 1};
    descriptor.ReorderOrigins(ordering, 3);
    EXPECT_EQ(descriptor.GetViewOrigin(0)[0], 20U);
    EXPECT_EQ(descriptor.GetViewOrigin(1)[1], 1U);
    EXPECT_EQ(descriptor.GetViewOrigin(2)[1], 11U);
    EXPECT_THROW(descriptor.ReorderOrigins(ordering, 2), InvalidArgumentException);
    unsigned int outside[] = {0, 1, 3};
    EXPECT_THROW(descriptor.ReorderOrigins(outside, 3), InvalidArgumentException);
    EXPECT_EQ(descriptor.GetViewOrigin(0)[0], 20U);
}

TEST(ArmnnLstmParams, HaveGettersThatRefuseAbsentWeights)
{
    const TensorInfo info({4, 2}, DataType::Float32);
    LstmInputParamsInfo params;
    params.m_InputToForgetWeights = &info;
    params.m_ProjectionBias = &info;
    EXPECT_EQ(&params.GetInputToForgetWeights(), &info);
    EXPECT_EQ(&params.GetProjectionBias(), &info);
    EXPECT_EQ(&params.Deref(&info), &info);
    EXPECT_THROW(params.GetInputToInputWeights(), InvalidArgumentException);
    EXPECT_THROW(params.GetOutputLayerNormWeights(), InvalidArgumentException);
    QuantizedLstmInputParamsInfo quantizedInfo;
    quantizedInfo.m_OutputGateBias = &info;
    EXPECT_EQ(&quantizedInfo.GetOutputGateBias(), &info);
    EXPECT_THROW(quantizedInfo.GetCellBias(), InvalidArgumentException);
    const float values[] = {1.0f};
    const ConstTensor tensor(TensorInfo({1}, DataType::Float32, 0.0f, 0, true), values);
    QuantizedLstmInputParams quantized;
    quantized.m_RecurrentToCellWeights = &tensor;
    EXPECT_EQ(quantized.GetRecurrentToCellWeights().GetMemoryArea(), values);
    EXPECT_THROW(quantized.GetInputGateBias(), InvalidArgumentException);
}

TEST(ArmnnRuntime, TakesPropertiesAsArmNNHasThem)
{
    const INetworkProperties properties(false, MemorySource::Malloc, MemorySource::Undefined, true,
                                        ProfilingDetailsMethod::DetailsOnly, true);
    EXPECT_FALSE(properties.m_AsyncEnabled);
    EXPECT_TRUE(properties.m_ProfilingEnabled && properties.m_ExternalMemoryManagementEnabled);
    EXPECT_EQ(properties.m_InputSource, MemorySource::Malloc);
    EXPECT_EQ(properties.m_OutputSource, MemorySource::Undefined);
    EXPECT_EQ(properties.m_OutputNetworkDetailsMethod, ProfilingDetailsMethod::DetailsOnly);
}

TEST(ArmnnRuntime, TakesCreationOptionsAsArmNNHasThem)
{
    IRuntime::CreationOptions options;
    options.m_GpuAccTunedParameters = nullptr;
    IRuntime::CreationOptions::ExternalProfilingOptions profiling;
    profiling.m_FileFormat = "binary";
    options.m_ProfilingOptions = profiling;
    EXPECT_NE(IRuntime::Create(options), nullptr);
    options.m_ProfilingOptions.m_EnableProfiling = true; // of no effect, but for a warning
    EXPECT_NE(IRuntime::Create(options), nullptr);
    options.m_ProtectedMode = true;
    EXPECT_THROW(IRuntime::Create(options), UnimplementedException);
}

TEST(ArmnnBackendHelper, AsksForDebugLayers)
{
    const TensorInfo info({1}, DataType::Float32);
    EXPECT_TRUE(LayerSupportHandle(GetILayerSupportByBackendId("CpuRef")).IsDebugSupported(info, info));
}

} // namespace
