// SPDX-License-Identifier: Apache-2.0
// Convolution2dWinogradF32: Convolution2d of NHWC float data by constant 3x3 weights, by Winograd's F(4x4, 3x3),
//     Y = At [(G g Gt) . (Bt d B)] A     (Lavin and Gray 2015).
// A strip of tiles is transformed into points that stay in the second-level cache; each of the 36 points is a matrix
// product by MicrokernelsF32; the sums are transformed back. Rounding differs from GemmF32, hence the option
// FastMathEnabled alone.
#include "backends/common/FusedActivation.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/gemm/kernels/f32/MaxSumDepth.hpp"
#include "backends/cpu/gemm/pack/PackedWeightsF32.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"
#include "backends/cpu/weights/WeightsCheckFloat.hpp"
#include "backends/cpu/winograd/WinogradCheck.hpp"
#include "backends/cpu/winograd/WinogradGrid.hpp"
#include "backends/cpu/winograd/WinogradTransforms.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
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

/// Sizes of the transformed weights: each point is a group of columns.
WeightSizes GetWinogradSizesF32(size_t outputs, size_t channels);

/// Transforms and packs weights [outputs][3][3][channels].
std::unique_ptr<PackedWeightsF32> PackWinogradF32(const FloatWeights& weights, size_t outputs, size_t channels,
                                                  backends::PackedStore& store);

/// A convolution of known shapes. Results do not depend on the number of threads.
class WinogradF32
{
public:
    /// `weights`: of PackWinogradF32; `windows`: 3x3, of stride and dilation 1 and one group. `maxThreads`: see
    /// ReshapeArgs.
    WinogradF32(const PackedWeightsF32& weights, const Im2col& windows, size_t images,
                const backends::FloatClamp& clamp, unsigned int maxThreads);

    size_t GetScratchBytes() const { return m_ScratchBytes; }
    /// A null bias is zeros.
    void Run(const float* input, const float* bias, float* out, void* scratch, IParallelFor& parallel) const;

private:
    using Grid = WinogradGrid<WinogradTileF32::Outputs, WinogradTileF32::Inputs>;

    struct Operands
    {
        const float* m_Input = nullptr;
        const float* m_Bias = nullptr;
        float* m_Out = nullptr;
    };

    void RunStrip(const Operands& operands, size_t first, size_t last, std::byte* scratch) const;
    void TransformStrip(const float* input, size_t first, size_t last, float* points) const;
    void RunPoints(size_t firstPanel, size_t tiles, const float* points, float* sums) const;
    void StoreStrip(const Operands& operands, const PanelF32& panel, size_t first, size_t last,
                    const float* sums) const;

    const PackedWeightsF32* m_Weights;
    Grid m_Grid;
    backends::FloatClamp m_Clamp;
    size_t m_Channels = 0;    ///< of the output
    size_t m_StripTiles = 0;  ///< most tiles that are transformed together
    size_t m_PointDepth = 0;  ///< floats of a tile's point: channels, padded to whole vectors
    size_t m_PanelWidth = 0;  ///< floats of the widest panel
    size_t m_PointStride = 0; ///< floats between points of the strip
    size_t m_SumStride = 0;   ///< likewise, of the sums
    size_t m_Tasks = 1;
    size_t m_PointsOffset = 0; ///< in the scratch memory of a task
    size_t m_SumsOffset = 0;   ///< likewise
    size_t m_TaskBytes = 0;
    size_t m_ScratchBytes = 0; ///< of all tasks
};

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
    const WinogradTransformsF32& transforms = GetWinogradTransformsF32();
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
        transforms.m_TransformInput(tile);
    }
}

void WinogradF32::RunPoints(size_t firstPanel, size_t tiles, const float* points, float* sums) const
{
    const MicrokernelsF32& microkernels = m_Weights->GetPanels().GetMicrokernels();
    const std::vector<PanelF32>& panels = m_Weights->GetPanels().Get();
    const size_t panelsOfPoint = panels.size() / Points;
    const size_t depth = m_Weights->GetSizes().m_Depth;
    for (size_t point = 0; point < Points; ++point)
    {
        const PanelF32& panel = panels[point * panelsOfPoint + firstPanel];
        TileF32 tile;
        tile.m_DataStride = m_PointDepth;
        tile.m_Columns = tile.m_OutStride = panel.m_Vectors * microkernels.m_Lanes;
        float* out = sums + point * m_SumStride;
        for (size_t k = 0; k < depth; k += MaxSumDepth)
        {
            tile.m_Depth = std::min(MaxSumDepth, depth - k);
            tile.m_Panel = m_Weights->GetData() + panel.m_Offset + k * tile.m_Columns;
            tile.m_Accumulates = k != 0;
            ForEachHeight(tiles, microkernels.m_Rows[panel.m_Vectors],
                          [&](size_t begin, size_t height, size_t count)
                          {
                              tile.m_Data = points + point * m_PointStride + begin * m_PointDepth + k;
                              tile.m_Out = out + begin * tile.m_OutStride;
                              microkernels.m_Tiles[panel.m_Vectors][height](tile, count);
                          });
        }
    }
}

void WinogradF32::StoreStrip(const Operands& operands, const PanelF32& panel, size_t first, size_t last,
                             const float* sums) const
{
    const WinogradTransformsF32& transforms = GetWinogradTransformsF32();
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
        transforms.m_TransformOutput(tile);
    }
}

/// Whether Winograd is faster than GemmF32 with all taps, as measured on AVX-512, AVX2 and SSE4: tiles must be well
/// filled, and numerous enough to pay for reading four times the memory of the weights.
bool IsFaster(const LayerView& layer)
{
    constexpr unsigned int MinChannels = 4; // a vector of fewer is mostly padding
    const TensorShape& weights = layer.GetInput(1).GetShape();
    const TensorShape& output = layer.GetOutput(0).GetShape();
    if (weights[3] < MinChannels || !output.AreAllDimensionsSpecified() || output.GetNumDimensions() != 4)
    {
        return weights[3] >= MinChannels;
    }
    const WinogradCounts counts(output, WinogradTileF32::Outputs);
    constexpr uint64_t MinTilePixels = 8; // on average: half the products
    constexpr uint64_t ManyTiles = 9;
    constexpr uint64_t FewTiles = 4;
    constexpr uint64_t CachedWeights = 640 * 1024; // their transforms have 10 MiB
    constexpr unsigned int FewTilesChannels = 16;
    const bool isWeightsSmall = weights.GetNumElements64() <= CachedWeights && weights[3] >= FewTilesChannels;
    return counts.m_Pixels >= counts.m_Tiles * MinTilePixels &&
           (counts.m_Tiles >= ManyTiles || (counts.m_Tiles >= FewTiles && isWeightsSmall));
}

SupportResult Check(const LayerView& layer)
{
    const SupportResult steps = CheckWinogradStrides(layer);
    if (!steps)
    {
        return steps;
    }
    const SupportResult result = CheckFloatWeights(layer, 4);
    if (!result)
    {
        return result;
    }
    const TensorShape& weights = layer.GetInput(1).GetShape();
    if (weights[1] != WinogradTileF32::Window || weights[2] != WinogradTileF32::Window)
    {
        return RefuseWinograd("its windows are not 3x3");
    }
    const TensorShape& data = layer.GetInput(0).GetShape();
    if (data.GetDimensionality() == Dimensionality::Specified && data.GetNumDimensions() == 4 &&
        data.GetDimensionSpecificity(3) && data[3] != weights[3])
    {
        return RefuseWinograd("its channels are in groups");
    }
    if (!IsFaster(layer))
    {
        return RefuseWinograd("it has too few channels or pixels to gain from other products");
    }
    return CheckPackedSize(PackedWeightsF32::GetPackedBytes(GetWinogradSizesF32(weights[0], weights[3])),
                           weights.GetNumElements64() * sizeof(float));
}

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    const TensorShape& weights = layer.GetInput(1).GetShape();
    return PackWinogradF32(FloatWeights(layer, 1), weights[0], weights[3], store);
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const PackedWeightsF32&>(*packed);
    const Im2col windows = MakeConvolutionIm2col(args);
    if (windows.m_Channels != windows.m_GroupChannels)
    {
        return backends::Prepared::Declined("its channels are in groups");
    }
    const TensorShape& output = args.GetOutput(0).GetShape();
    if (output.GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const WinogradF32 convolution(weights, windows, output[0], backends::FloatClamp(args.m_FusedActivation),
                                  args.m_MaxThreads);
    const bool hasBias = args.HasInput(2);
    return {[convolution, hasBias](const ExecuteArgs& run)
            {
                convolution.Run(run.GetInput<float>(0), hasBias ? run.GetInput<float>(2) : nullptr,
                                run.GetOutput<float>(0), run.m_Scratch, *run.m_Parallel);
            },
            convolution.GetScratchBytes()};
}

} // namespace

extern const backends::Kernel CpuConvolution2dWinogradF32Kernel = {
    "CpuConvolution2dWinogradF32", PackedFloatTypes, Prepare, Check, Pack, backends::FuseClamp, nullptr, true};

} // namespace tenon::cpu
