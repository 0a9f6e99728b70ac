// SPDX-License-Identifier: Apache-2.0
// LogicalBinary of CpuAcc: Booleans, one byte each, by vectors.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/elementwise/BinaryUnquantized.hpp"

#include <tenon/descriptors/Elementwise.hpp>

namespace tenon::cpu
{

namespace
{

constexpr backends::TypeRow LogicalTypes[] = {backends::SameType(DataType::Boolean, 2)};

backends::Prepared PrepareLogical(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const BroadcastRuns runs(args.GetInput(0).GetShape(), args.GetInput(1).GetShape(), args.GetOutput(0).GetShape(), 1);
    if (runs.GetCount() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const LogicalLoop loop =
        FindLogical(args.GetDescriptor<LogicalBinaryDescriptor>().m_Operation, runs.GetOperandForms());
    return {[runs, loop](const ExecuteArgs& run)
            {
                auto* out = run.GetOutput<uint8_t>(0);
                runs.Run(run, [loop, out](const void* a, const void* b, size_t first, size_t count)
                         { loop(static_cast<const uint8_t*>(a), static_cast<const uint8_t*>(b), out + first, count); });
            },
            runs.GetScratchBytes()};
}

} // namespace

extern const backends::Kernel CpuLogicalBinaryKernel = {"CpuLogicalBinary", LogicalTypes, PrepareLogical};

} // namespace tenon::cpu
