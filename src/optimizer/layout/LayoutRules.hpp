// SPDX-License-Identifier: Apache-2.0
// LayoutRules: how a layer's parameters change when the dimensions of its data are permuted, for layers that compute
// the same in any order of dimensions. The rules are column `axes` of ops.def. Used by MoveTransposes, MoveReshapes,
// SinkTransposes and AddBroadcastReshapes.
#pragma once

#include "graph/Layer.hpp"

#include <memory>

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

/// A reduction over axes A behind a Transpose of mappings m is one over the axes m[A] without it, if the dimensions
/// that remain keep their order. This gives the axes of a Mean, Reduce or ArgMinMax that removes them, for data that
/// comes without the Transpose of `mappings` before the layer: a descriptor, or null where the layer removes none, or
/// the order of the remaining dimensions would change.
std::unique_ptr<BaseDescriptor> AbsorbTranspose(const Layer& layer, const PermutationVector& mappings);

} // namespace tenon
