// SPDX-License-Identifier: Apache-2.0
// Kernel row of TopK of floats, 32-bit integers and 8-bit elements. Lines that are not contiguous, or whose smallest
// elements are wanted, are first copied to a row in which the largest elements are the wanted ones.
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/reduce/TopCandidates.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/IndexInput.hpp"

#include <tenon/descriptors/Indexing.hpp>

#include <algorithm>
#include <type_traits>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;

constexpr backends::TypeSet ByteTypes = {DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS8, DataType::Signed8,
                                         DataType::Unsigned8};
constexpr backends::TypeSet TopKElements = ByteTypes | DataType::Float32 | DataType::Signed32;
constexpr backends::TypeRow TopKTypes[] = {backends::Types({TopKElements, ref::IndexTypes}, TopKElements)};

/// The input as [outer, length, inner], the outputs as [outer, count, inner].
struct Lines
{
    size_t m_Outer;
    size_t m_Length;
    size_t m_Count;
    size_t m_Inner;
    bool m_Largest;

    size_t GetNumLines() const { return m_Outer * m_Inner; }
    /// Whether lines are rows of the input whose largest elements are wanted, so that no copy is needed.
    bool IsPlainRow() const { return m_Inner == 1 && m_Largest; }
};

/// A number that is larger if `value` is smaller; NaN stays NaN.
template <typename T>
T Reverse(T value)
{
    if constexpr (std::is_floating_point_v<T>)
    {
        return -value;
    }
    else
    {
        return static_cast<T>(~value);
    }
}

template <typename T, typename Index>
struct TopKRun
{
    Lines m_Lines;
    size_t m_Capacity; ///< candidates of a task
    size_t m_Tasks;
    size_t m_RowsAt; ///< offset in scratch memory: a row for each task, unless lines are plain rows
    TopScan<T> m_Scan;

    void operator()(const ExecuteArgs& run) const
    {
        const size_t tasks = std::min<size_t>(m_Tasks, run.m_Parallel->GetNumThreads());
        RunTasks(*run.m_Parallel, tasks,
                 [&](size_t index)
                 {
                     auto* candidates = static_cast<uint64_t*>(run.m_Scratch) + index * m_Capacity;
                     T* const copy = backends::Scratch::At<T>(run.m_Scratch, m_RowsAt) + index * m_Lines.m_Length;
                     const IndexRange task = GetTaskRange(m_Lines.GetNumLines(), tasks, index);
                     for (size_t line = task.m_Begin; line < task.m_End; ++line)
                     {
                         RunLine(run, line, candidates, copy);
                     }
                 });
    }

private:
    void RunLine(const ExecuteArgs& run, size_t line, uint64_t* candidates, T* copy) const
    {
        const size_t inner = m_Lines.m_Inner;
        const size_t outer = line / inner;
        const T* in = run.GetInput<T>(0) + outer * m_Lines.m_Length * inner + line % inner;
        const size_t to = outer * m_Lines.m_Count * inner + line % inner;
        const T* row = in;
        if (!m_Lines.IsPlainRow())
        {
            for (size_t i = 0; i < m_Lines.m_Length; ++i)
            {
                copy[i] = m_Lines.m_Largest ? in[i * inner] : Reverse(in[i * inner]);
            }
            row = copy;
        }
        TopCandidates<T> top(m_Scan, m_Lines.m_Length, m_Lines.m_Count, candidates);
        top.Collect(row);
        top.Thin();
        std::sort(candidates, candidates + m_Lines.m_Count);
        for (size_t i = 0; i < m_Lines.m_Count; ++i)
        {
            const uint32_t element = GetElement(candidates[i]);
            run.GetOutput<T>(0)[to + i * inner] = in[element * inner];
            run.GetOutput<Index>(1)[to + i * inner] = static_cast<Index>(element);
        }
    }
};

template <typename T>
Prepared MakeTopK(const ReshapeArgs& args)
{
    const auto& descriptor = args.GetDescriptor<TopKDescriptor>();
    const TensorShape& shape = args.GetInput(0).GetShape();
    const unsigned int rank = shape.GetNumDimensions();
    const auto axis = static_cast<unsigned int>(descriptor.m_Axis + (descriptor.m_Axis < 0 ? int(rank) : 0));
    const Lines lines = {ref::CountElements(shape, 0, axis), shape[axis], args.GetOutput(0).GetShape()[axis],
                         ref::CountElements(shape, axis + 1, rank), descriptor.m_Largest};
    const size_t capacity = TopCandidates<T>::GetCapacity(lines.m_Length, lines.m_Count);
    const size_t grain = GetGrain(lines.m_Length * sizeof(T));
    const size_t tasks = std::clamp<size_t>(lines.GetNumLines() / grain, 1, GetMaxTasks(args.m_MaxThreads));
    backends::Scratch scratch;
    scratch.Add<uint64_t>(tasks * capacity);
    const size_t rowsAt = scratch.Add<T>(lines.IsPlainRow() ? 0 : tasks * lines.m_Length);
    const auto make = [&](auto tag) -> Prepared
    {
        using Index = typename decltype(tag)::Type;
        return {TopKRun<T, Index>{lines, capacity, tasks, rowsAt, FindTopScan<T>()}, scratch.GetBytes()};
    };
    switch (args.GetOutput(1).GetDataType())
    {
    case DataType::Signed16: return make(ref::TypeTag<int16_t>());
    case DataType::Signed32: return make(ref::TypeTag<int32_t>());
    default: return make(ref::TypeTag<int64_t>());
    }
}

Prepared RefineTopK(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    if (args.GetOutput(0).GetNumElements() == 0)
    {
        return Prepared::Declined("the output is empty");
    }
    switch (args.GetInput(0).GetDataType())
    {
    case DataType::Float32: return MakeTopK<float>(args);
    case DataType::Signed32: return MakeTopK<int32_t>(args);
    case DataType::QAsymmU8:
    case DataType::Unsigned8: return MakeTopK<uint8_t>(args);
    default: return MakeTopK<int8_t>(args);
    }
}

} // namespace

extern const backends::Kernel CpuTopKKernel = {
    .m_Name = "CpuTopK", .m_Types = TopKTypes, .m_Reference = &ref::RefTopKKernel, .m_Refine = RefineTopK};

} // namespace tenon::cpu
