// SPDX-License-Identifier: Apache-2.0
// INetwork: the graph that an application or a parser builds. This header includes all that a program needs to build
// and optimize a network: descriptors, layers, Optimize() and its options.
#pragma once

#include <tenon/BackendId.hpp>
#include <tenon/BackendOptions.hpp>
#include <tenon/Descriptors.hpp>
#include <tenon/Export.hpp>
#include <tenon/IConnectableLayer.hpp>
#include <tenon/IOptimizedNetwork.hpp>
#include <tenon/IStrategy.hpp>
#include <tenon/LstmParams.hpp>
#include <tenon/Optional.hpp>
#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>

#include <functional>
#include <memory>
#include <ostream>

namespace tenon
{

class INetwork;

using CompiledBlobDeleter = std::function<void(const void*)>;
using CompiledBlobPtr = std::unique_ptr<void, CompiledBlobDeleter>;

using INetworkPtr = std::unique_ptr<INetwork, void (*)(INetwork* network)>;

/// A network under construction. Layers belong to it. One thread at a time.
///
/// Each Add method returns the new layer; `name` may be null. It throws InvalidArgumentException where the descriptor
/// asks for more than 2^20 inputs or outputs. Optimize() checks everything else about a layer: slots, shapes, types and
/// parameters; its comment lists the exceptions. The comments below and the comments of the descriptors together
/// describe all inputs and outputs; docs/operators.md lists the element types of each backend. "Same" is the shape, or
/// type, of input 0. Unless a comment names another source, a layer has the semantics of TFLite's operator of that
/// name, bit for bit on quantized tensors. The memory of a ConstTensor is not copied. It must stay valid until the
/// network and all that was optimized and loaded from it are gone, unless AddConstantLayer gets an owner.
class TENON_API INetwork
{
public:
    virtual ~INetwork();

    static INetwork* CreateRaw(const NetworkOptions& networkOptions = {});
    static INetworkPtr Create(const NetworkOptions& networkOptions = {});
    static void Destroy(INetwork* network);

    /// Writes one line a layer to standard output.
    virtual Status PrintGraph() = 0;
    /// Graphviz of the network.
    virtual Status SerializeToDot(std::ostream& stream) const = 0;
    /// The network as JSON: layers with descriptors, tensors, connections.
    virtual void SerializeToJson(std::ostream& stream) const = 0;

    /// Calls the strategy for each layer, producers before consumers, then FinishStrategy.
    virtual void ExecuteStrategy(IStrategy& strategy) const = 0;

    /// An input of the network. Ids are chosen by the caller; one that another input has is an
    /// InvalidArgumentException. Its one output needs a tensor info, whose shape may be unknown until the run.
    /// Optimize() throws LayerValidationException without it.
    virtual IConnectableLayer* AddInputLayer(LayerBindingId id, const char* name = nullptr) = 0;
    /// The same with a descriptor, which may promise that sizes are those of every run (Tenon).
    virtual IConnectableLayer* AddInputLayer(LayerBindingId id, const InputDescriptor& inputDescriptor,
                                             const char* name = nullptr) = 0;
    /// An output of the network: what arrives at its one input. An id that another output has is an
    /// InvalidArgumentException.
    virtual IConnectableLayer* AddOutputLayer(LayerBindingId id, const char* name = nullptr) = 0;

    /// A tensor that never changes: weights, biases, parameters. Its info is set on the output slot.
    /// Throws InvalidArgumentException where a tensor with elements has no memory.
    virtual IConnectableLayer* AddConstantLayer(const ConstTensor& input, const char* name = nullptr) = 0;
    /// The same with an owner that keeps the memory alive, e.g. a mapped model file (Tenon).
    virtual IConnectableLayer* AddConstantLayer(const ConstTensor& input, std::shared_ptr<const void> owner,
                                                const char* name = nullptr) = 0;

    /// f(in), element by element; shape and type are the same. Types: floats, quantized tensors, and plain integers for
    /// ReLu and BoundedReLu. The functions are those of TFLite's activations; f(NaN) is NaN. The results of other
    /// layers for NaN are in docs/numerics.md.
    virtual IConnectableLayer* AddActivationLayer(const ActivationDescriptor& activationDescriptor,
                                                  const char* name = nullptr) = 0;
    /// The sum of inputs of one shape and type, floats or integers (Tenon).
    virtual IConnectableLayer* AddAddNLayer(const AddNDescriptor& addNDescriptor, const char* name = nullptr) = 0;
    /// Index of the smallest or largest element along an axis, which the output loses: Signed32 or Signed64.
    virtual IConnectableLayer* AddArgMinMaxLayer(const ArgMinMaxDescriptor& argMinMaxDescriptor,
                                                 const char* name = nullptr) = 0;
    /// Scaled dot-product attention: softmax(scale * Q K^T + mask) V (Tenon). Inputs: Q [..., S, D], K [..., T, D], V
    /// [..., T, E] and, where enabled, the mask and the offset; the output is [..., S, E]. Floats.
    virtual IConnectableLayer* AddAttentionLayer(const AttentionDescriptor& attentionDescriptor,
                                                 const char* name = nullptr) = 0;
    /// How strong each frequency is in windows that slide over audio (Tenon).
    virtual IConnectableLayer* AddAudioSpectrogramLayer(const AudioSpectrogramDescriptor& audioSpectrogramDescriptor,
                                                        const char* name = nullptr) = 0;
    /// Matrix product of the last two dimensions: [..., M, K] by [..., K, N] gives [..., M, N], with broadcasting of
    /// the others. Floats, 8 bits or int16; float by int8; int8 may give Signed32 sums.
    virtual IConnectableLayer* AddBatchMatMulLayer(const BatchMatMulDescriptor& batchMatMulDescriptor,
                                                   const char* name = nullptr) = 0;
    /// Moves blocks of the batch into space, then crops: [N, spatial..., C] to [N / blocks, spatial * block - crops...,
    /// C]. Any type, which is kept.
    virtual IConnectableLayer* AddBatchToSpaceNdLayer(const BatchToSpaceNdDescriptor& batchToSpaceNdDescriptor,
                                                      const char* name = nullptr) = 0;
    /// The same bytes under the output's type, which must be declared (Tenon). A type of half the size adds a last
    /// dimension of 2, and so on; a larger one takes the last dimension away.
    virtual IConnectableLayer* AddBitcastLayer(const char* name = nullptr) = 0;
    /// The shape that the shapes in inputs 0 and 1 (flat, Signed32 or Signed64) broadcast to (Tenon).
    virtual IConnectableLayer* AddBroadcastArgsLayer(const char* name = nullptr) = 0;
    /// Repeats dimensions of size 1, and adds ones in front, up to the target shape. Any type, which is kept.
    virtual IConnectableLayer* AddBroadcastToLayer(const BroadcastToDescriptor& broadcastToDescriptor,
                                                   const char* name = nullptr) = 0;
    /// How many boundaries are not above each element (Tenon).
    virtual IConnectableLayer* AddBucketizeLayer(const BucketizeDescriptor& bucketizeDescriptor,
                                                 const char* name = nullptr) = 0;
    /// Converts to the output's type, which must be declared; the shape is the same. Stored values count, without
    /// scales. Floats are cut towards zero; what integers cannot hold saturates and NaN is the largest integer,
    /// both of which TFLite leaves undefined.
    virtual IConnectableLayer* AddCastLayer(const char* name = nullptr) = 0;
    /// Regroups slices of an axis: [groups, size / groups] is transposed. Shape and type are the same.
    virtual IConnectableLayer* AddChannelShuffleLayer(const ChannelShuffleDescriptor& channelShuffleDescriptor,
                                                      const char* name = nullptr) = 0;
    /// in0 OP in1 -> Boolean, with broadcasting. Both inputs are of one type; quantized ones may differ in scale.
    virtual IConnectableLayer* AddComparisonLayer(const ComparisonDescriptor& comparisonDescriptor,
                                                  const char* name = nullptr) = 0;
    /// The real part, imaginary part or magnitude of complex numbers (Tenon).
    virtual IConnectableLayer* AddComplexPartLayer(const ComplexPartDescriptor& complexPartDescriptor,
                                                   const char* name = nullptr) = 0;
    /// Joins inputs along an axis, in which alone their shapes may differ. One type; 8- and 16-bit tensors with one
    /// scale are brought to the output's quantization.
    virtual IConnectableLayer* AddConcatLayer(const ConcatDescriptor& concatDescriptor, const char* name = nullptr) = 0;
    /// 2D convolution, optionally grouped. Inputs: data, weights and, if enabled, bias. Data and output [N, H, W, C],
    /// or [N, C, H, W]. Data and weights are floats, or the data has 8 or 16 bits, the weights have 8 or 4 bits and one
    /// scale or one for each output channel, and the bias is Signed32 or Signed64.
    virtual IConnectableLayer* AddConvolution2dLayer(const Convolution2dDescriptor& convolution2dDescriptor,
                                                     const char* name = nullptr) = 0;
    /// 3D convolution. Inputs: data, weights and, if enabled, bias. Data and output [N, D, H, W, C], or [N, C, D, H,
    /// W].
    virtual IConnectableLayer* AddConvolution3dLayer(const Convolution3dDescriptor& convolution3dDescriptor,
                                                     const char* name = nullptr) = 0;
    /// Sums or products of all elements up to each one, along an axis (Tenon).
    virtual IConnectableLayer* AddCumSumLayer(const CumSumDescriptor& cumSumDescriptor, const char* name = nullptr) = 0;
    /// An operator known by name only; reaches assignment, which asks the backends for it. One whose descriptor has an
    /// implementation runs on CpuRef (Tenon).
    virtual IConnectableLayer* AddCustomLayer(const CustomDescriptor& customDescriptor, const char* name = nullptr) = 0;
    /// Moves channels into blocks of pixels: [N, H, W, C] to [N, H * b, W * b, C / (b * b)]. Any type, which is kept.
    virtual IConnectableLayer* AddDepthToSpaceLayer(const DepthToSpaceDescriptor& depthToSpaceDescriptor,
                                                    const char* name = nullptr) = 0;
    /// 2D convolution of each channel by itself. Inputs: data, weights and, if enabled, bias. Shapes and types are
    /// those of AddConvolution2dLayer.
    virtual IConnectableLayer*
    AddDepthwiseConvolution2dLayer(const DepthwiseConvolution2dDescriptor& depthwiseConvolution2dDescriptor,
                                   const char* name = nullptr) = 0;
    /// scale * (in - zero point). A quantized input, with one scale or one for each slice of a dimension or each block,
    /// gives a float output of the same shape; half-precision inputs give Float32.
    virtual IConnectableLayer* AddDequantizeLayer(const char* name = nullptr) = 0;
    /// The discrete Fourier transform along an axis, or back (Tenon). The last dimension holds the parts of complex
    /// numbers, or 1 element of real ones. Types: floats, which are kept. The semantics are those of ONNX's DFT.
    virtual IConnectableLayer* AddDftLayer(const DftDescriptor& dftDescriptor, const char* name = nullptr) = 0;
    /// Spreads elements. Inputs: data, the value between them (Tenon).
    virtual IConnectableLayer* AddDilateLayer(const DilateDescriptor& dilateDescriptor, const char* name = nullptr) = 0;
    /// Input 0 with input 1 written into it from the indices in input 2 on, one a dimension, which are moved so that it
    /// fits in (Tenon).
    virtual IConnectableLayer* AddDynamicUpdateSliceLayer(const char* name = nullptr) = 0;
    /// in0 OP in1, with broadcasting. Inputs and output are of one type, quantized ones of any scales. A run throws
    /// RuntimeException for an integer divided by zero or raised to a negative power.
    virtual IConnectableLayer* AddElementwiseBinaryLayer(const ElementwiseBinaryDescriptor& elementwiseBinaryDescriptor,
                                                         const char* name = nullptr) = 0;
    /// OP in, element by element; shape and type are the same. A run throws RuntimeException for the root of a
    /// quantized number below zero.
    virtual IConnectableLayer* AddElementwiseUnaryLayer(const ElementwiseUnaryDescriptor& elementwiseUnaryDescriptor,
                                                        const char* name = nullptr) = 0;
    /// The slices of input 1 along dimension 0 that input 0, flat, names (Tenon). 8- and 4-bit slices, with a scale for
    /// all, one each, or one for each block of their last dimension, give a float output if it is declared so. An index
    /// that is out of range is a RuntimeException.
    virtual IConnectableLayer* AddEmbeddingLookupLayer(const char* name = nullptr) = 0;
    /// Bags of embeddings (Tenon). A sparse tensor is given by input 0, its values [n]; input 1, their places [n,
    /// rank]; input 2, its dense shape [rank]. Its values name slices of input 4 along dimension 0, which are
    /// multiplied with the weights of input 3 [n] and added up over the last dimension. Places should be sorted.
    virtual IConnectableLayer*
    AddEmbeddingLookupSparseLayer(const EmbeddingLookupSparseDescriptor& embeddingLookupSparseDescriptor,
                                  const char* name = nullptr) = 0;
    /// Adds a dimension of size 1 (Tenon). Any type, which is kept.
    virtual IConnectableLayer* AddExpandDimsLayer(const ExpandDimsDescriptor& expandDimsDescriptor,
                                                  const char* name = nullptr) = 0;
    /// Rounds to the values that a quantized type could hold. Type: Float32 (Tenon).
    virtual IConnectableLayer* AddFakeQuantizationLayer(const FakeQuantizationDescriptor& fakeQuantizationDescriptor,
                                                        const char* name = nullptr) = 0;
    /// A tensor of one value; input 0 holds its shape, flat, Signed32 or Signed64. Any type.
    virtual IConnectableLayer* AddFillLayer(const FillDescriptor& fillDescriptor, const char* name = nullptr) = 0;
    /// Rounds down. Floats; shape and type are the same.
    virtual IConnectableLayer* AddFloorLayer(const char* name = nullptr) = 0;
    /// data * weights + bias. Inputs: data, weights and, if enabled, bias. The output is [N, O], N the elements of data
    /// divided by I. Types are those of AddConvolution2dLayer. Float32 data also take weights [O, I] of 8 or 4 bits
    /// with a scale for each block along I and no zero points: rows of data are quantized to int8 then, as in LiteRT.
    virtual IConnectableLayer* AddFullyConnectedLayer(const FullyConnectedDescriptor& fullyConnectedDescriptor,
                                                      const char* name = nullptr) = 0;
    /// Several layers as one, for backends of an application's own; outputs must be declared.
    virtual IConnectableLayer* AddFusedLayer(const FusedDescriptor& fusedDescriptor, const char* name = nullptr) = 0;
    /// Slices of input 0 by the indices of input 1, integers, whose dimensions take the place of the axis. Any type,
    /// which is kept. A run throws RuntimeException for an index that is out of range.
    virtual IConnectableLayer* AddGatherLayer(const GatherDescriptor& gatherDescriptor, const char* name = nullptr) = 0;
    /// An element of input 0 for each index of input 1, whose shape the output has (Tenon). Both inputs have one rank;
    /// in each dimension but the axis input 1 is no longer than input 0. Any type, which is kept. A run throws
    /// RuntimeException for an index that is out of range. The semantics are those of ONNX's GatherElements.
    virtual IConnectableLayer* AddGatherElementsLayer(const GatherElementsDescriptor& gatherElementsDescriptor,
                                                      const char* name = nullptr) = 0;
    /// Slices of input 0 by index tuples of input 1: [..., n] of them give [..., the dimensions of input 0 from n on].
    /// With b batch dimensions, both inputs have the same ones, and tuples address the n dimensions that follow them.
    /// Any type, which is kept. A run throws RuntimeException for an index that is out of range.
    virtual IConnectableLayer* AddGatherNdLayer(const GatherNdDescriptor& gatherNdDescriptor,
                                                const char* name = nullptr) = 0;
    IConnectableLayer* AddGatherNdLayer(const char* name = nullptr)
    {
        return AddGatherNdLayer(GatherNdDescriptor(), name);
    }
    /// Samples images at points (Tenon). Inputs: images [N, C, spatial...]; points [N, output spatial..., as many
    /// coordinates as there are spatial dimensions, the last dimension's first], from -1 to 1 within the image or in
    /// pixels. The output is [N, C, output spatial...] of the images' type: floats or integers; points are floats.
    virtual IConnectableLayer* AddGridSampleLayer(const GridSampleDescriptor& gridSampleDescriptor,
                                                  const char* name = nullptr) = 0;
    /// For each key of input 0 the slice of input 2 whose number is the place of the key in input 1, which must be
    /// sorted; zeros for a key that is not there (Tenon). Output 1 is 1 where the key was found.
    virtual IConnectableLayer* AddHashtableLookupLayer(const char* name = nullptr) = 0;
    /// Normalizes each image and channel by itself: gamma * (in - mean) / sqrt(variance + eps) + beta. The data is
    /// floats, [N, H, W, C] or [N, C, H, W]; shape and type are the same. The semantics are those of Arm NN's layer.
    virtual IConnectableLayer*
    AddInstanceNormalizationLayer(const InstanceNormalizationDescriptor& instanceNormalizationDescriptor,
                                  const char* name = nullptr) = 0;
    /// Resizes dimensions: to the nearest element, or by linear or cubic interpolation (Tenon). Floats, integers,
    /// quantized; the type and its quantization are kept.
    virtual IConnectableLayer* AddInterpolateLayer(const InterpolateDescriptor& interpolateDescriptor,
                                                   const char* name = nullptr) = 0;
    /// Divides by the L2 norm over the channels. Floats, or 8 bits to scale 1/128; shape and type are the same.
    virtual IConnectableLayer* AddL2NormalizationLayer(const L2NormalizationDescriptor& l2NormalizationDescriptor,
                                                       const char* name = nullptr) = 0;
    /// The matrix that maps the pixels of an image to a rotated box around some of the landmarks [1, n, 3] (Tenon):
    /// [1, 4, 4], Float32, as MediaPipe's Landmarks2TransformMatrix.
    virtual IConnectableLayer*
    AddLandmarksToTransformMatrixLayer(const LandmarksToTransformMatrixDescriptor& landmarksToTransformMatrixDescriptor,
                                       const char* name = nullptr) = 0;
    /// Normalizes over the dimensions from an axis on, as ONNX's LayerNormalization, or its RMSNormalization where no
    /// mean is subtracted; inputs 1 and 2 are scale and bias (Tenon).
    virtual IConnectableLayer*
    AddLayerNormalizationLayer(const LayerNormalizationDescriptor& layerNormalizationDescriptor,
                               const char* name = nullptr) = 0;
    /// log(softmax(in)) along an axis. Floats, or 8 bits to scale 1/16; shape and type are the same.
    virtual IConnectableLayer* AddLogSoftmaxLayer(const LogSoftmaxDescriptor& logSoftmaxDescriptor,
                                                  const char* name = nullptr) = 0;
    /// Square matrices with the input's last dimension on their diagonals, zero elsewhere (Tenon): [..., n] to [..., n,
    /// n]. Any type, which is kept.
    virtual IConnectableLayer* AddMatrixDiagLayer(const char* name = nullptr) = 0;
    /// Input 0 with the diagonals of its matrices, the last two dimensions, replaced by input 1 (Tenon).
    virtual IConnectableLayer* AddMatrixSetDiagLayer(const char* name = nullptr) = 0;
    /// Max over windows of images [N, H, W, C] (Tenon), as MediaPipe's MaxPoolingWithArgmax2D. Output 1 has for each
    /// largest element, the first of equal ones, its index in the window, counted with those in the padding, plus 0.1.
    /// Float32.
    virtual IConnectableLayer*
    AddMaxPool2dWithIndicesLayer(const MaxPool2dWithIndicesDescriptor& maxPool2dWithIndicesDescriptor,
                                 const char* name = nullptr) = 0;
    /// The inverse of a pool that gave the indices of largest elements (Tenon). Inputs: values [N, C, spatial...] and
    /// for each its index in the flat output, Signed64 of the same shape. The output has the values there and zeros
    /// elsewhere. Floats and integers; the type is that of input 0. A run throws RuntimeException for an index that is
    /// not there.
    virtual IConnectableLayer* AddMaxUnpoolLayer(const MaxUnpoolDescriptor& maxUnpoolDescriptor,
                                                 const char* name = nullptr) = 0;
    /// The inverse of AddMaxPool2dWithIndicesLayer (Tenon), as MediaPipe's MaxUnpooling2D. Inputs: values and indices
    /// [N, H, W, C], of which only whole parts count. Height and width are multiplied by those of the pool; the last
    /// value counts where a place occurs twice, and one whose place is outside of the output is left out. Float32.
    virtual IConnectableLayer* AddMaxUnpool2dLayer(const MaxUnpool2dDescriptor& maxUnpool2dDescriptor,
                                                   const char* name = nullptr) = 0;
    /// Boolean in0 OP in1, with broadcasting. All are Boolean; a byte that is not 0 is true.
    virtual IConnectableLayer* AddLogicalBinaryLayer(const LogicalBinaryDescriptor& logicalBinaryDescriptor,
                                                     const char* name = nullptr) = 0;
    /// Mean over axes, which the output loses or keeps with size 1. Floats, integers, quantized; the type is kept.
    virtual IConnectableLayer* AddMeanLayer(const MeanDescriptor& meanDescriptor, const char* name = nullptr) = 0;
    /// Whichever of two inputs of one shape and type is there, for backends of an application's own.
    virtual IConnectableLayer* AddMergeLayer(const char* name = nullptr) = 0;
    /// Mel-frequency cepstral coefficients of a spectrogram (Tenon).
    virtual IConnectableLayer* AddMfccLayer(const MfccDescriptor& mfccDescriptor, const char* name = nullptr) = 0;
    /// Selects boxes of high scores that overlap little with each other, for each class of each batch (Tenon). Inputs:
    /// boxes [N, boxes, 4]; scores [N, classes, boxes]; how many boxes to select at most of a class, an integer, 0 if
    /// left out; overlap (intersection over union) above which a box is dropped, 0 if left out; score that a box must
    /// exceed, any if left out. Floats. The output is Signed64 [n, 3], where n is known at the run only: indices of
    /// batch, class and box, best first within a class.
    virtual IConnectableLayer*
    AddMulticlassNonMaxSuppressionLayer(const MulticlassNonMaxSuppressionDescriptor& descriptor,
                                        const char* name = nullptr) = 0;
    /// Draws classes. Inputs: logits, how many to draw (Tenon).
    virtual IConnectableLayer* AddMultinomialLayer(const MultinomialDescriptor& multinomialDescriptor,
                                                   const char* name = nullptr) = 0;
    /// Selects boxes of high scores that overlap little with each other (Tenon). Inputs: boxes [n, 4] as corners y, x,
    /// y, x; scores [n]; how many to select at most; overlap (intersection over union) from which on a box is dropped;
    /// score that a box must exceed; the sigma of soft suppression if enabled, which lowers scores by overlap. Outputs:
    /// indices of the boxes, best first; their lowered scores if soft; how many there are, a scalar. The others are as
    /// long as the limit, with zeros at the end.
    virtual IConnectableLayer* AddNonMaxSuppressionLayer(const NonMaxSuppressionDescriptor& nonMaxSuppressionDescriptor,
                                                         const char* name = nullptr) = 0;
    /// Local response normalization across or within channels. Floats of rank 4; shape and type are the same.
    virtual IConnectableLayer* AddNormalizationLayer(const NormalizationDescriptor& normalizationDescriptor,
                                                     const char* name = nullptr) = 0;
    /// A new dimension as long as input 1 says, in which the element whose place is the index in input 0 has the value
    /// of input 2 and all others that of input 3 (Tenon).
    virtual IConnectableLayer* AddOneHotLayer(const OneHotDescriptor& oneHotDescriptor, const char* name = nullptr) = 0;
    /// Adds elements before and after each dimension: a value, or what is mirrored, repeated or wrapped around there.
    /// Any type, which is kept.
    virtual IConnectableLayer* AddPadLayer(const PadDescriptor& padDescriptor, const char* name = nullptr) = 0;
    /// Moves source dimension i to destination m[i]. Any type, which is kept. The semantics are those of Arm NN's
    /// layer.
    virtual IConnectableLayer* AddPermuteLayer(const PermuteDescriptor& permuteDescriptor,
                                               const char* name = nullptr) = 0;
    /// Max, average or L2 over windows. [N, H, W, C] or [N, C, H, W]; floats or quantized, of which input and output
    /// have the same quantization.
    virtual IConnectableLayer* AddPooling2dLayer(const Pooling2dDescriptor& pooling2dDescriptor,
                                                 const char* name = nullptr) = 0;
    /// Max, average or L2 over three-dimensional windows. [N, D, H, W, C] or [N, C, D, H, W]; types are those of
    /// Pooling2d. The semantics are those of Arm NN's layer.
    virtual IConnectableLayer* AddPooling3dLayer(const Pooling3dDescriptor& pooling3dDescriptor,
                                                 const char* name = nullptr) = 0;
    /// Max, average or Lp norm over windows of any number of spatial dimensions, [N, C, spatial...] (Tenon). Floats;
    /// Max also integers and quantized, which are kept. Output 1, if enabled, is where each largest element stands in
    /// input 0, the first of equal ones: an index into its flat elements, Signed64.
    virtual IConnectableLayer* AddPoolingNdLayer(const PoolingNdDescriptor& poolingNdDescriptor,
                                                 const char* name = nullptr) = 0;
    /// x > 0 ? x : alpha * x; alpha is input 1, with broadcasting. One type, floats or quantized with one scale each.
    virtual IConnectableLayer* AddPreluLayer(const char* name = nullptr) = 0;
    /// round(in / scale) + zero point of the output; also from one quantization to another. The output, of the same
    /// shape, must be declared; from floats it may have a scale for each slice of a dimension. A value that does not
    /// fit saturates. The results for NaN, infinities and steps beyond 32 bits are in docs/numerics.md.
    /// RequantizationMode::FloatHalfEven: halves go to even, as in ONNX's QuantizeLinear, and NaN becomes the lowest
    /// number.
    virtual IConnectableLayer* AddQuantizeLayer(const QuantizeDescriptor& quantizeDescriptor,
                                                const char* name = nullptr) = 0;
    IConnectableLayer* AddQuantizeLayer(const char* name = nullptr)
    {
        return AddQuantizeLayer(QuantizeDescriptor(), name);
    }
    /// Random numbers; input 0 holds the shape (Tenon).
    virtual IConnectableLayer* AddRandomLayer(const RandomDescriptor& randomDescriptor, const char* name = nullptr) = 0;
    /// The numbers from input 0 up to, but without, input 1 in steps of input 2 (Tenon). Each input has one element;
    /// all are of one type, which the flat output has too: floats, signed integers, or quantized with one scale.
    virtual IConnectableLayer* AddRangeLayer(const char* name = nullptr) = 0;
    /// The rank of the input, a Signed32 scalar. The input may have any shape and type.
    virtual IConnectableLayer* AddRankLayer(const char* name = nullptr) = 0;
    /// Fourier transform of real numbers over the last two dimensions, or back (Tenon). Float32 [..., H, W] gives
    /// Complex64 [..., height, width / 2 + 1], and the inverse that gives Float32 [..., height, width], where the
    /// descriptor has height and width.
    virtual IConnectableLayer* AddRealFft2dLayer(const RealFft2dDescriptor& realFft2dDescriptor,
                                                 const char* name = nullptr) = 0;
    /// Sum, max, mean, min or product over axes, or whether all or any of Booleans are true. Shapes are those of
    /// AddMeanLayer. Floats, integers, quantized; the type is kept, and by max and min the quantization.
    virtual IConnectableLayer* AddReduceLayer(const ReduceDescriptor& reduceDescriptor, const char* name = nullptr) = 0;
    /// Reduces sliding windows (Tenon). Inputs: data, the value to start from, of one element. Each dimension becomes
    /// (size - extent) / stride + 1, rounded down, with an extent of (window - 1) * dilation + 1. Any type of whole
    /// bytes but complex ones, which is kept.
    virtual IConnectableLayer* AddReduceWindowLayer(const ReduceWindowDescriptor& reduceWindowDescriptor,
                                                    const char* name = nullptr) = 0;
    /// The same elements under another shape with as many. Any type, which is kept with its quantization.
    virtual IConnectableLayer* AddReshapeLayer(const ReshapeDescriptor& reshapeDescriptor,
                                               const char* name = nullptr) = 0;
    /// Scales height and width, by bilinear interpolation or to the nearest pixel. [N, H, W, C] or [N, C, H, W]; the
    /// type and its quantization are kept.
    virtual IConnectableLayer* AddResizeLayer(const ResizeDescriptor& resizeDescriptor, const char* name = nullptr) = 0;
    /// Turns around the start of each sequence, whose lengths are input 1 (Tenon).
    virtual IConnectableLayer* AddReverseSequenceLayer(const ReverseSequenceDescriptor& reverseSequenceDescriptor,
                                                       const char* name = nullptr) = 0;
    /// Reverses along the axes that input 1 holds, Signed32. Any shape and type, which are kept. A run throws
    /// RuntimeException for an axis that is not there.
    virtual IConnectableLayer* AddReverseV2Layer(const char* name = nullptr) = 0;
    /// Random bits from a state (Tenon). The input is the state, Unsigned64 [2], or [3] for Philox. Outputs: the next
    /// state, of the same shape and type; 32- or 64-bit integers, whose type and shape must be declared.
    virtual IConnectableLayer* AddRngBitGeneratorLayer(const RngBitGeneratorDescriptor& rngBitGeneratorDescriptor,
                                                       const char* name = nullptr) = 0;
    /// Average or maximum of points in each cell of regions (Tenon). Inputs: images [N, C, H, W]; regions [n, 4] as x1,
    /// y1, x2, y2; for each region the index of its image, Signed32 or Signed64 [n]. The output is [n, C, height,
    /// width]. Floats. A run throws RuntimeException for an image that is not there.
    virtual IConnectableLayer* AddRoiAlignLayer(const RoiAlignDescriptor& roiAlignDescriptor,
                                                const char* name = nullptr) = 0;
    /// Rotates input 0 along axes: input 1 holds by how many elements, input 2 along which axis (Tenon). Both are flat,
    /// of one length, Signed32 or Signed64. Any type of whole bytes; shape and type are those of input 0.
    virtual IConnectableLayer* AddRollLayer(const char* name = nullptr) = 0;
    /// Input 0 with the elements of input 2 written, or added and the like, where the indices of input 1 say (Tenon).
    /// All inputs have one rank, inputs 1 and 2 one shape, which in each dimension but the axis is no longer than input
    /// 0's. Any type of whole bytes. A run throws RuntimeException for an index that is out of range. The semantics are
    /// those of ONNX's ScatterElements.
    virtual IConnectableLayer* AddScatterElementsLayer(const ScatterElementsDescriptor& scatterElementsDescriptor,
                                                       const char* name = nullptr) = 0;
    /// Writes updates into a tensor at indices. Inputs: the tensor or its shape, index tuples [..., n], updates [...,
    /// the dimensions from n on]. The output has the type of the updates. The semantics are those of TFLite's
    /// SCATTER_ND and Arm NN's layer.
    virtual IConnectableLayer* AddScatterNdLayer(const ScatterNdDescriptor& scatterNdDescriptor,
                                                 const char* name = nullptr) = 0;
    /// Adds up neighbouring slices along dimension 0 that have the same number in input 1, flat, which must start at 0
    /// and rise in steps of 1 (Tenon).
    virtual IConnectableLayer* AddSegmentSumLayer(const char* name = nullptr) = 0;
    /// Elements of input 1 where input 0, Boolean, is true, else of input 2 (Tenon).
    virtual IConnectableLayer* AddSelectLayer(const SelectDescriptor& selectDescriptor, const char* name = nullptr) = 0;
    /// The shape of the input, Signed32 [rank]. The input may have any type.
    virtual IConnectableLayer* AddShapeLayer(const char* name = nullptr) = 0;
    /// A feature of audio in integers (Tenon): an operator of TFLM's signal library. The descriptor lists inputs,
    /// outputs and their types, which must be declared. A run throws RuntimeException for a channel that is not in its
    /// inputs, and a number of bits above 31.
    virtual IConnectableLayer* AddSignalFeatureLayer(const SignalFeatureDescriptor& signalFeatureDescriptor,
                                                     const char* name = nullptr) = 0;
    /// The Fourier transform of real numbers along the last dimension, or back (Tenon): [..., n] to [..., length + 2],
    /// or [..., length + 2] to [..., length]. Float32, or Signed16 and Signed32 in fixed point; the type is kept.
    virtual IConnectableLayer* AddSignalFftLayer(const SignalFftDescriptor& signalFftDescriptor,
                                                 const char* name = nullptr) = 0;
    /// Frames of a signal that goes on from run to run (Tenon). The descriptor lists inputs, outputs and their types,
    /// which must be declared.
    virtual IConnectableLayer* AddSignalFramesLayer(const SignalFramesDescriptor& signalFramesDescriptor,
                                                    const char* name = nullptr) = 0;
    /// A box of the input. Any type, which is kept.
    virtual IConnectableLayer* AddSliceLayer(const SliceDescriptor& sliceDescriptor, const char* name = nullptr) = 0;
    /// exp(beta * x) / sum, along an axis. Types: floats or quantized. Shape and type are the same, but 8 bits may give
    /// 16. Quantized outputs use the whole range of their type, whatever their scale says.
    virtual IConnectableLayer* AddSoftmaxLayer(const SoftmaxDescriptor& softmaxDescriptor,
                                               const char* name = nullptr) = 0;
    /// Pads, then moves blocks of space into the batch: [N, spatial..., C] to [N * blocks, (spatial + pads) / block...,
    /// C]. Any type, which is kept.
    virtual IConnectableLayer* AddSpaceToBatchNdLayer(const SpaceToBatchNdDescriptor& spaceToBatchNdDescriptor,
                                                      const char* name = nullptr) = 0;
    /// Moves blocks of pixels into channels: [N, H, W, C] to [N, H / b, W / b, C * b * b]. Any type, which is kept.
    virtual IConnectableLayer* AddSpaceToDepthLayer(const SpaceToDepthDescriptor& spaceToDepthDescriptor,
                                                    const char* name = nullptr) = 0;
    /// A tensor of the shape in input 1, with the values of input 2 (one, or one each) at the places of input 0 ([n,
    /// rank], or flat for rank 1) and that of input 3 everywhere else (Tenon). The last value counts where a place
    /// occurs twice.
    virtual IConnectableLayer* AddSparseToDenseLayer(const char* name = nullptr) = 0;
    /// Channels less their noise (Tenon). Inputs: channels and noise so far, Unsigned32 [n]. Outputs: channels and the
    /// noise from here on, the same.
    virtual IConnectableLayer*
    AddSpectralSubtractionLayer(const SpectralSubtractionDescriptor& spectralSubtractionDescriptor,
                                const char* name = nullptr) = 0;
    /// Cuts the input into boxes, one per output. Any type, which is kept; values are copied as stored, not rescaled.
    virtual IConnectableLayer* AddSplitterLayer(const SplitterDescriptor& splitterDescriptor,
                                                const char* name = nullptr) = 0;
    /// Drops dimensions of size 1 (Tenon). Any type, which is kept.
    virtual IConnectableLayer* AddSqueezeLayer(const SqueezeDescriptor& squeezeDescriptor,
                                               const char* name = nullptr) = 0;
    /// Slices of input 0 by the index vectors of input 1, with free order of dimensions (Tenon).
    virtual IConnectableLayer* AddStablehloGatherLayer(const StablehloGatherDescriptor& stablehloGatherDescriptor,
                                                       const char* name = nullptr) = 0;
    /// Pads around and between elements. Inputs: data, the value (Tenon).
    virtual IConnectableLayer* AddStablehloPadLayer(const StablehloPadDescriptor& stablehloPadDescriptor,
                                                    const char* name = nullptr) = 0;
    /// Writes windows (Tenon). Inputs: data; index vectors, Signed32 or Signed64, one for each window; updates, which
    /// are the windows. The output has the shape and type of the data, as the updates have the type: any but Boolean,
    /// complex and 4-bit ones.
    virtual IConnectableLayer* AddStablehloScatterLayer(const StablehloScatterDescriptor& stablehloScatterDescriptor,
                                                        const char* name = nullptr) = 0;
    /// Joins inputs of one shape, type and quantization, which the output has too, along a new axis.
    virtual IConnectableLayer* AddStackLayer(const StackDescriptor& stackDescriptor, const char* name = nullptr) = 0;
    /// Holds the place of a layer that nothing can run; outputs must be declared. Optimize() throws
    /// UnimplementedException.
    virtual IConnectableLayer* AddStandInLayer(const StandInDescriptor& standInDescriptor,
                                               const char* name = nullptr) = 0;
    /// A strided box of the input, as in NumPy. Any type, which is kept; values are copied as stored, not rescaled.
    virtual IConnectableLayer* AddStridedSliceLayer(const StridedSliceDescriptor& stridedSliceDescriptor,
                                                    const char* name = nullptr) = 0;
    /// Passes input 0 to one of two outputs of its shape and type by input 1, for backends of an application's own.
    virtual IConnectableLayer* AddSwitchLayer(const char* name = nullptr) = 0;
    /// Looks each element of input 0 up in the table of input 1 (Tenon): 256 entries for 8-bit inputs, from the lowest
    /// value on, 513 with linear interpolation for 16-bit ones. Tables, and outputs with them, are of 8 or 16 bits.
    virtual IConnectableLayer* AddTableLayer(const char* name = nullptr) = 0;
    /// Repeats the input along each dimension, which becomes size * multiple. Any type, which is kept.
    virtual IConnectableLayer* AddTileLayer(const TileDescriptor& tileDescriptor, const char* name = nullptr) = 0;
    /// The K largest elements along an axis in descending order, or the K smallest ones in ascending order, and their
    /// indices; input 1 holds K (Tenon). The first of equal elements comes first; NaN comes last.
    virtual IConnectableLayer* AddTopKLayer(const TopKDescriptor& topKDescriptor, const char* name = nullptr) = 0;
    IConnectableLayer* AddTopKLayer(const char* name = nullptr) { return AddTopKLayer(TopKDescriptor(), name); }
    /// The first two coordinates of landmarks [1, n, 2 or 3], multiplied by the first two rows of a matrix [1, 4, 4]
    /// (Tenon). Float32; the third coordinate is kept.
    virtual IConnectableLayer* AddTransformLandmarksLayer(const char* name = nullptr) = 0;
    /// The pixels of an image at points that a matrix gives (Tenon), as MediaPipe's operator. Inputs: image [1, H, W,
    /// C] and matrix [1, 4, 4], whose first two rows give x and y in the image for the center of each pixel of the
    /// output. Float32. A point outside of the image gives zeros.
    virtual IConnectableLayer*
    AddTransformTensorBilinearLayer(const TransformTensorBilinearDescriptor& transformTensorBilinearDescriptor,
                                    const char* name = nullptr) = 0;
    /// Takes destination dimension i from source m[i]. Any type, which is kept.
    virtual IConnectableLayer* AddTransposeLayer(const TransposeDescriptor& transposeDescriptor,
                                                 const char* name = nullptr) = 0;
    /// The values of a flat tensor [n] without repetitions, in the order in which they first occur, and for each
    /// element the index of its value (Tenon): [k] of the input's type, known at the run only, and [n] of Signed32 or
    /// Signed64; if wanted, also where each value first occurs and how often, both [k]. The values can be sorted, and
    /// be slices along an axis. Floats, integers, quantized, Boolean. No NaN equals another.
    virtual IConnectableLayer* AddUniqueLayer(const UniqueDescriptor& uniqueDescriptor, const char* name = nullptr) = 0;
    /// Reduces the slices of input 0 that have the same number in input 1, whose shape is the start of input 0's
    /// (Tenon). Input 2 is how many numbers there are. Negative numbers are left out; a number without slices gives 0,
    /// 1 (Prod), or the lowest or highest value of the type (Max, Min).
    virtual IConnectableLayer* AddUnsortedSegmentLayer(const UnsortedSegmentDescriptor& unsortedSegmentDescriptor,
                                                       const char* name = nullptr) = 0;
    /// The indices of all elements that are not zero, in order (Tenon): Signed64 [n, rank], where n is known at the run
    /// only. Boolean, floats, integers, quantized; no scalar.
    virtual IConnectableLayer* AddWhereLayer(const char* name = nullptr) = 0;
    /// Zeros in the shape and type of the input (Tenon), any of whole bytes; the zero point in quantized tensors.
    virtual IConnectableLayer* AddZerosLikeLayer(const char* name = nullptr) = 0;
    /// gamma * (in - mean) / sqrt(variance + eps) + beta; each [C]. Floats [N, H, W, C] or [N, C, H, W]; shape and type
    /// are the same. From here on, methods that take ConstTensors throw InvalidArgumentException for one without
    /// memory.
    virtual IConnectableLayer* AddBatchNormalizationLayer(const BatchNormalizationDescriptor& desc,
                                                          const ConstTensor& mean, const ConstTensor& variance,
                                                          const ConstTensor& beta, const ConstTensor& gamma,
                                                          const char* name = nullptr) = 0;
    /// Decodes boxes and suppresses overlaps. Inputs: box encodings, scores, anchors. Outputs: boxes, classes, scores,
    /// number of detections. (Tenon; Arm NN has only the next method.)
    virtual IConnectableLayer* AddDetectionPostProcessLayer(const DetectionPostProcessDescriptor& descriptor,
                                                            const char* name = nullptr) = 0;
    /// The same with constant anchors [N, 4].
    virtual IConnectableLayer* AddDetectionPostProcessLayer(const DetectionPostProcessDescriptor& descriptor,
                                                            const ConstTensor& anchors, const char* name = nullptr) = 0;
    /// Transposed convolution. Inputs: data, weights and, if enabled, bias (Tenon; Arm NN has only the next method).
    /// With m_ParametersAsInputs input 3 holds the output's shape, and input 2 stays unconnected without a bias.
    virtual IConnectableLayer*
    AddTransposeConvolution2dLayer(const TransposeConvolution2dDescriptor& transposeConvolution2dDescriptor,
                                   const char* name = nullptr) = 0;
    /// Transposed convolution with constant weights and optional bias; otherwise as above.
    virtual IConnectableLayer* AddTransposeConvolution2dLayer(const TransposeConvolution2dDescriptor& descriptor,
                                                              const ConstTensor& weights,
                                                              const Optional<ConstTensor>& biases,
                                                              const char* name = nullptr) = 0;
    /// Transposed 3D convolution. Inputs as of the 2D one (Tenon).
    virtual IConnectableLayer*
    AddTransposeConvolution3dLayer(const TransposeConvolution3dDescriptor& transposeConvolution3dDescriptor,
                                   const char* name = nullptr) = 0;
    /// One step of an LSTM. Inputs: data, output state, cell state. Outputs: scratch, output state, cell state, output.
    /// Data [batch, n], states [batch, outputs] and [batch, units]. Both are Float32; weights are float or 8-bit. The
    /// semantics are those of TFLite's LSTM with all inputs; the scratch output, which Arm NN has, gets zeros.
    virtual IConnectableLayer* AddLstmLayer(const LstmDescriptor& descriptor, const LstmInputParams& params,
                                            const char* name = nullptr) = 0;
    /// One step of a quantized LSTM. Inputs: data, output state, cell state. Outputs: output state, cell state, output.
    /// Data [batch, n] and output state [batch, outputs] of int8, cell state [batch, units] of int16 with a power of
    /// two as scale. The semantics are those of TFLite's integer LSTM with 16-bit gates.
    virtual IConnectableLayer* AddQLstmLayer(const QLstmDescriptor& descriptor, const LstmInputParams& params,
                                             const char* name = nullptr) = 0;
    /// One step of a uint8 LSTM. Inputs: data, cell state, output state. Outputs: cell state, output state.
    /// Data [batch, n] and output state [batch, units] with zero point 128, int16 cell state of scale 2^-11; all
    /// weights have one quantization. The semantics are those of Android NN's QUANTIZED_16BIT_LSTM.
    virtual IConnectableLayer* AddQuantizedLstmLayer(const QuantizedLstmInputParams& params,
                                                     const char* name = nullptr) = 0;
    /// Runs one of two networks, which are copied (Tenon). Input 0 is the condition, a Boolean of one element; input
    /// 1 + i goes to the Input layer with binding id i of the branch that runs, and its Output layer with binding id k
    /// gives output k. Both branches must have the same outputs, with the same types; shapes may differ. A branch may
    /// leave inputs out. States cannot be read or written in a branch: pass them through.
    /// Throws InvalidArgumentException when ids are missing or the branches do not match.
    virtual IConnectableLayer* AddIfLayer(const INetwork& thenNetwork, const INetwork& elseNetwork,
                                          const char* name = nullptr) = 0;
    /// Runs `body` as long as `condition` gives true (Tenon). Both networks are copied. Input i is the first value of
    /// loop variable i: the Input layer with binding id i in both networks. Output 0 of the condition is Boolean, and
    /// its first element decides; output i of the body is the next value of variable i, and at the end output i of this
    /// layer. A variable keeps its type; its shape may change from iteration to iteration. Iterations are bounded by
    /// Limits::m_MaxLoopIterations. Throws as AddIfLayer does.
    virtual IConnectableLayer* AddWhileLayer(const INetwork& condition, const INetwork& body,
                                             const char* name = nullptr) = 0;
    /// The value of the state `name` at the start of the run (Tenon): the one written last, else input 0 if connected,
    /// else zeros (as in TFLite: the zero point of QAsymmS8). Its shape is input 0's, else the declared one, whose
    /// dimension 0 is the size that input 1, if connected, has in dimension m_BatchDimension. The output's type must be
    /// declared unless input 0 is connected. At most one such layer a state.
    virtual IConnectableLayer* AddReadStateLayer(const StateDescriptor& stateDescriptor,
                                                 const char* name = nullptr) = 0;
    /// Sets the value of the state from the end of this run on (Tenon); its type and shape are those of the ReadState
    /// layer. At most one such layer a state.
    virtual IConnectableLayer* AddWriteStateLayer(const StateDescriptor& stateDescriptor,
                                                  const char* name = nullptr) = 0;
    /// An LSTM over a sequence. Inputs: data, output state, cell state. Outputs: output state, cell state, output.
    /// Data and output are [batch, time, n], or [time, batch, n] if time-major; all else is as in the next method.
    virtual IConnectableLayer*
    AddUnidirectionalSequenceLstmLayer(const UnidirectionalSequenceLstmDescriptor& descriptor,
                                       const LstmInputParams& params, const char* name = nullptr) = 0;
    /// An LSTM over a sequence, or one step of it for data of rank 2, with all weights wired to input slots (Tenon).
    /// Inputs: data, output state, cell state, then the fields of LstmInputParams. Recurrent weights [units] stand for
    /// a diagonal matrix. Outputs: output state, cell state, output. Data is float, with float or 8-bit weights, or
    /// int8, with int8 weights. The semantics are those of TFLite's LSTM and UNIDIRECTIONAL_SEQUENCE_LSTM.
    virtual IConnectableLayer*
    AddUnidirectionalSequenceLstmLayer(const UnidirectionalSequenceLstmDescriptor& descriptor,
                                       const char* name = nullptr) = 0;
    /// LSTMs over a sequence in both directions (Tenon). The 48 inputs are those of TFLite's
    /// BIDIRECTIONAL_SEQUENCE_LSTM in its order. Outputs: forward output state and cell state, backward output state
    /// and cell state, forward output, and the backward output unless both are merged.
    virtual IConnectableLayer* AddBidirectionalSequenceLstmLayer(const BidirectionalSequenceLstmDescriptor& descriptor,
                                                                 const char* name = nullptr) = 0;
    /// One step of an LSTM whose gates share one matrix (Tenon), as TFLite's LSTM with five inputs. Inputs: data
    /// [batch, n], output state [batch, units], weights [4 * units, n + units] of input, cell, forget and output gate,
    /// bias [4 * units], cell state [batch, units]. Outputs: output (and next output state), cell state, data and
    /// output state concatenated, gate sums. Types: Float32, or uint8 with a zero point of 128 and a 16-bit cell state
    /// of scale 2^-11.
    virtual IConnectableLayer* AddBasicLstmLayer(const char* name = nullptr) = 0;
    /// A recurrent layer (Tenon) over a sequence, or one step of it for data of rank 2. Inputs: data, weights
    /// [units, n], recurrent weights [units, units], bias [units], state [batch, units]. Outputs: state, output.
    virtual IConnectableLayer* AddRnnLayer(const RnnDescriptor& descriptor, const char* name = nullptr) = 0;
    /// Recurrent layers over a sequence in both directions (Tenon). Inputs: data; weights, recurrent weights, bias and
    /// state, forward, then backward; optional: auxiliary data, its forward and its backward weights. Auxiliary data
    /// without weights is the data of the backward direction. Outputs: forward state, backward state, forward output,
    /// and the backward output unless both are merged.
    virtual IConnectableLayer* AddBidirectionalSequenceRnnLayer(const BidirectionalSequenceRnnDescriptor& descriptor,
                                                                const char* name = nullptr) = 0;
    /// A recurrent layer over sequences (Tenon), with the semantics of ONNX's RNN, GRU and LSTM. D is the number of
    /// directions, H the number of units, G the number of gates: 1, 3 or 4. Inputs: data [T, B, n], weights [D, G * H,
    /// n], recurrent weights [D, G * H, H]; optional: 3, biases [D, 2 * G * H], those for the weights before those for
    /// the recurrent weights; 4, how many steps each sequence has, Signed32 [B], T where it is not connected; 5, the
    /// state before the first step, and 6, the cell state, [D, B, H], 0 where they are not connected; 7, peephole
    /// weights [D, 3 * H] of the gates i, o and f. Only an LSTM has inputs 6 and 7. Outputs: the states after each step
    /// [T, D, B, H], 0 behind a sequence's end; the state after its last step [D, B, H]; for an LSTM the cell state
    /// then. The last two are 0 for a sequence without steps, as in ONNX Runtime. With m_BatchMajor data is [B, T, n],
    /// states are [B, D, H], and output 0 is [B, T, D, H]. Float types; all tensors but input 4 have the data's.
    virtual IConnectableLayer* AddRecurrentSequenceLayer(const RecurrentSequenceDescriptor& descriptor,
                                                         const char* name = nullptr) = 0;
    /// Filters over features, then over time (Tenon), as TFLite's SVDF. Inputs: data [batch, n], feature weights
    /// [filters, n], time weights [filters, memory], optional bias [units], state [batch, filters * memory]. Outputs:
    /// state, output [batch, units]. Float data has float or 8-bit weights; int8 data has int8 feature weights, and
    /// 16-bit time weights and state.
    virtual IConnectableLayer* AddSvdfLayer(const SvdfDescriptor& descriptor, const char* name = nullptr) = 0;
    /// A blob that a backend compiled, run by that backend and no other; without one the layer is refused. All that the
    /// blob refers to must live as long as the blob. Outputs must be declared. It holds for the input shapes that the
    /// network has when it is optimized: a run with others throws LayerValidationException.
    virtual IConnectableLayer* AddPrecompiledLayer(const PreCompiledDescriptor& preCompiledDescriptor,
                                                   CompiledBlobPtr compiledBlobPtr, const Optional<BackendId>& backend,
                                                   const char* name = nullptr) = 0;

    /// A layer of any type whose inputs are all slots: data, weights, biases, parameters (Tenon). `descriptor` is of
    /// the class that ops.def lists for the type, NullDescriptor for layers without parameters. Throws
    /// InvalidArgumentException for a descriptor of another class, and for Input, Output, Constant, If, While and
    /// PreCompiled, which have methods of their own, and layers that only the optimizer makes.
    virtual IConnectableLayer* AddLayer(LayerType type, const BaseDescriptor& descriptor,
                                        const char* name = nullptr) = 0;

    /// Deprecated names: each adds a layer of the family ElementwiseBinary, see AddElementwiseBinaryLayer.
    IConnectableLayer* AddAdditionLayer(const char* name = nullptr);
    IConnectableLayer* AddDivisionLayer(const char* name = nullptr);
    IConnectableLayer* AddMaximumLayer(const char* name = nullptr);
    IConnectableLayer* AddMinimumLayer(const char* name = nullptr);
    IConnectableLayer* AddMultiplicationLayer(const char* name = nullptr);
    IConnectableLayer* AddSubtractionLayer(const char* name = nullptr);
};

} // namespace tenon
