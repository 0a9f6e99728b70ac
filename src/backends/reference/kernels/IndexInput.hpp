// SPDX-License-Identifier: Apache-2.0
// Indices that arrive as a tensor: read from any index type, and checked one by one, since they are not trusted. Used
// by the kernels that gather, scatter, look up and place by index.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/reference/kernels/DataMovement.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::ref
{

/// The types that an index can have. SameType leaves inputs past the first to a kernel's check: see CheckIndexType.
constexpr backends::TypeSet IndexTypes = {DataType::Signed16, DataType::Signed32, DataType::Signed64};

/// Refuses a layer whose input `input` has another type.
SupportResult CheckIndexType(const LayerView& layer, size_t input);

/// The elements of an index tensor.
class IndexInput
{
public:
    IndexInput(const ReshapeArgs& args, size_t input);

    /// Element i, unchecked.
    int64_t ReadAny(const ExecuteArgs& args, size_t i) const { return m_Read(args.m_Inputs[m_Input], i); }

    /// Element i. Throws a RuntimeException that says what is wrong unless it is in [lowest, limit).
    int64_t Read(const ExecuteArgs& args, size_t i, int64_t lowest, int64_t limit) const
    {
        const int64_t index = m_Read(args.m_Inputs[m_Input], i);
        if (index < lowest || index >= limit)
        {
            ThrowOutside(i, index, lowest, limit);
        }
        return index;
    }

    /// Element i as a position in [0, size). With `fromEnd`, negative indices from -size on count from the end. Throws
    /// RuntimeException for any other value.
    int64_t ReadChecked(const ExecuteArgs& args, size_t i, int64_t size, bool fromEnd) const
    {
        const int64_t index = Read(args, i, fromEnd ? -size : 0, size);
        return index < 0 ? index + size : index;
    }

private:
    [[noreturn]] void ThrowOutside(size_t i, int64_t index, int64_t lowest, int64_t limit) const;

    int64_t (*m_Read)(const void* indices, size_t i);
    size_t m_Input;
};

/// An index tensor whose last dimension holds tuples: each names a slice of a tensor by its first dimensions, or by the
/// dimensions after the leading ones that both tensors share.
class IndexTuples
{
public:
    /// `fromEnd`: negative indices count from the end. Throws LayerValidationException when the tuples are longer than
    /// `data` has dimensions, or batch dimensions differ.
    IndexTuples(const ReshapeArgs& args, size_t input, const TensorShape& data, bool fromEnd,
                unsigned int batchDims = 0);

    size_t GetCount() const { return m_Count; }
    size_t GetSliceElements() const { return m_SliceElements; }
    /// The shape of one slice for each tuple.
    const std::vector<unsigned int>& GetSlicesShape() const { return m_SlicesShape; }

    /// The first element of the slice that tuple i names. Throws RuntimeException for an index outside its dimension.
    size_t GetOffset(const ExecuteArgs& args, size_t i) const
    {
        size_t offset = i / m_BatchCount * m_BatchElements;
        for (unsigned int d = 0; d < m_Length; ++d)
        {
            const int64_t index = m_Indices.ReadChecked(args, i * m_Length + d, m_Sizes[d], m_FromEnd);
            offset += static_cast<size_t>(index * m_Strides[d]);
        }
        return offset;
    }

    /// Calls f(i, GetOffset(args, i)) for each tuple.
    template <typename F>
    void ForEach(const ExecuteArgs& args, const F& f) const
    {
        for (size_t i = 0; i < m_Count; ++i)
        {
            f(i, GetOffset(args, i));
        }
    }

private:
    IndexInput m_Indices;
    size_t m_Count = 0;
    size_t m_SliceElements = 0;
    size_t m_BatchCount = 1;    ///< tuples of a batch, at least 1
    size_t m_BatchElements = 0; ///< elements of the data per batch
    unsigned int m_Length = 0;
    bool m_FromEnd = false;
    Extents m_Sizes{}; ///< sizes of the dimensions that tuples address
    Extents m_Strides{};
    std::vector<unsigned int> m_SlicesShape;
};

} // namespace tenon::ref
