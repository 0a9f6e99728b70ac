// SPDX-License-Identifier: Apache-2.0
// LayoutRules: layers that do the same in any order of their dimensions, if their axes are renamed with them. For
// MoveTransposes.
#pragma once

#include "graph/Graph.hpp"

#include <memory>
#include <unordered_map>
#include <vector>

namespace tenon
{

/// How the ranks of a layer's data inputs relate to that of its outputs.
enum class LayoutKind : uint8_t
{
    None,     ///< the layer's dimensions have meanings of their own
    Same,     ///< all have the rank of the outputs
    Broadcast ///< the largest is that of the output
};

LayoutKind GetLayoutKind(LayerType type);

/// Whether an input of a layer that has a kind holds data, and not a parameter.
bool IsDataInput(const Layer& layer, unsigned int input);

/// Parameters for a layer whose data, in and out, is put in another order: new dimension i is dimension mappings[i] of
/// before. Null where the layer has no such parameters, or some that do not fit this rank.
std::unique_ptr<BaseDescriptor> PermuteParameters(const Layer& layer, const PermutationVector& mappings);

/// Whether PermuteParameters works with all mappings of this size.
bool MayPermute(const Layer& layer, unsigned int rank);

/// The axes of a Mean, Reduce or ArgMinMax that removes them, for data that comes without the Transpose of `mappings`
/// before the layer: a descriptor, or null where the layer removes none, or the order of what remains would change.
std::unique_ptr<BaseDescriptor> AbsorbTranspose(const Layer& layer, const PermutationVector& mappings);

/// Ranks that are the same in every run, because operators or constants say so.
class FixedRanks
{
public:
    explicit FixedRanks(const Graph& graph);
    /// For a walk that asks the producers on its way: nothing is known of a graph of so many layers.
    explicit FixedRanks(size_t size) : m_First(size, 0) {}
    /// What readers say of the ranks that they take. Layers with producers before consumers.
    void AskReaders(const LayerOrder& order);
    /// What a layer says of its outputs, once those before it in that order have said it.
    void AskProducer(const Layer& layer);
    /// 0 where it is not known; a scalar is not known either.
    unsigned int Get(const OutputSlot& slot) const;

private:
    FixedRanks(size_t size, const LayerOrder& order);
    void Set(const OutputSlot& slot, unsigned int rank);
    /// The largest rank among the layer's data inputs; 0 where one is not known and `needsAll`.
    unsigned int RankOfData(const Layer& layer, bool needsAll) const;

    PageVector<uint8_t> m_First; ///< by layer index: of its first output
    std::unordered_map<const OutputSlot*, uint8_t> m_Further;
};

} // namespace tenon
