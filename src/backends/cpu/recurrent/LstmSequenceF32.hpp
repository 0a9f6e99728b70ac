// SPDX-License-Identifier: Apache-2.0
// LstmSequenceF32: an LSTM cell of floats over a sequence of known shape. One product multiplies the data of all steps
// by the input weights, one product a step the state by the recurrent weights, and one a step is the projection, if
// there is one.
#pragma once

#include "backends/common/Scratch.hpp"
#include "backends/cpu/recurrent/PackedLstmF32.hpp"

#include <cstddef>
#include <optional>

namespace tenon::cpu
{

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
