// SPDX-License-Identifier: Apache-2.0
// All that can be told about a model without running it, and whether the chosen backends can run it.
#pragma once

#include "tools/common/Assignment.hpp"
#include "tools/common/Model.hpp"
#include "tools/describe/Describe.hpp"
#include "tools/describe/NetworkSummary.hpp"

#include <tenon/IRuntime.hpp>

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <vector>

namespace tenon::tools
{

enum class Verdict
{
    Runs,
    Unsupported, ///< by the backends or the parsers
    Unreadable   ///< damaged, contradictory, above a limit, or of a format that is not read
};

struct ModelDescription
{
    std::string m_Path;
    std::string m_Entry; ///< the model in a file that holds several; else empty
    std::string m_Format;
    uint64_t m_FileBytes = 0;
    ModelTexts m_Texts;
    std::vector<Binding> m_Inputs; ///< as far as they are known where the model cannot be read
    std::vector<Binding> m_Outputs;
    std::vector<std::string> m_Signatures;
    size_t m_NumSubgraphs = 1;
    std::optional<NetworkSummary> m_Network; ///< before optimization, if the model can be read
    /// Open first dimensions of inputs, which count as 1 in the work of layers and in the arena.
    std::vector<std::string> m_AssumedDimensions;
    std::optional<uint64_t> m_ArenaBytes;

    Verdict m_Verdict = Verdict::Runs;
    std::exception_ptr m_Failure;           ///< null if it runs
    std::string m_Reason;                   ///< in a line; empty if it runs
    std::vector<std::string> m_Unsupported; ///< all that the backends or parsers do not support; of a verdict alone
    std::optional<uint64_t> m_Layers;       ///< that compute: after optimization if it runs, else before
    BackendCounts m_Backends;               ///< how many of them each backend runs
    uint64_t m_NumNestedLayers = 0;         ///< in the networks of If and While layers
    /// Open dimensions of inputs, if the model can run only where their sizes are given.
    std::vector<std::string> m_GivenSizes;
    std::vector<std::string> m_Remarks; ///< warnings about the file, for people
};

/// Describes models one after the other.
class Inspector
{
public:
    /// `settings` must outlive it. For models of a folder, choices that are for a single one do not count, and memory
    /// is not planned, which takes as long as a load.
    Inspector(const DescribeSettings& settings, bool isForFolder);

    /// The descriptions of all models in a file: one, or several where the file holds these and none is chosen. The
    /// faults of a model are in its description. In a folder a file that is no model by content and name has none.
    std::vector<ModelDescription> Inspect(const std::string& path) const;

private:
    std::vector<ModelDescription> InspectEntries(const ModelFile& file, const ModelDescription& base) const;
    /// Runs a step whose failures become a part of the description.
    template <typename Step>
    static void Try(ModelDescription& description, Step step);
    void Describe(const ModelFile& file, ModelChoice choice, ModelDescription& description) const;
    void Optimize(const ModelFile& file, const ModelChoice& choice, ModelDescription& description) const;
    void PlanArena(IOptimizedNetworkPtr network, const ShapesById& shapes, ModelDescription& description) const;
    bool TrySizes(const ModelFile& file, ModelChoice choice, unsigned int size, bool lastAlone,
                  ModelDescription& description) const;
    void AssumeSizes(const ModelFile& file, ModelChoice choice, ModelDescription& description) const;

    const DescribeSettings& m_Settings;
    bool m_IsForFolder;
    IRuntimePtr m_Runtime;
    std::vector<BackendId> m_Backends;
};

} // namespace tenon::tools
