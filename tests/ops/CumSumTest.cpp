// SPDX-License-Identifier: Apache-2.0
// CumSum: sums and products along any axis, exclusive and reverse, and integers that wrap.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Reduction.hpp>

#include <gtest/gtest.h>

namespace tenon::test::cum_sum_test
{

namespace
{

OpCase MakeCase(TestTensor input, unsigned int axis, bool exclusive, bool reverse,
                ReduceOperation operation = ReduceOperation::Sum)
{
    const bool isProduct = operation == ReduceOperation::Prod;
    OpCase op;
    op.m_Name = input.m_Info.ToString() + " along " + std::to_string(axis) + (exclusive ? " exclusive" : "") +
                (reverse ? " reverse" : "") + (isProduct ? " products" : "");
    op.m_Type = LayerType::CumSum;
    CumSumDescriptor descriptor;
    descriptor.m_Axis = static_cast<int32_t>(axis);
    descriptor.m_Exclusive = exclusive;
    descriptor.m_Reverse = reverse;
    descriptor.m_Operation = operation;
    op.m_Descriptor = MakeDescriptor(descriptor);
    op.m_Output = input.m_Info;
    op.m_Inputs = {std::move(input)};
    op.m_Absolute = 1e-5;
    op.m_Oracle = [=](const std::vector<RealTensor>& in)
    {
        const TensorShape& shape = in[0].m_Shape;
        size_t inner = 1;
        for (unsigned int i = axis + 1; i < shape.GetNumDimensions(); ++i)
        {
            inner *= shape[i];
        }
        std::vector<double> sums(in[0].m_Values.size(), isProduct ? 1.0 : 0.0);
        for (size_t i = 0; i < sums.size(); ++i)
        {
            const size_t at = i / inner % shape[axis];
            for (size_t k = 0; k < shape[axis]; ++k)
            {
                const bool counts = reverse ? k >= at : k <= at;
                if (counts && !(exclusive && k == at))
                {
                    const double value = in[0].m_Values[i + (k - at) * inner];
                    sums[i] = isProduct ? sums[i] * value : sums[i] + value;
                }
            }
        }
        return sums;
    };
    return op;
}

} // namespace

ISA_TEST(CumSum, AnyAxisAndDirection)
{
    for (const DataType type : {DataType::Float32, DataType::Float64, DataType::Float16, DataType::BFloat16,
                                DataType::Signed32, DataType::Signed64, DataType::Unsigned32, DataType::Unsigned64})
    {
        const bool isUnsigned = type == DataType::Unsigned32 || type == DataType::Unsigned64;
        for (unsigned int axis = 0; axis < 3; ++axis)
        {
            for (const bool exclusive : {false, true})
            {
                for (const bool reverse : {false, true})
                {
                    const TensorInfo info({2, 5, 3}, type);
                    for (const ReduceOperation operation : {ReduceOperation::Sum, ReduceOperation::Prod})
                    {
                        OpCase op =
                            MakeCase(Random(info, 3, isUnsigned ? 0 : -20, 20), axis, exclusive, reverse, operation);
                        op.m_Relative = type == DataType::BFloat16 ? 0.004 : type == DataType::Float16 ? 5e-4 : 1e-6;
                        if (type == DataType::Float16 && operation == ReduceOperation::Prod)
                        {
                            op.m_Inputs[0] = Random(info, 3, -3, 3); // products that the type holds
                        }
                        CheckOp(op);
                    }
                }
            }
        }
    }
}

ISA_TEST(CumSum, Nothing)
{
    CheckOp(MakeCase(Random(TensorInfo({0, 5}, DataType::Float32), 3), 1, false, false));
    CheckOp(MakeCase(Random(TensorInfo({5, 0}, DataType::Float32), 3), 1, true, true));
    const TensorInfo huge({0, 0x7FFFFFFFU}, DataType::Signed32);
    CheckOp(MakeCase(Stored(huge, {}), 0, false, false));
}

ISA_TEST(CumSum, ProductsByNumber)
{
    struct Wanted
    {
        bool m_Exclusive;
        bool m_Reverse;
        std::vector<double> m_Products;
    };
    const Wanted all[] = {{false, false, {1, 2, 6, 4, 20, -120}},
                          {true, false, {1, 1, 2, 1, 4, 20}},
                          {false, true, {6, 6, 3, -120, -30, -6}},
                          {true, true, {6, 3, 1, -30, -6, 1}}};
    for (const DataType type : {DataType::Float32, DataType::Signed32})
    {
        const TensorInfo info({2, 3}, type);
        for (const Wanted& wanted : all)
        {
            OpCase op = MakeCase(Stored(info, {1, 2, 3, 4, 5, -6}), 1, wanted.m_Exclusive, wanted.m_Reverse,
                                 ReduceOperation::Prod);
            op.m_Oracle = Expect(info, wanted.m_Products);
            CheckOp(op);
        }
    }
    const TensorInfo info({3}, DataType::Signed32);
    OpCase wraps = MakeCase(Stored(info, {65536, 65537, 3}), 0, false, false, ReduceOperation::Prod);
    wraps.m_Oracle = Expect(info, {65536, 65536, 196608}); // 65536 * 65537 = 2^32 + 2^16
    CheckOp(wraps);
}

ISA_TEST(CumSum, IntegersWrap)
{
    const TensorInfo info({3}, DataType::Signed32);
    OpCase op = MakeCase(Stored(info, {2147483647, 1, 5}), 0, false, false);
    op.m_Oracle = Expect(info, {2147483647, -2147483648.0, -2147483643});
    CheckOp(op);
}

ISA_TEST(CumSum, RefusesWhatDoesNotFit)
{
    const TensorInfo info({3}, DataType::Float32);
    CheckRejectsShapes(MakeCase(Stored(info, {1, 2, 3}), 1, false, false), "axis 1");
    CheckUnsupported(MakeCase(Stored(TensorInfo({3}, DataType::Boolean), {1, 0, 1}), 0, false, false),
                     SupportCode::UnsupportedType, "input 0");
    CheckUnsupported(MakeCase(Stored(info, {1, 2, 3}), 0, false, false, ReduceOperation::Max),
                     SupportCode::UnsupportedParameters, "Sum or Prod");
}

} // namespace tenon::test::cum_sum_test
