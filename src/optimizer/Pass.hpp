// SPDX-License-Identifier: Apache-2.0
// Pass: one rewriting of a graph. Each lives in a file of passes/; PassList.cpp lists them in the order in which
// Optimize() runs them. A pass over N layers costs O(N).
#pragma once

#include "graph/Graph.hpp"

#include <span>
#include <string>
#include <vector>

namespace tenon
{

struct Pass
{
    const char* m_Name;
    /// Rewrites the graph. Infos of all outputs are set before, and must be after.
    void (*m_Run)(Graph& graph);
};

/// The passes that do not depend on backends, in order.
std::span<const Pass> GetPasses();

namespace passes
{

/// Permute becomes Transpose with the inverse mappings; constant mappings of a Transpose move into its descriptor.
void CanonicalTranspose(Graph& graph);
/// Layers of layout NCHW or NCDHW become NHWC or NDHWC ones between Transposes.
void LowerToNhwc(Graph& graph);
/// Constant -> Transpose becomes a Constant.
void FoldConstantTranspose(Graph& graph);
/// Transpose -> Transpose becomes one, or none where they cancel; a Transpose that changes nothing goes.
void FoldTransposes(Graph& graph);
/// Conversions between element types that undo each other go, where every value comes back bit for bit: to a type that
/// holds all values of the first and back, Dequantize -> Quantize of the same quantization; and those that change
/// nothing. A Float32 that went through 16 bits is not what it was: that pair stays.
void OptimizeInverseConversions(Graph& graph);
/// Layers that nothing with an effect depends on go.
void RemoveDeadLayers(Graph& graph);

} // namespace passes

} // namespace tenon
