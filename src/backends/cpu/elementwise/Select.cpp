// SPDX-License-Identifier: Apache-2.0
// Select of CpuAcc, for elements of up to 8 bytes: the walk through the three inputs is CpuRef's, with a vector loop
// for each row. The loops blend by the condition instead of branching: with a random condition, a branch for each
// element costs more than everything else.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/elementwise/BroadcastRuns.hpp"
#include "backends/cpu/elementwise/SelectLoops.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/SelectWalk.hpp"

#include <algorithm>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow SelectTypes[] = {
    backends::Types({{DataType::Boolean}, backends::WholeByteType, backends::WholeByteType}, backends::WholeByteType)};

struct SelectRun
{
    ref::SelectWalk m_Walk;
    SelectLoop m_Loop;
    size_t m_ElementBytes;

    void operator()(const ExecuteArgs& run) const
    {
        RunElements(*run.m_Parallel, m_Walk.GetElements(),
                    [&](size_t begin, size_t end)
                    {
                        const auto* condition = run.GetInput<uint8_t>(0);
                        const auto* x = run.GetInput<std::byte>(1);
                        const auto* y = run.GetInput<std::byte>(2);
                        auto* out = run.GetOutput<std::byte>(0);
                        const ref::SelectWalk::Dimension& row = m_Walk.GetRow();
                        const auto& steps = row.m_Steps;
                        ref::SelectWalk::Position position = m_Walk.Find(begin / row.m_Size);
                        const auto& at = position.m_At;
                        size_t inRow = begin % row.m_Size;
                        while (begin < end)
                        {
                            const size_t count = std::min(end - begin, row.m_Size - inRow);
                            m_Loop(
                                condition + at[0] + inRow * steps[0], x + (at[1] + inRow * steps[1]) * m_ElementBytes,
                                y + (at[2] + inRow * steps[2]) * m_ElementBytes, out + begin * m_ElementBytes, count);
                            begin += count;
                            inRow = 0;
                            m_Walk.Step(position);
                        }
                    });
    }
};

Prepared PrepareSelect(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& output = args.GetOutput(0);
    const size_t bytes = ref::GetMovedBytes(output.GetDataType());
    if (output.GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const ref::SelectWalk walk(args);
    const auto& steps = walk.GetRow().m_Steps;
    return SelectRun{walk, FindSelect(bytes, steps[0] != 0, steps[1] != 0, steps[2] != 0), bytes};
}

SupportResult CheckSelect(const LayerView& layer)
{
    if (layer.GetInput(1).GetDataType() == DataType::Complex128)
    {
        return SupportResult::No(SupportCode::UnsupportedType, "there is no fast loop for elements of 16 bytes");
    }
    return SupportResult::Yes();
}

} // namespace

extern const backends::Kernel CpuSelectKernel = {.m_Name = "CpuSelect",
                                                 .m_Types = SelectTypes,
                                                 .m_Prepare = PrepareSelect,
                                                 .m_Check = CheckSelect,
                                                 .m_Reference = &ref::RefSelectKernel};

} // namespace tenon::cpu
