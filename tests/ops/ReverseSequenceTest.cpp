// SPDX-License-Identifier: Apache-2.0
// ReverseSequence: sequences before and behind the batch, every element size, and lengths that do not fit.
#include "ops/MovementOracle.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Arrangement.hpp>

#include <gtest/gtest.h>

namespace tenon::test::reverse_sequence_test
{

namespace
{

OpCase MakeCase(const std::vector<unsigned int>& sizes, unsigned int sequence, unsigned int batch,
                const std::vector<double>& lengths, DataType type, DataType lengthType = DataType::Signed32)
{
    OpCase op;
    op.m_Name = MakeShape(sizes).ToString() + " along " + std::to_string(sequence) + " by " + std::to_string(batch);
    op.m_Type = LayerType::ReverseSequence;
    ReverseSequenceDescriptor descriptor;
    descriptor.m_SequenceDimension = static_cast<int32_t>(sequence);
    descriptor.m_BatchDimension = static_cast<int32_t>(batch);
    op.m_Descriptor = MakeDescriptor(descriptor);
    op.m_Output = MakeInfo(MakeShape(sizes), type);
    op.m_Inputs = {Random(op.m_Output, 3),
                   Stored(TensorInfo({static_cast<unsigned int>(lengths.size())}, lengthType), lengths)};
    op.m_Steps = op.m_Relative = op.m_Absolute = 0;
    op.m_Oracle = [=, shape = op.m_Output.GetShape()](const std::vector<RealTensor>& in)
    {
        return Move(shape, in[0],
                    [&](Coordinates at)
                    {
                        const auto length = static_cast<int64_t>(lengths[static_cast<size_t>(at[batch])]);
                        at[sequence] = at[sequence] < length ? length - 1 - at[sequence] : at[sequence];
                        return at;
                    });
    };
    return op;
}

} // namespace

ISA_TEST(ReverseSequence, AnyType)
{
    for (const DataType type : GetMovedTypes())
    {
        CheckOp(MakeCase({4, 3, 2}, 1, 0, {3, 0, 2, 1}, type));
        CheckOp(MakeCase({4, 3, 2}, 0, 2, {4, 3}, type, DataType::Signed64));
    }
}

ISA_TEST(ReverseSequence, AnyDimensions)
{
    CheckOp(MakeCase({2, 3}, 1, 0, {2, 3}, DataType::Float32));
    CheckOp(MakeCase({2, 3}, 0, 1, {2, 1, 0}, DataType::Float32));
    CheckOp(MakeCase({2, 3, 2, 4, 2}, 3, 1, {4, 0, 2}, DataType::Float32));
    CheckOp(MakeCase({2, 3, 2, 4, 2}, 1, 3, {3, 1, 2, 0}, DataType::Float32));
    CheckOp(MakeCase({2, 0}, 1, 0, {0, 0}, DataType::Float32));
}

ISA_TEST(ReverseSequence, RefusesWhatDoesNotFit)
{
    const IBackend& reference = *GetTestBackends().front();
    for (const double length : {-1.0, 4.0})
    {
        const OpCase op = MakeCase({1, 3}, 1, 0, {length}, DataType::Float32);
        EXPECT_THROW(RunOp(reference, op, RunVariant()), RuntimeException);
    }
    CheckRejectsShapes(MakeCase({2, 3}, 1, 0, {1, 2, 3}, DataType::Float32), "input 1");
    CheckRejectsShapes(MakeCase({2, 3}, 1, 1, {1, 2, 3}, DataType::Float32), "do not fit");
}

} // namespace tenon::test::reverse_sequence_test
