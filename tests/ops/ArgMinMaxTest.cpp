// SPDX-License-Identifier: Apache-2.0
// ArgMinMax: any axis and type, ties, NaN, and what is refused.
#include "ops/ElementwiseOracle.hpp"

#include <tenon/descriptors/Reduction.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace tenon::test::arg_min_max_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

OpCase MakeCase(ArgMinMaxFunction function, TestTensor input, int axis, DataType outputType = DataType::Signed32,
                bool isLast = false)
{
    const TensorShape shape = input.m_Info.GetShape();
    const unsigned int rank = shape.GetNumDimensions();
    const auto along = static_cast<unsigned int>(axis < 0 ? axis + static_cast<int>(rank) : axis);
    Sizes sizes;
    size_t step = 1;
    for (unsigned int i = 0; i < rank; ++i)
    {
        if (i != along)
        {
            sizes.push_back(shape[i]);
        }
        step *= i > along ? shape[i] : 1;
    }
    OpCase op;
    op.m_Name = input.m_Info.ToString() + " along " + std::to_string(axis);
    op.m_Type = LayerType::ArgMinMax;
    ArgMinMaxDescriptor descriptor;
    descriptor.m_Function = function;
    descriptor.m_Axis = axis;
    descriptor.m_Output_Type = outputType;
    descriptor.m_SelectLastIndex = isLast;
    op.m_Descriptor = MakeDescriptor(descriptor);
    op.m_Output = TensorInfo(ShapeOf(sizes), outputType);
    op.m_Inputs = {std::move(input)};
    op.m_Oracle = [=, output = op.m_Output](const std::vector<RealTensor>& in)
    {
        std::vector<double> values(output.GetNumElements());
        for (size_t i = 0; i < values.size(); ++i)
        {
            const size_t first = i / step * step * shape[along] + i % step;
            size_t best = 0;
            for (size_t k = 1; k < shape[along]; ++k)
            {
                const double a = in[0].m_Values[first + k * step];
                const double b = in[0].m_Values[first + best * step];
                best = (function == ArgMinMaxFunction::Max ? a > b : a < b) || (isLast && a == b) ? k : best;
            }
            values[i] = static_cast<double>(best);
        }
        return values;
    };
    return op;
}

} // namespace

ISA_TEST(ArgMinMax, AnyAxisAndType)
{
    for (const ArgMinMaxFunction function : {ArgMinMaxFunction::Min, ArgMinMaxFunction::Max})
    {
        for (const DataType type :
             {DataType::Float32, DataType::Float16, DataType::BFloat16, DataType::Float64, DataType::QAsymmU8,
              DataType::QAsymmS8, DataType::QSymmS16, DataType::Signed8, DataType::Signed16, DataType::Signed32,
              DataType::Signed64, DataType::Unsigned8, DataType::Boolean, DataType::Unsigned16, DataType::Unsigned32,
              DataType::Unsigned64})
        {
            const TensorShape shape({3, 4, 5, 2});
            const TensorInfo info = IsQuantizedType(type) ? TensorInfo(shape, type, 0.5f) : TensorInfo(shape, type);
            const bool isUnsigned = type == DataType::Boolean || type == DataType::Unsigned8 ||
                                    type == DataType::Unsigned16 || type == DataType::Unsigned32 ||
                                    type == DataType::Unsigned64;
            for (int axis = -4; axis < 4; ++axis)
            {
                // Few values, so that there are ties.
                for (const bool isLast : {false, true})
                {
                    CheckOp(MakeCase(function, Random(info, 7, isUnsigned ? 0 : -3, type == DataType::Boolean ? 1 : 3),
                                     axis, axis % 2 == 0 ? DataType::Signed32 : DataType::Signed64, isLast));
                }
            }
        }
    }
}

ISA_TEST(ArgMinMax, NaNOnlyCountsWhereThereIsNothingElse)
{
    const double nan = std::nan("");
    const TensorInfo info(TensorShape({4, 3}), DataType::Float32);
    for (const ArgMinMaxFunction function : {ArgMinMaxFunction::Min, ArgMinMaxFunction::Max})
    {
        OpCase op = MakeCase(function, Values(info, {nan, 7, nan, nan, nan, nan, nan, nan, 1, 2, nan, 2}), 1);
        op.m_Oracle = Expect(op.m_Output, {1, 0, 2, 0});
        CheckOp(op);
        ArgMinMaxDescriptor descriptor = static_cast<const ArgMinMaxDescriptor&>(*op.m_Descriptor);
        descriptor.m_SelectLastIndex = true;
        op.m_Descriptor = MakeDescriptor(descriptor);
        op.m_Oracle = Expect(op.m_Output, {1, 0, 2, 2});
        CheckOp(op);
    }
}

ISA_TEST(ArgMinMax, EmptyAndSingle)
{
    const auto of = [](const TensorShape& shape) { return Random(TensorInfo(shape, DataType::Float32), 1); };
    CheckOp(MakeCase(ArgMinMaxFunction::Max, of({0, 4}), 1));
    CheckOp(MakeCase(ArgMinMaxFunction::Max, of({3, 1}), 1));
    CheckOp(MakeCase(ArgMinMaxFunction::Max, of({9}), 0));
}

ISA_TEST(ArgMinMax, RefusesWhatDoesNotFit)
{
    const auto of = [](const TensorShape& shape) { return Random(TensorInfo(shape, DataType::Float32), 1); };
    CheckRejectsShapes(MakeCase(ArgMinMaxFunction::Max, of({2, 0}), 1), "empty axis");
    OpCase axis = MakeCase(ArgMinMaxFunction::Max, of({2, 3}), 1);
    ArgMinMaxDescriptor descriptor;
    descriptor.m_Axis = 2;
    axis.m_Descriptor = MakeDescriptor(descriptor);
    CheckRejectsShapes(axis, "axis 2");
    OpCase output = MakeCase(ArgMinMaxFunction::Max, of({2, 3}), 1);
    output.m_Output.SetShape(TensorShape({3}));
    CheckRejectsShapes(output, "without axis 1");
    CheckUnsupported(MakeCase(ArgMinMaxFunction::Max, of({2, 3}), 1, DataType::Float32), SupportCode::UnsupportedType,
                     "output 0");
}

} // namespace tenon::test::arg_min_max_test
