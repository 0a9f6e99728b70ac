// SPDX-License-Identifier: Apache-2.0
// Profiler: the implementation of IProfiler. One per optimized and loaded network; used by Optimize() and the runtime.
// This class records; ProfileTree writes the records.
#pragma once

#include <tenon/IConnectableLayer.hpp>
#include <tenon/IProfiler.hpp>
#include <tenon/Span.hpp>
#include <tenon/backend/IWorkload.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tenon
{

/// The category that an event belongs to: the three roots of a profile.
enum class ProfilingCategory : uint8_t
{
    Optimize,
    Load,
    Inference
};
constexpr size_t NumProfilingCategories = 3;

/// The name of the event that spans a whole category: "inference_measurements".
const char* GetRootName(ProfilingCategory category);

/// The label of events with one name, of one layer and with one reason for their kernel.
struct ProfileLabel
{
    ProfilingCategory m_Category = ProfilingCategory::Optimize;
    bool m_IsRoot = false;
    bool m_HasLayer = false; ///< else the fields below are empty
    std::string m_Name;
    std::string m_LayerName;
    std::string m_Backend;
    uint64_t m_Guid = 0;
    std::string m_Declined; ///< see FusionHooks::m_Declined; empty: no kernel declined
    std::string m_Variant;  ///< see FusionHooks::m_Variant; empty: the kernel has none
};

struct ProfileEvent
{
    std::chrono::steady_clock::time_point m_Start;
    std::chrono::steady_clock::time_point m_Stop;
    uint32_t m_Label = 0;
    uint32_t m_Thread = 0; ///< numbered in the order of their first events
    uint32_t m_Depth = 0;  ///< of events around it in its thread
};

/// The work of one thread in a loop: its chunks, from the start of the first one to the end of the last one.
struct ProfileShare
{
    std::chrono::steady_clock::time_point m_Start;
    std::chrono::steady_clock::time_point m_Stop;
    std::chrono::steady_clock::duration m_Work{}; ///< the sum of its chunks
    uint32_t m_Thread = 0;                        ///< numbered as those of events
    uint32_t m_NumChunks = 0;
};

/// A loop of a workload that threads shared.
struct ProfileLoop
{
    std::chrono::steady_clock::time_point m_Start;
    std::chrono::steady_clock::time_point m_Stop;
    uint32_t m_Thread = 0;              ///< the caller
    uint32_t m_MaxThreads = 0;          ///< that may take part
    std::vector<ProfileShare> m_Shares; ///< of the threads that took part
};

/// All that was recorded so far. The events of one thread stand in the order in which they ended.
struct ProfileRecord
{
    std::vector<ProfileLabel> m_Labels;
    std::vector<ProfileEvent> m_Events;
    std::vector<ProfileLoop> m_Loops;
    uint64_t m_NumDropped = 0;
};

class Profiler final : public IProfiler
{
public:
    using Clock = std::chrono::steady_clock;

    /// An event has 32 bytes. A run of a thousand layers may be profiled a thousand times.
    static constexpr size_t DefaultMaxEvents = size_t{1} << 20;

    /// Further events than `maxEvents` are only counted; shares of loops have as many places of their own.
    explicit Profiler(size_t maxEvents = DefaultMaxEvents) : m_MaxEvents(maxEvents) {}

    /// Measures from its construction to its destruction; events of one thread nest.
    class ScopedEvent
    {
    public:
        ScopedEvent(Profiler* profiler, ProfilingCategory category, const char* name, const IConnectableLayer* layer,
                    const char* declined, const char* variant)
            : m_Profiler(profiler), m_Category(category), m_Name(name), m_Layer(layer), m_Declined(declined),
              m_Variant(variant)
        {
            if (m_Profiler != nullptr)
            {
                Begin();
            }
        }
        ~ScopedEvent()
        {
            if (m_Profiler != nullptr)
            {
                End();
            }
        }
        ScopedEvent(const ScopedEvent&) = delete;
        ScopedEvent& operator=(const ScopedEvent&) = delete;

    private:
        friend class Profiler;
        void Begin();
        void End() noexcept;

        Profiler* m_Profiler; ///< null while profiling is off
        ProfilingCategory m_Category;
        const char* m_Name; ///< null: the category's root
        const IConnectableLayer* m_Layer;
        const char* m_Declined; ///< may be null, as may be the variant
        const char* m_Variant;
        Clock::time_point m_Start;
    };

    /// An event that spans the whole of a category.
    [[nodiscard]] ScopedEvent Scope(ProfilingCategory category) { return Scope(category, nullptr); }
    /// The arguments must live as long as the event. In an inference, the event of a layer's workload is called
    /// "<name>_Execute". `declined` and `variant` (see FusionHooks, may be null) are shown for events of layers.
    [[nodiscard]] ScopedEvent Scope(ProfilingCategory category, const char* name,
                                    const IConnectableLayer* layer = nullptr, const char* declined = nullptr,
                                    const char* variant = nullptr)
    {
        return ScopedEvent(m_Enabled.load(std::memory_order_relaxed) ? this : nullptr, category, name, layer, declined,
                           variant);
    }
    /// An event of a layer's workload in an inference. `workload` says which kernels declined and which variant runs,
    /// and is asked only while profiling is on; null: several workloads.
    [[nodiscard]] ScopedEvent KernelScope(const char* name, const IConnectableLayer* layer,
                                          const IShapedWorkload* workload)
    {
        const bool isOn = m_Enabled.load(std::memory_order_relaxed);
        const FusionHooks* const hooks = isOn && workload != nullptr ? &workload->GetFusion() : nullptr;
        return ScopedEvent(isOn ? this : nullptr, ProfilingCategory::Inference, name, layer,
                           hooks != nullptr ? hooks->m_Declined : nullptr,
                           hooks != nullptr ? hooks->m_Variant : nullptr);
    }

    /// Sets the source of the details of layers that Print() writes, a JSON object; null: there is none. `source` may
    /// be called until the next call of this returns.
    void SetDetails(std::function<std::string()> source);
    /// Asks the source for the last time, if Print() may still need the details, and lets it go.
    void KeepDetails() noexcept;

    /// The number of the calling thread in events and shares.
    static uint32_t GetThread();
    /// Keeps a loop if there is memory for it. `shares`: by worker; threads without a chunk took no part.
    void RecordLoop(Clock::time_point start, Span<const ProfileShare> shares) noexcept;

    ProfileRecord GetRecord() const;

    void EnableProfiling(bool enableProfiling) override { m_Enabled = enableProfiling; }
    bool IsProfilingEnabled() override { return m_Enabled; }
    void AnalyzeEventsAndWriteResults(std::ostream& outStream) const override;
    void Print(std::ostream& outStream) const override;
    void WriteChromeTrace(std::ostream& outStream) const override;
    void EnableNetworkDetailsToStdOut(ProfilingDetailsMethod detailsMethod) override
    {
        m_DetailsMethod = detailsMethod;
    }

private:
    /// Labels are found without making strings.
    struct LabelKey
    {
        ProfilingCategory m_Category;
        std::string_view m_Name; ///< as given
        uint64_t m_Guid;
        std::string_view m_Declined;
        std::string_view m_Variant;

        bool operator==(const LabelKey&) const = default;
    };
    struct LabelHash
    {
        size_t operator()(const LabelKey& key) const;
    };
    /// A label, and the name under which it is found.
    struct Interned
    {
        ProfileLabel m_Label;
        std::string m_Given;
    };

    void Record(const ScopedEvent& event, Clock::time_point stop, uint32_t thread, uint32_t depth);
    uint32_t Intern(const ScopedEvent& event);

    const size_t m_MaxEvents;
    std::atomic<bool> m_Enabled{false};
    std::atomic<ProfilingDetailsMethod> m_DetailsMethod{ProfilingDetailsMethod::Undefined};

    mutable std::mutex m_Mutex; ///< of the record
    std::deque<ProfileEvent> m_Events;
    std::deque<ProfileLoop> m_Loops;
    size_t m_NumShares = 0;        ///< of all loops
    std::deque<Interned> m_Labels; ///< never moved: keys refer to their strings
    std::unordered_map<LabelKey, uint32_t, LabelHash> m_LabelIndex;
    uint64_t m_NumDropped = 0;

    mutable std::mutex m_DetailsMutex;
    std::function<std::string()> m_Details;
};

} // namespace tenon
