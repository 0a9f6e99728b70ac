// SPDX-License-Identifier: Apache-2.0
// TransposeConvolution2d of CpuAcc for float data, where the kernel has the sizes of the strides and few outputs: each
// pixel gives a block of pixels of its own. The vectors of a phase (TransposeConvolution2d.cpp) would be mostly
// padding, so one GEMM computes the outputs of all taps, t<row><column>, and the rows of its blocks are copied to those
// of the image:
//
//   GEMM of pixels a, b:  t00 t01 t10 t11 (a)  t00 t01 t10 t11 (b)        image:  t00 t01 (a) t00 t01 (b)
//                                                                                 t10 t11 (a) t10 t11 (b)
#include "backends/common/FusedActivation.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/gemm/driver/GemmF32.hpp"
#include "backends/cpu/im2col/Im2col.hpp"
#include "backends/cpu/move/CopyPlane.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"
#include "backends/cpu/weights/WeightsCheckFloat.hpp"

#include <tenon/descriptors/Convolution.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace tenon::cpu
{

namespace
{

/// The sizes of the GEMM. Weights are [outputs, height, width, channels].
WeightSizes GetBlockSizes(const TensorShape& weights)
{
    return {1, size_t{weights[0]} * weights[1] * weights[2], weights[3]};
}

/// Weights in the order [tap down][tap across][output], and a bias for each of these.
struct BlockWeights final : backends::PackedWeights
{
    BlockWeights(const LayerView& layer, backends::PackedStore& store)
        : m_Weights(
              [&, weights = std::vector<float>()]() mutable -> const float*
              {
                  weights = Reorder(layer);
                  return weights.data();
              },
              GetBlockSizes(layer.GetInput(1).GetShape()), WeightOrder::Columns, store)
    {
        if (layer.HasInput(2))
        {
            const auto* const bias = static_cast<const float*>(layer.m_ConstantData[2]);
            const size_t outputs = layer.GetInput(1).GetShape()[0];
            for (size_t i = 0; i < m_Weights.GetSizes().m_Columns; ++i)
            {
                m_Bias.push_back(bias[i % outputs]);
            }
        }
    }
    bool RefersToConstants() const override { return false; }

    const float* GetBias() const { return m_Bias.empty() ? nullptr : m_Bias.data(); }

    PackedWeightsF32 m_Weights;

private:
    static std::vector<float> Reorder(const LayerView& layer)
    {
        const TensorShape& shape = layer.GetInput(1).GetShape();
        const size_t taps = size_t{shape[1]} * shape[2];
        std::vector<float> copy;
        const float* const all = FloatWeights(layer, 1).GetAll(layer.GetInput(1).GetNumElements(), copy);
        std::vector<float> weights;
        weights.reserve(layer.GetInput(1).GetNumElements());
        for (size_t tap = 0; tap < taps; ++tap)
        {
            for (size_t output = 0; output < shape[0]; ++output)
            {
                const float* const channels = all + (output * taps + tap) * shape[3];
                weights.insert(weights.end(), channels, channels + shape[3]);
            }
        }
        return weights;
    }

    std::vector<float> m_Bias;
};

SupportResult CheckBlocks(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<TransposeConvolution2dDescriptor>();
    const SupportResult result = CheckFloatWeights(layer, 4);
    if (!result)
    {
        return result;
    }
    const TensorShape& weights = layer.GetInput(1).GetShape();
    if (descriptor.m_DataLayout != DataLayout::NHWC || descriptor.m_StrideY != weights[1] ||
        descriptor.m_StrideX != weights[2] || size_t{weights[0]} * 2 > GetMicrokernelsF32().m_Lanes)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "its kernel has other sizes than its strides, or fills vectors by itself");
    }
    const SupportResult bias = CheckConstantBias(layer, weights[0]);
    return bias ? CheckPackedSize(PackedWeightsF32::GetPackedBytes(GetBlockSizes(weights)),
                                  layer.GetInput(1).GetNumBytes())
                : bias;
}

std::unique_ptr<backends::PackedWeights> PackBlocks(const LayerView& layer, backends::PackedStore& store)
{
    return std::make_unique<BlockWeights>(layer, store);
}

struct BlockRun
{
    const BlockWeights* m_Weights;
    GemmF32 m_Gemm;
    size_t m_Width = 0; ///< pixels of a row of the input
    size_t m_Rows = 0;  ///< of all images
    size_t m_ChunkRows = 1;
    size_t m_StrideY = 1;
    size_t m_RunBytes = 0; ///< a row of a block
    CopyPlaneFunction m_Copy = nullptr;
    size_t m_Tasks = 1;
    size_t m_BlocksAt = 0; ///< offset in the memory of a task
    size_t m_GemmAt = 0;
    size_t m_TaskBytes = 0;

    size_t CountChunks() const { return DivideUp(m_Rows, m_ChunkRows); }

    void operator()(const ExecuteArgs& run) const
    {
        RunChunkRanges(*run.m_Parallel, m_Tasks, CountChunks(), 1,
                       [&](size_t task, const IndexRange& range)
                       {
                           auto* const memory = backends::Scratch::At<std::byte>(run.m_Scratch, task * m_TaskBytes);
                           for (size_t chunk = range.m_Begin; chunk < range.m_End; ++chunk)
                           {
                               RunRows(run, chunk * m_ChunkRows, std::min(m_Rows, (chunk + 1) * m_ChunkRows), memory);
                           }
                       });
    }

    void RunRows(const ExecuteArgs& run, size_t first, size_t last, std::byte* memory) const
    {
        const PackedWeightsF32& weights = m_Weights->m_Weights;
        auto* const blocks = backends::Scratch::At<std::byte>(memory, m_BlocksAt);
        m_Gemm.RunRange(run.GetInput<float>(0) + first * m_Width * weights.GetSizes().m_Depth, weights.GetData(),
                        m_Weights->GetBias(), reinterpret_cast<float*>(blocks),
                        {0, (last - first) * m_Width, 0, weights.GetPanels().Get().size()}, memory + m_GemmAt);
        const size_t rowBytes = m_Width * m_RunBytes; // of the output
        Plane plane;
        plane.m_Rows = last - first;
        plane.m_FromRow = static_cast<int64_t>(rowBytes * m_StrideY);
        plane.m_ToRow = plane.m_FromRow;
        plane.m_Runs = m_Width;
        plane.m_FromRun = static_cast<int64_t>(m_RunBytes * m_StrideY);
        plane.m_ToRun = static_cast<int64_t>(m_RunBytes);
        plane.m_RunBytes = m_RunBytes;
        for (size_t y = 0; y < m_StrideY; ++y)
        {
            m_Copy(plane, blocks + y * m_RunBytes, run.GetOutput<std::byte>(0) + (first * m_StrideY + y) * rowBytes);
        }
    }
};

backends::Prepared PrepareBlocks(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const BlockWeights&>(*packed);
    const auto& descriptor = args.GetDescriptor<TransposeConvolution2dDescriptor>();
    const TensorShape& data = args.GetInput(0).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    const auto isEnlarged = [&](unsigned int axis, uint32_t stride)
    { return uint64_t{data[axis]} * stride == output[axis]; };
    const bool fits = data.GetNumDimensions() == 4 && output.GetNumDimensions() == 4 && output[0] == data[0] &&
                      weights.m_Weights.GetSizes().m_Depth == data[3] && output[3] == args.GetInput(1).GetShape()[0] &&
                      isEnlarged(1, descriptor.m_StrideY) && isEnlarged(2, descriptor.m_StrideX) &&
                      descriptor.m_PadTop == 0 && descriptor.m_PadLeft == 0;
    if (!fits || data.GetNumElements() == 0 || output.GetNumElements() == 0)
    {
        return backends::Prepared::Declined("its output is not one block for each pixel, or empty");
    }
    constexpr size_t ChunkBytes = size_t{32} << 10; // of blocks, which stay in the nearest cache
    const size_t width = data[2];
    const size_t rows = size_t{data[0]} * data[1];
    const size_t rowBytes = width * weights.m_Weights.GetSizes().m_Columns * sizeof(float);
    const size_t chunkRows = std::clamp<size_t>(ChunkBytes / rowBytes, 1, rows);
    BlockRun run{&weights, GemmF32(weights.m_Weights, MakeMatrixIm2col(chunkRows * width, data[3]), chunkRows * width,
                                   backends::FloatClamp(args.m_FusedActivation), 1)};
    run.m_Width = width;
    run.m_Rows = rows;
    run.m_ChunkRows = chunkRows;
    run.m_StrideY = descriptor.m_StrideY;
    run.m_RunBytes = size_t{descriptor.m_StrideX} * output[3] * sizeof(float);
    run.m_Copy = ChooseCopyPlane(run.m_RunBytes);
    const double multiplications =
        static_cast<double>(output.GetNumElements()) * static_cast<double>(weights.m_Weights.GetSizes().m_Depth);
    run.m_Tasks = std::min({GetMaxTasks(args.m_MaxThreads), GetWorthwhileTasks(multiplications), run.CountChunks()});
    backends::Scratch task;
    run.m_BlocksAt = task.Add<std::byte>(rowBytes, chunkRows);
    run.m_GemmAt = task.Add<std::byte>(run.m_Gemm.GetTaskBytes());
    run.m_TaskBytes = task.GetBytes();
    const size_t bytes = backends::CheckedCount(run.m_Tasks, run.m_TaskBytes);
    return {std::move(run), bytes};
}

} // namespace

extern const backends::Kernel CpuTransposeConvolution2dBlocksF32Kernel = {.m_Name =
                                                                              "CpuTransposeConvolution2dBlocksF32",
                                                                          .m_Types = FloatTypes,
                                                                          .m_Prepare = PrepareBlocks,
                                                                          .m_Check = CheckBlocks,
                                                                          .m_Pack = PackBlocks,
                                                                          .m_Fuse = backends::FuseClamp};

} // namespace tenon::cpu
