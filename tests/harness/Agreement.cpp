// SPDX-License-Identifier: Apache-2.0
// See Agreement.hpp.
#include "harness/Agreement.hpp"

#include "harness/ErrorBounds.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace tenon::test
{

const char* const InvalidCase = "invalid";

namespace
{

/// What a run should give, and how far from it results may be.
struct Expected
{
    Results m_Results;
    std::map<LayerBindingId, double> m_Bounds;
};

bool IsFinite(const Result& result)
{
    const std::vector<double> values = ToDoubles(result.m_Info, result.m_Bytes.data());
    return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

Expected Expect(const NetworkCase& tested, size_t run)
{
    const TensorValues values = ComputeAllValues(tested, run);
    for (const auto& [key, value] : values)
    {
        if (!IsFinite(value))
        {
            throw InvalidArgumentException(fmt::format("run {}: the network's values are not finite", run));
        }
    }
    const ErrorBounds bounds(tested.GetGraph(), values);
    Expected expected;
    for (const Layer* layer : tested.GetGraph().LayersOf(LayerType::Output))
    {
        const OutputSlot& slot = *layer->Input(0).GetConnectedOutputSlot();
        const LayerBindingId id = layer->GetBindingId();
        const ConstantPayload* const constant = slot.GetOwningLayer().GetConstant();
        Result& result = expected.m_Results[id];
        if (constant != nullptr)
        {
            const auto* const bytes = static_cast<const std::byte*>(constant->m_Tensor.GetMemoryArea());
            result.m_Info = constant->m_Tensor.GetInfo();
            result.m_Bytes.assign(bytes, bytes + constant->m_Tensor.GetNumBytes());
        }
        else
        {
            result = values.at({slot.GetOwningLayerGuid(), slot.CalculateIndexOnOwner()});
        }
        expected.m_Bounds[id] = bounds.Of(slot);
    }
    return expected;
}

/// Whether a difference of a tenth of the largest value would pass, or all would.
bool IsLoose(const Result& result, double bound)
{
    double max = 0.0;
    for (const double value : ToDoubles(result.m_Info, result.m_Bytes.data()))
    {
        max = std::max(max, std::abs(value));
    }
    return bound > max / 10.0 && bound > 1e-4;
}

std::string CompareOutput(const Result& got, const Result& want, double bound)
{
    if (got.m_Info.GetShape() != want.m_Info.GetShape() || got.m_Info.GetDataType() != want.m_Info.GetDataType())
    {
        return fmt::format("is {} in place of {}", got.m_Info.ToString(), want.m_Info.ToString());
    }
    if (got.m_Bytes == want.m_Bytes)
    {
        return {};
    }
    const std::vector<double> a = ToDoubles(got.m_Info, got.m_Bytes.data());
    const std::vector<double> b = ToDoubles(want.m_Info, want.m_Bytes.data());
    for (size_t i = 0; i < a.size(); ++i)
    {
        if (!(std::abs(a[i] - b[i]) <= bound))
        {
            return fmt::format("is {} in place of {} at element {}; they may differ by {}", a[i], b[i], i, bound);
        }
    }
    return {};
}

std::string Compare(const Results& got, const Expected& want)
{
    for (const auto& [id, expected] : want.m_Results)
    {
        const std::string difference = CompareOutput(got.at(id), expected, want.m_Bounds.at(id));
        if (!difference.empty())
        {
            return fmt::format("output {} {}", id, difference);
        }
    }
    return {};
}

NetworkId LoadAs(IRuntime& runtime, const INetwork& network, const RunConfig& way)
{
    OptimizerOptionsOpaque options;
    if (way.m_LayerThreads != 0)
    {
        options.AddModelOption(BackendOptions("CpuAcc", {{"NumberOfThreads", way.m_LayerThreads}}));
    }
    INetworkProperties properties;
    properties.m_NumberOfThreads = way.m_Threads;
    properties.m_DisabledFusions = way.m_DisabledFusions;
    NetworkId id = 0;
    runtime.LoadNetwork(id, Optimize(network, way.m_Backends, runtime.GetDeviceSpec(), options), properties);
    return id;
}

bool IsSameBytes(const Results& a, const Results& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& one, const auto& other)
                      { return one.first == other.first && one.second.m_Bytes == other.second.m_Bytes; });
}

/// What one way makes of the case: its results run by run, or what is wrong.
class ConfigRun
{
public:
    ConfigRun(const NetworkCase& tested, const std::vector<Expected>& expected, const RunConfig& way)
        : m_Tested(tested), m_Expected(expected), m_Config(way)
    {
    }

    Failure Run(IRuntime& runtime, const std::map<std::string, std::pair<std::string, std::vector<Results>>>& groups)
    {
        const NetworkId id = LoadAs(runtime, *m_Tested.m_Network, m_Config);
        for (size_t step = 0; step <= m_Expected.size(); ++step)
        {
            const size_t run = step % m_Expected.size(); // the last one is the first once more
            const CaseInputs inputs(m_Tested, run);
            Results results = RunNetwork(runtime, id, inputs.Tensors());
            const std::string difference = Compare(results, m_Expected[run]);
            if (!difference.empty())
            {
                return {m_Config.m_Name + ": values", fmt::format("{}, run {}: {}", m_Config.m_Name, step, difference)};
            }
            const auto group = groups.find(m_Config.m_Group);
            if (!m_Config.m_Group.empty() && group != groups.end() && !IsSameBytes(results, group->second.second[step]))
            {
                return {m_Config.m_Name + ": bytes",
                        fmt::format("{}, run {}: other bytes than {}", m_Config.m_Name, step, group->second.first)};
            }
            m_Results.push_back(std::move(results));
        }
        runtime.UnloadNetwork(id);
        return {};
    }

    std::vector<Results> TakeResults() { return std::move(m_Results); }

private:
    const NetworkCase& m_Tested;
    const std::vector<Expected>& m_Expected;
    const RunConfig& m_Config;
    std::vector<Results> m_Results;
};

} // namespace

namespace
{

RunConfigs BaseConfigs()
{
    return {{{"CpuRef optimized", {"CpuRef"}, 1, 0, "", {}},
             {"CpuAcc", {"CpuAcc", "CpuRef"}, 1, 0, "CpuAcc", {}},
             {"CpuAcc on 2 threads", {"CpuAcc", "CpuRef"}, 2, 0, "CpuAcc", {}},
             {"CpuAcc with NumberOfThreads 1", {"CpuAcc", "CpuRef"}, 2, 1, "CpuAcc", {}},
             {"CpuAcc with NumberOfThreads 2", {"CpuAcc", "CpuRef"}, 2, 2, "CpuAcc", {}},
             {"CpuAcc without fusions", {"CpuAcc", "CpuRef"}, 2, 0, "CpuAcc, no attention", GetFusionNames()}},
            {}};
}

/// All fusions but the attention leave the bytes as they are.
RunConfig ConfigWithout(const std::string& fusion)
{
    const char* const group = fusion == "Attention" ? "CpuAcc, no attention" : "CpuAcc";
    return {"CpuAcc without " + fusion, {"CpuAcc", "CpuRef"}, 2, 0, group, {fusion}};
}

} // namespace

const RunConfigs& AllConfigs()
{
    static const RunConfigs all = []
    {
        RunConfigs ways = BaseConfigs();
        for (const std::string& fusion : GetFusionNames())
        {
            ways.m_Configs.push_back(ConfigWithout(fusion));
        }
        return ways;
    }();
    return all;
}

RunConfigs ConfigsWithoutFusion(uint32_t number)
{
    RunConfigs ways = BaseConfigs();
    const std::vector<std::string> fusions = GetFusionNames();
    ways.m_Configs.push_back(ConfigWithout(fusions[number % fusions.size()]));
    return ways;
}

Failure FindDisagreement(const NetworkCase& tested, const RunConfigs& ways, const Say& say)
{
    const auto tell = [&](const std::string& text)
    {
        if (say)
        {
            say(text + "\n");
        }
    };
    tell("reference");
    std::vector<Expected> expected;
    try
    {
        for (size_t run = 0; run < tested.m_Runs.size(); ++run)
        {
            expected.push_back(Expect(tested, run));
        }
    }
    catch (const Exception& e)
    {
        return {InvalidCase, e.what()};
    }
    size_t outputs = 0;
    size_t loose = 0;
    for (const Expected& run : expected)
    {
        for (const auto& [id, result] : run.m_Results)
        {
            ++outputs;
            loose += IsLoose(result, run.m_Bounds.at(id)) ? 1 : 0;
        }
    }
    tell(fmt::format("outputs {}, loose {}", outputs, loose));
    std::map<std::string, std::pair<std::string, std::vector<Results>>> groups;
    for (const RunConfig& way : ways.m_Configs)
    {
        tell(way.m_Name);
        IRuntime::CreationOptions options;
        options.m_Backends = ways.m_OwnBackends;
        const IRuntimePtr runtime = IRuntime::Create(options);
        ConfigRun run(tested, expected, way);
        try
        {
            if (Failure failure = run.Run(*runtime, groups))
            {
                return failure;
            }
        }
        catch (const Exception& e)
        {
            return {way.m_Name + ": exception", fmt::format("{}: {}", way.m_Name, e.what())};
        }
        groups.emplace(way.m_Group, std::pair(way.m_Name, run.TakeResults()));
    }
    return {};
}

Failure CheckInChild(const CaseCheck& check, const NetworkCase& tested, double seconds)
{
    constexpr char Mark = '\1'; // in front of a failure
    const ChildEnd end = RunInChild(
        [&](const Say& say)
        {
            if (const Failure failure = check(tested, say))
            {
                say(Mark + failure.m_Kind + Mark + failure.m_Text);
            }
        },
        seconds);
    const size_t kind = end.m_Output.find(Mark);
    if (end.m_IsComplete)
    {
        const size_t text = kind == std::string::npos ? kind : end.m_Output.find(Mark, kind + 1);
        return kind == std::string::npos
                   ? Failure()
                   : Failure{end.m_Output.substr(kind + 1, text - kind - 1), end.m_Output.substr(text + 1)};
    }
    const std::string said = end.m_Output.substr(0, end.m_Output.find_last_not_of('\n') + 1);
    const std::string where = said.substr(said.find_last_of('\n') + 1); // npos + 1 is 0
    return {where + ": " + end.m_Reason, where + " ended with " + end.m_Reason + "\n" + end.m_Errors};
}

void ExpectAgreement(const NetworkCase& tested)
{
    const Failure failure = FindDisagreement(tested, AllConfigs());
    EXPECT_FALSE(failure) << failure.m_Kind << ": " << failure.m_Text;
}

} // namespace tenon::test
