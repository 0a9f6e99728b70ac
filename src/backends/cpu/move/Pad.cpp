// SPDX-License-Identifier: Apache-2.0
// Pad of CpuAcc with a constant. The output has rows of the innermost dimension with a border each. Rows within the
// border of an outer dimension are filled; others get their own border and a copy of the data. The modes that mirror or
// repeat data are left to the reference kernel.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/move/CopyPlane.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/StoredElement.hpp"

#include <tenon/descriptors/Expansion.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow PadTypes[] = {backends::SameType(backends::WholeByteType)};

/// A dimension with its padding, in units of the inner dimensions.
struct Border
{
    size_t m_Before = 0;
    size_t m_Size = 1;
    size_t m_After = 0;

    size_t Total() const { return m_Before + m_Size + m_After; }
    bool IsPlain() const { return m_Before == 0 && m_After == 0; }
};

/// Fills memory with the border's value.
class Filler
{
public:
    Filler(const std::byte* value, size_t bytes) : m_Value(value), m_Bytes(bytes)
    {
        m_IsUniform = std::all_of(value, value + bytes, [value](std::byte b) { return b == *value; });
    }

    void operator()(std::byte* to, size_t bytes) const
    {
        if (m_IsUniform)
        {
            std::memset(to, std::to_integer<int>(*m_Value), bytes);
        }
        else
        {
            ref::FillElements(to, bytes, m_Value, m_Bytes);
        }
    }

private:
    const std::byte* m_Value;
    size_t m_Bytes;
    bool m_IsUniform;
};

class Pad
{
public:
    Pad(const TensorShape& shape, const PadDescriptor& descriptor, size_t elementBytes) : m_ElementBytes(elementBytes)
    {
        size_t run = elementBytes;
        unsigned int rank = shape.GetNumDimensions();
        while (rank != 0 && descriptor.m_PadList[rank - 1] == std::pair{0U, 0U})
        {
            run *= shape[--rank];
        }
        for (unsigned int i = 0; i < rank; ++i)
        {
            const Border border{descriptor.m_PadList[i].first, shape[i], descriptor.m_PadList[i].second};
            if (!m_Outer.empty() && m_Outer.back().IsPlain() && border.IsPlain())
            {
                m_Outer.back().m_Size *= border.m_Size;
            }
            else
            {
                m_Outer.push_back(border);
            }
        }
        if (!m_Outer.empty())
        {
            const Border row = m_Outer.back();
            m_Outer.pop_back();
            m_Before = row.m_Before * run;
            m_Data = row.m_Size * run;
            m_After = row.m_After * run;
        }
        else
        {
            m_Data = run;
        }
        if (!m_Outer.empty())
        {
            m_PlaneRows = m_Outer.back();
            m_Outer.pop_back();
        }
        m_Rows = m_PlaneRows.Total();
        for (const Border& border : m_Outer)
        {
            m_Rows *= border.Total();
        }
        m_Copy = ChooseCopyPlane(m_Data);
    }

    void Run(IParallelFor& parallel, const std::byte* in, std::byte* out, const std::byte* value) const
    {
        const Filler fill(value, m_ElementBytes);
        RunRanges(parallel, m_Rows, GetGrain(2 * RowBytes()),
                  [&](size_t begin, size_t end)
                  {
                      for (size_t row = begin; row < end;)
                      {
                          const size_t count = RunRows(row, end, in, out + row * RowBytes(), fill);
                          row += count;
                      }
                  });
    }

private:
    size_t RowBytes() const { return m_Before + m_Data + m_After; }

    /// Writes consecutive rows from `row` on, up to `end`, that are all border or all data. Returns their number.
    size_t RunRows(size_t row, size_t end, const std::byte* in, std::byte* out, const Filler& fill) const
    {
        const size_t place = row % m_PlaneRows.Total();
        const size_t left = std::min(end - row, m_PlaneRows.Total() - place);
        size_t planeIndex = 0; // plane of rows in the input
        size_t step = 1;
        size_t rest = row / m_PlaneRows.Total();
        bool isInside = m_Data != 0;
        for (size_t i = m_Outer.size(); i-- > 0;)
        {
            const Border& border = m_Outer[i];
            const size_t index = rest % border.Total();
            rest /= border.Total();
            isInside = isInside && index >= border.m_Before && index < border.m_Before + border.m_Size;
            planeIndex += (index - border.m_Before) * step; // wraps if it is not used
            step *= border.m_Size;
        }
        const size_t dataEnd = m_PlaneRows.m_Before + m_PlaneRows.m_Size;
        if (!isInside || place >= dataEnd || place < m_PlaneRows.m_Before)
        {
            const size_t count =
                isInside && place < m_PlaneRows.m_Before ? std::min(left, m_PlaneRows.m_Before - place) : left;
            fill(out, count * RowBytes());
            return count;
        }
        const size_t count = std::min(left, dataEnd - place);
        CopyRows(in + (planeIndex * m_PlaneRows.m_Size + place - m_PlaneRows.m_Before) * m_Data, count, out, fill);
        return count;
    }

    void CopyRows(const std::byte* in, size_t count, std::byte* out, const Filler& fill) const
    {
        constexpr size_t LongRow = 512;
        if (RowBytes() >= LongRow)
        {
            for (size_t i = 0; i < count; ++i, in += m_Data, out += RowBytes())
            {
                fill(out, m_Before);
                std::memcpy(out + m_Before, in, m_Data);
                fill(out + m_Before + m_Data, m_After);
            }
            return;
        }
        // Short rows: many are filled at once, then get their data while they are in the cache.
        constexpr size_t BlockBytes = 8192;
        Plane plane;
        plane.m_FromRun = static_cast<int64_t>(m_Data);
        plane.m_ToRun = static_cast<int64_t>(RowBytes());
        plane.m_RunBytes = m_Data;
        while (count != 0)
        {
            plane.m_Runs = std::min(count, BlockBytes / RowBytes());
            fill(out, plane.m_Runs * RowBytes());
            m_Copy(plane, in, out + m_Before);
            in += plane.m_Runs * m_Data;
            out += plane.m_Runs * RowBytes();
            count -= plane.m_Runs;
        }
    }

    size_t m_ElementBytes;
    std::vector<Border> m_Outer; ///< dimensions outside of a plane of rows, outermost first
    Border m_PlaneRows;          ///< rows of a plane
    size_t m_Before = 0;         ///< border bytes before the data of a row
    size_t m_Data = 0;
    size_t m_After = 0;
    size_t m_Rows = 1; ///< rows of the output
    CopyPlaneFunction m_Copy = nullptr;
};

Prepared RefinePad(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    const auto& descriptor = args.GetDescriptor<PadDescriptor>();
    const TensorInfo& input = args.GetInput(0);
    if (descriptor.m_PaddingMode != PaddingMode::Constant || args.GetOutput(0).GetNumElements() == 0)
    {
        return Prepared::Declined("it is empty, or does not pad with a constant");
    }
    const Pad pad(input.GetShape(), descriptor, ref::GetMovedBytes(input.GetDataType()));
    if (descriptor.m_ValueAsInput)
    {
        return [pad](const ExecuteArgs& run) {
            pad.Run(*run.m_Parallel, run.GetInput<std::byte>(0), run.GetOutput<std::byte>(0),
                    run.GetInput<std::byte>(2));
        };
    }
    const ref::StoredElement value = ref::StoreValue(descriptor.m_PadValue, input.GetDataType());
    return [pad, value](const ExecuteArgs& run)
    { pad.Run(*run.m_Parallel, run.GetInput<std::byte>(0), run.GetOutput<std::byte>(0), value.data()); };
}

} // namespace

extern const backends::Kernel CpuPadKernel = {
    .m_Name = "CpuPad", .m_Types = PadTypes, .m_Reference = &ref::RefPadKernel, .m_Refine = RefinePad};

} // namespace tenon::cpu
