// SPDX-License-Identifier: Apache-2.0
// FakeQuantization: floats on a grid.
#include "ops/ElementwiseOracle.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon::test::fake_quantization_test
{

namespace
{

FakeQuantizationDescriptor MakeGrid(float min, float max, uint32_t bits, bool isNarrow = false)
{
    FakeQuantizationDescriptor descriptor;
    descriptor.m_Min = min;
    descriptor.m_Max = max;
    descriptor.m_NumBits = bits;
    descriptor.m_NarrowRange = isNarrow;
    return descriptor;
}

OpCase MakeCase(const FakeQuantizationDescriptor& grid, TestTensor input)
{
    const TensorInfo info = input.m_Info;
    OpCase op{std::to_string(grid.m_NumBits) + " bits of " + info.ToString(),
              LayerType::FakeQuantization,
              MakeDescriptor(grid),
              {std::move(input)},
              info,
              [grid](const auto& in)
              {
                  const double lowest = grid.m_NarrowRange ? 1 : 0;
                  const double highest = std::pow(2.0, grid.m_NumBits) - 1;
                  const double scale = (double{grid.m_Max} - double{grid.m_Min}) / (highest - lowest);
                  const double zero = std::clamp(std::round(lowest - double{grid.m_Min} / scale), lowest, highest);
                  return Map(in[0], [=](double x)
                             { return (std::clamp(std::round(x / scale) + zero, lowest, highest) - zero) * scale; });
              }};
    op.m_Absolute = 1.01 * (double{grid.m_Max} - double{grid.m_Min}) / std::pow(2.0, grid.m_NumBits); // a step
    return op;
}

} // namespace

ISA_TEST(FakeQuantization, IsWithinAStep)
{
    for (const TensorShape& shape : {TensorShape({7, 30}), TensorShape(Dimensionality::Scalar), TensorShape({0})})
    {
        const TestTensor input = Random(TensorInfo(shape, DataType::Float32), 5, -12, 12);
        CheckOp(MakeCase(MakeGrid(-6, 6, 8), input));
        CheckOp(MakeCase(MakeGrid(0, 1, 4), input));
        CheckOp(MakeCase(MakeGrid(1, 5, 16), input)); // shifted to hold 0
        CheckOp(MakeCase(MakeGrid(-5, -1, 2), input));
        CheckOp(MakeCase(MakeGrid(-6, 6, 8, true), input));
    }
}

ISA_TEST(FakeQuantization, ExactValues)
{
    const TensorInfo info(TensorShape({7}), DataType::Float32);
    constexpr double Infinity = std::numeric_limits<double>::infinity();
    constexpr double NaN = std::numeric_limits<double>::quiet_NaN();
    OpCase op = MakeCase(MakeGrid(0, 15, 4), Stored(info, {0.5, 0.49, 14.7, 16, -Infinity, Infinity, NaN}));
    op.m_Oracle = Expect(info, {1, 0, 15, 15, 0, 15, 0});
    op.m_Absolute = op.m_Relative = 0;
    CheckOp(op);
}

ISA_TEST(FakeQuantization, RefusesGridsThatAreNone)
{
    const TestTensor input = Random(TensorInfo(TensorShape({2}), DataType::Float32), 1);
    CheckUnsupported(MakeCase(MakeGrid(0, 1, 1), input), SupportCode::UnsupportedParameters, "2 to 16");
    CheckUnsupported(MakeCase(MakeGrid(0, 1, 17), input), SupportCode::UnsupportedParameters, "2 to 16");
    CheckUnsupported(MakeCase(MakeGrid(1, 1, 8), input), SupportCode::UnsupportedParameters, "empty");
    CheckUnsupported(MakeCase(MakeGrid(2, 1, 8), input), SupportCode::UnsupportedParameters, "empty");
    CheckUnsupported(MakeCase(MakeGrid(0, std::numeric_limits<float>::infinity(), 8), input),
                     SupportCode::UnsupportedParameters, "empty");
    CheckUnsupported(MakeCase(MakeGrid(std::numeric_limits<float>::quiet_NaN(), 1, 8), input),
                     SupportCode::UnsupportedParameters, "empty");
}

} // namespace tenon::test::fake_quantization_test
