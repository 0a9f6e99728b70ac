// SPDX-License-Identifier: Apache-2.0
// L2Normalization against its definition; 8-bit tensors within a step.
#include "ops/NormalizationCase.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon::test::l2_normalization_test
{

namespace
{

/// 1 / norm of the row (of `depth` elements) that element i lies in.
double InverseNorm(const std::vector<double>& values, size_t i, size_t depth, double eps)
{
    double squares = 0;
    for (size_t k = i - i % depth; k < i - i % depth + depth; ++k)
    {
        squares += values[k] * values[k];
    }
    return 1.0 / std::max(std::sqrt(squares), eps);
}

OpCase MakeL2(TestTensor input, float eps = 1e-6f)
{
    L2NormalizationDescriptor descriptor;
    descriptor.m_Eps = eps;
    descriptor.m_DataLayout = DataLayout::NHWC;
    const auto oracle = [eps](const std::vector<RealTensor>& in)
    {
        std::vector<double> values = in[0].m_Values;
        const size_t depth = in[0].m_Shape[in[0].m_Shape.GetNumDimensions() - 1];
        for (size_t i = 0; i < values.size(); ++i)
        {
            values[i] *= InverseNorm(in[0].m_Values, i, depth, eps);
        }
        return values;
    };
    return MakeNormalization(LayerType::L2Normalization, descriptor, std::move(input), oracle);
}

} // namespace

ISA_TEST(L2Normalization, FloatTypes)
{
    for (const DataType type : NormalizedTypes)
    {
        CheckOp(MakeL2(Random(TensorInfo({2, 3, 2, 7}, type), 1, -3, 3)));
        CheckOp(MakeL2(Random(TensorInfo({5}, type), 1, -3, 3)));
        CheckOp(MakeL2(Random(TensorInfo({2, 0}, type), 1)));
    }
    CheckOp(MakeL2(Values(TensorInfo({2, 2}, DataType::Float32), {0, 0, 1e-3, 0}), 1e-2f));
}

ISA_TEST(L2Normalization, BytesAreWithinAStep)
{
    for (const DataType type : {DataType::QAsymmU8, DataType::QAsymmS8})
    {
        for (const unsigned int depth : {1U, 2U, 9U, 300U})
        {
            OpCase op = MakeL2(Random(TensorInfo({4, depth}, type, 0.1f, 17), 3));
            op.m_Output = TensorInfo({4, depth}, type, 1.0f / 128.0f, type == DataType::QAsymmU8 ? 128 : 0);
            CheckOp(op);
        }
    }
    CheckRejectsShapes(MakeL2(Random(TensorInfo(TensorShape(Dimensionality::Scalar), DataType::Float32), 3)), "scalar");
}

} // namespace tenon::test::l2_normalization_test
