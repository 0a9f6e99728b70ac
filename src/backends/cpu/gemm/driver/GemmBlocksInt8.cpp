// SPDX-License-Identifier: Apache-2.0
// See GemmBlocksInt8.hpp.
#include "backends/cpu/gemm/driver/GemmBlocksInt8.hpp"

#include "backends/common/Scratch.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;

/// Bytes of data in a block of rows: an eighth of a second-level cache of 1 MiB, as the panels pass through it too.
constexpr size_t BlockBytes = size_t{128} << 10;
constexpr size_t MaxBlockRows = 256;

/// Bytes of 4-bit weights as bytes, for half of a first-level cache; several tiles, at fewest MinWideTiles, share them.
constexpr size_t WideBytes = size_t{16} << 10;
constexpr size_t MinWideTiles = 3;

PanelPartition MakePartition(const PackedBlocksInt8& weights, size_t rows, unsigned int maxThreads)
{
    // Few rows count as at least four, since weights come from memory for these.
    constexpr size_t FewRows = 4;
    constexpr double FasterThanFloats = 4;
    const double multiplications = static_cast<double>(std::max(rows, FewRows)) *
                                   static_cast<double>(weights.GetColumns()) * static_cast<double>(weights.GetDepth());
    const size_t maxRanges = GetWorthwhileTasks(multiplications / FasterThanFloats);
    const MicrokernelSetInt8& tiles = weights.GetTiles();
    return {{rows, weights.GetColumns(), weights.GetPanels().size(), tiles.m_Rows[tiles.m_Vectors], 1, maxRanges},
            maxThreads};
}

} // namespace

GemmBlocksInt8::GemmBlocksInt8(const PackedBlocksInt8& weights, size_t rows, const ReshapeArgs& args)
    : m_Weights(&weights), m_Rows(rows),
      m_Pitch(weights.GetDepth() * (weights.GetTiles().IsDataInt16() ? sizeof(int16_t) : 1)),
      m_BlockSlices(
          DivideUp(weights.GetBlockSize(), weights.GetTiles().m_BlockSums.GetSliceBytes(weights.GetBlockSize()))),
      m_Slices(weights.GetBlocks() * m_BlockSlices), m_Clamp(args.m_FusedActivation),
      m_Partition(MakePartition(weights, rows, args.m_MaxThreads))
{
    const MicrokernelSetInt8& tiles = weights.GetTiles();
    const size_t tileRows = tiles.m_Rows[tiles.m_Vectors];
    const size_t width = tiles.m_Vectors * weights.GetMicrokernels().m_Lanes;
    m_BlockRows = std::min(std::clamp(BlockBytes / m_Pitch / tileRows * tileRows, tileRows, MaxBlockRows), rows);
    if (tiles.m_WidenBlocks != nullptr && m_BlockRows > (MinWideTiles - 1) * tileRows)
    {
        m_WideBlocks = std::min(WideBytes / (width * weights.GetBlockSize()), weights.GetBlocks());
    }
    Scratch task;
    m_SumsOffset = task.Add<float>(m_BlockRows, width);
    m_PanelOffset = task.Add<std::byte>(m_WideBlocks, width * (weights.GetBlockSize() + sizeof(float)));
    m_TaskBytes = task.GetBytes();
    Scratch scratch;
    HybridDataInt8 data;
    data.m_Batches = rows;
    data.m_IsAsymmetric = true;
    m_Quantizer = HybridQuantizerInt8(data, rows * weights.GetDepth(), scratch);
    m_StartsOffset = scratch.Add<int32_t>(rows, m_Slices);
    m_Int16Offset = scratch.Add<int16_t>(tiles.IsDataInt16() ? rows : 0, weights.GetDepth());
    m_TasksOffset = scratch.AddPerTask(task, m_Partition.GetTasks());
    m_ScratchBytes = scratch.GetBytes();
}

void GemmBlocksInt8::Run(const ExecuteArgs& args) const
{
    const Rows rows = Prepare(args, m_Quantizer.Quantize(args));
    m_Partition.Run(*args.m_Parallel,
                    [&](size_t task, const PanelRange& range)
                    {
                        auto* const memory = Scratch::At<std::byte>(args.m_Scratch, m_TasksOffset + task * m_TaskBytes);
                        RunRange(rows, range, memory, args.GetOutput<float>(0));
                    });
}

GemmBlocksInt8::Rows GemmBlocksInt8::Prepare(const ExecuteArgs& args, const GemmDataInt8& data) const
{
    auto* const starts = Scratch::At<int32_t>(args.m_Scratch, m_StartsOffset);
    auto* const wide = Scratch::At<int16_t>(args.m_Scratch, m_Int16Offset);
    const MicrokernelsInt8& microkernels = m_Weights->GetMicrokernels();
    const MicrokernelSetInt8& tiles = m_Weights->GetTiles();
    const size_t depth = m_Weights->GetDepth();
    RunRanges(*args.m_Parallel, m_Rows, GetGrain(depth),
              [&](size_t first, size_t last)
              {
                  for (size_t row = first; row < last; ++row)
                  {
                      const auto* const from = reinterpret_cast<const int8_t*>(data.m_Values) + row * depth;
                      microkernels.m_StartBlocks(from, m_Weights->GetBlocks(), m_Weights->GetBlockSize(),
                                                 tiles.m_BlockSums, starts + row * m_Slices);
                      if (tiles.IsDataInt16())
                      {
                          microkernels.m_Widen(from, depth, true, 0, wide + row * depth);
                      }
                  }
              });
    const void* const values = tiles.IsDataInt16() ? static_cast<const void*>(wide) : data.m_Values;
    return {static_cast<const std::byte*>(values), starts, data.m_Batches};
}

void GemmBlocksInt8::RunRange(const Rows& rows, const PanelRange& range, std::byte* memory, float* out) const
{
    for (size_t first = range.m_FirstRow; first < range.m_LastRow; first += m_BlockRows)
    {
        const size_t last = std::min(first + m_BlockRows, range.m_LastRow);
        for (size_t p = range.m_FirstPanel; p < range.m_LastPanel; ++p)
        {
            const PanelInt8& panel = m_Weights->GetPanels()[p];
            RunPanel(rows, panel, first, last, memory);
            Finish(rows, panel, first, last, memory, out);
        }
    }
}

void GemmBlocksInt8::RunPanel(const Rows& rows, const PanelInt8& panel, size_t first, size_t last,
                              std::byte* memory) const
{
    const MicrokernelSetInt8& tiles = m_Weights->GetTiles();
    const size_t width = panel.m_Vectors * m_Weights->GetMicrokernels().m_Lanes;
    const size_t blocks = m_Weights->GetBlocks();
    auto* const sums = Scratch::At<float>(memory, m_SumsOffset);
    auto* const wide = Scratch::At<std::byte>(memory, m_PanelOffset);
    std::memset(sums, 0, (last - first) * width * sizeof(float));
    BlockRowsInt8 operands;
    operands.m_DataStride = m_Pitch;
    operands.m_StartStride = m_Slices;
    operands.m_Groups = m_Weights->GetBlockSize() / tiles.GetGroupDepth();
    const size_t step = m_WideBlocks != 0 ? m_WideBlocks : blocks;
    for (size_t block = 0; block < blocks; block += step)
    {
        operands.m_Panel = m_Weights->GetData(panel) + block * m_Weights->GetBlockBytes(panel);
        operands.m_ScaleBytes = m_Weights->GetScaleBytes();
        operands.m_Blocks = std::min(step, blocks - block);
        if (m_WideBlocks != 0)
        {
            tiles.m_WidenBlocks(operands, panel.m_Vectors, wide);
            operands.m_Panel = wide;
            operands.m_ScaleBytes = sizeof(float);
        }
        const auto& microkernels = (m_WideBlocks != 0 ? tiles.m_WideBlockTiles : tiles.m_BlockTiles)[panel.m_Vectors];
        const size_t blockAt = m_Pitch / blocks * block;
        ForEachTile(last - first, tiles.m_Rows[panel.m_Vectors],
                    [&](size_t begin, size_t height)
                    {
                        const size_t row = first + begin;
                        operands.m_Data = rows.m_Data + row * m_Pitch + blockAt;
                        operands.m_Starts = rows.m_Starts + row * m_Slices + block * m_BlockSlices;
                        operands.m_Sums = sums + begin * width;
                        microkernels[height](operands);
                    });
    }
}

void GemmBlocksInt8::Finish(const Rows& rows, const PanelInt8& panel, size_t first, size_t last, std::byte* memory,
                            float* out) const
{
    BlockOutputsInt8 outputs;
    outputs.m_Sums = Scratch::At<float>(memory, m_SumsOffset);
    outputs.m_SumStride = panel.m_Vectors * m_Weights->GetMicrokernels().m_Lanes;
    outputs.m_Rows = last - first;
    outputs.m_Columns = panel.m_Columns;
    outputs.m_Scales = rows.m_Scales + first;
    outputs.m_Factors = m_Weights->GetZeroPointFactors() + panel.m_Column;
    outputs.m_Bias = m_Weights->GetBias() + panel.m_Column;
    outputs.m_HasClamp = m_Clamp.IsActive();
    outputs.m_Low = m_Clamp.GetLow();
    outputs.m_High = m_Clamp.GetHigh();
    outputs.m_OutStride = m_Weights->GetColumns();
    outputs.m_Out = out + first * outputs.m_OutStride + panel.m_Column;
    m_Weights->GetMicrokernels().m_FinishBlocks(outputs);
}

} // namespace tenon::cpu
