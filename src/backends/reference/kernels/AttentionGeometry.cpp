// SPDX-License-Identifier: Apache-2.0
// See AttentionGeometry.hpp.
#include "backends/reference/kernels/AttentionGeometry.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Products.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace tenon::ref
{

namespace
{

constexpr int64_t Unbounded = std::numeric_limits<int32_t>::max();

[[noreturn]] void ThrowMismatch(const ReshapeArgs& args)
{
    std::string shapes;
    for (size_t i = 0; i < args.m_Inputs.size(); ++i)
    {
        shapes += (i == 0 ? "" : ", ") + args.GetInput(i).GetShape().ToString();
    }
    throw LayerValidationException("attention of " + shapes + " to " + args.GetOutput(0).GetShape().ToString() +
                                   ": the shapes of queries, keys, values and mask do not fit each other");
}

} // namespace

/// A tensor as [leading..., rows, depth], with leading ones up to `rank`. The last leading dimension is the heads.
struct AttentionGeometry::Matrices
{
    Matrices(const TensorShape& shape, unsigned int rank, bool rowsBeforeHeads)
    {
        const unsigned int missing = rank - std::min(rank, shape.GetNumDimensions());
        const auto size = [&](unsigned int i) { return i < missing ? size_t{1} : size_t{shape[i - missing]}; };
        m_Depth = size(rank - 1);
        m_Rows = size(rank - (rowsBeforeHeads ? 3 : 2));
        for (unsigned int i = 0; i + 2 < rank; ++i)
        {
            m_Leading[i] = size(i + 3 == rank && rowsBeforeHeads ? i + 1 : i);
        }
    }

    size_t m_Leading[MaxLeading] = {};
    size_t m_Rows = 0;
    size_t m_Depth = 0;
};

AttentionGeometry::AttentionGeometry(const ReshapeArgs& args)
{
    const auto& descriptor = args.GetDescriptor<AttentionDescriptor>();
    m_RowsBeforeHeads = descriptor.m_RowsBeforeHeads;
    const unsigned int rank = args.GetInput(0).GetShape().GetNumDimensions();
    for (const TensorInfo* info : {&args.GetInput(1), &args.GetInput(2), &args.GetOutput(0)})
    {
        if (rank < (m_RowsBeforeHeads ? 3U : 2U) || info->GetShape().GetNumDimensions() != rank)
        {
            ThrowMismatch(args);
        }
    }
    const Matrices queries(args.GetInput(0).GetShape(), rank, m_RowsBeforeHeads);
    const Matrices keys(args.GetInput(1).GetShape(), rank, m_RowsBeforeHeads);
    const Matrices values(args.GetInput(2).GetShape(), rank, m_RowsBeforeHeads);
    const Matrices out(args.GetOutput(0).GetShape(), rank, m_RowsBeforeHeads);
    m_NumLeading = rank - 2;
    std::copy_n(out.m_Leading, m_NumLeading, m_Leading);
    for (unsigned int i = 0; i < m_NumLeading; ++i)
    {
        m_Heads *= m_Leading[i];
    }
    m_Queries = out.m_Rows;
    m_Keys = values.m_Rows;
    m_Depth = queries.m_Depth;
    m_ValueDepth = values.m_Depth;
    bool fits = keys.m_Depth == m_Depth && out.m_Depth == m_ValueDepth && (keys.m_Rows == m_Keys || keys.m_Rows == 1) &&
                Place(queries, m_Queries, m_QueryRows) && Place(keys, m_Keys, m_KeyRows) &&
                Place(values, m_Keys, m_ValueRows) && Place(out, m_Queries, m_OutputRows);
    m_Scale = descriptor.m_Scale;
    if (m_Scale == 0.0f)
    {
        m_Scale = static_cast<float>(1.0 / std::sqrt(std::max(1.0, static_cast<double>(m_Depth))));
    }
    m_IsBounded = descriptor.m_IsCausal || descriptor.m_LeftWindow >= 0 || descriptor.m_RightWindow >= 0;
    m_Before = descriptor.m_LeftWindow >= 0 ? descriptor.m_LeftWindow : Unbounded;
    m_Behind = descriptor.m_RightWindow >= 0 ? descriptor.m_RightWindow : Unbounded;
    m_Behind = descriptor.m_IsCausal ? 0 : m_Behind;

    size_t next = 3;
    if (descriptor.m_MaskEnabled)
    {
        const TensorInfo& mask = args.GetInput(next++);
        m_Mask = mask.GetDataType() == DataType::Boolean ? AttentionMask::Boolean : AttentionMask::Added;
        const Matrices numbers(mask.GetShape(), rank, false);
        m_RowsBeforeHeads = false; // a mask never has rows before heads
        fits = fits && mask.GetShape().GetNumDimensions() <= rank && Place(numbers, m_Queries, m_MaskRows) &&
               (numbers.m_Depth == 1 || numbers.m_Depth == m_Keys) && m_MaskRows.m_Group == 1;
        m_MaskKeyStep = numbers.m_Depth == 1 ? 0 : 1;
    }
    if (descriptor.m_OffsetEnabled)
    {
        const TensorInfo& offset = args.GetInput(next);
        const uint64_t count = offset.GetShape().GetNumElements64();
        fits = fits && (count == 1 || (rank > 2 && count == m_Leading[0] && count != 0));
        m_OffsetInput = next;
        m_IsOffsetWide = offset.GetDataType() == DataType::Signed64;
        m_HeadsOfOffset = count == 0 ? 1 : std::max<size_t>(1, m_Heads / static_cast<size_t>(count));
    }
    if (!fits)
    {
        ThrowMismatch(args);
    }
}

/// Finds the rows of a tensor; false if it does not fit the leading dimensions, or has neither `rows` rows nor one.
bool AttentionGeometry::Place(const Matrices& tensor, size_t rows, Places& places) const
{
    const size_t heads = m_NumLeading == 0 ? 1 : tensor.m_Leading[m_NumLeading - 1];
    places.m_Stride = tensor.m_Rows == 1 && rows != 1 ? 0 : tensor.m_Depth * (m_RowsBeforeHeads ? heads : 1);
    size_t step = tensor.m_Depth * tensor.m_Rows * (m_RowsBeforeHeads ? heads : 1);
    bool fits = tensor.m_Rows == rows || tensor.m_Rows == 1;
    for (unsigned int i = m_NumLeading; i-- > 0;)
    {
        const bool isOfHeads = i + 1 == m_NumLeading;
        const size_t size = tensor.m_Leading[i];
        const bool isGrouped = isOfHeads && size > 1 && size != m_Leading[i] && m_Leading[i] % size == 0;
        fits = fits && (size == m_Leading[i] || size == 1 || isGrouped);
        places.m_Group = isGrouped ? m_Leading[i] / size : places.m_Group;
        const size_t taken = isOfHeads && m_RowsBeforeHeads ? tensor.m_Depth : step;
        places.m_Steps[i] = size == 1 ? 0 : taken;
        step *= isOfHeads && m_RowsBeforeHeads ? 1 : size;
    }
    return fits;
}

AttentionGeometry::Rows AttentionGeometry::Find(const Places& places, size_t head) const
{
    Rows rows{0, places.m_Stride};
    for (unsigned int i = m_NumLeading; i-- > 0;)
    {
        const size_t index = head % m_Leading[i];
        rows.m_First += (i + 1 == m_NumLeading ? index / places.m_Group : index) * places.m_Steps[i];
        head /= m_Leading[i];
    }
    return rows;
}

int64_t AttentionGeometry::GetOffset(const ExecuteArgs& args, size_t head) const
{
    if (m_OffsetInput == 0)
    {
        return 0;
    }
    const size_t at = head / m_HeadsOfOffset;
    const int64_t given =
        m_IsOffsetWide ? args.GetInput<int64_t>(m_OffsetInput)[at] : int64_t{args.GetInput<int32_t>(m_OffsetInput)[at]};
    return std::clamp(given, -Unbounded, Unbounded); // no tensor has more keys or queries
}

std::pair<size_t, size_t> AttentionGeometry::GetVisible(size_t query, int64_t offset) const
{
    if (!m_IsBounded)
    {
        return {0, m_Keys};
    }
    const int64_t place = static_cast<int64_t>(query) + offset;
    const auto keys = static_cast<int64_t>(m_Keys);
    const int64_t end = std::clamp<int64_t>(place + m_Behind + 1, 0, keys);
    const int64_t first = std::clamp<int64_t>(place - m_Before, 0, end);
    return {static_cast<size_t>(first), static_cast<size_t>(end)};
}

} // namespace tenon::ref
