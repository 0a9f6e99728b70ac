// SPDX-License-Identifier: Apache-2.0
// Profiler: see Profiler.hpp.
#include "common/Profiler.hpp"

#include "common/ProfileTree.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <new>
#include <utility>

namespace tenon
{

namespace
{

/// The number of events that are under way in this thread, of whichever profiler.
thread_local uint32_t currentDepth = 0;

} // namespace

uint32_t Profiler::GetThread()
{
    static std::atomic<uint32_t> numThreads{0};
    thread_local const uint32_t number = numThreads++;
    return number;
}

const char* GetRootName(ProfilingCategory category)
{
    switch (category)
    {
    case ProfilingCategory::Optimize: return "optimize_measurements";
    case ProfilingCategory::Load: return "loaded_network_measurements";
    case ProfilingCategory::Inference: return "inference_measurements";
    }
    return "measurements";
}

void Profiler::ScopedEvent::Begin()
{
    ++currentDepth;
    m_Start = Clock::now();
}

void Profiler::ScopedEvent::End() noexcept
{
    const Clock::time_point stop = Clock::now();
    --currentDepth;
    m_Profiler->Record(*this, stop, GetThread(), currentDepth);
}

size_t Profiler::LabelHash::operator()(const LabelKey& key) const
{
    // Labels that differ in m_Declined or m_Variant alone are few: these are left out.
    constexpr uint64_t spread = 0x9E3779B97F4A7C15; // an odd number without pattern: guids are consecutive
    return std::hash<std::string_view>()(key.m_Name) ^
           static_cast<size_t>((key.m_Guid * 4 + static_cast<uint64_t>(key.m_Category)) * spread);
}

uint32_t Profiler::Intern(const ScopedEvent& event)
{
    const bool isRoot = event.m_Name == nullptr;
    const char* given = isRoot ? GetRootName(event.m_Category) : event.m_Name;
    const bool hasLayer = event.m_Layer != nullptr;
    LabelKey key{event.m_Category, given, hasLayer ? static_cast<uint64_t>(event.m_Layer->GetGuid()) : 0,
                 event.m_Declined != nullptr ? std::string_view(event.m_Declined) : std::string_view(),
                 event.m_Variant != nullptr ? std::string_view(event.m_Variant) : std::string_view()};
    const auto found = m_LabelIndex.find(key);
    if (found != m_LabelIndex.end())
    {
        return found->second;
    }
    Interned interned;
    interned.m_Given = given;
    interned.m_Label.m_Category = event.m_Category;
    interned.m_Label.m_IsRoot = isRoot;
    interned.m_Label.m_HasLayer = hasLayer;
    interned.m_Label.m_Name = interned.m_Given;
    if (hasLayer)
    {
        interned.m_Label.m_Name += event.m_Category == ProfilingCategory::Inference ? "_Execute" : "";
        interned.m_Label.m_LayerName = event.m_Layer->GetName();
        interned.m_Label.m_Backend = event.m_Layer->GetBackendId().Get();
        interned.m_Label.m_Guid = key.m_Guid;
    }
    interned.m_Label.m_Declined = key.m_Declined;
    interned.m_Label.m_Variant = key.m_Variant;
    const auto index = static_cast<uint32_t>(m_Labels.size());
    const Interned& kept = m_Labels.emplace_back(std::move(interned));
    key.m_Name = kept.m_Given;
    key.m_Declined = kept.m_Label.m_Declined;
    key.m_Variant = kept.m_Label.m_Variant;
    m_LabelIndex.emplace(key, index);
    return index;
}

/// Called where nothing may be thrown: an event for which there is no memory is one more that was dropped.
void Profiler::Record(const ScopedEvent& event, Clock::time_point stop, uint32_t thread, uint32_t depth)
{
    const std::lock_guard lock(m_Mutex);
    if (m_Events.size() < m_MaxEvents)
    {
        try
        {
            m_Events.push_back({event.m_Start, stop, Intern(event), thread, depth});
            return;
        }
        catch (const std::bad_alloc&)
        {
        }
    }
    ++m_NumDropped;
}

void Profiler::RecordLoop(Clock::time_point start, Span<const ProfileShare> shares) noexcept
{
    const Clock::time_point stop = Clock::now();
    const std::lock_guard lock(m_Mutex);
    if (m_NumShares + shares.size() <= m_MaxEvents) // each worker may have one
    {
        try
        {
            ProfileLoop loop{start, stop, GetThread(), static_cast<uint32_t>(shares.size()), {}};
            std::copy_if(shares.begin(), shares.end(), std::back_inserter(loop.m_Shares),
                         [](const ProfileShare& share) { return share.m_NumChunks != 0; });
            const size_t numShares = loop.m_Shares.size();
            m_Loops.push_back(std::move(loop));
            m_NumShares += numShares;
            return;
        }
        catch (const std::bad_alloc&)
        {
        }
    }
    ++m_NumDropped;
}

void Profiler::SetDetails(std::function<std::string()> source)
{
    const std::lock_guard lock(m_DetailsMutex);
    m_Details = std::move(source);
}

void Profiler::KeepDetails() noexcept
{
    const std::lock_guard lock(m_DetailsMutex);
    try
    {
        std::function<std::string()> kept;
        if (m_Details && m_DetailsMethod != ProfilingDetailsMethod::Undefined)
        {
            kept = [details = m_Details()] { return details; };
        }
        m_Details = std::move(kept);
    }
    catch (const std::exception&)
    {
        m_Details = nullptr; // no memory for them
    }
}

ProfileRecord Profiler::GetRecord() const
{
    ProfileRecord record;
    const std::lock_guard lock(m_Mutex);
    record.m_Events.assign(m_Events.begin(), m_Events.end());
    record.m_Loops.assign(m_Loops.begin(), m_Loops.end());
    record.m_Labels.reserve(m_Labels.size());
    for (const Interned& interned : m_Labels)
    {
        record.m_Labels.push_back(interned.m_Label);
    }
    record.m_NumDropped = m_NumDropped;
    return record;
}

void Profiler::AnalyzeEventsAndWriteResults(std::ostream& outStream) const
{
    WriteTable(GetRecord(), outStream);
}

void Profiler::Print(std::ostream& outStream) const
{
    const ProfilingDetailsMethod method = m_DetailsMethod;
    std::string details;
    if (method != ProfilingDetailsMethod::Undefined)
    {
        const std::lock_guard lock(m_DetailsMutex);
        details = m_Details ? m_Details() : "{}";
    }
    if (method == ProfilingDetailsMethod::DetailsOnly)
    {
        WriteProfile(nullptr, details, outStream);
        return;
    }
    const ProfileRecord record = GetRecord();
    WriteProfile(&record, details, outStream);
}

void Profiler::WriteChromeTrace(std::ostream& outStream) const
{
    tenon::WriteChromeTrace(GetRecord(), outStream);
}

} // namespace tenon
