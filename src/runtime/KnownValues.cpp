// SPDX-License-Identifier: Apache-2.0
// See KnownValues.hpp.
#include "runtime/KnownValues.hpp"

#include "common/OneThread.hpp"
#include "graph/Purity.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tenon
{

namespace
{

/// A shape has at most 8 sizes; lists such as paddings and indices are a small multiple of that.
constexpr size_t MaxOutputBytes = 4096; // limit for all outputs of a step, each in whole units of alignment
constexpr size_t MaxScratchBytes = size_t{64} << 10;

/// Backends of an application execute in runs only.
bool IsBuiltin(const BackendId& id)
{
    return id == BackendId(Compute::CpuRef) || id == BackendId(Compute::CpuAcc);
}

} // namespace

const void* KnownValues::Find(ValueId value) const
{
    if (value == NoValue)
    {
        return nullptr;
    }
    const void* const constant = m_Program.Values()[value].m_Constant;
    return constant != nullptr || m_Computed.empty() ? constant : m_Computed[value];
}

bool KnownValues::IsComputable(const Step& step) const
{
    if (step.m_Memory != HostMemory || !IsFunctionOfInputs(*step.m_Layer) || !IsBuiltin(step.m_Layer->GetBackendId()))
    {
        return false;
    }
    return ReadsShapeAlone(step.m_Type) ||
           std::all_of(step.m_Inputs.begin(), step.m_Inputs.end(),
                       [&](ValueId value) {
                           return value == NoValue || m_Program.Values()[value].IsConstant() || Find(value) != nullptr;
                       });
}

void KnownValues::Compute(const Step& step, const IShapedWorkload& workload, Span<const TensorInfo* const> outputs)
{
    const auto align = [](size_t bytes) { return (bytes + ArenaAlignment - 1) / ArenaAlignment * ArenaAlignment; };
    const size_t scratchBytes = workload.GetScratchBytes();
    size_t bytes = 0;
    for (const TensorInfo* output : outputs)
    {
        bytes += align(output->GetNumBytes());
    }
    if (bytes > MaxOutputBytes || scratchBytes > MaxScratchBytes || !IsComputable(step))
    {
        return;
    }
    AlignedMemory block(bytes + scratchBytes + 1); // not empty, even if there are no elements
    std::vector<const void*> inputs(step.m_Inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
    {
        inputs[i] = Find(step.m_Inputs[i]);
    }
    std::vector<void*> pointers(outputs.size());
    std::byte* next = block.Data();
    for (size_t k = 0; k < pointers.size(); ++k)
    {
        pointers[k] = next;
        next += align(outputs[k]->GetNumBytes());
    }
    OneThread parallel;
    ExecuteArgs args;
    args.m_Inputs = inputs;
    args.m_Outputs = pointers;
    args.m_Scratch = next;
    args.m_Parallel = &parallel;
    try
    {
        workload.Execute(args);
    }
    catch (const Exception&)
    {
        return;
    }
    m_Blocks.push_back(std::move(block));
    m_Computed.resize(m_Program.Values().size());
    std::copy(pointers.begin(), pointers.end(), m_Computed.begin() + step.m_FirstOutput);
}

} // namespace tenon
