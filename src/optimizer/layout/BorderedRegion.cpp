// SPDX-License-Identifier: Apache-2.0
// See BorderedRegion.hpp.
#include "optimizer/layout/BorderedRegion.hpp"

#include "optimizer/layout/AbsorbTranspose.hpp"
#include "optimizer/layout/LayoutRules.hpp"
#include "optimizer/layout/Transposes.hpp"

#include <tenon/descriptors/Arrangement.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

namespace tenon
{

namespace
{

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

} // namespace

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

} // namespace tenon
