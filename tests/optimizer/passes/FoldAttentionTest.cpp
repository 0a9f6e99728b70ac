// SPDX-License-Identifier: Apache-2.0
// Pass FoldAttention: the forms in which frameworks write attentions, and what is none.
#include "harness/Passes.hpp"

#include <tenon/Descriptors.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <vector>

namespace tenon::test::fold_attention_test
{

namespace
{

constexpr float Tolerance = 1e-4f;
constexpr float Infinity = std::numeric_limits<float>::infinity();

/// Queries, keys and values of [2, 3, S, D] are inputs 0, 1 and 2, whose ranks are sure.
class Attention
{
public:
    explicit Attention(bool isFixed = true) : m_Network(INetwork::Create()), m_IsFixed(isFixed)
    {
        m_Queries = Input(FloatInfo({2, 3, 5, 4}));
        m_Keys = Input(FloatInfo({2, 3, 7, 4}));
        m_Values = Input(FloatInfo({2, 3, 7, 6}));
    }

    IConnectableLayer* Input(const TensorInfo& info)
    {
        const auto id = static_cast<LayerBindingId>(m_Shapes.size());
        IConnectableLayer* layer = m_Network->AddInputLayer(id, InputDescriptor(m_IsFixed), "input");
        layer->GetOutputSlot(0).SetTensorInfo(info);
        m_Shapes.push_back(info.GetShape());
        return layer;
    }
    IConnectableLayer* Scalar(float value) { return AddFloats(*m_Network, TensorShape({1}), {value}); }
    IConnectableLayer* Binary(BinaryOperation operation, IConnectableLayer* a, IConnectableLayer* b)
    {
        return After(m_Network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(operation)), {a, b});
    }
    IConnectableLayer* Mul(IConnectableLayer* a, float b) { return Binary(BinaryOperation::Mul, a, Scalar(b)); }
    IConnectableLayer* Div(IConnectableLayer* a, float b) { return Binary(BinaryOperation::Div, a, Scalar(b)); }
    IConnectableLayer* Add(IConnectableLayer* a, IConnectableLayer* b) { return Binary(BinaryOperation::Add, a, b); }
    IConnectableLayer* Transpose(IConnectableLayer* in, const PermutationVector& mappings)
    {
        return After(m_Network->AddTransposeLayer(TransposeDescriptor(mappings)), {in});
    }
    IConnectableLayer* Product(IConnectableLayer* a, IConnectableLayer* b, bool turned = false)
    {
        return After(m_Network->AddBatchMatMulLayer(BatchMatMulDescriptor(false, turned)), {a, b});
    }
    IConnectableLayer* Softmax(IConnectableLayer* in, int axis = -1)
    {
        SoftmaxDescriptor descriptor;
        descriptor.m_Axis = axis;
        return After(m_Network->AddSoftmaxLayer(descriptor), {in});
    }
    IConnectableLayer* Select(IConnectableLayer* condition, IConnectableLayer* a, IConnectableLayer* b)
    {
        return After(m_Network->AddSelectLayer(SelectDescriptor()), {condition, a, b});
    }
    IConnectableLayer* Compare(ComparisonOperation operation, IConnectableLayer* a, IConnectableLayer* b)
    {
        return After(m_Network->AddComparisonLayer(ComparisonDescriptor(operation)), {a, b});
    }
    IConnectableLayer* Activation(IConnectableLayer* in, ActivationFunction function, float a, float b)
    {
        return After(m_Network->AddActivationLayer(ActivationDescriptor(function, a, b)), {in});
    }
    IConnectableLayer* After(IConnectableLayer* layer, const std::vector<IConnectableLayer*>& inputs)
    {
        for (unsigned int i = 0; i < inputs.size(); ++i)
        {
            Connect(inputs[i], layer, i);
        }
        return layer;
    }
    void Output(IConnectableLayer* layer) { Connect(layer, m_Network->AddOutputLayer(m_NumOutputs++)); }
    /// softmax(scores) * values is the output.
    void Finish(IConnectableLayer* scores) { Output(Product(Softmax(scores), m_Values)); }

    /// One layer is left, and it gives the same.
    AttentionDescriptor Expect(size_t numAttentions = 1, size_t numOthers = 0)
    {
        BothWays both(*m_Network);
        const Graph& graph = both.Optimized();
        EXPECT_EQ(Count(graph, LayerType::Attention), numAttentions);
        EXPECT_EQ(graph.Size() - Count(graph, LayerType::Input) - Count(graph, LayerType::Output) -
                      Count(graph, LayerType::Constant) - Count(graph, LayerType::Attention),
                  numOthers);
        both.ExpectEqual(m_Shapes, Tolerance);
        for (const auto& layer : graph.Layers())
        {
            if (layer->GetType() == LayerType::Attention)
            {
                return layer->Descriptor<AttentionDescriptor>();
            }
        }
        return {};
    }

    INetworkPtr m_Network;
    IConnectableLayer* m_Queries = nullptr;
    IConnectableLayer* m_Keys = nullptr;
    IConnectableLayer* m_Values = nullptr;

private:
    bool m_IsFixed;
    std::vector<TensorShape> m_Shapes;
    LayerBindingId m_NumOutputs = 0;
};

} // namespace

TEST(FoldAttention, ScalesWhereverTheyAre)
{
    using A = Attention;
    const std::function<IConnectableLayer*(A&)> forms[] = {
        [](A& a) { return a.Mul(a.Product(a.m_Queries, a.m_Keys, true), 0.25f); },
        [](A& a) { return a.Div(a.Product(a.m_Queries, a.m_Keys, true), 4.0f); },
        [](A& a) { return a.Product(a.Mul(a.m_Queries, 0.25f), a.m_Keys, true); },
        [](A& a) { return a.Product(a.Div(a.m_Queries, 4.0f), a.m_Keys, true); },
        [](A& a) { return a.Product(a.m_Queries, a.Div(a.m_Keys, 4.0f), true); },
        [](A& a) { return a.Product(a.Mul(a.m_Queries, 0.5f), a.Mul(a.m_Keys, 0.5f), true); },
        [](A& a) {
            return a.Product(a.Mul(a.m_Queries, 0.5f), a.Mul(a.Transpose(a.m_Keys, {0, 1, 3, 2}), 0.5f));
        },
        [](A& a) {
            return a.Product(a.m_Queries, a.Transpose(a.Mul(a.m_Keys, 0.25f), {0, 1, 3, 2}));
        }};
    for (const auto& form : forms)
    {
        Attention attention;
        attention.Finish(form(attention));
        const AttentionDescriptor descriptor = attention.Expect();
        EXPECT_FLOAT_EQ(descriptor.m_Scale, 0.25f);
        EXPECT_FALSE(descriptor.m_MaskEnabled);
    }
    Attention plain;
    plain.Finish(plain.Product(plain.m_Queries, plain.m_Keys, true));
    EXPECT_EQ(plain.Expect().m_Scale, 1.0f);
}

TEST(FoldAttention, MasksThatAreAdded)
{
    for (const TensorShape& shape : {TensorShape({2, 1, 1, 7}), TensorShape({5, 7}), TensorShape({2, 3, 5, 7})})
    {
        for (const bool isFirst : {true, false})
        {
            Attention attention;
            IConnectableLayer* scores =
                attention.Mul(attention.Product(attention.m_Queries, attention.m_Keys, true), 0.5f);
            IConnectableLayer* mask = attention.Input(TensorInfo(shape, DataType::Float32));
            attention.Finish(isFirst ? attention.Add(mask, scores) : attention.Add(scores, mask));
            const AttentionDescriptor descriptor = attention.Expect();
            EXPECT_TRUE(descriptor.m_MaskEnabled);
            EXPECT_EQ(descriptor.m_Scale, 0.5f);
        }
    }
}

TEST(FoldAttention, MasksThatChoose)
{
    for (const float hidden : {-Infinity, -1e9f, std::numeric_limits<float>::lowest()})
    {
        for (const bool hidesTrue : {true, false})
        {
            Attention attention;
            IConnectableLayer* scores = attention.Product(attention.m_Queries, attention.m_Keys, true);
            IConnectableLayer* condition = attention.Compare(
                ComparisonOperation::Greater, attention.Input(FloatInfo({2, 1, 5, 7})), attention.Scalar(0.0f));
            IConnectableLayer* value = attention.Scalar(hidden);
            attention.Finish(attention.Select(condition, hidesTrue ? value : scores, hidesTrue ? scores : value));
            // The comparison, and what makes numbers of it or negates it.
            const AttentionDescriptor descriptor = attention.Expect(1, hidden == -Infinity && !hidesTrue ? 1 : 2);
            EXPECT_TRUE(descriptor.m_MaskEnabled);
        }
    }
}

TEST(FoldAttention, GuardOfRowsThatSeeNothing)
{
    for (const bool isNegated : {true, false})
    {
        Attention attention;
        IConnectableLayer* scores = attention.Product(attention.m_Queries, attention.m_Keys, true);
        std::vector<float> mask(35, 0.0f);
        std::fill_n(mask.begin() + 7, 7, -Infinity);
        IConnectableLayer* softmax =
            attention.Softmax(attention.Add(scores, AddFloats(*attention.m_Network, TensorShape({5, 7}), mask)));
        IConnectableLayer* isNaN =
            attention.Compare(isNegated ? ComparisonOperation::Equal : ComparisonOperation::NotEqual, softmax, softmax);
        if (isNegated)
        {
            isNaN = attention.After(
                attention.m_Network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::LogicalNot)),
                {isNaN});
        }
        attention.Output(
            attention.Product(attention.Select(isNaN, attention.Scalar(0.0f), softmax), attention.m_Values));
        EXPECT_TRUE(attention.Expect().m_MaskEnabled);
    }
}

TEST(FoldAttention, SoftCap)
{
    Attention attention;
    IConnectableLayer* scores = attention.Mul(attention.Product(attention.m_Queries, attention.m_Keys, true), 0.5f);
    IConnectableLayer* capped =
        attention.Mul(attention.Activation(attention.Div(scores, 3.0f), ActivationFunction::TanH, 1.0f, 1.0f), 3.0f);
    attention.Finish(attention.Add(capped, attention.Input(FloatInfo({5, 7}))));
    const AttentionDescriptor descriptor = attention.Expect();
    EXPECT_FLOAT_EQ(descriptor.m_Softcap, 3.0f);
    EXPECT_FLOAT_EQ(descriptor.m_Scale, 0.5f);
}

TEST(FoldAttention, TransposesOfHeads)
{
    for (const bool isKeyTransposed : {true, false})
    {
        Attention attention(false); // ranks follow from the Transposes
        IConnectableLayer* queries = attention.Input(FloatInfo({2, 5, 3, 4}));
        IConnectableLayer* keys = attention.Input(FloatInfo({2, 7, 3, 4}));
        IConnectableLayer* values = attention.Input(FloatInfo({2, 7, 3, 6}));
        queries = attention.Transpose(queries, {0, 2, 1, 3});
        keys = isKeyTransposed ? attention.Transpose(keys, {0, 2, 3, 1})
                               : attention.Transpose(attention.Transpose(keys, {0, 2, 1, 3}), {0, 1, 3, 2});
        IConnectableLayer* softmax = attention.Softmax(attention.Mul(attention.Product(queries, keys), 0.5f));
        attention.Output(
            attention.Transpose(attention.Product(softmax, attention.Transpose(values, {0, 2, 1, 3})), {0, 2, 1, 3}));
        const AttentionDescriptor descriptor = attention.Expect();
        EXPECT_TRUE(descriptor.m_RowsBeforeHeads);
    }
}

TEST(FoldAttention, HeadsThatAreRepeated)
{
    // One head of queries is repeated for all heads of the keys: these cannot be fewer.
    for (const unsigned int headsOfQueries : {6U, 1U})
    {
        Attention attention;
        IConnectableLayer* queries = attention.Input(FloatInfo({2, headsOfQueries, 5, 4}));
        const auto addRepeated = [&](unsigned int depth)
        {
            IConnectableLayer* heads = attention.Input(FloatInfo({2, 2, 7, depth}));
            INetwork& network = *attention.m_Network;
            heads = attention.After(network.AddReshapeLayer(ReshapeDescriptor({2, 2, 1, 7, depth})), {heads});
            heads = attention.After(network.AddBroadcastToLayer(BroadcastToDescriptor({2, 2, 3, 7, depth})), {heads});
            return attention.After(network.AddReshapeLayer(ReshapeDescriptor({2, 6, 7, depth})), {heads});
        };
        IConnectableLayer* scores = attention.Mul(attention.Product(queries, addRepeated(4), true), 0.5f);
        attention.Output(attention.Product(attention.Softmax(scores), addRepeated(6)));
        attention.Expect(1, headsOfQueries == 1 ? 6 : 0);
    }
}

TEST(FoldAttention, LongChainsAreLeft)
{
    Attention attention;
    IConnectableLayer* scores = attention.Product(attention.m_Queries, attention.m_Keys, true);
    for (int i = 0; i < 40; ++i)
    {
        scores = attention.Mul(scores, i % 2 == 0 ? 1.25f : 0.8f);
    }
    attention.Finish(scores);
    const BothWays both(*attention.m_Network);
    EXPECT_EQ(Count(both.Optimized(), LayerType::Attention), 0u);
}

TEST(FoldAttention, OthersAreNone)
{
    using A = Attention;
    // Each leaves its layers as they are.
    const std::function<void(A&)> others[] = {
        [](A& a) // along another dimension
        { a.Output(a.Product(a.Softmax(a.Product(a.m_Queries, a.m_Keys, true), 1), a.m_Values)); },
        [](A& a) // probabilities are an output, too
        {
            IConnectableLayer* softmax = a.Softmax(a.Product(a.m_Queries, a.m_Keys, true));
            a.Output(softmax);
            a.Output(a.Product(softmax, a.m_Values));
        },
        [](A& a) // the mask is scaled
        {
            a.Finish(a.Mul(a.Add(a.Product(a.m_Queries, a.m_Keys, true), a.Input(FloatInfo({5, 7}))), 0.5f));
        },
        [](A& a) // what is chosen is not far below
        {
            IConnectableLayer* condition =
                a.Compare(ComparisonOperation::Greater, a.Input(FloatInfo({5, 7})), a.Scalar(0.0f));
            a.Finish(a.Select(condition, a.Product(a.m_Queries, a.m_Keys, true), a.Scalar(-1.0f)));
        }};
    for (const auto& other : others)
    {
        Attention attention;
        other(attention);
        BothWays both(*attention.m_Network);
        EXPECT_EQ(Count(both.Optimized(), LayerType::Attention), 0u);
        EXPECT_EQ(Count(both.Optimized(), LayerType::BatchMatMul), 2u);
    }
    // Ranks that are not sure.
    Attention open(false);
    open.Finish(open.Product(open.m_Queries, open.m_Keys, true));
    BothWays both(*open.m_Network);
    EXPECT_EQ(Count(both.Optimized(), LayerType::Attention), 0u);
    both.ExpectEqual({TensorShape({2, 3, 5, 4}), TensorShape({7, 4}), TensorShape({7, 6})}, Tolerance);
}

} // namespace tenon::test::fold_attention_test
