// SPDX-License-Identifier: Apache-2.0
// Pass MoveTransposes: moves Transposes through layers that do the same in any order of dimensions, where fewer of them
// remain. Connected layers of that kind form a region. A region works in one order: all of it changes to another one,
// or none. Of the orders that Transposes at its border ask for, the one is taken with which the fewest remain there;
// the number of Transposes never grows. Where it stays, smaller tensors decide.
#include "common/CheckedMath.hpp"
#include "optimizer/LayoutRules.hpp"
#include "optimizer/Pass.hpp"
#include "optimizer/Transposes.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace tenon::passes
{

namespace
{

constexpr uint32_t NoRegion = UINT32_MAX;

/// Transposes at the border of a region: how many, and the elements that they move as far as those are known. That
/// guides what pays; no result depends on it.
struct Cost
{
    size_t m_Count = 0;
    uint64_t m_Elements = 0;

    void Add(const TensorInfo& info)
    {
        ++m_Count;
        // A shape of nonsense may have more elements than can be counted; the run refuses it.
        uint64_t elements = info.GetShape().AreAllDimensionsSpecified() ? 1 : 0;
        for (unsigned int i = 0; elements != 0 && i < info.GetNumDimensions(); ++i)
        {
            elements = CheckedMul<uint64_t>(elements, uint64_t{info.GetShape()[i]}).value_or(0);
        }
        m_Elements += elements;
    }
    friend bool operator<(const Cost& a, const Cost& b)
    {
        return std::pair(a.m_Count, a.m_Elements) < std::pair(b.m_Count, b.m_Elements);
    }
};

bool IsConstant(const OutputSlot& slot)
{
    return slot.GetOwningLayer().GetConstant() != nullptr;
}

/// A constant that is the same in any order of dimensions.
bool IsOneElement(const OutputSlot& slot)
{
    return IsConstant(slot) && slot.GetTensorInfo().GetShape().GetNumElements64() == 1;
}

const PermutationVector& MappingsOf(const Layer& transpose)
{
    return transpose.Descriptor<TransposeDescriptor>().m_DimMappings;
}

/// The regions of a graph: connected layers that may change their order of dimensions together.
class Regions
{
public:
    explicit Regions(const Graph& graph) : m_Ranks(graph), m_Region(graph.Size(), NoRegion)
    {
        std::vector<uint32_t> parents(graph.Size());
        for (const auto& layer : graph.Layers())
        {
            parents[layer->m_Index] = layer->m_Index;
            m_Region[layer->m_Index] = IsMovable(*layer) ? layer->m_Index : NoRegion;
        }
        const auto root = [&](uint32_t layer)
        {
            while (parents[layer] != layer)
            {
                parents[layer] = parents[parents[layer]];
                layer = parents[layer];
            }
            return layer;
        };
        for (const auto& layer : graph.Layers())
        {
            for (const InputSlot& input : layer->Inputs())
            {
                if (IsInner(input))
                {
                    parents[root(layer->m_Index)] = root(input.GetProducer()->m_Index);
                }
            }
        }
        for (const auto& layer : graph.Layers())
        {
            if (m_Region[layer->m_Index] != NoRegion)
            {
                const auto [found, isNew] = m_Number.emplace(root(layer->m_Index), m_Members.size());
                if (isNew)
                {
                    m_Members.emplace_back();
                }
                m_Region[layer->m_Index] = static_cast<uint32_t>(found->second);
                m_Members[found->second].push_back(layer.get());
            }
        }
    }

    const std::vector<std::vector<Layer*>>& Members() const { return m_Members; }
    unsigned int RankOf(const Layer& member) const { return m_Ranks.Get(member.Output(0)); }
    bool Has(size_t region, const Layer& layer) const
    {
        return layer.m_Index < m_Region.size() && m_Region[layer.m_Index] == region;
    }

private:
    /// Whether an input is a data input of a member that another member feeds.
    bool IsInner(const InputSlot& input) const
    {
        const Layer* producer = input.GetProducer();
        return producer != nullptr && m_Region[input.GetOwningLayer().m_Index] != NoRegion &&
               m_Region[producer->m_Index] != NoRegion && IsDataInput(input.GetOwningLayer(), input.GetSlotIndex());
    }

    bool IsMovable(const Layer& layer) const
    {
        const LayoutKind kind = GetLayoutKind(layer.GetType());
        const unsigned int rank = kind == LayoutKind::None ? 0 : m_Ranks.Get(layer.Output(0));
        if (rank < 2 || !MayPermute(layer, rank))
        {
            return false;
        }
        for (const InputSlot& input : layer.Inputs())
        {
            const OutputSlot* source = input.GetConnectedOutputSlot();
            if (input.IsTensorInfoOverridden())
            {
                return false;
            }
            if (!IsDataInput(layer, input.GetSlotIndex()) || (source == nullptr && input.GetSlotIndex() != 0))
            {
                continue;
            }
            const bool isLowerConstant = kind == LayoutKind::Broadcast && source != nullptr && IsConstant(*source) &&
                                         m_Ranks.Get(*source) <= rank &&
                                         !source->GetTensorInfo().HasPerAxisQuantization();
            if (source == nullptr || (m_Ranks.Get(*source) != rank && !isLowerConstant))
            {
                return false;
            }
        }
        return true;
    }

    FixedRanks m_Ranks;
    std::vector<uint32_t> m_Region; ///< by layer index
    std::unordered_map<uint32_t, size_t> m_Number;
    std::vector<std::vector<Layer*>> m_Members;
};

/// One region with what is around it, as the graph is now.
class Region
{
public:
    Region(Graph& graph, const Regions& regions, size_t number)
        : m_Graph(graph), m_Members(regions.Members()[number]), m_Rank(regions.RankOf(*m_Members.front()))
    {
        for (Layer* member : m_Members)
        {
            for (InputSlot& input : member->Inputs())
            {
                OutputSlot* source = input.GetConnectedOutputSlot();
                if (source != nullptr && IsDataInput(*member, input.GetSlotIndex()) &&
                    !regions.Has(number, source->GetOwningLayer()) && !IsOneElement(*source))
                {
                    Edges& edges = Add(m_Inputs, m_InputPlaces, source, &input);
                    const Layer& producer = source->GetOwningLayer();
                    edges.m_IsTurned = IsPlainTranspose(&producer) && MappingsOf(producer).GetSize() == m_Rank &&
                                       !regions.Has(number, *producer.Input(0).GetProducer());
                }
            }
            for (OutputSlot& output : member->Outputs())
            {
                for (InputSlot* reader : output.GetConnections())
                {
                    const Layer& layer = reader->GetOwningLayer();
                    if (!regions.Has(number, layer) || !IsDataInput(layer, reader->GetSlotIndex()))
                    {
                        Add(m_Outputs, m_OutputPlaces, &output, reader);
                    }
                }
            }
        }
    }

    /// The orders that Transposes around the region ask for, the most frequent ones.
    std::vector<PermutationVector> Candidates() const
    {
        std::map<std::vector<unsigned int>, size_t> votes;
        const auto vote = [&](const PermutationVector& mappings)
        {
            if (mappings.GetSize() == m_Rank && !IsIdentity(mappings))
            {
                ++votes[std::vector<unsigned int>(mappings.begin(), mappings.end())];
            }
        };
        for (const Edges& edges : m_Inputs)
        {
            if (edges.m_IsTurned)
            {
                vote(MappingsOf(edges.m_Source->GetOwningLayer()).Inverse());
            }
        }
        for (const Edges& edges : m_Outputs)
        {
            for (const InputSlot* reader : edges.m_Readers)
            {
                if (IsPlainTranspose(&reader->GetOwningLayer()))
                {
                    vote(MappingsOf(reader->GetOwningLayer()));
                }
            }
        }
        std::vector<std::pair<size_t, std::vector<unsigned int>>> ordered;
        for (const auto& [mappings, count] : votes)
        {
            ordered.emplace_back(count, mappings);
        }
        constexpr size_t most = 3; // each costs a look at the whole border
        std::sort(ordered.begin(), ordered.end(), std::greater<>());
        std::vector<PermutationVector> candidates;
        for (size_t i = 0; i < std::min(most, ordered.size()); ++i)
        {
            candidates.emplace_back(ordered[i].second.data(), m_Rank);
        }
        return candidates;
    }

    /// The Transposes at the border once the region works in this order. `mappings` is the identity for what is there.
    Cost CostOf(const PermutationVector& mappings) const
    {
        Cost cost;
        const bool stays = IsIdentity(mappings);
        for (const Edges& edges : m_Inputs)
        {
            const Layer& producer = edges.m_Source->GetOwningLayer();
            if (IsConstant(*edges.m_Source))
            {
                continue; // constants are turned around here
            }
            if (!edges.m_IsTurned)
            {
                stays ? void() : cost.Add(edges.m_Source->GetTensorInfo());
                continue;
            }
            // A Transpose that others read, too, is there in any case.
            const bool isOwn = edges.m_Readers.size() == edges.m_Source->GetNumConnections();
            if (stays ? isOwn : !IsIdentity(Composed(MappingsOf(producer), mappings)))
            {
                cost.Add(edges.m_Source->GetTensorInfo());
            }
        }
        const PermutationVector back = mappings.Inverse();
        for (const Edges& edges : m_Outputs)
        {
            bool isRead = false;
            for (const InputSlot* reader : edges.m_Readers)
            {
                const Layer& layer = reader->GetOwningLayer();
                if (IsPlainTranspose(&layer))
                {
                    stays || MappingsOf(layer) != mappings ? cost.Add(edges.m_Source->GetTensorInfo()) : void();
                    continue;
                }
                isRead = isRead || !Absorbs(*reader, back);
            }
            isRead && !stays ? cost.Add(edges.m_Source->GetTensorInfo()) : void();
        }
        return cost;
    }

    /// Lets the region work in this order.
    void Change(const PermutationVector& mappings)
    {
        for (const Edges& edges : m_Inputs)
        {
            OutputSlot& turned = Turned(edges, mappings);
            for (InputSlot* reader : edges.m_Readers)
            {
                edges.m_Source->Disconnect(*reader);
                turned.Connect(*reader);
            }
            if (edges.m_IsTurned)
            {
                DisconnectIfUnread(edges.m_Source->GetOwningLayer());
            }
        }
        const PermutationVector inverse = mappings.Inverse();
        for (const Edges& edges : m_Outputs)
        {
            TurnBack(edges, inverse);
        }
        for (Layer* member : m_Members)
        {
            if (auto permuted = PermuteParameters(*member, mappings))
            {
                member->SetDescriptor(std::move(permuted));
            }
            for (OutputSlot& output : member->Outputs())
            {
                output.SetTensorInfo(Transposed(output.GetTensorInfo(), mappings));
            }
        }
    }

private:
    /// Those who read a slot across the border.
    struct Edges
    {
        OutputSlot* m_Source;
        std::vector<InputSlot*> m_Readers;
        bool m_IsTurned = false; ///< an input that comes from a Transpose of what is outside of the region
    };
    using Places = std::unordered_map<const OutputSlot*, size_t>;

    static Edges& Add(std::vector<Edges>& edges, Places& places, OutputSlot* source, InputSlot* reader)
    {
        const auto [found, isNew] = places.emplace(source, edges.size());
        if (isNew)
        {
            edges.push_back({source, {}});
        }
        edges[found->second].m_Readers.push_back(reader);
        return edges[found->second];
    }

    static bool Absorbs(const InputSlot& reader, const PermutationVector& mappings)
    {
        return reader.GetSlotIndex() == 0 && !reader.IsTensorInfoOverridden() &&
               AbsorbTranspose(reader.GetOwningLayer(), mappings) != nullptr;
    }

    Layer& AddTranspose(OutputSlot& source, const PermutationVector& mappings, const TensorInfo& info)
    {
        Layer& transpose = m_Graph.AddLayer(LayerType::Transpose, std::make_unique<TransposeDescriptor>(mappings),
                                            source.GetOwningLayer().GetNameStr() + ":moved");
        source.Connect(transpose.Input(0));
        transpose.Output(0).SetTensorInfo(info);
        return transpose;
    }

    /// The slot's values in the region's new order: from before a Transpose, or behind a new one.
    OutputSlot& Turned(const Edges& edges, const PermutationVector& mappings)
    {
        OutputSlot& source = *edges.m_Source;
        OutputSlot* from = &source;
        PermutationVector rest = mappings;
        const Layer& producer = source.GetOwningLayer();
        const TensorInfo whole = IsConstant(source) ? WithRank(source.GetTensorInfo()) : source.GetTensorInfo();
        if (edges.m_IsTurned)
        {
            rest = Composed(MappingsOf(producer), mappings);
            from = producer.Input(0).GetConnectedOutputSlot();
            if (IsIdentity(rest))
            {
                return *from;
            }
        }
        else if (whole.GetShape() != source.GetTensorInfo().GetShape())
        {
            Layer& reshape = m_Graph.AddLayer(LayerType::Reshape, std::make_unique<ReshapeDescriptor>(whole.GetShape()),
                                              producer.GetNameStr() + ":rank");
            source.Connect(reshape.Input(0));
            reshape.Output(0).SetTensorInfo(whole);
            from = &reshape.Output(0);
        }
        return AddTranspose(*from, rest, Transposed(whole, mappings)).Output(0);
    }

    /// A constant's info with ones in front, up to the rank of the region.
    TensorInfo WithRank(const TensorInfo& info) const
    {
        const TensorShape& shape = info.GetShape();
        if (shape.GetNumDimensions() == m_Rank)
        {
            return info;
        }
        TensorShape whole(m_Rank, true);
        const unsigned int missing = m_Rank - shape.GetNumDimensions();
        for (unsigned int i = 0; i < m_Rank; ++i)
        {
            whole.SetDimensionSize(i, i < missing ? 1 : shape[i - missing]);
        }
        TensorInfo result = info;
        result.SetShape(whole);
        result.SetConstant(false);
        return result;
    }

    /// Gives readers outside of the region the order that they know.
    void TurnBack(const Edges& edges, const PermutationVector& inverse)
    {
        const TensorInfo info = edges.m_Source->GetTensorInfo();
        OutputSlot* back = nullptr;
        for (InputSlot* reader : edges.m_Readers)
        {
            Layer& layer = reader->GetOwningLayer();
            if (IsPlainTranspose(&layer) && MappingsOf(layer).GetSize() == m_Rank)
            {
                const PermutationVector rest = Composed(inverse, MappingsOf(layer));
                layer.SetDescriptor(std::make_unique<TransposeDescriptor>(rest));
                if (IsIdentity(rest))
                {
                    layer.Output(0).MoveAllConnections(*edges.m_Source);
                    DisconnectIfUnread(layer);
                }
                continue;
            }
            back = back != nullptr ? back : &AddTranspose(*edges.m_Source, inverse, info).Output(0);
            edges.m_Source->Disconnect(*reader);
            back->Connect(*reader);
        }
    }

    Graph& m_Graph;
    const std::vector<Layer*>& m_Members;
    unsigned int m_Rank;
    std::vector<Edges> m_Inputs;
    std::vector<Edges> m_Outputs;
    Places m_InputPlaces;
    Places m_OutputPlaces;
};

PermutationVector Identity(unsigned int rank)
{
    std::array<unsigned int, MaxNumOfTensorDimensions> mappings{};
    for (unsigned int i = 0; i < rank; ++i)
    {
        mappings[i] = i;
    }
    return PermutationVector(mappings.data(), rank);
}

/// Reductions that remove dimensions take their input as it is before a Transpose.
void AbsorbTransposes(const Graph& graph)
{
    for (const auto& layer : graph.Layers())
    {
        if (layer->GetNumInputSlots() == 0 || layer->Input(0).IsTensorInfoOverridden() ||
            !IsPlainTranspose(layer->Input(0).GetProducer()))
        {
            continue;
        }
        InputSlot& input = layer->Input(0);
        const Layer& transpose = *input.GetProducer();
        OutputSlot* const source = transpose.Input(0).GetConnectedOutputSlot();
        auto absorbed = AbsorbTranspose(*layer, MappingsOf(transpose));
        if (absorbed != nullptr)
        {
            layer->SetDescriptor(std::move(absorbed));
            input.GetConnectedOutputSlot()->Disconnect(input);
            source->Connect(input);
        }
    }
}

} // namespace

void MoveTransposes(Graph& graph)
{
    const Regions regions(graph);
    for (size_t i = 0; i < regions.Members().size(); ++i)
    {
        Region region(graph, regions, i);
        const std::vector<PermutationVector> candidates = region.Candidates();
        if (candidates.empty())
        {
            continue;
        }
        Cost least = region.CostOf(Identity(candidates.front().GetSize()));
        const PermutationVector* best = nullptr;
        for (const PermutationVector& candidate : candidates)
        {
            const Cost cost = region.CostOf(candidate);
            if (cost < least)
            {
                least = cost;
                best = &candidate;
            }
        }
        if (best != nullptr)
        {
            region.Change(*best);
        }
    }
    AbsorbTransposes(graph);
    RemoveUnreadTransposes(graph);
}

} // namespace tenon::passes
