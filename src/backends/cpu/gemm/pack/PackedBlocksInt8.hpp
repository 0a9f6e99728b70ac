// SPDX-License-Identifier: Apache-2.0
// PackedBlocksInt8: constant weights of 4 or 8 bits with a scale per block, [columns, depth], packed when a workload is
// created: scales and weights of a panel one block after the other, as BlockTile reads them. Read by GemmBlocksInt8.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/common/PackedStore.hpp"
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/gemm/pack/KernelChoiceInt8.hpp"
#include "backends/cpu/gemm/pack/PanelInt8.hpp"

#include <tenon/Tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::cpu
{

class PackedBlocksInt8 final : public backends::PackedWeights
{
public:
    /// Blocks are a multiple of this, which is two groups, and at most MaxBlockSize, so that sums fit 32 bits.
    static constexpr size_t BlockUnit = 8;
    static constexpr size_t MaxBlockSize = size_t{1} << 16;

    /// Packs input 1 of a FullyConnected that the reference kernel takes. Its bias is constant or missing. `rows`:
    /// upper bound.
    PackedBlocksInt8(const LayerView& layer, size_t rows, backends::PackedStore& store);

    /// Upper bound of the packed bytes.
    static uint64_t GetPackedBytes(const TensorInfo& weights);

    const MicrokernelsInt8& GetMicrokernels() const { return *m_Microkernels; }
    const MicrokernelSetInt8& GetTiles() const { return *m_Tiles; }
    const KernelChoiceInt8& GetChoice() const { return m_Choice; }
    size_t GetColumns() const { return m_Columns; }
    size_t GetDepth() const { return m_BlockSize * m_Blocks; }
    size_t GetBlockSize() const { return m_BlockSize; }
    size_t GetBlocks() const { return m_Blocks; }
    const std::vector<PanelInt8>& GetPanels() const { return m_Panels; }
    const std::byte* GetData(const PanelInt8& panel) const { return m_Data.Data() + panel.m_Offset; }
    /// Bytes of a scale in a panel.
    size_t GetScaleBytes() const { return m_ScaleBytes; }
    /// Bytes of one block of a panel, scales included.
    size_t GetBlockBytes(const PanelInt8& panel) const;
    /// By column, for whole vectors; see ref::GetZeroPointFactor.
    const float* GetZeroPointFactors() const { return m_ZeroPointFactors.As<float>(); }
    /// Likewise.
    const float* GetBias() const { return m_Bias.data(); }

private:
    /// `weights`: bytes of the panel's columns, [columns][depth].
    void PackPanel(const PanelInt8& panel, const uint8_t* weights, Span<const float> scales, std::byte* packed) const;
    /// Packs one block of a column. `packed`: the weights of the block.
    void PackColumn(const uint8_t* weights, size_t width, size_t column, std::byte* packed) const;

    const MicrokernelsInt8* m_Microkernels;
    KernelChoiceInt8 m_Choice;
    const MicrokernelSetInt8* m_Tiles;
    size_t m_Columns;
    size_t m_BlockSize;
    size_t m_Blocks; ///< of a column
    size_t m_ScaleBytes;
    std::vector<PanelInt8> m_Panels;
    backends::PackedBlock m_ZeroPointFactors;
    backends::PackedBlock m_Data;
    std::vector<float> m_Bias;
};

} // namespace tenon::cpu
