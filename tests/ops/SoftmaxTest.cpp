// SPDX-License-Identifier: Apache-2.0
// Softmax: any axis, beta and type, TFLite's exact results on quantized tensors, and what is refused.
#include "ops/ElementwiseOracle.hpp"

#include <tenon/descriptors/Normalization.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace tenon::test::softmax_test
{

namespace
{

/// The output of a Softmax as TFLite demands it: [0, 1).
TensorInfo MakeOutput(const TensorShape& shape, DataType type)
{
    switch (type)
    {
    case DataType::QAsymmU8: return TensorInfo(shape, type, 1.0f / 256.0f, 0);
    case DataType::QAsymmS8: return TensorInfo(shape, type, 1.0f / 256.0f, -128);
    case DataType::QSymmS16: return TensorInfo(shape, type, 1.0f / 32768.0f, 0);
    default: return TensorInfo(shape, type);
    }
}

OpCase MakeCase(TestTensor input, DataType outputType, int axis = -1, float beta = 1.0f)
{
    OpCase op;
    op.m_Name = input.m_Info.ToString() + " to " + GetDataTypeName(outputType) + " along " + std::to_string(axis) +
                ", beta " + std::to_string(beta);
    op.m_Type = LayerType::Softmax;
    SoftmaxDescriptor descriptor;
    descriptor.m_Axis = axis;
    descriptor.m_Beta = beta;
    op.m_Descriptor = MakeDescriptor(descriptor);
    op.m_Output = MakeOutput(input.m_Info.GetShape(), outputType);
    op.m_Inputs = {std::move(input)};
    op.m_Oracle = [axis, beta](const std::vector<RealTensor>& in)
    {
        const TensorShape& shape = in[0].m_Shape;
        const unsigned int rank = shape.GetNumDimensions();
        const unsigned int along = static_cast<unsigned int>(axis < 0 ? axis + static_cast<int>(rank) : axis);
        size_t step = 1;
        for (unsigned int i = along + 1; i < rank; ++i)
        {
            step *= shape[i];
        }
        const size_t depth = rank == 0 ? 1 : shape[along];
        std::vector<double> values = in[0].m_Values;
        for (size_t i = 0; i < values.size(); ++i)
        {
            const size_t first = i - i / step % depth * step;
            double sum = 0;
            for (size_t k = 0; k < depth; ++k)
            {
                sum += std::exp(beta * (in[0].m_Values[first + k * step] - in[0].m_Values[i]));
            }
            values[i] = 1.0 / sum;
        }
        return values;
    };
    return op;
}

} // namespace

ISA_TEST(Softmax, FloatTypes)
{
    for (const DataType type : {DataType::Float32, DataType::Float16, DataType::BFloat16})
    {
        for (const float beta : {1.0f, 0.25f, -2.0f, 0.0f})
        {
            OpCase op = MakeCase(Random(TensorInfo(TensorShape({3, 50}), type), 2, -5, 5), type, -1, beta);
            op.m_Relative = std::max(GetRounding(type), 5e-6);
            op.m_Absolute = 1e-6;
            CheckOp(op);
        }
    }
}

ISA_TEST(Softmax, AnyAxis)
{
    const TensorShape shape({2, 3, 4, 5});
    for (int axis = -4; axis < 4; ++axis)
    {
        CheckOp(MakeCase(Random(TensorInfo(shape, DataType::Float32), 3, -3, 3), DataType::Float32, axis));
        CheckOp(MakeCase(Random(TensorInfo(shape, DataType::QAsymmS8, 0.02f, 4), 4), DataType::QAsymmS8, axis));
        OpCase shorts = MakeCase(Random(TensorInfo(shape, DataType::QSymmS16, 1e-4f), 5), DataType::QSymmS16, axis);
        shorts.m_Steps = 30;
        CheckOp(shorts);
    }
}

ISA_TEST(Softmax, ShapesOfNoElementAndOfOne)
{
    for (const DataType type : {DataType::Float32, DataType::QAsymmU8, DataType::QSymmS16})
    {
        const auto input = [type](const TensorShape& shape)
        { return Random(IsQuantizedType(type) ? TensorInfo(shape, type, 0.01f) : TensorInfo(shape, type), 6); };
        CheckOp(MakeCase(input(TensorShape({2, 0})), type));
        CheckOp(MakeCase(input(TensorShape({0, 3})), type));
        OpCase ones = MakeCase(input(TensorShape({3, 1})), type);
        ones.m_Steps = 2;
        CheckOp(ones);
    }
    CheckOp(MakeCase(Random(TensorInfo(TensorShape(Dimensionality::Scalar), DataType::Float32), 7), DataType::Float32));
}

ISA_TEST(Softmax, LargeFloatsDoNotOverflow)
{
    CheckOp(MakeCase(Values(TensorInfo(TensorShape({2, 2}), DataType::Float32), {1e30, -1e30, 500, 501}),
                     DataType::Float32));
}

ISA_TEST(Softmax, QuantizedTypesAreWithinAStep)
{
    for (const DataType type : {DataType::QAsymmU8, DataType::QAsymmS8})
    {
        for (const float scale : {0.002f, 0.05f, 0.7f})
        {
            const TensorInfo info(TensorShape({5, 40}), type, scale, 3);
            CheckOp(MakeCase(Random(info, 8), type));
            CheckOp(MakeCase(Random(info, 9), type, -1, 0.3f));
            OpCase wide = MakeCase(Random(info, 10), DataType::QSymmS16);
            // TFLite puts -32768 for 0: the whole range of the type, whatever the output's quantization says.
            wide.m_Oracle = [inner = wide.m_Oracle](const std::vector<RealTensor>& in)
            {
                std::vector<double> values = inner(in);
                for (double& value : values)
                {
                    value = 2.0 * value - 1.0;
                }
                return values;
            };
            wide.m_Steps = 2;
            CheckOp(wide);
        }
    }
}

ISA_TEST(Softmax, ManyEqualBytes)
{
    // The sum of the powers leaves its 12 integer bits.
    const TensorInfo info(TensorShape({1, 5000}), DataType::QAsymmS8, 0.1f, 0);
    CheckOp(MakeCase(Stored(info, std::vector<double>(5000, 7.0)), DataType::QAsymmS8));
}

// Results of TFLite's reference kernels.
ISA_TEST(Softmax, QuantizedResultsOfTfLite)
{
    struct Row
    {
        TensorInfo m_Input;
        std::vector<double> m_Stored;
        DataType m_Output;
        float m_Beta;
        std::vector<double> m_Expected;
    };
    const TensorShape shape({1, 8});
    const std::vector<double> bytes = {-128, 0, 10, 20, 40, 41, 47, -5};
    const Row rows[] = {
        {TensorInfo(shape, DataType::QAsymmS8, 0.1f, 5),
         bytes,
         DataType::QAsymmS8,
         1.0f,
         {-128, -127, -125, -120, -69, -63, -9, -127}},
        {TensorInfo(shape, DataType::QAsymmU8, 0.05f, 5),
         {0, 100, 200, 255, 250, 251, 13, 90},
         DataType::QAsymmU8,
         0.7f,
         {0, 0, 13, 89, 75, 78, 0, 0}},
        {TensorInfo(shape, DataType::QAsymmS8, 0.1f, 5),
         bytes,
         DataType::QSymmS16,
         1.0f,
         {-32768, -32491, -32015, -30721, -17645, -16054, -2314, -32600}},
        {TensorInfo(shape, DataType::QSymmS16, 0.001f),
         {-32768, 0, 1000, 2000, 4000, 4100, 4700, -500},
         DataType::QSymmS16,
         1.0f,
         {1, 138, 376, 1023, 7562, 8357, 15226, 84}},
    };
    for (const Row& row : rows)
    {
        OpCase op = MakeCase(Stored(row.m_Input, row.m_Stored), row.m_Output, -1, row.m_Beta);
        op.m_Oracle = Expect(op.m_Output, row.m_Expected);
        op.m_Steps = 0;
        CheckOp(op);
    }
}

ISA_TEST(Softmax, RefusesWhatDoesNotFit)
{
    const TensorShape shape({2, 3});
    const auto floats = [&] { return Random(TensorInfo(shape, DataType::Float32), 1); };
    CheckRejectsShapes(MakeCase(floats(), DataType::Float32, 2), "axis 2");
    CheckRejectsShapes(MakeCase(floats(), DataType::Float32, -3), "axis -3");
    const TensorInfo bytes(shape, DataType::QAsymmS8, 0.5f, 0);
    for (const float beta : {std::numeric_limits<float>::infinity(), std::nanf("")})
    {
        CheckUnsupported(MakeCase(Random(bytes, 1), DataType::QAsymmS8, -1, beta), SupportCode::UnsupportedParameters,
                         "beta");
    }
    CheckUnsupported(MakeCase(Random(TensorInfo(shape, DataType::QAsymmS8), 1), DataType::QAsymmS8),
                     SupportCode::UnsupportedParameters, "positive and finite");
    CheckUnsupported(MakeCase(Random(bytes, 1), DataType::Float32), SupportCode::UnsupportedType, "output 0");
}

} // namespace tenon::test::softmax_test
