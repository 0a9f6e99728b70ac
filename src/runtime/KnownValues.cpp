// SPDX-License-Identifier: Apache-2.0
// See KnownValues.hpp.
#include "runtime/KnownValues.hpp"

#include "common/OneThread.hpp"
#include "graph/Purity.hpp"

#include <algorithm>
#include <vector>

namespace tenon
{

namespace
{

/// A shape has at most 8 sizes; lists of paddings, indices and the like are a small multiple of that.
constexpr size_t MaxOutputBytes = 4096;
constexpr size_t MaxScratchBytes = size_t{64} << 10;

/// Backends of an application's own execute in runs alone.
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
    if (const void* const constant = m_Program.Values()[value].m_Constant)
    {
        return constant;
    }
    const auto found = m_Computed.find(value);
    return found != m_Computed.end() ? found->second.Data() : nullptr;
}

bool KnownValues::IsComputable(const Step& step) const
{
    if (!step.m_DecidesShapes || step.m_Memory != HostMemory || !IsFunctionOfInputs(*step.m_Layer) ||
        !IsBuiltin(step.m_Layer->GetBackendId()))
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
    if (!IsComputable(step))
    {
        return;
    }
    size_t bytes = 0;
    for (const TensorInfo* output : outputs)
    {
        bytes += output->GetNumBytes();
    }
    const size_t scratchBytes = workload.GetScratchBytes();
    if (bytes > MaxOutputBytes || scratchBytes > MaxScratchBytes)
    {
        return;
    }
    std::vector<const void*> inputs;
    for (const ValueId value : step.m_Inputs)
    {
        inputs.push_back(Find(value));
    }
    std::vector<AlignedMemory> memory;
    std::vector<void*> pointers;
    for (const TensorInfo* output : outputs)
    {
        memory.emplace_back(std::max<size_t>(output->GetNumBytes(), 1));
        pointers.push_back(memory.back().Data());
    }
    const AlignedMemory scratch(scratchBytes);
    OneThread parallel;
    ExecuteArgs args;
    args.m_Inputs = inputs;
    args.m_Outputs = pointers;
    args.m_Scratch = scratch.Data();
    args.m_Parallel = &parallel;
    try
    {
        workload.Execute(args);
    }
    catch (const Exception&)
    {
        return;
    }
    for (size_t k = 0; k < memory.size(); ++k)
    {
        m_Computed[step.m_FirstOutput + static_cast<ValueId>(k)] = std::move(memory[k]);
    }
}

} // namespace tenon
