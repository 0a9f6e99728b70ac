// SPDX-License-Identifier: Apache-2.0
// WinogradWeightsInt8: weights of WinogradInt8, transformed by 2 G from both sides (an exact integer matrix), packed as
//     [panel][point][pairs of channels][columns][2] int16.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/common/PackedStore.hpp"
#include "backends/cpu/gemm/epilogue/DequantizeArraysInt8.hpp"
#include "backends/cpu/gemm/epilogue/RequantizeArraysInt8.hpp"
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/gemm/pack/PanelInt8.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::cpu
{

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

} // namespace tenon::cpu
