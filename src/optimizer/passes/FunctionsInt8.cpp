// SPDX-License-Identifier: Apache-2.0
// See FunctionsInt8.hpp.
#include "optimizer/passes/FunctionsInt8.hpp"

#include "graph/Purity.hpp"
#include "optimizer/rewriting/Patterns.hpp"

#include <algorithm>
#include <iterator>

namespace tenon
{

namespace
{

/// Layers of one function. All of them run for each table, and a long chain could become many tables.
constexpr size_t MaxFunctionLayers = 16;

bool IsInt8(const TensorInfo& info)
{
    const DataType type = info.GetDataType();
    return (type == DataType::QAsymmS8 || type == DataType::QAsymmU8 || type == DataType::QSymmS8) &&
           !info.HasPerAxisQuantization();
}

bool IsElementwise(const Layer& layer)
{
    const OpSchema& schema = layer.GetSchema();
    if ((!schema.Has(OpFlags::Elementwise) && !schema.Has(OpFlags::Broadcast)) || !IsFunctionOfInputs(layer) ||
        layer.GetNumOutputSlots() != 1 || layer.HasDataDependentShapes() || layer.GetBackendHint().has_value() ||
        layer.GetFusedActivation() != nullptr)
    {
        return false;
    }
    const TensorInfo& info = layer.Output(0).GetTensorInfo();
    return IsInt8(info) || info.GetDataType() == DataType::Float32;
}

} // namespace

FunctionsInt8::FunctionsInt8(const Graph& graph) : m_ShapeFacts(graph)
{
    for (Layer* layer : graph.TopologicalOrder())
    {
        if (IsElementwise(*layer))
        {
            Add(*layer);
        }
    }
    std::for_each(m_Order.rbegin(), m_Order.rend(), [this](const Layer* layer) { Settle(*layer); });
}

std::vector<FunctionInt8> FunctionsInt8::GetWorthwhile() const
{
    std::vector<FunctionInt8> taken;
    for (const Layer* layer : m_Order)
    {
        if (IsWorthwhile(m_Functions.at(layer)))
        {
            taken.push_back(m_Functions.at(layer));
        }
    }
    return taken;
}

/// The inputs that are not constants; none where the layer is more than a function of their elements.
std::vector<OutputSlot*> FunctionsInt8::GetData(const Layer& layer) const
{
    std::vector<OutputSlot*> data;
    std::vector<unsigned int> scalars;
    unsigned int first = 0;
    for (unsigned int i = 0; i < layer.NumInputs(); ++i)
    {
        if (!IsPlainInput(layer, i))
        {
            return {};
        }
        if (layer.Input(i).GetProducer()->GetType() != LayerType::Constant)
        {
            first = data.empty() ? i : first;
            data.push_back(layer.Input(i).GetConnectedOutputSlot());
        }
        else if (layer.GetConstantInput(i) != nullptr &&
                 layer.Input(i).GetTensorInfo().GetShape().GetNumElements64() == 1)
        {
            scalars.push_back(i);
        }
        else
        {
            return {};
        }
    }
    const bool keepsShape = !data.empty() && std::all_of(scalars.begin(), scalars.end(),
                                                         [&](unsigned int scalar)
                                                         { return m_ShapeFacts.KeepsShape(layer, first, scalar); });
    return keepsShape ? data : std::vector<OutputSlot*>();
}

/// The function that gives a tensor; null: none.
const FunctionInt8* FunctionsInt8::Find(const OutputSlot& slot) const
{
    const auto found = m_Functions.find(&slot.GetOwningLayer());
    return found != m_Functions.end() ? &found->second : nullptr;
}

/// A cheaper test of the inputs than GetData(): most elementwise layers read no int8 tensor.
bool FunctionsInt8::MayBeFunction(const Layer& layer) const
{
    return std::any_of(layer.Inputs().begin(), layer.Inputs().end(),
                       [this](const InputSlot& input)
                       {
                           const OutputSlot* const slot = input.GetConnectedOutputSlot();
                           return slot != nullptr &&
                                  (IsInt8(slot->GetTensorInfo()) || (!m_Functions.empty() && Find(*slot) != nullptr));
                       });
}

void FunctionsInt8::Add(Layer& layer)
{
    if (!MayBeFunction(layer))
    {
        return;
    }
    const std::vector<OutputSlot*> data = GetData(layer);
    if (data.empty())
    {
        return;
    }
    FunctionInt8 function = Join(data);
    if (function.m_Source == nullptr &&
        std::all_of(data.begin(), data.end(), [&](const OutputSlot* slot) { return slot == data.front(); }))
    {
        function.m_Source = data.front();
    }
    if (function.m_Source == nullptr || !IsInt8(function.m_Source->GetTensorInfo()))
    {
        return;
    }
    function.m_Layers.push_back(&layer);
    m_Positions.emplace(&layer, m_Order.size());
    m_Functions.emplace(&layer, std::move(function));
    m_Order.push_back(&layer);
}

/// Of the tensors' functions, if all are of one tensor.
FunctionInt8 FunctionsInt8::Join(const std::vector<OutputSlot*>& data) const
{
    FunctionInt8 joint;
    for (OutputSlot* slot : data)
    {
        const FunctionInt8* function = Find(*slot);
        OutputSlot* const source = function != nullptr ? function->m_Source : slot;
        if (joint.m_Source != nullptr && joint.m_Source != source)
        {
            return {};
        }
        joint.m_Source = source;
    }
    // In the order in which all were found.
    for (const OutputSlot* slot : data)
    {
        if (const FunctionInt8* function = Find(*slot); function != nullptr)
        {
            std::vector<Layer*> both;
            const auto isBefore = [this](const Layer* a, const Layer* b)
            { return m_Positions.at(a) < m_Positions.at(b); };
            std::set_union(joint.m_Layers.begin(), joint.m_Layers.end(), function->m_Layers.begin(),
                           function->m_Layers.end(), std::back_inserter(both), isBefore);
            joint.m_Layers = std::move(both);
            if (joint.m_Layers.size() >= MaxFunctionLayers)
            {
                return {}; // at once: there may be many inputs
            }
        }
    }
    return joint;
}

/// Once its readers are settled.
void FunctionsInt8::Settle(const Layer& layer)
{
    FunctionInt8& function = m_Functions.at(&layer);
    const Span<InputSlot* const> readers = layer.Output(0).GetConnections();
    function.m_IsInner = !readers.empty() && std::all_of(readers.begin(), readers.end(),
                                                         [&](const InputSlot* reader)
                                                         {
                                                             const auto found =
                                                                 m_Functions.find(&reader->GetOwningLayer());
                                                             return found != m_Functions.end() &&
                                                                    found->second.m_Source == function.m_Source &&
                                                                    found->second.m_IsCovered;
                                                         });
    function.m_IsCovered = function.m_IsInner || IsInt8(layer.Output(0).GetTensorInfo());
}

/// Whether a table makes others of its layers unnecessary.
bool FunctionsInt8::IsWorthwhile(const FunctionInt8& function) const
{
    return function.m_IsCovered && !function.m_IsInner &&
           std::any_of(function.m_Layers.begin(), function.m_Layers.end(),
                       [this](const Layer* layer) { return m_Functions.at(layer).m_IsInner; });
}

} // namespace tenon
