// SPDX-License-Identifier: Apache-2.0
// Random networks of the pieces that are done several layers at once: all ways to run them agree. A network that fails
// is shrunk and printed as a test. The environment says how many networks are tried, TENON_RANDOM_NETWORKS, and the
// first one's seed, TENON_RANDOM_SEED.
#include "harness/NetworkPrinter.hpp"
#include "harness/NetworkShrinker.hpp"
#include "random/FusableNetwork.hpp"
#include "random/FusionCounts.hpp"
#include "runtime/PlannedNetwork.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace tenon::test::random_networks_test
{

namespace
{

constexpr uint32_t MaxShrunk = 3; ///< failures; of others the seed is said
constexpr double SecondsOfNetwork = 120.0;

uint32_t ReadEnvironment(const char* name, uint32_t otherwise)
{
    const char* const text = std::getenv(name);
    return text == nullptr ? otherwise : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

std::string Describe(const FusionCounts& counts)
{
    std::string text;
    for (const auto& [name, count] : counts)
    {
        text += count == 0 ? "" : fmt::format("{}{} x {}", text.empty() ? "" : ", ", count, name);
    }
    return text;
}

/// All ways agree, and CpuAcc fuses the same layers with a limit of threads as without. The seed chooses the fusion
/// that is left out in one of the ways.
Failure Check(uint32_t seed, const NetworkCase& tested, const Say& say)
{
    if (Failure failure = FindDisagreement(tested, ConfigsWithoutFusion(seed), say))
    {
        return failure;
    }
    say("plan\n");
    const FusionCounts free = CountFusions(*tested.m_Network);
    // As many threads as the plan is for: fewer take less scratch memory, on which it depends what may lie in place.
    const FusionCounts limited = CountFusions(*tested.m_Network, Planned::Threads);
    if (free != limited)
    {
        return {"NumberOfThreads: other fusions",
                fmt::format("{} without NumberOfThreads, {} with it", Describe(free), Describe(limited))};
    }
    return {};
}

/// What children said of networks: lines "seed N", "outputs N, loose M", "fused NAME=COUNT", "invalid TEXT",
/// "failed", and what else FindDisagreement() says.
class Tally
{
public:
    /// Of one child; gives the seed after the last one that it began with.
    uint32_t Add(const ChildEnd& end)
    {
        std::istringstream lines(end.m_Output);
        uint32_t seed = 0;
        for (std::string line; std::getline(lines, line);)
        {
            const std::string kind = line.substr(0, line.find(' '));
            const std::string rest = line.size() > kind.size() ? line.substr(kind.size() + 1) : "";
            if (kind == "seed")
            {
                seed = static_cast<uint32_t>(std::stoul(rest));
                ++m_NumNetworks;
            }
            else if (kind == "fused")
            {
                const size_t split = rest.find('=');
                m_Fusions[rest.substr(0, split)] += std::stoul(rest.substr(split + 1));
            }
            else if (kind == "invalid")
            {
                m_Invalid.push_back(fmt::format("seed {}: {}", seed, rest));
            }
            else if (kind == "outputs")
            {
                m_NumOutputs += std::stoul(rest);
                m_NumLoose += std::stoul(rest.substr(rest.rfind(' ')));
            }
            else if (kind == "failed")
            {
                m_Failed.push_back(seed);
            }
        }
        if (!end.m_IsComplete)
        {
            m_Failed.push_back(seed);
        }
        return seed + 1;
    }

    size_t m_NumNetworks = 0;
    size_t m_NumOutputs = 0; ///< run by run
    size_t m_NumLoose = 0;   ///< which prove little
    FusionCounts m_Fusions;
    std::vector<std::string> m_Invalid;
    std::vector<uint32_t> m_Failed;
};

void TryNetwork(uint32_t seed, const Say& say)
{
    say(fmt::format("seed {}\n", seed));
    const FusableNetwork network(seed);
    const Failure failure = Check(seed, network.Case(), say);
    if (failure.m_Kind == InvalidCase)
    {
        std::string text = failure.m_Text;
        std::replace(text.begin(), text.end(), '\n', ' ');
        say("invalid " + text + "\n");
        return;
    }
    if (failure)
    {
        say("failed\n");
        return;
    }
    for (const auto& [name, count] : CountFusions(*network.Case().m_Network))
    {
        say(fmt::format("fused {}={}\n", name, count));
    }
}

std::string Print(const NetworkCase& tested, uint32_t seed)
{
    try
    {
        return PrintAsTest(tested, "RandomNetworks", fmt::format("Seed{}", seed));
    }
    catch (const UnimplementedException& e)
    {
        return e.what();
    }
}

/// Fails the test with the smallest network that fails as that of the seed does.
void Report(uint32_t seed)
{
    const FusableNetwork network(seed);
    const CaseCheck check = [seed](const NetworkCase& tested, const Say& say) { return Check(seed, tested, say); };
    const Failure failure = CheckInChild(check, network.Case(), SecondsOfNetwork);
    if (!failure)
    {
        ADD_FAILURE() << "seed " << seed << " failed, and did not when it was tried once more";
        return;
    }
    const Shrunk shrunk = Shrink(network.Case(), check, failure);
    ADD_FAILURE() << "seed " << seed << ": " << failure.m_Kind << "\n"
                  << shrunk.m_Failure.m_Text << "\n// Shrunk in " << shrunk.m_NumChecks << " checks from "
                  << network.Case().GetGraph().Size() << " layers to " << shrunk.m_Case.GetGraph().Size() << ":\n"
                  << Print(shrunk.m_Case, seed);
}

} // namespace

TEST(RandomNetworks, AgreeInAllWays)
{
    constexpr uint32_t Batch = 50; // of one child
    const uint32_t first = ReadEnvironment("TENON_RANDOM_SEED", 0);
    const uint32_t count = ReadEnvironment("TENON_RANDOM_NETWORKS", 2000);
    Tally tally;
    for (uint32_t seed = first; seed < first + count;)
    {
        const uint32_t end = std::min(seed + Batch, first + count);
        seed = tally.Add(RunInChild(
            [&](const Say& say)
            {
                for (uint32_t i = seed; i < end; ++i)
                {
                    TryNetwork(i, say);
                }
            },
            SecondsOfNetwork * Batch));
    }
    std::cout << tally.m_NumNetworks << " networks: " << Describe(tally.m_Fusions) << "; " << tally.m_Invalid.size()
              << " say nothing; of " << tally.m_NumOutputs << " outputs " << tally.m_NumLoose << " prove little\n";
    for (size_t i = 0; i < std::min<size_t>(tally.m_Failed.size(), MaxShrunk); ++i)
    {
        Report(tally.m_Failed[i]);
    }
    EXPECT_TRUE(tally.m_Failed.empty()) << "seeds that fail: " << testing::PrintToString(tally.m_Failed);
    EXPECT_LE(tally.m_Invalid.size() * 100, tally.m_NumNetworks) << testing::PrintToString(tally.m_Invalid);
    EXPECT_LE(tally.m_NumLoose * 20, tally.m_NumOutputs);
    // Else the test would go on without a word when a kind is not done at once any more.
    for (const std::string& fusion : AllFusions())
    {
        EXPECT_TRUE(tally.m_Fusions[fusion] != 0 || count < 1000) << "no " << fusion << " in " << count << " networks";
    }
}

TEST(RandomNetworks, HaveEveryMotif)
{
    std::vector<std::string> made;
    for (uint32_t seed = 0; seed < 300; ++seed)
    {
        const FusableNetwork network(seed);
        made.insert(made.end(), network.Motifs().begin(), network.Motifs().end());
    }
    for (const std::string& motif : FusableNetwork::AllMotifs())
    {
        EXPECT_GE(std::count(made.begin(), made.end(), motif), 3) << motif;
    }
}

TEST(RandomNetworks, AreTheSameForOneSeed)
{
    const FusableNetwork a(7);
    const FusableNetwork b(7);
    EXPECT_EQ(PrintAsTest(a.Case(), "Suite", "Name"), PrintAsTest(b.Case(), "Suite", "Name"));
}

} // namespace tenon::test::random_networks_test
