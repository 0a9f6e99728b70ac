// SPDX-License-Identifier: Apache-2.0
// Shape inference of reading and writing by index. Indices themselves are checked by the kernels, which see them.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/descriptors/Indexing.hpp>

namespace tenon::infer
{

namespace
{

// The length of the index tuples in `indices`, which address the first dimensions of `data`.
unsigned int GetTupleLength(const InferContext& context, const TensorShape& indices, const TensorShape& data)
{
    const unsigned int rank = indices.GetNumDimensions();
    context.Check(rank >= 1, "input 1, the indices, is a scalar, but its last dimension must hold index tuples");
    const unsigned int length = indices[rank - 1];
    context.Check(length <= data.GetNumDimensions(),
                  "index tuples of length {} (input 1 of shape {}) do not fit data of shape {}", length, indices, data);
    return length;
}

// One slice of `data` for each index tuple.
TensorShape GetSlicesShape(const InferContext& context, const TensorShape& indices, const TensorShape& data)
{
    const unsigned int length = GetTupleLength(context, indices, data);
    ShapeBuilder shape(context);
    shape.AddRange(indices, 0, indices.GetNumDimensions() - 1);
    shape.AddRange(data, length, data.GetNumDimensions());
    return shape.Shape();
}

// Indices along `axis` have the rank of the data, and but there no larger sizes.
void CheckIndicesAlongAxis(const InferContext& context, unsigned int axis)
{
    const TensorShape& data = context.InputShape(0);
    const TensorShape& indices = context.InputShape(1);
    context.Check(data.GetNumDimensions() == indices.GetNumDimensions(),
                  "input 1, the indices, has shape {}, but must have as many dimensions as input 0 of shape {}",
                  indices, data);
    for (unsigned int i = 0; i < data.GetNumDimensions(); ++i)
    {
        context.Check(i == axis || indices[i] <= data[i],
                      "dimension {} of input 1, the indices, of shape {} is larger than that of input 0 of shape {}", i,
                      indices, data);
    }
}

} // namespace

void InferGather(InferContext& context)
{
    const auto& descriptor = context.Descriptor<GatherDescriptor>();
    const TensorShape& data = context.InputShape(0);
    const TensorShape& indices = context.InputShape(1);
    const unsigned int rank = data.GetNumDimensions();
    const unsigned int axis = context.CanonicalAxis(descriptor.m_Axis, rank);
    const int64_t batchDims =
        int64_t{descriptor.m_BatchDims} + (descriptor.m_BatchDims < 0 ? indices.GetNumDimensions() : 0);
    context.Check(
        batchDims >= 0 && batchDims <= indices.GetNumDimensions() && batchDims <= axis,
        "{} batch dimensions do not fit indices of shape {} and axis {}: there may be no more than either has",
        descriptor.m_BatchDims, indices, axis);
    const auto batch = static_cast<unsigned int>(batchDims);
    for (unsigned int i = 0; i < batch; ++i)
    {
        context.Check(data[i] == indices[i],
                      "batch dimension {} differs between input 0 of shape {} and input 1 of "
                      "shape {}",
                      i, data, indices);
    }
    ShapeBuilder output(context);
    output.AddRange(data, 0, axis);
    output.AddRange(indices, batch, indices.GetNumDimensions());
    output.AddRange(data, axis + 1, rank);
    context.SetOutputShape(0, output.Shape());
    if (descriptor.m_Axis < 0 || descriptor.m_BatchDims < 0)
    {
        auto& edited = context.Edit<GatherDescriptor>();
        edited.m_Axis = static_cast<int32_t>(axis);
        edited.m_BatchDims = static_cast<int32_t>(batch);
    }
}

void InferGatherElements(InferContext& context)
{
    const int32_t given = context.Descriptor<GatherElementsDescriptor>().m_Axis;
    const unsigned int axis = context.CanonicalAxis(given, context.InputShape(0).GetNumDimensions());
    CheckIndicesAlongAxis(context, axis);
    context.SetOutputShape(0, context.InputShape(1));
    if (given < 0)
    {
        context.Edit<GatherElementsDescriptor>().m_Axis = static_cast<int32_t>(axis);
    }
}

void InferGatherNd(InferContext& context)
{
    const TensorShape& data = context.InputShape(0);
    const TensorShape& indices = context.InputShape(1);
    const unsigned int batch = context.Descriptor<GatherNdDescriptor>().m_BatchDims;
    if (batch == 0)
    {
        context.SetOutputShape(0, GetSlicesShape(context, indices, data));
        return;
    }
    const unsigned int rank = indices.GetNumDimensions();
    context.Check(batch < rank && batch <= data.GetNumDimensions(),
                  "{} batch dimensions do not fit data of shape {} and index tuples of shape {}", batch, data, indices);
    for (unsigned int i = 0; i < batch; ++i)
    {
        context.Check(data[i] == indices[i],
                      "batch dimension {} differs between input 0 of shape {} and input 1 of shape {}", i, data,
                      indices);
    }
    const unsigned int length = indices[rank - 1];
    context.Check(length <= data.GetNumDimensions() - batch,
                  "index tuples of length {} (input 1 of shape {}) do not fit data of shape {} behind {} batch "
                  "dimensions",
                  length, indices, data, batch);
    ShapeBuilder output(context);
    output.AddRange(indices, 0, rank - 1);
    output.AddRange(data, batch + length, data.GetNumDimensions());
    context.SetOutputShape(0, output.Shape());
}

void InferScatterElements(InferContext& context)
{
    const int32_t given = context.Descriptor<ScatterElementsDescriptor>().m_Axis;
    const unsigned int axis = context.CanonicalAxis(given, context.InputShape(0).GetNumDimensions());
    CheckIndicesAlongAxis(context, axis);
    context.Check(context.InputShape(2) == context.InputShape(1),
                  "input 2, the updates, has shape {}, but must have that of input 1, the indices, {}",
                  context.InputShape(2), context.InputShape(1));
    context.SetOutputShape(0, context.InputShape(0));
    if (given < 0)
    {
        context.Edit<ScatterElementsDescriptor>().m_Axis = static_cast<int32_t>(axis);
    }
}

void InferScatterNd(InferContext& context)
{
    const auto& descriptor = context.Descriptor<ScatterNdDescriptor>();
    context.Check(!descriptor.m_AxisEnabled && descriptor.m_Axis == 0,
                  "an axis is given; updates along an axis other than 0 are not possible");
    const TensorShape output = descriptor.m_InputEnabled ? context.InputShape(0) : ValuesAsShape(context, 0);
    const TensorShape updates = GetSlicesShape(context, context.InputShape(1), output);
    context.Check(context.InputShape(2) == updates,
                  "input 2, the updates, has shape {}, but indices of shape {} into an output of shape {} want {}",
                  context.InputShape(2), context.InputShape(1), output, updates);
    context.SetOutputShape(0, output);
}

} // namespace tenon::infer
