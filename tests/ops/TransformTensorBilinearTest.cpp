// SPDX-License-Identifier: Apache-2.0
// TransformTensorBilinear against its definition, and against results of MediaPipe's kernel (mediapipe 0.10.21).
#include "harness/OpTest.hpp"
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Vision.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace tenon::test::transform_tensor_bilinear_test
{

namespace
{

OpCase MakeCase(TestTensor image, TestTensor matrix, unsigned int height, unsigned int width)
{
    TransformTensorBilinearDescriptor descriptor;
    descriptor.m_OutputHeight = height;
    descriptor.m_OutputWidth = width;
    const TensorShape input = image.m_Info.GetShape();
    const unsigned int channels = input[3];
    OpCase op;
    op.m_Name = input.ToString() + " to " + std::to_string(height) + " x " + std::to_string(width);
    op.m_Type = LayerType::TransformTensorBilinear;
    op.m_Descriptor = MakeDescriptor(descriptor);
    op.m_Inputs = {std::move(image), std::move(matrix)};
    op.m_Output = TensorInfo(TensorShape({1, height, width, channels}), DataType::Float32);
    op.m_Oracle = [=](const std::vector<RealTensor>& in)
    {
        const auto coordinate = [&](unsigned int row, double x, double y)
        { return in[1].At(0, row, 0) * (x + 0.5) + in[1].At(0, row, 1) * (y + 0.5) + in[1].At(0, row, 3) - 0.5; };
        std::vector<double> values;
        for (unsigned int i = 0; i < height; ++i)
        {
            for (unsigned int j = 0; j < width; ++j)
            {
                const double x = coordinate(0, j, i);
                const double y = coordinate(1, j, i);
                for (unsigned int c = 0; c < channels; ++c)
                {
                    double sum = 0;
                    for (unsigned int k = 0; k < input[1]; ++k)
                    {
                        for (unsigned int l = 0; l < input[2]; ++l)
                        {
                            sum += std::fmax(0, 1 - std::abs(y - k)) * std::fmax(0, 1 - std::abs(x - l)) *
                                   in[0].At(0, k, l, c);
                        }
                    }
                    const bool isInside = x >= 0 && y >= 0 && x <= input[2] - 1.0 && y <= input[1] - 1.0;
                    values.push_back(isInside ? sum : 0);
                }
            }
        }
        return values;
    };
    return op;
}

TestTensor Image(const TensorShape& shape)
{
    return Random(TensorInfo(shape, DataType::Float32), 8, -1, 1);
}

/// The first two rows; the others say nothing.
TestTensor Matrix(const std::vector<double>& rows)
{
    std::vector<double> all = rows;
    all.resize(16, 7);
    return Values(TensorInfo(TensorShape({1, 4, 4}), DataType::Float32), all);
}

} // namespace

ISA_TEST(TransformTensorBilinear, PointsOfAnyMatrix)
{
    CheckOp(MakeCase(Image(TensorShape({1, 6, 7, 3})), Matrix({1, 0, 5, 0.25, 0, 1, 5, 0.125}), 5, 6));
    CheckOp(MakeCase(Image(TensorShape({1, 9, 8, 5})), Matrix({0.75, -0.5, 0, 3, 0.5, 0.875, 0, -1}), 7, 5));
    CheckOp(MakeCase(Image(TensorShape({1, 3, 3, 32})), Matrix({0.25, 0, 0, 0.3, 0, 0.25, 0, 0.3}), 8, 9));
    CheckOp(MakeCase(Image(TensorShape({1, 40, 30, 8})), Matrix({-0.875, 0.125, 0, 27, 0.25, 1.125, 0, 0.75}), 30, 25));
    CheckOp(MakeCase(Image(TensorShape({1, 2, 2, 2})), Matrix({1, 0, 0, 1e9, 0, 1, 0, 0}), 2, 2));
    CheckOp(MakeCase(Image(TensorShape({1, 3, 5, 1})), Matrix({0.015625, 0, 0, 0.25, 0, 1, 0, 0}), 2, 270));
    const double nan = std::nan("");
    OpCase nowhere = MakeCase(Image(TensorShape({1, 2, 2, 2})), Matrix({nan, 0, 0, 0, 0, 1, 0, 0}), 1, 2);
    nowhere.m_Oracle = [](const auto&) { return std::vector<double>(4); };
    CheckOp(nowhere);
    CheckOp(MakeCase(Image(TensorShape({1, 0, 3, 2})), Matrix({1, 0, 0, 0, 0, 1, 0, 0}), 2, 2));
}

ISA_TEST(TransformTensorBilinear, ResultsOfMediaPipe)
{
    const TestTensor image = Values(TensorInfo(TensorShape({1, 3, 4, 2}), DataType::Float32),
                                    {0.25, 0,   -2.25, 0,     4.75, -2.75, 2.75, -5, -2, 4.5, 3.75,  -4.25,
                                     3.5,  3.5, -0.5,  -1.25, 5,    4.5,   1.75, -1, -3, 4.5, -2.25, 0.5});
    OpCase op = MakeCase(image, Matrix({0.75, -0.5, 0, 1.25, 0.5, 0.875, 0, -0.375}), 3, 3);
    op.m_Oracle = Expect(op.m_Output, {0, 0, 2.5839844, -0.99609375, 2.375, 0.72265625, -0.107421875, 0.8378906,
                                       3.2382812, -2.7246094, -0.55078125, 3.4121094, 0, 0, 0, 0, 0, 0});
    op.m_Relative = op.m_Absolute = 1e-7;
    CheckOp(op);
}

ISA_TEST(TransformTensorBilinear, InfinitePixelsWithoutWeightAreLeftOut)
{
    const double infinity = std::numeric_limits<double>::infinity();
    const TestTensor image =
        Values(TensorInfo(TensorShape({1, 2, 3, 1}), DataType::Float32), {1, 2, infinity, 3, infinity, infinity});
    OpCase op = MakeCase(image, Matrix({1, 0, 0, 0, 0, 1, 0, 0}), 2, 3);
    op.m_Oracle = [](const auto& in) { return in[0].m_Values; };
    CheckOp(op);
}

ISA_TEST(TransformTensorBilinear, RefusesWhatDoesNotFit)
{
    OpCase op = MakeCase(Image(TensorShape({1, 3, 3, 2})), Matrix({1, 0, 0, 0, 0, 1, 0, 0}), 2, 2);
    OpCase channels = op;
    channels.m_Output.SetShape(TensorShape({1, 2, 2, 3}));
    CheckRejectsShapes(channels, "as many channels");
    OpCase matrix = op;
    matrix.m_Inputs[1] = Random(TensorInfo(TensorShape({1, 3, 4}), DataType::Float32), 3);
    CheckRejectsShapes(matrix, "16 elements are wanted");
    op.m_Inputs[0] = Random(TensorInfo(TensorShape({1, 3, 3, 2}), DataType::QAsymmS8, 1.0f, 0), 3);
    CheckUnsupported(op, SupportCode::UnsupportedType, "input 0");
}

static InferCases MakeInferCases()
{
    using enum LayerType;
    const auto sized = Made<TransformTensorBilinearDescriptor>(
        [](auto& d)
        {
            d.m_OutputHeight = 5;
            d.m_OutputWidth = 6;
        });
    return {
        Case(TransformTensorBilinear, "sizes", sized, {T({1, 8, 9, 3}), T({1, 4, 4})}).Gives({"[1,5,6,3]"}),
        Case(TransformTensorBilinear, "batch", sized, {T({2, 8, 9, 3}), T({1, 4, 4})}).Rejects("[1, H, W, C]"),
        Case(TransformTensorBilinear, "matrix", sized, {T({1, 8, 9, 3}), T({4, 4})}).Rejects("[1, 4, 4]"),
    };
}
static const InferTable inferCases(MakeInferCases);

} // namespace tenon::test::transform_tensor_bilinear_test
