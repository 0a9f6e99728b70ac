// SPDX-License-Identifier: Apache-2.0
// CpuAcc's reductions of Booleans and products beside CpuRef's, in every bit: rows and columns around the sizes of
// vectors.
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Reduction.hpp>

#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tenon::test::reduce_booleans_and_products_test
{

namespace
{

constexpr unsigned int Sizes[] = {1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 130, 257};

void Check(ReduceOperation operation, TestTensor input, std::vector<unsigned int> axes, const char* kernel)
{
    ReduceDescriptor descriptor;
    descriptor.m_KeepDims = true;
    descriptor.m_ReduceOperation = operation;
    TensorInfo output = input.m_Info;
    TensorShape shape = output.GetShape();
    for (const unsigned int axis : axes)
    {
        shape.SetDimensionSize(axis, 1);
    }
    output.SetShape(shape);
    descriptor.m_vAxis = std::move(axes);
    const std::string name = input.m_Info.ToString();
    ExpectAsReference(ReferenceCase(name, LayerType::Reduce, descriptor, {std::move(input)}, output), kernel);
}

} // namespace

// In most rows and columns one byte decides: 0 beside others, or another beside zeros. What is not 0 is true.
ISA_TEST(ReduceParity, BooleansAsReference)
{
    for (const ReduceOperation operation : {ReduceOperation::Any, ReduceOperation::All})
    {
        const bool isAny = operation == ReduceOperation::Any;
        for (const unsigned int size : Sizes)
        {
            TestTensor input = Random(TensorInfo({5, 13, size}, DataType::Boolean), 1);
            std::mt19937 random(size);
            for (std::byte& value : input.m_Bytes)
            {
                value = static_cast<std::byte>(isAny ? 0 : random() % 255 + 1);
            }
            const auto decide = [&](size_t at)
            { input.m_Bytes[at] = static_cast<std::byte>(isAny ? random() % 255 + 1 : 0); };
            for (size_t row = 0; row < size_t{5} * 13; row += 1 + row % 2)
            {
                decide(row * size + random() % size);
            }
            ASSERT_NO_FATAL_FAILURE(Check(operation, input, {2}, "CpuReduce"));
            ASSERT_NO_FATAL_FAILURE(Check(operation, input, {1}, "CpuReduce"));
            ASSERT_NO_FATAL_FAILURE(Check(operation, input, {1, 2}, "CpuReduce"));
            ASSERT_NO_FATAL_FAILURE(Check(operation, input, {0, 1, 2}, "CpuReduce"));
            ASSERT_NO_FATAL_FAILURE(Check(operation, input, {0, 2}, size == 1 ? "CpuReduce" : "RefReduce"));
        }
        ASSERT_NO_FATAL_FAILURE(Check(operation, Random(TensorInfo({3, 0}, DataType::Boolean), 1), {1}, "RefReduce"));
    }
}

// Each place of a row by itself.
ISA_TEST(ReduceParity, OneBooleanOfARow)
{
    for (const ReduceOperation operation : {ReduceOperation::Any, ReduceOperation::All})
    {
        for (const unsigned int size : Sizes)
        {
            TestTensor input = Random(TensorInfo({size, size}, DataType::Boolean), 1);
            for (size_t i = 0; i < input.m_Bytes.size(); ++i)
            {
                const bool isOnDiagonal = i / size == i % size;
                input.m_Bytes[i] =
                    static_cast<std::byte>(isOnDiagonal == (operation == ReduceOperation::Any) ? 128 : 0);
            }
            ASSERT_NO_FATAL_FAILURE(Check(operation, input, {1}, "CpuReduce"));
            ASSERT_NO_FATAL_FAILURE(Check(operation, input, {0}, "CpuReduce"));
        }
    }
}

// Products come in the same order. Some overflow or are no numbers.
ISA_TEST(ReduceParity, ProductsAsReference)
{
    for (const unsigned int size : Sizes)
    {
        const TensorInfo info({5, 13, size}, DataType::Float32);
        std::vector<double> values = GetStored(info, Random(info, size, -2, 2).m_Bytes.data());
        values[values.size() / 2] = std::numeric_limits<double>::infinity();
        values[values.size() / 3] = std::numeric_limits<double>::quiet_NaN();
        values.back() = 3e38;
        values.front() = -0.0;
        const TestTensor input = Stored(info, values);
        ASSERT_NO_FATAL_FAILURE(Check(ReduceOperation::Prod, input, {2}, "CpuReduce"));
        ASSERT_NO_FATAL_FAILURE(Check(ReduceOperation::Prod, input, {1}, "CpuReduce"));
        ASSERT_NO_FATAL_FAILURE(Check(ReduceOperation::Prod, input, {0}, "CpuReduce"));
        ASSERT_NO_FATAL_FAILURE(Check(ReduceOperation::Prod, input, {1, 2}, "CpuReduce"));
        ASSERT_NO_FATAL_FAILURE(Check(ReduceOperation::Prod, input, {0, 1, 2}, "CpuReduce"));
        ASSERT_NO_FATAL_FAILURE(Check(ReduceOperation::Prod, input, {0, 2}, size == 1 ? "CpuReduce" : "RefReduce"));
    }
    const TensorInfo many({301, 600}, DataType::Float32);
    ASSERT_NO_FATAL_FAILURE(Check(ReduceOperation::Prod, Random(many, 1, 0.5, 1.6), {1}, "CpuReduce"));
    ASSERT_NO_FATAL_FAILURE(Check(ReduceOperation::Prod, Random(many, 2, 0.5, 1.6), {0}, "CpuReduce"));
    const TensorInfo bytes({7, 9}, DataType::QAsymmS8, 0.5f, 3);
    ASSERT_NO_FATAL_FAILURE(Check(ReduceOperation::Prod, Random(bytes, 3), {1}, "RefReduce"));
}

} // namespace tenon::test::reduce_booleans_and_products_test
