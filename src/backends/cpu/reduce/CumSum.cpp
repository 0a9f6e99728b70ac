// SPDX-License-Identifier: Apache-2.0
// Kernel row of CumSum along the last axis. The elements of a row are added in order, as CpuRef adds them, so each
// addition waits for the one before: several rows are computed side by side, as vectors. Along other axes CpuRef adds
// whole rows, which is fast.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/reduce/CumSumVectors.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/DataMovement.hpp"

#include <tenon/descriptors/Reduction.hpp>

#include <cstddef>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow CumSumTypes[] = {
    backends::SameType({DataType::Float32, DataType::Float64, DataType::Signed32, DataType::Signed64})};

Prepared RefineCumSum(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    const auto& descriptor = args.GetDescriptor<CumSumDescriptor>();
    const TensorShape& shape = args.GetInput(0).GetShape();
    const auto axis = static_cast<unsigned int>(descriptor.m_Axis);
    const unsigned int rank = shape.GetNumDimensions();
    if (args.GetOutput(0).GetNumElements() == 0)
    {
        return Prepared::Declined("the output is empty");
    }
    if (descriptor.m_Operation != ReduceOperation::Sum)
    {
        return Prepared::Declined("the elements are multiplied, not added");
    }
    if (ref::CountElements(shape, axis + 1, rank) != 1)
    {
        return Prepared::Declined("not along the last dimension");
    }
    const size_t bytes = GetDataTypeSize(args.GetInput(0).GetDataType()) * shape[axis];
    return [rows = ref::CountElements(shape, 0, axis), bytes, length = size_t{shape[axis]},
            exclusive = descriptor.m_Exclusive, reverse = descriptor.m_Reverse,
            add = FindCumSum(args.GetInput(0).GetDataType(), shape[axis])](const ExecuteArgs& run)
    {
        RunRanges(*run.m_Parallel, rows, GetGrain(2 * bytes),
                  [&](size_t begin, size_t end)
                  {
                      add(run.GetInput<std::byte>(0) + begin * bytes, run.GetOutput<std::byte>(0) + begin * bytes,
                          end - begin, length, exclusive, reverse);
                  });
    };
}

} // namespace

extern const backends::Kernel CpuCumSumKernel = {
    .m_Name = "CpuCumSum", .m_Types = CumSumTypes, .m_Reference = &ref::RefCumSumKernel, .m_Refine = RefineCumSum};

} // namespace tenon::cpu
