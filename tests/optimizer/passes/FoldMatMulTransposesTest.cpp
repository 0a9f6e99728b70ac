// SPDX-License-Identifier: Apache-2.0
// Passes FoldMatMulTransposes and MoveUnitReshapes: Transposes that products do themselves, and those that meet once a
// Reshape of dimensions of size 1 is out of their way.
#include "harness/Passes.hpp"

#include <tenon/descriptors/Arrangement.hpp>
#include <tenon/descriptors/Products.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace tenon::test::fold_mat_mul_transposes_test
{

namespace
{

IConnectableLayer* AddReshape(INetwork& network, IConnectableLayer* input, const TensorShape& target)
{
    IConnectableLayer* layer = network.AddReshapeLayer(ReshapeDescriptor(target), "reshape");
    Connect(input, layer);
    return layer;
}

IConnectableLayer* AddTranspose(INetwork& network, IConnectableLayer* input, const PermutationVector& mappings)
{
    IConnectableLayer* layer = network.AddTransposeLayer(TransposeDescriptor(mappings), "transpose");
    Connect(input, layer);
    return layer;
}

IConnectableLayer* AddProduct(INetwork& network, IConnectableLayer* x, IConnectableLayer* y,
                              const BatchMatMulDescriptor& descriptor = {})
{
    IConnectableLayer* layer = network.AddBatchMatMulLayer(descriptor, "product");
    Connect(x, layer, 0);
    Connect(y, layer, 1);
    Connect(layer, network.AddOutputLayer(0));
    return layer;
}

const BatchMatMulDescriptor& ProductOf(const Graph& graph)
{
    return Find(graph, "product", LayerType::BatchMatMul)->Descriptor<BatchMatMulDescriptor>();
}

constexpr float Tolerance = 1e-3f; // of sums of products of up to 16

} // namespace

TEST(FoldMatMulTransposes, KeysOfAnAttention)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* x = AddReshape(*network, AddInput(*network, 0, FloatInfo({6, 5, 4})), {6, 5, 4});
    IConnectableLayer* keys = AddReshape(*network, AddInput(*network, 1, FloatInfo({6, 7, 4})), {2, 3, 7, 4});
    IConnectableLayer* y = AddReshape(*network, AddTranspose(*network, keys, {0, 1, 3, 2}), {6, 4, 7});
    AddProduct(*network, x, y);
    BothWays both(*network);
    EXPECT_EQ(Count(both.Optimized(), LayerType::Transpose), 0u);
    EXPECT_FALSE(ProductOf(both.Optimized()).m_TransposeX);
    EXPECT_TRUE(ProductOf(both.Optimized()).m_TransposeY);
    both.ExpectEqual({TensorShape({6, 5, 4}), TensorShape({6, 7, 4})}, Tolerance);
    both.ExpectRefused({TensorShape({6, 5, 4}), TensorShape({6, 4, 8})});
}

TEST(FoldMatMulTransposes, BothAndTwice)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* x = AddReshape(*network, AddInput(*network, 0, FloatInfo({2, 4, 5})), {2, 4, 5});
    IConnectableLayer* y = AddReshape(*network, AddInput(*network, 1, FloatInfo({2, 4, 7})), {2, 4, 7});
    AddProduct(*network, AddTranspose(*network, x, {0, 2, 1}), AddTranspose(*network, y, {0, 2, 1}),
               BatchMatMulDescriptor(false, true));
    BothWays both(*network);
    EXPECT_EQ(Count(both.Optimized(), LayerType::Transpose), 0u);
    EXPECT_TRUE(ProductOf(both.Optimized()).m_TransposeX);
    EXPECT_FALSE(ProductOf(both.Optimized()).m_TransposeY) << "twice is as it was";
    both.ExpectEqual({TensorShape({2, 4, 5}), TensorShape({2, 4, 7})}, Tolerance);
}

TEST(FoldMatMulTransposes, WhatIsLeftAlone)
{
    const auto count = [](const PermutationVector& mappings, const BatchMatMulDescriptor& descriptor, bool isRankSure)
    {
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* x = AddInput(*network, 0, FloatInfo({4, 4, 4}));
        IConnectableLayer* y = AddInput(*network, 1, FloatInfo({4, 4, 4}));
        y = isRankSure ? AddReshape(*network, y, {4, 4, 4}) : y;
        AddProduct(*network, x, AddTranspose(*network, y, mappings), descriptor);
        BothWays both(*network);
        both.ExpectEqual({TensorShape({4, 4, 4}), TensorShape({4, 4, 4})}, Tolerance);
        if (!isRankSure)
        {
            both.ExpectRefused({TensorShape({4, 4, 4}), TensorShape({4, 4})});
        }
        return Count(both.Optimized(), LayerType::Transpose);
    };
    EXPECT_EQ(count({0, 2, 1}, {}, true), 0u);
    EXPECT_EQ(count({0, 2, 1}, {}, false), 1u) << "the Transpose refuses other ranks";
    EXPECT_EQ(count({1, 0, 2}, {}, true), 1u) << "it moves whole matrices";
    EXPECT_EQ(count({0, 2, 1}, BatchMatMulDescriptor(false, false, false, true), true), 1u) << "adjoint";
}

TEST(FoldMatMulTransposes, ReshapesOfMatricesStay)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* x = AddInput(*network, 0, FloatInfo({3, 4}));
    IConnectableLayer* y = AddReshape(*network, AddInput(*network, 1, FloatInfo({6, 2})), {6, 2});
    AddProduct(*network, x, AddReshape(*network, AddTranspose(*network, y, {1, 0}), {4, 3}));
    BothWays both(*network);
    EXPECT_EQ(Count(both.Optimized(), LayerType::Transpose), 1u);
    both.ExpectEqual({TensorShape({3, 4}), TensorShape({6, 2})}, Tolerance);
}

// As frameworks write one-dimensional convolutions between layers with channels last.
TEST(MoveUnitReshapes, TransposesMeet)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* x = AddReshape(*network, AddInput(*network, 0, FloatInfo({3, 5, 8})), {3, 5, 8});
    IConnectableLayer* channelsFirst = AddReshape(*network, AddTranspose(*network, x, {0, 2, 1}), {3, 8, 5, 1});
    Connect(AddTranspose(*network, channelsFirst, {0, 2, 3, 1}), network->AddOutputLayer(0));
    BothWays both(*network);
    EXPECT_EQ(Count(both.Optimized(), LayerType::Transpose), 0u);
    both.ExpectEqual({TensorShape({3, 5, 8})});
    both.ExpectRefused({TensorShape({3, 5, 7})});
}

TEST(MoveUnitReshapes, AllMappingsOfDimensionsOfOne)
{
    const TensorShape shapes[] = {TensorShape({1, 4, 1, 3}), TensorShape({2, 1, 1, 3}), TensorShape({1, 1, 1, 1}),
                                  TensorShape({4, 3, 2, 1})};
    for (const TensorShape& read : shapes)
    {
        std::array<unsigned int, 4> mappings = {0, 1, 2, 3};
        do
        {
            INetworkPtr network = INetwork::Create();
            TensorShape source({read.GetNumElements()});
            if (read[0] == 4)
            {
                source = TensorShape({1, 4, 3, 1, 2});
            }
            else if (read.GetNumElements() > 1)
            {
                source = TensorShape({read.GetNumElements() / 3, 1, 3});
            }
            IConnectableLayer* first =
                AddReshape(*network, AddInput(*network, 0, TensorInfo(source, DataType::Float32)), source);
            Connect(AddTranspose(*network, AddReshape(*network, first, read), PermutationVector(mappings.data(), 4)),
                    network->AddOutputLayer(0));
            BothWays both(*network);
            both.ExpectEqual({source});
            // Those alone that move dimensions of more than one element are left.
            std::vector<unsigned int> moved;
            for (const unsigned int i : mappings)
            {
                if (read[i] != 1)
                {
                    moved.push_back(i);
                }
            }
            EXPECT_EQ(Count(both.Optimized(), LayerType::Transpose),
                      std::is_sorted(moved.begin(), moved.end()) ? 0u : 1u);
        } while (std::next_permutation(mappings.begin(), mappings.end()));
    }
}

// What is 1 in the network's info may be more in a run.
TEST(MoveUnitReshapes, SizesThatMayChangeStay)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* x = AddInput(*network, 0, FloatInfo({1, 5, 8}));
    Connect(AddTranspose(*network, x, {1, 0, 2}), network->AddOutputLayer(0));
    BothWays both(*network);
    EXPECT_EQ(Count(both.Optimized(), LayerType::Transpose), 1u);
    both.ExpectEqual({TensorShape({1, 5, 8})});
    both.ExpectEqual({TensorShape({3, 5, 8})});
}

} // namespace tenon::test::fold_mat_mul_transposes_test
