// SPDX-License-Identifier: Apache-2.0
// EmbeddingLookupSparse: weighted slices of a table, added up per bag, in double precision. A bag ends where the next
// position is in another bag, as in TFLite, so positions should be sorted.
#include "backends/common/Scratch.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/IndexInput.hpp"
#include "backends/reference/kernels/MovedElement.hpp"

#include <tenon/descriptors/Indexing.hpp>

#include <algorithm>
#include <cmath>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow EmbeddingLookupSparseTypes[] = {
    backends::Types({IndexTypes, IndexTypes, IndexTypes, {DataType::Float32}}, {DataType::Float32})};

SupportResult CheckEmbeddingLookupSparse(const LayerView& layer)
{
    return CheckSameType(layer.GetInput(4), "input 4", DataType::Float32);
}

/// The state of the current bag.
struct Bag
{
    size_t m_Offset = 0;
    size_t m_Count = 0;
    double m_Weights = 0.0;
    double m_Squares = 0.0;
};

struct SparseLookupRun
{
    IndexInput m_Numbers;
    IndexInput m_Indices;
    EmbeddingCombiner m_Combiner;
    size_t m_Count;
    size_t m_IndexLength;
    Extents m_Sizes; ///< sizes of the output, whose first dimensions are the bags'
    int64_t m_Rows;  ///< rows of the table
    size_t m_SliceElements;
    size_t m_OutputElements;

    size_t FindBag(const ExecuteArgs& args, size_t i) const
    {
        int64_t bag = 0;
        for (size_t d = 0; d + 1 < m_IndexLength; ++d)
        {
            bag = bag * m_Sizes[d] + m_Indices.Read(args, i * m_IndexLength + d, 0, m_Sizes[d]);
        }
        return static_cast<size_t>(bag) * m_SliceElements;
    }

    /// Writes the bag's sums, and resets them to 0 for the next bag.
    void Finish(const Bag& bag, double* sums, float* out) const
    {
        if (bag.m_Count == 0)
        {
            return;
        }
        const double divisor = m_Combiner == EmbeddingCombiner::Sum    ? 1.0
                               : m_Combiner == EmbeddingCombiner::Mean ? bag.m_Weights
                                                                       : std::sqrt(bag.m_Squares);
        for (size_t k = 0; k < m_SliceElements; ++k)
        {
            out[bag.m_Offset + k] =
                static_cast<float>((static_cast<double>(out[bag.m_Offset + k]) + sums[k]) / divisor);
            sums[k] = 0.0;
        }
    }

    void operator()(const ExecuteArgs& args) const
    {
        const auto* weights = args.GetInput<float>(3);
        const auto* table = args.GetInput<float>(4);
        auto* out = args.GetOutput<float>(0);
        auto* sums = static_cast<double*>(args.m_Scratch);
        std::fill_n(out, m_OutputElements, 0.0f);
        std::fill_n(sums, m_SliceElements, 0.0);
        Bag bag;
        for (size_t i = 0; i < m_Count; ++i)
        {
            const auto row = static_cast<size_t>(m_Numbers.Read(args, i, 0, m_Rows));
            const size_t offset = FindBag(args, i);
            if (offset != bag.m_Offset)
            {
                Finish(bag, sums, out);
                bag = Bag{offset};
            }
            const double weight = weights[i];
            ++bag.m_Count;
            bag.m_Weights += weight;
            bag.m_Squares += weight * weight;
            for (size_t k = 0; k < m_SliceElements; ++k)
            {
                sums[k] += static_cast<double>(table[row * m_SliceElements + k]) * weight;
            }
        }
        Finish(bag, sums, out);
    }
};

backends::Prepared PrepareEmbeddingLookupSparse(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& table = args.GetInput(4);
    const TensorShape& output = args.GetOutput(0).GetShape();
    RequireRank(table, "input 4", 1);
    RequireRank(args.GetInput(1), "input 1", 2);
    const size_t count = args.GetInput(0).GetNumElements();
    const unsigned int length = args.GetInput(1).GetShape()[1];
    RequireElements(args.GetInput(1), "input 1", uint64_t{count} * length);
    RequireElements(args.GetInput(3), "input 3", count);
    if (length == 0)
    {
        throw LayerValidationException("input 1 has places without a dimension: " +
                                       args.GetInput(1).GetShape().ToString());
    }
    RequireRank(args.GetOutput(0), "output 0", length - 1);
    if (output.GetNumElements64() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const size_t elements = CountElements(table.GetShape(), 1, table.GetNumDimensions());
    RequireElements(args.GetOutput(0), "output 0", CountElements(output, 0, length - 1) * uint64_t{elements});
    return {SparseLookupRun{IndexInput(args, 0), IndexInput(args, 1),
                            args.GetDescriptor<EmbeddingLookupSparseDescriptor>().m_Combiner, count, length,
                            GetExtents(output), table.GetShape()[0], elements, output.GetNumElements()},
            backends::CheckedCount(elements, sizeof(double))};
}

} // namespace

extern const backends::Kernel RefEmbeddingLookupSparseKernel = {
    "RefEmbeddingLookupSparse", EmbeddingLookupSparseTypes, PrepareEmbeddingLookupSparse, CheckEmbeddingLookupSparse};

} // namespace tenon::ref
