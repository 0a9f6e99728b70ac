// SPDX-License-Identifier: Apache-2.0
// See TraceTimes.hpp. The profiler writes an event a line: first events, in the order in which they end, then loops.
#include "tools/profile/TraceTimes.hpp"

#include "tools/common/JsonReading.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <numeric>
#include <ostream>
#include <streambuf>
#include <string_view>
#include <utility>

namespace tenon::tools
{
namespace
{

constexpr double MsPerMicrosecond = 1e-3;

/// The number of a member; 0 if there is none.
double NumberOf(const nlohmann::json& object, const char* name)
{
    const auto found = object.find(name);
    return found != object.end() && found->is_number() ? found->get<double>() : 0.0;
}

/// The text of a member; empty if there is none.
std::string TextOf(const nlohmann::json& object, const char* name)
{
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// Gives lines to a function.
class LineBuffer final : public std::streambuf
{
public:
    explicit LineBuffer(std::function<void(std::string_view line)> take) : m_Take(std::move(take)) {}

protected:
    int_type overflow(int_type c) override
    {
        const char character = traits_type::to_char_type(c);
        xsputn(&character, 1);
        return traits_type::not_eof(c);
    }

    std::streamsize xsputn(const char* text, std::streamsize count) override
    {
        std::string_view rest(text, static_cast<size_t>(count));
        for (size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n'))
        {
            m_Line += rest.substr(0, end);
            m_Take(m_Line);
            m_Line.clear();
            rest.remove_prefix(end + 1);
        }
        m_Line += rest;
        return count;
    }

private:
    std::function<void(std::string_view line)> m_Take;
    std::string m_Line;
};

class TraceReader
{
public:
    void Read(std::string_view line)
    {
        const size_t begin = line.find('{');
        if (begin == std::string_view::npos || !line.ends_with(line.ends_with(',') ? "}," : "}"))
        {
            return; // a line of brackets
        }
        const nlohmann::json event = ReadJson(line.substr(begin, line.rfind('}') + 1 - begin));
        const std::string category = TextOf(event, "cat");
        if (category == "inference_measurements")
        {
            ReadEvent(event);
        }
        else if (category == "loops")
        {
            ReadLoop(event);
        }
        m_Trace.m_NumDropped += static_cast<uint64_t>(NumberOf(event, "dropped_events"));
    }

    Trace Take()
    {
        BeginLoops();
        m_Trace.m_IsFirst = m_NumRuns == 1;
        const auto numRuns = static_cast<double>(std::max<size_t>(m_Trace.m_InferenceMs.size(), 1));
        for (auto& [guid, layer] : m_Trace.m_Layers)
        {
            layer.m_Ms.resize(m_Trace.m_InferenceMs.size());
            // Outside of loops the caller works alone.
            const double inLoops = m_LoopMs[guid];
            const double all = std::accumulate(layer.m_Ms.begin(), layer.m_Ms.end(), 0.0);
            layer.m_ThreadMs.resize(std::max<size_t>(m_Threads.size(), 1));
            layer.m_ThreadMs[0] += std::max(all - inLoops, 0.0);
            for (double& ms : layer.m_ThreadMs)
            {
                ms /= numRuns;
            }
        }
        return std::move(m_Trace);
    }

private:
    struct Span
    {
        double m_Start; ///< microseconds, as the stop
        double m_Stop;
        uint64_t m_Guid;
    };

    void ReadEvent(const nlohmann::json& event)
    {
        const double start = NumberOf(event, "ts");
        const double duration = NumberOf(event, "dur");
        const std::string name = TextOf(event, "name");
        if (name == "inference_measurements")
        {
            FinishRun(start, duration);
            return;
        }
        const auto arguments = event.find("args");
        if (arguments == event.end() || !arguments->contains("guid"))
        {
            return; // preparations
        }
        const auto guid = static_cast<uint64_t>(NumberOf(*arguments, "guid"));
        double own = duration;
        while (!m_Inner.empty() && m_Inner.back().first >= start)
        {
            own -= m_Inner.back().second;
            m_Inner.pop_back();
        }
        m_Inner.emplace_back(start, duration);
        m_Run[guid].first += own * MsPerMicrosecond;
        m_Run[guid].second = name;
        m_Spans.push_back({start, start + duration, guid});
        GetThread(event);
    }

    /// Ends an inference. The first one counts only until there is another.
    void FinishRun(double start, double duration)
    {
        ++m_NumRuns;
        if (m_NumRuns == 2)
        {
            m_Trace.m_InferenceMs.clear();
            m_Trace.m_Layers.clear();
            std::erase_if(m_Spans, [&](const Span& span) { return span.m_Start < start; });
        }
        const size_t index = m_Trace.m_InferenceMs.size();
        m_Trace.m_InferenceMs.push_back(duration * MsPerMicrosecond);
        for (auto& [guid, time] : m_Run)
        {
            TracedLayer& layer = m_Trace.m_Layers[guid];
            layer.m_Ms.resize(index + 1);
            layer.m_Ms[index] = time.first;
            layer.m_Kernel = std::move(time.second);
        }
        m_Run.clear();
        m_Inner.clear();
    }

    /// The number of the event's thread; the first one is that of the caller.
    size_t GetThread(const nlohmann::json& event)
    {
        return m_Threads.emplace(NumberOf(event, "tid"), m_Threads.size()).first->second;
    }

    void BeginLoops()
    {
        if (!m_HasLoops)
        {
            m_HasLoops = true;
            std::sort(m_Spans.begin(), m_Spans.end(),
                      [](const Span& a, const Span& b) { return a.m_Start < b.m_Start; });
        }
    }

    void ReadLoop(const nlohmann::json& event)
    {
        BeginLoops();
        const double start = NumberOf(event, "ts");
        const auto arguments = event.find("args");
        if (TextOf(event, "name") == "loop")
        {
            const auto next = std::upper_bound(m_Spans.begin(), m_Spans.end(), start,
                                               [](double time, const Span& span) { return time < span.m_Start; });
            const bool isInLayer = next != m_Spans.begin() && std::prev(next)->m_Stop >= start;
            m_LoopLayer = isInLayer ? &m_Trace.m_Layers[std::prev(next)->m_Guid] : nullptr;
            if (isInLayer)
            {
                m_LoopMs[std::prev(next)->m_Guid] += NumberOf(event, "dur") * MsPerMicrosecond;
            }
            return;
        }
        if (m_LoopLayer != nullptr && arguments != event.end()) // a share of that loop
        {
            const size_t thread = GetThread(event);
            m_LoopLayer->m_ThreadMs.resize(std::max(m_LoopLayer->m_ThreadMs.size(), thread + 1));
            m_LoopLayer->m_ThreadMs[thread] += NumberOf(*arguments, "work") * MsPerMicrosecond;
        }
    }

    Trace m_Trace;
    size_t m_NumRuns = 0;
    std::map<uint64_t, std::pair<double, std::string>> m_Run; ///< times and names of the inference under way, by guid
    std::vector<std::pair<double, double>> m_Inner; ///< starts and durations of events that no other one is around yet
    std::vector<Span> m_Spans;                      ///< events of layers
    std::map<double, size_t> m_Threads;
    bool m_HasLoops = false;
    TracedLayer* m_LoopLayer = nullptr; ///< the layer of the latest loop
    std::unordered_map<uint64_t, double> m_LoopMs;
};

} // namespace

Trace ReadTrace(const IProfiler& profiler)
{
    TraceReader reader;
    LineBuffer buffer([&](std::string_view line) { reader.Read(line); });
    std::ostream stream(&buffer);
    stream.exceptions(std::ios::badbit);
    profiler.WriteChromeTrace(stream);
    return reader.Take();
}

} // namespace tenon::tools
