// SPDX-License-Identifier: Apache-2.0
// An LSTM cell of floats over a sequence of known shapes: one product for what all steps get from the data, one product
// a step for what they get from the state, and one for a projection.
#pragma once

#include "backends/common/Scratch.hpp"
#include "backends/cpu/recurrent/PackedLstmF32.hpp"

#include <cstddef>
#include <optional>

namespace tenon::cpu
{

class FloatLstmSequence
{
public:
    /// Takes its part of `scratch`. Precondition: the data have elements. `maxThreads`: see ReshapeArgs.
    FloatLstmSequence(const ref::LstmGeometry& geometry, const PackedFloatLstm& packed,
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
    FloatLstmCell m_Cell;
    float m_ProjectionClip;
    FloatGatesProduct m_FromData;
    FloatGatesProduct m_FromState;
    std::optional<FloatGatesProduct> m_FromHidden;
    size_t m_DataSums = 0; ///< offsets in the scratch memory: of all rows of data
    size_t m_Gates = 0;    ///< of one step
    size_t m_Hidden = 0;
    size_t m_ProductScratch = 0;
};

} // namespace tenon::cpu
