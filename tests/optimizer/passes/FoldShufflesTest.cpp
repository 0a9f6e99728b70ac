// SPDX-License-Identifier: Apache-2.0
// Pass FoldShuffles: pixel shuffles, their inverse and channel shuffles as PyTorch writes them, and what is none.
#include "harness/Passes.hpp"

#include <tenon/descriptors/Arrangement.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace tenon::test::fold_shuffles_test
{

namespace
{

TensorShape OpenBatch(TensorShape shape)
{
    shape.SetDimensionUnknown(0);
    return shape;
}

/// input -> Reshape -> Transpose -> Reshape
INetworkPtr MakeShuffle(const TensorShape& from, const TensorShape& split, const PermutationVector& mappings,
                        const TensorShape& to, bool isFixed = true)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = network->AddInputLayer(0, InputDescriptor(isFixed), "input");
    input->GetOutputSlot(0).SetTensorInfo(TensorInfo(from, DataType::Float32));
    IConnectableLayer* first = network->AddReshapeLayer(ReshapeDescriptor(split), "split");
    IConnectableLayer* transpose = network->AddTransposeLayer(TransposeDescriptor(mappings), "transpose");
    IConnectableLayer* second = network->AddReshapeLayer(ReshapeDescriptor(to), "shuffled");
    Connect(input, first);
    Connect(first, transpose);
    Connect(transpose, second);
    Connect(second, network->AddOutputLayer(0));
    return network;
}

} // namespace

TEST(FoldShuffles, Pixels)
{
    struct Form
    {
        TensorShape m_From, m_Split;
        PermutationVector m_Mappings;
        TensorShape m_To;
        LayerType m_Type;
        bool m_IsChannelMajor;
    };
    const TensorShape deep({2, 12, 3, 5});
    const TensorShape wide({2, 3, 6, 10});
    const Form forms[] = {
        {deep, {2, 3, 2, 2, 3, 5}, {0, 1, 4, 2, 5, 3}, wide, LayerType::DepthToSpace, true},
        {deep, {2, 2, 2, 3, 3, 5}, {0, 3, 4, 1, 5, 2}, wide, LayerType::DepthToSpace, false},
        {wide, {2, 3, 3, 2, 5, 2}, {0, 1, 3, 5, 2, 4}, deep, LayerType::SpaceToDepth, true},
        {wide, {2, 3, 3, 2, 5, 2}, {0, 3, 5, 1, 2, 4}, deep, LayerType::SpaceToDepth, false},
    };
    for (const Form& form : forms)
    {
        for (const bool hasOpenBatch : {false, true})
        {
            const auto given = [&](const TensorShape& shape) { return hasOpenBatch ? OpenBatch(shape) : shape; };
            BothWays both(*MakeShuffle(given(form.m_From), given(form.m_Split), form.m_Mappings, given(form.m_To)));
            const Layer* const layer = Find(both.Optimized(), "shuffled", form.m_Type);
            ASSERT_NE(layer, nullptr);
            EXPECT_EQ(layer->Descriptor<SpaceToDepthDescriptor>().m_ChannelMajor, form.m_IsChannelMajor);
            EXPECT_EQ(Count(both.Optimized(), LayerType::Reshape), 0u);
            both.ExpectEqual({form.m_From});
            if (hasOpenBatch)
            {
                TensorShape other = form.m_From;
                other.SetDimensionSize(0, 1);
                both.ExpectEqual({other});
            }
        }
    }
}

TEST(FoldShuffles, Channels)
{
    for (const bool hasOpenBatch : {false, true})
    {
        const auto given = [&](const TensorShape& shape) { return hasOpenBatch ? OpenBatch(shape) : shape; };
        BothWays both(
            *MakeShuffle(given({2, 12, 3, 5}), given({2, 3, 4, 3, 5}), {0, 2, 1, 3, 4}, given({2, 12, 3, 5})));
        EXPECT_EQ(Count(both.Optimized(), LayerType::ChannelShuffle), 1u);
        EXPECT_EQ(Count(both.Optimized(), LayerType::Transpose), 0u);
        both.ExpectEqual({TensorShape({2, 12, 3, 5})});
    }
}

TEST(FoldShuffles, OthersStay)
{
    // Sizes that another run may change, and orders that are no shuffle.
    BothWays open(*MakeShuffle(OpenBatch({2, 12, 3, 5}), OpenBatch({2, 3, 2, 2, 3, 5}), {0, 1, 4, 2, 5, 3},
                               OpenBatch({2, 3, 6, 10}), false));
    EXPECT_EQ(Count(open.Optimized(), LayerType::DepthToSpace), 0u);
    BothWays rows(*MakeShuffle({2, 12, 3, 5}, {2, 3, 2, 2, 3, 5}, {0, 1, 4, 3, 5, 2}, {2, 3, 6, 10}));
    EXPECT_EQ(Count(rows.Optimized(), LayerType::DepthToSpace), 0u);
    BothWays blocks(*MakeShuffle({2, 12, 3, 5}, {2, 2, 2, 3, 3, 5}, {0, 1, 4, 2, 5, 3}, {2, 2, 6, 15}));
    EXPECT_EQ(Count(blocks.Optimized(), LayerType::DepthToSpace), 0u);
    BothWays groups(*MakeShuffle({2, 12, 3, 5}, {2, 3, 4, 5, 3}, {0, 2, 1, 3, 4}, {2, 12, 3, 5}));
    EXPECT_EQ(Count(groups.Optimized(), LayerType::ChannelShuffle), 0u);
}

namespace
{

/// x cut in two along an axis at `at`, joined the other way around.
IConnectableLayer* AddRoll(INetwork& network, IConnectableLayer* x, unsigned int axis, int at)
{
    OriginsDescriptor join(2, 4);
    join.SetConcatAxis(axis);
    IConnectableLayer* concat = network.AddConcatLayer(join, "roll");
    for (const unsigned int part : {0U, 1U})
    {
        StridedSliceDescriptor slice({0, 0, 0, 0}, {0, 0, 0, 0}, {1, 1, 1, 1});
        const auto bit = static_cast<int32_t>(1U << axis);
        slice.m_BeginMask = part == 0 ? 15 - bit : 15;
        slice.m_EndMask = part == 0 ? 15 : 15 - bit;
        (part == 0 ? slice.m_Begin : slice.m_End)[axis] = at;
        IConnectableLayer* layer = network.AddStridedSliceLayer(slice, "part");
        Connect(x, layer);
        Connect(layer, concat, part);
    }
    return concat;
}

} // namespace

TEST(FoldRolls, AlongSeveralAxes)
{
    for (const int at : {2, -3})
    {
        for (const bool hasOpenBatch : {false, true})
        {
            INetworkPtr network = INetwork::Create();
            const TensorShape shape({2, 5, 7, 3});
            IConnectableLayer* input = network->AddInputLayer(0, InputDescriptor(true), "input");
            input->GetOutputSlot(0).SetTensorInfo(
                TensorInfo(hasOpenBatch ? OpenBatch(shape) : shape, DataType::Float32));
            IConnectableLayer* last = AddRoll(*network, AddRoll(*network, input, 1, at), 2, 4);
            Connect(last, network->AddOutputLayer(0));
            BothWays both(*network);
            EXPECT_EQ(Count(both.Optimized(), LayerType::Roll), 1u);
            EXPECT_EQ(Count(both.Optimized(), LayerType::Concat), 0u);
            EXPECT_EQ(Count(both.Optimized(), LayerType::StridedSlice), 0u);
            both.ExpectEqual({shape});
        }
    }
}

TEST(FoldRolls, OthersStay)
{
    const TensorShape shape({2, 5, 7, 3});
    for (const bool isFixed : {true, false})
    {
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* input = network->AddInputLayer(0, InputDescriptor(isFixed), "input");
        input->GetOutputSlot(0).SetTensorInfo(TensorInfo(shape, DataType::Float32));
        // Cut where there is nothing behind, and of a size that another run may change.
        Connect(AddRoll(*network, input, 1, isFixed ? 5 : 2), network->AddOutputLayer(0));
        BothWays both(*network);
        EXPECT_EQ(Count(both.Optimized(), LayerType::Roll), 0u);
        both.ExpectEqual({shape});
    }
}

} // namespace tenon::test::fold_shuffles_test
