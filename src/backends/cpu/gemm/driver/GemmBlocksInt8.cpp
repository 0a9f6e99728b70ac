// SPDX-License-Identifier: Apache-2.0
// See GemmBlocksInt8.hpp.
#include "backends/cpu/gemm/driver/GemmBlocksInt8.hpp"

#include "backends/common/Scratch.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <algorithm>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;

/// Bytes of data in a block of rows: an eighth of a second-level cache of 1 MiB, as the panels pass through it too.
constexpr size_t BlockBytes = size_t{128} << 10;

PanelPartition MakePartition(const PackedBlocksInt8& weights, size_t rows, unsigned int maxThreads)
{
    // Few rows count as at least four, since weights come from memory for these.
    constexpr size_t FewRows = 4;
    constexpr double FasterThanFloats = 4;
    const double multiplications = static_cast<double>(std::max(rows, FewRows)) *
                                   static_cast<double>(weights.GetColumns()) * static_cast<double>(weights.GetDepth());
    const size_t maxRanges = GetWorthwhileTasks(multiplications / FasterThanFloats);
    const size_t panels = weights.GetPanels().size();
    const MicrokernelSetInt8& tiles = weights.GetTiles();
    return {{rows, weights.GetColumns(), panels, tiles.m_Rows[tiles.m_Vectors], 1, maxRanges},
            std::min({GetMaxTasks(maxThreads), maxRanges, std::max(rows, panels)})};
}

} // namespace

GemmBlocksInt8::GemmBlocksInt8(const PackedBlocksInt8& weights, size_t rows, const ReshapeArgs& args)
    : m_Weights(&weights), m_Rows(rows),
      m_Pitch(weights.GetDepth() * (weights.GetTiles().IsDataInt16() ? sizeof(int16_t) : 1)),
      m_Slices(weights.GetBlocks() *
               DivideUp(weights.GetBlockSize(), weights.GetTiles().m_BlockSums.GetSliceBytes(weights.GetBlockSize()))),
      m_Clamp(args.m_FusedActivation), m_Partition(MakePartition(weights, rows, args.m_MaxThreads))
{
    Scratch scratch;
    HybridDataInt8 data;
    data.m_Batches = rows;
    data.m_IsAsymmetric = true;
    m_Quantizer = HybridQuantizerInt8(data, rows * weights.GetDepth(), scratch);
    m_StartsOffset = scratch.Add<int32_t>(rows, m_Slices);
    m_WideOffset = scratch.Add<int16_t>(weights.GetTiles().IsDataInt16() ? rows : 0, weights.GetDepth());
    m_ScratchBytes = scratch.GetBytes();
}

void GemmBlocksInt8::Run(const ExecuteArgs& args) const
{
    const Rows rows = Prepare(args, m_Quantizer.Quantize(args));
    m_Partition.Run(*args.m_Parallel,
                    [&](size_t, const PanelRange& range) { RunRange(rows, range, args.GetOutput<float>(0)); });
}

GemmBlocksInt8::Rows GemmBlocksInt8::Prepare(const ExecuteArgs& args, const GemmDataInt8& data) const
{
    auto* const starts = Scratch::At<int32_t>(args.m_Scratch, m_StartsOffset);
    auto* const wide = Scratch::At<int16_t>(args.m_Scratch, m_WideOffset);
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

void GemmBlocksInt8::RunRange(const Rows& rows, const PanelRange& range, float* out) const
{
    const MicrokernelSetInt8& tiles = m_Weights->GetTiles();
    const size_t tileRows = tiles.m_Rows[tiles.m_Vectors];
    const size_t blockRows = std::max<size_t>(BlockBytes / m_Pitch / tileRows, 1) * tileRows;
    for (size_t first = range.m_FirstRow; first < range.m_LastRow; first += blockRows)
    {
        for (size_t p = range.m_FirstPanel; p < range.m_LastPanel; ++p)
        {
            RunPanel(rows, m_Weights->GetPanels()[p], first, std::min(first + blockRows, range.m_LastRow), out);
        }
    }
}

void GemmBlocksInt8::RunPanel(const Rows& rows, const PanelInt8& panel, size_t first, size_t last, float* out) const
{
    const MicrokernelSetInt8& tiles = m_Weights->GetTiles();
    const size_t width = panel.m_Vectors * m_Weights->GetMicrokernels().m_Lanes;
    alignas(
        64) float sums[MicrokernelSetInt8::MaxBlockRows * MicrokernelSetInt8::MaxVectors * MicrokernelsInt8::MaxLanes];
    BlockRowsInt8 operands;
    operands.m_DataStride = m_Pitch;
    operands.m_StartStride = m_Slices;
    operands.m_Panel = m_Weights->GetData(panel);
    operands.m_ScaleBytes = m_Weights->GetScaleBytes();
    operands.m_Blocks = m_Weights->GetBlocks();
    operands.m_Groups = m_Weights->GetBlockSize() / tiles.GetGroupDepth();
    operands.m_Sums = sums;
    ForEachTile(last - first, tiles.m_Rows[panel.m_Vectors],
                [&](size_t begin, size_t height)
                {
                    const size_t row = first + begin;
                    operands.m_Data = rows.m_Data + row * m_Pitch;
                    operands.m_Starts = rows.m_Starts + row * m_Slices;
                    tiles.m_BlockTiles[panel.m_Vectors][height](operands);
                    WriteRows(panel, sums, width, rows.m_Scales + row, height,
                              out + row * m_Weights->GetColumns() + panel.m_Column);
                });
}

void GemmBlocksInt8::WriteRows(const PanelInt8& panel, const float* sums, size_t width, const ScaleAndZeroPoint* scales,
                               size_t rows, float* out) const
{
    const float* const factors = m_Weights->GetZeroPointFactors() + panel.m_Column;
    const float* const bias = m_Weights->GetBias() + panel.m_Column;
    for (size_t row = 0; row < rows; ++row, sums += width, out += m_Weights->GetColumns())
    {
        const auto zeroPoint = static_cast<float>(scales[row].m_ZeroPoint);
        const float scale = scales[row].m_Scale;
        for (size_t c = 0; c < panel.m_Columns; ++c)
        {
            out[c] = (sums[c] - zeroPoint * factors[c]) * scale + bias[c];
        }
        m_Clamp.Run(out, panel.m_Columns);
    }
}

} // namespace tenon::cpu
