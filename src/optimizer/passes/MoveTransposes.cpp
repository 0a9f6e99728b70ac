// SPDX-License-Identifier: Apache-2.0
// Pass MoveTransposes: moves Transposes through layers that do the same in any order of dimensions, where fewer of them
// remain. Connected layers of that kind form a region. A region works in one order: all of it changes to another one,
// or none. Of the orders that Transposes at its border ask for, the one is taken with which the fewest remain there;
// the number of Transposes never grows. Where it stays, smaller tensors decide.
//
//     Transpose -> [Add -> ReLU -> Concat] -> Transpose        one region; the Transposes are at its border
//
// LayoutRegions finds the regions, BorderedRegion looks at one of them, RegionBorder has the connections across its
// border.
#include "common/CheckedMath.hpp"
#include "graph/Layer.hpp"
#include "optimizer/Pass.hpp"
#include "optimizer/layout/FixedRanks.hpp"
#include "optimizer/layout/LayoutRules.hpp"
#include "optimizer/layout/Transposes.hpp"
#include "optimizer/rewriting/DeadLayers.hpp"

#include <tenon/descriptors/Arrangement.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tenon::passes
{

namespace
{

constexpr uint32_t NoRegion = UINT32_MAX;

/// The regions of a graph as it is now: connected layers that do the same in any order of dimensions. Layers that are
/// added later belong to none. The layers must stay where they are in the graph.
class LayoutRegions
{
public:
    explicit LayoutRegions(const Graph& graph);

    size_t Size() const { return m_First.size() - 1; }
    /// Of one region, in the order of data flow: indices of layers.
    Span<const uint32_t> Members(size_t region) const
    {
        return {m_Members.data() + m_First[region], m_First[region + 1] - m_First[region]};
    }
    unsigned int RankOf(const Layer& member) const { return m_Ranks.Get(member.Output(0)); }
    bool Has(size_t region, const Layer& layer) const
    {
        return layer.m_Index < m_Region.size() && m_Region[layer.m_Index] == region;
    }

private:
    /// Whether an input is a data input of a member that another member feeds.
    bool IsInner(const InputSlot& input) const;
    bool IsMovable(const Layer& layer) const;
    /// Joins what belongs together; m_Region then leads towards a representative of each region.
    void Join(const LayerOrder& order);
    uint32_t Root(uint32_t layer);

    FixedRanks m_Ranks;
    PageVector<uint32_t> m_Region; ///< by layer index
    PageVector<uint32_t> m_First;  ///< by region: where its members begin
    PageVector<uint32_t> m_Members;
};

LayoutRegions::LayoutRegions(const Graph& graph) : m_Ranks(graph.Size()), m_Region(graph.Size(), NoRegion)
{
    const LayerOrder order = graph.TopologicalOrder();
    m_Ranks.AskReaders(order);
    Join(order);
    // Regions are numbered in the order of their first members, which come in the order of data flow.
    PageVector<uint32_t> number(graph.Size(), NoRegion); // by representative
    PageVector<uint32_t> sizes;
    PageVector<uint32_t> places(graph.IsInOrder() ? 0 : graph.Size());
    for (size_t i = 0; i < places.size(); ++i)
    {
        places[i] = order[i]->m_Index;
    }
    const auto at = [&](size_t i) { return places.empty() ? static_cast<uint32_t>(i) : places[i]; };
    for (size_t i = 0; i < graph.Size(); ++i)
    {
        if (m_Region[at(i)] == NoRegion)
        {
            continue;
        }
        uint32_t& region = number[Root(at(i))];
        if (region == NoRegion)
        {
            region = static_cast<uint32_t>(sizes.size());
            sizes.push_back(0);
        }
        ++sizes[region];
    }
    m_First.assign(1, 0);
    for (const uint32_t size : sizes)
    {
        m_First.push_back(m_First.back() + size);
    }
    m_Members.resize(m_First.back());
    PageVector<uint32_t> next(m_First.begin(), m_First.end() - 1);
    PageVector<uint32_t> regions(graph.Size(), NoRegion);
    for (size_t i = 0; i < graph.Size(); ++i)
    {
        const uint32_t layer = at(i);
        if (m_Region[layer] != NoRegion)
        {
            regions[layer] = number[Root(layer)];
            m_Members[next[regions[layer]]++] = layer;
        }
    }
    m_Region = std::move(regions);
}

void LayoutRegions::Join(const LayerOrder& order)
{
    for (const Layer* layer : order)
    {
        m_Ranks.AskProducer(*layer);
        if (!IsMovable(*layer))
        {
            continue;
        }
        m_Region[layer->m_Index] = layer->m_Index;
        for (const InputSlot& input : layer->Inputs())
        {
            if (IsInner(input))
            {
                m_Region[Root(layer->m_Index)] = Root(input.GetProducer()->m_Index);
            }
        }
    }
}

uint32_t LayoutRegions::Root(uint32_t layer)
{
    while (m_Region[layer] != layer)
    {
        m_Region[layer] = m_Region[m_Region[layer]];
        layer = m_Region[layer];
    }
    return layer;
}

bool LayoutRegions::IsInner(const InputSlot& input) const
{
    const Layer* producer = input.GetProducer(); // which came before it
    return producer != nullptr && m_Region[producer->m_Index] != NoRegion &&
           IsDataInput(input.GetOwningLayer(), input.GetSlotIndex());
}

bool LayoutRegions::IsMovable(const Layer& layer) const
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
        const bool isLowerConstant = kind == LayoutKind::Broadcast && source != nullptr &&
                                     source->GetOwningLayer().GetConstant() != nullptr &&
                                     m_Ranks.Get(*source) <= rank && !source->GetTensorInfo().HasPerAxisQuantization();
        if (source == nullptr || (m_Ranks.Get(*source) != rank && !isLowerConstant))
        {
            return false;
        }
    }
    return true;
}

/// Transposes at the border of a region: how many, and the elements that they move as far as those are known. That
/// guides what pays; no result depends on it.
struct BorderCost
{
    size_t m_Count = 0;
    uint64_t m_Elements = 0;

    void Add(const TensorInfo& info);
    friend bool operator<(const BorderCost& a, const BorderCost& b)
    {
        return std::pair(a.m_Count, a.m_Elements) < std::pair(b.m_Count, b.m_Elements);
    }
};

/// Connections across the border of a region: readers by the slot that they read. Its memory is reused for the next
/// region.
class RegionBorder
{
public:
    struct Edges
    {
        OutputSlot* m_Source = nullptr;
        std::vector<InputSlot*> m_Readers;
        bool m_IsTransposed = false; ///< an input of the region: its source is a Transpose of an outside tensor
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
    static constexpr size_t MaxSearched = 8; ///< above this number slots are found by hash

    Edges& Find(OutputSlot* source);

    std::vector<Edges> m_Edges;
    size_t m_Size = 0;
    std::unordered_map<const OutputSlot*, size_t> m_Places;
};

void BorderCost::Add(const TensorInfo& info)
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

RegionBorder::Edges& RegionBorder::Find(OutputSlot* source)
{
    if (m_Size <= MaxSearched)
    {
        const auto end = m_Edges.begin() + static_cast<ptrdiff_t>(m_Size);
        const auto found =
            std::find_if(m_Edges.begin(), end, [&](const Edges& edges) { return edges.m_Source == source; });
        if (found != end)
        {
            return *found;
        }
        for (size_t i = 0; m_Size == MaxSearched && i < m_Size; ++i)
        {
            m_Places.emplace(m_Edges[i].m_Source, i);
        }
    }
    if (m_Size >= MaxSearched)
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
    edges.m_IsTransposed = false;
    return edges;
}

bool IsConstant(const OutputSlot& slot)
{
    return slot.GetOwningLayer().GetConstant() != nullptr;
}

/// A constant that is the same in any order of dimensions.
bool IsOneElement(const OutputSlot& slot)
{
    return IsConstant(slot) && slot.GetTensorInfo().GetShape().GetNumElements64() == 1;
}

bool Absorbs(const InputSlot& reader, const PermutationVector& mappings)
{
    return reader.GetSlotIndex() == 0 && !reader.IsTensorInfoOverridden() &&
           AbsorbTranspose(reader.GetOwningLayer(), mappings) != nullptr;
}

/// Prefetches the regions that come next: there may be many small ones.
TENON_FETCHES void FetchRegions(const Graph& graph, const LayoutRegions& regions, size_t number)
{
    constexpr size_t ahead = 8;
    if (number + ahead < regions.Size())
    {
        FetchHot::Fetch(graph.Layers()[regions.Members(number + ahead)[0]].get());
        FetchProducer(*graph.Layers()[regions.Members(number + ahead / 2)[0]]);
    }
}

/// A region with what is around it. The regions are looked at one after the other, each as the graph is by then.
class BorderedRegion
{
public:
    BorderedRegion(Graph& graph, const LayoutRegions& regions, DeadLayers& deadLayers)
        : m_Graph(graph), m_Regions(regions), m_DeadLayers(deadLayers)
    {
    }

    void SetRegion(size_t number);
    /// The orders that Transposes around the region ask for, the most frequent ones.
    std::vector<PermutationVector> Candidates();
    /// The Transposes at the border once the region works in this order. `mappings` is the identity for what is there.
    BorderCost CostOf(const PermutationVector& mappings) const;
    /// Lets the region work in this order.
    void Change(const PermutationVector& mappings);

private:
    using Edges = RegionBorder::Edges;
    /// Mappings, 0 behind the last one.
    using Votes = std::vector<std::array<unsigned int, MaxNumOfTensorDimensions>>;

    Layer& Member(size_t i) const { return *m_Graph.Layers()[m_Members[i]]; }
    void Vote(const PermutationVector& mappings);
    Layer& AddTranspose(OutputSlot& source, const PermutationVector& mappings, const TensorInfo& info);
    /// The values of the slot in the new order: the input of a Transpose that cancels, or a new Transpose.
    OutputSlot& MakeTransposed(const Edges& edges, const PermutationVector& mappings);
    /// A constant's info with ones in front, up to the rank of the region.
    TensorInfo WithRank(const TensorInfo& info) const;
    /// Puts Transposes back to the old order in front of readers outside of the region.
    void TransposeBack(const Edges& edges, const PermutationVector& inverse);

    Graph& m_Graph;
    const LayoutRegions& m_Regions;
    DeadLayers& m_DeadLayers;
    Span<const uint32_t> m_Members; ///< of the region that was looked at
    unsigned int m_Rank = 0;
    RegionBorder m_Inputs;
    RegionBorder m_Outputs;
    Votes m_Votes;
};

void BorderedRegion::SetRegion(size_t number)
{
    FetchRegions(m_Graph, m_Regions, number);
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
                m_Inputs.Add(source, &input).m_IsTransposed = IsPlainTranspose(&producer) &&
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

std::vector<PermutationVector> BorderedRegion::Candidates()
{
    m_Votes.clear();
    for (const Edges& edges : m_Inputs.All())
    {
        if (edges.m_IsTransposed)
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
    constexpr size_t maxCandidates = 3; // each costs a look at the whole border
    std::sort(ordered.begin(), ordered.end(), std::greater<>());
    std::vector<PermutationVector> candidates;
    for (size_t i = 0; i < std::min(maxCandidates, ordered.size()); ++i)
    {
        candidates.emplace_back(ordered[i].second.data(), m_Rank);
    }
    return candidates;
}

BorderCost BorderedRegion::CostOf(const PermutationVector& mappings) const
{
    BorderCost cost;
    const bool stays = IsIdentity(mappings);
    for (const Edges& edges : m_Inputs.All())
    {
        const Layer& producer = edges.m_Source->GetOwningLayer();
        if (IsConstant(*edges.m_Source))
        {
            continue; // ConstantFolding transposes constants
        }
        if (!edges.m_IsTransposed)
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

void BorderedRegion::Change(const PermutationVector& mappings)
{
    for (const Edges& edges : m_Inputs.All())
    {
        OutputSlot& transposed = MakeTransposed(edges, mappings);
        for (InputSlot* reader : edges.m_Readers)
        {
            edges.m_Source->Disconnect(*reader);
            transposed.Connect(*reader);
        }
        if (edges.m_IsTransposed)
        {
            m_DeadLayers.CutOffIfDead(edges.m_Source->GetOwningLayer());
        }
    }
    const PermutationVector inverse = mappings.Inverse();
    for (const Edges& edges : m_Outputs.All())
    {
        TransposeBack(edges, inverse);
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

void BorderedRegion::Vote(const PermutationVector& mappings)
{
    if (mappings.GetSize() == m_Rank && !IsIdentity(mappings))
    {
        std::copy(mappings.begin(), mappings.end(), m_Votes.emplace_back().begin());
    }
}

Layer& BorderedRegion::AddTranspose(OutputSlot& source, const PermutationVector& mappings, const TensorInfo& info)
{
    Layer& transpose = m_Graph.AddLayer(LayerType::Transpose, std::make_unique<TransposeDescriptor>(mappings),
                                        source.GetOwningLayer().GetNameStr() + ":moved");
    source.Connect(transpose.Input(0));
    transpose.Output(0).SetTensorInfo(info);
    return transpose;
}

OutputSlot& BorderedRegion::MakeTransposed(const Edges& edges, const PermutationVector& mappings)
{
    OutputSlot& source = *edges.m_Source;
    OutputSlot* from = &source;
    PermutationVector rest = mappings;
    const Layer& producer = source.GetOwningLayer();
    const TensorInfo whole = IsConstant(source) ? WithRank(source.GetTensorInfo()) : source.GetTensorInfo();
    if (edges.m_IsTransposed)
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

TensorInfo BorderedRegion::WithRank(const TensorInfo& info) const
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

void BorderedRegion::TransposeBack(const Edges& edges, const PermutationVector& inverse)
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
                m_DeadLayers.CutOffIfDead(layer);
            }
            continue;
        }
        back = back != nullptr ? back : &AddTranspose(*edges.m_Source, inverse, info).Output(0);
        edges.m_Source->Disconnect(*reader);
        back->Connect(*reader);
    }
}

/// Reductions and searches that remove dimensions take their input as it is before a Transpose.
void AbsorbTransposes(Graph& graph, DeadLayers& deadLayers)
{
    for (Layer* layer : graph.TopologicalOrder({LayerType::ArgMinMax, LayerType::Mean, LayerType::Reduce}))
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
            deadLayers.CutOffIfDead(*transpose);
            transpose = input.GetProducer();
        }
    }
}

} // namespace

void MoveTransposes(Graph& graph)
{
    const LayoutRegions regions(graph);
    DeadLayers deadLayers(graph);
    BorderedRegion region(graph, regions, deadLayers);
    for (size_t i = 0; i < regions.Size(); ++i)
    {
        region.SetRegion(i);
        const std::vector<PermutationVector> candidates = region.Candidates();
        if (candidates.empty())
        {
            continue;
        }
        BorderCost minCost = region.CostOf(Identity(candidates.front().GetSize()));
        const PermutationVector* best = nullptr;
        for (const PermutationVector& candidate : candidates)
        {
            const BorderCost cost = region.CostOf(candidate);
            if (cost < minCost)
            {
                minCost = cost;
                best = &candidate;
            }
        }
        if (best != nullptr)
        {
            region.Change(*best);
        }
    }
    AbsorbTransposes(graph, deadLayers);
    deadLayers.Remove();
}

} // namespace tenon::passes
