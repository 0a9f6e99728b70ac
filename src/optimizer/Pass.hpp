// SPDX-License-Identifier: Apache-2.0
// Pass: one rewrite of a graph. Each pass is a file of passes/; PassList.cpp lists them in the order in which
// Optimize() runs them. A pass over N layers costs O(N).
//
// The rule for all passes: a pass may rely on no shape that another run may change. A run may bring inputs of other
// sizes or ranks than Optimize() was told, and Optimize() may have been told none. A shape is fixed only if it follows
// from constants, or from inputs whose sizes the application promises (FixedShapes.hpp; SizeFacts.hpp for single
// dimensions). Declared shapes may decide whether a rewrite pays. They may not decide whether it is correct.
// Passes run in the networks of If and While layers, too. Input and Output layers stay, with their binding ids, and
// what reaches an Output layer keeps type and quantization. An input whose info is overridden stays as it is, and so do
// states. A layer of another type is made by ReplacePattern(), which asks whether backends take it, too.
#pragma once

#include "common/BackendNames.hpp"
#include "graph/Graph.hpp"

#include <tenon/IOptimizedNetwork.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace tenon
{

class BackendChooser;

/// Inputs of a pass other than the graph. One object for all passes of one Optimize(), nested networks included.
struct PassContext
{
    const BackendRegistry& m_Registry;
    const OptimizerOptionsOpaque& m_Options;
    const BackendChooser& m_Chooser;
    /// Bytes of new constants that ConstantFolding may still make.
    uint64_t m_FoldingBytesLeft = 0;
};

/// Layer types that a pass needs: it is skipped for a graph without any of them. No types: it always runs.
class PassSeeds
{
public:
    constexpr PassSeeds() = default;
    constexpr PassSeeds(std::initializer_list<LayerType> types) // NOLINT: implicit, for the list of passes
    {
        for (const LayerType type : types)
        {
            Add(type);
        }
    }
    constexpr void Add(LayerType type) { m_Types.at(m_Count++) = type; }
    /// The same for a pass that has nothing to do without constants either.
    constexpr PassSeeds AndConstants() const
    {
        PassSeeds both = *this;
        both.m_NeedsConstants = true;
        return both;
    }
    bool IsAnyIn(const Graph& graph) const
    {
        return (m_Count == 0 || std::any_of(m_Types.begin(), m_Types.begin() + m_Count,
                                            [&](LayerType type) { return graph.Count(type) != 0; })) &&
               (!m_NeedsConstants || graph.Count(LayerType::Constant) != 0);
    }

private:
    std::array<LayerType, 32> m_Types{};
    uint32_t m_Count = 0;
    bool m_NeedsConstants = false;
};

struct Pass
{
    using Function = void (*)(Graph& graph);
    using FunctionInContext = void (*)(Graph& graph, PassContext& context);
    enum class Kind
    {
        Optimization,
        Hiding,   ///< intermediate results are gone after it: not run where debugging wants them
        Again,    ///< was run before: only where the graph was changed since
        Necessary ///< backends rely on it
    };

    constexpr Pass(const char* name, Function run, Kind kind = Kind::Optimization, PassSeeds seeds = {})
        : m_Name(name), m_Run(run), m_Kind(kind), m_Seeds(seeds)
    {
    }
    constexpr Pass(const char* name, FunctionInContext run, Kind kind = Kind::Optimization, PassSeeds seeds = {})
        : m_Name(name), m_RunInContext(run), m_Kind(kind), m_Seeds(seeds)
    {
    }

    /// Rewrites the graph. Infos of all outputs are set before, and must be after.
    void Run(Graph& graph, PassContext& context) const
    {
        m_Run != nullptr ? m_Run(graph) : m_RunInContext(graph, context);
    }

    const char* m_Name;
    Function m_Run = nullptr;
    FunctionInContext m_RunInContext = nullptr;
    Kind m_Kind = Kind::Optimization;
    PassSeeds m_Seeds;
};

/// The passes that do not depend on backends, in order.
std::span<const Pass> GetPasses();

/// Optimize() with other passes than GetPasses(). For tests: what the necessary ones alone give is what all must give.
IOptimizedNetworkPtr OptimizeWithPasses(const INetwork& network, const std::vector<BackendId>& backendPreferences,
                                        const IDeviceSpec& deviceSpec, const OptimizerOptionsOpaque& options,
                                        Optional<std::vector<std::string>&> messages, std::span<const Pass> passes);

namespace passes
{

/// Parameters that arrive as constant tensors move into the descriptor.
void BakeParameters(Graph& graph);
/// Parameters that are computed from sizes move into the descriptor where these sizes are fixed; of a Reshape, one may
/// stay open.
void BakeComputedParameters(Graph& graph);
/// Permute becomes Transpose with the inverse mappings.
void CanonicalTranspose(Graph& graph);
/// Convolution2d with a group for each channel becomes DepthwiseConvolution2d.
void GroupedToDepthwise(Graph& graph, PassContext& context);
/// Layers of layout NCHW or NCDHW become NHWC or NDHWC ones between Transposes.
void LowerToNhwc(Graph& graph);
/// Float16 constants that are converted to Float32 become the weights of products whose backend packs them as they are.
void ReadWeightsF16(Graph& graph, PassContext& context);
/// Constants with a scale per block get a Dequantize in front of layers that give floats, where no backend takes the
/// layer with them.
void DequantizeBlocks(Graph& graph, PassContext& context);
/// Layers that depend on constants alone become constants.
void ConstantFolding(Graph& graph, PassContext& context);
/// The same, but 8-bit weights stay behind their Dequantize where FoldQuantization may want them.
void ConstantFoldingOfFloats(Graph& graph, PassContext& context);
/// Layers of floats between Dequantize and Quantize become quantized ones, where Quantize rounds halves to even.
void FoldQuantization(Graph& graph, PassContext& context);
/// Layers that compute the same from the same inputs become one, and so do equal constants.
void MergeCommonSubexpressions(Graph& graph);
/// Reshapes that add or drop dimensions of size 1 go behind Transposes; those that move such dimensions alone become
/// one.
void MoveUnitReshapes(Graph& graph, PassContext& context);
/// Transpose -> Transpose becomes one, or none where they cancel; a Transpose that changes nothing goes.
void FoldTransposes(Graph& graph);
/// Conversions between element types that undo each other go, where every value comes back bit for bit: to a type that
/// holds all values of the first and back, Dequantize -> Quantize of the same quantization; and those that change
/// nothing. A Float32 that went through 16 bits is not what it was: that pair stays.
void OptimizeInverseConversions(Graph& graph);
/// Transposes move through layers that do the same in any order of dimensions, where fewer of them remain.
void MoveTransposes(Graph& graph);
/// Transposes go behind Concats and Gathers, or lose dimensions of size 1, where fewer or smaller ones remain.
void SinkTransposes(Graph& graph);
/// Transposes go behind Reshapes that join or cut neighbouring dimensions, or into the constant matrix after them.
void MoveReshapes(Graph& graph);
/// MoveReshapes, SinkTransposes, FoldTransposes and MoveTransposes, repeated until nothing changes.
void RepeatTransposePasses(Graph& graph);
/// BatchMatMul transposes its matrices itself where a Transpose before it does nothing else.
void FoldMatMulTransposes(Graph& graph, PassContext& context);
/// Chains of Reshape, Squeeze and ExpandDims become one, and those that change no shape go.
void FoldReshapes(Graph& graph);
/// A BroadcastTo goes where its readers broadcast by themselves to the same shape.
void RemoveBroadcastTo(Graph& graph);
/// Pad -> Convolution2d, DepthwiseConvolution2d or Pooling2d: the border becomes paddings.
void FoldPad(Graph& graph);
/// Strides of 1x1 convolutions move to the layers before them, which then compute less.
void MoveStrides(Graph& graph, PassContext& context);
/// BatchNormalization becomes a part of the weights and bias before it.
void FoldBatchNormalization(Graph& graph);
/// Products and sums with constants become a part of the weights and bias before them.
void FoldScaleShift(Graph& graph);
/// x * scale + shift with constants of one value a channel becomes a BatchNormalization.
void FoldMulAdd(Graph& graph, PassContext& context);
/// Maximum and Minimum with constants become a BoundedReLu where both pass NaN on, as that does.
void FoldMaxMin(Graph& graph, PassContext& context);
/// x * min(6, max(0, x + 3)) / 6 becomes a HardSwish.
void FoldHardSwish(Graph& graph, PassContext& context);
/// x * sigmoid(a * x) becomes a Swish, x * tanh(log(1 + exp(x))) a Mish.
void FoldSwish(Graph& graph, PassContext& context);
/// Functions of the bytes of one tensor become Tables.
void FoldFunctionsInt8(Graph& graph, PassContext& context);
/// Both forms of GELU, with tanh and with erf, become an Activation.
void FoldGelu(Graph& graph, PassContext& context);
/// Products of queries, keys and values with scale, mask and Softmax between them become an Attention.
void FoldAttention(Graph& graph, PassContext& context);
/// Reshape -> Transpose -> Reshape that moves channels becomes a DepthToSpace, SpaceToDepth or ChannelShuffle.
void FoldShuffles(Graph& graph, PassContext& context);
/// Slices of a tensor that are joined the other way around become a Roll.
void FoldRolls(Graph& graph, PassContext& context);
/// Products with constant matrices, and sums with constant rows after them, become a FullyConnected.
void FoldFullyConnected(Graph& graph, PassContext& context);
/// exp(x - max) / sum becomes a Softmax.
void FoldSoftmax(Graph& graph, PassContext& context);
/// (x - mean) / sqrt(variance + epsilon), scale and bias become a LayerNormalization or InstanceNormalization.
void FoldLayerNormalization(Graph& graph, PassContext& context);
/// x * s + (shift - mean * s) with s = 1 / sqrt(variance + epsilon) becomes a LayerNormalization.
void FoldScaledNormalization(Graph& graph, PassContext& context);
/// Layers that nothing with an effect depends on go.
void RemoveDeadLayers(Graph& graph);

} // namespace passes

} // namespace tenon
