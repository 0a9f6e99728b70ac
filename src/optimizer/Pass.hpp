// SPDX-License-Identifier: Apache-2.0
// Pass: one rewriting of a graph. Each lives in a file of passes/; PassList.cpp lists them in the order in which
// Optimize() runs them. A pass over N layers costs O(N).
//
// The rule above all: a pass may rely on nothing that another run's input shapes would change. A run may bring inputs
// of other sizes, and of another rank, than Optimize() was told, or was told nothing about. A shape is fixed only where
// it follows from constants (FixedShapes.hpp); what is known beyond that may guide what pays, never what is right.
// Passes run in the networks of If and While layers, too. Input and Output layers stay, with their binding ids, and
// what reaches an Output layer keeps type and quantization. An input whose info is overridden stays as it is, and so do
// states.
#pragma once

#include "graph/Graph.hpp"

#include <tenon/INetwork.hpp>
#include <tenon/backend/BackendRegistry.hpp>

#include <span>
#include <string>
#include <vector>

namespace tenon
{

/// What a pass may look at beside the graph. One for all passes of one Optimize(), nested networks included.
struct PassContext
{
    const BackendRegistry& m_Registry;
    const OptimizerOptionsOpaque& m_Options;
    /// How many bytes of new constants may still be made: see ConstantFolding.
    uint64_t m_FoldingBytesLeft = 0;
};

struct Pass
{
    using Function = void (*)(Graph& graph);
    using FunctionInContext = void (*)(Graph& graph, PassContext& context);
    enum class Kind
    {
        Optimization,
        Necessary ///< backends rely on it
    };

    constexpr Pass(const char* name, Function run, Kind kind = Kind::Optimization)
        : m_Name(name), m_Run(run), m_Kind(kind)
    {
    }
    constexpr Pass(const char* name, FunctionInContext run) : m_Name(name), m_RunInContext(run) {}

    /// Rewrites the graph. Infos of all outputs are set before, and must be after.
    void Run(Graph& graph, PassContext& context) const
    {
        m_Run != nullptr ? m_Run(graph) : m_RunInContext(graph, context);
    }

    const char* m_Name;
    Function m_Run = nullptr;
    FunctionInContext m_RunInContext = nullptr;
    Kind m_Kind = Kind::Optimization;
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
/// Permute becomes Transpose with the inverse mappings.
void CanonicalTranspose(Graph& graph);
/// Layers of layout NCHW or NCDHW become NHWC or NDHWC ones between Transposes.
void LowerToNhwc(Graph& graph);
/// Layers that depend on constants alone become constants.
void ConstantFolding(Graph& graph, PassContext& context);
/// Layers that compute the same from the same inputs become one, and so do equal constants.
void MergeCommonSubexpressions(Graph& graph);
/// Transpose -> Transpose becomes one, or none where they cancel; a Transpose that changes nothing goes.
void FoldTransposes(Graph& graph);
/// Transposes move through layers that do the same in any order of dimensions, where fewer of them remain.
void MoveTransposes(Graph& graph);
/// Layers that nothing with an effect depends on go.
void RemoveDeadLayers(Graph& graph);

} // namespace passes

} // namespace tenon
