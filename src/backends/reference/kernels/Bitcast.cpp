// SPDX-License-Identifier: Apache-2.0
// Bitcast: the bytes of the input, reinterpreted as another type. The runtime lets the output share the input's memory
// if possible; otherwise the kernel copies.
#include "backends/common/KernelTable.hpp"
#include "common/CopyBlock.hpp"

#include <tenon/Exceptions.hpp>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow BitcastTypes[] = {backends::Types({backends::WholeByteType}, backends::WholeByteType)};

backends::Prepared PrepareBitcast(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& from = args.GetInput(0);
    const TensorInfo& to = args.GetOutput(0);
    if (from.GetNumBytes() != to.GetNumBytes())
    {
        throw LayerValidationException("Bitcast of " + from.ToString() + " to " + to.ToString() +
                                       ": both must have as many bytes");
    }
    return [bytes = from.GetNumBytes()](const ExecuteArgs& run)
    {
        if (bytes != 0 && run.m_Outputs[0] != run.m_Inputs[0])
        {
            CopyBlock(run.m_Outputs[0], run.m_Inputs[0], bytes);
        }
    };
}

} // namespace

extern const backends::Kernel RefBitcastKernel = {"RefBitcast", BitcastTypes, PrepareBitcast};

} // namespace tenon::ref
