// SPDX-License-Identifier: Apache-2.0
// See StepShapes.hpp.
#include "runtime/StepShapes.hpp"

#include "common/CountBytes.hpp"
#include "common/ErrorContext.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon
{

size_t GetAlignment(DataType type)
{
    const unsigned int bits = GetDataTypeBits(type);
    // Complex numbers have the alignment of their parts.
    const bool isComplex = type == DataType::Complex64 || type == DataType::Complex128;
    return std::max(1U, (isComplex ? bits / 2 : bits) / 8);
}

size_t CheckTensorBytes(const Step& step, const TensorInfo& info, const Limits& limits)
{
    const size_t bytes = CountBytes(info, [&] { return step.m_Layer->Describe(); });
    if (bytes > limits.m_MaxTensorBytes)
    {
        throw LimitExceededException(fmt::format("{} gives a tensor of {} bytes ({}), above the limit of {}; raise "
                                                 "Limits::m_MaxTensorBytes",
                                                 step.m_Layer->Describe(), bytes, info.ToString(),
                                                 limits.m_MaxTensorBytes));
    }
    return bytes;
}

std::unique_ptr<IShapedWorkload> ReshapeStep(const Step& step, const BaseDescriptor* descriptor,
                                             Span<const TensorInfo* const> inputs,
                                             Span<const TensorInfo* const> outputs, Span<const void* const> constants,
                                             unsigned int maxThreads, size_t outputPitch)
{
    ReshapeArgs args;
    args.m_Descriptor = descriptor != nullptr ? descriptor : &step.m_Layer->GetParameters();
    args.m_FusedActivation = step.m_Layer->GetFusedActivation();
    args.m_Inputs = inputs;
    args.m_Outputs = outputs;
    args.m_ConstantData = constants;
    args.m_Name = &step.m_Layer->GetNameStr();
    args.m_MaxThreads = maxThreads;
    args.m_OutputPitch = outputPitch;
    try
    {
        auto shaped = step.m_Workload->Reshape(args);
        if (shaped == nullptr && outputPitch == 0)
        {
            throw RuntimeException("Reshape gave no workload; a backend has to give one or throw the reason");
        }
        return shaped;
    }
    catch (...)
    {
        RethrowWithContext(
            fmt::format("preparing {} on {}", step.m_Layer->Describe(), step.m_Layer->GetBackendId().Get()));
    }
}

TensorInfo OverriddenInfo(const Program& program, const Step& step, size_t input, const TensorInfo& actual)
{
    TensorInfo info = *step.m_Overrides[input];
    const TensorShape& wanted = info.GetShape();
    const TensorShape& declared = program.Values()[step.m_Inputs[input]].m_Slot->GetTensorInfo().GetShape();
    if (!actual.GetShape().AreAllDimensionsSpecified() || !wanted.AreAllDimensionsSpecified() || wanted == declared)
    {
        info.SetShape(actual.GetShape());
    }
    else if (wanted.GetNumElements64() != actual.GetShape().GetNumElements64())
    {
        throw LayerValidationException(fmt::format("input {} of {} is overridden with shape {}, but its tensor is of "
                                                   "shape {} in this run",
                                                   input, step.m_Layer->Describe(), wanted.ToString(),
                                                   actual.GetShape().ToString()));
    }
    return info;
}

bool IsImport(const Program& program, const Step& step)
{
    return step.m_Type == LayerType::MemImport && step.m_Memory != HostMemory &&
           program.Values()[step.m_Inputs[0]].m_Memory == HostMemory;
}

} // namespace tenon
