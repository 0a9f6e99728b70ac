// SPDX-License-Identifier: Apache-2.0
// Outputs that are larger than a core's share of the caches, with rows that begin within cache lines: they are zeroed
// first, by the thread that computes them, and not where threads share a row.
#include "ops/cpu/CompareWithReference.hpp"
#include "ops/cpu/TensorInfoInt8.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Products.hpp>

#include <string>

namespace tenon::test::large_outputs_test
{

namespace
{

constexpr unsigned int LargeBytes = 9u << 20;

/// A fully connected layer with enough rows to make the output large.
OpCase MakeOp(const TestTensor& weights, DataType data, const TensorInfo& outputType)
{
    const unsigned int columns = weights.m_Info.GetShape()[0];
    const unsigned int depth = weights.m_Info.GetShape()[1];
    const unsigned int rows = LargeBytes / (columns * (GetDataTypeBits(outputType.GetDataType()) / 8));
    TensorInfo dataInfo(TensorShape({rows, depth}), data);
    if (outputType.IsQuantized())
    {
        dataInfo = Shaped(outputType, dataInfo.GetShape());
    }
    FullyConnectedDescriptor d;
    d.m_TransposeWeightMatrix = true;
    return ReferenceCase(std::to_string(columns) + " columns", LayerType::FullyConnected, d,
                         {Random(dataInfo, columns, -1, 1), Constant(weights)},
                         Shaped(outputType, TensorShape({rows, columns})));
}

TestTensor MakeWeights(DataType type, unsigned int columns, unsigned int depth)
{
    return Random(TensorInfo(TensorShape({columns, depth}), type, 0.01f, 0), depth, -1, 1);
}

/// Kernels of one row of three taps, one of which is missing at each border of the image.
OpCase MakeConvolution(DataType type, DataType weightType, unsigned int outputs)
{
    constexpr unsigned int Width = 16;
    constexpr unsigned int Channels = 32;
    const unsigned int height = LargeBytes / (Width * outputs * (GetDataTypeBits(type) / 8));
    Convolution2dDescriptor d;
    d.m_DataLayout = DataLayout::NHWC;
    d.m_StrideX = d.m_StrideY = 1;
    d.m_PadLeft = d.m_PadRight = 1;
    const TensorInfo weights(TensorShape({outputs, 1, 3, Channels}), weightType, 0.01f, 0);
    return ReferenceCase("windows for " + std::to_string(outputs) + " columns", LayerType::Convolution2d, d,
                         {Random(TensorInfo(TensorShape({2, height / 2, Width, Channels}), type), outputs, -1, 1),
                          Constant(Random(weights, 2, -1, 1))},
                         TensorInfo(TensorShape({2, height / 2, Width, outputs}), type));
}

void SetFloatBounds(OpCase& op)
{
    const bool isHalf = op.m_Output.GetDataType() == DataType::BFloat16;
    op.m_Relative = isHalf ? 8e-3 : 1e-5;
    op.m_Absolute = isHalf ? 1e-3 : 1e-5;
}

} // namespace

ISA_TEST(LargeOutputs, OfFloats)
{
    for (const unsigned int columns : {70u, 1001u})
    {
        for (const DataType type : {DataType::Float32, DataType::BFloat16})
        {
            const bool isHalf = type == DataType::BFloat16;
            // Rows of bfloat16 of the same length in bytes.
            const TestTensor weights = MakeWeights(type, isHalf ? 2 * columns + 1 : columns, 3);
            OpCase op = MakeOp(weights, type, TensorInfo({1}, type));
            SetFloatBounds(op);
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(op, isHalf ? "" : "CpuFullyConnectedF32")); // by processor
        }
    }
}

// Pixels with missing taps are computed in runs of their own, so that the rows of a block are not contiguous.
ISA_TEST(LargeOutputs, OfWindowsWithColumnsApart)
{
    for (const DataType type : {DataType::Float32, DataType::BFloat16})
    {
        const bool isHalf = type == DataType::BFloat16;
        OpCase op = MakeConvolution(type, type, isHalf ? 141 : 70);
        SetFloatBounds(op);
        ASSERT_NO_FATAL_FAILURE(ExpectAsReference(op, isHalf ? "" : "CpuConvolution2dF32")); // by processor
    }
    ASSERT_NO_FATAL_FAILURE(
        ExpectAsReference(MakeConvolution(DataType::Float32, DataType::QSymmS8, 70), "CpuConvolution2dHybrid"));
}

ISA_TEST(LargeOutputs, OfFloatsByBytes)
{
    for (const unsigned int columns : {70u, 1001u})
    {
        ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
            MakeOp(MakeWeights(DataType::QSymmS8, columns, 8), DataType::Float32, TensorInfo({1}, DataType::Float32)),
            "CpuFullyConnectedHybrid"));
    }
}

ISA_TEST(LargeOutputs, OfBytes)
{
    for (const unsigned int columns : {261u, 1001u})
    {
        ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
            MakeOp(MakeWeights(DataType::QSymmS8, columns, 4), DataType::QAsymmS8, InfoInt8({1}, true, 0.02f, 5)),
            "CpuFullyConnectedInt8"));
    }
}

} // namespace tenon::test::large_outputs_test
