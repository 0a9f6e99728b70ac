// SPDX-License-Identifier: Apache-2.0
// SpaceToBatchNd and BatchToSpaceNd: blocks of space to the batch and back, with a border.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Arrangement.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace tenon::test::space_to_batch_nd_test
{

namespace
{

using Sizes = std::vector<unsigned int>;
using Edges = std::vector<std::pair<unsigned int, unsigned int>>;

/// What a blocked tensor of `space` [batch, space..., rest...] is.
Sizes ToBlocks(Sizes space, const Sizes& block, const Edges& edges)
{
    for (size_t i = 0; i < block.size(); ++i)
    {
        space[0] *= block[i];
        space[i + 1] = (space[i + 1] + edges[i].first + edges[i].second) / block[i];
    }
    return space;
}

OpCase MakeSpaceToBatch(const Sizes& space, const Sizes& block, const Edges& edges, DataType type)
{
    const TensorInfo output = MakeInfo(MakeShape(ToBlocks(space, block, edges)), type);
    SpaceToBatchNdDescriptor descriptor(block, edges);
    descriptor.m_DataLayout = DataLayout::NHWC;
    return Exactly({MakeShape(space).ToString() + " to " + output.ToString(),
                    LayerType::SpaceToBatchNd,
                    MakeDescriptor(descriptor),
                    {Random(MakeInfo(MakeShape(space), type), 2)},
                    output,
                    [=](const auto& in)
                    {
                        return Move(output.GetShape(), in[0],
                                    [&](Coordinates at)
                                    {
                                        int64_t place = at[0] / space[0];
                                        at[0] %= space[0];
                                        for (size_t i = block.size(); i-- > 0;)
                                        {
                                            at[i + 1] = at[i + 1] * block[i] + place % block[i] -
                                                        static_cast<int64_t>(edges[i].first);
                                            place /= block[i];
                                        }
                                        return at;
                                    });
                    }});
}

OpCase MakeBatchToSpace(const Sizes& space, const Sizes& block, const Edges& edges, DataType type)
{
    const TensorInfo output = MakeInfo(MakeShape(space), type);
    const Sizes blocks = ToBlocks(space, block, edges);
    BatchToSpaceNdDescriptor descriptor(block, edges);
    descriptor.m_DataLayout = DataLayout::NHWC;
    return Exactly({MakeShape(blocks).ToString() + " to " + output.ToString(),
                    LayerType::BatchToSpaceNd,
                    MakeDescriptor(descriptor),
                    {Random(MakeInfo(MakeShape(blocks), type), 2)},
                    output,
                    [=](const auto& in)
                    {
                        return Move(output.GetShape(), in[0],
                                    [&](Coordinates at)
                                    {
                                        int64_t place = 0;
                                        for (size_t i = 0; i < block.size(); ++i)
                                        {
                                            const int64_t whole = at[i + 1] + edges[i].first;
                                            place = place * block[i] + whole % block[i];
                                            at[i + 1] = whole / block[i];
                                        }
                                        at[0] += place * space[0];
                                        return at;
                                    });
                    }});
}

} // namespace

ISA_TEST(SpaceToBatchNd, AnyTypeBothWays)
{
    for (const DataType type : GetMovedTypes())
    {
        for (const auto make : {MakeSpaceToBatch, MakeBatchToSpace})
        {
            CheckOp(make({1, 4, 4, 1}, {2, 2}, {{0, 0}, {0, 0}}, type));
            CheckOp(make({2, 5, 2, 3}, {3, 2}, {{1, 0}, {2, 4}}, type));
            CheckOp(make({2, 5, 2}, {4}, {{1, 2}}, type));
            CheckOp(make({2, 3, 4, 5, 2}, {1, 2, 3}, {{0, 0}, {1, 1}, {0, 1}}, type));
            CheckOp(make({2, 6}, {3}, {{0, 0}}, type));
            CheckOp(make({1, 2, 2, 2, 2, 2, 2, 2}, {1, 2, 1, 2, 1, 2}, Edges(6, {0, 0}), type));
            CheckOp(make({0, 4, 4, 1}, {2, 2}, {{0, 0}, {0, 0}}, type));
            CheckOp(make({1, 4, 4, 0}, {2, 2}, {{0, 0}, {0, 0}}, type));
        }
        CheckOp(MakeSpaceToBatch({1, 1, 1, 2}, {2, 2}, {{3, 2}, {5, 4}}, type));
        CheckOp(MakeSpaceToBatch({1, 0, 3}, {2}, {{3, 1}}, type));
    }
}

ISA_TEST(SpaceToBatchNd, RefusesWhatDoesNotFit)
{
    const auto with = [](const Sizes& block, const Edges& edges, DataLayout layout = DataLayout::NHWC)
    {
        OpCase op = MakeSpaceToBatch({1, 4, 4, 1}, {2, 2}, {{0, 0}, {0, 0}}, DataType::Float32);
        SpaceToBatchNdDescriptor descriptor(block, edges);
        descriptor.m_DataLayout = layout;
        op.m_Descriptor = MakeDescriptor(descriptor);
        return op;
    };
    CheckUnsupported(with({2, 2}, {{0, 0}, {0, 0}}, DataLayout::NCHW), SupportCode::UnsupportedParameters, "NHWC");
    CheckRejectsShapes(with({2, 0}, {{0, 0}, {0, 0}}), "whole blocks");
    CheckRejectsShapes(with({2, 2}, {{0, 2}, {0, 0}}), "whole blocks");
    CheckRejectsShapes(with({2, 2}, {{0, 0}}), "1 edges");
    CheckRejectsShapes(with({2, 2, 2, 2}, Edges(4, {0, 0})), "4 block sizes");
    CheckRejectsShapes(with({0xFFFFFFFFU, 0xFFFFFFFFU}, {{0, 0}, {0, 0}}), "whole blocks");
}

ISA_TEST(BatchToSpaceNd, RefusesWhatDoesNotFit)
{
    const auto with = [](const Sizes& block, const Edges& edges, DataLayout layout = DataLayout::NHWC)
    {
        OpCase op = MakeBatchToSpace({1, 4, 4, 1}, {2, 2}, {{0, 0}, {0, 0}}, DataType::Float32);
        BatchToSpaceNdDescriptor descriptor(block, edges);
        descriptor.m_DataLayout = layout;
        op.m_Descriptor = MakeDescriptor(descriptor);
        return op;
    };
    CheckUnsupported(with({2, 2}, {{0, 0}, {0, 0}}, DataLayout::NCHW), SupportCode::UnsupportedParameters, "NHWC");
    CheckRejectsShapes(with({2, 2}, {{1, 0}, {0, 0}}), "whole blocks");
    CheckRejectsShapes(with({4, 1}, {{0, 0}, {0, 0}}), "whole blocks");
}

} // namespace tenon::test::space_to_batch_nd_test
