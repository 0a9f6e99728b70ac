// SPDX-License-Identifier: Apache-2.0
// Plan: see Plan.hpp.
#include "runtime/Plan.hpp"

#include "common/CountBytes.hpp"
#include "common/ErrorContext.hpp"
#include "common/KernelName.hpp"
#include "common/PlannedThreads.hpp"
#include "common/WritesPitched.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tenon
{

size_t GetAlignment(DataType type)
{
    const unsigned int bits = GetDataTypeBits(type);
    // Complex numbers are as aligned as their parts.
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
                                             size_t outputPitch)
{
    ReshapeArgs args;
    args.m_Descriptor = descriptor != nullptr ? descriptor : &step.m_Layer->GetParameters();
    args.m_FusedActivation = step.m_Layer->GetFusedActivation();
    args.m_Inputs = inputs;
    args.m_Outputs = outputs;
    args.m_ConstantData = constants;
    args.m_Name = &step.m_Layer->GetNameStr();
    try
    {
        if (outputPitch == 0)
        {
            return step.m_Workload->Reshape(args);
        }
        const auto* const writes = dynamic_cast<const IWritesPitched*>(step.m_Workload.get());
        return writes != nullptr ? writes->ReshapePitched(args, outputPitch) : nullptr;
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

Plan::Plan(const Program& program, const std::vector<TensorShape>& inputShapes, unsigned int threads,
           const Limits& limits)
    : m_InputShapes(inputShapes), m_NumThreads(threads)
{
    const PlannedThreads planned(threads);
    m_Infos.reserve(program.Values().size());
    for (const Value& value : program.Values())
    {
        m_Infos.push_back(value.m_Slot->GetTensorInfo());
    }
    for (size_t i = 0; i < program.Inputs().size(); ++i)
    {
        m_Infos[program.Inputs()[i].m_Value].SetShape(inputShapes[i]);
    }
    m_Steps.reserve(program.Steps().size());
    KernelNames names;
    for (const Step& step : program.Steps())
    {
        if (!ShapeStep(program, step, limits, names))
        {
            break;
        }
    }
    m_Complete = m_Steps.size() == program.Steps().size();
    if (m_MayHaveStrips)
    {
        FindStrips(program);
    }
    FindSums(program);
    FindPitches(program);
    PlaceValues(program, limits);
}

bool Plan::ShapeStep(const Program& program, const Step& step, const Limits& limits, KernelNames& names)
{
    const size_t numInputs = step.m_Inputs.size();
    constexpr size_t small = 4; // enough for nearly all layers
    std::array<const TensorInfo*, small> infoStore{};
    std::array<const void*, small> dataStore{};
    std::vector<const TensorInfo*> manyInfos;
    std::vector<const void*> manyData;
    const TensorInfo** infos = infoStore.data();
    const void** data = dataStore.data();
    if (numInputs > small)
    {
        manyInfos.resize(numInputs);
        manyData.resize(numInputs);
        infos = manyInfos.data();
        data = manyData.data();
    }
    std::vector<TensorInfo> overrides(step.m_Overrides.size());
    for (size_t i = 0; i < numInputs; ++i)
    {
        const ValueId value = step.m_Inputs[i];
        infos[i] = value == NoValue ? nullptr : &m_Infos[value];
        data[i] = value == NoValue ? nullptr : program.Values()[value].m_Constant;
        if (!overrides.empty() && step.m_Overrides[i] != nullptr)
        {
            overrides[i] = OverriddenInfo(program, step, i, m_Infos[value]);
            infos[i] = &overrides[i];
        }
    }
    const Span<const TensorInfo* const> inputs(infos, numInputs);
    const Span<const void* const> constants(data, numInputs);
    if (step.m_Layer->HasLateOutputs() || !CanInferShapes(*step.m_Layer, inputs, constants))
    {
        return false;
    }
    std::array<TensorShape, 1> oneShape;
    std::vector<TensorShape> manyShapes;
    Span<TensorShape> shapes(oneShape.data(), 1);
    if (step.m_NumOutputs != 1)
    {
        manyShapes.resize(step.m_NumOutputs);
        shapes = manyShapes;
    }
    const auto resolved = InferShapes(*step.m_Layer, inputs, constants, shapes);
    std::array<const TensorInfo*, 1> oneOutput{};
    std::vector<const TensorInfo*> manyOutputs;
    Span<const TensorInfo*> outputs(oneOutput.data(), 1);
    if (step.m_NumOutputs != 1)
    {
        manyOutputs.resize(step.m_NumOutputs);
        outputs = manyOutputs;
    }
    for (uint32_t k = 0; k < step.m_NumOutputs; ++k)
    {
        if (!shapes[k].AreAllDimensionsSpecified())
        {
            return false;
        }
        TensorInfo& info = m_Infos[step.m_FirstOutput + k];
        info.SetShape(shapes[k]);
        const size_t bytes = CheckTensorBytes(step, info, limits);
        m_MayHaveStrips = m_MayHaveStrips || bytes >= Strips::LeastChainBytes;
        outputs[k] = &info;
    }
    auto workload =
        step.m_Workload == nullptr ? nullptr : ReshapeStep(step, resolved.get(), inputs, outputs, constants);
    PlannedStep& planned = m_Steps.emplace_back();
    if (workload != nullptr)
    {
        planned.m_ScratchBytes = workload->GetScratchBytes();
        planned.m_IsCopy = workload->IsCopy();
        const bool mayShare = overrides.empty() && GetSchema(step.m_Type).Has(OpFlags::Moves);
        planned.m_Parts = mayShare ? GetSharedParts(*workload) : nullptr;
        planned.m_KernelName = names.Get(*step.m_Workload, *workload);
        planned.m_Workload = std::move(workload);
    }
    return true;
}

} // namespace tenon
