// SPDX-License-Identifier: Apache-2.0
// BroadcastArgs: shapes of any lengths, and those that do not broadcast.
#include "ops/MovementOracle.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Base.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::test::broadcast_args_test
{

namespace
{

OpCase MakeCase(const std::vector<double>& a, const std::vector<double>& b, std::vector<double> expected,
                DataType type = DataType::Signed32)
{
    const auto info = [type](size_t length) { return TensorInfo({static_cast<unsigned int>(length)}, type); };
    OpCase op;
    op.m_Name = std::to_string(a.size()) + " and " + std::to_string(b.size()) + " dimensions";
    op.m_Type = LayerType::BroadcastArgs;
    op.m_Descriptor = MakeDescriptor(NullDescriptor());
    op.m_Inputs = {Stored(info(a.size()), a), Stored(info(b.size()), b)};
    op.m_Output = info(std::max(a.size(), b.size()));
    op.m_Oracle = Expect(op.m_Output, std::move(expected));
    return op;
}

} // namespace

ISA_TEST(BroadcastArgs, AnyLengths)
{
    for (const DataType type : {DataType::Signed32, DataType::Signed64})
    {
        CheckOp(MakeCase({4, 1, 6}, {5, 1}, {4, 5, 6}, type));
        CheckOp(MakeCase({3}, {2, 7, 1}, {2, 7, 3}, type));
        CheckOp(MakeCase({}, {2, 3}, {2, 3}, type));
        CheckOp(MakeCase({2, 3}, {}, {2, 3}, type));
        CheckOp(MakeCase({0}, {1}, {0}, type));
    }
    CheckOp(MakeCase({1}, {1}, {1}));
}

ISA_TEST(BroadcastArgs, RefusesWhatDoesNotBroadcast)
{
    const IBackend& reference = *GetTestBackends().front();
    OpCase op = MakeCase({2}, {2}, {2});
    op.m_Inputs[1] = Stored(op.m_Inputs[1].m_Info, {3});
    EXPECT_THROW(RunOp(reference, op, RunVariant()), RuntimeException);
    OpCase output = MakeCase({2}, {2}, {2});
    output.m_Output.SetShape(TensorShape({2}));
    CheckRejectsShapes(output, "output 0");
}

} // namespace tenon::test::broadcast_args_test
