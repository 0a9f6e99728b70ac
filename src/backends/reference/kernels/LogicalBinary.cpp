// SPDX-License-Identifier: Apache-2.0
// LogicalBinary: and, or, of Booleans with broadcasting. Every nonzero byte is true.
#include "backends/common/KernelTable.hpp"
#include "backends/reference/BroadcastLoop.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Elementwise.hpp>

#include <cstdint>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow LogicalTypes[] = {backends::SameType(DataType::Boolean, 2)};

template <typename F>
backends::Prepared MakeLogical(const ReshapeArgs& args, const F& f)
{
    const BroadcastLoop loop(args.GetInput(0).GetShape(), args.GetInput(1).GetShape(), args.GetOutput(0).GetShape());
    return [loop, f](const ExecuteArgs& run)
    { loop.Run(run.GetInput<uint8_t>(0), run.GetInput<uint8_t>(1), run.GetOutput<uint8_t>(0), f); };
}

backends::Prepared PrepareLogical(const ReshapeArgs& args, const backends::PackedWeights*)
{
    switch (args.GetDescriptor<LogicalBinaryDescriptor>().m_Operation)
    {
    case LogicalBinaryOperation::LogicalAnd:
        return MakeLogical(args, [](uint8_t a, uint8_t b) { return static_cast<uint8_t>(a != 0 && b != 0); });
    case LogicalBinaryOperation::LogicalOr:
        return MakeLogical(args, [](uint8_t a, uint8_t b) { return static_cast<uint8_t>(a != 0 || b != 0); });
    }
    throw InvalidArgumentException("unknown logical operation");
}

} // namespace

extern const backends::Kernel RefLogicalBinaryKernel = {"RefLogicalBinary", LogicalTypes, PrepareLogical};

} // namespace tenon::ref
