// SPDX-License-Identifier: Apache-2.0
// Float widths: which layers run in Float32 and which in 16 bits, as the options ask and as the backends can. Called by
// Optimize() between the passes and the assignment of backends, and by BackendFallback for layers that move later.
#pragma once

#include "optimizer/assignment/Assignment.hpp"

#include <tenon/Optional.hpp>

#include <set>
#include <string>
#include <vector>

namespace tenon
{

/// With `reduceTo` (Float16 or BFloat16), each layer that works on Float32 and that a backend takes in that type runs
/// in it. Layers that no backend takes so, that compute sizes, or whose meaning is that of Float32 keep it. A layer
/// that works on Float16 or BFloat16 and that no backend takes so, but one takes in Float32, runs in Float32.
///
/// Conversions (ConvertFp32ToFp16, ConvertFp16ToFp32, for BFloat16 Cast) are put where such layers meet others, one for
/// all readers of a value; constants are converted here. Inputs, outputs and states of the network and the inputs and
/// outputs of nested networks keep their types. What runs in another type than was asked for, or than it was built in,
/// gives a message and a reason for its assignment.
void FitFloatWidths(Graph& graph, Optional<DataType> reduceTo, const BackendChooser& chooser,
                    std::vector<std::string>& messages);

/// Whether the candidate takes a layer of 16-bit floats in Float32; adds a refusal if it is asked and does not.
bool TakesInFloat32(const Candidate& candidate, const Layer& layer, Refusals& refusals);
/// Lets these layers compute in Float32 between conversions, as FitFloatWidths does. For layers that lose their backend
/// after it; the conversions have no backend yet.
void WidenLayers(Graph& graph, const std::set<const Layer*>& layers, std::vector<std::string>& messages);

} // namespace tenon
