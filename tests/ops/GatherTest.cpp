// SPDX-License-Identifier: Apache-2.0
// Gather: slices along an axis, with batches, and indices that nobody vouches for.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Indexing.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace tenon::test::gather_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

OpCase MakeCase(const Sizes& data, const Sizes& indexSizes, int axis, int batchDims, DataType type,
                DataType indexType = DataType::Signed32)
{
    const auto at = static_cast<size_t>(axis < 0 ? axis + static_cast<int>(data.size()) : axis);
    const auto batch = static_cast<size_t>(batchDims < 0 ? batchDims + static_cast<int>(indexSizes.size()) : batchDims);
    Sizes sizes(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(at));
    sizes.insert(sizes.end(), indexSizes.begin() + static_cast<std::ptrdiff_t>(batch), indexSizes.end());
    sizes.insert(sizes.end(), data.begin() + static_cast<std::ptrdiff_t>(at) + 1, data.end());
    const TensorInfo output = MakeInfo(MakeShape(sizes), type);
    const TensorInfo indexInfo(MakeShape(indexSizes), indexType);
    std::vector<double> indices(indexInfo.GetNumElements());
    for (size_t i = 0; i < indices.size(); ++i)
    {
        indices[i] = static_cast<double>(i * 5 % data[at]);
    }
    GatherDescriptor descriptor(axis);
    descriptor.m_BatchDims = batchDims;
    return Exactly(
        {"from " + MakeShape(data).ToString() + " by " + indexInfo.ToString() + " along " + std::to_string(axis),
         LayerType::Gather,
         MakeDescriptor(descriptor),
         {Random(MakeInfo(MakeShape(data), type), 3), Constant(Stored(indexInfo, indices))},
         output,
         [=](const auto& in)
         {
             return Move(output.GetShape(), in[0],
                         [&](const Coordinates& to)
                         {
                             size_t index = 0;
                             for (size_t i = 0; i < indexSizes.size(); ++i)
                             {
                                 const int64_t coordinate = i < batch ? to[i] : to[at + i - batch];
                                 index = index * indexSizes[i] + static_cast<size_t>(coordinate);
                             }
                             Coordinates from(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(at));
                             from.push_back(static_cast<int64_t>(in[1].m_Values[index]));
                             from.insert(from.end(),
                                         to.begin() + static_cast<std::ptrdiff_t>(at + indexSizes.size() - batch),
                                         to.end());
                             return from;
                         });
         }});
}

} // namespace

ISA_TEST(Gather, AnyTypeAxisAndBatch)
{
    for (const DataType type : GetMovedTypes())
    {
        for (const DataType indexType : {DataType::Signed16, DataType::Signed32, DataType::Signed64})
        {
            CheckOp(MakeCase({5}, {3}, 0, 0, type, indexType));
            CheckOp(MakeCase({4, 3}, {}, 0, 0, type, indexType));
            CheckOp(MakeCase({4, 3}, {2, 2}, 1, 0, type, indexType));
            CheckOp(MakeCase({4, 3, 2}, {5}, -2, 0, type, indexType));
            CheckOp(MakeCase({2, 4, 3}, {2, 3}, 1, 1, type, indexType));
            CheckOp(MakeCase({2, 3, 4, 2}, {2, 3, 2}, 2, -1, type, indexType));
            CheckOp(MakeCase({2, 3, 4, 2}, {2, 5}, 3, 1, type, indexType));
            CheckOp(MakeCase({2, 3}, {2, 3}, 1, 1, type, indexType));
            CheckOp(MakeCase({2, 3}, {2}, 1, 1, type, indexType));
            CheckOp(MakeCase({4, 3}, {0}, 0, 0, type, indexType));
            CheckOp(MakeCase({0, 3}, {2}, 1, 0, type, indexType));
        }
    }
}

/// The same with each index that is not 0 counted from the end.
OpCase FromEnd(OpCase op, unsigned int axis)
{
    const double size = op.m_Inputs[0].m_Info.GetShape()[axis];
    TestTensor& indices = op.m_Inputs[1];
    std::vector<double> stored = GetStored(indices.m_Info, indices.m_Bytes.data());
    for (double& index : stored)
    {
        index -= index != 0 ? size : 0;
    }
    indices = Constant(Stored(indices.m_Info, stored));
    auto descriptor = static_cast<const GatherDescriptor&>(*op.m_Descriptor);
    descriptor.m_NegativeIndices = true;
    op.m_Descriptor = MakeDescriptor(descriptor);
    const Oracle plain = op.m_Oracle;
    op.m_Oracle = [=](std::vector<RealTensor> in)
    {
        for (double& index : in[1].m_Values)
        {
            index += index < 0 ? size : 0;
        }
        return plain(in);
    };
    return op;
}

ISA_TEST(Gather, NegativeIndicesCountFromTheEnd)
{
    for (const DataType indexType : {DataType::Signed16, DataType::Signed32, DataType::Signed64})
    {
        CheckOp(FromEnd(MakeCase({5}, {7}, 0, 0, DataType::Float32, indexType), 0));
        CheckOp(FromEnd(MakeCase({4, 3}, {}, 0, 0, DataType::Signed64, indexType), 0));
        CheckOp(FromEnd(MakeCase({4, 3, 2}, {5}, 1, 0, DataType::Unsigned8, indexType), 1));
        CheckOp(FromEnd(MakeCase({2, 4, 3}, {2, 3}, 1, 1, DataType::Float32, indexType), 1));
        CheckOp(FromEnd(MakeCase({900, 31}, {900, 3}, 1, 1, DataType::Float16, indexType), 1));
        OpCase op = FromEnd(MakeCase({4, 3}, {2}, 0, 0, DataType::Float32, indexType), 0);
        op.m_Inputs[1] = Stored(op.m_Inputs[1].m_Info, {-4, -5});
        CheckFailsToRun(op, "element 1 of input 1 is -5; it must be at least -4 and below 4");
        op.m_Inputs[1] = Stored(op.m_Inputs[1].m_Info, {4, 0});
        CheckFailsToRun(op, "element 0 of input 1 is 4");
    }
}

ISA_TEST(Gather, TakesHalfBytes)
{
    OpCase op = MakeCase({3}, {3}, 0, 0, DataType::Float32);
    op.m_Output = TensorInfo(TensorShape({3}), DataType::QSymmS4, 0.5f);
    op.m_Inputs = {FromBytes(op.m_Output, {0x21, 0x0F}), Indices({2, 1, 2})};
    EXPECT_EQ(ToNumbers(RunOnCpuRef(op)), (std::vector<unsigned int>{0x2F, 0x0F}));
}

ISA_TEST(Gather, RefusesIndicesOutside)
{
    OpCase op = MakeCase({4, 3}, {2}, 0, 0, DataType::Float32);
    op.m_Inputs[1] = Indices({0, 4});
    CheckFailsToRun(op, "element 1 of input 1 is 4");
    op.m_Inputs[1] = Indices({-1, 0});
    CheckFailsToRun(op, "element 0 of input 1 is -1");
    op = MakeCase({4, 3}, {1}, 0, 0, DataType::Float32, DataType::Signed64);
    op.m_Inputs[1] = Stored(op.m_Inputs[1].m_Info, {4294967296.0 * 4294967296.0 / 4});
    CheckFailsToRun(op, "4611686018427387904");
    op = MakeCase({1, 3}, {2}, 0, 0, DataType::Float32);
    op.m_Inputs[0] = Random(TensorInfo(TensorShape({0, 3}), DataType::Float32), 1);
    CheckFailsToRun(op, "below 0");
}

ISA_TEST(Gather, RefusesWhatDoesNotFit)
{
    CheckUnsupported(MakeCase({4}, {2}, 0, 0, DataType::Float32, DataType::Float32), SupportCode::UnsupportedType,
                     "input 1");
    OpCase axis = MakeCase({4, 3}, {2}, 0, 0, DataType::Float32);
    axis.m_Descriptor = MakeDescriptor(GatherDescriptor(2));
    CheckRejectsShapes(axis, "axis 2");
    OpCase batch = MakeCase({4, 3}, {2}, 1, 0, DataType::Float32);
    GatherDescriptor descriptor(1);
    descriptor.m_BatchDims = 1;
    batch.m_Descriptor = MakeDescriptor(descriptor);
    CheckRejectsShapes(batch, "1 batch dimensions");
    OpCase output = MakeCase({4, 3}, {2}, 0, 0, DataType::Float32);
    output.m_Output.SetShape(TensorShape({3, 2}));
    CheckRejectsShapes(output, "[2,3]");
}

} // namespace tenon::test::gather_test
