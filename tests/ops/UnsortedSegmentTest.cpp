// SPDX-License-Identifier: Apache-2.0
// UnsortedSegment and SegmentSum: every operation and type, negative numbers, empty segments, and numbers outside.
#include "ops/MovementOracle.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Reduction.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace tenon::test::unsorted_segment_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

double InitialValue(ReduceOperation operation, DataType type)
{
    using Float = std::numeric_limits<float>;
    using Integer = std::numeric_limits<int32_t>;
    const bool isFloat = type == DataType::Float32;
    switch (operation)
    {
    case ReduceOperation::Max: return isFloat ? double{Float::lowest()} : double{Integer::min()};
    case ReduceOperation::Min: return isFloat ? double{Float::max()} : double{Integer::max()};
    case ReduceOperation::Prod: return 1;
    default: return 0;
    }
}

double Reduce(ReduceOperation operation, double a, double b)
{
    switch (operation)
    {
    case ReduceOperation::Max: return std::max(a, b);
    case ReduceOperation::Min: return std::min(a, b);
    case ReduceOperation::Prod: return a * b;
    default: return a + b;
    }
}

OpCase MakeCase(ReduceOperation operation, const Sizes& data, const Sizes& numbersShape,
                const std::vector<double>& numbers, unsigned int segments, DataType type = DataType::Float32)
{
    OpCase op;
    op.m_Name = MakeShape(data).ToString() + " by " + MakeShape(numbersShape).ToString();
    op.m_Type = LayerType::UnsortedSegment;
    UnsortedSegmentDescriptor descriptor;
    descriptor.m_Operation = operation;
    op.m_Descriptor = MakeDescriptor(descriptor);
    Sizes sizes(data.begin() + static_cast<std::ptrdiff_t>(numbersShape.size()), data.end());
    sizes.insert(sizes.begin(), segments);
    op.m_Output = TensorInfo(MakeShape(sizes), type);
    op.m_Inputs = {Random(TensorInfo(MakeShape(data), type), 3, -5, 5),
                   Stored(TensorInfo(MakeShape(numbersShape), DataType::Signed32), numbers),
                   Stored(TensorInfo({1}, DataType::Signed32), {static_cast<double>(segments)})};
    op.m_Oracle = [=, count = op.m_Output.GetShape().GetNumElements()](const std::vector<RealTensor>& in)
    {
        std::vector<double> values(count, InitialValue(operation, type));
        const size_t slice = numbers.empty() ? 0 : in[0].m_Values.size() / numbers.size();
        for (size_t i = 0; i < in[0].m_Values.size(); ++i)
        {
            const double number = numbers[i / slice];
            if (number >= 0)
            {
                double& value = values[static_cast<size_t>(number) * slice + i % slice];
                value = Reduce(operation, value, in[0].m_Values[i]);
            }
        }
        return values;
    };
    return op;
}

OpCase MakeSum(const Sizes& data, const std::vector<double>& numbers, unsigned int segments, DataType type)
{
    OpCase op =
        MakeCase(ReduceOperation::Sum, data, {static_cast<unsigned int>(numbers.size())}, numbers, segments, type);
    op.m_Type = LayerType::SegmentSum;
    op.m_Descriptor = MakeDescriptor(NullDescriptor());
    op.m_Inputs.pop_back();
    return op;
}

} // namespace

ISA_TEST(UnsortedSegment, EveryOperation)
{
    using enum ReduceOperation;
    for (const ReduceOperation operation : {Sum, Max, Min, Prod})
    {
        for (const DataType type : {DataType::Float32, DataType::Signed32})
        {
            CheckOp(MakeCase(operation, {5, 3}, {5}, {2, 0, 2, 2, 0}, 4, type));
            CheckOp(MakeCase(operation, {2, 3, 2}, {2, 3}, {1, 0, 1, -1, -7, 1}, 2, type));
            CheckOp(MakeCase(operation, {2, 2}, {2, 2}, {1, 0, 1, 1}, 2, type));
            CheckOp(MakeCase(operation, {2, 3}, {}, {1}, 2, type));
            CheckOp(MakeCase(operation, {0, 3}, {0}, {}, 2, type));
        }
    }
}

ISA_TEST(UnsortedSegment, NothingOfHugeSize)
{
    CheckOp(MakeCase(ReduceOperation::Sum, {2, 0, 5}, {}, {0}, 0x7FFFFFFFU, DataType::Signed32));
}

ISA_TEST(UnsortedSegment, IntegersWrap)
{
    for (const ReduceOperation operation : {ReduceOperation::Sum, ReduceOperation::Prod})
    {
        OpCase op = MakeCase(operation, {2}, {2}, {0, 0}, 1, DataType::Signed32);
        op.m_Inputs[0] = Stored(op.m_Inputs[0].m_Info, {2147483647, 2147483647});
        op.m_Oracle = Expect(op.m_Output, {operation == ReduceOperation::Sum ? -2.0 : 1.0});
        CheckOp(op);
    }
}

ISA_TEST(UnsortedSegment, RefusesWhatDoesNotFit)
{
    const IBackend& reference = *GetTestBackends().front();
    EXPECT_THROW(RunOp(reference, MakeCase(ReduceOperation::Max, {2, 3}, {2}, {0, 2}, 2), RunVariant()),
                 RuntimeException);
    OpCase op = MakeCase(ReduceOperation::Sum, {2, 3}, {2}, {0, 1}, 2);
    op.m_Output.SetShape(TensorShape({2, 4}));
    CheckRejectsShapes(op, "output 0");
    CheckUnsupported(MakeCase(ReduceOperation::Mean, {2, 3}, {2}, {0, 1}, 2), SupportCode::UnsupportedParameters,
                     "Mean");
}

ISA_TEST(SegmentSum, AnyType)
{
    for (const DataType type : {DataType::Float32, DataType::Signed32, DataType::Signed64})
    {
        CheckOp(MakeSum({4, 2, 3}, {0, 0, 1, 2}, 3, type));
        CheckOp(MakeSum({3}, {0, 0, 0}, 1, type));
        CheckOp(MakeSum({0, 2}, {}, 0, type));
    }
}

ISA_TEST(SegmentSum, RefusesNumbersOutside)
{
    const IBackend& reference = *GetTestBackends().front();
    for (const double number : {-1.0, 2.0})
    {
        EXPECT_THROW(RunOp(reference, MakeSum({2, 3}, {0, number}, 2, DataType::Float32), RunVariant()),
                     RuntimeException);
    }
}

} // namespace tenon::test::unsorted_segment_test
