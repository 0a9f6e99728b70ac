// SPDX-License-Identifier: Apache-2.0
// Shape inference of Attention.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/descriptors/Products.hpp>

#include <cmath>
#include <utility>

namespace tenon::infer
{

namespace
{

/// Queries, keys or values as [..., heads, rows, depth]. Throws where there are no such dimensions.
TensorShape Ordered(const InferContext& context, size_t input, const char* what)
{
    const bool rowsBeforeHeads = context.Descriptor<AttentionDescriptor>().m_RowsBeforeHeads;
    TensorShape shape = context.InputShape(input);
    const unsigned int rank = shape.GetNumDimensions();
    const unsigned int minRank = rowsBeforeHeads ? 3 : 2;
    context.Check(rank >= minRank && rank == context.InputShape(0).GetNumDimensions(),
                  "input {}, the {}, has shape {}, but it must have as many dimensions as the queries of shape {}, at "
                  "least {}",
                  input, what, shape, context.InputShape(0), minRank);
    if (rowsBeforeHeads)
    {
        const unsigned int rows = shape[rank - 3];
        shape.SetDimensionSize(rank - 3, shape[rank - 2]);
        shape.SetDimensionSize(rank - 2, rows);
    }
    return shape;
}

/// Keys or values with as many heads as the queries, where theirs divide them.
TensorShape WithHeads(TensorShape shape, const TensorShape& queries)
{
    const unsigned int rank = queries.GetNumDimensions();
    if (rank > 2 && shape[rank - 3] > 1 && queries[rank - 3] % shape[rank - 3] == 0)
    {
        shape.SetDimensionSize(rank - 3, queries[rank - 3]);
    }
    return shape;
}

void CheckOffset(const InferContext& context, size_t input, const TensorShape& output)
{
    const uint64_t count = context.InputShape(input).GetNumElements64();
    context.Check(count == 1 || (output.GetNumDimensions() > 2 && count == output[0] && count != 0),
                  "input {}, the offset, of shape {} must have one element, or one for each index of the first "
                  "dimension of the output of shape {}",
                  input, context.InputShape(input), output);
}

} // namespace

void InferAttention(InferContext& context)
{
    const auto& descriptor = context.Descriptor<AttentionDescriptor>();
    CheckAllConnected(context);
    context.Check(std::isfinite(descriptor.m_Scale), "the scale is not finite");
    context.Check(std::isfinite(descriptor.m_Softcap) && descriptor.m_Softcap >= 0.0f,
                  "the soft cap must be finite and at least 0");
    const TensorShape queries = Ordered(context, 0, "queries");
    const TensorShape keys = WithHeads(Ordered(context, 1, "keys"), queries);
    const TensorShape values = WithHeads(Ordered(context, 2, "values"), queries);
    const unsigned int rank = queries.GetNumDimensions();
    context.Check(keys[rank - 1] == queries[rank - 1],
                  "the keys of shape {} must have as many elements a row as the queries of shape {}",
                  context.InputShape(1), context.InputShape(0));

    // The products of queries and keys, then with the mask, then with values.
    TensorShape one = queries;
    one.SetDimensionSize(rank - 1, keys[rank - 2]);
    TensorShape other = keys;
    other.SetDimensionSize(rank - 1, keys[rank - 2]);
    other.SetDimensionSize(rank - 2, queries[rank - 2]);
    TensorShape scores = Broadcast(context, one, other);
    if (descriptor.m_MaskEnabled)
    {
        context.Check(context.InputShape(3).GetNumDimensions() <= rank,
                      "input 3, the mask, has shape {}: more dimensions than the queries of shape {}",
                      context.InputShape(3), context.InputShape(0));
        scores = Broadcast(context, scores, context.InputShape(3));
    }
    context.Check(scores[rank - 1] == values[rank - 2],
                  "the values of shape {} must have as many rows as there are keys, {}", context.InputShape(2),
                  scores[rank - 1]);
    TensorShape output = values;
    output.SetDimensionSize(rank - 2, scores[rank - 2]);
    scores.SetDimensionSize(rank - 1, values[rank - 1]);
    output = Broadcast(context, output, scores);
    if (descriptor.m_OffsetEnabled)
    {
        CheckOffset(context, descriptor.m_MaskEnabled ? 4 : 3, output);
    }
    if (descriptor.m_RowsBeforeHeads)
    {
        const unsigned int heads = output[rank - 3];
        output.SetDimensionSize(rank - 3, output[rank - 2]);
        output.SetDimensionSize(rank - 2, heads);
    }
    context.SetOutputShape(0, output);
}

} // namespace tenon::infer
