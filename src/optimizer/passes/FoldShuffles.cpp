// SPDX-License-Identifier: Apache-2.0
// Pass FoldShuffles: Reshape -> Transpose -> Reshape of channels-first images becomes a DepthToSpace (PyTorch's
// PixelShuffle), a SpaceToDepth or a ChannelShuffle, as frameworks write these. Only where sizes are sure enough for
// that (SizeFacts.hpp).
#include "optimizer/Pass.hpp"
#include "optimizer/layout/Transposes.hpp"
#include "optimizer/rewriting/Patterns.hpp"
#include "optimizer/rewriting/SizeFacts.hpp"

#include <tenon/descriptors/Arrangement.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace tenon::passes
{

namespace
{

using Sizes = SizeFacts::List;

/// The sizes before, between and after the layers.
struct Steps
{
    const Sizes& m_From;
    const Sizes& m_Split;
    const Sizes& m_To;
    const PermutationVector& m_Mappings;
};

bool IsMapping(const PermutationVector& mappings, std::initializer_list<unsigned int> wanted)
{
    unsigned int i = 0;
    return mappings.GetSize() == wanted.size() &&
           std::all_of(wanted.begin(), wanted.end(), [&](unsigned int place) { return mappings[i++] == place; });
}

/// Whether `whole` is a times b, all of which are known.
bool IsProductOf(const SizeFacts::Entry& whole, const SizeFacts::Entry& a, const SizeFacts::Entry& b)
{
    return whole.IsKnown() && a.IsKnown() && b.IsKnown() && whole.m_Number == a.m_Number * b.m_Number;
}

struct Shuffle
{
    LayerType m_Type;
    std::unique_ptr<BaseDescriptor> m_Descriptor;
};

std::optional<Shuffle> MakeBlocks(LayerType type, const SizeFacts::Entry& block, bool isChannelMajor)
{
    if (!block.IsKnown() || block.m_Number < 1 || block.m_Number > UINT16_MAX)
    {
        return std::nullopt;
    }
    auto descriptor =
        std::make_unique<SpaceToDepthDescriptor>(static_cast<unsigned int>(block.m_Number), DataLayout::NHWC);
    descriptor->m_ChannelMajor = isChannelMajor;
    return Shuffle{type, std::move(descriptor)};
}

/// [N, C r r, H, W] by way of [N, C, r, r, H, W], or of [N, r, r, C, H, W], to [N, C, H r, W r].
std::optional<Shuffle> FindDepthToSpace(const Steps& s)
{
    const bool isChannelMajor = IsMapping(s.m_Mappings, {0, 1, 4, 2, 5, 3});
    if ((!isChannelMajor && !IsMapping(s.m_Mappings, {0, 3, 4, 1, 5, 2})) || s.m_From.size() != 4 ||
        s.m_Split.size() != 6 || s.m_To.size() != 4)
    {
        return std::nullopt;
    }
    const SizeFacts::Entry& block = s.m_Split[isChannelMajor ? 2 : 1];
    const SizeFacts::Entry& channels = s.m_Split[isChannelMajor ? 1 : 3];
    const bool fits = s.m_Split[isChannelMajor ? 3 : 2] == block && s.m_Split[0] == s.m_From[0] &&
                      s.m_Split[4] == s.m_From[2] && s.m_Split[5] == s.m_From[3] && s.m_To[0] == s.m_From[0] &&
                      s.m_To[1] == channels && IsProductOf(s.m_To[2], s.m_From[2], block) &&
                      IsProductOf(s.m_To[3], s.m_From[3], block);
    return fits ? MakeBlocks(LayerType::DepthToSpace, block, isChannelMajor) : std::nullopt;
}

/// [N, C, H r, W r] by way of [N, C, H, r, W, r] to [N, C r r, H, W].
std::optional<Shuffle> FindSpaceToDepth(const Steps& s)
{
    const bool isChannelMajor = IsMapping(s.m_Mappings, {0, 1, 3, 5, 2, 4});
    if ((!isChannelMajor && !IsMapping(s.m_Mappings, {0, 3, 5, 1, 2, 4})) || s.m_From.size() != 4 ||
        s.m_Split.size() != 6 || s.m_To.size() != 4)
    {
        return std::nullopt;
    }
    const SizeFacts::Entry& block = s.m_Split[3];
    const bool fits = s.m_Split[5] == block && s.m_Split[0] == s.m_From[0] && s.m_Split[1] == s.m_From[1] &&
                      IsProductOf(s.m_From[2], s.m_Split[2], block) && IsProductOf(s.m_From[3], s.m_Split[4], block) &&
                      s.m_To[0] == s.m_From[0] && s.m_To[2] == s.m_Split[2] && s.m_To[3] == s.m_Split[4];
    return fits ? MakeBlocks(LayerType::SpaceToDepth, block, isChannelMajor) : std::nullopt;
}

/// [..., g c, ...] by way of [..., g, c, ...] and [..., c, g, ...] back.
std::optional<Shuffle> FindChannelShuffle(const Steps& s)
{
    const size_t rank = s.m_From.size();
    if (s.m_Split.size() != rank + 1 || s.m_To != s.m_From || s.m_Mappings.GetSize() != rank + 1)
    {
        return std::nullopt;
    }
    size_t axis = 0;
    while (axis < rank && s.m_Mappings[static_cast<unsigned int>(axis)] == axis)
    {
        ++axis;
    }
    for (size_t i = 0; i < rank + 1; ++i)
    {
        const size_t wanted = i == axis ? axis + 1 : i == axis + 1 ? axis : i;
        if (axis >= rank || s.m_Mappings[static_cast<unsigned int>(i)] != wanted)
        {
            return std::nullopt;
        }
        const bool isSplit = i == axis || i == axis + 1;
        if (!isSplit && !(s.m_Split[i] == s.m_From[i < axis ? i : i - 1]))
        {
            return std::nullopt;
        }
    }
    const SizeFacts::Entry& groups = s.m_Split[axis];
    if (!groups.IsKnown() || groups.m_Number < 1 || groups.m_Number > UINT16_MAX)
    {
        return std::nullopt;
    }
    return Shuffle{LayerType::ChannelShuffle, std::make_unique<ChannelShuffleDescriptor>(
                                                  static_cast<uint32_t>(groups.m_Number), static_cast<uint32_t>(axis))};
}

/// Puts the layer, which takes channels last, in the place of `last` and what is before it.
bool Replace(Graph& graph, const PassContext& context, Layer& last, Shuffle shuffle, OutputSlot& source)
{
    if (shuffle.m_Type == LayerType::ChannelShuffle)
    {
        return ReplacePattern(graph, context, last, shuffle.m_Type, std::move(shuffle.m_Descriptor), {&source}) !=
               nullptr;
    }
    const PermutationVector channelsLast({0, 2, 3, 1});
    const auto addTranspose = [&](const PermutationVector& mappings, const TensorInfo& info) -> Layer&
    {
        Layer& layer =
            graph.AddLayer(LayerType::Transpose, std::make_unique<TransposeDescriptor>(mappings), last.GetNameStr());
        layer.BackendSelectionHint(last.GetBackendHint());
        layer.Output(0).SetTensorInfo(info);
        return layer;
    };
    const TensorInfo outside = last.Output(0).GetTensorInfo();
    Layer& before = addTranspose(channelsLast, Transposed(source.GetTensorInfo(), channelsLast));
    source.Connect(before.Input(0));
    // Where no backend takes the layer, RemoveDeadLayers finds what was put before it.
    Layer* const layer =
        ReplacePattern(graph, context, last, shuffle.m_Type, std::move(shuffle.m_Descriptor), {&before.Output(0)});
    if (layer == nullptr)
    {
        return false;
    }
    Layer& behind = addTranspose(channelsLast.Inverse(), outside);
    layer->Output(0).MoveAllConnections(behind.Output(0));
    layer->Output(0).Connect(behind.Input(0));
    layer->Output(0).SetTensorInfo(Transposed(outside, channelsLast));
    return true;
}

bool FoldShuffleAt(Graph& graph, const PassContext& context, Layer& last, SizeFacts& facts)
{
    const Layer* const transpose = GetSoleProducer(last, 0);
    if (!IsPlainTranspose(transpose))
    {
        return false;
    }
    const Layer* const split = GetSoleProducer(*transpose, 0);
    if (split == nullptr || split->GetType() != LayerType::Reshape || !IsPlainInput(*split, 0))
    {
        return false;
    }
    OutputSlot& source = *split->Input(0).GetConnectedOutputSlot();
    const Sizes* const from = facts.GetSizes(source);
    const Sizes* const between = facts.GetSizes(split->Output(0));
    const Sizes* const to = facts.GetSizes(last.Output(0));
    if (from == nullptr || between == nullptr || to == nullptr ||
        !last.Output(0).GetTensorInfo().IsTypeSpaceMatch(source.GetTensorInfo()))
    {
        return false;
    }
    const Steps steps{*from, *between, *to, MappingsOf(*transpose)};
    for (const auto find : {&FindDepthToSpace, &FindSpaceToDepth, &FindChannelShuffle})
    {
        if (std::optional<Shuffle> found = find(steps))
        {
            return Replace(graph, context, last, std::move(*found), source);
        }
    }
    return false;
}

} // namespace

void FoldShuffles(Graph& graph, PassContext& context)
{
    const LayerOrder reshapes = graph.LayersOf(LayerType::Reshape);
    const auto mayBe = [](const Layer* layer)
    {
        const Layer* const producer = layer->Input(0).GetProducer();
        return producer != nullptr && producer->GetType() == LayerType::Transpose &&
               producer->Input(0).GetProducer() != nullptr &&
               producer->Input(0).GetProducer()->GetType() == LayerType::Reshape;
    };
    if (std::none_of(reshapes.begin(), reshapes.end(), mayBe))
    {
        return;
    }
    SizeFacts facts(graph);
    std::vector<const Layer*> unused;
    for (Layer* layer : reshapes)
    {
        if (mayBe(layer) && FoldShuffleAt(graph, context, *layer, facts))
        {
            unused.push_back(layer);
        }
    }
    RemoveUnused(graph, unused);
}

} // namespace tenon::passes
