// SPDX-License-Identifier: Apache-2.0
// Shape inference of StableHLO's gather and scatter: which dimensions go with which is all checked here, so that the
// kernels only look at the values of indices.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/descriptors/Indexing.hpp>

#include <algorithm>

namespace tenon::infer
{

namespace
{

// Each of `dimensions` is below `rank` and there but once. Returns them as bits.
unsigned int CheckDimensions(const InferContext& context, const std::vector<uint32_t>& dimensions, unsigned int rank,
                             const char* what)
{
    unsigned int seen = 0;
    for (const uint32_t dimension : dimensions)
    {
        context.Check(dimension < rank && ((seen >> dimension) & 1U) == 0,
                      "{} has dimension {}, which is outside of rank {} or there twice", what, dimension, rank);
        seen |= 1U << dimension;
    }
    return seen;
}

void CheckAscending(const InferContext& context, const std::vector<uint32_t>& dimensions, const char* what)
{
    context.Check(std::is_sorted(dimensions.begin(), dimensions.end()), "{} is not in ascending order", what);
}

// The sizes of the indices without the dimension of the vectors. Checks that a vector has an entry for each dimension
// that `map` names.
std::vector<unsigned int> GetBatch(const InferContext& context, uint32_t vectorDim, const std::vector<uint32_t>& map)
{
    const TensorShape& indices = context.InputShape(1);
    const unsigned int rank = indices.GetNumDimensions();
    context.Check(vectorDim <= rank, "index_vector_dim {} is outside of the indices' shape {}", vectorDim, indices);
    const unsigned int length = vectorDim == rank ? 1 : indices[vectorDim];
    context.Check(length == map.size(), "index vectors of input 1 of shape {} have {} entries for {} dimensions",
                  indices, length, map.size());
    std::vector<unsigned int> batch;
    for (unsigned int i = 0; i < rank; ++i)
    {
        if (i != vectorDim)
        {
            batch.push_back(indices[i]);
        }
    }
    return batch;
}

} // namespace

void InferStablehloGather(InferContext& context)
{
    const auto& descriptor = context.Descriptor<StablehloGatherDescriptor>();
    const TensorShape& input = context.InputShape(0);
    const unsigned int rank = input.GetNumDimensions();
    const unsigned int collapsed =
        CheckDimensions(context, descriptor.m_CollapsedSliceDims, rank, "collapsed_slice_dims");
    CheckDimensions(context, descriptor.m_StartIndexMap, rank, "start_index_map");
    const std::vector<unsigned int> batch = GetBatch(context, descriptor.m_IndexVectorDim, descriptor.m_StartIndexMap);

    context.Check(descriptor.m_SliceSizes.size() == rank, "{} slice sizes do not fit input 0 of shape {}",
                  descriptor.m_SliceSizes.size(), input);
    std::vector<unsigned int> slice; // without collapsed dimensions
    for (unsigned int i = 0; i < rank; ++i)
    {
        const bool isCollapsed = ((collapsed >> i) & 1U) != 0;
        const uint32_t size = descriptor.m_SliceSizes[i];
        context.Check(size <= input[i], "slices of {} elements do not fit dimension {} of input 0 of shape {}", size, i,
                      input);
        context.Check(!isCollapsed || size == 1, "the slice size of collapsed dimension {} is {} in place of 1", i,
                      size);
        if (!isCollapsed)
        {
            slice.push_back(size);
        }
    }

    const size_t outputRank = batch.size() + slice.size();
    context.Check(outputRank <= MaxNumOfTensorDimensions, "the output would have rank {}, at most {} is possible",
                  outputRank, MaxNumOfTensorDimensions);
    context.Check(descriptor.m_OffsetDims.size() == slice.size(), "{} offset_dims do not fit slices of rank {}",
                  descriptor.m_OffsetDims.size(), slice.size());
    CheckAscending(context, descriptor.m_OffsetDims, "offset_dims");
    const unsigned int offsets =
        CheckDimensions(context, descriptor.m_OffsetDims, static_cast<unsigned int>(outputRank), "offset_dims");
    ShapeBuilder output(context);
    auto nextBatch = batch.begin();
    auto nextSlice = slice.begin();
    for (unsigned int i = 0; i < outputRank; ++i)
    {
        output.Add(((offsets >> i) & 1U) != 0 ? *nextSlice++ : *nextBatch++);
    }
    context.SetOutputShape(0, output.Shape());
}

void InferStablehloScatter(InferContext& context)
{
    const auto& descriptor = context.Descriptor<StablehloScatterDescriptor>();
    const TensorShape& input = context.InputShape(0);
    const TensorShape& updates = context.InputShape(2);
    const unsigned int rank = input.GetNumDimensions();
    const unsigned int updatesRank = updates.GetNumDimensions();
    CheckDimensions(context, descriptor.m_InsertedWindowDims, rank, "inserted_window_dims");
    CheckDimensions(context, descriptor.m_ScatterDimsToOperandDims, rank, "scatter_dims_to_operand_dims");
    CheckAscending(context, descriptor.m_UpdateWindowDims, "update_window_dims");
    const unsigned int windows =
        CheckDimensions(context, descriptor.m_UpdateWindowDims, updatesRank, "update_window_dims");
    context.Check(descriptor.m_UpdateWindowDims.size() + descriptor.m_InsertedWindowDims.size() == rank,
                  "{} update_window_dims and {} inserted_window_dims do not make up the rank of input 0 of shape {}",
                  descriptor.m_UpdateWindowDims.size(), descriptor.m_InsertedWindowDims.size(), input);

    const std::vector<unsigned int> batch =
        GetBatch(context, descriptor.m_IndexVectorDim, descriptor.m_ScatterDimsToOperandDims);
    std::vector<unsigned int> scattered;
    for (unsigned int i = 0; i < updatesRank; ++i)
    {
        if (((windows >> i) & 1U) == 0)
        {
            scattered.push_back(updates[i]);
        }
    }
    context.Check(scattered == batch,
                  "updates of shape {} do not have a window for each index vector of input 1 of "
                  "shape {}",
                  updates, context.InputShape(1));
    context.SetOutputShape(0, input);
}

} // namespace tenon::infer
