// SPDX-License-Identifier: Apache-2.0
// The profiler by itself: nesting, formats, threads, what is dropped.
#include "common/Profiler.hpp"

#include "harness/Json.hpp"
#include "harness/Networks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace tenon::test::profiler_test
{

using testing::HasSubstr;
using testing::Not;

namespace
{

std::string Text(const Profiler& profiler, void (IProfiler::*write)(std::ostream&) const)
{
    std::ostringstream stream;
    (profiler.*write)(stream);
    return stream.str();
}

Json Printed(const Profiler& profiler)
{
    return Json::Parse(Text(profiler, &IProfiler::Print)).At("Tenon");
}

/// inference { first { inner }, first { inner, inner } }
void RecordOneRun(Profiler& profiler)
{
    const auto run = profiler.Scope(ProfilingCategory::Inference);
    for (int i = 1; i <= 2; ++i)
    {
        const auto first = profiler.Scope(ProfilingCategory::Inference, "first");
        for (int k = 0; k < i; ++k)
        {
            const auto inner = profiler.Scope(ProfilingCategory::Load, "inner");
        }
    }
    const auto second = profiler.Scope(ProfilingCategory::Inference, "second");
}

size_t NumRaw(const Json& event)
{
    return event.FindAll("Wall clock time_#").at(0)->At("raw").m_Items.size();
}

/// A workload that another kernel declined, and how often it was asked about that.
class SecondChoice final : public IShapedWorkload
{
public:
    explicit SecondChoice(const char* declined, const char* variant = nullptr)
    {
        m_Fusion.m_Declined = declined;
        m_Fusion.m_Variant = variant;
    }
    const FusionHooks& GetFusion() const override
    {
        ++m_NumAsked;
        return m_Fusion;
    }
    void Execute(const ExecuteArgs&) const override {}
    int GetNumAsked() const { return m_NumAsked; }

private:
    FusionHooks m_Fusion;
    mutable int m_NumAsked = 0;
};

} // namespace

TEST(Profiler, RecordsNothingWhileDisabled)
{
    Profiler profiler;
    RecordOneRun(profiler);
    EXPECT_TRUE(profiler.GetRecord().m_Events.empty());
    const Json root = Printed(profiler);
    EXPECT_EQ(root.m_Names, (std::vector<std::string>{"optimize_measurements_#1", "loaded_network_measurements_#2",
                                                      "inference_measurements_#3"}));
    EXPECT_EQ(NumRaw(root.m_Items[2]), 0u);
    EXPECT_EQ(Json::Parse(Text(profiler, &IProfiler::WriteChromeTrace)).At("traceEvents").m_Items.size(), 0u);
}

TEST(Profiler, EventsNest)
{
    Profiler profiler;
    profiler.EnableProfiling(true);
    RecordOneRun(profiler);
    RecordOneRun(profiler);
    const Json root = Printed(profiler);
    const Json& run = root.At("inference_measurements_#3");
    EXPECT_EQ(run.At("type").m_Text, "Event");
    const Json& wall = run.At("Wall clock time_#3");
    EXPECT_EQ(wall.At("type").m_Text, "Measurement");
    EXPECT_EQ(wall.At("unit").m_Text, "us");
    ASSERT_EQ(wall.At("raw").m_Items.size(), 2u);
    const Json& first = run.At("first_#4");
    EXPECT_EQ(NumRaw(first), 4u);
    EXPECT_EQ(NumRaw(first.At("inner_#5")), 6u);
    EXPECT_EQ(NumRaw(run.At("second_#6")), 2u);
    EXPECT_EQ(NumRaw(root.At("loaded_network_measurements_#2")), 0u) << "the events of Load are within other ones";

    const std::vector<Json>& starts = first.At("Wall clock time (Start)_#4").At("raw").m_Items;
    const std::vector<Json>& stops = first.At("Wall clock time (Stop)_#4").At("raw").m_Items;
    for (size_t i = 1; i < starts.size(); ++i)
    {
        EXPECT_LE(starts[i - 1].m_Number, stops[i - 1].m_Number);
        EXPECT_LE(stops[i - 1].m_Number, starts[i].m_Number);
    }
}

TEST(Profiler, AnEventWithoutParentBelongsToItsCategory)
{
    Profiler profiler;
    {
        const auto unseen = profiler.Scope(ProfilingCategory::Inference);
        profiler.EnableProfiling(true);
        const auto plan = profiler.Scope(ProfilingCategory::Load, "Plan");
    }
    {
        const auto run = profiler.Scope(ProfilingCategory::Inference);
    }
    const Json root = Printed(profiler);
    EXPECT_EQ(root.At("loaded_network_measurements_#2").FindAll("Plan").size(), 1u);
    EXPECT_TRUE(root.At("inference_measurements_#3").FindAll("Plan").empty());
    EXPECT_EQ(NumRaw(root.At("inference_measurements_#3")), 1u);
}

TEST(Profiler, LayersTellThemselvesApart)
{
    const INetworkPtr network = INetwork::Create();
    const std::string name = "a \"layer\"\n\xFF";
    const IConnectableLayer* floor = network->AddFloorLayer(name.c_str());
    const IConnectableLayer* other = network->AddFloorLayer(name.c_str());
    Profiler profiler;
    profiler.EnableProfiling(true);
    {
        std::string kernel = "RefFloor"; // at an address that another kernel's name has next
        const auto a = profiler.Scope(ProfilingCategory::Inference, kernel.c_str(), floor);
    }
    for (const IConnectableLayer* layer : {floor, other})
    {
        const auto b = profiler.Scope(ProfilingCategory::Inference, "RefFloor", layer);
        const auto c = profiler.Scope(ProfilingCategory::Load, "CreateWorkload", layer);
    }
    const Json root = Printed(profiler);
    const auto executed = root.At("inference_measurements_#3").FindAll("RefFloor_Execute_#");
    ASSERT_EQ(executed.size(), 2u);
    EXPECT_EQ(NumRaw(*executed[0]), 2u);
    EXPECT_EQ(NumRaw(*executed[1]), 1u);
    EXPECT_EQ(executed[0]->At("layer").m_Text, "a \"layer\"\n\xEF\xBF\xBD");
    EXPECT_EQ(executed[0]->At("guid").m_Number, static_cast<double>(static_cast<uint64_t>(floor->GetGuid())));
    EXPECT_EQ(executed[1]->At("guid").m_Number, static_cast<double>(static_cast<uint64_t>(other->GetGuid())));
    EXPECT_EQ(executed[0]->FindAll("CreateWorkload_#").size(), 1u);

    const std::string table = Text(profiler, &IProfiler::AnalyzeEventsAndWriteResults);
    EXPECT_THAT(table, HasSubstr("RefFloor_Execute 'a \"layer\""));
    EXPECT_THAT(table, HasSubstr("total us"));
}

TEST(Profiler, ReasonsOfKernelsTellLabelsApart)
{
    const INetworkPtr network = INetwork::Create();
    const IConnectableLayer* floor = network->AddFloorLayer("floor");
    Profiler profiler;
    profiler.EnableProfiling(true);
    {
        std::string reason = "CpuFloor: not aligned"; // at an address that another text has next
        const auto a = profiler.Scope(ProfilingCategory::Inference, "RefFloor", floor, reason.c_str());
    }
    for (const char* reason : {"CpuFloor: no elements", "CpuFloor: not aligned"})
    {
        const auto b = profiler.Scope(ProfilingCategory::Inference, "RefFloor", floor, reason);
    }
    {
        const auto c = profiler.Scope(ProfilingCategory::Inference, "RefFloor", floor);
    }
    const Json root = Printed(profiler);
    const auto executed = root.At("inference_measurements_#3").FindAll("RefFloor_Execute_#");
    ASSERT_EQ(executed.size(), 3u);
    EXPECT_EQ(executed[0]->At("declined").m_Text, "CpuFloor: not aligned");
    EXPECT_EQ(NumRaw(*executed[0]), 2u);
    EXPECT_EQ(executed[1]->At("declined").m_Text, "CpuFloor: no elements");
    EXPECT_EQ(NumRaw(*executed[1]), 1u);
    EXPECT_EQ(executed[2]->Find("declined"), nullptr);
    EXPECT_EQ(NumRaw(*executed[2]), 1u);

    const std::string table = Text(profiler, &IProfiler::AnalyzeEventsAndWriteResults);
    EXPECT_THAT(table, HasSubstr("\n    declined: CpuFloor: not aligned\nRefFloor_Execute 'floor'"));
    EXPECT_THAT(table, HasSubstr("\n    declined: CpuFloor: no elements\nRefFloor_Execute 'floor'"));
    const std::vector<Json> events =
        Json::Parse(Text(profiler, &IProfiler::WriteChromeTrace)).At("traceEvents").m_Items;
    ASSERT_EQ(events.size(), 4u);
    EXPECT_EQ(events[1].At("args").At("declined").m_Text, "CpuFloor: no elements");
    EXPECT_EQ(events[3].At("args").Find("declined"), nullptr);
}

TEST(Profiler, VariantsTellLabelsApart)
{
    const INetworkPtr network = INetwork::Create();
    const IConnectableLayer* floor = network->AddFloorLayer("floor");
    Profiler profiler;
    profiler.EnableProfiling(true);
    for (const char* variant : {"by halves: few elements", "whole: many elements", static_cast<const char*>(nullptr)})
    {
        const auto event = profiler.Scope(ProfilingCategory::Inference, "RefFloor", floor, nullptr, variant);
    }
    const Json root = Printed(profiler);
    const auto executed = root.At("inference_measurements_#3").FindAll("RefFloor_Execute_#");
    ASSERT_EQ(executed.size(), 3u);
    EXPECT_EQ(executed[0]->At("variant").m_Text, "by halves: few elements");
    EXPECT_EQ(executed[1]->At("variant").m_Text, "whole: many elements");
    EXPECT_EQ(executed[2]->Find("variant"), nullptr);
    const std::string table = Text(profiler, &IProfiler::AnalyzeEventsAndWriteResults);
    EXPECT_THAT(table, HasSubstr("\n    variant: by halves: few elements\nRefFloor_Execute 'floor'"));
    const std::vector<Json> events =
        Json::Parse(Text(profiler, &IProfiler::WriteChromeTrace)).At("traceEvents").m_Items;
    ASSERT_EQ(events.size(), 3u);
    EXPECT_EQ(events[1].At("args").At("variant").m_Text, "whole: many elements");
}

TEST(Profiler, SharesOfLoopsAreBounded)
{
    Profiler profiler(5);
    std::vector<ProfileShare> shares(4);
    const auto start = Profiler::Clock::now();
    for (const size_t worker : {0U, 2U})
    {
        shares[worker] = {start, start, Profiler::Clock::duration(5), static_cast<uint32_t>(worker), 1};
    }
    profiler.RecordLoop(start, shares);
    profiler.RecordLoop(start, shares); // has four shares at most; three places are left
    const ProfileRecord record = profiler.GetRecord();
    ASSERT_EQ(record.m_Loops.size(), 1u);
    EXPECT_EQ(record.m_Loops[0].m_MaxThreads, 4u);
    ASSERT_EQ(record.m_Loops[0].m_Shares.size(), 2u) << "of the threads that had a chunk";
    EXPECT_EQ(record.m_Loops[0].m_Shares[1].m_Thread, 2u);
    EXPECT_EQ(record.m_NumDropped, 1u);
}

TEST(Profiler, AsksWorkloadsAboutKernelsOnlyWhileEnabled)
{
    const INetworkPtr network = INetwork::Create();
    const IConnectableLayer* floor = network->AddFloorLayer("floor");
    const SecondChoice workload("CpuFloor: not aligned", "by halves: few elements");
    Profiler profiler;
    {
        const auto off = profiler.KernelScope("RefFloor", floor, &workload);
    }
    EXPECT_EQ(workload.GetNumAsked(), 0);
    EXPECT_TRUE(profiler.GetRecord().m_Labels.empty());
    profiler.EnableProfiling(true);
    {
        const auto several = profiler.KernelScope("tiles", floor, nullptr);
        const auto on = profiler.KernelScope("RefFloor", floor, &workload);
    }
    EXPECT_EQ(workload.GetNumAsked(), 1);
    const ProfileRecord record = profiler.GetRecord();
    ASSERT_EQ(record.m_Labels.size(), 2u);
    EXPECT_EQ(record.m_Labels[0].m_Name, "RefFloor_Execute");
    EXPECT_EQ(record.m_Labels[0].m_Category, ProfilingCategory::Inference);
    EXPECT_EQ(record.m_Labels[0].m_Declined, "CpuFloor: not aligned");
    EXPECT_EQ(record.m_Labels[0].m_Variant, "by halves: few elements");
    EXPECT_EQ(record.m_Labels[1].m_Name, "tiles_Execute");
    EXPECT_EQ(record.m_Labels[1].m_Declined, "");
    EXPECT_EQ(record.m_Labels[1].m_Variant, "");
}

TEST(Profiler, ChromeTraceHasCompleteEvents)
{
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* floor = network->AddFloorLayer("round down");
    floor->SetBackendId("CpuRef");
    Profiler profiler;
    profiler.EnableProfiling(true);
    {
        const auto run = profiler.Scope(ProfilingCategory::Inference);
        const auto execute = profiler.Scope(ProfilingCategory::Inference, "RefFloor", floor);
    }
    const Json trace = Json::Parse(Text(profiler, &IProfiler::WriteChromeTrace));
    const std::vector<Json>& events = trace.At("traceEvents").m_Items;
    ASSERT_EQ(events.size(), 2u);
    const Json& inner = events[0];
    const Json& outer = events[1];
    EXPECT_EQ(inner.At("name").m_Text, "RefFloor_Execute");
    EXPECT_EQ(inner.At("cat").m_Text, "inference_measurements");
    EXPECT_EQ(inner.At("ph").m_Text, "X");
    EXPECT_EQ(inner.At("pid").m_Number, outer.At("pid").m_Number);
    EXPECT_EQ(inner.At("tid").m_Number, outer.At("tid").m_Number);
    EXPECT_EQ(inner.At("args").At("layer").m_Text, "round down");
    EXPECT_EQ(inner.At("args").At("backend").m_Text, "CpuRef");
    EXPECT_EQ(outer.Find("args"), nullptr);
    EXPECT_EQ(outer.At("ts").m_Number, 0.0) << "times count from the first event";
    constexpr double rounding = 0.002; // of sums of microseconds with three decimals
    EXPECT_GE(inner.At("ts").m_Number, 0.0);
    EXPECT_LE(inner.At("ts").m_Number + inner.At("dur").m_Number, outer.At("dur").m_Number + rounding);
    EXPECT_EQ(trace.At("otherData").At("dropped_events").m_Number, 0.0);
}

TEST(Profiler, CountsWhatItDrops)
{
    constexpr size_t max = 5;
    Profiler profiler(max);
    profiler.EnableProfiling(true);
    for (int i = 0; i < 3; ++i)
    {
        RecordOneRun(profiler); // of 7 events
    }
    const ProfileRecord record = profiler.GetRecord();
    EXPECT_EQ(record.m_Events.size(), max);
    EXPECT_EQ(record.m_NumDropped, 3 * 7 - max);
    const Json root = Printed(profiler);
    EXPECT_EQ(root.At("dropped_events").m_Number, 16.0);
    EXPECT_EQ(NumRaw(*root.At("inference_measurements_#3").FindAll("first_#").at(0)), 2u)
        << "what is kept has its place although its parent is not";
    EXPECT_THAT(Text(profiler, &IProfiler::AnalyzeEventsAndWriteResults), HasSubstr("16 events more were dropped"));
    const Json trace = Json::Parse(Text(profiler, &IProfiler::WriteChromeTrace));
    EXPECT_EQ(trace.At("otherData").At("dropped_events").m_Number, 16.0);
}

TEST(Profiler, ThreadsRecordAtOnce)
{
    constexpr int numThreads = 4;
    constexpr int runs = 500;
    Profiler profiler;
    profiler.EnableProfiling(true);
    std::vector<std::thread> threads;
    for (int i = 0; i < numThreads; ++i)
    {
        threads.emplace_back(
            [&]
            {
                for (int run = 0; run < runs; ++run)
                {
                    RecordOneRun(profiler);
                }
            });
    }
    for (int i = 0; i < 5; ++i)
    {
        Printed(profiler); // meanwhile
        profiler.EnableNetworkDetailsToStdOut(ProfilingDetailsMethod::Undefined);
    }
    for (std::thread& thread : threads)
    {
        thread.join();
    }
    const Json root = Printed(profiler);
    const Json& run = root.At("inference_measurements_#3");
    EXPECT_EQ(NumRaw(run), size_t{numThreads * runs});
    const Json& first = *run.FindAll("first_#").at(0);
    EXPECT_EQ(NumRaw(first), size_t{2 * numThreads * runs});
    EXPECT_EQ(NumRaw(*first.FindAll("inner_#").at(0)), size_t{3 * numThreads * runs})
        << "an event must be below one of its own thread";
    std::vector<uint32_t> seen;
    for (const ProfileEvent& event : profiler.GetRecord().m_Events)
    {
        if (std::find(seen.begin(), seen.end(), event.m_Thread) == seen.end())
        {
            seen.push_back(event.m_Thread);
        }
    }
    EXPECT_EQ(seen.size(), size_t{numThreads});
}

TEST(Profiler, DetailsComeFromTheirSourceUntilItGoes)
{
    Profiler profiler;
    EXPECT_EQ(Printed(profiler).Find("layer_details"), nullptr);
    profiler.EnableNetworkDetailsToStdOut(ProfilingDetailsMethod::DetailsWithEvents);
    EXPECT_TRUE(Printed(profiler).At("layer_details").m_Items.empty());
    auto answer = std::make_unique<std::string>("{\"a\": 1}");
    profiler.SetDetails([&] { return *answer; });
    *answer = "{\"a\": 2}";
    EXPECT_EQ(Printed(profiler).At("layer_details").At("a").m_Number, 2.0);
    profiler.KeepDetails();
    answer = nullptr;
    EXPECT_EQ(Printed(profiler).At("layer_details").At("a").m_Number, 2.0);
    EXPECT_NE(Printed(profiler).Find("inference_measurements_#3"), nullptr);
    profiler.EnableNetworkDetailsToStdOut(ProfilingDetailsMethod::DetailsOnly);
    EXPECT_EQ(Printed(profiler).m_Names, std::vector<std::string>{"layer_details"});
    profiler.EnableNetworkDetailsToStdOut(ProfilingDetailsMethod::Undefined);
    profiler.KeepDetails();
    EXPECT_THAT(Text(profiler, &IProfiler::Print), Not(HasSubstr("layer_details")));
}

} // namespace tenon::test::profiler_test
