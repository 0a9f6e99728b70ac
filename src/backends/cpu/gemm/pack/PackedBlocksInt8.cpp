// SPDX-License-Identifier: Apache-2.0
// See PackedBlocksInt8.hpp.
#include "backends/cpu/gemm/pack/PackedBlocksInt8.hpp"

#include "backends/cpu/gemm/pack/ColumnSumsInt8.hpp"
#include "backends/cpu/gemm/pack/WeightSourceInt8.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/reference/kernels/BlockwiseProduct.hpp"
#include "common/HalfFloat.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::cpu
{

namespace
{

bool IsInt4(const TensorInfo& weights)
{
    return weights.GetDataType() == DataType::QSymmS4;
}

KernelChoiceInt8 Choose(const TensorInfo& weights, size_t rows, const MicrokernelsInt8& microkernels)
{
    GemmFactsInt8 facts;
    facts.m_Rows = rows;
    facts.m_Columns = weights.GetShape()[0];
    facts.m_Depth = weights.GetShape()[1];
    facts.m_IsDataFloat = true;
    facts.m_IsDataSigned = true;
    facts.m_IsWeightSigned = true;
    facts.m_IsInt4 = IsInt4(weights);
    facts.m_HasBlocks = true;
    facts.m_IsHybrid = true;
    return ChooseGemmInt8(facts, microkernels.m_Rows, {[] { return size_t{0}; }, [](const auto&) { return false; }});
}

/// Whether float16 holds all scales, as most files have them.
bool FitF16(Span<const float> scales)
{
    return std::all_of(scales.begin(), scales.end(),
                       [](float scale) { return HalfToFloat(FloatToHalf(scale)) == scale; });
}

} // namespace

PackedBlocksInt8::PackedBlocksInt8(const LayerView& layer, size_t rows, backends::PackedStore& store)
    : m_Microkernels(&GetMicrokernelsInt8()), m_Choice(Choose(layer.GetInput(1), rows, *m_Microkernels)),
      m_Tiles(&m_Microkernels->Get(m_Choice.m_Row->m_Role)), m_Columns(layer.GetInput(1).GetShape()[0]),
      m_BlockSize(layer.GetInput(1).GetQuantizationBlockSize()),
      m_Blocks(layer.GetInput(1).GetShape()[1] / m_BlockSize),
      m_ScaleBytes(m_Microkernels->m_ConvertsF16 && FitF16(layer.GetInput(1).ViewQuantizationScales())
                       ? sizeof(uint16_t)
                       : sizeof(float)),
      m_Panels(CutPanelsInt8(m_Columns, m_Microkernels->m_Lanes, *m_Tiles)),
      m_Bias(DivideUp(m_Columns, m_Microkernels->m_Lanes) * m_Microkernels->m_Lanes)
{
    size_t bytes = 0;
    for (PanelInt8& panel : m_Panels)
    {
        panel.m_Offset = bytes;
        bytes += m_Blocks * GetBlockBytes(panel);
    }
    const TensorInfo& info = layer.GetInput(1);
    const Span<const float> scales = info.ViewQuantizationScales();
    WeightFormatInt8 format;
    format.m_Columns = m_Columns;
    format.m_Depth = GetDepth();
    const void* const constant = layer.m_ConstantData[1];
    WeightSourceInt8 weights({&constant, 1}, IsInt4(info), format);
    const auto findFactors = [&](std::byte* to)
    {
        std::memset(to, 0, m_Bias.size() * sizeof(float));
        for (size_t c = 0; c < m_Columns; ++c)
        {
            const auto* column = reinterpret_cast<const int8_t*>(weights.GetColumns(c, 1));
            const float factor = ref::GetZeroPointFactor(column, scales.data() + c * m_Blocks, GetDepth(), m_BlockSize);
            std::memcpy(to + c * sizeof(factor), &factor, sizeof(factor));
        }
    };
    m_ZeroPointFactors = store.GetBlock(m_Bias.size() * sizeof(float), findFactors);
    const auto pack = [&](std::byte* to)
    {
        for (const PanelInt8& panel : m_Panels)
        {
            PackPanel(panel, weights.GetColumns(panel.m_Column, panel.m_Columns), scales, to + panel.m_Offset);
        }
    };
    m_Data = store.GetBlock(bytes, pack);
    if (layer.HasInput(2))
    {
        const auto* bias = static_cast<const float*>(layer.m_ConstantData[2]);
        std::copy_n(bias, m_Columns, m_Bias.begin());
    }
}

uint64_t PackedBlocksInt8::GetPackedBytes(const TensorInfo& weights)
{
    const size_t lanes = GetMicrokernelsInt8().m_Lanes;
    const uint64_t columns = uint64_t{DivideUp(weights.GetShape()[0], lanes)} * lanes;
    const uint64_t blocks = weights.GetShape()[1] / weights.GetQuantizationBlockSize();
    const uint64_t ofBlock = weights.GetQuantizationBlockSize() / (IsInt4(weights) ? 2 : 1) + sizeof(float);
    return columns * (blocks * ofBlock + 2 * sizeof(float));
}

size_t PackedBlocksInt8::GetBlockBytes(const PanelInt8& panel) const
{
    const size_t width = panel.m_Vectors * m_Microkernels->m_Lanes;
    return GetBlockScaleBytes(width, m_ScaleBytes, m_Microkernels->m_Lanes) +
           m_BlockSize / m_Tiles->GetGroupDepth() * width * m_Tiles->GetGroupBytes();
}

void PackedBlocksInt8::PackPanel(const PanelInt8& panel, const uint8_t* weights, Span<const float> scales,
                                 std::byte* packed) const
{
    const size_t width = panel.m_Vectors * m_Microkernels->m_Lanes;
    const size_t scaleBytes = GetBlockScaleBytes(width, m_ScaleBytes, m_Microkernels->m_Lanes);
    const size_t blockBytes = GetBlockBytes(panel);
    const float sign = m_Tiles->m_BlockSums.m_Offset != 0 ? -1.0f : 1.0f;
    std::memset(packed, 0, m_Blocks * blockBytes); // columns that do not exist have scales of 0
    for (size_t block = 0; block < m_Blocks; ++block, packed += blockBytes)
    {
        for (size_t c = 0; c < panel.m_Columns; ++c)
        {
            const float scale = sign * scales[(panel.m_Column + c) * m_Blocks + block];
            const uint16_t half = FloatToHalf(scale);
            std::memcpy(packed + c * m_ScaleBytes,
                        m_ScaleBytes == sizeof(half) ? static_cast<const void*>(&half) : &scale, m_ScaleBytes);
            PackColumn(weights + c * GetDepth() + block * m_BlockSize, width, c, packed + scaleBytes);
        }
    }
}

void PackedBlocksInt8::PackColumn(const uint8_t* weights, size_t width, size_t column, std::byte* packed) const
{
    constexpr uint64_t Ones = 0x0101010101010101U; // a byte for each weight
    const bool isInt4 = m_Tiles->m_Layout == WeightLayoutInt8::Int4x8;
    const uint64_t offset = static_cast<uint8_t>(m_Tiles->m_BlockSums.m_Offset) * Ones;
    const size_t wordBytes = isInt4 ? sizeof(uint32_t) : m_Tiles->GetGroupBytes();
    std::byte* to = packed + column * wordBytes;
    for (size_t k = 0; k < m_BlockSize; k += BlockUnit)
    {
        uint64_t eight = 0;
        std::memcpy(&eight, weights + k, BlockUnit);
        eight ^= offset; // offset - weight, modulo 256: all bits below the sign are ones
        if (isInt4)
        {
            eight &= 0x0F * Ones;
            eight = (eight | eight >> 28) & 0xFFFFFFFFU;
        }
        for (size_t left = isInt4 ? wordBytes : BlockUnit; left != 0; left -= wordBytes, to += width * wordBytes)
        {
            std::memcpy(to, &eight, wordBytes);
            eight >>= 8 * wordBytes;
        }
    }
}

} // namespace tenon::cpu
