// SPDX-License-Identifier: Apache-2.0
// See ImplicitGemmInt8.hpp.
#include "backends/cpu/gemm/driver/ImplicitGemmInt8.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;

constexpr size_t MaxBlockPixels = 512;
/// An eighth of a second-level cache of 1 MiB, as the panels pass through it too; blocks of few pixels may need more.
constexpr size_t BlockBytes = 128 * 1024;
constexpr size_t MaxBytes = 8 * BlockBytes;
/// Upper bound for padded weights, which no other path can use.
constexpr size_t MaxBytesOfPadded = size_t{64} << 20;

bool CanWrite(const PackedWeightsInt8& weights, bool isHybrid)
{
    const MicrokernelSetInt8& tiles = weights.GetTiles();
    if (!tiles.m_IsDataBiased || weights.GetRowSumFactor() != 0)
    {
        return false;
    }
    const auto isMade = [&](const PanelInt8& panel)
    {
        return isHybrid ? tiles.m_ImplicitGemmDequantizeKernels[panel.m_Vectors] != nullptr
                        : tiles.m_ImplicitGemmKernels[0][panel.m_Vectors] != nullptr &&
                              weights.GetRequantization(panel).FitsRegisters();
    };
    return std::all_of(weights.GetPanels().begin(), weights.GetPanels().end(), isMade);
}

} // namespace

std::vector<uint8_t> PatchRunsInt8::Pad(const uint8_t* weights, size_t outputs) const
{
    const size_t padded = GetGroups() * GroupBytes;
    std::vector<uint8_t> result(outputs * m_Count * padded);
    for (size_t run = 0; run < outputs * m_Count; ++run)
    {
        std::copy_n(weights + run * m_Bytes, m_Bytes, result.data() + run * padded);
    }
    return result;
}

ImplicitGemmInt8::ImplicitGemmInt8(const PackedWeightsInt8& weights, const Im2col& windows, size_t rows, bool isHybrid)
    : m_Weights(&weights), m_Im2col(windows), m_IsHybrid(isHybrid)
{
    const PatchRunsInt8 runs(windows);
    const bool isPadded = weights.GetPaddedRunBytes() != 0;
    const bool fit = isPadded
                         ? weights.GetPaddedRunBytes() == runs.m_Bytes && weights.GetDepth() == runs.GetPaddedDepth()
                         : weights.GetDepth() == windows.GetDepth() && runs.IsWhole();
    if (!fit || !HasSharedPixels(windows) || !CanWrite(weights, isHybrid))
    {
        return;
    }
    const PaddedImage image(windows, MaxBlockPixels, 1, BlockBytes, isPadded ? MaxBytesOfPadded : MaxBytes);
    // An image with more bytes than all receptive fields of a block takes longer than im2col.
    const int64_t pixelBytes = windows.m_Height * windows.m_Width * windows.m_Channels; // of all groups
    const double windowBytes = static_cast<double>(image.GetBlockPixels()) * static_cast<double>(pixelBytes);
    const auto pixels = static_cast<size_t>(windows.m_OutputHeight * windows.m_OutputWidth);
    if (!isPadded && (static_cast<double>(image.GetBytes()) > windowBytes || !HasManyPixels(pixels, rows)))
    {
        return;
    }
    m_Image = image;
    if (!IsUsed())
    {
        return;
    }
    FindGroups(runs);
    const size_t block = m_Image.GetBlockPixels() + ImplicitGemmRowsInt8::PastRows;
    Scratch scratch;
    scratch.Add<uint8_t>(m_Image.GetBytes() + PatchRunsInt8::GroupBytes); // the last run may end in a group
    m_RowOffsetsOffset = scratch.Add<uint32_t>(block);
    m_OutputOffsetsOffset = scratch.Add<size_t>(block);
    m_ScratchBytes = scratch.GetBytes();
}

bool ImplicitGemmInt8::HasManyPixels(size_t pixels, size_t rows)
{
    // Each image is a block, for which all panels are read again and which fills at least one tile.
    constexpr size_t MinPixels = 4;
    constexpr size_t MinPixelsOfMany = 32;
    return pixels >= (rows > pixels ? MinPixelsOfMany : MinPixels);
}

void ImplicitGemmInt8::FindGroups(const PatchRunsInt8& runs)
{
    const size_t taps = runs.m_Count / static_cast<size_t>(m_Im2col.m_Height); // of a kernel row
    const size_t rowStep = static_cast<size_t>(m_Im2col.m_DilationY) * m_Image.GetRowBytes();
    const auto tapStep = static_cast<size_t>(m_Im2col.m_DilationX * m_Im2col.m_Channels);
    for (size_t run = 0; run < runs.m_Count; ++run)
    {
        const size_t begin = run / taps * rowStep + run % taps * tapStep;
        for (size_t group = 0; group < runs.GetGroups(); ++group)
        {
            m_GroupOffsets.push_back(static_cast<uint32_t>(begin + group * PatchRunsInt8::GroupBytes));
        }
    }
}

void ImplicitGemmInt8::Make(const uint8_t* input, uint8_t padding, size_t first, size_t last, const OutputLayout& place,
                            std::byte* scratch) const
{
    const auto channels = static_cast<size_t>(m_Im2col.m_Channels);
    const auto pad = [&](size_t pixels, uint8_t* to) { std::memset(to, padding, pixels * channels); };
    const auto fill = [&](size_t from, size_t pixels, uint8_t* to)
    {
        const uint8_t* const bytes = input + from * channels;
        m_IsHybrid ? static_cast<void>(std::memcpy(to, bytes, pixels * channels))
                   : m_Weights->GetMicrokernels().m_SignXor(bytes, pixels * channels, to);
    };
    m_Image.Make(first, last, Scratch::At<uint8_t>(scratch, 0), pad, fill);

    auto* begins = Scratch::At<uint32_t>(scratch, m_RowOffsetsOffset);
    auto* places = Scratch::At<size_t>(scratch, m_OutputOffsetsOffset);
    const auto width = static_cast<size_t>(m_Im2col.m_OutputWidth);
    const auto step = static_cast<uint32_t>(m_Im2col.m_StrideX * m_Im2col.m_Channels);
    const size_t rowStep = static_cast<size_t>(m_Im2col.m_StrideY) * m_Image.GetRowBytes();
    const size_t column = m_Image.GetFirstColumn(first);
    for (size_t row = first, rowBegin = 0; row < last; rowBegin += rowStep)
    {
        auto begin = static_cast<uint32_t>(rowBegin + (row % width - column) * step);
        for (const size_t end = std::min(last, (row / width + 1) * width); row < end; ++row, begin += step)
        {
            *begins++ = begin;
        }
    }
    const size_t origin = place.GetOffset(first);
    for (size_t row = first; row < last;)
    {
        size_t at = place.GetOffset(row) - origin;
        for (const size_t end = place.GetRunEnd(row, last); row < end; ++row, at += place.m_PixelStride)
        {
            *places++ = at;
        }
    }
    std::fill_n(begins, ImplicitGemmRowsInt8::PastRows, begins[-1]);
    std::fill_n(places, ImplicitGemmRowsInt8::PastRows, places[-1]);
}

ImplicitGemmRowsInt8 ImplicitGemmInt8::MakeRows(const PanelInt8& panel, size_t rows, std::byte* scratch) const
{
    ImplicitGemmRowsInt8 image;
    image.m_Image =
        Scratch::At<const uint8_t>(scratch, 0) + panel.m_Matrix * static_cast<size_t>(m_Im2col.m_GroupChannels);
    image.m_RowOffsets = Scratch::At<const uint32_t>(scratch, m_RowOffsetsOffset);
    image.m_OutputOffsets = Scratch::At<const size_t>(scratch, m_OutputOffsetsOffset);
    image.m_Rows = rows;
    image.m_GroupOffsets = m_GroupOffsets.data();
    image.m_Panel = m_Weights->GetData(panel);
    image.m_Groups = m_Weights->GetGroups();
    return image;
}

void ImplicitGemmInt8::Write(const PanelInt8& panel, const RequantizeColumns& columns, bool isSigned, size_t rows,
                             uint8_t* output, std::byte* scratch) const
{
    PreparedRequantizationInt8 prepared;
    m_Weights->GetMicrokernels().m_PrepareRequantization(columns, m_Weights->GetBias(panel), panel.m_Columns, isSigned,
                                                         prepared);
    ImplicitGemmRowsInt8 image = MakeRows(panel, rows, scratch);
    image.m_Out = output;
    const auto scale = static_cast<size_t>(columns.GetScale());
    m_Weights->GetTiles().m_ImplicitGemmKernels[scale][panel.m_Vectors](image, prepared);
}

void ImplicitGemmInt8::WriteDequantized(const PanelInt8& panel, const DequantizeColumns& columns,
                                        const ScaleAndZeroPoint& data, size_t rows, float* output,
                                        std::byte* scratch) const
{
    const ImplicitGemmRowsInt8 image = MakeRows(panel, rows, scratch);
    const int32_t zeroPoint = data.m_ZeroPoint + m_Weights->GetDataBias();
    ImplicitGemmDequantizeInt8 floats;
    floats.m_Columns = columns;
    floats.m_Rows.m_Columns = panel.m_Columns;
    floats.m_Rows.m_ZeroPoints = &zeroPoint;
    floats.m_Rows.m_Scales = &data.m_Scale;
    floats.m_Rows.m_Out = output;
    floats.m_Rows.m_OutputOffsets = image.m_OutputOffsets;
    m_Weights->GetTiles().m_ImplicitGemmDequantizeKernels[panel.m_Vectors](image, floats);
}

bool FitsImplicitGemm(const LayerView& layer, const MicrokernelsInt8& microkernels)
{
    const auto isCentred = [](const TensorInfo& info)
    { return info.HasMultipleQuantizationScales() || info.GetQuantizationOffset() == 0; };
    const auto isSigned = [](const TensorInfo& info)
    { return info.GetDataType() == DataType::QAsymmS8 || info.GetDataType() == DataType::QSymmS8; };
    const TensorInfo& data = layer.GetInput(0);
    const TensorInfo& weights = layer.GetInput(1);
    if ((!isSigned(weights) && weights.GetDataType() != DataType::QSymmS4) || !isCentred(weights))
    {
        return false;
    }
    if (data.GetDataType() == DataType::Float32)
    {
        return microkernels.Get(KernelRoleInt8::Hybrid).m_ImplicitGemmDequantizeKernels[1] != nullptr;
    }
    if (microkernels.Get(KernelRoleInt8::Int8).m_ImplicitGemmKernels[0][1] == nullptr || !isSigned(data))
    {
        return false;
    }
    const RoundingInt8 rounding = GetRounding(layer);
    return FitsRegisters(GetScales(layer, rounding), rounding);
}

} // namespace tenon::cpu
