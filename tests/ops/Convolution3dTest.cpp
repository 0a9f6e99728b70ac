// SPDX-License-Identifier: Apache-2.0
// Convolution3d and TransposeConvolution3d against sums in double precision.
#include "ops/VolumeOracle.hpp"

#include <tenon/descriptors/Convolution.hpp>

#include <gtest/gtest.h>

namespace tenon::test::convolution3d_test
{

namespace
{

struct Case
{
    const char* m_Name;
    TensorShape m_Data;
    TensorShape m_Weights; ///< [D, H, W, I, O], transposed: [D, H, W, O, I]
    TensorShape m_Output;
    VolumeSum m_Sum;
};

const Case Forward[] = {
    {"plain", {2, 3, 4, 5, 3}, {2, 2, 2, 3, 4}, {2, 2, 3, 4, 4}, {}},
    {"strides", {1, 5, 6, 7, 2}, {2, 3, 1, 2, 3}, {1, 2, 2, 3, 3}, {{2, 2, 3}}},
    {"padded and dilated", {1, 4, 4, 4, 2}, {2, 2, 3, 2, 1}, {1, 4, 4, 4, 1}, {{1, 1, 1}, {2, 1, 1}, {1, 0, 1}}},
    {"no batches", {0, 2, 2, 2, 1}, {1, 1, 1, 1, 1}, {0, 2, 2, 2, 1}, {}},
    {"no channels", {1, 2, 2, 2, 0}, {1, 1, 1, 0, 2}, {1, 2, 2, 2, 2}, {}},
};

const Case Transposed[] = {
    {"plain", {2, 2, 3, 4, 3}, {2, 2, 2, 5, 3}, {2, 3, 4, 5, 5}, {}},
    {"strides", {1, 2, 2, 3, 2}, {2, 3, 1, 3, 2}, {1, 4, 5, 7, 3}, {{2, 2, 3}}},
    {"padded and dilated", {1, 4, 4, 4, 2}, {2, 2, 3, 1, 2}, {1, 4, 4, 4, 1}, {{1, 1, 1}, {2, 1, 1}, {1, 0, 1}}},
    {"no batches", {0, 2, 2, 2, 1}, {1, 1, 1, 1, 1}, {0, 2, 2, 2, 1}, {}},
};

template <typename D>
OpCase MakeOp(const Case& c, LayerType layer, DataType type = DataType::Float32)
{
    D descriptor;
    descriptor.m_StrideZ = static_cast<uint32_t>(c.m_Sum.m_Stride[0]);
    descriptor.m_StrideY = static_cast<uint32_t>(c.m_Sum.m_Stride[1]);
    descriptor.m_StrideX = static_cast<uint32_t>(c.m_Sum.m_Stride[2]);
    descriptor.m_DilationZ = static_cast<uint32_t>(c.m_Sum.m_Dilation[0]);
    descriptor.m_DilationY = static_cast<uint32_t>(c.m_Sum.m_Dilation[1]);
    descriptor.m_DilationX = static_cast<uint32_t>(c.m_Sum.m_Dilation[2]);
    descriptor.m_PadFront = static_cast<uint32_t>(c.m_Sum.m_Pad[0]);
    descriptor.m_PadTop = static_cast<uint32_t>(c.m_Sum.m_Pad[1]);
    descriptor.m_PadLeft = static_cast<uint32_t>(c.m_Sum.m_Pad[2]);
    descriptor.m_BiasEnabled = true;
    VolumeSum sum = c.m_Sum;
    sum.m_Transposed = layer == LayerType::TransposeConvolution3d;
    if (sum.m_Transposed)
    {
        sum.m_Order = {0, 1, 2, 3, 4};
    }
    for (unsigned int i = 0; i < 5; ++i)
    {
        sum.m_Output[i] = c.m_Output[i];
    }
    OpCase op{c.m_Name,
              layer,
              MakeDescriptor(descriptor),
              {Random(TensorInfo(c.m_Data, type), 1), Constant(Random(TensorInfo(c.m_Weights, type), 2)),
               Random(TensorInfo(TensorShape({c.m_Output[4]}), type), 3)},
              TensorInfo(c.m_Output, type),
              sum};
    if (type != DataType::Float32)
    {
        op.m_Relative = op.m_Absolute = type == DataType::Float64 ? 1e-13 : type == DataType::Float16 ? 2e-3 : 1.6e-2;
    }
    return op;
}

OpCase MakeForward(const Case& c, DataType type = DataType::Float32)
{
    return MakeOp<Convolution3dDescriptor>(c, LayerType::Convolution3d, type);
}

OpCase MakeTransposed(const Case& c, DataType type = DataType::Float32)
{
    return MakeOp<TransposeConvolution3dDescriptor>(c, LayerType::TransposeConvolution3d, type);
}

} // namespace

ISA_TEST(Convolution3d, AgreesWithDoublePrecision)
{
    for (const DataType type : {DataType::Float32, DataType::Float64, DataType::Float16, DataType::BFloat16})
    {
        for (const Case& c : Forward)
        {
            CheckOp(MakeForward(c, type));
        }
    }
    OpCase op = MakeForward(Forward[0]);
    op.m_Descriptor = MakeDescriptor(Convolution3dDescriptor());
    op.m_Inputs.pop_back();
    CheckOp(op);
}

ISA_TEST(Convolution3d, RefusesWhatDoesNotFit)
{
    OpCase op = MakeForward(Forward[0]);
    Convolution3dDescriptor descriptor;
    descriptor.m_StrideZ = 0;
    op.m_Descriptor = MakeDescriptor(descriptor);
    CheckUnsupported(op, SupportCode::UnsupportedParameters, "stride");
    descriptor = {};
    descriptor.m_DataLayout = DataLayout::NCDHW;
    op.m_Descriptor = MakeDescriptor(descriptor);
    CheckUnsupported(op, SupportCode::UnsupportedParameters, "NDHWC");
    CheckRejectsShapes(MakeForward({"", {1, 2, 2, 2, 3}, {1, 1, 1, 2, 4}, {1, 2, 2, 2, 4}, {}}), "do not fit");
    CheckRejectsShapes(MakeForward({"", {1, 2, 2, 2, 2}, {1, 1, 1, 2, 4}, {1, 2, 2, 2, 5}, {}}), "do not fit");
}

ISA_TEST(TransposeConvolution3d, AgreesWithDoublePrecision)
{
    for (const DataType type : {DataType::Float32, DataType::Float64, DataType::Float16, DataType::BFloat16})
    {
        for (const Case& c : Transposed)
        {
            CheckOp(MakeTransposed(c, type));
        }
    }
}

ISA_TEST(TransposeConvolution3d, RefusesWhatDoesNotFit)
{
    OpCase op = MakeTransposed(Transposed[0]);
    TransposeConvolution3dDescriptor descriptor;
    descriptor.m_DilationX = 0;
    op.m_Descriptor = MakeDescriptor(descriptor);
    CheckUnsupported(op, SupportCode::UnsupportedParameters, "dilation");
    CheckRejectsShapes(MakeTransposed({"", {1, 2, 2, 2, 3}, {1, 1, 1, 4, 2}, {1, 2, 2, 2, 4}, {}}), "do not fit");
    CheckRejectsShapes(MakeTransposed({"", {1, 2, 2, 2, 2}, {1, 1, 1, 4, 2}, {2, 2, 2, 2, 4}, {}}), "do not fit");
}

} // namespace tenon::test::convolution3d_test
