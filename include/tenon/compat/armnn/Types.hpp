// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: enumerations and small value types.
#pragma once

#include <tenon/BackendId.hpp>
#include <tenon/Types.hpp>

#include <armnn/BackendId.hpp>
#include <armnn/Deprecated.hpp>
#include <armnn/Exceptions.hpp>
#include <armnn/Namespace.hpp>
#include <armnn/backends/IBackend.hpp>
#include <chrono>
#include <utility>

/// Arm NN has this name outside of its namespace.
using LayerGuid = tenon::LayerGuid;

namespace arm
{
namespace pipe
{
/// Arm NN's name of the same class.
using ProfilingGuid = tenon::LayerGuid;
} // namespace pipe
} // namespace arm

namespace tenon
{

/// The least value of ExternalProfilingOptions::m_CapturePeriod, in microseconds.
constexpr unsigned int LOWEST_CAPTURE_PERIOD = 10000U;

/// When a run began and ended.
using HighResolutionClock = std::chrono::high_resolution_clock::time_point;
using InferenceTimingPair = std::pair<HighResolutionClock, HighResolutionClock>;

} // namespace tenon

/// X(name) for each layer type of Arm NN, in Arm NN's order. Types of releases after 23.08 are at the end. The
/// numbers of LayerType are others, and it has further types: <tenon/ops.def>.
// clang-format off
#define LIST_OF_LAYER_TYPE \
    X(Activation) X(Addition) X(ArgMinMax) X(BatchNormalization) X(BatchToSpaceNd) X(Comparison) X(Concat) \
    X(Constant) X(ConvertFp16ToFp32) X(ConvertFp32ToFp16) X(Convolution2d) X(Debug) X(DepthToSpace) \
    X(DepthwiseConvolution2d) X(Dequantize) X(DetectionPostProcess) X(Division) X(ElementwiseUnary) \
    X(FakeQuantization) X(Fill) X(Floor) X(FullyConnected) X(Gather) X(Input) X(InstanceNormalization) \
    X(L2Normalization) X(LogicalBinary) X(LogSoftmax) X(Lstm) X(QLstm) X(Map) X(Maximum) X(Mean) X(MemCopy) \
    X(MemImport) X(Merge) X(Minimum) X(Multiplication) X(Normalization) X(Output) X(Pad) X(Permute) X(Pooling2d) \
    X(PreCompiled) X(Prelu) X(Quantize) X(QuantizedLstm) X(Reshape) X(Rank) X(Resize) X(Reduce) X(Slice) \
    X(Softmax) X(SpaceToBatchNd) X(SpaceToDepth) X(Splitter) X(Stack) X(StandIn) X(StridedSlice) X(Subtraction) \
    X(Switch) X(Transpose) X(TransposeConvolution2d) X(Unmap) X(Cast) X(Shape) X(UnidirectionalSequenceLstm) \
    X(ChannelShuffle) X(Convolution3d) X(Pooling3d) X(GatherNd) X(BatchMatMul) X(ElementwiseBinary) X(ReverseV2) \
    X(Tile) X(BroadcastTo) X(Fused) X(ScatterNd)
// clang-format on
