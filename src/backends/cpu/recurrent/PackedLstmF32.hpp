// SPDX-License-Identifier: Apache-2.0
// The packed constant weights of an LSTM cell of floats: F32 or 8-bit (hybrid).
#pragma once

#include "backends/cpu/recurrent/GateGemmF32.hpp"
#include "backends/cpu/recurrent/LstmCellF32.hpp"
#include "backends/reference/kernels/LstmCell.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace tenon::cpu
{

/// Whether PackedLstmF32 supports the cell: float data, tanh, and constant weights, no auxiliary ones. Precondition:
/// the reference kernel's check accepts it.
SupportResult CheckLstmF32(const LayerView& layer, const LstmSlots& slots, const ref::LstmParameters& parameters);

class PackedLstmF32
{
public:
    PackedLstmF32(const LayerView& layer, const LstmSlots& slots, const ref::LstmParameters& parameters,
                  backends::PackedStore& store);

    bool IsExact() const { return m_Data.IsExact() && m_State.IsExact() && (!m_Projection || m_Projection->IsExact()); }
    bool RefersToConstants() const
    {
        return m_Data.RefersToConstants() || m_State.RefersToConstants() ||
               (m_Projection && m_Projection->RefersToConstants());
    }
    const PackedGatesF32& GetData() const { return m_Data; }
    const PackedGatesF32& GetState() const { return m_State; }
    const std::optional<PackedGatesF32>& GetProjection() const { return m_Projection; }
    /// The gates refer to this object.
    LstmCellF32::Gates GetGates() const;

private:
    PackedGatesF32 m_Data;
    PackedGatesF32 m_State;
    std::optional<PackedGatesF32> m_Projection;
    using Values = std::array<std::vector<float>, LstmSlots::NumGates>;
    Values m_Peephole; ///< empty: no peephole
    Values m_LayerNorm;
    Values m_Bias;
};

} // namespace tenon::cpu
