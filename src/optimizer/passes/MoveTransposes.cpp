// SPDX-License-Identifier: Apache-2.0
// Pass MoveTransposes: moves Transposes through layers that do the same in any order of dimensions, where fewer of them
// remain. Connected layers of that kind form a region. A region works in one order: all of it changes to another one,
// or none. Of the orders that Transposes at its border ask for, the one is taken with which the fewest remain there;
// the number of Transposes never grows. Where it stays, smaller tensors decide.
#include "common/CheckedMath.hpp"
#include "optimizer/AbsorbTranspose.hpp"
#include "optimizer/LayoutRegions.hpp"
#include "optimizer/LayoutRules.hpp"
#include "optimizer/Pass.hpp"
#include "optimizer/Transposes.hpp"
#include "optimizer/UnreadLayers.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <unordered_map>
#include <utility>

namespace tenon::passes
{

namespace
{

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

/// Those who read slots across the border of a region, by slot. Its memory is used again for the next region.
class Border
{
public:
    struct Edges
    {
        OutputSlot* m_Source = nullptr;
        std::vector<InputSlot*> m_Readers;
        bool m_IsTurned = false; ///< an input that comes from a Transpose of what is outside of the region
    };

    void Clear()
    {
        m_Size = 0;
        m_Places.clear();
    }

    Edges& Add(OutputSlot* source, InputSlot* reader)
    {
        Edges& edges = Find(source);
        edges.m_Readers.push_back(reader);
        return edges;
    }

    Span<Edges> All() { return {m_Edges.data(), m_Size}; }
    Span<const Edges> All() const { return {m_Edges.data(), m_Size}; }

private:
    static constexpr size_t MostSearched = 8; ///< beyond, places are looked up

    Edges& Find(OutputSlot* source)
    {
        if (m_Size <= MostSearched)
        {
            const auto end = m_Edges.begin() + static_cast<ptrdiff_t>(m_Size);
            const auto found =
                std::find_if(m_Edges.begin(), end, [&](const Edges& edges) { return edges.m_Source == source; });
            if (found != end)
            {
                return *found;
            }
            for (size_t i = 0; m_Size == MostSearched && i < m_Size; ++i)
            {
                m_Places.emplace(m_Edges[i].m_Source, i);
            }
        }
        if (m_Size >= MostSearched)
        {
            const auto [found, isNew] = m_Places.emplace(source, m_Size);
            if (!isNew)
            {
                return m_Edges[found->second];
            }
        }
        if (m_Size == m_Edges.size())
        {
            m_Edges.emplace_back();
        }
        Edges& edges = m_Edges[m_Size++];
        edges.m_Source = source;
        edges.m_Readers.clear();
        edges.m_IsTurned = false;
        return edges;
    }

    std::vector<Edges> m_Edges;
    size_t m_Size = 0;
    std::unordered_map<const OutputSlot*, size_t> m_Places;
};

/// The regions with what is around them, one after the other, each as the graph is when it is looked at.
class Region
{
public:
    Region(Graph& graph, const LayoutRegions& regions, UnreadLayers& unread)
        : m_Graph(graph), m_Regions(regions), m_Unread(unread)
    {
    }

    void LookAt(size_t number)
    {
        FetchRegions(number);
        m_Members = m_Regions.Members(number);
        m_Rank = m_Regions.RankOf(Member(0));
        m_Inputs.Clear();
        m_Outputs.Clear();
        for (size_t i = 0; i < m_Members.size(); ++i)
        {
            Layer& member = Member(i);
            for (InputSlot& input : member.Inputs())
            {
                OutputSlot* source = input.GetConnectedOutputSlot();
                if (source != nullptr && IsDataInput(member, input.GetSlotIndex()) &&
                    !m_Regions.Has(number, source->GetOwningLayer()) && !IsOneElement(*source))
                {
                    const Layer& producer = source->GetOwningLayer();
                    m_Inputs.Add(source, &input).m_IsTurned = IsPlainTranspose(&producer) &&
                                                              MappingsOf(producer).GetSize() == m_Rank &&
                                                              !m_Regions.Has(number, *producer.Input(0).GetProducer());
                }
            }
            for (OutputSlot& output : member.Outputs())
            {
                for (InputSlot* reader : output.GetConnections())
                {
                    const Layer& layer = reader->GetOwningLayer();
                    if (!m_Regions.Has(number, layer) || !IsDataInput(layer, reader->GetSlotIndex()))
                    {
                        m_Outputs.Add(&output, reader);
                    }
                }
            }
        }
    }

    /// The orders that Transposes around the region ask for, the most frequent ones.
    std::vector<PermutationVector> Candidates()
    {
        m_Votes.clear();
        for (const Edges& edges : m_Inputs.All())
        {
            if (edges.m_IsTurned)
            {
                Vote(MappingsOf(edges.m_Source->GetOwningLayer()).Inverse());
            }
        }
        for (const Edges& edges : m_Outputs.All())
        {
            for (const InputSlot* reader : edges.m_Readers)
            {
                if (IsPlainTranspose(&reader->GetOwningLayer()))
                {
                    Vote(MappingsOf(reader->GetOwningLayer()));
                }
            }
        }
        std::sort(m_Votes.begin(), m_Votes.end());
        std::vector<std::pair<size_t, Votes::value_type>> ordered;
        for (auto vote = m_Votes.begin(); vote != m_Votes.end();)
        {
            const auto next = std::upper_bound(vote, m_Votes.end(), *vote);
            ordered.emplace_back(next - vote, *vote);
            vote = next;
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
        for (const Edges& edges : m_Inputs.All())
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
        for (const Edges& edges : m_Outputs.All())
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
        for (const Edges& edges : m_Inputs.All())
        {
            OutputSlot& turned = Turned(edges, mappings);
            for (InputSlot* reader : edges.m_Readers)
            {
                edges.m_Source->Disconnect(*reader);
                turned.Connect(*reader);
            }
            if (edges.m_IsTurned)
            {
                m_Unread.DropIfUnread(edges.m_Source->GetOwningLayer());
            }
        }
        const PermutationVector inverse = mappings.Inverse();
        for (const Edges& edges : m_Outputs.All())
        {
            TurnBack(edges, inverse);
        }
        for (size_t i = 0; i < m_Members.size(); ++i)
        {
            Layer& member = Member(i);
            if (auto permuted = PermuteParameters(member, mappings))
            {
                member.SetDescriptor(std::move(permuted));
            }
            for (OutputSlot& output : member.Outputs())
            {
                output.SetTensorInfo(Transposed(output.GetTensorInfo(), mappings));
            }
        }
    }

private:
    using Edges = Border::Edges;
    /// Mappings, 0 behind the last one.
    using Votes = std::vector<std::array<unsigned int, MaxNumOfTensorDimensions>>;

    Layer& Member(size_t i) const { return *m_Graph.Layers()[m_Members[i]]; }

    /// Lets what comes after a region be on its way from memory: there may be many small ones.
    TENON_FETCHES void FetchRegions(size_t number) const
    {
        constexpr size_t ahead = 8;
        if (number + ahead < m_Regions.Size())
        {
            FetchHot::Fetch(m_Graph.Layers()[m_Regions.Members(number + ahead)[0]].get());
            FetchProducer(*m_Graph.Layers()[m_Regions.Members(number + ahead / 2)[0]]);
        }
    }

    void Vote(const PermutationVector& mappings)
    {
        if (mappings.GetSize() == m_Rank && !IsIdentity(mappings))
        {
            std::copy(mappings.begin(), mappings.end(), m_Votes.emplace_back().begin());
        }
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
                    m_Unread.DropIfUnread(layer);
                }
                continue;
            }
            back = back != nullptr ? back : &AddTranspose(*edges.m_Source, inverse, info).Output(0);
            edges.m_Source->Disconnect(*reader);
            back->Connect(*reader);
        }
    }

    Graph& m_Graph;
    const LayoutRegions& m_Regions;
    UnreadLayers& m_Unread;
    Span<const uint32_t> m_Members; ///< of the region that was looked at
    unsigned int m_Rank = 0;
    Border m_Inputs;
    Border m_Outputs;
    Votes m_Votes;
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
void AbsorbTransposes(Graph& graph, UnreadLayers& unread)
{
    for (Layer* layer : graph.TopologicalOrder({LayerType::Mean, LayerType::Reduce}))
    {
        InputSlot& input = layer->Input(0);
        Layer* transpose = input.GetProducer();
        while (IsPlainTranspose(transpose) && !input.IsTensorInfoOverridden())
        {
            auto absorbed = AbsorbTranspose(*layer, MappingsOf(*transpose));
            if (absorbed == nullptr)
            {
                break;
            }
            layer->SetDescriptor(std::move(absorbed));
            input.GetConnectedOutputSlot()->Disconnect(input);
            transpose->Input(0).GetConnectedOutputSlot()->Connect(input);
            unread.DropIfUnread(*transpose);
            transpose = input.GetProducer();
        }
    }
}

} // namespace

void MoveTransposes(Graph& graph)
{
    const LayoutRegions regions(graph);
    UnreadLayers unread(graph);
    Region region(graph, regions, unread);
    for (size_t i = 0; i < regions.Size(); ++i)
    {
        region.LookAt(i);
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
    AbsorbTransposes(graph, unread);
    unread.Remove();
}

} // namespace tenon::passes
