// SPDX-License-Identifier: Apache-2.0
// The packed constant weights of an LSTM cell of int8 data with 16-bit gates, for GateGemmInt8. LstmLoopsInt8 takes the
// sums.
#pragma once

#include "backends/cpu/recurrent/GateGemmInt8.hpp"
#include "backends/reference/kernels/LstmCell.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tenon::cpu
{

/// Whether the weights of the cell (inputs by GetLstmSlots) are constants that PackedLstmInt8 supports.
bool HasPackableLstmInt8(const LayerView& layer, const ref::LstmParameters& parameters);

class PackedLstmInt8 final : public backends::PackedWeights
{
public:
    /// The order of the gates in packed weights: the input gate, which a cell may lack, is last.
    static constexpr GateOrder Order = {LstmSlots::Forget, LstmSlots::Cell, LstmSlots::Output, LstmSlots::Input};

    /// Precondition: HasPackableLstmInt8.
    PackedLstmInt8(const LayerView& layer, const ref::LstmParameters& parameters, backends::PackedStore& store);

    bool IsExact() const
    {
        return m_Data.m_Weights.IsExact() && m_State.m_Weights.IsExact() &&
               (!m_Projection || m_Projection->m_Weights.IsExact());
    }
    bool RefersToConstants() const override
    {
        return !IsExact() || m_Data.m_Weights.RefersToConstants() || m_State.m_Weights.RefersToConstants() ||
               (m_Projection && m_Projection->m_Weights.RefersToConstants());
    }

    const PackedGatesInt8& GetData() const { return m_Data; }
    const PackedGatesInt8& GetState() const { return m_State; }
    const std::optional<PackedGatesInt8>& GetProjection() const { return m_Projection; }
    /// The peephole weights of a gate; null if it has none.
    const int16_t* GetPeephole(size_t gate) const
    {
        return m_Peephole[gate].empty() ? nullptr : m_Peephole[gate].data();
    }

    /// The weights of layer normalization; null without it.
    const int16_t* GetLayerNorm(size_t gate) const
    {
        return m_LayerNorm[gate].empty() ? nullptr : m_LayerNorm[gate].data();
    }
    const int32_t* GetBias(size_t gate) const { return m_Bias[gate].empty() ? nullptr : m_Bias[gate].data(); }

private:
    PackedGatesInt8 m_Data;
    PackedGatesInt8 m_State;
    std::optional<PackedGatesInt8> m_Projection;
    std::vector<int16_t> m_Peephole[LstmSlots::NumGates];
    std::vector<int16_t> m_LayerNorm[LstmSlots::NumGates];
    std::vector<int32_t> m_Bias[LstmSlots::NumGates]; ///< with layer normalization
};

} // namespace tenon::cpu
