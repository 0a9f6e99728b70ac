// SPDX-License-Identifier: Apache-2.0
// GatherNd: slices by tuples of indices.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Indexing.hpp>

#include <gtest/gtest.h>

#include <string>

namespace tenon::test::gather_nd_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

OpCase MakeCase(const Sizes& data, const Sizes& indexSizes, DataType type, DataType indexType = DataType::Signed32)
{
    const size_t length = indexSizes.back();
    const auto taken = static_cast<std::ptrdiff_t>(length);
    Sizes sizes(indexSizes.begin(), indexSizes.end() - 1);
    sizes.insert(sizes.end(), data.begin() + taken, data.end());
    const TensorInfo output = MakeInfo(MakeShape(sizes), type);
    const TensorInfo indexInfo(MakeShape(indexSizes), indexType);
    std::vector<double> indices(indexInfo.GetNumElements());
    for (size_t i = 0; i < indices.size(); ++i)
    {
        indices[i] = static_cast<double>(i * 5 % data[i % length]);
    }
    return Exactly({"from " + MakeShape(data).ToString() + " by " + indexInfo.ToString(),
                    LayerType::GatherNd,
                    MakeDescriptor(GatherNdDescriptor()),
                    {Random(MakeInfo(MakeShape(data), type), 3), Constant(Stored(indexInfo, indices))},
                    output,
                    [=](const auto& in)
                    {
                        return Move(output.GetShape(), in[0],
                                    [&](const Coordinates& to)
                                    {
                                        size_t tuple = 0;
                                        for (size_t i = 0; i + 1 < indexSizes.size(); ++i)
                                        {
                                            tuple = tuple * indexSizes[i] + static_cast<size_t>(to[i]);
                                        }
                                        Coordinates from;
                                        for (size_t i = 0; i < length; ++i)
                                        {
                                            from.push_back(static_cast<int64_t>(in[1].m_Values[tuple * length + i]));
                                        }
                                        from.insert(from.end(),
                                                    to.begin() + static_cast<std::ptrdiff_t>(indexSizes.size()) - 1,
                                                    to.end());
                                        return from;
                                    });
                    }});
}

} // namespace

ISA_TEST(GatherNd, AnyTypeAndTuple)
{
    for (const DataType type : GetMovedTypes())
    {
        for (const DataType indexType : {DataType::Signed16, DataType::Signed32, DataType::Signed64})
        {
            CheckOp(MakeCase({5}, {1}, type, indexType));
            CheckOp(MakeCase({4, 3}, {6, 1}, type, indexType));
            CheckOp(MakeCase({4, 3}, {6, 2}, type, indexType));
            CheckOp(MakeCase({4, 3, 2}, {2, 3, 2}, type, indexType));
            CheckOp(MakeCase({4, 3}, {2, 0}, type, indexType)); // all of the data, twice
            CheckOp(MakeCase({4, 3}, {0, 2}, type, indexType));
            CheckOp(MakeCase({2, 2, 2, 2, 2, 2, 2, 2}, {3, 8}, type, indexType));
        }
    }
}

/// With `batchDims` leading dimensions that data and tuples share; each second index is negative.
OpCase MakeBatchCase(const Sizes& data, const Sizes& indexSizes, unsigned int batchDims, DataType type,
                     DataType indexType)
{
    const auto batch = static_cast<std::ptrdiff_t>(batchDims);
    const size_t length = indexSizes.back();
    Sizes sizes(indexSizes.begin(), indexSizes.end() - 1);
    sizes.insert(sizes.end(), data.begin() + batch + static_cast<std::ptrdiff_t>(length), data.end());
    const TensorInfo output = MakeInfo(MakeShape(sizes), type);
    const TensorInfo indexInfo(MakeShape(indexSizes), indexType);
    std::vector<double> indices(indexInfo.GetNumElements());
    for (size_t i = 0; i < indices.size(); ++i)
    {
        const unsigned int size = data[batchDims + i % length];
        indices[i] = static_cast<double>(i * 5 % size) - (i % 2 == 0 ? 0 : size);
    }
    GatherNdDescriptor descriptor;
    descriptor.m_BatchDims = batchDims;
    descriptor.m_NegativeIndices = true;
    return Exactly(
        {"from " + MakeShape(data).ToString() + " by " + indexInfo.ToString() + " behind " + std::to_string(batchDims),
         LayerType::GatherNd,
         MakeDescriptor(descriptor),
         {Random(MakeInfo(MakeShape(data), type), 3), Constant(Stored(indexInfo, indices))},
         output,
         [=](const auto& in)
         {
             return Move(output.GetShape(), in[0],
                         [&](const Coordinates& to)
                         {
                             size_t tuple = 0;
                             for (size_t i = 0; i + 1 < indexSizes.size(); ++i)
                             {
                                 tuple = tuple * indexSizes[i] + static_cast<size_t>(to[i]);
                             }
                             Coordinates from(to.begin(), to.begin() + batch);
                             for (size_t i = 0; i < length; ++i)
                             {
                                 const auto index = static_cast<int64_t>(in[1].m_Values[tuple * length + i]);
                                 from.push_back(index + (index < 0 ? data[batchDims + i] : 0));
                             }
                             from.insert(from.end(), to.begin() + static_cast<std::ptrdiff_t>(indexSizes.size()) - 1,
                                         to.end());
                             return from;
                         });
         }});
}

ISA_TEST(GatherNd, BatchesAndNegativeIndices)
{
    for (const DataType type : {DataType::Float32, DataType::Signed64, DataType::QAsymmS8, DataType::Float16})
    {
        for (const DataType indexType : {DataType::Signed16, DataType::Signed32, DataType::Signed64})
        {
            CheckOp(MakeBatchCase({5}, {4, 1}, 0, type, indexType));
            CheckOp(MakeBatchCase({4, 3}, {6, 2}, 0, type, indexType));
            CheckOp(MakeBatchCase({2, 4, 3}, {2, 1}, 1, type, indexType));
            CheckOp(MakeBatchCase({2, 4, 3}, {2, 5, 2}, 1, type, indexType));
            CheckOp(MakeBatchCase({2, 3, 4, 5}, {2, 3, 2, 1}, 2, type, indexType));
            CheckOp(MakeBatchCase({2, 3, 4}, {2, 3, 0}, 1, type, indexType));
            CheckOp(MakeBatchCase({0, 4, 3}, {0, 5, 2}, 1, type, indexType));
        }
    }
}

ISA_TEST(GatherNd, RefusesBatchesThatDoNotFit)
{
    const auto withBatch = [](OpCase op, unsigned int batchDims)
    {
        GatherNdDescriptor descriptor;
        descriptor.m_BatchDims = batchDims;
        op.m_Descriptor = MakeDescriptor(descriptor);
        return op;
    };
    CheckRejectsShapes(withBatch(MakeCase({4, 3}, {2, 1}, DataType::Float32), 1), "1 batch dimensions");
    CheckRejectsShapes(withBatch(MakeCase({4, 3}, {2, 1}, DataType::Float32), 2), "2 batch dimensions");
    OpCase outside = MakeBatchCase({2, 4}, {2, 1}, 1, DataType::Float32, DataType::Signed32);
    outside.m_Inputs[1] = Stored(outside.m_Inputs[1].m_Info, {-4, -5});
    CheckFailsToRun(outside, "element 1 of input 1 is -5");
}

ISA_TEST(GatherNd, TakesHalfBytes)
{
    OpCase op = MakeCase({3}, {3, 1}, DataType::Float32);
    op.m_Output = TensorInfo(TensorShape({3}), DataType::QSymmS4, 0.5f);
    op.m_Inputs[0] = FromBytes(op.m_Output, {0x21, 0x0F}); // indices 0, 2, 1
    EXPECT_EQ(ToNumbers(RunOnCpuRef(op)), (std::vector<unsigned int>{0xF1, 0x02}));
}

ISA_TEST(GatherNd, RefusesWhatDoesNotFit)
{
    OpCase op = MakeCase({4, 3}, {2, 2}, DataType::Float32);
    op.m_Inputs[1] = Stored(op.m_Inputs[1].m_Info, {0, 2, 1, 3});
    CheckFailsToRun(op, "element 3 of input 1 is 3");
    op.m_Inputs[1] = Stored(op.m_Inputs[1].m_Info, {0, 2, -1, 0});
    CheckFailsToRun(op, "element 2 of input 1 is -1");

    CheckUnsupported(MakeCase({4}, {2, 1}, DataType::Float32, DataType::Float32), SupportCode::UnsupportedType,
                     "input 1");
    OpCase tuple = MakeCase({4, 3}, {2, 2}, DataType::Float32);
    tuple.m_Inputs[1] = Stored(TensorInfo(TensorShape({1, 3}), DataType::Signed32), {0, 0, 0});
    CheckRejectsShapes(tuple, "index tuples");
    OpCase output = MakeCase({4, 3}, {2, 1}, DataType::Float32);
    output.m_Output.SetShape(TensorShape({3, 2}));
    CheckRejectsShapes(output, "[2,3]");
}

} // namespace tenon::test::gather_nd_test
