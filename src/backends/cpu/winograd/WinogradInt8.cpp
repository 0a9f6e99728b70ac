// SPDX-License-Identifier: Apache-2.0
// WinogradInt8: partition into strips of tiles, and the steps of a strip.
#include "backends/cpu/winograd/WinogradInt8.hpp"

#include "backends/common/FusedActivation.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;

constexpr size_t Points = WinogradTileInt8::Points;
constexpr size_t Outputs = WinogradTileInt8::Outputs;

/// Bytes of a strip's points and sums: most of a second-level cache of 512 KiB.
constexpr size_t StripBytes = 448 * 1024;

} // namespace

WinogradInt8::WinogradInt8(const WinogradWeightsInt8& weights, const Im2col& windows, const ReshapeArgs& args,
                           bool isAsymmetric)
    : m_Weights(&weights), m_Grid(windows, args.GetOutput(0).GetShape()[0])
{
    const TensorInfo& output = args.GetOutput(0);
    const size_t images = output.GetShape()[0];
    Scratch scratch;
    if (weights.IsHybrid())
    {
        m_Clamp = backends::FloatClamp(args.m_FusedActivation);
        m_Quantizer = HybridQuantizerInt8({images, isAsymmetric}, args.GetInput(0).GetNumElements(), scratch);
    }
    else
    {
        const backends::QuantizedRange range = backends::GetFusedRange(output, args.m_FusedActivation);
        m_IsSigned = output.GetDataType() != DataType::QAsymmU8;
        m_Min = range.m_Min;
        m_Max = range.m_Max;
    }
    m_PointDepth = DivideUp(weights.GetChannels(), WinogradTransformsInt8::MaxLanes) * WinogradTransformsInt8::MaxLanes;
    for (const PanelInt8& panel : weights.GetPanels())
    {
        m_PanelWidth = std::max(m_PanelWidth, panel.m_Vectors * weights.GetMicrokernels().m_Lanes);
    }
    const size_t tileBytes = Points * (m_PointDepth * sizeof(int16_t) + m_PanelWidth * sizeof(int32_t));
    m_StripTiles = m_Grid.CountStripTiles(StripBytes, tileBytes);
    m_PointStride = GetPointStride<int16_t>(m_StripTiles * m_PointDepth);
    m_SumStride = GetPointStride<int32_t>(m_StripTiles * m_PanelWidth);

    // The number of tasks is stated in float multiplications.
    constexpr double FasterThanFloats = 1.5;
    const double multiplications = static_cast<double>(m_Grid.GetTiles() * Points) *
                                   static_cast<double>(weights.GetChannels()) *
                                   static_cast<double>(weights.GetOutputs());
    m_Tasks = std::min(
        {GetMaxTasks(args.m_MaxThreads), GetWorthwhileTasks(multiplications / FasterThanFloats), m_Grid.GetTiles()});
    Scratch task;
    task.Add<int16_t>(Points, m_PointStride);
    m_SumsOffset = task.Add<int32_t>(Points, m_SumStride);
    m_PixelsOffset = task.Add<int32_t>(Outputs * Outputs * m_StripTiles * m_PanelWidth + RequantizeRows::PastSums);
    const size_t maxPixels = weights.IsHybrid() ? Outputs * m_StripTiles : 0; // in a row of tiles
    m_ScalesOffset = task.Add<float>(maxPixels);
    m_ZeroPointsOffset = task.Add<int32_t>(maxPixels);
    m_TaskBytes = task.GetBytes();
    m_PaddingOffset = scratch.Add<uint8_t>(images, weights.GetChannels());
    m_TasksOffset = scratch.AddPerTask(task, m_Tasks);
    m_ScratchBytes = scratch.GetBytes();
}

void WinogradInt8::Run(const ExecuteArgs& args) const
{
    const size_t channels = m_Weights->GetChannels();
    const size_t images = m_Grid.GetImages();
    Memory memory;
    memory.m_Input =
        m_Weights->IsHybrid() ? m_Quantizer.Quantize(args) : GemmDataInt8{args.GetInput<uint8_t>(0), nullptr};
    memory.m_Output = args.m_Outputs[0];
    auto* const padding = Scratch::At<uint8_t>(args.m_Scratch, m_PaddingOffset);
    for (size_t image = 0; image < images; ++image)
    {
        const ScaleAndZeroPoint* const scales = memory.m_Input.m_Batches;
        const int32_t zeroPoint = scales != nullptr ? scales[image].m_ZeroPoint : m_Weights->GetDataZeroPoint();
        std::memset(padding + image * channels, zeroPoint, channels);
    }
    memory.m_Padding = padding;
    std::byte* const scratch = static_cast<std::byte*>(args.m_Scratch) + m_TasksOffset;
    m_Grid.ForEachStrip(*args.m_Parallel, m_Tasks, m_StripTiles,
                        [&](size_t task, size_t first, size_t last)
                        { RunStrip(memory, first, last, scratch + task * m_TaskBytes); });
}

void WinogradInt8::RunStrip(const Memory& memory, size_t first, size_t last, std::byte* scratch) const
{
    auto* const points = Scratch::At<int16_t>(scratch, 0);
    TransformStrip(memory, first, last, points);
    for (const PanelInt8& panel : m_Weights->GetPanels())
    {
        RunPoints(panel, last - first, points, Scratch::At<int32_t>(scratch, m_SumsOffset));
        StoreStrip(memory, panel, first, last, scratch);
    }
}

void WinogradInt8::TransformStrip(const Memory& memory, size_t first, size_t last, int16_t* points) const
{
    const WinogradTransformsInt8& engine = GetWinogradTransformsInt8();
    const uint8_t* pixels[Points];
    WinogradInputTileInt8 tile;
    tile.m_Pixels = pixels;
    tile.m_Channels = m_Weights->GetChannels();
    tile.m_IsSigned = m_IsSigned;
    tile.m_PointStride = m_PointStride;
    for (size_t i = first; i < last; ++i)
    {
        const size_t image = m_Grid.GetPlace(i).m_Image;
        m_Grid.FindPixels(memory.m_Input.m_Values, memory.m_Padding + image * tile.m_Channels, i, pixels);
        tile.m_Out = points + (i - first) * m_PointDepth;
        engine.m_TransformInput(tile);
    }
}

void WinogradInt8::RunPoints(const PanelInt8& panel, size_t tiles, const int16_t* points, int32_t* sums) const
{
    alignas(64) static constexpr int32_t NoBias[MicrokernelSetInt8::MaxVectors * MicrokernelsInt8::MaxLanes] = {};
    const MicrokernelSetInt8& tileSet = m_Weights->GetTiles();
    const size_t width = panel.m_Vectors * m_Weights->GetMicrokernels().m_Lanes;
    for (size_t point = 0; point < Points; ++point, points += m_PointStride, sums += m_SumStride)
    {
        const void* const weights = m_Weights->GetData(panel, point);
        ForEachTile(tiles, tileSet.m_Rows[panel.m_Vectors],
                    [&](size_t begin, size_t rows)
                    {
                        tileSet.m_Tiles[panel.m_Vectors][rows](points + begin * m_PointDepth,
                                                               m_PointDepth * sizeof(int16_t), weights,
                                                               m_Weights->GetGroups(), NoBias, sums + begin * width);
                    });
    }
}

void WinogradInt8::StoreStrip(const Memory& memory, const PanelInt8& panel, size_t first, size_t last,
                              std::byte* scratch) const
{
    const auto* const sums = Scratch::At<int32_t>(scratch, m_SumsOffset);
    const size_t width = panel.m_Vectors * m_Weights->GetMicrokernels().m_Lanes;
    for (size_t tile = first; tile < last;)
    {
        const size_t end = std::min(last, m_Grid.GetRowEnd(tile));
        StoreRun(memory, panel, m_Grid.GetPlace(tile), end - tile, sums + (tile - first) * width, scratch);
        tile = end;
    }
}

void WinogradInt8::StoreRun(const Memory& memory, const PanelInt8& panel, const Grid::Place& place, size_t tiles,
                            const int32_t* sums, std::byte* scratch) const
{
    const WinogradTransformsInt8& engine = GetWinogradTransformsInt8();
    auto* const pixels = Scratch::At<int32_t>(scratch, m_PixelsOffset);
    WinogradOutputTileInt8 tile;
    tile.m_PointStride = m_SumStride;
    tile.m_Bias = m_Weights->GetBias(panel);
    tile.m_Width = panel.m_Vectors * m_Weights->GetMicrokernels().m_Lanes;
    tile.m_RowStride = tiles * Outputs * tile.m_Width;
    for (size_t t = 0; t < tiles; ++t)
    {
        tile.m_Sums = sums + t * tile.m_Width;
        tile.m_Out = pixels + t * Outputs * tile.m_Width;
        engine.m_TransformOutput(tile);
    }
    const auto height = static_cast<size_t>(m_Grid.GetWindows().m_OutputHeight);
    const auto outputWidth = static_cast<size_t>(m_Grid.GetWindows().m_OutputWidth);
    Pixels row;
    row.m_SumStride = tile.m_Width;
    row.m_Count = std::min(tiles * Outputs, outputWidth - place.m_Column);
    row.m_Image = place.m_Image;
    for (size_t y = 0; y < std::min(Outputs, height - place.m_Row); ++y)
    {
        row.m_First = (place.m_Image * height + place.m_Row + y) * outputWidth + place.m_Column;
        row.m_Sums = pixels + y * tile.m_RowStride;
        m_Weights->IsHybrid() ? WriteF32(memory, panel, row, scratch) : WriteInt8(memory, panel, row);
    }
}

void WinogradInt8::WriteInt8(const Memory& memory, const PanelInt8& panel, const Pixels& pixels) const
{
    RequantizeColumns columns = m_Weights->GetRequantization(panel);
    columns.m_Min = m_Min;
    columns.m_Max = m_Max;
    RequantizeRows rows;
    rows.m_Sums = pixels.m_Sums;
    rows.m_SumStride = pixels.m_SumStride;
    rows.m_Rows = pixels.m_Count;
    rows.m_Columns = panel.m_Columns;
    rows.m_OutStride = m_Weights->GetOutputs();
    rows.m_Out = static_cast<uint8_t*>(memory.m_Output) + pixels.m_First * rows.m_OutStride + panel.m_Column;
    rows.m_IsSigned = m_IsSigned;
    m_Weights->GetMicrokernels().m_Requantize(rows, columns);
}

void WinogradInt8::WriteF32(const Memory& memory, const PanelInt8& panel, const Pixels& pixels,
                            std::byte* scratch) const
{
    const ScaleAndZeroPoint& scale = memory.m_Input.m_Batches[pixels.m_Image];
    DequantizeColumns columns = m_Weights->GetDequantization(panel);
    columns.m_HasClamp = m_Clamp.IsActive();
    columns.m_Low = m_Clamp.GetLow();
    columns.m_High = m_Clamp.GetHigh();
    DequantizeRows rows;
    rows.m_Sums = pixels.m_Sums;
    rows.m_SumStride = pixels.m_SumStride;
    rows.m_Rows = pixels.m_Count;
    rows.m_Columns = panel.m_Columns;
    rows.m_ZeroPoints =
        std::fill_n(Scratch::At<int32_t>(scratch, m_ZeroPointsOffset), rows.m_Rows, scale.m_ZeroPoint) - rows.m_Rows;
    rows.m_Scales = std::fill_n(Scratch::At<float>(scratch, m_ScalesOffset), rows.m_Rows, scale.m_Scale) - rows.m_Rows;
    rows.m_OutStride = m_Weights->GetOutputs();
    rows.m_Out = static_cast<float*>(memory.m_Output) + pixels.m_First * rows.m_OutStride + panel.m_Column;
    m_Weights->GetMicrokernels().m_Dequantize(rows, columns);
}

} // namespace tenon::cpu
