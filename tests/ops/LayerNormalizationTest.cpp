// SPDX-License-Identifier: Apache-2.0
// LayerNormalization against its definition: from each axis on, with and without scale, bias and subtracted mean.
#include "ops/NormalizationCase.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon::test::layer_normalization_test
{

namespace
{

constexpr float Epsilon = 0.01f;

/// `depth` neighbours are normalized together.
Oracle Normalized(size_t depth, bool subtractsMean = true)
{
    return [=](const std::vector<RealTensor>& in)
    {
        const auto parameter = [&](size_t input, size_t i, double otherwise)
        {
            const bool isThere = in.size() > input && !in[input].m_Values.empty();
            return isThere ? in[input].m_Values[in[input].m_Values.size() == 1 ? 0 : i] : otherwise;
        };
        std::vector<double> values = in[0].m_Values;
        for (size_t first = 0; first < values.size(); first += depth)
        {
            double mean = 0;
            double variance = 0;
            for (size_t i = 0; i < depth; ++i)
            {
                mean += subtractsMean ? in[0].m_Values[first + i] / static_cast<double>(depth) : 0.0;
            }
            for (size_t i = 0; i < depth; ++i)
            {
                variance += std::pow(in[0].m_Values[first + i] - mean, 2) / static_cast<double>(depth);
            }
            for (size_t i = 0; i < depth; ++i)
            {
                values[first + i] = (values[first + i] - mean) / std::sqrt(variance + Epsilon) * parameter(1, i, 1) +
                                    parameter(2, i, 0);
            }
        }
        return values;
    };
}

/// The same over `numAxes` dimensions of [2, 3, 4, 5] from the second on; scale and bias broadcast.
Oracle NormalizedMiddle(unsigned int numAxes, bool subtractsMean)
{
    const size_t depth = numAxes == 1 ? 3 : (numAxes == 2 ? 12 : 60);
    const size_t inner = 60 / depth;
    return [=](const std::vector<RealTensor>& in)
    {
        const auto parameter = [&](size_t input, size_t i, double otherwise)
        {
            const bool isThere = in.size() > input && !in[input].m_Values.empty();
            return isThere ? in[input].m_Values[i % in[input].m_Values.size()] : otherwise;
        };
        const std::vector<double>& x = in[0].m_Values;
        std::vector<double> values(x.size());
        for (size_t i = 0; i < x.size(); ++i)
        {
            const size_t first = i / 60 * 60 + i % inner;
            double mean = 0;
            double variance = 0;
            for (size_t k = 0; k < depth; ++k)
            {
                mean += subtractsMean ? x[first + k * inner] / static_cast<double>(depth) : 0.0;
            }
            for (size_t k = 0; k < depth; ++k)
            {
                variance += std::pow(x[first + k * inner] - mean, 2) / static_cast<double>(depth);
            }
            values[i] = (x[i] - mean) / std::sqrt(variance + Epsilon) * parameter(1, i, 1) + parameter(2, i, 0);
        }
        return values;
    };
}

OpCase MakeCase(int axis, TestTensor input, size_t depth, bool subtractsMean = true)
{
    LayerNormalizationDescriptor descriptor;
    descriptor.m_Axis = axis;
    descriptor.m_Epsilon = Epsilon;
    descriptor.m_SubtractMean = subtractsMean;
    return MakeNormalization(LayerType::LayerNormalization, descriptor, std::move(input),
                             Normalized(depth, subtractsMean));
}

} // namespace

ISA_TEST(LayerNormalization, AgreesWithItsDefinition)
{
    for (const DataType type : {DataType::Float32, DataType::Float16, DataType::BFloat16, DataType::Float64})
    {
        const TensorInfo info({2, 3, 4, 5}, type);
        const struct
        {
            int m_Axis;
            TensorShape m_Parameter;
        } cases[] = {{-1, {5}}, {3, {1, 5}}, {2, {4, 5}}, {-3, {3, 4, 5}}, {0, {2, 3, 4, 5}}, {-1, {1}}};
        for (const auto& [axis, shape] : cases)
        {
            const int first = axis < 0 ? axis + 4 : axis;
            size_t depth = 1;
            for (int i = first; i < 4; ++i)
            {
                depth *= info.GetShape()[static_cast<unsigned int>(i)];
            }
            for (const bool subtractsMean : {true, false})
            {
                OpCase op = MakeCase(axis, Random(info, 1, -1, 3), depth, subtractsMean);
                op.m_Relative *= 2;
                op.m_Absolute *= 2;
                CheckOp(op);
                op.m_Inputs.push_back(Constant(Random(TensorInfo(shape, type), 2, 0.5, 2)));
                CheckOp(op);
                op.m_Inputs.push_back(Constant(Random(TensorInfo(shape, type), 3, -1, 1)));
                CheckOp(op);
                op.m_Inputs[1] = NotConnected();
                CheckOp(op);
            }
        }
    }
    CheckOp(MakeCase(-1, Random(TensorInfo({0, 4}, DataType::Float32), 1), 4));
    CheckOp(MakeCase(-1, Random(TensorInfo({4, 0}, DataType::Float32), 1), 1));
}

ISA_TEST(LayerNormalization, DimensionsInTheMiddle)
{
    for (const DataType type : {DataType::Float32, DataType::Float16, DataType::BFloat16, DataType::Float64})
    {
        for (const unsigned int bits : {2U, 3U, 4U, 5U, 6U, 7U})
        {
            const unsigned int numAxes = bits / 2; // three are all that follow
            LayerNormalizationDescriptor descriptor;
            descriptor.m_SubtractMean = bits % 2 == 0;
            descriptor.m_Axis = numAxes == 2 ? -3 : 1;
            descriptor.m_NumAxes = numAxes;
            descriptor.m_Epsilon = Epsilon;
            OpCase op = MakeNormalization(LayerType::LayerNormalization, descriptor,
                                          Random(TensorInfo({2, 3, 4, 5}, type), 1, -1, 3),
                                          NormalizedMiddle(numAxes, descriptor.m_SubtractMean));
            op.m_Relative *= 2;
            op.m_Absolute *= 2;
            CheckOp(op);
            if (numAxes != 3) // then scale and bias have the shape of what is normalized
            {
                op.m_Inputs.push_back(Constant(Random(TensorInfo({5}, type), 2, 0.5, 2)));
                CheckOp(op);
                op.m_Inputs.push_back(Constant(Random(TensorInfo({4, 5}, type), 3, -1, 1)));
                CheckOp(op);
            }
        }
    }
}

ISA_TEST(LayerNormalization, RefusesWhatDoesNotFit)
{
    OpCase op = MakeCase(-1, Random(TensorInfo({2, 4}, DataType::Float32), 1), 4);
    op.m_Inputs.push_back(Random(TensorInfo({3}, DataType::Float32), 1));
    CheckRejectsShapes(op, "one element for each");
    CheckRejectsShapes(MakeCase(2, Random(TensorInfo({2, 4}, DataType::Float32), 1), 4), "axis 2");
    LayerNormalizationDescriptor middle;
    middle.m_Axis = 0;
    middle.m_NumAxes = 1;
    op = MakeNormalization(LayerType::LayerNormalization, middle, Random(TensorInfo({2, 4}, DataType::Float32), 1),
                           Normalized(2));
    op.m_Inputs.push_back(Random(TensorInfo({3}, DataType::Float32), 1));
    CheckRejectsShapes(op, "broadcast");
    middle.m_NumAxes = 3;
    CheckRejectsShapes(MakeNormalization(LayerType::LayerNormalization, middle,
                                         Random(TensorInfo({2, 4}, DataType::Float32), 1), Normalized(2)),
                       "3 dimensions");
    CheckUnsupported(MakeCase(-1, Random(TensorInfo({2, 4}, DataType::QAsymmS8, 0.1f, 0), 1), 4),
                     SupportCode::UnsupportedType, "QAsymmS8");
}

} // namespace tenon::test::layer_normalization_test
