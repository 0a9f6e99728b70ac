// SPDX-License-Identifier: Apache-2.0
// Networks of one layer for bench_kernels, built through the public API, with the amount of their work.
#pragma once

#include <tenon/Tenon.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tenon::bench
{

/// The type of the data and of the weights.
enum class Element
{
    Float32,
    Int8,
    UInt8,
    Float16,
    BFloat16,
    Int16,        ///< int16 data by int8 weights
    HybridInt8,   ///< float data by int8 weights
    HybridFloat16 ///< float data by float16 weights
};

const char* GetName(Element element);

/// The work of a depthwise convolution for each output.
struct DepthwiseWindow
{
    unsigned int m_Taps = 1;
    unsigned int m_NewPixels = 1; ///< pixels of the image that no earlier window has read: the product of the strides
};

/// A network with the memory of its constants, which the network refers to.
struct LayerNetwork
{
    std::string m_Name;
    INetworkPtr m_Network{nullptr, nullptr};
    std::vector<std::unique_ptr<std::vector<char>>> m_Constants;
    std::vector<TensorInfo> m_Inputs; ///< bound by 0, 1, ...
    unsigned int m_Outputs = 0;       ///< bound by 0, 1, ...
    double m_Macs = 0.0;              ///< multiply-accumulates of one run; 0 for layers that move or map elements
    double m_Bytes = 0.0;             ///< bytes of inputs and outputs; of constants, too, unless each serves many
                                      ///< outputs
    double m_OutputBytes = 0.0;       ///< bytes of the outputs
    Element m_Element = Element::Float32;
    std::optional<DepthwiseWindow> m_Window; ///< depthwise convolutions only
};

struct Window
{
    unsigned int m_Size = 1; ///< height and width
    unsigned int m_Stride = 1;
};

/// A convolution of a square image, padded so that stride 1 keeps its size, with bias.
LayerNetwork MakeConvolution(Element element, unsigned int size, unsigned int inputs, unsigned int outputs,
                             Window window);
LayerNetwork MakeDepthwise(Element element, unsigned int size, unsigned int channels, Window window);
/// A transposed convolution from a square image to one that is larger by the stride.
LayerNetwork MakeTransposeConvolution(Element element, unsigned int size, unsigned int inputs, unsigned int outputs,
                                      Window window);
/// Layers of speech models: many points along one axis of images that are one pixel wide or high.
struct SequenceSizes
{
    unsigned int m_Batches = 1;
    unsigned int m_Steps = 1;
    unsigned int m_Channels = 1;
    unsigned int m_Taps = 1;
    bool m_IsColumn = false; ///< steps are rows of the image
};
LayerNetwork MakeDepthwiseSequence(Element element, const SequenceSizes& sizes);
LayerNetwork MakeConvolutionSequence(Element element, const SequenceSizes& sizes, unsigned int outputs);
/// A pool whose windows do not overlap.
LayerNetwork MakePoolingSequence(Element element, PoolingAlgorithm algorithm, const SequenceSizes& sizes);
LayerNetwork MakeFullyConnected(Element element, unsigned int rows, unsigned int inputs, unsigned int outputs);

/// Products of `m_Batches` pairs of matrices, [rows, depth] by [depth, columns].
struct MatMulSizes
{
    unsigned int m_Batches = 1;
    unsigned int m_Rows = 1;
    unsigned int m_Depth = 1;
    unsigned int m_Columns = 1;
    bool m_TransposeX = false; ///< it is [depth, rows] in memory
    bool m_TransposeY = false; ///< it is [columns, depth] in memory
    bool m_SharesY = false;    ///< all pairs share one
    bool m_IsConstant = false; ///< y is constant and has the weights' type; else both are inputs of the data's type
};
LayerNetwork MakeMatMul(Element element, const MatMulSizes& sizes);

LayerNetwork MakePooling(Element element, PoolingAlgorithm algorithm, unsigned int size, unsigned int channels,
                         Window window);

// Elementwise layers: ElementwiseNetworks.cpp.

/// An operation on two inputs that are broadcast to each other. `name`: the name of the operation.
LayerNetwork MakeBinary(Element element, BinaryOperation operation, const char* name, const TensorShape& shape,
                        const TensorShape& other);
LayerNetwork MakeActivation(Element element, const ActivationDescriptor& descriptor, const char* name,
                            const TensorShape& shape);
/// A Prelu with a constant slope for each channel.
LayerNetwork MakePrelu(Element element, const TensorShape& shape);
/// The comparison "greater than".
LayerNetwork MakeComparison(Element element, const TensorShape& shape);
LayerNetwork MakeSelect(Element element, const TensorShape& shape);
/// Conversion of floats to an 8-bit type, and back.
LayerNetwork MakeQuantize(Element element, const TensorShape& shape);
LayerNetwork MakeDequantize(Element element, const TensorShape& shape);
LayerNetwork MakeCast(DataType from, DataType to, const TensorShape& shape);

// Layers that reduce dimensions: ReductionNetworks.cpp.

/// `name`: of the operation.
LayerNetwork MakeReduce(Element element, ReduceOperation operation, const char* name, const TensorShape& shape,
                        unsigned int axis);
/// The mean over height and width.
LayerNetwork MakeMean(Element element, const TensorShape& shape);
LayerNetwork MakeSoftmax(Element element, const TensorShape& shape);
LayerNetwork MakeLogSoftmax(Element element, const TensorShape& shape);
/// A normalization over the last dimension, with scale and bias.
LayerNetwork MakeLayerNormalization(Element element, const TensorShape& shape);
LayerNetwork MakeInstanceNormalization(Element element, const TensorShape& shape);
/// A normalization over the channels.
LayerNetwork MakeL2Normalization(Element element, const TensorShape& shape);

/// An LSTM over sequences.
struct LstmSizes
{
    unsigned int m_Batches = 1;
    unsigned int m_Steps = 1;
    unsigned int m_Inputs = 1;
    unsigned int m_Units = 1;
};
LayerNetwork MakeLstm(Element element, const LstmSizes& sizes);
/// A RecurrentSequence in one direction or in both.
LayerNetwork MakeSequence(Element element, RecurrentCell cell, SequenceDirection direction, const LstmSizes& sizes);

// Layers that move elements: MoveNetworks.cpp.

/// A transposition from channels last to channels first.
LayerNetwork MakeTranspose(Element element, const TensorShape& shape);
/// The concatenation of two tensors of that shape along an axis.
LayerNetwork MakeConcat(Element element, const TensorShape& shape, unsigned int axis);
/// A split into two halves along the channels.
LayerNetwork MakeSplit(Element element, const TensorShape& shape);
/// A slice without one pixel on every side.
LayerNetwork MakeSlice(Element element, const TensorShape& shape);
/// A gather of random rows of a table.
LayerNetwork MakeGather(Element element, unsigned int rows, unsigned int columns, unsigned int picked);
/// A padding of one pixel on every side.
LayerNetwork MakePad(Element element, const TensorShape& shape);
/// A resize to twice the height and width.
LayerNetwork MakeResize(Element element, ResizeMethod method, const TensorShape& shape);
/// The last two dimensions become twice as large.
LayerNetwork MakeInterpolate(Element element, InterpolationMode mode, const TensorShape& shape);
/// Sampling at as many points as an image has elements; the shape is [N, C, H, W].
LayerNetwork MakeGridSample(Element element, InterpolationMode mode, const TensorShape& shape);

} // namespace tenon::bench
