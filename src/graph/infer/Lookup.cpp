// SPDX-License-Identifier: Apache-2.0
// Shape inference of lookups, and of tensors that are made from indices. Indices themselves are checked by the kernels,
// which see them.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/descriptors/Indexing.hpp>

namespace tenon::infer
{

namespace
{

// A slice of `table` along dimension 0 for each of the `count` keys.
TensorShape GetSlicesShape(const InferContext& context, int64_t count, const TensorShape& table)
{
    ShapeBuilder output(context);
    output.Add(count);
    output.AddRange(table, 1, table.GetNumDimensions());
    return output.Shape();
}

} // namespace

void InferDynamicUpdateSlice(InferContext& context)
{
    const TensorShape& operand = context.InputShape(0);
    const TensorShape& update = context.InputShape(1);
    const unsigned int rank = operand.GetNumDimensions();
    bool fits = update.GetNumDimensions() == rank;
    for (unsigned int i = 0; fits && i < rank; ++i)
    {
        fits = update[i] <= operand[i];
    }
    context.Check(fits, "input 1 of shape {} does not fit into input 0 of shape {}", update, operand);
    CheckRank(context, 2, 1);
    CheckElements(context, 2, "start indices", rank);
    context.SetOutputShape(0, operand);
}

void InferEmbeddingLookup(InferContext& context)
{
    CheckRank(context, 0, 1);
    const TensorShape& table = context.InputShape(1);
    context.Check(table.GetNumDimensions() >= 1, "input 1, the table, is a scalar; it must have slices to choose from");
    context.SetOutputShape(0, GetSlicesShape(context, context.InputShape(0)[0], table));
}

void InferEmbeddingLookupSparse(InferContext& context)
{
    CheckRank(context, 0, 1);
    CheckRank(context, 1, 2);
    CheckRank(context, 2, 1);
    CheckRank(context, 3, 1);
    const TensorShape& places = context.InputShape(1);
    const TensorShape& table = context.InputShape(4);
    const unsigned int count = context.InputShape(0)[0];
    context.Check(places[0] == count, "input 1 of shape {} does not give a place to each of {} values", places, count);
    CheckElements(context, 3, "weights", count);
    context.Check(places[1] >= 1, "input 1 of shape {} has places without a dimension", places);
    CheckElements(context, 2, "dense shape", places[1]);
    context.Check(table.GetNumDimensions() >= 1, "input 4, the table, is a scalar; it must have slices to choose from");
    const std::vector<unsigned int> sizes = ValuesAsSizes(context, 2);
    ShapeBuilder output(context);
    for (size_t i = 0; i + 1 < sizes.size(); ++i)
    {
        output.Add(sizes[i]);
    }
    output.AddRange(table, 1, table.GetNumDimensions());
    context.SetOutputShape(0, output.Shape());
}

void InferHashtableLookup(InferContext& context)
{
    CheckRank(context, 0, 1);
    CheckRank(context, 1, 1);
    const TensorShape& table = context.InputShape(2);
    const unsigned int keys = context.InputShape(1)[0];
    context.Check(table.GetNumDimensions() >= 1 && table[0] == keys,
                  "input 2, the table, has shape {}, but there are {} keys; each must have a slice along dimension 0",
                  table, keys);
    const unsigned int count = context.InputShape(0)[0];
    context.SetOutputShape(0, GetSlicesShape(context, count, table));
    context.SetOutputShape(1, TensorShape({count}));
}

void InferOneHot(InferContext& context)
{
    const TensorShape& indices = context.InputShape(0);
    const unsigned int rank = indices.GetNumDimensions();
    const int32_t given = context.Descriptor<OneHotDescriptor>().m_Axis;
    const unsigned int axis = context.CanonicalAxis(given, rank + 1);
    const std::vector<int64_t> depth = context.Values(1);
    context.Check(depth.size() == 1, "input 1, the depth, has {} elements in place of one", depth.size());
    context.Check(depth[0] >= 0, "input 1, the depth, is {}; it must not be negative", depth[0]);
    CheckElements(context, 2, "on value", 1);
    CheckElements(context, 3, "off value", 1);
    ShapeBuilder output(context);
    output.AddRange(indices, 0, axis);
    output.Add(depth[0]);
    output.AddRange(indices, axis, rank);
    context.SetOutputShape(0, output.Shape());
    if (given < 0)
    {
        context.Edit<OneHotDescriptor>().m_Axis = static_cast<int32_t>(axis);
    }
}

void InferSparseToDense(InferContext& context)
{
    const TensorShape& places = context.InputShape(0);
    const TensorShape& values = context.InputShape(2);
    const TensorShape output = ValuesAsShape(context, 1);
    const unsigned int rank = places.GetNumDimensions();
    context.Check(rank <= 2, "input 0, the places, has shape {}; it must be [n, rank of the output], or flat", places);
    const unsigned int length = rank == 2 ? places[1] : 1;
    context.Check(length == output.GetNumDimensions(),
                  "input 0 of shape {} holds places with {} indices, but the output's shape is to be {}", places,
                  length, output);
    const int64_t count = rank == 0 ? 1 : places[0];
    context.Check(
        values.GetNumDimensions() == 0 || (values.GetNumDimensions() == 1 && values[0] == count),
        "input 2, the values, has shape {} beside {} places; there must be one for all, a scalar, or one each", values,
        count);
    CheckElements(context, 3, "default value", 1);
    context.SetOutputShape(0, output);
}

} // namespace tenon::infer
