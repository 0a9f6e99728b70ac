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
    bool m_HidesResults = false; ///< intermediate results are gone after it: not run where debugging wants them
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
/// Pad -> Convolution2d, DepthwiseConvolution2d or Pooling2d: the border becomes paddings.
void FoldPad(Graph& graph);
/// BatchNormalization becomes a part of the weights and bias before it.
void FoldBatchNormalization(Graph& graph);
/// Products and sums with constants become a part of the weights and bias before them.
void FoldScaleShift(Graph& graph);
/// Maximum and Minimum with constants become a BoundedReLu.
void FoldMaxMin(Graph& graph);
/// x * min(6, max(0, x + 3)) / 6 becomes a HardSwish.
void FoldHardSwish(Graph& graph);
/// The tanh form of GELU becomes an Activation.
void FoldGelu(Graph& graph);
/// exp(x - max) / sum becomes a Softmax.
void FoldSoftmax(Graph& graph);
/// (x - mean) / sqrt(variance + epsilon), scale and bias become a LayerNormalization.
void FoldLayerNormalization(Graph& graph);
/// Layers that nothing with an effect depends on go.
void RemoveDeadLayers(Graph& graph);

} // namespace passes

} // namespace tenon
