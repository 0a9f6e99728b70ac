// SPDX-License-Identifier: Apache-2.0
// bench_blocks: FullyConnected of CpuAcc by weights with a scale per block, on one thread; what docs/blockwise.md is
// made of. One row of data takes as long as its weights take from memory: it is compared with a loop that reads as many
// bytes. Several rows are compared with weights of as many bits that have a scale per channel.
//
// usage: bench_blocks [FILE [TEXT]]   writes the tables to FILE (-, or nothing: prints them), of rows that contain TEXT
#include "InterleavedTimer.hpp"
#include "LoadedLayer.hpp"
#include "MachinePeaks.hpp"
#include "NetworkMaker.hpp"
#include "RandomValues.hpp"
#include "TableFile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tenon::bench
{

namespace
{

struct Weights
{
    DataType m_Type = DataType::QSymmS4;
    unsigned int m_Outputs = 1;
    unsigned int m_Inputs = 1;
    unsigned int m_Block = 0; ///< 0: a scale per channel

    size_t CountScales() const { return size_t{m_Outputs} * (m_Block == 0 ? 1 : m_Inputs / m_Block); }
    TensorInfo MakeInfo() const
    {
        std::vector<float> scales(CountScales());
        for (size_t i = 0; i < scales.size(); ++i)
        {
            scales[i] = static_cast<float>(i % 5 + 1) / 256.0f; // float16 holds them
        }
        TensorInfo info({m_Outputs, m_Inputs}, m_Type, scales, m_Block == 0 ? 0 : 1);
        info.SetQuantizationBlockSize(m_Block);
        return info;
    }
    std::string Describe() const
    {
        return fmt::format("| int{} | {} x {} | {} |", m_Type == DataType::QSymmS4 ? 4 : 8, m_Outputs, m_Inputs,
                           m_Block);
    }
};

// The first ones are larger than any cache, the last ones as large as half of a second-level cache.
constexpr Weights OneRow[] = {
    {DataType::QSymmS4, 32768, 4096, 32}, {DataType::QSymmS4, 32768, 4096, 128}, {DataType::QSymmS4, 32768, 4096, 256},
    {DataType::QSymmS8, 16384, 4096, 32}, {DataType::QSymmS8, 16384, 4096, 128}, {DataType::QSymmS4, 2048, 2048, 32},
    {DataType::QSymmS4, 2048, 2048, 128}, {DataType::QSymmS4, 512, 1024, 32},    {DataType::QSymmS4, 512, 1024, 128},
    {DataType::QSymmS8, 256, 1024, 32},
};

constexpr Weights SeveralRows[] = {
    {DataType::QSymmS4, 2048, 2048, 32},  {DataType::QSymmS4, 2048, 2048, 64},  {DataType::QSymmS4, 2048, 2048, 128},
    {DataType::QSymmS4, 2048, 2048, 256}, {DataType::QSymmS4, 512, 1024, 32},   {DataType::QSymmS4, 4096, 4096, 32},
    {DataType::QSymmS8, 2048, 2048, 32},  {DataType::QSymmS8, 2048, 2048, 128},
};
constexpr unsigned int RowCounts[] = {1, 4, 16, 64, 256};

LayerNetwork MakeProduct(const Weights& weights, unsigned int rows)
{
    Maker maker(Element::Float32, "dense");
    FullyConnectedDescriptor descriptor;
    descriptor.m_TransposeWeightMatrix = true;
    descriptor.m_AsymmetricQuantizeInputs = true;
    maker.SetLayer(maker.Network().AddFullyConnectedLayer(descriptor, "layer"),
                   {DataInfo(Element::Float32, {rows, weights.m_Inputs})});
    const TensorInfo info = weights.MakeInfo();
    std::vector<char> bytes(info.GetNumBytes());
    std::mt19937 random(11);
    FillRandom(weights.m_Type, bytes.data(), bytes.size(), random);
    if (weights.m_Type == DataType::QSymmS8)
    {
        std::replace(bytes.begin(), bytes.end(), static_cast<char>(-128), static_cast<char>(-127));
    }
    maker.AddConstant(1, info, bytes);
    return maker.Finish({rows, weights.m_Outputs});
}

/// Medians of interleaved rounds.
struct Times
{
    double m_First = 0.0;
    double m_Second = 0.0;
    double m_Ratio = 0.0; ///< the first by the second
};

Times Compare(std::function<void()> first, std::function<void()> second)
{
    constexpr double RoundSeconds = 0.02;
    constexpr int Rounds = 15;
    InterleavedTimer a(std::move(first), RoundSeconds);
    InterleavedTimer b(std::move(second), RoundSeconds);
    std::vector<double> ratios;
    for (int round = 0; round < Rounds; ++round)
    {
        a.RunRound();
        b.RunRound();
        ratios.push_back(a.GetSeconds().back() / b.GetSeconds().back());
    }
    return {a.GetMedian(), b.GetMedian(), Median(ratios)};
}

void WriteOneRow(std::ostream& out, const std::string& text)
{
    for (const Weights& weights : OneRow)
    {
        const std::string description = weights.Describe();
        if (description.find(text) == std::string::npos)
        {
            continue;
        }
        const LayerNetwork network = MakeProduct(weights, 1);
        LoadedLayer layer(network, Settings());
        const size_t bytes = network.m_Constants.front()->size() + weights.CountScales() * 2;
        const std::function<void()> read = MakeRead(bytes);
        const std::function<void()> call = MakeCall(Settings());
        const Times times = Compare(
            [&]
            {
                call();
                read();
            },
            [&] { layer.Run(); });
        out << description
            << fmt::format(" {:.2f} | {:.1f} | {:.1f} | {:.1f} | {:.0f}% |\n", static_cast<double>(bytes) / (1 << 20),
                           times.m_Second * 1e6, times.m_First * 1e6,
                           static_cast<double>(bytes) / times.m_Second * 1e-9, times.m_Ratio * 100)
            << std::flush;
    }
}

void WriteSeveralRows(std::ostream& out, const std::string& text)
{
    for (const Weights& weights : SeveralRows)
    {
        const std::string description = weights.Describe();
        for (const unsigned int rows : RowCounts)
        {
            if (description.find(text) == std::string::npos)
            {
                continue;
            }
            Weights perChannel = weights;
            perChannel.m_Block = 0;
            const LayerNetwork networks[] = {MakeProduct(weights, rows), MakeProduct(perChannel, rows)};
            LoadedLayer ours(networks[0], Settings());
            LoadedLayer theirs(networks[1], Settings());
            const Times times = Compare([&] { ours.Run(); }, [&] { theirs.Run(); });
            const double macs = double{1} * rows * weights.m_Outputs * weights.m_Inputs;
            out << description
                << fmt::format(" {} | {:.1f} | {:.1f} | {:.1f} | {:.2f} |\n", rows, macs / times.m_First * 1e-9,
                               times.m_First * 1e6, times.m_Second * 1e6, times.m_Ratio)
                << std::flush;
        }
    }
}

void WriteTables(std::ostream& out, const std::string& text)
{
    const MachinePeaks peaks = MeasurePeaks();
    out << fmt::format(
        "# Weights with a scale per block\n\n"
        "Generated; write it anew with `build/release/bin/bench_blocks docs/blockwise.md`.\n\n"
        "FullyConnected of float data by constant weights of 4 or 8 bits with a float16 scale for each block of "
        "inputs, on\n"
        "CpuAcc, one thread. Times are those of a network of one layer, medians of interleaved rounds. Peaks of a core "
        "of the\n"
        "machine, measured before: float32 {:.0f} GMAC/s ({}), dot products of bytes {};\n{:.1f} GB/s read from "
        "memory.\n\n"
        "## One row of data\n\n"
        "Reading: a call of an empty network and a loop that reads as many bytes as weights and scales have, from huge "
        "pages,\n"
        "as packed weights are. MiB: these bytes. Of reading speed: the time of reading by Tenon's, the median of the "
        "rounds.\n"
        "Weights that lie in the second-level cache are read faster than any kernel multiplies them.\n\n"
        "| weights | outputs x inputs | block | MiB | Tenon, us | reading, us | GB/s of Tenon | of reading speed |\n"
        "|---|---|---:|---:|---:|---:|---:|---:|\n",
        peaks.m_Float32 * 1e-9, peaks.m_Float32Name,
        peaks.m_Int8 ? fmt::format("{:.0f} GMAC/s ({})", *peaks.m_Int8 * 1e-9, peaks.m_Int8Name) : "none",
        peaks.m_ReadBytes * 1e-9);
    WriteOneRow(out, text);
    out << "\n## Several rows of data\n\n"
           "Per channel: the same layer by weights of as many bits with a scale per output (TFLite's hybrid layers). "
           "Ratio: time\n"
           "with blocks by time with a scale per channel, the median of the rounds; below 1 blocks are faster. The "
           "sums "
           "of each\n"
           "block become floats: where processors have no dot products of bytes, that is a fifth of the work with "
           "blocks "
           "of 32.\n\n"
           "| weights | outputs x inputs | block | rows | GMAC/s | blocks, us | per channel, us | ratio |\n"
           "|---|---|---:|---:|---:|---:|---:|---:|\n";
    WriteSeveralRows(out, text);
}

} // namespace

} // namespace tenon::bench

int main(int argc, char** argv)
{
    return tenon::bench::WriteTableFile(argc, argv, tenon::bench::WriteTables);
}
