// SPDX-License-Identifier: Apache-2.0
// MemCopy: a copy that the optimizer puts between two backends whose memory differs.
#include "backends/common/KernelTable.hpp"

#include <tenon/Exceptions.hpp>

#include <cstring>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow MemCopyTypes[] = {backends::SameType(backends::AnyType)};

backends::Prepared PrepareMemCopy(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const size_t bytes = args.GetInput(0).GetNumBytes();
    if (bytes != args.GetOutput(0).GetNumBytes())
    {
        throw LayerValidationException("MemCopy between " + args.GetInput(0).ToString() + " and " +
                                       args.GetOutput(0).ToString() + ": both must be of one size");
    }
    return [bytes](const ExecuteArgs& run)
    {
        if (bytes != 0 && run.m_Outputs[0] != run.m_Inputs[0])
        {
            std::memcpy(run.m_Outputs[0], run.m_Inputs[0], bytes);
        }
    };
}

} // namespace

extern const backends::Kernel RefMemCopyKernel = {"RefMemCopy", MemCopyTypes, PrepareMemCopy};

} // namespace tenon::ref
