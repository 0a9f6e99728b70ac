// SPDX-License-Identifier: Apache-2.0
// Comparison: every operation, type and broadcast; quantized tensors on a common scale; NaN.
#include "ops/ElementwiseOracle.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace tenon::test::comparison_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

constexpr ComparisonOperation Operations[] = {ComparisonOperation::Equal,   ComparisonOperation::NotEqual,
                                              ComparisonOperation::Greater, ComparisonOperation::GreaterOrEqual,
                                              ComparisonOperation::Less,    ComparisonOperation::LessOrEqual};

double Compare(ComparisonOperation operation, double a, double b)
{
    switch (operation)
    {
    case ComparisonOperation::Equal: return a == b ? 1 : 0;
    case ComparisonOperation::NotEqual: return a != b ? 1 : 0;
    case ComparisonOperation::Greater: return a > b ? 1 : 0;
    case ComparisonOperation::GreaterOrEqual: return a >= b ? 1 : 0;
    case ComparisonOperation::Less: return a < b ? 1 : 0;
    default: return a <= b ? 1 : 0;
    }
}

OpCase MakeCase(ComparisonOperation operation, TestTensor a, TestTensor b, const Sizes& output)
{
    const TensorInfo info(ShapeOf(output), DataType::Boolean);
    return {"operation " + std::to_string(static_cast<int>(operation)) + " of " + a.m_Info.ToString(),
            LayerType::Comparison,
            MakeDescriptor(ComparisonDescriptor(operation)),
            {std::move(a), std::move(b)},
            info,
            Broadcast(info.GetShape(), [operation](double x, double y) { return Compare(operation, x, y); })};
}

} // namespace

ISA_TEST(Comparison, AnyTypeAndOperation)
{
    for (const ComparisonOperation operation : Operations)
    {
        for (const DataType type :
             {DataType::Float32, DataType::Float16, DataType::BFloat16, DataType::Float64, DataType::Signed8,
              DataType::Signed16, DataType::Signed32, DataType::Signed64, DataType::Unsigned8, DataType::Unsigned16,
              DataType::Unsigned32, DataType::Unsigned64, DataType::QSymmS16})
        {
            const auto tensor = [&](const Sizes& sizes, uint32_t seed)
            {
                const TensorInfo info = type == DataType::QSymmS16 ? TensorInfo(ShapeOf(sizes), type, 1.0f)
                                                                   : TensorInfo(ShapeOf(sizes), type);
                return Random(info, seed, 0, 3);
            };
            CheckOp(MakeCase(operation, tensor({2, 3, 4}, 1), tensor({2, 3, 4}, 2), {2, 3, 4}));
            CheckOp(MakeCase(operation, tensor({2, 3, 4}, 1), tensor({}, 2), {2, 3, 4}));
            CheckOp(MakeCase(operation, tensor({2, 1, 4}, 1), tensor({3, 1}, 2), {2, 3, 4}));
            CheckOp(MakeCase(operation, tensor({2, 1, 2, 1, 2, 1}, 1), tensor({2, 1, 2, 1, 2}, 2), {2, 2, 2, 2, 2, 2}));
            CheckOp(MakeCase(operation, tensor({0, 3}, 1), tensor({3}, 2), {0, 3}));
        }
    }
}

ISA_TEST(Comparison, AnyByteButZeroIsTrue)
{
    const TensorInfo info(TensorShape({4}), DataType::Boolean);
    TestTensor a = Stored(info, {1, 1, 0, 0});
    TestTensor b = Stored(info, {1, 0, 1, 0});
    a.m_Bytes[0] = std::byte{2};
    b.m_Bytes[2] = std::byte{255};
    OpCase op = MakeCase(ComparisonOperation::Equal, a, b, {4});
    op.m_Oracle = Expect(op.m_Output, {1, 0, 0, 1});
    CheckOp(op);
    op = MakeCase(ComparisonOperation::Greater, a, b, {4});
    op.m_Oracle = Expect(op.m_Output, {0, 1, 0, 0});
    CheckOp(op);
}

ISA_TEST(Comparison, NaNIsUnequalToAll)
{
    const double nan = std::nan("");
    const TensorInfo info(TensorShape({3}), DataType::Float32);
    for (const ComparisonOperation operation : Operations)
    {
        CheckOp(MakeCase(operation, Values(info, {nan, nan, 1}), Values(info, {nan, 1, nan}), {3}));
    }
}

ISA_TEST(Comparison, BringsQuantizedTensorsToOneScale)
{
    for (const ComparisonOperation operation : Operations)
    {
        for (const DataType type : {DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS8})
        {
            const int zero = type == DataType::QSymmS8 ? 0 : 9;
            // Scales that are powers of two lose nothing; above 1 too.
            for (const float scale : {0.25f, 1.0f, 64.0f, 1048576.0f})
            {
                const TensorInfo a(TensorShape({16, 16}), type, scale, zero);
                const TensorInfo b(TensorShape({16, 16}), type, scale / 4, zero / 3);
                CheckOp(MakeCase(operation, Random(a, 1), Random(b, 2), {16, 16}));
                CheckOp(MakeCase(operation, Random(a, 1), Random(a, 3, 0, 2 * scale), {16, 16}));
            }
        }
    }
}

ISA_TEST(Comparison, IsAsCoarseAsTfLite)
{
    // With scale 1e-3 a step is 256e-3 on the common scale: neighbours are equal, every fourth step differs.
    const TensorInfo info(TensorShape({4}), DataType::QAsymmS8, 0.001f, 0);
    OpCase op = MakeCase(ComparisonOperation::Equal, Stored(info, {0, 4, 5, 10}), Stored(info, {1, 5, 8, 20}), {4});
    op.m_Oracle = Expect(op.m_Output, {1, 1, 0, 0});
    CheckOp(op);
}

ISA_TEST(Comparison, RefusesWhatDoesNotFit)
{
    const auto of = [](const TensorShape& shape, DataType type) { return Random(TensorInfo(shape, type), 1, 0, 1); };
    CheckUnsupported(MakeCase(ComparisonOperation::Less, of({2}, DataType::Float32), of({2}, DataType::Signed32), {2}),
                     SupportCode::UnsupportedType, "one type");
    OpCase output = MakeCase(ComparisonOperation::Less, of({2}, DataType::Float32), of({2}, DataType::Float32), {2});
    output.m_Output.SetDataType(DataType::Float32);
    CheckUnsupported(output, SupportCode::UnsupportedType, "output 0");
    CheckRejectsShapes(MakeCase(ComparisonOperation::Less, of({2}, DataType::Float32), of({3}, DataType::Float32), {3}),
                       "broadcast");
    const TensorInfo noScale(TensorShape({2}), DataType::QAsymmU8);
    CheckUnsupported(MakeCase(ComparisonOperation::Less, Stored(noScale, {1, 2}), Stored(noScale, {1, 2}), {2}),
                     SupportCode::UnsupportedParameters, "scale");
}

} // namespace tenon::test::comparison_test
