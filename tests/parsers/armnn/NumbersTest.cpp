// SPDX-License-Identifier: Apache-2.0
// Numbers of Arm NN's format as text: armnn.fbs, from which the reader, the committed files and their writers have
// theirs, must agree with it. Each enumerator is read.
#include "ArmnnFile.hpp"
#include "ArmnnRun.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace tenon::test::armnn_numbers_test
{

using testing::HasSubstr;

namespace
{

namespace schema = armnn_schema;
using flatbuffers::TypeTable;

// Enums and unions of release 23.08.
const char* const Numbers[] = {
    "ActivationFunction: Sigmoid 0, TanH 1, Linear 2, ReLu 3, BoundedReLu 4, SoftReLu 5, LeakyReLu 6, "
    "Abs 7, Sqrt 8, Square 9, Elu 10, HardSwish 11",
    "ArgMinMaxFunction: Min 0, Max 1",
    "DataType: Float16 0, Float32 1, QuantisedAsymm8 2, Signed32 3, Boolean 4, QuantisedSymm16 5, "
    "QAsymmU8 6, QSymmS16 7, QAsymmS8 8, QSymmS8 9, Signed64 10",
    "DataLayout: NHWC 0, NCHW 1, NDHWC 2, NCDHW 3",
    "ReduceOperation: Sum 0, Max 1, Mean 2, Min 3, Prod 4",
    "ResizeMethod: NearestNeighbor 0, Bilinear 1",
    "LayerType: Addition 0, Input 1, Multiplication 2, Output 3, Pooling2d 4, Reshape 5, Softmax 6, "
    "Convolution2d 7, DepthwiseConvolution2d 8, Activation 9, Permute 10, FullyConnected 11, "
    "Constant 12, SpaceToBatchNd 13, BatchToSpaceNd 14, Division 15, Minimum 16, Equal 17, "
    "Maximum 18, Normalization 19, Pad 20, Rsqrt 21, Floor 22, BatchNormalization 23, Greater 24, "
    "ResizeBilinear 25, Subtraction 26, StridedSlice 27, Gather 28, Mean 29, Merger 30, "
    "L2Normalization 31, Splitter 32, DetectionPostProcess 33, Lstm 34, Quantize 35, Dequantize 36, "
    "Merge 37, Switch 38, Concat 39, SpaceToDepth 40, Prelu 41, TransposeConvolution2d 42, Resize 43, "
    "Stack 44, QuantizedLstm 45, Abs 46, ArgMinMax 47, Slice 48, DepthToSpace 49, "
    "InstanceNormalization 50, LogSoftmax 51, Comparison 52, StandIn 53, ElementwiseUnary 54, "
    "Transpose 55, QLstm 56, Fill 57, Rank 58, LogicalBinary 59, Reduce 60, Cast 61, Shape 62, "
    "UnidirectionalSequenceLstm 63, ChannelShuffle 64, Convolution3d 65, Pooling3d 66, GatherNd 67, "
    "BatchMatMul 68, ElementwiseBinary 69, ReverseV2 70, Tile 71",
    "ComparisonOperation: Equal 0, Greater 1, GreaterOrEqual 2, Less 3, LessOrEqual 4, NotEqual 5",
    "BinaryOperation: Add 0, Div 1, Maximum 2, Minimum 3, Mul 4, Sub 5, SqDiff 6, Power 7",
    "UnaryOperation: Abs 0, Rsqrt 1, Sqrt 2, Exp 3, Neg 4, LogicalNot 5, Log 6, Sin 7, Ceil 8",
    "LogicalBinaryOperation: LogicalAnd 0, LogicalOr 1",
    "PoolingAlgorithm: Max 0, Average 1, L2 2",
    "OutputShapeRounding: Floor 0, Ceiling 1",
    "PaddingMethod: IgnoreValue 0, Exclude 1",
    "NormalizationAlgorithmChannel: Across 0, Within 1",
    "NormalizationAlgorithmMethod: LocalBrightness 0, LocalContrast 1",
    "PaddingMode: Constant 0, Reflect 1, Symmetric 2",
    "ConstTensorData: NONE 0, ByteData 1, ShortData 2, IntData 3, LongData 4",
    "Layer: NONE 0, ActivationLayer 1, AdditionLayer 2, BatchToSpaceNdLayer 3, "
    "BatchNormalizationLayer 4, ConstantLayer 5, Convolution2dLayer 6, DepthwiseConvolution2dLayer 7, "
    "FullyConnectedLayer 8, InputLayer 9, MultiplicationLayer 10, OutputLayer 11, PermuteLayer 12, "
    "Pooling2dLayer 13, ReshapeLayer 14, SoftmaxLayer 15, SpaceToBatchNdLayer 16, DivisionLayer 17, "
    "MinimumLayer 18, EqualLayer 19, MaximumLayer 20, NormalizationLayer 21, PadLayer 22, "
    "RsqrtLayer 23, FloorLayer 24, GreaterLayer 25, ResizeBilinearLayer 26, SubtractionLayer 27, "
    "StridedSliceLayer 28, GatherLayer 29, MeanLayer 30, MergerLayer 31, L2NormalizationLayer 32, "
    "SplitterLayer 33, DetectionPostProcessLayer 34, LstmLayer 35, QuantizedLstmLayer 36, "
    "QuantizeLayer 37, DequantizeLayer 38, MergeLayer 39, SwitchLayer 40, ConcatLayer 41, "
    "SpaceToDepthLayer 42, PreluLayer 43, TransposeConvolution2dLayer 44, ResizeLayer 45, "
    "StackLayer 46, AbsLayer 47, ArgMinMaxLayer 48, SliceLayer 49, DepthToSpaceLayer 50, "
    "InstanceNormalizationLayer 51, LogSoftmaxLayer 52, ComparisonLayer 53, StandInLayer 54, "
    "ElementwiseUnaryLayer 55, TransposeLayer 56, QLstmLayer 57, FillLayer 58, RankLayer 59, "
    "LogicalBinaryLayer 60, ReduceLayer 61, CastLayer 62, ShapeLayer 63, "
    "UnidirectionalSequenceLstmLayer 64, ChannelShuffleLayer 65, Convolution3dLayer 66, "
    "Pooling3dLayer 67, GatherNdLayer 68, BatchMatMulLayer 69, ElementwiseBinaryLayer 70, "
    "ReverseV2Layer 71, TileLayer 72",
};

std::string Describe(const char* name, const TypeTable& type)
{
    std::string text = name;
    for (size_t i = 0; i < type.num_elems; ++i)
    {
        const int64_t number = type.values != nullptr ? type.values[i] : static_cast<int64_t>(i);
        text += (i == 0 ? ": " : ", ") + std::string(type.names[i]) + " " + std::to_string(number);
    }
    return text;
}

/// Reads the file with each enumerator in a field of its layer: Tenon has one of the same name.
template <typename LayerT, typename Descriptor, typename E>
void ExpectEach(const char* file, size_t place, E Descriptor::*field, const TypeTable& type)
{
    ASSERT_GT(type.num_elems, 1u);
    for (size_t i = 0; i < type.num_elems; ++i)
    {
        const std::unique_ptr<ArmnnTree> tree = Unpack(ReadGolden(file));
        (*LayerAt<LayerT>(*tree, place).descriptor).*field = static_cast<E>(i);
        EXPECT_THAT(test::Describe(*ReadArmnn(Pack(*tree))), HasSubstr("\": \"" + std::string(type.names[i]) + "\""))
            << file;
    }
}

} // namespace

TEST(ArmnnNumbers, AreThoseOfTheFormat)
{
    const std::pair<const char*, const TypeTable*> types[] = {
        {"ActivationFunction", schema::ActivationFunctionTypeTable()},
        {"ArgMinMaxFunction", schema::ArgMinMaxFunctionTypeTable()},
        {"DataType", schema::DataTypeTypeTable()},
        {"DataLayout", schema::DataLayoutTypeTable()},
        {"ReduceOperation", schema::ReduceOperationTypeTable()},
        {"ResizeMethod", schema::ResizeMethodTypeTable()},
        {"LayerType", schema::LayerTypeTypeTable()},
        {"ComparisonOperation", schema::ComparisonOperationTypeTable()},
        {"BinaryOperation", schema::BinaryOperationTypeTable()},
        {"UnaryOperation", schema::UnaryOperationTypeTable()},
        {"LogicalBinaryOperation", schema::LogicalBinaryOperationTypeTable()},
        {"PoolingAlgorithm", schema::PoolingAlgorithmTypeTable()},
        {"OutputShapeRounding", schema::OutputShapeRoundingTypeTable()},
        {"PaddingMethod", schema::PaddingMethodTypeTable()},
        {"NormalizationAlgorithmChannel", schema::NormalizationAlgorithmChannelTypeTable()},
        {"NormalizationAlgorithmMethod", schema::NormalizationAlgorithmMethodTypeTable()},
        {"PaddingMode", schema::PaddingModeTypeTable()},
        {"ConstTensorData", schema::ConstTensorDataTypeTable()},
        {"Layer", schema::LayerTypeTable()}};
    std::vector<std::string> texts;
    std::transform(std::begin(types), std::end(types), std::back_inserter(texts),
                   [](const auto& type) { return Describe(type.first, *type.second); });
    EXPECT_THAT(texts, testing::ElementsAreArray(Numbers));
}

TEST(ArmnnNumbers, EachEnumeratorIsRead)
{
    ExpectEach<schema::ActivationLayerT>("Activation", 1, &schema::ActivationDescriptorT::activationFunction,
                                         *schema::ActivationFunctionTypeTable());
    ExpectEach<schema::ArgMinMaxLayerT>("ArgMinMax", 1, &schema::ArgMinMaxDescriptorT::argMinMaxFunction,
                                        *schema::ArgMinMaxFunctionTypeTable());
    ExpectEach<schema::ReduceLayerT>("Reduce", 1, &schema::ReduceDescriptorT::reduceOperation,
                                     *schema::ReduceOperationTypeTable());
    ExpectEach<schema::ResizeLayerT>("Resize", 1, &schema::ResizeDescriptorT::method, *schema::ResizeMethodTypeTable());
    ExpectEach<schema::ComparisonLayerT>("Comparison", 2, &schema::ComparisonDescriptorT::operation,
                                         *schema::ComparisonOperationTypeTable());
    ExpectEach<schema::ElementwiseBinaryLayerT>(
        "ElementwiseBinary", 2, &schema::ElementwiseBinaryDescriptorT::operation, *schema::BinaryOperationTypeTable());
    ExpectEach<schema::ElementwiseUnaryLayerT>("ElementwiseUnary", 1, &schema::ElementwiseUnaryDescriptorT::operation,
                                               *schema::UnaryOperationTypeTable());
    ExpectEach<schema::LogicalBinaryLayerT>("LogicalBinary", 2, &schema::LogicalBinaryDescriptorT::operation,
                                            *schema::LogicalBinaryOperationTypeTable());
    ExpectEach<schema::Pooling2dLayerT>("Pooling2d", 1, &schema::Pooling2dDescriptorT::poolType,
                                        *schema::PoolingAlgorithmTypeTable());
    ExpectEach<schema::Pooling2dLayerT>("Pooling2d", 1, &schema::Pooling2dDescriptorT::outputShapeRounding,
                                        *schema::OutputShapeRoundingTypeTable());
    ExpectEach<schema::Pooling2dLayerT>("Pooling2d", 1, &schema::Pooling2dDescriptorT::paddingMethod,
                                        *schema::PaddingMethodTypeTable());
    ExpectEach<schema::NormalizationLayerT>("Normalization", 1, &schema::NormalizationDescriptorT::normChannelType,
                                            *schema::NormalizationAlgorithmChannelTypeTable());
    ExpectEach<schema::NormalizationLayerT>("Normalization", 1, &schema::NormalizationDescriptorT::normMethodType,
                                            *schema::NormalizationAlgorithmMethodTypeTable());
    ExpectEach<schema::PadLayerT>("Pad", 1, &schema::PadDescriptorT::paddingMode, *schema::PaddingModeTypeTable());
    ExpectEach<schema::Pooling3dLayerT>("Pooling3d", 1, &schema::Pooling3dDescriptorT::dataLayout,
                                        *schema::DataLayoutTypeTable());
}

TEST(ArmnnNumbers, EachElementTypeIsRead)
{
    const DataType types[] = {DataType::Float16,  DataType::Float32,  DataType::QAsymmU8, DataType::Signed32,
                              DataType::Boolean,  DataType::QSymmS16, DataType::QAsymmU8, DataType::QSymmS16,
                              DataType::QAsymmS8, DataType::QSymmS8,  DataType::Signed64};
    ASSERT_EQ(std::size(types), schema::DataTypeTypeTable()->num_elems);
    for (size_t i = 0; i < std::size(types); ++i)
    {
        const std::unique_ptr<ArmnnTree> tree = Unpack(ReadGolden("Abs"));
        LayerAt<schema::InputLayerT>(*tree, 0).base->base->outputSlots.at(0)->tensorInfo->dataType =
            static_cast<schema::DataType>(i);
        const IDeserializerPtr deserializer = IDeserializer::Create();
        const INetworkPtr network = deserializer->CreateNetworkFromBinary(Pack(*tree));
        EXPECT_EQ(deserializer->GetNetworkInputBindingInfo(0, "in0").second.GetDataType(), types[i]) << i;
    }
}

} // namespace tenon::test::armnn_numbers_test
