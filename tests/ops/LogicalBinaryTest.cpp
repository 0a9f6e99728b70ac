// SPDX-License-Identifier: Apache-2.0
// LogicalBinary: and, or, with broadcasting, of whatever bytes.
#include "ops/ElementwiseOracle.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <gtest/gtest.h>

namespace tenon::test::logical_binary_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

OpCase MakeCase(LogicalBinaryOperation operation, const Sizes& a, const Sizes& b, const Sizes& output)
{
    const TensorInfo info(ShapeOf(output), DataType::Boolean);
    const auto random = [](const Sizes& sizes, uint32_t seed)
    {
        TestTensor tensor = Random(TensorInfo(ShapeOf(sizes), DataType::Boolean), seed, 0, 1);
        for (size_t i = 0; i < tensor.m_Bytes.size(); i += 3)
        {
            tensor.m_Bytes[i] = tensor.m_Bytes[i] == std::byte{0} ? std::byte{0} : std::byte{0x82};
        }
        return tensor;
    };
    return {"logical operation",
            LayerType::LogicalBinary,
            MakeDescriptor(LogicalBinaryDescriptor(operation)),
            {random(a, 1), random(b, 2)},
            info,
            Broadcast(info.GetShape(),
                      [operation](double x, double y)
                      {
                          const bool isAnd = operation == LogicalBinaryOperation::LogicalAnd;
                          return (isAnd ? x != 0 && y != 0 : x != 0 || y != 0) ? 1.0 : 0.0;
                      })};
}

} // namespace

ISA_TEST(LogicalBinary, Broadcasts)
{
    for (const LogicalBinaryOperation operation :
         {LogicalBinaryOperation::LogicalAnd, LogicalBinaryOperation::LogicalOr})
    {
        CheckOp(MakeCase(operation, {3, 5}, {3, 5}, {3, 5}));
        CheckOp(MakeCase(operation, {3, 5}, {}, {3, 5}));
        CheckOp(MakeCase(operation, {1, 5}, {3, 1}, {3, 5}));
        CheckOp(MakeCase(operation, {0}, {1}, {0}));
        CheckOp(MakeCase(operation, {}, {}, {}));
    }
}

ISA_TEST(LogicalBinary, RefusesWhatDoesNotFit)
{
    OpCase type = MakeCase(LogicalBinaryOperation::LogicalAnd, {3}, {3}, {3});
    type.m_Inputs[1].m_Info.SetDataType(DataType::Unsigned8);
    CheckUnsupported(type, SupportCode::UnsupportedType, "input 1");
    CheckRejectsShapes(MakeCase(LogicalBinaryOperation::LogicalOr, {3}, {2}, {3}), "broadcast");
}

} // namespace tenon::test::logical_binary_test
