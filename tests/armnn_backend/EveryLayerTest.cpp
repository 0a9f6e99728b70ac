// SPDX-License-Identifier: Apache-2.0
// A backend written for Arm NN is asked about each type of layer, and makes its workload, with the queue descriptor,
// the infos and the constants that Arm NN has for it.
#include "Networks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <armnn/ArmNN.hpp>
#include <armnn/BackendRegistry.hpp>
#include <armnn/backends/IBackendInternal.hpp>
#include <armnn/backends/ILayerSupport.hpp>
#include <armnn/backends/TensorHandle.hpp>
#include <armnn/backends/Workload.hpp>
#include <armnn/backends/WorkloadFactory.hpp>
#include <functional>
#include <memory>

namespace
{

/// What the backend was asked and made of last.
struct Record
{
    armnn::LayerType m_Type = armnn::LayerType::Input;
    std::vector<armnn::TensorInfo> m_Infos;
    bool m_HasCell = false;
    bool m_HasQuantizedCell = false;
    std::function<void(const armnn::QueueDescriptor&)> m_Look;
    int m_Made = 0;
};
Record& GetRecord()
{
    static Record record;
    return record;
}

class Support : public armnn::ILayerSupport
{
public:
    bool IsLayerSupported(const armnn::LayerType& type, const std::vector<armnn::TensorInfo>& infos,
                          const armnn::BaseDescriptor&, const armnn::Optional<armnn::LstmInputParamsInfo>& cell,
                          const armnn::Optional<armnn::QuantizedLstmInputParamsInfo>& quantizedCell,
                          armnn::Optional<std::string&>) const override
    {
        GetRecord().m_Type = type;
        GetRecord().m_Infos = infos;
        GetRecord().m_HasCell = cell.has_value() && cell.value().m_InputToForgetWeights != nullptr;
        GetRecord().m_HasQuantizedCell = quantizedCell.has_value() && quantizedCell.value().m_OutputGateBias != nullptr;
        return true;
    }
};

/// Leaves the outputs at 0.
template <typename Queue>
class ZeroWorkload : public armnn::BaseWorkload<Queue>
{
public:
    using armnn::BaseWorkload<Queue>::BaseWorkload;
    void Execute() const override {}
};

class Factory : public armnn::IWorkloadFactory
{
public:
    const armnn::BackendId& GetBackendId() const override { return m_Id; }
    bool SupportsSubTensors() const override { return false; }
    std::unique_ptr<armnn::ITensorHandle> CreateSubTensorHandle(armnn::ITensorHandle&, const armnn::TensorShape&,
                                                                const unsigned int*) const override
    {
        return nullptr;
    }
    std::unique_ptr<armnn::ITensorHandle> CreateTensorHandle(const armnn::TensorInfo& info, const bool) const override
    {
        return std::unique_ptr<armnn::ITensorHandle>(new armnn::ScopedTensorHandle(info));
    }
    std::unique_ptr<armnn::ITensorHandle> CreateTensorHandle(const armnn::TensorInfo& info, armnn::DataLayout,
                                                             const bool isMemoryManaged) const override
    {
        return CreateTensorHandle(info, isMemoryManaged);
    }

#define SAMPLE_CASE(name)                                                                                              \
    case armnn::LayerType::name: return Make<armnn::name##QueueDescriptor>(descriptor, info);

    std::unique_ptr<armnn::IWorkload> CreateWorkload(armnn::LayerType type, const armnn::QueueDescriptor& descriptor,
                                                     const armnn::WorkloadInfo& info) const override
    {
        switch (type)
        {
            SAMPLE_CASE(Activation)
            SAMPLE_CASE(ArgMinMax)
            SAMPLE_CASE(BatchMatMul)
            SAMPLE_CASE(BatchNormalization)
            SAMPLE_CASE(BatchToSpaceNd)
            SAMPLE_CASE(Cast)
            SAMPLE_CASE(ChannelShuffle)
            SAMPLE_CASE(Comparison)
            SAMPLE_CASE(Concat)
            SAMPLE_CASE(Convolution2d)
            SAMPLE_CASE(Convolution3d)
            SAMPLE_CASE(DepthToSpace)
            SAMPLE_CASE(DepthwiseConvolution2d)
            SAMPLE_CASE(Dequantize)
            SAMPLE_CASE(DetectionPostProcess)
            SAMPLE_CASE(ElementwiseBinary)
            SAMPLE_CASE(ElementwiseUnary)
            SAMPLE_CASE(Floor)
            SAMPLE_CASE(FullyConnected)
            SAMPLE_CASE(Gather)
            SAMPLE_CASE(GatherNd)
            SAMPLE_CASE(InstanceNormalization)
            SAMPLE_CASE(L2Normalization)
            SAMPLE_CASE(LogSoftmax)
            SAMPLE_CASE(LogicalBinary)
            SAMPLE_CASE(Lstm)
            SAMPLE_CASE(Mean)
            SAMPLE_CASE(Normalization)
            SAMPLE_CASE(Pad)
            SAMPLE_CASE(Pooling2d)
            SAMPLE_CASE(Pooling3d)
            SAMPLE_CASE(Prelu)
            SAMPLE_CASE(QLstm)
            SAMPLE_CASE(Quantize)
            SAMPLE_CASE(QuantizedLstm)
            SAMPLE_CASE(Reduce)
            SAMPLE_CASE(Resize)
            SAMPLE_CASE(ReverseV2)
            SAMPLE_CASE(Slice)
            SAMPLE_CASE(Softmax)
            SAMPLE_CASE(SpaceToBatchNd)
            SAMPLE_CASE(SpaceToDepth)
            SAMPLE_CASE(Splitter)
            SAMPLE_CASE(Stack)
            SAMPLE_CASE(StridedSlice)
            SAMPLE_CASE(Tile)
            SAMPLE_CASE(Transpose)
            SAMPLE_CASE(TransposeConvolution2d)
            SAMPLE_CASE(UnidirectionalSequenceLstm)
        default: return nullptr;
        }
    }
#undef SAMPLE_CASE

private:
    template <typename Queue>
    static std::unique_ptr<armnn::IWorkload> Make(const armnn::QueueDescriptor& descriptor,
                                                  const armnn::WorkloadInfo& info)
    {
        ++GetRecord().m_Made;
        if (GetRecord().m_Look)
        {
            GetRecord().m_Look(descriptor);
        }
        return std::unique_ptr<armnn::IWorkload>(new ZeroWorkload<Queue>(dynamic_cast<const Queue&>(descriptor), info));
    }
    armnn::BackendId m_Id{"SampleAll"};
};

class Backend : public armnn::IBackendInternal
{
public:
    const armnn::BackendId& GetId() const override { return m_Id; }
    IWorkloadFactoryPtr CreateWorkloadFactory(const IMemoryManagerSharedPtr&) const override
    {
        return IWorkloadFactoryPtr(new Factory);
    }
    ILayerSupportSharedPtr GetLayerSupport() const override { return ILayerSupportSharedPtr(new Support); }

private:
    armnn::BackendId m_Id{"SampleAll"};
};

armnn::TensorInfo Info(const armnn::TensorShape& shape, armnn::DataType type = armnn::DataType::Float32,
                       float scale = 0.0f, int32_t zeroPoint = 0)
{
    return armnn::TensorInfo(shape, type, scale, zeroPoint);
}

class EveryLayer : public testing::Test
{
protected:
    using Add = std::function<armnn::IConnectableLayer*(armnn::INetwork&)>;
    using Infos = std::vector<armnn::TensorInfo>;
    using Look = std::function<void(const armnn::QueueDescriptor&)>;

    EveryLayer()
    {
        armnn::BackendRegistryInstance().Register("SampleAll",
                                                  [] { return armnn::IBackendInternalUniquePtr(new Backend); });
        m_Runtime = armnn::IRuntime::Create({});
    }
    ~EveryLayer() override { armnn::BackendRegistryInstance().Deregister("SampleAll"); }

    /// Loads and runs one layer. Inputs whose info is constant are constants of `m_Values`. `numInfos` are asked for.
    void Check(armnn::LayerType type, const Add& add, const Infos& inputs, const Infos& outputs, size_t numInfos,
               const Look& look = nullptr)
    {
        SCOPED_TRACE(armnn::GetLayerTypeAsCString(type));
        GetRecord() = Record();
        GetRecord().m_Look = look;
        const armnn::INetworkPtr network = armnn::INetwork::Create();
        armnn::IConnectableLayer* const layer = add(*network);
        std::vector<std::vector<char>> memory;
        armnn::InputTensors in;
        for (unsigned int i = 0; i < inputs.size(); ++i)
        {
            armnn::IConnectableLayer* source = nullptr;
            if (inputs[i].IsConstant())
            {
                source = network->AddConstantLayer(armnn::ConstTensor(inputs[i], m_Values.data()));
            }
            else
            {
                const auto id = static_cast<armnn::LayerBindingId>(in.size());
                source = network->AddInputLayer(id);
                armnn::TensorInfo info = inputs[i];
                info.SetConstant(true);
                memory.emplace_back(info.GetNumBytes(), '\0');
                in.emplace_back(id, armnn::ConstTensor(info, memory.back().data()));
            }
            source->GetOutputSlot(0).SetTensorInfo(inputs[i]);
            source->GetOutputSlot(0).Connect(layer->GetInputSlot(i));
        }
        armnn::OutputTensors out;
        for (unsigned int i = 0; i < outputs.size(); ++i)
        {
            layer->GetOutputSlot(i).SetTensorInfo(outputs[i]);
            const auto id = static_cast<armnn::LayerBindingId>(i);
            layer->GetOutputSlot(i).Connect(network->AddOutputLayer(id)->GetInputSlot(0));
            memory.emplace_back(outputs[i].GetNumBytes(), '\x11');
            out.emplace_back(id, armnn::Tensor(outputs[i], memory.back().data()));
        }
        armnn::NetworkId id = -1;
        m_Runtime->LoadNetwork(id, armnn::Optimize(*network, {"SampleAll"}, m_Runtime->GetDeviceSpec()));
        EXPECT_EQ(GetRecord().m_Made, 1);
        EXPECT_EQ(GetRecord().m_Type, type);
        EXPECT_EQ(GetRecord().m_Infos.size(), numInfos);
        m_Runtime->EnqueueWorkload(id, in, out);
        for (const auto& output : out)
        {
            EXPECT_EQ(*static_cast<const char*>(output.second.GetMemoryArea()), '\0') << "an output was not copied";
        }
        m_Runtime->UnloadNetwork(id);
    }

    armnn::IRuntimePtr m_Runtime{nullptr, nullptr};
    std::vector<float> m_Values = std::vector<float>(256, 2.0f);
};

armnn::TensorInfo Constant(const armnn::TensorShape& shape, armnn::DataType type = armnn::DataType::Float32,
                           float scale = 0.0f)
{
    return armnn::TensorInfo(shape, type, scale, 0, true);
}

} // namespace

#define SAMPLE_ADD(call) [&](armnn::INetwork& n) { return n.call; }

TEST_F(EveryLayer, WithOneInput)
{
    using T = armnn::LayerType;
    using D = armnn::DataType;
    const armnn::TensorInfo image = Info({1, 4, 4, 4});
    const armnn::TensorInfo matrix = Info({2, 4});
    armnn::ArgMinMaxDescriptor arg;
    arg.m_Axis = 1;
    Check(T::ArgMinMax, SAMPLE_ADD(AddArgMinMaxLayer(arg)), {matrix}, {Info({2}, D::Signed32)}, 2);
    armnn::BatchToSpaceNdDescriptor toSpace({2, 2}, {{0, 0}, {0, 0}});
    toSpace.m_DataLayout = armnn::DataLayout::NHWC;
    Check(T::BatchToSpaceNd, SAMPLE_ADD(AddBatchToSpaceNdLayer(toSpace)), {Info({4, 2, 2, 1})}, {Info({1, 4, 4, 1})},
          2);
    Check(T::Cast, SAMPLE_ADD(AddCastLayer()), {matrix}, {Info({2, 4}, D::Signed32)}, 2);
    Check(T::ChannelShuffle, SAMPLE_ADD(AddChannelShuffleLayer(armnn::ChannelShuffleDescriptor(2, 1))), {matrix},
          {matrix}, 2);
    armnn::DepthToSpaceDescriptor depth(2, armnn::DataLayout::NHWC);
    Check(T::DepthToSpace, SAMPLE_ADD(AddDepthToSpaceLayer(depth)), {image}, {Info({1, 8, 8, 1})}, 2);
    Check(T::Dequantize, SAMPLE_ADD(AddDequantizeLayer()), {Info({2, 4}, D::QAsymmS8, 0.5f)}, {matrix}, 2);
    Check(T::ElementwiseUnary, SAMPLE_ADD(AddElementwiseUnaryLayer(armnn::UnaryOperation::Exp)), {matrix}, {matrix}, 2);
    Check(T::Floor, SAMPLE_ADD(AddFloorLayer()), {matrix}, {matrix}, 2);
    armnn::InstanceNormalizationDescriptor instance;
    instance.m_DataLayout = armnn::DataLayout::NHWC;
    Check(T::InstanceNormalization, SAMPLE_ADD(AddInstanceNormalizationLayer(instance)), {image}, {image}, 2);
    armnn::L2NormalizationDescriptor l2;
    l2.m_DataLayout = armnn::DataLayout::NHWC;
    Check(T::L2Normalization, SAMPLE_ADD(AddL2NormalizationLayer(l2)), {image}, {image}, 2);
    Check(T::LogSoftmax, SAMPLE_ADD(AddLogSoftmaxLayer(armnn::LogSoftmaxDescriptor())), {matrix}, {matrix}, 2);
    Check(T::Mean, SAMPLE_ADD(AddMeanLayer(armnn::MeanDescriptor({1}, false))), {matrix}, {Info({2})}, 2);
    armnn::NormalizationDescriptor normalization;
    normalization.m_DataLayout = armnn::DataLayout::NHWC;
    normalization.m_NormSize = 3;
    Check(T::Normalization, SAMPLE_ADD(AddNormalizationLayer(normalization)), {image}, {image}, 2);
    Check(T::Pad, SAMPLE_ADD(AddPadLayer(armnn::PadDescriptor({{1, 1}, {0, 2}}))), {matrix}, {Info({4, 6})}, 2);
    armnn::Pooling2dDescriptor pool;
    pool.m_DataLayout = armnn::DataLayout::NHWC;
    pool.m_PoolWidth = pool.m_PoolHeight = pool.m_StrideX = pool.m_StrideY = 3;
    pool.m_PaddingScheme = tenon::PaddingScheme::Same;
    Check(T::Pooling2d, SAMPLE_ADD(AddPooling2dLayer(pool)), {image}, {Info({1, 2, 2, 4})}, 2,
          [](const armnn::QueueDescriptor& queue)
          {
              const auto& p = dynamic_cast<const armnn::Pooling2dQueueDescriptor&>(queue).m_Parameters;
              EXPECT_EQ(p.m_PadLeft, 1u);
              EXPECT_EQ(p.m_PadRight, 1u);
              EXPECT_EQ(p.m_PadTop + p.m_PadBottom, 2u);
          });
    armnn::Pooling3dDescriptor pool3;
    pool3.m_DataLayout = armnn::DataLayout::NDHWC;
    pool3.m_PoolWidth = pool3.m_PoolHeight = pool3.m_PoolDepth = 2;
    pool3.m_StrideX = pool3.m_StrideY = pool3.m_StrideZ = 2;
    Check(T::Pooling3d, SAMPLE_ADD(AddPooling3dLayer(pool3)), {Info({1, 2, 4, 4, 1})}, {Info({1, 1, 2, 2, 1})}, 2);
    Check(T::Quantize, SAMPLE_ADD(AddQuantizeLayer()), {matrix}, {Info({2, 4}, D::QAsymmU8, 0.5f, 0)}, 2);
    armnn::ReduceDescriptor reduce;
    reduce.m_vAxis = {1};
    reduce.m_ReduceOperation = armnn::ReduceOperation::Max;
    Check(T::Reduce, SAMPLE_ADD(AddReduceLayer(reduce)), {matrix}, {Info({2})}, 2);
    armnn::ResizeDescriptor resize;
    resize.m_DataLayout = armnn::DataLayout::NHWC;
    resize.m_TargetWidth = resize.m_TargetHeight = 8;
    Check(T::Resize, SAMPLE_ADD(AddResizeLayer(resize)), {image}, {Info({1, 8, 8, 4})}, 2);
    Check(T::Slice, SAMPLE_ADD(AddSliceLayer(armnn::SliceDescriptor({0, 1}, {2, 2}))), {matrix}, {Info({2, 2})}, 2);
    Check(T::Softmax, SAMPLE_ADD(AddSoftmaxLayer(armnn::SoftmaxDescriptor())), {matrix}, {matrix}, 2);
    armnn::SpaceToBatchNdDescriptor toBatch({2, 2}, {{0, 0}, {0, 0}});
    toBatch.m_DataLayout = armnn::DataLayout::NHWC;
    Check(T::SpaceToBatchNd, SAMPLE_ADD(AddSpaceToBatchNdLayer(toBatch)), {image}, {Info({4, 2, 2, 4})}, 2);
    Check(T::SpaceToDepth, SAMPLE_ADD(AddSpaceToDepthLayer(armnn::SpaceToDepthDescriptor(2, armnn::DataLayout::NHWC))),
          {image}, {Info({1, 2, 2, 16})}, 2);
    Check(T::StridedSlice, SAMPLE_ADD(AddStridedSliceLayer(armnn::StridedSliceDescriptor({0, 0}, {2, 4}, {1, 2}))),
          {matrix}, {Info({2, 2})}, 2);
    Check(T::Tile, SAMPLE_ADD(AddTileLayer(armnn::TileDescriptor({2, 3}))), {matrix}, {Info({4, 12})}, 2);
    Check(T::Transpose, SAMPLE_ADD(AddTransposeLayer(armnn::TransposeDescriptor({1, 0}))), {matrix}, {Info({4, 2})}, 2);
}

TEST_F(EveryLayer, WithSeveralTensors)
{
    using T = armnn::LayerType;
    using D = armnn::DataType;
    const armnn::TensorInfo matrix = Info({2, 4});
    const armnn::TensorInfo bits = Info({2, 4}, D::Boolean);
    Check(T::BatchMatMul, SAMPLE_ADD(AddBatchMatMulLayer(armnn::BatchMatMulDescriptor())),
          {Info({1, 2, 4}), Info({1, 4, 3})}, {Info({1, 2, 3})}, 3);
    Check(T::Comparison, SAMPLE_ADD(AddComparisonLayer(armnn::ComparisonOperation::Less)), {matrix, matrix}, {bits}, 3);
    Check(T::ElementwiseBinary, SAMPLE_ADD(AddElementwiseBinaryLayer(armnn::BinaryOperation::Sub)), {matrix, matrix},
          {matrix}, 3);
    Check(T::Gather, SAMPLE_ADD(AddGatherLayer(armnn::GatherDescriptor(0))), {matrix, Info({3}, D::Signed32)},
          {Info({3, 4})}, 3);
    Check(T::GatherNd, SAMPLE_ADD(AddGatherNdLayer()), {matrix, Info({3, 1}, D::Signed32)}, {Info({3, 4})}, 3);
    Check(T::LogicalBinary, SAMPLE_ADD(AddLogicalBinaryLayer(armnn::LogicalBinaryOperation::LogicalOr)), {bits, bits},
          {bits}, 3);
    Check(T::Prelu, SAMPLE_ADD(AddPreluLayer()), {matrix, matrix}, {matrix}, 3);
    Check(T::ReverseV2, SAMPLE_ADD(AddReverseV2Layer()), {matrix, Info({1}, D::Signed32)}, {matrix}, 3);
    Check(T::Stack, SAMPLE_ADD(AddStackLayer(armnn::StackDescriptor(1, 2, {2, 4}))), {matrix, matrix},
          {Info({2, 2, 4})}, 3);
    armnn::SplitterDescriptor split(2, 2);
    for (uint32_t view = 0; view < 2; ++view)
    {
        split.SetViewOriginCoord(view, 1, view * 2);
        split.SetViewSize(view, 0, 2);
        split.SetViewSize(view, 1, 2);
    }
    Check(T::Splitter, SAMPLE_ADD(AddSplitterLayer(split)), {matrix}, {Info({2, 2}), Info({2, 2})}, 3,
          [](const armnn::QueueDescriptor& queue)
          {
              const auto& origins = dynamic_cast<const armnn::SplitterQueueDescriptor&>(queue).m_ViewOrigins;
              ASSERT_EQ(origins.size(), 2u);
              EXPECT_EQ(origins[0].m_Origin, (std::vector<unsigned int>{0, 0}));
              EXPECT_EQ(origins[1].m_Origin, (std::vector<unsigned int>{0, 2}));
          });
}

TEST_F(EveryLayer, WithWeights)
{
    using T = armnn::LayerType;
    const armnn::TensorInfo image = Info({1, 4, 4, 4});
    armnn::Convolution3dDescriptor volume;
    volume.m_BiasEnabled = true;
    volume.m_PaddingScheme = tenon::PaddingScheme::Same;
    Check(T::Convolution3d, SAMPLE_ADD(AddConvolution3dLayer(volume)),
          {Info({1, 2, 4, 4, 1}), Constant({2, 3, 3, 1, 2}), Constant({2})}, {Info({1, 2, 4, 4, 2})}, 4,
          [](const armnn::QueueDescriptor& queue)
          {
              const auto& p = dynamic_cast<const armnn::Convolution3dQueueDescriptor&>(queue).m_Parameters;
              EXPECT_EQ(p.m_PadFront, 0u);
              EXPECT_EQ(p.m_PadBack, 1u);
              EXPECT_EQ(p.m_PadLeft, 1u);
              EXPECT_EQ(queue.m_Inputs.size(), 3u);
          });
    armnn::DepthwiseConvolution2dDescriptor depthwise;
    depthwise.m_DataLayout = armnn::DataLayout::NHWC;
    Check(T::DepthwiseConvolution2d, SAMPLE_ADD(AddDepthwiseConvolution2dLayer(depthwise)),
          {image, Constant({1, 3, 3, 4})}, {Info({1, 2, 2, 4})}, 4);
    EXPECT_FALSE(GetRecord().m_Infos[3].GetShape().AreAllDimensionsSpecified()) << "there is no bias";
    armnn::TransposeConvolution2dDescriptor transposed;
    transposed.m_DataLayout = armnn::DataLayout::NHWC;
    transposed.m_StrideX = transposed.m_StrideY = 2;
    transposed.m_BiasEnabled = true;
    const armnn::ConstTensor weights(Constant({1, 2, 2, 4}), m_Values.data());
    const armnn::ConstTensor bias(Constant({1}), m_Values.data());
    Check(T::TransposeConvolution2d,
          SAMPLE_ADD(AddTransposeConvolution2dLayer(transposed, weights, armnn::Optional<armnn::ConstTensor>(bias))),
          {image}, {Info({1, 8, 8, 1})}, 4,
          [](const armnn::QueueDescriptor& queue)
          {
              const auto& q = dynamic_cast<const armnn::TransposeConvolution2dQueueDescriptor&>(queue);
              EXPECT_EQ(q.m_Inputs.size(), 1u);
              EXPECT_EQ(q.m_Weight->GetConstTensor<float>()[15], 2.0f);
              EXPECT_EQ(q.m_Bias->GetConstTensor<float>()[0], 2.0f);
          });
    armnn::DetectionPostProcessDescriptor detection;
    detection.m_MaxDetections = 3;
    detection.m_NumClasses = 2;
    detection.m_NmsIouThreshold = 0.5f;
    detection.m_ScaleX = detection.m_ScaleY = detection.m_ScaleW = detection.m_ScaleH = 1.0f;
    const armnn::ConstTensor anchors(Constant({5, 4}), m_Values.data());
    Check(T::DetectionPostProcess, SAMPLE_ADD(AddDetectionPostProcessLayer(detection, anchors)),
          {Info({1, 5, 4}), Info({1, 5, 3})}, {Info({1, 3, 4}), Info({1, 3}), Info({1, 3}), Info({1})}, 7,
          [](const armnn::QueueDescriptor& queue)
          {
              EXPECT_EQ(dynamic_cast<const armnn::DetectionPostProcessQueueDescriptor&>(queue).m_Anchors->GetShape(),
                        armnn::TensorShape({5, 4}));
          });
}

TEST_F(EveryLayer, WithACell)
{
    using T = armnn::LayerType;
    const armnn::ConstTensor input(Constant({3, 2}), m_Values.data());
    const armnn::ConstTensor recurrent(Constant({3, 3}), m_Values.data());
    const armnn::ConstTensor bias(Constant({3}), m_Values.data());
    armnn::LstmInputParams params;
    params.m_InputToForgetWeights = params.m_InputToCellWeights = params.m_InputToOutputWeights = &input;
    params.m_RecurrentToForgetWeights = params.m_RecurrentToCellWeights = params.m_RecurrentToOutputWeights =
        &recurrent;
    params.m_ForgetGateBias = params.m_CellBias = params.m_OutputGateBias = &bias;
    armnn::LstmDescriptor descriptor;
    descriptor.m_ActivationFunc = 4;
    Check(T::Lstm, SAMPLE_ADD(AddLstmLayer(descriptor, params)), {Info({1, 2}), Info({1, 3}), Info({1, 3})},
          {Info({1, 9}), Info({1, 3}), Info({1, 3}), Info({1, 3})}, 7,
          [](const armnn::QueueDescriptor& queue)
          {
              const auto& q = dynamic_cast<const armnn::LstmQueueDescriptor&>(queue);
              EXPECT_EQ(q.m_Inputs.size(), 3u);
              EXPECT_EQ(q.m_InputToInputWeights, nullptr);
              EXPECT_EQ(q.m_InputToForgetWeights->GetShape(), armnn::TensorShape({3, 2}));
              EXPECT_EQ(q.m_RecurrentToOutputWeights->GetShape(), armnn::TensorShape({3, 3}));
              EXPECT_EQ(q.m_OutputGateBias->GetConstTensor<float>()[2], 2.0f);
              EXPECT_EQ(q.m_ProjectionWeights, nullptr);
          });
    EXPECT_TRUE(GetRecord().m_HasCell);
    Check(T::UnidirectionalSequenceLstm, SAMPLE_ADD(AddUnidirectionalSequenceLstmLayer(descriptor, params)),
          {Info({1, 4, 2}), Info({1, 3}), Info({1, 3})}, {Info({1, 3}), Info({1, 3}), Info({1, 4, 3})}, 6);
    EXPECT_TRUE(GetRecord().m_HasCell);
}

TEST_F(EveryLayer, WithAQuantizedCell)
{
    using T = armnn::LayerType;
    using D = armnn::DataType;
    const armnn::ConstTensor input(Constant({4, 2}, D::QAsymmU8, 0.01f), m_Values.data());
    const armnn::ConstTensor recurrent(Constant({4, 4}, D::QAsymmU8, 0.01f), m_Values.data());
    const armnn::ConstTensor bias(Constant({4}, D::Signed32, 0.01f / 128), m_Values.data());
    armnn::QuantizedLstmInputParams params;
    params.m_InputToInputWeights = params.m_InputToForgetWeights = params.m_InputToCellWeights =
        params.m_InputToOutputWeights = &input;
    params.m_RecurrentToInputWeights = params.m_RecurrentToForgetWeights = params.m_RecurrentToCellWeights =
        params.m_RecurrentToOutputWeights = &recurrent;
    params.m_InputGateBias = params.m_ForgetGateBias = params.m_CellBias = params.m_OutputGateBias = &bias;
    const armnn::TensorInfo state = Info({1, 4}, D::QAsymmU8, 1.0f / 128, 128);
    const armnn::TensorInfo cell = Info({1, 4}, D::QSymmS16, 1.0f / 2048);
    Check(T::QuantizedLstm, SAMPLE_ADD(AddQuantizedLstmLayer(params)),
          {Info({1, 2}, D::QAsymmU8, 1.0f / 128, 128), cell, state}, {cell, state}, 5,
          [](const armnn::QueueDescriptor& queue)
          {
              const auto& q = dynamic_cast<const armnn::QuantizedLstmQueueDescriptor&>(queue);
              EXPECT_EQ(q.m_Inputs.size(), 3u);
              EXPECT_EQ(q.m_InputToInputWeights->GetShape(), armnn::TensorShape({4, 2}));
              EXPECT_EQ(q.m_RecurrentToInputWeights->GetShape(), armnn::TensorShape({4, 4}));
              EXPECT_EQ(q.m_OutputGateBias->GetTensorInfo().GetDataType(), armnn::DataType::Signed32);
          });
    EXPECT_TRUE(GetRecord().m_HasQuantizedCell);
}

TEST_F(EveryLayer, OfASubgraphThatCannotBeShownIsInTheLog)
{
    const armnn::INetworkPtr network = armnn::INetwork::Create();
    armnn::IConnectableLayer* const input = network->AddInputLayer(0);
    armnn::IConnectableLayer* const floor = network->AddFloorLayer("floor");
    input->GetOutputSlot(0).SetTensorInfo(Info({2}));
    input->GetOutputSlot(0).Connect(floor->GetInputSlot(0));
    floor->GetOutputSlot(0).SetTensorInfo(Info({2}));
    floor->GetOutputSlot(0).Connect(network->AddOutputLayer(0)->GetInputSlot(0));
    armnn::OptimizerOptionsOpaque options;
    const sample::Log log;
    armnn::Optimize(*network, {"SampleAll"}, m_Runtime->GetDeviceSpec(), options);
    EXPECT_EQ(log.Get(), "");
    options.SetReduceFp32ToFp16(true);
    armnn::Optimize(*network, {"SampleAll"}, m_Runtime->GetDeviceSpec(), options);
    EXPECT_THAT(log.Get(), testing::AllOf(testing::HasSubstr("SampleAll does not optimize a subgraph of 3 layers"),
                                          testing::HasSubstr("(ConvertFp32ToFp16)")));
}

#undef SAMPLE_ADD
