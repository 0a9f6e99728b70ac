// SPDX-License-Identifier: Apache-2.0
// Convolution2dWinogradInt8: Convolution2d of 8-bit NHWC data, or of float data that are quantized at run time
// (hybrid), by constant 3x3 weights, on processors without int8 dot products, by Winograd's F(2x2, 3x3) in exact
// integers. A strip of tiles is transformed into int16 points that stay in the second-level cache; each of the 16
// points is a matrix product of pairs of int16; the sums are transformed back and requantized, or dequantized for float
// data. Sums equal those of the reference kernel.
#include "backends/common/FusedActivation.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/common/PackedStore.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/gemm/epilogue/DequantizeArraysInt8.hpp"
#include "backends/cpu/gemm/epilogue/RequantizeArraysInt8.hpp"
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/gemm/pack/ColumnSumsInt8.hpp"
#include "backends/cpu/gemm/pack/HybridDataInt8.hpp"
#include "backends/cpu/gemm/pack/PanelInt8.hpp"
#include "backends/cpu/move/TransposeVectors.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/weights/LayerWithWeights.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"
#include "backends/cpu/weights/WeightsCheckInt8.hpp"
#include "backends/cpu/winograd/WinogradCheck.hpp"
#include "backends/cpu/winograd/WinogradGrid.hpp"
#include "backends/cpu/winograd/WinogradTransforms.hpp"
#include "backends/reference/kernels/Requantizer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;

constexpr size_t Points = WinogradTileInt8::Points;
constexpr size_t Outputs = WinogradTileInt8::Outputs;
constexpr size_t WindowPixels = WinogradTileInt8::Window * WinogradTileInt8::Window;
constexpr size_t PairBytes = 2 * sizeof(int16_t);

/// Bytes of a strip's points and sums: most of a second-level cache of 512 KiB.
constexpr size_t StripBytes = 448 * 1024;

/// The weights, transformed by 2 G from both sides (an exact integer matrix), packed as
///     [panel][point][pairs of channels][columns][2] int16.
/// With stored data a, their zero point za, and weights w less their own zero point:
///     sum((a - za) * w) = sum(a * w) - za * sum(w).
/// The last term is constant for each output channel and is added to its bias.
class WinogradWeightsInt8 final : public backends::PackedWeights
{
public:
    /// Packs input 1 of the layer, [outputs, 3, 3, channels]: int8 or uint8 with a constant or missing int32 bias, or,
    /// for float data, int8 with a float bias.
    WinogradWeightsInt8(const LayerView& layer, backends::PackedStore& store);

    /// Bytes of the packed weights of these sizes.
    static uint64_t GetPackedBytes(size_t outputs, size_t channels);
    /// Up to this many, four times any sum fits int32.
    static constexpr size_t MaxChannels = 512;

    /// Whether sums and scales are such that results equal those of the reference kernel. Otherwise nothing is packed.
    bool IsExact() const { return m_IsExact && m_Arrays.IsExact(); }
    bool IsHybrid() const { return m_IsHybrid; }
    bool RefersToConstants() const override { return !IsExact(); }

    const MicrokernelsInt8& GetMicrokernels() const { return *m_Microkernels; }
    const MicrokernelSetInt8& GetTiles() const { return m_Microkernels->GetPlain(true); }
    size_t GetOutputs() const { return m_Outputs; }
    size_t GetChannels() const { return m_Channels; }
    /// Pairs of channels.
    size_t GetGroups() const { return m_Groups; }
    int32_t GetDataZeroPoint() const { return m_DataZeroPoint; }
    const std::vector<PanelInt8>& GetPanels() const { return m_Panels; }
    const void* GetData(const PanelInt8& panel, size_t point) const
    {
        return m_Data.Data() + panel.m_Offset + point * GetPointBytes(panel);
    }
    /// Added to the sums of products of stored data; nothing for float data.
    const int32_t* GetBias(const PanelInt8& panel) const { return m_Arrays.GetBias(panel.m_Column); }
    /// The caller sets the range of the output.
    RequantizeColumns GetRequantization(const PanelInt8& panel) const { return m_Arrays.From(panel.m_Column); }
    /// Of hybrid weights; the caller sets the clamp.
    DequantizeColumns GetDequantization(const PanelInt8& panel) const { return m_Floats.From(panel.m_Column); }

private:
    size_t MakePanels();
    void SetUpColumns(const LayerView& layer, backends::PackedStore& store);
    void PackPanel(const PanelInt8& panel, const uint8_t* weights, std::byte* to) const;
    size_t GetPointBytes(const PanelInt8& panel) const;

    const MicrokernelsInt8* m_Microkernels;
    bool m_IsHybrid;
    size_t m_Outputs;
    size_t m_Channels;
    size_t m_Groups;
    bool m_IsSigned;     ///< the weights
    int32_t m_ZeroPoint; ///< likewise
    int32_t m_DataZeroPoint;
    bool m_IsExact = true;
    std::vector<PanelInt8> m_Panels;
    size_t m_PanelBytes = 0; ///< of all panels
    RequantizeArraysInt8 m_Arrays;
    DequantizeArraysInt8 m_Floats;
    backends::PackedBlock m_Data; ///< [panel][point][groups][width] pairs of int16
};

constexpr int64_t MaxData = 255;
constexpr int64_t MaxScaledSum =
    WinogradTileInt8::Scale * MaxData * MaxData * WindowPixels * WinogradWeightsInt8::MaxChannels;
static_assert(MaxScaledSum <= std::numeric_limits<int32_t>::max());

WinogradWeightsInt8::WinogradWeightsInt8(const LayerView& layer, backends::PackedStore& store)
    : m_Microkernels(&GetMicrokernelsInt8()), m_IsHybrid(layer.GetInput(0).GetDataType() == DataType::Float32),
      m_Outputs(layer.GetInput(1).GetShape()[0]), m_Channels(layer.GetInput(1).GetShape()[3]),
      m_Groups(DivideUp(m_Channels, size_t{2})),
      m_IsSigned(m_IsHybrid || layer.GetInput(1).GetDataType() != DataType::QAsymmU8),
      m_ZeroPoint(m_IsHybrid ? 0 : ref::GetWeightsZeroPoint(layer.GetInput(1))),
      m_DataZeroPoint(m_IsHybrid ? 0 : layer.GetInput(0).GetQuantizationOffset()),
      m_Arrays(MakePanels(), GetRounding(layer), m_IsHybrid ? 0 : layer.GetOutput(0).GetQuantizationOffset())
{
    SetUpColumns(layer, store);
    if (!IsExact())
    {
        return;
    }
    const auto* const weights = static_cast<const uint8_t*>(layer.m_ConstantData[1]);
    const auto pack = [&](std::byte* to)
    {
        for (const PanelInt8& panel : m_Panels)
        {
            PackPanel(panel, weights + panel.m_Column * WindowPixels * m_Channels, to + panel.m_Offset);
        }
    };
    m_Data = store.GetBlock(m_PanelBytes, pack);
}

uint64_t WinogradWeightsInt8::GetPackedBytes(size_t outputs, size_t channels)
{
    const size_t lanes = GetMicrokernelsInt8().m_Lanes;
    const uint64_t padded = uint64_t{DivideUp(outputs, lanes)} * lanes;
    return padded * (Points * DivideUp(channels, size_t{2}) * PairBytes + 4 * sizeof(int32_t));
}

size_t WinogradWeightsInt8::MakePanels()
{
    m_Panels = CutPanelsInt8(m_Outputs, m_Microkernels->m_Lanes, GetTiles());
    for (PanelInt8& panel : m_Panels)
    {
        panel.m_Offset = m_PanelBytes;
        m_PanelBytes += Points * GetPointBytes(panel);
    }
    return m_Panels.back().m_Column + m_Panels.back().m_Vectors * m_Microkernels->m_Lanes;
}

size_t WinogradWeightsInt8::GetPointBytes(const PanelInt8& panel) const
{
    return panel.m_Vectors * m_Microkernels->m_Lanes * m_Groups * PairBytes;
}

void WinogradWeightsInt8::SetUpColumns(const LayerView& layer, backends::PackedStore& store)
{
    const size_t depth = WindowPixels * m_Channels;
    const auto* const weights = static_cast<const uint8_t*>(layer.m_ConstantData[1]);
    const WeightFormatInt8 bytes = {m_Outputs, depth, false, m_IsSigned, m_ZeroPoint};
    const ColumnSumsInt8 sums([&](size_t first, size_t) { return weights + first * depth; }, bytes, *m_Microkernels,
                              store);
    if (m_IsHybrid)
    {
        const PanelInt8& last = m_Panels.back();
        m_IsExact =
            m_Floats.SetColumns(layer, sums, bytes, last.m_PaddedColumn + last.m_Vectors * m_Microkernels->m_Lanes);
        return;
    }
    m_IsExact =
        m_Arrays.SetColumns(layer, sums, bytes, [this](int64_t sum) { return -int64_t{m_DataZeroPoint} * sum; });
}

void WinogradWeightsInt8::PackPanel(const PanelInt8& panel, const uint8_t* weights, std::byte* to) const
{
    constexpr size_t Unit = WinogradTransformsInt8::MaxLanes;
    const size_t pitch = DivideUp(m_Channels, Unit) * Unit;
    const size_t pointShorts = panel.m_Columns * pitch;
    std::vector<int16_t> wide(WindowPixels * pitch);   // [pixel][pitch]
    std::vector<int16_t> points(Points * pointShorts); // [point][column][pitch]
    for (size_t c = 0; c < panel.m_Columns; ++c)
    {
        for (size_t pixel = 0; pixel < WindowPixels; ++pixel, weights += m_Channels)
        {
            m_Microkernels->m_Widen(weights, m_Channels, m_IsSigned, m_ZeroPoint, wide.data() + pixel * pitch);
        }
        GetWinogradTransformsInt8().m_TransformWeights(wide.data(), pitch, points.data() + c * pitch, pointShorts);
    }
    const size_t width = panel.m_Vectors * m_Microkernels->m_Lanes;
    if (panel.m_Columns != width)
    {
        std::memset(to, 0, Points * GetPointBytes(panel)); // padding columns
    }
    for (size_t point = 0; point < Points; ++point)
    {
        TransposeWords(reinterpret_cast<const std::byte*>(points.data() + point * pointShorts), pitch * sizeof(int16_t),
                       m_Groups, panel.m_Columns, to + point * GetPointBytes(panel), width * PairBytes);
    }
}

/// A convolution of known shapes.
class WinogradInt8
{
public:
    /// `windows`: 3x3, of stride and dilation 1 and one group. `isAsymmetric`: quantization of float data.
    WinogradInt8(const WinogradWeightsInt8& weights, const Im2col& windows, const ReshapeArgs& args, bool isAsymmetric);

    size_t GetScratchBytes() const { return m_ScratchBytes; }
    void Run(const ExecuteArgs& args) const;

private:
    using Grid = WinogradGrid<WinogradTileInt8::Outputs, WinogradTileInt8::Inputs>;

    struct Memory
    {
        GemmDataInt8 m_Input;
        void* m_Output = nullptr;
        const uint8_t* m_Padding = nullptr; ///< a pixel of padding, for each image
    };
    /// Sums of the pixels in a row of a tile, or of several neighbouring tiles.
    struct Pixels
    {
        const int32_t* m_Sums = nullptr;
        size_t m_SumStride = 0;
        size_t m_Count = 0;
        size_t m_Image = 0;
        size_t m_First = 0; ///< counted over all images
    };

    void RunStrip(const Memory& memory, size_t first, size_t last, std::byte* scratch) const;
    void TransformStrip(const Memory& memory, size_t first, size_t last, int16_t* points) const;
    void RunPoints(const PanelInt8& panel, size_t tiles, const int16_t* points, int32_t* sums) const;
    void StoreStrip(const Memory& memory, const PanelInt8& panel, size_t first, size_t last, std::byte* scratch) const;
    /// Requantizes or dequantizes a run of neighbouring tiles.
    void StoreRun(const Memory& memory, const PanelInt8& panel, const Grid::Place& place, size_t tiles,
                  const int32_t* sums, std::byte* scratch) const;
    void WriteInt8(const Memory& memory, const PanelInt8& panel, const Pixels& pixels) const;
    void WriteF32(const Memory& memory, const PanelInt8& panel, const Pixels& pixels, std::byte* scratch) const;

    const WinogradWeightsInt8* m_Weights;
    Grid m_Grid;
    bool m_IsSigned = true; ///< data and output, if these are 8-bit
    int32_t m_Min = 0;      ///< of the output
    int32_t m_Max = 0;
    HybridQuantizerInt8 m_Quantizer; ///< of float data
    backends::FloatClamp m_Clamp;    ///< likewise
    size_t m_StripTiles = 0;         ///< most tiles that are transformed together
    size_t m_PointDepth = 0;         ///< int16 of a tile's point: channels, padded to whole vectors
    size_t m_PanelWidth = 0;         ///< sums of the widest panel
    size_t m_PointStride = 0;        ///< int16 between points of the strip
    size_t m_SumStride = 0;          ///< likewise, of the sums
    size_t m_Tasks = 1;
    size_t m_SumsOffset = 0;   ///< in the scratch memory of a task
    size_t m_PixelsOffset = 0; ///< likewise
    size_t m_ScalesOffset = 0;
    size_t m_ZeroPointsOffset = 0;
    size_t m_TaskBytes = 0;
    size_t m_PaddingOffset = 0; ///< after the quantized data
    size_t m_TasksOffset = 0;
    size_t m_ScratchBytes = 0;
};

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
    const WinogradTransformsInt8& transforms = GetWinogradTransformsInt8();
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
        transforms.m_TransformInput(tile);
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
    const WinogradTransformsInt8& transforms = GetWinogradTransformsInt8();
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
        transforms.m_TransformOutput(tile);
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

/// Refuses layers where Winograd is not faster than GemmInt8 with all taps, as measured on AVX2 and SSE4: tiles must be
/// well filled, and numerous enough to pay for reading two to four times the memory of the weights, which may come from
/// a distant cache or memory. A batch of unknown size counts as one image.
SupportResult CheckIsFaster(const LayerView& layer)
{
    constexpr unsigned int MinChannels = 16;
    constexpr uint64_t MaxWeights = 640 * 1024; // their transforms have 2.3 MiB
    constexpr uint64_t ManyTiles = 16;
    constexpr uint64_t FewTiles = 4;
    constexpr uint64_t FewWeights = 160 * 1024;
    const TensorShape& weights = layer.GetInput(1).GetShape();
    if (weights[0] < MinChannels || weights[3] < MinChannels)
    {
        return RefuseWinograd("it has too few channels to gain from other products");
    }
    if (weights.GetNumElements64() > MaxWeights)
    {
        return RefuseWinograd("its weights are too many to gain from other products");
    }
    TensorShape output = layer.GetOutput(0).GetShape();
    if (output.GetDimensionality() != Dimensionality::Specified || output.GetNumDimensions() != 4 ||
        !output.GetDimensionSpecificity(1) || !output.GetDimensionSpecificity(2))
    {
        return RefuseWinograd("its height or width are not known");
    }
    if (!output.GetDimensionSpecificity(0))
    {
        output.SetDimensionSize(0, 1);
    }
    const WinogradCounts counts(output, WinogradTileInt8::Outputs);
    const uint64_t minTiles = weights.GetNumElements64() <= FewWeights ? FewTiles : ManyTiles;
    return counts.m_Tiles >= minTiles && counts.m_Pixels >= 3 * counts.m_Tiles // of four
               ? SupportResult::Yes()
               : RefuseWinograd("it has too few pixels to gain from other products");
}

/// Processors with int8 dot products are faster with GemmInt8: the transforms have 16 bits.
SupportResult CheckMachine()
{
    return GetMicrokernelsInt8().GetPlain(true).m_Layout == WeightLayoutInt8::Int16x2
               ? SupportResult::Yes()
               : RefuseWinograd("the processor has dot products of bytes");
}

SupportResult Check(const LayerView& layer)
{
    const SupportResult result = CheckWeightsInt8(layer, 4, 0);
    if (!result)
    {
        return result;
    }
    const SupportResult steps = CheckWinogradStrides(layer);
    if (!steps)
    {
        return steps;
    }
    const TensorShape& data = layer.GetInput(0).GetShape();
    const TensorShape& weights = layer.GetInput(1).GetShape();
    if (weights[1] != WinogradTileInt8::Window || weights[2] != WinogradTileInt8::Window)
    {
        return RefuseWinograd("its windows are not 3x3");
    }
    if (data.GetDimensionality() != Dimensionality::Specified || data.GetNumDimensions() != 4 ||
        !data.GetDimensionSpecificity(3) || data[3] != weights[3])
    {
        return RefuseWinograd("its channels are in groups, or not known");
    }
    if (weights[3] > WinogradWeightsInt8::MaxChannels)
    {
        return RefuseWinograd("its transforms have too many channels for sums of 32 bits");
    }
    const SupportResult faster = CheckIsFaster(layer);
    if (!faster)
    {
        return faster;
    }
    return CheckPackedSize(WinogradWeightsInt8::GetPackedBytes(weights[0], weights[3]), weights.GetNumElements64());
}

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    if (layer.GetInput(1).GetDataType() != DataType::QSymmS4)
    {
        return std::make_unique<WinogradWeightsInt8>(layer, store);
    }
    const TensorShape& shape = layer.GetInput(1).GetShape();
    const ConstantWeightsInt8 stored(layer);
    const LayerWithWeights unpacked(layer, shape, {stored.Get(), stored.Get() + shape.GetNumElements()});
    return std::make_unique<WinogradWeightsInt8>(unpacked.View(), store);
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const WinogradWeightsInt8&>(*packed);
    const Im2col windows = MakeConvolutionIm2col(args);
    if (!weights.IsExact())
    {
        return backends::Prepared::Declined("its weights are not exact in sums of 32 bits");
    }
    if (windows.m_Channels != windows.m_GroupChannels)
    {
        return backends::Prepared::Declined("its channels are in groups");
    }
    if (args.GetOutput(0).GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const WinogradInt8 convolution(weights, windows, args, IsHybridAsymmetric(args));
    return {[convolution](const ExecuteArgs& run) { convolution.Run(run); }, convolution.GetScratchBytes()};
}

} // namespace

extern const backends::Kernel CpuConvolution2dWinogradInt8Kernel = {.m_Name = "CpuConvolution2dWinogradInt8",
                                                                    .m_Types = Int8Types,
                                                                    .m_Prepare = Prepare,
                                                                    .m_Check = Check,
                                                                    .m_Pack = Pack,
                                                                    .m_Fuse = backends::FuseClamp,
                                                                    .m_CheckMachine = CheckMachine,
                                                                    .m_RoundsHalfToEven = true};

extern const backends::Kernel CpuConvolution2dWinogradHybridKernel = {
    "CpuConvolution2dWinogradHybrid", HybridTypes, Prepare, Check, Pack, backends::FuseClamp, CheckMachine};

} // namespace tenon::cpu
