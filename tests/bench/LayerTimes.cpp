// SPDX-License-Identifier: Apache-2.0
// The layer and the loops that it is compared with, a batch of each at a time.
#include "LayerTimes.hpp"

#include "DepthwiseLimit.hpp"
#include "InterleavedTimer.hpp"
#include "MachinePeaks.hpp"
#include "tools/profile/PeakLoops.hpp"

#include <algorithm>
#include <deque>

namespace tenon::bench
{

namespace
{

/// Of the layer and of what moves as many bytes: each finds in the caches what the others have left.
constexpr double RoundSeconds = 1e-3;
/// Of loops that need no caches.
constexpr double LoopRoundSeconds = 2.5e-4;
constexpr int MinRounds = 5;

/// All that is measured for a layer.
class Contest
{
public:
    explicit Contest(ClockSeconds clock) : m_Clock(clock) {}

    const InterleavedTimer& Add(std::function<void()> run, double roundSeconds)
    {
        return m_Runners.emplace_back(std::move(run), roundSeconds, m_Clock);
    }

    void Run(double seconds)
    {
        const double end = WallSeconds() + seconds;
        int rounds = 0;
        do
        {
            std::for_each(m_Runners.begin(), m_Runners.end(), [](InterleavedTimer& runner) { runner.RunRound(); });
            ++rounds;
        } while (WallSeconds() < end || (seconds > 0.0 && rounds < MinRounds));
    }

private:
    ClockSeconds m_Clock;
    std::deque<InterleavedTimer> m_Runners; // references to them stay valid
};

/// A loop, and how often a run of the layer stands for it.
struct Scaled
{
    const InterleavedTimer* m_Runner = nullptr;
    double m_Factor = 0.0;

    std::optional<double> GetSeconds() const
    {
        return m_Runner != nullptr ? std::optional<double>(m_Runner->GetMedian() * m_Factor) : std::nullopt;
    }
};

struct Peaks
{
    std::optional<tools::PeakLoop> m_Vectors;
    std::optional<tools::PeakLoop> m_Tiles;
};

/// Of the products that layers of these types consist of.
Peaks FindPeaks(Element element, const Settings& settings)
{
    const tools::PeakLoops& loops = tools::GetPeakLoops();
    switch (element)
    {
    case Element::Float32:
        if (settings.m_Bf16)
        {
            return {loops.m_BFloat16, loops.m_BFloat16Tiles};
        }
        break;
    case Element::BFloat16: return {loops.m_BFloat16, loops.m_BFloat16Tiles};
    case Element::Int8:
    case Element::UInt8:
    case Element::HybridInt8: return {loops.m_Int8, loops.m_Int8Tiles};
    case Element::Int16: return {loops.m_Int16, std::nullopt};
    case Element::Float16:
    case Element::HybridFloat16: break;
    }
    return {loops.m_Float32, std::nullopt};
}

ClockSeconds ChooseClock(const Settings& settings)
{
    return settings.m_Threads == 1 ? ProcessSeconds : WallSeconds;
}

} // namespace

LayerTimes MeasureLayer(const LayerNetwork& network, const Settings& settings, double seconds)
{
    LoadedLayer loaded(network, settings);
    Contest contest(ChooseClock(settings));
    const InterleavedTimer& layer = contest.Add([&] { loaded.Run(); }, RoundSeconds);
    const InterleavedTimer& call = contest.Add(MakeCall(settings), LoopRoundSeconds);
    const InterleavedTimer& copy = contest.Add([&] { loaded.Copy(); }, RoundSeconds);
    const auto addPeak = [&](const std::optional<tools::PeakLoop>& loop) -> Scaled
    {
        return loop && network.m_Macs > 0.0
                   ? Scaled{&contest.Add(loop->m_Run, LoopRoundSeconds), network.m_Macs / loop->m_Macs}
                   : Scaled();
    };
    const Peaks peaks = FindPeaks(network.m_Element, settings);
    const Scaled vectors = addPeak(peaks.m_Vectors);
    const Scaled tiles = addPeak(peaks.m_Tiles);
    Scaled min;
    const InterleavedTimer* moves = &copy;
    if (network.m_Window)
    {
        const double outputs = network.m_OutputBytes / GetDataTypeSize(network.m_Inputs[0].GetDataType());
        const auto loop = network.m_Element == Element::Int8 || network.m_Element == Element::UInt8
                              ? FindDepthwiseLoop(*network.m_Window)
                              : std::nullopt;
        min = loop ? Scaled{&contest.Add(loop->m_Run, LoopRoundSeconds), outputs / loop->m_Outputs} : Scaled();
        const ConstTensor& from = loaded.GetInputs()[0].second;
        const Tensor& to = loaded.GetOutputs()[0].second;
        if (const std::function<void()> stream = MakeStream(from, to))
        {
            moves = &contest.Add(stream, RoundSeconds);
        }
    }
    contest.Run(seconds);

    LayerTimes times;
    times.m_Backend = loaded.Backend();
    times.m_Layer = layer.GetMedian();
    times.m_Call = call.GetMedian();
    times.m_Memcpy = copy.GetMedian();
    times.m_Vectors = vectors.GetSeconds();
    times.m_Tiles = tiles.GetSeconds();
    double products = times.m_Vectors.value_or(0.0);
    if (min.m_Runner != nullptr)
    {
        products = *min.GetSeconds();
    }
    else if (times.m_Tiles)
    {
        products = std::min(products, *times.m_Tiles);
    }
    times.m_Limit = std::max(products, moves->GetMedian());
    return times;
}

double MeasureCall(const Settings& settings)
{
    InterleavedTimer call(MakeCall(settings), RoundSeconds, ChooseClock(settings));
    for (int round = 0; round < MinRounds; ++round)
    {
        call.RunRound();
    }
    return call.GetMedian();
}

} // namespace tenon::bench
