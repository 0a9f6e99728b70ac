// SPDX-License-Identifier: Apache-2.0
// FullyConnected and 1x1 Convolution2d with weights that change from run to run, bytes in both modes of requantization,
// against CpuRef.
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "ops/cpu/CompareWithReference.hpp"
#include "ops/cpu/TensorInfoInt8.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Elementwise.hpp>
#include <tenon/descriptors/Products.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace tenon::test::run_time_weights_test
{

namespace
{

enum class BiasOf
{
    Nothing,
    Constant,
    RunTime
};

constexpr BiasOf Biases[] = {BiasOf::Nothing, BiasOf::Constant, BiasOf::RunTime};

/// Rows, depths and columns: one row, few, those of a tile, many; odd depths and columns, and whole vectors.
constexpr unsigned int Sizes[][3] = {{1, 2, 3},    {1, 70, 37},   {3, 64, 65},  {4, 37, 19},   {7, 130, 48},
                                     {9, 33, 130}, {16, 96, 100}, {17, 70, 67}, {40, 129, 32}, {150, 65, 300}};

ActivationDescriptor MakeBounded(float low, float high)
{
    ActivationDescriptor bounded;
    bounded.m_Function = ActivationFunction::BoundedReLu;
    bounded.m_A = high;
    bounded.m_B = low;
    return bounded;
}

void AddBias(std::vector<TestTensor>& inputs, BiasOf bias, const TestTensor& tensor)
{
    if (bias != BiasOf::Nothing)
    {
        inputs.push_back(bias == BiasOf::Constant ? Constant(tensor) : tensor);
    }
}

OpCase MakeConnected(std::vector<TestTensor> inputs, bool outputsFirst, const TensorInfo& output)
{
    FullyConnectedDescriptor d;
    d.m_TransposeWeightMatrix = outputsFirst;
    d.m_BiasEnabled = inputs.size() > 2;
    const std::string name = inputs[0].m_Info.ToString() + " by " + inputs[1].m_Info.ToString();
    return ReferenceCase(name, LayerType::FullyConnected, d, std::move(inputs), output);
}

OpCase MakePixels(std::vector<TestTensor> inputs, const TensorInfo& output, unsigned int stride = 1)
{
    Convolution2dDescriptor d;
    d.m_StrideX = d.m_StrideY = stride;
    d.m_BiasEnabled = inputs.size() > 2;
    d.m_DataLayout = DataLayout::NHWC;
    const std::string name = inputs[0].m_Info.ToString() + " by " + inputs[1].m_Info.ToString();
    return ReferenceCase(name, LayerType::Convolution2d, d, std::move(inputs), output);
}

TensorInfo Float(const TensorShape& shape)
{
    return TensorInfo(shape, DataType::Float32);
}

TensorInfo BiasInfo(unsigned int columns)
{
    return TensorInfo(TensorShape({columns}), DataType::Signed32, 0.001f, 0);
}

/// An output scale for which most results are in range.
float GetOutputScale(unsigned int depth)
{
    return 0.05f * std::sqrt(static_cast<float>(depth + 1));
}

enum class ByteWeights
{
    Unsigned,
    Centred,    ///< int8 without -128
    Asymmetric, ///< int8
    PerChannel  ///< int8 with a scale for each output
};

constexpr ByteWeights KindsOfBytes[] = {ByteWeights::Unsigned, ByteWeights::Centred, ByteWeights::Asymmetric,
                                        ByteWeights::PerChannel};

TestTensor MakeByteWeights(ByteWeights kind, const TensorShape& shape, unsigned int axis)
{
    switch (kind)
    {
    case ByteWeights::Unsigned: return Random(InfoInt8(shape, false, 0.02f, 117), 2);
    case ByteWeights::Centred: return Random(TensorInfo(shape, DataType::QSymmS8, 0.02f, 0), 2, -2.5, 2.5);
    case ByteWeights::Asymmetric: return Random(InfoInt8(shape, true, 0.02f, -5), 2);
    case ByteWeights::PerChannel: break;
    }
    std::vector<float> scales(shape[axis]);
    for (size_t c = 0; c < scales.size(); ++c)
    {
        scales[c] = 0.003f * static_cast<float>(1 + c % 11);
    }
    return Random(TensorInfo(shape, DataType::QSymmS8, scales, axis), 2);
}

/// On some processors the reference kernel runs few rows by weights that would have to be packed first.
std::string NameOfBytes(const std::string& kernel, unsigned int rows, bool outputsFirst)
{
    constexpr unsigned int ManyRows = 8;
    return rows >= ManyRows || !outputsFirst ? kernel : "";
}

} // namespace

ISA_TEST(RunTimeWeights, ConnectedFloatsAsReference)
{
    const ActivationDescriptor bounded = MakeBounded(-1.0f, 2.0f);
    for (const auto& [rows, depth, columns] : Sizes)
    {
        for (const BiasOf bias : Biases)
        {
            for (const bool outputsFirst : {false, true})
            {
                for (const ActivationDescriptor* activation :
                     {static_cast<const ActivationDescriptor*>(nullptr), &bounded})
                {
                    const TensorShape weights =
                        outputsFirst ? TensorShape({columns, depth}) : TensorShape({depth, columns});
                    std::vector<TestTensor> inputs = {Random(Float(TensorShape({rows, depth})), 1, -1, 1),
                                                      Random(Float(weights), 2, -1, 1)};
                    AddBias(inputs, bias, Random(Float(TensorShape({columns})), 3, -1, 1));
                    OpCase op = MakeConnected(std::move(inputs), outputsFirst, Float(TensorShape({rows, columns})));
                    op.m_FusedActivation = activation;
                    ExpectAsReference(op, "CpuFullyConnectedRunTimeF32", 1e-5);
                }
            }
        }
    }
}

// Weights larger than one group of packed panels, and rows of images.
ISA_TEST(RunTimeWeights, LargeConnectedFloatsAsReference)
{
    for (const unsigned int rows : {1U, 6U, 200U})
    {
        const OpCase op = MakeConnected({Random(Float(TensorShape({rows, 2, 350})), 1, -1, 1),
                                         Random(Float({701, 700}), 2, -1, 1), Random(Float({701}), 3, -1, 1)},
                                        true, Float(TensorShape({rows, 701})));
        ExpectAsReference(op, "CpuFullyConnectedRunTimeF32", 1e-5);
    }
}

ISA_TEST(RunTimeWeights, ConnectedBytesAsReference)
{
    const ActivationDescriptor bounded = MakeBounded(-1.0f, 4.0f);
    for (const auto& [rows, depth, columns] : Sizes)
    {
        for (const ByteWeights kind : KindsOfBytes)
        {
            for (const BiasOf bias : Biases)
            {
                for (const bool outputsFirst : {false, true})
                {
                    const bool isSigned = kind != ByteWeights::Unsigned;
                    const TensorShape weights =
                        outputsFirst ? TensorShape({columns, depth}) : TensorShape({depth, columns});
                    std::vector<TestTensor> inputs = {
                        Random(InfoInt8(TensorShape({rows, depth}), isSigned, 0.05f, 20), 1),
                        MakeByteWeights(kind, weights, outputsFirst ? 0 : 1)};
                    AddBias(inputs, bias, Random(BiasInfo(columns), 3, -5, 5));
                    OpCase op = MakeConnected(
                        std::move(inputs), outputsFirst,
                        InfoInt8(TensorShape({rows, columns}), isSigned, GetOutputScale(depth), isSigned ? -3 : 120));
                    op.m_FusedActivation = bias == BiasOf::RunTime ? &bounded : nullptr;
                    ExpectAsReferenceInBothModes<FullyConnectedDescriptor>(
                        op, NameOfBytes("CpuFullyConnectedRunTimeInt8", rows, outputsFirst));
                }
            }
        }
    }
}

// Few rows need no packing on processors with int8 dot products, and, for weights without -128, on some others.
ISA_TEST(RunTimeWeights, FewRowsOfBytesAreNotPacked)
{
    if (!cpu::GetCpuFeatures().m_Simd || !cpu::GetMicrokernelsInt8().Has(cpu::KernelRoleInt8::UnpackedInt8))
    {
        ISA_SKIP() << "the processor has no such loops";
    }
    for (const unsigned int rows : {1U, 2U, 5U, 16U})
    {
        for (const unsigned int columns : {1U, 63U, 64U, 330U})
        {
            const OpCase op = MakeConnected({Random(InfoInt8(TensorShape({rows, 200}), true, 0.05f, 20), 1),
                                             MakeByteWeights(ByteWeights::Centred, TensorShape({columns, 200}), 0),
                                             Random(BiasInfo(columns), 3, -5, 5)},
                                            true, InfoInt8(TensorShape({rows, columns}), true, 0.4f, 7));
            ExpectAsReferenceInBothModes<FullyConnectedDescriptor>(op, "CpuFullyConnectedRunTimeInt8");
        }
    }
}

// Biases whose sums wrap around or exceed fixed-point arithmetic, and the largest sums of 8-bit products.
ISA_TEST(RunTimeWeights, AnyBiasAsReference)
{
    constexpr int32_t Smallest = std::numeric_limits<int32_t>::min();
    constexpr int32_t Largest = std::numeric_limits<int32_t>::max();
    constexpr int32_t Numbers[] = {Smallest, Largest, Smallest + 1, 1 << 29, (1 << 29) + 1, -(1 << 29), 1 << 30, 0};
    for (const unsigned int rows : {1U, 9U, 40U})
    {
        for (const int32_t number : Numbers)
        {
            constexpr unsigned int Columns = 21;
            TestTensor bias = Random(BiasInfo(Columns), 3, -5, 5);
            std::memcpy(bias.m_Bytes.data() + 4 * sizeof(number), &number, sizeof(number));
            const TestTensor weights = MakeByteWeights(ByteWeights::Asymmetric, {Columns, 100}, 0);
            TestTensor pixelWeights = weights;
            pixelWeights.m_Info.SetShape({Columns, 1, 1, 100});
            for (const float scale : {0.5f, 4e5f, 1e-7f})
            {
                const OpCase connected =
                    MakeConnected({Random(InfoInt8(TensorShape({rows, 100}), true, 0.05f, 20), 1), weights, bias}, true,
                                  InfoInt8(TensorShape({rows, Columns}), true, scale, 0));
                ExpectAsReferenceInBothModes<FullyConnectedDescriptor>(
                    connected, NameOfBytes("CpuFullyConnectedRunTimeInt8", rows, true));
                const OpCase pixels = MakePixels(
                    {Random(InfoInt8(TensorShape({1, rows, 1, 100}), true, 0.05f, 20), 1), pixelWeights, bias},
                    InfoInt8(TensorShape({1, rows, 1, Columns}), true, scale, 0));
                ExpectAsReferenceInBothModes<Convolution2dDescriptor>(
                    pixels, NameOfBytes("CpuConvolution2dRunTimeInt8", rows, true));
            }
        }
    }
}

ISA_TEST(RunTimeWeights, PixelsAsReference)
{
    const ActivationDescriptor bounded = MakeBounded(0.0f, 6.0f);
    for (const auto& [width, depth, columns] : Sizes)
    {
        for (const BiasOf bias : Biases)
        {
            const TensorShape image({2, 1, width, depth});
            const TensorShape weights({columns, 1, 1, depth});
            const TensorShape output({2, 1, width, columns});
            std::vector<TestTensor> inputs = {Random(Float(image), 1, -1, 1), Random(Float(weights), 2, -1, 1)};
            AddBias(inputs, bias, Random(Float(TensorShape({columns})), 3, -1, 1));
            OpCase op = MakePixels(std::move(inputs), Float(output));
            op.m_FusedActivation = width % 2 == 0 ? &bounded : nullptr;
            ExpectAsReference(op, "CpuConvolution2dRunTimeF32", 1e-5);
            for (const ByteWeights kind : KindsOfBytes)
            {
                const bool isSigned = kind != ByteWeights::Unsigned;
                inputs = {Random(InfoInt8(image, isSigned, 0.05f, 20), 1), MakeByteWeights(kind, weights, 0)};
                AddBias(inputs, bias, Random(BiasInfo(columns), 3, -5, 5));
                op = MakePixels(std::move(inputs),
                                InfoInt8(output, isSigned, GetOutputScale(depth), isSigned ? -3 : 120));
                op.m_FusedActivation = width % 2 == 0 ? &bounded : nullptr;
                ExpectAsReferenceInBothModes<Convolution2dDescriptor>(
                    op, NameOfBytes("CpuConvolution2dRunTimeInt8", 2 * width, true));
            }
        }
    }
}

// Layers of the reference kernel: windows of several taps, groups, strides that skip pixels; sums that could overflow.
ISA_TEST(RunTimeWeights, OthersAreTheReferenceKernels)
{
    const auto floats = [](const TensorShape& shape) { return Random(Float(shape), 1, -1, 1); };
    ExpectAsReference(MakePixels({floats({1, 5, 6, 8}), floats({9, 3, 3, 8})}, Float({1, 3, 4, 9})),
                      "RefConvolution2d");
    ExpectAsReference(MakePixels({floats({1, 5, 6, 8}), floats({6, 1, 1, 4})}, Float({1, 5, 6, 6})),
                      "RefConvolution2d");
    ExpectAsReference(MakePixels({floats({1, 5, 5, 8}), floats({6, 1, 1, 8})}, Float({1, 3, 3, 6}), 2),
                      "RefConvolution2d");
    constexpr unsigned int Deep = 17000;
    ExpectAsReference(MakeConnected({Random(InfoInt8({9, Deep}, true, 0.05f, 20), 1),
                                     MakeByteWeights(ByteWeights::Asymmetric, {3, Deep}, 0)},
                                    true, InfoInt8({9, 3}, true, 10.0f, 0)),
                      "RefFullyConnected");
}

// Constant matrices [depth, columns] of 1 MiB or more are read in place for few rows.
ISA_TEST(RunTimeWeights, LargeConstantMatricesStay)
{
    constexpr unsigned int Depth = 515;
    constexpr unsigned int Columns = 521;
    for (const unsigned int rows : {1U, 4U, 5U})
    {
        const TestTensor input = Random(Float({rows, Depth}), rows);
        const TestTensor weights = Constant(Random(Float({Depth, Columns}), 7));
        const TensorInfo output = Float({rows, Columns});
        OpCase connected = MakeConnected({input, weights, Constant(Random(Float({Columns}), 8))}, false, output);
        connected.m_Relative = 1e-5;
        ASSERT_NO_FATAL_FAILURE(
            ExpectAsReference(connected, rows < 5 ? "CpuFullyConnectedRunTimeF32" : "CpuFullyConnectedF32", 1e-5));
        OpCase product = ReferenceCase(std::to_string(rows) + " rows", LayerType::BatchMatMul, BatchMatMulDescriptor(),
                                       {input, weights}, output);
        product.m_Relative = 1e-5;
        ASSERT_NO_FATAL_FAILURE(
            ExpectAsReference(product, rows < 5 ? "CpuBatchMatMul" : "CpuBatchMatMulConstantF32", 1e-5));
    }
    // For more rows: matrices that exceed all caches, which are read in slices.
    constexpr unsigned int Many = 2053;
    for (const unsigned int rows : {7U, 9U})
    {
        OpCase product = ReferenceCase(std::to_string(rows) + " rows", LayerType::BatchMatMul, BatchMatMulDescriptor(),
                                       {Random(Float({rows, Many}), rows), Constant(Random(Float({Many, Many}), 7))},
                                       Float({rows, Many}));
        product.m_Relative = 1e-5;
        ASSERT_NO_FATAL_FAILURE(
            ExpectAsReference(product, rows < 9 ? "CpuBatchMatMul" : "CpuBatchMatMulConstantF32", 1e-5));
    }
    // The kernel of constant weights reads the columns of this one in place.
    OpCase columns = MakeConnected({Random(Float({2, Depth}), 1), Constant(Random(Float({Columns, Depth}), 2))}, true,
                                   Float({2, Columns}));
    columns.m_Relative = 1e-5;
    ASSERT_NO_FATAL_FAILURE(ExpectAsReference(columns, "CpuFullyConnectedF32", 1e-5));
}

} // namespace tenon::test::run_time_weights_test
