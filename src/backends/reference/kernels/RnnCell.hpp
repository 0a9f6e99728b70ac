// SPDX-License-Identifier: Apache-2.0
// RnnCell: state = output = f(weights * data + auxiliary weights * auxiliary data + recurrent weights * state + bias),
// over a sequence, on float data by float or 8-bit weights. The core of Rnn and BidirectionalSequenceRnn.
#pragma once

#include "backends/reference/kernels/GateProduct.hpp"

namespace tenon::ref
{

/// The inputs of one cell within its layer's inputs.
struct RnnSlots
{
    static constexpr size_t None = SIZE_MAX;
    size_t m_Data;
    size_t m_Weights;
    size_t m_Recurrent;
    size_t m_Bias;
    size_t m_State;
    size_t m_Aux;
    size_t m_AuxWeights;
};

/// The slots of Rnn.
constexpr RnnSlots SingleRnnSlots = {0, 1, 2, 3, 4, RnnSlots::None, RnnSlots::None};

struct RnnRun
{
    /// D: the descriptor of either layer. One cell, forwards, with the outputs of Rnn.
    template <typename D>
    RnnRun(const D& descriptor, const TensorShape& data)
        : m_Activation(descriptor.m_ActivationFunc), m_IsAsymmetric(descriptor.m_AsymmetricQuantizeInputs),
          m_Sequence(data, descriptor.m_TimeMajor)
    {
    }

    uint32_t m_Activation;
    bool m_IsAsymmetric;
    SequenceShape m_Sequence;
    bool m_IsBackward = false;
    size_t m_StateOutput = 0; ///< outputs of the layer
    size_t m_Output = 1;
    size_t m_Offset = 0; ///< offset of the cell's outputs in each row of the output
};

class RnnCell
{
public:
    RnnCell(const ReshapeArgs& args, const RnnSlots& slots, const RnnRun& run, backends::Scratch& scratch);

    /// Copies the state from its input to its output, and runs the sequence.
    void Run(const ExecuteArgs& args) const;
    /// Runs the sequence from the state that the last run left.
    void Continue(const ExecuteArgs& args) const;

    /// The state that the last run left.
    float* GetState(const ExecuteArgs& args) const { return args.GetOutput<float>(m_Run.m_StateOutput); }
    size_t GetStateSize() const { return m_Run.m_Sequence.m_Batches * m_Units; } ///< elements

private:
    bool IsHybrid() const { return m_Weights.m_IsInteger; }

    RnnSlots m_Slots;
    RnnRun m_Run;
    GateWeights m_Weights;
    GateWeights m_Recurrent;
    GateWeights m_AuxWeights;
    GateRows m_Data;
    GateRows m_State;
    GateRows m_Aux;
    size_t m_Units;
    size_t m_OutputStride; ///< elements in a row of the output
    size_t m_Partial;      ///< offsets in the scratch memory
    size_t m_Sums;
};

/// Whether the types of the cell's inputs and outputs fit each other.
SupportResult CheckRnn(const LayerView& layer, const RnnSlots& slots, uint32_t activation, size_t stateOutput,
                       size_t output);

} // namespace tenon::ref
