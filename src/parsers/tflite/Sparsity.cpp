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
    std::vector<int64_t> m_Segments;
    std::vector<int64_t> m_Indices;
};

template <typename List>
std::vector<int64_t> CopyList(Model& model, const List* list)
{
    if (list == nullptr || list->values() == nullptr)
    {
        return {};
    }
    model.Charge(list->values()->size() * sizeof(int64_t));
    return {list->values()->begin(), list->values()->end()};
}

std::vector<int64_t> ReadList(Model& model, schema::SparseIndexVector type, const void* list)
{
    switch (type)
    {
    case schema::SparseIndexVector::Int32Vector: return CopyList(model, static_cast<const schema::Int32Vector*>(list));
    case schema::SparseIndexVector::Uint16Vector:
        return CopyList(model, static_cast<const schema::Uint16Vector*>(list));
    case schema::SparseIndexVector::Uint8Vector: return CopyList(model, static_cast<const schema::Uint8Vector*>(list));
    case schema::SparseIndexVector::NONE: break;
    }
    throw ParseException(fmt::format("sparsity has an index list of kind {}", static_cast<int>(type)));
}

void Check(bool condition, const char* what)
{
    if (!condition)
    {
        throw ParseException(fmt::format("sparsity does not fit the tensor: {}", what));
    }
}

/// The levels in traversal order.
std::vector<Level> ReadLevels(Model& model, const schema::SparsityParameters& sparsity, const TensorShape& shape)
{
    const auto* order = sparsity.traversal_order();
    const auto* blocks = sparsity.block_map();
    const auto* metadata = sparsity.dim_metadata();
    const unsigned int rank = shape.GetNumDimensions();
    const unsigned int numBlocked = blocks != nullptr ? blocks->size() : 0;
    const unsigned int numLevels = rank + numBlocked;
    Check(numBlocked <= rank, "more blocked dimensions than dimensions");
    Check(order != nullptr && order->size() == numLevels, "traversal_order has not one entry per level");
    Check(metadata != nullptr && metadata->size() == numLevels, "dim_metadata has not one entry per level");

    // Which level each dimension is at; those inside blocks come after the tensor's own.
    std::array<unsigned int, MaxLevels> levelOf{};
    unsigned int seen = 0;
    for (unsigned int i = 0; i < numLevels; ++i)
    {
        const int32_t dimension = order->Get(i);
        Check(dimension >= 0 && dimension < static_cast<int32_t>(numLevels), "traversal_order is no permutation");
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
        const int32_t blocked = blocks->Get(j);
        Check(blocked >= 0 && blocked < static_cast<int32_t>(rank), "block_map names a dimension that does not exist");
        const auto axis = static_cast<unsigned int>(blocked);
        const unsigned int level = levelOf[rank + j];
        const int32_t size = metadata->Get(level)->dense_size();
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
        const schema::DimensionMetadata& entry = *metadata->Get(i);
        if (entry.format() == schema::DimensionType::DENSE)
        {
            Check(entry.dense_size() >= 0 && static_cast<uint64_t>(entry.dense_size()) == levels[i].m_Size,
                  "dense_size is not the size of the dimension");
            continue;
        }
        Check(entry.format() == schema::DimensionType::SPARSE_CSR, "a level is of unknown format");
        levels[i].m_IsSparse = true;
        levels[i].m_Segments = ReadList(model, entry.array_segments_type(), entry.array_segments());
        levels[i].m_Indices = ReadList(model, entry.array_indices_type(), entry.array_indices());
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
        Check(node + 1 < here.m_Segments.size(), "array_segments is too short");
        const int64_t begin = here.m_Segments[static_cast<size_t>(node)];
        const int64_t end = here.m_Segments[static_cast<size_t>(node) + 1];
        Check(begin >= 0 && begin <= end && end <= static_cast<int64_t>(here.m_Indices.size()),
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

std::vector<uint8_t> Densify(Model& model, const schema::SparsityParameters& sparsity, const TensorInfo& info,
                             Span<const uint8_t> values)
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
    model.Charge(info.GetNumBytes());
    const std::vector<Level> levels = ReadLevels(model, sparsity, info.GetShape());
    return Writer(levels, values, bits / 8, info.GetNumBytes()).Write();
}

} // namespace tenon::tflite
