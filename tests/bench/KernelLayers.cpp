// SPDX-License-Identifier: Apache-2.0
// The layers of bench_kernels.
#include "KernelLayers.hpp"

#include <initializer_list>

namespace tenon::bench
{

namespace
{

const Elements Usual = {Element::Float32, Element::Int8, Element::UInt8};
const Elements Bytes = {Element::Int8, Element::UInt8};
const Elements Floats = {Element::Float32};
/// What else layers with weights take.
const Elements Others = {Element::BFloat16, Element::Float16, Element::Int16, Element::HybridInt8};

void AddMatrixProducts(const Add& add)
{
    struct Pointwise
    {
        unsigned int m_Size;
        unsigned int m_Inputs;
        unsigned int m_Outputs;
    };
    // MobileNet v1, then v2.
    for (const Pointwise& c : std::initializer_list<Pointwise>{
             {112, 32, 64},  {56, 64, 128},  {56, 128, 128},  {28, 128, 256}, {28, 256, 256}, {14, 256, 512},
             {14, 512, 512}, {7, 512, 1024}, {7, 1024, 1024}, {112, 32, 16},  {112, 16, 96},  {56, 96, 24},
             {56, 24, 144},  {56, 144, 24},  {28, 144, 32},   {28, 32, 192},  {28, 192, 32},  {14, 192, 64},
             {14, 64, 384},  {14, 384, 64},  {14, 384, 96},   {14, 96, 576},  {14, 576, 96},  {7, 576, 160},
             {7, 160, 960},  {7, 960, 160},  {7, 960, 320},   {7, 320, 1280}})
    {
        add(
            [=](Element element) {
                return MakeConvolution(element, c.m_Size, c.m_Inputs, c.m_Outputs, {1, 1});
            },
            Usual);
    }
    // The first layer of MobileNets, then of ResNets, and their blocks.
    add([](Element element) { return MakeConvolution(element, 224, 3, 32, {3, 2}); }, Usual);
    add([](Element element) { return MakeConvolution(element, 224, 3, 64, {7, 2}); }, Usual);
    add([](Element element) { return MakeConvolution(element, 56, 64, 64, {3, 1}); }, Usual);
    add([](Element element) { return MakeConvolution(element, 14, 256, 256, {3, 1}); }, Usual);
    // Weights in a cache, and weights from memory.
    add([](Element element) { return MakeFullyConnected(element, 1, 1024, 1024); }, Usual);
    add([](Element element) { return MakeFullyConnected(element, 1, 4096, 4096); }, Usual);
    add([](Element element) { return MakeFullyConnected(element, 128, 256, 1024); }, Usual);
    // The attention of a small BERT.
    add([](Element element) { return MakeMatMul(element, {4, 128, 64, 128, false, true}); }, Usual);
    add([](Element element) { return MakeMatMul(element, {4, 128, 128, 64}); }, Usual);
    // A matrix for all of many rows: a packed part of it has to serve them all.
    add([](Element element) { return MakeMatMul(element, {256, 1, 1024, 1024, false, false, true}); }, Usual);
    add([](Element element) { return MakeMatMul(element, {16, 64, 1024, 1024, false, false, true}); }, Usual);
    for (const bool isColumn : {false, true})
    {
        add([=](Element element) { return MakeConvolutionSequence(element, {1, 500, 40, 9, isColumn}, 64); }, Usual);
        add([=](Element element) { return MakeConvolutionSequence(element, {1, 1000, 8, 5, isColumn}, 16); }, Usual);
        add([=](Element element) { return MakeConvolutionSequence(element, {1, 16000, 1, 80, isColumn}, 32); }, Usual);
    }
}

void AddDepthwise(const Add& add)
{
    struct Case
    {
        unsigned int m_Size;
        unsigned int m_Channels;
        Window m_Window;
    };
    for (const Case& c : std::initializer_list<Case>{{112, 32, {3, 1}},
                                                     {112, 64, {3, 2}},
                                                     {112, 96, {3, 2}},
                                                     {56, 128, {3, 1}},
                                                     {56, 144, {3, 1}},
                                                     {56, 144, {3, 2}},
                                                     {28, 192, {3, 1}},
                                                     {28, 256, {3, 1}},
                                                     {28, 192, {3, 2}},
                                                     {14, 384, {3, 1}},
                                                     {14, 512, {3, 1}},
                                                     {14, 576, {3, 2}},
                                                     {7, 960, {3, 1}},
                                                     {28, 240, {5, 1}},
                                                     {28, 240, {5, 2}},
                                                     {14, 672, {5, 1}},
                                                     {7, 1152, {5, 1}}})
    {
        add([=](Element element) { return MakeDepthwise(element, c.m_Size, c.m_Channels, c.m_Window); }, Usual);
    }
    for (const bool isColumn : {false, true})
    {
        add([=](Element element) { return MakeDepthwiseSequence(element, {10, 335, 80, 31, isColumn}); }, Usual);
        add([=](Element element) { return MakeDepthwiseSequence(element, {1, 200, 512, 33, isColumn}); }, Usual);
        add([=](Element element) { return MakeDepthwiseSequence(element, {1, 500, 16, 3, isColumn}); }, Usual);
    }
}

/// Layers with weights, of the types that have kernels of their own.
void AddMixedTypes(const Add& add)
{
    add([](Element element) { return MakeConvolution(element, 56, 128, 128, {1, 1}); }, Others);
    add([](Element element) { return MakeConvolution(element, 14, 512, 512, {1, 1}); }, Others);
    add([](Element element) { return MakeConvolution(element, 56, 64, 64, {3, 1}); }, Others);
    add([](Element element) { return MakeFullyConnected(element, 1, 1024, 1024); }, Others);
    add([](Element element) { return MakeFullyConnected(element, 1, 4096, 4096); }, Others);
    add([](Element element) { return MakeFullyConnected(element, 1, 1024, 1024); }, {Element::HybridFloat16});
    add([](Element element) { return MakeFullyConnected(element, 128, 256, 1024); }, Others);
    add([](Element element) { return MakeMatMul(element, {4, 128, 128, 64}); }, {Element::BFloat16, Element::Float16});
    MatMulSizes constant = {1, 128, 768, 768};
    constant.m_IsConstant = true;
    add([=](Element element) { return MakeMatMul(element, constant); }, Others);
}

/// Of a U-Net, then of generators of images.
void AddTransposed(const Add& add)
{
    add([](Element element) { return MakeTransposeConvolution(element, 32, 128, 64, {2, 2}); }, Usual);
    add([](Element element) { return MakeTransposeConvolution(element, 16, 256, 128, {4, 2}); }, Usual);
}

void AddMoves(const Add& add)
{
    for (const TensorShape& shape : {TensorShape({1, 56, 56, 24}), TensorShape({1, 14, 14, 96}),
                                     TensorShape({1, 56, 56, 256}), TensorShape({1, 112, 112, 64})})
    {
        add([=](Element element) { return MakeTranspose(element, shape); }, Usual);
        add([=](Element element) { return MakeConcat(element, shape, 3); }, Usual);
        add([=](Element element) { return MakeSplit(element, shape); }, Usual);
        add([=](Element element) { return MakePad(element, shape); }, Usual);
        add([=](Element element) { return MakeSlice(element, shape); }, Usual);
    }
    add([](Element element) { return MakeConcat(element, {1, 56, 56, 64}, 1); }, Usual);
    add([](Element element) { return MakeGather(element, 1000, 128, 384); }, Usual);
    add([](Element element) { return MakeGather(element, 1000, 24, 384); }, Usual);
    for (const TensorShape& shape : {TensorShape({1, 16, 16, 96}), TensorShape({1, 64, 64, 32})})
    {
        add([=](Element element) { return MakeResize(element, ResizeMethod::Bilinear, shape); }, Usual);
        add([=](Element element) { return MakeResize(element, ResizeMethod::NearestNeighbor, shape); }, Usual);
    }
    // As models of ONNX have them, channels first.
    using enum InterpolationMode;
    for (const TensorShape& shape : {TensorShape({1, 96, 16, 16}), TensorShape({1, 32, 64, 64})})
    {
        for (const InterpolationMode mode : {Nearest, Linear, Cubic})
        {
            add([=](Element element) { return MakeInterpolate(element, mode, shape); }, {Element::Float32});
        }
        add([=](Element element) { return MakeGridSample(element, Linear, shape); }, {Element::Float32});
    }
}

void AddBinary(const Add& add)
{
    const auto addPair =
        [&](BinaryOperation operation, const char* name, const TensorShape& shape, const TensorShape& other)
    { add([=](Element element) { return MakeBinary(element, operation, name, shape, other); }, Usual); };
    for (const TensorShape& shape : {TensorShape({1, 56, 56, 24}), TensorShape({1, 14, 14, 96}),
                                     TensorShape({1, 56, 56, 256}), TensorShape({1, 112, 112, 64})})
    {
        addPair(BinaryOperation::Add, "add", shape, shape);
    }
    addPair(BinaryOperation::Mul, "mul", {1, 56, 56, 24}, {1, 56, 56, 24});
    // Squeeze and excitation of EfficientNets.
    addPair(BinaryOperation::Mul, "mul", {1, 28, 28, 240}, {1, 1, 1, 240});
    addPair(BinaryOperation::Add, "add", {1, 28, 28, 240}, {1, 1, 1, 240});
    addPair(BinaryOperation::Mul, "mul", {1, 28, 28, 240}, {1});
}

void AddElementwise(const Add& add)
{
    const TensorShape image({1, 56, 56, 96});
    const auto addActivation = [&](const char* name, const ActivationDescriptor& descriptor, const Elements& elements)
    { add([=](Element element) { return MakeActivation(element, descriptor, name, image); }, elements); };
    addActivation("sigmoid", ActivationDescriptor(ActivationFunction::Sigmoid), Usual);
    addActivation("tanh", ActivationDescriptor(ActivationFunction::TanH, 1.0f, 1.0f), Floats);
    addActivation("gelu", ActivationDescriptor(ActivationFunction::Gelu), Floats);
    addActivation("gelu_tanh", ActivationDescriptor(ActivationFunction::Gelu, 1.0f), Floats);
    addActivation("hardswish", ActivationDescriptor(ActivationFunction::HardSwish), Usual);
    addActivation("leakyrelu", ActivationDescriptor(ActivationFunction::LeakyReLu, 0.1f), Floats);
    addActivation("relu6", ActivationDescriptor(ActivationFunction::BoundedReLu, 6.0f), Usual);
    addActivation("elu", ActivationDescriptor(ActivationFunction::Elu, 1.0f), Floats);
    add([=](Element element) { return MakePrelu(element, image); }, Usual);
    add([=](Element element) { return MakeComparison(element, image); }, Usual);
    add([=](Element element) { return MakeSelect(element, image); }, Usual);
    add([=](Element element) { return MakeQuantize(element, image); }, Bytes);
    add([=](Element element) { return MakeDequantize(element, image); }, Bytes);
    add([=](Element) { return MakeCast(DataType::Float32, DataType::Float16, image); }, Floats);
    add([=](Element) { return MakeCast(DataType::Signed32, DataType::Float32, image); }, Floats);
}

void AddReductions(const Add& add)
{
    add([](Element element) { return MakePooling(element, PoolingAlgorithm::Average, 7, 1280, {7, 1}); }, Usual);
    add([](Element element) { return MakePooling(element, PoolingAlgorithm::Max, 112, 64, {3, 2}); }, Usual);
    add([](Element element) { return MakePooling(element, PoolingAlgorithm::Max, 56, 64, {2, 2}); }, Usual);
    for (const bool isColumn : {false, true})
    {
        for (const PoolingAlgorithm algorithm : {PoolingAlgorithm::Max, PoolingAlgorithm::Average})
        {
            add(
                [=](Element element) {
                    return MakePoolingSequence(element, algorithm, {1, 1000, 64, 2, isColumn});
                },
                Usual);
        }
    }
    add([](Element element) { return MakeMean(element, {1, 7, 7, 1280}); }, Usual);
    add([](Element element) { return MakeMean(element, {1, 28, 28, 240}); }, Usual);
    // Of a BERT's rows, then over them.
    const TensorShape rows({1, 128, 768});
    for (const unsigned int axis : {2U, 1U})
    {
        add([=](Element element) { return MakeReduce(element, ReduceOperation::Sum, "sum", rows, axis); }, Usual);
        add([=](Element element) { return MakeReduce(element, ReduceOperation::Max, "max", rows, axis); }, Usual);
    }
    add([](Element element) { return MakeSoftmax(element, {1, 1001}); }, Usual);
    add([](Element element) { return MakeSoftmax(element, {4, 128, 128}); }, Usual);
    add([](Element element) { return MakeLogSoftmax(element, {1, 1001}); }, Floats);
    add([](Element element) { return MakeLogSoftmax(element, {128, 1024}); }, Floats);
    add([=](Element element) { return MakeLayerNormalization(element, rows); }, Floats);
    add([](Element element) { return MakeInstanceNormalization(element, {1, 64, 64, 128}); }, Floats);
    add([](Element element) { return MakeL2Normalization(element, {1, 14, 14, 512}); }, Floats);
}

/// One speaker's, then several sequences at once.
void AddRecurrent(const Add& add)
{
    const Elements kinds = {Element::Float32, Element::Int8, Element::HybridInt8};
    add([](Element element) { return MakeLstm(element, {1, 50, 128, 128}); }, kinds);
    add([](Element element) { return MakeLstm(element, {4, 20, 256, 512}); }, kinds);
    using enum RecurrentCell;
    using enum SequenceDirection;
    const auto addSequence = [&](RecurrentCell cell, SequenceDirection direction, const LstmSizes& sizes)
    { add([=](Element element) { return MakeSequence(element, cell, direction, sizes); }, {Element::Float32}); };
    // A step of voice detection, small ones of noise suppression, and the sizes above.
    addSequence(Lstm, Forward, {1, 1, 128, 128});
    addSequence(Gru, Forward, {1, 100, 16, 16});
    addSequence(Gru, Bidirectional, {10, 33, 16, 8});
    addSequence(Rnn, Forward, {1, 50, 128, 128});
    addSequence(Gru, Forward, {1, 50, 128, 128});
    addSequence(Lstm, Forward, {1, 50, 128, 128});
    addSequence(Lstm, Bidirectional, {1, 50, 128, 128});
    addSequence(Gru, Forward, {1, 50, 512, 512});
    addSequence(Lstm, Forward, {4, 20, 256, 512});
}

} // namespace

void AddLayers(const Add& add)
{
    AddMatrixProducts(add);
    AddMixedTypes(add);
    AddTransposed(add);
    AddDepthwise(add);
    AddRecurrent(add);
    AddMoves(add);
    AddBinary(add);
    AddElementwise(add);
    AddReductions(add);
}

} // namespace tenon::bench
