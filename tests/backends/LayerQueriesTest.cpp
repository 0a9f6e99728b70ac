// SPDX-License-Identifier: Apache-2.0
// Arm NN's questions about layers: what each asks a backend, of which type, in the order of the layer's slots.
#include <tenon/BackendHelper.hpp>
#include <tenon/backend/IBackend.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace tenon::test::layer_queries_test
{

namespace
{

using testing::ElementsAreArray;

/// A tensor that is known by its size.
TensorInfo Sized(unsigned int size)
{
    return TensorInfo({size}, DataType::Float32);
}

/// Answers no and keeps the question.
class Probe final : public ILayerSupport
{
public:
    SupportResult IsLayerSupported(const LayerView& layer) const override
    {
        m_Type = layer.m_Type;
        m_Descriptor = layer.m_Descriptor;
        m_Inputs.clear();
        m_Outputs.clear();
        for (size_t i = 0; i < layer.GetNumInputs(); ++i)
        {
            m_Inputs.push_back(layer.HasInput(i) ? layer.GetInput(i).GetShape()[0] : 0);
        }
        for (const TensorInfo* output : layer.m_Outputs)
        {
            m_Outputs.push_back(output->GetShape()[0]);
        }
        return SupportResult::No(SupportCode::UnsupportedType, "no");
    }

    mutable LayerType m_Type = LayerType::Map;
    mutable const BaseDescriptor* m_Descriptor = nullptr;
    mutable std::vector<unsigned int> m_Inputs; ///< sizes, 0 of what is not connected
    mutable std::vector<unsigned int> m_Outputs;
};

class LayerQueriesTest : public testing::Test
{
protected:
    /// What `ask` asks has these slots, and the answer comes back.
    void Expect(LayerType type, const std::vector<unsigned int>& inputs, const std::vector<unsigned int>& outputs,
                const std::function<bool(const LayerSupportHandle&, std::string&)>& ask)
    {
        SCOPED_TRACE(GetLayerTypeAsCString(type));
        std::string reason;
        EXPECT_FALSE(ask(m_Handle, reason));
        EXPECT_EQ(reason, "no");
        EXPECT_EQ(m_Probe->m_Type, type);
        EXPECT_THAT(m_Probe->m_Inputs, ElementsAreArray(inputs));
        EXPECT_THAT(m_Probe->m_Outputs, ElementsAreArray(outputs));
    }

    template <typename Descriptor>
    using Asks1Of = bool (LayerQueries::*)(const TensorInfo&, const TensorInfo&, const Descriptor&,
                                           Optional<std::string&>) const;
    template <typename Descriptor>
    void Expect1Of(LayerType type, Asks1Of<Descriptor> ask)
    {
        const Descriptor descriptor;
        Expect(type, {1}, {2},
               [&](const LayerSupportHandle& handle, std::string& reason)
               { return (handle.*ask)(Sized(1), Sized(2), descriptor, reason); });
        EXPECT_EQ(m_Probe->m_Descriptor, &descriptor);
    }

    using Asks1 = bool (LayerQueries::*)(const TensorInfo&, const TensorInfo&, Optional<std::string&>) const;
    void Expect1(LayerType type, Asks1 ask)
    {
        Expect(type, {1}, {2},
               [&](const LayerSupportHandle& handle, std::string& reason)
               { return (handle.*ask)(Sized(1), Sized(2), reason); });
    }

    template <typename Descriptor>
    using Asks2Of = bool (LayerQueries::*)(const TensorInfo&, const TensorInfo&, const TensorInfo&, const Descriptor&,
                                           Optional<std::string&>) const;
    template <typename Descriptor>
    void Expect2Of(LayerType type, Asks2Of<Descriptor> ask)
    {
        const Descriptor descriptor;
        Expect(type, {1, 2}, {3},
               [&](const LayerSupportHandle& handle, std::string& reason)
               { return (handle.*ask)(Sized(1), Sized(2), Sized(3), descriptor, reason); });
        EXPECT_EQ(m_Probe->m_Descriptor, &descriptor);
    }

    using Asks2 = bool (LayerQueries::*)(const TensorInfo&, const TensorInfo&, const TensorInfo&,
                                         Optional<std::string&>) const;
    void Expect2(LayerType type, Asks2 ask)
    {
        Expect(type, {1, 2}, {3},
               [&](const LayerSupportHandle& handle, std::string& reason)
               { return (handle.*ask)(Sized(1), Sized(2), Sized(3), reason); });
    }

    void ExpectBinary(BinaryOperation operation, Asks2 ask)
    {
        class Operation final : public ILayerSupport
        {
        public:
            explicit Operation(BinaryOperation operation) : m_Operation(operation) {}
            SupportResult IsLayerSupported(const LayerView& layer) const override
            {
                EXPECT_EQ(layer.GetDescriptor<ElementwiseBinaryDescriptor>().m_Operation, m_Operation);
                return SupportResult::Yes();
            }

        private:
            BinaryOperation m_Operation;
        };
        Expect2(LayerType::ElementwiseBinary, ask);
        const LayerSupportHandle handle(std::make_shared<Operation>(operation));
        EXPECT_TRUE((handle.*ask)(Sized(1), Sized(2), Sized(3), EmptyOptional()));
    }

    template <typename Descriptor>
    using AsksWeighted = bool (LayerQueries::*)(const TensorInfo&, const TensorInfo&, const Descriptor&,
                                                const TensorInfo&, const Optional<TensorInfo>&,
                                                Optional<std::string&>) const;
    template <typename Descriptor>
    void ExpectWeighted(LayerType type, AsksWeighted<Descriptor> ask)
    {
        Descriptor descriptor;
        for (const bool hasBias : {false, true})
        {
            descriptor.m_BiasEnabled = hasBias;
            Expect(type, {1, 3, hasBias ? 4U : 0U}, {2},
                   [&](const LayerSupportHandle& handle, std::string& reason)
                   { return (handle.*ask)(Sized(1), Sized(2), descriptor, Sized(3), Sized(4), reason); });
        }
        Expect(type, {1, 3, 0}, {2},
               [&](const LayerSupportHandle& handle, std::string& reason)
               { return (handle.*ask)(Sized(1), Sized(2), descriptor, Sized(3), EmptyOptional(), reason); });
        EXPECT_EQ(m_Probe->m_Descriptor, &descriptor);
    }

    std::shared_ptr<Probe> m_Probe = std::make_shared<Probe>();
    LayerSupportHandle m_Handle{m_Probe};
};

} // namespace

using Handle = LayerSupportHandle;

TEST_F(LayerQueriesTest, OfOneInput)
{
    Expect1(LayerType::Cast, &Handle::IsCastSupported);
    Expect1(LayerType::ConvertFp16ToFp32, &Handle::IsConvertFp16ToFp32Supported);
    Expect1(LayerType::ConvertFp32ToFp16, &Handle::IsConvertFp32ToFp16Supported);
    Expect1(LayerType::Dequantize, &Handle::IsDequantizeSupported);
    Expect1(LayerType::Floor, &Handle::IsFloorSupported);
    Expect1(LayerType::MemCopy, &Handle::IsMemCopySupported);
    Expect1(LayerType::MemImport, &Handle::IsMemImportSupported);
    Expect1(LayerType::Quantize, &Handle::IsQuantizeSupported);
    Expect1(LayerType::Rank, &Handle::IsRankSupported);
    Expect1(LayerType::Shape, &Handle::IsShapeSupported);

    Expect1Of(LayerType::Activation, &Handle::IsActivationSupported);
    Expect1Of(LayerType::ArgMinMax, &Handle::IsArgMinMaxSupported);
    Expect1Of(LayerType::BatchToSpaceNd, &Handle::IsBatchToSpaceNdSupported);
    Expect1Of(LayerType::BroadcastTo, &Handle::IsBroadcastToSupported);
    Expect1Of(LayerType::ChannelShuffle, &Handle::IsChannelShuffleSupported);
    Expect1Of(LayerType::DepthToSpace, &Handle::IsDepthToSpaceSupported);
    Expect1Of(LayerType::ElementwiseUnary, &Handle::IsElementwiseUnarySupported);
    Expect1Of(LayerType::Fill, &Handle::IsFillSupported);
    Expect1Of(LayerType::InstanceNormalization, &Handle::IsInstanceNormalizationSupported);
    Expect1Of(LayerType::L2Normalization, &Handle::IsL2NormalizationSupported);
    Expect1Of(LayerType::LogSoftmax, &Handle::IsLogSoftmaxSupported);
    Expect1Of(LayerType::ElementwiseUnary, &Handle::IsLogicalUnarySupported);
    Expect1Of(LayerType::Mean, &Handle::IsMeanSupported);
    Expect1Of(LayerType::Normalization, &Handle::IsNormalizationSupported);
    Expect1Of(LayerType::Pad, &Handle::IsPadSupported);
    Expect1Of(LayerType::Pooling2d, &Handle::IsPooling2dSupported);
    Expect1Of(LayerType::Pooling3d, &Handle::IsPooling3dSupported);
    Expect1Of(LayerType::Reduce, &Handle::IsReduceSupported);
    Expect1Of(LayerType::Reshape, &Handle::IsReshapeSupported);
    Expect1Of(LayerType::Resize, &Handle::IsResizeSupported);
    Expect1Of(LayerType::Slice, &Handle::IsSliceSupported);
    Expect1Of(LayerType::Softmax, &Handle::IsSoftmaxSupported);
    Expect1Of(LayerType::SpaceToBatchNd, &Handle::IsSpaceToBatchNdSupported);
    Expect1Of(LayerType::SpaceToDepth, &Handle::IsSpaceToDepthSupported);
    Expect1Of(LayerType::StridedSlice, &Handle::IsStridedSliceSupported);
    Expect1Of(LayerType::Tile, &Handle::IsTileSupported);
    Expect1Of(LayerType::Transpose, &Handle::IsTransposeSupported);
    Expect(LayerType::FakeQuantization, {1}, {1},
           [](const Handle& handle, std::string& reason)
           { return handle.IsFakeQuantizationSupported(Sized(1), FakeQuantizationDescriptor(), reason); });
    Expect(LayerType::PreCompiled, {1}, {},
           [](const Handle& handle, std::string& reason)
           { return handle.IsPreCompiledSupported(Sized(1), PreCompiledDescriptor(1, 0), reason); });
}

TEST_F(LayerQueriesTest, OfTwoInputs)
{
    ExpectBinary(BinaryOperation::Add, &Handle::IsAdditionSupported);
    ExpectBinary(BinaryOperation::Div, &Handle::IsDivisionSupported);
    ExpectBinary(BinaryOperation::Maximum, &Handle::IsMaximumSupported);
    ExpectBinary(BinaryOperation::Minimum, &Handle::IsMinimumSupported);
    ExpectBinary(BinaryOperation::Mul, &Handle::IsMultiplicationSupported);
    ExpectBinary(BinaryOperation::Sub, &Handle::IsSubtractionSupported);
    Expect2(LayerType::GatherNd, &Handle::IsGatherNdSupported);
    Expect2(LayerType::Merge, &Handle::IsMergeSupported);
    Expect2(LayerType::Prelu, &Handle::IsPreluSupported);
    Expect2(LayerType::ReverseV2, &Handle::IsReverseV2Supported);
    Expect2Of(LayerType::BatchMatMul, &Handle::IsBatchMatMulSupported);
    Expect2Of(LayerType::Comparison, &Handle::IsComparisonSupported);
    Expect2Of(LayerType::ElementwiseBinary, &Handle::IsElementwiseBinarySupported);
    Expect2Of(LayerType::Gather, &Handle::IsGatherSupported);
    Expect2Of(LayerType::LogicalBinary, &Handle::IsLogicalBinarySupported);
    Expect(LayerType::Switch, {1, 2}, {3, 4},
           [](const Handle& handle, std::string& reason)
           { return handle.IsSwitchSupported(Sized(1), Sized(2), Sized(3), Sized(4), reason); });
}

TEST_F(LayerQueriesTest, OfWeights)
{
    ExpectWeighted(LayerType::Convolution2d, &Handle::IsConvolution2dSupported);
    ExpectWeighted(LayerType::Convolution3d, &Handle::IsConvolution3dSupported);
    ExpectWeighted(LayerType::DepthwiseConvolution2d, &Handle::IsDepthwiseConvolutionSupported);
    ExpectWeighted(LayerType::DepthwiseConvolution2d, &Handle::IsDilatedDepthwiseConvolutionSupported);
    ExpectWeighted(LayerType::TransposeConvolution2d, &Handle::IsTransposeConvolution2dSupported);
    FullyConnectedDescriptor dense;
    for (const bool hasBias : {false, true})
    {
        dense.m_BiasEnabled = hasBias;
        Expect(LayerType::FullyConnected, {1, 3, hasBias ? 4U : 0U}, {2},
               [&](const Handle& handle, std::string& reason)
               { return handle.IsFullyConnectedSupported(Sized(1), Sized(2), Sized(3), Sized(4), dense, reason); });
    }
    Expect(LayerType::BatchNormalization, {1, 3, 4, 5, 6}, {2},
           [](const Handle& handle, std::string& reason)
           {
               return handle.IsBatchNormalizationSupported(Sized(1), Sized(2), Sized(3), Sized(4), Sized(5), Sized(6),
                                                           BatchNormalizationDescriptor(), reason);
           });
    Expect(LayerType::DetectionPostProcess, {1, 2, 3}, {4, 5, 6, 7},
           [](const Handle& handle, std::string& reason)
           {
               return handle.IsDetectionPostProcessSupported(Sized(1), Sized(2), Sized(3), Sized(4), Sized(5), Sized(6),
                                                             Sized(7), DetectionPostProcessDescriptor(), reason);
           });
}

TEST_F(LayerQueriesTest, OfSeveralTensors)
{
    std::vector<TensorInfo> infos = {Sized(1), Sized(2), Sized(3)};
    const std::vector<const TensorInfo*> inputs = {&infos[0], &infos[1], &infos[2]};
    Expect(LayerType::Concat, {1, 2, 3}, {6},
           [&](const Handle& handle, std::string& reason)
           { return handle.IsConcatSupported(inputs, Sized(6), OriginsDescriptor(), reason); });
    Expect(LayerType::Stack, {1, 2, 3}, {6},
           [&](const Handle& handle, std::string& reason)
           { return handle.IsStackSupported(inputs, Sized(6), StackDescriptor(), reason); });
    Expect(LayerType::StandIn, {1, 2, 3}, {3},
           [&](const Handle& handle, std::string& reason)
           { return handle.IsStandInSupported(inputs, {&infos[2]}, StandInDescriptor(3, 1), reason); });
    Expect(LayerType::Splitter, {6}, {1, 2, 3},
           [&](const Handle& handle, std::string& reason) {
               return handle.IsSplitterSupported(Sized(6), {infos.begin(), infos.end()}, ViewsDescriptor(3, 1), reason);
           });
}

TEST_F(LayerQueriesTest, OfLstms)
{
    const TensorInfo weights = Sized(9);
    const TensorInfo bias = Sized(8);
    LstmInputParamsInfo params;
    params.m_InputToForgetWeights = &weights;
    params.m_OutputLayerNormWeights = &bias;
    std::vector<unsigned int> inputs(24, 0);
    std::iota(inputs.begin(), inputs.begin() + 3, 1);
    inputs[4] = 9;
    inputs[23] = 8;
    Expect(LayerType::Lstm, inputs, {4, 5, 6, 7},
           [&](const Handle& handle, std::string& reason)
           {
               return handle.IsLstmSupported(Sized(1), Sized(2), Sized(3), Sized(4), Sized(5), Sized(6), Sized(7),
                                             LstmDescriptor(), params, reason);
           });
    Expect(LayerType::QLstm, inputs, {4, 5, 6},
           [&](const Handle& handle, std::string& reason)
           {
               return handle.IsQLstmSupported(Sized(1), Sized(2), Sized(3), Sized(4), Sized(5), Sized(6),
                                              QLstmDescriptor(), params, reason);
           });
    Expect(LayerType::UnidirectionalSequenceLstm, inputs, {4, 5, 6},
           [&](const Handle& handle, std::string& reason)
           {
               return handle.IsUnidirectionalSequenceLstmSupported(Sized(1), Sized(2), Sized(3), Sized(4), Sized(5),
                                                                   Sized(6), LstmDescriptor(), params, reason);
           });
    QuantizedLstmInputParamsInfo quantized;
    quantized.m_InputToInputWeights = &weights;
    quantized.m_OutputGateBias = &bias;
    inputs.assign(15, 0);
    std::iota(inputs.begin(), inputs.begin() + 3, 1);
    inputs[3] = 9;
    inputs[14] = 8;
    Expect(LayerType::QuantizedLstm, inputs, {4, 5},
           [&](const Handle& handle, std::string& reason) {
               return handle.IsQuantizedLstmSupported(Sized(1), Sized(2), Sized(3), Sized(4), Sized(5), quantized,
                                                      reason);
           });
}

TEST_F(LayerQueriesTest, WhatTheRuntimeRunsIsSupportedByEveryBackendThatIsThere)
{
    const LayerSupportHandle absent = GetILayerSupportByBackendId("NoSuch");
    for (const auto ask : {&Handle::IsInputSupported, &Handle::IsOutputSupported, &Handle::IsConstantSupported})
    {
        std::string reason;
        EXPECT_TRUE((m_Handle.*ask)(Sized(1), reason));
        EXPECT_EQ(reason, "");
        EXPECT_FALSE((absent.*ask)(Sized(1), reason));
        EXPECT_EQ(reason, "the backend is not there");
    }
}

TEST_F(LayerQueriesTest, ABuiltInBackendAnswers)
{
    const LayerSupportHandle handle = GetILayerSupportByBackendId("CpuAcc");
    FullyConnectedDescriptor dense;
    dense.m_BiasEnabled = true;
    TensorInfo weights({3, 4}, DataType::Float32);
    weights.SetConstant();
    TensorInfo bias({4}, DataType::Float32);
    bias.SetConstant();
    const TensorInfo data({2, 3}, DataType::Float32);
    const TensorInfo output({2, 4}, DataType::Float32);
    std::string reason;
    EXPECT_TRUE(handle.IsFullyConnectedSupported(data, output, weights, bias, dense, reason)) << reason;
    bias.SetDataType(DataType::Boolean);
    EXPECT_FALSE(handle.IsFullyConnectedSupported(data, output, weights, bias, dense, reason));
    EXPECT_THAT(reason, testing::HasSubstr("Boolean"));
    EXPECT_TRUE(handle.IsAdditionSupported(data, data, data));
}

} // namespace tenon::test::layer_queries_test
