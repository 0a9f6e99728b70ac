// SPDX-License-Identifier: Apache-2.0
// Sparse constants: see Sparsity.hpp.
//
// The format is a tree with one level per dimension, in traversal_order. A blocked dimension has two levels: the block,
// and the position inside, which counts as dimension rank + j for block_map[j]. A dense level has a child for each
// index; a sparse one has those that array_indices lists between two neighbours of array_segments. Values are leaves.
#include "parsers/tflite/Sparsity.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <tflite_generated.h>

namespace tenon::tflite
{

namespace
{

/// Each dimension may be blocked once.
constexpr size_t MaxLevels = size_t{2} * MaxNumOfTensorDimensions;

struct Level
{
    uint64_t m_Size = 0;   ///< indices are below
    uint64_t m_Stride = 0; ///< elements of the full tensor between neighbours
    bool m_IsSparse = false;
    IntegerList m_Segments;
    IntegerList m_Indices;
};

void Check(bool condition, const char* what)
{
    if (!condition)
    {
        throw ParseException(fmt::format("sparsity does not fit the tensor: {}", what));
    }
}

/// The levels in traversal order.
std::vector<Level> ReadLevels(const DeclaredSparsity& sparsity, const TensorShape& shape)
{
    const IntegerList& order = sparsity.m_TraversalOrder;
    const IntegerList& blocks = sparsity.m_BlockMap;
    const unsigned int rank = shape.GetNumDimensions();
    Check(blocks.Size() <= rank, "more blocked dimensions than dimensions");
    const auto numBlocked = static_cast<unsigned int>(blocks.Size());
    const unsigned int numLevels = rank + numBlocked;
    Check(order.Size() == numLevels, "traversal_order has not one entry per level");
    Check(sparsity.m_Levels.size() == numLevels, "dim_metadata has not one entry per level");

    // Which level each dimension is at; those inside blocks come after the tensor's own.
    std::array<unsigned int, MaxLevels> levelOf{};
    unsigned int seen = 0;
    for (unsigned int i = 0; i < numLevels; ++i)
    {
        const int64_t dimension = order[i];
        Check(dimension >= 0 && dimension < int64_t{numLevels}, "traversal_order is no permutation");
        levelOf[static_cast<unsigned int>(dimension)] = i;
        seen |= 1U << static_cast<unsigned int>(dimension);
    }
    Check(seen == (1U << numLevels) - 1U, "traversal_order is no permutation");

    std::array<uint64_t, MaxNumOfTensorDimensions> strides{};
    std::array<uint64_t, MaxNumOfTensorDimensions> blockSizes{};
    uint64_t stride = 1;
    for (unsigned int i = rank; i-- > 0;)
    {
        strides[i] = stride;
        blockSizes[i] = 1;
        stride *= shape[i];
    }

    std::vector<Level> levels(numLevels);
    for (unsigned int j = 0; j < numBlocked; ++j)
    {
        const int64_t blocked = blocks[j];
        Check(blocked >= 0 && blocked < int64_t{rank}, "block_map names a dimension that does not exist");
        const auto axis = static_cast<unsigned int>(blocked);
        const unsigned int level = levelOf[rank + j];
        const int32_t size = sparsity.m_Levels[level].m_DenseSize;
        Check(size > 0 && blockSizes[axis] == 1 && shape[axis] % static_cast<unsigned int>(size) == 0,
              "a dimension is no multiple of its block");
        blockSizes[axis] = static_cast<uint64_t>(size);
        levels[level].m_Size = blockSizes[axis];
        levels[level].m_Stride = strides[axis];
    }
    for (unsigned int axis = 0; axis < rank; ++axis)
    {
        levels[levelOf[axis]].m_Size = shape[axis] / blockSizes[axis];
        levels[levelOf[axis]].m_Stride = strides[axis] * blockSizes[axis];
    }
    for (unsigned int i = 0; i < numLevels; ++i)
    {
        const DeclaredSparsity::Level& entry = sparsity.m_Levels[i];
        if (entry.m_Format == static_cast<int32_t>(schema::DimensionType::DENSE))
        {
            Check(entry.m_DenseSize >= 0 && static_cast<uint64_t>(entry.m_DenseSize) == levels[i].m_Size,
                  "dense_size is not the size of the dimension");
            continue;
        }
        Check(entry.m_Format == static_cast<int32_t>(schema::DimensionType::SPARSE_CSR),
              "a level is of unknown format");
        levels[i].m_IsSparse = true;
        levels[i].m_Segments = entry.m_Segments;
        levels[i].m_Indices = entry.m_Indices;
    }
    return levels;
}

class Writer
{
public:
    Writer(const std::vector<Level>& levels, Span<const uint8_t> values, size_t elementBytes, size_t bytes)
        : m_Levels(levels), m_Values(values), m_ElementBytes(elementBytes), m_Dense(bytes)
    {
    }

    std::vector<uint8_t> Write()
    {
        Visit(0, 0, 0);
        Check(m_Written * m_ElementBytes == m_Values.size(), "there are more values than the index lists refer to");
        return std::move(m_Dense);
    }

private:
    /// The subtree of node `node` at this level; `element` is its first in the full tensor.
    void Visit(size_t level, uint64_t node, uint64_t element)
    {
        if (level == m_Levels.size())
        {
            Check(node < m_Values.size() / m_ElementBytes, "there are fewer values than the index lists refer to");
            std::memcpy(m_Dense.data() + element * m_ElementBytes, m_Values.data() + node * m_ElementBytes,
                        m_ElementBytes);
            ++m_Written;
            return;
        }
        const Level& here = m_Levels[level];
        if (!here.m_IsSparse)
        {
            for (uint64_t i = 0; i < here.m_Size; ++i)
            {
                Visit(level + 1, node * here.m_Size + i, element + i * here.m_Stride);
            }
            return;
        }
        Check(node + 1 < here.m_Segments.Size(), "array_segments is too short");
        const int64_t begin = here.m_Segments[static_cast<size_t>(node)];
        const int64_t end = here.m_Segments[static_cast<size_t>(node) + 1];
        Check(begin >= 0 && begin <= end && end <= static_cast<int64_t>(here.m_Indices.Size()),
              "array_segments leads outside of array_indices");
        int64_t previous = -1;
        for (int64_t i = begin; i < end; ++i)
        {
            const int64_t index = here.m_Indices[static_cast<size_t>(i)];
            Check(index > previous && index < static_cast<int64_t>(here.m_Size),
                  "array_indices does not rise within the dimension");
            Visit(level + 1, static_cast<uint64_t>(i), element + static_cast<uint64_t>(index) * here.m_Stride);
            previous = index;
        }
    }

    const std::vector<Level>& m_Levels;
    Span<const uint8_t> m_Values;
    size_t m_ElementBytes;
    std::vector<uint8_t> m_Dense;
    uint64_t m_Written = 0;
};

} // namespace

std::vector<uint8_t> Densify(const DeclaredSparsity& sparsity, const TensorInfo& info, Span<const uint8_t> values,
                             ReadBudget& budget)
{
    const unsigned int bits = GetDataTypeBits(info.GetDataType());
    if (bits % 8 != 0)
    {
        throw UnimplementedException("is stored sparse with elements of less than a byte, which is not supported");
    }
    if (info.GetNumBytes() == 0)
    {
        return {}; // the tree may have any number of empty branches
    }
    // A short file must not ask for much memory: each element of the full tensor counts.
    budget.Charge(info.GetNumBytes());
    const std::vector<Level> levels = ReadLevels(sparsity, info.GetShape());
    return Writer(levels, values, bits / 8, info.GetNumBytes()).Write();
}

} // namespace tenon::tflite
