// SPDX-License-Identifier: Apache-2.0
// Tests of the parser's rows for operators that look values up, select and sum: operands and options of their layers.
#include "parsers/ModelBuilder.hpp"

#include <gtest/gtest.h>

namespace tenon::test::lookup_rows_test
{

namespace
{

using Operator = ModelBuilder::Operator;

/// An operator on graph inputs "in0", "in1"..., with so many outputs.
template <typename... Options>
Parsed Parse(Operator code, size_t numInputs, size_t numOutputs, Options... options)
{
    ModelBuilder model;
    std::vector<int32_t> inputs;
    for (size_t i = 0; i < numInputs; ++i)
    {
        inputs.push_back(model.AddInput("in" + std::to_string(i), {2}));
    }
    std::vector<int32_t> outputs;
    for (size_t i = 0; i < numOutputs; ++i)
    {
        outputs.push_back(model.AddOutput("out" + std::to_string(i), {2}));
    }
    model.AddOperator(code, inputs, outputs, std::move(options)...);
    return Parsed(model);
}

/// The layer's inputs are the operands in order, and it has so many outputs.
void ExpectInOrder(const Parsed& parsed, LayerType type, size_t numInputs, size_t numOutputs = 1)
{
    const IConnectableLayer& layer = parsed.The(type);
    ASSERT_EQ(layer.GetNumInputSlots(), numInputs);
    EXPECT_EQ(layer.GetNumOutputSlots(), numOutputs);
    for (unsigned int i = 0; i < numInputs; ++i)
    {
        EXPECT_EQ(SourceOf(layer, i).GetName(), "in" + std::to_string(i)) << "input slot " << i;
    }
}

} // namespace

TEST(TfLiteLookupRows, WithoutOptions)
{
    struct Case
    {
        Operator m_Code;
        LayerType m_Layer;
        size_t m_NumInputs;
        size_t m_NumOutputs;
    };
    const Case cases[] = {{Operator::BROADCAST_ARGS, LayerType::BroadcastArgs, 2, 1},
                          {Operator::EMBEDDING_LOOKUP, LayerType::EmbeddingLookup, 2, 1},
                          {Operator::HASHTABLE_LOOKUP, LayerType::HashtableLookup, 3, 2},
                          {Operator::NON_MAX_SUPPRESSION_V4, LayerType::NonMaxSuppression, 5, 2},
                          {Operator::NON_MAX_SUPPRESSION_V5, LayerType::NonMaxSuppression, 6, 3},
                          {Operator::RANGE, LayerType::Range, 3, 1},
                          {Operator::SEGMENT_SUM, LayerType::SegmentSum, 2, 1},
                          {Operator::SPARSE_TO_DENSE, LayerType::SparseToDense, 4, 1}};
    for (const Case& row : cases)
    {
        SCOPED_TRACE(schema::EnumNameBuiltinOperator(row.m_Code));
        ExpectInOrder(Parse(row.m_Code, row.m_NumInputs, row.m_NumOutputs), row.m_Layer, row.m_NumInputs,
                      row.m_NumOutputs);
    }
}

TEST(TfLiteLookupRows, CumSum)
{
    for (const bool isReverse : {false, true})
    {
        schema::CumsumOptionsT options;
        options.exclusive = !isReverse;
        options.reverse = isReverse;
        const Parsed parsed = Parse(Operator::CUMSUM, 2, 1, options);
        ExpectInOrder(parsed, LayerType::CumSum, 2);
        CumSumDescriptor expected;
        expected.m_Exclusive = !isReverse;
        expected.m_Reverse = isReverse;
        expected.m_ParametersAsInputs = true;
        EXPECT_EQ(parsed.Get<CumSumDescriptor>(LayerType::CumSum), expected);
    }
}

TEST(TfLiteLookupRows, EmbeddingLookupSparse)
{
    schema::EmbeddingLookupSparseOptionsT options;
    options.combiner = schema::CombinerType::SQRTN;
    const Parsed parsed = Parse(Operator::EMBEDDING_LOOKUP_SPARSE, 5, 1, options);
    ExpectInOrder(parsed, LayerType::EmbeddingLookupSparse, 5);
    EmbeddingLookupSparseDescriptor expected;
    expected.m_Combiner = EmbeddingCombiner::SqrtN;
    EXPECT_EQ(parsed.Get<EmbeddingLookupSparseDescriptor>(LayerType::EmbeddingLookupSparse), expected);
}

TEST(TfLiteLookupRows, UnsortedSegments)
{
    const std::pair<Operator, ReduceOperation> cases[] = {{Operator::UNSORTED_SEGMENT_MAX, ReduceOperation::Max},
                                                          {Operator::UNSORTED_SEGMENT_MIN, ReduceOperation::Min},
                                                          {Operator::UNSORTED_SEGMENT_PROD, ReduceOperation::Prod},
                                                          {Operator::UNSORTED_SEGMENT_SUM, ReduceOperation::Sum}};
    for (const auto& [code, operation] : cases)
    {
        SCOPED_TRACE(schema::EnumNameBuiltinOperator(code));
        const Parsed parsed = Parse(code, 3, 1);
        ExpectInOrder(parsed, LayerType::UnsortedSegment, 3);
        EXPECT_EQ(parsed.Get<UnsortedSegmentDescriptor>(LayerType::UnsortedSegment).m_Operation, operation);
    }
}

} // namespace tenon::test::lookup_rows_test
