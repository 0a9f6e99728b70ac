// SPDX-License-Identifier: Apache-2.0
// See ConstantRunner.hpp.
#include "optimizer/rewriting/ConstantRunner.hpp"

#include "common/OneThread.hpp"

#include <tenon/backend/BackendRegistry.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tenon
{

namespace
{

/// Memory of outputs, all of them together not above a number of bytes.
class Outputs final : public ILateOutputs
{
public:
    Outputs(const Layer& layer, const Limits& limits, uint64_t maxBytes)
        : m_Limits(limits), m_BytesLeft(maxBytes), m_Pointers(layer.GetNumOutputSlots(), nullptr)
    {
        for (const OutputSlot& output : layer.Outputs())
        {
            m_Results.push_back({output.GetTensorInfo(), nullptr});
        }
    }

    void* Allocate(size_t output, const TensorShape& shape) override
    {
        ConstantResult& result = m_Results.at(output);
        result.m_Info.SetShape(shape);
        const size_t bytes = result.m_Info.GetNumBytes();
        if (bytes > std::min(m_BytesLeft, m_Limits.m_MaxTensorBytes) || shape.GetNumDimensions() > m_Limits.m_MaxRank)
        {
            throw MemoryValidationException(fmt::format("a constant of {} is too much", result.m_Info.ToString()));
        }
        m_BytesLeft -= bytes;
        auto memory = std::make_shared<const AlignedMemory>(std::max<size_t>(bytes, 1));
        m_Pointers[output] = memory->Data();
        result.m_Memory = std::move(memory);
        return m_Pointers[output];
    }

    bool IsComplete() const
    {
        return std::all_of(m_Results.begin(), m_Results.end(),
                           [](const ConstantResult& result) { return result.m_Memory != nullptr; });
    }
    std::vector<ConstantResult>& Results() { return m_Results; }
    Span<void* const> Pointers() const { return m_Pointers; }

private:
    const Limits& m_Limits;
    uint64_t m_BytesLeft;
    std::vector<ConstantResult> m_Results;
    std::vector<void*> m_Pointers;
};

} // namespace

ConstantRunner::ConstantRunner(const BackendRegistry& registry, const OptimizerOptionsOpaque& options)
    : m_Options(options.GetModelOptions()), m_Limits(options.GetLimits()), m_Backend(registry.Find(Backend))
{
}

std::vector<ConstantResult> ConstantRunner::Run(const Layer& layer, uint64_t maxBytes)
{
    if (m_Backend == nullptr)
    {
        return {};
    }
    try
    {
        return TryRun(layer, maxBytes);
    }
    catch (const std::exception&)
    {
        // The layer stays. A run that reaches it reports the error with the layer's name.
        return {};
    }
}

std::vector<ConstantResult> ConstantRunner::TryRun(const Layer& layer, uint64_t maxBytes)
{
    std::vector<const TensorInfo*> infos;
    layer.CollectInputInfos(infos);
    std::vector<const void*> values(infos.size(), nullptr);
    for (unsigned int i = 0; i < infos.size(); ++i)
    {
        values[i] = layer.GetConstantInput(i);
    }
    if (!CanInferShapes(layer, infos, values))
    {
        return {};
    }
    std::vector<TensorShape> shapes(layer.GetNumOutputSlots());
    const auto resolved = InferShapes(layer, infos, values, shapes);
    Outputs outputs(layer, m_Limits, maxBytes);
    std::vector<const TensorInfo*> outputInfos;
    const bool hasDataDependentShapes = layer.HasDataDependentShapes();
    for (size_t i = 0; i < shapes.size(); ++i)
    {
        if (!hasDataDependentShapes)
        {
            outputs.Allocate(i, shapes[i]);
        }
        outputInfos.push_back(&outputs.Results()[i].m_Info);
    }
    if (m_Support == nullptr)
    {
        m_Support = m_Backend->GetLayerSupport(m_Options);
        m_Factory = m_Backend->CreateWorkloadFactory(m_Options);
    }
    const LayerView view = m_Maker.Make(layer);
    if (!m_Support->IsLayerSupported(view))
    {
        return {};
    }
    const auto workload = m_Factory->CreateWorkload(view);
    ReshapeArgs reshape;
    reshape.m_Descriptor = resolved != nullptr ? resolved.get() : &layer.GetParameters();
    reshape.m_Inputs = infos;
    reshape.m_Outputs = outputInfos;
    reshape.m_ConstantData = values;
    reshape.m_Name = &layer.GetNameStr();
    const auto shaped = workload->Reshape(reshape);
    if (shaped->GetScratchBytes() > maxBytes)
    {
        return {};
    }
    const AlignedMemory scratch(shaped->GetScratchBytes());
    OneThread parallel; // what is folded is small
    ExecuteArgs execute;
    execute.m_Inputs = values;
    execute.m_Outputs = outputs.Pointers();
    execute.m_Scratch = scratch.Data();
    execute.m_Parallel = &parallel;
    execute.m_LateOutputs = hasDataDependentShapes ? &outputs : nullptr;
    shaped->Execute(execute);
    return outputs.IsComplete() ? std::move(outputs.Results()) : std::vector<ConstantResult>();
}

} // namespace tenon
