// SPDX-License-Identifier: Apache-2.0
// Tables of shape inference: blocks between space, batch and channels.
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Arrangement.hpp>

namespace tenon::test::infer_block_test
{

namespace
{

using Pairs = std::vector<std::pair<unsigned int, unsigned int>>;

template <typename D>
D Blocks(std::vector<unsigned int> block, Pairs pairs, bool asInputs = false, DataLayout layout = DataLayout::NHWC)
{
    D descriptor(std::move(block), std::move(pairs));
    descriptor.m_DataLayout = layout;
    descriptor.m_ParametersAsInputs = asInputs;
    return descriptor;
}

} // namespace

static InferCases MakeBlockCases()
{
    using enum LayerType;
    using S = SpaceToBatchNdDescriptor;
    using B = BatchToSpaceNdDescriptor;
    using Depth = SpaceToDepthDescriptor;
    const CaseInput noCrops = Shaped<int32_t>({2, 2}, {0, 0, 0, 0});
    return {
        Case(SpaceToBatchNd, "paddings", Blocks<S>({2, 3}, {{0, 1}, {1, 1}}), {T({2, 5, 4, 3})}).Gives({"[12,3,2,3]"}),
        Case(SpaceToBatchNd, "NCHW", Blocks<S>({2, 2}, {{0, 0}, {0, 0}}, false, DataLayout::NCHW), {T({1, 3, 4, 6})})
            .Gives({"[4,3,2,3]"}),
        Case(SpaceToBatchNd, "one dimension", Blocks<S>({2}, {{0, 0}}), {T({1, 4, 3})}).Gives({"[2,2,3]"}),
        Case(SpaceToBatchNd, "inputs", Blocks<S>({}, {}, true),
             {T({1, 4, 4, 1}), P({2, 2}), Shaped<int32_t>({2, 2}, {0, 0, 2, 0})})
            .Gives({"[4,2,3,1]"})
            .Resolves(Blocks<S>({2, 2}, {{0, 0}, {2, 0}})),
        Case(SpaceToBatchNd, "no multiple", Blocks<S>({2, 2}, {{0, 0}, {0, 0}}), {T({1, 5, 4, 1})})
            .Rejects("no multiple of the block of 2"),
        Case(SpaceToBatchNd, "block 0", Blocks<S>({0, 2}, {{0, 0}, {0, 0}}), {T({1, 4, 4, 1})}).Rejects("block is 0"),
        Case(SpaceToBatchNd, "paddings for one", Blocks<S>({2, 2}, {{0, 0}}), {T({1, 4, 4, 1})}).Rejects("1 pairs"),
        Case(SpaceToBatchNd, "rank too low", Blocks<S>({2, 2}, {{0, 0}, {0, 0}}), {T({1, 4})}).Rejects("does not fit"),
        Case(SpaceToBatchNd, "negative paddings", Blocks<S>({}, {}, true),
             {T({1, 4, 4, 1}), P({2, 2}), Shaped<int32_t>({2, 2}, {0, -2, 0, 0})})
            .Rejects("{0, -2}"),
        Case(SpaceToBatchNd, "above 32 bits", Blocks<S>({0x10000U, 0x10000U}, {{0, 0}, {0, 0}}), {T({2, 0, 0, 1})})
            .Rejects("not in 0 to"),
        Case(SpaceToBatchNd, "block above 62 bits", Blocks<S>({0xffffffffU, 0xffffffffU}, {{0, 0}, {0, 0}}),
             {T({2, 0, 0, 1})})
            .Rejects("too large"),

        Case(BatchToSpaceNd, "crops", Blocks<B>({2, 3}, {{0, 1}, {1, 1}}), {T({12, 3, 2, 3})}).Gives({"[2,5,4,3]"}),
        Case(BatchToSpaceNd, "NCHW", Blocks<B>({2, 2}, {{0, 0}, {0, 0}}, false, DataLayout::NCHW), {T({4, 3, 2, 3})})
            .Gives({"[1,3,4,6]"}),
        Case(BatchToSpaceNd, "crops all", Blocks<B>({2, 2}, {{0, 0}, {2, 2}}), {T({4, 2, 2, 1})}).Gives({"[1,4,0,1]"}),
        Case(BatchToSpaceNd, "inputs", Blocks<B>({}, {}, true), {T({4, 2, 2, 1}), P({2, 2}), noCrops})
            .Gives({"[1,4,4,1]"})
            .Resolves(Blocks<B>({2, 2}, {{0, 0}, {0, 0}})),
        Case(BatchToSpaceNd, "crops too much", Blocks<B>({2, 2}, {{0, 0}, {3, 2}}), {T({4, 2, 2, 1})})
            .Rejects("more than its 4 elements"),
        Case(BatchToSpaceNd, "no multiple", Blocks<B>({2, 2}, {{0, 0}, {0, 0}}), {T({6, 2, 2, 1})}).Rejects("batch"),
        Case(BatchToSpaceNd, "inputs missing", Blocks<B>({}, {}, true), {T({4, 2, 2, 1}), P({2, 2}), Absent()})
            .Rejects("not connected"),

        Case(SpaceToDepth, "NHWC", Depth(2, DataLayout::NHWC), {T({1, 4, 6, 3})}).Gives({"[1,2,3,12]"}),
        Case(SpaceToDepth, "NCHW", Depth(2, DataLayout::NCHW), {T({1, 3, 4, 6})}).Gives({"[1,12,2,3]"}),
        Case(SpaceToDepth, "no multiple", Depth(2, DataLayout::NHWC), {T({1, 4, 5, 3})}).Rejects("multiples"),
        Case(SpaceToDepth, "block 0", Depth(0, DataLayout::NHWC), {T({1, 4, 4, 3})}).Rejects("at least 1"),
        Case(DepthToSpace, "NHWC", Depth(2, DataLayout::NHWC), {T({1, 2, 3, 12})}).Gives({"[1,4,6,3]"}),
        Case(DepthToSpace, "NCHW", Depth(3, DataLayout::NCHW), {T({1, 9, 2, 3})}).Gives({"[1,1,6,9]"}),
        Case(DepthToSpace, "no multiple", Depth(2, DataLayout::NHWC), {T({1, 2, 3, 10})}).Rejects("no multiple"),
        Case(DepthToSpace, "block 0", Depth(0, DataLayout::NHWC), {T({1, 2, 3, 10})}).Rejects("block size is 0"),

        Case(ChannelShuffle, "groups", ChannelShuffleDescriptor(2, 1), {T({1, 6, 2})}).Gives({"[1,6,2]"}),
        Case(ChannelShuffle, "no groups", ChannelShuffleDescriptor(0, 1), {T({1, 6, 2})}).Rejects("0 groups"),
        Case(ChannelShuffle, "no multiple", ChannelShuffleDescriptor(4, 1), {T({1, 6, 2})}).Rejects("4 groups"),
        Case(ChannelShuffle, "axis", ChannelShuffleDescriptor(2, 3), {T({1, 6, 2})}).Rejects("axis 3"),
    };
}

static const InferTable BlockTable(MakeBlockCases);

} // namespace tenon::test::infer_block_test
