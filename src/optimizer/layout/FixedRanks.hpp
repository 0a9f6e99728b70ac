// SPDX-License-Identifier: Apache-2.0
// FixedRanks: the rank of each tensor, where it is the same in every run. A rank follows from the operator that makes
// the tensor, from constants, or from an operator that reads it and takes no other rank. Used by MoveTransposes,
// MoveStrides and AddBroadcastReshapes.
#pragma once

#include "graph/Graph.hpp"

#include <unordered_map>

namespace tenon
{

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
