// SPDX-License-Identifier: Apache-2.0
// Attention of floats for a panel of queries at a time: out = softmax(cap(scale * q k) + mask) v, with cap(s) =
// m_Softcap * tanh(s / m_Softcap). The scores of a panel are a block [keys][queries] that stays in the cache; the block
// is the packed panel of the second product ("FlashAttention": Dao et al., 2022). Keys that causality or a window masks
// for a whole panel are skipped.
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/attention/ColumnSoftmaxF32.hpp"
#include "backends/cpu/attention/FusedAttentionF32.hpp"
#include "backends/cpu/elementwise/UnaryFloat.hpp"
#include "backends/cpu/move/TransposeVectors.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/AttentionGeometry.hpp"

#include <tenon/descriptors/Products.hpp>

#include <algorithm>
#include <bit>
#include <limits>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;
using ref::AttentionGeometry;
using ref::AttentionMask;

constexpr float Masked = -std::numeric_limits<float>::infinity();
/// Wider panels take less time on processors that start several products a cycle.
constexpr size_t MaxPanelVectors = 2;

/// The width of a panel in vectors. Among the widths, the one with the least padding in the last panel.
size_t ChooseVectors(const MicrokernelsF32& microkernels, size_t queries)
{
    size_t best = 1;
    for (size_t vectors = 2; vectors <= std::min(microkernels.m_Vectors, MaxPanelVectors); ++vectors)
    {
        const auto total = [&](size_t v) { return DivideUp(queries, v * microkernels.m_Lanes) * v; };
        best = total(vectors) <= total(best) ? vectors : best;
    }
    return best;
}

class Attention
{
public:
    Attention(const ReshapeArgs& args, const AttentionGeometry& geometry)
        : m_Geometry(geometry), m_Microkernels(&GetMicrokernelsF32()),
          m_Vectors(ChooseVectors(*m_Microkernels, geometry.m_Queries)), m_Width(m_Vectors * m_Microkernels->m_Lanes),
          m_PanelsPerHead(DivideUp(geometry.m_Queries, m_Width)),
          m_Softcap(args.GetDescriptor<AttentionDescriptor>().m_Softcap)
    {
        const double multiplications = static_cast<double>(geometry.m_Heads) * static_cast<double>(geometry.m_Queries) *
                                       static_cast<double>(geometry.m_Keys) *
                                       static_cast<double>(geometry.m_Depth + geometry.m_ValueDepth);
        m_Tasks = std::min(
            {GetMaxTasks(args.m_MaxThreads), geometry.m_Heads * m_PanelsPerHead, GetWorthwhileTasks(multiplications)});
        Scratch task;
        m_QueriesOffset = task.Add<float>(geometry.m_Depth, m_Width);
        m_BlockOffset = task.Add<float>(geometry.m_Keys, m_Width);
        m_AddedOffset = task.Add<float>(geometry.m_Keys, NumMaskValues());
        m_FactorsOffset = task.Add<float>(m_Width);
        m_OutOffset = task.Add<float>(geometry.m_ValueDepth, m_Width);
        m_ValuesOffset = task.Add<float>(geometry.m_ValueDepth, geometry.m_Keys);
        m_TaskBytes = task.GetBytes();
        Scratch scratch;
        scratch.AddPerTask(task, m_Tasks);
        m_ScratchBytes = scratch.GetBytes();
    }

    size_t GetScratchBytes() const { return m_ScratchBytes; }

    void operator()(const ExecuteArgs& args) const
    {
        const size_t panels = m_Geometry.m_Heads * m_PanelsPerHead;
        RunChunkRanges(*args.m_Parallel, m_Tasks, panels, 1,
                       [&](size_t task, const IndexRange& range)
                       {
                           Buffers buffers(*this, args, task);
                           for (size_t panel = range.m_Begin; panel < range.m_End; ++panel)
                           {
                               RunPanel(args, panel / m_PanelsPerHead, panel % m_PanelsPerHead * m_Width, buffers);
                           }
                       });
    }

private:
    /// Addresses of the buffers of a task.
    struct Buffers
    {
        Buffers(const Attention& of, const ExecuteArgs& args, size_t index)
        {
            const auto at = [&](size_t offset)
            { return Scratch::At<float>(args.m_Scratch, index * of.m_TaskBytes + offset); };
            m_Queries = at(of.m_QueriesOffset);
            m_Block = at(of.m_BlockOffset);
            m_Added = at(of.m_AddedOffset);
            m_Factors = at(of.m_FactorsOffset);
            m_Out = at(of.m_OutOffset);
            m_Values = at(of.m_ValuesOffset);
        }

        float* m_Queries;                           ///< [depth][width]
        float* m_Block;                             ///< [keys][width]
        float* m_Added;                             ///< mask: [keys][width], or [keys]
        float* m_Factors;                           ///< [width]
        float* m_Out;                               ///< [columns][width]
        float* m_Values;                            ///< [columns][keys]
        size_t m_TransposedValuesOffset = SIZE_MAX; ///< offset of the values that were transposed last
    };

    /// Mask values a key in scratch memory: none, one, or one for each query of the panel.
    size_t NumMaskValues() const
    {
        if (m_Geometry.m_Mask == AttentionMask::None || (IsMaskPerKey() && m_Geometry.m_Mask == AttentionMask::Added))
        {
            return 0;
        }
        return IsMaskPerKey() ? 1 : m_Width;
    }
    /// Whether the mask is the same for all queries, one number for each key.
    bool IsMaskPerKey() const { return m_Geometry.GetMaskQueryStep() == 0 && m_Geometry.m_MaskKeyStep == 1; }

    float GetMaskValue(const ExecuteArgs& args, size_t place) const
    {
        if (m_Geometry.m_Mask == AttentionMask::Added)
        {
            return args.GetInput<float>(3)[place];
        }
        return args.GetInput<uint8_t>(3)[place] != 0 ? 0.0f : Masked;
    }

    /// Prepares the mask of a panel for `count` keys from `key` on.
    void AddMask(const ExecuteArgs& args, size_t head, size_t query, size_t queries, size_t key, size_t count,
                 const Buffers& buffers, ColumnSoftmax& softmax) const
    {
        const AttentionGeometry& g = m_Geometry;
        const size_t place = g.GetMaskOffset(head, query, key);
        const bool isAdded = g.m_Mask == AttentionMask::Added;
        if (IsMaskPerKey())
        {
            softmax.m_RowMask = isAdded ? args.GetInput<float>(3) + place : buffers.m_Added;
            for (size_t i = 0; !isAdded && i < count; ++i)
            {
                buffers.m_Added[i] = GetMaskValue(args, place + i);
            }
            return;
        }
        softmax.m_ElementMask = buffers.m_Added;
        if (isAdded && g.m_MaskKeyStep == 1)
        {
            TransposeToPanel(args.GetInput<float>(3) + place, g.GetMaskQueryStep(), count, queries, buffers.m_Added,
                             m_Width);
            return;
        }
        for (size_t i = 0; i < count; ++i)
        {
            for (size_t q = 0; q < m_Width; ++q)
            {
                buffers.m_Added[i * m_Width + q] =
                    q < queries ? GetMaskValue(args, place + i * g.m_MaskKeyStep + q * g.GetMaskQueryStep()) : 0.0f;
            }
        }
    }

    /// Masks keys of [first, end) that single queries of a panel do not see.
    void MaskKeys(size_t query, size_t queries, int64_t offset, size_t first, size_t end, float* block) const
    {
        for (size_t q = 0; q < queries; ++q)
        {
            const auto [visible, behind] = m_Geometry.GetVisible(query + q, offset);
            for (size_t key = first; key < std::min(std::max(visible, first), end); ++key)
            {
                block[(key - first) * m_Width + q] = Masked;
            }
            for (size_t key = std::max({behind, visible, first}); key < end; ++key)
            {
                block[(key - first) * m_Width + q] = Masked;
            }
        }
    }

    void RunPanel(const ExecuteArgs& args, size_t head, size_t query, Buffers& buffers) const
    {
        const AttentionGeometry& g = m_Geometry;
        const size_t queries = std::min(m_Width, g.m_Queries - query);
        const AttentionGeometry::Rows out = g.OfOutput(head);
        float* const outRow = args.GetOutput<float>(0) + out.m_First + query * out.m_Stride;
        const int64_t offset = g.GetOffset(args, head);
        const size_t first = g.GetVisible(query, offset).first;
        const size_t end = g.GetVisible(query + queries - 1, offset).second;
        if (first >= end)
        {
            for (size_t q = 0; q < queries; ++q)
            {
                std::fill_n(outRow + q * out.m_Stride, g.m_ValueDepth, 0.0f);
            }
            return;
        }
        const size_t keys = end - first;
        TransposeValues(args, head, buffers);

        const AttentionGeometry::Rows queryRows = g.OfQueries(head);
        TransposeToPanel(args.GetInput<float>(0) + queryRows.m_First + query * queryRows.m_Stride, queryRows.m_Stride,
                         g.m_Depth, queries, buffers.m_Queries, m_Width);
        for (size_t i = 0; i < g.m_Depth * m_Width; ++i)
        {
            buffers.m_Queries[i] *= g.m_Scale;
        }
        const AttentionGeometry::Rows keyRows = g.OfKeys(head);
        MultiplyByPanel(*m_Microkernels, m_Vectors,
                        args.GetInput<float>(1) + keyRows.m_First + first * keyRows.m_Stride, keyRows.m_Stride, keys,
                        g.m_Depth, buffers.m_Queries, buffers.m_Block);
        if (m_Softcap > 0.0f)
        {
            FindUnaryLoopF32(FloatFunction::ScaledTanH)(buffers.m_Block, buffers.m_Block, keys * m_Width, m_Softcap,
                                                        1.0f / m_Softcap);
        }
        if (g.m_IsBounded)
        {
            MaskKeys(query, queries, offset, first, end, buffers.m_Block);
        }

        ColumnSoftmax softmax;
        softmax.m_Block = buffers.m_Block;
        softmax.m_Rows = keys;
        softmax.m_Width = m_Width;
        softmax.m_Log2Divisor = static_cast<int>(std::bit_width(keys));
        softmax.m_MayMaskColumns = g.m_IsBounded || g.m_Mask != AttentionMask::None;
        softmax.m_Factors = buffers.m_Factors;
        if (g.m_Mask != AttentionMask::None)
        {
            AddMask(args, head, query, queries, first, keys, buffers, softmax);
        }
        GetAttentionFunctions().m_Softmax(softmax);

        MultiplyByPanel(*m_Microkernels, m_Vectors, buffers.m_Values + first, g.m_Keys, g.m_ValueDepth, keys,
                        buffers.m_Block, buffers.m_Out);
        GetAttentionFunctions().m_Scale(buffers.m_Out, g.m_ValueDepth, m_Width, buffers.m_Factors);
        TransposeFloats(buffers.m_Out, m_Width, queries, g.m_ValueDepth, outRow, out.m_Stride);
    }

    /// Transposes the values of a head to [columns][keys], once for all panels of the head in a row.
    void TransposeValues(const ExecuteArgs& args, size_t head, Buffers& buffers) const
    {
        const AttentionGeometry::Rows rows = m_Geometry.OfValues(head);
        if (buffers.m_TransposedValuesOffset != rows.m_First)
        {
            TransposeFloats(args.GetInput<float>(2) + rows.m_First, rows.m_Stride, m_Geometry.m_ValueDepth,
                            m_Geometry.m_Keys, buffers.m_Values, m_Geometry.m_Keys);
            buffers.m_TransposedValuesOffset = rows.m_First;
        }
    }

    AttentionGeometry m_Geometry;
    const MicrokernelsF32* m_Microkernels;
    size_t m_Vectors;       ///< vectors of a panel
    size_t m_Width;         ///< queries of a panel
    size_t m_PanelsPerHead; ///< panels a head
    float m_Softcap;
    size_t m_Tasks = 1; ///< ranges of panels, each on a thread of its own
    size_t m_QueriesOffset = 0;
    size_t m_BlockOffset = 0;
    size_t m_AddedOffset = 0;
    size_t m_FactorsOffset = 0;
    size_t m_OutOffset = 0;
    size_t m_ValuesOffset = 0;
    size_t m_TaskBytes = 0;
    size_t m_ScratchBytes = 0;
};

constexpr backends::TypeRow AttentionTypes[] = {backends::SameType({DataType::Float32}, 3)};

backends::Prepared PrepareAttention(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const AttentionGeometry geometry(args);
    if (geometry.m_Heads == 0 || geometry.m_Queries == 0 || geometry.m_Keys == 0 || geometry.m_Depth == 0 ||
        geometry.m_ValueDepth == 0)
    {
        return backends::Prepared::Declined("its matrices are empty");
    }
    Attention attention(args, geometry);
    const size_t scratch = attention.GetScratchBytes();
    return {std::move(attention), scratch};
}

} // namespace

extern const backends::Kernel CpuAttentionKernel = {.m_Name = "CpuAttention",
                                                    .m_Types = AttentionTypes,
                                                    .m_Prepare = PrepareAttention,
                                                    .m_Reference = &ref::RefAttentionKernel};

} // namespace tenon::cpu
