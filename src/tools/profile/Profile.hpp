// SPDX-License-Identifier: Apache-2.0
// The profile of a network: the time, work, memory and backend of each layer. ExecuteNetwork makes it from a loaded
// network that has run, and gives it as text, as JSON and as a page for browsers.
#pragma once

#include "json/JsonWriter.hpp"
#include "tools/common/LayerWork.hpp"
#include "tools/common/Statistics.hpp"
#include "tools/profile/MachinePeaks.hpp"

#include <tenon/IOptimizedNetwork.hpp>
#include <tenon/IRuntime.hpp>
#include <tenon/Limits.hpp>
#include <tenon/NetworkPlan.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::tools
{

/// Layers and their connections, read before the network is loaded.
struct NetworkStructure
{
    struct Source
    {
        uint64_t m_Guid = 0; ///< of the layer whose output it is
        unsigned int m_Slot = 0;
    };
    struct Node
    {
        uint64_t m_Guid = 0;
        LayerType m_Type = LayerType::Input;
        std::string m_Name;
        std::vector<Source> m_Inputs;
        std::vector<TensorInfo> m_Outputs;
        LayerWork m_Work;
    };
    std::vector<Node> m_Nodes; ///< in the order in which data flows
};

NetworkStructure ReadStructure(const IOptimizedNetwork& network);

struct ProfiledTensor
{
    PlannedTensor m_Planned;
    /// The last layer that reads it, by index; the layer itself if none does.
    size_t m_LastReader = 0;
};

struct ProfiledLayer
{
    PlannedLayer m_Planned; ///< without bodies, whose layers follow in the list
    std::string m_Network;  ///< see LayerAssignment
    std::string m_Reason;
    std::string m_FusedActivation;
    DataType m_DataType = DataType::Float32;
    /// The layer, by index, as a part of which this one runs. It has no time of its own then.
    std::optional<size_t> m_RunsIn;
    /// Milliseconds of one inference, without layers of nested networks; absent if it was never run by itself.
    std::optional<Statistics> m_Ms;
    /// The mean over inferences of the milliseconds that each thread worked.
    std::vector<double> m_ThreadMs;
    /// The sum with the layers that run as a part of it.
    LayerWork m_Work;
    /// The time in which the machine's peaks would do that work.
    std::optional<double> m_RooflineMs;
    /// The layers that it reads from, by index; -1 - k for input k of the network.
    std::vector<int64_t> m_Producers;
    std::vector<ProfiledTensor> m_Outputs;
};

/// All layers of one type; times are sums of means.
struct ProfiledType
{
    std::string m_Type;
    size_t m_Count = 0;
    double m_Ms = 0.0;
    /// Operations, bytes and time of the layers of which these are known.
    double m_Operations = 0.0;
    double m_OperationsMs = 0.0;
    double m_Bytes = 0.0;
    double m_BytesMs = 0.0;
    double m_RooflineMs = 0.0;
    double m_RooflineOfMs = 0.0; ///< time of the layers that have a roofline
    std::vector<std::string> m_Backends;
};

/// The types with the longest times come first.
std::vector<ProfiledType> SumTypes(const std::vector<ProfiledLayer>& layers);

struct Profile
{
    /// A tensor of the network itself, and the layer that makes it if it is an output.
    struct Bound
    {
        std::string m_Name;
        TensorInfo m_Info;
        size_t m_Layer = 0;
    };

    std::string m_Model;
    unsigned int m_Threads = 0;
    /// Milliseconds of inferences; that of the first one counts only if there is no other.
    std::optional<Statistics> m_InferenceMs;
    size_t m_NumInferences = 0;
    bool m_IsFirst = false; ///< only the first inference was measured
    uint64_t m_NumDropped = 0;
    std::vector<ProfiledLayer> m_Layers; ///< in the order of execution
    std::vector<ProfiledType> m_Types;   ///< those with the longest times first
    std::vector<FusionReport> m_Fusions;
    std::vector<Bound> m_Inputs;
    std::vector<Bound> m_Outputs;
    NetworkStatistics m_Statistics;
    std::optional<MachinePeaks> m_Peaks;

    /// The sum of the layers' mean times.
    double GetLayersMs() const;
};

/// The results of a network that has run with profiling enabled.
struct ProfileSources
{
    const IProfiler& m_Profiler;
    const NetworkStructure& m_Structure;
    const std::vector<LayerAssignment>& m_Assignment;
    NetworkPlan m_Plan;
    NetworkStatistics m_Statistics;
};

/// Model and threads are left to the caller.
Profile MakeProfile(const ProfileSources& sources, const std::optional<MachinePeaks>& peaks);

/// Tables by layer, in the order of execution, and by type. Times are means, or medians where other load of the machine
/// has lengthened the means by far.
std::string FormatProfile(const Profile& profile);

/// Writes an object, which docs/profile.md describes.
void WriteProfile(JsonWriter& json, const Profile& profile);

/// A page in HTML that needs no other file. `against` is the object of an earlier profile, or empty.
std::string FormatProfilePage(const Profile& profile, std::string_view against);

/// The profile in the report of an earlier run, for FormatProfilePage. Throws InputError for another file.
std::string ReadEarlierProfile(const std::string& path, const Limits& limits);

} // namespace tenon::tools
