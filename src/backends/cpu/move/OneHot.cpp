// SPDX-License-Identifier: Apache-2.0
// OneHot of CpuAcc: the output is filled with the off value, then the on value is written at the indices.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/ChosenValues.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/IndexInput.hpp"
#include "backends/reference/kernels/MovedElement.hpp"

#include <tenon/descriptors/Indexing.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;

/// Indices have the shape [outer, inner], the output has [outer, depth, inner].
template <typename T>
struct OneHotRows
{
    ref::IndexInput m_Indices;
    size_t m_Outer;
    size_t m_Depth;
    size_t m_Inner;
    size_t m_FromEnd; ///< added to negative indices: the depth if they count from the end

    void operator()(const ExecuteArgs& run) const
    {
        RunRanges(*run.m_Parallel, m_Outer * m_Depth, GetGrain(m_Inner * sizeof(T)),
                  [&](size_t begin, size_t end)
                  {
                      for (size_t outer = begin / m_Depth; outer * m_Depth < end; ++outer)
                      {
                          const size_t block = outer * m_Depth;
                          WriteRows(run, outer, std::max(begin, block) - block, std::min(end, block + m_Depth) - block);
                      }
                  });
    }

private:
    void WriteRows(const ExecuteArgs& run, size_t outer, size_t begin, size_t end) const
    {
        T* out = run.GetOutput<T>(0) + outer * m_Depth * m_Inner;
        std::fill(out + begin * m_Inner, out + end * m_Inner, *run.GetInput<T>(3));
        const T on = *run.GetInput<T>(2);
        for (size_t i = 0; i < m_Inner; ++i)
        {
            const int64_t given = m_Indices.ReadAny(run, outer * m_Inner + i);
            const uint64_t index = static_cast<uint64_t>(given) + (given < 0 ? m_FromEnd : 0);
            if (index >= begin && index < end)
            {
                out[index * m_Inner + i] = on;
            }
        }
    }
};

Prepared RefineOneHot(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    const TensorInfo& output = args.GetOutput(0);
    if (output.GetNumElements() == 0)
    {
        return Prepared::Declined("the output is empty");
    }
    const auto& descriptor = args.GetDescriptor<OneHotDescriptor>();
    const auto axis = static_cast<unsigned int>(descriptor.m_Axis);
    const TensorShape& shape = output.GetShape();
    return ref::DispatchMoved(output.GetDataType(),
                              [&](auto tag) -> Prepared
                              {
                                  return OneHotRows<typename decltype(tag)::Type>{
                                      ref::IndexInput(args, 0), ref::CountElements(shape, 0, axis), shape[axis],
                                      ref::CountElements(shape, axis + 1, shape.GetNumDimensions()),
                                      descriptor.m_NegativeIndices ? shape[axis] : 0};
                              });
}

} // namespace

extern const backends::Kernel CpuOneHotKernel = {.m_Name = "CpuOneHot",
                                                 .m_Types = ref::ChosenTypes,
                                                 .m_Check = ref::CheckChosen,
                                                 .m_Reference = &ref::RefOneHotKernel,
                                                 .m_Refine = RefineOneHot};

} // namespace tenon::cpu
