// SPDX-License-Identifier: Apache-2.0
// ReverseV2 of CpuAcc. A block is the contiguous memory inside of the last reversed axis; rows of blocks are copied in
// reverse order. Blocks of one element are reversed in registers. The axes are an input tensor, so they are read in
// each run.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/move/CopyPlane.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/ReversedAxes.hpp"

#include <algorithm>
#include <array>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow ReverseTypes[] = {backends::SameType(backends::WholeByteType)};

/// The tensor as [outer..., row, block]. Neighbouring dimensions are one if all of them are reversed, or none.
struct Groups
{
    struct Group
    {
        size_t m_Size = 1;
        bool m_IsReversed = false;
    };
    std::array<Group, MaxNumOfTensorDimensions> m_Outer{}; ///< outermost first
    unsigned int m_NumOuter = 0;
    size_t m_Rows = 1;
    size_t m_RowBlocks = 1; ///< blocks of a row, in reverse order
    size_t m_BlockBytes = 1;

    /// The input row that is copied to output row `row`.
    size_t Source(size_t row) const
    {
        size_t source = 0;
        size_t step = 1;
        for (unsigned int i = m_NumOuter; i-- > 0;)
        {
            const Group& group = m_Outer[i];
            const size_t at = row % group.m_Size;
            source += (group.m_IsReversed ? group.m_Size - 1 - at : at) * step;
            row /= group.m_Size;
            step *= group.m_Size;
        }
        return source;
    }

    /// The number of output rows from `row` on whose input rows follow each other: the dimension outside of the rows is
    /// not reversed, as it would be merged with them otherwise.
    size_t CountNeighbours(size_t row) const
    {
        const size_t size = m_NumOuter == 0 ? 1 : m_Outer[m_NumOuter - 1].m_Size;
        return size - row % size;
    }
};

class Reverse
{
public:
    explicit Reverse(const ReshapeArgs& args)
        : m_Shape(args.GetInput(0).GetShape()), m_ElementBytes(ref::GetMovedBytes(args.GetInput(0).GetDataType())),
          m_Axes(args), m_Reverse(FindReverse(m_ElementBytes))
    {
    }

    void operator()(const ExecuteArgs& run) const
    {
        const Groups groups = MakeGroups(m_Axes.Read(run));
        const CopyPlaneFunction copy = ChooseCopyPlane(groups.m_BlockBytes);
        RunRanges(*run.m_Parallel, groups.m_Rows * groups.m_RowBlocks, GetGrain(2 * groups.m_BlockBytes),
                  [&](size_t begin, size_t end)
                  {
                      while (begin < end)
                      {
                          const size_t row = begin / groups.m_RowBlocks;
                          const size_t at = begin % groups.m_RowBlocks;
                          const bool isWhole = at == 0 && end - begin >= groups.m_RowBlocks;
                          Plane plane;
                          plane.m_Rows =
                              isWhole ? std::min((end - begin) / groups.m_RowBlocks, groups.CountNeighbours(row)) : 1;
                          plane.m_Runs = std::min(end - begin, groups.m_RowBlocks - at);
                          plane.m_RunBytes = groups.m_BlockBytes;
                          const size_t from = groups.Source(row) * groups.m_RowBlocks + groups.m_RowBlocks - at;
                          Move(plane, copy, run.GetInput<std::byte>(0) + from * groups.m_BlockBytes,
                               run.GetOutput<std::byte>(0) + begin * groups.m_BlockBytes);
                          begin += plane.m_Rows * plane.m_Runs;
                      }
                  });
    }

private:
    Groups MakeGroups(unsigned int reversed) const
    {
        Groups groups;
        groups.m_BlockBytes = m_ElementBytes;
        unsigned int end = m_Shape.GetNumDimensions();
        for (; end != 0 && ((reversed >> (end - 1)) & 1U) == 0; --end)
        {
            groups.m_BlockBytes *= m_Shape[end - 1];
        }
        for (; end != 0 && ((reversed >> (end - 1)) & 1U) != 0; --end)
        {
            groups.m_RowBlocks *= m_Shape[end - 1];
        }
        for (unsigned int i = 0; i < end; ++i)
        {
            const bool isReversed = ((reversed >> i) & 1U) != 0;
            const bool joins =
                groups.m_NumOuter != 0 && groups.m_Outer[groups.m_NumOuter - 1].m_IsReversed == isReversed;
            groups.m_NumOuter += joins ? 0 : 1;
            Groups::Group& group = groups.m_Outer[groups.m_NumOuter - 1];
            group.m_Size *= m_Shape[i];
            group.m_IsReversed = isReversed;
            groups.m_Rows *= m_Shape[i];
        }
        return groups;
    }

    /// Copies whole rows, or a range of one row. `end`: the end of the first source row.
    void Move(Plane plane, CopyPlaneFunction copy, const std::byte* end, std::byte* to) const
    {
        const size_t rowBytes = plane.m_Runs * plane.m_RunBytes;
        constexpr size_t ShortRow = 8; // elements
        if (m_Reverse != nullptr && plane.m_RunBytes == m_ElementBytes && plane.m_Runs >= ShortRow)
        {
            const std::byte* from = end - rowBytes;
            for (size_t row = 0; row < plane.m_Rows; ++row, from += rowBytes, to += rowBytes)
            {
                m_Reverse(from, plane.m_Runs, to);
            }
            return;
        }
        plane.m_FromRow = plane.m_ToRow = static_cast<int64_t>(rowBytes);
        plane.m_ToRun = static_cast<int64_t>(plane.m_RunBytes);
        plane.m_FromRun = -plane.m_ToRun;
        copy(plane, end - plane.m_RunBytes, to);
    }

    TensorShape m_Shape;
    size_t m_ElementBytes;
    ref::ReversedAxes m_Axes;
    ReverseFunction m_Reverse;
};

Prepared RefineReverse(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    if (args.GetOutput(0).GetNumElements() == 0)
    {
        return Prepared::Declined("the output is empty");
    }
    return Reverse(args);
}

} // namespace

extern const backends::Kernel CpuReverseV2Kernel = {.m_Name = "CpuReverseV2",
                                                    .m_Types = ReverseTypes,
                                                    .m_Reference = &ref::RefReverseV2Kernel,
                                                    .m_Refine = RefineReverse};

} // namespace tenon::cpu
