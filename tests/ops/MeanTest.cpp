// SPDX-License-Identifier: Apache-2.0
// Mean as a layer of its own. The arithmetic is Reduce's, where all types are tested.
#include "ops/ElementwiseOracle.hpp"

#include <tenon/descriptors/Reduction.hpp>

#include <gtest/gtest.h>

#include <string>

namespace tenon::test::mean_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

OpCase MakeCase(TestTensor input, const Sizes& axes, const TensorShape& output)
{
    OpCase op;
    op.m_Name = input.m_Info.ToString() + " to " + output.ToString();
    op.m_Type = LayerType::Mean;
    op.m_Descriptor = MakeDescriptor(MeanDescriptor(axes, false));
    op.m_Output = input.m_Info;
    op.m_Output.SetShape(output);
    op.m_Oracle = Reduction(
        axes, 0, [](double a, double x) { return a + x; }, [](double sum, double n) { return sum / n; });
    op.m_Inputs = {std::move(input)};
    return op;
}

} // namespace

ISA_TEST(Mean, OverPixels)
{
    const TensorShape shape({2, 5, 7, 19});
    for (const TensorInfo& info :
         {TensorInfo(shape, DataType::Float32), TensorInfo(shape, DataType::QAsymmU8, 0.1f, 77),
          TensorInfo(shape, DataType::QAsymmS8, 0.1f, -77)})
    {
        CheckOp(MakeCase(Random(info, 1), {1, 2}, TensorShape({2, 19})));
        CheckOp(MakeCase(Random(info, 2), {1, 2}, TensorShape({2, 1, 1, 19})));
        CheckOp(MakeCase(Random(info, 3), {3}, TensorShape({2, 5, 7})));
        CheckOp(MakeCase(Random(info, 4), {0, 1, 2, 3}, TensorShape(Dimensionality::Scalar)));
    }
}

ISA_TEST(Mean, NoAxes)
{
    CheckOp(MakeCase(Random(TensorInfo(TensorShape({3, 4}), DataType::Float32), 5), {}, TensorShape({3, 4})));
}

// Results of TFLite's reference kernels.
ISA_TEST(Mean, QuantizedResultsOfTfLite)
{
    std::vector<double> stored(24);
    for (size_t i = 0; i < stored.size(); ++i)
    {
        stored[i] = static_cast<double>(i * 37 % 251);
    }
    OpCase op = MakeCase(Stored(TensorInfo(TensorShape({2, 3, 4}), DataType::QAsymmU8, 0.11f, 120), stored), {0, 2},
                         TensorShape({3}));
    op.m_Output = TensorInfo(TensorShape({3}), DataType::QAsymmU8, 0.07f, 90);
    op.m_Oracle = Expect(op.m_Output, {42, 126, 63});
    op.m_Steps = 0;
    CheckOp(op);
}

ISA_TEST(Mean, RefusesWhatDoesNotFit)
{
    const TestTensor input = Random(TensorInfo(TensorShape({3, 4}), DataType::Float32), 5);
    CheckRejectsShapes(MakeCase(input, {5}, TensorShape({3})), "axis 5");
    CheckRejectsShapes(MakeCase(input, {1}, TensorShape({4})), "not what is left");
    CheckUnsupported(MakeCase(Random(TensorInfo(TensorShape({2}), DataType::Boolean), 1, 0, 1), {0},
                              TensorShape(Dimensionality::Scalar)),
                     SupportCode::UnsupportedType, "input 0");
}

} // namespace tenon::test::mean_test
