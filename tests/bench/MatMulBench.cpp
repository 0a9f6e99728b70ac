// SPDX-License-Identifier: Apache-2.0
// bench_matmul: BatchMatMul of CpuAcc beside OpenBLAS, on one thread, in turn, A B A B; what docs/matmul.md is made of.
// Tenon's time is that of a network of one layer, OpenBLAS' that of its function and of a network that does nothing, as
// it would be in Tenon.
//
// usage: bench_matmul [FILE [TEXT]]   writes the table to FILE (-, or nothing: prints it), of rows that contain TEXT
// OPENBLAS_CORETYPE in the environment chooses the kernels of OpenBLAS, which does not know every new processor.
#include "InterleavedTimer.hpp"
#include "KernelNetworks.hpp"
#include "LoadedLayer.hpp"
#include "TableFile.hpp"

#include <cblas.h>
#include <fmt/format.h>

#include <cstdlib>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

extern "C" char* openblas_get_corename();

namespace tenon::bench
{

namespace
{

constexpr MatMulSizes Sizes[] = {{1, 256, 256, 256},
                                 {1, 512, 512, 512},
                                 {1, 1024, 1024, 1024},
                                 {1, 1024, 1024, 1024, false, true},
                                 {1, 1024, 1024, 1024, true, false},
                                 {12, 128, 64, 128, false, true},
                                 {12, 128, 128, 64},
                                 {40, 335, 20, 335},
                                 {40, 335, 335, 20},
                                 {1, 2048, 64, 2048, false, true},
                                 {1, 4096, 16, 16},
                                 {1, 30, 4096, 30},
                                 {16, 64, 64, 64},
                                 {16, 8, 64, 64},
                                 {8, 16, 512, 512},
                                 {8, 16, 512, 512, false, true},
                                 {1, 24, 1000, 1000},
                                 {64, 1, 64, 512, false, true},
                                 {64, 1, 512, 64},
                                 {64, 2, 64, 512, false, true},
                                 {64, 4, 64, 512, false, true},
                                 {64, 4, 512, 64},
                                 {32, 1, 128, 1024, false, true},
                                 {12, 16, 64, 16, false, true},
                                 {12, 16, 16, 64},
                                 {12, 32, 8, 64},
                                 {12, 128, 32, 128},
                                 {12, 197, 64, 197, false, true},
                                 {12, 197, 197, 64},
                                 {1, 4096, 16, 64},
                                 {64, 1024, 16, 64},
                                 {1, 32768, 32, 128},
                                 {1, 1, 1024, 1024},
                                 {1, 4, 1024, 1024, false, true}};

/// The same products by OpenBLAS, of the same memory: where that lies decides how fast it is read.
class BlasProducts
{
public:
    BlasProducts(const MatMulSizes& sizes, const LoadedLayer& layer)
        : m_Sizes(sizes), m_X(static_cast<const float*>(layer.GetInputs()[0].second.GetMemoryArea())),
          m_Y(static_cast<const float*>(layer.GetInputs()[1].second.GetMemoryArea())),
          m_Out(static_cast<float*>(layer.GetOutputs()[0].second.GetMemoryArea()))
    {
    }

    void Run()
    {
        const auto rows = static_cast<int>(m_Sizes.m_Rows);
        const auto depth = static_cast<int>(m_Sizes.m_Depth);
        const auto columns = static_cast<int>(m_Sizes.m_Columns);
        for (size_t b = 0; b < m_Sizes.m_Batches; ++b)
        {
            cblas_sgemm(CblasRowMajor, m_Sizes.m_TransposeX ? CblasTrans : CblasNoTrans,
                        m_Sizes.m_TransposeY ? CblasTrans : CblasNoTrans, rows, columns, depth, 1.0f,
                        m_X + b * m_Sizes.m_Rows * m_Sizes.m_Depth, m_Sizes.m_TransposeX ? rows : depth,
                        m_Y + b * m_Sizes.m_Depth * m_Sizes.m_Columns, m_Sizes.m_TransposeY ? depth : columns, 0.0f,
                        m_Out + b * m_Sizes.m_Rows * m_Sizes.m_Columns, columns);
        }
    }

private:
    MatMulSizes m_Sizes;
    const float* m_X;
    const float* m_Y;
    float* m_Out;
};

/// The first columns of the table.
std::string Describe(const MatMulSizes& sizes)
{
    return fmt::format("| {} | {}x{}{} | {}x{}{} |", sizes.m_Batches, sizes.m_Rows, sizes.m_Depth,
                       sizes.m_TransposeX ? ", transposed" : "", sizes.m_Depth, sizes.m_Columns,
                       sizes.m_TransposeY ? ", transposed" : "");
}

/// The others.
std::string Compare(const MatMulSizes& sizes)
{
    const LayerNetwork network = MakeMatMul(Element::Float32, sizes);
    LoadedLayer tenon(network, Settings());
    BlasProducts blas(sizes, tenon);
    const std::function<void()> call = MakeCall(Settings());
    constexpr double RoundSeconds = 0.02;
    constexpr int Rounds = 9;
    InterleavedTimer ours([&] { tenon.Run(); }, RoundSeconds);
    InterleavedTimer theirs(
        [&]
        {
            call();
            blas.Run();
        },
        RoundSeconds);
    std::vector<double> ratios;
    for (int turn = 0; turn < Rounds; ++turn)
    {
        ours.RunRound();
        theirs.RunRound();
        ratios.push_back(ours.GetSeconds().back() / theirs.GetSeconds().back());
    }
    return fmt::format(" {:.1f} | {:.1f} | {:.1f} | {:.2f} |\n", network.m_Macs / ours.GetMedian() * 1e-9,
                       ours.GetMedian() * 1e6, theirs.GetMedian() * 1e6, Median(ratios));
}

void WriteTable(std::ostream& out, const std::string& text)
{
    // Without it others would be measured on a processor that OpenBLAS does not know.
    const char* const coreType = std::getenv("OPENBLAS_CORETYPE");
    out << fmt::format(
        "# Float matrix products beside OpenBLAS\n\n"
        "Generated; write it anew with\n\n"
        "    {}build/release/bin/bench_matmul docs/matmul.md\n\n"
        "BatchMatMul of two inputs on CpuAcc against `cblas_sgemm` of OpenBLAS with its {} kernels, one "
        "thread, in\n"
        "interleaved rounds. Tenon's time is that of a network of one layer. OpenBLAS' time includes the run of an "
        "empty\n"
        "network, because a network would call it. Both read and write the same memory. Ratios are medians; below 1 "
        "Tenon is\n"
        "faster.\n\n"
        "| products | x | y | GMAC/s of Tenon | Tenon, us | OpenBLAS, us | ratio |\n"
        "|---:|---|---|---:|---:|---:|---:|\n",
        coreType != nullptr ? fmt::format("OPENBLAS_CORETYPE={} ", coreType) : "", openblas_get_corename());
    for (const MatMulSizes& sizes : Sizes)
    {
        const std::string description = Describe(sizes);
        if (description.find(text) != std::string::npos)
        {
            out << description << Compare(sizes) << std::flush;
        }
    }
}

} // namespace

} // namespace tenon::bench

int main(int argc, char** argv)
{
    openblas_set_num_threads(1);
    return tenon::bench::WriteTableFile(argc, argv, tenon::bench::WriteTable);
}
