// SPDX-License-Identifier: Apache-2.0
// CpuAcc's TopK beside CpuRef's: few and many out of rows of all lengths, with ties, NaN, infinities and zeros of
// either sign, in whatever order they are, on one and three threads.
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Indexing.hpp>

#include <cstring>
#include <limits>

namespace tenon::test::top_k_parity_test
{

namespace
{

OpCase Case(TestTensor input, unsigned int count, DataType indexType = DataType::Signed32, int32_t axis = -1,
            bool largest = true)
{
    TensorShape shape = input.m_Info.GetShape();
    const auto rank = static_cast<int32_t>(shape.GetNumDimensions());
    shape.SetDimensionSize(static_cast<unsigned int>(axis < 0 ? axis + rank : axis), count);
    TopKDescriptor descriptor;
    descriptor.m_Axis = axis;
    descriptor.m_Largest = largest;
    const TensorInfo output = Shaped(input.m_Info, shape);
    TestTensor wanted = Constant(Stored(TensorInfo({1}, DataType::Signed32), {static_cast<double>(count)}));
    OpCase op = ReferenceCase(std::to_string(count) + " of " + input.m_Info.ToString(), LayerType::TopK, descriptor,
                              {std::move(input), std::move(wanted)}, output);
    op.m_MoreOutputs = {TensorInfo(shape, indexType)};
    return op;
}

TestTensor Floats(const std::vector<float>& values)
{
    TestTensor tensor;
    tensor.m_Info = TensorInfo({static_cast<unsigned int>(values.size())}, DataType::Float32);
    const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
    tensor.m_Bytes.assign(bytes, bytes + values.size() * sizeof(float));
    return tensor;
}

} // namespace

ISA_TEST(TopKParity, AnyTypeAsReference)
{
    const TensorInfo types[] = {TensorInfo({1}, DataType::Float32),        TensorInfo({1}, DataType::Signed32),
                                TensorInfo({1}, DataType::QAsymmU8, 0.5f), TensorInfo({1}, DataType::QAsymmS8, 0.5f),
                                TensorInfo({1}, DataType::Signed8),        TensorInfo({1}, DataType::Unsigned8)};
    const TensorShape shapes[] = {{1}, {3, 37}, {90, 1500}, {2, 20000}};
    for (const TensorInfo& type : types)
    {
        for (const TensorShape& shape : shapes)
        {
            for (const unsigned int count : {1u, 5u, 37u, 100u, 600u})
            {
                const unsigned int length = shape[shape.GetNumDimensions() - 1];
                if (count > length)
                {
                    continue;
                }
                const bool isSigned = type.GetDataType() != DataType::Unsigned8;
                const TensorInfo info = Shaped(type, shape);
                // Of a wide range, and of few values.
                ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
                    Case(Random(info, 1, isSigned ? -60 : 0, 60), count, DataType::Signed64), "CpuTopK"));
                ASSERT_NO_FATAL_FAILURE(
                    ExpectAsReference(Case(Random(info, 2, isSigned ? -3 : 0, 3), count), "CpuTopK"));
            }
        }
    }
}

ISA_TEST(TopKParity, SmallestAndOtherAxesAsReference)
{
    for (const TensorInfo& type : {TensorInfo({1}, DataType::Float32), TensorInfo({1}, DataType::Signed32),
                                   TensorInfo({1}, DataType::QAsymmU8, 0.5f), TensorInfo({1}, DataType::Signed8)})
    {
        for (const int32_t axis : {0, 1, -1})
        {
            for (const bool largest : {false, true})
            {
                const TensorInfo info = Shaped(type, {41, 300, 7});
                const unsigned int count = axis == 1 ? 20 : 5;
                ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
                    Case(Random(info, 1, -3, 3), count, DataType::Signed64, axis, largest), "CpuTopK"));
                ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
                    Case(Random(info, 2, -60, 60), count, DataType::Signed32, axis, largest), "CpuTopK"));
            }
        }
    }
}

ISA_TEST(TopKParity, HardOrdersAsReference)
{
    constexpr float Nan = std::numeric_limits<float>::quiet_NaN();
    constexpr float Infinity = std::numeric_limits<float>::infinity();
    constexpr size_t Length = 3001;
    std::vector<float> rising(Length);
    std::vector<float> falling(Length);
    std::vector<float> nearlyNan(Length, Nan);
    std::vector<float> zeros(Length);
    std::vector<float> special(Length);
    const float choice[] = {0.0f, -0.0f, Nan, Infinity, -Infinity, 1e-40f, -1e-40f, 3e38f, -3e38f, -Nan, 1.0f};
    for (size_t i = 0; i < Length; ++i)
    {
        rising[i] = static_cast<float>(i) - 1500;
        falling[i] = -rising[i];
        zeros[i] = i % 3 == 0 ? -0.0f : 0.0f;
        special[i] = choice[i * i % std::size(choice)];
        nearlyNan[i] = i % 997 == 5 ? rising[i] : Nan;
    }
    const std::vector<float> low(Length, -Infinity);
    for (const std::vector<float>& values : {rising, falling, nearlyNan, zeros, special, low})
    {
        for (const unsigned int count : {1u, 2u, 64u, 1000u, 3001u})
        {
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(Case(Floats(values), count, DataType::Signed16), "CpuTopK"));
            ASSERT_NO_FATAL_FAILURE(
                ExpectAsReference(Case(Floats(values), count, DataType::Signed32, 0, false), "CpuTopK"));
        }
    }
}

ISA_TEST(TopKParity, LeavesTheRestToTheReference)
{
    ASSERT_NO_FATAL_FAILURE(
        ExpectAsReference(Case(Random(TensorInfo({99}, DataType::Float16), 1, -9, 9), 5), "RefTopK"));
    ASSERT_NO_FATAL_FAILURE(
        ExpectAsReference(Case(Random(TensorInfo({99}, DataType::Float32), 1, -9, 9), 0), "RefTopK"));
}

} // namespace tenon::test::top_k_parity_test
