// SPDX-License-Identifier: Apache-2.0
// See ProfileTree.hpp.
#include "common/ProfileTree.hpp"

#include "json/JsonWriter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>
#include <utility>

namespace tenon
{

namespace
{

using Layout = JsonWriter::Layout;
using TimePoint = Profiler::Clock::time_point;

double Microseconds(Profiler::Clock::duration duration)
{
    return std::chrono::duration<double, std::micro>(duration).count();
}

double Duration(const ProfileEvent& event)
{
    return Microseconds(event.m_Stop - event.m_Start);
}

/// "RefConvolution2d_Execute 'conv1'"
std::string Describe(const ProfileLabel& label)
{
    return label.m_HasLayer ? fmt::format("{} '{}'", label.m_Name, label.m_LayerName) : label.m_Name;
}

void WriteMeasurement(JsonWriter& json, const std::string& name, const ProfileNode& node,
                      double (*value)(const ProfileEvent&))
{
    json.Key(name);
    json.BeginObject(Layout::Line);
    json.Member("type", "Measurement");
    json.Key("raw");
    json.BeginArray();
    for (const ProfileEvent* event : node.m_Events)
    {
        json.Number(value(*event));
    }
    json.EndArray();
    json.Member("unit", "us");
    json.EndObject();
}

void WriteLayer(JsonWriter& json, const ProfileLabel& label)
{
    json.Member("layer", label.m_LayerName);
    json.Member("guid", label.m_Guid);
    json.Member("backend", label.m_Backend);
    if (!label.m_Declined.empty())
    {
        json.Member("declined", label.m_Declined);
    }
    if (!label.m_Variant.empty())
    {
        json.Member("variant", label.m_Variant);
    }
}

struct TraceEvent
{
    std::string_view m_Name;
    std::string_view m_Category;
    Profiler::Clock::duration m_Start; ///< since the first event
    Profiler::Clock::duration m_Duration;
    uint32_t m_Thread;
};

void BeginTraceEvent(JsonWriter& json, const TraceEvent& event)
{
    json.BeginObject(Layout::Line);
    json.Member("name", event.m_Name);
    json.Member("cat", event.m_Category);
    json.Member("ph", "X"); // a whole event: start and duration
    json.Member("ts", Microseconds(event.m_Start));
    json.Member("dur", Microseconds(event.m_Duration));
    json.Member("pid", 1);
    json.Member("tid", event.m_Thread);
}

/// An event for the loop in its caller, and one for each share in the thread that had it.
void WriteTraceLoop(JsonWriter& json, const ProfileLoop& loop, size_t number, TimePoint origin)
{
    BeginTraceEvent(json, {"loop", "loops", loop.m_Start - origin, loop.m_Stop - loop.m_Start, loop.m_Thread});
    json.Key("args");
    json.BeginObject();
    json.Member("loop", number);
    json.Member("threads", loop.m_Shares.size());
    json.Member("max_threads", loop.m_MaxThreads);
    json.EndObject();
    json.EndObject();
    for (const ProfileShare& share : loop.m_Shares)
    {
        BeginTraceEvent(json, {"share", "loops", share.m_Start - origin, share.m_Stop - share.m_Start, share.m_Thread});
        json.Key("args");
        json.BeginObject();
        json.Member("loop", number);
        json.Member("chunks", share.m_NumChunks);
        json.Member("work", Microseconds(share.m_Work));
        json.EndObject();
        json.EndObject();
    }
}

/// Writes the events of a tree; each has a number that is part of the names of its fields.
class TreeWriter
{
public:
    TreeWriter(JsonWriter& json, const std::vector<ProfileNode>& nodes, std::ostream& stream)
        : m_Json(json), m_Nodes(nodes), m_Stream(stream)
    {
    }

    void Write(const std::string& name, const ProfileNode& node, size_t number)
    {
        m_Json.Key(fmt::format("{}_#{}", name, number));
        m_Json.BeginObject();
        m_Json.Member("type", "Event");
        if (node.m_Label != nullptr && node.m_Label->m_HasLayer)
        {
            WriteLayer(m_Json, *node.m_Label);
        }
        WriteMeasurement(m_Json, fmt::format("Wall clock time_#{}", number), node, &Duration);
        WriteMeasurement(m_Json, fmt::format("Wall clock time (Start)_#{}", number), node,
                         [](const ProfileEvent& event) { return Microseconds(event.m_Start.time_since_epoch()); });
        WriteMeasurement(m_Json, fmt::format("Wall clock time (Stop)_#{}", number), node,
                         [](const ProfileEvent& event) { return Microseconds(event.m_Stop.time_since_epoch()); });
        m_Stream << m_Json.Take();
        for (const size_t child : node.m_Children)
        {
            Write(m_Nodes[child].m_Label->m_Name, m_Nodes[child], ++m_LastNumber);
        }
        m_Json.EndObject();
    }

private:
    JsonWriter& m_Json;
    const std::vector<ProfileNode>& m_Nodes;
    std::ostream& m_Stream;
    size_t m_LastNumber = NumProfilingCategories; ///< roots have the first ones
};

} // namespace

std::vector<ProfileNode> BuildProfileTree(const ProfileRecord& record)
{
    /// An event around those that ended before it.
    struct Open
    {
        const ProfileEvent* m_Event;
        size_t m_Node;
    };
    std::vector<ProfileNode> nodes(NumProfilingCategories);
    std::map<std::pair<size_t, uint32_t>, size_t> index; // by parent and label
    std::map<uint32_t, std::vector<Open>> threads;
    // Backwards, so that parents come before their children.
    for (size_t i = record.m_Events.size(); i-- > 0;)
    {
        const ProfileEvent& event = record.m_Events[i];
        const ProfileLabel& label = record.m_Labels[event.m_Label];
        std::vector<Open>& open = threads[event.m_Thread];
        while (!open.empty() &&
               (open.back().m_Event->m_Depth >= event.m_Depth || open.back().m_Event->m_Start > event.m_Start))
        {
            open.pop_back();
        }
        const auto root = static_cast<size_t>(label.m_Category);
        size_t node = root;
        if (!label.m_IsRoot)
        {
            const size_t parent = open.empty() ? root : open.back().m_Node;
            const auto [found, isNew] = index.emplace(std::pair(parent, event.m_Label), nodes.size());
            node = found->second;
            if (isNew)
            {
                nodes[parent].m_Children.push_back(node);
                nodes.emplace_back();
            }
        }
        nodes[node].m_Label = &label;
        nodes[node].m_Events.push_back(&event);
        open.push_back({&event, node});
    }
    for (ProfileNode& node : nodes)
    {
        std::reverse(node.m_Events.begin(), node.m_Events.end());
    }
    for (ProfileNode& node : nodes)
    {
        std::sort(node.m_Children.begin(), node.m_Children.end(),
                  [&](size_t a, size_t b) {
                      return std::pair(nodes[a].m_Events.front()->m_Start, b) <
                             std::pair(nodes[b].m_Events.front()->m_Start, a);
                  });
    }
    return nodes;
}

void WriteTable(const ProfileRecord& record, std::ostream& stream)
{
    struct Sum
    {
        double m_Total = 0.0;
        double m_Min = 0.0;
        double m_Max = 0.0;
        size_t m_Count = 0;
    };
    std::vector<Sum> sums(record.m_Labels.size());
    for (const ProfileEvent& event : record.m_Events)
    {
        Sum& sum = sums[event.m_Label];
        const double duration = Duration(event);
        sum.m_Min = sum.m_Count == 0 ? duration : std::min(sum.m_Min, duration);
        sum.m_Max = std::max(sum.m_Max, duration);
        sum.m_Total += duration;
        ++sum.m_Count;
    }
    stream << fmt::format("{:60} {:>12} {:>12} {:>12} {:>12} {:>8}\n", "event", "total us", "min us", "max us",
                          "avg us", "count");
    for (size_t i = 0; i < sums.size(); ++i)
    {
        const Sum& sum = sums[i];
        if (sum.m_Count == 0)
        {
            continue; // there was no memory left for its event
        }
        stream << fmt::format("{:60} {:12.1f} {:12.1f} {:12.1f} {:12.1f} {:8}\n", Describe(record.m_Labels[i]),
                              sum.m_Total, sum.m_Min, sum.m_Max, sum.m_Total / static_cast<double>(sum.m_Count),
                              sum.m_Count);
        if (!record.m_Labels[i].m_Declined.empty())
        {
            stream << fmt::format("    declined: {}\n", record.m_Labels[i].m_Declined);
        }
        if (!record.m_Labels[i].m_Variant.empty())
        {
            stream << fmt::format("    variant: {}\n", record.m_Labels[i].m_Variant);
        }
    }
    if (record.m_NumDropped != 0)
    {
        stream << fmt::format("{} events more were dropped\n", record.m_NumDropped);
    }
}

void WriteProfile(const ProfileRecord* record, const std::string& details, std::ostream& stream)
{
    JsonWriter json;
    json.BeginObject();
    json.Key("Tenon");
    json.BeginObject();
    if (record != nullptr)
    {
        const std::vector<ProfileNode> nodes = BuildProfileTree(*record);
        TreeWriter writer(json, nodes, stream);
        for (size_t root = 0; root < NumProfilingCategories; ++root)
        {
            writer.Write(GetRootName(static_cast<ProfilingCategory>(root)), nodes[root], root + 1);
        }
        if (record->m_NumDropped != 0)
        {
            json.Member("dropped_events", record->m_NumDropped);
        }
    }
    if (!details.empty())
    {
        json.Key("layer_details");
        json.Json(details);
    }
    json.EndObject();
    json.EndObject();
    stream << json.Take() << '\n';
}

void WriteChromeTrace(const ProfileRecord& record, std::ostream& stream)
{
    TimePoint origin = TimePoint::max();
    for (const ProfileEvent& event : record.m_Events)
    {
        origin = std::min(origin, event.m_Start);
    }
    for (const ProfileLoop& loop : record.m_Loops) // of layers whose events were dropped, too
    {
        origin = std::min(origin, loop.m_Start);
    }
    JsonWriter json;
    json.BeginObject();
    json.Member("displayTimeUnit", "ms");
    json.Key("otherData");
    json.BeginObject(Layout::Line);
    json.Member("dropped_events", record.m_NumDropped);
    json.EndObject();
    json.Key("traceEvents");
    json.BeginArray();
    for (const ProfileEvent& event : record.m_Events)
    {
        const ProfileLabel& label = record.m_Labels[event.m_Label];
        BeginTraceEvent(json, {label.m_Name, GetRootName(label.m_Category), event.m_Start - origin,
                               event.m_Stop - event.m_Start, event.m_Thread});
        if (label.m_HasLayer)
        {
            json.Key("args");
            json.BeginObject();
            WriteLayer(json, label);
            json.EndObject();
        }
        json.EndObject();
        stream << json.Take();
    }
    for (size_t i = 0; i < record.m_Loops.size(); ++i)
    {
        WriteTraceLoop(json, record.m_Loops[i], i, origin);
        stream << json.Take();
    }
    json.EndArray();
    json.EndObject();
    stream << json.Take() << '\n';
}

} // namespace tenon
