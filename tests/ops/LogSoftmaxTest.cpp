// SPDX-License-Identifier: Apache-2.0
// LogSoftmax against its definition along any axis; 8-bit tensors within a step.
#include "ops/NormalizationCase.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon::test::log_softmax_test
{

namespace
{

OpCase MakeLogSoftmax(TestTensor input, int axis = -1)
{
    LogSoftmaxDescriptor descriptor;
    descriptor.m_Axis = axis;
    const auto oracle = [axis](const std::vector<RealTensor>& in)
    {
        const TensorShape& shape = in[0].m_Shape;
        const unsigned int rank = shape.GetNumDimensions();
        const auto along = static_cast<unsigned int>(axis < 0 ? axis + static_cast<int>(rank) : axis);
        size_t step = 1;
        for (unsigned int i = along + 1; i < rank; ++i)
        {
            step *= shape[i];
        }
        std::vector<double> values = in[0].m_Values;
        for (size_t i = 0; i < values.size(); ++i)
        {
            const size_t first = i - i / step % shape[along] * step;
            double sum = 0;
            for (size_t k = 0; k < shape[along]; ++k)
            {
                sum += std::exp(in[0].m_Values[first + k * step] - in[0].m_Values[i]);
            }
            values[i] = -std::log(sum);
        }
        return values;
    };
    return MakeNormalization(LayerType::LogSoftmax, descriptor, std::move(input), oracle);
}

} // namespace

ISA_TEST(LogSoftmax, FloatTypes)
{
    for (const DataType type : {DataType::Float32, DataType::Float16, DataType::BFloat16, DataType::Float64})
    {
        for (int axis = -3; axis < 3; ++axis)
        {
            CheckOp(MakeLogSoftmax(Random(TensorInfo({2, 5, 3}, type), 1, -4, 4), axis));
        }
    }
    CheckOp(MakeLogSoftmax(Values(TensorInfo({1, 3}, DataType::Float32), {1000, 1001, 900})));
    CheckRejectsShapes(MakeLogSoftmax(Random(TensorInfo({2, 3}, DataType::Float32), 1), 2), "axis 2");
}

ISA_TEST(LogSoftmax, BytesAreWithinAStep)
{
    for (const DataType type : {DataType::QAsymmU8, DataType::QAsymmS8})
    {
        for (const float scale : {0.002f, 0.1f, 0.7f})
        {
            const TensorInfo info({6, 40}, type, scale, 3);
            OpCase op = MakeLogSoftmax(Random(info, 5));
            op.m_Output = TensorInfo({6, 40}, type, 1.0f / 16.0f, type == DataType::QAsymmU8 ? 255 : 127);
            CheckOp(op);
        }
    }
}

} // namespace tenon::test::log_softmax_test
