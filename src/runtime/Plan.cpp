// SPDX-License-Identifier: Apache-2.0
// Plan: see Plan.hpp.
#include "runtime/Plan.hpp"

#include "common/ErrorContext.hpp"
#include "runtime/MemoryPlanner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tenon
{

namespace
{

/// Sets of values that share memory. A set is named by the value that came first.
class Sharing
{
public:
    Sharing(const Program& program, const std::vector<TensorInfo>& infos, uint32_t numSteps)
        : m_Infos(infos), m_Root(program.Values().size()), m_Last(program.Values().size())
    {
        for (ValueId v = 0; v < m_Root.size(); ++v)
        {
            m_Root[v] = v;
            m_Last[v] = std::min(program.Values()[v].m_LastUse, numSteps);
            m_External.push_back(program.Values()[v].m_Constant != nullptr);
        }
        for (const Binding& input : program.Inputs())
        {
            m_External[input.m_Value] = true;
        }
        for (const State& state : program.States())
        {
            if (state.m_Read != NoValue)
            {
                m_External[state.m_Read] = true;
            }
        }
    }

    ValueId Root(ValueId v) const { return m_Root[v]; }
    bool IsExternal(ValueId root) const { return m_External[root]; }
    uint32_t Last(ValueId root) const { return m_Last[root]; }

    /// Decides for the outputs of one step, which must come in order. `isCopy`: see IShapedWorkload::IsCopy.
    void AddStep(uint32_t index, const Step& step, bool isCopy)
    {
        for (uint32_t k = 0; k < step.m_NumOutputs; ++k)
        {
            m_Last[step.m_FirstOutput + k] = std::max(m_Last[step.m_FirstOutput + k], index);
        }
        const OpSchema& schema = step.m_Layer->GetSchema();
        if (step.m_NumOutputs == 0 || step.m_Inputs.empty())
        {
            return;
        }
        if ((schema.Has(OpFlags::View) || isCopy) && MayBeView(m_Infos[step.m_FirstOutput], m_Infos[step.m_Inputs[0]]))
        {
            Join(step.m_FirstOutput, step.m_Inputs[0]);
        }
        else if (schema.Has(OpFlags::InPlace))
        {
            const ValueId taken = FindOverwritable(index, step);
            if (taken != NoValue)
            {
                Join(step.m_FirstOutput, taken);
            }
        }
    }

private:
    void Join(ValueId output, ValueId input)
    {
        const ValueId root = m_Root[input];
        m_Root[output] = root;
        m_Last[root] = std::max(m_Last[root], m_Last[output]);
    }

    /// An input that dies in this step and lies element by element where the output would.
    ValueId FindOverwritable(uint32_t index, const Step& step) const
    {
        const TensorInfo& output = m_Infos[step.m_FirstOutput];
        for (ValueId input : step.m_Inputs)
        {
            if (input == NoValue || m_External[m_Root[input]] || m_Last[m_Root[input]] != index ||
                !IsSameLayout(m_Infos[input], output))
            {
                continue;
            }
            const bool clash = std::any_of(step.m_Inputs.begin(), step.m_Inputs.end(),
                                           [&](ValueId other) {
                                               return other != NoValue && m_Root[other] == m_Root[input] &&
                                                      !IsSameLayout(m_Infos[other], output);
                                           });
            if (!clash)
            {
                return input;
            }
        }
        return NoValue;
    }

    static bool IsSameLayout(const TensorInfo& a, const TensorInfo& b)
    {
        return a.GetShape() == b.GetShape() && GetDataTypeBits(a.GetDataType()) == GetDataTypeBits(b.GetDataType());
    }

    const std::vector<TensorInfo>& m_Infos;
    std::vector<ValueId> m_Root;
    std::vector<uint32_t> m_Last;
    std::vector<bool> m_External; ///< by root: memory that no step may write
};

} // namespace

size_t GetAlignment(DataType type)
{
    const unsigned int bits = GetDataTypeBits(type);
    // Complex numbers are as aligned as their parts.
    const bool isComplex = type == DataType::Complex64 || type == DataType::Complex128;
    return std::max(1U, (isComplex ? bits / 2 : bits) / 8);
}

void CheckTensorBytes(const Step& step, const TensorInfo& info, const Limits& limits)
{
    if (info.GetNumBytes() > limits.m_MaxTensorBytes)
    {
        throw MemoryValidationException(fmt::format("{} gives a tensor of {} bytes ({}), above the limit of {}; raise "
                                                    "Limits::m_MaxTensorBytes",
                                                    step.m_Layer->Describe(), info.GetNumBytes(), info.ToString(),
                                                    limits.m_MaxTensorBytes));
    }
}

std::unique_ptr<IShapedWorkload> ReshapeStep(const Step& step, const BaseDescriptor* descriptor,
                                             Span<const TensorInfo* const> inputs,
                                             Span<const TensorInfo* const> outputs, Span<const void* const> constants)
{
    ReshapeArgs args;
    args.m_Descriptor = descriptor != nullptr ? descriptor : &step.m_Layer->GetParameters();
    args.m_Inputs = inputs;
    args.m_Outputs = outputs;
    args.m_ConstantData = constants;
    args.m_Name = &step.m_Layer->GetNameStr();
    try
    {
        return step.m_Workload->Reshape(args);
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

Plan::Plan(const Program& program, const std::vector<TensorShape>& inputShapes, const Limits& limits)
    : m_InputShapes(inputShapes)
{
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
    for (const Step& step : program.Steps())
    {
        if (!ShapeStep(program, step, limits))
        {
            break;
        }
    }
    m_Complete = m_Steps.size() == program.Steps().size();
    PlaceValues(program, limits);
}

bool Plan::ShapeStep(const Program& program, const Step& step, const Limits& limits)
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
        CheckTensorBytes(step, info, limits);
        outputs[k] = &info;
    }
    auto workload =
        step.m_Workload == nullptr ? nullptr : ReshapeStep(step, resolved.get(), inputs, outputs, constants);
    m_Steps.push_back({std::move(workload), 0});
    return true;
}

void Plan::PlaceValues(const Program& program, const Limits& limits)
{
    const auto numSteps = static_cast<uint32_t>(m_Steps.size());
    Sharing sharing(program, m_Infos, numSteps);
    for (uint32_t s = 0; s < numSteps; ++s)
    {
        const IShapedWorkload* workload = m_Steps[s].m_Workload.get();
        sharing.AddStep(s, program.Steps()[s], workload != nullptr && workload->IsCopy());
    }

    m_Locations.resize(program.Values().size());
    for (ValueId v = 0; v < program.Values().size(); ++v)
    {
        if (program.Values()[v].m_Constant != nullptr)
        {
            m_Locations[v] = {Place::Constant, v, 0};
        }
    }
    for (uint32_t i = 0; i < program.Inputs().size(); ++i)
    {
        m_Locations[program.Inputs()[i].m_Value] = {Place::Input, i, 0};
    }
    for (uint32_t s = 0; s < numSteps; ++s)
    {
        if (program.Steps()[s].m_State != NoState)
        {
            m_Locations[program.Steps()[s].m_FirstOutput] = {Place::State, program.Steps()[s].m_State, 0};
        }
    }

    // A network output is written in the caller's memory from the start, unless it shares memory with something that
    // is elsewhere already; then the context copies it at the end.
    std::vector<bool> produced(program.Values().size(), false);
    for (uint32_t s = 0; s < numSteps; ++s)
    {
        const Step& step = program.Steps()[s];
        for (uint32_t k = 0; k < step.m_NumOutputs; ++k)
        {
            produced[step.m_FirstOutput + k] = true;
        }
    }
    for (uint32_t i = 0; i < program.Outputs().size(); ++i)
    {
        const ValueId value = program.Outputs()[i].m_Value;
        const ValueId root = sharing.Root(value);
        if (produced[value] && !sharing.IsExternal(root) && m_Locations[root].m_Place == Place::None)
        {
            m_Locations[root] = {Place::Output, i, 0};
        }
    }

    std::vector<PlannedBuffer> buffers;
    std::vector<ValueId> owners;
    for (uint32_t s = 0; s < numSteps; ++s)
    {
        const Step& step = program.Steps()[s];
        for (ValueId v = step.m_FirstOutput; v < step.m_FirstOutput + step.m_NumOutputs; ++v)
        {
            if (sharing.Root(v) == v && m_Locations[v].m_Place == Place::None)
            {
                buffers.push_back({m_Infos[v].GetNumBytes(), s, sharing.Last(v), 0});
                owners.push_back(v);
            }
        }
    }
    const size_t numValues = buffers.size();
    std::vector<uint32_t> scratchSteps;
    for (uint32_t s = 0; s < numSteps; ++s)
    {
        const size_t bytes = m_Steps[s].m_Workload == nullptr ? 0 : m_Steps[s].m_Workload->GetScratchBytes();
        if (bytes != 0)
        {
            buffers.push_back({bytes, s, s, 0});
            scratchSteps.push_back(s);
        }
    }
    m_ArenaBytes = PlanMemory(buffers);
    // A session holds each state twice: what it is, and what it is to be next.
    uint64_t bytesLeft = limits.m_MaxTotalBytes;
    bool isTooMuch = m_ArenaBytes > bytesLeft;
    bytesLeft -= isTooMuch ? bytesLeft : m_ArenaBytes;
    for (uint32_t s = 0; s < numSteps && !isTooMuch; ++s)
    {
        const Step& step = program.Steps()[s];
        const uint64_t bytes = step.m_State != NoState ? m_Infos[step.m_FirstOutput].GetNumBytes() : 0;
        isTooMuch = bytes > bytesLeft / 2;
        bytesLeft -= isTooMuch ? bytesLeft : bytes * 2;
    }
    if (isTooMuch)
    {
        throw MemoryValidationException(fmt::format("one run needs {} bytes of memory, and more for its states, above "
                                                    "the limit of {}; raise Limits::m_MaxTotalBytes",
                                                    m_ArenaBytes, limits.m_MaxTotalBytes));
    }
    for (size_t i = 0; i < numValues; ++i)
    {
        m_Locations[owners[i]] = {Place::Arena, 0, buffers[i].m_Offset};
    }
    for (size_t i = 0; i < scratchSteps.size(); ++i)
    {
        m_Steps[scratchSteps[i]].m_ScratchOffset = buffers[numValues + i].m_Offset;
    }
    for (ValueId v = 0; v < program.Values().size(); ++v)
    {
        if (produced[v])
        {
            m_Locations[v] = m_Locations[sharing.Root(v)];
        }
        const Place place = m_Locations[v].m_Place;
        if (place == Place::Input || place == Place::Output || place == Place::State)
        {
            m_Bound.push_back(v);
        }
    }
}

} // namespace tenon
