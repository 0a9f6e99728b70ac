// SPDX-License-Identifier: Apache-2.0
// A recurrent cell without gates (RNN) of floats over a sequence, with constant weights, F32 or 8-bit (hybrid):
//     sums[t] = W x[t] + b          one product for all steps
//     h[t] = f(sums[t] + R h[t-1])  one product a step
// Rnn and BidirectionalSequenceRnn call it.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/recurrent/GateGemmF32.hpp"
#include "backends/reference/kernels/RnnCell.hpp"

#include <cstddef>

namespace tenon::cpu
{

/// Whether PackedRnn supports the cell: constant weights, no auxiliary ones. Precondition: the reference kernel's check
/// accepts it.
SupportResult CheckPackableRnn(const LayerView& layer, const ref::RnnSlots& slots);

class PackedRnn final : public backends::PackedWeights
{
public:
    PackedRnn(const LayerView& layer, const ref::RnnSlots& slots, backends::PackedStore& store);

    /// Whether RnnSequence computes the numbers of the reference kernel for data of this shape.
    bool Fits(const TensorShape& data) const;
    bool RefersToConstants() const override { return m_Data.RefersToConstants() || m_State.RefersToConstants(); }
    const PackedGatesF32& GetData() const { return m_Data; }
    const PackedGatesF32& GetState() const { return m_State; }

private:
    PackedGatesF32 m_Data;
    PackedGatesF32 m_State;
};

/// A cell of known shapes.
class RnnSequence
{
public:
    /// Reserves its buffers in `scratch`. Precondition: PackedRnn::Fits.
    RnnSequence(const ReshapeArgs& args, const ref::RnnSlots& slots, const ref::RnnRun& run, const PackedRnn& packed,
                backends::Scratch& scratch);

    /// Run and Continue do what those of ref::RnnCell do; Continue reads the scratch memory that Run left.
    void Run(const ExecuteArgs& args) const;
    void Continue(const ExecuteArgs& args) const;
    float* GetState(const ExecuteArgs& args) const { return args.GetOutput<float>(m_Run.m_StateOutput); }
    size_t GetStateSize() const { return m_Run.m_Sequence.m_Batches * m_Units; }

private:
    ref::RnnSlots m_Slots;
    ref::RnnRun m_Run;
    size_t m_Units;
    size_t m_OutputStride; ///< elements in a row of the output
    GateGemmF32 m_FromData;
    GateGemmF32 m_FromState;
    size_t m_DataSums = 0; ///< offset in scratch memory: sums of all rows of data
    size_t m_StateSums = 0;
    size_t m_ProductScratch = 0;
};

} // namespace tenon::cpu
