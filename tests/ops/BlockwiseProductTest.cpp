// SPDX-License-Identifier: Apache-2.0
// FullyConnected of float data by weights with a scale per block: against products in double precision where 8 bits
// hold the data exactly, and equal to LiteRT's own kernel (ai-edge-litert 2.3.0 without delegates), bit for bit.
#include "harness/OpTest.hpp"

#include <tenon/descriptors/Elementwise.hpp>
#include <tenon/descriptors/Products.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace tenon::test::blockwise_product_test
{

namespace
{

struct Sizes
{
    unsigned int m_Rows;
    unsigned int m_Depth;
    unsigned int m_Outputs;
    unsigned int m_Block;
};

TensorInfo Blocks(const TensorShape& shape, DataType type, unsigned int size, const std::vector<float>& scales)
{
    TensorInfo info(shape, type, scales, shape.GetNumDimensions() - 1);
    info.SetQuantizationBlockSize(size);
    return info;
}

/// Scales that 16 bits hold or, where they are not `half`, do not hold.
std::vector<float> MakeScales(const Sizes& sizes, bool half)
{
    std::vector<float> scales(size_t{sizes.m_Outputs} * (sizes.m_Depth / sizes.m_Block));
    for (size_t i = 0; i < scales.size(); ++i)
    {
        scales[i] = static_cast<float>(i * 37 % 101 + 1) / 1024.0f * (half ? 1.0f : 1.0001f);
    }
    return scales;
}

/// Rows that 8 bits hold exactly: steps from -128 or less to 127, with a step and a zero point of each row's own.
std::vector<double> MakeRows(const Sizes& sizes)
{
    std::vector<double> data;
    for (unsigned int row = 0; row < sizes.m_Rows; ++row)
    {
        const int zeroPoint = static_cast<int>(row * 41 % 200) - 100;
        for (unsigned int k = 0; k < sizes.m_Depth; ++k)
        {
            const int step = k == 0 ? -128 : k == 1 ? 127 : static_cast<int>((row * 29 + k * 17 + row * k) % 256) - 128;
            data.push_back((step - zeroPoint) * (row % 3 == 2 ? 0.125 : 0.0625));
        }
    }
    return data;
}

std::vector<double> Multiply(const std::vector<RealTensor>& in, const Sizes& sizes)
{
    std::vector<double> sums;
    for (size_t row = 0; row < sizes.m_Rows; ++row)
    {
        for (size_t o = 0; o < sizes.m_Outputs; ++o)
        {
            double sum = in.size() > 2 ? in[2].m_Values[o] : 0.0;
            for (size_t k = 0; k < sizes.m_Depth; ++k)
            {
                sum += in[0].m_Values[row * sizes.m_Depth + k] * in[1].m_Values[o * sizes.m_Depth + k];
            }
            sums.push_back(sum);
        }
    }
    return sums;
}

OpCase MakeOp(const Sizes& sizes, DataType weights, bool hasBias, bool halfScales = true)
{
    FullyConnectedDescriptor descriptor;
    descriptor.m_BiasEnabled = hasBias;
    descriptor.m_TransposeWeightMatrix = true;
    const TensorInfo info =
        Blocks({sizes.m_Outputs, sizes.m_Depth}, weights, sizes.m_Block, MakeScales(sizes, halfScales));
    TestTensor stored = Random(info, 5);
    if (weights == DataType::QSymmS8)
    {
        std::fill_n(stored.m_Bytes.begin(), std::min<size_t>(stored.m_Bytes.size(), 9), std::byte{0x80}); // -128
    }
    OpCase op{std::to_string(sizes.m_Rows) + " rows, depth " + std::to_string(sizes.m_Depth) + ", " +
                  std::to_string(sizes.m_Outputs) + " outputs, blocks of " + std::to_string(sizes.m_Block) +
                  (weights == DataType::QSymmS4 ? ", 4 bits" : ", 8 bits") + (halfScales ? "" : ", scales of 32 bits"),
              LayerType::FullyConnected,
              MakeDescriptor(descriptor),
              {Values(TensorInfo({sizes.m_Rows, sizes.m_Depth}, DataType::Float32), MakeRows(sizes)), Constant(stored)},
              TensorInfo({sizes.m_Rows, sizes.m_Outputs}, DataType::Float32),
              [sizes](const std::vector<RealTensor>& in) { return Multiply(in, sizes); }};
    if (hasBias)
    {
        op.m_Inputs.push_back(Constant(Random(TensorInfo({sizes.m_Outputs}, DataType::Float32), 7)));
    }
    // Sums cancel: a result may be far below its products.
    op.m_Absolute = 1e-6 * 16 * sizes.m_Depth * (weights == DataType::QSymmS4 ? 1 : 16);
    return op;
}

constexpr Sizes AllSizes[] = {
    {1, 32, 4, 32},    {1, 64, 1, 32},    {1, 96, 33, 32},   {1, 256, 70, 128}, {1, 512, 130, 32}, {2, 64, 7, 16},
    {3, 160, 31, 32},  {4, 64, 65, 64},   {5, 32, 3, 8},     {6, 512, 40, 256}, {9, 96, 17, 48},   {33, 192, 66, 64},
    {70, 64, 150, 32}, {3, 66, 12, 33},   {2, 40, 9, 10},    {2, 24, 5, 24},    {1, 1024, 9, 512}, {17, 72, 35, 72},
    {0, 32, 3, 32},    {8, 256, 128, 32}, {1, 256, 128, 64},
};

} // namespace

ISA_TEST(BlockwiseProduct, AgreesWithDoublePrecision)
{
    for (const Sizes& sizes : AllSizes)
    {
        for (const DataType weights : {DataType::QSymmS4, DataType::QSymmS8})
        {
            CheckOp(MakeOp(sizes, weights, true));
            CheckOp(MakeOp(sizes, weights, false, false));
        }
    }
}

// All backends give the same bits, as the order of the floating-point sums is part of the definition.
ISA_TEST(BlockwiseProduct, IsTheSameOnAllBackends)
{
    for (const Sizes& sizes : AllSizes)
    {
        for (const DataType weights : {DataType::QSymmS4, DataType::QSymmS8})
        {
            OpCase op = MakeOp(sizes, weights, true);
            op.m_Inputs[0] = Random(op.m_Inputs[0].m_Info, 11, -3, 5);
            const std::vector<std::byte> bytes = RunOp(*GetTestBackends().front(), op, RunVariant());
            op.m_Oracle = Expect(op.m_Output, GetStored(op.m_Output, bytes.data()));
            op.m_Relative = op.m_Absolute = 0;
            CheckOp(op);
        }
    }
}

ISA_TEST(BlockwiseProduct, EqualsLiteRt)
{
    struct Judged
    {
        Sizes m_Sizes;
        bool m_HasBias;
        std::vector<float> m_Output;
    };
    const Judged cases[] = {
        {{3, 32, 5, 16},
         true,
         {0x1.60d374p-3f, 0x1.a1820ap-1f, -0x1.b8e96ap-1f, -0x1.efdafcp+0f, -0x1.61a698p+0f, 0x1.133304p+0f,
          -0x1.bf57dp+0f, -0x1.24d03p+1f, 0x1.121c3cp-2f, 0x1.712ddcp+1f, -0x1.945eap-1f, -0x1.90c1e2p+1f,
          0x1.b924a6p-2f, -0x1.028ea8p+2f, 0x1.dfffep+0f}},
        {{2, 96, 4, 32},
         false,
         {-0x1.79393ap-6f, -0x1.7c4304p+2f, 0x1.f6aa2ap+0f, 0x1.ee8606p+0f, 0x1.a8eaecp+2f, 0x1.12b8dap+2f,
          0x1.a7fcfep-1f, -0x1.00fbdcp+2f}},
    };
    for (const Judged& judged : cases)
    {
        const Sizes& sizes = judged.m_Sizes;
        OpCase op = MakeOp(sizes, DataType::QSymmS4, judged.m_HasBias);
        std::vector<double> data;
        std::vector<double> weights;
        std::vector<double> bias;
        for (int row = 0; row < static_cast<int>(sizes.m_Rows); ++row)
        {
            for (int k = 0; k < static_cast<int>(sizes.m_Depth); ++k)
            {
                data.push_back(((row * 29 + k * 17 + row * k) % 97 - 40) / 16.0);
            }
        }
        for (int n = 0; n < static_cast<int>(sizes.m_Outputs); ++n)
        {
            for (int k = 0; k < static_cast<int>(sizes.m_Depth); ++k)
            {
                weights.push_back((n * 7 + k * 5 + n * k % 11) % 16 - 8);
            }
            bias.push_back((n - 2) / 8.0);
        }
        op.m_Inputs[0] = Values(op.m_Inputs[0].m_Info, data);
        op.m_Inputs[1] = Constant(Stored(op.m_Inputs[1].m_Info, weights));
        if (judged.m_HasBias)
        {
            op.m_Inputs[2] = Constant(Values(op.m_Inputs[2].m_Info, bias));
        }
        op.m_Oracle = Expect(op.m_Output, {judged.m_Output.begin(), judged.m_Output.end()});
        op.m_Relative = op.m_Absolute = 0;
        CheckOp(op);
    }
}

ISA_TEST(BlockwiseProduct, TakesRowsOfZerosAndOfOneValue)
{
    const Sizes sizes{3, 64, 20, 32};
    OpCase op = MakeOp(sizes, DataType::QSymmS4, true);
    std::vector<double> data(size_t{3} * 64);
    std::fill_n(data.begin() + 64, 64, 2.5); // quantized as 255 steps of 2.5 / 255
    data[2 * 64 + 5] = -3;
    op.m_Inputs[0] = Values(op.m_Inputs[0].m_Info, data);
    CheckOp(op);
}

ISA_TEST(BlockwiseProduct, AppliesActivations)
{
    ActivationDescriptor bounded;
    bounded.m_Function = ActivationFunction::BoundedReLu;
    bounded.m_A = 6.0f;
    bounded.m_B = -1.0f;
    for (const Sizes& sizes : {Sizes{1, 64, 37, 32}, Sizes{6, 64, 37, 32}})
    {
        OpCase op = MakeOp(sizes, DataType::QSymmS4, true);
        op.m_FusedActivation = &bounded;
        op.m_Oracle = [sizes](const std::vector<RealTensor>& in)
        {
            std::vector<double> values = Multiply(in, sizes);
            std::transform(values.begin(), values.end(), values.begin(),
                           [](double value) { return std::clamp(value, -1.0, 6.0); });
            return values;
        };
        CheckOp(op);
    }
}

// A block of zeros may have scale 0.
ISA_TEST(BlockwiseProduct, TakesScalesOfZeroAndOfSubnormals)
{
    const Sizes sizes{2, 64, 5, 32};
    OpCase op = MakeOp(sizes, DataType::QSymmS4, false);
    std::vector<float> scales(10, 0x1p-24f);
    scales[3] = scales[4] = 0.0f;
    scales[6] = 1.0f;
    op.m_Inputs[1].m_Info = Blocks({5, 64}, DataType::QSymmS4, 32, scales);
    CheckOp(op);
}

ISA_TEST(BlockwiseProduct, IsRefused)
{
    const auto refuse = [](const auto& change, SupportCode code, const std::string& reason)
    {
        OpCase op = MakeOp({2, 64, 4, 32}, DataType::QSymmS4, false);
        change(op);
        CheckUnsupported(op, code, reason);
    };
    const auto weights = [](OpCase& op) -> TensorInfo& { return op.m_Inputs[1].m_Info; };
    constexpr SupportCode Parameters = SupportCode::UnsupportedParameters;
    refuse([&](OpCase& op) { weights(op).SetQuantizationBlockSize(24); }, Parameters, "that its blocks divide");
    refuse([&](OpCase& op) { weights(op).SetQuantizationBlockSize(16); }, Parameters, "has 16 blocks");
    refuse([&](OpCase& op) { weights(op).SetQuantizationDim(0U); }, Parameters, "another dimension than 1");
    refuse([&](OpCase& op) { weights(op).SetQuantizationOffset(1); }, Parameters, "zero points other than 0");
    for (const float scale : {-1.0f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
    {
        refuse(
            [&](OpCase& op)
            {
                std::vector<float> scales = weights(op).GetQuantizationScales();
                scales.back() = scale;
                weights(op).SetQuantizationScales(scales);
            },
            Parameters, "finite and not negative");
    }
    const auto withTypes = [](DataType data, DataType output)
    {
        return [data, output](OpCase& op)
        {
            op.m_Inputs[0] = Random(TensorInfo({2, 64}, data, 0.5f), 1);
            op.m_Output = TensorInfo({2, 4}, output, 0.5f);
        };
    };
    refuse(withTypes(DataType::QAsymmS8, DataType::QAsymmS8), SupportCode::UnsupportedType, "take Float32 data");
    refuse([&](OpCase& op) { op.m_Descriptor = MakeDescriptor(FullyConnectedDescriptor()); }, Parameters,
           "are [outputs, inputs]");
}

} // namespace tenon::test::blockwise_product_test
