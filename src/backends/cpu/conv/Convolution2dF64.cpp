// SPDX-License-Identifier: Apache-2.0
// Convolution2d of CpuAcc for NHWC float64 data, constant weights or others: im2col + OpenBLAS's dgemm (GemmF64), a
// matrix for each group. Pixels of 1x1 windows are read where they lie.
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/gemm/driver/GemmF64.hpp"
#include "backends/cpu/im2col/Im2col.hpp"
#include "backends/reference/Kernels.hpp"

#include <algorithm>
#include <optional>

namespace tenon::cpu
{

namespace
{

constexpr backends::TypeRow Types[] = {backends::SameType(DataType::Float64, 3)};

/// The windows of a block take at most this much, unless those are few: dgemm packs the weights anew for each block.
constexpr size_t MaxBlockBytes = size_t{1} << 20;
constexpr size_t FewRows = 64;

class Convolution2dF64
{
public:
    Convolution2dF64(const Im2col& windows, size_t columns, const GemmF64& product, const RowBlocksF64& blocks,
                     bool hasBias, size_t tasks)
        : m_Windows(windows), m_Columns(columns), m_Product(product), m_Blocks(blocks), m_HasBias(hasBias),
          m_Tasks(tasks), m_BlockElements(windows.IsPointwise() ? 0 : blocks.GetMaxRows() * windows.GetDepth()),
          m_Rows(m_Scratch.Add<double>(tasks, m_BlockElements))
    {
    }

    size_t GetScratchBytes() const { return m_Scratch.GetBytes(); }

    void operator()(const ExecuteArgs& args) const
    {
        m_Blocks.Run(*args.m_Parallel, m_Tasks,
                     [&](size_t task, size_t group, const IndexRange& pixels) { RunBlock(args, task, group, pixels); });
    }

private:
    void RunBlock(const ExecuteArgs& args, size_t task, size_t group, const IndexRange& pixels) const
    {
        const auto channels = static_cast<size_t>(m_Windows.m_Channels);
        const size_t groups = channels / static_cast<size_t>(m_Windows.m_GroupChannels);
        const double* data = args.GetInput<double>(0) + group * static_cast<size_t>(m_Windows.m_GroupChannels);
        if (m_Windows.IsPointwise())
        {
            data += pixels.m_Begin * channels;
        }
        else
        {
            double* const rows = backends::Scratch::At<double>(args.m_Scratch, m_Rows) + task * m_BlockElements;
            m_Windows.Copy(data, pixels.m_Begin, pixels.m_End, 0.0, m_Windows.GetDepth(), rows);
            data = rows;
        }
        const size_t first = group * m_Columns; // channel of the output
        m_Product.Run(data, args.GetInput<double>(1) + first * m_Windows.GetDepth(),
                      m_HasBias ? args.GetInput<double>(2) + first : nullptr,
                      args.GetOutput<double>(0) + pixels.m_Begin * groups * m_Columns + first,
                      pixels.m_End - pixels.m_Begin);
    }

    Im2col m_Windows;
    size_t m_Columns; ///< of a group
    GemmF64 m_Product;
    RowBlocksF64 m_Blocks;
    bool m_HasBias;
    size_t m_Tasks;
    size_t m_BlockElements;
    backends::Scratch m_Scratch;
    size_t m_Rows; ///< offset in the scratch memory
};

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights*)
{
    if (std::optional<backends::Prepared> declined = DeclineWithoutDgemm())
    {
        return *std::move(declined);
    }
    const TensorShape& weights = args.GetInput(1).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    if (weights.GetNumDimensions() != 4 || weights.GetNumElements64() == 0 || output.GetNumElements64() == 0)
    {
        return backends::Prepared::Declined("the product is empty, or its weights do not have 4 dimensions");
    }
    const Im2col windows = MakeConvolutionIm2col(args);
    const size_t depth = windows.GetDepth();
    const size_t pixels = size_t{output[0]} * output[1] * output[2];
    const auto groups = static_cast<size_t>(windows.m_Channels / windows.m_GroupChannels);
    const size_t columns = output[3] / groups;
    const size_t rowStep = windows.IsPointwise() ? static_cast<size_t>(windows.m_Channels) : depth;
    const auto x = MatrixLayoutF64::Find(pixels, depth, rowStep, 1);
    const auto y = MatrixLayoutF64::Find(depth, columns, 1, depth);
    if (!x || x->m_IsTransposed || !y || !IsSizeF64(output[3]))
    {
        return backends::Prepared::Declined("a size has over 31 bits");
    }
    const GemmF64 product({depth, columns, *x, *y, output[3]}, backends::FloatClamp(args.m_FusedActivation));
    const double multiplications =
        static_cast<double>(pixels) * static_cast<double>(output[3]) * static_cast<double>(depth);
    const size_t maxRows = windows.IsPointwise() ? pixels : std::max(MaxBlockBytes / sizeof(double) / depth, FewRows);
    const RowBlocksF64 blocks(groups, pixels, multiplications, maxRows);
    const size_t tasks = std::min(GetMaxTasks(args.m_MaxThreads), blocks.GetCount());
    Convolution2dF64 convolution(windows, columns, product, blocks, args.HasInput(2), tasks);
    const size_t bytes = convolution.GetScratchBytes();
    return {std::move(convolution), bytes};
}

} // namespace

extern const backends::Kernel CpuConvolution2dF64Kernel = {.m_Name = "CpuConvolution2dF64",
                                                           .m_Types = Types,
                                                           .m_Prepare = Prepare,
                                                           .m_Fuse = backends::FuseClamp,
                                                           .m_Reference = &ref::RefConvolution2dKernel};

} // namespace tenon::cpu
