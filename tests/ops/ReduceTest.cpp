// SPDX-License-Identifier: Apache-2.0
// Reduce: every operation and type over any axes, TFLite's exact results on quantized tensors, and what is refused.
#include "ops/ElementwiseOracle.hpp"

#include <tenon/descriptors/Reduction.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace tenon::test::reduce_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

Oracle MakeOracle(ReduceOperation operation, const Sizes& axes)
{
    const auto keep = [](double x, double) { return x; };
    const double inf = std::numeric_limits<double>::infinity();
    switch (operation)
    {
    case ReduceOperation::Sum:
        return Reduction(
            axes, 0, [](double a, double x) { return a + x; }, keep);
    case ReduceOperation::Prod:
        return Reduction(
            axes, 1, [](double a, double x) { return a * x; }, keep);
    case ReduceOperation::Max:
        return Reduction(
            axes, -inf, [](double a, double x) { return std::max(a, x); }, keep);
    case ReduceOperation::Min:
        return Reduction(
            axes, inf, [](double a, double x) { return std::min(a, x); }, keep);
    case ReduceOperation::All:
        return Reduction(
            axes, 1, [](double a, double x) { return x != 0 ? a : 0.0; }, keep);
    case ReduceOperation::Any:
        return Reduction(
            axes, 0, [](double a, double x) { return x != 0 ? 1.0 : a; }, keep);
    case ReduceOperation::Mean: break;
    }
    return Reduction(
        axes, 0, [](double a, double x) { return a + x; }, [](double sum, double n) { return sum / n; });
}

/// Sizes of the output.
TensorShape Reduced(const TensorShape& shape, const Sizes& axes, bool keepDims)
{
    Sizes sizes;
    for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
    {
        const bool isReduced = std::find(axes.begin(), axes.end(), i) != axes.end();
        if (!isReduced || keepDims)
        {
            sizes.push_back(isReduced ? 1 : shape[i]);
        }
    }
    return ShapeOf(sizes);
}

OpCase MakeCase(ReduceOperation operation, TestTensor input, const Sizes& axes, bool keepDims = false)
{
    OpCase op;
    op.m_Name = "operation " + std::to_string(static_cast<int>(operation)) + " of " + input.m_Info.ToString() +
                " over " + std::to_string(axes.size()) + " axes";
    op.m_Type = LayerType::Reduce;
    ReduceDescriptor descriptor;
    descriptor.m_ReduceOperation = operation;
    descriptor.m_vAxis = axes;
    descriptor.m_KeepDims = keepDims;
    op.m_Descriptor = MakeDescriptor(descriptor);
    op.m_Output = input.m_Info;
    op.m_Output.SetShape(Reduced(input.m_Info.GetShape(), axes, keepDims));
    op.m_Inputs = {std::move(input)};
    op.m_Oracle = MakeOracle(operation, axes);
    return op;
}

const ReduceOperation Operations[] = {ReduceOperation::Sum, ReduceOperation::Mean, ReduceOperation::Prod,
                                      ReduceOperation::Max, ReduceOperation::Min};

} // namespace

ISA_TEST(Reduce, AnyAxes)
{
    const TensorInfo info(TensorShape({2, 3, 1, 4, 5}), DataType::Float32);
    for (unsigned int mask = 0; mask < 32; ++mask)
    {
        Sizes axes;
        for (unsigned int i = 0; i < 5; ++i)
        {
            if ((mask >> i & 1U) != 0)
            {
                axes.insert(axes.begin(), i); // the order does not matter
            }
        }
        for (const bool keepDims : {false, true})
        {
            CheckOp(MakeCase(ReduceOperation::Sum, Random(info, mask, -1, 1), axes, keepDims));
            CheckOp(MakeCase(ReduceOperation::Max, Random(info, mask, -1, 1), axes, keepDims));
        }
    }
    CheckOp(MakeCase(ReduceOperation::Sum,
                     Random(TensorInfo(TensorShape({2, 3, 2, 3, 2, 3, 2, 3}), DataType::Float32), 1, -1, 1),
                     {1, 3, 4, 7}));
    CheckOp(MakeCase(ReduceOperation::Prod,
                     Random(TensorInfo(TensorShape(Dimensionality::Scalar), DataType::Float32), 1), {}));
}

ISA_TEST(Reduce, FloatTypes)
{
    for (const ReduceOperation operation : Operations)
    {
        for (const DataType type : {DataType::Float32, DataType::Float16, DataType::BFloat16, DataType::Float64})
        {
            const TensorInfo info(TensorShape({4, 9, 6}), type);
            const bool isProduct = operation == ReduceOperation::Prod;
            OpCase op = MakeCase(operation, Random(info, 3, isProduct ? 0.5 : -2, 2), {1});
            op.m_Relative = op.m_Absolute = std::max(GetRounding(type), 1e-14) * 4;
            CheckOp(op);
        }
    }
}

ISA_TEST(Reduce, Logical)
{
    const TensorInfo info(TensorShape({2, 3, 2}), DataType::Boolean);
    const std::vector<double> values = {1, 1, 255, 2, 1, 0, 0, 0, 0, 1, 0, 0};
    for (const ReduceOperation operation : {ReduceOperation::All, ReduceOperation::Any})
    {
        for (const Sizes& axes : {Sizes{1}, Sizes{0, 2}, Sizes{0, 1, 2}})
        {
            CheckOp(MakeCase(operation, Stored(info, values), axes));
        }
        CheckOp(MakeCase(operation, Stored(TensorInfo(TensorShape({0, 2}), DataType::Boolean), {}), {0}));
    }
    OpCase copy = MakeCase(ReduceOperation::All, Stored(info, values), {});
    copy.m_Oracle = Expect(copy.m_Output, {1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 0});
    CheckOp(copy);
    CheckUnsupported(MakeCase(ReduceOperation::Sum, Stored(info, values), {1}), SupportCode::UnsupportedType,
                     "All and Any take Boolean");
    CheckUnsupported(MakeCase(ReduceOperation::All, Random(TensorInfo({2}, DataType::Float32), 1), {0}),
                     SupportCode::UnsupportedType, "All and Any take Boolean");
}

ISA_TEST(Reduce, FloatSpecialValues)
{
    const double inf = std::numeric_limits<double>::infinity();
    const TensorInfo info(TensorShape({2, 2}), DataType::Float32);
    CheckOp(MakeCase(ReduceOperation::Max, Values(info, {-inf, -inf, 1, inf}), {1}));
    CheckOp(MakeCase(ReduceOperation::Min, Values(info, {inf, inf, 1, -inf}), {1}));
}

ISA_TEST(Reduce, Integers)
{
    for (const DataType type : {DataType::Signed8, DataType::Signed16, DataType::Signed32, DataType::Signed64})
    {
        for (const ReduceOperation operation : Operations)
        {
            const TensorInfo info(TensorShape({3, 4, 5}), type);
            OpCase op = MakeCase(operation, Random(info, 4, -3, 3), {1});
            if (operation == ReduceOperation::Mean) // cut towards zero
            {
                op.m_Oracle = Reduction(
                    {1}, 0, [](double a, double x) { return a + x; },
                    [](double sum, double n) { return std::trunc(sum / n); });
            }
            CheckOp(op);
        }
    }
    OpCase wrapped =
        MakeCase(ReduceOperation::Sum, Stored(TensorInfo(TensorShape({2}), DataType::Signed32), {2147483647, 1}), {0});
    wrapped.m_Oracle = Expect(wrapped.m_Output, {-2147483648.0});
    CheckOp(wrapped);
    OpCase product =
        MakeCase(ReduceOperation::Prod, Stored(TensorInfo(TensorShape({2}), DataType::Signed32), {65536, 65536}), {0});
    product.m_Oracle = Expect(product.m_Output, {0});
    CheckOp(product);
}

ISA_TEST(Reduce, QuantizedTypesAreWithinAStep)
{
    for (const DataType type : {DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS16})
    {
        const bool isShort = type == DataType::QSymmS16;
        const int32_t zero = isShort ? 0 : (type == DataType::QAsymmU8 ? 90 : -38);
        const TensorInfo info(TensorShape({3, 7, 5}), type, isShort ? 2e-4f : 0.02f, zero);
        for (const ReduceOperation operation : Operations)
        {
            OpCase op = MakeCase(operation, Random(info, 5), {1});
            if (operation == ReduceOperation::Sum || operation == ReduceOperation::Mean)
            {
                op.m_Output.SetQuantizationScale(info.GetQuantizationScale() * 1.7f);
            }
            if (operation == ReduceOperation::Prod)
            {
                op.m_Inputs = {Random(info, 6, 0.8, 1.2)};
                op.m_Output.SetQuantizationScale(info.GetQuantizationScale() * 1.3f);
                op.m_Steps = isShort ? 20 : 2; // every factor is rounded
            }
            if (operation == ReduceOperation::Max || operation == ReduceOperation::Min)
            {
                op.m_Steps = 0;
            }
            CheckOp(op);
        }
    }
}

// Results of TFLite's reference kernels. Inputs are (37 i) mod 251 - 125, times 200 for 16 bits.
ISA_TEST(Reduce, QuantizedResultsOfTfLite)
{
    struct Row
    {
        ReduceOperation m_Operation;
        DataType m_Type;
        double m_Offset; ///< added to the inputs
        double m_Factor; ///< of the inputs
        float m_InputScale;
        int32_t m_InputZero;
        float m_OutputScale;
        int32_t m_OutputZero;
        std::vector<double> m_Expected;
    };
    const Row rows[] = {
        {ReduceOperation::Mean,
         DataType::QAsymmS8,
         0,
         1,
         0.11f,
         7,
         0.06f,
         -30,
         {-128, -86, -18, -104, 46, -39, -125, -57}},
        {ReduceOperation::Sum, DataType::QAsymmU8, 125, 1, 0.11f, 120, 0.3f, 90, {29, 69, 110, 59, 149, 98, 46, 87}},
        {ReduceOperation::Prod, DataType::QAsymmS8, 0, 1, 0.021f, 7, 0.03f, -10, {47, 68, 11, 9, -94, 6, 71, 47}},
        {ReduceOperation::Mean,
         DataType::QSymmS16,
         0,
         200,
         0.011f,
         0,
         0.006f,
         0,
         {-22244, -8678, 4889, -12222, 17844, 733, -16378, -2811}},
        {ReduceOperation::Prod,
         DataType::QSymmS16,
         0,
         200,
         0.0001f,
         0,
         0.0003f,
         0,
         {6133, 6055, 792, 1354, -7172, -566, 7255, 3940}},
    };
    for (const Row& row : rows)
    {
        std::vector<double> stored(24);
        for (size_t i = 0; i < stored.size(); ++i)
        {
            stored[i] = (static_cast<double>(i * 37 % 251) - 125.0) * row.m_Factor + row.m_Offset;
        }
        const TensorInfo info(TensorShape({2, 3, 4}), row.m_Type, row.m_InputScale, row.m_InputZero);
        OpCase op = MakeCase(row.m_Operation, Stored(info, stored), {1});
        op.m_Output.SetQuantizationScale(row.m_OutputScale);
        op.m_Output.SetQuantizationOffset(row.m_OutputZero);
        op.m_Oracle = Expect(op.m_Output, row.m_Expected);
        op.m_Steps = 0;
        CheckOp(op);
    }
}

ISA_TEST(Reduce, NothingToReduce)
{
    struct Row
    {
        ReduceOperation m_Operation;
        double m_Expected;
    };
    const Row rows[] = {{ReduceOperation::Sum, 0},
                        {ReduceOperation::Prod, 1},
                        {ReduceOperation::Mean, std::nan("")},
                        {ReduceOperation::Max, std::numeric_limits<float>::lowest()},
                        {ReduceOperation::Min, std::numeric_limits<float>::max()}};
    for (const Row& row : rows)
    {
        OpCase op = MakeCase(row.m_Operation, Random(TensorInfo(TensorShape({2, 0}), DataType::Float32), 1), {1});
        op.m_Oracle = [value = row.m_Expected](const std::vector<RealTensor>&) {
            return std::vector<double>{value, value};
        };
        CheckOp(op);
        CheckOp(MakeCase(row.m_Operation, Random(TensorInfo(TensorShape({2, 0}), DataType::Float32), 1), {0}));
    }
}

ISA_TEST(Reduce, RefusesWhatDoesNotFit)
{
    const auto make = [](const Sizes& axes) {
        return MakeCase(ReduceOperation::Sum, Random(TensorInfo(TensorShape({2, 3}), DataType::Float32), 1), axes);
    };
    CheckRejectsShapes(make({2}), "axis 2");
    OpCase wrongOutput = make({1});
    wrongOutput.m_Output.SetShape(TensorShape({3}));
    CheckRejectsShapes(wrongOutput, "not what is left");

    OpCase boolean =
        MakeCase(ReduceOperation::Sum, Random(TensorInfo(TensorShape({2}), DataType::Boolean), 1, 0, 1), {0});
    CheckUnsupported(boolean, SupportCode::UnsupportedType, "input 0");
    OpCase unscaled = MakeCase(ReduceOperation::Sum, Random(TensorInfo(TensorShape({2}), DataType::QAsymmS8), 1), {0});
    CheckUnsupported(unscaled, SupportCode::UnsupportedParameters, "positive and finite");
}

} // namespace tenon::test::reduce_test
