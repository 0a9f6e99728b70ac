// SPDX-License-Identifier: Apache-2.0
// Quantized layers that TFLite has no kernel for and that run through Float32, as Arm NN's CpuRef has them: exact
// results for each layer type that has such a kernel, with types, scales and zero points that its own one refuses.
#include "ops/RecurrentRunner.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Elementwise.hpp>
#include <tenon/descriptors/Normalization.hpp>
#include <tenon/descriptors/Pooling.hpp>
#include <tenon/descriptors/Products.hpp>
#include <tenon/descriptors/Recurrent.hpp>
#include <tenon/descriptors/Reduction.hpp>
#include <tenon/descriptors/Vision.hpp>

namespace tenon::test::quantized_as_float_test
{

namespace
{

using Numbers = std::vector<double>;

TensorInfo Bytes(const TensorShape& shape, float scale, int32_t zeroPoint)
{
    return {shape, DataType::QAsymmU8, scale, zeroPoint};
}

TensorInfo Shorts(const TensorShape& shape, float scale, int32_t zeroPoint = 0)
{
    return {shape, DataType::QSymmS16, scale, zeroPoint};
}

TensorInfo Sums(unsigned int count)
{
    return {TensorShape({count}), DataType::Signed32};
}

template <typename D>
OpCase MakeCase(LayerType type, D descriptor, std::vector<TestTensor> inputs, const TensorInfo& output)
{
    OpCase op;
    op.m_Name = std::string(GetLayerTypeAsCString(type)) + " of " + inputs[0].m_Info.ToString();
    op.m_Type = type;
    op.m_Descriptor = MakeDescriptor(std::move(descriptor));
    op.m_Inputs = std::move(inputs);
    op.m_Output = output;
    op.m_Steps = 0;
    return op;
}

/// Stored values, nothing off; by the kernel through floats.
template <typename D>
void Check(LayerType type, D descriptor, std::vector<TestTensor> inputs, const TensorInfo& output,
           const Numbers& expected)
{
    OpCase op = MakeCase(type, std::move(descriptor), std::move(inputs), output);
    op.m_Oracle = Expect(output, expected);
    CheckOp(op);
    std::string kernel;
    RunOp(*GetTestBackends().front(), op, RunVariant(), &kernel);
    EXPECT_EQ(kernel, std::string("Ref") + GetLayerTypeAsCString(type) + "AsFloat") << op.m_Name;
}

void CheckActivation(ActivationFunction function, const TensorInfo& input, const Numbers& stored,
                     const TensorInfo& output, const Numbers& expected)
{
    Check(LayerType::Activation, ActivationDescriptor(function, 1, 1), {Stored(input, stored)}, output, expected);
}

void CheckUnary(UnaryOperation operation, const TensorInfo& input, const Numbers& stored, const TensorInfo& output,
                const Numbers& expected)
{
    Check(LayerType::ElementwiseUnary, ElementwiseUnaryDescriptor(operation), {Stored(input, stored)}, output,
          expected);
}

void CheckBinary(BinaryOperation operation, TestTensor a, TestTensor b, const TensorInfo& output,
                 const Numbers& expected)
{
    Check(LayerType::ElementwiseBinary, ElementwiseBinaryDescriptor(operation), {std::move(a), std::move(b)}, output,
          expected);
}

template <typename D>
D OnImages(D descriptor)
{
    descriptor.m_DataLayout = DataLayout::NHWC;
    return descriptor;
}

template <typename D>
D WithBias(D descriptor)
{
    descriptor.m_BiasEnabled = true;
    return descriptor;
}

} // namespace

ISA_TEST(QuantizedAsFloat, ActivationsOfShorts)
{
    const TensorShape shape({7});
    const TensorInfo steps = Shorts(shape, 1.0f);
    const Numbers stored = {-4, -2, -1, 0, 1, 3, 4};
    CheckActivation(ActivationFunction::Elu, steps, stored, steps, {-1, -1, -1, 0, 1, 3, 4});
    CheckActivation(ActivationFunction::HardSwish, steps, stored, steps, {0, 0, 0, 0, 1, 3, 4});
    CheckActivation(ActivationFunction::TanH, steps, stored, steps, {-1, -1, -1, 0, 1, 1, 1});
    CheckActivation(ActivationFunction::Sigmoid, steps, stored, Shorts(shape, 0.25f), {0, 0, 1, 2, 3, 4, 4});
    CheckActivation(ActivationFunction::Linear, steps, stored, steps, {-3, -1, 0, 1, 2, 4, 5});
    CheckActivation(ActivationFunction::SoftReLu, steps, stored, steps, {0, 0, 0, 1, 1, 3, 4});
    CheckActivation(ActivationFunction::Abs, steps, stored, steps, {4, 2, 1, 0, 1, 3, 4});
    CheckActivation(ActivationFunction::Square, steps, {-200, -2, -1, 0, 1, 3, 181}, steps,
                    {32767, 4, 1, 0, 1, 9, 32761});
    CheckActivation(ActivationFunction::Sqrt, steps, {0, 1, 2, 3, 4, 100, 10000}, steps, {0, 1, 1, 2, 2, 10, 100});
    const TensorInfo fine = Shorts(shape, 0.001f);
    CheckActivation(ActivationFunction::HardSwish, fine, {-3000, -1000, -1, 0, 1, 1000, 3000}, fine,
                    {0, -333, 0, 0, 1, 667, 3000});
    const TensorInfo offset = Shorts(shape, 0.5f, 7);
    CheckActivation(ActivationFunction::Gelu, offset, {-9, 5, 6, 7, 8, 9, 17}, offset, {7, 7, 7, 7, 8, 9, 17});
}

ISA_TEST(QuantizedAsFloat, ActivationsOfBytes)
{
    const TensorShape shape({4});
    // An output of finer steps than TFLite's arithmetic has room for.
    CheckActivation(ActivationFunction::HardSwish, Bytes(shape, 1.0f, 128), {124, 127, 128, 129},
                    Bytes(shape, 1.0f / 256.0f, 128), {128, 43, 128, 255});
    CheckActivation(ActivationFunction::ReLu, Bytes(shape, 0.5f, 300), {0, 1, 200, 255}, Bytes(shape, 0.5f, 3),
                    {3, 3, 3, 3});
    CheckActivation(ActivationFunction::ReLu, Bytes(shape, 0.5f, -40), {0, 1, 200, 255}, Bytes(shape, 1.0f, -2),
                    {18, 19, 118, 146});
}

ISA_TEST(QuantizedAsFloat, UnaryOperations)
{
    const TensorShape shape({5});
    const TensorInfo steps = Shorts(shape, 0.5f);
    const Numbers stored = {-5, -2, 0, 1, 3};
    CheckUnary(UnaryOperation::Ceil, steps, stored, steps, {-4, -2, 0, 2, 4});
    CheckUnary(UnaryOperation::Round, steps, stored, steps, {-4, -2, 0, 0, 4});
    CheckUnary(UnaryOperation::Sign, steps, stored, steps, {-2, -2, 0, 2, 2});
    CheckUnary(UnaryOperation::Sin, steps, stored, Shorts(shape, 0.01f), {-60, -84, 0, 48, 100});
    CheckUnary(UnaryOperation::Cos, steps, stored, Shorts(shape, 0.01f), {-80, 54, 100, 88, 7});
    CheckUnary(UnaryOperation::Erf, steps, stored, Shorts(shape, 0.01f), {-100, -84, 0, 52, 97});
    const TensorInfo offset = Shorts(TensorShape({3}), 0.25f, 50);
    CheckUnary(UnaryOperation::Abs, offset, {46, 54, 50}, offset, {54, 54, 50});
    CheckUnary(UnaryOperation::Neg, offset, {46, 54, 50}, offset, {54, 46, 50});
    CheckUnary(UnaryOperation::Rsqrt, offset, {54, 66, 51}, offset, {54, 52, 58});
    CheckUnary(UnaryOperation::Sqrt, offset, {54, 66, 59}, offset, {54, 58, 56});
    CheckUnary(UnaryOperation::Exp, offset, {46, 50, 54}, offset, {51, 54, 61});
    CheckUnary(UnaryOperation::Log, offset, {54, 61, 50}, offset, {50, 54, -32768});
    CheckUnary(UnaryOperation::Abs, Bytes(TensorShape({2}), 1.0f, 260), {0, 255}, Bytes(TensorShape({2}), 2.0f, 1),
               {131, 4}); // 2.5 steps round away from zero
    // Integers without a scale: results are cut off.
    const TensorInfo integers(TensorShape({4}), DataType::Signed32);
    CheckUnary(UnaryOperation::Exp, integers, {-1, 0, 1, 2}, integers, {0, 1, 2, 7});
    CheckUnary(UnaryOperation::Sqrt, integers, {0, 4, 10, 99}, integers, {0, 2, 3, 9});
    CheckUnary(UnaryOperation::Exp, integers, {100, 0, 0, 0}, integers, {2147483647.0, 1, 1, 1});
}

ISA_TEST(QuantizedAsFloat, BinaryOperations)
{
    const TensorShape shape({4});
    for (const DataType type : {DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS16})
    {
        const TensorInfo info(shape, type, 0.5f, 0);
        CheckBinary(BinaryOperation::Power, Stored(info, {4, 6, 3, 8}), Stored(info, {4, 2, 6, 0}), info,
                    {8, 6, 7, 2}); // 2^2, 3^1, 1.5^3, 4^0
    }
    CheckBinary(BinaryOperation::Power, Stored(Bytes(shape, 1.0f, 0), {2, 3, 4, 5}),
                Stored(Bytes(shape, 1.0f, 0), {7, 2, 4, 0}), Bytes(shape, 1.0f, 0), {128, 9, 255, 1});
    const TensorInfo shorts = Shorts(shape, 0.5f);
    CheckBinary(BinaryOperation::SqDiff, Stored(shorts, {4, 7, -3, 300}), Stored(shorts, {2, 8, 3, -100}), shorts,
                {2, 1, 18, 32767});
    const TensorInfo below = Bytes(shape, 0.5f, -43);
    CheckBinary(BinaryOperation::Add, Stored(below, {0, 1, 100, 255}), Stored(below, {0, 3, 2, 255}), below,
                {43, 47, 145, 255});
    const TensorShape pair({2});
    CheckBinary(BinaryOperation::Add, Stored(Bytes(pair, 0.5f, 300), {0, 10}), Stored(Bytes(pair, 0.5f, -43), {0, 1}),
                Bytes(pair, 0.5f, 300), {43, 54});
}

ISA_TEST(QuantizedAsFloat, Convolutions)
{
    const auto conv = OnImages(WithBias(Convolution2dDescriptor()));
    const TensorShape pixel({1, 1, 1, 2});
    const TestTensor shorts = Stored(Shorts(pixel, 0.5f), {4, -6}); // 2, -3
    const TensorShape kernels({2, 1, 1, 2});
    const TestTensor weights = Constant(Stored(Shorts(kernels, 0.25f), {4, 8, -4, 4})); // 1 2, -1 1
    const TestTensor bias = Stored(Sums(2), {8, -8});                                   // 1, -1
    Check(LayerType::Convolution2d, conv, {shorts, weights, bias}, Shorts(pixel, 0.5f), {-6, -12});

    const TestTensor bytes = Stored(Bytes(pixel, 0.5f, 10), {14, 4});
    const TensorInfo perChannel(kernels, DataType::QSymmS8, {0.25f, 0.5f}, 0);
    const TestTensor channels = Constant(Stored(perChannel, {4, 8, -4, 4})); // 1 2, -2 2
    const TensorInfo output = Bytes(pixel, 0.5f, 100);
    Check(LayerType::Convolution2d, conv, {bytes, channels, bias}, output, {94, 76});
    const TestTensor floats = Values(TensorInfo(TensorShape({2}), DataType::Float32), {1, -2});
    Check(LayerType::Convolution2d, conv, {bytes, channels, floats}, output, {94, 76});
    const TestTensor halves = Values(TensorInfo(TensorShape({2}), DataType::Float16), {1, -2});
    Check(LayerType::Convolution2d, conv, {bytes, channels, halves}, output, {94, 76});

    TransposeConvolution2dDescriptor up;
    up.m_StrideX = up.m_StrideY = 2;
    Check(LayerType::TransposeConvolution2d, OnImages(up),
          {Stored(Shorts({1, 1, 1, 1}, 0.5f), {4}), Constant(Stored(Shorts({1, 2, 2, 1}, 0.5f), {2, 4, -6, 8}))},
          Shorts({1, 2, 2, 1}, 1.0f), {2, 4, -6, 8});
    Check(LayerType::DepthwiseConvolution2d, OnImages(WithBias(DepthwiseConvolution2dDescriptor())),
          {shorts, Constant(Stored(Shorts({1, 1, 1, 2}, 0.25f), {4, -8})), bias}, Shorts(pixel, 0.5f), {6, 10});
}

ISA_TEST(QuantizedAsFloat, WeightsHaveScalesAlongTheOutputChannels)
{
    const TensorShape pixel({1, 1, 1, 2});
    const TensorInfo rows({2, 1, 1, 2}, DataType::QSymmS8, {0.25f, 0.5f}, 3);
    OpCase op = MakeCase(LayerType::Convolution2d, OnImages(Convolution2dDescriptor()),
                         {Random(Bytes(pixel, 0.5f, 10), 1), Random(rows, 2)}, Bytes(pixel, 0.5f, 10));
    CheckUnsupported(op, SupportCode::UnsupportedType, "input 1 of type QSymmS8");
    const TensorInfo data(pixel, DataType::QAsymmU8, {0.25f, 0.5f}, 3);
    op.m_Inputs = {Random(data, 1), Random(TensorInfo({2, 1, 1, 2}, DataType::QSymmS8, 0.5f), 2)};
    CheckUnsupported(op, SupportCode::UnsupportedType, "input 1 of type QSymmS8");
    op.m_Inputs[0] = Random(TensorInfo(pixel, DataType::QAsymmU8, 0.0f), 1);
    CheckUnsupported(op, SupportCode::UnsupportedType, "input 1 of type QSymmS8");
}

ISA_TEST(QuantizedAsFloat, Volumes)
{
    const TensorShape voxel({1, 1, 1, 1, 2});
    Convolution3dDescriptor conv;
    conv.m_DataLayout = DataLayout::NDHWC;
    conv.m_StrideX = conv.m_StrideY = conv.m_StrideZ = 1;
    for (const DataType type : {DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS8, DataType::QSymmS16})
    {
        const int32_t zero = type == DataType::QAsymmU8 ? 100 : 0;
        const TestTensor data = Stored(TensorInfo(voxel, type, 0.5f, zero), {zero + 4.0, zero - 6.0}); // 2, -3
        const TensorInfo weights({1, 1, 1, 2, 2}, type, 0.25f, zero);
        const TestTensor taps = Constant(Stored(weights, {zero + 4.0, zero - 4.0, zero + 8.0, zero + 4.0}));
        const TensorInfo output(voxel, type, 0.5f, zero);
        Check(LayerType::Convolution3d, conv, {data, taps}, output, {zero - 8.0, zero - 10.0});
        Check(LayerType::Convolution3d, WithBias(conv), {data, taps, Stored(Sums(2), {8, -8})}, output,
              {zero - 6.0, zero - 12.0});
    }
    Pooling3dDescriptor pool;
    pool.m_PoolType = PoolingAlgorithm::Average;
    pool.m_PoolDepth = pool.m_PoolHeight = 1;
    pool.m_PoolWidth = 2;
    pool.m_StrideX = pool.m_StrideY = pool.m_StrideZ = 1;
    pool.m_DataLayout = DataLayout::NDHWC;
    Check(LayerType::Pooling3d, pool, {Stored(Bytes({1, 1, 1, 2, 1}, 1.0f, 0), {1, 2})},
          Bytes({1, 1, 1, 1, 1}, 0.5f, 0), {3});
}

ISA_TEST(QuantizedAsFloat, Products)
{
    Check(LayerType::BatchMatMul, BatchMatMulDescriptor(),
          {Stored(Shorts({1, 2}, 0.5f, 3), {5, 1}), Stored(Shorts({2, 1}, 0.25f, -2), {2, 6})},
          Shorts({1, 1}, 0.125f, 1), {-7});
    Check(LayerType::FullyConnected, FullyConnectedDescriptor(),
          {Stored(Bytes({1, 2}, 0.5f, -10), {0, 2}), Constant(Stored(Bytes({2, 1}, 0.25f, 100), {104, 108}))},
          Bytes({1, 1}, 0.5f, 0), {34});
    Check(LayerType::FullyConnected, WithBias(FullyConnectedDescriptor()),
          {Stored(Shorts({1, 2}, 0.5f), {4, 6}), Constant(Stored(Shorts({2, 1}, 0.25f, 4), {8, 0})),
           Stored(Sums(1), {24})},
          Shorts({1, 1}, 0.5f), {4});
}

ISA_TEST(QuantizedAsFloat, Normalizations)
{
    const TensorShape pixel({1, 1, 1, 2});
    const auto floats = [](double a, double b) {
        return Values(TensorInfo(TensorShape({2}), DataType::Float32), {a, b});
    };
    const auto batch = OnImages(BatchNormalizationDescriptor());
    Check(LayerType::BatchNormalization, batch,
          {Stored(Bytes(pixel, 0.5f, 10), {10, 20}), floats(1, 1), floats(4, 4), floats(1, 1), floats(2, 2)},
          Bytes(pixel, 0.5f, 0), {0, 10});
    const auto shorts = [](double a, double b) { return Stored(Shorts(TensorShape({2}), 0.5f), {a, b}); };
    Check(LayerType::BatchNormalization, batch,
          {Stored(Shorts(pixel, 0.5f), {0, 10}), shorts(2, 2), shorts(8, 8), shorts(2, 2), shorts(4, 4)},
          Shorts(pixel, 0.5f), {0, 10});
    Check(LayerType::L2Normalization, OnImages(L2NormalizationDescriptor()), {Stored(Shorts(pixel, 1.0f), {3, 4})},
          Shorts(pixel, 0.1f), {6, 8});
    Check(LayerType::L2Normalization, OnImages(L2NormalizationDescriptor()), {Stored(Bytes(pixel, 1.0f, 5), {8, 1})},
          Bytes(pixel, 0.1f, 20), {26, 12});
    NormalizationDescriptor local;
    local.m_NormSize = 1;
    local.m_Alpha = local.m_Beta = local.m_K = 1.0f;
    Check(LayerType::Normalization, OnImages(local), {Stored(Bytes(pixel, 1.0f, 0), {2, 3})}, Bytes(pixel, 0.1f, 0),
          {4, 3});
    Check(LayerType::Softmax, SoftmaxDescriptor(), {Stored(TensorInfo({1, 2}, DataType::QSymmS8, 0.5f), {9, 9})},
          TensorInfo({1, 2}, DataType::QSymmS8, 1.0f / 128.0f), {64, 64});
    SoftmaxDescriptor falling; // the smaller number weighs more: 1 / (1 + exp(-1))
    falling.m_Beta = -1.0f;
    Check(LayerType::Softmax, falling, {Stored(Bytes({1, 2}, 0.5f, 3), {7, 9})}, Bytes({1, 2}, 1.0f / 256.0f, 0),
          {187, 69});
    Check(LayerType::LogSoftmax, LogSoftmaxDescriptor(), {Stored(Shorts({1, 2}, 0.5f), {9, 9})}, Shorts({1, 2}, 0.01f),
          {-69, -69});
}

ISA_TEST(QuantizedAsFloat, Reductions)
{
    const TestTensor row = Stored(Bytes({1, 2}, 1.0f, -43), {0, 2});
    Check(LayerType::Mean, MeanDescriptor({1U}, false), {row}, Bytes(TensorShape({1}), 1.0f, 0), {44});
    ReduceDescriptor most;
    most.m_ReduceOperation = ReduceOperation::Max;
    most.m_vAxis = {1};
    Check(LayerType::Reduce, most, {row}, Bytes(TensorShape({1}), 0.5f, 0), {90});
    Pooling2dDescriptor pool;
    pool.m_PoolType = PoolingAlgorithm::L2;
    pool.m_PoolHeight = 1;
    pool.m_PoolWidth = 2;
    pool.m_StrideX = pool.m_StrideY = 1;
    Check(LayerType::Pooling2d, OnImages(pool), {Stored(Bytes({1, 1, 2, 1}, 1.0f, 10), {13, 14})},
          Bytes({1, 1, 1, 1}, 0.5f, 0), {7});
    pool.m_PoolType = PoolingAlgorithm::Max;
    Check(LayerType::Pooling2d, OnImages(pool), {Stored(Bytes({1, 1, 2, 1}, 1.0f, 10), {13, 14})},
          Bytes({1, 1, 1, 1}, 0.5f, 0), {8});
}

ISA_TEST(QuantizedAsFloat, ComparisonsAndPrelu)
{
    const TensorShape shape({2});
    Check(LayerType::Comparison, ComparisonDescriptor(ComparisonOperation::Less),
          {Stored(Bytes(shape, 1.0f, -43), {0, 1}), Stored(Bytes(shape, 2.0f, -20), {2, 2})},
          TensorInfo(shape, DataType::Boolean), {1, 0});
    Check(LayerType::Prelu, NullDescriptor(),
          {Stored(Bytes(shape, 1.0f, 300), {0, 200}), Stored(Bytes(shape, 0.5f, 0), {1, 1})}, Bytes(shape, 1.0f, 200),
          {50, 150});
}

ISA_TEST(QuantizedAsFloat, DetectionsOfHalves)
{
    DetectionPostProcessDescriptor descriptor;
    descriptor.m_MaxDetections = 1;
    descriptor.m_MaxClassesPerDetection = 1;
    descriptor.m_NumClasses = 1;
    descriptor.m_NmsIouThreshold = 0.5f;
    descriptor.m_ScaleX = descriptor.m_ScaleY = descriptor.m_ScaleW = descriptor.m_ScaleH = 1.0f;
    const auto halves = [](const TensorShape& shape, const Numbers& values)
    { return Values(TensorInfo(shape, DataType::Float16), values); };
    OpCase op =
        MakeCase(LayerType::DetectionPostProcess, descriptor,
                 {halves({1, 1, 4}, {0.25, 0, 0, 0}), halves({1, 1, 2}, {0, 0.75}), halves({1, 4}, {0.5, 0.5, 1, 1})},
                 TensorInfo({1, 1, 4}, DataType::Float32));
    op.m_MoreOutputs = {TensorInfo({1, 1}, DataType::Float32), TensorInfo({1, 1}, DataType::Float32),
                        TensorInfo(TensorShape({1}), DataType::Float32)};
    op.m_Oracle = [](const auto&) { return Numbers{0.25, 0, 1.25, 1, 0, 0.75, 1}; };
    CheckOp(op);
}

ISA_TEST(QuantizedAsFloat, MixturesOfFloats)
{
    const auto of = [](DataType type, const TensorShape& shape, const Numbers& values)
    { return Values(TensorInfo(shape, type), values); };
    for (const DataType type : {DataType::Float32, DataType::Float16})
    {
        const DataType other = type == DataType::Float32 ? DataType::Float16 : DataType::Float32;
        Convolution3dDescriptor conv;
        conv.m_DataLayout = DataLayout::NDHWC;
        conv.m_StrideX = conv.m_StrideY = conv.m_StrideZ = 1;
        Check(LayerType::Convolution3d, WithBias(conv),
              {of(type, {1, 1, 1, 1, 2}, {2, -3}), Constant(of(type, {1, 1, 1, 2, 2}, {1, -1, 2, 1})),
               of(other, TensorShape({2}), {1, -1})},
              TensorInfo({1, 1, 1, 1, 2}, type), {-3, -6});
    }
    const TestTensor halves = of(DataType::Float16, TensorShape({2}), {1, 4});
    const TensorInfo pixel({1, 1, 1, 2}, DataType::Float32);
    BatchNormalizationDescriptor batch;
    batch.m_Eps = 0.0f;
    Check(LayerType::BatchNormalization, OnImages(batch), {Values(pixel, {3, 8}), halves, halves, halves, halves},
          pixel, {3, 12});
}

// With weights and biases of 0 all gates are a half and the candidates 0: the cell state is halved.
ISA_TEST(QuantizedAsFloat, LstmOfShorts)
{
    const LstmSlots slots = GetLstmSlots();
    RecurrentLayer layer;
    layer.m_Type = LayerType::Lstm;
    LstmDescriptor descriptor;
    descriptor.m_ActivationFunc = 4; // TanH
    descriptor.m_CifgEnabled = false;
    layer.m_Descriptor = MakeDescriptor(descriptor);
    layer.m_Inputs.assign(24, NotConnected());
    layer.m_Inputs[slots.m_Data] = Stored(Shorts({1, 2}, 0.5f), {3, -5});
    layer.m_Inputs[slots.m_OutputState] = Stored(Shorts({1, 2}, 0.5f), {1, 1});
    layer.m_Inputs[slots.m_CellState] = Stored(Shorts({1, 2}, 0.25f), {4, -8});
    for (size_t gate = 0; gate < 4; ++gate)
    {
        layer.m_Inputs[slots.m_InputWeights[gate]] = Stored(Shorts({2, 2}, 0.5f), {0, 0, 0, 0});
        layer.m_Inputs[slots.m_RecurrentWeights[gate]] = Stored(Shorts({2, 2}, 0.5f), {0, 0, 0, 0});
        layer.m_Inputs[slots.m_Bias[gate]] = Stored(Shorts(TensorShape({2}), 0.5f), {0, 0});
    }
    const TensorInfo output = Shorts({1, 2}, 0.01f);
    layer.m_Outputs = {Shorts({1, 8}, 0.5f), output, Shorts({1, 2}, 0.25f), output};
    for (const auto& backend : GetTestBackends())
    {
        const std::vector<TestTensor> got = RunRecurrent(layer, *backend);
        const auto stored = [&](size_t i) { return GetStored(got[i].m_Info, got[i].m_Bytes.data()); };
        EXPECT_EQ(stored(1), Numbers({23, -38})) << backend->GetId().Get(); // tanh(0.5) / 2, tanh(-1) / 2
        EXPECT_EQ(stored(2), Numbers({2, -4})) << backend->GetId().Get();
        EXPECT_EQ(stored(3), Numbers({23, -38})) << backend->GetId().Get();
    }
}

// What floats cannot do either is refused, with the reason of the layer's own kernel.
ISA_TEST(QuantizedAsFloat, RefusesWhatDoesNotFit)
{
    const TensorShape shape({4});
    const auto activation = [&](const ActivationDescriptor& descriptor, const TensorInfo& info)
    { return MakeCase(LayerType::Activation, descriptor, {Random(info, 1)}, info); };
    CheckUnsupported(activation(ActivationDescriptor(ActivationFunction::TanH, std::nanf(""), 1), Shorts(shape, 0.5f)),
                     SupportCode::UnsupportedParameters, "16-bit");
    CheckUnsupported(activation(ActivationDescriptor(ActivationFunction::Elu, 1), Shorts(shape, 0.0f)),
                     SupportCode::UnsupportedParameters, "positive and finite");
    CheckUnsupported(activation(ActivationDescriptor(ActivationFunction::Elu, 1),
                                TensorInfo(shape, DataType::QSymmS16, {1.0f, 2.0f, 3.0f, 4.0f}, 0)),
                     SupportCode::UnsupportedParameters, "scale per channel");
    CheckUnsupported(MakeCase(LayerType::ElementwiseBinary, ElementwiseBinaryDescriptor(BinaryOperation::Power),
                              {Random(Shorts(shape, 0.5f), 1), Random(Bytes(shape, 0.5f, 0), 2)}, Shorts(shape, 0.5f)),
                     SupportCode::UnsupportedType, "input 1");
    CheckUnsupported(MakeCase(LayerType::ElementwiseUnary, ElementwiseUnaryDescriptor(UnaryOperation::LogicalNot),
                              {Random(Shorts(shape, 0.5f), 1)}, Shorts(shape, 0.5f)),
                     SupportCode::UnsupportedType, "LogicalNot");
    Convolution3dDescriptor conv;
    conv.m_DataLayout = DataLayout::NDHWC;
    conv.m_StrideX = 0;
    const TensorInfo voxel = Bytes({1, 1, 1, 1, 1}, 0.5f, 3);
    CheckUnsupported(MakeCase(LayerType::Convolution3d, conv, {Random(voxel, 1), Random(voxel, 2)}, voxel),
                     SupportCode::UnsupportedType, "QAsymmU8");
    conv.m_StrideX = conv.m_StrideY = conv.m_StrideZ = 1;
    CheckRejectsShapes(
        MakeCase(LayerType::Convolution3d, conv, {Random(voxel, 1), Random(voxel, 2)}, Bytes({1, 1, 1, 1, 2}, 0.5f, 3)),
        "do not fit");
}

} // namespace tenon::test::quantized_as_float_test
