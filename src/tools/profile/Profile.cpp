// SPDX-License-Identifier: Apache-2.0
// See Profile.hpp: a profile out of what optimizer, plan and profiler say.
#include "tools/profile/Profile.hpp"

#include "tools/profile/TraceTimes.hpp"

#include <tenon/IConnectableLayer.hpp>
#include <tenon/IStrategy.hpp>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace tenon::tools
{
namespace
{

class StructureReader final : public IStrategy
{
public:
    void ExecuteStrategy(const IConnectableLayer* layer, const BaseDescriptor&, const std::vector<ConstTensor>&,
                         const char* name, LayerBindingId) override
    {
        NetworkStructure::Node node;
        node.m_Guid = layer->GetGuid();
        node.m_Type = layer->GetType();
        node.m_Name = name != nullptr ? name : "";
        for (unsigned int i = 0; i < layer->GetNumInputSlots(); ++i)
        {
            if (const IOutputSlot* const source = layer->GetInputSlot(i).GetConnection())
            {
                node.m_Inputs.push_back({source->GetOwningLayerGuid(), source->CalculateIndexOnOwner()});
            }
        }
        for (unsigned int i = 0; i < layer->GetNumOutputSlots(); ++i)
        {
            node.m_Outputs.push_back(layer->GetOutputSlot(i).GetTensorInfo());
        }
        node.m_Work = ComputeWork(*layer);
        m_Structure.m_Nodes.push_back(std::move(node));
    }

    NetworkStructure m_Structure;
};

/// Whether the work was computed for the shapes of the run.
bool IsShapedAs(const NetworkStructure::Node& node, const PlannedLayer& planned)
{
    return std::equal(node.m_Outputs.begin(), node.m_Outputs.end(), planned.m_Outputs.begin(), planned.m_Outputs.end(),
                      [](const TensorInfo& info, const PlannedTensor& tensor)
                      { return info.GetShape() == tensor.m_Info.GetShape(); });
}

void Add(std::optional<uint64_t>& sum, const std::optional<uint64_t>& further)
{
    sum = sum && further ? std::optional(*sum + *further) : std::nullopt;
}

void AddToType(const ProfiledLayer& layer, ProfiledType& type)
{
    const double ms = layer.m_Ms->m_Mean;
    ++type.m_Count;
    type.m_Ms += ms;
    if (const std::optional<uint64_t> operations = layer.m_Work.CountOperations())
    {
        type.m_Operations += static_cast<double>(*operations);
        type.m_OperationsMs += ms;
    }
    if (const std::optional<uint64_t> bytes = layer.m_Work.CountBytes())
    {
        type.m_Bytes += static_cast<double>(*bytes);
        type.m_BytesMs += ms;
    }
    if (layer.m_RooflineMs)
    {
        type.m_RooflineMs += *layer.m_RooflineMs;
        type.m_RooflineOfMs += ms;
    }
    const std::string& backend = layer.m_Planned.m_Backend;
    if (!backend.empty() && std::find(type.m_Backends.begin(), type.m_Backends.end(), backend) == type.m_Backends.end())
    {
        type.m_Backends.push_back(backend);
    }
}

class ProfileMaker
{
public:
    explicit ProfileMaker(const ProfileSources& sources) : m_Sources(sources), m_Trace(ReadTrace(sources.m_Profiler)) {}

    Profile Make(const std::optional<MachinePeaks>& peaks)
    {
        m_Profile.m_InferenceMs = ComputeStatistics(m_Trace.m_InferenceMs);
        m_Profile.m_NumInferences = m_Trace.m_InferenceMs.size();
        m_Profile.m_IsFirst = m_Trace.m_IsFirst;
        m_Profile.m_NumDropped = m_Trace.m_NumDropped;
        m_Profile.m_Fusions = m_Sources.m_Plan.m_Fusions;
        m_Profile.m_Statistics = m_Sources.m_Statistics;
        m_Profile.m_Peaks = peaks;
        AddLayers(m_Sources.m_Plan);
        for (const LayerAssignment& assigned : m_Sources.m_Assignment)
        {
            AddAssignment(assigned);
        }
        for (const NetworkStructure::Node& node : m_Sources.m_Structure.m_Nodes)
        {
            AddNode(node);
        }
        for (const FusionReport& fusion : m_Profile.m_Fusions)
        {
            AddFusion(fusion);
        }
        if (peaks)
        {
            for (ProfiledLayer& layer : m_Profile.m_Layers)
            {
                layer.m_RooflineMs = ComputeRooflineMs(*peaks, layer.m_Work, layer.m_DataType);
            }
        }
        m_Profile.m_Types = SumTypes(m_Profile.m_Layers);
        return std::move(m_Profile);
    }

private:
    void AddLayers(const NetworkPlan& plan)
    {
        for (const PlannedLayer& planned : plan.m_Layers)
        {
            const size_t index = m_Profile.m_Layers.size();
            // Layers of the network itself come first, so that fusions refer to them by index.
            m_Index.emplace(planned.m_Guid, index);
            ProfiledLayer& layer = m_Profile.m_Layers.emplace_back();
            layer.m_Planned = planned;
            layer.m_Planned.m_Bodies.clear();
            for (const PlannedTensor& output : planned.m_Outputs)
            {
                layer.m_Outputs.push_back({output, index});
            }
            const auto traced = m_Trace.m_Layers.find(planned.m_Guid);
            if (traced != m_Trace.m_Layers.end())
            {
                layer.m_Ms = ComputeStatistics(traced->second.m_Ms);
                layer.m_ThreadMs = std::move(traced->second.m_ThreadMs);
                m_Trace.m_Layers.erase(traced); // two branches may be one network, with the same guids
            }
        }
        for (const PlannedLayer& planned : plan.m_Layers)
        {
            for (const NetworkPlan& body : planned.m_Bodies)
            {
                AddLayers(body);
            }
        }
    }

    /// The index of a layer; nothing for layers without steps, such as constants.
    std::optional<size_t> Find(uint64_t guid) const
    {
        const auto found = m_Index.find(guid);
        return found != m_Index.end() ? std::optional(found->second) : std::nullopt;
    }

    void AddAssignment(const LayerAssignment& assigned)
    {
        if (const std::optional<size_t> index = Find(assigned.m_Guid))
        {
            ProfiledLayer& layer = m_Profile.m_Layers[*index];
            layer.m_Network = assigned.m_Network;
            layer.m_Reason = assigned.m_Reason;
            layer.m_FusedActivation = assigned.m_FusedActivation;
            layer.m_DataType = assigned.m_DataType;
        }
    }

    void AddNode(const NetworkStructure::Node& node)
    {
        if (node.m_Type == LayerType::Input && !node.m_Outputs.empty())
        {
            m_NetworkInputs.emplace(node.m_Guid, -1 - static_cast<int64_t>(m_Profile.m_Inputs.size()));
            m_Profile.m_Inputs.push_back({node.m_Name, node.m_Outputs[0]});
        }
        const std::optional<size_t> index = Find(node.m_Guid);
        for (const NetworkStructure::Source& source : node.m_Inputs)
        {
            const std::optional<size_t> producer = Find(source.m_Guid);
            if (producer && node.m_Type == LayerType::Output)
            {
                m_Profile.m_Outputs.push_back({node.m_Name, OutputOf(*producer, source.m_Slot), *producer});
            }
            if (index)
            {
                Connect(*index, source, producer);
            }
        }
        if (index && IsShapedAs(node, m_Profile.m_Layers[*index].m_Planned))
        {
            ProfiledLayer& layer = m_Profile.m_Layers[*index];
            layer.m_Work = node.m_Work;
            if (IsInPlace(layer))
            {
                layer.m_Work.m_InputBytes = 0;
                layer.m_Work.m_OutputBytes = 0;
            }
        }
    }

    /// Whether a layer that only moves elements has its output where its input lies, so that nothing moves.
    bool IsInPlace(const ProfiledLayer& layer) const
    {
        if (layer.m_Work.CountOperations() != 0U || layer.m_Outputs.size() != 1 || layer.m_Producers.size() != 1)
        {
            return false;
        }
        const int64_t from = layer.m_Producers[0];
        const PlannedTensor& output = layer.m_Outputs[0].m_Planned;
        if (from < 0)
        {
            return output.m_Memory.starts_with("input ");
        }
        const std::vector<ProfiledTensor>& inputs = m_Profile.m_Layers[static_cast<size_t>(from)].m_Outputs;
        const auto isThere = [&](const ProfiledTensor& input)
        { return input.m_Planned.m_Memory == output.m_Memory && input.m_Planned.m_Offset == output.m_Offset; };
        return output.m_Memory != "its own" && std::any_of(inputs.begin(), inputs.end(), isThere);
    }

    TensorInfo OutputOf(size_t layer, unsigned int slot) const
    {
        const std::vector<ProfiledTensor>& outputs = m_Profile.m_Layers[layer].m_Outputs;
        return slot < outputs.size() ? outputs[slot].m_Planned.m_Info : TensorInfo();
    }

    void Connect(size_t index, const NetworkStructure::Source& source, const std::optional<size_t>& producer)
    {
        std::vector<int64_t>& producers = m_Profile.m_Layers[index].m_Producers;
        const auto input = m_NetworkInputs.find(source.m_Guid);
        if (!producer && input == m_NetworkInputs.end())
        {
            return; // a constant
        }
        const int64_t from = producer ? static_cast<int64_t>(*producer) : input->second;
        if (std::find(producers.begin(), producers.end(), from) == producers.end())
        {
            producers.push_back(from);
        }
        if (producer && source.m_Slot < m_Profile.m_Layers[*producer].m_Outputs.size())
        {
            size_t& last = m_Profile.m_Layers[*producer].m_Outputs[source.m_Slot].m_LastReader;
            last = std::max(last, index);
        }
    }

    /// Gives the work of fused layers to the one of them that has their time.
    void AddFusion(const FusionReport& fusion)
    {
        if (!fusion.m_WhyNot.empty() || fusion.m_Fusion == "ConcatInPlace" ||
            fusion.m_Last >= m_Profile.m_Layers.size())
        {
            return;
        }
        ProfiledLayer& leader = m_Profile.m_Layers[fusion.m_First];
        const bool isPair = fusion.m_Fusion == "ResidualAdd"; // others may stand between its two layers
        for (size_t i = isPair ? fusion.m_Last : fusion.m_First + 1; i <= fusion.m_Last; ++i)
        {
            ProfiledLayer& part = m_Profile.m_Layers[i];
            if (!leader.m_Ms || part.m_Ms || part.m_RunsIn)
            {
                continue;
            }
            part.m_RunsIn = fusion.m_First;
            Add(leader.m_Work.m_Macs, part.m_Work.m_Macs);
            Add(leader.m_Work.m_Operations, part.m_Work.m_Operations);
            Add(leader.m_Work.m_ConstantBytes, part.m_Work.m_ConstantBytes);
            // The tensor between them is neither written to memory nor read from it.
            if (leader.m_Work.m_OutputBytes && part.m_Work.m_InputBytes)
            {
                const uint64_t between = std::min(*leader.m_Work.m_OutputBytes, *part.m_Work.m_InputBytes);
                Add(leader.m_Work.m_InputBytes, *part.m_Work.m_InputBytes - between);
            }
            leader.m_Work.m_OutputBytes = part.m_Work.m_OutputBytes;
        }
    }

    const ProfileSources& m_Sources;
    Trace m_Trace;
    Profile m_Profile;
    std::unordered_map<uint64_t, size_t> m_Index;          ///< of layers by guid
    std::unordered_map<uint64_t, int64_t> m_NetworkInputs; ///< by guid, as in ProfiledLayer::m_Producers
};

} // namespace

std::vector<ProfiledType> SumTypes(const std::vector<ProfiledLayer>& layers)
{
    std::vector<ProfiledType> types;
    std::map<std::string, size_t> places;
    for (const ProfiledLayer& layer : layers)
    {
        if (!layer.m_Ms)
        {
            continue;
        }
        const auto [place, isNew] = places.emplace(layer.m_Planned.m_Type, types.size());
        if (isNew)
        {
            types.emplace_back().m_Type = layer.m_Planned.m_Type;
        }
        AddToType(layer, types[place->second]);
    }
    std::stable_sort(types.begin(), types.end(),
                     [](const ProfiledType& a, const ProfiledType& b) { return a.m_Ms > b.m_Ms; });
    return types;
}

NetworkStructure ReadStructure(const IOptimizedNetwork& network)
{
    StructureReader reader;
    network.ExecuteStrategy(reader);
    return std::move(reader.m_Structure);
}

Profile MakeProfile(const ProfileSources& sources, const std::optional<MachinePeaks>& peaks)
{
    return ProfileMaker(sources).Make(peaks);
}

double Profile::GetLayersMs() const
{
    double sum = 0.0;
    for (const ProfiledType& type : m_Types)
    {
        sum += type.m_Ms;
    }
    return sum;
}

} // namespace tenon::tools
