// SPDX-License-Identifier: Apache-2.0
// Pass MoveReshapes: a Transpose goes behind the Reshape that follows it where that joins or cuts neighbouring
// dimensions, so that it meets the next Transpose: of images that become rows, as in vision transformers and the heads
// of detectors. Before a flat product of images with a constant matrix it goes into the matrix. Only where sizes are
// sure enough (SizeFacts.hpp).
#include "optimizer/Pass.hpp"
#include "optimizer/layout/LayoutRules.hpp"
#include "optimizer/layout/Transposes.hpp"
#include "optimizer/rewriting/Patterns.hpp"
#include "optimizer/rewriting/SizeFacts.hpp"

#include <tenon/descriptors/Arrangement.hpp>
#include <tenon/descriptors/Products.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tenon::passes
{

namespace
{

using Sizes = SizeFacts::List;

/// Neighbouring dimensions before a Reshape that become neighbouring ones after it: one of both is one dimension.
struct Block
{
    unsigned int m_From = 0;
    unsigned int m_FromEnd = 0;
    unsigned int m_To = 0;
    unsigned int m_ToEnd = 0;
};

/// How dimensions `a` from `first` on make up one of `size`: behind the last of them, or nothing.
std::optional<unsigned int> FindEnd(const Sizes& a, unsigned int first, const SizeFacts::Entry& size)
{
    int64_t product = 1;
    for (unsigned int i = first; i < a.size() && size.IsKnown() && a[i].IsKnown() && a[i].m_Number > 0; ++i)
    {
        if (__builtin_mul_overflow(product, a[i].m_Number, &product) || product > size.m_Number)
        {
            break;
        }
        if (product == size.m_Number && i != first)
        {
            return i + 1;
        }
    }
    return std::nullopt;
}

/// A Reshape as blocks, or nothing where it is none of that kind. There are no sizes of 1.
std::vector<Block> FindBlocks(const Sizes& from, const Sizes& to)
{
    std::vector<Block> blocks;
    Block next;
    while (next.m_From < from.size() && next.m_To < to.size())
    {
        next.m_FromEnd = next.m_From + 1;
        next.m_ToEnd = next.m_To + 1;
        if (from[next.m_From] != to[next.m_To])
        {
            const auto joined = FindEnd(from, next.m_From, to[next.m_To]);
            const auto cut = joined.has_value() ? std::nullopt : FindEnd(to, next.m_To, from[next.m_From]);
            if (!joined.has_value() && !cut.has_value())
            {
                return {};
            }
            next.m_FromEnd = joined.value_or(next.m_FromEnd);
            next.m_ToEnd = cut.value_or(next.m_ToEnd);
        }
        blocks.push_back(next);
        next = {next.m_FromEnd, 0, next.m_ToEnd, 0};
    }
    return next.m_From == from.size() && next.m_To == to.size() ? blocks : std::vector<Block>();
}

/// The dimensions whose size is not 1, or may be another.
std::vector<unsigned int> FindOthersThanOne(const Sizes& sizes)
{
    std::vector<unsigned int> places;
    for (unsigned int i = 0; i < sizes.size(); ++i)
    {
        if (!sizes[i].Is(1))
        {
            places.push_back(i);
        }
    }
    return places;
}

Sizes Pick(const Sizes& sizes, const std::vector<unsigned int>& places)
{
    Sizes picked;
    for (const unsigned int place : places)
    {
        picked.push_back(sizes[place]);
    }
    return picked;
}

/// The Transpose before a Reshape, maybe with layers between them that do the same in any order of dimensions; nothing
/// else reads any of it.
struct Found
{
    Layer* m_Transpose = nullptr;
    std::vector<const Layer*> m_Reshapes; ///< before the Reshape, from there up: it takes them over
    std::vector<Layer*> m_Between;        ///< from the first Reshape up
};

bool IsReshape(const Layer& layer)
{
    const LayerType type = layer.GetType();
    return (type == LayerType::Reshape || type == LayerType::Squeeze || type == LayerType::ExpandDims) &&
           layer.NumInputs() == 1 && IsPlainInput(layer, 0) &&
           !layer.Output(0).GetTensorInfo().HasPerAxisQuantization();
}

bool MayPermuteAll(const std::vector<Layer*>& layers, unsigned int rank)
{
    return std::all_of(layers.begin(), layers.end(), [&](const Layer* layer) { return MayPermute(*layer, rank); });
}

std::optional<Found> FindTranspose(const Layer& reshape)
{
    Found found;
    constexpr size_t MaxSearched = 4;
    const Layer* reader = &reshape;
    for (const Layer* before = GetSoleProducer(reshape, 0);
         before != nullptr && IsReshape(*before) && found.m_Reshapes.size() < MaxSearched;
         before = GetSoleProducer(*before, 0))
    {
        found.m_Reshapes.push_back(before);
        reader = before;
    }
    while (found.m_Between.size() <= MaxSearched)
    {
        Layer* const producer = GetSoleProducer(*reader, 0);
        if (producer == nullptr || IsPlainTranspose(producer))
        {
            found.m_Transpose = producer;
            return producer == nullptr || !MayPermuteAll(found.m_Between, MappingsOf(*producer).GetSize())
                       ? std::nullopt
                       : std::optional(found);
        }
        if (producer->NumInputs() != 1 || GetLayoutKind(producer->GetType()) != LayoutKind::Same ||
            producer->Output(0).GetTensorInfo().HasPerAxisQuantization())
        {
            return std::nullopt;
        }
        found.m_Between.push_back(producer);
        reader = producer;
    }
    return std::nullopt;
}

class ReshapeMover
{
public:
    explicit ReshapeMover(Graph& graph) : m_Graph(graph) {}

    void Run()
    {
        std::vector<const Layer*> unused;
        for (Layer* layer : m_Graph.TopologicalOrder({LayerType::Reshape, LayerType::Squeeze, LayerType::ExpandDims}))
        {
            const std::optional<Found> found = IsMovable(*layer) ? FindTranspose(*layer) : std::nullopt;
            if (found.has_value() && !m_Facts.has_value())
            {
                m_Facts.emplace(m_Graph); // layers that come later are not known
            }
            if (found.has_value() && (Move(*layer, *found) || MoveIntoWeights(*layer, *found)))
            {
                unused.push_back(layer);
                unused.push_back(found->m_Transpose);
                unused.insert(unused.end(), found->m_Reshapes.begin(), found->m_Reshapes.end());
            }
        }
        RemoveUnused(m_Graph, unused);
    }

private:
    /// The last one of several in a row takes all of them over.
    static bool IsMovable(const Layer& reshape)
    {
        const InputSlot* const reader = GetSoleConsumer(reshape);
        return IsReshape(reshape) && reshape.Output(0).GetNumConnections() != 0 &&
               (reader == nullptr || !IsReshape(reader->GetOwningLayer()));
    }

    /// What the first Reshape reads.
    static OutputSlot& GetReshaped(const Layer& reshape, const Found& found)
    {
        const Layer& first = found.m_Reshapes.empty() ? reshape : *found.m_Reshapes.back();
        return *first.Input(0).GetConnectedOutputSlot();
    }

    /// Takes the Transpose away: what was between it and the Reshape then works in the order before it.
    OutputSlot& SkipTranspose(const Layer& reshape, const Found& found)
    {
        OutputSlot& source = *found.m_Transpose->Input(0).GetConnectedOutputSlot();
        OutputSlot& last = GetReshaped(reshape, found);
        if (found.m_Between.empty())
        {
            return source;
        }
        const PermutationVector back = MappingsOf(*found.m_Transpose).Inverse();
        for (Layer* layer : found.m_Between)
        {
            if (auto permuted = PermuteParameters(*layer, back))
            {
                layer->SetDescriptor(std::move(permuted));
            }
            layer->Output(0).SetTensorInfo(Transposed(layer->Output(0).GetTensorInfo(), back));
        }
        Rewire(found.m_Between.back()->Input(0), source);
        return last;
    }

    /// Takes the Reshape and its readers off.
    static void CutOff(Layer& reshape, OutputSlot& replacement)
    {
        reshape.Output(0).MoveAllConnections(replacement);
        reshape.Input(0).GetConnectedOutputSlot()->Disconnect(reshape.Input(0));
    }

    bool Move(Layer& reshape, const Found& found)
    {
        const Sizes* const from = m_Facts->GetSizes(GetReshaped(reshape, found));
        const Sizes* const to = m_Facts->GetSizes(reshape.Output(0));
        const PermutationVector& mappings = MappingsOf(*found.m_Transpose);
        if (from == nullptr || to == nullptr || from->size() != mappings.GetSize() ||
            to->size() > MaxNumOfTensorDimensions ||
            std::count_if(to->begin(), to->end(), [](const SizeFacts::Entry& size) { return !size.IsKnown(); }) > 1)
        {
            return false;
        }
        const std::vector<unsigned int> fromPlaces = FindOthersThanOne(*from);
        const std::vector<unsigned int> toPlaces = FindOthersThanOne(*to);
        std::vector<Block> blocks = FindBlocks(Pick(*from, fromPlaces), Pick(*to, toPlaces));
        if (blocks.empty())
        {
            return false;
        }
        // Of the mappings without dimensions of size 1: the place of each before the Transpose.
        const auto placeOf = [&](unsigned int i) { return mappings[fromPlaces[i]]; };
        for (const Block& block : blocks)
        {
            for (unsigned int i = block.m_From + 1; i < block.m_FromEnd; ++i)
            {
                const auto isBetween = [&](unsigned int other)
                { return placeOf(other) > placeOf(i - 1) && placeOf(other) < placeOf(i); };
                bool isContiguous = placeOf(i) > placeOf(i - 1);
                for (unsigned int other = 0; other < fromPlaces.size(); ++other)
                {
                    isContiguous = isContiguous && !isBetween(other);
                }
                if (!isContiguous)
                {
                    return false; // dimensions that are joined lie apart, or in another order
                }
            }
        }
        std::sort(blocks.begin(), blocks.end(),
                  [&](const Block& a, const Block& b) { return placeOf(a.m_From) < placeOf(b.m_From); });
        // Sizes of 1 stay where they are, the others take the places of others in the order before the Transpose.
        const auto rank = static_cast<unsigned int>(to->size());
        TensorShape target(rank, false);
        std::array<unsigned int, MaxNumOfTensorDimensions> behind{};
        for (unsigned int i = 0; i < rank; ++i)
        {
            behind[i] = i;
            target.SetDimensionSize(i, 1);
        }
        size_t next = 0;
        for (const Block& block : blocks)
        {
            for (unsigned int i = block.m_To; i < block.m_ToEnd; ++i, ++next)
            {
                const SizeFacts::Entry& size = (*to)[toPlaces[i]];
                behind[toPlaces[i]] = toPlaces[next];
                size.IsKnown() ? target.SetDimensionSize(toPlaces[next], static_cast<unsigned int>(size.m_Number))
                               : target.SetDimensionUnknown(toPlaces[next]);
            }
        }
        const PermutationVector back(behind.data(), rank);
        TensorInfo info = reshape.Output(0).GetTensorInfo();
        const TensorInfo outside = info;
        info =
            info.GetShape().GetDimensionality() == Dimensionality::Specified ? Transposed(info, back.Inverse()) : info;
        OutputSlot& source = SkipTranspose(reshape, found);
        Layer& moved =
            m_Graph.AddLayer(LayerType::Reshape, std::make_unique<ReshapeDescriptor>(target), reshape.GetNameStr());
        moved.BackendSelectionHint(reshape.GetBackendHint());
        moved.Output(0).SetTensorInfo(info);
        if (IsIdentity(back))
        {
            CutOff(reshape, moved.Output(0));
        }
        else
        {
            Layer& transpose = m_Graph.AddLayer(LayerType::Transpose, std::make_unique<TransposeDescriptor>(back),
                                                reshape.GetNameStr() + ":moved");
            transpose.BackendSelectionHint(reshape.GetBackendHint());
            transpose.Output(0).SetTensorInfo(outside);
            moved.Output(0).Connect(transpose.Input(0));
            CutOff(reshape, transpose.Output(0));
        }
        source.Connect(moved.Input(0));
        return true;
    }

    /// [N, a, b, ...] to [N, a b ...], which is multiplied by a constant matrix alone.
    bool MoveIntoWeights(Layer& reshape, const Found& found)
    {
        const InputSlot* const reader = GetSoleConsumer(reshape);
        const Sizes* const from = m_Facts->GetSizes(GetReshaped(reshape, found));
        const Sizes* const to = m_Facts->GetSizes(reshape.Output(0));
        const PermutationVector& mappings = MappingsOf(*found.m_Transpose);
        Layer* const product = reader != nullptr && reader->GetSlotIndex() == 0 ? &reader->GetOwningLayer() : nullptr;
        if (product == nullptr || product->GetType() != LayerType::FullyConnected || from == nullptr || to == nullptr ||
            from->size() != mappings.GetSize() || from->size() < 3 || to->size() != 2 || mappings[0] != 0 ||
            (*from)[0] != (*to)[0] || FindEnd(*from, 1, (*to)[1]) != from->size() || !IsPlainInput(*product, 1) ||
            product->GetConstantInput(1) == nullptr ||
            product->Descriptor<FullyConnectedDescriptor>().m_ShuffledWeights)
        {
            return false;
        }
        const TensorInfo weights = product->Input(1).GetTensorInfo();
        const bool isTransposed = product->Descriptor<FullyConnectedDescriptor>().m_TransposeWeightMatrix;
        const unsigned int rows = isTransposed ? 1 : 0; // the dimension of the product's inputs
        const unsigned int rank = mappings.GetSize();
        if (weights.GetNumDimensions() != 2 || weights.HasPerAxisQuantization() ||
            int64_t{weights.GetShape()[rows]} != (*to)[1].m_Number)
        {
            return false;
        }
        // The matrix as [a, b, ..., outputs], or [outputs, a, b, ...], in the order before the Transpose.
        const PermutationVector back = mappings.Inverse();
        TensorShape split(rank, true);
        std::array<unsigned int, MaxNumOfTensorDimensions> order{};
        split.SetDimensionSize(isTransposed ? 0 : rank - 1, weights.GetShape()[1 - rows]);
        order[isTransposed ? 0 : rank - 1] = isTransposed ? 0 : rank - 1;
        for (unsigned int i = 1; i < rank; ++i)
        {
            split.SetDimensionSize(i - 1 + rows, static_cast<unsigned int>((*from)[i].m_Number));
            order[i - 1 + rows] = back[i] - 1 + rows;
        }
        const PermutationVector permutation(order.data(), rank);
        OutputSlot* matrix = product->Input(1).GetConnectedOutputSlot();
        const auto add = [&](LayerType type, std::unique_ptr<BaseDescriptor> descriptor, const TensorInfo& info)
        {
            Layer& layer = m_Graph.AddLayer(type, std::move(descriptor), matrix->GetOwningLayer().GetNameStr());
            layer.Output(0).SetTensorInfo(info);
            layer.Output(0).EditTensorInfo().SetConstant(false);
            matrix->Connect(layer.Input(0));
            matrix = &layer.Output(0);
        };
        TensorInfo whole = weights;
        whole.SetShape(split);
        whole.SetConstant(true);
        const auto given = matrix->GetOwningLayer().GetConstant(); // its memory stays where it is
        matrix = &m_Graph
                      .AddConstant(ConstTensor(whole, given->m_Tensor.GetMemoryArea()), given->m_Owner,
                                   matrix->GetOwningLayer().GetNameStr())
                      .Output(0);
        add(LayerType::Transpose, std::make_unique<TransposeDescriptor>(permutation), Transposed(whole, permutation));
        add(LayerType::Reshape, std::make_unique<ReshapeDescriptor>(weights.GetShape()), weights);
        Rewire(product->Input(1), *matrix);

        TensorShape target(2, false);
        target.SetDimensionSize(1, static_cast<unsigned int>((*to)[1].m_Number));
        if ((*to)[0].IsKnown())
        {
            target.SetDimensionSize(0, static_cast<unsigned int>((*to)[0].m_Number));
        }
        OutputSlot& source = SkipTranspose(reshape, found);
        Layer& flat =
            m_Graph.AddLayer(LayerType::Reshape, std::make_unique<ReshapeDescriptor>(target), reshape.GetNameStr());
        flat.BackendSelectionHint(reshape.GetBackendHint());
        flat.Output(0).SetTensorInfo(reshape.Output(0).GetTensorInfo());
        CutOff(reshape, flat.Output(0));
        source.Connect(flat.Input(0));
        return true;
    }

    Graph& m_Graph;
    std::optional<SizeFacts> m_Facts;
};

} // namespace

void MoveReshapes(Graph& graph)
{
    if (graph.Count(LayerType::Reshape) != 0)
    {
        ReshapeMover(graph).Run();
    }
}

} // namespace tenon::passes
