// SPDX-License-Identifier: Apache-2.0
// Networks of one layer for bench_kernels, built through the public API, with what their work adds up to.
#pragma once

#include <tenon/Tenon.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tenon::bench
{

/// The type of the data, and that of the weights beside it.
enum class Element
{
    Float32,
    Int8,
    UInt8,
    Float16,
    BFloat16,
    Int16,        ///< beside int8 weights
    HybridInt8,   ///< float data beside int8 weights
    HybridFloat16 ///< float data beside float16 weights
};

const char* GetName(Element element);

/// What a depthwise convolution has to do for each output.
struct DepthwiseWindow
{
    unsigned int m_Taps = 1;
    unsigned int m_NewPixels = 1; ///< of the image, which no window before has seen: the product of the strides
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
    double m_Bytes = 0.0;             ///< of inputs and outputs; constants too, unless each serves many outputs
    double m_OutputBytes = 0.0;       ///< of the outputs
    Element m_Element = Element::Float32;
    std::optional<DepthwiseWindow> m_Window; ///< of depthwise convolutions
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
/// A transposed one, from a square image to another as many times as large as the stride.
LayerNetwork MakeTransposeConvolution(Element element, unsigned int size, unsigned int inputs, unsigned int outputs,
                                      Window window);
/// The layers of speech: many points along one axis of images that are one pixel wide, or high.
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
/// Windows that do not overlap.
LayerNetwork MakePoolingSequence(Element element, PoolingAlgorithm algorithm, const SequenceSizes& sizes);
LayerNetwork MakeFullyConnected(Element element, unsigned int rows, unsigned int inputs, unsigned int outputs);

/// Products of two matrices: [rows, depth] by [depth, columns], so many pairs of them.
struct MatMulSizes
{
    unsigned int m_Batches = 1;
    unsigned int m_Rows = 1;
    unsigned int m_Depth = 1;
    unsigned int m_Columns = 1;
    bool m_TransposeX = false; ///< it is [depth, rows] in memory
    bool m_TransposeY = false; ///< it is [columns, depth] in memory
    bool m_SharesY = false;    ///< there is one for all pairs
    bool m_IsConstant = false; ///< y, which is of the weights' type then; else both are inputs of the data's type
};
LayerNetwork MakeMatMul(Element element, const MatMulSizes& sizes);

LayerNetwork MakePooling(Element element, PoolingAlgorithm algorithm, unsigned int size, unsigned int channels,
                         Window window);

// Of each element: ElementwiseNetworks.cpp.

/// Of two inputs that are broadcast to each other. `name`: of the operation.
LayerNetwork MakeBinary(Element element, BinaryOperation operation, const char* name, const TensorShape& shape,
                        const TensorShape& other);
LayerNetwork MakeActivation(Element element, const ActivationDescriptor& descriptor, const char* name,
                            const TensorShape& shape);
/// With a constant slope for each channel.
LayerNetwork MakePrelu(Element element, const TensorShape& shape);
/// Greater than.
LayerNetwork MakeComparison(Element element, const TensorShape& shape);
LayerNetwork MakeSelect(Element element, const TensorShape& shape);
/// From floats to an 8-bit type, and back.
LayerNetwork MakeQuantize(Element element, const TensorShape& shape);
LayerNetwork MakeDequantize(Element element, const TensorShape& shape);
LayerNetwork MakeCast(DataType from, DataType to, const TensorShape& shape);

// Over some dimensions: ReductionNetworks.cpp.

/// `name`: of the operation.
LayerNetwork MakeReduce(Element element, ReduceOperation operation, const char* name, const TensorShape& shape,
                        unsigned int axis);
/// Over height and width.
LayerNetwork MakeMean(Element element, const TensorShape& shape);
LayerNetwork MakeSoftmax(Element element, const TensorShape& shape);
LayerNetwork MakeLogSoftmax(Element element, const TensorShape& shape);
/// Over the last dimension, with scale and bias.
LayerNetwork MakeLayerNormalization(Element element, const TensorShape& shape);
LayerNetwork MakeInstanceNormalization(Element element, const TensorShape& shape);
/// Over the channels.
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

/// From channels last to channels first.
LayerNetwork MakeTranspose(Element element, const TensorShape& shape);
/// Two tensors of that shape along an axis.
LayerNetwork MakeConcat(Element element, const TensorShape& shape, unsigned int axis);
/// Into two halves along the channels.
LayerNetwork MakeSplit(Element element, const TensorShape& shape);
/// Without one pixel on every side.
LayerNetwork MakeSlice(Element element, const TensorShape& shape);
/// Random rows of a table.
LayerNetwork MakeGather(Element element, unsigned int rows, unsigned int columns, unsigned int picked);
/// One pixel on every side.
LayerNetwork MakePad(Element element, const TensorShape& shape);
/// Twice as high and wide.
LayerNetwork MakeResize(Element element, ResizeMethod method, const TensorShape& shape);
/// The last two dimensions become twice as large.
LayerNetwork MakeInterpolate(Element element, InterpolationMode mode, const TensorShape& shape);
/// As many points as an image has elements; the shape is [N, C, H, W].
LayerNetwork MakeGridSample(Element element, InterpolationMode mode, const TensorShape& shape);

} // namespace tenon::bench
