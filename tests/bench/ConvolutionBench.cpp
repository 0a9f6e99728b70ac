// SPDX-License-Identifier: Apache-2.0
// bench_convolutions: single convolutions of MobileNets and ResNets on CpuAcc beside XNNPACK and oneDNN, as far as
// these are installed, on one thread, in turn, A B C A B C; what docs/convolutions.md is made of. Tenon's time is that
// of a whole network of one layer, the others' that of their operator alone.
//
// usage: bench_convolutions [FILE [TEXT]]   writes the table to FILE (-: prints it), of rows that contain TEXT
#include "ConvolutionPeers.hpp"
#include "InterleavedTimer.hpp"
#include "LoadedLayer.hpp"
#include "MachinePeaks.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

namespace tenon::bench
{

namespace
{

constexpr ConvolutionSizes Sizes[] = {
    {"MobileNet v1", 224, 3, 32, {3, 2}},
    {"MobileNet v1", 112, 32, 32, {3, 1}, true},
    {"MobileNet v1", 112, 32, 64, {1, 1}},
    {"MobileNet v1", 112, 64, 64, {3, 2}, true},
    {"MobileNet v1", 56, 64, 128, {1, 1}},
    {"MobileNet v1", 56, 128, 128, {3, 1}, true},
    {"MobileNet v1", 56, 128, 128, {1, 1}},
    {"MobileNet v1", 28, 128, 256, {1, 1}},
    {"MobileNet v1", 28, 256, 256, {3, 1}, true},
    {"MobileNet v1", 28, 256, 256, {1, 1}},
    {"MobileNet v1", 14, 256, 512, {1, 1}},
    {"MobileNet v1", 14, 512, 512, {3, 1}, true},
    {"MobileNet v1", 14, 512, 512, {1, 1}},
    {"MobileNet v1", 7, 512, 1024, {1, 1}},
    {"MobileNet v1", 7, 1024, 1024, {1, 1}},
    {"MobileNet v2", 112, 32, 16, {1, 1}},
    {"MobileNet v2", 112, 16, 96, {1, 1}},
    {"MobileNet v2", 112, 96, 96, {3, 2}, true},
    {"MobileNet v2", 56, 96, 24, {1, 1}},
    {"MobileNet v2", 56, 24, 144, {1, 1}},
    {"MobileNet v2", 56, 144, 144, {3, 1}, true},
    {"MobileNet v2", 56, 144, 24, {1, 1}},
    {"MobileNet v2", 56, 144, 144, {3, 2}, true},
    {"MobileNet v2", 28, 144, 32, {1, 1}},
    {"MobileNet v2", 28, 32, 192, {1, 1}},
    {"MobileNet v2", 28, 192, 192, {3, 1}, true},
    {"MobileNet v2", 28, 192, 32, {1, 1}},
    {"MobileNet v2", 14, 192, 64, {1, 1}},
    {"MobileNet v2", 14, 64, 384, {1, 1}},
    {"MobileNet v2", 14, 384, 384, {3, 1}, true},
    {"MobileNet v2", 14, 384, 64, {1, 1}},
    {"MobileNet v2", 14, 384, 96, {1, 1}},
    {"MobileNet v2", 14, 96, 576, {1, 1}},
    {"MobileNet v2", 14, 576, 576, {3, 1}, true},
    {"MobileNet v2", 14, 576, 96, {1, 1}},
    {"MobileNet v2", 7, 576, 160, {1, 1}},
    {"MobileNet v2", 7, 160, 960, {1, 1}},
    {"MobileNet v2", 7, 960, 960, {3, 1}, true},
    {"MobileNet v2", 7, 960, 160, {1, 1}},
    {"MobileNet v2", 7, 960, 320, {1, 1}},
    {"MobileNet v2", 7, 320, 1280, {1, 1}},
    {"ResNet 50", 224, 3, 64, {7, 2}},
    {"ResNet 50", 56, 64, 64, {3, 1}},
    {"ResNet 50", 56, 64, 256, {1, 1}},
    {"ResNet 50", 56, 256, 512, {1, 2}},
    {"ResNet 50", 28, 128, 128, {3, 1}},
    {"ResNet 50", 14, 256, 256, {3, 1}},
    {"ResNet 50", 7, 512, 512, {3, 1}},
};

using MakePeer = std::unique_ptr<ConvolutionPeer> (*)(const ConvolutionSizes&, const LayerNetwork&);

struct Peer
{
    const char* m_Name;
    MakePeer m_Make;
};

const std::vector<Peer> Peers = {
#ifdef TENON_BENCH_XNNPACK
    {"XNNPACK", MakeXnnpackConvolution},
#endif
#ifdef TENON_BENCH_ONEDNN
    {"oneDNN", MakeOneDnnConvolution},
#endif
};

double MedianRatio(const std::vector<double>& ours, const std::vector<double>& theirs)
{
    std::vector<double> ratios(ours.size());
    std::transform(ours.begin(), ours.end(), theirs.begin(), ratios.begin(), std::divides<>());
    return Median(ratios);
}

LayerNetwork MakeNetwork(Element element, const ConvolutionSizes& s)
{
    return s.m_IsDepthwise ? MakeDepthwise(element, s.m_Size, s.m_Inputs, s.m_Window)
                           : MakeConvolution(element, s.m_Size, s.m_Inputs, s.m_Outputs, s.m_Window);
}

/// "–" where the machine has no such instruction.
std::string FormatShare(double macsPerSecond, std::optional<double> peak)
{
    return peak ? fmt::format("{:.0f}%", macsPerSecond / *peak * 100) : "–";
}

/// What the multiplications take at the peak, or reading the data and writing the output at memcpy's speed for blocks
/// of that size, whichever is longer.
double GetMinSeconds(const LayerNetwork& network, std::optional<double> peak)
{
    const double copied = network.m_Bytes / 2; // memcpy reads one half and writes the other
    const double ofMemory = copied / MemcpyBytesPerSecond(static_cast<size_t>(copied));
    return std::max(peak ? network.m_Macs / *peak : 0.0, ofMemory);
}

/// The first columns of a row.
std::string Describe(Element element, const ConvolutionSizes& s)
{
    return fmt::format("{} | {} {}x{} of {}x{}, {} to {}{} | {}", s.m_Model, s.m_IsDepthwise ? "depthwise" : "conv",
                       s.m_Window.m_Size, s.m_Window.m_Size, s.m_Size, s.m_Size, s.m_Inputs, s.m_Outputs,
                       s.m_Window.m_Stride == 1 ? "" : ", stride 2", GetName(element));
}

std::string Compare(Element element, const ConvolutionSizes& s, const MachinePeaks& peaks)
{
    const LayerNetwork network = MakeNetwork(element, s);
    LoadedLayer tenon(network, Settings());
    std::vector<std::unique_ptr<ConvolutionPeer>> peers;
    constexpr double RoundSeconds = 0.02;
    std::vector<InterleavedTimer> runners;
    runners.emplace_back([&] { tenon.Run(); }, RoundSeconds);
    for (const Peer& peer : Peers)
    {
        peers.push_back(peer.m_Make(s, network));
        if (peers.back() != nullptr)
        {
            runners.emplace_back([peer = peers.back().get()] { peer->Run(); }, RoundSeconds);
        }
    }
    constexpr int Rounds = 9;
    for (int turn = 0; turn < Rounds; ++turn)
    {
        std::for_each(runners.begin(), runners.end(), [](InterleavedTimer& runner) { runner.RunRound(); });
    }
    const std::vector<double>& ours = runners[0].GetSeconds();
    const double speed = network.m_Macs / Median(ours);
    const std::optional<double> peak = element == Element::Float32 ? peaks.m_Float32 : peaks.m_Int8;
    std::string row =
        fmt::format("| {} | {:.1f} | {} | {:.0f}% | {:.1f} |", Describe(element, s), speed * 1e-9,
                    FormatShare(speed, peak), GetMinSeconds(network, peak) / Median(ours) * 100, Median(ours) * 1e6);
    size_t next = 1;
    for (const auto& peer : peers)
    {
        if (peer == nullptr)
        {
            row += " – | – |";
            continue;
        }
        const std::vector<double>& theirs = runners[next++].GetSeconds();
        row += fmt::format(" {:.1f} | {:.2f} |", Median(theirs) * 1e6, MedianRatio(ours, theirs));
    }
    return row + "\n";
}

void WriteTable(std::ostream& out, const std::string& wanted)
{
    const MachinePeaks peaks = MeasurePeaks();
    const std::string int8Peak =
        peaks.m_Int8 ? fmt::format(", int8 {:.0f} ({})", *peaks.m_Int8 * 1e-9, peaks.m_Int8Name) : std::string();
    out << R"(# Single convolutions beside other libraries

Generated; write it anew with `build/release/bin/bench_convolutions docs/convolutions.md`, which compares with those of
XNNPACK and oneDNN that are installed (Debian's `libxnnpack-dev` with `libpthreadpool-dev`, and `libdnnl-dev`).
Convolutions on one thread, channels last; the libraries run in interleaved rounds. Tenon's time includes the call of a
one-layer network on CpuAcc; the other libraries' times are for the operator alone. int8: weights have a scale per
channel, data a zero point. oneDNN has no zero point here, and without VNNI it adds products up in 16 bits, which
saturate. All memory begins at the start of a cache line, as inside of a network. GMAC/s count the multiplications of
the operator's definition. Values above 100 % are possible: Winograd (int8 3x3 without VNNI) needs fewer
multiplications, and float kernels skip taps in the padding of small images. Of roofline: the larger of
(multiply-accumulates / peak rate) and (memcpy time of the bytes read and written), divided by Tenon's time. Ratios are
medians; below 1 Tenon is faster. `–`: refused.

)";
    out << fmt::format("Peaks of a core of the machine, measured before, in GMAC/s: float32 {:.0f} ({}){}.\n\n",
                       peaks.m_Float32 * 1e-9, peaks.m_Float32Name, int8Peak);
    std::string head = "| model | layer | type | GMAC/s of Tenon | of peak | of roofline | Tenon, us |";
    std::string line = "|---|---|---|---:|---:|---:|---:|";
    for (const Peer& peer : Peers)
    {
        head += fmt::format(" {0}, us | Tenon / {0} |", peer.m_Name);
        line += "---:|---:|";
    }
    out << head << "\n" << line << "\n";
    for (const Element element : {Element::Float32, Element::Int8})
    {
        for (const ConvolutionSizes& sizes : Sizes)
        {
            if (Describe(element, sizes).find(wanted) != std::string::npos)
            {
                out << Compare(element, sizes, peaks) << std::flush;
            }
        }
    }
}

} // namespace

} // namespace tenon::bench

int main(int argc, char** argv)
{
    CLI::App app("Convolutions of MobileNets beside those of other libraries, as a table");
    std::string file = "-";
    std::string wanted;
    app.add_option("file", file, "Where the table goes; -: to standard output")->capture_default_str();
    app.add_option("text", wanted, "Only rows that have it");
    CLI11_PARSE(app, argc, argv);
    // oneDNN's threads. OpenMP has read its environment by now.
    if (void* const setThreads = dlsym(RTLD_DEFAULT, "omp_set_num_threads"); setThreads != nullptr)
    {
        reinterpret_cast<void (*)(int)>(setThreads)(1);
    }
    if (file == "-")
    {
        tenon::bench::WriteTable(std::cout, wanted);
        return 0;
    }
    std::ofstream out(file);
    if (!out)
    {
        std::cerr << file << " cannot be written\n";
        return 1;
    }
    tenon::bench::WriteTable(out, wanted);
    return out ? 0 : 1;
}
