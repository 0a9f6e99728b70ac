// SPDX-License-Identifier: Apache-2.0
// Select: takes each element from one of two tensors, by a condition. Nonzero bytes of the condition are true.
#include "backends/reference/kernels/MovedElement.hpp"
#include "backends/reference/kernels/SelectWalk.hpp"

#include <array>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow SelectTypes[] = {
    backends::Types({{DataType::Boolean}, backends::WholeByteType, backends::WholeByteType}, backends::WholeByteType)};

SupportResult CheckSelect(const LayerView& layer)
{
    const DataType type = layer.GetInput(1).GetDataType();
    const SupportResult second = CheckSameType(layer.GetInput(2), "input 2", type);
    return second ? CheckSameType(layer.GetOutput(0), "output 0", type) : second;
}

template <typename T>
void RunSelect(const SelectWalk& walk, const ExecuteArgs& run)
{
    const auto* condition = run.GetInput<uint8_t>(0);
    const T* x = run.GetInput<T>(1);
    const T* y = run.GetInput<T>(2);
    T* out = run.GetOutput<T>(0);
    const SelectWalk::Dimension& row = walk.GetRow();
    SelectWalk::Position position;
    const std::array<size_t, 3>& at = position.m_At;
    for (size_t done = 0; done < walk.GetElements(); done += row.m_Size)
    {
        for (size_t i = 0; i < row.m_Size; ++i)
        {
            const bool first = condition[at[0] + i * row.m_Steps[0]] != 0;
            *out++ = first ? x[at[1] + i * row.m_Steps[1]] : y[at[2] + i * row.m_Steps[2]];
        }
        walk.Step(position);
    }
}

backends::Prepared PrepareSelect(const ReshapeArgs& args, const backends::PackedWeights*)
{
    if (args.GetOutput(0).GetShape().GetNumElements64() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    return DispatchMoved(args.GetOutput(0).GetDataType(),
                         [walk = SelectWalk(args)](auto tag) -> backends::Prepared
                         {
                             using T = typename decltype(tag)::Type;
                             return [walk](const ExecuteArgs& run) { RunSelect<T>(walk, run); };
                         });
}

} // namespace

extern const backends::Kernel RefSelectKernel = {"RefSelect", SelectTypes, PrepareSelect, CheckSelect};

} // namespace tenon::ref
