// SPDX-License-Identifier: Apache-2.0
// LayerQueries: whether a backend runs a layer, asked as programs for Arm NN ask it.
#pragma once

#include <tenon/Descriptors.hpp>
#include <tenon/Export.hpp>
#include <tenon/LstmParams.hpp>
#include <tenon/Optional.hpp>
#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tenon
{

namespace backend
{
class ILayerSupport;
} // namespace backend

/// Arm NN's questions, one for each of its layer types; LayerSupportHandle has them all. Infos, `descriptor` and the
/// answer are those of LayerSupportHandle::IsLayerSupported. Biases count where the descriptor has m_BiasEnabled.
class TENON_API LayerQueries
{
public:
    using Info = TensorInfo;
    using Infos = std::vector<const TensorInfo*>;
    using Reason = Optional<std::string&>;

#define TENON_ASKS_1(name, type, descriptor)                                                                           \
    bool Is##name##Supported(const Info& input, const Info& output, Reason reasonIfUnsupported = EmptyOptional())      \
        const                                                                                                          \
    {                                                                                                                  \
        return Ask(LayerType::type, {&input}, {&output}, descriptor, reasonIfUnsupported);                             \
    }
#define TENON_ASKS_1_OF(name, type, Descriptor)                                                                        \
    bool Is##name##Supported(const Info& input, const Info& output, const Descriptor& descriptor,                      \
                             Reason reasonIfUnsupported = EmptyOptional()) const                                       \
    {                                                                                                                  \
        return Ask(LayerType::type, {&input}, {&output}, descriptor, reasonIfUnsupported);                             \
    }
#define TENON_ASKS_2(name, type, descriptor)                                                                           \
    bool Is##name##Supported(const Info& input0, const Info& input1, const Info& output,                               \
                             Reason reasonIfUnsupported = EmptyOptional()) const                                       \
    {                                                                                                                  \
        return Ask(LayerType::type, {&input0, &input1}, {&output}, descriptor, reasonIfUnsupported);                   \
    }
#define TENON_ASKS_2_OF(name, type, Descriptor)                                                                        \
    bool Is##name##Supported(const Info& input0, const Info& input1, const Info& output, const Descriptor& descriptor, \
                             Reason reasonIfUnsupported = EmptyOptional()) const                                       \
    {                                                                                                                  \
        return Ask(LayerType::type, {&input0, &input1}, {&output}, descriptor, reasonIfUnsupported);                   \
    }
#define TENON_ASKS_WEIGHTED(name, type, Descriptor)                                                                    \
    bool Is##name##Supported(const Info& input, const Info& output, const Descriptor& descriptor, const Info& weights, \
                             const Optional<Info>& biases, Reason reasonIfUnsupported = EmptyOptional()) const         \
    {                                                                                                                  \
        const Info* const bias = descriptor.m_BiasEnabled && biases.has_value() ? &biases.value() : nullptr;           \
        return Ask(LayerType::type, {&input, &weights, bias}, {&output}, descriptor, reasonIfUnsupported);             \
    }

    TENON_ASKS_1(Cast, Cast, NullDescriptor())
    TENON_ASKS_1(ConvertFp16ToFp32, ConvertFp16ToFp32, NullDescriptor())
    TENON_ASKS_1(ConvertFp32ToFp16, ConvertFp32ToFp16, NullDescriptor())
    TENON_ASKS_1(Dequantize, Dequantize, NullDescriptor())
    TENON_ASKS_1(Floor, Floor, NullDescriptor())
    TENON_ASKS_1(MemCopy, MemCopy, NullDescriptor())
    TENON_ASKS_1(MemImport, MemImport, NullDescriptor())
    TENON_ASKS_1(Quantize, Quantize, QuantizeDescriptor())
    TENON_ASKS_1(Rank, Rank, NullDescriptor())
    TENON_ASKS_1(Shape, Shape, NullDescriptor())

    TENON_ASKS_1_OF(Activation, Activation, ActivationDescriptor)
    TENON_ASKS_1_OF(ArgMinMax, ArgMinMax, ArgMinMaxDescriptor)
    TENON_ASKS_1_OF(BatchToSpaceNd, BatchToSpaceNd, BatchToSpaceNdDescriptor)
    TENON_ASKS_1_OF(BroadcastTo, BroadcastTo, BroadcastToDescriptor)
    TENON_ASKS_1_OF(ChannelShuffle, ChannelShuffle, ChannelShuffleDescriptor)
    TENON_ASKS_1_OF(DepthToSpace, DepthToSpace, DepthToSpaceDescriptor)
    TENON_ASKS_1_OF(ElementwiseUnary, ElementwiseUnary, ElementwiseUnaryDescriptor)
    TENON_ASKS_1_OF(Fill, Fill, FillDescriptor)
    TENON_ASKS_1_OF(InstanceNormalization, InstanceNormalization, InstanceNormalizationDescriptor)
    TENON_ASKS_1_OF(L2Normalization, L2Normalization, L2NormalizationDescriptor)
    TENON_ASKS_1_OF(LogSoftmax, LogSoftmax, LogSoftmaxDescriptor)
    TENON_ASKS_1_OF(LogicalUnary, ElementwiseUnary, ElementwiseUnaryDescriptor)
    TENON_ASKS_1_OF(Mean, Mean, MeanDescriptor)
    TENON_ASKS_1_OF(Normalization, Normalization, NormalizationDescriptor)
    TENON_ASKS_1_OF(Pad, Pad, PadDescriptor)
    TENON_ASKS_1_OF(Permute, Permute, PermuteDescriptor)
    TENON_ASKS_1_OF(Pooling2d, Pooling2d, Pooling2dDescriptor)
    TENON_ASKS_1_OF(Pooling3d, Pooling3d, Pooling3dDescriptor)
    TENON_ASKS_1_OF(Reduce, Reduce, ReduceDescriptor)
    TENON_ASKS_1_OF(Reshape, Reshape, ReshapeDescriptor)
    TENON_ASKS_1_OF(Resize, Resize, ResizeDescriptor)
    TENON_ASKS_1_OF(Slice, Slice, SliceDescriptor)
    TENON_ASKS_1_OF(Softmax, Softmax, SoftmaxDescriptor)
    TENON_ASKS_1_OF(SpaceToBatchNd, SpaceToBatchNd, SpaceToBatchNdDescriptor)
    TENON_ASKS_1_OF(SpaceToDepth, SpaceToDepth, SpaceToDepthDescriptor)
    TENON_ASKS_1_OF(StridedSlice, StridedSlice, StridedSliceDescriptor)
    TENON_ASKS_1_OF(Tile, Tile, TileDescriptor)
    TENON_ASKS_1_OF(Transpose, Transpose, TransposeDescriptor)

    // Arm NN's deprecated layers are ElementwiseBinary ones.
    TENON_ASKS_2(Addition, ElementwiseBinary, ElementwiseBinaryDescriptor(BinaryOperation::Add))
    TENON_ASKS_2(Division, ElementwiseBinary, ElementwiseBinaryDescriptor(BinaryOperation::Div))
    TENON_ASKS_2(Maximum, ElementwiseBinary, ElementwiseBinaryDescriptor(BinaryOperation::Maximum))
    TENON_ASKS_2(Minimum, ElementwiseBinary, ElementwiseBinaryDescriptor(BinaryOperation::Minimum))
    TENON_ASKS_2(Multiplication, ElementwiseBinary, ElementwiseBinaryDescriptor(BinaryOperation::Mul))
    TENON_ASKS_2(Subtraction, ElementwiseBinary, ElementwiseBinaryDescriptor(BinaryOperation::Sub))
    TENON_ASKS_2(GatherNd, GatherNd, GatherNdDescriptor())
    TENON_ASKS_2(Merge, Merge, NullDescriptor())
    TENON_ASKS_2(Prelu, Prelu, NullDescriptor())
    TENON_ASKS_2(ReverseV2, ReverseV2, NullDescriptor())

    TENON_ASKS_2_OF(BatchMatMul, BatchMatMul, BatchMatMulDescriptor)
    TENON_ASKS_2_OF(Comparison, Comparison, ComparisonDescriptor)
    TENON_ASKS_2_OF(ElementwiseBinary, ElementwiseBinary, ElementwiseBinaryDescriptor)
    TENON_ASKS_2_OF(Gather, Gather, GatherDescriptor)
    TENON_ASKS_2_OF(LogicalBinary, LogicalBinary, LogicalBinaryDescriptor)

    TENON_ASKS_WEIGHTED(Convolution2d, Convolution2d, Convolution2dDescriptor)
    TENON_ASKS_WEIGHTED(Convolution3d, Convolution3d, Convolution3dDescriptor)
    TENON_ASKS_WEIGHTED(DepthwiseConvolution, DepthwiseConvolution2d, DepthwiseConvolution2dDescriptor)
    TENON_ASKS_WEIGHTED(DilatedDepthwiseConvolution, DepthwiseConvolution2d, DepthwiseConvolution2dDescriptor)
    TENON_ASKS_WEIGHTED(TransposeConvolution2d, TransposeConvolution2d, TransposeConvolution2dDescriptor)

#undef TENON_ASKS_1
#undef TENON_ASKS_1_OF
#undef TENON_ASKS_2
#undef TENON_ASKS_2_OF
#undef TENON_ASKS_WEIGHTED

    bool IsBatchNormalizationSupported(const Info& input, const Info& output, const Info& mean, const Info& var,
                                       const Info& beta, const Info& gamma,
                                       const BatchNormalizationDescriptor& descriptor,
                                       Reason reasonIfUnsupported = EmptyOptional()) const;
    bool IsConcatSupported(const Infos& inputs, const Info& output, const OriginsDescriptor& descriptor,
                           Reason reasonIfUnsupported = EmptyOptional()) const;
    /// Constants, inputs and outputs are the runtime's: true of any backend that is there.
    bool IsConstantSupported(const Info& output, Reason reasonIfUnsupported = EmptyOptional()) const;
    /// The runtime shows values of layers that any backend runs, see OptimizerOptionsOpaque::SetDebugEnabled().
    bool IsDebugSupported(const Info& input, const Info& output, Reason reasonIfUnsupported = EmptyOptional()) const;
    bool IsDetectionPostProcessSupported(const Info& boxEncodings, const Info& scores, const Info& anchors,
                                         const Info& detectionBoxes, const Info& detectionClasses,
                                         const Info& detectionScores, const Info& numDetections,
                                         const DetectionPostProcessDescriptor& descriptor,
                                         Reason reasonIfUnsupported = EmptyOptional()) const;
    /// The output is like the input.
    bool IsFakeQuantizationSupported(const Info& input, const FakeQuantizationDescriptor& descriptor,
                                     Reason reasonIfUnsupported = EmptyOptional()) const;
    bool IsFullyConnectedSupported(const Info& input, const Info& output, const Info& weights, const Info& biases,
                                   const FullyConnectedDescriptor& descriptor,
                                   Reason reasonIfUnsupported = EmptyOptional()) const;
    bool IsInputSupported(const Info& input, Reason reasonIfUnsupported = EmptyOptional()) const;
    bool IsOutputSupported(const Info& output, Reason reasonIfUnsupported = EmptyOptional()) const;
    bool IsLstmSupported(const Info& input, const Info& outputStateIn, const Info& cellStateIn,
                         const Info& scratchBuffer, const Info& outputStateOut, const Info& cellStateOut,
                         const Info& output, const LstmDescriptor& descriptor, const LstmInputParamsInfo& paramsInfo,
                         Reason reasonIfUnsupported = EmptyOptional()) const;
    bool IsPreCompiledSupported(const Info& input, const PreCompiledDescriptor& descriptor,
                                Reason reasonIfUnsupported = EmptyOptional()) const;
    bool IsQLstmSupported(const Info& input, const Info& previousOutputIn, const Info& previousCellStateIn,
                          const Info& outputStateOut, const Info& cellStateOut, const Info& output,
                          const QLstmDescriptor& descriptor, const LstmInputParamsInfo& paramsInfo,
                          Reason reasonIfUnsupported = EmptyOptional()) const;
    bool IsQuantizedLstmSupported(const Info& input, const Info& previousCellStateIn, const Info& previousOutputIn,
                                  const Info& cellStateOut, const Info& output,
                                  const QuantizedLstmInputParamsInfo& paramsInfo,
                                  Reason reasonIfUnsupported = EmptyOptional()) const;
    bool IsSplitterSupported(const Info& input, const std::vector<std::reference_wrapper<TensorInfo>>& outputs,
                             const ViewsDescriptor& descriptor, Reason reasonIfUnsupported = EmptyOptional()) const;
    bool IsStackSupported(const Infos& inputs, const Info& output, const StackDescriptor& descriptor,
                          Reason reasonIfUnsupported = EmptyOptional()) const;
    bool IsStandInSupported(const Infos& inputs, const Infos& outputs, const StandInDescriptor& descriptor,
                            Reason reasonIfUnsupported = EmptyOptional()) const;
    bool IsSwitchSupported(const Info& input0, const Info& input1, const Info& output0, const Info& output1,
                           Reason reasonIfUnsupported = EmptyOptional()) const;
    bool IsUnidirectionalSequenceLstmSupported(const Info& input, const Info& outputStateIn, const Info& cellStateIn,
                                               const Info& outputStateOut, const Info& cellStateOut, const Info& output,
                                               const LstmDescriptor& descriptor, const LstmInputParamsInfo& paramsInfo,
                                               Reason reasonIfUnsupported = EmptyOptional()) const;

protected:
    explicit LayerQueries(std::shared_ptr<const backend::ILayerSupport> support) : m_Support(std::move(support)) {}

    /// Null inputs are unconnected ones.
    bool Ask(LayerType type, const Infos& inputs, const Infos& outputs, const BaseDescriptor& descriptor,
             Reason reasonIfUnsupported) const;

    std::shared_ptr<const backend::ILayerSupport> m_Support;

private:
    /// The answer for a layer that the runtime itself runs.
    bool AskRuntime(Reason reasonIfUnsupported) const;
};

} // namespace tenon
