// SPDX-License-Identifier: Apache-2.0
// Convolutions and pooling of images of one column, which CpuAcc lays as such of one row, beside CpuRef's: of all
// types, with strides, dilations and borders.
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Pooling.hpp>

#include <string>

namespace tenon::test::column_as_row_test
{

namespace
{

struct Column
{
    unsigned int m_Batches;
    unsigned int m_Length;
    unsigned int m_Channels;
    unsigned int m_Kernel;
    unsigned int m_Stride;
    unsigned int m_Dilation;
    unsigned int m_Outputs;  ///< channels
    bool m_IsBeside = false; ///< windows see the padding to the left alone

    unsigned int GetPad() const { return m_Dilation * (m_Kernel - 1); }
    unsigned int GetOutputLength() const { return (m_Length - 1) / m_Stride + 1; }
    TensorShape GetData() const { return {m_Batches, m_Length, 1, m_Channels}; }
    TensorShape GetOutput(unsigned int channels) const { return {m_Batches, GetOutputLength(), 1, channels}; }
};

const Column Columns[] = {{1, 40, 3, 5, 1, 1, 9},       {3, 33, 16, 3, 2, 1, 20},     {2, 70, 8, 4, 1, 3, 33},
                          {1, 300, 1, 80, 2, 1, 16},    {1, 6, 24, 31, 1, 1, 24},     {2, 1, 5, 3, 1, 1, 4},
                          {1, 600, 64, 3, 1, 1, 8},     {2, 2, 3, 4, 1, 1, 16, true}, {1, 3, 2, 2000, 1, 1, 16, true},
                          {1, 8, 16, 3, 1, 1, 32, true}};

/// Data, weights and output of a type of layers.
struct Types
{
    TensorInfo m_Data;
    TensorInfo m_Weights;
    TensorInfo m_Output;
};

const Types AllTypes[] = {
    {TensorInfo({1}, DataType::Float32), TensorInfo({1}, DataType::Float32), TensorInfo({1}, DataType::Float32)},
    {TensorInfo({1}, DataType::Float32), TensorInfo({1}, DataType::QSymmS8, 0.02f, 0),
     TensorInfo({1}, DataType::Float32)},
    {TensorInfo({1}, DataType::QAsymmS8, 0.1f, 3), TensorInfo({1}, DataType::QSymmS8, 0.02f, 0),
     TensorInfo({1}, DataType::QAsymmS8, 0.4f, -4)},
    {TensorInfo({1}, DataType::QAsymmU8, 0.1f, 130), TensorInfo({1}, DataType::QAsymmU8, 0.02f, 120),
     TensorInfo({1}, DataType::QAsymmU8, 0.4f, 124)},
    {TensorInfo({1}, DataType::QSymmS16, 1e-3f, 0), TensorInfo({1}, DataType::QSymmS8, 0.02f, 0),
     TensorInfo({1}, DataType::QSymmS16, 4e-3f, 0)},
};

template <typename D>
D MakeWindows(const Column& column)
{
    D d;
    d.m_DataLayout = DataLayout::NHWC;
    d.m_StrideX = column.m_IsBeside ? 3 : 1;
    d.m_PadLeft = d.m_PadRight = column.m_IsBeside ? 1 : 0;
    d.m_StrideY = column.m_Stride;
    d.m_DilationX = 1;
    d.m_DilationY = column.m_Dilation;
    d.m_PadTop = column.GetPad() / 3;
    d.m_PadBottom = column.GetPad() - d.m_PadTop;
    return d;
}

void Expect(const char* what, const Column& column, const Types& types, LayerType type,
            std::shared_ptr<const BaseDescriptor> descriptor, const TensorShape& weights, unsigned int outputs)
{
    const TensorInfo data = Shaped(types.m_Data, column.GetData());
    OpCase op = ReferenceCase(
        std::string(what) + " of " + GetDataTypeName(data.GetDataType()) + " " + data.GetShape().ToString() + " by " +
            GetDataTypeName(types.m_Weights.GetDataType()) + " " + weights.ToString(),
        type, std::move(descriptor), {Random(data, 1), Constant(Random(Shaped(types.m_Weights, weights), 2))},
        Shaped(types.m_Output, column.GetOutput(outputs)));
    const bool isFloat = data.GetDataType() == DataType::Float32;
    op.m_Relative = isFloat ? 1e-5 : 0;
    ExpectAsReference(op, "", isFloat ? 2e-6 : 0);
}

} // namespace

ISA_TEST(ColumnAsRow, ConvolutionsAsReference)
{
    for (const Column& column : Columns)
    {
        for (const Types& types : AllTypes)
        {
            Expect("convolution", column, types, LayerType::Convolution2d,
                   MakeDescriptor(MakeWindows<Convolution2dDescriptor>(column)),
                   {column.m_Outputs, column.m_Kernel, 1, column.m_Channels}, column.m_Outputs);
        }
    }
}

ISA_TEST(ColumnAsRow, DepthwiseConvolutionsAsReference)
{
    for (const Column& column : Columns)
    {
        for (const Types& types : AllTypes)
        {
            const unsigned int outputs = column.m_Channels * (column.m_Channels < 6 ? 2 : 1);
            Expect("depthwise convolution", column, types, LayerType::DepthwiseConvolution2d,
                   MakeDescriptor(MakeWindows<DepthwiseConvolution2dDescriptor>(column)),
                   {1, column.m_Kernel, 1, outputs}, outputs);
        }
    }
}

ISA_TEST(ColumnAsRow, PoolingAsReference)
{
    for (const bool isColumn : {true, false})
    {
        for (const Column& column : Columns)
        {
            for (const Types& types : AllTypes)
            {
                for (const PoolingAlgorithm algorithm : {PoolingAlgorithm::Max, PoolingAlgorithm::Average})
                {
                    const auto image = [&](unsigned int points)
                    {
                        return isColumn ? TensorShape({column.m_Batches, points, 1, column.m_Channels})
                                        : TensorShape({column.m_Batches, 1, points, column.m_Channels});
                    };
                    Pooling2dDescriptor d;
                    d.m_DataLayout = DataLayout::NHWC;
                    d.m_PoolType = algorithm;
                    d.m_PaddingMethod = column.m_Stride == 1 ? PaddingMethod::Exclude : PaddingMethod::IgnoreValue;
                    (isColumn ? d.m_PoolHeight : d.m_PoolWidth) = column.m_Kernel;
                    (isColumn ? d.m_PoolWidth : d.m_PoolHeight) = 1;
                    (isColumn ? d.m_StrideY : d.m_StrideX) = column.m_Stride;
                    (isColumn ? d.m_StrideX : d.m_StrideY) = 1;
                    (isColumn ? d.m_PadTop : d.m_PadLeft) = (column.m_Kernel - 1) / 2;
                    (isColumn ? d.m_PadBottom : d.m_PadRight) = column.m_Kernel - 1 - (column.m_Kernel - 1) / 2;
                    OpCase op = ReferenceCase(
                        std::string(isColumn ? "column" : "row") + " of " +
                            GetDataTypeName(types.m_Data.GetDataType()) + " " + image(column.m_Length).ToString() +
                            ", window " + std::to_string(column.m_Kernel),
                        LayerType::Pooling2d, d, {Random(Shaped(types.m_Data, image(column.m_Length)), 1)},
                        Shaped(types.m_Data, image(column.GetOutputLength())));
                    op.m_Relative = types.m_Data.GetDataType() == DataType::Float32 ? 1e-5 : 0;
                    ExpectAsReference(op, "CpuPooling2d", op.m_Relative);
                }
            }
        }
    }
}

} // namespace tenon::test::column_as_row_test
