// SPDX-License-Identifier: Apache-2.0
// Convolution2d of int8, and of floats by int8 (hybrid), in groups of 2, 4 or 8 channels with as many outputs. A GEMM
// would leave most lanes of its column vectors empty. Direct convolution instead, by the grouped microkernels of int16:
//
//   1. the rows of the image that up to 16 output rows need are widened to int16, less their zero point: (a - za)
//   2. an indirection buffer of 32 pixels holds a pointer to the input pixel of each tap
//   3. acc[pixel][lane] += x[lane] * w[tap][output of the group][lane]   for chunks of two vectors of channels
//   4. requantize to int8, or scale to float
#include "backends/common/FusedActivation.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/common/PackedStore.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/depthwise/int16/SmallGroupsInt16.hpp"
#include "backends/cpu/gemm/epilogue/RequantizeArraysInt8.hpp"
#include "backends/cpu/gemm/pack/HybridDataInt8.hpp"
#include "backends/cpu/im2col/ColumnAsRow.hpp"
#include "backends/cpu/im2col/Im2col.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/weights/LayerWithWeights.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"
#include "backends/cpu/weights/WeightsCheckInt8.hpp"
#include "backends/reference/kernels/ConvolutionGeometry.hpp"
#include "backends/reference/kernels/Requantizer.hpp"
#include "common/AlignedMemory.hpp"

#include <tenon/descriptors/Convolution.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;

/// Sums of larger windows could exceed the limit of exact requantization.
constexpr uint64_t MaxDepth = 4096;
/// Pixels of an indirection buffer.
constexpr size_t TablePixels = 32;
/// Bytes of widened image rows in a block, an eighth of a second-level cache of 1 MiB; one row of the output may need
/// more.
constexpr size_t BlockBytes = 128 * 1024;

constexpr int64_t MaxDataMagnitude = 255; // largest magnitude of a data element less its zero point

bool IsHybrid(const LayerView& layer)
{
    return layer.GetInput(0).GetDataType() == DataType::Float32;
}

/// Weights of a layer less their zero point. Hybrid layers read uint8 weights as int8 bit patterns without a zero
/// point.
class CentredWeights
{
public:
    explicit CentredWeights(const LayerView& layer)
        : m_Weights(layer), m_IsSigned(IsHybrid(layer) || layer.GetInput(1).GetDataType() != DataType::QAsymmU8),
          m_ZeroPoint(IsHybrid(layer) ? 0 : ref::GetWeightsZeroPoint(layer.GetInput(1)))
    {
    }

    /// Upper bound of |w - zw|.
    int64_t GetMaxMagnitude() const { return 255 + std::abs(int64_t{m_ZeroPoint}); }
    int32_t operator()(size_t index) const
    {
        const uint8_t byte = m_Weights.Get()[index];
        return (m_IsSigned ? static_cast<int8_t>(byte) : byte) - m_ZeroPoint;
    }

private:
    ConstantWeightsInt8 m_Weights;
    bool m_IsSigned;
    int32_t m_ZeroPoint;
};

/// Packed weights, (w - zw) as int16, and the constants of the epilogue by channel:
///   [chunk of 2 vectors of channels][tap][output o of the group][lane]     lane i reads input channel i of the chunk
///   element = w[first output of the lane's group + o][tap][i % channels of a group] - zw
class PackedGroupsInt8 final : public backends::PackedWeights
{
public:
    PackedGroupsInt8(const LayerView& layer, backends::PackedStore& store);

    static uint64_t GetPackedBytes(const TensorShape& weights);

    /// Whether all sums stay below the limit of exact requantization, so that results are those of the reference
    /// kernel. Otherwise nothing is packed.
    bool IsExact() const { return m_IsExact; }
    bool RefersToConstants() const override { return !m_IsExact; }

    const DepthwiseMicrokernelsInt16& GetTiles() const { return m_Microkernels->m_Groups[m_GroupChannels]; }
    const ChannelChunks& GetChunks() const { return m_Chunks; }
    size_t GetTaps() const { return m_Taps; }
    size_t GetGroupChannels() const { return m_GroupChannels; }
    const int32_t* GetWeights(size_t chunk) const
    {
        return m_Data.As<int32_t>() + chunk * m_Taps * m_GroupChannels * m_Microkernels->m_Lanes;
    }
    /// Initial accumulators: the bias.
    const int32_t* GetBias(size_t chunk) const { return m_Arrays.GetBias(chunk * m_Chunks.m_Width); }
    /// Requantization to int8; the caller sets the output's range.
    RequantizeColumns GetRequantization(size_t chunk) const { return m_Arrays.From(chunk * m_Chunks.m_Width); }
    /// Scales and bias of hybrid layers, without a zero-point correction; the caller sets the clamp.
    DequantizeColumns GetDequantization(size_t chunk) const;
    /// A pixel in the padding: zeros.
    const int16_t* GetZeros() const { return m_Zeros.data(); }

private:
    void SetUpChannels(const LayerView& layer, const int64_t* magnitudes);

    const MicrokernelsInt16* m_Microkernels;
    ChannelChunks m_Chunks;
    size_t m_GroupChannels;
    size_t m_Taps;
    bool m_IsExact = true;
    backends::PackedBlock m_Data;
    RequantizeArraysInt8 m_Arrays;
    AlignedMemory m_Floats; ///< by channel in packed order: zeros, scales of the weights, biases
    std::vector<int16_t> m_Zeros;
};

PackedGroupsInt8::PackedGroupsInt8(const LayerView& layer, backends::PackedStore& store)
    : m_Microkernels(&GetMicrokernelsInt16()), m_Chunks(layer.GetInput(1).GetShape()[0]),
      m_GroupChannels(layer.GetInput(1).GetShape()[3]),
      m_Taps(size_t{layer.GetInput(1).GetShape()[1]} * layer.GetInput(1).GetShape()[2]),
      m_Arrays(m_Chunks.GetChunks() * m_Chunks.m_Width, GetRounding(layer),
               IsHybrid(layer) ? 0 : layer.GetOutput(0).GetQuantizationOffset())
{
    const CentredWeights weights(layer);
    const size_t channels = m_Chunks.m_Channels;
    const size_t depth = m_Taps * m_GroupChannels;
    const backends::PackedBlock sums = store.GetBlock(channels * sizeof(int64_t),
                                                      [&](std::byte* to)
                                                      {
                                                          auto* const magnitudes = reinterpret_cast<int64_t*>(to);
                                                          std::fill_n(magnitudes, channels, int64_t{0});
                                                          for (size_t i = 0; i < channels * depth; ++i)
                                                          {
                                                              magnitudes[i / depth] += std::abs(weights(i));
                                                          }
                                                      });
    // Clamped: the sums may come from a file of packed weights and must not overflow below.
    const int64_t limit = static_cast<int64_t>(depth) * weights.GetMaxMagnitude();
    std::vector<int64_t> magnitudes(channels);
    std::transform(sums.As<int64_t>(), sums.As<int64_t>() + channels, magnitudes.begin(),
                   [limit](int64_t sum) { return std::clamp<int64_t>(sum, 0, limit); });
    SetUpChannels(layer, magnitudes.data());
    if (!m_IsExact)
    {
        return;
    }
    const size_t bytes = m_Chunks.GetChunks() * depth * m_Microkernels->m_Lanes * sizeof(int32_t);
    m_Data =
        store.GetBlock(bytes,
                       [&](std::byte* to)
                       {
                           std::memset(to, 0, bytes);
                           PackSmallGroups(m_Chunks, m_Taps, m_GroupChannels, weights, reinterpret_cast<int16_t*>(to));
                       });
    m_Zeros.resize(channels);
}

uint64_t PackedGroupsInt8::GetPackedBytes(const TensorShape& weights)
{
    const ChannelChunks chunks(weights[0]);
    const uint64_t places = uint64_t{chunks.GetChunks()} * chunks.m_Width;
    constexpr uint64_t PaddedColumnBytes = 7 * sizeof(int32_t); // bytes of a channel in the arrays of the epilogue
    return places * (uint64_t{weights[1]} * weights[2] * weights[3] * sizeof(int16_t) + PaddedColumnBytes);
}

void PackedGroupsInt8::SetUpChannels(const LayerView& layer, const int64_t* magnitudes)
{
    const bool isHybrid = IsHybrid(layer);
    const std::vector<float> weightScales = layer.GetInput(1).GetQuantizationScales();
    const std::vector<double> scales =
        isHybrid ? std::vector<double>(weightScales.begin(), weightScales.end()) : GetScales(layer, GetRounding(layer));
    if (scales.size() != 1 && scales.size() != m_Chunks.m_Channels)
    {
        m_IsExact = false; // the reference kernel reports the error
        return;
    }
    const size_t places = m_Chunks.GetChunks() * m_Chunks.m_Width;
    m_Floats = AlignedMemory(isHybrid ? 3 * places * sizeof(float) : 0);
    if (isHybrid)
    {
        std::memset(m_Floats.Data(), 0, m_Floats.Bytes());
    }
    const void* const bias = layer.HasInput(2) ? layer.m_ConstantData[2] : nullptr;
    for (size_t chunk = 0; chunk < m_Chunks.GetChunks(); ++chunk)
    {
        for (size_t i = 0; i < m_Chunks.GetCount(); ++i)
        {
            const size_t channel = m_Chunks.GetFirst(chunk) + i;
            const size_t place = chunk * m_Chunks.m_Width + i;
            const double scale = scales[scales.size() == 1 ? 0 : channel];
            const int64_t maxSum = magnitudes[channel] * MaxDataMagnitude;
            if (isHybrid)
            {
                m_IsExact = m_IsExact && RequantizeArraysInt8::IsExactFor(maxSum);
                auto* const floats = reinterpret_cast<float*>(m_Floats.Data());
                floats[places + place] = static_cast<float>(scale);
                floats[2 * places + place] = bias != nullptr ? static_cast<const float*>(bias)[channel] : 0.0f;
                continue;
            }
            const int64_t own = bias != nullptr ? static_cast<const int32_t*>(bias)[channel] : 0;
            m_Arrays.Set(place, maxSum + std::abs(own), own, scale);
        }
    }
    m_IsExact = m_IsExact && m_Arrays.IsExact();
}

DequantizeColumns PackedGroupsInt8::GetDequantization(size_t chunk) const
{
    const size_t places = m_Chunks.GetChunks() * m_Chunks.m_Width;
    const auto* const floats = reinterpret_cast<const float*>(m_Floats.Data()) + chunk * m_Chunks.m_Width;
    DequantizeColumns columns;
    columns.m_ColumnSums = reinterpret_cast<const int32_t*>(floats);
    columns.m_Scales = floats + places;
    columns.m_Bias = floats + 2 * places;
    return columns;
}

SupportResult Check(const LayerView& layer)
{
    SupportResult result = ref::CheckConvolution(layer.GetDescriptor<Convolution2dDescriptor>());
    if (result)
    {
        result = CheckWeightsInt8(layer, 4, 0);
    }
    if (result)
    {
        result = CheckSmallGroups(layer);
    }
    if (!result)
    {
        return result;
    }
    const TensorShape& weights = layer.GetInput(1).GetShape();
    if (uint64_t{weights[1]} * weights[2] * weights[3] > MaxDepth)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "its windows are large");
    }
    return CheckPackedSize(PackedGroupsInt8::GetPackedBytes(weights), weights.GetNumElements64());
}

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    return std::make_unique<PackedGroupsInt8>(layer, store);
}

/// A layer of known shapes.
class GroupsInt8
{
public:
    GroupsInt8(const ReshapeArgs& args, const ref::ConvolutionGeometry& g, const PackedGroupsInt8& packed)
        : m_Packed(&packed), m_Geometry(g), m_Im2col(MakeDepthwiseIm2col(g)),
          m_IsHybrid(args.GetInput(0).GetDataType() == DataType::Float32),
          m_IsSigned(args.GetInput(0).GetDataType() != DataType::QAsymmU8),
          m_OutputPitch(args.m_OutputPitch != 0 ? args.m_OutputPitch : g.m_OutputChannels),
          m_Clamp(args.m_FusedActivation)
    {
        Scratch scratch;
        if (m_IsHybrid)
        {
            m_Quantizer = HybridQuantizerInt8({g.m_Batches, IsHybridAsymmetric(args)},
                                              args.GetInput(0).GetNumElements(), scratch);
        }
        else
        {
            m_ZeroPoint = args.GetInput(0).GetQuantizationOffset();
            m_Range = backends::GetFusedRange(args.GetOutput(0), args.m_FusedActivation);
        }
        const double multiplications = static_cast<double>(g.NumPixels()) *
                                       static_cast<double>(packed.GetTaps() * packed.GetGroupChannels()) *
                                       static_cast<double>(g.m_OutputChannels);
        m_Tasks = std::min({GetMaxTasks(args.m_MaxThreads), GetWorthwhileTasks(multiplications), g.NumPixels()});
        const size_t rowBytes = g.m_X.m_Input * g.m_InputChannels * sizeof(int16_t);
        while (m_BlockRows > 1 && CountInputRows(m_BlockRows) * rowBytes > BlockBytes)
        {
            m_BlockRows /= 2;
        }
        Scratch task;
        task.Add<const int16_t*>(packed.GetTaps(), TablePixels);
        m_RowsOffset = task.Add<int16_t>(CountInputRows(m_BlockRows), g.m_X.m_Input * g.m_InputChannels);
        m_TaskBytes = task.GetBytes();
        m_TasksOffset = scratch.AddPerTask(task, m_Tasks);
        m_ScratchBytes = scratch.GetBytes();
    }

    size_t GetScratchBytes() const { return m_ScratchBytes; }

    void operator()(const ExecuteArgs& args) const
    {
        const GemmDataInt8 data =
            m_IsHybrid ? m_Quantizer.Quantize(args) : GemmDataInt8{args.GetInput<uint8_t>(0), nullptr};
        const size_t tasks = std::min<size_t>(m_Tasks, args.m_Parallel->GetNumThreads());
        const size_t width = m_Geometry.m_X.m_Output;
        const size_t imagePixels = m_Geometry.m_Y.m_Output * width;
        RunTasks(*args.m_Parallel, tasks,
                 [&](size_t index)
                 {
                     auto* const scratch =
                         static_cast<std::byte*>(args.m_Scratch) + m_TasksOffset + index * m_TaskBytes;
                     const IndexRange pixels = GetTaskRange(m_Geometry.NumPixels(), tasks, index);
                     for (size_t first = pixels.m_Begin; first < pixels.m_End;)
                     {
                         const size_t ofRows = (first / width + m_BlockRows) * width;
                         const size_t ofImage = (first / imagePixels + 1) * imagePixels;
                         const size_t last = std::min({pixels.m_End, ofRows, ofImage});
                         RunBlock(args, data, {first, last}, scratch);
                         first = last;
                     }
                 });
    }

private:
    /// Input rows that `rows` output rows read.
    size_t CountInputRows(size_t rows) const
    {
        const ref::WindowAxis& y = m_Geometry.m_Y;
        const int64_t seen = y.Origin(rows - 1) - y.Origin(0) + static_cast<int64_t>(y.m_Kernel - 1) * y.m_Dilation + 1;
        return std::min(static_cast<size_t>(seen), y.m_Input);
    }

    /// Pixels of a block of output rows of one image.
    void RunBlock(const ExecuteArgs& args, const GemmDataInt8& data, const IndexRange& pixels, std::byte* scratch) const
    {
        const ref::WindowAxis& y = m_Geometry.m_Y;
        const size_t width = m_Geometry.m_X.m_Output;
        const size_t image = pixels.m_Begin / width / y.m_Output;
        const size_t firstRow = pixels.m_Begin / width;
        const size_t rows = (pixels.m_End - 1) / width + 1 - firstRow;
        const int64_t origin = y.Origin(firstRow % y.m_Output);
        const auto height = static_cast<int64_t>(y.m_Input);
        const int64_t seen = y.Origin(rows - 1) - y.Origin(0) + static_cast<int64_t>(y.m_Kernel - 1) * y.m_Dilation + 1;
        const auto begin = static_cast<size_t>(std::clamp<int64_t>(origin, 0, height));
        const auto end = static_cast<size_t>(std::clamp<int64_t>(origin + seen, 0, height));
        auto* const wide = Scratch::At<int16_t>(scratch, m_RowsOffset);
        const size_t rowElements = m_Geometry.m_X.m_Input * m_Geometry.m_InputChannels;
        if (begin < end)
        {
            GetMicrokernelsInt8().m_Widen(data.m_Values + (image * y.m_Input + begin) * rowElements,
                                          (end - begin) * rowElements, m_IsSigned,
                                          m_IsHybrid ? data.m_Batches[image].m_ZeroPoint : m_ZeroPoint, wide);
        }
        Im2col windows = m_Im2col;
        windows.m_InputHeight = static_cast<int64_t>(end) - static_cast<int64_t>(begin);
        windows.m_OutputHeight = static_cast<int64_t>(rows);
        windows.m_PadTop = static_cast<int64_t>(begin) - origin;
        auto* const table = Scratch::At<const int16_t*>(scratch, 0);
        const float scale = m_IsHybrid ? data.m_Batches[image].m_Scale : 0.0f;
        for (size_t first = pixels.m_Begin; first < pixels.m_End; first += TablePixels)
        {
            const size_t count = std::min(TablePixels, pixels.m_End - first);
            const size_t inBlock = first - firstRow * width;
            windows.Find(wide, inBlock, inBlock + count, m_Packed->GetZeros(), table);
            for (size_t chunk = 0; chunk < m_Packed->GetChunks().GetChunks(); ++chunk)
            {
                RunChunk(args, chunk, {first, first + count}, table, scale);
            }
        }
    }

    void RunChunk(const ExecuteArgs& args, size_t chunk, const IndexRange& pixels, const int16_t* const* table,
                  float scale) const
    {
        const ChannelChunks& chunks = m_Packed->GetChunks();
        const DepthwiseMicrokernelsInt16& tiles = m_Packed->GetTiles();
        alignas(64) int32_t sums[TablePixels * 2 * MicrokernelsInt16::MaxLanes + RequantizeRows::PastSums];
        const size_t count = pixels.m_End - pixels.m_Begin;
        DepthwiseTileInt16 tile;
        tile.m_TapStep = count;
        tile.m_Steps = m_Packed->GetTaps();
        tile.m_Offset = chunks.GetFirst(chunk);
        tile.m_Channels = chunks.GetCount();
        tile.m_Weights = m_Packed->GetWeights(chunk);
        tile.m_Bias = m_Packed->GetBias(chunk);
        for (size_t pixel = 0; pixel < count;)
        {
            const size_t together = std::min(count - pixel, tiles.m_Pixels);
            tile.m_Indirection = table + pixel;
            tile.m_Sums = sums + pixel * chunks.m_Width;
            tiles.m_Run[together](tile);
            pixel += together;
        }
        const size_t at = pixels.m_Begin * m_OutputPitch + tile.m_Offset;
        if (m_IsHybrid)
        {
            WriteFloats(chunk, sums, count, scale, args.GetOutput<float>(0) + at);
            return;
        }
        RequantizeRows rows;
        rows.m_Sums = sums;
        rows.m_SumStride = chunks.m_Width;
        rows.m_Rows = count;
        rows.m_Columns = tile.m_Channels;
        rows.m_Out = args.GetOutput<uint8_t>(0) + at;
        rows.m_OutStride = m_OutputPitch;
        rows.m_IsSigned = m_IsSigned;
        RequantizeColumns columns = m_Packed->GetRequantization(chunk);
        columns.m_Min = m_Range.m_Min;
        columns.m_Max = m_Range.m_Max;
        GetMicrokernelsInt8().m_Requantize(rows, columns);
    }

    void WriteFloats(size_t chunk, const int32_t* sums, size_t count, float scale, float* out) const
    {
        constexpr int32_t Zeros[TablePixels] = {}; // the zero point is already subtracted from the data
        float scales[TablePixels];
        std::fill_n(scales, count, scale);
        DequantizeRows rows;
        rows.m_Sums = sums;
        rows.m_SumStride = m_Packed->GetChunks().m_Width;
        rows.m_Rows = count;
        rows.m_Columns = m_Packed->GetChunks().GetCount();
        rows.m_ZeroPoints = Zeros;
        rows.m_Scales = scales;
        rows.m_Out = out;
        rows.m_OutStride = m_OutputPitch;
        rows.m_HasOneScale = true;
        DequantizeColumns columns = m_Packed->GetDequantization(chunk);
        columns.m_HasClamp = m_Clamp.IsActive();
        columns.m_Low = m_Clamp.GetLow();
        columns.m_High = m_Clamp.GetHigh();
        GetMicrokernelsInt8().m_Dequantize(rows, columns);
    }

    const PackedGroupsInt8* m_Packed;
    ref::ConvolutionGeometry m_Geometry;
    Im2col m_Im2col;
    bool m_IsHybrid;
    bool m_IsSigned;
    size_t m_OutputPitch; ///< elements from one output pixel to the next
    backends::FloatClamp m_Clamp;
    backends::QuantizedRange m_Range;
    int32_t m_ZeroPoint = 0;
    HybridQuantizerInt8 m_Quantizer;
    size_t m_BlockRows = 16; ///< output rows of a block
    size_t m_Tasks = 1;
    size_t m_RowsOffset = 0; ///< in a task's scratch memory, which begins with the indirection buffer
    size_t m_TaskBytes = 0;
    size_t m_TasksOffset = 0;
    size_t m_ScratchBytes = 0;
};

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const PackedGroupsInt8&>(*packed);
    ref::ConvolutionGeometry g = LayColumnAsRow(ref::MakeConvolutionGeometry(args)); // checks the shapes
    if (!weights.IsExact())
    {
        return backends::Prepared::Declined("its weights are not exact in sums of 32 bits");
    }
    if (g.m_InputChannels != g.m_OutputChannels)
    {
        return backends::Prepared::Declined("the data have other channels than the weights were packed for");
    }
    if (g.IsEmpty())
    {
        return [](const ExecuteArgs&) {};
    }
    g.m_GroupOutputs = 1; // the data are read as they are
    const GroupsInt8 groups(args, g, weights);
    return {groups, groups.GetScratchBytes()};
}

} // namespace

extern const backends::Kernel CpuConvolution2dGroupsInt8Kernel = {.m_Name = "CpuConvolution2dGroupsInt8",
                                                                  .m_Types = Int8Types,
                                                                  .m_Prepare = Prepare,
                                                                  .m_Check = Check,
                                                                  .m_Pack = Pack,
                                                                  .m_Fuse = backends::FuseClamp,
                                                                  .m_RoundsHalfToEven = true,
                                                                  .m_WritesPitched = true};

extern const backends::Kernel CpuConvolution2dGroupsHybridKernel = {.m_Name = "CpuConvolution2dGroupsHybrid",
                                                                    .m_Types = HybridTypes,
                                                                    .m_Prepare = Prepare,
                                                                    .m_Check = Check,
                                                                    .m_Pack = Pack,
                                                                    .m_Fuse = backends::FuseClamp,
                                                                    .m_WritesPitched = true};

} // namespace tenon::cpu
