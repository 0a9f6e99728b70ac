// SPDX-License-Identifier: Apache-2.0
// See LayerComparison.hpp.
#include "tools/compare/LayerComparison.hpp"

#include "tools/common/TensorMemory.hpp"

#include <tenon/TensorHandle.hpp>
#include <tenon/Utils.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tenon::tools
{
namespace
{

std::string PathOf(const LayerAssignment& layer)
{
    return layer.m_Network.empty() ? layer.m_Name : layer.m_Network + "/" + layer.m_Name;
}

std::string TypeOf(const LayerAssignment& layer)
{
    return GetLayerTypeAsCString(layer.m_Type);
}

} // namespace

LayerComparison::LayerComparison(const std::vector<LayerAssignment>& tested,
                                 const std::vector<LayerAssignment>& reference, const Tolerance& tolerance,
                                 const Limits& limits)
    : m_Tolerance(tolerance), m_Limits(limits)
{
    for (const LayerAssignment& layer : tested)
    {
        m_TestedLayers.emplace(layer.m_Guid, layer);
        m_TestedNames.insert(NameOf(layer));
    }
    for (const LayerAssignment& layer : reference)
    {
        m_ReferenceLayers.emplace(layer.m_Guid, layer);
    }
}

LayerComparison::LayerName LayerComparison::NameOf(const LayerAssignment& layer)
{
    return {layer.m_Network, layer.m_Name, layer.m_Name.empty() ? TypeOf(layer) : ""};
}

ComparedLayer LayerComparison::MakeRow(const LayerAssignment& layer, unsigned int output)
{
    ComparedLayer row;
    row.m_Name = PathOf(layer);
    row.m_Type = TypeOf(layer);
    row.m_Output = output;
    return row;
}

LayerComparison::Key LayerComparison::MakeKey(const LayerAssignment& layer, unsigned int output,
                                              std::map<std::pair<LayerName, unsigned int>, size_t>& counts)
{
    const LayerName name = NameOf(layer);
    return {name, output, counts[{name, output}]++};
}

void LayerComparison::AddFusions(const std::vector<LayerAssignment>& assignment, const NetworkPlan& plan)
{
    std::set<LayerName> there;
    for (const LayerAssignment& layer : assignment)
    {
        there.insert(NameOf(layer));
        if (!layer.m_FusedActivation.empty())
        {
            m_Fusions[NameOf(layer)] = "fused with " + layer.m_FusedActivation;
            m_Inner.insert(NameOf(layer));
        }
    }
    for (const LayerName& name : m_TestedNames)
    {
        if (!there.contains(name))
        {
            m_Fusions[name] = "fused into another layer";
        }
    }
    const auto add = [&](size_t index, const std::string& fusion)
    {
        const PlannedLayer& layer = plan.m_Layers[index];
        std::string& text = m_Fusions[{"", layer.m_Name, layer.m_Name.empty() ? layer.m_Type : ""}];
        text += (text.empty() ? "" : ", ") + fusion;
    };
    for (const FusionReport& fusion : plan.m_Fusions)
    {
        const bool isOne = fusion.m_First == fusion.m_Last;
        if (fusion.m_WhyNot.empty())
        {
            add(fusion.m_First, isOne ? fusion.m_Fusion : fusion.m_Fusion + " from here");
        }
        if (fusion.m_WhyNot.empty() && !isOne)
        {
            add(fusion.m_Last, fusion.m_Fusion + " to here");
        }
    }
}

DebugCallbackFunction LayerComparison::MakeCallback(const Assignments& layers,
                                                    void (LayerComparison::*take)(const LayerAssignment&, unsigned int,
                                                                                  const TensorView&))
{
    return [this, &layers, take](LayerGuid guid, unsigned int output, ITensorHandle* handle)
    {
        const auto layer = layers.find(guid);
        const auto* const tensor = dynamic_cast<const ConstTensorHandle*>(handle);
        if (m_Failure != nullptr || layer == layers.end() || tensor == nullptr ||
            layer->second.m_Type == LayerType::Input)
        {
            return;
        }
        try
        {
            const auto* const data = static_cast<const std::byte*>(tensor->GetConstTensor<void>());
            (this->*take)(layer->second, output, {tensor->GetTensorInfo(), data});
        }
        catch (...) // the library would hide the type
        {
            m_Failure = std::current_exception();
        }
    };
}

DebugCallbackFunction LayerComparison::KeepReference()
{
    return MakeCallback(m_ReferenceLayers, &LayerComparison::Keep);
}

DebugCallbackFunction LayerComparison::CompareTested()
{
    return MakeCallback(m_TestedLayers, &LayerComparison::Compare);
}

void LayerComparison::Keep(const LayerAssignment& layer, unsigned int output, const TensorView& tensor)
{
    const Key key = MakeKey(layer, output, m_ReferenceCounts);
    if (std::get<size_t>(key) >= MaxValuesOfOutput)
    {
        return;
    }
    Value value{{*tensor.m_Info, {}}, &layer};
    if (m_TestedNames.contains(std::get<LayerName>(key)))
    {
        const size_t bytes = tensor.m_Info->GetNumBytes();
        m_Bytes += bytes;
        CheckTotalBytes("the tensors of the layers", m_Bytes, m_Limits);
        value.m_Tensor.m_Data = Buffer(bytes);
        std::copy_n(tensor.m_Data, bytes, value.m_Tensor.m_Data.Data());
    }
    m_Values.emplace(key, std::move(value));
    m_Order.push_back(key);
}

void LayerComparison::Compare(const LayerAssignment& layer, unsigned int output, const TensorView& tensor)
{
    const Key key = MakeKey(layer, output, m_TestedCounts);
    if (std::get<size_t>(key) >= MaxValuesOfOutput)
    {
        return;
    }
    ComparedLayer row = MakeRow(layer, output);
    row.m_Backend = layer.m_Backend.Get();
    row.m_IsInner = m_Inner.contains(std::get<LayerName>(key));
    if (const auto fusion = m_Fusions.find(std::get<LayerName>(key)); fusion != m_Fusions.end())
    {
        row.m_Fusion = fusion->second;
    }
    const auto found = m_Values.find(key);
    if (found == m_Values.end())
    {
        row.m_WhyNot = std::get<size_t>(key) > 0 ? "has fewer values in the reference" : "not in the reference";
        m_Rows.push_back(std::move(row));
        return;
    }
    Value& value = found->second;
    value.m_IsCompared = true;
    row.m_ReferenceBackend = value.m_Layer->m_Backend.Get();
    const TensorInfo& reference = value.m_Tensor.m_Info;
    const std::optional<Measure> measure = FindMeasure(*tensor.m_Info, reference);
    if (value.m_Layer->m_Type != layer.m_Type)
    {
        row.m_WhyNot = fmt::format("{} in the reference", TypeOf(*value.m_Layer));
    }
    else if (reference.GetShape() != tensor.m_Info->GetShape() || !measure)
    {
        row.m_WhyNot = fmt::format("{}, but {} in the reference", tensor.m_Info->ToString(), reference.ToString());
    }
    else
    {
        row.m_Difference.emplace(*measure, m_Tolerance);
        row.m_Difference->AddRun(tensor, TensorView(value.m_Tensor));
    }
    value.m_Tensor.m_Data = {}; // no longer needed
    m_Rows.push_back(std::move(row));
}

std::vector<ComparedLayer> LayerComparison::Finish()
{
    if (m_Failure != nullptr)
    {
        std::rethrow_exception(m_Failure);
    }
    for (const Key& key : m_Order)
    {
        const Value& value = m_Values.at(key);
        if (!value.m_IsCompared)
        {
            ComparedLayer row = MakeRow(*value.m_Layer, std::get<unsigned int>(key));
            row.m_ReferenceBackend = value.m_Layer->m_Backend.Get();
            row.m_WhyNot = std::get<size_t>(key) > 0 ? "has more values in the reference" : "in the reference alone";
            m_Rows.push_back(std::move(row));
        }
    }
    return std::move(m_Rows);
}

} // namespace tenon::tools
