// SPDX-License-Identifier: Apache-2.0
// DepthwiseConvolution2d of CpuAcc for 16-bit data and constant weights of 8 or 4 bits: the numbers of the reference
// kernel. Pixels are found through a table of pointers, so that padding, strides and dilation cost nothing in the inner
// loops. A channel multiplier repeats the channels of the image first.
#include "backends/common/FusedActivation.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/Parts.hpp"
#include "backends/cpu/gemm/PackedSize.hpp"
#include "backends/cpu/gemm/windows/Windows.hpp"
#include "backends/cpu/kernels/PackedDepthwise16.hpp"
#include "backends/cpu/kernels/ShortsCheck.hpp"
#include "backends/reference/CpuRefBackend.hpp"
#include "backends/reference/kernels/ConvolutionGeometry.hpp"

#include <tenon/Descriptors.hpp>

#include <algorithm>
#include <cstring>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;

/// Larger windows would take large tables.
constexpr uint64_t MostTaps = 512;
/// Pixels whose table is made at a time.
constexpr size_t BlockPixels = 32;

uint64_t GetTaps(const TensorShape& weights)
{
    return uint64_t{weights[1]} * weights[2];
}

SupportResult Check(const LayerView& layer)
{
    SupportResult result = ref::FindKernel(LayerType::DepthwiseConvolution2d)->m_Check(layer);
    if (result)
    {
        result = CheckBytes(layer, 4, 3);
    }
    if (!result)
    {
        return result;
    }
    const TensorShape& data = layer.GetInput(0).GetShape();
    const TensorShape& weights = layer.GetInput(1).GetShape();
    const bool isKnown = data.GetDimensionality() == Dimensionality::Specified && data.GetNumDimensions() == 4 &&
                         data.GetDimensionSpecificity(3);
    if (GetTaps(weights) > MostTaps || (isKnown && (data[3] == 0 || weights[3] % data[3] != 0)))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "the window is large, or its weights are not whole channels of the data");
    }
    return CheckPackedBytes(PackedDepthwise16::GetPackedBytes(GetTaps(weights), weights[3]),
                            weights.GetNumElements64());
}

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    const TensorShape& weights = layer.GetInput(1).GetShape();
    return std::make_unique<PackedDepthwise16>(Weights16(layer, weights[3], false),
                                               static_cast<size_t>(GetTaps(weights)), weights[3], store);
}

/// A layer of known shapes.
class Depthwise16
{
public:
    Depthwise16(const ReshapeArgs& args, const ref::ConvolutionGeometry& g, const PackedDepthwise16& packed)
        : m_Packed(&packed), m_Windows(MakeDepthwiseWindows(g)), m_Pixels(g.NumPixels()),
          m_Taps(g.m_Y.m_Kernel * g.m_X.m_Kernel), m_Repeats(g.m_GroupOutputs),
          m_ImageElements(g.NumImageElements() * g.m_Batches)
    {
        m_Windows.m_Channels = static_cast<int64_t>(g.m_OutputChannels); // those of the repeated image
        const backends::QuantizedRange range = backends::GetFusedRange(args.GetOutput(0), args.m_FusedActivation);
        m_Min = static_cast<int16_t>(range.m_Min);
        m_Max = static_cast<int16_t>(range.m_Max);
        const double multiplications =
            static_cast<double>(m_Pixels) * static_cast<double>(m_Taps) * static_cast<double>(packed.GetChannels());
        m_Parts = std::min({GetMostParts(), GetWorthwhileParts(multiplications), m_Pixels});
        Scratch part;
        part.Add<const int16_t*>(2 * packed.GetPairs(), BlockPixels);
        m_PartBytes = part.GetBytes();
        Scratch scratch;
        scratch.AddParts(part, m_Parts);
        m_RepeatedOffset =
            scratch.Add<int16_t>(m_Repeats == 1 ? size_t{0} : backends::CheckedCount(m_ImageElements, m_Repeats));
        m_ScratchBytes = scratch.GetBytes();
    }

    size_t GetScratchBytes() const { return m_ScratchBytes; }

    void operator()(const ExecuteArgs& args) const
    {
        const size_t parts = std::min<size_t>(m_Parts, args.m_Parallel->GetNumThreads());
        const auto* image = args.GetInput<int16_t>(0);
        if (m_Repeats != 1)
        {
            auto* repeated = Scratch::At<int16_t>(args.m_Scratch, m_RepeatedOffset);
            RunParts(*args.m_Parallel, parts,
                     [&](size_t index) { Repeat(image, GetPart(m_ImageElements, parts, index), repeated); });
            image = repeated;
        }
        RunParts(*args.m_Parallel, parts,
                 [&](size_t index)
                 {
                     const Part pixels = GetPart(m_Pixels, parts, index);
                     for (size_t first = pixels.m_Begin; first < pixels.m_End; first += BlockPixels)
                     {
                         RunBlock(args, image, first, std::min(first + BlockPixels, pixels.m_End),
                                  Scratch::At<const int16_t*>(args.m_Scratch, index * m_PartBytes));
                     }
                 });
    }

private:
    void Repeat(const int16_t* image, const Part& part, int16_t* repeated) const
    {
        // Copies are made by four: those that are too many lie where the next element's come.
        constexpr size_t Wide = 4;
        constexpr uint64_t Ones = 0x0001000100010001;
        const size_t stored = (m_Repeats + Wide - 1) / Wide * Wide;
        int16_t* to = repeated + part.m_Begin * m_Repeats;
        const int16_t* const end = repeated + part.m_End * m_Repeats;
        for (size_t i = part.m_Begin; i < part.m_End; ++i, to += m_Repeats)
        {
            if (static_cast<size_t>(end - to) < stored)
            {
                std::fill_n(to, m_Repeats, image[i]);
                continue;
            }
            for (size_t copy = 0; copy < m_Repeats; copy += Wide)
            {
                const uint64_t copies = static_cast<uint16_t>(image[i]) * Ones;
                std::memcpy(to + copy, &copies, sizeof(copies));
            }
        }
    }

    void RunBlock(const ExecuteArgs& args, const int16_t* image, size_t first, size_t last, const int16_t** table) const
    {
        const size_t pixels = last - first;
        m_Windows.Find(image, first, last, m_Packed->GetZeros(), table);
        // The tap that the last one of an odd number is paired with has weights of 0.
        std::fill_n(table + m_Taps * pixels, m_Taps % 2 * pixels, m_Packed->GetZeros());
        int16_t* out = args.GetOutput<int16_t>(0) + first * m_Packed->GetChannels();
        for (size_t chunk = 0; chunk < m_Packed->GetChunks(); ++chunk)
        {
            RunChunk(table, pixels, chunk, out);
        }
    }

    void RunChunk(const int16_t* const* table, size_t pixels, size_t chunk, int16_t* out) const
    {
        const Engine16& engine = m_Packed->GetEngine();
        alignas(64) int32_t sums[BlockPixels * 2 * Engine16::MostLanes];
        DepthwiseTile16 tile;
        tile.m_TapStep = pixels;
        tile.m_Pairs = m_Packed->GetPairs();
        tile.m_Offset = m_Packed->GetFirst(chunk);
        tile.m_Channels = m_Packed->GetCount();
        tile.m_Weights = m_Packed->GetWeights(chunk);
        Rows16 rows;
        rows.m_Sums = sums;
        rows.m_SumStride = 2 * engine.m_Lanes;
        rows.m_Rows = pixels;
        rows.m_Columns = tile.m_Channels;
        rows.m_Out = out + tile.m_Offset;
        rows.m_OutStride = m_Packed->GetChannels();
        for (size_t pixel = 0; pixel < pixels;)
        {
            const size_t count = std::min(pixels - pixel, Engine16::DepthwisePixels);
            tile.m_Data = table + pixel;
            tile.m_Sums = sums + pixel * rows.m_SumStride;
            engine.m_Depthwise[count](tile);
            pixel += count;
        }
        Columns16 columns = m_Packed->GetRequantization(chunk);
        columns.m_Min = m_Min;
        columns.m_Max = m_Max;
        engine.m_Requantize(rows, columns);
    }

    const PackedDepthwise16* m_Packed;
    Windows m_Windows;
    size_t m_Pixels;
    size_t m_Taps;
    size_t m_Repeats; ///< outputs of each channel
    size_t m_ImageElements;
    int16_t m_Min = 0;
    int16_t m_Max = 0;
    size_t m_Parts = 1;
    size_t m_PartBytes = 0;
    size_t m_RepeatedOffset = 0;
    size_t m_ScratchBytes = 0;
};

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const PackedDepthwise16&>(*packed);
    if (!weights.IsExact())
    {
        return ref::FindKernel(LayerType::DepthwiseConvolution2d)->Prepare(args, nullptr);
    }
    const ref::ConvolutionGeometry g = ref::MakeDepthwiseGeometry(args); // checks the shapes
    if (g.IsEmpty())
    {
        return [](const ExecuteArgs&) {};
    }
    const Depthwise16 depthwise(args, g, weights);
    return {depthwise, depthwise.GetScratchBytes()};
}

} // namespace

extern const backends::Kernel CpuDepthwiseConvolution2dShortsKernel = {
    "CpuDepthwiseConvolution2dShorts", ShortsTypes, Prepare, Check, Pack, backends::FuseClamp};

} // namespace tenon::cpu
