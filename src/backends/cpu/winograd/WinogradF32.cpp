// SPDX-License-Identifier: Apache-2.0
// WinogradF32: partition into strips of tiles, and the steps of a strip.
#include "backends/cpu/winograd/WinogradF32.hpp"

#include "backends/common/Scratch.hpp"
#include "backends/cpu/gemm/kernels/f32/MaxSumDepth.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <algorithm>
#include <vector>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;

constexpr size_t Points = WinogradTileF32::Points;
constexpr size_t Outputs = WinogradTileF32::Outputs;

/// Bytes of a strip's points and sums: most of a second-level cache of 1 MiB.
constexpr size_t StripBytes = 640 * 1024;

} // namespace

WeightSizes GetWinogradSizesF32(size_t outputs, size_t channels)
{
    return {Points, Points * outputs, channels, channels};
}

std::unique_ptr<PackedWeightsF32> PackWinogradF32(const FloatWeights& weights, size_t outputs, size_t channels,
                                                  backends::PackedStore& store)
{
    std::vector<float> transformed;
    const auto transform = [&]() -> const float*
    {
        std::vector<float> floats;
        transformed.resize(Points * outputs * channels);
        TransformWinogradWeightsF32(
            weights.GetAll(WinogradTileF32::Window * WinogradTileF32::Window * outputs * channels, floats), outputs,
            channels, transformed.data());
        return transformed.data();
    };
    return std::make_unique<PackedWeightsF32>(transform, GetWinogradSizesF32(outputs, channels), WeightOrder::Columns,
                                              store);
}

WinogradF32::WinogradF32(const PackedWeightsF32& weights, const Im2col& windows, size_t images,
                         const backends::FloatClamp& clamp, unsigned int maxThreads)
    : m_Weights(&weights), m_Grid(windows, images), m_Clamp(clamp), m_Channels(weights.GetSizes().m_Columns / Points)
{
    const size_t lanes = weights.GetPanels().GetMicrokernels().m_Lanes;
    m_PointDepth = DivideUp(weights.GetSizes().m_Depth, lanes) * lanes;
    for (const PanelF32& panel : weights.GetPanels().Get())
    {
        m_PanelWidth = std::max(m_PanelWidth, panel.m_Vectors * lanes);
    }
    const size_t tileBytes = Points * (m_PointDepth + m_PanelWidth) * sizeof(float);
    m_StripTiles = m_Grid.CountStripTiles(StripBytes, tileBytes);

    m_PointStride = GetPointStride<float>(m_StripTiles * m_PointDepth);
    m_SumStride = GetPointStride<float>(m_StripTiles * m_PanelWidth);

    const double multiplications = static_cast<double>(m_Grid.GetTiles()) *
                                   static_cast<double>(weights.GetSizes().m_Columns) *
                                   static_cast<double>(weights.GetSizes().m_Depth);
    m_Tasks = std::min({GetMaxTasks(maxThreads), GetWorthwhileTasks(multiplications), m_Grid.GetTiles()});
    Scratch task;
    m_PointsOffset = task.Add<float>(Points, m_PointStride);
    m_SumsOffset = task.Add<float>(Points, m_SumStride);
    m_TaskBytes = task.GetBytes();
    Scratch scratch;
    scratch.AddPerTask(task, m_Tasks);
    m_ScratchBytes = scratch.GetBytes();
}

void WinogradF32::Run(const float* input, const float* bias, float* out, void* scratch, IParallelFor& parallel) const
{
    const Operands operands{input, bias, out};
    m_Grid.ForEachStrip(parallel, m_Tasks, m_StripTiles,
                        [&](size_t task, size_t first, size_t last)
                        { RunStrip(operands, first, last, static_cast<std::byte*>(scratch) + task * m_TaskBytes); });
}

void WinogradF32::RunStrip(const Operands& operands, size_t first, size_t last, std::byte* scratch) const
{
    const size_t tiles = last - first;
    auto* points = Scratch::At<float>(scratch, m_PointsOffset);
    auto* sums = Scratch::At<float>(scratch, m_SumsOffset);
    TransformStrip(operands.m_Input, first, last, points);
    const std::vector<PanelF32>& panels = m_Weights->GetPanels().Get();
    for (size_t p = 0; p < panels.size() / Points; ++p)
    {
        RunPoints(p, tiles, points, sums);
        StoreStrip(operands, panels[p], first, last, sums);
    }
}

void WinogradF32::TransformStrip(const float* input, size_t first, size_t last, float* points) const
{
    const WinogradTransformsF32& engine = GetWinogradTransformsF32();
    WinogradInputTileF32 tile;
    tile.m_Channels = m_Weights->GetSizes().m_Depth;
    tile.m_PointStride = m_PointStride;
    const float* pixels[2][Points];
    m_Grid.FindPixels(input, m_Weights->GetZeros(), first, pixels[first % 2]);
    for (size_t i = first; i < last; ++i)
    {
        m_Grid.FindPixels(input, m_Weights->GetZeros(), std::min(i + 1, last - 1), pixels[(i + 1) % 2]);
        tile.m_Pixels = pixels[i % 2];
        tile.m_Next = pixels[(i + 1) % 2];
        tile.m_Out = points + (i - first) * m_PointDepth;
        engine.m_TransformInput(tile);
    }
}

void WinogradF32::RunPoints(size_t firstPanel, size_t tiles, const float* points, float* sums) const
{
    const MicrokernelsF32& engine = m_Weights->GetPanels().GetMicrokernels();
    const std::vector<PanelF32>& panels = m_Weights->GetPanels().Get();
    const size_t panelsOfPoint = panels.size() / Points;
    const size_t depth = m_Weights->GetSizes().m_Depth;
    for (size_t point = 0; point < Points; ++point)
    {
        const PanelF32& panel = panels[point * panelsOfPoint + firstPanel];
        TileF32 tile;
        tile.m_DataStride = m_PointDepth;
        tile.m_Columns = tile.m_OutStride = panel.m_Vectors * engine.m_Lanes;
        float* out = sums + point * m_SumStride;
        for (size_t k = 0; k < depth; k += MaxSumDepth)
        {
            tile.m_Depth = std::min(MaxSumDepth, depth - k);
            tile.m_Panel = m_Weights->GetData() + panel.m_Offset + k * tile.m_Columns;
            tile.m_Accumulates = k != 0;
            ForEachHeight(tiles, engine.m_Rows[panel.m_Vectors],
                          [&](size_t begin, size_t height, size_t count)
                          {
                              tile.m_Data = points + point * m_PointStride + begin * m_PointDepth + k;
                              tile.m_Out = out + begin * tile.m_OutStride;
                              engine.m_Tiles[panel.m_Vectors][height](tile, count);
                          });
        }
    }
}

void WinogradF32::StoreStrip(const Operands& operands, const PanelF32& panel, size_t first, size_t last,
                             const float* sums) const
{
    const WinogradTransformsF32& engine = GetWinogradTransformsF32();
    const auto height = static_cast<size_t>(m_Grid.GetWindows().m_OutputHeight);
    const auto width = static_cast<size_t>(m_Grid.GetWindows().m_OutputWidth);
    WinogradOutputTileF32 tile;
    tile.m_PointStride = m_SumStride;
    tile.m_Bias = operands.m_Bias != nullptr ? operands.m_Bias + panel.m_Column : nullptr;
    tile.m_Channels = panel.m_Columns;
    tile.m_HasClamp = m_Clamp.IsActive();
    tile.m_Low = m_Clamp.GetLow();
    tile.m_High = m_Clamp.GetHigh();
    tile.m_PixelStride = m_Channels;
    tile.m_RowStride = width * m_Channels;
    const size_t rowFloats = panel.m_Vectors * m_Weights->GetPanels().GetMicrokernels().m_Lanes;
    for (size_t i = first; i < last; ++i)
    {
        const Grid::Place place = m_Grid.GetPlace(i);
        tile.m_Sums = sums + (i - first) * rowFloats;
        tile.m_Rows = std::min(Outputs, height - place.m_Row);
        tile.m_Columns = std::min(Outputs, width - place.m_Column);
        tile.m_Out = operands.m_Out + ((place.m_Image * height + place.m_Row) * width + place.m_Column) * m_Channels +
                     panel.m_Column;
        engine.m_TransformOutput(tile);
    }
}

} // namespace tenon::cpu
