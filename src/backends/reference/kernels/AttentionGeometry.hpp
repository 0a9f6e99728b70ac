// SPDX-License-Identifier: Apache-2.0
// AttentionGeometry: the sizes of an Attention layer and which keys a query sees. Used by the kernels of CpuRef and
// CpuAcc.
#pragma once

#include <tenon/Tensor.hpp>
#include <tenon/backend/IWorkload.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace tenon::ref
{

/// The kind of mask that an attention has.
enum class AttentionMask : uint8_t
{
    None,
    Boolean, ///< false hides the key
    Added    ///< numbers of the type of the queries
};

class AttentionGeometry
{
public:
    /// Rows of one head in a tensor.
    struct Rows
    {
        size_t m_First = 0;  ///< element at which the first one begins
        size_t m_Stride = 0; ///< elements to the next one; 0: one stands for all
    };

    /// Throws LayerValidationException where shapes do not fit each other.
    explicit AttentionGeometry(const ReshapeArgs& args);

    /// Heads are counted over all leading dimensions of the output.
    Rows OfQueries(size_t head) const { return Find(m_QueryRows, head); }
    Rows OfKeys(size_t head) const { return Find(m_KeyRows, head); }
    Rows OfValues(size_t head) const { return Find(m_ValueRows, head); }
    Rows OfOutput(size_t head) const { return Find(m_OutputRows, head); }
    /// The number of keys before the key of query 0.
    int64_t GetOffset(const ExecuteArgs& args, size_t head) const;
    /// The range of keys that causality and the window leave visible to a query: the first key, and the key after the
    /// last.
    std::pair<size_t, size_t> GetVisible(size_t query, int64_t offset) const;
    /// The offset of the mask's element for a query and a key of a head.
    size_t GetMaskOffset(size_t head, size_t query, size_t key) const
    {
        return Find(m_MaskRows, head).m_First + query * m_MaskRows.m_Stride + key * m_MaskKeyStep;
    }
    /// Elements of the mask from one query to the next; 0: one row stands for all.
    size_t GetMaskQueryStep() const { return m_MaskRows.m_Stride; }

    size_t m_Heads = 1;      ///< heads of the output, over all leading dimensions
    size_t m_Queries = 0;    ///< S
    size_t m_Keys = 0;       ///< T
    size_t m_Depth = 0;      ///< D
    size_t m_ValueDepth = 0; ///< E
    float m_Scale = 1.0f;
    AttentionMask m_Mask = AttentionMask::None;
    size_t m_MaskKeyStep = 0; ///< elements of the mask from one key to the next; 0: one stands for all
    bool m_IsBounded = false; ///< whether causality or a window hides keys

private:
    static constexpr unsigned int MaxLeading = MaxNumOfTensorDimensions - 2; ///< dimensions before the matrices
    struct Matrices;

    /// The positions of the rows of each head in a tensor.
    struct Places
    {
        size_t m_Steps[MaxLeading] = {}; ///< elements from one index of a leading dimension to the next; 0: repeated
        size_t m_Group = 1;              ///< heads in a row that share one
        size_t m_Stride = 0;             ///< see Rows
    };

    Rows Find(const Places& places, size_t head) const;
    bool Place(const Matrices& tensor, size_t rows, Places& places) const;

    bool m_RowsBeforeHeads = false;
    unsigned int m_NumLeading = 0; ///< dimensions before the matrices
    size_t m_Leading[MaxLeading] = {};
    Places m_QueryRows;
    Places m_KeyRows;
    Places m_ValueRows;
    Places m_OutputRows;
    Places m_MaskRows;
    int64_t m_Before = 0;        ///< keys before offset + query that are seen
    int64_t m_Behind = 0;        ///< keys after it that are seen
    size_t m_OffsetInput = 0;    ///< 0: there is none
    bool m_IsOffsetWide = false; ///< the offset has 64 bits
    size_t m_HeadsOfOffset = 1;  ///< heads that share an element of the offset
};

} // namespace tenon::ref
