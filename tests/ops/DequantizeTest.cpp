// SPDX-License-Identifier: Apache-2.0
// Dequantize: stored numbers to real ones, per tensor, per channel and per block, and half precision to float.
#include "ops/ElementwiseOracle.hpp"

#include <tenon/descriptors/Base.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace tenon::test::dequantize_test
{

namespace
{

OpCase MakeCase(TestTensor input, DataType outputType = DataType::Float32)
{
    OpCase op;
    op.m_Name = input.m_Info.ToString() + " to " + GetDataTypeName(outputType);
    op.m_Type = LayerType::Dequantize;
    op.m_Descriptor = MakeDescriptor(NullDescriptor());
    op.m_Output = TensorInfo(input.m_Info.GetShape(), outputType);
    op.m_Inputs = {std::move(input)};
    op.m_Oracle = [](const std::vector<RealTensor>& in) { return in[0].m_Values; };
    op.m_Relative = GetRounding(outputType);
    op.m_Absolute = 0;
    return op;
}

} // namespace

ISA_TEST(Dequantize, StoredNumbers)
{
    const TensorShape shape({2, 100});
    for (const DataType to : {DataType::Float32, DataType::Float16})
    {
        CheckOp(MakeCase(Random(TensorInfo(shape, DataType::QAsymmU8, 0.3f, 100), 1), to));
        CheckOp(MakeCase(Random(TensorInfo(shape, DataType::QAsymmS8, 0.3f, -100), 2), to));
        CheckOp(MakeCase(Random(TensorInfo(shape, DataType::QSymmS8, 0.3f), 3), to));
        CheckOp(MakeCase(Random(TensorInfo(shape, DataType::QSymmS16, 0.003f), 4), to));
    }
    CheckOp(MakeCase(Random(TensorInfo(TensorShape({0}), DataType::QAsymmS8, 1.0f, 0), 5)));
    CheckOp(MakeCase(Random(TensorInfo(TensorShape(Dimensionality::Scalar), DataType::QAsymmS8, 1.0f, 0), 5)));
}

ISA_TEST(Dequantize, HalfPrecision)
{
    for (const DataType type : {DataType::Float16, DataType::BFloat16})
    {
        OpCase op = MakeCase(Random(TensorInfo(TensorShape({77}), type), 6, -100, 100));
        op.m_Relative = 0;
        CheckOp(op);
    }
}

ISA_TEST(Dequantize, PerChannel)
{
    for (const unsigned int dimension : {0U, 1U, 2U})
    {
        const TensorShape shape({2, 3, 4});
        std::vector<float> scales = {0.01f, 0.5f, 2.0f, 0.3f};
        scales.resize(shape[dimension]);
        TensorInfo info(shape, DataType::QSymmS8, scales, dimension);
        CheckOp(MakeCase(Random(info, 7)));
        std::vector<int32_t> zeroPoints = {1, -20, 3, 44};
        zeroPoints.resize(shape[dimension]);
        info.SetDataType(DataType::QAsymmS8);
        info.SetQuantizationOffsets(zeroPoints);
        CheckOp(MakeCase(Random(info, 8)));
    }
}

ISA_TEST(Dequantize, PerBlock)
{
    for (const unsigned int dimension : {0U, 1U, 2U})
    {
        const TensorShape shape({4, 6, 10});
        std::vector<float> scales(120);
        std::vector<int32_t> zeroPoints(120);
        for (size_t i = 0; i < scales.size(); ++i)
        {
            scales[i] = static_cast<float>(i * 37 % 101 + 1) / 64.0f;
            zeroPoints[i] = static_cast<int32_t>(i % 7) - 3;
        }
        for (const DataType type : {DataType::QSymmS4, DataType::QSymmS8})
        {
            TensorInfo info(shape, type, scales, dimension);
            info.SetQuantizationBlockSize(2);
            CheckOp(MakeCase(Random(info, 9)));
            CheckOp(MakeCase(Random(info, 9), DataType::Float16));
            info.SetQuantizationOffsets(zeroPoints);
            CheckOp(MakeCase(Random(info, 10)));
        }
    }
    TensorInfo info({2, 9}, DataType::QSymmS4, std::vector<float>{0.5f, 0.0f, 2.0f, 3.0f, 4.0f, 5.0f}, 1);
    info.SetQuantizationBlockSize(3);
    CheckOp(MakeCase(Random(info, 11)));
}

ISA_TEST(Dequantize, HalfBytes)
{
    OpCase op = MakeCase(Random(TensorInfo(TensorShape({3}), DataType::QAsymmS8, 0.5f, 0), 1));
    op.m_Inputs[0].m_Info = TensorInfo(TensorShape({3}), DataType::QSymmS4, 0.5f);
    op.m_Inputs[0].m_Bytes = {std::byte{0x8F}, std::byte{0x07}};
    const std::vector<std::byte> bytes = RunOp(*GetTestBackends().front(), op, RunVariant());
    EXPECT_EQ(GetStored(op.m_Output, bytes.data()), (std::vector<double>{-0.5, -4, 3.5}));
}

ISA_TEST(Dequantize, ZeroPointsMayLieOutsideOfTheType)
{
    for (const double zero : {-43.0, 300.0, -2147483648.0})
    {
        OpCase op = MakeCase(
            Stored(TensorInfo(TensorShape({3}), DataType::QAsymmU8, 0.5f, static_cast<int32_t>(zero)), {0, 1, 255}));
        op.m_Oracle = [zero](const auto&) {
            return std::vector<double>{0.5 * (0 - zero), 0.5 * (1 - zero), 0.5 * (255 - zero)};
        };
        CheckOp(op);
    }
}

ISA_TEST(Dequantize, RefusesWhatDoesNotFit)
{
    const TensorShape shape({2, 3});
    CheckUnsupported(MakeCase(Random(TensorInfo(shape, DataType::QAsymmS8), 1)), SupportCode::UnsupportedParameters,
                     "scale");
    TestTensor wrongDimension = Random(TensorInfo(shape, DataType::QSymmS8, 1.0f), 1);
    wrongDimension.m_Info = TensorInfo(shape, DataType::QSymmS8, std::vector<float>{1, 2, 3}, 0);
    CheckUnsupported(MakeCase(wrongDimension), SupportCode::UnsupportedParameters, "quantization dimension");
    wrongDimension.m_Info.SetQuantizationBlockSize(1);
    CheckUnsupported(MakeCase(wrongDimension), SupportCode::UnsupportedParameters, "has 6 blocks");
    wrongDimension.m_Info.SetQuantizationDim(1U);
    wrongDimension.m_Info.SetQuantizationBlockSize(2);
    CheckUnsupported(MakeCase(wrongDimension), SupportCode::UnsupportedParameters, "that its blocks divide");
    CheckUnsupported(MakeCase(Random(TensorInfo(shape, DataType::Signed32), 1)), SupportCode::UnsupportedType,
                     "input 0");
    CheckUnsupported(MakeCase(Random(TensorInfo(shape, DataType::Float16), 1), DataType::Float16),
                     SupportCode::UnsupportedType, "output 0");
}

} // namespace tenon::test::dequantize_test
