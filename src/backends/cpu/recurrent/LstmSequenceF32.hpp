// SPDX-License-Identifier: Apache-2.0
// LstmSequenceF32: an LSTM cell of floats over a sequence of known shape. One product multiplies the data of all steps
// by the input weights, one product a step the state by the recurrent weights, and one a step is the projection, if
// there is one.
#pragma once

#include "backends/common/Scratch.hpp"
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

/// The packed constant weights of an LSTM cell of floats: F32 or 8-bit (hybrid).
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

/// The cell over a sequence of known shape.
class LstmSequenceF32
{
public:
    /// Reserves its buffers in `scratch`. Precondition: the data have elements. `maxThreads`: see ReshapeArgs.
    LstmSequenceF32(const ref::LstmGeometry& geometry, const PackedLstmF32& packed,
                    const ref::LstmParameters& parameters, unsigned int maxThreads, backends::Scratch& scratch);

    /// As ref::LstmCell::Run.
    void Run(const ExecuteArgs& args) const;

private:
    size_t GetDataRows() const
    {
        return backends::CheckedCount(m_Geometry.m_Sequence.m_Batches, m_Geometry.m_Sequence.m_Steps);
    }
    void Step(const ExecuteArgs& args, size_t time) const;

    ref::LstmGeometry m_Geometry;
    LstmCellF32 m_Cell;
    float m_ProjectionClip;
    GateGemmF32 m_FromData;
    GateGemmF32 m_FromState;
    std::optional<GateGemmF32> m_FromHidden;
    size_t m_DataSums = 0; ///< offset in scratch memory: sums of all rows of data
    size_t m_Gates = 0;    ///< offset of the sums of one step
    size_t m_Hidden = 0;
    size_t m_ProductScratch = 0;
};

} // namespace tenon::cpu
